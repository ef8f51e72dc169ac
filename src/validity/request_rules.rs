//! Rules for a request as a whole: cache markers, declared tools, reasoning that goes with calls, images.

use super::provider::{Limits, Provider};
use super::{Options, piece};
use crate::model::{Fix, FixKind, Kind, MessageId, Outline, Piece, Place, Traits, Violation};

/// I13: too many cache markers, or some where none may stand. The earliest go; those of system and tools are the host's.
pub(super) fn markers<'o>(
    messages: impl Iterator<Item = (MessageId, &'o Outline)> + Clone,
    provider: Provider,
    beside: u32,
) -> Vec<Fix> {
    if provider.rules().markers == 0 {
        return Vec::new();
    }
    let marked = || messages.clone().filter(|(_, outline)| is_marked(outline));
    let all = marked().map(|(_, outline)| most_sent(outline)).fold(0, u32::saturating_add);
    let found = all.saturating_add(beside);
    let mut excess = found.saturating_sub(provider.rules().markers.max(beside));
    let mut fixes = Vec::new();
    for (index, outline) in marked() {
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
    // A blank result is not dropped: it gets a text, and keeps its marker.
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
#[inline(never)]
pub fn unmark(
    index: MessageId,
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

/// What nothing mends, message by message: I29, I23, I27, and I13 where the host's system and tools alone have too many markers.
#[derive(Clone, Debug)]
pub(super) struct RequestRules {
    limits: Limits,
    /// The request declares no tools, and has no call so far.
    undeclared: bool,
    wants_reasoning: bool,
    found: Vec<Violation>,
    count: u32,
    images: Vec<Image>,
}

/// A piece with images.
#[derive(Clone, Copy, Debug)]
struct Image {
    index: MessageId,
    place: Place,
    images: u32,
    /// Images of the request up to and with it.
    up_to: u32,
    widest: u32,
}

impl RequestRules {
    pub(super) fn new(provider: Provider, options: Options) -> Self {
        let rules = provider.rules();
        let mut checks = Self {
            limits: rules.limits,
            undeclared: rules.declares && options.tools == Some(false),
            wants_reasoning: options.thinking && provider.wants_reasoning(),
            found: Vec::new(),
            count: 0,
            images: Vec::new(),
        };
        if options.marks > rules.markers && rules.markers > 0 {
            let (found, most) = (options.marks, rules.markers);
            let message = format!(
                "system and tools have {found} cache markers; at most {most} may be in the whole request"
            );
            checks.found.push(Violation { rule: "I13", index: 0, path: None, message });
        }
        checks
    }

    pub(super) fn push(&mut self, index: MessageId, outline: &Outline) {
        let (mut calls, mut thinks) = (false, false);
        for at in piece::at(index, outline).filter(|at| !at.piece.unsent) {
            calls |= at.piece.kind == Kind::Call;
            thinks |= at.piece.kind == Kind::Thinking;
            let Traits { images, widest, place, .. } = **at.piece;
            if images > 0 && self.limits.images > 0 {
                self.count = self.count.saturating_add(images);
                self.images.push(Image { index, place, images, up_to: self.count, widest });
            }
        }
        let mut report = |rule, message: &str| {
            self.found.push(Violation {
                rule,
                index: index.get(),
                path: None,
                message: message.into(),
            });
        };
        if calls && self.undeclared {
            self.undeclared = false;
            let message =
                "the history has tool calls and the request declares no tools; send the tools too";
            report("I29", message);
        }
        if self.wants_reasoning && calls && !thinks {
            let message =
                "with thinking on, a turn that made calls must be sent back with its reasoning";
            report("I23", message);
        }
    }

    pub(super) fn count(&self) -> usize {
        self.found.len().saturating_add(self.images().len())
    }

    pub(super) fn violations(&self) -> Vec<Violation> {
        let mut all = self.found.clone();
        all.extend(self.images());
        all
    }

    /// I27: too many images, and too large ones for so many.
    fn images(&self) -> Vec<Violation> {
        let (limits, count) = (self.limits, self.count);
        let pixels = if count > limits.many { limits.many_pixels } else { limits.pixels };
        let mut violations = Vec::new();
        for it in &self.images {
            let mut report = |message| {
                let path = Some(it.place.pointer());
                violations.push(Violation { rule: "I27", index: it.index.get(), path, message });
            };
            // Once, at the image that passes the limit.
            if it.up_to > limits.images && it.up_to.saturating_sub(it.images) <= limits.images {
                let most = limits.images;
                report(format!("the request has {count} images; at most {most} are taken"));
            }
            let wide = it.widest;
            if wide > pixels {
                report(format!(
                    "a side of the image has {wide} pixels; of {count} images each may have {pixels}"
                ));
            }
        }
        violations
    }
}
