//! Fixes carried out on outlines.

use crate::model::{Fix, FixKind, Kind, Made, MadePart, NONE, Outline, Piece, Place, Role};

/// The request as it goes out once the fixes are carried out. A message of ours stands before or after its message
/// even where that one does not go out itself; a message with no piece left does not.
pub fn apply(outlines: &[Outline], fixes: &[Fix]) -> Vec<Outline> {
    let mut of: Vec<&Fix> = fixes.iter().collect();
    crate::order::sort_by(&mut of, |fix| (i64::from(fix.index), 0));
    let mut of = of.into_iter().peekable();
    let mut out = Vec::new();
    for (index, outline) in (0u32..).zip(outlines) {
        let mut pieces: Vec<_> = outline.pieces.iter().cloned().map(Some).collect();
        let mut after = Vec::new();
        while let Some(fix) = of.next_if(|fix| fix.index <= index) {
            match &fix.kind {
                FixKind::Before(made) => out.push(outline_of(made, outlines)),
                FixKind::After(made) => after.push(outline_of(made, outlines)),
                FixKind::Drop { .. }
                | FixKind::Rename { .. }
                | FixKind::Text { .. }
                | FixKind::Arguments { .. }
                | FixKind::Sign { .. } => change(&mut pieces, &fix.kind),
            }
        }
        let pieces: Vec<_> = pieces.into_iter().flatten().collect();
        if !pieces.is_empty() {
            out.push(Outline { role: outline.role, pieces });
        }
        out.append(&mut after);
    }
    out
}

fn change(pieces: &mut [Option<Piece>], kind: &FixKind) {
    let number = match kind {
        FixKind::Drop { piece }
        | FixKind::Rename { piece, .. }
        | FixKind::Text { piece, .. }
        | FixKind::Arguments { piece }
        | FixKind::Sign { piece } => *piece,
        FixKind::Before(_) | FixKind::After(_) => NONE,
    };
    let Some(slot) = usize::try_from(number).ok().and_then(|at| pieces.get_mut(at)) else { return };
    let Some(piece) = slot else { return };
    match kind {
        FixKind::Drop { .. } => *slot = None,
        FixKind::Rename { id, .. } => piece.id = id.as_str().into(),
        // A call is answered where it stands.
        FixKind::Text { .. } if piece.kind == Kind::Call => piece.within = true,
        FixKind::Text { text, .. } => {
            piece.broken_unicode = false;
            piece.blank &= text.is_none();
        }
        FixKind::Arguments { .. } => {
            piece.broken_unicode = false;
            piece.bad_arguments = false;
        }
        FixKind::Sign { .. } => piece.opaque = true,
        FixKind::Before(_) | FixKind::After(_) => {}
    }
}

/// A message of ours as an outline.
pub fn outline_of(made: &Made, outlines: &[Outline]) -> Outline {
    let host = |message: u32, piece: u32| {
        let outline = outlines.get(usize::try_from(message).ok()?)?;
        outline.pieces.get(usize::try_from(piece).ok()?).cloned()
    };
    let result = |id: &str, name: &str, error, place| {
        let piece = Piece::new(Kind::Result, place);
        Outline {
            role: Role::Tool,
            pieces: vec![Piece { id: id.into(), name: name.into(), error, ..piece }],
        }
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
