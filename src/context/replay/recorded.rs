//! The recorded view of a session: what its agent sent, by the provider's own counts where the file has them.
//!
//! Nothing is decided: every message is sent as it is, until the agent itself compacted. Tokens are fitted to the provider's counts.

use super::at_call::AtCall;
use super::layers::Layers;
use super::message_changes::{MessageChange, MessageChanges};
use super::recording::{RecordedCall, Recording};
use super::usage_fit::{Fit, ONE, Point, fit, scaled};
use crate::context::mode::Mode;
use crate::context::options::Options;
use crate::context::replay::recording::HostCompaction;
use crate::context::session::Session;
use crate::context::session::arrival::append_measured;
use crate::context::session::calibration::Counted;
use crate::context::session::why::Why;
use crate::error::Result;
use crate::json;
use crate::model::{Form, MessageId};
use crate::number::count;
use crate::prune::{Head, Rule};

/// Windows that models have: the least of them that holds the largest request is assumed.
const WINDOWS: [u64; 5] = [200_000, 400_000, 1_000_000, 2_000_000, 10_000_000];
/// Median error, in 1e-4, above which a session is not played in the provider's tokens.
const MOST_ERROR: u64 = 1000;

json::json_struct! {
    /// A call as it was made.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct SentCall {
        /// Its number, from 0.
        pub call: u32,
        /// Messages of the history before it.
        pub sent: u32,
        /// The first of them that was still sent whole.
        pub from: u32,
        /// When it was made.
        pub at: Option<i64>,
        /// Tokens of the request, by `source`.
        pub used: u64,
        /// `provider`: its own count. `calibrated`: our estimate, fitted to the counts of other calls. `estimate`: ours alone.
        pub source: &'static str,
        /// The provider's count; `null` if the file has none.
        pub usage: Option<u64>,
        /// Our estimate of what the file holds of it.
        pub estimate: u64,
        /// The same, fitted to the provider's counts; `null` if the file has none.
        pub calibrated: Option<u64>,
        /// Tokens that were sent and are not in the file.
        pub unseen: u64,
        /// `compaction`: the agent compacted before this call.
        pub event: Option<&'static str>,
    }
}

json::json_struct! {
    /// How estimates were fitted to the provider's counts.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct UsageFit {
        /// Tokens of the provider for 10,000 of ours.
        pub factor: u64,
        /// Tokens that were sent at the last call and are not in the file.
        pub overhead: i64,
        /// Median error of the fitted counts, in 1e-4 of the provider's.
        pub error_p50: u64,
        /// Their 90th percentile.
        pub error_p90: u64,
        /// Calls that were counted.
        pub calls: u32,
    }
}

json::json_struct! {
    /// A session as it was sent.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Recorded {
        /// One for each model call.
        pub calls: Vec<SentCall>,
        /// `null` if the file has no counts.
        pub calibration: Option<UsageFit>,
        /// The model's window, in tokens.
        pub context_tokens: u64,
        /// Held back for the answer.
        pub max_output_tokens: u64,
        /// Where the window comes from: `given`, `file`, `usage` (the file has larger requests than it says) or `assumed`.
        pub source: &'static str,
    }
}

impl Recording {
    /// Every call as it was made. `options` have the window; one of 0 tokens is found.
    pub fn recorded(&self, options: &Options) -> Recorded {
        let mode = options.mode;
        let reserve = mode.window_tokens().saturating_sub(mode.usable_tokens());
        let (counted, fit) = self.counted();
        let mut before = 0;
        let mut calls = Vec::with_capacity(self.calls.len());
        for (number, (&(estimate, stretch, from), call)) in
            (0u32..).zip(counted.iter().zip(&self.calls))
        {
            let calibrated = fit.as_ref().map(|fit| fit.tokens(estimate, stretch));
            let source = match (call.usage, calibrated) {
                (Some(_), _) => "provider",
                (None, Some(_)) => "calibrated",
                (None, None) => "estimate",
            };
            let unseen = fit.as_ref().map_or(0, |fit| fit.overhead(stretch));
            calls.push(SentCall {
                call: number,
                sent: call.sent.min(self.len()),
                from,
                at: call.at,
                used: call.usage.or(calibrated).unwrap_or(estimate),
                source,
                usage: call.usage,
                estimate,
                calibrated,
                unseen: u64::try_from(unseen).unwrap_or(0),
                event: (stretch > before).then_some("compaction"),
            });
            before = stretch;
        }
        let (context_tokens, source) = self.window_of(mode, &calls);
        let reserve =
            if mode.is_managed() { reserve } else { self.window.1.min(context_tokens / 2) };
        let calibration = fit.map(|fit| UsageFit {
            factor: fit.factor,
            overhead: fit.overhead(before),
            error_p50: fit.error_p50,
            error_p90: fit.error_p90,
            calls: fit.calls,
        });
        Recorded { calls, calibration, context_tokens, max_output_tokens: reserve, source }
    }

