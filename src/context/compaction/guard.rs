//! Guard of the summarizer: it is not asked soon after a failure, nor after summaries that did not help.

use crate::context::session::snapshot::bytes::{Reader, Writer};

/// How a compaction failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::context) enum Failure {
    /// The summarizer was busy, slow or broken: the longer it lasts, the longer it is left alone.
    Temporary,
    /// No key, no quota, no such model.
    Auth,
    /// It could not be reached, or its answer was cut.
    Network,
    /// What it answered was refused: not smaller, or no summary.
    Ineffective,
}

/// Seconds that a summarizer is left alone for after the first failure, the second, and every later one; after one of
/// authority, and after one of the network (F109).
const ESCALATING: [i64; 3] = [60, 300, 900];
const AUTH: i64 = 600;
const NETWORK: i64 = 30;
/// So many compactions without gain, one after the other, stop them (F110).
const STRIKES: u32 = 2;
/// After a compaction a request grows by so much, or by this part of its line, before the next: a reading may still come (F112).
/// The figure is of lines above 64,000 (H6). Where the request would not fit, the part alone counts: an extract is no better
/// for waiting, and a host may never tell of a reading.
const GROWTH: u64 = 4096;
const GROWTH_SHARE: u64 = 20;

/// What became of the compactions so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::context) struct Guard {
    /// Compactions in a row that did not help.
    strikes: u32,
    failures: u32,
    pub(in crate::context) until_ms: i64,
    /// Readings of requests from this epoch on tell of the last compaction.
    epoch: u32,
    /// What the request had after it, while no reading has told.
    after: Option<u64>,
    /// The host has been told that no summarizer is asked.
    pub(in crate::context) warned: bool,
}

impl Failure {
    /// Of its name; none where nothing failed, and for a call that was taken back.
    pub(in crate::context) fn parse(name: &str) -> Option<Self> {
        match name {
            "temporary" => Some(Self::Temporary),
            "auth" => Some(Self::Auth),
            "network" => Some(Self::Network),
            "ineffective" => Some(Self::Ineffective),
            _ => None,
        }
    }
}

impl Guard {
    /// A compaction failed.
    pub(in crate::context) fn fail(&mut self, failure: Failure, now_ms: i64) {
        let seconds = match failure {
            Failure::Auth => AUTH,
            Failure::Network => NETWORK,
            Failure::Temporary | Failure::Ineffective => {
                let last = ESCALATING.len().saturating_sub(1);
                let at = usize::try_from(self.failures).unwrap_or(last).min(last);
                ESCALATING.get(at).copied().unwrap_or_default()
            }
        };
        self.failures = self.failures.saturating_add(1);
        self.strikes = self.strikes.saturating_add((failure == Failure::Ineffective).into());
        self.until_ms = now_ms.saturating_add(seconds.saturating_mul(1000));
        // A new failure is news for the host.
        self.warned = false;
    }

    /// A compaction was carried out: `epoch` will send it, with so many tokens. One that had to do without a summarizer's
    /// answer has not helped it.
    pub(in crate::context) fn done(&mut self, epoch: u32, tokens: u64, degraded: bool) {
        self.epoch = epoch;
        self.after = (!degraded).then_some(tokens);
        self.strikes = self.strikes.saturating_add(degraded.into());
        if !degraded {
            (self.failures, self.until_ms) = (0, 0);
        }
    }

    /// What a request really had: whether the last compaction helped.
    pub(in crate::context) fn read(&mut self, epoch: u32, fits: bool) {
        // It was counted before the compaction (F25).
        if epoch < self.epoch {
            return;
        }
        let judged = self.after.take().is_some();
        if fits {
            // A cool-down goes on, and has been told of.
            self.warned &= !self.is_ineffective();
            self.strikes = 0;
        } else {
            self.strikes = self.strikes.saturating_add(judged.into());
        }
    }

    /// Whether a compaction may be tried of a request of so many tokens, that does not fit without one if `needed`; where no
    /// reading came, our own measure tells of the last one.
    pub(in crate::context) fn permits(
        &mut self,
        tokens: u64,
        line: u64,
        needed: bool,
        now_ms: i64,
    ) -> bool {
        if let Some(after) = self.after {
            let least = if needed { 0 } else { GROWTH };
            if tokens.saturating_sub(after) <= least.max(line / GROWTH_SHARE) {
                return false;
            }
            self.read(self.epoch, after <= line);
        }
        self.strikes < STRIKES && !self.cools(now_ms)
    }

    /// A failure's pause goes on. One that is longer than any is of a clock that has been set back since.
    pub(in crate::context) fn cools(&self, now_ms: i64) -> bool {
        let left = self.until_ms.saturating_sub(now_ms);
        let longest = ESCALATING.last().map_or(0, |seconds| seconds.saturating_mul(1000));
        left > 0 && left <= longest
    }

    pub(in crate::context) fn is_ineffective(&self) -> bool {
        self.strikes >= STRIKES
    }

