//! The identifiers of a transcript: paths, names, ids and numbers that a message may need again.
//!
//! Each is interned once; what the policy asks of it (newest source, uses, blocks) is kept beside its text.

use std::rc::Rc;

use crate::hash;
use crate::hash_index::Index;
use crate::model::BlockId;
use crate::shared_list::SharedList;
use crate::text::identifiers;

/// An interned identifier. A session has thousands: they are most of what it holds, so each is kept small.
#[derive(Clone, Copy, Debug)]
pub struct Identifier {
    /// Where its text starts: in which piece of the texts, and in its upper bits at which byte of it.
    at: u32,
    length: u16,
    /// Tokens that it costs in a stub or digest, with what separates it from the next; none: it is a secret, or a part of
    /// one, and is told nowhere.
    pub tokens: u16,
    /// The newest result that holds it.
    pub source: BlockId,
    /// The newest result or call that holds it.
    pub newest: BlockId,
    /// Blocks of the model's own text and calls that hold it; nobody asks beyond ten.
    pub uses: u8,
    /// Call of the last of them.
    pub last_use: u32,
    /// Blocks that hold it; nobody asks beyond eight.
    pub blocks: u8,
    /// It stands in a stub.
    pub stubbed: bool,
    /// It stands in the summary.
    pub summarized: bool,
}

/// Bytes of one piece of the texts. A piece never moves: a text that grew as a whole would leave holes after it as large as it is.
const TEXT: usize = 2048;
/// Bits of [`Identifier::at`] that say where in its piece a text starts.
const WITHIN: u32 = TEXT.trailing_zeros();

/// All identifiers of a transcript, numbered by first appearance. Copies share what neither has changed.
#[derive(Clone, Debug, Default)]
pub struct Identifiers {
    texts: Vec<Rc<String>>,
    entries: SharedList<Identifier>,
    index: Rc<Index>,
    /// Secrets are words like others.
    pub keeps_secrets: bool,
    /// A secret, or a part of one, is among them.
    pub has_secrets: bool,
}

impl Identifiers {
    /// The number of `text`; `tokens` is asked for what it costs when it is new.
    pub fn intern(&mut self, text: &str, tokens: impl FnOnce(&str) -> u32) -> u32 {
        let hash = hash::bytes(0, text.as_bytes());
        if let Some(at) = self.index.find(hash, &|at| self.text(number(at)) == text) {
            return number(at);
        }
        let id = self.len();
        let tokens = u16::try_from(tokens(text)).unwrap_or(u16::MAX);
        self.has_secrets |= tokens == 0;
        let identifier = Identifier {
            at: self.place(text),
            length: u16::try_from(text.len()).unwrap_or(u16::MAX),
            tokens,
            source: BlockId::NONE,
            newest: BlockId::NONE,
            uses: 0,
            last_use: 0,
            blocks: 0,
            stubbed: false,
            summarized: false,
        };
        self.entries.push(identifier);
        let (texts, entries) = (&self.texts, &self.entries);
        let hash_of = |at| hash::bytes(0, slice(texts, entries, number(at)).as_bytes());
        Rc::make_mut(&mut self.index).add(hash, id as usize, &hash_of);
        id
    }

    /// Where the text stands from now on: the name that a path ends with stands in it.
    fn place(&mut self, text: &str) -> u32 {
        let fits = |piece: &&mut Rc<String>| piece.len().saturating_add(text.len()) <= TEXT;
        let ends = self.texts.last().is_some_and(|piece| piece.ends_with(text));
        if !ends {
            if let Some(piece) = self.texts.last_mut().filter(fits) {
                let piece = Rc::make_mut(piece);
                if piece.capacity() < piece.len().saturating_add(text.len()) {
                    piece.reserve_exact(TEXT.saturating_sub(piece.len()));
                }
                piece.push_str(text);
            } else {
                let more = if self.texts.is_empty() { 0 } else { TEXT };
                let mut piece = String::with_capacity(more);
                piece.push_str(text);
                self.texts.push(Rc::new(piece));
            }
        }
        let start = self.texts.last().map_or(0, |piece| piece.len().saturating_sub(text.len()));
        let piece = number(self.texts.len().saturating_sub(1));
        (piece << WITHIN) | (number(start) & ((1 << WITHIN) - 1))
    }

