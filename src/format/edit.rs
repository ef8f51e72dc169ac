//! Editing shared by the formats: removal of pieces, order of the operations, parts copied from the host.

use std::borrow::Cow;

use crate::json::{Object, Value, json as object};
use crate::model::{Copied, Kind, MadePart, MessageId, Op, Outline, Piece, Place};

/// Stands where everything else of a message is gone, so that it does not go out empty.
pub(super) const PLACEHOLDER: &str = "(omitted)";

/// What a result without content says.
pub(super) const NO_OUTPUT: &str = "(no output)";

/// A change to one piece of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The piece.
    pub piece: u32,
    /// What is done with it.
    pub what: What,
}

/// What is done with a piece.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// It does not go out.
    Drop,
    /// Its text, result or reasoning is replaced by this; an image becomes this text. A result keeps its error flag. A call
    /// that holds its own result is answered with this error.
    Text(String),
    /// Strings in it are replaced: half surrogate pairs. The operations are those on its own message.
    Strings(Vec<Op>),
    /// A result goes out without its blank blocks.
    Hollow,
    /// Its arguments are replaced by this object; those of a custom tool's call by a string.
    Arguments(Value),
    /// It goes out with this call id.
    Id(String),
    /// These of its cache markers do not go out: [`Traits::marks`](crate::model::Traits::marks).
    Unmark(u64),
    /// It goes out with what stands for a lost signature.
    Sign,
}

/// Finds a piece of one of the host's messages.
pub(super) type Host<'h> = &'h dyn Fn(MessageId, u32) -> Option<&'h Piece>;

/// The first piece of the host's messages: it shows in which of its shapes a format is written.
pub(super) fn first(host: Host<'_>) -> Option<&Piece> {
    MessageId::FIRST.to(LOOKED_AT.into()).find_map(|message| host(message, 0))
}

/// So many messages are looked at for it.
const LOOKED_AT: u32 = 16;

/// The pieces that stay and those that go.
pub(super) fn split<'o>(
    outline: &'o Outline,
    changes: &[Change],
) -> (Vec<&'o Piece>, Vec<&'o Piece>) {
    let (mut stay, mut go) = (Vec::new(), Vec::new());
    for (piece, gone) in outline.pieces.iter().zip(gone(outline, changes)) {
        if gone { go.push(piece) } else { stay.push(piece) }
    }
    (stay, go)
}

/// Of each piece, whether it does not go out.
pub fn gone(outline: &Outline, changes: &[Change]) -> Vec<bool> {
    let mut gone = vec![false; outline.pieces.len()];
    for change in changes.iter().filter(|change| change.what == What::Drop) {
        let slot = usize::try_from(change.piece).ok().and_then(|at| gone.get_mut(at));
        if let Some(gone) = slot {
            *gone = true;
        }
    }
    gone
}

/// What one change sets on a piece, where the format has such an edit.
pub(super) type Set<'s> = &'s dyn Fn(&Piece, &What) -> Option<Op>;

/// What the changes set on pieces that stay.
pub(super) fn sets(outline: &Outline, changes: &[Change], set: Set<'_>) -> Vec<Op> {
    let gone = gone(outline, changes);
    // Strings are replaced where the host has them; what moves blocks comes last.
    let (mut first, mut ops, mut late) = (Vec::new(), Vec::new(), Vec::new());
    for change in changes {
        let Ok(at) = usize::try_from(change.piece) else { continue };
        let Some((piece, false)) = outline.pieces.get(at).zip(gone.get(at).copied()) else {
            continue;
        };
        match &change.what {
            What::Strings(strings) => first.extend_from_slice(strings),
            What::Unmark(marks) => unmark(piece, *marks, &mut ops),
            What::Hollow => hollow(piece, &mut late),
            What::Drop | What::Text(_) | What::Arguments(_) | What::Id(_) | What::Sign => {
                ops.extend(set(piece, &change.what));
            }
        }
    }
    first.append(&mut ops);
    first.append(&mut late);
    first
}

/// Removes the blank blocks of a result, the last first.
pub(super) fn hollow(piece: &Piece, ops: &mut Vec<Op>) {
    let list = inside(piece);
    for at in (0..u64::BITS).rev().filter(|at| (piece.hollow >> at) & 1 == 1) {
        ops.push(Op::Remove { path: format!("{list}/{at}") });
    }
}

