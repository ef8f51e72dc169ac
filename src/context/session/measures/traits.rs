//! Traits of a piece as bytes.

use crate::context::session::snapshot::bytes::{Reader, Writer};
use crate::model::{Kind, Place, Traits};

const KINDS: [Kind; 6] =
    [Kind::Text, Kind::Thinking, Kind::Call, Kind::Result, Kind::Image, Kind::Other];

/// Members and item types that places name. A message that has another is measured from its text.
const NAMES: [&str; 70] = [
    "",
    "content",
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "refusal",
    "summary",
    "output",
    "function_call",
    "errorText",
    "approval",
    "compaction",
    "item_reference",
    "function_call_output",
    "function_call_result",
    "custom_tool_call",
    "custom_tool_call_output",
    "computer_call",
    "computer_call_output",
    "computer_call_result",
    "local_shell_call",
    "local_shell_call_output",
    "shell_call",
    "shell_call_output",
    "apply_patch_call",
    "apply_patch_call_output",
    "tool_search_call",
    "tool_search_output",
    "program",
    "program_output",
    "mcp_approval_request",
    "mcp_approval_response",
    "tool_calls",
    "invalid_tool_calls",
    "tool_call_chunks",
    "additional_kwargs/tool_calls",
    "additional_kwargs/function_call",
    "additional_kwargs/__gemini_function_call_thought_signatures__",
    "additional_kwargs/reasoning_content",
    "additional_kwargs/reasoning",
    "kwargs/content",
    "kwargs/tool_calls",
    "kwargs/invalid_tool_calls",
    "kwargs/tool_call_chunks",
    "kwargs/additional_kwargs/tool_calls",
    "kwargs/additional_kwargs/function_call",
    "kwargs/additional_kwargs/__gemini_function_call_thought_signatures__",
    "kwargs/additional_kwargs/reasoning_content",
    "kwargs/additional_kwargs/reasoning",
    "data/content",
    "data/tool_calls",
    "data/invalid_tool_calls",
    "data/tool_call_chunks",
    "data/additional_kwargs/tool_calls",
    "data/additional_kwargs/function_call",
    "data/additional_kwargs/__gemini_function_call_thought_signatures__",
    "data/additional_kwargs/reasoning_content",
    "data/additional_kwargs/reasoning",
    "message",
    "audio",
    "response_metadata/output",
    "additional_kwargs/tool_outputs",
    "kwargs/response_metadata/output",
    "kwargs/additional_kwargs/tool_outputs",
    "data/response_metadata/output",
    "data/additional_kwargs/tool_outputs",
    "clear_at",
    "tool_changes",
    "multi_agent_call",
    "multi_agent_call_output",
];

/// Writes traits. None: their place has a name that is not listed.
pub(super) fn write(traits: &Traits, out: &mut Writer) -> Option<()> {
    let (kind, at, name) = match traits.place {
        Place::Content => (0, 0, ""),
        Place::Item(at) => (1, at, ""),
        Place::Call(at) => (2, at, ""),
        Place::Custom(at) => (3, at, ""),
        Place::Part(at) => (4, at, ""),
        Place::Snake(at) => (5, at, ""),
        Place::Tool(at) => (6, at, ""),
        Place::Message(name) => (7, 0, name),
        Place::Inner(at, name) => (8, at, name),
        Place::In(name) => (9, 0, name),
        Place::At(name, at) => (10, at, name),
        Place::Field(name) => (11, 0, name),
    };
    let index = |found: Option<usize>| found.and_then(|at| u64::try_from(at).ok());
    let kind_at = index(KINDS.iter().position(|it| *it == traits.kind))?;
    // Nothing is written before all of it can be.
    let name_at = index(NAMES.iter().position(|it| *it == name))?;
    for number in [kind_at, kind, at.into(), name_at] {
        out.number(number);
    }
    out.text(&traits.name);
    out.text(&traits.caller);
    out.text(&traits.toolset);
    for number in [
        flags(traits),
        traits.images.into(),
        traits.widest.into(),
        traits.marks,
        traits.marked_at.into(),
        traits.hollow,
        traits.step.0.into(),
        traits.step.1.into(),
    ] {
        out.number(number);
    }
    Some(())
}

/// Reads what [`write`] wrote; none: it is something else.
pub(super) fn read(from: &mut Reader<'_>) -> Option<Traits> {
    let kind = *KINDS.get(usize::try_from(from.number()).ok()?)?;
    let (place, at) = (from.number(), from.small());
    let name = *NAMES.get(usize::try_from(from.number()).ok()?)?;
    let place = match place {
        0 => Place::Content,
        1 => Place::Item(at),
        2 => Place::Call(at),
        3 => Place::Custom(at),
        4 => Place::Part(at),
        5 => Place::Snake(at),
        6 => Place::Tool(at),
        7 => Place::Message(name),
        8 => Place::Inner(at, name),
        9 => Place::In(name),
        10 => Place::At(name, at),
        11 => Place::Field(name),
        _ => return None,
    };
    let (name, caller) = (from.text().into(), from.text().into());
    let toolset = from.text().into();
    let flags = from.number();
    let is = |bit: u32| flags >> bit & 1 == 1;
    Some(Traits {
        kind,
        place,
        name,
        caller,
        toolset,
        blank: is(0),
        error: is(1),
        broken_unicode: is(2),
        opaque: is(3),
        bad_arguments: is(4),
        within: is(5),
        fixed: is(6),
        by_id: is(7),
        decided: is(8),
        mirror: is(9),
        unsent: is(10),
        pending: is(11),
        images: from.small(),
        widest: from.small(),
        marks: from.number(),
        marked_at: u16::try_from(from.small()).ok()?,
        hollow: from.number(),
        step: (from.small(), from.small()),
    })
}

/// The flags of traits, the first in the lowest bit.
fn flags(traits: &Traits) -> u64 {
    let all = [
        traits.blank,
        traits.error,
        traits.broken_unicode,
        traits.opaque,
        traits.bad_arguments,
        traits.within,
        traits.fixed,
        traits.by_id,
        traits.decided,
        traits.mirror,
        traits.unsent,
        traits.pending,
    ];
    all.iter().rev().fold(0, |bits, flag| bits << 1 | u64::from(*flag))
}
