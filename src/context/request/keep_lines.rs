//! Choice of the lines that stay of results: for a stub within its share of its block, for a head in the order of its digest.

use crate::context::request::lines::{
    Awaited, LEAST_LABEL, LINES, Line, MARK, ids_in, on_one_line, quoted,
};
use crate::context::request::placeholders::OF_STUB;
use crate::context::request::shorten::about_call;
use crate::context::session::Session;
use crate::identifiers::Identifiers;
use crate::ledger::Ledger;
use crate::model::{BlockId, Form, MessageId, Part};
use crate::prune::{Writer, stub_line_identifiers};
use crate::sort::{sort_by, sort_set};
use crate::text::{identifier_lines, identifiers, redact};

/// The messages of results whose lines a head waits for.
pub(in crate::context) fn messages_of_lines(session: &Session) -> Vec<MessageId> {
    let awaited = session.decisions.placeholders.lines.awaited.iter();
    let sources = awaited.flat_map(|it| &it.sources);
    let blocks = sources.filter_map(|(at, _)| session.transcript.ledger.block(*at));
    // What a pin has brought back is sent.
    blocks.filter(|block| block.form == Form::Gone).map(|block| block.message).collect()
}

/// The text has come of which a stub keeps lines, so many tokens at most; where none fits, its names stay. Its tokens.
pub(in crate::context) fn line_stub(
    session: &mut Session,
    at: BlockId,
    part: &Part<'_>,
    room: u32,
) -> u32 {
    let ledger = &session.transcript.ledger;
    let placeholders = &mut session.decisions.placeholders;
    let Some(it) = ledger.block(at) else { return 0 };
    let ids = stub_line_identifiers(ledger, at);
    let found = first_lines(&part.text, ids.clone(), &ledger.identifiers);
    let (mut chosen, mut left) = (Vec::<Line>::new(), room);
    for line in ids.iter().filter_map(|id| line_of(&found, *id)) {
        let cost = line.cost(|text| placeholders.estimator.tokens(text));
        if !chosen.contains(line) && cost <= left {
            left = left.saturating_sub(cost);
            chosen.push(line.clone());
        }
    }
    let most = placeholders.most_of_lines(it, at, room);
    while !chosen.is_empty() {
        let mut text = placeholders.opening(it, at);
        text.push_str(OF_STUB);
        for line in &chosen {
            text.push_str(MARK);
            text.push_str(&line.text);
            text.push('\n');
        }
        text.push(']');
        let now = placeholders.cost(it, at, &text);
        if now <= most {
            placeholders.put(at, text);
            return now;
        }
        chosen.pop();
    }
    let names = placeholders.text.get(&at).map_or("", String::as_str);
    placeholders.cost(it, at, names)
}

/// The text of a result has come, or will not: a head that waits for its lines takes them.
pub(in crate::context) fn take_lines(session: &mut Session, at: BlockId, part: Option<&Part<'_>>) {
    let lines = &mut session.decisions.placeholders.lines;
    let Some(awaited) = &mut lines.awaited else { return };
    let Some(place) = awaited.sources.iter().position(|(source, _)| *source == at) else { return };
    let (_, call_ids) = awaited.sources.swap_remove(place);
    let ids = awaited.used.iter().filter(|(_, source)| *source == at).map(|(id, _)| *id).collect();
    let ledger = &session.transcript.ledger;
    let Some(part) = part else { return };
    let mut found = first_lines(&part.text, ids, &ledger.identifiers);
    let call = ledger.block(at).map_or(BlockId::NONE, |it| it.pair);
    let label = on_one_line(&about_call(session, call, None, &call_ids).line);
    for (_, line) in &mut found {
        line.label.clone_from(&label);
    }
    if let Some(awaited) = &mut session.decisions.placeholders.lines.awaited {
        awaited.found.extend(found);
    }
}

/// All that a head waited for has come: it is written again with lines, in the room that was set aside for them.
pub(in crate::context) fn write_lines_of_head(session: &mut Session) {
    let setting = session.deciding(session.decisions.usable);
    let Session { transcript, decisions, .. } = session;
    let (ledger, placeholders) = (&transcript.ledger, &mut decisions.placeholders);
    let Some(awaited) = placeholders.lines.awaited.take() else { return };
    let Some(mut head) = decisions.pruner.head.take() else { return };
    let estimator = placeholders.estimator;
    let mut lines = chosen(awaited, ledger, |text| estimator.tokens(text));
    let most = head.tokens;
    loop {
        placeholders.lines.ids = ids_in(&lines, &ledger.identifiers);
        placeholders.lines.head.clone_from(&lines);
        let (digest, digest_tokens) = decisions.pruner.digest_without(
            ledger,
            &setting,
            transcript.call,
            &placeholders.lines.ids,
        );
        head.tokens = placeholders.head(ledger, &digest, digest_tokens, head.summary);
        head.digest = digest;
        // The digest has other names than it was measured with.
        if head.tokens <= most || lines.pop().is_none() {
            break;
        }
    }
    decisions.pruner.head = Some(head);
}

/// Lines in the order of their identifiers, each once, as far as they fit.
fn chosen(awaited: Awaited, ledger: &Ledger, measure: impl Fn(&str) -> u32) -> Vec<Line> {
    let Awaited { used, mut found, before, room, .. } = awaited;
    for line in before {
        identifiers(&line.text, &mut |word, _| {
            found.extend(ledger.identifiers.find(word).map(|id| (id, line.clone())));
        });
    }
    // Of those of one identifier the newest is first.
    sort_by(&mut found, |(id, _)| (i64::from(*id), 0));
    let mut chosen: Vec<Line> = Vec::new();
    let mut left = room.saturating_sub(measure(LINES));
    for (id, source) in used {
        let is_sent = ledger.block(source).is_some_and(|it| it.form != Form::Gone);
        let Some(line) = line_of(&found, id).filter(|_| !is_sent) else { continue };
        let is_new = !chosen.iter().any(|it| it.label == line.label);
        let label =
            if is_new { measure(&line.label).saturating_add(1).max(LEAST_LABEL) } else { 0 };
        let cost = line.cost(&measure).saturating_add(label);
        if cost <= left && !chosen.iter().any(|it| it.text == line.text) {
            left = left.saturating_sub(cost);
            chosen.push(line.clone());
        }
    }
    chosen
}

/// The line of an identifier, where they are in the order of these.
fn line_of(found: &[(u32, Line)], id: u32) -> Option<&Line> {
    let at = found.partition_point(|(known, _)| *known < id);
    found.get(at).filter(|(known, _)| *known == id).map(|(_, line)| line)
}

/// The lines in which these identifiers first stand, in the order of their numbers, secrets taken out.
fn first_lines(text: &str, mut wanted: Vec<u32>, known: &Identifiers) -> Vec<(u32, Line)> {
    let safe = |text: &str| if known.keeps_secrets { text.to_owned() } else { redact(text) };
    // A secret may be one by what stands on other lines, and by what a cleaned line does not hold.
    let text = safe(text);
    sort_set(&mut wanted);
    let mut found = Vec::new();
    let mut first = |word: &str| {
        let id = known.find(word)?;
        let place = wanted.binary_search(&id).ok()?;
        wanted.remove(place);
        Some(id)
    };
    identifier_lines(&text, &mut first, &mut |id, quote| {
        found.push((id, Line { label: String::new(), text: safe(&quoted(quote)) }));
    });
    sort_by(&mut found, |(id, _)| (i64::from(*id), 0));
    found
}
