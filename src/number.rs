//! Integer arithmetic that decides: logarithms, roots, rates and counts, the same on every machine.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "fixed-point arithmetic on values that the types below bound"
)]

use std::sync::atomic::{AtomicU32, Ordering};

/// A logarithm to base 2 in Q32: the value times 2^32.
pub type Lg = i64;

const STEPS: usize = 4096;
const STEP_BITS: u32 = 12;

/// log2 of `x` in Q32, by leading zeros and 4,096 steps, linear between; `x` = 0 counts as 1.
///
/// # Example
/// ```
/// assert_eq!(plimsoll::number::lg(8), 3 << 32);
/// ```
pub fn lg(x: u64) -> Lg {
    let x = x.max(1);
    let shift = x.leading_zeros();
    let mantissa = x << shift;
    let rest_bits = 63 - STEP_BITS;
    let step = (mantissa << 1) >> (64 - STEP_BITS);
    let rest = mantissa & ((1 << rest_bits) - 1);
    let index = usize::try_from(step).unwrap_or(0);
    let (low, high) = (log2_of_step(index), log2_of_step(index + 1));
    // The product of 21 and 51 bits, without what its last 24 would add, which the shift drops.
    let slope = high - low;
    let (upper, lower) = (rest >> 24, rest & 0xFF_FFFF);
    let between = (slope * upper + ((slope * lower) >> 24)) >> (rest_bits - 24);
    let fraction = i64::try_from(low + between).unwrap_or(0);
    (i64::from(63 - shift) << 32) + fraction
}

/// log2(2^a + 2^b) in Q32.
pub fn lg_sum(a: Lg, b: Lg) -> Lg {
    let (high, low) = if a >= b { (a, b) } else { (b, a) };
    // Beyond 31 bits apart the smaller one is below the resolution.
    let apart = high.saturating_sub(low);
    if apart >= 31 << 32 {
        return high;
    }
    // 1 + 2^-apart, in Q31: the whole part shifts, the fraction comes from the steps read backwards.
    let (integer, fraction) = (apart >> 32, apart & 0xFFFF_FFFF);
    let power = exp2_fraction(u64::try_from(fraction).unwrap_or(0)); // 2^fraction in Q31, 1..2
    let inverse = ((1u128 << 62) / u128::from(power)) >> integer; // 2^-apart in Q31
    let sum = (1u64 << 31).saturating_add(u64::try_from(inverse).unwrap_or(0));
    high + lg(sum) - (31 << 32)
}

/// 2^(fraction / 2^32) in Q31.
fn exp2_fraction(fraction: u64) -> u64 {
    // The last step that is not above it: step 0 is 0, step 4,096 is 1.
    let (mut at, mut above) = (0, STEPS);
    while at + 1 < above {
        let middle = usize::midpoint(at, above);
        if log2_of_step(middle) <= fraction { at = middle } else { above = middle }
    }
    let (low, high) = (log2_of_step(at), log2_of_step(at + 1));
    let between = ((fraction - low) << (31 - STEP_BITS)) / (high - low).max(1);
    (1u64 << 31) + ((at as u64) << (31 - STEP_BITS)) + between
}

/// What is left of a value after a time in which it halves every `half_life`, as the nearest integer.
///
/// # Example
/// ```
/// use plimsoll::number::decayed;
/// assert_eq!((decayed(1000, 30, 30), decayed(1000, 15, 30), decayed(1000, 0, 30)), (500, 707, 1000));
/// ```
pub fn decayed(value: u64, elapsed: u64, half_life: u64) -> u64 {
    let halves = (u128::from(elapsed) << 32) / u128::from(half_life.max(1));
    let (integer, fraction) = (halves >> 32, halves & 0xFFFF_FFFF);
    if integer >= 64 {
        return 0;
    }
    let power = exp2_fraction(u64::try_from(fraction).unwrap_or(0)); // 2^fraction in Q31
    let left = ((u128::from(value) << 63) / u128::from(power)) >> integer; // in Q32
    u64::try_from((left + (1 << 31)) >> 32).unwrap_or(value)
}

/// The largest integer whose square is at most `x`.
pub fn isqrt(x: u64) -> u64 {
    x.isqrt()
}

