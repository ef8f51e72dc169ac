//! The token tables as they are shipped: what differs from tables that are alike, in an adaptive binary range code.
//!
//! Of the 9,219 weights of a table 6,339 are coded: pairs that no UTF-8 text has (a continuation byte after ASCII, a lead byte
//! after a lead byte ...) are left out and read as 0. Each weight is predicted from the same pair of two tables decoded
//! before: three parts of the first, one of the second; the very first table's from its neighbours. What it is off by is
//! coded as: zero or not, sign, number of bits, bits. Each of these decisions has a chance that learns, chosen by how
//! far the two tables disagree there and by how far off the neighbouring weights were.
//!
//! Measured for the ten tables, in bytes:
//!
//! | form | in the Wasm | base64, brotli -q 11 |
//! |---|---|---|
//! | `i16`, as they are | 184,380 | 58,720 |
//! | this | 34,412 | 34,512 |

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "dense arithmetic over own indices; the data are our own and no index is read from them unclamped"
)]

use crate::text::pairs::{CLASSES, CONTINUATION, LEAD};

/// Pairs, and the three weights of runs.
pub(super) const WEIGHTS: usize = CLASSES * CLASSES + 3;

/// Whether UTF-8 text can have the pair at `index`; the weights of runs always count.
pub(super) fn possible(index: usize) -> bool {
    let (before, class) = (index / CLASSES, index % CLASSES);
    let continues = (CONTINUATION..LEAD).contains(&class);
    match before {
        CLASSES.. => true,
        LEAD.. => continues,
        CONTINUATION.. => true,
        _ => !continues,
    }
}

/// A table from its code and the two tables that it is like.
pub(super) fn decode(code: &[u8], like: Option<[&[i16]; 2]>) -> Vec<i16> {
    let mut table = vec![0; WEIGHTS];
    walk(&mut Decoder::new(code), like, &mut table);
    table
}

/// The chance that a decision is yes, of 65,536, and how often it was taken.
#[derive(Clone, Copy)]
struct Chance {
    yes: u16,
    seen: u16,
}

impl Chance {
    const NEW: Self = Self { yes: 1 << 15, seen: 0 };

    fn learn(&mut self, bit: bool) {
        self.seen = (self.seen + 1).min(40);
        let goal = if bit { 65_535 } else { 0 };
        let step = (goal - i32::from(self.yes)) * 2 / (2 * i32::from(self.seen) + 3);
        let yes = (i32::from(self.yes) + step).clamp(64, 65_472);
        self.yes = u16::try_from(yes).unwrap_or(1 << 15);
    }
}

/// Either direction: takes a decision and answers with it, or answers with the one in the code.
trait Coder {
    fn bit(&mut self, chance: &mut Chance, bit: bool) -> bool;
}

/// Codes, or fills in, all weights of `table`.
fn walk(coder: &mut impl Coder, like: Option<[&[i16]; 2]>, table: &mut [i16]) {
    let mut chances = Chances::new();
    let mut off = vec![0_i32; WEIGHTS];
    for index in (0..WEIGHTS).filter(|&index| possible(index)) {
        let back = |values: &[i32], n: usize| index.checked_sub(n).map_or(0, |at| values[at]);
        let weight = |n: usize| index.checked_sub(n).map_or(0, |at| i32::from(table[at]));
        let (left, above) = (back(&off, 1), back(&off, CLASSES));
        let (guess, doubt, lean) = match like {
            Some([first, second]) => {
                let (a, b) = (i32::from(first[index]), i32::from(second[index]));
                let guess = (3 * a + b + 2) >> 2;
                let doubt = if a == 0 && b == 0 { 0 } else { 1 + level(a - b) };
                (guess, doubt, (b - guess).signum())
            }
            None => ((weight(1) + weight(CLASSES)) >> 1, usize::from(weight(CLASSES) == 0), 0),
        };
        let around = 2 * (left.abs() + above.abs())
            + [2, CLASSES - 1, 2 * CLASSES].map(|n| back(&off, n).abs()).iter().sum::<i32>();
        let context = doubt * LEVELS + level(around / 3);
        let signs = (above.signum() + 1) * 9 + (left.signum() + 1) * 3 + lean + 1;
        let signs = usize::try_from(signs).unwrap_or_default();
        off[index] = chances.number(coder, context, signs, i32::from(table[index]) - guess);
        table[index] = i16::try_from(guess + off[index]).unwrap_or_default();
    }
}

const LEVELS: usize = 10;
/// More bits than a difference of two weights has.
const BITS: usize = 10;

/// A size as one of ten levels.
fn level(size: i32) -> usize {
    let above = |limit: &&i32| size.abs() > **limit;
    [0, 1, 2, 4, 7, 11, 17, 26, 40].iter().filter(above).count()
}

struct Chances {
    other: Vec<Chance>,
    minus: [Chance; 27],
    longer: Vec<Chance>,
    bits: Vec<Chance>,
}

