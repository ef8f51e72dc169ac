//! The sum of byte-pair weights: what a token estimate is made of.
//!
//! Every byte of UTF-8 text has one of 96 classes, every pair of neighbours a weight in 1/64 token. Two kinds of
//! long runs have a weight of their own, since tokenizers swallow them whole: a byte that repeats the 16 before it, and
//! a multi-byte character repeated for 24 bytes or more, as in the lines of a drawn box.
//!
//! Runs are looked for in blocks of eight bytes: a run long enough to count covers at least one block, so that all
//! other blocks cost three loads a byte and nothing else.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "dense arithmetic over own indices: classes are below 96, positions below the text's length, weights 16 bits"
)]

use std::ops::Range;

/// Number of byte classes.
pub const CLASSES: usize = 96;
/// First class of continuation bytes; those below are ASCII.
pub const CONTINUATION: usize = 55;
/// First class of lead bytes.
pub const LEAD: usize = 71;
/// What a text starts after: a line's end.
const START: u8 = 33;

/// The classes 26..=53: upper case by groups, digits, white space, punctuation. What is in none is in 54.
const GROUPS: [&[u8]; 28] = [
    b"AEIOUY",
    b"BCDFGH",
    b"JKLMN",
    b"PQRST",
    b"VWXZ",
    b"0123456789",
    b" ",
    b"\n\r",
    b"\t",
    b"\"",
    b"'`",
    b"(",
    b"[",
    b"{",
    b")",
    b"]",
    b"}",
    b"<",
    b">",
    b",",
    b".",
    b"/",
    b"\\",
    b"-",
    b"_",
    b":",
    b";",
    b"=",
];
/// The first byte of each class of lead bytes.
const LEADS: [u8; 25] = [
    0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xcc, 0xce, 0xcf, 0xd0, 0xd1, 0xd2, 0xd5, 0xd7, 0xd8, 0xd9, 0xda,
    0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe6, 0xea, 0xee, 0xf0,
];

/// The class of each byte.
pub static CLASS: [u8; 256] = classes();

#[expect(
    clippy::cast_possible_truncation,
    reason = "byte values and classes; TryFrom is not const"
)]
const fn classes() -> [u8; 256] {
    let mut class = [54; 256];
    let mut at = 0;
    while at < 26 {
        class[b'a' as usize + at] = at as u8;
        at += 1;
    }
    let mut group = 0;
    while group < GROUPS.len() {
        at = 0;
        while at < GROUPS[group].len() {
            class[GROUPS[group][at] as usize] = 26 + group as u8;
            at += 1;
        }
        group += 1;
    }
    at = 0x80;
    while at < 0xc0 {
        class[at] = CONTINUATION as u8 + ((at - 0x80) / 4) as u8;
        at += 1;
    }
    group = 0;
    while at < 256 {
        while group + 1 < LEADS.len() && LEADS[group + 1] as usize <= at {
            group += 1;
        }
        // C0 and C1 stand in no UTF-8; they are put with C6 for the model's sake.
        class[at] = LEAD as u8 + if at < 0xc2 { 4 } else { group as u8 };
        at += 1;
    }
    class
}

/// The weights of one tokenizer family, in 1/64 token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Of the pair (a, b) at `a << 7 | b`: a power of two each, so that no index needs a check.
    pairs: Box<[i16; 1 << 14]>,
    /// Of a space after 16 spaces.
    space: i16,
    /// Of any other byte after 16 of the same.
    same: i16,
    /// Of a byte in a long run of one multi-byte character.
    wide: i16,
}

impl Weights {
    /// The weights in their plain order: 96 rows of 96 pairs, then the three of the runs. What is missing is 0.
    pub fn new(plain: &[i16]) -> Self {
        #[expect(clippy::large_stack_arrays, reason = "32 kB, once for a table")]
        let mut pairs = Box::new([0; 1 << 14]);
        for (index, &weight) in plain.iter().take(CLASSES * CLASSES).enumerate() {
            pairs[slot(index)] = weight;
        }
        let run = |n: usize| plain.get(CLASSES * CLASSES + n).copied().unwrap_or_default();
        Self { pairs, space: run(0), same: run(1), wide: run(2) }
    }

    /// The weights in their plain order.
    pub fn plain(&self) -> Vec<i16> {
        let pairs = (0..CLASSES * CLASSES).map(|index| self.pairs[slot(index)]);
        pairs.chain([self.space, self.same, self.wide]).collect()
    }

