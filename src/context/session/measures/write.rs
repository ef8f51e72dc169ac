//! Measures of a session's messages, written from its transcript.

use std::rc::Rc;

use super::{ROLES, setting_of, traits, words_of};
use crate::context::session::Session;
use crate::context::session::snapshot::bytes::Writer;
use crate::context::transcript::Transcript;
use crate::leb128::{self, zigzag};
use crate::model::{BlockId, MessageId, Occurrence, Span, Traits};

/// Stands for an identifier that is not in the list yet.
const UNLISTED: u32 = u32::MAX;

/// The measures of these messages as bytes, for [`super::KnownMessages`], with what the host wants to know them by. None: the
/// host counts tokens by itself, which only it can say again.
pub fn measures_of(session: &Session, messages: Span<MessageId>, keys: &str) -> Option<Vec<u8>> {
    let setting = setting_of(session)?;
    let identifiers = &session.transcript.ledger.identifiers;
    let mut words =
        Words { numbers: vec![UNLISTED; identifiers.len() as usize], listed: Vec::new() };
    let mut listed = ListedTraits { all: Vec::new(), bytes: Writer::bare() };
    let mut bodies = Writer::bare();
    let mut count = 0u64;
    for message in messages {
        let mut body = Writer::bare();
        let mark = words.listed.len();
        if write_message(&session.transcript, message, &mut words, &mut listed, &mut body).is_none()
        {
            words.forget_from(mark);
            body = Writer::bare();
        }
        bodies.bytes(&body.bare_bytes());
        count = count.saturating_add(1);
    }
    let mut out = Writer::bare();
    out.hash(setting);
    out.number(words_of(session));
    out.text(keys);
    out.number(words.listed.len() as u64);
    for &id in &words.listed {
        out.text(identifiers.text(id));
    }
    out.number(listed.all.len() as u64);
    out.append(&listed.bytes.bare_bytes());
    out.number(count);
    out.append(&bodies.bare_bytes());
    Some(out.sealed())
}

/// Identifiers in the order in which the messages name them, each numbered by its place.
struct Words {
    /// By their numbers in the session.
    numbers: Vec<u32>,
    listed: Vec<u32>,
}

impl Words {
    fn number(&mut self, id: u32) -> Option<u32> {
        let number = self.numbers.get_mut(id as usize)?;
        if *number == UNLISTED {
            *number = u32::try_from(self.listed.len()).ok()?;
            self.listed.push(id);
        }
        Some(*number)
    }

    /// Those of a message that is not kept.
    fn forget_from(&mut self, mark: usize) {
        for id in self.listed.drain(mark..) {
            self.numbers.get_mut(id as usize).into_iter().for_each(|it| *it = UNLISTED);
        }
    }
}

/// Traits in the order in which the messages have them, each numbered by its place.
struct ListedTraits {
    all: Vec<Rc<Traits>>,
    bytes: Writer,
}

/// How many of the last traits are compared. If a session has more, some are listed twice.
const COMPARED: usize = 64;

impl ListedTraits {
    /// None: they cannot be written.
    fn number(&mut self, traits: &Rc<Traits>) -> Option<u64> {
        let earlier = self.all.len().saturating_sub(COMPARED);
        let mut last = self.all.iter().skip(earlier);
        let known = last.position(|it| Rc::ptr_eq(it, traits) || it == traits);
        let number = known.map_or(self.all.len(), |at| earlier.saturating_add(at));
        if known.is_none() {
            traits::write(traits, &mut self.bytes)?;
            self.all.push(Rc::clone(traits));
        }
        u64::try_from(number).ok()
    }
}

/// None: it has to be measured from its text.
#[inline(never)]
fn write_message(
    transcript: &Transcript,
    index: MessageId,
    words: &mut Words,
    listed: &mut ListedTraits,
    out: &mut Writer,
) -> Option<()> {
    let ledger = &transcript.ledger;
    let (message, outline) = (ledger.message(index)?, transcript.outline(index)?);
    let blocks = ledger.blocks_of(index);
    let found = transcript.occurrences.of(index.index(), outline.pieces.len())?;
    out.number(ROLES.iter().position(|it| *it == outline.role)? as u64);
    out.hash(message.fingerprint);
    out.hash(message.written);
    out.number(message.bytes.into());
    out.perhaps(message.at_ms.map(|at| u64::from(at < 0)));
    if let Some(at) = message.at_ms {
        out.number(at.unsigned_abs());
    }
    out.number(ledger.starts_turn(index).into());
    out.number(outline.pieces.len() as u64);
    for ((piece, found), at) in outline.pieces.iter().zip(&found).zip(blocks) {
        out.number(listed.number(&piece.traits)?);
        out.text(&piece.id);
        write_block(transcript, at, found, words, out)?;
    }
    Some(())
}

#[inline(never)]
fn write_block(
    transcript: &Transcript,
    at: BlockId,
    found: &[Occurrence],
    words: &mut Words,
    out: &mut Writer,
) -> Option<()> {
    let block = transcript.ledger.block(at)?;
    for number in [block.tokens, block.overhead, block.chars, block.bytes] {
        out.number(number.into());
    }
    out.hash(block.key);
    let (mut places, mut last) = (Vec::new(), 0i64);
    for it in found {
        let number = i64::from(words.number(it.id)?);
        let place = (number << 2) | (i64::from(it.in_head) << 1) | i64::from(it.is_new);
        leb128::write(&mut places, zigzag(place.saturating_sub(last)));
        last = place;
    }
    out.bytes(&places);
    Some(())
}
