//! Pins: what stays verbatim through every edit and fold.
//!
//! A pin that comes too late brings its blocks back when the next epoch opens: until then requests only grow.

use super::snapshot::bytes::{Reader, Writer};
use super::snapshot::mark;
use super::state::State;
use crate::error::{Error, Result};
use crate::estimate::{Estimator, MESSAGE};
use crate::hash;
use crate::model::{Block, Form, NONE};
use crate::prune::Rule;

/// What is pinned. A pin's id tells what it holds, so that two processes name the same thing alike and others otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pins {
    blocks: Vec<Blocks>,
    texts: Vec<Loose>,
}

/// Blocks of one message, and the mark of its content: another message in its place is not pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Blocks {
    id: u32,
    from: u32,
    to: u32,
    mark: u32,
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

impl Pins {
    pub(super) fn hold(&self, block: u32) -> bool {
        self.blocks.iter().any(|it| it.from <= block && block < it.to)
    }

    /// The texts that go out in front.
    pub(super) fn sent(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().filter(|it| it.is_sent).map(|it| &*it.text)
    }

    /// What those cost.
    pub(super) fn tokens(&self, estimator: Estimator) -> u64 {
        let cost = |text: &str| u64::from(estimator.tokens(text).saturating_add(MESSAGE));
        self.sent().map(cost).sum()
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.number(self.blocks.len() as u64);
        for Blocks { id, from, to, mark } in &self.blocks {
            out.number((*id).into());
            out.number((*from).into());
            out.number((*to).into());
            out.mark(*mark);
        }
        out.number(self.texts.len() as u64);
        for Loose { id, text, is_sent } in &self.texts {
            out.number((*id).into());
            out.text(text);
            out.number((*is_sent).into());
        }
    }