    /// The number of `text`, if it has one.
    pub fn find(&self, text: &str) -> Option<u32> {
        self.index
            .find(hash::bytes(0, text.as_bytes()), &|at| self.text(number(at)) == text)
            .map(number)
    }

    /// Its text.
    pub fn text(&self, id: u32) -> &str {
        slice(&self.texts, &self.entries, id)
    }

    /// How many there are.
    pub fn len(&self) -> u32 {
        number(self.entries.len())
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What is known of it.
    pub fn get(&self, id: u32) -> Option<&Identifier> {
        self.entries.get(id as usize)
    }

    /// What is known of it, to change.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Identifier> {
        self.entries.get_mut(id as usize)
    }

    /// What the summary says is known to stand in it, and nothing else.
    pub fn note_summary(&mut self, summary: &str) {
        self.change_those(|it| it.summarized, |it| it.summarized = false);
        identifiers(summary, &mut |text, _| {
            let known = self.find(text);
            if let Some(it) = known.and_then(|id| self.get_mut(id)) {
                it.summarized = true;
            }
        });
    }

    /// All, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Identifier)> {
        (0..).zip(self.entries.iter())
    }

    /// Changes those of which this holds. The others stay shared with copies.
    pub fn change_those(
        &mut self,
        is: impl Fn(&Identifier) -> bool,
        change: impl Fn(&mut Identifier),
    ) {
        for at in 0..self.entries.len() {
            if self.entries.get(at).is_some_and(&is) {
                self.entries.get_mut(at).into_iter().for_each(&change);
            }
        }
    }
}

/// What a list that has to take up `more` grows by: a quarter. Doubled, a session's lists would stand half empty.
pub(crate) fn room(len: usize, capacity: usize, more: usize) -> usize {
    if capacity.saturating_sub(len) >= more { 0 } else { more.max(len / 4).max(16) }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn slice<'a>(texts: &'a [Rc<String>], entries: &SharedList<Identifier>, id: u32) -> &'a str {
    let Some(it) = entries.get(id as usize) else { return "" };
    let start = (it.at & ((1 << WITHIN) - 1)) as usize;
    let text = texts.get((it.at >> WITHIN) as usize);
    text.and_then(|text| text.get(start..start.saturating_add(it.length.into()))).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_allocate_little_more_than_they_use() {
        let mut identifiers = Identifiers::default();
        for n in 0..10_000 {
            identifiers.intern(&format!("src/file_{n}.rs"), |_| 3);
            identifiers.intern(&format!("file_{n}.rs"), |_| 3);
        }
        let bytes: usize = identifiers.texts.iter().map(|piece| piece.capacity()).sum();
        assert!(bytes <= 10_000 * "src/file_1000.rs".len() + TEXT, "{bytes}: no name twice");
        assert_eq!(size_of::<Identifier>(), 24);
    }

    #[test]
    fn the_longest_identifiers_keep_their_text() {
        let mut identifiers = Identifiers::default();
        let texts: Vec<String> = (0..60).map(|n| format!("{n}{}", "é".repeat(198))).collect();
        let all: Vec<u32> = texts.iter().map(|text| identifiers.intern(text, |_| 1)).collect();
        for (id, text) in all.into_iter().zip(&texts) {
            assert_eq!(identifiers.text(id), text);
        }
        assert_eq!(identifiers.iter().count(), 60);
    }

    #[test]
    fn the_same_text_has_the_same_number() {
        let mut identifiers = Identifiers::default();
        let names: Vec<String> = (0..1000).map(|n| format!("src/file_{n}.rs")).collect();
        for (id, name) in (0..).zip(&names) {
            assert_eq!(identifiers.intern(name, |_| 3), id);
        }
        for (id, name) in (0..).zip(&names) {
            assert_eq!(identifiers.intern(name, |_| panic!("measured twice")), id);
            assert_eq!(identifiers.text(id), name);
        }
        assert_eq!(identifiers.len(), 1000);
    }
}
