//! The identifiers of a transcript: paths, names, ids and numbers that a message may need again.
//!
//! Each is interned once; what the policy asks of it (newest source, uses, blocks) is kept beside its text.

use crate::hash;
use crate::hash_index::Index;
use crate::model::BlockId;
use crate::text::identifiers;

/// An interned identifier. A session has thousands: they are most of what it holds, so each is kept small.
#[derive(Clone, Debug)]
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

/// Identifiers, and bytes of their texts, that one piece of a list takes. A piece never moves: lists that grew as a whole
/// would leave holes behind them as large as they are.
const PIECE: usize = 64;
const TEXT: usize = 2048;
/// Bits of [`Identifier::at`] that say where in its piece a text starts.
const WITHIN: u32 = TEXT.trailing_zeros();

/// All identifiers of a transcript, numbered by first appearance.
#[derive(Clone, Debug, Default)]
pub struct Identifiers {
    texts: Vec<String>,
    pieces: Vec<Vec<Identifier>>,
    index: Index,
    /// Secrets are words like others.
    pub keeps_secrets: bool,
}

impl Identifiers {
    /// The number of `text`; `tokens` is asked for what it costs when it is new.
    pub fn intern(&mut self, text: &str, tokens: impl FnOnce(&str) -> u32) -> u32 {
        let hash = hash::bytes(0, text.as_bytes());
        if let Some(at) = self.index.find(hash, &|at| self.text(number(at)) == text) {
            return number(at);
        }
        let id = self.len();
        let identifier = Identifier {
            at: self.place(text),
            length: u16::try_from(text.len()).unwrap_or(u16::MAX),
            tokens: u16::try_from(tokens(text)).unwrap_or(u16::MAX),
            source: BlockId::NONE,
            newest: BlockId::NONE,
            uses: 0,
            last_use: 0,
            blocks: 0,
            stubbed: false,
            summarized: false,
        };
        if let Some(piece) = self.pieces.last_mut().filter(|piece| piece.len() < PIECE) {
            piece.push(identifier);
        } else {
            // A small session has no full piece.
            let more = if self.pieces.is_empty() { 0 } else { PIECE };
            let mut piece = Vec::with_capacity(more);
            piece.push(identifier);
            self.pieces.push(piece);
        }
        let (texts, pieces) = (&self.texts, &self.pieces);
        let hash_of = |at| hash::bytes(0, slice(texts, pieces, number(at)).as_bytes());
        self.index.add(hash, id as usize, &hash_of);
        id
    }

    /// Where the text stands from now on: the name that a path ends with stands in it.
    fn place(&mut self, text: &str) -> u32 {
        let fits = |piece: &&mut String| piece.len().saturating_add(text.len()) <= TEXT;
        let ends = self.texts.last().is_some_and(|piece| piece.ends_with(text));
        if !ends {
            if let Some(piece) = self.texts.last_mut().filter(fits) {
                piece.push_str(text);
            } else {
                let more = if self.texts.is_empty() { 0 } else { TEXT };
                let mut piece = String::with_capacity(more);
                piece.push_str(text);
                self.texts.push(piece);
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
        slice(&self.texts, &self.pieces, id)
    }

    /// How many there are.
    pub fn len(&self) -> u32 {
        let last = self.pieces.last().map_or(0, Vec::len);
        number(self.pieces.len().saturating_sub(1).saturating_mul(PIECE).saturating_add(last))
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// What is known of it.
    pub fn get(&self, id: u32) -> Option<&Identifier> {
        entry(&self.pieces, id)
    }

    /// What is known of it, to change.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Identifier> {
        let (piece, at) = split(id);
        self.pieces.get_mut(piece)?.get_mut(at)
    }

    /// What the summary says is known to stand in it, and nothing else.
    pub fn note_summary(&mut self, summary: &str) {
        self.iter_mut().for_each(|it| it.summarized = false);
        identifiers(summary, &mut |text, _| {
            let known = self.find(text);
            if let Some(it) = known.and_then(|id| self.get_mut(id)) {
                it.summarized = true;
            }
        });
    }

    /// All, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Identifier)> {
        (0..).zip(self.pieces.iter().flatten())
    }

    /// All, to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Identifier> {
        self.pieces.iter_mut().flatten()
    }
}

/// What a list that has to take up `more` grows by: a quarter. Doubled, a session's lists would stand half empty.
pub(crate) fn room(len: usize, capacity: usize, more: usize) -> usize {
    if capacity.saturating_sub(len) >= more { 0 } else { more.max(len / 4).max(16) }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The piece that an identifier stands in, and its place there.
fn split(id: u32) -> (usize, usize) {
    (id as usize / PIECE, id as usize % PIECE)
}

fn entry(pieces: &[Vec<Identifier>], id: u32) -> Option<&Identifier> {
    let (piece, at) = split(id);
    pieces.get(piece)?.get(at)
}

fn slice<'a>(texts: &'a [String], pieces: &[Vec<Identifier>], id: u32) -> &'a str {
    let Some(it) = entry(pieces, id) else { return "" };
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
        let entries: usize = identifiers.pieces.iter().map(Vec::capacity).sum();
        let bytes: usize = identifiers.texts.iter().map(String::capacity).sum();
        assert!(entries <= 20_000 + PIECE, "{entries}");
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
