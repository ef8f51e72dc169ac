//! Building of a request: the view as far as it is new, compared with the last one.

use std::rc::Rc;

use crate::context::compaction::compaction_outcome::{
    Outcome, compaction_outcome, fold_without_summarizer, record_compaction,
};
use crate::context::compaction::folds::last_fold;
use crate::context::compaction::memory_flush::rearm_flush;
use crate::context::report::estimate::request_options;
use crate::context::report::monitor_report::{record_request_size, record_room};
use crate::context::report::status::peak_tokens;
use crate::context::request::answer::{Answer, Difference, Event, answer_with, last_group};
use crate::context::request::bound_thinking::drop_unbound_reasoning;
use crate::context::request::builder::Builder;
use crate::context::request::cache_markers::decide_markers;
use crate::context::request::edits::{edited_messages, message_tokens, report_edits};
use crate::context::request::last_request::{Built, Entry, SentItem};
use crate::context::request::unchanged_start::{UnchangedStart, unchanged_start};
use crate::context::request::written::Written;
use crate::context::session::Session;
use crate::context::session::decisions::Decided;
use crate::context::session::end_repairs::set_end_repairs;

use crate::model::{Item, MessageId, Outline, Role, Violation, setting};
use crate::number::count;
use crate::prune::Rule;
use crate::validity::{self, Checker};

/// The messages of a request from a place on.
struct View {
    /// So many messages of the last request stand before them.
    start: usize,
    entries: Vec<Entry>,
    ends_with_filler: bool,
    /// So many of the last request say the same, and so many of these are the same messages of the host's.
    same: usize,
    shared: usize,
}

/// Builds the view, as far as it is new, and compares it with the last one.
pub(in crate::context) fn build_request(session: &mut Session) -> Answer {
    let decided = session.decisions.pending.take().unwrap_or_default();
    let mut decided = decided;
    let unreported = session.compactions.unreported.take();
    // A fold of its own goes further than the compaction that no request has told of.
    let by_itself = decided.folded;
    if by_itself {
        fold_without_summarizer(session);
    }
    let committed = unreported.filter(|_| !by_itself);
    if let Some((before, _)) = committed {
        (decided.before, decided.folded) = (before, true);
    }
    let Decided { folded, fold_due, .. } = decided;
    let parts = Some(session.request.extras.fingerprint);
    let parts_changed = session.request.last.parts.is_some() && session.request.last.parts != parts;
    let sent = session.request.last.items.len();
    let View { start, entries, ends_with_filler, same, shared } =
        build_view(session, folded, parts_changed);
    // Reasoning that a pin brought back may be all that differed.
    let opens = parts_changed || same < sent;
    let first_changed = match (parts_changed, opens) {
        (true, _) => Some(-1),
        (false, true) => i64::try_from(same).ok(),
        (false, false) => None,
    };
    session.request.last.ends_with_filler = ends_with_filler;
    let lost = match (parts_changed, opens) {
        (true, _) => session.request.last.tokens,
        (false, true) => cached_tokens_lost(session, start, &entries, same),
        (false, false) => 0,
    };
    let is_sent = !session.options.is_replayed;
    // Whole when an epoch opens; within one, the new end was mended as it came.
    session.request.last.violations = if opens && is_sent {
        check_request(session, start, &entries).violations()
    } else {
        Vec::new()
    };
    debug_assert!(
        !opens || !is_sent || session.request.last.violations == violations_sent(session),
        "a check that goes on finds other than a whole one"
    );
    session.request.last.epoch = session.request.last.epoch.saturating_add(u32::from(opens));
    let fresh = std::mem::take(&mut session.decisions.unreported);
    let edited = fresh.iter().any(|change| change.rule != Rule::Repair);
    let edits = report_edits(session, &entries, &fresh, folded);
    // A view that the host's side does not hold goes out whole: it is built anew.
    let resends_all = std::mem::take(&mut session.request.last.resend_all);
    let keep = if resends_all { 0 } else { shared };
    // A replay reads none of them as JSON.
    let new = entries.get(keep.saturating_sub(start)..).filter(|_| is_sent).unwrap_or(&[]);
    let items_before = session.request.last.items.get(keep..).filter(|_| !resends_all);
    let items = written_items(session, new, items_before.unwrap_or(&[]));
    session.monitor.work.items_written =
        session.monitor.work.items_written.saturating_add(items.len() as u64);
    let before = session.request.last.tokens;
    let before_end = if opens { same } else { sent };
    remember_request(session, start, &entries, parts, fold_due);
    record_request_size(session, folded);
    rearm_flush(session);
    mark_breakpoints(session, before_end);
    let outcome = compaction_outcome(session, decided, &fresh, committed.map(|(_, after)| after));
    if let Some(outcome) = outcome.as_ref().filter(|_| by_itself) {
        record_compaction(session, outcome.tokens_before, outcome.tokens_after);
    }
    if let Some(Outcome { status, tokens_before, tokens_after, .. }) = outcome {
        record_room(session, status, tokens_before, tokens_after);
    }
    let difference = Difference {
        keep: count(keep),
        before,
        lost,
        first_changed,
        event: match (folded, edited) {
            (true, _) => Some(Event::Fold),
            (false, true) => Some(Event::Edit),
            (false, false) => None,
        },
        outcome,
        fold: folded.then(|| last_fold(session)),
    };
    session.request.last.built = (!is_sent).then_some(Built { start, entries, changes: fresh });
    answer_with(session, items, edits, difference)
}

