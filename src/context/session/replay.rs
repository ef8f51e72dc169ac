//! A session played again, call by call, under a policy: what each request would have held, and what it would have cost.

use crate::context::compaction::plan::extracted_so_far;
use crate::context::compaction::plan::flat_message;
use crate::context::compaction::plan::plan_compaction;
use crate::context::options::Options;
use crate::context::request::request_extras::Parts;
use crate::context::request::response::{Answer, Event};
use crate::context::session::Session;
use crate::context::session::agent::message_text;
use crate::context::session::arrival::append_measured;
use crate::context::session::checked::Checked;
use crate::context::session::counter::set_learned;
use crate::context::session::counter::{Counter, Learned, texts};
use crate::context::session::recorded::HostCompaction;
use crate::context::session::retention::{Holders, Recall};
use crate::context::session::step::Step;
use crate::context::transcript::measure::{Measure, measure};
use crate::error::{Error, Result};
use crate::estimate::Estimator;
use crate::format::Format;
use crate::hash::mix;
use crate::identifiers::Identifiers;
use crate::json::{self, Members, RawValue, Shape, Type, Value, optional, required};
use crate::model::{Form, NONE, Role};
use crate::number::{count, is_time};
use crate::prune::{Cache, Sent};
use crate::sort::sort_by;

/// A session measured once, to be replayed under many policies.
#[derive(Debug)]
pub struct Recording {
    pub(super) format: Format,
    pub(super) parts: Parts,
    raw: Vec<String>,
    pub(in crate::context) measures: Vec<Measure>,
    pub(in crate::context) identifiers: Identifiers,
    pub(super) calls: Vec<RecordedCall>,
    /// In order of their places.
    pub(super) compactions: Vec<HostCompaction>,
    /// The window that the file tells, and its reserve; 0: it does not.
    pub(super) window: (u64, u64),
    learned: Learned,
}

/// A session as `readSession` gave it.
const SESSION: Shape = Shape {
    what: "a session",
    members: &[
        required("messageFormat", Type::Text),
        required("messages", Type::Items),
        optional("system", Type::Raw),
        optional("tools", Type::Raw),
        optional("calls", Type::Items),
        optional("compactions", Type::Items),
        optional("window", Type::Raw),
        optional("unseenTokens", Type::Integer),
        optional("counts", Type::Items),
    ],
    closed: false,
};

const CALL: Shape = Shape {
    what: "a call: { sent, at, usage }",
    members: &[
        required("sent", Type::Integer),
        optional("at", Type::Integer),
        optional("usage", Type::Raw),
    ],
    closed: false,
};

const USAGE: Shape = Shape {
    what: "{ inputTokens }",
    members: &[optional("inputTokens", Type::Integer)],
    closed: false,
};

const COMPACTION: Shape = Shape {
    what: "a compaction: { at, firstKeptIndex, kept, summary, head }",
    members: &[
        optional("at", Type::Integer),
        optional("firstKeptIndex", Type::Integer),
        optional("kept", Type::Items),
        optional("summary", Type::Text),
        optional("head", Type::Text),
    ],
    closed: false,
};

const WINDOW: Shape = Shape {
    what: "{ contextTokens, maxOutputTokens }",
    members: &[
        optional("contextTokens", Type::Integer),
        optional("maxOutputTokens", Type::Integer),
    ],
    closed: false,
};

#[derive(Clone, Copy, Debug)]
pub(super) struct RecordedCall {
    pub sent: u32,
    pub at: Option<i64>,
    /// Tokens of the request as the provider counted them. Files that report nothing may write zeros.
    pub usage: Option<u64>,
}

impl RecordedCall {
    fn read(json: &str) -> Result<Self> {
        let mut call = CALL.read(json).map_err(no_session)?;
        let sent = call.integer("sent").and_then(|sent| u32::try_from(sent).ok()).unwrap_or(NONE);
        let at = call.integer("at").filter(|at| is_time(*at));
        let mut usage = USAGE.read(call.raw("usage").unwrap_or("{}")).map_err(no_session)?;
        Ok(Self { sent, at, usage: positive(usage.integer("inputTokens")) })
    }
}

