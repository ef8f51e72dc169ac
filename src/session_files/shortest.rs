//! Whether a decimal is the one that JavaScript writes for its float: the shortest that a float is read from, and of those the
//! nearest. In integers, because the core has no floats.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "numbers have at most 17 digits and at most 22 decimals, so that every product has less than 120 bits"
)]

/// A decimal of at most so many digits is always the shortest of its float.
const ALWAYS: usize = 15;
/// Digits that are enough for any float.
const MOST: usize = 17;
/// Decimals that are decided here. With more of them, the products do not fit 128 bits; with fewer, the float may be an integer.
const FRACTION: std::ops::RangeInclusive<u32> = 2..=22;
/// Bits of a float's mantissa.
const MANTISSA: u32 = 53;

/// Whether JavaScript writes a float as this decimal. `digits` are all its digits. The last `fraction` of them stand after the
/// point, and the last one is not zero. False if it is not certain.
///
/// The float nearest to `m / 10^k` is `d / 2^(s + k)`: `d` is the integer of 53 bits nearest to `m * 2^s / 5^k`. A decimal
/// `c / 10^k` is read as that float if `c * 2^s` and `d * 5^k` differ by at most `5^k / 2`.
pub(super) fn is_shortest(digits: impl Iterator<Item = u8>, fraction: usize) -> bool {
    let mut m = 0_u128;
    let mut length = 0;
    for digit in digits.skip_while(|digit| *digit == b'0') {
        length += 1;
        if length > MOST {
            return false;
        }
        m = m.saturating_mul(10).saturating_add(u128::from(digit.saturating_sub(b'0')));
    }
    length <= ALWAYS || u32::try_from(fraction).is_ok_and(|k| is_nearest(m, k) == Some(true))
}

/// The same of `m / 10^k`; `None`: not certain.
fn is_nearest(m: u128, k: u32) -> Option<bool> {
    let power = FRACTION.contains(&k).then(|| 5_u128.pow(k))?;
    let least = 1_u128 << (MANTISSA - 1);
    let bits = |number: u128| u128::BITS - number.leading_zeros();
    let guess = (MANTISSA + bits(power)).checked_sub(bits(m))?;
    let s = (guess.saturating_sub(1)..=guess).find(|&s| (m << s) / power >= least)?;
    let d = ((m << s) + power / 2) / power;
    // Where the exponent changes, floats are not equally far apart.
    if d <= least || d >= least * 2 {
        return None;
    }
    let away = |c: u128| 2 * (c << s).abs_diff(d * power);
    let shorter = m - m % 10;
    let is_read = |c: u128| away(c) <= power;
    Some(away(m) < 1 << s && !is_read(shorter) && !is_read(shorter + 10))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::is_shortest;

    fn is_float(text: &str) -> bool {
        let (_, fraction) = text.split_once('.').unwrap_or((text, ""));
        is_shortest(text.bytes().filter(u8::is_ascii_digit), fraction.len())
    }

    /// As Rust's own shortest decimal: it has no exponent.
    fn written(text: &str) -> String {
        text.parse::<f64>().expect("a number").to_string()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn a_decimal_that_passes_is_written_as_it_is(
            m in 0..10_u64.pow(16), last in 1..10, k in 1..23_usize,
        ) {
            let digits = format!("{m:0>k$}{last}");
            let (integer, fraction) = digits.split_at(digits.len() - k);
            let text = format!("{integer}.{fraction}");
            prop_assert!(!is_float(&text) || written(&text) == text, "{text}");
        }

        #[test]
        fn a_float_passes(float in 1e-6..1e7_f64) {
            let text = float.to_string();
            prop_assert!(is_float(&text) || !text.contains('.') || is_between(float), "{text}");
        }
    }

    /// Two decimals of that length are equally near: which of them is written is not certain.
    fn is_between(float: f64) -> bool {
        let exact = format!("{float:.60}");
        let exact = exact.trim_end_matches('0');
        exact.len() == float.to_string().len() + 1 && exact.ends_with('5')
    }

    #[test]
    fn a_float_between_two_decimals_is_not_certain() {
        assert!(is_between(9_724_085.229_492_188) && !is_float("9724085.229492188"));
        assert!(!is_between(0.1) && !is_between(0.3));
    }

    #[test]
    fn a_decimal_beside_a_float_does_not_pass() {
        for text in ["0.013875000000000002", "0.30000000000000004", "0.1", "0.017400000000000002"] {
            assert!(is_float(text), "{text}");
        }
        for text in [
            "0.013875000000000001",
            "0.10000000000000001",
            "0.30000000000000003",
            "0.123456789012345678",
        ] {
            assert!(!is_float(text), "{text}");
        }
    }
}
