//! A session played call by call under a policy: what each request would have held, and what it would have cost.

use super::at_call::AtCall;
use super::layers::Layers;
use super::message_changes::{MessageChange, MessageChanges};
use super::recording::{RecordedCall, Recording};
use super::retention::{Holders, Retention};
use super::summarized::compact_due;
use super::usage_fit::{ONE, scaled};
use crate::context::compaction::Folded;
use crate::context::options::Options;
use crate::context::request::answer::{Answer, Event};
use crate::context::request::build_request::check_request;
use crate::context::request::last_request::Built;
use crate::context::request::request_checks::RequestChecks;
use crate::context::session::Session;
use crate::error::Result;
use crate::estimate::{Estimator, Profile};
use crate::hash::mix;
use crate::json;
use crate::model::{BlockId, Form, MessageId};
use crate::number::count;
use crate::prune::{Cache, Sent};
use crate::sort::sort_set;

json::json_struct! {
    /// A call of a replay.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Call {
        /// Its number, from 0.
        pub call: u32,
        /// Tokens of the request.
        pub used: u64,
        /// Tokens of the whole history at this call.
        pub unmanaged: u64,
        /// Messages of the history that it saw.
        pub sent: u32,
        /// Changes only when something other than the end of the request does.
        pub epoch: u32,
        /// What the policy did.
        pub event: Option<Event>,
        /// Messages that were newly edited.
        pub edits: u32,
        /// Its price, in thousandths of a base input token, with that of the summaries it waited for.
        pub bill: u64,
        /// Rules of the provider that the request breaks.
        pub violations: u32,
        /// It fits the usable window.
        pub fits: bool,
        /// When it was made.
        pub at: i64,
    }
}

json::json_struct! {
    /// What a replay comes to.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Totals {
        /// In thousandths of a base input token.
        pub bill: u64,
        /// Without management, the window aside.
        pub unmanaged_bill: u64,
        /// Edited messages, each time anew.
        pub edits: u64,
        /// Folds.
        pub folds: u32,
        /// Requests that changed something before their end: cache breaks.
        pub epochs: u32,
        /// Requests that do not fit the usable window.
        pub over_window: u32,
        /// Rules broken, over all requests.
        pub violations: u64,
        /// The most tokens that a request had.
        pub peak: u64,
        /// Summaries that a summarizer was asked for.
        pub summaries: u32,
        /// What they cost, which is part of the bill.
        pub summary_bill: u64,
        /// What the model wrote next, and still had before it.
        pub recall: Retention as "*",
    }
}

json::json_struct! {
    /// What the policy did at a call.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CallEvent {
        /// The call.
        pub call: u32,
        /// Whether it edited or folded.
        pub event: Event,
        /// Tokens of the request without it.
        pub before: u64,
        /// Tokens of the request.
        pub after: u64,
        /// What was folded.
        pub fold: Option<Folded>,
    }
}

/// A replay: the calls it has played, their totals, and what it needs to go on.
#[derive(Debug)]
pub struct Replay {
    /// One for each model call that was played.
    pub calls: Vec<Call>,
    /// What they come to.
    pub totals: Totals,
    /// What the policy did at them.
    pub events: Vec<CallEvent>,
    /// The session at the last of them.
    pub session: Session,
    changes: MessageChanges,
    /// Tokens of the requests by kind of content.
    pub layers: Layers,
    /// The session as it stood at some of the calls, in order.
    checkpoints: Vec<(u32, Session)>,
    options: Options,
    /// Tokens are counted by this factor.
    factor: u64,
    bill: Bill,
    holders: Holders,
    /// The first block that a repair at the end of the last request cost tokens.
    last_end: Option<BlockId>,
}

/// What the requests cost, and would have cost without management.
#[derive(Debug)]
struct Bill {
    cache: Cache,
    unmanaged: Cache,
    /// Parts of the last request.
    parts: usize,
}

/// Checkpoints of a replay: copies of the session, which share what did not change between them. Any call is a short way from the
/// one before it.
const CHECKPOINTS: u32 = 24;
/// Fewer calls are played faster than a session is copied.
const LEAST_CALLS: u32 = 16;

