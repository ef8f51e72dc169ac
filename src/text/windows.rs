//! Identifiers by windows of 64 bytes: each class of bytes is a number of 64 bits, and a few shifts of these tell where an
//! identifier may be. The same as the walk in `scan.rs` byte by byte, for engines with vectors of bytes; what is not plain
//! goes to that walk.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "every position is below the text's length: it comes from a window or a loop within it"
)]

use std::ops::Range;

use super::patterns::{self, UPPER, flags};
use super::scan::{limited, step};

/// Bytes of a window.
const WIDTH: usize = 64;
/// Bytes that it shares with the one before: a sign depends on so many before it.
const SHARED: usize = 8;

/// What [`super::identifiers`] finds.
pub(super) fn identifiers<'a>(text: &'a str, found: &mut dyn FnMut(&'a str, usize)) {
    let text = limited(text);
    let bytes = text.as_bytes();
    let mut windows = Windows::new(bytes);
    let mut at = 0;
    // A sign at the end of what was looked at belongs to that: none shows at the first byte of an identifier.
    while let Some(sign) = windows.next_sign(at + 1) {
        if let Some(run) = windows.plain_run(sign)
            && run.start >= at
            && (run.start == 0 || bytes[run.start - 1] != b'#')
            && !bytes[run.end..].starts_with(b"://")
        {
            at = run.end;
            windows.names(run, &mut |start, end| {
                let word = text.get(start..end);
                if let Some(word) = word.filter(|word| (4..=200).contains(&word.len())) {
                    found(word, start);
                }
            });
            continue;
        }
        at = start_of(bytes, sign, at);
        while at <= sign && at < text.len() {
            at = step(text, at, found);
        }
    }
}

/// The start of the run in or after which the sign stands, with the scheme or number sign before it; not before `from`.
fn start_of(bytes: &[u8], sign: usize, from: usize) -> usize {
    let back = |mut at: usize| {
        while at > from && flags(bytes[at - 1]) != 0 {
            at -= 1;
        }
        at
    };
    let start = back(sign);
    match start.checked_sub(1).filter(|_| start > from).map(|before| bytes[before]) {
        Some(b'#') => start - 1,
        Some(b':') if bytes[start..].starts_with(b"//") => back(start - 1),
        _ => start,
    }
}

/// The windows of a text, one after the other.
struct Windows<'a> {
    bytes: &'a [u8],
    start: usize,
    classes: Classes,
    signs: Signs,
    /// All signs that are left.
    any: u64,
}

impl<'a> Windows<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let classes = Classes::of(bytes);
        let signs = classes.signs();
        Self { bytes, start: 0, any: signs.any(), classes, signs }
    }

    /// Goes on with the window that starts here.
    fn load(&mut self, start: usize) {
        self.start = start;
        self.classes = Classes::of(self.bytes.get(start..).unwrap_or_default());
        self.signs = self.classes.signs();
        self.any = self.signs.any() & mask(SHARED, WIDTH);
    }

    /// The first sign at `at` or after it.
    fn next_sign(&mut self, at: usize) -> Option<usize> {
        loop {
            let passed = at.saturating_sub(self.start);
            let left = if passed < WIDTH { self.any & mask(passed, WIDTH) } else { 0 };
            if left != 0 {
                return Some(self.start + left.trailing_zeros() as usize);
            }
            if self.start + WIDTH > self.bytes.len() {
                return None;
            }
            self.load((self.start + WIDTH - SHARED).max(at.saturating_sub(SHARED)));
        }
    }

    /// The run in which the sign stands, if it is one of ASCII words alone: no path or file name, no number with a
    /// fraction, no key with a dash is in it, and it fits a window.
    fn plain_run(&mut self, sign: usize) -> Option<Range<usize>> {
        let mut run = self.run(sign - self.start)?;
        if run.end == WIDTH && run.start > SHARED {
            self.load(self.start + run.start - SHARED);
            run = self.run(sign - self.start)?;
        }
        if run.end == WIDTH || run.start == 0 && self.start > 0 {
            return None;
        }
        let Classes { dot, sign, dollar, wide, .. } = self.classes;
        let Signs { path, file, digits, .. } = self.signs;
        let all = mask(run.start, run.end);
        // What stands beside it may be a letter of the run, or show that a file name ends.
        let around = all << 1 | all >> 1;
        let parted = if (dot | sign) & all == 0 { 0 } else { digits };
        let is_plain = (wide | file) & around == 0 && (path | dollar | parted) & all == 0;
        is_plain.then_some(self.start + run.start..self.start + run.end)
    }

    /// The neighbours of a byte of the window that are of one run with it.
    fn run(&self, at: usize) -> Option<Range<usize>> {
        let others = !self.classes.run;
        let start = WIDTH - (others & !mask(at, WIDTH)).leading_zeros() as usize;
        let end = (others & mask(at, WIDTH)).trailing_zeros() as usize;
        (end > at).then_some(start..end)
    }

    /// Tells of the words of a plain run that are identifiers: a word is one as a whole, or none is in it.
    fn names(&self, run: Range<usize>, found: &mut dyn FnMut(usize, usize)) {
        let Classes { lower, upper, digit, under, word, hex, .. } = self.classes;
        let mut words = word & mask(run.start - self.start, run.end - self.start);
        while words != 0 {
            let first = words.trailing_zeros() as usize;
            let length = (!(words >> first)).trailing_zeros() as usize;
            let all = mask(first, first + length);
            words &= !all;
            let (start, end) = (self.start + first, self.start + first + length);
            let is = |class: u64| all & !class == 0;
            let has = |class: u64| all & class != 0;
            // Its second letter makes no hump.
            let humps = self.signs.hump & all & !(1 << first) & !(2 << first);
            let camel = humps != 0 && (1 << first) & digit == 0;
            let snake = || has(self.signs.snake) && patterns::is_snake(&self.bytes[start..end]);
            let key = || {
                has(upper)
                    && !has(lower | under)
                    && patterns::key(self.bytes, start, end, UPPER).is_some()
            };
            let hash = || has(digit) && has(lower) && is(hex) && (7..=64).contains(&length);
            if camel || snake() || key() || hash() || is(digit) && length >= 4 {
                found(start, end);
            }
        }
    }
}

