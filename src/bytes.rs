//! Bytes that are looked for many at once: sixteen where the build has vectors of bytes, else eight.

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use vectors::{Chunk, Marks, WIDTH, first};
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
use words::{Chunk, Marks, WIDTH, first};

/// The first place of a byte.
///
/// # Example
/// ```
/// assert_eq!(plimsoll::bytes::find(b"one\ntwo", b'\n'), Some(3));
/// ```
pub fn find(bytes: &[u8], byte: u8) -> Option<usize> {
    find_by(bytes, |chunk| chunk.is(byte), |other| other == byte)
}

/// The value of a character of base64, in either alphabet. None: it is no such character.
///
/// # Example
/// ```
/// assert_eq!(b"Az9-".map(plimsoll::bytes::base64_digit), [Some(0), Some(51), Some(61), Some(62)]);
/// ```
pub fn base64_digit(sign: u8) -> Option<u32> {
    let (from, to) = match sign {
        b'A'..=b'Z' => (b'A', 0),
        b'a'..=b'z' => (b'a', 26),
        b'0'..=b'9' => (b'0', 52),
        b'+' | b'-' => return Some(62),
        b'/' | b'_' => return Some(63),
        _ => return None,
    };
    Some(u32::from(sign.saturating_sub(from)).saturating_add(to))
}

/// The first place from `at` on of a quote, a backslash or a control character: what ends the plain part of a JSON string.
/// The end of the bytes if there is none.
///
/// # Example
/// ```
/// assert_eq!(plimsoll::bytes::plain_until(br#""a b\n""#, 1), 4);
/// ```
pub fn plain_until(bytes: &[u8], at: usize) -> usize {
    let marks = |chunk: Chunk| chunk.is(b'"') | chunk.is(b'\\') | chunk.is_control();
    let is = |byte| byte < b' ' || matches!(byte, b'"' | b'\\');
    let found = find_by(bytes.get(at..).unwrap_or_default(), marks, is);
    found.map_or(bytes.len(), |place| at.saturating_add(place))
}

/// Whether this pair of bytes occurs at a place where `is` accepts the bytes from there on.
///
/// # Example
/// ```
/// assert!(plimsoll::bytes::any_pair(br"\n\ud83d", *br"\u", |rest| rest.get(2) == Some(&b'd')));
/// ```
pub fn any_pair(bytes: &[u8], pair: [u8; 2], is: impl Fn(&[u8]) -> bool) -> bool {
    let begins =
        |at: usize| bytes.get(at..).is_some_and(|rest| rest.starts_with(&pair) && is(rest));
    let (chunks, _) = bytes.as_chunks::<WIDTH>();
    let (nexts, _) = bytes.get(1..).unwrap_or_default().as_chunks::<WIDTH>();
    let mut start = 0_usize;
    for (chunk, next) in chunks.iter().zip(nexts) {
        let end = start.saturating_add(WIDTH);
        let marks = Chunk::of(*chunk).is(pair[0]) & Chunk::of(*next).is(pair[1]);
        if first(marks).is_some() && (start..end).any(begins) {
            return true;
        }
        start = end;
    }
    (start..bytes.len()).any(begins)
}

/// The place of the first byte that is marked; `is` says the same of a single one.
#[inline]
fn find_by(bytes: &[u8], marks: impl Fn(Chunk) -> Marks, is: impl Fn(u8) -> bool) -> Option<usize> {
    let (chunks, rest) = bytes.as_chunks::<WIDTH>();
    // A loop: adapters of iterators are calls where a build is for size.
    let mut start = 0_usize;
    for chunk in chunks {
        if let Some(place) = first(marks(Chunk::of(*chunk))) {
            return Some(start.saturating_add(place));
        }
        start = start.saturating_add(WIDTH);
    }
    let place = rest.iter().position(|byte| is(*byte))?;
    Some(start.saturating_add(place))
}

/// Chunks of eight bytes in one word. A mark is the high bit of its byte; above the first mark there may be wrong ones.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod words {
    pub(super) const WIDTH: usize = 8;
    const ONES: u64 = u64::MAX / 255;

    pub(super) type Marks = u64;

    #[derive(Clone, Copy)]
    pub(super) struct Chunk(u64);

    impl Chunk {
        pub(super) fn of(bytes: [u8; WIDTH]) -> Self {
            Self(u64::from_le_bytes(bytes))
        }

        pub(super) fn is(self, byte: u8) -> Marks {
            // Of a byte that is zero after this, one less has the high bit.
            let other = self.0 ^ ONES.wrapping_mul(byte.into());
            other.wrapping_sub(ONES) & !other & (ONES << 7)
        }

        pub(super) fn is_control(self) -> Marks {
            self.0.wrapping_sub(ONES << 5) & !self.0 & (ONES << 7)
        }
    }

    pub(super) fn first(marks: Marks) -> Option<usize> {
        (marks != 0).then(|| marks.trailing_zeros() as usize / 8)
    }
}

/// Chunks of sixteen bytes in one vector.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod vectors {
    use core::arch::wasm32::{
        u8x16_bitmask, u8x16_eq, u8x16_lt, u8x16_splat, u64x2, v128, v128_and, v128_or,
    };
    use core::ops::{BitAnd, BitOr};

    pub(super) const WIDTH: usize = 16;

    #[derive(Clone, Copy)]
    pub(super) struct Chunk(v128);

    pub(super) struct Marks(v128);

    impl Chunk {
        pub(super) fn of(bytes: [u8; WIDTH]) -> Self {
            let (halves, _) = bytes.as_chunks::<8>();
            let half = |at: usize| halves.get(at).map_or(0, |half| u64::from_le_bytes(*half));
            Self(u64x2(half(0), half(1)))
        }

        pub(super) fn is(self, byte: u8) -> Marks {
            Marks(u8x16_eq(self.0, u8x16_splat(byte)))
        }

        pub(super) fn is_control(self) -> Marks {
            Marks(u8x16_lt(self.0, u8x16_splat(b' ')))
        }
    }

    impl BitOr for Marks {
        type Output = Self;

        fn bitor(self, other: Self) -> Self {
            Self(v128_or(self.0, other.0))
        }
    }

    impl BitAnd for Marks {
        type Output = Self;

        fn bitand(self, other: Self) -> Self {
            Self(v128_and(self.0, other.0))
        }
    }

    pub(super) fn first(marks: Marks) -> Option<usize> {
        let bits = u8x16_bitmask(marks.0);
        (bits != 0).then(|| bits.trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_search_by_chunks_is_one_byte_by_byte(
            bytes in prop::collection::vec(prop::sample::select(b"\0\n\x1f !\"#[\\]\x7f\x80\xa2\xff".to_vec()), 0..60),
            plain in 0..60_usize,
            at in 0..70_usize,
        ) {
            let bytes = [vec![b'a'; plain], bytes].concat();
            for byte in [b'\n', b'"', 0x80] {
                prop_assert_eq!(super::find(&bytes, byte), bytes.iter().position(|other| *other == byte));
            }
            let ends = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
            let expected = bytes.iter().skip(at).position(ends).map_or(bytes.len(), |place| at.saturating_add(place));
            prop_assert_eq!(super::plain_until(&bytes, at), expected);
            let is = |rest: &[u8]| rest.get(2) != Some(&b'!');
            let has = (0..bytes.len()).any(|at| bytes[at..].starts_with(b"#\x80") && is(&bytes[at..]));
            prop_assert_eq!(super::any_pair(&bytes, *b"#\x80", is), has);
        }
    }
}
