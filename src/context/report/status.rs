//! Status: tokens of the last request, pressure, trend, and what is due.

use crate::context::compaction::cool_down::blocked_reason;
use crate::context::compaction::flush::Flushed;
use crate::context::compaction::folds::fold_count;
use crate::context::options::Options;
use crate::context::session::Session;
use crate::json::{self, Value};
use crate::prune::Forecast;

/// Levels of pressure, and the percentage at which each begins.
pub(in crate::context) const LEVELS: [(u64, &str); 4] =
    [(0, "low"), (70, "medium"), (85, "high"), (95, "critical")];

/// The number and the name of a level.
pub(in crate::context) fn level(pct: u64) -> (usize, &'static str) {
    let reached = LEVELS.iter().filter(|(from, _)| *from <= pct).count().saturating_sub(1);
    (reached, LEVELS.get(reached).map_or("", |(_, name)| name))
}

json::json_struct! {
    /// What `status()` tells.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Status {
        /// Tokens of the last request.
        pub used: u64,
        /// The window less what is held back for the answer; less while a provider's refusal limits requests.
        pub usable: u64,
        /// Usable less used.
        pub remaining: u64,
        /// Share used, in percent, floored.
        pub pct: u64 as "usedPct",
        /// low < 70 % <= medium < 85 % <= high < 95 % <= critical.
        pub pressure: &'static str,
        /// Whether the last request was larger than the one before, smaller, or about as large: within 2 % of the window, and
        /// at least 256 tokens (A109). unknown, stable, rising or falling.
        pub trend: &'static str,
        /// Changes only when something other than the end of the request does.
        pub epoch: u32,
        /// What pays and was not carried out.
        pub due: Option<&'static str>,
        /// What `used` stands on.
        pub source: &'static str,
        /// The most that a request had.
        pub peak_tokens: u64,
        /// Folds so far.
        pub compactions: u32,
        /// Tokens of the history less those of the last request.
        pub tokens_saved: u64,
        /// The last prompt for notes since the window was last made free, and whether they were written.
        pub flush: Option<Flushed> as "flush?",
    }
}

json::json_struct! {
    /// How a window is used, in tokens: `used + reserve + free` is the whole window.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(test, derive(ts_rs::TS), ts(rename = "WindowReport"))]
    pub struct Window {
        /// Tokens of the last request.
        pub used: u64,
        /// Tokens held back for the answer.
        pub reserve: u64,
        /// Tokens that are left; negative if the request is too large or the window is unknown.
        pub free: i64,
        /// Size above which room is made; `null` if the window is unknown or nothing is decided.
        pub trigger: Option<u64>,
        /// Size that is then aimed for; `null` if the window is unknown or nothing is decided.
        pub target: Option<u64>,
    }
}

/// The window of the last request. The trigger is the one that decisions are made by, as the provider counts.
pub fn window_report(session: &Session) -> Window {
    let mode = session.options.mode;
    let (window, usable) = (mode.window_tokens(), mode.usable_tokens());
    let used = status(session).used;
    let reserve = window.saturating_sub(usable);
    // As the next request decides: a usage that came since the last one counts.
    let (line, target) = session.lines(session.next_usable());
    let is_decided = mode.is_managed() && !session.options.noop;
    let shown = |tokens| is_decided.then(|| session.counts.calibration.tokens(tokens).min(usable));
    Window {
        used,
        reserve,
        free: signed(usable).saturating_sub(signed(used)),
        trigger: shown(line),
        target: shown(target),
    }
}

/// A provider's figure of this epoch with an estimate of what came since, or an estimate alone.
pub(in crate::context) fn source_of_figures(session: &Session) -> &'static str {
    let anchored = session.counts.calibration.is_anchored(session.request.last.epoch);
    if anchored { "usage+estimate" } else { "estimate" }
}

/// Our estimate of a request now: of the last one, while the messages of a parked session have not come.
fn estimate_now(session: &Session) -> u64 {
    let ledger = &session.transcript.ledger;
    if session.restoration.waiting.is_some() && ledger.message_count() == 0 {
        return session.request.last.tokens;
    }
    session.decisions.pruner.context(ledger, &session.setting())
}

/// Share of what is usable that is used, in percent, floored; 0 of an unknown window.
pub(in crate::context) fn used_percent(session: &Session) -> u64 {
    let used = session.counts.calibration.tokens(estimate_now(session));
    used.saturating_mul(100).checked_div(session.usable_now()).unwrap_or(0)
}

fn trend_of(session: &Session) -> &'static str {
    let (last, now) = (session.request.last.previous_tokens, session.request.last.tokens);
    let near = (session.options.mode.window_tokens().saturating_add(25) / 50).max(256);
    match now.abs_diff(last) > near {
        _ if last == 0 => "unknown",
        false => "stable",
        true if now > last => "rising",
        true => "falling",
    }
}

/// The next edit that is to be expected, in tokens as the provider counts; none before the first call.
pub(in crate::context) fn next_edit(session: &Session) -> Option<Forecast> {
    let Options { mode, summarizes, .. } = session.options;
    let setting = session.deciding(session.next_usable());
    let found = session.decisions.pruner.forecast(
        &session.transcript.ledger,
        &setting,
        session.transcript.call,
        summarizes,
    );
    let shown = |it: Forecast| {
        let own = it.tokens.saturating_sub(session.beside_content());
        Forecast {
            tokens: session
                .counts
                .calibration
                .tokens(own)
                .min(session.options.mode.usable_tokens()),
            ..it
        }
    };
    found.filter(|_| mode.is_managed()).map(shown)
}

/// The same with why no summarizer is asked now, if none is: all of `Status`, as JSON.
pub fn status_json(session: &Session, now_ms: i64) -> Value {
    let mut out = String::new();
    let (blocked, next) = (blocked_reason(session, now_ms), next_edit(session));
    json::object(&[("*", &status(session)), ("blocked", &blocked), ("nextEdit", &next)], &mut out);
    Value::raw(out)
}

/// How full the window is.
pub fn status(session: &Session) -> Status {
    let estimate = estimate_now(session);
    let used = session.counts.calibration.tokens(estimate);
    let usable = session.usable_now();
    let pct = used_percent(session);
    let arrived = session.transcript.ledger.arrived();
    Status {
        used,
        usable,
        remaining: usable.saturating_sub(used),
        pct,
        pressure: level(pct).1,
        trend: trend_of(session),
        epoch: session.request.last.epoch,
        due: session.request.last.fold_due.then_some("fold"),
        source: source_of_figures(session),
        peak_tokens: peak_tokens(session),
        compactions: session.decisions.pruner.head.as_ref().map_or(0, |head| head.folds),
        tokens_saved: arrived
            .saturating_add(session.request.extras.total())
            .saturating_sub(estimate),
        flush: last_flush(session),
    }
}

json::impl_json!(Forecast { tokens, reason });

fn signed(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

/// What was asked last in this cycle.
pub(in crate::context) fn last_flush(session: &Session) -> Option<Flushed> {
    session
        .compactions
        .flush
        .asked
        .filter(|_| session.compactions.flush.folds == fold_count(session).unwrap_or(0))
}

/// Tokens of the largest request so far, each as it was known when the next one was made.
pub(in crate::context) fn peak_tokens(session: &Session) -> u64 {
    session.request.last.peak.max(session.counts.calibration.tokens(session.request.last.tokens))
}