    /// What each call had by our estimate: its tokens, the compactions before it, and the first message that was sent whole. With
    /// that, how the estimates fit the provider's counts.
    fn counted(&self) -> (Vec<(u64, u32, u32)>, Option<Fit>) {
        let mut counted: Vec<(u64, u32, u32)> = Vec::new();
        let mut live = Live::new(self);
        for call in &self.calls {
            live.advance(call.sent);
            counted.push((live.tokens(), live.compactions, live.first));
        }
        let point = |(&(estimate, stretch, _), call): (&(u64, u32, u32), &RecordedCall)| {
            Some(Point { stretch, estimate, usage: call.usage? })
        };
        let points: Vec<Point> = counted.iter().zip(&self.calls).filter_map(point).collect();
        let fit = fit(&points);
        (counted, fit)
    }

    /// The provider's tokens for 10,000 of ours, and its tokens that are not in the file: before any compaction of the agent's, after
    /// which a summary that cannot be read may be among them. Counts that fit nothing are not believed.
    pub(super) fn calibration(&self) -> (u64, u64) {
        let fit = self.counted().1.filter(|fit| fit.error_p50 <= MOST_ERROR);
        fit.map_or((ONE, 0), |fit| (fit.factor, u64::try_from(fit.overhead(0)).unwrap_or(0)))
    }

    /// The window, and where it comes from: none is taken for smaller than the largest request that was sent.
    fn window_of(&self, mode: Mode, calls: &[SentCall]) -> (u64, &'static str) {
        let largest = calls.iter().filter_map(|call| call.usage).max().unwrap_or(0);
        let least = WINDOWS.into_iter().find(|size| *size >= largest).unwrap_or(largest);
        match (mode.window(), self.window.0) {
            (Some(window), _) => (window.tokens, "given"),
            (None, known) if known > 0 && known >= largest => (known, "file"),
            (None, 0) if least == 200_000 => (least, "assumed"),
            (None, _) => (least, "usage"),
        }
    }

    /// The session as it stood at a call (the last, if there is none of that number), for reports. `options` have the window.
    ///
    /// # Errors
    /// `MalformedMessage`.
    pub fn recorded_at(&self, options: &Options, at: u32) -> Result<AtCall> {
        let recorded = self.recorded(options);
        let mut calls = recorded.calls;
        calls.truncate((at as usize).saturating_add(1));
        let factor = recorded.calibration.as_ref().map_or(ONE, |it| it.factor);
        let mut shown = AsSent::new(self, options, factor);
        shown.advance(calls.last().map_or(0, |call| call.sent));
        if let Some(last) = calls.last() {
            shown.count(last);
        }
        let AsSent { mut session, .. } = shown;
        session.request.last.previous_tokens =
            calls.iter().rev().nth(1).map_or(0, |call| call.used);
        session.request.last.peak = calls.iter().map(|call| call.used).max().unwrap_or(0);
        Ok(AtCall { session, at_ms: calls.last().and_then(|call| call.at).unwrap_or(0) })
    }

    /// Tokens of every request as it was made, by kind of content, and the messages that each sent otherwise than the one before.
    pub fn recorded_layers(&self, options: &Options) -> (Layers, Vec<MessageChange>) {
        let recorded = self.recorded(options);
        let factor = recorded.calibration.as_ref().map_or(ONE, |it| it.factor);
        let mut shown = AsSent::new(self, options, factor);
        let (mut layers, mut changes) = (Layers::default(), MessageChanges::default());
        for call in &recorded.calls {
            let folds = shown.folds;
            let ledger = &shown.session.transcript.ledger;
            let (first, blocks) = (ledger.next_message(), ledger.next_block());
            shown.advance(call.sent);
            shown.count(call);
            let compacted = shown.folds > folds;
            let (first, blocks) = if compacted { Default::default() } else { (first, blocks) };
            layers.add(&shown.session, blocks);
            changes.note(&shown.session, call.call, first);
        }
        (layers, changes.log)
    }
}

/// A session as its agent sent it: every message whole, until the agent compacted.
struct AsSent<'a> {
    recording: &'a Recording,
    session: Session,
    factor: u64,
    /// Compactions so far.
    folds: usize,
}

