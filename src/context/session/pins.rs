//! Pins: messages and texts that stay verbatim through every edit and fold.
//!
//! A pin that comes too late brings its blocks back when the next epoch opens: until then requests only grow. A pin outlives
//! its message: while the history does not hold that, the text that was kept of it goes out in front.

use std::ops::Range;

use crate::context::session::Session;
use crate::context::session::agent::words_of;
use crate::context::session::snapshot::bytes::{Reader, Writer};
use crate::context::session::snapshot::mark;
use crate::error::{Error, Result};
use crate::estimate::{Estimator, MESSAGE};
use crate::hash;
use crate::model::{Block, Form, Kind, NONE};
use crate::prune::Rule;
use crate::text::{prefix, redact};

/// What is pinned. A pin's id tells what it holds, so that two processes name the same thing alike and others otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::context) struct Pins {
    blocks: Vec<Blocks>,
    texts: Vec<Loose>,
}

/// Blocks of one message, known by the mark of its content, and its text for when no message of the history has that mark.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Blocks {
    id: u32,
    /// First block of the message; `from` and `to` are the pinned ones of them.
    first: u32,
    from: u32,
    to: u32,
    mark: u32,
    text: String,
    is_sent: bool,
    /// The message has come. Not in a snapshot: a restored session waits for its messages.
    is_here: bool,
}

/// A text that the history does not hold: it goes out in front, from the next epoch on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Loose {
    id: u32,
    text: String,
    is_sent: bool,
}

/// The bits of an id: nine digits at most.
const IDS: u32 = 0x1fff_ffff;
/// UTF-16 code units that are kept of a pinned message: a fact, not a file.
const KEPT: usize = 2_000;

impl Blocks {
    fn is_same(&self, other: &Self) -> bool {
        (self.id, self.mark, &self.text) == (other.id, other.mark, &other.text)
    }

    /// The message stands here from now on.
    fn attach(&mut self, first: u32) {
        let (offset, length) =
            (self.from.saturating_sub(self.first), self.to.saturating_sub(self.from));
        self.first = first;
        self.from = first.saturating_add(offset);
        self.to = self.from.saturating_add(length);
        self.is_here = true;
    }
}

impl Pins {
    pub(in crate::context) fn hold(&self, block: u32) -> bool {
        self.here().any(|it| it.from <= block && block < it.to)
    }

    fn here(&self) -> impl Iterator<Item = &Blocks> {
        self.blocks.iter().filter(|it| it.is_here)
    }

    /// The same is pinned, wherever it is.
    pub(in crate::context) fn are_those(&self, others: &Self) -> bool {
        let is_same =
            |(one, other): (&Blocks, &Blocks)| one.is_same(other) && one.from == other.from;
        let blocks =
            (self.blocks.len(), self.texts.len()) == (others.blocks.len(), others.texts.len());
        blocks && self.blocks.iter().zip(&others.blocks).all(is_same)
    }

    /// The texts that go out in front.
    pub(in crate::context) fn sent(&self) -> impl Iterator<Item = &str> {
        let kept = self.blocks.iter().filter(|it| it.is_sent).map(|it| &*it.text);
        kept.chain(self.texts.iter().filter(|it| it.is_sent).map(|it| &*it.text))
    }

    /// What those cost.
    pub(in crate::context) fn tokens(&self, estimator: Estimator) -> u64 {
        let cost = |text: &str| u64::from(estimator.tokens(text).saturating_add(MESSAGE));
        self.sent().map(cost).sum()
    }

    pub(in crate::context) fn write(&self, out: &mut Writer) {
        out.number(self.blocks.len() as u64);
        for Blocks { id, first, from, to, mark, text, is_sent, is_here: _ } in &self.blocks {
            for number in [*id, *first, *from, *to] {
                out.number(number.into());
            }
            out.mark(*mark);
            out.text(text);
            out.number((*is_sent).into());
        }
        out.number(self.texts.len() as u64);
        for Loose { id, text, is_sent } in &self.texts {
            out.number((*id).into());
            out.text(text);
            out.number((*is_sent).into());
        }
    }

