//! Report of the monitor, and the records of requests and compactions that it is made of.

use crate::argument;
use crate::context::compaction::folds::fold_count;
use crate::context::report::monitor::{Measured, Monitor, add};
use crate::context::report::status::{level, used_percent};
use crate::context::session::Session;
use crate::context::session::calibration::Counted;
use crate::error::Result;
use crate::json::{self, Shape, Type, Value, json, optional};
use crate::text::{plain, prefix};

/// Characters of a phase (A110), and of a source.
const NAME_CHARS: usize = 100;
const RECORD: Shape = Shape {
    what: "{ source, requests } or { phase, tokensBefore, tokensAfter }",
    members: &[
        optional("source", Type::Text),
        optional("requests", Type::Integer),
        optional("phase", Type::Text),
        optional("tokensBefore", Type::Integer),
        optional("tokensAfter", Type::Integer),
    ],
    closed: true,
};

/// A request was made.
pub(in crate::context) fn record_request_size(session: &mut Session, folded: bool) {
    let tokens = session.counts.calibration.tokens(session.request.last.tokens);
    session.monitor.sample(tokens);
    session.monitor.continues |= folded;
}

/// Room was made for a request.
pub(in crate::context) fn record_room(
    session: &mut Session,
    status: &str,
    tokens_before: u64,
    tokens_after: u64,
) {
    if status != "none" {
        let (phase, at) = (status.to_ascii_uppercase(), session.request.last.at_ms);
        session.monitor.compacted(Measured { phase, at, tokens_before, tokens_after });
    }
}

/// A usage was taken for one of a request's.
pub(in crate::context) fn monitor_usage(session: &mut Session, of: Counted, output: u64) {
    session.monitor.report(of, output);
}

/// Takes up what the session cannot see (JSON): requests of a source, or a compaction of the host's own, of whatever phase.
/// Blank sources and numbers below 1 are ignored.
///
/// # Errors
/// `InvalidArgument`.
pub fn record_outside(session: &mut Session, what: &str) -> Result<()> {
    let mut what = argument::read(&RECORD, what, format_args!("note"))?;
    let mut number = |name| {
        let figure = what.integer(name)?;
        Some(u64::try_from(figure).unwrap_or(0))
    };
    let (requests, before, after) =
        (number("requests"), number("tokensBefore"), number("tokensAfter"));
    let source = name_of(&what.text("source").unwrap_or_default()).to_ascii_lowercase();
    let requests = requests.unwrap_or(1);
    if !source.is_empty() && requests > 0 {
        add(&mut session.monitor.requests, source, requests);
    }
    if let Some(tokens_before) = before {
        let phase = name_of(&what.text("phase").unwrap_or_default()).to_ascii_uppercase();
        let phase = if phase.is_empty() { "UNKNOWN".into() } else { phase };
        let tokens_after = after.unwrap_or(0);
        session.monitor.compacted(Measured { phase, at: None, tokens_before, tokens_after });
        session.monitor.rearm();
    }
    Ok(())
}

/// A level of pressure that is newly reached, once until a compaction: the highest alone.
pub fn new_pressure(session: &mut Session) -> Option<Value> {
    let folds = fold_count(session).unwrap_or(0);
    if session.monitor.folds != folds {
        session.monitor.folds = folds;
        session.monitor.rearm();
    }
    let pct = used_percent(session);
    let (to, name) = level(pct);
    let from = session.monitor.warned;
    session.monitor.warned = from.max(to);
    let (_, before) = crate::context::report::status::LEVELS.get(from).copied().unwrap_or_default();
    (to > from).then(|| json!({ "from": before, "to": name, "usedPct": pct }))
}

/// What the session has come to, as JSON.
pub fn monitor_report(session: &Session) -> Value {
    let Monitor { samples, reported, requests, phases, saved, compaction, .. } = &session.monitor;
    let sum = |counts: &[(String, u64)]| {
        counts.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count))
    };
    json!({
        "samples": samples,
        "inputTokens": reported.0,
        "outputTokens": reported.1,
        "requests": { "total": sum(requests), "bySource": counts(requests) },
        "compactions": {
            "total": sum(phases),
            "byPhase": counts(phases),
            "tokensSaved": saved,
            "last": compaction
        }
    })
}

/// A name as a host gives it: nothing a terminal would obey, one space between words, no more than a line.
fn name_of(text: &str) -> String {
    let words: Vec<String> = plain(text).split_whitespace().map(Into::into).collect();
    let name = words.join(" ");
    prefix(&name, NAME_CHARS).trim_end().into()
}

pub(in crate::context) fn counts(counts: &[(String, u64)]) -> Value {
    let members: Vec<(&str, Value)> =
        counts.iter().map(|(name, count)| (&**name, Value::raw(json::write(count)))).collect();
    Value::object(&members)
}
