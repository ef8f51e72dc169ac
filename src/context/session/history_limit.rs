//! History limit: the last turns of a history, or its share of a window, before anything else is decided.

use crate::argument::OptionsReader;
use crate::context::session::Session;
use crate::error::{Error, Result};
use crate::json::{self, RawValue};
use crate::model::{MessageId, Role};
use crate::prune::oldest_chunk;

json::json_struct! {
    /// A history cut down to its share of a window.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Shared {
        /// Messages that stay, as [from, to).
        pub kept: Vec<(MessageId, MessageId)>,
        /// Chunks that were dropped.
        pub dropped_chunks: u32,
        /// Messages in them.
        pub dropped_messages: u32,
        /// Their tokens.
        pub dropped_tokens: u64,
        /// Tokens of what stays.
        pub kept_tokens: u64,
        /// Tokens that it may have.
        pub budget_tokens: u64,
    }
}

/// Messages of the last `turns` turns, as [from, to): from the n-th last request of the user on (G21); the system's text
/// before it stays, and so does a group whole.
pub fn last_turns(session: &Session, turns: u32) -> Vec<(MessageId, MessageId)> {
    let newest = session.transcript.ledger.messages.last().map_or(0, |message| message.turn);
    let wanted = newest.saturating_add(1).saturating_sub(turns);
    let from =
        if turns == 0 { MessageId::FIRST } else { session.transcript.ledger.turn_start(wanted) };
    kept_from(session, session.transcript.ledger.cut_at_or_before(from))
}

/// Drops the oldest of `parts` chunks of equal tokens until the history has at most its share (G20). `json`:
/// `{"maxContextTokens", "maxHistoryShare", "parts"}`, by default half and 2.
///
/// # Errors
/// `InvalidArgument` names the option.
pub fn share_turns(session: &Session, json: &str) -> Result<Shared> {
    let options = OptionsReader::read(json)?;
    options.refuse_others(&["maxContextTokens", "maxHistoryShare", "parts"], &[]);
    let most = options.required("maxContextTokens", 0, u32::MAX.into(), "a number of tokens");
    let share = options.amount("maxHistoryShare", 4, 1).unwrap_or(5000);
    let parts = options.amount("parts", 0, u32::MAX.into()).unwrap_or(2);
    let most = options.checked(Ok(most))?;
    let parts = u32::try_from(parts).unwrap_or(u32::MAX);
    let budget = (most.saturating_mul(share) / 10_000).max(1);
    let (start, end) = (after_system(session), session.transcript.ledger.next_message());
    let after = |at: MessageId| {
        session.transcript.ledger.tokens_from(session.transcript.ledger.blocks_of(at).start)
    };
    let (mut from, mut chunks) = (start, 0u32);
    while after(from) > budget
        && let Some(next) = oldest_chunk(&session.transcript.ledger, from, end, parts)
    {
        (from, chunks) = (next, chunks.saturating_add(1));
    }
    Ok(Shared {
        kept: kept_from(session, from),
        dropped_chunks: chunks,
        dropped_messages: from.since(start),
        dropped_tokens: after(start).saturating_sub(after(from)),
        kept_tokens: after(from),
        budget_tokens: budget,
    })
}

/// First message that is not the system's.
fn after_system(session: &Session) -> MessageId {
    let system = |at: &MessageId| {
        session.transcript.ledger.message(*at).is_some_and(|it| it.role == Role::System)
    };
    let messages = MessageId::FIRST.to(session.transcript.ledger.next_message());
    messages.take_while(system).last().map_or(MessageId::FIRST, MessageId::next)
}

fn kept_from(session: &Session, from: MessageId) -> Vec<(MessageId, MessageId)> {
    let (system, end) = (after_system(session).min(from), session.transcript.ledger.next_message());
    [(MessageId::FIRST, system), (from, end)].into_iter().filter(|(from, to)| from < to).collect()
}

