//! Numbers as few bytes: seven bits in each, the lowest first, as LEB128 has it.

/// Appends a number.
///
/// # Example
/// ```
/// let mut bytes = Vec::new();
/// plimsoll::leb128::write(&mut bytes, 300);
/// assert_eq!(bytes, [0xac, 0x02]);
/// assert_eq!(plimsoll::leb128::read(&bytes), Some((300, &[][..])));
/// ```
pub fn write(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            return bytes.push(low & 0x7f);
        }
        bytes.push(low | 0x80);
    }
}

/// Reads the first number. Returns it and the bytes after it; `None` if its last byte is missing.
#[inline]
pub fn read(bytes: &[u8]) -> Option<(u64, &[u8])> {
    match bytes {
        // Most are small.
        [byte, rest @ ..] if *byte < 0x80 => Some((u64::from(*byte), rest)),
        [low, high, rest @ ..] if *high < 0x80 => {
            Some((u64::from(*low & 0x7f) | (u64::from(*high) << 7), rest))
        }
        _ => read_long(bytes),
    }
}

#[inline(never)]
fn read_long(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (mut number, mut rest) = (0, bytes);
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some((number, rest));
        }
    }
    None
}

/// A number whose sign is its lowest bit: one near 0 on either side is small.
pub const fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

/// The other way round.
///
/// # Example
/// ```
/// use plimsoll::leb128::{signed, zigzag};
/// assert_eq!([-1, 1, -2].map(zigzag), [1, 2, 3]);
/// assert_eq!(signed(zigzag(i64::MIN)), i64::MIN);
/// ```
pub const fn signed(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ (number & 1).cast_signed().wrapping_neg()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_number_is_read_as_it_was_written(
            numbers in prop::collection::vec((0u32..65, any::<u64>()), 0..40),
        ) {
            let numbers = numbers.iter().map(|(bits, it)| it.checked_shr(*bits).unwrap_or(0));
            let numbers: Vec<u64> = numbers.collect();
            let mut bytes = Vec::new();
            for number in &numbers {
                write(&mut bytes, *number);
            }
            let mut rest = &bytes[..];
            for number in &numbers {
                let (back, after) = read(rest).unwrap();
                prop_assert_eq!(back, *number);
                prop_assert_eq!(signed(zigzag(back.cast_signed())), back.cast_signed());
                rest = after;
            }
            prop_assert!(rest.is_empty());
            // Cut anywhere in its last number, it has no end.
            if let Some(last) = numbers.last() {
                let mut one = Vec::new();
                write(&mut one, *last);
                for length in 0..one.len() {
                    prop_assert_eq!(read(&one[..length]), None);
                }
            }
        }
    }

    #[test]
    fn a_number_of_more_than_64_bits_has_no_end() {
        assert_eq!(read(&[0xff; 11]), None);
    }
}
