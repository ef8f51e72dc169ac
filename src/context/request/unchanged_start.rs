//! The start of the last request that the next one has too: only what follows it is built anew.

use crate::context::request::builder::Builder;
use crate::context::request::last_request::LastRequest;
use crate::context::session::Session;
use crate::model::{Fix, Item, MessageId, Role};
use crate::prune::Change;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(in crate::context) struct UnchangedStart {
    /// So many of the last request's messages.
    pub messages: usize,
    /// The message of the history that follows.
    pub next: MessageId,
    /// Who speaks before it.
    pub speaker: Option<Role>,
    /// A decision has changed what follows: more than the end is new.
    pub is_edited: bool,
}

/// The start that is unchanged; cache markers have changed from `marked` on. None: all is built anew.
pub(in crate::context) fn unchanged_start(
    session: &Session,
    marked: Option<MessageId>,
) -> Option<UnchangedStart> {
    let last = &session.request.last;
    if must_rebuild(session) {
        return None;
    }
    let edited = first_edited(session);
    let is_edited = edited.is_some();
    if let Some(changed) = marked.into_iter().chain(edited).min() {
        return start_before(session, changed, is_edited);
    }
    let (messages, next, speaker) = (last.items.len(), last.upto, last.speaker);
    Some(UnchangedStart { messages, next, speaker, is_edited })
}

/// The start before the first changed message; `None` if all is built anew.
#[inline(never)]
fn start_before(session: &Session, changed: MessageId, is_edited: bool) -> Option<UnchangedStart> {
    let last = &session.request.last;
    // The message of a fold may quote what it took out, and a result that moves goes out before its own place.
    let moves =
        !session.repairs.displaced.is_empty() || !session.decisions.absent_at_end.is_empty();
    if changed < session.decisions.pruner.start || (is_edited && moves) {
        return None;
    }
    for (at, pair) in last.items.windows(2).enumerate().rev() {
        let [before, item] = pair else { return None };
        // What is ours has no place in the history of its own.
        if item.source.is_none() {
            return None;
        }
        let messages = at.saturating_add(1);
        let (next, source) = (item.source, before.source);
        if next <= changed
            && source.is_some()
            && (!is_edited || last.checks.has_state_after(messages))
        {
            let speaker = Builder::new(session).speaker_of(&Item::Keep(source));
            return Some(UnchangedStart { messages, next, speaker, is_edited });
        }
    }
    None
}

/// The first message that was sent and that a decision has changed since.
fn first_edited(session: &Session) -> Option<MessageId> {
    let upto = session.request.last.upto;
    let message =
        |change: &Change| session.transcript.ledger.block(change.block).map(|b| b.message);
    session.decisions.unreported.iter().filter_map(message).filter(|message| *message < upto).min()
}

/// Something that no decision has changed may go out otherwise now, before the end of the last request.
fn must_rebuild(session: &Session) -> bool {
    let last = &session.request.last;
    last.rebuild
        || last.resend_all
        || last.ends_with_filler
        || last.upto == MessageId::FIRST
        || ends_otherwise(session)
}

/// A repair that the last request needed because it ended there may be wrong now that more follows.
#[inline(never)]
fn ends_otherwise(session: &Session) -> bool {
    let LastRequest { ending, upto, .. } = &session.request.last;
    let is_sent = |fix: &&Fix| fix.index < *upto;
    let now = session.decisions.end_fixes.iter().filter(is_sent);
    !now.eq(ending.iter().filter(is_sent))
}