/// How many turns a session keeps, by its key and the settings of the channels (G22): `{"sessionKey", "channels"}`.
///
/// `agent:<id>:<provider>:dm:<user>`, with or without the agent and a `:thread:<n>` or `:topic:<n>` after the user. For a
/// direct message the user's own `dms.<user>.historyLimit` holds before the provider's `dmHistoryLimit`; the provider's
/// `historyTurns` is for whatever has neither.
///
/// # Errors
/// `InvalidArgument` for what is no key or no number of turns.
pub fn history_limit(json: &str) -> Result<Option<u32>> {
    let options = OptionsReader::read(json)?;
    let key = options.checked(Ok(options.text("sessionKey")))?.unwrap_or_default();
    let mut parts: Vec<&str> = key.split(':').filter(|part| !part.is_empty()).collect();
    if parts.len() >= 3 && parts.first() == Some(&"agent") {
        parts.drain(..2);
    }
    let mut parts = parts.into_iter();
    let (provider, kind) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let rest: Vec<&str> = parts.collect();
    let user = without_thread(&rest).join(":");
    let channel = member(options.get("channels"), provider)?;
    let limit = |of: Option<&RawValue>, name: &str| -> Result<Option<u32>> {
        let Some(value) = member(of, name)? else { return Ok(None) };
        let expected = "a whole number of turns";
        value.parse().map(Some).map_err(|_| Error::argument(name, expected, value))
    };
    if matches!(kind, "dm" | "direct") {
        let own = limit(member(member(channel, "dms")?, &user)?, "historyLimit")?;
        let turns = own.or(limit(channel, "dmHistoryLimit")?);
        if turns.is_some() {
            return Ok(turns);
        }
    }
    limit(channel, "historyTurns")
}

/// The parts of a user's id without the thread that it may end with.
fn without_thread<'a, 'k>(parts: &'a [&'k str]) -> &'a [&'k str] {
    let Some((before, [word, number])) = parts.split_last_chunk::<2>() else { return parts };
    let is_thread = ["thread", "topic"].iter().any(|it| word.eq_ignore_ascii_case(it));
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    if is_thread && is_number { before } else { parts }
}

/// A member of an object; none if either is not there.
fn member<'a>(object: Option<&'a RawValue>, name: &str) -> Result<Option<&'a RawValue>> {
    let Some(object) = object else { return Ok(None) };
    let members = json::members(object)
        .map_err(|_| Error::argument("channels", "objects by name", object))?;
    let found = members.into_iter().rev().find(|(key, _)| key == name);
    Ok(found.map(|(_, value)| value).filter(|value| *value != "null"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G22, D14: keys, and what holds for them.
    /// Row G22.
    #[test]
    fn a_session_key_names_how_many_turns_are_kept() {
        let channels = r#"{"telegram":{"dmHistoryLimit":20,"historyTurns":50,"dms":{"123":{"historyLimit":5},"a:b":{"historyLimit":0}}},
            "slack":{"historyTurns":40},"discord":{"dmHistoryLimit":7}}"#;
        for (key, limit) in [
            ("telegram:dm:123", Some(5)),
            ("agent:main:telegram:dm:123", Some(5)),
            ("agent:main:telegram:dm:123:thread:9", Some(5)),
            ("agent:main:telegram:dm:123:Topic:42", Some(5)),
            ("agent:main:telegram:dm:123:topic:x", Some(20)),
            ("telegram:dm:a:b", Some(0)),
            ("telegram:dm:999", Some(20)),
            ("::telegram::dm:999", Some(20)),
            ("telegram:group:123", Some(50)),
            ("slack:dm:123", Some(40)),
            ("slack:channel:c", Some(40)),
            ("discord:group:1", None),
            ("agent:dm", None),
            ("agent:telegram", None),
            ("whatsapp:dm:1", None),
            ("", None),
        ] {
            let options = format!(r#"{{"sessionKey":"{key}","channels":{channels}}}"#);
            assert_eq!(history_limit(&options).unwrap(), limit, "{key}");
        }
        let bad = r#"{"sessionKey":"slack:dm:1","channels":{"slack":{"historyTurns":"many"}}}"#;
        let error = history_limit(bad).unwrap_err().to_string();
        assert_eq!(error, "historyTurns: expected a whole number of turns, got \"many\"");
        assert!(history_limit(r#"{"sessionKey":"slack:dm:1","channels":[]}"#).is_err());
    }
}