    /// What others came to since `base` counts here too: their strikes and failures beside ours, the longer of the waits. Where
    /// nothing has changed here, theirs holds. `folded`: their last compaction is not this session's.
    pub(in crate::context) fn take_in(&mut self, other: &Self, base: &Self, folded: bool) {
        let judged = (self.epoch, self.after);
        if self == base {
            *self = other.clone();
        } else if other != base {
            let more = |now: u32, before: u32| now.saturating_sub(before);
            self.strikes = self.strikes.saturating_add(more(other.strikes, base.strikes));
            self.failures = self.failures.saturating_add(more(other.failures, base.failures));
            self.until_ms = self.until_ms.max(other.until_ms);
            self.warned |= other.warned;
            (self.epoch, self.after) = (other.epoch, other.after);
        }
        if folded || judged != (base.epoch, base.after) {
            (self.epoch, self.after) = judged;
        }
    }

    pub(in crate::context) fn write(&self, out: &mut Writer) {
        out.number(self.strikes.into());
        out.number(self.failures.into());
        out.number(u64::try_from(self.until_ms).unwrap_or(0));
        out.number(self.epoch.into());
        out.perhaps(self.after);
        out.number(self.warned.into());
    }

    pub(in crate::context) fn of(reader: &mut Reader<'_>) -> Self {
        let (strikes, failures) = (reader.small(), reader.small());
        let until_ms = i64::try_from(reader.number()).unwrap_or(0);
        let (epoch, after, warned) = (reader.small(), reader.perhaps(), reader.flag());
        Self { strikes, failures, until_ms, epoch, after, warned }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: u64 = 100_000;

    /// Row F1.
    #[test]
    fn two_compactions_that_do_not_help_stop_the_third() {
        let mut guard = Guard::default();
        for epoch in 1..=2 {
            assert!(guard.permits(120_000, LINE, false, 0));
            guard.done(epoch, 110_000, false);
            guard.read(epoch, false);
        }
        assert!(!guard.permits(200_000, LINE, false, i64::MAX) && guard.is_ineffective());
        guard.read(2, true);
        assert!(guard.permits(120_000, LINE, false, 0));
    }

    /// Row F1.
    #[test]
    fn without_readings_our_own_measure_decides() {
        let mut guard = Guard::default();
        for epoch in 1..=2 {
            guard.done(epoch, 110_000, false);
            assert_eq!(guard.permits(120_000, LINE, false, 0), epoch == 1);
        }
        assert!(guard.is_ineffective());
    }

    /// Row F25.
    #[test]
    fn a_reading_of_an_older_epoch_counts_for_nothing() {
        let mut guard = Guard::default();
        guard.done(5, 50_000, false);
        guard.read(4, false);
        assert_eq!((guard.strikes, guard.after), (0, Some(50_000)));
        guard.read(5, false);
        assert_eq!((guard.strikes, guard.after), (1, None));
    }

    #[test]
    fn after_a_compaction_the_next_waits_for_a_reading_or_growth() {
        let mut guard = Guard::default();
        guard.done(1, 50_000, false);
        assert!(!guard.permits(55_000, LINE, false, 0));
        assert!(guard.permits(55_001, LINE, false, 0));
        guard.done(2, 50_000, false);
        guard.read(2, true);
        assert!(guard.permits(50_001, LINE, false, 0));
    }

    /// Row F112.
    #[test]
    fn a_request_that_would_not_fit_waits_for_no_reading() {
        let line = 7_000;
        let mut guard = Guard::default();
        guard.done(1, 4_000, false);
        assert!(!guard.permits(7_500, line, false, 0), "what is only due waits");
        assert!(!guard.permits(4_350, line, true, 0), "it would help no more than the last");
        assert!(guard.permits(7_500, line, true, 0));
    }

    #[test]
    fn cool_downs_escalate_and_end_with_a_success() {
        let mut guard = Guard::default();
        let mut until = |failure, now| {
            guard.fail(failure, now);
            (guard.until_ms - now) / 1000
        };
        let waits = [Failure::Temporary; 4].map(|failure| until(failure, 1_000_000));
        assert_eq!(waits, [60, 300, 900, 900]);
        assert_eq!((until(Failure::Auth, 0), until(Failure::Network, 0)), (600, 30));
        assert!(!guard.permits(0, LINE, false, 29_999) && guard.permits(0, LINE, false, 30_000));
        guard.done(1, 0, false);
        guard.fail(Failure::Temporary, 0);
        assert_eq!(guard.until_ms, 60_000);
    }

    #[test]
    fn a_cool_down_does_not_outlive_a_clock_that_ran_ahead() {
        let mut guard = Guard::default();
        guard.fail(Failure::Temporary, 1_000_000_000);
        assert!(!guard.permits(0, LINE, false, 1_000_000_000));
        assert!(guard.cools(1_000_060_000 - 900_000) && !guard.cools(1_000_060_000 - 900_001));
        assert!(guard.permits(0, LINE, false, 7));
    }

    #[test]
    fn two_fallbacks_in_a_row_stop_and_a_fitting_reading_clears() {
        let mut guard = Guard::default();
        guard.done(1, 1, true);
        guard.done(2, 1, true);
        assert!(guard.is_ineffective());
        guard.read(2, true);
        assert!(!guard.is_ineffective());
    }

    #[test]
    fn a_guard_is_the_same_after_a_restart() {
        let mut guard = Guard::default();
        guard.fail(Failure::Ineffective, 7);
        guard.done(3, 9, true);
        let mut out = Writer::new();
        guard.write(&mut out);
        let bytes = out.done();
        assert_eq!(Guard::of(&mut Reader::new(&bytes).unwrap()), guard);
    }
}