impl Chances {
    fn new() -> Self {
        let contexts = (LEVELS + 1) * LEVELS;
        Self {
            other: vec![Chance::NEW; contexts],
            minus: [Chance::NEW; 27],
            longer: vec![Chance::NEW; contexts * BITS],
            bits: vec![Chance::NEW; BITS * BITS * 4],
        }
    }

    fn number(&mut self, coder: &mut impl Coder, context: usize, signs: usize, number: i32) -> i32 {
        if !coder.bit(&mut self.other[context], number != 0) {
            return 0;
        }
        let minus = coder.bit(&mut self.minus[signs], number < 0);
        let size = number.unsigned_abs();
        let mut length = 0;
        while length + 1 < BITS
            && coder.bit(&mut self.longer[context * BITS + length], size >> length > 1)
        {
            length += 1;
        }
        let mut read = 1;
        for place in (0..length).rev() {
            let chance = &mut self.bits[(length * BITS + place) * 4 + (read & 3)];
            let bit = coder.bit(chance, (size >> place) & 1 == 1);
            read = (read << 1) | usize::from(bit);
        }
        let size = i32::try_from(read).unwrap_or_default();
        if minus { -size } else { size }
    }
}

/// The range `low..=high` that the code lies in, narrowed by each decision.
struct Range {
    low: u32,
    high: u32,
}

impl Range {
    const FULL: Self = Self { low: 0, high: u32::MAX };

    /// The last point of the part for yes.
    fn middle(&self, chance: Chance) -> u32 {
        self.low + ((self.high - self.low) >> 16) * u32::from(chance.yes)
    }

    fn narrow(&mut self, middle: u32, bit: bool) {
        if bit { self.high = middle } else { self.low = middle + 1 }
    }

    /// The next byte, when both ends agree on it.
    fn shift(&mut self) -> Option<u8> {
        let [byte, ..] = self.low.to_be_bytes();
        let settled = (self.low ^ self.high) >> 24 == 0;
        settled.then(|| {
            self.low <<= 8;
            self.high = (self.high << 8) | 0xff;
            byte
        })
    }
}

struct Decoder<'a> {
    range: Range,
    point: u32,
    code: std::slice::Iter<'a, u8>,
}

impl<'a> Decoder<'a> {
    fn new(code: &'a [u8]) -> Self {
        let mut decoder = Self { range: Range::FULL, point: 0, code: code.iter() };
        for _ in 0..4 {
            decoder.read();
        }
        decoder
    }

    fn read(&mut self) {
        self.point = (self.point << 8) | u32::from(self.code.next().copied().unwrap_or_default());
    }
}

impl Coder for Decoder<'_> {
    fn bit(&mut self, chance: &mut Chance, _: bool) -> bool {
        let middle = self.range.middle(*chance);
        let bit = self.point <= middle;
        self.range.narrow(middle, bit);
        while self.range.shift().is_some() {
            self.read();
        }
        chance.learn(bit);
        bit
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    struct Encoder {
        range: Range,
        code: Vec<u8>,
    }

    impl Coder for Encoder {
        fn bit(&mut self, chance: &mut Chance, bit: bool) -> bool {
            let middle = self.range.middle(*chance);
            self.range.narrow(middle, bit);
            while let Some(byte) = self.range.shift() {
                self.code.push(byte);
            }
            chance.learn(bit);
            bit
        }
    }

    /// The code of `table`, and the table as it will be decoded.
    pub(in crate::estimate) fn encode(
        table: &[i16],
        like: Option<[&[i16]; 2]>,
    ) -> (Vec<u8>, Vec<i16>) {
        let mut encoder = Encoder { range: Range::FULL, code: Vec::new() };
        let coded: Vec<i16> =
            (0..WEIGHTS).map(|i| if possible(i) { table[i] } else { 0 }).collect();
        walk(&mut encoder, like, &mut coded.clone());
        // Between the ends there is a point whose other bytes are zero: those read after the code's end.
        let [first, ..] = encoder.range.low.to_be_bytes();
        encoder.code.push(first + 1);
        (encoder.code, coded)
    }

    #[test]
    fn packed_weights_are_unpacked_unchanged() {
        let table = |seed: i32, spread: i32| -> Vec<i16> {
            (0..9219)
                .map(|i| i16::try_from((i * i % 97 * seed) % spread - spread / 3).unwrap())
                .collect()
        };
        let (first, second, third) = (table(7, 300), table(11, 300), table(5, 90));
        let (code, first) = encode(&first, None);
        assert_eq!(decode(&code, None), first);
        let (code, second) = encode(&second, Some([&first, &third]));
        assert_eq!(decode(&code, Some([&first, &third])), second);
    }

    #[test]
    fn any_bytes_are_decoded_to_a_full_table() {
        for byte in [0, 1, 0x7f, 0xff] {
            assert_eq!(decode(&vec![byte; 20_000], None).len(), WEIGHTS);
        }
        assert_eq!(decode(&[], None).len(), WEIGHTS);
    }
}