/// Without timestamps a message is taken to come this long after the one before.
const PACE_MS: i64 = 10_000;

impl Recording {
    /// Plays the whole session.
    ///
    /// # Errors
    /// `MalformedMessage`.
    pub fn replay(&self, options: &Options) -> Result<Replay> {
        let mut replay = self.begin(options);
        self.advance(&mut replay, u32::MAX)?;
        Ok(replay)
    }

    /// A replay that has played no call yet.
    pub fn begin(&self, options: &Options) -> Replay {
        let (session, factor) = self.start(options);
        let prices = options.policy.prices.clone();
        let fixed = session.request.extras.total();
        Replay {
            calls: Vec::with_capacity(self.calls.len()),
            totals: Totals::default(),
            events: Vec::new(),
            session,
            changes: MessageChanges::default(),
            layers: Layers::default(),
            checkpoints: Vec::new(),
            options: options.clone(),
            factor,
            bill: Bill {
                cache: Cache::new(prices.clone(), fixed),
                unmanaged: Cache::new(prices, fixed),
                parts: 0,
            },
            holders: Holders::default(),
            last_end: None,
        }
    }

    /// The session before its first call, and the factor for its tokens: where the file has the provider's counts and the options do
    /// not say otherwise, the session is played in the provider's tokens.
    fn start(&self, options: &Options) -> (Session, u64) {
        let asks = options.calibrate || options.unseen.is_none();
        let (fitted, unseen) = if asks { self.calibration() } else { (ONE, 0) };
        let factor = if options.calibrate { fitted } else { ONE };
        let mut session = self.session(options);
        session.request.extras.system = scaled(session.request.extras.system, factor);
        session.request.extras.tools = scaled(session.request.extras.tools, factor);
        // In the provider's tokens, and so in ours where they are not calibrated.
        let ours = |tokens: u64| tokens.saturating_mul(factor).checked_div(fitted).unwrap_or(0);
        session.request.extras.unseen = options.unseen.unwrap_or_else(|| ours(unseen));
        if let Estimator::Profile(Profile::Generic) = options.estimator
            && factor != ONE
        {
            // Stubs and digests, too.
            let estimator = Estimator::Scaled(u32::try_from(factor / 10).unwrap_or(u32::MAX));
            session.options.estimator = estimator;
            session.decisions.placeholders.estimator = estimator;
        }
        (session, factor)
    }

    /// Plays this many calls more, and says whether all have been played.
    ///
    /// # Errors
    /// `MalformedMessage`.
    pub fn advance(&self, replay: &mut Replay, calls: u32) -> Result<bool> {
        let all = count(self.calls.len());
        let apart = (all / CHECKPOINTS).max(LEAST_CALLS);
        let from = count(replay.calls.len());
        let upto = from.saturating_add(calls).min(all);
        for (number, call) in (0..upto).zip(&self.calls).skip(from as usize) {
            self.play(replay, number, call)?;
            // A little at a time, and not when the file is read: whoever opens it waits for that.
            self.raw.compress(number.saturating_add(1) as usize, all as usize);
            if number.saturating_add(1).is_multiple_of(apart) {
                let mut session = replay.session.clone();
                session.request.last.checks = RequestChecks::default();
                replay.checkpoints.push((number, session));
            }
        }
        if upto == all {
            replay.changes.log.shrink_to_fit();
        }
        Ok(upto == all)
    }

