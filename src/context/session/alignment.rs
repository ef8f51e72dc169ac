//! A history that starts late: the host no longer holds the oldest messages of its session.
//!
//! The passed history is found in the known one by fingerprints, in one linear pass. To be taken for a later part it has to
//! reach the newest known messages: a branch or another session does not.

use crate::context::request::answer::last_group;
use crate::context::request::keep_lines::messages_of_lines;
use crate::context::session::Session;
use crate::context::session::marks::mark;
use crate::context::session::offered::Offered;
use crate::context::session::pinning::{attach_pins, detach_forgotten};
use crate::context::session::snapshot::forgotten::{add_forgotten, awaited_marks};
use crate::context::session::snapshot::measured::keep_nothing;
use crate::error::Result;
use crate::format::fingerprint;
use crate::model::{Form, Kind, MessageId, Role};
use crate::number::count;

/// A host's own first message in place of what it forgot is at most this long, in bytes: a summary is longer.
const LONGEST_PLACEHOLDER: usize = 160;

/// Where the passed history lies in the known one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// So many of the system's messages lead both.
    pub systems: u32,
    /// So many passed messages come before those that are known again: the system's, and a placeholder of the host's.
    pub front: u32,
    /// Number of the first of those.
    pub from: u32,
    /// They end before this number: what is known from there on is not in the passed history.
    pub to: u32,
}

/// Takes the next message of a history that is to be aligned, as JSON.
///
/// # Errors
/// `MalformedMessage`.
pub fn offer_message(session: &mut Session, bytes: &[u8]) -> Result<()> {
    let draft =
        session.transcript.dialect.format.read(bytes, session.transcript.ledger.message_count())?;
    let length = draft.parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.text.len()));
    let is_text = draft.parts.iter().all(|part| part.piece.kind == Kind::Text);
    session.restoration.offered.push(Offered {
        mark: mark(fingerprint(&draft)),
        is_known: false,
        is_system: draft.role == Role::System,
        is_placeholder: draft.role == Role::User && is_text && length <= LONGEST_PLACEHOLDER,
    });
    Ok(())
}

/// The next message of a history that is to be aligned is this one of the session.
pub fn offer_known(session: &mut Session, index: MessageId) {
    if let Some(message) = session.transcript.ledger.message(index) {
        session.restoration.offered.push(Offered {
            mark: mark(message.fingerprint),
            is_known: true,
            is_system: message.role == Role::System,
            is_placeholder: false,
        });
    }
}

/// Where the offered history lies in the known one, if it is a later part of it.
pub fn align(session: &mut Session) -> Option<Alignment> {
    let offered = std::mem::take(&mut session.restoration.offered);
    let (first, marks, least) = known_marks(session);
    if let Some(waiting) = &mut session.restoration.waiting {
        waiting.starts_late = false;
    }
    // Where nothing is decided, what goes out is what is passed.
    if !session.options.mode.is_managed() || session.options.tiers.is_some() {
        return None;
    }
    let systems = offered.iter().take_while(|it| it.is_system).count();
    let lead = offered.iter().take(systems).map(|it| it.mark);
    if first == 0 && !lead.eq(marks.iter().take(systems).copied()) {
        return None;
    }
    let after = usize::from(offered.get(systems).is_some_and(|it| it.is_placeholder));
    let fronts = [systems, systems.saturating_add(after)];
    fronts.into_iter().find_map(|front| {
        let part = offered.get(front..)?;
        let (length, to) = overlap(part, &marks, least)?;
        let from = first.saturating_add(to.saturating_sub(length));
        // A first message in the place of one that is missing is that one, changed.
        (from > front).then(|| Alignment {
            systems: count(systems),
            front: count(front),
            from: count(from),
            to: count(first.saturating_add(to)),
        })
    })
}