    pub(in crate::context) fn read(given: &mut Reader<'_>) -> Self {
        let mut pins = Self::default();
        for _ in 0..given.count() {
            let is_old = given.is_old;
            let id = given.small();
            let first = if is_old { None } else { Some(given.small()) };
            let (from, to, mark) = (given.small(), given.small(), given.mark());
            let first = first.unwrap_or(from);
            let text: String = if is_old { String::new() } else { given.text().into() };
            let is_sent = !is_old && given.flag() && !text.trim().is_empty();
            // No message has so many parts; a longer run is a forgery that would cost seconds.
            if from < first || to < from || to.saturating_sub(first) > MOST_PARTS {
                given.refuse("a pin is of no message");
                return pins;
            }
            pins.blocks.push(Blocks { id, first, from, to, mark, text, is_sent, is_here: false });
        }
        for _ in 0..given.count() {
            let (id, text) = (given.small(), given.text());
            if text.trim().is_empty() {
                given.refuse("a pinned text is blank");
            }
            pins.texts.push(Loose { id, text: text.into(), is_sent: given.flag() });
        }
        pins
    }

    /// The first free id from this one on.
    fn id_from(&self, mut id: u32) -> u32 {
        let is_taken = |id| {
            self.blocks.iter().any(|pin| pin.id == id) || self.texts.iter().any(|pin| pin.id == id)
        };
        while is_taken(id) {
            id = id.wrapping_add(1) & IDS;
        }
        id
    }

    fn id_of(&self, hash: u64) -> u32 {
        self.id_from(u32::try_from(hash & u64::from(IDS)).unwrap_or(0))
    }

    fn add_text(&mut self, text: &str) -> u32 {
        let id = self.id_of(hash::bytes(0, text.as_bytes()));
        self.texts.push(Loose { id, text: text.into(), is_sent: false });
        id
    }

    /// The messages come again, or others do.
    pub(in crate::context) fn detach(&mut self) {
        self.blocks.iter_mut().for_each(|pin| pin.is_here = false);
    }

    /// A message arrives with these blocks. `is_known`: messages stand where they stood; else the first with its mark is taken
    /// for the pinned one, wherever it stands now.
    pub(in crate::context) fn meet(&mut self, blocks: &Range<u32>, mark: u32, is_known: bool) {
        for pin in self.blocks.iter_mut().filter(|pin| pin.mark == mark) {
            if blocks.contains(&pin.from) {
                (pin.first, pin.is_here) = (blocks.start, true);
            } else if !pin.is_here && !is_known {
                pin.attach(blocks.start);
            }
        }
    }

    /// What others have pinned and let go since `base` is pinned and let go here too. True: a text is not sent any more.
    pub(in crate::context) fn merge(&mut self, theirs: &Self, base: &Self) -> bool {
        let alike = |a: &Loose, b: &Loose| (a.id, &a.text) == (b.id, &b.text);
        let has = |texts: &[Loose], pin: &Loose| texts.iter().any(|it| alike(it, pin));
        let pins = |blocks: &[Blocks], pin: &Blocks| blocks.iter().any(|it| it.is_same(pin));
        let sent = self.sent().count();
        self.blocks.retain(|pin| pins(&theirs.blocks, pin) || !pins(&base.blocks, pin));
        self.texts.retain(|pin| has(&theirs.texts, pin) || !has(&base.texts, pin));
        let fewer = self.sent().count() < sent;
        for pin in &theirs.blocks {
            if !pins(&base.blocks, pin) && !pins(&self.blocks, pin) {
                let id = self.id_from(pin.id);
                let new = Blocks { id, is_sent: false, is_here: false, ..pin.clone() };
                self.blocks.push(new);
            }
        }
        for pin in &theirs.texts {
            if !has(&base.texts, pin) && !has(&self.texts, pin) {
                let id = self.id_from(pin.id);
                self.texts.push(Loose { id, text: pin.text.clone(), is_sent: false });
            }
        }
        fewer
    }
}

/// Parts of one message.
const MOST_PARTS: u32 = 100_000;

