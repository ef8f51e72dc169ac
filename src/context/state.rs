//! The state of one session: the measured transcript, the policy's history, and what was sent last.

use std::ops::Range;

use litemap::LiteMap;

use super::calibration::{Calibration, Counted};
use super::compactions::Compactions;
use super::counter::{Counter, Learned, texts};
use super::flush::Flush;
use super::lines::Lines;
use super::measure::{Measure, measure};
use super::monitor::Monitor;
use super::options::{Options, Thinking};
use super::parts::Parts;
use super::pins::Pins;
use super::snapshot::{Known, Waiting, mark};
use super::view::Sent;
use crate::error::{Error, Result};
use crate::estimate::Estimator;
use crate::format::Format;
use crate::json;
use crate::ledger::{Arrival, Ledger};
use crate::model::{
    Draft, Fix, FixKind, Form, Kind, Made, Mask, Message, NONE, Outline, Piece, Role, Violation,
};
use crate::prune::{Change, Pruner, Rule};
use crate::validity::{self, Mender, Provider};

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
    pub(super) mender: Mender,
    /// What mends the host's history, by message; and what a request that ends here needs besides.
    pub(super) fixes: LiteMap<u32, Vec<Fix>>,
    pub(super) ending: Vec<Fix>,
    pub(super) pruner: Pruner,
    pub(super) lines: Lines,
    /// Why a block is not sent as it was.
    pub(super) why: LiteMap<u32, Why>,
    /// Results that go out at another place: message, piece.
    pub(super) displaced: LiteMap<(u32, u32), ()>,
    /// Texts of blocks whose strings held lone surrogates, with U+FFFD instead.
    pub(super) mended: LiteMap<u32, String>,
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
    held: Range<u32>,
    turn: u32,
    pub(super) call: u32,
    /// What each block says: of a call, its tool and arguments; of anything else its text and images.
    pub(super) keys: Vec<u64>,
    /// Of each block its bytes, roughly.
    pub(super) bytes: Vec<u32>,
    /// At least the bytes of all messages of which something is sent.
    pub(super) all_bytes: u64,
    /// Images that ever arrived, and the longest side of any.
    pub(super) all_images: u32,
    pub(super) all_widest: u32,
    /// More bytes go out than the provider takes, and nothing is left to cut.
    pub(super) over: Option<Violation>,
    /// Cache markers are as the host has just handed them over: later it may have moved them.
    pub(super) markers_known: bool,
    /// Of the host's counter, for what comes next.
    given: Vec<u32>,
    learned: Learned,
    /// What the provider's own figures say.
    pub(super) calibration: Calibration,
    /// What may be sent, in estimates: as it was when an epoch last opened for it.
    pub(super) usable: u64,
    pub(super) pins: Pins,
    /// What was folded on the host's wish, or by its summarizer.
    pub(super) compactions: Compactions,
    /// Which notes were asked for.
    pub(super) flush: Flush,
    /// What the session has come to so far.
    pub(super) monitor: Monitor,
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