/// Builds what may differ from the last request; all of it after a fold, or if the parts have changed.
fn build_view(session: &mut Session, folded: bool, parts_changed: bool) -> View {
    let marked = decide_markers(session);
    let unchanged = if folded || parts_changed { None } else { unchanged_start(session, marked) };
    let is_edited = unchanged.is_some_and(|it| it.is_edited);
    let mut view = view_from(session, unchanged);
    let sent = session.request.last.items.len();
    // Reasoning after a change is refused (I12). Without it other messages differ, so they are built once more.
    let changes = parts_changed || view.same < sent;
    let after = if parts_changed { 0 } else { view.same.saturating_sub(view.start) };
    if changes && drop_unbound_reasoning(session, &view.entries, after) {
        view = view_from(session, unchanged.filter(|_| view.start > 0));
    }
    debug_assert!(
        !(is_edited || changes) || is_view_of_all(session, &view),
        "a message changes without a decision"
    );
    // A message whose cache marker has moved counts as the same.
    let checked = if marked.is_some() { view.start.min(view.shared) } else { view.shared };
    session.request.last.checks.keep(checked);
    view
}

/// The view from the unchanged start on. All of it if there is none, or if the first message after it joins the one before.
fn view_from(session: &Session, unchanged: Option<UnchangedStart>) -> View {
    let (start, (entries, ends_with_filler)) = unchanged
        .and_then(|it| Some((it.messages, entries_from(session, it.next, it.speaker)?)))
        .or_else(|| Some((0, all_entries(session)?)))
        .unwrap_or_default();
    let same = common_prefix(session, start, &entries);
    let shared = shared_messages(session, start, &entries);
    View { start, entries, ends_with_filler, same, shared }
}

/// Whether a view that goes on after a start is what a view of all messages would be.
fn is_view_of_all(session: &Session, view: &View) -> bool {
    let all = all_entries(session).unwrap_or_default().0;
    let items = session.request.last.items.iter().take(view.start).copied();
    items.chain(view.entries.iter().map(Entry::sent)).eq(all.iter().map(Entry::sent))
}

/// Writes entries for the facade. Most entries after the first change equal those of the last request at the same places: the facade
/// has these messages, so they are only counted.
fn written_items(session: &Session, entries: &[Entry], last: &[SentItem]) -> Vec<Written> {
    let mut items: Vec<Written> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        if last.get(at) != Some(&entry.sent()) {
            items.push(Builder::new(session).write(&entry.item, entry.about));
        } else if let Some(Written::Same(messages)) = items.last_mut() {
            *messages = messages.saturating_add(1);
        } else {
            items.push(Written::Same(1));
        }
    }
    items
}

/// The last request once more, whole. `entries`: its messages, if they were just built.
pub(in crate::context) fn resend(session: &Session, entries: Option<Vec<Entry>>) -> Answer {
    let all = || all_entries(session).unwrap_or_default().0;
    debug_assert!(
        entries
            .as_ref()
            .is_none_or(|it| it.iter().map(Entry::sent).eq(all().iter().map(Entry::sent))),
        "what was restored is not what goes out"
    );
    let entries = entries.unwrap_or_else(all);
    let items =
        entries.iter().map(|entry| Builder::new(session).write(&entry.item, entry.about)).collect();
    answer_with(
        session,
        items,
        Vec::new(),
        Difference { before: session.request.last.tokens, ..Difference::default() },
    )
}

