//! Times of session files as epoch milliseconds, in integers.

use crate::json::RawValue;
use crate::number::is_time;

use super::raw::text;

/// Above this a number is milliseconds, below it seconds.
const MILLISECONDS_FROM: i64 = 100_000_000_000;

/// An ISO 8601 string, or a number of seconds or milliseconds.
///
/// What is farther from now than any date is unknown: a damaged file, or a clock that ran wild.
pub(super) fn millis(raw: &RawValue) -> Option<i64> {
    let ms = match text(raw) {
        Some(iso) => from_iso(iso.trim()),
        None => from_number(raw),
    };
    ms.filter(|ms| is_time(*ms))
}

fn from_number(text: &str) -> Option<i64> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let seconds: i64 = seconds.parse().ok()?;
    if seconds.abs() > MILLISECONDS_FROM {
        return Some(seconds);
    }
    seconds.checked_mul(1000)?.checked_add(thousandths(fraction)?)
}

/// The first three digits of a fraction, filled up with zeros.
fn thousandths(fraction: &str) -> Option<i64> {
    let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
    digits.parse().ok()
}

/// `2026-11-21T20:00:00[.123](Z|+01:00)`; without a zone it is UTC.
fn from_iso(text: &str) -> Option<i64> {
    let (date, clock) = text.split_once(['T', ' '])?;
    let [year, month, day] = numbers(date, '-')?;
    let (clock, offset) = zone(clock)?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let [hour, minute, second] = numbers(clock, ':')?;
    let in_range = (0..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..=60).contains(&second);
    if !in_range {
        return None;
    }
    let minutes = days(year, month, day)
        .checked_mul(1440)?
        .checked_add(hour.checked_mul(60)?)?
        .checked_add(minute)?
        .checked_sub(offset)?;
    let seconds = minutes.checked_mul(60)?.checked_add(second)?;
    seconds.checked_mul(1000)?.checked_add(thousandths(fraction)?)
}

fn numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator).map(|part| part.parse::<i64>().ok());
    let found = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(found)
}

/// The clock without its zone, and the zone in minutes.
fn zone(clock: &str) -> Option<(&str, i64)> {
    if let Some(utc) = clock.strip_suffix(['Z', 'z']) {
        return Some((utc, 0));
    }
    let Some(at) = clock.find(['+', '-']) else { return Some((clock, 0)) };
    let (time, zone) = clock.split_at_checked(at)?;
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let hours: i64 = hours.parse().ok()?;
    let size = hours.checked_mul(60)?.checked_add(minutes.parse().ok()?)?;
    Some((time, if zone.starts_with('-') { size.saturating_neg() } else { size }))
}

/// Days from 1970-01-01, by years that start in March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let early = month <= 2;
    let year = year.saturating_sub(i64::from(early));
    let month = month.saturating_add(if early { 9 } else { -3 });
    [
        year.saturating_mul(365),
        year.div_euclid(4),
        year.div_euclid(100).saturating_neg(),
        year.div_euclid(400),
        month.saturating_mul(153).saturating_add(2).div_euclid(5),
        day,
        -719_469,
    ]
    .into_iter()
    .fold(0, i64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_each_known_form() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-04-14T05:25:41.024Z", 1_776_144_341_024),
            ("2024-02-29T23:59:59.5+01:00", 1_709_247_599_500),
            ("2024-02-29 22:59:59", 1_709_247_599_000),
            ("1969-12-31T23:59:59Z", -1000),
        ] {
            assert_eq!(from_iso(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn numbers_are_seconds_or_milliseconds() {
        assert_eq!(from_number("1757015046.707548"), Some(1_757_015_046_707));
        assert_eq!(from_number("1765233665292"), Some(1_765_233_665_292));
        assert_eq!(from_number("1e99"), None);
    }

    #[test]
    fn a_number_that_is_no_date_is_unknown() {
        assert_eq!(millis("8640000000000000"), Some(8_640_000_000_000_000));
        for raw in ["9e15", "9000000000000000", "-8640000000000001", "9223372036854775807"] {
            assert_eq!(millis(raw), None, "{raw}");
        }
    }

    #[test]
    fn a_text_that_is_no_time_is_ignored() {
        for text in
            ["", "T", "2026-13-01T00:00:00Z", "2026-01-01", "a-b-cTd:e:f", "2026-01-01T00:00:00+é"]
        {
            assert_eq!(from_iso(text), None, "{text}");
        }
    }
}
