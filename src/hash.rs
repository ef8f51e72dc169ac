//! Hashes that are the same everywhere and for ever: never for what an adversary gains by.

/// FNV-1a of bytes.
pub fn fnv(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Odd, with its bits well spread: the 64-bit golden ratio.
pub const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Texts of at least so many bytes are hashed in four lanes.
const LONG: usize = 128;

/// Hash of bytes after a hash: eight at a time, little-endian, then what is left over, then the length.
pub fn bytes(hash: u64, text: &[u8]) -> u64 {
    let (hash, rest) = if text.len() < LONG { (hash, text) } else { lanes(hash, text) };
    let (words, rest) = rest.as_chunks::<8>();
    let hash = words.iter().fold(hash, |hash, word| round(hash, u64::from_le_bytes(*word)));
    let rest = rest.iter().fold(0, |word, byte| (word << 8) | u64::from(*byte));
    round(round(hash, rest), text.len() as u64)
}

/// The same of four lanes, which a processor works on side by side: each takes every fourth word. What is left over is not taken.
fn lanes(hash: u64, text: &[u8]) -> (u64, &[u8]) {
    let (blocks, rest) = text.as_chunks::<32>();
    let (mut one, mut two, mut three, mut four) = (hash, !hash, mix(hash), mix(!hash));
    for block in blocks {
        if let ([a, b, c, d], _) = block.as_chunks::<8>() {
            one = round(one, u64::from_le_bytes(*a));
            two = round(two, u64::from_le_bytes(*b));
            three = round(three, u64::from_le_bytes(*c));
            four = round(four, u64::from_le_bytes(*d));
        }
    }
    (round(round(round(one, two), three), four), rest)
}

/// One round: add, multiply, fold the high half down. Every bit of the state depends on every bit taken so far.
pub fn round(hash: u64, word: u64) -> u64 {
    let hash = (hash ^ word).wrapping_add(SPREAD).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    hash ^ (hash >> 32)
}

/// Spreads the bits of a number (the finalizer of splitmix64).
pub fn mix(x: u64) -> u64 {
    let z = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_differs_where_any_byte_or_the_length_does() {
        for length in [0, 1, 7, 8, 127, 128, 129, 160, 167, 1000] {
            let text = vec![b'a'; length];
            let hash = bytes(1, &text);
            assert_ne!(hash, bytes(2, &text));
            assert_ne!(hash, bytes(1, &vec![b'a'; length + 1]));
            for at in 0..length {
                let mut other = text.clone();
                other[at] = b'b';
                assert_ne!(hash, bytes(1, &other), "{at} of {length}");
            }
        }
        // Words that change places.
        let mut text: Vec<u8> = (0..=255).collect();
        let hash = bytes(0, &text);
        for (from, to) in [(0, 8), (0, 32), (8, 200)] {
            for at in 0..8 {
                text.swap(from + at, to + at);
            }
            assert_ne!(hash, bytes(0, &text), "{from} and {to}");
            for at in 0..8 {
                text.swap(from + at, to + at);
            }
        }
    }

    #[test]
    fn hashes_equal_the_published_values_of_fnv_and_splitmix() {
        assert_eq!(fnv(*b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
    }
}
