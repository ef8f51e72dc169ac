//! A session: its messages, the decisions about them, and the last request.

pub(in crate::context) mod adopted;
pub(in crate::context) mod agent;
pub(in crate::context) mod alignment;
pub(in crate::context) mod arrival;
pub(in crate::context) mod calibration;
pub(in crate::context) mod call_ids;
pub(in crate::context) mod counter;
pub(in crate::context) mod counts;
pub(in crate::context) mod decide;
pub(in crate::context) mod decisions;
pub(in crate::context) mod end_repairs;
pub(in crate::context) mod history_limit;
pub(in crate::context) mod marks;
pub(in crate::context) mod measures;
pub(in crate::context) mod offered;
pub(in crate::context) mod pinning;
pub(in crate::context) mod read_message;
pub(in crate::context) mod repairs;
pub(in crate::context) mod snapshot;
pub(in crate::context) mod step;
pub(in crate::context) mod take_decision;
pub(in crate::context) mod tier_options;
pub(in crate::context) mod tiers;
pub(in crate::context) mod understood;
pub(in crate::context) mod usage;
pub(in crate::context) mod why;

pub use adopted::next_is_summary;
pub use agent::{AgentReply, agent_tools};
pub use agent::{call_agent_tool, message_count, message_text, recalled_text, referenced_message};
pub use alignment::Alignment;
pub use alignment::{align, forget_messages, may_send, offer_known, offer_message};
pub use arrival::Append;
pub use arrival::{content_fingerprint, is_same_message};
pub use call_ids::{renamed_messages, renew_repairs, reread, unpaired_before};
pub use counter::counted_texts_of_extras;
pub use counter::{counted_texts, take_counts};
pub use history_limit::{Shared, history_limit};
pub use history_limit::{last_turns, share_turns};
pub use measures::{
    Appended, KnownMessages, append_known, measures_of, snapshot_with, split_measures,
};
pub use pinning::{pin_matches, pin_message, pin_text, returning_messages, unpin};
pub use snapshot::forgotten::starts_late;
pub use snapshot::merge::merge_committed;
pub use snapshot::truncate::{keeps, truncate};
pub use snapshot::{restore_from, set_options, snapshot_bytes};
pub use step::Step;
pub use understood::understood;

use std::rc::Rc;

use crate::context::compaction::ceiling::Ceiling;
use crate::context::compaction::compaction_history::Compactions;
use crate::context::options::Options;
use crate::context::report::monitor::{Counters, Monitor};
use crate::context::request::outgoing::Outgoing;
use crate::context::request::placeholders::NOTE;
use crate::context::request::request_extras::Parts;
use crate::context::session::counts::Counts;
use crate::context::session::decisions::Decisions;
use crate::context::session::offered::Offered;
use crate::context::session::repairs::Repairs;
use crate::context::session::snapshot::waiting::Waiting;
use crate::context::session::why::Why;
use crate::context::transcript::Transcript;
use crate::context::transcript::counter::Counter;
use crate::context::transcript::dialect::{Dialect, native};
use crate::error::Result;
use crate::estimate::Estimator;
use crate::format::Format;
use crate::prune::Change;

/// One session: its messages, what was decided of them, and what was sent last.
#[derive(Clone, Debug)]
pub struct Session {
    /// What the host chose.
    pub(in crate::context) options: Options,
    pub(in crate::context) transcript: Transcript,
    pub(in crate::context) repairs: Repairs,
    pub(in crate::context) decisions: Decisions,
    /// What goes out beside the messages, and what was sent last.
    pub(in crate::context) request: Outgoing,
    /// What the host's counter and the provider say of sizes.
    pub(in crate::context) counts: Counts,
    /// What was folded on the host's wish, or by its summarizer.
    pub(in crate::context) compactions: Compactions,
    /// What the session has come to so far.
    pub(in crate::context) monitor: Monitor,
    pub(in crate::context) restoration: Restoration,
}

/// A history that is compared with what is known of the session.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct Restoration {
    /// A passed history that is looked for in the known one.
    pub offered: Vec<Offered>,
    /// Where the history's end is another each turn: the session as it was measured up to there, before anything was decided.
    pub measured: Option<Rc<Session>>,
    /// A history that waits for its messages.
    pub waiting: Option<Waiting>,
}

impl Session {
    /// A session without messages; `auto` formats start as `guess`.
    pub fn new(options: Options, guess: Format) -> Self {
        let format = options.format.unwrap_or(guess);
        let provider = options.provider.unwrap_or_else(|| native(format));
        let dialect = Dialect { format, provider, certain: options.format.is_some() };
        Self {
            transcript: Transcript::new(dialect, !options.redacts),
            repairs: Repairs::new(dialect, &options),
            decisions: Decisions::new(&options),
            request: Outgoing::default(),
            counts: Counts::default(),
            compactions: Compactions::default(),
            monitor: Monitor::default(),
            restoration: Restoration::default(),
            options,
        }
    }

