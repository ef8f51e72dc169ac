//! One piece: where it stands, and what is asked of it by itself.

use std::borrow::Cow;

use crate::model::{Fix, FixKind, Kind, MessageId, Outline, Piece, Place, Violation};

/// What becomes of a piece.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Kept,
    Dropped,
}

/// A piece and where it stands.
#[derive(Clone, Copy)]
pub(super) struct At<'p> {
    pub(super) index: MessageId,
    pub(super) number: u32,
    pub(super) piece: &'p Piece,
}

impl At<'_> {
    pub(super) fn fix(self, kind: FixKind, rule: &'static str, message: &str) -> Fix {
        fix(self.index, Some(self.piece.place), kind, rule, message.into())
    }

    pub(super) fn drop(self) -> FixKind {
        FixKind::Drop { piece: self.number }
    }
}

pub(super) fn fix(
    index: MessageId,
    place: Option<Place>,
    kind: FixKind,
    rule: &'static str,
    message: String,
) -> Fix {
    let path = place.map(Place::pointer);
    Fix { index, kind, violation: Violation { rule, index: index.get(), path, message } }
}

/// Messages with their places in the history.
pub(super) fn messages<'o>(
    outlines: impl IntoIterator<Item = &'o Outline, IntoIter: Clone>,
) -> impl Iterator<Item = (MessageId, &'o Outline)> + Clone {
    (0u32..).map(MessageId::from).zip(outlines)
}

/// The pieces of a message.
pub(super) fn at(index: MessageId, outline: &Outline) -> impl Iterator<Item = At<'_>> {
    (0u32..).zip(&outline.pieces).map(move |(number, piece)| At { index, number, piece })
}

/// A call or result without an id, as in the days before ids, and in Gemini's parts: paired by order, and by name where
/// there is one. It goes out without an id.
pub(super) fn is_nameless(piece: &Piece) -> bool {
    piece.id.is_empty() && (in_parts(piece) || matches!(piece.place, Place::Field(_)))
}

/// It stands where ids are optional.
pub(super) fn in_parts(piece: &Piece) -> bool {
    matches!(piece.place, Place::Part(_) | Place::Snake(_))
}

/// What pairs a result with its call: the id; where parts have none, the tool's name; where each kind of call has a
/// kind of result (I15), the kind too.
pub(super) fn key(piece: &Piece) -> Cow<'_, str> {
    let id = piece.id.trim();
    let kind = if let Place::Message(kind) = piece.place { family(kind) } else { "" };
    if piece.is_provider_run() {
        their_key(id).into()
    } else if id.is_empty() && in_parts(piece) {
        format!("\0{}", piece.name).into()
    } else if kind.is_empty() {
        id.into()
    } else {
        format!("{id}\0{kind}").into()
    }
}

/// The key of a call that the provider runs: no host's result answers it, nor its result a host's call.
pub(super) fn their_key(id: &str) -> String {
    format!("{id}\0within")
}

/// How a key is shown.
pub(super) fn shown(key: &str) -> &str {
    key.split('\0').find(|text| !text.is_empty()).unwrap_or_default()
}

/// The same for a kind of call and its kind of result; nothing for functions, which a shell may be answered as.
fn family(kind: &'static str) -> &'static str {
    let ends = ["_output", "_result", "_call", "_request", "_response"];
    let cut =
        |kind: &'static str| ends.iter().find_map(|end| kind.strip_suffix(end)).unwrap_or(kind);
    match cut(cut(kind)) {
        "function" | "local_shell" => "",
        other => other,
    }
}

/// What is asked of a piece by itself, whoever speaks.
pub(super) fn plain(at: At<'_>, fixes: &mut Vec<Fix>) -> Fate {
    let piece = at.piece;
    if piece.fixed {
        return Fate::Kept;
    }
    if piece.blank {
        fixes.push(at.fix(at.drop(), "I6", "nothing but white space is in the text"));
        return Fate::Dropped;
    }
    if piece.broken_unicode && piece.kind == Kind::Thinking && piece.opaque {
        // A signature holds for the text as it was.
        fixes.push(at.fix(at.drop(), "I26", BROKEN));
        return Fate::Dropped;
    }
    unicode(at, fixes);
    if piece.bad_arguments {
        let message = "the arguments are not a JSON object";
        fixes.push(at.fix(FixKind::Arguments { piece: at.number }, "I30", message));
    }
    Fate::Kept
}

const BROKEN: &str = "a string holds half of a surrogate pair, which is not Unicode";

/// Half a surrogate pair costs no more than itself.
pub(super) fn unicode(at: At<'_>, fixes: &mut Vec<Fix>) {
    if at.piece.broken_unicode {
        fixes.push(at.fix(FixKind::Unicode { piece: at.number }, "I26", BROKEN));
    }
}