impl<'a> AsSent<'a> {
    fn new(recording: &'a Recording, options: &Options, factor: u64) -> Self {
        let mut session = recording.session(&Options { noop: true, ..options.clone() });
        let size = |tokens: u64| scaled(tokens, factor);
        session.request.extras.system = size(session.request.extras.system);
        session.request.extras.tools = size(session.request.extras.tools);
        session.request.last.fold_due = false;
        Self { recording, session, factor, folds: 0 }
    }

    /// Takes in the messages before a call that sends so many, and the compactions among them.
    fn advance(&mut self, sent: u32) {
        loop {
            let at = self.session.transcript.ledger.next_message();
            let fold = self.recording.compactions.get(self.folds);
            if let Some(fold) = fold.filter(|fold| fold.at <= at.get() && fold.at <= sent) {
                compact(&mut self.session, fold, self.factor);
                self.folds = self.folds.saturating_add(1);
                continue;
            }
            let measure = self.recording.measure(at, self.factor).filter(|_| at.get() < sent);
            let Some(measure) = measure else { return };
            append_measured(&mut self.session, &measure, None);
        }
    }

    /// The tokens of the call: what was counted and is not in the file is `unseen`, so that the parts add up to the count.
    fn count(&mut self, call: &SentCall) {
        let session = &mut self.session;
        session.request.extras.unseen = 0;
        let context = |session: &Session| {
            session.decisions.pruner.context(&session.transcript.ledger, &session.setting())
        };
        session.request.extras.unseen = call.used.saturating_sub(context(session));
        let epoch = session.decisions.pruner.head.as_ref().map_or(0, |head| head.folds);
        let estimate = context(session);
        session.request.last.epoch = epoch;
        session.request.last.tokens = estimate;
        // Also where a repair of ours would send less than the agent did.
        if call.source != "estimate" || call.used != estimate {
            session.counts.calibration.last = Some(Counted { epoch, used: call.used, estimate });
        }
    }
}

/// Messages that a call still has, and their tokens.
struct Live<'a> {
    recording: &'a Recording,
    /// By message, while it is sent.
    tokens: Vec<u64>,
    sum: u64,
    /// What stands for those that are gone.
    summary: u64,
    /// Compactions so far, and the first message that is sent whole.
    compactions: u32,
    first: u32,
}

impl<'a> Live<'a> {
    fn new(recording: &'a Recording) -> Self {
        Self { recording, tokens: Vec::new(), sum: 0, summary: 0, compactions: 0, first: 0 }
    }

    /// Takes in the messages before a call that sends so many, and the compactions among them.
    fn advance(&mut self, sent: u32) {
        loop {
            let at = count(self.tokens.len());
            let next = self.recording.compactions.get(self.compactions as usize);
            // One that stands behind the last message that was sent came before the call, too: its answer was not there yet.
            if let Some(fold) = next.filter(|fold| fold.at <= at && fold.at <= sent) {
                self.compact(fold);
                continue;
            }
            let Some(measure) = self.recording.measures.get(at as usize).filter(|_| at < sent)
            else {
                return;
            };
            let tokens = measure.blocks.iter().map(|block| u64::from(block.tokens)).sum();
            self.tokens.push(tokens);
            self.sum = self.sum.saturating_add(tokens);
        }
    }

    fn compact(&mut self, fold: &HostCompaction) {
        self.compactions = self.compactions.saturating_add(1);
        self.first = self.first.max(fold.first_kept);
        self.summary = u64::from(fold.summary);
        for (at, tokens) in (0u32..).zip(&mut self.tokens) {
            if is_gone(fold, at.into()) {
                self.sum = self.sum.saturating_sub(std::mem::take(tokens));
            }
        }
    }

    fn tokens(&self) -> u64 {
        self.sum.saturating_add(self.summary).saturating_add(self.recording.parts.total())
    }
}

fn is_gone(fold: &HostCompaction, message: MessageId) -> bool {
    let message = message.get();
    message < fold.first_kept && !fold.kept.iter().any(|&(from, to)| (from..to).contains(&message))
}

