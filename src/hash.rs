//! Hashes that are the same everywhere and for ever: never for what an adversary gains by.

/// FNV-1a of bytes.
pub fn fnv(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Odd, with its bits well spread: the 64-bit golden ratio.
pub const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Hash of bytes after a hash: eight at a time, little-endian, then what is left over, then the length.
pub fn bytes(hash: u64, text: &[u8]) -> u64 {
    let (words, rest) = text.as_chunks::<8>();
    let hash = words.iter().fold(hash, |hash, word| round(hash, u64::from_le_bytes(*word)));
    let rest = rest.iter().fold(0, |word, byte| (word << 8) | u64::from(*byte));
    round(round(hash, rest), text.len() as u64)
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
    fn hashes_equal_the_published_values_of_fnv_and_splitmix() {
        assert_eq!(fnv(*b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
    }
}
