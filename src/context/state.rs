//! The state of one session: the measured transcript, the policy's history, and what was sent last.

use std::ops::Range;
use std::rc::Rc;

use litemap::LiteMap;

use super::alignment::Offered;
use super::calibration::{Calibration, Counted};
use super::ceiling::Ceiling;
use super::compactions::Compactions;
use super::counter::{Counter, Learned};
use super::flush::Flush;
use super::lines::{Lines, NOTE};
use super::markers::Markers;
use super::monitor::Monitor;
use super::options::Options;
use super::parts::Parts;
use super::pins::Pins;
use super::snapshot::Waiting;
use super::view::Sent;
use crate::error::Result;
use crate::format::Format;
use crate::json;
use crate::ledger::Ledger;
use crate::model::{Fix, NONE, Op, Outline, Violation};
use crate::prune::{Change, Pruner, Rule};
use crate::validity::{self, Provider, Repairer};

/// A session as the core knows it.
#[derive(Clone, Debug)]
pub struct State {
    pub(super) options: Options,
    pub(super) format: Format,
    pub(super) provider: Provider,
    /// A message has shown the format; until then it is a guess.
    pub(super) certain: bool,
    pub(super) ledger: Ledger,
    pub(super) outlines: Vec<Outline>,
    pub(super) mender: Repairer,
    /// What mends the host's history, by message; and what a request that ends here needs besides.
    pub(super) fixes: LiteMap<u32, Vec<Fix>>,
    pub(super) ending: Vec<Fix>,
    pub(super) pruner: Pruner,
    pub(super) lines: Lines,
    /// Why a block is not sent as it was.
    pub(super) why: LiteMap<u32, Why>,
    /// Results that go out at another place: message, piece.
    pub(super) displaced: LiteMap<(u32, u32), ()>,
    /// Of blocks with half surrogate pairs in their strings: what replaces those strings on the host's message.
    pub(super) mended: LiteMap<u32, Vec<Op>>,
    /// Pieces that this request leaves out, or sends elsewhere, because it ends where it does: message, piece; in order.
    pub(super) leaving: Vec<(u32, u32)>,
    /// Blocks that cost something else for that: the block, its tokens otherwise, and those that it has now.
    pub(super) at_end: Vec<(u32, u32, u32)>,
    /// Reasoning that is still sent though what it is bound to is gone.
    pub(super) unbound: LiteMap<u32, ()>,
    /// The edit of each message that a request has told of, as its key.
    pub(super) told: LiteMap<u32, u64>,
    /// Rules that the last request breaks beyond repair.
    pub(super) broken: Vec<Violation>,
    /// Changes that no request has told of yet.
    pub(super) fresh: Vec<Change>,
    pub(super) parts: Parts,
    pub(super) sent: Sent,
    /// A decision that waits for texts.
    pub(super) decided: Option<Decided>,
    /// Messages whose blocks may not change now: the last request of the user, the newest reasoning.
    pub(super) request: u32,
    pub(super) held: Range<u32>,
    pub(super) turn: u32,
    pub(super) call: u32,
    /// At least the bytes of all messages of which something is sent.
    pub(super) all_bytes: u64,
    /// Images that ever arrived, and the longest side of any.
    pub(super) all_images: u32,
    pub(super) all_widest: u32,
    /// More bytes go out than the provider takes, and nothing is left to cut.
    pub(super) over: Option<Violation>,
    pub(super) markers: Markers,
    /// Of the host's counter, for what comes next.
    pub(super) given: Vec<u32>,
    pub(super) learned: Learned,
    /// What the provider's own figures say.
    pub(super) calibration: Calibration,
    /// What may be sent, in estimates: as it was when an epoch last opened for it.
    pub(super) usable: u64,
    pub(super) pins: Pins,
    /// Blocks that pins brought back, and whose identifiers are to be found in their texts again.
    pub(super) returned: Vec<u32>,
    /// What was folded on the host's wish, or by its summarizer.
    pub(super) compactions: Compactions,
    /// The host calls the next message a summary.
    pub(super) adopts: bool,
    /// Which notes were asked for.
    pub(super) flush: Flush,
    /// What the session has come to so far.
    pub(super) monitor: Monitor,
    /// A passed history that is looked for in the known one.
    pub(super) offered: Vec<Offered>,
    /// Where the history's end is another each turn: the session as it was measured up to there, before anything was decided.
    pub(super) measured: Option<Rc<Self>>,
    /// A history that waits for its messages.
    pub(super) waiting: Option<Waiting>,
    pub(super) counters: Counters,
}

/// What a decision came to, until its request is carried out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Decided {
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

/// Why and when a block's form changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Why {
    /// The rule.
    pub rule: Rule,
    /// The epoch it opened.
    pub epoch: u32,
    /// The call it was decided at.
    pub call: u32,
}

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

json::written!(Counters { bytes_measured, blocks_visited, items_written });

