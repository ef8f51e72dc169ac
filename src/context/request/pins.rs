//! Pins: messages and texts that stay verbatim through every edit and fold.
//!
//! A pin that comes too late brings its blocks back when the next epoch opens: until then requests only grow. A pin outlives
//! its message: while the history does not hold that, the text that was kept of it goes out in front.

use crate::context::session::snapshot::bytes::{Reader, Writer};
use crate::estimate::{Estimator, MESSAGE};
use crate::hash;
use crate::model::{BlockId, Span};

/// What is pinned. A pin's id tells what it holds, so that two processes name the same thing alike and others otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::context) struct Pins {
    pub(in crate::context) blocks: Vec<Blocks>,
    pub(in crate::context) texts: Vec<Loose>,
}

/// Blocks of one message, known by the mark of its content, and its text for when no message of the history has that mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::context) struct Blocks {
    pub(in crate::context) id: u32,
    /// First block of the message; `from` and `to` are the pinned ones of them.
    pub(in crate::context) first: BlockId,
    pub(in crate::context) from: BlockId,
    pub(in crate::context) to: BlockId,
    pub(in crate::context) mark: u32,
    pub(in crate::context) text: String,
    pub(in crate::context) is_sent: bool,
    /// The message has come. Not in a snapshot: a restored session waits for its messages.
    pub(in crate::context) is_here: bool,
}

/// A text that the history does not hold: it goes out in front, from the next epoch on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::context) struct Loose {
    pub(in crate::context) id: u32,
    pub(in crate::context) text: String,
    pub(in crate::context) is_sent: bool,
}

/// The bits of an id: nine digits at most.
const IDS: u32 = 0x1fff_ffff;

impl Blocks {
    fn is_same(&self, other: &Self) -> bool {
        (self.id, self.mark, &self.text) == (other.id, other.mark, &other.text)
    }

    /// The message stands here from now on.
    fn attach(&mut self, first: BlockId) {
        let (offset, length) = (self.from.since(self.first), self.to.since(self.from));
        self.first = first;
        self.from = first.plus(offset);
        self.to = self.from.plus(length);
        self.is_here = true;
    }
}

impl Pins {
    pub(in crate::context) fn hold(&self, block: BlockId) -> bool {
        self.here().any(|it| it.from <= block && block < it.to)
    }

    pub(in crate::context) fn here(&self) -> impl Iterator<Item = &Blocks> {
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
            out.number((*id).into());
            for block in [first, from, to] {
                out.number((*block).into());
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

    pub(in crate::context) fn read(reader: &mut Reader<'_>) -> Self {
        let mut pins = Self::default();
        for _ in 0..reader.count() {
            let is_old = reader.is_old;
            let id = reader.small();
            let first = if is_old { None } else { Some(BlockId::from(reader.small())) };
            let (from, to) = (BlockId::from(reader.small()), BlockId::from(reader.small()));
            let mark = reader.mark();
            let first = first.unwrap_or(from);
            let text: String = if is_old { String::new() } else { reader.text().into() };
            let is_sent = !is_old && reader.flag() && !text.trim().is_empty();
            // No message has so many parts; a longer run is a forgery that would cost seconds.
            if from < first || to < from || to.since(first) > MOST_PARTS {
                reader.refuse("a pin is of no message");
                return pins;
            }
            pins.blocks.push(Blocks { id, first, from, to, mark, text, is_sent, is_here: false });
        }
        for _ in 0..reader.count() {
            let (id, text) = (reader.small(), reader.text());
            if text.trim().is_empty() {
                reader.refuse("a pinned text is blank");
            }
            pins.texts.push(Loose { id, text: text.into(), is_sent: reader.flag() });
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

    pub(in crate::context) fn id_of(&self, hash: u64) -> u32 {
        self.id_from(u32::try_from(hash & u64::from(IDS)).unwrap_or(0))
    }

    pub(in crate::context) fn add_text(&mut self, text: &str) -> u32 {
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
    pub(in crate::context) fn attach_arrived(
        &mut self,
        blocks: Span<BlockId>,
        mark: u32,
        is_known: bool,
    ) {
        for pin in self.blocks.iter_mut().filter(|pin| pin.mark == mark) {
            if blocks.contains(pin.from) {
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