/// What is changed on a piece of the host's where it is copied to: its strings, cache markers and blank blocks.
pub fn copied_ops(piece: &Piece, copy: &Copied, changes: &[What]) -> Vec<Op> {
    let (mut ops, mut late) = (Vec::new(), Vec::new());
    for what in changes {
        match what {
            What::Strings(strings) => ops.extend_from_slice(strings),
            What::Unmark(marks) => unmark(piece, *marks, &mut ops),
            What::Hollow => hollow(piece, &mut late),
            What::Drop | What::Text(_) | What::Arguments(_) | What::Id(_) | What::Sign => {}
        }
    }
    ops.append(&mut late);
    ops.retain_mut(|op| {
        let (Op::Add { path, .. } | Op::Replace { path, .. } | Op::Remove { path }) = op;
        let under = path.strip_prefix(&copy.from);
        let Some(under) = under.filter(|it| it.is_empty() || it.starts_with('/')) else {
            return false;
        };
        *path = format!("{}{under}", copy.path);
        true
    });
    ops
}

/// A cache marker is removed: the message says the same.
pub fn is_marker(op: &Op) -> bool {
    let names = ["/cache_control", "/cacheControl", "/cachePoint"];
    matches!(op, Op::Remove { path } if names.iter().any(|name| path.ends_with(name)))
}

/// Where the blocks of a result stand.
fn inside(piece: &Piece) -> String {
    let is_list = matches!(piece.place, Place::Content | Place::In(_) | Place::Field(_));
    let within = if is_list { "" } else { "/content" };
    format!("{}{within}", piece.place.pointer())
}

/// Removes cache markers: its own, and those of blocks in a result.
pub(super) fn unmark(piece: &Piece, marks: u64, ops: &mut Vec<Op>) {
    let (own, within) = (piece.place.pointer(), inside(piece));
    for bit in (0..u64::BITS).filter(|bit| (marks >> bit) & 1 == 1) {
        if bit == 0 && piece.marked_at != 0 {
            ops.extend(super::ai_sdk::marks::marked(piece).map(|path| Op::Remove { path }));
            continue;
        }
        let block = bit.checked_sub(1).map_or_else(|| own.clone(), |at| format!("{within}/{at}"));
        ops.push(Op::Remove { path: format!("{block}/cache_control") });
    }
}

/// Removals of array elements, from the last to the first.
pub(super) fn removals(pieces: &[&Piece], of: fn(&Piece) -> bool) -> Vec<Op> {
    let pieces = pieces.iter().filter(|piece| of(piece));
    let mut places: Vec<_> = pieces.filter_map(|piece| at(piece).zip(Some(piece.place))).collect();
    crate::sort::sort_by(&mut places, |(at, _)| (crate::sort::down(u64::from(*at)), 0));
    places.into_iter().map(|(_, place)| Op::Remove { path: place.pointer() }).collect()
}

fn at(piece: &Piece) -> Option<u32> {
    match piece.place {
        Place::Item(at)
        | Place::Call(at)
        | Place::Custom(at)
        | Place::Part(at)
        | Place::Snake(at)
        | Place::Tool(at)
        | Place::At(_, at) => Some(at),
        Place::Content | Place::Message(_) | Place::Field(_) | Place::In(_) | Place::Inner(..) => {
            None
        }
    }
}

/// Edits where everything is content: a string, a list of blocks, or a member of a role's own.
pub(super) fn blocks(outline: &Outline, changes: &[Change], set: Set<'_>) -> Vec<Op> {
    blocks_with(outline, changes, || text_block(PLACEHOLDER), set)
}

/// The same, with a block of the format's own in place of the last that went.
pub(super) fn blocks_with(
    outline: &Outline,
    changes: &[Change],
    block: fn() -> Value,
    set: Set<'_>,
) -> Vec<Op> {
    let (stay, mut go) = split(outline, changes);
    let mut ops = sets(outline, changes, set);
    if stay.iter().all(|piece| piece.kind == Kind::Thinking) && !go.is_empty() {
        // Reasoning alone is no message: what went first makes room for a word in its place.
        let first = go.iter().position(|piece| piece.kind != Kind::Thinking).unwrap_or_default();
        let piece = go.remove(first);
        let word = match (piece.place, piece.kind) {
            (
                Place::Item(_) | Place::Part(_) | Place::Snake(_) | Place::Tool(_) | Place::At(..),
                _,
            ) => block(),
            (_, Kind::Result) => object!([block()]),
            _ => PLACEHOLDER.into(),
        };
        ops.push(put(piece, "", word));
    }
    ops.extend(removals(&go, |_| true));
    ops
}

