//! Sessions, plans and merges.

/// A compaction: the gateway that planned it, its number there, and its cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fold {
    pub(crate) by: u8,
    pub(crate) number: u8,
    pub(crate) cut: u8,
}

/// A session, as a snapshot holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Session {
    /// Compactions that the summary was made of, one after the other.
    pub(crate) summary: Vec<Fold>,
    /// Compactions that were applied, as the session counts them.
    pub(crate) folds: u8,
    /// Messages before this one are gone.
    pub(crate) start: u8,
    /// A bit for each pin.
    pub(crate) pins: u8,
}

/// A compaction whose summarizer is at work. The summary will go on from the one that the session had.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Plan {
    pub(crate) fold: Fold,
    pub(crate) previous: Vec<Fold>,
}

impl Session {
    pub(crate) fn has_folded_since(&self, base: &Self) -> bool {
        (self.start, &self.summary) != (base.start, &base.summary)
    }

    /// This session with what another has committed; both went on from `base`. One of them is the start of the next request, and what is
    /// pinned or let go by either is so in both.
    pub(crate) fn merged(&self, theirs: &Self, base: &Self, prefers_theirs: bool) -> Self {
        let (ours_folded, theirs_folded) =
            (self.has_folded_since(base), theirs.has_folded_since(base));
        let goes_on_from_ours = ours_folded && !(theirs_folded && prefers_theirs);
        let start = if goes_on_from_ours { self } else { theirs };
        let pins = self.pins & theirs.pins | (self.pins | theirs.pins) & !base.pins;
        Self { pins, ..start.clone() }
    }

    /// This session after a plan was carried out on it.
    pub(crate) fn folded(&self, plan: &Plan) -> Self {
        let mut summary = plan.previous.clone();
        summary.push(plan.fold);
        let start = self.start.max(plan.fold.cut);
        Self { summary, start, folds: self.folds + 1, pins: self.pins }
    }
}
