//! Calls that wait for a result, found by id and by name in the time of one look, however many there are.

use crate::hash::bytes;
use crate::hash_index::ByHash;
use crate::validity::call::Call;

/// Up to so many are looked through one by one: a turn has few calls, and lists cost more than they save.
const FEW: usize = 16;
/// No place.
const END: u32 = u32::MAX;

/// What calls are looked for by; those that are the same in it make a list.
#[derive(Clone, Copy)]
pub(super) enum By<'k> {
    /// What pairs a result with its call.
    Key(&'k str),
    /// The same, and the name.
    KeyAndName(&'k str, &'k str),
    Name(&'k str),
    /// The name, of those that go out without an id.
    NameWithoutId(&'k str),
    /// The id with which they go out.
    Wire(&'k str),
}

impl By<'_> {
    const ALL: usize = 5;

    fn is(self, call: &Call) -> bool {
        match self {
            Self::Key(key) => *call.key == *key,
            Self::KeyAndName(key, name) => *call.key == *key && *call.traits.name == *name,
            Self::Name(name) => *call.traits.name == *name,
            Self::NameWithoutId(name) => *call.traits.name == *name && call.wire.is_empty(),
            Self::Wire(wire) => *call.wire == *wire,
        }
    }

    fn hash(self) -> u64 {
        match self {
            Self::Key(key) => bytes(0, key.as_bytes()),
            Self::KeyAndName(key, name) => bytes(bytes(1, key.as_bytes()), name.as_bytes()),
            Self::Name(name) => bytes(2, name.as_bytes()),
            Self::NameWithoutId(name) => bytes(3, name.as_bytes()),
            Self::Wire(wire) => bytes(4, wire.as_bytes()),
        }
    }

    /// Its place among the lists that a call is in.
    fn list(self) -> usize {
        match self {
            Self::Key(_) => 0,
            Self::KeyAndName(..) => 1,
            Self::Name(_) => 2,
            Self::NameWithoutId(_) => 3,
            Self::Wire(_) => 4,
        }
    }

    /// All that a call is found by.
    fn all(call: &Call) -> [By<'_>; By::ALL] {
        let (key, name, wire) = (&*call.key, &*call.traits.name, &*call.wire);
        let unnamed = By::NameWithoutId(if wire.is_empty() { name } else { "" });
        [By::Key(key), By::KeyAndName(key, name), By::Name(name), unnamed, By::Wire(wire)]
    }
}

/// Open calls, in the order in which they were made.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenCalls {
    /// A call that was taken leaves its place empty: the others keep theirs.
    calls: Vec<Option<Call>>,
    left: usize,
    /// Of those that are left.
    provider_run: usize,
    /// None as long as there are few.
    lists: Option<Box<Lists>>,
}

/// An index of the open calls for each way in which a result finds its call.
#[derive(Clone, Debug, Default)]
struct Lists {
    /// Where each list starts (upper half) and ends.
    ends: [ByHash; By::ALL],
    /// For each call the next one in each of its lists.
    next: Vec<[u32; By::ALL]>,
}

impl OpenCalls {
    pub(super) fn push(&mut self, call: Call) {
        self.left = self.left.saturating_add(1);
        self.provider_run = self.provider_run.saturating_add(call.is_provider_run().into());
        self.calls.push(Some(call));
        if self.calls.len() > FEW {
            self.list_new();
        }
    }

    /// Puts the calls that are in no list yet into their lists.
    #[inline(never)]
    fn list_new(&mut self) {
        let lists = self.lists.get_or_insert_default();
        for call in self.calls.iter().skip(lists.next.len()) {
            lists.push(call.as_ref());
        }
    }

    /// The place of the oldest that is the one.
    fn find(&mut self, by: By<'_>) -> Option<usize> {
        let Some(lists) = &mut self.lists else {
            return self.calls.iter().position(|it| it.as_ref().is_some_and(|call| by.is(call)));
        };
        let ends = lists.ends.get_mut(by.list())?;
        let hash = by.hash();
        let (first, last) = ends.get(hash).map(unpack)?;
        let (mut start, mut at) = (first, first);
        let found = loop {
            #[cfg(test)]
            STEPS.set(STEPS.get().saturating_add(1));
            let Some(call) = self.calls.get(at as usize) else { break None };
            if call.as_ref().is_some_and(|call| by.is(call)) {
                break Some(at as usize);
            }
            let next = lists.next.get(at as usize).and_then(|next| next.get(by.list()));
            let next = next.copied().unwrap_or(END);
            // Those at the start that were taken are passed over for good; the last says where the list goes on.
            if call.is_none() && start == at && next != END {
                start = next;
            }
            at = next;
        };
        if start != first {
            ends.insert(hash, pack(start, last));
        }
        found
    }

    fn remove(&mut self, at: usize) -> Option<Call> {
        let call = self.calls.get_mut(at)?.take()?;
        self.left = self.left.saturating_sub(1);
        self.provider_run = self.provider_run.saturating_sub(call.is_provider_run().into());
        if self.left == 0 {
            self.calls.clear();
            self.lists = None;
        } else if self.left < self.calls.len() / 4 {
            // Places of calls that were taken are given up, or the list would grow with the session.
            self.retain(|_| true);
        }
        Some(call)
    }

    /// Takes the oldest that is the one.
    pub(super) fn take(&mut self, by: By<'_>) -> Option<Call> {
        let at = self.find(by)?;
        self.remove(at)
    }

    /// Takes the newest that stands in this part, of those that are call and result in one.
    pub(super) fn take_last(&mut self, is: impl Fn(&Call) -> bool) -> Option<Call> {
        let at = self.calls.iter().rposition(|it| it.as_ref().is_some_and(&is))?;
        self.remove(at)
    }

    pub(super) fn has(&mut self, by: By<'_>) -> bool {
        self.find(by).is_some()
    }

    /// How many there are of the key.
    pub(super) fn count(&self, key: &str) -> usize {
        let by = By::Key(key);
        let Some(lists) = &self.lists else {
            return self.iter().filter(|call| by.is(call)).count();
        };
        let first = lists.ends.first().and_then(|ends| ends.get(by.hash()));
        let (mut count, mut at) = (0_usize, first.map_or(END, |list| unpack(list).0));
        while let (Some(call), Some(next)) =
            (self.calls.get(at as usize), lists.next.get(at as usize))
        {
            count = count.saturating_add(call.as_ref().is_some_and(|call| by.is(call)).into());
            at = next.first().copied().unwrap_or(END);
        }
        count
    }

    /// The oldest that is the one, to change.
    pub(super) fn get_mut(&mut self, by: By<'_>) -> Option<&mut Call> {
        let at = self.find(by)?;
        self.calls.get_mut(at)?.as_mut()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Calls that the provider runs are among them.
    pub(super) fn has_provider_run(&self) -> bool {
        self.provider_run > 0
    }

    /// Calls that the host runs are among them.
    pub(super) fn has_host_run(&self) -> bool {
        self.left > self.provider_run
    }

    /// In the order in which they were made.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().flatten()
    }

    /// The same, to change what is not looked for.
    pub(super) fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Call> {
        self.calls.iter_mut().flatten()
    }

    /// Leaves those that are to stay, and returns the others.
    pub(super) fn retain(&mut self, stays: impl Fn(&Call) -> bool) -> Vec<Call> {
        let mut gone = Vec::new();
        for call in std::mem::take(self).into_calls() {
            if stays(&call) { self.push(call) } else { gone.push(call) }
        }
        gone
    }

    pub(super) fn into_calls(self) -> impl Iterator<Item = Call> {
        self.calls.into_iter().flatten()
    }
}

impl Lists {
    /// The next call, at the end of each list in which it is looked for.
    fn push(&mut self, call: Option<&Call>) {
        let place = u32::try_from(self.next.len()).unwrap_or(END);
        self.next.push([END; By::ALL]);
        let Some(call) = call else { return };
        for (by, ends) in By::all(call).into_iter().zip(&mut self.ends) {
            let hash = by.hash();
            let known = ends.get(hash).map(unpack);
            if let Some((_, last)) = known
                && let Some(next) = self.next.get_mut(last as usize)
                && let Some(slot) = next.get_mut(by.list())
            {
                *slot = place;
            }
            let first = known.map_or(place, |(first, _)| first);
            ends.insert(hash, pack(first, place));
        }
    }
}

fn pack(first: u32, last: u32) -> i64 {
    (i64::from(first) << 32) | i64::from(last)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "both halves were packed from numbers of this size"
)]
fn unpack(list: i64) -> (u32, u32) {
    ((list >> 32) as u32, list as u32)
}

