//! Running totals of a session: sizes of its requests, warnings, tokens saved by compactions, and sources of requests.
//! Nothing is decided by them, and they are not in a snapshot.

use crate::context::session::calibration::Counted;
use crate::json;

/// Sizes of requests that are kept (A107).
const SAMPLES: usize = 32;
/// Names that are counted apart; beyond them all are one.
const NAMES: usize = 32;
const OTHERS: &str = "others";
/// Sources of requests that we know of ourselves (A73).
const MAIN: &str = "main_turn";
const CONTINUATION: &str = "continuation";

/// See the module.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct Monitor {
    pub(in crate::context) samples: Vec<u64>,
    /// Tokens that were reported, in and out.
    pub(in crate::context) reported: (u64, u64),
    /// The request whose usage was taken last, and that usage: one that comes again takes its place.
    last: Option<(u32, u64, u64, u64)>,
    /// The last request made room for itself.
    pub(in crate::context) continues: bool,
    pub(in crate::context) requests: Vec<(String, u64)>,
    pub(in crate::context) phases: Vec<(String, u64)>,
    pub(in crate::context) saved: u64,
    pub(in crate::context) compaction: Option<Measured>,
    /// The highest level that was warned of, and the folds before.
    pub(in crate::context) warned: usize,
    pub(in crate::context) folds: u32,
    /// What work was done.
    pub(in crate::context) work: Counters,
    /// Bands that the model was given a hint of.
    pub(in crate::context) hinted: usize,
}

json::json_struct! {
    /// What work was done: turns stay flat, and this shows it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Counters {
        /// Bytes of messages measured.
        pub bytes_measured: u64,
        /// Blocks that the policy looked at.
        pub blocks_visited: u64,
        /// Items of views written out.
        pub items_written: u64,
    }
}

json::json_struct! {
    /// A compaction, measured.
    #[derive(Clone, Debug)]
    pub(in crate::context) struct Measured {
        pub(in crate::context) phase: String,
        pub(in crate::context) at: Option<i64>,
        pub(in crate::context) tokens_before: u64,
        pub(in crate::context) tokens_after: u64,
    }
}

impl Monitor {
    pub(in crate::context) fn sample(&mut self, tokens: u64) {
        if self.samples.last() != Some(&tokens) {
            self.samples.push(tokens);
        }
        let over = self.samples.len().saturating_sub(SAMPLES);
        self.samples.drain(..over);
    }

    /// What was reported of a request: once for each, however often it is told.
    pub(in crate::context) fn report(&mut self, of: Counted, output: u64) {
        let before = self.last.filter(|it| (it.0, it.1) == (of.epoch, of.estimate));
        let (input_before, output_before) = before.map_or((0, 0), |it| (it.2, it.3));
        let (input, out) = self.reported;
        self.reported = (
            input.saturating_sub(input_before).saturating_add(of.used),
            out.saturating_sub(output_before).saturating_add(output),
        );
        self.last = Some((of.epoch, of.estimate, of.used, output));
        if before.is_none() {
            let source = if std::mem::take(&mut self.continues) { CONTINUATION } else { MAIN };
            add(&mut self.requests, source.into(), 1);
        }
    }

    pub(in crate::context) fn compacted(&mut self, compaction: Measured) {
        let Measured { tokens_before, tokens_after, .. } = compaction;
        self.saved = self.saved.saturating_add(tokens_before.saturating_sub(tokens_after));
        add(&mut self.phases, compaction.phase.clone(), 1);
        self.compaction = Some(compaction);
    }

    /// Warnings begin anew.
    pub(in crate::context) fn rearm(&mut self) {
        self.warned = 0;
    }
}

pub(in crate::context) fn add(counts: &mut Vec<(String, u64)>, name: String, more: u64) {
    let known = |name: &str| counts.iter().position(|(known, _)| known == name);
    let full = counts.len() >= NAMES;
    let at = known(&name).or_else(|| full.then(|| known(OTHERS)).flatten());
    match at.and_then(|at| counts.get_mut(at)) {
        Some((_, count)) => *count = count.saturating_add(more),
        None => counts.push((if full { OTHERS.into() } else { name }, more)),
    }
}