/// Builds what the last request sent of the messages that have come, and knows it as sent. Returns its entries.
pub(in crate::context) fn rebuild_last_view(
    session: &mut Session,
    is_complete: bool,
) -> Vec<Entry> {
    decide_markers(session);
    session.decisions.unreported.clear();
    // How a history that goes on will end is not known, so nothing is repaired for its end. Calls before it have no result either way.
    let end = if is_complete { MessageId::NONE } else { last_group(session) };
    let mut ending = session.repairs.finish();
    ending.retain(|fix| fix.index < end);
    set_end_repairs(session, ending);
    let (mut entries, ends_with_filler) = all_entries(session).unwrap_or_default();
    // What else was in a message that we made at the end, or whether it was there at all, is not known.
    let is_ours =
        |entry: &mut Entry| !is_complete && !matches!(entry.item, Item::Keep(_) | Item::Edit(..));
    while entries.pop_if(is_ours).is_some() {}
    if !is_complete && session.transcript.dialect.provider.takes_turns() {
        entries.pop();
    }
    for (index, _, key) in edited_messages(session, &entries) {
        session.request.last.reported_edits.insert(index, key);
    }
    session.request.last.ends_with_filler = ends_with_filler;
    remember_request(
        session,
        0,
        &entries,
        session.request.last.parts,
        session.request.last.fold_due,
    );
    entries
}

/// All messages, and whether a line of ours had to end them.
fn all_entries(session: &Session) -> Option<(Vec<Entry>, bool)> {
    entries_from(session, MessageId::FIRST, None)
}

/// The same from a message on. None: the first of them belongs into the one before it, in which `before` speaks.
pub(in crate::context) fn entries_from(
    session: &Session,
    from: MessageId,
    before: Option<Role>,
) -> Option<(Vec<Entry>, bool)> {
    if session.options.noop {
        return Some((entries_as_passed(session, from), false));
    }
    let mut entries = Builder::new(session).build(from);
    let ends_with_filler = Builder::new(session).trail(&mut entries, from == MessageId::FIRST);
    Some((Builder::new(session).take_turns(entries, before)?, ends_with_filler))
}

/// The host's messages from one of them on, as they were passed.
#[inline(never)]
fn entries_as_passed(session: &Session, from: MessageId) -> Vec<Entry> {
    let kept = from.to(session.transcript.ledger.next_message());
    kept.map(|at| Builder::new(session).entry(Item::Keep(at), at)).collect()
}

/// Where a cache marker pays: after the head of a fold, after what this request shares with the last one, and at its end;
/// the last of them where the host's own, in system and tools, leave no room for more (I13).
fn mark_breakpoints(session: &mut Session, shared: usize) {
    session.request.last.breakpoints.clear();
    let most = session.transcript.dialect.provider.most_markers();
    if most == 0 {
        return;
    }
    let items = &session.request.last.items;
    let ours = |it: &SentItem| it.source.is_none();
    // Without a fold no message is looked at.
    let head = session.decisions.pruner.head.as_ref().and_then(|_| items.iter().position(ours));
    // A message without content has no place for a marker, and a reminder for one turn is not in the cache.
    let settles = |it: &SentItem| {
        let outline = session.transcript.outline(it.source);
        !matches!(outline.and_then(Outline::setting), Some(setting::SILENT | setting::TURN))
    };
    let ends = [shared, items.len()];
    let ends = ends.map(|end| items.get(..end).and_then(|it| it.iter().rposition(settles)));
    for at in head.into_iter().chain(ends.into_iter().flatten()) {
        let at = count(at);
        if session.request.last.breakpoints.last().is_none_or(|&last| last < at) {
            session.request.last.breakpoints.push(at);
        }
    }
    let room = most.saturating_sub(session.request.extras.marks) as usize;
    while session.request.last.breakpoints.len() > room {
        session.request.last.breakpoints.remove(0);
    }
}