/// The bits from `start` up to `end`.
fn mask(start: usize, end: usize) -> u64 {
    (u64::MAX >> (WIDTH - end)) & (u64::MAX << start)
}

/// For each class the bytes of a window that are of it, from the lowest bit on.
#[derive(Default)]
struct Classes {
    lower: u64,
    upper: u64,
    digit: u64,
    under: u64,
    dot: u64,
    slash: u64,
    dollar: u64,
    /// `$ @ ~ + -`
    sign: u64,
    /// `0-9 a-f`
    hex: u64,
    /// `#`
    number: u64,
    /// Of a character outside ASCII.
    wide: u64,
    /// What ASCII words are made of.
    word: u64,
    /// What ASCII runs are made of.
    run: u64,
}

/// Places where an identifier shows, each after the first byte of it: by kind. There are more of them than identifiers.
struct Signs {
    hump: u64,
    snake: u64,
    code: u64,
    /// Of a number, a hash, a UUID, a key or what stands after a number sign.
    digits: u64,
    path: u64,
    /// The byte after an extension.
    file: u64,
}

impl Signs {
    fn any(&self) -> u64 {
        self.hump | self.snake | self.code | self.digits | self.path | self.file
    }
}

impl Classes {
    /// Of the window at the start of these bytes.
    fn of(bytes: &[u8]) -> Self {
        let mut classes = Self::default();
        if let Some(window) = bytes.first_chunk::<WIDTH>() {
            classes.read(window);
        } else {
            let mut window = [0; WIDTH];
            window[..bytes.len()].copy_from_slice(bytes);
            classes.read(&window);
        }
        classes.word = classes.lower | classes.upper | classes.digit | classes.under;
        classes.run = classes.word | classes.dot | classes.slash | classes.sign;
        classes
    }