impl Session {
    /// Keeps a message (JSON) verbatim; while the history does not hold it, its text goes out in front. The number of the pin.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no such message, `MalformedMessage`.
    pub fn pin(&mut self, message: u32, bytes: &[u8]) -> Result<u32> {
        if message >= self.transcript.ledger.message_count() {
            return Err(Error::argument("index", "a message of the history", message));
        }
        let draft = self.read(message, bytes)?;
        // Reasoning is the model's own: it is not said again by another.
        let text = words_of(&draft, |part| part.piece.kind != Kind::Thinking);
        let blocks = self.transcript.ledger.blocks_of(message);
        Ok(self.pin_blocks(message, blocks, &text))
    }

    /// Keeps the piece of a message (JSON) verbatim that holds a text. None: there is none.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no such message, `MalformedMessage`.
    pub fn pin_found(&mut self, message: u32, bytes: &[u8], text: &str) -> Result<Option<u32>> {
        let draft = self.read(message, bytes)?;
        let found = draft.parts.iter().position(|part| part.text.contains(text));
        let Some(piece) = found.and_then(|at| u32::try_from(at).ok()) else { return Ok(None) };
        let at = self.transcript.ledger.blocks_of(message).start.saturating_add(piece);
        Ok(Some(self.pin_blocks(message, at..at.saturating_add(1), text)))
    }

    fn pin_blocks(&mut self, message: u32, blocks: Range<u32>, text: &str) -> u32 {
        let known = self.transcript.ledger.messages.get(message as usize);
        let mark = known.map_or(0, |it| mark(it.fingerprint));
        let (from, to) = (blocks.start, blocks.end);
        let of = (u64::from(from) << 32) ^ u64::from(to) ^ (u64::from(mark) << 16);
        let id = self.pins.id_of(hash::mix(of));
        let first = self.transcript.ledger.blocks_of(message).start;
        let text = if self.options.redacts { redact(text) } else { text.into() };
        let text = prefix(&text, KEPT).into();
        self.pins.blocks.push(Blocks {
            id,
            first,
            from,
            to,
            mark,
            text,
            is_sent: false,
            is_here: true,
        });
        self.renew_masks(message);
        id
    }

    /// Keeps a text that stands in no message: it goes out in front of the messages from the next epoch on.
    pub fn pin_text(&mut self, text: &str) -> u32 {
        self.pins.add_text(text)
    }

    /// Lets a pin go; false if there is none of that number. A text of its own stays until the next epoch opens.
    pub fn unpin(&mut self, id: u32) -> bool {
        let before = (self.pins.blocks.len(), self.pins.texts.len());
        let mut pins = self.pins.clone();
        pins.blocks.retain(|pin| pin.id != id);
        pins.texts.retain(|pin| pin.id != id);
        let fewer = pins.sent().count() < self.pins.sent().count();
        self.set_pins(pins, fewer);
        before != (self.pins.blocks.len(), self.pins.texts.len())
    }

    /// Other pins hold from now on. `fewer`: a text that was sent is none of them any more.
    pub(in crate::context) fn set_pins(&mut self, pins: Pins, fewer: bool) {
        let before = std::mem::replace(&mut self.pins, pins);
        self.last_request.rebuild |= fewer;
        self.last_request.settled &= !fewer;
        self.attach_pins();
        let starts: Vec<u32> =
            before.blocks.iter().chain(&self.pins.blocks).map(|pin| pin.from).collect();
        for at in starts {
            if let Some(message) =
                self.transcript.ledger.blocks.get(at as usize).map(|block| block.message)
            {
                self.renew_masks(message);
            }
        }
    }

    /// Finds the messages of pins that were made elsewhere.
    pub(in crate::context) fn attach_pins(&mut self) {
        let Self { pins, transcript, restoration, decisions, .. } = self;
        let ledger = &transcript.ledger;
        if pins.blocks.iter().all(|pin| pin.is_here) {
            return;
        }
        for (index, message) in (0..).zip(&ledger.messages) {
            let blocks = ledger.blocks_of(index);
            if index >= decisions.pruner.forgotten || ledger.is_live(&blocks) {
                pins.meet(&blocks, mark(message.fingerprint), restoration.waiting.is_some());
            }
        }
    }

