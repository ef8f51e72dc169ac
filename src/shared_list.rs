//! A list in pieces. Copies of it share each piece until one of them changes it: a copy of a session costs what differs.

use std::rc::Rc;

/// Elements of a piece. A power of two: a place is found by a shift.
const PIECE: usize = 64;

/// A list whose copies share every piece that neither has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedList<T> {
    /// Full, but for the last one; none is empty.
    pieces: Vec<Piece<T>>,
}

type Piece<T> = Rc<Vec<T>>;

impl<T> Default for SharedList<T> {
    fn default() -> Self {
        Self { pieces: Vec::new() }
    }
}

impl<T> SharedList<T> {
    /// How many elements there are.
    pub fn len(&self) -> usize {
        let last = self.pieces.last().map_or(0, |piece| piece.len());
        self.pieces.len().saturating_sub(1).saturating_mul(PIECE).saturating_add(last)
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The element at a place.
    #[inline(never)]
    pub fn get(&self, at: usize) -> Option<&T> {
        self.pieces.get(at / PIECE)?.get(at % PIECE)
    }

    /// The last element.
    pub fn last(&self) -> Option<&T> {
        self.pieces.last()?.last()
    }

    /// All, in order.
    pub fn iter(&self) -> Elements<'_, T> {
        self.iter_to(self.len())
    }

    /// Those from a place on.
    pub fn iter_from(&self, at: usize) -> Elements<'_, T> {
        Elements { list: self, from: at, to: self.len() }
    }

    /// Those before a place.
    pub fn iter_to(&self, at: usize) -> Elements<'_, T> {
        Elements { list: self, from: 0, to: at.min(self.len()) }
    }

    /// Place of the last element for which this holds.
    pub fn rposition(&self, mut is: impl FnMut(&T) -> bool) -> Option<usize> {
        (0..self.len()).rev().find(|at| self.get(*at).is_some_and(&mut is))
    }

    /// How many elements this holds for, if it holds for none after the first for which it does not.
    pub fn partition_point(&self, mut is: impl FnMut(&T) -> bool) -> usize {
        let ends = |piece: &Piece<T>| piece.last().is_some_and(&mut is);
        let full = self.pieces.partition_point(ends);
        let within = self.pieces.get(full).map_or(0, |piece| piece.partition_point(is));
        full.saturating_mul(PIECE).saturating_add(within).min(self.len())
    }
}

/// Elements of a list, one after the other.
#[derive(Clone, Debug)]
pub struct Elements<'a, T> {
    list: &'a SharedList<T>,
    from: usize,
    to: usize,
}

impl<'a, T> Iterator for Elements<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        let next = self.list.get(self.from).filter(|_| self.from < self.to)?;
        self.from = self.from.saturating_add(1);
        Some(next)
    }
}

impl<T> DoubleEndedIterator for Elements<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let before = self.to.checked_sub(1).filter(|at| *at >= self.from)?;
        self.to = before;
        self.list.get(before)
    }
}

impl<'a, T> IntoIterator for &'a SharedList<T> {
    type Item = &'a T;
    type IntoIter = Elements<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A piece that no other list has. One copy of this code for each type: it is long, and asked for in many places.
#[inline(never)]
fn own<T: Clone>(piece: &mut Piece<T>) -> &mut Vec<T> {
    Rc::make_mut(piece)
}

impl<T: Clone> SharedList<T> {
    /// The element at a place, to change. Copies its piece if another list has it too: ask only for what will change.
    #[inline(never)]
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        let piece = self.pieces.get_mut(at / PIECE)?;
        if Rc::get_mut(piece).is_none() {
            own(piece);
        }
        Rc::get_mut(piece)?.get_mut(at % PIECE)
    }

    /// Appends an element.
    #[inline(never)]
    pub fn push(&mut self, element: T) {
        if let Some(piece) = self.pieces.last_mut().filter(|piece| piece.len() < PIECE) {
            let piece = own(piece);
            if piece.len() == piece.capacity() {
                // Doubled, a small session's only piece would stand half empty.
                let left = PIECE.saturating_sub(piece.len());
                piece.reserve_exact((piece.len() / 4).max(8).min(left));
            }
            piece.push(element);
        } else {
            // A small session has no full piece.
            let mut piece = Vec::with_capacity(if self.pieces.is_empty() { 1 } else { PIECE });
            piece.push(element);
            self.pieces.push(Rc::new(piece));
        }
    }

