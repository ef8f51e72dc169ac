//! Sums of a list's ends, kept while its numbers change (a Fenwick tree).

use crate::shared_list::SharedList;

/// The numbers of a list, of which the sum from any place on is known in as many steps as the length has bits.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    /// At `i - 1` the sum of the numbers from `i - lowest bit of i` to `i - 1`.
    tree: SharedList<u64>,
    total: u64,
}

/// From one in so many numbers on, all that become 0 are taken out in one pass.
const CLEARED_AT_ONCE: usize = 16;

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

    /// The numbers at these places, each of which is named once, become 0.
    pub(super) fn clear(&mut self, numbers: &[(u32, u64)]) {
        let len = self.tree.len();
        // Each of few changes as many sums as the length has bits; of many, one pass over all sums is less work.
        if numbers.len().saturating_mul(CLEARED_AT_ONCE) < len {
            return numbers.iter().for_each(|&(at, number)| self.change(at, number, 0));
        }
        let mut less = vec![0u64; len];
        for &(at, number) in numbers {
            less.get_mut(at as usize).into_iter().for_each(|it| *it = number);
            self.total = self.total.saturating_sub(number);
        }
        for at in 0..len {
            let Some(&lost) = less.get(at).filter(|it| **it > 0) else { continue };
            self.tree.get_mut(at).into_iter().for_each(|sum| *sum = sum.saturating_sub(lost));
            let place = at.saturating_add(1);
            let above = place.saturating_add(lowest(place)).saturating_sub(1);
            less.get_mut(above).into_iter().for_each(|it| *it = it.saturating_add(lost));
        }
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
    #[test]
    fn few_and_many_numbers_become_0() {
        for step in [1, 2, 3, 7, 40, 200] {
            let (mut sums, mut plain) = (Sums::default(), Vec::new());
            for at in 0..300u64 {
                sums.push(at * 7 % 11);
                plain.push(at * 7 % 11);
            }
            let cleared: Vec<(u32, u64)> =
                (1..300u32).step_by(step).map(|at| (at, plain[at as usize])).collect();
            sums.clear(&cleared);
            for (at, _) in cleared {
                plain[at as usize] = 0;
            }
            for from in 0..=300u32 {
                assert_eq!(
                    sums.from(from),
                    plain.iter().skip(from as usize).sum::<u64>(),
                    "{step}"
                );
            }
        }
    }
}