/// What came of a message that was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It is part of the session.
    Taken,
    /// It shows that the messages before it were read in the wrong format: hand all over again.
    StartAgain,
}

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
            mender: Mender::new(provider).told(told(format, options.signs)),
            fixes: LiteMap::new(),
            ending: Vec::new(),
            pruner: Pruner::new(options.policy.clone()),
            lines: Lines::new(options.estimator),
            why: LiteMap::new(),
            displaced: LiteMap::new(),
            mended: LiteMap::new(),
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
            keys: Vec::new(),
            bytes: Vec::new(),
            all_bytes: 0,
            all_images: 0,
            all_widest: 0,
            over: None,
            markers_known: true,
            given: Vec::new(),
            learned: Learned::default(),
            calibration: Calibration::default(),
            usable: options.usable,
            pins: Pins::default(),
            compactions: Compactions::default(),
            flush: Flush::default(),
            monitor: Monitor::default(),
            waiting: None,
            counters: Counters::default(),
            options,
        }
    }

    /// Forgets the messages, keeps options, parts, epoch and what was sent last: the host's history is another.
    pub fn reset(&mut self) {
        let fresh = Self::new(self.options.clone(), self.format);
        let old = std::mem::replace(self, fresh);
        self.certain = old.certain;
        self.lines.recalls = old.parts.recalls;
        self.parts = old.parts;
        self.counters = old.counters;
        self.sent = old.sent;
        self.calibration = old.calibration;
        self.compactions = old.compactions.of_another();
        self.usable = old.usable;
        self.monitor = old.monitor;
        self.sent.settled = false;
        self.sent.rebuild = true;
    }

    /// Takes the next message of the history, as JSON.
    ///
    /// # Errors
    /// `MalformedMessage` with its index; the session is as it was.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Pushed> {
        if !self.certain
            && let Some((shown, certain)) = Format::shown_by(bytes)
        {
            self.certain = certain;
            // What several formats have is a better guess than none.
            if shown != self.format && (certain || self.format == Format::Anthropic) {
                let empty = self.outlines.is_empty();
                self.format = shown;
                self.provider = self.options.provider.unwrap_or_else(|| native(shown));
                self.reset();
                if !empty {
                    return Ok(Pushed::StartAgain);
                }
            }
        }
        let index = self.ledger.message_count();
        let draft = self.format.read(bytes, index)?;
        if let Known::Strange = self.meet(index, crate::format::fingerprint(&draft)) {
            self.reset();
            return Ok(Pushed::StartAgain);
        }
        let given = std::mem::take(&mut self.given);
        let mut counter = Counter::new(self.options.estimator, &given);
        // Without a window nothing leaves, and nobody asks what would be needed again.
        let decides = self.options.window > 0;
        let identifiers = decides.then_some(&mut self.ledger.identifiers);
        let measure = measure(&draft, bytes, &mut counter, identifiers);
        self.learn(counter.learned);
        self.counters.bytes_measured =
            self.counters.bytes_measured.saturating_add(bytes.len() as u64);
        self.arrive(&measure, Some(&draft));
        self.hear_notes(&draft);
        self.cap_again(&draft, self.ledger.blocks_of(index).start);
        Ok(Pushed::Taken)
    }

    /// Whether this is, in content, the message that stands at `index`.
    ///
    /// # Errors
    /// `MalformedMessage`.
    pub fn is_same(&mut self, index: u32, bytes: &[u8]) -> Result<bool> {
        self.counters.bytes_measured =
            self.counters.bytes_measured.saturating_add(bytes.len() as u64);
        let draft = self.format.read(bytes, index)?;
        let known = self.ledger.messages.get(index as usize);
        let same = known.is_some_and(|it| it.fingerprint == crate::format::fingerprint(&draft));
        // The same message written in another shape is edited elsewhere: what is known of it does not hold. Nor does what
        // was sent, which says where in the host's messages something stands.
        let old = self.outlines.get(index as usize).and_then(|outline| outline.pieces.last());
        let new = draft.parts.last().map(|part| &part.piece);
        let wrapper = |piece: &Piece| piece.place.wrapper();
        let as_before = old.map(wrapper) == new.map(wrapper);
        self.sent.reshaped |= same && !as_before;
        // One whose steps we joined has none to join.
        Ok(same && as_before && old.map(|piece| piece.step) == new.map(|piece| piece.step))
    }

    /// Of a message's content: roles, texts and calls, but neither ids of calls nor cache markers.
    ///
    /// # Errors
    /// `MalformedMessage`, with the index that it would have at the end of the history.
    pub fn fingerprint_of(&self, bytes: &[u8]) -> Result<u64> {
        let draft = self.format.read(bytes, self.ledger.message_count())?;
        Ok(crate::format::fingerprint(&draft))
    }

    /// A measured message joins the session. `draft` has its text, for a cap; without it the cap waits.
    pub(super) fn arrive(&mut self, measure: &Measure, draft: Option<&Draft<'_>>) {
        let index = self.ledger.message_count();
        let outline = &measure.outline;
        // The host leaves an aborted turn out by itself; between a call and its result it must not even stand.
        let stands_between =
            self.mender.is_open() && outline.pieces.iter().any(|piece| piece.unsent);
        let mut pushed = self.mender.push(index, outline);
        if stands_between {
            pushed.fixes.push(aborted_between(index));
        }
        self.turn = self.turn.saturating_add(u32::from(measure.is_request));
        let before = self.outlines.last().filter(|_| self.format.has_runs());
        let continues =
            before.is_some_and(|it| it.role == Role::Assistant) && outline.role == Role::Assistant;
        self.ledger.begin(Message {
            fingerprint: measure.fingerprint,
            written: measure.written,
            role: outline.role,
            first_block: 0,
            call: self.call.saturating_sub(u32::from(continues)),
            turn: self.turn,
            bytes: measure.bytes,
            may_cut: pushed.may_cut,
        });
        // The request that first sends it comes after it: after one more call, if it is the model's. A run is one call.
        let speaks = outline.role == Role::Assistant && !continues;
        self.call = self.call.saturating_add(u32::from(speaks));
        let first = self.ledger.block_count();
        let end = first.saturating_add(u32::try_from(outline.pieces.len()).unwrap_or(u32::MAX));
        self.pins.meet(first, end, mark(measure.fingerprint));
        for (at, (piece, measured)) in (0u32..).zip(outline.pieces.iter().zip(&measure.blocks)) {
            let call = pushed.pairs.get(at as usize).copied().flatten();
            let pair = call.map_or(NONE, |(message, piece)| {
                self.ledger.blocks_of(message).start.saturating_add(piece)
            });
            // Reasoning may leave alone where the provider lets it; everything else of the model's turn stays or goes with
            // its calls and results.
            let free = piece.kind == Kind::Thinking && !pushed.ties_reasoning;
            let group =
                if free { NONE } else { pushed.groups.get(at as usize).copied().unwrap_or(NONE) };
            let call_key = self.keys.get(pair as usize).copied();
            let block = self.ledger.append(
                &Arrival {
                    kind: piece.kind,
                    tokens: measured.tokens,
                    chars: measured.chars,
                    ids: &measured.ids,
                    head_ids: measured.head_ids,
                    pair: if piece.kind == Kind::Result { pair } else { NONE },
                    group,
                    call_key,
                    text_key: measured.key,
                    mask: if self.pins.hold(first.saturating_add(at)) {
                        Mask::FIXED
                    } else {
                        self.mask(index, outline.role, piece, group != NONE)
                    },
                    named: self.is_named(piece, call),
                },
                self.call,
            );
            self.keys.push(measured.key);
            self.bytes.push(measured.bytes);
            self.all_images = self.all_images.saturating_add(piece.images);
            self.all_widest = self.all_widest.max(piece.widest);
            self.lines.overheads.push(measured.overhead);
            self.lines.errors.push(piece.error);
            if let Some(text) = &measured.mended {
                self.mended.insert(block, text.clone());
            }
            self.cap_at_arrival(block, at, draft);
            self.follow_call(block, pair);
        }
        self.all_bytes = self.all_bytes.saturating_add(measure.bytes.into());
        self.outlines.push(outline.clone());
        let request = if measure.is_request { index } else { self.request };
        self.hold(request, self.held_turn());
        self.mend(pushed.fixes);
        self.sent.settled = false;
    }

    /// A result that comes when its call is gone already goes with it.
    fn follow_call(&mut self, block: u32, call: u32) {
        let gone = self.ledger.blocks.get(call as usize).is_some_and(|b| b.form == Form::Gone);
        if !gone {
            return;
        }
        let before = self.ledger.blocks.get(block as usize).map_or(0, |block| block.now);
        let rule = self.why.get(&call).map_or(Rule::HardFit, |why| why.rule);
        self.ledger.set_form(block, Form::Gone, 0);
        self.note(Change { block, rule, before });
    }

    /// Results that came late, behind a cut that their call lies before, go with it.
    pub(super) fn follow_calls(&mut self) {
        for at in self.ledger.live().to_vec() {
            let call = self.ledger.blocks.get(at as usize).filter(|b| b.kind == Kind::Result);
            if let Some(call) = call.map(|result| result.pair) {
                self.follow_call(at, call);
            }
        }
    }

    /// A result too large to be sent whole even once is cut before it is first sent.
    fn cap_at_arrival(&mut self, block: u32, piece: u32, draft: Option<&Draft<'_>>) {
        let window = self.options.window;
        // What was sent of a known message is known too.
        let known = self.waiting.is_some();
        if known
            || window == 0
            || self.ledger.blocks.get(block as usize).is_none_or(|b| !b.mask.may_edit)
        {
            return;
        }
        self.counters.blocks_visited = self.counters.blocks_visited.saturating_add(1);
        let Some(change) = self.pruner.ingest(&mut self.ledger, block, window, &mut self.lines)
        else {
            return;
        };
        if let Some(part) = draft.and_then(|draft| draft.parts.get(piece as usize))
            && let Some(now) = self.lines.supply(block, part, "")
        {
            self.ledger.set_form(block, Form::Capped, now);
        }
        self.note(change);
    }

    /// The newest reasoning with all beside it, if any is sent.
    fn held_turn(&self) -> Range<u32> {
        let held = self.mender.held().filter(|_| self.options.thinking != Some(Thinking::None));
        held.unwrap_or(0..0)
    }

    /// Whether reasoning stays as it is, is another matter now.
    pub(super) fn hold_again(&mut self) {
        self.hold(self.request, self.held_turn());
    }

    /// The last request of the user, and the newest reasoning with all beside it, may not change; what they were before may.
    fn hold(&mut self, request: u32, held: Range<u32>) {
        if request == self.request && held == self.held {
            return;
        }
        let before = (std::mem::replace(&mut self.request, request), self.held.clone());
        self.held = held.clone();
        // Calls that were signed in the turn before are free now.
        let signed = self.provider.signs_calls() && before.0 != NONE;
        let turn = if signed { before.0..request } else { 0..0 };
        for message in before.1.chain(held).chain([before.0, request]).chain(turn) {
            self.renew_masks(message);
        }
    }

    /// Gives the blocks of a message the masks that hold now.
    pub(super) fn renew_masks(&mut self, message: u32) {
        let Some(outline) = self.outlines.get(message as usize) else { return };
        let fixed = message == self.request || self.held.contains(&message);
        let blocks = self.ledger.blocks_of(message);
        let masks: Vec<Mask> = outline
            .pieces
            .iter()
            .zip(blocks.clone())
            .map(|(piece, at)| {
                let tied = self.ledger.blocks.get(at as usize).is_some_and(|it| it.group != NONE);
                let fixed = fixed || self.pins.hold(at);
                if fixed { Mask::FIXED } else { self.mask(message, outline.role, piece, tied) }
            })
            .collect();
        for (mask, at) in masks.into_iter().zip(blocks) {
            if let Some(block) = self.ledger.blocks.get_mut(at as usize) {
                block.mask = mask;
            }
        }
    }

    /// What may be done with a piece wherever it stands: the system's text stays, a person's stays verbatim or goes, and
    /// what carries provider data goes whole or not at all; but calls that were signed in an earlier turn are read no more.
    /// `tied`: it stays or goes with others.
    fn mask(&self, message: u32, role: Role, piece: &Piece, tied: bool) -> Mask {
        if role == Role::System || piece.fixed {
            return Mask::FIXED;
        }
        let earlier = self.provider.signs_calls() && self.request != NONE && message < self.request;
        let verbatim = match piece.kind {
            Kind::Text => role == Role::User || (piece.opaque && self.provider.signs_calls()),
            Kind::Call => piece.opaque && !earlier,
            Kind::Result => piece.opaque,
            Kind::Thinking => tied || (piece.opaque && self.provider.signs_calls()),
            Kind::Other => true,
            Kind::Image => false,
        };
        // Where it may leave, it leaves whole: what is signed is not cut.
        let whole = piece.kind == Kind::Thinking && piece.opaque;
        Mask { may_edit: !verbatim, may_drop: true, whole }
    }

    /// Takes up what mends the host's history.
    pub(super) fn mend(&mut self, fixes: Vec<Fix>) {
        for fix in &fixes {
            if let FixKind::After(Made::Moved { message, piece, .. }) = fix.kind {
                self.displaced.insert((message, piece), ());
            }
        }
        for fix in fixes {
            if let FixKind::Drop { piece } = fix.kind {
                self.drop_piece(fix.index, piece);
            }
            self.sent.rebuild |= fix.index < self.sent.upto;
            self.fixes.entry(fix.index).or_default().push(fix);
        }
    }

    /// A piece, or with `NONE` a whole message, is not sent because it mends the history; one that moves is sent elsewhere.
    fn drop_piece(&mut self, message: u32, piece: u32) {
        let blocks = self.ledger.blocks_of(message);
        for (number, block) in (0u32..).zip(blocks) {
            let moves = self.displaced.contains_key(&(message, number));
            if moves || (piece != NONE && piece != number) {
                continue;
            }
            let before = self.ledger.blocks.get(block as usize).map_or(0, |block| block.now);
            self.ledger.set_form(block, Form::Gone, 0);
            self.note(Change { block, rule: Rule::Repair, before });
        }
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
        self.parts = parts;
        Ok(())
    }

    /// The texts of a message (JSON) that are counted when it is pushed: for a counter of the host's.
    ///
    /// # Errors
    /// `MalformedMessage` with the index that it would have.
    pub fn texts(&self, bytes: &[u8]) -> Result<Vec<String>> {
        let shown = if self.certain { None } else { Format::shown_by(bytes) };
        let draft = shown
            .map_or(self.format, |(format, _)| format)
            .read(bytes, self.ledger.message_count())?;
        Ok(texts(&draft).into_iter().map(ToOwned::to_owned).collect())
    }

    /// The texts of what goes out beside the messages (JSON) that are counted when it is set.
    ///
    /// # Errors
    /// `InvalidArgument` names the part.
    pub fn parts_texts(json: &str) -> Result<Vec<String>> {
        Parts::texts(json)
    }

    /// The numbers of the host's counter (a JSON array) for the texts of what is passed next: a message or parts.
    ///
    /// # Errors
    /// `InvalidArgument`.
    pub fn count(&mut self, json: &str) -> Result<()> {
        self.given.clear();
        let refused = |got| Error::argument("estimator", "whole numbers", got);
        for count in json::items(json).map_err(|error| refused(error.to_string()))? {
            self.given.push(count.parse().map_err(|_| refused(count.into()))?);
        }
        Ok(())
    }

    /// Our own lines cost what the host's counter makes of texts, by and large.
    pub(super) fn learn(&mut self, learned: Learned) {
        self.learned.add(learned);
        if matches!(self.options.estimator, Estimator::Scaled(_)) {
            self.options.estimator = self.learned.estimator();
            self.lines.estimator = self.options.estimator;
        }
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
        let usable = self.calibration.estimate(self.options.usable);
        let usable = self.compactions.limit.map_or(usable, |limit| limit.min(usable));
        let worth = usable.abs_diff(self.usable).saturating_mul(50) > self.usable;
        let context = self.pruner.context(&self.ledger, &self.setting());
        if worth || (usable < context && context <= self.usable) {
            self.usable = usable;
        }
    }

    /// Work done so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The draft of a message of the session, from its bytes.
    pub(super) fn read<'a>(&self, index: u32, bytes: &'a [u8]) -> Result<Draft<'a>> {
        if index >= self.ledger.message_count() {
            return Err(Error::argument("index", "a message of the session", index));
        }
        self.format.read(bytes, index)
    }
}

/// What validity knows of a format's host, and whether lost signatures are made up for.
pub(super) fn told(format: Format, thinking: bool) -> validity::Options {
    validity::Options {
        thinking,
        apart: format == Format::Pi,
        single: !matches!(format, Format::Gemini | Format::Anthropic),
        inline: format.has_results_inline(),
        as_placed: !matches!(format, Format::Gemini | Format::OpenAiResponses),
        ..validity::Options::default()
    }
}

/// Whose rules hold for a format unless the host says otherwise.
pub(super) fn native(format: Format) -> Provider {
    match format {
        // What goes through an SDK is held to the strictest of the common providers.
        Format::Anthropic | Format::Pi | Format::AiSdk | Format::LangChain => Provider::Anthropic,
        Format::OpenAiChat => Provider::OpenAiChat,
        Format::OpenAiResponses => Provider::OpenAiResponses,
        Format::Gemini => Provider::Gemini,
    }
}

/// An aborted turn goes where it would part a call from its result.
fn aborted_between(index: u32) -> Fix {
    let message = "an aborted turn stands between a call and its result".into();
    let violation = Violation { rule: "I3", index, path: None, message };
    Fix { index, kind: FixKind::Drop { piece: NONE }, violation }
}