    /// Plays the next call.
    fn play(&self, replay: &mut Replay, number: u32, call: &RecordedCall) -> Result<()> {
        let due = compact_due(&mut replay.session)?;
        let mut more: Vec<Sent> = Vec::new();
        let ledger = &replay.session.transcript.ledger;
        let (first, blocks) = (ledger.next_message(), ledger.next_block());
        for index in first.to(self.end().min(call.sent.into())) {
            let Some(measure) = self.measure(index, replay.factor) else { continue };
            self.arrive(&mut replay.session, index, &measure)?;
            replay.holders.add(&measure);
            let one = (mix(u64::from(index)), measure.blocks.iter().map(|it| it.tokens).sum());
            more.push(one);
        }
        let at = time_of(call);
        let (answer, needed) = self.request(&mut replay.session, at)?;
        let summary_bill = due.bill.saturating_add(needed.bill);
        replay.totals.summaries =
            replay.totals.summaries.saturating_add(due.asked).saturating_add(needed.asked);
        replay.totals.summary_bill = replay.totals.summary_bill.saturating_add(summary_bill);
        // Within an epoch a request only grows: what it begins with was counted before.
        let is_new = number == 0 || answer.epoch != replay.totals.epochs;
        if is_new {
            replay.bill.parts = 0;
        }
        let grown = sent(&replay.session, replay.bill.parts);
        let bill = replay.bill.cache.charge_grown(replay.bill.parts, &grown, at);
        let bill = bill.saturating_add(summary_bill);
        replay.bill.parts = replay.bill.parts.saturating_add(grown.len());
        let unmanaged = replay.bill.unmanaged.charge_grown(usize::MAX, &more, at);
        replay.totals.unmanaged_bill = replay.totals.unmanaged_bill.saturating_add(unmanaged);
        let built = replay.session.request.last.built.take();
        let violations = match &built {
            Some(Built { start, entries, .. }) => {
                count(check_request(&mut replay.session, *start, entries).count())
            }
            // The same request as before.
            None => replay.calls.last().map_or(0, |call| call.violations),
        };
        // Only a decision changes what was sent before, and a repair where the request or the last one ends.
        let session = &replay.session;
        let ends = replay.last_end.into_iter().chain(end_of(session));
        let from = ends.min().map_or(blocks, |end| end.min(blocks));
        let mut changed: Vec<BlockId> = built.iter().flat_map(Built::changed).collect();
        changed.extend(from.to(session.transcript.ledger.next_block()));
        sort_set(&mut changed);
        let of = |&at: &BlockId| session.transcript.ledger.block(at).map(|block| block.message);
        let mut messages: Vec<MessageId> = changed.iter().filter_map(of).collect();
        messages.extend(first.to(session.transcript.ledger.next_message()));
        sort_set(&mut messages);
        replay.changes.note(session, number, messages);
        replay.layers.add(session, changed);
        replay.last_end = end_of(session);
        debug_assert!(replay.changes.are_all(session), "an unreported change at call {number}");
        replay.note_event(number, &answer);
        replay.take(Call {
            call: number,
            used: answer.tokens,
            unmanaged: replay.holders.total().saturating_add(replay.session.request.extras.total()),
            sent: call.sent,
            epoch: answer.epoch,
            event: answer.event,
            edits: count(answer.edits.len()),
            bill,
            violations,
            fits: answer.fits,
            at,
        });
        let next = self.answer_to(call.sent);
        replay.totals.recall.judge(&replay.session, &replay.holders, next);
        Ok(())
    }

    /// The session as a replay stood at one of its calls: at the last one that was played, if it has not come so far.
    ///
    /// # Errors
    /// `MalformedMessage`.
    pub fn at_call(&self, replay: &Replay, call: u32) -> Result<AtCall> {
        let last = count(replay.calls.len()).saturating_sub(1);
        let call = call.min(last);
        let at_ms = replay.calls.get(call as usize).map_or(0, |it| it.at);
        if call == last {
            return Ok(AtCall { session: replay.session.clone(), at_ms });
        }
        let known = replay.checkpoints.partition_point(|(at, _)| *at <= call).checked_sub(1);
        let known = known.and_then(|at| replay.checkpoints.get(at));
        let (mut session, from) = match known {
            Some((at, session)) => (session.clone(), at.saturating_add(1)),
            None => (self.start(&replay.options).0, 0),
        };
        for call in self.calls.get(from as usize..=call as usize).unwrap_or_default() {
            self.arrive_before(&mut session, call.sent, replay.factor)?;
            self.request(&mut session, time_of(call))?;
        }
        Ok(AtCall { session, at_ms })
    }

