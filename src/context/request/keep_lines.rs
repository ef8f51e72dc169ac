//! Lines of a session's results: asked for where a fold or a stub keeps them, and written when their texts have come.

use crate::context::request::lines::{
    Awaited, OF_STUB, cost_of_line, entry_of, ids_in, push_plain, quoted,
};
use crate::context::request::shorten::piece_of;
use crate::context::session::Session;
use crate::identifiers::Identifiers;
use crate::model::{BlockId, Form, MessageId, Part};
use crate::prune::stub_line_identifiers;
use crate::sort::{sort_by, sort_set};
use crate::text::{identifier_lines, redact};

/// The messages of results whose lines a head waits for.
pub(in crate::context) fn messages_of_lines(session: &Session) -> Vec<MessageId> {
    let mut messages = Vec::new();
    for (at, _) in session.decisions.placeholders.awaited.iter().flat_map(|it| &it.sources) {
        // What a pin has brought back is sent.
        let block = session.transcript.ledger.block(*at).filter(|it| it.form == Form::Gone);
        messages.extend(block.map(|it| it.message));
    }
    messages
}

/// The text has come of which a stub keeps lines, so many tokens at most; where none fits, its names stay. Its tokens.
#[inline(never)]
pub(in crate::context) fn line_stub(
    session: &mut Session,
    at: BlockId,
    part: &Part<'_>,
    room: u32,
) -> u32 {
    let ledger = &session.transcript.ledger;
    let placeholders = &mut session.decisions.placeholders;
    let Some(it) = ledger.block(at) else { return 0 };
    let estimator = placeholders.estimator;
    let ids = stub_line_identifiers(ledger, at);
    let found = first_lines(&part.text, ids.clone(), &ledger.identifiers);
    let mut chosen: Vec<&str> = Vec::new();
    let mut left = room;
    for line in ids.into_iter().filter_map(|id| entry_of(&found, id)) {
        let cost = cost_of_line(line, &|text| estimator.tokens(text));
        if cost <= left && !chosen.contains(&line) {
            left = left.saturating_sub(cost);
            chosen.push(line);
        }
    }
    let lines = [&*placeholders.opening(it, at), OF_STUB, &chosen.concat(), "]"].concat();
    let now = placeholders.cost(it, at, &lines);
    if !chosen.is_empty() && now <= placeholders.most_of_lines(it, at, room) {
        placeholders.put(at, &lines);
        return now;
    }
    let names = placeholders.text.get(&at).map_or("", |names| names);
    placeholders.cost(it, at, names)
}

/// The text of a result has come, or will not: a head that waits for its lines takes them.
#[inline(never)]
pub(in crate::context) fn take_lines(session: &mut Session, at: BlockId, part: Option<&Part<'_>>) {
    let ledger = &session.transcript.ledger;
    let call = ledger.block(at).map_or(BlockId::NONE, |it| it.pair);
    let mut label = String::from("[");
    push_plain(piece_of(session, call).map_or("tool", |piece| &piece.name), &mut label);
    let Some(awaited) = &mut session.decisions.placeholders.awaited else { return };
    let Some(place) = awaited.sources.iter().position(|it| it.0 == at) else { return };
    let (_, about) = awaited.sources.swap_remove(place);
    let Some(part) = part else { return };
    label.push(']');
    push_plain(&about, &mut label);
    label.push('\n');
    let known = &ledger.identifiers;
    let is_its = |id: &u32| known.get(*id).is_some_and(|it| it.source == at);
    let ids = awaited.used.iter().copied().filter(is_its).collect();
    for (id, line) in first_lines(&part.text, ids, known) {
        awaited.found.push((id, [&*label, &*line].concat()));
    }
}

/// All that a head waited for has come: it is written again with lines, in the room that was set aside for them.
pub(in crate::context) fn write_lines_of_head(session: &mut Session) {
    if let Some(awaited) = session.decisions.placeholders.awaited.take() {
        write_head(session, awaited);
    }
}

#[inline(never)]
fn write_head(session: &mut Session, awaited: Awaited) {
    let setting = session.deciding(session.decisions.usable);
    let Session { transcript, decisions, .. } = session;
    let (ledger, placeholders) = (&transcript.ledger, &mut decisions.placeholders);
    let Some(mut head) = decisions.pruner.head.take() else { return };
    let estimator = placeholders.estimator;
    let mut entries = awaited.chosen(ledger, &|text| estimator.tokens(text));
    let most = head.tokens;
    loop {
        let ids = ids_in(&entries, &ledger.identifiers);
        head.digest = decisions.pruner.digest(ledger, &setting, transcript.call, &ids);
        head.tokens = placeholders.put_head(ledger, &head.digest, &entries, head.summary);
        // The digest has other names than it was measured with.
        if head.tokens <= most || entries.pop().is_none() {
            break;
        }
    }
    decisions.pruner.head = Some(head);
}

/// The quoted lines in which these identifiers first stand, in the order of their numbers, secrets taken out.
#[inline(never)]
fn first_lines(text: &str, mut wanted: Vec<u32>, known: &Identifiers) -> Vec<(u32, String)> {
    let safe = |text: &str| if known.keeps_secrets { text.to_owned() } else { redact(text) };
    // A secret may be one by what stands on other lines, and by what a line no longer holds once it is quoted.
    let text = safe(text);
    sort_set(&mut wanted);
    let mut found = Vec::new();
    let mut first = |word: &str| {
        let id = known.find(word)?;
        wanted.remove(wanted.binary_search(&id).ok()?);
        Some(id)
    };
    identifier_lines(&text, &mut first, &mut |id, quote| found.push((id, safe(&quoted(quote)))));
    sort_by(&mut found, |(id, _)| (i64::from(*id), 0));
    found
}
