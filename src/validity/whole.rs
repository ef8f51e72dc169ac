//! What is asked of a request as a whole: cache markers, declared tools, reasoning that goes with calls, images.

use super::provider::Provider;
use super::{Options, piece};
use crate::model::{Fix, FixKind, Kind, Outline, Violation};

/// I13: too many cache markers, or some where none may stand. The earliest go; those of system and tools are the host's.
pub(super) fn markers(outlines: &[Outline], provider: Provider, beside: u32) -> Vec<Fix> {
    let most = provider.rules().markers;
    let mut fixes = Vec::new();
    let mut kept: Vec<(piece::At<'_>, u64)> = Vec::new();
    if most == 0 {
        return fixes;
    }
    for (index, outline) in (0u32..).zip(outlines) {
        for at in piece::at(index, outline).filter(|at| at.piece.marks != 0 && !at.piece.unsent) {
            let marks = at.piece.marks;
            if at.piece.kind == Kind::Thinking {
                let kind = FixKind::Unmark { piece: at.number, marks };
                fixes.push(at.fix(kind, "I13", "reasoning has a cache marker; it may have none"));
                continue;
            }
            // A blank text goes, with its marker.
            let goes = at.piece.blank && at.piece.kind != Kind::Result;
            for bit in (0..u64::BITS).map(|bit| 1 << bit) {
                if marks & bit != 0 && !goes {
                    kept.push((at, bit));
                }
            }
        }
    }
    let room = usize::try_from(most.saturating_sub(beside)).unwrap_or_default();
    let excess = kept.len().saturating_sub(room);
    let found = kept.len().saturating_add(usize::try_from(beside).unwrap_or_default());
    for (at, marks) in kept.into_iter().take(excess) {
        let message = format!(
            "the request has {found} cache markers; at most {most} may be in system, tools and messages"
        );
        fixes.push(at.fix(FixKind::Unmark { piece: at.number, marks }, "I13", &message));
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
