//! The recorded view of a session: what its agent sent, by the provider's own counts where the file has them.
//!
//! Nothing is decided: every message is sent as it is, until the agent itself compacted. Tokens are fitted to the provider's counts.

use super::recording::{RecordedCall, Recording};
use super::usage_fit::{Fit, ONE, Point, fit};
use crate::context::mode::Mode;
use crate::context::options::Options;
use crate::context::replay::recording::HostCompaction;
use crate::json;
use crate::model::MessageId;

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

impl SentCall {
    /// Its tokens are its provider's, or fitted to them.
    pub(super) fn is_counted(&self) -> bool {
        self.source != "estimate"
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
}

/// Messages that a call still has, and their tokens.
struct Live<'a> {
    recording: &'a Recording,
    /// The next message.
    next: MessageId,
    /// Those that are still sent, with their tokens: a compaction looks at no other.
    tokens: Vec<(MessageId, u64)>,
    sum: u64,
    /// What stands for those that are gone.
    head: u64,
    /// Compactions so far, and the first message that is sent whole.
    compactions: u32,
    first: u32,
}

impl<'a> Live<'a> {
    fn new(recording: &'a Recording) -> Self {
        let next = MessageId::FIRST;
        Self { recording, next, tokens: Vec::new(), sum: 0, head: 0, compactions: 0, first: 0 }
    }

    /// Takes in the messages before a call that sends so many, and the compactions among them.
    fn advance(&mut self, sent: u32) {
        loop {
            let at = self.next.get();
            let next = self.recording.compactions.get(self.compactions as usize);
            // One that stands after the last message that was sent came before the call, too: its answer was not there yet.
            if let Some(fold) = next.filter(|fold| fold.at <= at && fold.at <= sent) {
                self.compact(fold);
                continue;
            }
            let measure = self.recording.measures.get(self.next.index()).filter(|_| at < sent);
            let Some(measure) = measure else { return };
            let tokens = measure.blocks.iter().map(|block| u64::from(block.tokens)).sum();
            self.tokens.push((self.next, tokens));
            self.next = self.next.next();
            self.sum = self.sum.saturating_add(tokens);
        }
    }

    fn compact(&mut self, fold: &HostCompaction) {
        self.compactions = self.compactions.saturating_add(1);
        self.first = self.first.max(fold.first_kept);
        self.head = u64::from(fold.head);
        let sum = &mut self.sum;
        self.tokens.retain(|(at, tokens)| {
            let stays = !fold.removes(*at);
            *sum = sum.saturating_sub(if stays { 0 } else { *tokens });
            stays
        });
    }

    fn tokens(&self) -> u64 {
        self.sum.saturating_add(self.head).saturating_add(self.recording.parts.total())
    }
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
            let state = recording.recorded_at(&recording.recorded_view(&options), at).session;
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
        let state = recording.recorded_at(&recording.recorded_view(&options), 2).session;
        let listed = crate::context::list_messages(&state);
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