/// The agent compacted here: a summary of its own stands for what it took out.
fn compact(state: &mut Session, fold: &HostCompaction, factor: u64) {
    let gone = state.transcript.ledger.drop_unless(|_, block| !is_gone(fold, block.message));
    let folds = state.decisions.pruner.head.as_ref().map_or(0, |head| head.folds).saturating_add(1);
    let call = state.transcript.call;
    for block in gone {
        debug_assert_eq!(state.transcript.ledger.block(block).map(|it| it.form), Some(Form::Gone));
        state.decisions.reasons.insert(block, Why { rule: Rule::Fold, epoch: folds, call });
    }
    let tokens = u32::try_from(scaled(fold.summary.into(), factor)).unwrap_or(u32::MAX);
    let summary = fold.summary > 0;
    state.decisions.pruner.head = Some(Head { tokens, digest: Vec::new(), summary, folds });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Estimator;

    /// Turns of a question and an answer of about a hundred tokens each.
    fn session(usage: &[Option<u64>], compactions: &str, window: &str) -> Recording {
        let mut messages = Vec::new();
        let mut calls = Vec::new();
        for (turn, usage) in usage.iter().enumerate() {
            let text = format!("question {turn} ").repeat(40);
            messages.push(format!(r#"{{"role":"user","content":"{text}"}}"#));
            let usage = usage
                .map_or(String::new(), |tokens| format!(r#","usage":{{"inputTokens":{tokens}}}"#));
            calls.push(format!(r#"{{"sent":{}{usage}}}"#, messages.len()));
            messages.push(format!(r#"{{"role":"assistant","content":"{text}"}}"#));
        }
        let json = format!(
            r#"{{"messageFormat":"openai-chat","messages":[{}],"calls":[{}],"compactions":{compactions}{window}}}"#,
            messages.join(","),
            calls.join(",")
        );
        Recording::parse(&json, Estimator::default()).expect("a session")
    }

    fn window_of(tokens: u64) -> Options {
        let json = format!(r#"{{"window":{{"contextTokens":{tokens}}}}}"#);
        Options::for_replay(&json).expect("options")
    }

    #[test]
    fn a_call_has_the_count_of_its_provider_or_one_fitted_to_the_others() {
        let counts = [Some(30_100), Some(30_400), None, Some(31_000), Some(31_300)];
        let recorded = session(&counts, "[]", "").recorded(&window_of(0));
        let sources: Vec<&str> = recorded.calls.iter().map(|call| call.source).collect();
        assert_eq!(sources, ["provider", "provider", "calibrated", "provider", "provider"]);
        let used: Vec<u64> = recorded.calls.iter().map(|call| call.used).collect();
        assert_eq!((used[0], used[4]), (30_100, 31_300));
        assert!((30_500..30_900).contains(&used[2]), "{used:?}");
        assert_eq!((recorded.context_tokens, recorded.source), (200_000, "assumed"));
        let none = session(&[None, None], "[]", "").recorded(&window_of(0));
        assert!(
            none.calibration.is_none() && none.calls.iter().all(|call| call.source == "estimate")
        );
    }

    #[test]
    fn the_report_of_a_call_has_parts_that_sum_to_the_count_of_the_provider() {
        let recording = session(&[Some(30_100), Some(30_400)], "[]", "");
        let options =
            Options::for_replay(r#"{"window":{"contextTokens":200000}}"#).expect("options");
        for (at, used) in [(0, 30_100), (1, 30_400), (9, 30_400)] {
            let state = recording.recorded_at(&options, at).expect("a call").session;
            assert_eq!(crate::context::window_report(&state).used, used);
        }
    }

    #[test]
    fn what_the_agent_compacted_is_gone_from_the_call_after_it() {
        let compactions =
            r#"[{"at":4,"firstKeptIndex":3,"kept":[[0,1]],"summary":"they asked","head":""}]"#;
        let recording = session(&[None, None, None], compactions, "");
        let recorded = recording.recorded(&window_of(0));
        let events: Vec<Option<&str>> = recorded.calls.iter().map(|call| call.event).collect();
        assert_eq!(events, [None, None, Some("compaction")]);
        assert_eq!((recorded.calls[1].from, recorded.calls[2].from), (0, 3));
        let options =
            Options::for_replay(r#"{"window":{"contextTokens":200000}}"#).expect("options");
        let state = recording.recorded_at(&options, 2).expect("a call").session;
        let listed = crate::context::list_messages(&state).expect("messages");
        let states: Vec<&str> = listed.iter().map(|message| message.state).collect();
        assert_eq!(states, ["kept", "summarized", "summarized", "kept", "kept"]);
        assert_eq!(crate::context::window_report(&state).used, recorded.calls[2].used);
    }

    #[test]
    fn no_window_is_smaller_than_the_largest_request() {
        let window = r#","window":{"contextTokens":258000,"maxOutputTokens":9000}"#;
        let cases = [
            (300_000, "", 0, (400_000, "usage")),
            (300_000, window, 0, (400_000, "usage")),
            (200_000, window, 0, (258_000, "file")),
            (300_000, window, 64_000, (64_000, "given")),
            (20_000_000, "", 0, (20_000_000, "usage")),
        ];
        for (usage, window, asked, expected) in cases {
            let recorded = session(&[Some(usage)], "[]", window).recorded(&window_of(asked));
            assert_eq!((recorded.context_tokens, recorded.source), expected);
        }
    }
}
