//! Edits that a request reports.

use std::borrow::Cow;

use litemap::LiteMap;

use crate::context::request::builder::Builder;
use crate::context::request::last_request::Entry;
use crate::context::request::recall::reference;
use crate::context::session::Session;
use crate::format::is_marker;
use crate::hash::fnv;
use crate::json;
use crate::model::{BlockId, Form, Item, MessageId, Op};
use crate::prune::{Change, Rule};
use crate::sort::{sort_by, sort_set};

json::json_struct! {
    /// Change to one message of your history, new in this request.
    #[derive(Clone, Debug, PartialEq)]
    #[cfg_attr(test, derive(ts_rs::TS), ts(rename_all = "camelCase"))]
    pub struct Edit {
        /// Index of the message in your history.
        pub index: u32,
        /// All operations on the message; empty if it is no longer sent.
        pub ops: Vec<Op>,
        /// Name of the rule that changed it.
        pub rule: &'static str,
        /// Tokens of the message before this edit.
        pub tokens_before: u64,
        /// Tokens of the message after it.
        pub tokens_after: u64,
        /// Reference for `recall`, which returns the original text of its first shortened block.
        #[cfg_attr(test, ts(rename = "ref", optional))]
        pub reference: Option<String> as "ref?",
    }
}

/// Messages that are now edited otherwise, or gone without a fold (then with no operation), each with the rule of its
/// first change, or hard-fit if that took more of it.
pub(in crate::context) fn report_edits(
    session: &mut Session,
    entries: &[Entry],
    fresh: &[Change],
    folded: bool,
) -> Vec<Edit> {
    let mut by_message =
        if fresh.is_empty() { LiteMap::new() } else { saved_by_message(session, fresh) };
    let mut edits = Vec::new();
    for (index, ops, key) in edited_messages(session, entries) {
        let known = session.request.last.reported_edits.insert(index, key) == Some(key);
        let moved = folded.then_some((Rule::Fold, 0));
        let change = by_message.remove(&index).or(moved).filter(|_| !known);
        if let Some((rule, saved)) = change.filter(|(rule, _)| *rule != Rule::Repair) {
            edits.push(report_edit(session, index, ops.into_owned(), rule, saved));
        }
    }
    if !by_message.is_empty() {
        report_unsent(session, entries, by_message, &mut edits);
    }
    edits
}

/// For each changed message the rule that is reported, and the tokens saved.
#[inline(never)]
fn saved_by_message(session: &Session, fresh: &[Change]) -> LiteMap<MessageId, (Rule, u64)> {
    let mut by_block: LiteMap<BlockId, (Rule, u64)> = LiteMap::new();
    let mut changes: Vec<&Change> = fresh.iter().collect();
    // In order, each goes to the end of the map: its start is not moved every time.
    sort_by(&mut changes, |change| (change.block.into(), 0));
    for change in changes {
        let first = by_block.entry(change.block).or_insert((change.rule, change.before.into()));
        if change.rule == Rule::HardFit {
            first.0 = Rule::HardFit;
        }
    }
    let mut by_message: LiteMap<MessageId, (Rule, u64)> = LiteMap::new();
    for (at, (rule, before)) in by_block {
        let Some(block) = session.transcript.ledger.block(at) else { continue };
        let entry = by_message.entry(block.message).or_insert((rule, 0));
        // A repair is reported as one: what else happened to the message is its edit.
        if entry.0 == Rule::Repair {
            entry.0 = rule;
        }
        entry.1 = entry.1.saturating_add(before.saturating_sub(block.now.into()));
    }
    by_message
}

/// Reports changed messages that are not sent.
#[inline(never)]
fn report_unsent(
    session: &Session,
    entries: &[Entry],
    changed: LiteMap<MessageId, (Rule, u64)>,
    edits: &mut Vec<Edit>,
) {
    let mut sent: Vec<MessageId> = entries.iter().flat_map(|entry| entry.item.hosts()).collect();
    sort_set(&mut sent);
    for (index, (rule, saved)) in changed {
        if !matches!(rule, Rule::Fold | Rule::Repair) && sent.binary_search(&index).is_err() {
            edits.push(report_edit(session, index, Vec::new(), rule, saved));
        }
    }
}

/// What is done with the host's messages in these entries, each with a key that tells one edit from another.
pub(in crate::context) fn edited_messages<'e>(
    session: &Session,
    entries: &'e [Entry],
) -> Vec<(MessageId, Cow<'e, [Op]>, u64)> {
    let mut edited = Vec::new();
    for entry in entries {
        match &entry.item {
            Item::Edit(index, ops) if !ops.iter().all(is_marker) => {
                edited.push((*index, ops.into(), entry.key));
            }
            Item::Edit(..) | Item::Keep(_) | Item::Make(_) | Item::Filler(_) => {}
            Item::Join(..) => {
                let of = |index: MessageId| {
                    let (ops, key) = edit_of_joined(session, index)?;
                    Some((index, ops.into(), key))
                };
                edited.extend(entry.item.hosts().filter_map(of));
            }
        }
    }
    edited
}

/// The edit of a host's message that is sent inside another message, and its key; `None` if nothing changes.
#[inline(never)]
fn edit_of_joined(session: &Session, index: MessageId) -> Option<(Vec<Op>, u64)> {
    let outline = session.transcript.outline(index)?;
    let changes = Builder::new(session).changes(index, outline);
    let ops = session.transcript.dialect.format.edit(outline, &changes);
    let changes_made: Vec<&Op> = ops.iter().filter(|op| !is_marker(op)).collect();
    let key = fnv(json::write(&changes_made).into_bytes());
    (!changes_made.is_empty()).then_some((ops, key))
}

fn report_edit(session: &Session, index: MessageId, ops: Vec<Op>, rule: Rule, saved: u64) -> Edit {
    let after = message_tokens(session, index);
    let before = after.saturating_add(saved);
    let cut = |at: &BlockId| {
        let form = session.transcript.ledger.block(*at).map(|block| block.form);
        matches!(form, Some(Form::Capped | Form::Stubbed))
    };
    let reference = session.transcript.ledger.blocks_of(index).find(cut).map(reference);
    let (rule, tokens_before, tokens_after) = (rule.name(), before, after);
    Edit { index: index.get(), ops, rule, tokens_before, tokens_after, reference }
}

/// Tokens of a message as it is sent.
pub(in crate::context) fn message_tokens(session: &Session, message: MessageId) -> u64 {
    let blocks = session.transcript.ledger.blocks_of(message);
    blocks.filter_map(|at| session.transcript.ledger.block(at)).map(|b| u64::from(b.now)).sum()
}
