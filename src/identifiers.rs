//! The identifiers of a transcript: paths, names, ids and numbers that a message may need again.
//!
//! Each is interned once; what the policy asks of it (newest source, uses, blocks) is kept beside its text.

use crate::hash;
use crate::keyed::Index;
use crate::model::NONE;

/// An interned identifier. A session has thousands: they are most of what it holds, so each is kept small.
#[derive(Clone, Debug)]
pub struct Identifier {
    end: u32,
    /// Tokens that it costs in a stub or digest, with what separates it from the next.
    pub tokens: u16,
    /// The newest result that holds it.
    pub source: u32,
    /// The newest result or call that holds it.
    pub newest: u32,
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
    /// It is a secret, or a part of one: it is told nowhere.
    pub secret: bool,
}

/// All identifiers of a transcript, numbered by first appearance.
#[derive(Clone, Debug, Default)]
pub struct Identifiers {
    text: String,
    entries: Vec<Identifier>,
    index: Index,
    /// Secrets are words like others.
    pub keeps_secrets: bool,
}

impl Identifiers {
    /// The number of `text`; `tokens` is asked for what it costs when it is new.
    pub fn intern(&mut self, text: &str, tokens: impl FnOnce(&str) -> u32) -> u32 {
        let hash = hash::bytes(0, text.as_bytes());
        let number = |at: usize| u32::try_from(at).unwrap_or(NONE);
        if let Some(at) = self.index.find(hash, &|at| self.text(number(at)) == text) {
            return number(at);
        }
        let at = self.entries.len();
        self.text.reserve_exact(room(self.text.len(), self.text.capacity(), text.len()));
        self.entries.reserve_exact(room(self.entries.len(), self.entries.capacity(), 1));
        self.text.push_str(text);
        self.entries.push(Identifier {
            end: u32::try_from(self.text.len()).unwrap_or(NONE),
            tokens: u16::try_from(tokens(text)).unwrap_or(u16::MAX),
            source: NONE,
            newest: NONE,
            uses: 0,
            last_use: 0,
            blocks: 0,
            stubbed: false,
            summarized: false,
            secret: false,
        });
        let (all, entries) = (&self.text, &self.entries);
        let hash_of = |at| hash::bytes(0, slice(all, entries, number(at)).as_bytes());
        self.index.add(hash, at, &hash_of);
        number(at)
    }

    /// The number of `text`, if it has one.
    pub fn find(&self, text: &str) -> Option<u32> {
        let number = |at: usize| u32::try_from(at).unwrap_or(NONE);
        self.index
            .find(hash::bytes(0, text.as_bytes()), &|at| self.text(number(at)) == text)
            .map(number)
    }

    /// Its text.
    pub fn text(&self, id: u32) -> &str {
        slice(&self.text, &self.entries, id)
    }

    /// How many there are.
    pub fn len(&self) -> u32 {
        u32::try_from(self.entries.len()).unwrap_or(NONE)
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

    /// All, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Identifier)> {
        (0..).zip(&self.entries)
    }

    /// All, to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Identifier> {
        self.entries.iter_mut()
    }
}

/// What a list that has to take up `more` grows by: a quarter. Doubled, a session's lists would stand half empty.
pub(crate) fn room(len: usize, capacity: usize, more: usize) -> usize {
    if capacity.saturating_sub(len) >= more { 0 } else { more.max(len / 4).max(16) }
}

fn slice<'a>(text: &'a str, entries: &[Identifier], id: u32) -> &'a str {
    let at = id as usize;
    let start =
        at.checked_sub(1).and_then(|before| entries.get(before)).map_or(0, |entry| entry.end);
    let end = entries.get(at).map_or(start, |entry| entry.end);
    text.get(start as usize..end as usize).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_room_is_kept_for_what_may_come() {
        let mut identifiers = Identifiers::default();
        for n in 0..10_000 {
            identifiers.intern(&format!("src/file_{n}.rs"), |_| 3);
        }
        assert!(identifiers.entries.capacity() <= 12_500);
        assert!(identifiers.text.capacity() <= identifiers.text.len() / 4 * 5);
        assert_eq!(size_of::<Identifier>(), 24);
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
