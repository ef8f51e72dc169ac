//! Word index over candidates: finds those that share words without comparing every pair.

use super::entry::Candidate;
use crate::hash::{bytes, round};
use crate::hash_index::ByHash;

/// Candidates by the words of their content, each in its group: a kind, category, tool and trust.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    lists: ByHash,
    /// Under each word the places of those that have it.
    places: Vec<Vec<u32>>,
    /// How many words each candidate has.
    sizes: Vec<u32>,
    /// Places of those without words.
    wordless: Vec<u32>,
    /// Words that each shares with the one that is looked up: all 0 between two look-ups. It is kept, since making it anew would cost as
    /// much as looking at all.
    shared: Vec<u32>,
    /// Places by ids.
    ids: ByHash,
}

impl Index {
    /// Of these.
    pub(super) fn of(all: &[Candidate]) -> Self {
        let mut index = Self::default();
        for it in all {
            index.add(it);
        }
        index
    }

    /// One more, after the others.
    pub(super) fn add(&mut self, it: &Candidate) {
        let place = u32::try_from(self.sizes.len()).unwrap_or(u32::MAX);
        for word in it.words.hashes() {
            let key = round(it.group, u64::from(*word));
            let list = self.list(key).unwrap_or_else(|| {
                self.places.push(Vec::new());
                let new = self.places.len().saturating_sub(1);
                self.lists.insert(key, i64::try_from(new).unwrap_or(i64::MAX));
                new
            });
            if let Some(list) = self.places.get_mut(list) {
                list.push(place);
            }
        }
        if size(it) == 0 {
            self.wordless.push(place);
        }
        self.sizes.push(size(it));
        self.shared.push(0);
        let id = bytes(0, it.id.as_bytes());
        if self.ids.get(id).is_none() {
            self.ids.insert(id, place.into());
        }
    }

    /// The place where the candidate with this id is, unless another id has the same hash.
    pub(super) fn place(&self, id: &str) -> Option<usize> {
        usize::try_from(self.ids.get(bytes(0, id.as_bytes()))?).ok()
    }

    /// The places of those that might be like it, in no order: of its group, with two words of seven in common; or of any, with no word
    /// at all, as it has none.
    pub(super) fn near(&mut self, new: &Candidate) -> Vec<usize> {
        let own = size(new);
        if own == 0 {
            return self.wordless.iter().map(|place| *place as usize).collect();
        }
        let mut met = Vec::new();
        for word in new.words.hashes() {
            let list = self.list(round(new.group, u64::from(*word)));
            for place in list.and_then(|list| self.places.get(list)).into_iter().flatten() {
                if let Some(count) = self.shared.get_mut(*place as usize) {
                    if *count == 0 {
                        met.push(*place as usize);
                    }
                    *count = count.saturating_add(1);
                }
            }
        }
        met.retain(|place| {
            let shared = self.shared.get_mut(*place).map_or(0, std::mem::take);
            let size = self.sizes.get(*place).copied().unwrap_or(0);
            let all = size.saturating_add(own).saturating_sub(shared);
            shared.saturating_mul(7) >= all.saturating_mul(2)
        });
        met
    }

    fn list(&self, key: u64) -> Option<usize> {
        usize::try_from(self.lists.get(key)?).ok()
    }
}

fn size(it: &Candidate) -> u32 {
    u32::try_from(it.words.hashes().len()).unwrap_or(u32::MAX)
}