    fn signs(&self) -> Signs {
        let &Self {
            lower,
            upper,
            digit,
            under,
            dot,
            slash,
            sign,
            hex,
            number,
            wide,
            word,
            run,
            ..
        } = self;
        let alphanumeric = lower | upper | digit;
        // Neighbours of one class: two, then four, then more.
        let two = digit & (digit << 1);
        let hexes = hex & (hex << 1);
        let hexes = hexes & (hexes << 2);
        let uppers = upper & (upper << 1);
        // An extension has six letters at most.
        let mut name = lower & (dot << 1) & ((word | wide | sign) << 2);
        let mut file = 0;
        for _ in 0..6 {
            name <<= 1;
            file |= name & !word;
            name &= lower;
        }
        Signs {
            hump: upper & ((lower | digit) << 1),
            snake: alphanumeric & (under << 1) & (alphanumeric << 2),
            code: uppers & (uppers << 2) & (upper << 4),
            digits: two & ((two | upper | number) << 2 | sign << 2 & upper << 3)
                | hexes & (hexes << 3),
            path: (run | wide) & (slash << 1),
            file,
        }
    }

    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    fn read(&mut self, window: &[u8; WIDTH]) {
        use core::arch::wasm32::{
            u8x16_bitmask, u8x16_eq, u8x16_lt, u8x16_splat, u8x16_sub, u64x2, v128, v128_or,
        };
        for (at, bytes) in (0..).step_by(16).zip(window.as_chunks::<16>().0) {
            let (halves, _) = bytes.as_chunks::<8>();
            let [low, high] = [halves[0], halves[1]].map(u64::from_le_bytes);
            let bytes = u64x2(low, high);
            let between = |first: u8, last: u8| {
                u8x16_lt(u8x16_sub(bytes, u8x16_splat(first)), u8x16_splat(last - first + 1))
            };
            let is = |byte: u8| u8x16_eq(bytes, u8x16_splat(byte));
            let put = |class: &mut u64, of: v128| *class |= u64::from(u8x16_bitmask(of)) << at;
            let (digits, dollars) = (between(b'0', b'9'), is(b'$'));
            let signs = v128_or(v128_or(is(b'@'), is(b'~')), v128_or(is(b'+'), is(b'-')));
            put(&mut self.lower, between(b'a', b'z'));
            put(&mut self.upper, between(b'A', b'Z'));
            put(&mut self.digit, digits);
            put(&mut self.under, is(b'_'));
            put(&mut self.dot, is(b'.'));
            put(&mut self.slash, is(b'/'));
            put(&mut self.dollar, dollars);
            put(&mut self.sign, v128_or(signs, dollars));
            put(&mut self.hex, v128_or(digits, between(b'a', b'f')));
            put(&mut self.number, is(b'#'));
            put(&mut self.wide, bytes);
        }
    }

    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    fn read(&mut self, window: &[u8; WIDTH]) {
        for (at, &byte) in window.iter().enumerate() {
            let put = |class: &mut u64, is: bool| *class |= u64::from(is) << at;
            put(&mut self.lower, byte.is_ascii_lowercase());
            put(&mut self.upper, byte.is_ascii_uppercase());
            put(&mut self.digit, byte.is_ascii_digit());
            put(&mut self.under, byte == b'_');
            put(&mut self.dot, byte == b'.');
            put(&mut self.slash, byte == b'/');
            put(&mut self.dollar, byte == b'$');
            put(&mut self.sign, b"$@~+-".contains(&byte));
            put(&mut self.hex, matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            put(&mut self.number, byte == b'#');
            put(&mut self.wide, !byte.is_ascii());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scan;
    use proptest::prelude::*;

    fn found<'a>(
        text: &'a str,
        by: fn(&'a str, &mut dyn FnMut(&'a str, usize)),
    ) -> Vec<(usize, &'a str)> {
        let mut all = Vec::new();
        by(text, &mut |id, at| all.push((at, id)));
        all
    }

    #[track_caller]
    fn check(text: &str) {
        assert_eq!(found(text, super::identifiers), found(text, scan::by_bytes), "{text:?}");
    }

    const PIECES: &[&str] = &[
        "a",
        "b",
        "e",
        "f",
        "0",
        "1",
        "9",
        "A",
        "E",
        "Z",
        "_",
        ".",
        "/",
        "-",
        "$",
        "@",
        "~",
        "+",
        "#",
        ":",
        " ",
        " ",
        " ",
        "\n",
        "é",
        "—",
        "在",
        "://",
        "http",
        "https",
        "rs",
        "md",
        "svelte",
        "json",
        "ipynb",
        "deadbeef",
        "1234",
        "ENOENT",
        "foo",
        "Bar",
        "://x.yz",
        "abcd",
        "ABC-12",
        "deadbeef-dead-beef-dead-beefdeadbeef",
        "  words and more words of it ",
        "main.rs",
        "a_long_name_of_a_thing_that_is_longer_than_a_window_of_64_bytes_is",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// The walk byte by byte is the oracle.
        #[test]
        fn windows_of_any_text_are_those_of_a_plain_walk(
            pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60),
        ) {
            check(&pieces.concat());
        }
    }

    /// Each identifier at each place of a window, and over its end.
    #[test]
    fn windows_are_found_at_any_position() {
        for before in 0..140 {
            for &piece in PIECES {
                check(&format!("{}{piece} b", "x ".repeat(before).get(before..).unwrap_or("")));
                check(&format!("{}{piece}", " ".repeat(before)));
                check(&format!("{}{piece}(fooBar", "a.".repeat(before / 2)));
            }
        }
    }

    #[test]
    fn hostile_text_takes_linear_work() {
        use super::super::patterns::LOOKS;
        for unit in ["a/", "_", "a_b", "a.rs", "$aB", "aB", "#12", "://", "http://", "é/", "—a_b"]
        {
            let looks = |bytes: usize| {
                let before = LOOKS.get();
                super::identifiers(&unit.repeat(bytes / unit.len()), &mut |_, _| ());
                LOOKS.get() - before
            };
            let (short, long) = (looks(16_000), looks(128_000));
            assert!(long <= short * 10 + 100, "{unit}: {short} and {long}");
        }
    }
}