#[cfg(test)]
thread_local! {
    /// Looks at calls in lists so far: that they grow as the calls do is tested.
    pub(super) static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kind, Place, Traits};
    use proptest::prelude::*;

    fn call(number: u32, key: &str, name: &str, wire: &str) -> Call {
        let traits = Traits::new(Kind::Call, Place::Item(number));
        let within = number.is_multiple_of(3);
        Call {
            message: number.into(),
            piece: 0,
            traits: Traits { name: name.into(), within, ..traits }.into(),
            wire: wire.into(),
            key: key.into(),
            group: 0.into(),
            anchor: 0.into(),
            asked: false,
            made_calls: false,
            decided: None,
        }
    }

    proptest! {
        /// The same as a list that is looked through from its start.
        #[test]
        fn open_calls_are_found_as_in_a_plain_list(
            steps in prop::collection::vec((0..8_u32, "[ab]{0,2}", "[xy]?", "w?"), 0..120),
        ) {
            let (mut calls, mut plain) = (OpenCalls::default(), Vec::new());
            for (number, (kind, key, name, wire)) in (0..).zip(&steps) {
                let by = match kind {
                    0 => By::Key(key),
                    1 => By::KeyAndName(key, name),
                    2 => By::Name(name),
                    3 => By::NameWithoutId(name),
                    4 => By::Wire(wire),
                    _ => {
                        calls.push(call(number, key, name, wire));
                        plain.push(call(number, key, name, wire));
                        continue;
                    }
                };
                prop_assert_eq!(calls.count(key), plain.iter().filter(|it| *it.key == **key).count());
                let expected = plain.iter().position(|it| by.is(it)).map(|at| plain.remove(at));
                let taken = calls.take(by);
                prop_assert_eq!(taken.map(|it| it.message), expected.map(|it| it.message));
                let messages = |calls: Vec<&Call>| calls.iter().map(|it| it.message).collect::<Vec<_>>();
                prop_assert_eq!(messages(calls.iter().collect()), messages(plain.iter().collect()));
                prop_assert_eq!(calls.is_empty(), plain.is_empty());
                prop_assert_eq!(calls.has_provider_run(), plain.iter().any(Call::is_provider_run));
                prop_assert_eq!(calls.has_host_run(), !plain.iter().all(Call::is_provider_run));
            }
        }
    }

    /// Three quarters of the places may be empty, so a call that stays open keeps no place for each call after it.
    #[test]
    fn empty_places_are_dropped_once_they_are_more_than_three_quarters() {
        let mut calls = OpenCalls::default();
        (0..100).for_each(|at| calls.push(call(at, &format!("k{at}"), "", "")));
        for at in 0..75 {
            assert!(calls.take(By::Key(&format!("k{at}"))).is_some());
            assert_eq!(calls.calls.len(), 100);
        }
        assert!(calls.take(By::Key("k75")).is_some());
        assert_eq!(calls.calls.len(), 24);
    }

    /// Those of one id that were taken are not looked at again for each one after them.
    #[test]
    fn many_open_calls_of_one_id_take_linear_work() {
        let work = |count: u32| {
            let before = STEPS.get();
            let mut calls = OpenCalls::default();
            (0..count).for_each(|at| calls.push(call(at, "k", "", "")));
            for at in 0..count {
                assert_eq!(calls.take(By::Key("k")).map(|it| it.message.get()), Some(at));
            }
            STEPS.get() - before
        };
        let (few, many) = (work(1_000), work(4_000));
        assert!(few >= 900 && many <= few * 5, "{few} and {many}");
    }

    /// Four times the calls take about four times as many looks, in whatever order they are answered.
    #[test]
    fn many_open_calls_take_linear_work() {
        let work = |count: u32, order: &dyn Fn(u32) -> u32, same_key: bool| {
            let before = STEPS.get();
            let mut calls = OpenCalls::default();
            let key = |at: u32| if same_key { "k".to_owned() } else { format!("k{at}") };
            for at in 0..count {
                calls.push(call(at, &key(at), &format!("n{at}"), &format!("w{at}")));
            }
            for at in (0..count).map(order) {
                let (key, name) = (key(at), format!("n{at}"));
                assert_eq!(
                    calls.take(By::KeyAndName(&key, &name)).map(|it| it.message.get()),
                    Some(at)
                );
                assert!(!calls.has(By::NameWithoutId(&name)));
            }
            assert!(calls.is_empty());
            STEPS.get() - before
        };
        for same_key in [false, true] {
            for (name, order) in [
                ("in order", (|at, _| at) as fn(u32, u32) -> u32),
                ("from the last", |at, count| count - 1 - at),
                ("mixed", |at, count| (at * 7) % count),
            ] {
                let (one, four) = (1_000, 4_000);
                let few = work(one, &|at| order(at, one), same_key);
                let many = work(four, &|at| order(at, four), same_key);
                assert!(few >= 900 && many <= few * 5, "{name}: {few} and {many}");
            }
        }
    }
}
