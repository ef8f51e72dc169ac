//! Changes to messages of both kinds.

use super::super::edit::{self, Change, What, member, put};
use crate::json::{Value, json as object};
use crate::model::{Kind, Op, Outline, Piece, Place, Role};

/// Changes to parts. What stands in one part with its call goes with it; a call that is answered in place loses the
/// question that nobody answered.
#[inline(never)]
pub(in crate::format) fn edit(outline: &Outline, changes: &[Change]) -> Vec<Op> {
    let gone = |at: u32| {
        let piece = usize::try_from(at).ok().and_then(|at| outline.pieces.get(at));
        piece.is_some_and(|it| !matches!((it.kind, it.place), (Kind::Result, Place::Part(_))))
    };
    // A provider's result is removed with the part of its call, once.
    let mut once: Vec<Change> = changes
        .iter()
        .filter(|change| change.what != What::Drop || gone(change.piece))
        .cloned()
        .collect();
    // A message of results holds nothing else: the last of them stays as a word.
    if outline.role == Role::Tool
        && edit::split(outline, &once).0.is_empty()
        && let Some(first) = once.iter_mut().find(|change| change.what == What::Drop)
    {
        first.what = What::Text(edit::PLACEHOLDER.into());
    }
    let mut ops = Vec::new();
    for change in &once {
        let piece = usize::try_from(change.piece).ok().and_then(|at| outline.pieces.get(at));
        if let (Some((Kind::Call, Place::Tool(at))), What::Text(text)) =
            (piece.map(|piece| (piece.kind, piece.place)), &change.what)
        {
            let place = Place::Tool(at).pointer();
            ops.push(Op::Add { path: format!("{place}/state"), value: "output-error".into() });
            ops.push(Op::Add { path: format!("{place}/errorText"), value: text.as_str().into() });
            let asks = Place::Inner(at, "approval");
            if outline.pieces.iter().any(|piece| piece.place == asks) {
                ops.push(Op::Remove { path: asks.pointer() });
            }
        }
    }
    ops.extend(edit::blocks(outline, &once, &set));
    ops
}

/// What one change sets on the host's object.
fn set(piece: &Piece, what: &What) -> Option<Op> {
    let text = |text: &String| Value::from(text.as_str());
    Some(match (piece.kind, piece.place, what) {
        (Kind::Text, Place::Content, What::Text(new)) => put(piece, "", text(new)),
        (Kind::Text | Kind::Thinking, _, What::Text(new)) => put(piece, "/text", text(new)),
        (Kind::Image, _, What::Text(new)) => put(piece, "", edit::text_block(new)),
        (Kind::Result, Place::Inner(..), What::Text(new)) => member(piece, "", text(new)),
        (Kind::Result, Place::At(..), What::Text(new)) => member(piece, "/result", text(new)),
        (Kind::Result, Place::Item(_), What::Text(new)) => {
            member(piece, "/output", output(new, piece.error))
        }
        (Kind::Call, Place::At(..), What::Arguments(new)) => member(piece, "/args", new.clone()),
        (Kind::Call, _, What::Arguments(new)) => member(piece, "/input", new.clone()),
        (Kind::Call, _, What::Id(id))
        | (Kind::Result | Kind::Other, Place::Item(_) | Place::At(..), What::Id(id)) => {
            member(piece, "/toolCallId", text(id))
        }
        _ => return None,
    })
}

pub(super) fn output(text: &str, error: bool) -> Value {
    object!({ "type": if error { "error-text" } else { "text" }, "value": text })
}
