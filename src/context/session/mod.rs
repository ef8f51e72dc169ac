//! A session: its messages, the decisions about them, and the last request.

pub(in crate::context) mod adopted;
pub(in crate::context) mod agent;
pub(in crate::context) mod alignment;
pub(in crate::context) mod arrival;
pub(in crate::context) mod calibration;
pub(in crate::context) mod counter;
pub(in crate::context) mod decide;
pub(in crate::context) mod end_repairs;
pub(in crate::context) mod history_limit;
pub(in crate::context) mod marks;
pub(in crate::context) mod offered;
pub(in crate::context) mod pinning;
pub(in crate::context) mod pins;
pub(in crate::context) mod read_message;
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
pub use counter::counted_texts_of_extras;
pub use counter::{counted_texts, take_counts};
pub use history_limit::{Shared, history_limit};
pub use history_limit::{last_turns, share_turns};
pub use pinning::{pin_matches, pin_message, pin_text, unpin};
pub use snapshot::forgotten::starts_late;
pub use snapshot::measured::keeps;
pub use snapshot::merge::merge_committed;
pub use snapshot::truncate::truncate;
pub use snapshot::{restore_from, set_options, snapshot_bytes};
pub use step::Step;
pub use understood::understood;

use std::rc::Rc;

use litemap::LiteMap;

use crate::context::compaction::ceiling::Ceiling;
use crate::context::compaction::compaction_history::Compactions;
use crate::context::compaction::flush::Flush;
use crate::context::options::Options;
use crate::context::report::monitor::Monitor;
use crate::context::request::last_request::LastRequest;
use crate::context::request::markers::Markers;
use crate::context::request::placeholders::{NOTE, Placeholders};
use crate::context::request::request_extras::Parts;
use crate::context::session::calibration::Calibration;
use crate::context::session::offered::Offered;
use crate::context::session::pins::Pins;
use crate::context::session::snapshot::waiting::Waiting;
use crate::context::session::why::Why;
use crate::context::transcript::Transcript;
use crate::context::transcript::counter::{Counter, Learned};
use crate::error::Result;
use crate::estimate::Estimator;
use crate::format::Format;
use crate::model::{BlockId, Fix, MessageId};
use crate::prune::{Change, Pruner};
use crate::validity::{Provider, Repairer};
use crate::{json, validity};

/// One session: its messages, what was decided of them, and what was sent last.
#[derive(Clone, Debug)]
pub struct Session {
    pub(in crate::context) options: Options,
    pub(in crate::context) dialect: Dialect,
    pub(in crate::context) transcript: Transcript,
    pub(in crate::context) repairs: Repairs,
    pub(in crate::context) decisions: Decisions,
    /// System prompt, tools, and what else goes out beside the messages.
    pub(in crate::context) extras: Parts,
    pub(in crate::context) last_request: LastRequest,
    /// A decision that waits for texts.
    pub(in crate::context) pending: Option<Decided>,
    pub(in crate::context) markers: Markers,
    pub(in crate::context) counter: HostCounter,
    /// What the provider's own figures say.
    pub(in crate::context) calibration: Calibration,
    pub(in crate::context) pins: Pins,
    /// What was folded on the host's wish, or by its summarizer.
    pub(in crate::context) compactions: Compactions,
    /// Which notes were asked for.
    pub(in crate::context) flush: Flush,
    /// What the session has come to so far.
    pub(in crate::context) monitor: Monitor,
    pub(in crate::context) restoration: Restoration,
    pub(in crate::context) counters: Counters,
}

/// The message format, and whose rules the requests keep.
#[derive(Clone, Copy, Debug)]
pub(in crate::context) struct Dialect {
    pub format: Format,
    pub provider: Provider,
    /// A message has shown the format; until then it is a guess.
    pub certain: bool,
}

/// Repairs of the host's history.
#[derive(Clone, Debug)]
pub(in crate::context) struct Repairs {
    pub mender: Repairer,
    /// Repairs by message.
    pub fixes: LiteMap<MessageId, Vec<Fix>>,
    /// Results that are sent at another place: message, piece.
    pub displaced: LiteMap<(MessageId, u32), ()>,
}

/// Everything that a decision changes, beside the ledger's forms.
#[derive(Clone, Debug)]
pub(in crate::context) struct Decisions {
    pub pruner: Pruner,
    pub placeholders: Placeholders,
    /// The reason for each block that is not sent as it was.
    pub reasons: LiteMap<BlockId, Why>,
    /// Changes that no request has reported yet.
    pub unreported: Vec<Change>,
    /// Reasoning that is still sent though what it is bound to is gone.
    pub unbound: LiteMap<BlockId, ()>,
    /// Repairs that a request needs because it ends here; by message.
    pub end_fixes: Vec<Fix>,
    /// Pieces that this request leaves out, or sends elsewhere, because it ends here: message, piece; in order.
    pub absent_at_end: Vec<(MessageId, u32)>,
    /// Blocks that cost something else for that: the block, its tokens otherwise, and those that it has now.
    pub end_costs: Vec<(BlockId, u32, u32)>,
    /// Blocks that pins brought back, and whose identifiers are to be found in their texts again.
    pub returned: Vec<BlockId>,
    /// What may be sent, in estimates: as it was when an epoch last opened for it.
    pub usable: u64,
}

/// Counts by the host's counter.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct HostCounter {
    /// Of the texts of what comes next.
    pub counts: Vec<u32>,
    pub learned: Learned,
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

