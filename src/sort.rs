//! Sorting, once for all: each type that the library's sort is used with costs kilobytes of Wasm.

/// Sorts by two numbers, ascending; what is equal keeps its order.
///
/// # Example
/// ```
/// let mut words = vec!["b", "ccc", "a"];
/// plimsoll::sort::sort_by(&mut words, |word| (-(word.len() as i64), 0));
/// assert_eq!(words, ["ccc", "b", "a"]);
/// ```
pub fn sort_by<T>(list: &mut [T], rank: impl Fn(&T) -> (i64, i64)) {
    let rank = |at| list.get(at).map_or((0, 0), &rank);
    for (at, other) in swaps(list.len(), &rank) {
        list.swap(at, other);
    }
}

/// Sorts ascending; what stands there twice is kept once.
pub fn sort_set<T: PartialOrd>(list: &mut Vec<T>) {
    heapsort(list);
    list.dedup();
}

/// A score and a number as one: the higher score is larger, and of equal ones the higher number.
pub fn ranked(score: u32, number: u32) -> u64 {
    (u64::from(score) << 32) | u64::from(number)
}

/// The numbers of ranks, those of the largest ranks first. Each is found when it is asked for: whoever needs few of many does not
/// wait until all are sorted.
pub fn largest_first(mut ranks: Vec<u64>) -> impl Iterator<Item = u32> {
    make_heap(&mut ranks);
    std::iter::from_fn(move || {
        let last = ranks.len().checked_sub(1)?;
        ranks.swap(0, last);
        let rank = ranks.pop()?;
        sift(&mut ranks, 0);
        u32::try_from(rank & u64::from(u32::MAX)).ok()
    })
}

/// A rank by which the larger stands first.
pub fn down(size: u64) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX).saturating_neg()
}

/// The swaps that sort so many by their ranks, one after the other.
#[inline(never)]
fn swaps(len: usize, rank: &dyn Fn(usize) -> (i64, i64)) -> Vec<(usize, usize)> {
    // Most lists of a first request are this short: an engine then compiles nothing else.
    if len < 2 { Vec::new() } else { swaps_of_many(len, rank) }
}

#[inline(never)]
fn swaps_of_many(len: usize, rank: &dyn Fn(usize) -> (i64, i64)) -> Vec<(usize, usize)> {
    let mut order: Vec<Rank> = (0..len).map(|at| (rank(at), at)).collect();
    heapsort(&mut order);
    // Where each goes, in place of its rank.
    let mut goes = vec![0; order.len()];
    for (to, (_, at)) in order.iter().enumerate() {
        goes.get_mut(*at).into_iter().for_each(|goes| *goes = to);
    }
    let mut swaps = Vec::new();
    for at in 0..goes.len() {
        while let Some(to) = goes.get(at).copied().filter(|to| *to != at) {
            swaps.push((at, to));
            goes.swap(at, to);
        }
    }
    swaps
}

/// Where something goes, and where it was.
type Rank = ((i64, i64), usize);

/// What is equal may change its order: no two ranks are, nor can numbers be told apart that are.
fn heapsort<T: PartialOrd>(order: &mut [T]) {
    if order.is_sorted() {
        return;
    }
    make_heap(order);
    for end in (1..order.len()).rev() {
        order.swap(0, end);
        sift(order.get_mut(..end).unwrap_or_default(), 0);
    }
}

fn make_heap<T: PartialOrd>(list: &mut [T]) {
    for at in (0..list.len() / 2).rev() {
        sift(list, at);
    }
}

/// Lets the one at a place sink to where none below it is larger.
fn sift<T: PartialOrd>(heap: &mut [T], mut at: usize) {
    // Not as options, whose comparison is a call each.
    let below = |heap: &[T], at, other| {
        heap.get(at).zip(heap.get(other)).is_some_and(|(it, other): (&T, &T)| it < other)
    };
    loop {
        let left = at.saturating_mul(2).saturating_add(1);
        let right = left.saturating_add(1);
        let larger = if below(heap, left, right) { right } else { left };
        if !below(heap, at, larger) {
            return;
        }
        heap.swap(at, larger);
        at = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_order_is_that_of_the_stable_sort_of_std(mut list in proptest::collection::vec((0i64..4, 0i64..4, 0u8..9), 0..200)) {
            let mut expected = list.clone();
            expected.sort_by_key(|&(a, b, _)| (a, b));
            sort_by(&mut list, |&(a, b, _)| (a, b));
            prop_assert_eq!(list, expected);
        }

        #[test]
        fn the_largest_come_first_as_the_sort_of_std_has_them(list in proptest::collection::vec((0u32..4, 0u32..9), 0..200)) {
            let mut expected = list.clone();
            expected.sort_by_key(|&rank| std::cmp::Reverse(rank));
            let found = largest_first(list.iter().map(|&(score, number)| ranked(score, number)).collect());
            prop_assert!(found.eq(expected.into_iter().map(|(_, number)| number)));
        }
    }

    #[test]
    fn descending_order_has_the_larger_first() {
        assert!(down(u64::MAX) < down(5) && down(5) < down(0));
        let mut list = vec![3, 1, 3, 2];
        sort_set(&mut list);
        assert_eq!(list, [1, 2, 3]);
    }
}