/// 1234567 as 1,234,567.
///
/// # Example
/// ```
/// assert_eq!(plimsoll::number::thousands(45_231), "45,231");
/// ```
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A decimal number as JSON writes it, times 10^`places`, as the nearest integer (halves away from zero); `None` beyond
/// 10^15 before it is scaled, or where the product has no place in 64 bits.
///
/// # Example
/// ```
/// use plimsoll::number::decimal;
/// assert_eq!((decimal("-1.2345", 3), decimal("25e-4", 3), decimal("1e16", 0)), (Some(-1235), Some(3), None));
/// ```
pub fn decimal(number: &str, places: u32) -> Option<i64> {
    const MOST: u64 = 1_000_000_000_000_000;
    let lower = number.split_once(['e', 'E']);
    let (mantissa, exponent) = lower.unwrap_or((number, "0"));
    // More digits than any exponent needs: as far as it goes.
    let far = if exponent.starts_with('-') { i64::MIN / 2 } else { i64::MAX / 2 };
    let mut shift: i64 = exponent.parse().unwrap_or(far);
    let (mut integer, mut is_fraction) = (0u128, false);
    for byte in mantissa.bytes() {
        match byte {
            b'.' => is_fraction = true,
            b'0'..=b'9' if integer < 1 << 100 => {
                integer = integer * 10 + u128::from(byte - b'0');
                shift -= i64::from(is_fraction);
            }
            b'0'..=b'9' => shift += i64::from(!is_fraction),
            _ => {}
        }
    }
    if integer == 0 {
        return Some(0);
    }
    for _ in 0..places {
        integer *= 10;
    }
    let most = u128::from(MOST) * 10u128.pow(places);
    while shift > 0 {
        integer *= 10;
        shift -= 1;
        if integer > most {
            return None;
        }
    }
    let mut half = false;
    while shift < 0 && (integer > 0 || half) {
        half = integer % 10 >= 5;
        integer /= 10;
        shift += 1;
    }
    let rounded = integer + u128::from(half);
    let value = i64::try_from(rounded).ok().filter(|_| rounded <= most)?;
    Some(if mantissa.starts_with('-') { -value } else { value })
}

/// log2(1 + step/4096) in Q32, by repeated squaring at its first use: a session needs few of the steps.
fn log2_of_step(step: usize) -> u64 {
    static KNOWN: [AtomicU32; STEPS] = [const { AtomicU32::new(0) }; STEPS];
    let Some(known) = KNOWN.get(step) else { return 1 << 32 };
    let mut bits = known.load(Ordering::Relaxed);
    if bits == 0 && step > 0 {
        let mut x = ((1 << STEP_BITS) + step as u128) << (62 - STEP_BITS); // 1..2 in Q62
        for _ in 0..32 {
            x = (x * x) >> 62;
            bits <<= 1;
            if x >= 1 << 63 {
                bits |= 1;
                x >>= 1;
            }
        }
        known.store(bits, Ordering::Relaxed);
    }
    bits.into()
}

/// A length as the counts of the core have it: at most `u32::MAX`.
///
/// # Example
/// ```
/// assert_eq!(plimsoll::number::count("abc".len()), 3);
/// ```
pub fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Milliseconds from the epoch to the last moment that a date has: what lies farther is no time to any host.
const LAST_TIME_MS: u64 = 8_640_000_000_000_000;

/// Epoch milliseconds that are a date.
pub fn is_time(ms: i64) -> bool {
    ms.unsigned_abs() <= LAST_TIME_MS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_decimal_of_many_places_is_read_or_refused() {
        assert_eq!(decimal("0.75", 6), Some(750_000));
        assert_eq!(decimal("9223372036854.775807", 6), Some(i64::MAX));
        assert_eq!(decimal("9223372036854.775808", 6), None);
    }

    #[test]
    fn powers_of_two_are_exact() {
        for bit in 0..64 {
            assert_eq!(lg(1 << bit), i64::from(bit) << 32);
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_float_to_a_millionth(x in 1u64..1 << 53) {
            #[expect(clippy::float_arithmetic, clippy::cast_precision_loss, reason = "the oracle")]
            let apart = (lg(x) as f64 / 4_294_967_296.0 - (x as f64).log2()).abs();
            prop_assert!(apart < 1e-6, "{x}: {apart}");
        }

        #[test]
        fn a_sum_of_powers_agrees_with_the_sum(a in 1u64..1 << 40, b in 1u64..1 << 40) {
            let apart = (lg_sum(lg(a), lg(b)) - lg(a + b)).abs();
            prop_assert!(apart < 1 << 13, "{a} {b}: {apart}");
        }

        #[test]
        fn a_decay_agrees_with_the_float_and_goes_on_where_it_stopped(value in 0u64..1 << 40, first in 0u64..1 << 36, then in 0u64..1 << 36) {
            const HALF_LIFE: u64 = 2_592_000_000;
            #[expect(clippy::float_arithmetic, clippy::cast_precision_loss, reason = "the oracle")]
            let apart = {
                let exact = value as f64 * (-((first + then) as f64) / HALF_LIFE as f64).exp2();
                ((decayed(value, first + then, HALF_LIFE) as f64 - exact).abs() - 0.5) / (1.0 + exact)
            };
            prop_assert!(apart < 1e-6, "{apart}");
            let twice = decayed(decayed(value, first, HALF_LIFE), then, HALF_LIFE);
            prop_assert!(twice.abs_diff(decayed(value, first + then, HALF_LIFE)) <= 2 + value / 1_000_000);
        }

        #[test]
        fn a_logarithm_grows_with_its_argument(x in 1u64..u64::MAX) {
            prop_assert!(lg(x) <= lg(x + 1));
        }
    }
}
