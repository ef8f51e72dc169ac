//! Turns that the user took back: an agent that only appends to its file leaves their lines in it.

use super::lines::Line;

/// Meaning of a line for the turns.
pub(super) enum Mark {
    /// A turn starts.
    Turn,
    /// So many turns are taken back.
    Undo(u64),
    /// Nothing before it can be taken back.
    Boundary,
    Other,
}

/// For each line whether it is part of a turn that was taken back.
pub(super) fn undone<'a>(lines: &[Line<'a>], mark: impl Fn(&Line<'a>) -> Mark) -> Vec<bool> {
    let (mut turns, mut undone) = (Vec::new(), vec![false; lines.len()]);
    for (at, line) in lines.iter().enumerate() {
        match mark(line) {
            Mark::Turn => turns.push(at),
            Mark::Boundary => turns.clear(),
            Mark::Undo(count) => {
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                let left = turns.len().saturating_sub(count);
                let start = turns.get(left).copied().unwrap_or(at);
                undone.get_mut(start..at).unwrap_or_default().fill(true);
                turns.truncate(left);
            }
            Mark::Other => {}
        }
    }
    undone
}