/// Replaces what stands at `under` in the piece.
pub(super) fn put(piece: &Piece, under: &str, value: Value) -> Op {
    Op::Replace { path: format!("{}{under}", piece.place.pointer()), value }
}

/// Sets a member of the piece, whether it was there or not.
pub(super) fn member(piece: &Piece, under: &str, value: Value) -> Op {
    Op::Add { path: format!("{}{under}", piece.place.pointer()), value }
}

/// Sets a member of the message, whether it was there or not.
pub(super) fn beside(path: &str, value: Value) -> Op {
    Op::Add { path: path.into(), value }
}

/// A text block: the same in all formats that have blocks.
pub(super) fn text_block(text: &str) -> Value {
    block_of(text.into())
}

/// A text block with whatever is put into it later.
pub(super) fn block_of(text: Value) -> Value {
    object!({ "type": "text", "text": text })
}

/// The content of a user message of ours. A block of the host's is copied whole, a string of the host's into a block.
pub(super) fn user_content(parts: &[MadePart], host: Host<'_>, copied: &mut Vec<Copied>) -> Value {
    user_list(parts, host, "/content", copied)
}

/// The same, for a message whose content stands at `list`.
pub(super) fn user_list(
    parts: &[MadePart],
    host: Host<'_>,
    list: &str,
    copied: &mut Vec<Copied>,
) -> Value {
    user_parts(parts, host, copied, list, |text| object!({ "type": "text", "text": text }))
}

/// The same, with texts as the format has them.
pub(super) fn user_parts(
    parts: &[MadePart],
    host: Host<'_>,
    copied: &mut Vec<Copied>,
    list: &str,
    block: fn(Value) -> Value,
) -> Value {
    let mut content = Vec::with_capacity(parts.len());
    for part in parts {
        let (message, piece) = match part {
            MadePart::Text(text) => {
                content.push(block(text.as_str().into()));
                continue;
            }
            MadePart::Host(message, piece) => (*message, host(message.to_owned(), *piece)),
        };
        let Some(piece) = piece else { continue };
        let path = format!("{list}/{}", content.len());
        let from = piece.place.pointer();
        if matches!(piece.place, Place::Item(_) | Place::Part(_) | Place::Snake(_) | Place::At(..))
        {
            copied.push(Copied { path, index: message, from });
            content.push(Value::NULL);
        } else {
            copied.push(Copied { path: format!("{path}/text"), index: message, from });
            content.push(block(Value::NULL));
        }
    }
    Value::array(&content)
}

/// The arguments of a call that takes free text: what a cut says, or their JSON.
pub(super) fn free_text(arguments: &Value) -> String {
    let members = Object::read(arguments.json()).unwrap_or_default();
    let decoded = crate::json::string(members.raw("cut").unwrap_or_else(|| arguments.json()));
    decoded.map_or_else(|_| arguments.json().into(), Cow::into_owned)
}

/// A result of the host's at another place.
pub(super) struct Moved {
    /// `null` where it is copied, or our words where there is nothing to copy.
    pub(super) text: Value,
    /// It reports an error.
    pub(super) error: bool,
    pub(super) copied: Option<Copied>,
}

/// Moves a result: what stands at `under` in its piece is copied to `path`.
pub(super) fn moved(message: MessageId, piece: Option<&Piece>, under: &str, path: &str) -> Moved {
    match piece {
        Some(piece) if !piece.blank => {
            let from = format!("{}{under}", piece.place.pointer());
            let copied = Copied { path: path.into(), index: message, from };
            Moved { text: Value::NULL, error: piece.error, copied: Some(copied) }
        }
        Some(piece) => Moved { text: NO_OUTPUT.into(), error: piece.error, copied: None },
        None => Moved { text: NO_OUTPUT.into(), error: true, copied: None },
    }
}
