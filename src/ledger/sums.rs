//! Sums of a list's ends, kept while its numbers change (a Fenwick tree).

use crate::shared_list::SharedList;

/// The numbers of a list, of which the sum from any place on is known in as many steps as the length has bits.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    /// At `i - 1` the sum of the numbers from `i - lowest bit of i` to `i - 1`.
    tree: SharedList<u64>,
    total: u64,
}

impl Sums {
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn push(&mut self, number: u64) {
        let mut last = self.tree.len();
        let first = parent(last.saturating_add(1));
        let mut sum = number;
        // Most places have no other below them.
        while last > first
            && let Some(part) = self.tree.get(last.saturating_sub(1))
        {
            sum = sum.saturating_add(*part);
            last = parent(last);
        }
        self.tree.push(sum);
        self.total = self.total.saturating_add(number);
    }

    /// The number at `at` was `old` and is `new`.
    pub(super) fn change(&mut self, at: u32, old: u64, new: u64) {
        let change = |sum: u64| sum.saturating_sub(old).saturating_add(new);
        let mut place = (at as usize).saturating_add(1);
        while let Some(sum) = self.tree.get_mut(place.saturating_sub(1)) {
            *sum = change(*sum);
            place = place.saturating_add(lowest(place));
        }
        self.total = change(self.total);
    }

    /// The sum of the numbers from `at` on.
    pub(super) fn from(&self, at: u32) -> u64 {
        self.total.saturating_sub(self.up_to((at as usize).min(self.tree.len())))
    }

    /// The sum of the first `count` numbers.
    fn up_to(&self, count: usize) -> u64 {
        let mut place = count;
        let mut sum = 0u64;
        while let Some(part) = place.checked_sub(1).and_then(|at| self.tree.get(at)) {
            sum = sum.saturating_add(*part);
            place = parent(place);
        }
        sum
    }
}

fn lowest(place: usize) -> usize {
    place & place.wrapping_neg()
}

fn parent(place: usize) -> usize {
    place.saturating_sub(lowest(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_every_suffix_is_right_as_numbers_change() {
        let (mut sums, mut plain) = (Sums::default(), Vec::new());
        for at in 0..40u32 {
            let number = u64::from(at * 7 % 11);
            sums.push(number);
            plain.push(number);
            let other = at * 5 % (at + 1);
            let new = u64::from(at % 3);
            sums.change(other, plain[other as usize], new);
            plain[other as usize] = new;
            for from in 0..=at + 2 {
                let rest = plain.iter().skip(from as usize).sum::<u64>();
                assert_eq!(sums.from(from), rest, "{at} {from}");
            }
            assert_eq!(sums.total(), sums.from(0));
        }
    }
}
