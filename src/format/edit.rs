//! What the formats share in editing and making: which pieces go, in which order operations stand, what is copied.

use crate::json::{Value, json};

use crate::model::{Copied, Kind, MadePart, Op, Outline, Piece, Place};

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
    /// Its text, result or reasoning is replaced by this; an image becomes this text. A result keeps its error flag.
    Text(String),
    /// Its arguments are replaced by this object; those of a custom tool's call by a string.
    Arguments(Value),
    /// It goes out with this call id.
    Id(String),
}

/// Finds a piece of one of the host's messages.
pub(super) type Host<'h> = &'h dyn Fn(u32, u32) -> Option<&'h Piece>;

/// The pieces that stay and those that go.
pub(super) fn split<'o>(
    outline: &'o Outline,
    changes: &[Change],
) -> (Vec<&'o Piece>, Vec<&'o Piece>) {
    let gone = |at| changes.iter().any(|change| change.piece == at && change.what == What::Drop);
    let (go, stay): (Vec<_>, Vec<_>) = (0u32..).zip(&outline.pieces).partition(|(at, _)| gone(*at));
    let pieces = |of: Vec<(u32, &'o Piece)>| of.into_iter().map(|(_, piece)| piece).collect();
    (pieces(stay), pieces(go))
}

/// What the changes set on pieces that stay.
pub(super) fn sets(
    outline: &Outline,
    changes: &[Change],
    set: impl Fn(&Piece, &What) -> Option<Op>,
) -> Vec<Op> {
    let gone = |at| changes.iter().any(|change| change.piece == at && change.what == What::Drop);
    let kept = changes.iter().filter(|change| !gone(change.piece));
    let piece = |change: &Change| outline.pieces.get(usize::try_from(change.piece).ok()?);
    kept.filter_map(|change| set(piece(change)?, &change.what)).collect()
}

/// Removals of array elements, from the last to the first.
pub(super) fn removals<'o>(pieces: impl Iterator<Item = &'o Piece>) -> Vec<Op> {
    let mut places: Vec<_> = pieces.filter_map(|piece| at(piece).zip(Some(piece.place))).collect();
    crate::order::sort_by(&mut places, |(at, _)| (crate::order::down(u64::from(*at)), 0));
    places.into_iter().map(|(_, place)| Op::Remove { path: place.pointer() }).collect()
}

fn at(piece: &Piece) -> Option<u32> {
    match piece.place {
        Place::Item(at) | Place::Call(at) | Place::Custom(at) | Place::Part(at) => Some(at),
        Place::Content | Place::Field(_) => None,
    }
}

/// Edits where everything is content: a string, a list of blocks, or a member of a role's own.
pub(super) fn blocks(
    outline: &Outline,
    changes: &[Change],
    set: impl Fn(&Piece, &What) -> Option<Op>,
) -> Vec<Op> {
    let (stay, mut go) = split(outline, changes);
    let mut ops = sets(outline, changes, set);
    if stay.iter().all(|piece| piece.kind == Kind::Thinking) && !go.is_empty() {
        // Reasoning alone is no message: what went first makes room for a word in its place.
        let first = go.iter().position(|piece| piece.kind != Kind::Thinking).unwrap_or_default();
        let piece = go.remove(first);
        let word = match (piece.place, piece.kind) {
            (Place::Item(_) | Place::Part(_), _) => text_block(PLACEHOLDER),
            (_, Kind::Result) => Value::array(&[text_block(PLACEHOLDER)]),
            _ => PLACEHOLDER.into(),
        };
        ops.push(put(piece, "", word));
    }
    ops.extend(removals(go.into_iter()));
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
    json!({ "type": "text", "text": text })
}

/// The content of a user message of ours. A block of the host's is copied whole, a string of the host's into a block.
pub(super) fn user_content(parts: &[MadePart], host: Host<'_>, copied: &mut Vec<Copied>) -> Value {
    let mut content = Vec::with_capacity(parts.len());
    for part in parts {
        let (message, piece) = match part {
            MadePart::Text(text) => {
                content.push(text_block(text));
                continue;
            }
            MadePart::Host(message, piece) => (*message, host(message.to_owned(), *piece)),
        };
        let Some(piece) = piece else { continue };
        let path = format!("/content/{}", content.len());
        let from = piece.place.pointer();
        if matches!(piece.place, Place::Item(_)) {
            copied.push(Copied { path, index: message, from });
            content.push(Value::NULL);
        } else {
            copied.push(Copied { path: format!("{path}/text"), index: message, from });
            content.push(json!({ "type": "text", "text": Value::NULL }));
        }
    }
    Value::array(&content)
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
pub(super) fn moved(message: u32, piece: Option<&Piece>, under: &str, path: &str) -> Moved {
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
