//! Maps that grow with a transcript or a file: hashed, over one table.

use std::borrow::Cow;

use hashbrown::HashTable;

use crate::hash::{SPREAD, bytes};

/// Positions by hashes: the one table that is hashed, since each type of it costs kilobytes of Wasm. It keeps no hash:
/// a session's thousands of identifiers stand in it, and who adds one can tell those of the others.
#[derive(Clone, Debug, Default)]
pub struct Index(HashTable<u32>);

impl Index {
    /// The position that stands under the hash and is the one.
    pub fn find(&self, hash: u64, is: &dyn Fn(usize) -> bool) -> Option<usize> {
        self.0.find(spread(hash), |&at| is(at as usize)).map(|&at| at as usize)
    }

    /// Puts a position there, beside those that are there already; `hash_of` tells the hash of each.
    pub fn add(&mut self, hash: u64, at: usize, hash_of: &dyn Fn(usize) -> u64) {
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        self.0.insert_unique(spread(hash), at, |&at| spread(hash_of(at as usize)));
    }
}

/// Positions in a list that is mostly short, by hashes.
#[derive(Clone, Debug, Default)]
pub struct ShortIndex {
    /// Empty as long as there are few.
    index: Index,
}

/// Up to so many entries are looked through one by one: a table costs more than it saves.
const FEW: usize = 8;

impl ShortIndex {
    /// The position in a list of so many that is the one; it stands under the hash.
    pub fn find(
        &self,
        len: usize,
        hash: impl Fn() -> u64,
        is: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        if len <= FEW { (0..len).find(|&at| is(at)) } else { self.index.find(hash(), is) }
    }

    /// The list has so many now: its last is new. `hash_of` tells the hash of each.
    pub fn add_last(&mut self, len: usize, hash_of: &dyn Fn(usize) -> u64) {
        let first = if len == FEW.saturating_add(1) { 0 } else { len.saturating_sub(1) };
        for at in (first..len).filter(|_| len > FEW) {
            self.index.add(hash_of(at), at, hash_of);
        }
    }
}

fn spread(hash: u64) -> u64 {
    (hash >> 32).wrapping_mul(SPREAD)
}

/// Numbers by keys that are hashes already.
#[derive(Clone, Debug, Default)]
pub struct ByHash {
    index: Index,
    entries: Vec<(u64, i64)>,
}

/// Hashes, each once.
#[derive(Clone, Debug, Default)]
pub struct Hashes {
    index: Index,
    all: Vec<u64>,
}

impl Hashes {
    /// It is one of them.
    pub fn has(&self, hash: u64) -> bool {
        self.index.find(hash, &|at| self.all.get(at) == Some(&hash)).is_some()
    }

    /// It is one of them from now on. True: it was none before.
    pub fn insert(&mut self, hash: u64) -> bool {
        let is_new = !self.has(hash);
        if is_new {
            let hash_of = |at: usize| self.all.get(at).copied().unwrap_or_default();
            self.index.add(hash, self.all.len(), &hash_of);
            self.all.push(hash);
        }
        is_new
    }
}

impl ByHash {
    fn at(&self, key: u64) -> Option<usize> {
        self.index.find(key, &|at| self.entries.get(at).is_some_and(|(known, _)| *known == key))
    }

    /// What stands at the key.
    pub fn get(&self, key: u64) -> Option<i64> {
        self.entries.get(self.at(key)?).map(|(_, value)| *value)
    }

    /// Puts a value there and gives the one before.
    pub fn insert(&mut self, key: u64, value: i64) -> Option<i64> {
        if let Some((_, known)) = self.at(key).and_then(|at| self.entries.get_mut(at)) {
            return Some(std::mem::replace(known, value));
        }
        let entries = &self.entries;
        let hash_of = |at: usize| entries.get(at).map_or(0, |(key, _)| *key);
        self.index.add(key, entries.len(), &hash_of);
        self.entries.push((key, value));
        None
    }
}