    pub(super) fn read(given: &mut Reader<'_>) -> Self {
        let mut pins = Self::default();
        for _ in 0..given.count() {
            let (id, from, to) = (given.small(), given.small(), given.small());
            pins.blocks.push(Blocks { id, from, to, mark: given.mark() });
        }
        for _ in 0..given.count() {
            let id = given.small();
            pins.texts.push(Loose { id, text: given.text().into(), is_sent: given.flag() });
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

    fn add_blocks(&mut self, from: u32, to: u32, mark: u32) -> u32 {
        let of = (u64::from(from) << 32) ^ u64::from(to) ^ (u64::from(mark) << 16);
        let id = self.id_of(hash::mix(of));
        self.blocks.push(Blocks { id, from, to, mark });
        id
    }

    fn add_text(&mut self, text: &str) -> u32 {
        let id = self.id_of(hash::bytes(0, text.as_bytes()));
        self.texts.push(Loose { id, text: text.into(), is_sent: false });
        id
    }

    /// A message arrives with these blocks: pins of what stood there before and is another message are let go.
    pub(super) fn meet(&mut self, first: u32, end: u32, mark: u32) {
        self.blocks.retain(|pin| pin.mark == mark || pin.to <= first || end <= pin.from);
    }

    /// What others have pinned and let go since `base` is pinned and let go here too. True: a text is not sent any more.
    pub(super) fn merge(&mut self, theirs: &Self, base: &Self) -> bool {
        let alike = |a: &Loose, b: &Loose| (a.id, &a.text) == (b.id, &b.text);
        let has = |texts: &[Loose], pin: &Loose| texts.iter().any(|it| alike(it, pin));
        self.blocks.retain(|pin| theirs.blocks.contains(pin) || !base.blocks.contains(pin));
        let sent = self.sent().count();
        self.texts.retain(|pin| has(&theirs.texts, pin) || !has(&base.texts, pin));
        let fewer = self.sent().count() < sent;
        for pin in &theirs.blocks {
            if !base.blocks.contains(pin) && !self.blocks.contains(pin) {
                let id = self.id_from(pin.id);
                self.blocks.push(Blocks { id, ..pin.clone() });
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

impl State {
    /// Keeps a message, or one piece of it, verbatim. The number of the pin.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no such message.
    pub fn pin(&mut self, message: u32, piece: Option<u32>) -> Result<u32> {
        let blocks = self.ledger.blocks_of(message);
        if message >= self.ledger.message_count() {
            return Err(Error::argument("index", "a message of the history", message));
        }
        let (from, to) = match piece {
            None => (blocks.start, blocks.end),
            Some(piece) => {
                let at = blocks.start.saturating_add(piece);
                (at, at.saturating_add(1))
            }
        };
        let known = self.ledger.messages.get(message as usize);
        let mark = known.map_or(0, |it| mark(it.fingerprint));
        let id = self.pins.add_blocks(from, to, mark);
        self.renew_masks(message);
        Ok(id)
    }

    /// Keeps a text that stands in no message: it goes out in front of the messages from the next epoch on.
    pub fn pin_text(&mut self, text: &str) -> u32 {
        self.pins.add_text(text)
    }

    /// The piece of a message (JSON) that holds a text.
    ///
    /// # Errors
    /// `MalformedMessage`.
    pub fn find(&self, message: u32, bytes: &[u8], text: &str) -> Result<Option<u32>> {
        let draft = self.read(message, bytes)?;
        let at = draft.parts.iter().position(|part| part.text.contains(text));
        Ok(at.and_then(|at| u32::try_from(at).ok()))
    }

    /// Lets a pin go; false if there is none of that number. A text of its own stays until the next epoch opens.
    pub fn unpin(&mut self, id: u32) -> bool {
        let before = (self.pins.blocks.len(), self.pins.texts.len());
        let mut pins = self.pins.clone();
        pins.blocks.retain(|pin| pin.id != id);
        pins.texts.retain(|pin| pin.id != id);
        let fewer = pins.texts.len() < before.1;
        self.set_pins(pins, fewer);
        before != (self.pins.blocks.len(), self.pins.texts.len())
    }

    /// Other pins hold from now on. `fewer`: a text that was sent is none of them any more.
    pub(super) fn set_pins(&mut self, pins: Pins, fewer: bool) {
        let before = std::mem::replace(&mut self.pins, pins);
        self.sent.rebuild |= fewer;
        let starts: Vec<u32> =
            before.blocks.iter().chain(&self.pins.blocks).map(|pin| pin.from).collect();
        for at in starts {
            if let Some(message) = self.ledger.blocks.get(at as usize).map(|block| block.message) {
                self.renew_masks(message);
            }
        }
    }

    /// An epoch opens: what was pinned too late comes back, with what it stays or goes with. True if something did.
    pub(super) fn bring_back_pins(&mut self) -> bool {
        let mut back = false;
        for text in &mut self.pins.texts {
            back |= !std::mem::replace(&mut text.is_sent, true);
        }
        for at in self.lost_pins() {
            let message = self.ledger.blocks.get(at as usize).map_or(NONE, |block| block.message);
            self.ledger.bring_back(at);
            self.lines.forget(at);
            if self.why.remove(&at).is_some_and(|why| why.rule.takes()) {
                let tokens = self.ledger.blocks.get(at as usize).map_or(0, |it| it.tokens);
                self.pruner.taken = self.pruner.taken.saturating_sub(tokens.into());
            }
            self.told.remove(&message);
            let bytes = self.ledger.messages.get(message as usize).map_or(0, |it| it.bytes);
            self.all_bytes = self.all_bytes.saturating_add(bytes.into());
            back = true;
        }
        self.sent.rebuild |= back;
        back
    }

    /// Pinned blocks that are not sent as they were, and the gone ones of their groups.
    fn lost_pins(&self) -> Vec<u32> {
        let ours = |at: u32| {
            let rule = self.why.get(&at).map(|why| why.rule);
            // What its provider would refuse stays away.
            let barred = matches!(
                rule,
                Some(Rule::Repair | Rule::Limit | Rule::BoundThinking | Rule::NoThinking)
            );
            if barred { None } else { self.ledger.blocks.get(at as usize) }
        };
        let is_lost = |at: &u32| ours(*at).is_some_and(|block| block.form != Form::Full);
        let mut lost: Vec<u32> =
            self.pins.blocks.iter().flat_map(|pin| pin.from..pin.to).filter(is_lost).collect();
        let groups: Vec<u32> = lost
            .iter()
            .filter_map(|&at| self.ledger.blocks.get(at as usize))
            .map(|block| block.group)
            .filter(|&group| group != NONE)
            .collect();
        if !groups.is_empty() {
            let is_partner =
                |block: &Block| block.form == Form::Gone && groups.contains(&block.group);
            let partners =
                (0..self.ledger.block_count()).filter(|&at| ours(at).is_some_and(is_partner));
            lost.extend(partners);
            crate::order::sort_set(&mut lost);
        }
        lost
    }
}

#[cfg(test)]
impl State {
    /// What is pinned: texts, and `#` for blocks.
    pub(super) fn pinned(&self) -> Vec<String> {
        let texts = self.pins.texts.iter().map(|pin| pin.text.clone());
        texts.chain(self.pins.blocks.iter().map(|pin| format!("#{}", pin.from))).collect()
    }

    /// Whether a text goes out in front.
    pub(super) fn fronts(&self, text: &str) -> bool {
        self.pins.sent().any(|sent| sent == text)
    }
}