fn positive(figure: Option<i64>) -> Option<u64> {
    figure.and_then(|figure| u64::try_from(figure).ok()).filter(|figure| *figure > 0)
}

/// A compaction of the session's agent; one whose place is not told stands where its first kept message does.
fn compaction(json: &str, estimator: Estimator) -> Result<HostCompaction> {
    let mut record = COMPACTION.read(json).map_err(no_session)?;
    let mut index = |name| record.integer(name).and_then(|it| u32::try_from(it).ok());
    let first_kept = index("firstKeptIndex").unwrap_or(0);
    let at = index("at").unwrap_or(first_kept);
    let range = |json: &&RawValue| {
        let ends = json::items(json).ok()?;
        let &[from, to] = ends.as_slice() else { return None };
        Some((from.parse().ok()?, to.parse().ok()?))
    };
    let kept = record.items("kept").unwrap_or_default().iter().filter_map(range).collect();
    let mut text = |name| record.text(name).map_or(0, |text| estimator.tokens(&text));
    let (head, summary) = (text("head"), text("summary"));
    Ok(HostCompaction { at, first_kept, kept, summary: if head > 0 { head } else { summary } })
}

fn no_session(error: json::Error) -> Error {
    Error::argument("session", "what readSession gave", error)
}

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
        /// Its price, in thousandths of a base input token.
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
        /// What the model wrote next, and still had before it.
        pub recall: Recall as "*",
    }
}

/// A replay: its calls, its totals, and the state at its last call.
#[derive(Clone, Debug)]
pub struct Replay {
    /// One for each model call.
    pub calls: Vec<Call>,
    /// What they come to.
    pub totals: Totals,
    /// The state at the last of them.
    pub state: Session,
}

/// Without timestamps a message is taken to come this long after the one before.
const PACE_MS: i64 = 10_000;

impl Recording {
    /// Measures a session as `readSession` gave it.
    ///
    /// # Errors
    /// `InvalidArgument` for what is no session, `MalformedMessage` with its index.
    pub fn parse(json: &str, estimator: Estimator) -> Result<Self> {
        let mut session = SESSION.read(json).map_err(no_session)?;
        let messages = session.items("messages").unwrap_or_default();
        let format = format_of(&mut session, &messages)?;
        let counts = session.items("counts").unwrap_or_default();
        let counts: Vec<u32> = counts.iter().map(|one| one.parse().unwrap_or(0)).collect();
        let mut counter = Counter::new(estimator, &counts);
        let mut identifiers = Identifiers::default();
        let mut measures = Vec::with_capacity(messages.len());
        for (index, message) in (0u32..).zip(&messages) {
            let bytes = message.as_bytes();
            let draft = format.read(bytes, index)?;
            measures.push(measure(&draft, bytes, &mut counter, Some(&mut identifiers)));
        }
        let parts = beside(&mut session);
        let calls = session.items("calls").unwrap_or_default();
        let calls = calls.into_iter().map(RecordedCall::read);
        let compactions = session.items("compactions").unwrap_or_default();
        let compactions = compactions.into_iter().map(|json| compaction(json, estimator));
        let mut compactions = compactions.collect::<Result<Vec<_>>>()?;
        sort_by(&mut compactions, |one| (i64::from(one.at), 0));
        let mut window = WINDOW.read(session.raw("window").unwrap_or("{}")).map_err(no_session)?;
        let mut size = |name| positive(window.integer(name)).unwrap_or(0);
        Ok(Self {
            compactions,
            window: (size("contextTokens"), size("maxOutputTokens")),
            format,
            parts: Parts::parse(&parts, &mut counter)?,
            raw: messages.into_iter().map(ToOwned::to_owned).collect(),
            measures,
            identifiers,
            calls: calls.collect::<Result<_>>()?,
            learned: counter.learned,
        })
    }

