//! Appending messages by their measures: a message that is known is not read again.

use std::ops::Range;
use std::rc::Rc;

use super::{NO_WORDS, ROLES, setting_of, traits, words_of};
use crate::context::session::Session;
use crate::context::session::arrival::append_measured;
use crate::context::session::snapshot::Match;
use crate::context::session::snapshot::bytes::Reader;
use crate::context::session::snapshot::measured::keep_where_closed;
use crate::context::session::snapshot::restore::{ends_wait, match_message, needs_text};
use crate::context::transcript::measure::{Measure, Measured, in_order, keep_found};
use crate::format::of_bytes;
use crate::leb128::{self, signed};
use crate::model::{Kind, MessageId, Occurrence, Outline, Piece, Role, Span, Traits};
use crate::number::count;
use crate::validity::Findings;

/// Stands for a word that has no number in the session yet.
const UNNUMBERED: u32 = u32::MAX;

/// Pieces of a message for which room is made at once.
const USUAL_PIECES: usize = 16;

/// What came of messages that were known by their measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// So many are part of the session. The next one has to be pushed with its text.
    UpTo(u32),
    /// They show that the messages before them are another session's: hand all over again.
    RereadAll,
}

/// Measures that [`super::measures_of`] wrote, for one session that takes its messages from the first on.
#[derive(Clone, Debug)]
pub struct KnownMessages {
    written: Written,
    /// The numbers that the words have in the session, once they have one.
    ids: Vec<u32>,
    /// The traits by their numbers, once the session's pieces share them.
    traits: Vec<Rc<Traits>>,
    /// Of the last message: those of the next take their room.
    findings: Findings,
    /// Blocks of messages that were appended: those of the next ones take their room.
    spare: Vec<Measured>,
    /// The empty list that held those of the last one.
    list: Vec<Measured>,
}

/// The bytes, and where things stand in them.
#[derive(Clone, Debug)]
struct Written {
    bytes: Vec<u8>,
    /// What the measures depend on.
    setting: u64,
    /// Which identifiers were looked for.
    looked_for: u64,
    keys: Range<usize>,
    words: Vec<Range<usize>>,
    /// What pieces are, until a session has them.
    traits: Vec<Rc<Traits>>,
    messages: Vec<Range<usize>>,
}

/// What a measure begins with.
struct Head {
    role: Role,
    fingerprint: u64,
    /// Hash of its JSON, and how many bytes that has.
    written: u64,
    bytes: u32,
}

impl KnownMessages {
    /// None: they are other bytes, or have changed.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let written = Written::read(bytes)?;
        let ids = vec![UNNUMBERED; written.words.len()];
        let (spare, list) = (Vec::new(), Vec::new());
        let (traits, findings) = (Vec::new(), Findings::default());
        Some(Self { written, ids, traits, findings, spare, list })
    }

    /// How many messages there are.
    pub const fn len(&self) -> usize {
        self.written.messages.len()
    }

    /// There is none.
    pub const fn is_empty(&self) -> bool {
        self.written.messages.is_empty()
    }

    /// Where the last group of calls and results starts: from there on a message may have grown since.
    pub fn last_group(&self) -> MessageId {
        let is_assistant = |at: &usize| {
            let measure = self.written.measure(MessageId::from(count(*at)));
            measure
                .and_then(|mut from| Head::read(&mut from))
                .is_some_and(|it| it.role == Role::Assistant)
        };
        let Some(last) = (0..self.len()).rev().find(is_assistant) else {
            return count(self.len().saturating_sub(1)).into();
        };
        let run = (0..last).rev().take_while(is_assistant).count();
        count(last.saturating_sub(run)).into()
    }

    /// The host's keys, as it passed them to [`super::measures_of`].
    pub fn keys(&self) -> &str {
        self.written.text(&self.written.keys)
    }

    /// The bytes as they were read.
    pub fn bytes(&self) -> &[u8] {
        &self.written.bytes
    }

    /// Whether a message was measured from this JSON.
    pub fn is_written(&self, message: MessageId, json: &[u8]) -> bool {
        let head = self.written.measure(message).and_then(|mut from| Head::read(&mut from));
        head.is_some_and(|it| it.bytes as usize == json.len() && it.written == of_bytes(json))
    }

    /// Appends messages, as far as nothing needs their texts: the session is then as it would be after [`Session::push`] of each.
    pub fn append(&mut self, session: &mut Session, messages: Span<MessageId>) -> Appended {
        let (written, wanted) = (self.written.looked_for, words_of(session));
        if Some(self.written.setting) != setting_of(session)
            || (wanted != NO_WORDS && wanted != written)
        {
            return Appended::UpTo(0);
        }
        if session.transcript.ledger.next_message() == MessageId::FIRST {
            self.ids.fill(UNNUMBERED);
        }
        for mut traits in self.written.traits.drain(..) {
            session.transcript.traits.share(&mut traits);
            self.traits.push(traits);
        }
        let mut appended = 0u32;
        for message in messages {
            if !may_append(session) {
                break;
            }
            // Before its identifiers have numbers.
            keep_where_closed(session);
            let Some(mut measure) = self.measure(session, message) else { break };
            if may_be_cut(session, &measure) || needs_text(session, &measure.outline) {
                break;
            }
            let index = session.transcript.ledger.next_message();
            if let Match::Different = match_message(session, index, measure.fingerprint) {
                return Appended::RereadAll;
            }
            append_measured(session, &measure, None, &mut self.findings);
            self.spare.append(&mut measure.blocks);
            self.list = measure.blocks;
            appended = appended.saturating_add(1);
        }
        Appended::UpTo(appended)
    }

    /// The measure of a message, its identifiers numbered as the session numbers those of its text. None: the text is needed.
    #[inline(never)]
    fn measure(&mut self, session: &mut Session, message: MessageId) -> Option<Measure> {
        let mut from = self.written.measure(message)?;
        let Head { role, fingerprint, written, bytes } = Head::read(&mut from)?;
        if ends_wait(session, fingerprint) {
            return None;
        }
        let sign = from.perhaps();
        let at_ms = sign.map(|sign| {
            let at = i64::try_from(from.number()).unwrap_or_default();
            if sign == 1 { at.saturating_neg() } else { at }
        });
        let is_request = from.flag();
        let has_words = words_of(session) != NO_WORDS;
        let count = from.count();
        let mut pieces = Vec::with_capacity(count.min(USUAL_PIECES));
        let mut blocks = std::mem::take(&mut self.list);
        for _ in 0..count {
            let traits = Rc::clone(self.traits.get(from.small() as usize)?);
            pieces.push(Piece { traits, id: from.text().into() });
            let [tokens, overhead, chars, bytes] = [(); 4].map(|()| from.small());
            let key = from.hash();
            let Measured { ids, found, .. } = self.spare.pop().unwrap_or_default();
            let mut block =
                Measured { tokens, overhead, chars, ids, key, bytes, found, ..Measured::default() };
            let all = from.bytes();
            let listed = if has_words { all } else { &[] };
            number(&self.written, &mut self.ids, session, listed, &mut block.ids)?;
            keep_found(&mut block, &session.transcript.ledger.identifiers);
            blocks.push(block);
        }
        from.end().ok()?;
        let outline = Rc::new(Outline { role, pieces });
        Some(Measure { outline, fingerprint, written, bytes, at_ms, is_request, blocks })
    }
}