    /// Forgets the messages, keeps options, parts, epoch and what was sent last: the host's history is another.
    pub fn reset(&mut self) {
        self.begin_again(Self::new(self.options.clone(), self.transcript.dialect.format));
    }

    /// Goes on with these messages, about which nothing was decided yet; the one that was is left over.
    pub(in crate::context) fn begin_again(&mut self, fresh: Self) -> Self {
        let mut old = std::mem::replace(self, fresh);
        self.transcript.dialect.certain = old.transcript.dialect.certain;
        self.decisions.placeholders.recalls = old.request.extras.recalls;
        self.repairs.repairer.set_open(old.request.extras.open);
        self.request.continue_from(&mut old.request);
        self.counts.calibration = old.counts.calibration;
        self.compactions = std::mem::take(&mut old.compactions).of_another();
        self.decisions.usable = old.decisions.usable;
        self.monitor = std::mem::take(&mut old.monitor);
        old
    }

    /// Tokens of a request now, and above how many something must go.
    pub(in crate::context) fn sizes(&self) -> (u64, u64) {
        (
            self.decisions.pruner.context(&self.transcript.ledger, &self.setting()),
            self.lines(self.decisions.usable).0,
        )
    }

    /// Remembers why a block changed.
    pub(in crate::context) fn note(&mut self, change: Change) {
        let why =
            Why { rule: change.rule, epoch: self.request.last.epoch, call: self.transcript.call };
        self.decisions.reasons.insert(change.block, why);
        self.decisions.unreported.push(change);
    }

    /// The next request is another, also if no message comes. A session that waits for its messages keeps that in mind.
    pub(in crate::context) fn decide_again(&mut self) {
        self.request.last.settled = false;
        if let Some(waiting) = &mut self.restoration.waiting {
            waiting.decide_again(self.decisions.pruner.fold_wanted);
        }
    }

    /// What goes out beside the messages, as JSON.
    ///
    /// # Errors
    /// `InvalidArgument`.
    pub fn set_parts(&mut self, json: &str) -> Result<()> {
        let counts = std::mem::take(&mut self.counts.next);
        let mut counter = Counter::new(self.options.estimator, &counts);
        let parts = Parts::parse(json, &mut counter)?;
        if parts != self.request.extras {
            self.request.last.settled = false;
        }
        self.decisions.placeholders.recalls = parts.recalls;
        self.repairs.repairer.set_open(parts.open);
        self.request.extras = parts;
        Ok(())
    }

    /// What may be sent, in estimates. What was learned since counts once it is a change worth an epoch, or once the
    /// request would be over the window.
    pub(in crate::context) fn renew_usable(&mut self) {
        self.decisions.usable = self.next_usable();
    }

    /// What the next request may have.
    pub(in crate::context) fn next_usable(&self) -> u64 {
        let usable = self.estimated(self.options.mode.usable_tokens());
        let usable = self.compactions.limit.map_or(usable, |limit| limit.tokens.min(usable));
        let worth =
            usable.abs_diff(self.decisions.usable).saturating_mul(50) > self.decisions.usable;
        let context = self.decisions.pruner.context(&self.transcript.ledger, &self.setting());
        if worth || usable < context { usable } else { self.decisions.usable }
    }

    /// Tokens of the options' usable window that may be used: fewer while a ceiling holds.
    pub(in crate::context) fn usable_now(&self) -> u64 {
        let all = self.options.mode.usable_tokens();
        let most = |it: Ceiling| self.counts.calibration.tokens(it.tokens).min(all);
        self.compactions.limit.map_or(all, most)
    }

    /// Work done so far.
    pub fn counters(&self) -> Counters {
        self.monitor.work
    }
}

/// Options of summaries that the preset sets, as JSON: the host's own win.
pub fn preset_summary_options(session: &Session) -> &'static str {
    session.options.policy.seed.as_ref().map_or("{}", |seed| seed.summary)
}

/// What the host's system prompt is to say of the summary.
pub(in crate::context) fn system_note(session: &Session) -> Option<&'static str> {
    let has = session.decisions.pruner.head.as_ref().is_some_and(|head| head.summary);
    (session.options.note && has).then_some(NOTE)
}

/// What goes out beside the messages.
pub fn extras(session: &Session) -> &Parts {
    &session.request.extras
}

/// What the host chose.
pub fn options_of(session: &Session) -> &Options {
    &session.options
}

/// What tokens are estimated by.
pub fn estimator_of(session: &Session) -> Estimator {
    session.options.estimator
}
