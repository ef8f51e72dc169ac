//! Forms by which a secret is known alone: the prefixes of tokens, and JSON web tokens.

use crate::text::secrets::{FAMILIES, Family, Kind, SHORTEST, may_start};

/// What stands where a secret stood.
pub(super) const REDACTED: &str = "[redacted]";
/// Fewer characters are no signed token.
const LEAST_JWT: usize = 30;

pub(super) type Found = Option<(usize, usize)>;

/// A word starts here. It may follow an escape: of JSON, of an address, of a terminal's colours. It may start at a
/// hump: `dbPassword`, `DBPassword`.
pub(super) fn starts(bytes: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| bytes.get(at)).copied();
    let next =
        || at.checked_add(1).and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_lowercase);
    let hump = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_uppercase() && next();
    match bytes.get(at) {
        Some(byte) if byte.is_ascii_alphanumeric() => {
            let inside = before(1).is_some_and(|byte| byte.is_ascii_alphanumeric());
            !inside
                || (byte.is_ascii_uppercase() && before(1).is_some_and(hump))
                || is_after_escape(bytes, at)
        }
        _ => false,
    }
}

/// An escape ends here: `\n`, `\u0026`, `%3D`, or a colour, `ESC[32m`.
fn is_after_escape(bytes: &[u8], at: usize) -> bool {
    let before = |length: usize| bytes.get(at.checked_sub(length)?..at);
    let is_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    let percent = before(3).and_then(|it| it.strip_prefix(b"%"));
    let unicode = before(6).and_then(|it| it.strip_prefix(b"\\u"));
    let line = matches!(before(2), Some([b'\\', b'n' | b't' | b'r']));
    if line || percent.is_some_and(is_hex) || unicode.is_some_and(is_hex) {
        return true;
    }
    let colour = before(1) == Some(b"m");
    colour
        && (2..=LONGEST_COLOUR).find_map(|length| match before(length)? {
            [b'[', ..] => Some(true),
            [b'0'..=b'9' | b';', ..] => None,
            _ => Some(false),
        }) == Some(true)
}

/// `[38;2;255;255;255m`, after the escape.
const LONGEST_COLOUR: usize = 18;

/// A token by its prefix: at least so many signs of its alphabet after it.
pub(super) fn token(bytes: &[u8], at: usize) -> Found {
    let rest = bytes.get(at..)?;
    // Most words are too short for any.
    if !may_start(*rest.first()?)
        || !rest.get(..SHORTEST)?.iter().all(|byte| Kind::Dotted.has(*byte))
    {
        return None;
    }
    if let Some(length) = bot_token(rest) {
        return Some((at, at.saturating_add(length)));
    }
    let before = at.checked_sub(1).and_then(|at| bytes.get(at));
    let in_base64 = before
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
        && !is_after_escape(bytes, at);
    FAMILIES.iter().filter(|family| family.may_start(rest)).find_map(|family| {
        let after = |prefix: &[u8]| {
            let tail = rest.strip_prefix(prefix)?;
            // Letters alone also stand inside base64.
            if in_base64 && prefix.iter().all(u8::is_ascii_alphanumeric) {
                return None;
            }
            Some(at.saturating_add(prefix.len()).saturating_add(body(tail, family)?))
        };
        Some((at, family.prefixes().find_map(after)?))
    })
}

/// A Telegram bot's token: its number, and what stands after `:A`.
fn bot_token(bytes: &[u8]) -> Option<usize> {
    let number = run(bytes, |byte| byte.is_ascii_digit());
    let after = bytes.get(number..)?.strip_prefix(b":A").filter(|_| (8..=10).contains(&number))?;
    let length = run(after, |byte| Kind::Wide.has(byte));
    (length == 34).then(|| number.saturating_add(length).saturating_add(2))
}

/// How many signs after the prefix are the token's.
fn body(tail: &[u8], family: &Family) -> Option<usize> {
    let run = run(tail, |byte| family.kind.has(byte));
    let least = usize::from(family.least);
    let taken =
        if matches!(family.kind, Kind::Exact | Kind::Hex) { run == least } else { run >= least };
    // A word that runs on is another word.
    let ends = !tail.get(run).is_some_and(u8::is_ascii_alphanumeric);
    (taken && ends).then_some(run)
}

/// `eyJ...`, in two or three parts.
pub(super) fn jwt(bytes: &[u8], at: usize, no_jwt_before: &mut usize) -> Found {
    let rest = bytes.get(at..)?;
    if at < *no_jwt_before || !rest.starts_with(b"eyJ") {
        return None;
    }
    let length =
        run(rest, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    let end = at.saturating_add(length);
    if length >= LEAST_JWT && rest.get(..length)?.contains(&b'.') {
        return Some((at, end));
    }
    *no_jwt_before = end;
    None
}

pub(super) fn run(bytes: &[u8], mut inside: impl FnMut(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !inside(*byte)).unwrap_or(bytes.len())
}

pub(super) fn starts_with(bytes: &[u8], word: &[u8]) -> bool {
    bytes.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
}