    /// The texts of a session that are counted: for a counter of the host's, whose numbers go into `counts` of the
    /// session in the same order.
    ///
    /// # Errors
    /// As `parse`.
    pub fn texts(json: &str) -> Result<Vec<String>> {
        let mut session = SESSION.read(json).map_err(no_session)?;
        let messages = session.items("messages").unwrap_or_default();
        let format = format_of(&mut session, &messages)?;
        let mut all = Vec::new();
        for (index, message) in (0u32..).zip(&messages) {
            let draft = format.read(message.as_bytes(), index)?;
            all.extend(texts(&draft).into_iter().map(ToOwned::to_owned));
        }
        all.extend(Parts::texts(&beside(&mut session))?);
        Ok(all)
    }

    /// Plays the session up to call `last` (or to its end).
    ///
    /// # Errors
    /// `MalformedMessage`.
    pub fn replay(&self, options: &Options, last: Option<u32>) -> Result<Replay> {
        let mut state = Session::new(options.clone(), self.format);
        state.transcript.ledger.identifiers = self.identifiers.clone();
        state.extras = self.parts.clone();
        set_learned(&mut state, self.learned);
        let prices = options.policy.prices.clone();
        let mut cache = Cache::new(prices.clone(), self.parts.total());
        let mut unmanaged = Cache::new(prices, self.parts.total());
        let mut replay = Replay { calls: Vec::new(), totals: Totals::default(), state };
        // Parts of the last request.
        let mut parts = 0;
        let mut checked = Checked::default();
        let mut holders = Holders::default();
        let limit = last.map_or(usize::MAX, |last| (last as usize).saturating_add(1));
        for (number, call) in (0u32..).zip(&self.calls).take(limit) {
            let mut more: Vec<Sent> = Vec::new();
            for index in replay.state.transcript.ledger.message_count()..call.sent.min(self.len()) {
                let Some(measure) = self.measures.get(index as usize) else { continue };
                self.arrive(&mut replay.state, index, measure)?;
                holders.add(measure);
                let one = (mix(u64::from(index)), measure.blocks.iter().map(|b| b.tokens).sum());
                more.push(one);
            }
            let at = call.at.unwrap_or_else(|| i64::from(call.sent).saturating_mul(PACE_MS));
            let answer = self.request(&mut replay.state, at)?;
            // Within an epoch a request only grows: what it begins with was counted before.
            if number == 0 || answer.epoch != replay.totals.epochs {
                parts = 0;
            }
            let grown = sent(&replay.state, parts);
            let bill = cache.charge_grown(parts, &grown, at);
            parts = parts.saturating_add(grown.len());
            replay.totals.unmanaged_bill = replay
                .totals
                .unmanaged_bill
                .saturating_add(unmanaged.charge_grown(usize::MAX, &more, at));
            let violations = count(checked.count(&replay.state));
            replay.take(Call {
                call: number,
                used: answer.tokens,
                unmanaged: holders.total().saturating_add(self.parts.total()),
                sent: call.sent,
                epoch: answer.epoch,
                event: answer.event,
                edits: count(answer.edits.len()),
                bill,
                violations,
                fits: answer.fits,
                at,
            });
            replay.totals.recall.judge(&replay.state, &holders, self.answer_to(call.sent));
        }
        Ok(replay)
    }

    /// What a compaction would do behind the last call of a replay, as JSON: a plan with all that its texts tell.
    ///
    /// # Errors
    /// `MalformedMessage`.
    pub fn plan(&self, replay: &mut Replay) -> Result<Value> {
        let state = &mut replay.state;
        let now_ms = replay.calls.last().map_or(0, |call| call.at);
        let plan = plan_compaction(state, false, None, now_ms)?;
        let members = json::members(plan.json()).unwrap_or_default();
        let of = |name| members.iter().find(|(known, _)| known == name).map_or("[]", |(_, it)| *it);
        for index in json::items(of("go")).unwrap_or_default() {
            let index = index.parse().unwrap_or(NONE);
            flat_message(state, index, self.raw(index))?;
        }
        let names = Value::raw(of("identifiers").into());
        let mut extracted = String::new();
        json::object(&[("*", extracted_so_far(state)), ("identifiers", &names)], &mut extracted);
        let mut plan = Value::raw(of("plan").into());
        plan.set("extracted", Value::raw(extracted));
        Ok(plan)
    }

