//! Appending messages by their measures: a message that is known is not read again.

use super::{NO_WORDS, ROLES, piece, setting_of, words_of};
use crate::context::session::Session;
use crate::context::session::arrival::append_measured;
use crate::context::session::snapshot::Known;
use crate::context::session::snapshot::bytes::Reader;
use crate::context::session::snapshot::restore::{ends_wait, match_message, needs_text};
use crate::context::transcript::measure::{Measure, Measured, listed, may_be_kept};
use crate::context::transcript::occurrences::Occurrence;
use crate::model::{Kind, MessageId, Outline, Piece, Span};

/// What came of messages that were known by their measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// So many are part of the session. The next one has to be pushed with its text.
    UpTo(u32),
    /// They show that the messages before them are another session's: hand all over again.
    RereadAll,
}

/// Appends `messages` of those that [`super::measures_of`] wrote, as far as nothing needs their texts: the session is then as it
/// would be after [`Session::push`] of each.
pub fn append_known(session: &mut Session, bytes: &[u8], messages: Span<MessageId>) -> Appended {
    let mut appended = 0u32;
    let Some(mut measures) = Measures::read(session, bytes, messages.start) else {
        return Appended::UpTo(0);
    };
    for _ in messages {
        if !may_append(session) {
            break;
        }
        let Some(measure) = measures.next(session) else { break };
        if may_be_cut(session, &measure) || needs_text(session, &measure.outline) {
            break;
        }
        let index = session.transcript.ledger.next_message();
        if let Known::Strange = match_message(session, index, measure.fingerprint) {
            return Appended::RereadAll;
        }
        append_measured(session, &measure, None);
        appended = appended.saturating_add(1);
    }
    Appended::UpTo(appended)
}

/// The next message is read as this session's format has it, and nothing in it is looked for.
fn may_append(session: &Session) -> bool {
    session.dialect.certain
        && !session.compactions.adopts
        && !session.compactions.flush.awaits_notes()
        && session.counts.next.is_empty()
        && session.options.tiers.is_none()
}

/// A result may be so large that it is cut when it arrives, for which its text is needed. What was sent of a message that a snapshot
/// knows is known too.
fn may_be_cut(session: &Session, measure: &Measure) -> bool {
    let mode = &session.options.mode;
    if !mode.is_managed() || session.options.noop || session.restoration.waiting.is_some() {
        return false;
    }
    let pruner = &session.decisions.pruner;
    let is_result = |piece: &Piece| piece.kind == Kind::Result;
    measure.outline.pieces.iter().zip(&measure.blocks).any(|(piece, block)| {
        is_result(piece) && pruner.cuts_at_arrival(block.tokens, mode.window_tokens())
    })
}

/// Measures that are read one after the other.
struct Measures<'a> {
    words: Vec<&'a str>,
    /// The numbers that those have in the session, once they have one.
    ids: Vec<Option<u32>>,
    rest: Reader<'a>,
    /// The session looks for identifiers.
    has_words: bool,
}

impl<'a> Measures<'a> {
    /// None: they were written under another setting, or are none.
    fn read(session: &Session, bytes: &'a [u8], first: MessageId) -> Option<Self> {
        let mut from = Reader::sealed(bytes)?;
        if Some(from.hash()) != setting_of(session) {
            return None;
        }
        let (written, wanted) = (from.number(), words_of(session));
        if wanted != NO_WORDS && wanted != written {
            return None;
        }
        let words: Vec<&str> = (0..from.count()).map(|_| from.text()).collect();
        let count = from.count();
        (first.index() < count).then_some(())?;
        for _ in 0..first.index() {
            from.bytes();
        }
        Some(Self {
            ids: vec![None; words.len()],
            words,
            rest: from,
            has_words: wanted != NO_WORDS,
        })
    }

    /// The next measure, its identifiers numbered as the session numbers those of its text. None: the text is needed.
    fn next(&mut self, session: &mut Session) -> Option<Measure> {
        let mut from = Reader::bare(self.rest.bytes());
        let role = *ROLES.get(usize::try_from(from.number()).ok()?)?;
        let (fingerprint, written, bytes) = (from.hash(), from.hash(), from.small());
        if ends_wait(session, fingerprint) {
            return None;
        }
        let sign = from.perhaps();
        let at_ms = sign.map(|sign| {
            let at = i64::try_from(from.number()).unwrap_or_default();
            if sign == 1 { at.saturating_neg() } else { at }
        });
        let is_request = from.flag();
        let (mut pieces, mut blocks) = (Vec::new(), Vec::new());
        let mut found: Vec<Vec<Occurrence>> = Vec::new();
        for _ in 0..from.count() {
            pieces.push(piece::read(&mut from)?);
            let [tokens, overhead, chars, bytes] = [(); 4].map(|()| from.small());
            let key = from.hash();
            blocks.push(Measured { tokens, overhead, chars, key, bytes, ..Measured::default() });
            found.push((0..from.count()).map(|_| occurrence(from.number())).collect());
        }
        from.end().ok()?;
        if self.has_words {
            for (block, found) in blocks.iter_mut().zip(found) {
                self.number(session, block, found)?;
            }
        } else {
            for block in &mut blocks {
                block.found = Some(Vec::new());
            }
        }
        let outline = Outline { role, pieces };
        Some(Measure { outline, fingerprint, written, bytes, at_ms, is_request, blocks })
    }

    /// None: a word that was known where it was measured is new here, and might be a secret.
    fn number(
        &mut self,
        session: &mut Session,
        block: &mut Measured,
        mut found: Vec<Occurrence>,
    ) -> Option<()> {
        let estimator = session.options.estimator;
        let known = &mut session.transcript.ledger.identifiers;
        for it in &mut found {
            let id = self.ids.get_mut(it.id as usize)?;
            let word = self.words.get(it.id as usize)?;
            let before = known.len();
            let cost = |word: &str| estimator.tokens(word).saturating_add(1);
            let number = match *id {
                Some(number) => number,
                None if it.is_new => known.intern(word, cost),
                None => known.find(word)?,
            };
            *id = Some(number);
            *it = Occurrence { id: number, is_new: number >= before, ..*it };
        }
        (block.ids, block.head_ids) = listed(&found, known);
        block.found = may_be_kept(found, known);
        Some(())
    }
}

fn occurrence(number: u64) -> Occurrence {
    let id = u32::try_from(number >> 2).unwrap_or(u32::MAX);
    Occurrence { id, in_head: number & 2 != 0, is_new: number & 1 != 0 }
}
