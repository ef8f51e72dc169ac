//! Changes to a message: what is changed of a call is changed in every place in which it stands.

use super::super::edit::{self, Change, PLACEHOLDER, What, member, put};
use super::super::json::token;
use super::ROOTS;
use super::calls::FUNCTION_CALL;
use crate::json::Value;
use crate::model::{Kind, Op, Outline, Piece, Place};

/// Changes to content and calls, in every place in which a call stands.
#[inline(never)]
pub(in crate::format) fn edit(outline: &Outline, changes: &[Change]) -> Vec<Op> {
    let (mut stay, mut go) = edit::split(outline, changes);
    let mut ops = edit::sets(outline, changes, &|piece, what| {
        (piece.kind != Kind::Call).then(|| set(piece, what)).flatten()
    });
    let mut signed = Vec::new();
    for change in changes.iter().filter(|change| change.what != What::Drop) {
        let piece = usize::try_from(change.piece).ok().and_then(|at| outline.pieces.get(at));
        let stays = |it: &&Piece| stay.iter().any(|piece| std::ptr::eq(*piece, *it));
        let Some(piece) = piece.filter(|it| it.kind == Kind::Call).filter(stays) else { continue };
        let own = (!has_own_mirror(outline, piece)).then_some(piece);
        if let What::Id(id) = &change.what {
            signed.extend(mirrors(outline, piece).filter(|it| is_signature(it)).map(|it| (it, id)));
        }
        let places = mirrors(outline, piece).chain(own);
        ops.extend(places.filter_map(|place| set(place, &change.what)));
    }
    ops.extend(signed.iter().map(|(it, _)| Op::Remove { path: signature(it, &it.id) }));
    ops.extend(
        signed
            .iter()
            .map(|(it, id)| Op::Add { path: signature(it, id), value: (&*it.name).into() }),
    );
    let calls: Vec<&Piece> = go.iter().copied().filter(|piece| piece.kind == Kind::Call).collect();
    for mirror in calls.iter().flat_map(|call| mirrors(outline, call)) {
        if stay.iter().any(|piece| std::ptr::eq(*piece, mirror)) {
            stay.retain(|piece| !std::ptr::eq(*piece, mirror));
            go.push(mirror);
        }
    }
    go.retain(|piece| piece.kind != Kind::Call || !has_own_mirror(outline, piece));
    let of_content = |piece: &Piece| content_of(piece).is_some();
    let content = outline.pieces.iter().find_map(content_of);
    let has_text = stay.iter().any(|piece| !matches!(piece.kind, Kind::Thinking) && !piece.mirror);
    match content {
        _ if go.is_empty() => {}
        Some(path) if !has_text => ops.push(edit::beside(&path, PLACEHOLDER.into())),
        Some(path)
            if !stay.iter().any(|it| of_content(it)) && go.iter().any(|it| of_content(it)) =>
        {
            ops.push(edit::beside(&path, "".into()));
        }
        Some(_) | None => ops.extend(edit::removals(&go, of_content)),
    }
    ops.extend(edit::removals(&go, |piece| content_of(piece).is_none()));
    let fields = go.iter().filter(|piece| matches!(piece.place, Place::Field(_)));
    for piece in fields {
        let all = piece.place.pointer();
        let path = if is_signature(piece) { signature(piece, &piece.id) } else { all };
        // Items of one list go together.
        let op = Op::Remove { path };
        if !ops.contains(&op) {
            ops.push(op);
        }
    }
    ops
}

/// A call's signature: its name is what it says.
fn is_signature(piece: &Piece) -> bool {
    piece.mirror && matches!(piece.place, Place::Field(_))
}

/// Where the signature of the call with this id stands.
fn signature(piece: &Piece, id: &str) -> String {
    format!("{}/{}", piece.place.pointer(), token(id))
}

/// The pointer of the content that a piece stands in.
fn content_of(piece: &Piece) -> Option<String> {
    if let Place::At(path, _) | Place::In(path) = piece.place
        && path.ends_with("content")
    {
        return Some(format!("/{path}"));
    }
    None
}

/// A call that stands in the content or beside it, in no list of its own, has that place as a mirror too.
fn has_own_mirror(outline: &Outline, call: &Piece) -> bool {
    mirrors(outline, call).any(|mirror| mirror.place == call.place)
}

/// The other places of a call. A mirror that stands where a call stands is that call's; in every other list, the n-th mirror with an
/// id belongs to the n-th call with it.
fn mirrors<'o>(outline: &'o Outline, call: &'o Piece) -> impl Iterator<Item = &'o Piece> {
    let same = move |piece: &&Piece| piece.kind == Kind::Call && piece.id == call.id;
    let number = outline.pieces.iter().filter(same).position(|piece| std::ptr::eq(piece, call));
    let is = move |piece: &&Piece| piece.mirror && piece.id == call.id && !piece.name.is_empty();
    outline.pieces.iter().enumerate().filter(move |(_, piece)| is(piece)).filter_map(
        move |(at, piece)| {
            let before = outline.pieces.iter().take(at).filter(is);
            let nth = before.filter(|other| other.place.list() == piece.place.list()).count();
            let of_other = || outline.pieces.iter().any(|it| same(&it) && it.place == piece.place);
            (piece.place == call.place || Some(nth) == number && !of_other()).then_some(piece)
        },
    )
}

/// What one change sets in one place.
fn set(piece: &Piece, what: &What) -> Option<Op> {
    let text = |text: &String| Value::from(text.as_str());
    let member_of = |name: &str, new: &Value| {
        let (name, is_text) = name.strip_prefix('=').map_or((name, false), |name| (name, true));
        let new = if is_text { new.json().into() } else { new.clone() };
        member(piece, &format!("/{name}"), new)
    };
    Some(match (piece.kind, piece.place, what) {
        (Kind::Text, Place::In(_), What::Text(new))
        | (Kind::Thinking, Place::Field(_), What::Text(new)) => put(piece, "", text(new)),
        (Kind::Text, _, What::Text(new)) => put(piece, "/text", text(new)),
        (Kind::Thinking, _, What::Text(new)) => put(piece, "/thinking", text(new)),
        (Kind::Image, _, What::Text(new)) => put(piece, "", edit::text_block(new)),
        (Kind::Result, _, What::Text(new)) => member(piece, "", text(new)),
        (Kind::Result, Place::In(path), What::Id(id)) => {
            let root = ROOTS.iter().find(|root| root.content == path)?;
            edit::beside(root.tool_call_id, text(id))
        }
        (Kind::Result, Place::At(..), What::Id(id)) => member(piece, "/tool_use_id", text(id)),
        (Kind::Other, Place::Field(_), _) => return None,
        (Kind::Other, _, What::Arguments(new)) => member_of(&piece.name, new),
        (Kind::Other, _, What::Id(id)) if &*piece.name != FUNCTION_CALL => {
            member(piece, "/id", text(id))
        }
        (Kind::Call, Place::Field(_), What::Arguments(new)) => member_of("=arguments", new),
        (Kind::Call, _, What::Arguments(new)) => member_of("args", new),
        (Kind::Call, Place::At(..), What::Id(id)) => member(piece, "/id", text(id)),
        _ => return None,
    })
}
