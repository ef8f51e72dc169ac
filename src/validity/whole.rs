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
        for at in piece::at(index, outline).filter(|at| at.piece.marks != 0) {
            let marks = at.piece.marks;
            let bits = (0..u64::BITS).filter(|bit| (marks >> bit) & 1 == 1);
            if at.piece.kind == Kind::Thinking {
                let kind = FixKind::Unmark { piece: at.number, marks };
                fixes.push(at.fix(kind, "I13", "reasoning has a cache marker; it may have none"));
            } else if !at.piece.blank || at.piece.kind == Kind::Result {
                kept.extend(bits.map(|bit| (at, 1 << bit)));
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

/// What nothing mends: I29, I23, and what is left of I27.
pub(super) fn beyond_repair(
    outlines: &[Outline],
    provider: Provider,
    options: Options,
) -> Vec<Violation> {
    let rules = provider.rules();
    let mut violations = Vec::new();
    let mut tell = |index, path, rule, message: String| {
        violations.push(Violation { rule, index, path, message });
    };
    let sent =
        || (0u32..).zip(outlines).filter(|(_, it)| !it.pieces.iter().any(|piece| piece.unsent));
    let calls = |outline: &Outline| outline.pieces.iter().any(|piece| piece.kind == Kind::Call);
    if options.marks > rules.markers && rules.markers > 0 {
        let (found, most) = (options.marks, rules.markers);
        let message = format!(
            "system and tools have {found} cache markers; at most {most} may be in the whole request"
        );
        tell(0, None, "I13", message);
    }
    if rules.declares
        && options.tools == Some(false)
        && let Some((index, _)) = sent().find(|(_, outline)| calls(outline))
    {
        let message =
            "the history has tool calls and the request declares no tools; send the tools too";
        tell(index, None, "I29", message.into());
    }
    if options.thinking && provider.wants_reasoning() {
        let thinks = |outline: &Outline| outline.pieces.iter().any(|it| it.kind == Kind::Thinking);
        for (index, _) in sent().filter(|(_, outline)| calls(outline) && !thinks(outline)) {
            let message =
                "with thinking on, a turn that made calls must be sent back with its reasoning";
            tell(index, None, "I23", message.into());
        }
    }
    let limits = rules.limits;
    let images = sent()
        .flat_map(|(index, outline)| piece::at(index, outline))
        .filter(|at| at.piece.images > 0);
    let images: Vec<_> = images.collect();
    let count: u32 = images.iter().map(|at| at.piece.images).sum();
    if limits.images == 0 {
        return violations;
    }
    let mut seen = 0u32;
    let pixels = if count > limits.many { limits.many_pixels } else { limits.pixels };
    for at in images {
        let before = seen;
        seen = seen.saturating_add(at.piece.images);
        let path = Some(at.piece.place.pointer());
        if before <= limits.images && seen > limits.images {
            let message =
                format!("the request has {count} images; at most {} are taken", limits.images);
            tell(at.index, path.clone(), "I27", message);
        }
        if at.piece.widest > pixels {
            let wide = at.piece.widest;
            let message = format!(
                "a side of the image has {wide} pixels; beside {count} images at most {pixels} are taken"
            );
            tell(at.index, path, "I27", message);
        }
    }
    violations
}