    /// What the model wrote behind this many messages.
    fn answer_to(&self, sent: u32) -> &[Measure] {
        let behind = self.measures.get(sent as usize..).unwrap_or(&[]);
        let speaks = |next: &&Measure| next.outline.role == Role::Assistant;
        let run = if self.format.has_runs() { behind.iter().take_while(speaks).count() } else { 1 };
        behind.get(..run).unwrap_or(&[])
    }

    /// What a message of the session says, as a report tells it under its key; nothing where there is none.
    ///
    /// # Errors
    /// `MalformedMessage`.
    pub fn text(&self, replay: &Replay, index: u32) -> Result<String> {
        if index >= self.len() {
            return Ok(String::new());
        }
        message_text(&replay.state, index, self.raw(index))
    }

    /// Messages of the session.
    pub fn len(&self) -> u32 {
        u32::try_from(self.measures.len()).unwrap_or(NONE)
    }

    /// It has no message.
    pub fn is_empty(&self) -> bool {
        self.measures.is_empty()
    }

    fn arrive(&self, state: &mut Session, index: u32, measure: &Measure) -> Result<()> {
        append_measured(state, measure, None);
        if !state.decisions.placeholders.wanted.is_empty() {
            self.supply(state, index)?;
        }
        Ok(())
    }

    fn request(&self, state: &mut Session, at: i64) -> Result<Answer> {
        let mut step = state.request(at);
        loop {
            match step {
                Step::Done(answer) => return Ok(*answer),
                Step::Need(messages) => {
                    for index in messages {
                        self.supply(state, index)?;
                    }
                    step = state.resume();
                }
            }
        }
    }

    fn supply(&self, state: &mut Session, index: u32) -> Result<()> {
        state.supply(index, self.raw(index))
    }

    fn raw(&self, index: u32) -> &[u8] {
        self.raw.get(index as usize).map_or(b"null", |raw| raw.as_bytes())
    }
}

impl Replay {
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
}

/// What is sent from this part on, block by block, as the cache sees it.
fn sent(state: &Session, from: usize) -> Vec<Sent> {
    let head = state.decisions.pruner.head.as_ref();
    let head = head.map(|head| (mix(u64::MAX ^ u64::from(head.folds)), head.tokens));
    let block = |&at: &u32| {
        let block = state.transcript.ledger.block(at)?;
        let form = match block.form {
            Form::Full => 0,
            Form::Capped => 1,
            Form::Stubbed => 2,
            Form::Gone => 3,
        };
        Some((mix(u64::from(at).saturating_mul(4) | form), block.now))
    };
    let first = from.saturating_sub(usize::from(head.is_some()));
    let live = state.transcript.ledger.live().get(first..).unwrap_or_default();
    head.filter(|_| from == 0).into_iter().chain(live.iter().filter_map(block)).collect()
}

fn format_of(session: &mut Members<'_>, messages: &[&RawValue]) -> Result<Format> {
    match &*session.text("messageFormat").unwrap_or_default() {
        "auto" => Format::detect(&first(messages)),
        name => Format::parse(name),
    }
}

/// What goes out beside the messages, as JSON.
fn beside(session: &mut Members<'_>) -> String {
    let mut part = |name| session.raw(name).unwrap_or("null");
    let (system, tools) = (part("system"), part("tools"));
    let unseen = session.integer("unseenTokens").unwrap_or(0);
    format!(r#"{{"system":{system},"tools":{tools},"unseenTokens":{unseen}}}"#)
}

fn first<'a>(messages: &[&'a RawValue]) -> Vec<&'a [u8]> {
    messages.iter().take(32).map(|message| message.as_bytes()).collect()
}