    /// The request that would follow the last one, so much later and with all messages of the file; and what it would change.
    ///
    /// # Errors
    /// `MalformedMessage`.
    pub fn next(&self, replay: &Replay, idle_ms: u64) -> Result<(AtCall, Vec<MessageChange>)> {
        let mut session = replay.session.clone();
        self.arrive_before(&mut session, self.len(), replay.factor)?;
        let last = replay.calls.last().map_or(0, |call| call.at);
        let at_ms = last.saturating_add(i64::try_from(idle_ms).unwrap_or(i64::MAX));
        self.request(&mut session, at_ms)?;
        let mut changes = replay.changes.without_log();
        let all = MessageId::FIRST.to(session.transcript.ledger.next_message());
        changes.note(&session, count(replay.calls.len()), all);
        Ok((AtCall { session, at_ms }, changes.log))
    }

    /// The messages before a call that has so many of them.
    fn arrive_before(&self, session: &mut Session, sent: u32, factor: u64) -> Result<()> {
        compact_due(session)?;
        for index in session.transcript.ledger.next_message().to(self.end().min(sent.into())) {
            let Some(measure) = self.measure(index, factor) else { continue };
            self.arrive(session, index, &measure)?;
        }
        Ok(())
    }
}

/// The first block that a repair at the end of the request costs tokens.
fn end_of(session: &Session) -> Option<BlockId> {
    let left = session.decisions.left_at_end.iter().map(|(block, _)| *block);
    left.chain(session.transcript.ledger.first_at_end()).min()
}

fn time_of(call: &RecordedCall) -> i64 {
    call.at.unwrap_or_else(|| i64::from(call.sent).saturating_mul(PACE_MS))
}

impl Replay {
    /// The provider's tokens for 10,000 of ours, and the tokens that every request has beside what is in the file.
    pub fn calibration(&self) -> (u64, u64) {
        (self.factor, self.session.request.extras.unseen)
    }

    /// What calls `from` to `to` (that one, too) sent otherwise than the call before each of them.
    pub fn changes(&self, from: u32, to: u32) -> &[MessageChange] {
        let log = &self.changes.log;
        let start = log.partition_point(|change| change.call < from);
        let end = log.partition_point(|change| change.call <= to);
        log.get(start..end).unwrap_or_default()
    }

    fn take(&mut self, call: Call) {
        let totals = &mut self.totals;
        totals.bill = totals.bill.saturating_add(call.bill);
        totals.edits = totals.edits.saturating_add(u64::from(call.edits));
        totals.folds = totals.folds.saturating_add(u32::from(call.event == Some(Event::Fold)));
        totals.epochs = call.epoch;
        totals.over_window = totals.over_window.saturating_add(u32::from(!call.fits));
        totals.violations = totals.violations.saturating_add(u64::from(call.violations));
        totals.peak = totals.peak.max(call.used);
        self.calls.push(call);
    }

    fn note_event(&mut self, call: u32, answer: &Answer) {
        let Some(event) = answer.event else { return };
        let outcome = answer.outcome.as_ref();
        let before = outcome.map_or(answer.tokens_before, |it| it.tokens_before);
        let (after, fold) = (answer.tokens, answer.fold.clone());
        self.events.push(CallEvent { call, event, before, after, fold });
    }
}

/// What is sent from this part on, block by block, as the cache sees it.
fn sent(session: &Session, from: usize) -> Vec<Sent> {
    let head = session.decisions.pruner.head.as_ref();
    let head = head.map(|head| (mix(u64::MAX ^ u64::from(head.folds)), head.tokens));
    let block = |&at: &BlockId| {
        let block = session.transcript.ledger.block(at)?;
        let form = match block.form {
            Form::Full => 0,
            Form::Capped => 1,
            Form::Stubbed => 2,
            Form::Gone => 3,
        };
        Some((mix(u64::from(at).saturating_mul(4) | form), block.now))
    };
    let first = from.saturating_sub(usize::from(head.is_some()));
    let live = session.transcript.ledger.live().get(first..).unwrap_or_default();
    head.filter(|_| from == 0).into_iter().chain(live.iter().filter_map(block)).collect()
}