/// Tokens of the last request after what this one shares with it.
#[inline(never)]
fn cached_tokens_lost(session: &Session, start: usize, entries: &[Entry], same: usize) -> u64 {
    let before = session.request.last.items.iter().take(start).map(|item| item.source);
    let all = before.chain(entries.iter().map(|entry| entry.source));
    let shared = all.take(same).map(|source| message_tokens(session, source)).sum();
    session
        .request
        .last
        .tokens
        .saturating_sub(shared)
        .saturating_sub(session.request.extras.total())
}

/// Keeps what the next request is compared with: what was sent before `from`, and these.
fn remember_request(
    session: &mut Session,
    from: usize,
    entries: &[Entry],
    parts: Option<u64>,
    fold_due: bool,
) {
    session.request.last.items.truncate(from);
    if from == 0 {
        session.request.last.made_tokens = 0;
    }
    let made = Builder::new(session).made_tokens(entries);
    session.request.last.items.extend(entries.iter().map(Entry::sent));
    session.request.last.made_tokens = session.request.last.made_tokens.saturating_add(made);
    session.request.last.speaker =
        Builder::new(session).last_speaker(entries).or(session.request.last.speaker);
    session.request.last.parts = parts;
    session.request.last.extras_tokens = session.request.extras.total();
    session.request.last.upto = session.transcript.ledger.next_message();
    session.request.last.ending.clone_from(&session.decisions.end_fixes);
    session.request.last.rebuild = false;
    session.request.last.open = session.repairs.repairer.is_prefix();
    session.request.last.settled = true;
    session.request.last.fold_due = fold_due;
    session.request.last.previous_tokens = session.request.last.tokens;
    session.request.last.peak = peak_tokens(session);
    session.request.last.tokens =
        session.decisions.pruner.context(&session.transcript.ledger, &session.setting());
}

/// How many messages of the last request stand at the start of this one, from the same places in the history.
fn shared_messages(session: &Session, start: usize, entries: &[Entry]) -> usize {
    let items = session.request.last.items.iter().skip(start).zip(entries);
    start.saturating_add(items.take_while(|(old, new)| **old == new.sent()).count())
}

/// How many say there what the last request said, whichever of the host's messages they are.
fn common_prefix(session: &Session, start: usize, entries: &[Entry]) -> usize {
    let written = |at: MessageId| session.transcript.ledger.message(at).map(|it| it.written);
    let is_alike = |(old, new): &(&SentItem, &Entry)| {
        let from = [old.source, new.source];
        let [one, other] = from.map(written);
        old.key == new.key
            && old.ids == new.ids
            && (old.source == new.source || (one.is_some() && one == other))
    };
    let items = session.request.last.items.iter().skip(start).zip(entries);
    start.saturating_add(items.take_while(is_alike).count())
}

/// Rules of the provider that the last request breaks; none, unless the host's history is beyond repair.
pub(in crate::context) fn violations_sent(session: &Session) -> Vec<Violation> {
    check_outgoing(session, &all_entries(session).unwrap_or_default().0)
}

/// The one validator over a request of which these are the messages from `start` on. It goes on from the last state that an earlier
/// check kept before the first difference.
#[inline(never)]
pub(in crate::context) fn check_request(
    session: &mut Session,
    start: usize,
    entries: &[Entry],
) -> Rc<Checker> {
    let mut checks = std::mem::take(&mut session.request.last.checks);
    let rules = (session.transcript.dialect.provider, request_options(session, false));
    let (mut messages, mut checker) = checks.take(rules, start);
    let anew: Vec<Entry>;
    let new = if let Some(seen) = messages.checked_sub(start) {
        entries.get(seen..)
    } else {
        anew = all_entries(session).unwrap_or_default().0;
        Some(&*anew)
    };
    let new = new.unwrap_or_default();
    let all = messages.saturating_add(new.len());
    for outline in Builder::new(session).outgoing(new) {
        checks.note(messages, &checker, all);
        checker.push(&outline);
        messages = messages.saturating_add(1);
    }
    let checker = checks.end(messages, checker);
    session.request.last.checks = checks;
    checker
}

/// The one validator, over all that goes out.
pub(in crate::context) fn check_outgoing(session: &Session, entries: &[Entry]) -> Vec<Violation> {
    let builder = Builder::new(session);
    let outgoing = builder.outgoing(entries);
    let outlines = outgoing.iter().map(|outline| &**outline);
    validity::check(outlines, session.transcript.dialect.provider, request_options(session, false))
}
