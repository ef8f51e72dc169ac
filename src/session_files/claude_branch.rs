//! Active branch of a Claude Code file: the lines that belong to the conversation.
//!
//! The lines form a tree by `parentUuid`, but not the tree of the conversation: parallel calls and their results fork, and
//! parents are named that were never written. So the way back from the newest line is only the start. Beside it live:
//! lines of an assistant message that is on it, results of calls that are, and trees that it never touches (a session that
//! was continued after a compaction without a link). Dead is what forks off it otherwise: a prompt that was taken back, a
//! call that was tried again. A missing parent is replaced by the line before.

use std::borrow::Cow;

use super::lines::Line;
use super::raw::{Object, items};
use crate::error::Error;
use crate::hash_index::ByName;

/// The lines that count.
#[derive(Debug, Default)]
pub(super) struct Branch {
    /// For each line: it belongs to the conversation.
    pub(super) live: Vec<bool>,
    /// The `uuid` it was read from.
    pub(super) leaf: Option<String>,
    /// The ends of what is dead, and the leaf.
    pub(super) leaves: Vec<String>,
    /// Lines whose parent the file does not hold.
    pub(super) bridged: u32,
}

/// A user's or an assistant's line. Qwen Code has a type for results.
pub(super) fn is_message(fields: &Object<'_>) -> bool {
    let kind = fields.text("type");
    matches!(kind.as_deref(), Some("user" | "assistant" | "tool_result")) || is_queued(fields)
}

/// A prompt that the user typed, or a task sent, while the model worked. Claude Code writes it as an attachment only.
pub(super) fn is_queued(fields: &Object<'_>) -> bool {
    fields.object("attachment").is_some_and(|it| it.is("type", "queued_command"))
}

/// The conversation that ends at the line with the uuid `leaf`, or at the newest. `only_path`: nothing lives beside the way back from
/// it, and any line may be the newest.
pub(super) fn branch(
    lines: &[Line<'_>],
    main: &[bool],
    leaf: Option<&str>,
    only_path: bool,
) -> Result<Branch, Error> {
    let (parents, by_uuid, bridged) = parents(lines, main);
    let ends = |line: &Line<'_>| only_path || is_message(&line.fields);
    let newest = || lines.iter().zip(main).rposition(|(line, is)| *is && ends(line));
    let end = match leaf {
        None => newest(),
        Some(leaf) => Some(
            by_uuid
                .get(0, leaf)
                .ok_or_else(|| Error::argument("leaf", "the uuid of a line of this file", leaf))?,
        ),
    };
    let mut on_path = vec![false; lines.len()];
    let mut at = end;
    while let Some(index) = at {
        if let Some(on) = on_path.get_mut(index) {
            *on = true;
        }
        at = parents.get(index).copied().flatten().filter(|&parent| parent < index);
    }
    let live =
        if only_path { on_path } else { beside(lines, main, &parents, &on_path, leaf.is_some()) };
    let leaf = end.and_then(|end| lines.get(end)?.fields.text("uuid")).map(Cow::into_owned);
    let mut leaves = dead_leaves(lines, main, &parents, &live);
    leaves.extend(leaf.clone());
    Ok(Branch { live, leaf, leaves, bridged })
}

type Parents<'a> = (Vec<Option<usize>>, ByName<'a>, u32);

fn parents<'a>(lines: &[Line<'a>], main: &[bool]) -> Parents<'a> {
    let mut by_uuid = ByName::default();
    let mut parents = Vec::with_capacity(lines.len());
    let mut before = None;
    let mut bridged = 0_u32;
    for (index, (line, is_main)) in lines.iter().zip(main).enumerate() {
        let Some(uuid) = line.fields.text("uuid").filter(|_| *is_main) else {
            parents.push(before);
            continue;
        };
        let named = line.fields.text("parentUuid");
        let parent = match named.or_else(|| line.fields.text("logicalParentUuid")) {
            Some(named) => by_uuid.get(0, &named).or_else(|| {
                bridged = bridged.saturating_add(u32::from(before.is_some()));
                before
            }),
            None => None,
        };
        parents.push(parent);
        // A line that is written again keeps its first place.
        if !by_uuid.has(0, &uuid) {
            by_uuid.insert(0, uuid, index);
        }
        before = Some(index);
    }
    (parents, by_uuid, bridged)
}

/// Adds to the way back what lives beside it.
fn beside(
    lines: &[Line<'_>],
    main: &[bool],
    parents: &[Option<usize>],
    on_path: &[bool],
    only: bool,
) -> Vec<bool> {
    let (mut messages, mut calls) = (ByName::default(), ByName::default());
    for (line, _) in lines.iter().zip(on_path).filter(|(_, on)| **on) {
        if let Some(id) = message_id(line) {
            messages.insert(0, id, 0);
        }
        for id in ids(line, "tool_use", "id") {
            calls.insert(0, id, 0);
        }
    }
    let mut touches = Vec::with_capacity(lines.len());
    let mut live = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        let parent = parents.get(index).copied().flatten();
        let on = on_path.get(index).copied().unwrap_or(false);
        let touching = on || parent.is_some_and(|at| touches.get(at).copied().unwrap_or(false));
        touches.push(touching);
        let message = message_id(line).is_some_and(|id| messages.has(0, &id));
        if message && !on {
            for id in ids(line, "tool_use", "id") {
                calls.insert(0, id, 0);
            }
        }
        let answers = || ids(line, "tool_result", "tool_use_id").iter().any(|id| calls.has(0, id));
        let apart = !only && (!touching || !line.fields.has("uuid"));
        let counts = main.get(index).copied().unwrap_or(false);
        live.push(counts && (on || apart || message || answers()));
    }
    live
}

/// Ends of branches that were left: said, dead, and with nothing said after them.
fn dead_leaves(
    lines: &[Line<'_>],
    main: &[bool],
    parents: &[Option<usize>],
    live: &[bool],
) -> Vec<String> {
    let mut followed = vec![false; lines.len()];
    let mut ends = Vec::new();
    for (index, line) in lines.iter().enumerate().rev() {
        let is = |flags: &[bool]| flags.get(index).copied().unwrap_or(false);
        let dead = is(main) && !is(live) && is_message(&line.fields);
        if dead && !is(&followed) {
            ends.extend(line.fields.text("uuid").map(Cow::into_owned));
        }
        let parent = parents.get(index).copied().flatten().filter(|_| dead || is(&followed));
        if let Some(has_more) = parent.and_then(|at| followed.get_mut(at)) {
            *has_more = true;
        }
    }
    ends.reverse();
    ends
}

fn message_id<'a>(line: &Line<'a>) -> Option<Cow<'a, str>> {
    line.fields.object("message")?.text("id")
}

/// The values of `name` in the message's blocks of one type.
fn ids<'a>(line: &Line<'a>, kind: &str, name: &str) -> Vec<Cow<'a, str>> {
    let content = line.fields.object("message").and_then(|message| message.get("content"));
    let blocks = content.map(items).unwrap_or_default();
    let blocks = blocks.into_iter().map(Object::of).filter(|block| block.is("type", kind));
    blocks.filter_map(|block| block.text(name)).collect()
}
