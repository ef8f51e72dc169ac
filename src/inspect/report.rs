//! One report of a session, `context.inspect/1`: whatever shows a session, the CLI, a page, a chat or an RPC, shows this.
//!
//! Nothing is decided here, and nothing moves: figures come from the functions that requests are decided by.

use super::sections::{CORE, Prompt, SYSTEM};
use crate::context::{
    Bucket, Session, estimator_of, extras, list_buckets, list_compactions, list_messages,
    message_count, message_text, monitor_report, options_of, status_json, window_report,
};
use crate::error::{Error, Result};
use crate::json::{self, Members, Shape, Type, Value, json, optional};

/// What is asked: whose session it is, whose text is wanted too, and what the core has no text of.
const ASK: Shape = Shape {
    what: "{ sessionId, detailKey, beside, message, next }",
    members: &[
        optional("sessionId", Type::Text),
        optional("detailKey", Type::Text),
        optional("beside", Type::Raw),
        optional("message", Type::Raw),
        optional("next", Type::Raw),
    ],
    closed: true,
};

/// Begins the key of a message: `message:12`.
const MESSAGE_KEY: &str = "message:";

/// The report of the last request, by what is asked (JSON): `sessionId`; `detailKey`, the key of a section, `system` or
/// `message:N`; `beside`, the parts as they were sent; `message`, the one that the key names; `next`, what a compaction would do now.
///
/// For a key that does not exist the report lists `keys` in place of a detail.
///
/// used + reserve + free = window; the buckets together are used, the sections' characters the prompt's. Percents are rounded to
/// four places.
///
/// # Errors
/// `InvalidArgument` for another question.
pub fn report(state: &Session, ask: &str, now_ms: i64) -> Result<Value> {
    let refused = |error: json::Error| Error::argument("inspect", ASK.what, error.got());
    let mut ask = ASK.read(ask).map_err(refused)?;
    let beside = extras(state);
    let tokens = beside.system;
    let parts = json::members(ask.raw("beside").unwrap_or("{}")).map_err(refused)?;
    let system = parts.iter().find(|(name, _)| name == SYSTEM).map_or("null", |(_, it)| *it);
    let prompt = Prompt::read(system, tokens, estimator_of(state));
    let total = options_of(state).mode.window_tokens();
    let window = window_report(state);
    let (focus, budget, truncated) = prompt.plan();
    let mut report = json!({
        "schema": "context.inspect/1",
        "sessionId": ask.text("sessionId").unwrap_or_default(),
        "totalChars": beside.chars.0,
        "estimatedTokens": tokens,
        "contextWindowTokens": total,
        "systemPromptSharePct": percent(tokens, total),
        "requestFocus": focus,
        "budget": budget,
        "truncatedSectionKeys": truncated,
        "sections": prompt.sections.iter().map(super::sections::Section::shown).collect::<Vec<_>>(),
        "window": window,
        "buckets": buckets(state, &prompt, window.used),
        "messages": list_messages(state),
        "status": status_json(state, now_ms),
        "monitor": monitor_report(state),
        "compactions": list_compactions(state),
        "next": ask.raw("next").map_or(Value::NULL, |next| Value::raw(next.into()))
    });
    if let Some(key) = ask.text("detailKey") {
        if let Some(content) = detail(state, &prompt, &key, &mut ask) {
            report.set("detail", json!({ "key": &*key, "content": content }));
        } else {
            report.set("keys", Value::raw(json::write(&keys(state, &prompt))));
        }
    }
    Ok(report)
}

/// The text under a key; none if there is no such key.
fn detail(
    state: &Session,
    prompt: &Prompt<'_>,
    key: &str,
    ask: &mut Members<'_>,
) -> Option<String> {
    if let Some(words) = prompt.words(key) {
        return Some(words.into());
    }
    let index = key.strip_prefix(MESSAGE_KEY).and_then(|index| index.parse().ok());
    let (index, message) = index.zip(ask.raw("message"))?;
    // A message that is not of the format is shown as JSON.
    Some(message_text(state, index, message.as_bytes()).unwrap_or_else(|_| message.into()))
}

/// Keys that there are; of the messages the last.
fn keys(state: &Session, prompt: &Prompt<'_>) -> Vec<String> {
    let mut keys: Vec<String> = prompt.sections.iter().map(|it| it.key.clone()).collect();
    if !prompt.text.is_empty() {
        keys.push(SYSTEM.into());
    }
    if let Some(last) = message_count(state).checked_sub(1) {
        keys.push(format!("{MESSAGE_KEY}{last}"));
    }
    keys
}