/// The host no longer holds the messages before this one. Nothing moves before an epoch opens or they are too many.
pub fn forget_messages(session: &mut Session, before: MessageId) {
    add_forgotten(session, before);
    let known = std::mem::replace(&mut session.decisions.pruner.forgotten, before);
    if before < known {
        attach_pins(session);
    }
    detach_forgotten(session);
    if before > MessageId::FIRST {
        keep_nothing(session);
    }
}

/// Something of a message is not gone, though this request may leave it out: its text may be asked for.
pub fn may_send(session: &Session, index: MessageId) -> bool {
    session
        .transcript
        .ledger
        .blocks_of(index)
        .any(|at| session.transcript.ledger.block(at).is_some_and(|it| it.form != Form::Gone))
        || messages_of_lines(session).contains(&index)
}

/// Marks of the known messages, the number of the first of them, and where a part has to reach.
fn known_marks(session: &Session) -> (usize, Vec<u32>, usize) {
    if session.restoration.waiting.is_some() {
        return awaited_marks(session).unwrap_or_default();
    }
    let marks = session.transcript.ledger.messages.iter().map(|it| mark(it.fingerprint)).collect();
    (0, marks, last_group(session).index())
}

/// How long the start of `part` is that lies in the known messages, and where it ends there: the longest, and of those the
/// newest. Two messages at least, or one that is the same object: short messages come again by chance.
fn overlap(part: &[Offered], known: &[u32], least: usize) -> Option<(usize, usize)> {
    let mut borders = vec![0; part.len()];
    for at in 1..part.len() {
        let border = borders.get(at.saturating_sub(1)).copied().unwrap_or(0);
        let mark = part.get(at)?.mark;
        *borders.get_mut(at)? = longer(part, &borders, border, mark);
    }
    let mut best = (0, 0);
    let mut length = 0;
    for (at, &mark) in known.iter().enumerate() {
        length = longer(part, &borders, length, mark);
        let end = at.saturating_add(1);
        if end >= least && length >= best.0 {
            best = (length, end);
        }
    }
    let is_enough = best.0 > 1 || (best.0 == 1 && part.first()?.is_known);
    is_enough.then_some(best)
}

/// How long a start of `part` is that ends with `mark`, after one of this length.
fn longer(part: &[Offered], borders: &[usize], mut length: usize, mark: u32) -> usize {
    loop {
        if part.get(length).is_some_and(|it| it.mark == mark) {
            return length.saturating_add(1);
        }
        let Some(before) = length.checked_sub(1) else { return 0 };
        length = borders.get(before).copied().unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What of `passed` lies in `known`, each letter a message.
    fn found(passed: &str, known: &str, least: usize) -> Option<(usize, usize)> {
        let offered =
            |mark: u32| Offered { mark, is_known: false, is_system: false, is_placeholder: false };
        let part: Vec<Offered> = passed.bytes().map(|it| offered(it.into())).collect();
        let known: Vec<u32> = known.bytes().map(u32::from).collect();
        overlap(&part, &known, least)
    }

    #[test]
    fn a_later_part_is_found_where_it_reaches_the_end() {
        assert_eq!(found("defg", "abcdef", 5), Some((3, 6)));
        assert_eq!(found("ababx", "cababab", 6), Some((4, 7)));
        assert_eq!(found("ooo", "ooooooo", 6), Some((3, 7)));
        assert_eq!(found("xoo", "abxoox", 5), Some((3, 5)), "the end is another");
    }

    #[test]
    fn a_part_that_ends_earlier_or_starts_otherwise_is_not_found() {
        assert_eq!(found("bcd", "abcdefgh", 7), None);
        assert_eq!(found("xdef", "abcdef", 5), None);
        assert_eq!(found("fx", "abcdef", 5), None, "one message may come again by chance");
        assert_eq!(found("", "abc", 2), None);
        assert_eq!(found("abc", "", 0), None);
    }

    #[test]
    fn a_long_repetition_takes_one_pass() {
        let known = "ab".repeat(100_000);
        let passed = "ab".repeat(50_000) + "c";
        assert_eq!(found(&passed, &known, 199_990), Some((100_000, 200_000)));
    }
}