    #[inline]
    fn pair(&self, before: u8, class: u8) -> i32 {
        i32::from(self.pairs[((usize::from(before) << 7) | usize::from(class)) & 0x3fff])
    }

    /// The sum over the bytes of a text in UTF-8, in 1/64 token. Sums of parts add up to that of the whole but for the
    /// pairs where they meet.
    ///
    /// Bytes that are no UTF-8 give some sum. Takes time linear in the text, about a nanosecond a byte.
    pub fn sum(&self, bytes: &[u8]) -> i64 {
        let (mut total, mut last, mut rest) = (0, START, bytes);
        while let Some((&block, next)) = rest.split_first_chunk::<8>() {
            let word = u64::from_le_bytes(block);
            if word == word.rotate_left(8) || word & HIGH == HIGH {
                let at = bytes.len() - rest.len();
                let run = if word == word.rotate_left(8) {
                    self.same_run(bytes, at, last)
                } else if at >= 3 && bytes[at - 3..at + 5] == block {
                    self.wide_run(bytes, at, last)
                } else {
                    None
                };
                if let Some((sum, end)) = run {
                    total += sum;
                    last = class(bytes[end - 1]);
                    rest = &bytes[end..];
                    continue;
                }
            }
            // Written out, since a loop is not unrolled where code is to be small.
            let [b0, b1, b2, b3, b4, b5, b6, b7] = block;
            let (c0, c1, c2, c3) = (class(b0), class(b1), class(b2), class(b3));
            let (c4, c5, c6, c7) = (class(b4), class(b5), class(b6), class(b7));
            let first =
                self.pair(last, c0) + self.pair(c0, c1) + self.pair(c1, c2) + self.pair(c2, c3);
            let second =
                self.pair(c3, c4) + self.pair(c4, c5) + self.pair(c5, c6) + self.pair(c6, c7);
            total += i64::from(first + second);
            last = c7;
            rest = next;
        }
        total + self.without_runs(rest, last)
    }

    /// The sum without a look at runs.
    fn without_runs(&self, bytes: &[u8], mut last: u8) -> i64 {
        let mut sum = 0;
        for &byte in bytes {
            let next = class(byte);
            sum += i64::from(self.pair(last, next));
            last = next;
        }
        sum
    }

    /// Sum and end of the run of one byte that covers the block at `at`, if it is a long one.
    fn same_run(&self, bytes: &[u8], at: usize, last: u8) -> Option<(i64, usize)> {
        let byte = bytes[at];
        // At most seven bytes of the run stand before its first whole block: two at least must follow.
        if bytes.get(at + 9) != Some(&byte) {
            return None;
        }
        let start = at - bytes[..at].iter().rev().take_while(|&&b| b == byte).count();
        let end = at + bytes[at..].iter().take_while(|&&b| b == byte).count();
        let weight = if byte == b' ' { self.space } else { self.same };
        self.run(bytes, at..end, start + 16, weight, last)
    }

    /// Sum and end of the stretch of bytes equal to the third before them that covers the block at `at`, if it is a
    /// long one.
    fn wide_run(&self, bytes: &[u8], at: usize, last: u8) -> Option<(i64, usize)> {
        let repeats = |&i: &usize| i >= 3 && bytes[i] >= 0x80 && bytes[i] == bytes[i - 3];
        let start = at - (0..at).rev().take_while(repeats).count();
        let end = at + (at..bytes.len()).take_while(repeats).count();
        self.run(bytes, at..end, start + 23, self.wide, last)
    }

    /// Sum and end of a run whose bytes from `long` on have a weight of their own.
    fn run(
        &self,
        bytes: &[u8],
        run: Range<usize>,
        long: usize,
        weight: i16,
        last: u8,
    ) -> Option<(i64, usize)> {
        let rest = run.end.checked_sub(long).filter(|&rest| rest > 0)?;
        let rest = rest.min(run.len());
        let plain = self.without_runs(&bytes[run.start..run.end - rest], last);
        Some((plain + i64::from(weight) * count(rest), run.end))
    }
}

#[inline]
fn class(byte: u8) -> u8 {
    CLASS[usize::from(byte)]
}

fn slot(index: usize) -> usize {
    ((index / CLASSES) << 7) | (index % CLASSES)
}

/// The high bit of every byte of a block.
const HIGH: u64 = 0x8080_8080_8080_8080;

fn count(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
