//! Sorting, once for all: each type that the library's sort is used with costs kilobytes of Wasm.

/// Sorts by two numbers, ascending; what is equal keeps its order.
///
/// # Example
/// ```
/// let mut words = vec!["b", "ccc", "a"];
/// plimsoll::order::sort_by(&mut words, |word| (-(word.len() as i64), 0));
/// assert_eq!(words, ["ccc", "b", "a"]);
/// ```
pub fn sort_by<T>(list: &mut Vec<T>, rank: impl Fn(&T) -> (i64, i64)) {
    let mut order: Vec<Rank> = (0..).zip(list.iter()).map(|(at, item)| (rank(item), at)).collect();
    sort_ranks(&mut order);
    let mut items: Vec<Option<T>> = list.drain(..).map(Some).collect();
    list.extend(order.iter().filter_map(|(_, at)| items.get_mut(*at)?.take()));
}

/// Sorts ascending; what stands there twice is kept once.
pub fn sort_set(list: &mut Vec<u32>) {
    sort_by(list, |number| (i64::from(*number), 0));
    list.dedup();
}

/// A rank by which the larger stands first.
pub fn down(size: u64) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX).saturating_neg()
}

/// Where something goes, and where it was.
type Rank = ((i64, i64), usize);

#[inline(never)]
fn sort_ranks(order: &mut [Rank]) {
    order.sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn is_the_stable_sort(mut list in proptest::collection::vec((0i64..4, 0i64..4, 0u8..9), 0..200)) {
            let mut expected = list.clone();
            expected.sort_by_key(|&(a, b, _)| (a, b));
            sort_by(&mut list, |&(a, b, _)| (a, b));
            prop_assert_eq!(list, expected);
        }
    }

    #[test]
    fn the_larger_stands_first() {
        assert!(down(u64::MAX) < down(5) && down(5) < down(0));
        let mut list = vec![3, 1, 3, 2];
        sort_set(&mut list);
        assert_eq!(list, [1, 2, 3]);
    }
}