impl State {
    /// A session without messages; `auto` formats start as `guess`.
    pub fn new(options: Options, guess: Format) -> Self {
        let format = options.format.unwrap_or(guess);
        let provider = options.provider.unwrap_or_else(|| native(format));
        let mut ledger = Ledger::default();
        ledger.identifiers.keeps_secrets = !options.redacts;
        Self {
            certain: options.format.is_some(),
            format,
            provider,
            ledger,
            outlines: Vec::new(),
            mender: Repairer::new(provider).with_options(told(format, options.signs)),
            fixes: LiteMap::new(),
            ending: Vec::new(),
            pruner: Pruner::new(options.policy.clone()),
            lines: Lines { notes: options.note, ..Lines::new(options.estimator) },
            why: LiteMap::new(),
            displaced: LiteMap::new(),
            mended: LiteMap::new(),
            leaving: Vec::new(),
            at_end: Vec::new(),
            unbound: LiteMap::new(),
            told: LiteMap::new(),
            broken: Vec::new(),
            fresh: Vec::new(),
            parts: Parts::default(),
            sent: Sent::default(),
            decided: None,
            request: NONE,
            held: 0..0,
            turn: 0,
            call: 0,
            all_bytes: 0,
            all_images: 0,
            all_widest: 0,
            over: None,
            markers: Markers::default(),
            given: Vec::new(),
            learned: Learned::default(),
            calibration: Calibration::default(),
            usable: options.usable,
            pins: Pins::default(),
            returned: Vec::new(),
            compactions: Compactions::default(),
            adopts: false,
            flush: Flush::default(),
            monitor: Monitor::default(),
            offered: Vec::new(),
            measured: None,
            waiting: None,
            counters: Counters::default(),
            options,
        }
    }

    /// Forgets the messages, keeps options, parts, epoch and what was sent last: the host's history is another.
    pub fn reset(&mut self) {
        self.begin_again(Self::new(self.options.clone(), self.format));
    }

    /// Goes on with these messages, about which nothing was decided yet; the one that was is left over.
    pub(super) fn begin_again(&mut self, fresh: Self) -> Self {
        let mut old = std::mem::replace(self, fresh);
        self.certain = old.certain;
        self.lines.recalls = old.parts.recalls;
        self.mender.set_open(old.parts.open);
        self.parts = std::mem::take(&mut old.parts);
        self.counters = old.counters;
        self.sent = std::mem::take(&mut old.sent);
        self.calibration = old.calibration;
        self.compactions = std::mem::take(&mut old.compactions).of_another();
        self.usable = old.usable;
        self.pins = std::mem::take(&mut old.pins);
        self.pins.detach();
        self.monitor = std::mem::take(&mut old.monitor);
        self.sent.settled = false;
        self.sent.rebuild = true;
        old
    }

    /// Remembers why a block changed.
    pub(super) fn note(&mut self, change: Change) {
        let why = Why { rule: change.rule, epoch: self.sent.epoch, call: self.call };
        self.why.insert(change.block, why);
        self.fresh.push(change);
    }

    /// Assistant messages so far.
    pub(super) fn calls(&self) -> u32 {
        self.call
    }

    /// What goes out beside the messages, as JSON.
    ///
    /// # Errors
    /// `InvalidArgument`.
    pub fn set_parts(&mut self, json: &str) -> Result<()> {
        let given = std::mem::take(&mut self.given);
        let mut counter = Counter::new(self.options.estimator, &given);
        let parts = Parts::parse(json, &mut counter)?;
        if parts != self.parts {
            self.sent.settled = false;
        }
        self.lines.recalls = parts.recalls;
        self.mender.set_open(parts.open);
        self.parts = parts;
        Ok(())
    }

    /// What a provider or SDK reported of a call (JSON): of the last request, or of the one with this epoch and estimate.
    /// Shapes that are not known, and figures that cannot be of that request, are ignored.
    pub fn observe(&mut self, usage: &str, of: Option<(u32, u64)>) {
        let (epoch, estimate) = of.unwrap_or((self.sent.epoch, self.sent.tokens));
        if let Some(usage) = crate::session::Usage::shown_by(usage) {
            let counted = Counted { epoch, used: usage.input_tokens, estimate };
            if self.calibration.observe(counted, self.options.window) {
                self.monitor_usage(counted, usage.output_tokens);
            }
            self.heard(counted);
        }
    }

    /// What may be sent, in estimates. What was learned since counts once it is a change worth an epoch, or once the
    /// request would be over the window.
    pub(super) fn renew_usable(&mut self) {
        self.usable = self.next_usable();
    }

    /// What the next request may have.
    pub(super) fn next_usable(&self) -> u64 {
        let usable = self.estimated(self.options.usable);
        let usable = self.compactions.limit.map_or(usable, |limit| limit.tokens.min(usable));
        let worth = usable.abs_diff(self.usable).saturating_mul(50) > self.usable;
        let context = self.pruner.context(&self.ledger, &self.setting());
        if worth || (usable < context && context <= self.usable) { usable } else { self.usable }
    }

    /// Tokens of the options' usable window that may be used: fewer while a ceiling holds.
    pub(super) fn usable_now(&self) -> u64 {
        let all = self.options.usable;
        let most = |it: Ceiling| self.calibration.tokens(it.tokens).min(all);
        self.compactions.limit.map_or(all, most)
    }

    /// Options of summaries that the preset sets, as JSON: the host's own win.
    pub fn summary_of_preset(&self) -> &'static str {
        self.options.policy.seed.as_ref().map_or("{}", |seed| seed.summary)
    }

    /// What the host's system prompt is to say of the summary.
    pub(super) fn note_for_system(&self) -> Option<&'static str> {
        let has = self.pruner.head.as_ref().is_some_and(|head| head.summary);
        (self.options.note && has).then_some(NOTE)
    }

    /// Work done so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }
}

/// What validity knows of a format's host, and whether lost signatures are made up for.
pub(super) fn told(format: Format, thinking: bool) -> validity::Options {
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
pub(super) fn native(format: Format) -> Provider {
    match format {
        // What goes through an SDK is held to the strictest of the common providers.
        Format::Anthropic | Format::Pi | Format::AiSdk | Format::LangChain => Provider::Anthropic,
        Format::OpenAiChat => Provider::OpenAiChat,
        Format::OpenAiResponses | Format::OpenAiAgents => Provider::OpenAiResponses,
        Format::Gemini => Provider::Gemini,
    }
}
