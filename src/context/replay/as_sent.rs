//! A session as its agent sent it: every message whole, until the agent itself compacted.

use super::recording::{HostCompaction, Recording};
use super::usage_fit::scaled;
use crate::context::options::Options;
use crate::context::session::Session;
use crate::context::session::arrival::append_measured;
use crate::context::session::calibration::Counted;
use crate::context::session::why::Why;
use crate::model::Form;
use crate::prune::{Head, Rule};
use crate::validity::Findings;

/// See the module.
pub(super) struct AsSent<'a> {
    recording: &'a Recording,
    factor: u64,
    pub(super) standing: Standing,
}

/// How far a session has come.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    pub session: Session,
    /// Compactions so far.
    pub folds: usize,
}

impl<'a> AsSent<'a> {
    pub(super) fn new(recording: &'a Recording, options: &Options, factor: u64) -> Self {
        let mut session = recording.session(&Options { noop: true, ..options.clone() });
        let size = |tokens: u64| scaled(tokens, factor);
        session.request.extras.system = size(session.request.extras.system);
        session.request.extras.tools = size(session.request.extras.tools);
        session.request.last.fold_due = false;
        Self { recording, factor, standing: Standing { session, folds: 0 } }
    }

    /// Goes on from where a session stood.
    pub(super) fn from(recording: &'a Recording, standing: Standing, factor: u64) -> Self {
        Self { recording, factor, standing }
    }

    /// Takes in the messages before a call that sends so many, and the compactions among them.
    pub(super) fn advance(&mut self, sent: u32) {
        loop {
            let Standing { session, folds } = &mut self.standing;
            let at = session.transcript.ledger.next_message();
            let fold = self.recording.compactions.get(*folds);
            if let Some(fold) = fold.filter(|fold| fold.at <= at.get() && fold.at <= sent) {
                compact(session, fold, self.factor);
                *folds = folds.saturating_add(1);
                continue;
            }
            let measure = self.recording.measure(at, self.factor).filter(|_| at.get() < sent);
            let Some(measure) = measure else { return };
            append_measured(session, &measure, None, &mut Findings::default());
        }
    }

    /// The tokens of a call: what was counted and is not in the file is `unseen`, so that the parts add up to the count. `is_counted`: by its
    /// provider, or by an estimate that was fitted to its counts.
    pub(super) fn count(&mut self, used: u64, is_counted: bool) {
        let session = &mut self.standing.session;
        session.request.extras.unseen = 0;
        let context = |session: &Session| {
            session.decisions.pruner.context(&session.transcript.ledger, &session.setting())
        };
        session.request.extras.unseen = used.saturating_sub(context(session));
        let epoch = session.decisions.pruner.head.as_ref().map_or(0, |head| head.folds);
        let estimate = context(session);
        session.request.last.epoch = epoch;
        session.request.last.tokens = estimate;
        // Also where a repair of ours would send less than the agent did.
        let is_other = is_counted || used != estimate;
        session.counts.calibration.last = is_other.then_some(Counted { epoch, used, estimate });
    }
}

/// The agent compacted here: a summary of its own stands for what it took out.
fn compact(state: &mut Session, fold: &HostCompaction, factor: u64) {
    let gone = state.transcript.ledger.drop_unless(|_, block| !fold.removes(block.message));
    let folds = state.decisions.pruner.head.as_ref().map_or(0, |head| head.folds).saturating_add(1);
    let call = state.transcript.call;
    for block in gone {
        debug_assert_eq!(state.transcript.ledger.block(block).map(|it| it.form), Some(Form::Gone));
        state.decisions.reasons.insert(block, Why { rule: Rule::Fold, epoch: folds, call });
    }
    let tokens = u32::try_from(scaled(fold.head.into(), factor)).unwrap_or(u32::MAX);
    let summary = fold.head > 0;
    state.decisions.pruner.head = Some(Head { tokens, digest: Vec::new(), summary, folds });
}
