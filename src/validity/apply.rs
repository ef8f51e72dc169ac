//! Outlines of what fixes make: steps that go out as one, and messages of ours.

use crate::model::{Kind, Made, MadePart, MessageId, Outline, Piece, Place, Role, Traits};

/// The step that starts at this pointer goes out with the one before it.
pub fn join_steps(pieces: &mut [Piece], start: &str) {
    let mut before = (0, 0);
    for piece in pieces {
        // A piece of no step has none before it to go with.
        if Place::Part(piece.step.1.saturating_sub(1)).pointer() == start {
            piece.step = before;
        }
        before = piece.step;
    }
}

/// A message of ours as an outline; `outlines` has those of the host.
pub fn outline_of<'o>(made: &Made, outlines: &dyn Fn(MessageId) -> Option<&'o Outline>) -> Outline {
    let host = |message: MessageId, piece: u32| {
        outlines(message)?.pieces.get(usize::try_from(piece).ok()?).cloned()
    };
    let result = |id: &str, name: &str, error, place| {
        let traits = Traits { name: name.into(), error, ..Traits::new(Kind::Result, place) };
        Outline { role: Role::Tool, pieces: vec![traits.piece(id)] }
    };
    match made {
        Made::User(parts) => {
            let pieces = parts.iter().filter_map(|part| match part {
                MadePart::Text(_) => Some(Piece::new(Kind::Text, Place::Content)),
                MadePart::Host(message, piece) => host(*message, *piece),
            });
            Outline { role: Role::User, pieces: pieces.collect() }
        }
        Made::Results(results) => {
            let each = results.iter().flat_map(|made| outline_of(made, outlines).pieces);
            Outline { role: Role::Tool, pieces: each.collect() }
        }
        // Its text is never empty: where the host's result was, ours says `NO_OUTPUT`.
        Made::Result { id, name, error, like, .. } => result(id, name, *error, *like),
        Made::Moved { id, name, message, piece } => {
            let piece = host(*message, *piece);
            let place = piece.as_ref().map_or(Place::Content, |piece| piece.place);
            result(id, name, piece.is_some_and(|piece| piece.error), place)
        }
    }
}
