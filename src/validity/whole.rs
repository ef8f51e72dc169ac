//! What is asked of a request as a whole: cache markers, declared tools, reasoning that goes with calls, images.

use super::provider::Provider;
use super::{Options, piece};
use crate::model::{Fix, FixKind, Kind, Outline, Piece, Violation};

/// I13: too many cache markers, or some where none may stand. The earliest go; those of system and tools are the host's.
pub(super) fn markers(outlines: &[Outline], provider: Provider, beside: u32) -> Vec<Fix> {
    if provider.rules().markers == 0 {
        return Vec::new();
    }
    let messages = || (0u32..).zip(outlines).filter(|(_, outline)| is_marked(outline));
    let all = messages().map(|(_, outline)| most_sent(outline)).fold(0, u32::saturating_add);
    let found = all.saturating_add(beside);
    let mut excess = found.saturating_sub(provider.rules().markers.max(beside));
    let mut fixes = Vec::new();
    for (index, outline) in messages() {
        let sent = most_sent(outline);
        fixes.extend(unmark(index, outline, sent.saturating_sub(excess), (found, provider)));
        excess = excess.saturating_sub(sent);
    }
    fixes
}

/// Whether a message has cache markers.
pub fn is_marked(outline: &Outline) -> bool {
    outline.pieces.iter().any(|piece| piece.marks != 0)
}

/// All cache markers of a message.
pub fn markers_of(outline: &Outline) -> u32 {
    outline.pieces.iter().fold(0, |sum, piece| sum.saturating_add(piece.marks.count_ones()))
}

/// So many of a message's cache markers can go out: none on reasoning, and none with a blank text, which goes itself.
pub fn most_sent(outline: &Outline) -> u32 {
    outline
        .pieces
        .iter()
        .map(countable)
        .fold(0, |sum, marks| sum.saturating_add(marks.count_ones()))
}

fn countable(piece: &Piece) -> u64 {
    let blank = piece.blank && piece.kind != Kind::Result;
    if piece.unsent || blank || piece.kind == Kind::Thinking { 0 } else { piece.marks }
}

/// Of each piece the cache markers that do not go out, if so many of the last ones of its message do.
pub fn unmarked(outline: &Outline, kept: u32) -> Vec<(u32, u64)> {
    let mut excess = most_sent(outline).saturating_sub(kept);
    let mut all = Vec::new();
    for (number, piece) in (0u32..).zip(&outline.pieces) {
        let mut goes = if piece.kind == Kind::Thinking && !piece.unsent { piece.marks } else { 0 };
        let own = countable(piece);
        for bit in (0..u64::BITS).map(|bit| 1 << bit).filter(|bit| own & bit != 0) {
            goes |= if excess > 0 { bit } else { 0 };
            excess = excess.saturating_sub(1);
        }
        if goes != 0 {
            all.push((number, goes));
        }
    }
    all
}

/// What removes them, in a request of which so many were found.
pub fn unmark(
    index: u32,
    outline: &Outline,
    kept: u32,
    (found, provider): (u32, Provider),
) -> Vec<Fix> {
    let mut fixes = Vec::new();
    for (number, goes) in unmarked(outline, kept) {
        let Some(piece) = outline.pieces.get(number as usize) else { continue };
        let message = if piece.kind == Kind::Thinking {
            "reasoning has a cache marker; it may have none".into()
        } else {
            let most = provider.rules().markers;
            format!(
                "the request has {found} cache markers; at most {most} may be in system, tools and messages"
            )
        };
        for marks in (0..u64::BITS).map(|bit| 1 << bit).filter(|bit| goes & bit != 0) {
            let kind = FixKind::Unmark { piece: number, marks };
            fixes.push(piece::fix(index, Some(piece.place), kind, "I13", message.clone()));
        }
    }
    fixes
}

/// What nothing mends: I29, I23, I27, and I13 where the host's system and tools alone have too many markers.
pub(super) fn beyond_repair(
    outlines: &[Outline],
    provider: Provider,
    options: Options,
) -> Vec<Violation> {
    let rules = provider.rules();
    let limits = rules.limits;
    let mut violations = Vec::new();
    let mut tell = |index, path: Option<String>, rule, message: String| {
        violations.push(Violation { rule, index, path, message });
    };
    if options.marks > rules.markers && rules.markers > 0 {
        let (found, most) = (options.marks, rules.markers);
        let message = format!(
            "system and tools have {found} cache markers; at most {most} may be in the whole request"
        );
        tell(0, None, "I13", message);
    }
    let mut undeclared = rules.declares && options.tools == Some(false);
    let wants_reasoning = options.thinking && provider.wants_reasoning();
    let mut images = Vec::new();
    let mut count = 0u32;
    for (index, outline) in (0u32..).zip(outlines) {
        let (mut calls, mut thinks) = (false, false);
        for at in piece::at(index, outline).filter(|at| !at.piece.unsent) {
            calls |= at.piece.kind == Kind::Call;
            thinks |= at.piece.kind == Kind::Thinking;
            if at.piece.images > 0 && limits.images > 0 {
                count = count.saturating_add(at.piece.images);
                images.push((at, count));
            }
        }
        if calls && undeclared {
            undeclared = false;
            let message =
                "the history has tool calls and the request declares no tools; send the tools too";
            tell(index, None, "I29", message.into());
        }
        if wants_reasoning && calls && !thinks {
            let message =
                "with thinking on, a turn that made calls must be sent back with its reasoning";
            tell(index, None, "I23", message.into());
        }
    }
    let pixels = if count > limits.many { limits.many_pixels } else { limits.pixels };
    for (at, up_to) in images {
        let path = || Some(at.piece.place.pointer());
        if up_to > limits.images && up_to.saturating_sub(at.piece.images) <= limits.images {
            let most = limits.images;
            let message = format!("the request has {count} images; at most {most} are taken");
            tell(at.index, path(), "I27", message);
        }
        let wide = at.piece.widest;
        if wide > pixels {
            let message = format!(
                "a side of the image has {wide} pixels; of {count} images each may have {pixels}"
            );
            tell(at.index, path(), "I27", message);
        }
    }
    violations
}