    /// Leaves the first so many.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.len() {
            return;
        }
        self.pieces.truncate(len.div_ceil(PIECE));
        if let Some(last) = self.pieces.last_mut().filter(|_| !len.is_multiple_of(PIECE)) {
            own(last).truncate(len % PIECE);
        }
    }
}

#[cfg(test)]
mod by_place {
    use std::ops::{Index, IndexMut};

    use super::SharedList;

    impl<T> Index<usize> for SharedList<T> {
        type Output = T;

        fn index(&self, at: usize) -> &T {
            self.get(at).unwrap()
        }
    }

    impl<T: Clone> IndexMut<usize> for SharedList<T> {
        fn index_mut(&mut self, at: usize) -> &mut T {
            self.get_mut(at).unwrap()
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A change of a list.
    #[derive(Clone, Debug)]
    enum Change {
        Push(u32),
        Set(usize, u32),
        Truncate(usize),
        Copy,
    }

    fn change() -> impl Strategy<Value = Change> {
        prop_oneof![
            8 => any::<u32>().prop_map(Change::Push),
            3 => (0..200usize, any::<u32>()).prop_map(|(at, to)| Change::Set(at, to)),
            1 => (0..300usize).prop_map(Change::Truncate),
            1 => Just(Change::Copy),
        ]
    }

    fn is_same(list: &SharedList<u32>, all: &[u32]) -> Result<(), TestCaseError> {
        prop_assert_eq!(list.len(), all.len());
        prop_assert_eq!(list.is_empty(), all.is_empty());
        prop_assert_eq!(list.last(), all.last());
        prop_assert!(list.iter().eq(all));
        prop_assert!(list.iter().rev().eq(all.iter().rev()));
        for at in [0, 1, 63, 64, 65, 130, all.len()] {
            prop_assert_eq!(list.get(at), all.get(at));
            prop_assert!(list.iter_from(at).eq(all.iter().skip(at)), "from {}", at);
            prop_assert!(list.iter_from(at).rev().eq(all.iter().skip(at).rev()));
            prop_assert!(list.iter_to(at).rev().eq(all.iter().take(at).rev()), "to {}", at);
        }
        let is = |it: &u32| it.is_multiple_of(3);
        prop_assert_eq!(list.rposition(is), all.iter().rposition(is));
        Ok(())
    }

    proptest! {
        #[test]
        fn a_list_is_like_a_vec_and_its_copies_stay_as_they_were(
            changes in prop::collection::vec(change(), 0..600),
        ) {
            let (mut list, mut all) = (SharedList::default(), Vec::new());
            let mut copies = Vec::new();
            for change in changes {
                match change {
                    Change::Push(it) => {
                        list.push(it);
                        all.push(it);
                    }
                    Change::Set(at, to) => {
                        let places = (list.get_mut(at), all.get_mut(at));
                        prop_assert_eq!(places.0.is_some(), places.1.is_some());
                        if let (Some(one), Some(other)) = places {
                            (*one, *other) = (to, to);
                        }
                    }
                    Change::Truncate(len) => {
                        list.truncate(len);
                        all.truncate(len);
                    }
                    Change::Copy => copies.push((list.clone(), all.clone())),
                }
            }
            is_same(&list, &all)?;
            for (list, all) in &copies {
                is_same(list, all)?;
            }
        }

        #[test]
        fn a_partition_point_is_where_a_vec_has_it(len in 0..300usize, point in 0..400usize) {
            let (mut list, all) = (SharedList::default(), (0..len).collect::<Vec<_>>());
            for at in &all {
                list.push(*at);
            }
            prop_assert_eq!(
                list.partition_point(|at| *at < point),
                all.partition_point(|at| *at < point)
            );
        }
    }

    #[test]
    fn a_copy_that_changes_shares_all_pieces_but_one() {
        let mut list = SharedList::default();
        (0..1000).for_each(|at| list.push(at));
        let mut copy = list.clone();
        if let Some(it) = copy.get_mut(500) {
            *it = 0;
        }
        let shared = list.pieces.iter().zip(&copy.pieces).filter(|(a, b)| Rc::ptr_eq(a, b));
        assert_eq!((shared.count(), list.pieces.len()), (15, 16));
        assert_eq!((list.get(500), copy.get(500)), (Some(&500), Some(&0)));
    }

    #[test]
    fn a_list_allocates_little_more_than_it_holds() {
        let mut list = SharedList::default();
        for len in 1..=10_000 {
            list.push(len);
            let room: usize = list.pieces.iter().map(|piece| piece.capacity()).sum();
            assert!(room <= (len + len / 4 + 8).max(len + PIECE), "{room} for {len}");
        }
    }
}