/// Positions by names, each name within a scope of its own.
///
/// # Example
/// ```
/// let mut calls = plimsoll::hash_index::ByName::default();
/// assert_eq!(calls.insert(0, "toolu_1", 5), None);
/// assert_eq!((calls.get(0, "toolu_1"), calls.get(1, "toolu_1")), (Some(5), None));
/// assert_eq!(calls.insert(0, "toolu_1", 6), Some(5));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ByName<'a> {
    index: ShortIndex,
    names: Vec<Named<'a>>,
}

#[derive(Clone, Debug)]
struct Named<'a> {
    scope: usize,
    name: Cow<'a, str>,
    position: usize,
}

impl<'a> ByName<'a> {
    fn at(&self, scope: usize, name: &str) -> Option<usize> {
        let is = |named: &Named<'_>| named.scope == scope && named.name == name;
        let is_at = |at: usize| self.names.get(at).is_some_and(is);
        self.index.find(self.names.len(), || hash(scope, name), &is_at)
    }

    /// The position that the name has in the scope.
    pub fn get(&self, scope: usize, name: &str) -> Option<usize> {
        let at = self.at(scope, name)?;
        self.names.get(at).map(|named| named.position)
    }

    /// How many names there are.
    pub const fn len(&self) -> usize {
        self.names.len()
    }

    /// There is none.
    pub const fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The name that came so many after the first.
    pub fn name(&self, at: usize) -> Option<&str> {
        self.names.get(at).map(|named| &*named.name)
    }

    /// All names, as they came.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|named| &*named.name)
    }

    /// The name has a position in the scope.
    pub fn has(&self, scope: usize, name: &str) -> bool {
        self.get(scope, name).is_some()
    }

    /// Gives the name a position in the scope, and tells the one before.
    pub fn insert(
        &mut self,
        scope: usize,
        name: impl Into<Cow<'a, str>>,
        position: usize,
    ) -> Option<usize> {
        self.put(scope, name.into(), position)
    }

    fn put(&mut self, scope: usize, name: Cow<'a, str>, position: usize) -> Option<usize> {
        let at = self.at(scope, &name);
        if let Some(known) = at.and_then(|at| self.names.get_mut(at)) {
            return Some(std::mem::replace(&mut known.position, position));
        }
        self.names.push(Named { scope, name, position });
        let names = &self.names;
        let hash_of = |at: usize| names.get(at).map_or(0, |it| hash(it.scope, &it.name));
        self.index.add_last(names.len(), &hash_of);
        None
    }
}

fn hash(scope: usize, name: &str) -> u64 {
    bytes(scope as u64, name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_after_growth_and_only_in_their_scope() {
        let mut names = ByName::default();
        for at in 0..2000 {
            assert_eq!(names.insert(at % 2, format!("a name of some length {}", at / 2), at), None);
        }
        for at in 0..2000 {
            let name = format!("a name of some length {}", at / 2);
            assert_eq!(names.get(at % 2, &name), Some(at));
            assert!(!names.has(2, &name));
        }
    }

    #[test]
    fn hashes_are_found_after_growth() {
        let mut hashes = Hashes::default();
        let hash = |at: u64| crate::hash::mix(at);
        for at in 0..1000 {
            assert!(!hashes.has(hash(at)));
            hashes.insert(hash(at));
            hashes.insert(hash(at));
            assert!(hashes.has(hash(at)));
        }
        assert_eq!((0..2000).filter(|&at| hashes.has(hash(at))).count(), 1000);
        assert_eq!(hashes.all.len(), 1000);
    }

    #[test]
    fn a_hash_has_its_last_value() {
        let mut numbers = ByHash::default();
        for key in 0..1000 {
            numbers.insert(key, -1);
            assert_eq!(numbers.insert(key, 7), Some(-1));
        }
        assert_eq!((numbers.get(999), numbers.get(1000)), (Some(7), None));
    }
}