impl Written {
    fn read(all: &[u8]) -> Option<Self> {
        let mut from = Reader::sealed(all)?;
        let end = from.left();
        // Where the bytes that were just read stand.
        let place = |from: &mut Reader<'_>| {
            let length = from.bytes().len();
            let end = end.saturating_sub(from.left());
            end.saturating_sub(length)..end
        };
        let (setting, looked_for) = (from.hash(), from.number());
        let keys = place(&mut from);
        let words = (0..from.count()).map(|_| place(&mut from)).collect();
        let mut traits = Vec::new();
        for _ in 0..from.count() {
            traits.push(Rc::new(traits::read(&mut from)?));
        }
        let messages = (0..from.count()).map(|_| place(&mut from)).collect();
        from.end().ok()?;
        Some(Self { bytes: all.to_vec(), setting, looked_for, keys, words, traits, messages })
    }

    fn text(&self, place: &Range<usize>) -> &str {
        let text = self.bytes.get(place.clone()).unwrap_or_default();
        std::str::from_utf8(text).unwrap_or_default()
    }

    fn measure(&self, message: MessageId) -> Option<Reader<'_>> {
        let place = self.messages.get(message.index())?;
        Some(Reader::bare(self.bytes.get(place.clone())?))
    }
}

impl Head {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let role = *ROLES.get(usize::try_from(from.number()).ok()?)?;
        let (fingerprint, written, bytes) = (from.hash(), from.hash(), from.small());
        Some(Self { role, fingerprint, written, bytes })
    }
}

/// Appends `messages` of those that [`super::measures_of`] wrote, as [`KnownMessages::append`] does.
pub fn append_known(session: &mut Session, bytes: &[u8], messages: Span<MessageId>) -> Appended {
    let known = KnownMessages::read(bytes);
    known.map_or(Appended::UpTo(0), |mut known| known.append(session, messages))
}

/// The next message is read as this session's format has it, and nothing in it is looked for.
pub(super) fn may_append(session: &Session) -> bool {
    session.transcript.dialect.certain
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

/// Ranks of a block's identifiers, which are listed by their words. None: a word that was known where it was measured is new here, and
/// might be a secret.
fn number(
    written: &Written,
    ids: &mut [u32],
    session: &mut Session,
    mut listed: &[u8],
    ranks: &mut Vec<u32>,
) -> Option<()> {
    let mut place = 0u32;
    ranks.clear();
    ranks.reserve(listed.len());
    while !listed.is_empty() {
        let (step, rest) = leb128::read(listed)?;
        listed = rest;
        place = place.wrapping_add_signed(i32::try_from(signed(step)).ok()?);
        let mut it = occurrence(place);
        let number = ids.get_mut(it.id as usize)?;
        if *number == UNNUMBERED {
            it = first(session, written.text(written.words.get(it.id as usize)?), it)?;
            *number = it.id;
        } else {
            (it.id, it.is_new) = (*number, false);
        }
        ranks.push(it.rank());
    }
    // In another session the words may have come in another order.
    if !ranks.is_sorted() {
        in_order(ranks);
    }
    Some(())
}

/// An identifier with the number that its word has in the session, or gets if it is new. None: it must be known, and is not.
#[inline(never)]
fn first(session: &mut Session, word: &str, it: Occurrence) -> Option<Occurrence> {
    let estimator = session.options.estimator;
    let known = &mut session.transcript.ledger.identifiers;
    let before = known.len();
    let cost = |word: &str| estimator.tokens(word).saturating_add(1);
    let id = if it.is_new { known.intern(word, cost) } else { known.find(word)? };
    Some(Occurrence { id, is_new: id >= before, ..it })
}

fn occurrence(place: u32) -> Occurrence {
    Occurrence { id: place >> 2, in_head: place & 2 != 0, is_new: place & 1 != 0 }
}