/// What the request consists of, the largest first; a plan's prompt by what its sections are. What the provider counted
/// beyond our estimates is `unseen`, below 0 where it counted less.
#[inline(never)]
fn buckets(state: &Session, prompt: &Prompt<'_>, used: u64) -> Vec<Value> {
    let mut parts: Vec<Part> = list_buckets(state).into_iter().map(Part::of).collect();
    group(&mut parts, prompt, extras(state).system);
    let known: i64 = parts.iter().fold(0, |sum, part| sum.saturating_add(part.tokens));
    let beyond = signed(used).saturating_sub(known);
    match parts.iter_mut().find(|part| part.name == UNSEEN) {
        _ if beyond == 0 => {}
        Some(unseen) => {
            unseen.tokens = unseen.tokens.saturating_add(beyond);
            unseen.retained = (1, 1);
        }
        None => parts.push(Part { name: UNSEEN.into(), tokens: beyond, retained: (1, 1) }),
    }
    crate::sort::sort_by(&mut parts, |part| (part.tokens.saturating_neg(), 0));
    parts.iter().map(|part| part.shown(used)).collect()
}

/// What is sent and stands in nothing that we were shown.
const UNSEEN: &str = "unseen";

/// A part of what is sent.
struct Part {
    name: String,
    tokens: i64,
    /// What is left of it, of how much.
    retained: (u64, u64),
}

impl Part {
    fn of(bucket: Bucket) -> Self {
        let retained = (bucket.sent_tokens, bucket.tokens);
        Self { name: bucket.bucket, tokens: signed(bucket.sent_tokens), retained }
    }

    fn shown(&self, used: u64) -> Value {
        let share = percent(self.tokens.unsigned_abs(), used);
        let share = if self.tokens < 0 { Value::raw(format!("-{share}")) } else { share };
        json!({
            "bucket": self.name,
            "tokens": self.tokens,
            "sharePct": share,
            "retainedPct": percent(self.retained.0, self.retained.1)
        })
    }
}

/// Takes the system prompt apart by what its sections are (A103, A104).
fn group(parts: &mut Vec<Part>, prompt: &Prompt<'_>, system: u64) {
    let Some(at) = parts.iter().position(|part| part.name == SYSTEM) else { return };
    if prompt.sections.is_empty() {
        return;
    }
    let mut groups: Vec<Part> = Vec::new();
    let mut left = signed(system);
    for section in &prompt.sections {
        let tokens = signed(section.tokens).min(left);
        left = left.saturating_sub(tokens);
        let known = groups.iter().position(|part| part.name == section.group);
        let slot = known.unwrap_or(groups.len());
        if known.is_none() {
            groups.push(Part { name: section.group.into(), tokens: 0, retained: (0, 0) });
        }
        let Some(part) = groups.get_mut(slot) else { continue };
        part.tokens = part.tokens.saturating_add(tokens);
        part.retained.0 = part.retained.0.saturating_add(section.final_chars);
        part.retained.1 = part.retained.1.saturating_add(section.original_chars);
    }
    // The message around it, and what stands in no section.
    match groups.iter_mut().find(|part| part.name == CORE) {
        Some(core) => core.tokens = core.tokens.saturating_add(left),
        None => groups.push(Part { name: CORE.into(), tokens: left, retained: (1, 1) }),
    }
    if let Some(part) = parts.get_mut(at) {
        // What is left are the system's messages in the history.
        part.tokens = part.tokens.saturating_sub(signed(system));
        part.retained = (1, 1);
    }
    parts.retain(|part| part.name != SYSTEM || part.tokens > 0);
    parts.append(&mut groups);
}

fn signed(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

/// A share in percent, to four places; 0 of nothing.
pub(super) fn percent(part: u64, total: u64) -> Value {
    let scaled = part.saturating_mul(2_000_000).saturating_add(total);
    let rounded = scaled.checked_div(total.saturating_mul(2)).unwrap_or(0);
    let mut text = json::write(&(rounded / 10_000));
    text.push('.');
    // Four digits: the first of five is cut.
    text.push_str(
        json::write(&(rounded % 10_000).saturating_add(10_000)).get(1..).unwrap_or_default(),
    );
    Value::raw(text.trim_end_matches('0').trim_end_matches('.').into())
}