/// What a decision came to, until its request is carried out.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::context) struct Decided {
    /// Tokens of the request before anything was decided.
    pub before: u64,
    /// A fold was carried out.
    pub folded: bool,
    /// A fold pays, and was deferred.
    pub fold_due: bool,
    /// Why a fold that was wanted was not carried out.
    pub refused: Option<&'static str>,
    /// What was shortened has been measured.
    pub measured: bool,
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

impl Session {
    /// A session without messages; `auto` formats start as `guess`.
    pub fn new(options: Options, guess: Format) -> Self {
        let format = options.format.unwrap_or(guess);
        let provider = options.provider.unwrap_or_else(|| native(format));
        Self {
            dialect: Dialect { format, provider, certain: options.format.is_some() },
            transcript: Transcript::new(!options.redacts),
            repairs: Repairs {
                mender: Repairer::new(provider)
                    .with_options(validity_options_for(format, options.signs)),
                fixes: LiteMap::new(),
                displaced: LiteMap::new(),
            },
            decisions: Decisions {
                pruner: Pruner::new(options.policy.clone()),
                placeholders: Placeholders {
                    notes: options.note,
                    ..Placeholders::new(options.estimator)
                },
                reasons: LiteMap::new(),
                unreported: Vec::new(),
                unbound: LiteMap::new(),
                end_fixes: Vec::new(),
                absent_at_end: Vec::new(),
                end_costs: Vec::new(),
                returned: Vec::new(),
                usable: options.mode.usable_tokens(),
            },
            extras: Parts::default(),
            last_request: LastRequest::default(),
            pending: None,
            markers: Markers::default(),
            counter: HostCounter::default(),
            calibration: Calibration::default(),
            pins: Pins::default(),
            compactions: Compactions::default(),
            flush: Flush::default(),
            monitor: Monitor::default(),
            restoration: Restoration::default(),
            counters: Counters::default(),
            options,
        }
    }

    /// Forgets the messages, keeps options, parts, epoch and what was sent last: the host's history is another.
    pub fn reset(&mut self) {
        self.begin_again(Self::new(self.options.clone(), self.dialect.format));
    }

    /// Goes on with these messages, about which nothing was decided yet; the one that was is left over.
    pub(in crate::context) fn begin_again(&mut self, fresh: Self) -> Self {
        let mut old = std::mem::replace(self, fresh);
        self.dialect.certain = old.dialect.certain;
        self.decisions.placeholders.recalls = old.extras.recalls;
        self.repairs.mender.set_open(old.extras.open);
        self.extras = std::mem::take(&mut old.extras);
        self.counters = old.counters;
        self.last_request = std::mem::take(&mut old.last_request).of_another();
        self.calibration = old.calibration;
        self.compactions = std::mem::take(&mut old.compactions).of_another();
        self.decisions.usable = old.decisions.usable;
        self.pins = std::mem::take(&mut old.pins);
        self.pins.detach();
        self.monitor = std::mem::take(&mut old.monitor);
        self.last_request.settled = false;
        self.last_request.rebuild = true;
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
            Why { rule: change.rule, epoch: self.last_request.epoch, call: self.transcript.call };
        self.decisions.reasons.insert(change.block, why);
        self.decisions.unreported.push(change);
    }

    /// What goes out beside the messages, as JSON.
    ///
    /// # Errors
    /// `InvalidArgument`.
    pub fn set_parts(&mut self, json: &str) -> Result<()> {
        let counts = std::mem::take(&mut self.counter.counts);
        let mut counter = Counter::new(self.options.estimator, &counts);
        let parts = Parts::parse(json, &mut counter)?;
        if parts != self.extras {
            self.last_request.settled = false;
        }
        self.decisions.placeholders.recalls = parts.recalls;
        self.repairs.mender.set_open(parts.open);
        self.extras = parts;
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
        if worth || (usable < context && context <= self.decisions.usable) {
            usable
        } else {
            self.decisions.usable
        }
    }

    /// Tokens of the options' usable window that may be used: fewer while a ceiling holds.
    pub(in crate::context) fn usable_now(&self) -> u64 {
        let all = self.options.mode.usable_tokens();
        let most = |it: Ceiling| self.calibration.tokens(it.tokens).min(all);
        self.compactions.limit.map_or(all, most)
    }

    /// Work done so far.
    pub fn counters(&self) -> Counters {
        self.counters
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

/// What validity knows of a format's host, and whether lost signatures are made up for.
pub(in crate::context) fn validity_options_for(
    format: Format,
    thinking: bool,
) -> validity::Options {
    validity::Options {
        thinking,
        apart: format == Format::Pi,
        single: !matches!(format, Format::Gemini | Format::Anthropic),
        inline: format.has_results_inline(),
        as_placed: !format.has_runs() && !matches!(format, Format::Gemini | Format::Pi),
        ..validity::Options::default()
    }
}

/// Whose rules hold for a format unless the host says otherwise.
pub(in crate::context) fn native(format: Format) -> Provider {
    match format {
        // What goes through an SDK is held to the strictest of the common providers.
        Format::Anthropic | Format::Pi | Format::AiSdk | Format::LangChain => Provider::Anthropic,
        Format::OpenAiChat => Provider::OpenAiChat,
        Format::OpenAiResponses | Format::OpenAiAgents => Provider::OpenAiResponses,
        Format::Gemini => Provider::Gemini,
    }
}

/// What goes out beside the messages.
pub fn extras(session: &Session) -> &Parts {
    &session.extras
}

/// What the host chose.
pub fn options_of(session: &Session) -> &Options {
    &session.options
}

/// What tokens are estimated by.
pub fn estimator_of(session: &Session) -> Estimator {
    session.options.estimator
}