    /// What the host has forgotten and is not sent cannot be brought back: its text goes out in front.
    pub(in crate::context) fn detach_forgotten(&mut self) {
        let Self { pins, transcript, decisions, .. } = self;
        let ledger = &transcript.ledger;
        let end = ledger.blocks_of(decisions.pruner.forgotten).start;
        for pin in pins.blocks.iter_mut().filter(|pin| pin.from < end) {
            pin.is_here &= ledger.is_live(&(pin.from..pin.to));
        }
    }

    /// An epoch opens: what was pinned too late comes back, with what it stays or goes with. True if something did.
    pub(in crate::context) fn bring_back_pins(&mut self) -> bool {
        let mut back = false;
        for text in &mut self.pins.texts {
            back |= !std::mem::replace(&mut text.is_sent, true);
        }
        for pin in &mut self.pins.blocks {
            let is_sent = !pin.is_here && !pin.text.trim().is_empty();
            back |= std::mem::replace(&mut pin.is_sent, is_sent) != is_sent;
        }
        for at in self.lost_pins() {
            let message =
                self.transcript.ledger.blocks.get(at as usize).map_or(NONE, |block| block.message);
            if self.transcript.ledger.bring_back(at) {
                self.decisions.returned.push(at);
            }
            self.decisions.pruner.reopen(&self.transcript.ledger, at);
            self.decisions.placeholders.forget(at);
            if self.decisions.reasons.remove(&at).is_some_and(|why| why.rule.takes()) {
                let tokens =
                    self.transcript.ledger.blocks.get(at as usize).map_or(0, |it| it.tokens);
                self.decisions.pruner.taken =
                    self.decisions.pruner.taken.saturating_sub(tokens.into());
            }
            self.last_request.reported_edits.remove(&message);
            let bytes =
                self.transcript.ledger.messages.get(message as usize).map_or(0, |it| it.bytes);
            self.transcript.bytes = self.transcript.bytes.saturating_add(bytes.into());
            back = true;
        }
        self.last_request.rebuild |= back;
        back
    }

    /// Pinned blocks that are not sent as they were, and the gone ones of their groups.
    fn lost_pins(&self) -> Vec<u32> {
        let ours = |at: u32| {
            let rule = self.decisions.reasons.get(&at).map(|why| why.rule);
            // What its provider would refuse stays away.
            let barred = matches!(
                rule,
                Some(Rule::Repair | Rule::Limit | Rule::BoundThinking | Rule::NoThinking)
            );
            let block = self.transcript.ledger.blocks.get(at as usize).filter(|_| !barred);
            block
                .filter(|it| it.message >= self.decisions.pruner.forgotten || it.form != Form::Gone)
        };
        let is_lost = |at: &u32| ours(*at).is_some_and(|block| block.form != Form::Full);
        let mut lost: Vec<u32> =
            self.pins.here().flat_map(|pin| pin.from..pin.to).filter(is_lost).collect();
        let groups: Vec<u32> = lost
            .iter()
            .filter_map(|&at| self.transcript.ledger.blocks.get(at as usize))
            .map(|block| block.group)
            .filter(|&group| group != NONE)
            .collect();
        if !groups.is_empty() {
            let is_partner =
                |block: &Block| block.form == Form::Gone && groups.contains(&block.group);
            let partners = (0..self.transcript.ledger.block_count())
                .filter(|&at| ours(at).is_some_and(is_partner));
            lost.extend(partners);
            crate::sort::sort_set(&mut lost);
        }
        lost
    }
}

#[cfg(test)]
impl Session {
    /// What is pinned: texts, and `#` for blocks.
    pub(in crate::context) fn pinned(&self) -> Vec<String> {
        let texts = self.pins.texts.iter().map(|pin| pin.text.clone());
        texts.chain(self.pins.blocks.iter().map(|pin| format!("#{}", pin.from))).collect()
    }

    /// Whether a text goes out in front.
    pub(in crate::context) fn fronts(&self, text: &str) -> bool {
        self.pins.sent().any(|sent| sent == text)
    }
}
