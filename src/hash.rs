//! Hashes that are the same everywhere and for ever: never for what an adversary gains by.

/// FNV-1a of bytes.
pub fn fnv(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
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
    fn are_the_published_ones() {
        assert_eq!(fnv(*b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
    }
}
