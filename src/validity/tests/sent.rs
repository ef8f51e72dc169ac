//! A request as it goes out: its fixes carried out on outlines.

use crate::model::{Fix, FixKind, Kind, MessageId, Outline, Piece, Place, Role};
use crate::sort::sort_by;
use crate::validity::piece::messages;
use crate::validity::{Between, Provider, join_steps, outline_of};

/// The request as it goes out once the fixes are carried out. A message of ours stands before or after its message
/// even where that one does not go out itself; a message with no piece left does not.
pub(in crate::validity) fn apply(outlines: &[Outline], fixes: &[Fix]) -> Vec<Outline> {
    let mut of: Vec<&Fix> = fixes.iter().collect();
    sort_by(&mut of, |fix| (i64::from(fix.index), 0));
    let mut of = of.into_iter().peekable();
    let mut out = Vec::new();
    let known = |message: MessageId| outlines.get(message.index());
    for (index, outline) in messages(outlines) {
        let mut pieces: Vec<_> = outline.pieces.iter().cloned().map(Some).collect();
        let (mut after, mut role) = (Vec::new(), outline.role);
        let mut joins = Vec::new();
        while let Some(fix) = of.next_if(|fix| fix.index <= index) {
            match &fix.kind {
                FixKind::Before(made) => out.push(outline_of(made, &known)),
                FixKind::After(made) => after.push(outline_of(made, &known)),
                FixKind::AsUser => role = Role::User,
                FixKind::Turn => joins.extend(fix.violation.path.as_deref()),
                FixKind::Drop { .. }
                | FixKind::Unmark { .. }
                | FixKind::Rename { .. }
                | FixKind::Text { .. }
                | FixKind::Unicode { .. }
                | FixKind::Arguments { .. }
                | FixKind::Sign { .. } => change(&mut pieces, &fix.kind),
            }
        }
        let mut pieces: Vec<_> = pieces.into_iter().flatten().collect();
        for start in joins {
            join_steps(&mut pieces, start);
        }
        if !pieces.is_empty() {
            out.push(Outline { role, pieces });
        }
        out.append(&mut after);
    }
    out
}

/// The same with roles in turn, where the provider wants them so: neighbours of one role are merged, or a line of the other
/// side's stands between. `inline`: results travel in the user's messages.
pub(in crate::validity) fn take_turns(
    outlines: Vec<Outline>,
    provider: Provider,
    inline: bool,
) -> Vec<Outline> {
    if !provider.takes_turns() {
        return outlines;
    }
    let mut out: Vec<Outline> = Vec::new();
    let mut last: Option<(usize, Role)> = None;
    for outline in outlines {
        // Its host leaves it out of the request, so it is nobody's neighbour.
        if outline.pieces.iter().any(|piece| piece.unsent) {
            out.push(outline);
            continue;
        }
        let is_result = |piece: &Piece| piece.kind == Kind::Result;
        let role = outline.role;
        let (results, rest): (Vec<_>, Vec<_>) = outline.pieces.into_iter().partition(is_result);
        let speaker = provider.speaker_of_results(inline, role);
        let parts = if results.is_empty() || speaker == Role::Tool {
            vec![(speaker, results), (role, rest)]
        } else {
            vec![(speaker, [results, rest].concat())]
        };
        for (role, pieces) in parts.into_iter().filter(|(_, pieces)| !pieces.is_empty()) {
            let filler =
                |role| Outline { role, pieces: vec![Piece::new(Kind::Text, Place::Content)] };
            match (provider.between(last.map(|(_, role)| role), role), last) {
                (Between::OneMessage, Some((at, _))) if inline || role == Role::User => {
                    if let Some(before) = out.get_mut(at) {
                        before.role = role;
                        before.pieces.extend(pieces);
                    }
                    continue;
                }
                (Between::Nothing, _) => {}
                (Between::OneMessage, _) => out.push(filler(Role::User)),
                (Between::Assistant, _) => out.push(filler(Role::Assistant)),
            }
            last = Some((out.len(), role));
            out.push(Outline { role, pieces });
        }
    }
    out
}

fn change(pieces: &mut [Option<Piece>], kind: &FixKind) {
    let Some(slot) = usize::try_from(kind.piece()).ok().and_then(|at| pieces.get_mut(at)) else {
        return;
    };
    let Some(piece) = slot else { return };
    match kind {
        FixKind::Drop { .. } => *slot = None,
        FixKind::Rename { id, .. } => piece.id = id.as_str().into(),
        // A call is answered where it stands.
        FixKind::Text { .. } if piece.kind == Kind::Call => piece.within = true,
        FixKind::Text { text, .. } => {
            piece.hollow = 0;
            piece.blank &= text.is_none();
        }
        FixKind::Unicode { .. } => piece.broken_unicode = false,
        FixKind::Arguments { .. } => piece.bad_arguments = false,
        FixKind::Sign { .. } => piece.opaque = true,
        FixKind::Unmark { marks, .. } => piece.marks &= !marks,
        FixKind::Before(_) | FixKind::After(_) | FixKind::AsUser | FixKind::Turn => {}
    }
}
