//! Secrets that are known by what stands beside them: a word like `password`, an address, the first line of a key.

use super::labels::{Label, label, past};
use super::secrets::{
    AUTH, COOKIE, HEADER, KEY, OPEN_KEYS, PASS, PASSWORD, PRIVATE, PWD, SCHEME, words,
};
use crate::bytes::{base64_digit, find};
use crate::text::secret_forms::{Found, REDACTED, run, starts_with};

/// Fewer characters beside a word like `password` are no secret: types, `true`, `null`.
const LEAST_QUOTED: usize = 6;
const LEAST_BARE: usize = 8;
/// Fewer characters after `Bearer` are a word.
const LEAST_BEARER: usize = 12;
/// Fewer characters after a name in `_KEY` are no key; and so many letters alone are a word.
const LEAST_RANDOM: usize = 16;
const LEAST_PART: usize = 4;
/// So much of a value tells whether it is a secret; what repeats without end is read once.
const TELLING: usize = 64;
/// `ENCRYPTED ` is the longest.
const LONGEST_KIND: usize = 12;
/// The first line of a key, and how it begins.
const LONGEST_HEAD: usize = 64;
const BEGIN: &str = "-----BEGIN ";
const PRIVATE_KEY: &str = "PRIVATE KEY";
const END: &[u8] = b"-----END";
/// What a tool puts before a line of a file: the file's name and the line's number.
const LONGEST_MARK: usize = 96;
/// Fewer signs are a word: a key's lines are longer, but for the last.
const LEAST_LINE: usize = 16;

/// A value beside a word like `password`, or after `Bearer`.
pub(super) fn assigned(bytes: &[u8], at: usize) -> Found {
    let label = match scheme_of(bytes.get(at..)?) {
        Some(scheme) => Label::bare(SCHEME, scheme.len()),
        None => label(bytes, at)?,
    };
    value_of(bytes, at, label)
}

/// The value of the label at a place, if it may be a secret.
#[inline(never)]
fn value_of(bytes: &[u8], at: usize, label: Label) -> Found {
    let Label { group, is_quoted, .. } = label;
    let mut from = at.saturating_add(label.from);
    let mut value = bytes.get(from..)?;
    if group == HEADER {
        let token = "token ";
        from = starts_with(value, token.as_bytes()).then_some(from.saturating_add(token.len()))?;
        value = bytes.get(from..)?;
    }
    if group == COOKIE && is_pair(value) {
        return Some((from, from.saturating_add(run(value, is_in_line))));
    }
    let inside = |byte| if is_quoted { is_quoted_value(byte) } else { is_value(byte) };
    let least = match group {
        AUTH | HEADER | SCHEME => LEAST_BEARER,
        _ if is_quoted || label.is_tag => LEAST_QUOTED,
        _ => LEAST_BARE,
    };
    let telling = run(value.get(..TELLING).unwrap_or(value), inside);
    let secret = value.get(..telling)?;
    let after = value.get(telling..)?;
    if telling < least
        || is_call(secret, after)
        || is_placeholder(secret)
        // Each is a secret of its own.
        || scheme_of(value).is_some()
        || value.starts_with(BEGIN.as_bytes())
    {
        return None;
    }
    // A variable of the environment: `DB_PASS`.
    let before = bytes.get(..at)?;
    let is_variable = before.ends_with(b"_");
    let is_capital = bytes.get(at)?.is_ascii_uppercase() && is_variable;
    let fits = match group {
        AUTH => (is_quoted || is_variable) && is_coded(secret),
        KEY => is_capital && !is_open_key(before) && is_random(secret),
        PASS | PRIVATE if is_quoted => {
            is_mixed(secret) && secret.is_ascii() && !after.starts_with(b" ")
        }
        PRIVATE if !is_capital => is_random(secret),
        PASS if !is_capital => false,
        PWD if matches!(secret, [b'/' | b'~', ..]) => false,
        SCHEME if is_login(secret) => true,
        _ => !label.is_mixed || is_mixed(secret),
    };
    if !fits {
        return None;
    }
    let in_line = is_quoted && group == PASSWORD;
    let length = run(value, |byte| if in_line { is_in_line(byte) } else { inside(byte) });
    let is_closed = !label.is_tag || value.get(length..)?.starts_with(b"</");
    is_closed.then(|| (from, from.saturating_add(length)))
}

fn is_open_key(name: &[u8]) -> bool {
    OPEN_KEYS.split(' ').any(|known| name.ends_with(known.as_bytes()))
}

/// How a header says what kind of secret follows.
fn scheme_of(bytes: &[u8]) -> Option<&'static str> {
    ["bearer ", "basic "].into_iter().find(|scheme| starts_with(bytes, scheme.as_bytes()))
}

/// `name=value`, as cookies are written. No template, as in `sid=${id}`.
fn is_pair(value: &[u8]) -> bool {
    let value = value.get(..TELLING).unwrap_or(value);
    let name = run(value, |byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let after = value.get(name..).unwrap_or_default();
    let is_value = matches!(after, [b'=', next, ..] if is_value(*next) && *next != b'=');
    name > 0 && is_value && !after.starts_with(b"=${")
}

/// A private key in PEM, as far as it looks like one: lines of base64, also with escaped ends, and with numbers before them.
pub(super) fn pem(bytes: &[u8], at: usize) -> Found {
    let rest = bytes.get(at..)?;
    let head = rest.strip_prefix(BEGIN.as_bytes())?;
    key_after(bytes, rest, head)
}

/// The private key in `rest`, if what follows the start of its first line (`head`) looks like one.
#[inline(never)]
fn key_after(bytes: &[u8], rest: &[u8], head: &[u8]) -> Found {
    let name = PRIVATE_KEY.as_bytes();
    // Kinds of keys are short words in capitals: no other secret stands in one.
    let head = head.get(..LONGEST_KIND.saturating_add(name.len())).unwrap_or(head);
    let kind = head.windows(name.len()).position(|it| it == name)?;
    if !head.get(..kind)?.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b' ') {
        return None;
    }
    let name = kind.saturating_add(22);
    let body = rest.get(past(rest, past(rest, name, b" BLOCK"), b"-")..)?;
    let first = past(body, 0, b"\\nr\n\r ");
    let first_line = behind_line_end(body.get(..first)?);
    if run(body.get(first..)?, is_base64) < LEAST_LINE
        && past_mark(body.get(first_line?..)?).is_none()
    {
        return None;
    }
    let mut length = 0_usize;
    loop {
        length = length.saturating_add(run_of_key(body.get(length..)?));
        let line = behind_line_end(body.get(..length)?);
        let next = line.and_then(|line| past_mark(body.get(line..)?)?.checked_add(line));
        let Some(next) = next.filter(|next| *next > length) else { break };
        length = next;
    }
    let from = bytes.len().saturating_sub(body.len());
    Some((from, from.saturating_add(length)))
}

/// How many bytes are lines of base64.
fn run_of_key(bytes: &[u8]) -> usize {
    let mut space = false;
    run(bytes, |byte| {
        // Spaces only at a line's start: after a key that is only spoken of the sentence goes on.
        let inside =
            byte.is_ascii_alphanumeric() || b"+/=\\\r\n".contains(&byte) || (byte == b' ' && space);
        space = byte == b'\n' || (byte == b' ' && space);
        inside
    })
}

/// After the last end of a line, which may be escaped; none if it is farther back than a mark is long.
fn behind_line_end(bytes: &[u8]) -> Option<usize> {
    let far = bytes.len().saturating_sub(LONGEST_MARK);
    let near = bytes.get(far..)?;
    let plain = near.iter().rposition(|byte| *byte == b'\n').map(|at| at.saturating_add(1));
    let escaped = near.windows(2).rposition(|two| two == b"\\n").map(|at| at.saturating_add(2));
    plain.max(escaped)?.checked_add(far)
}

/// Where a key goes on after what a tool puts before each line of a file: the line's number, with the file's name before it,
/// or the signs of a change or a quotation.
fn past_mark(line: &[u8]) -> Option<usize> {
    let near = line.get(..LONGEST_MARK).unwrap_or(line);
    let near = near.get(..run(near, |byte| byte != b'\n'))?;
    let is_digit = |at: usize| near.get(at).is_some_and(u8::is_ascii_digit);
    let ends = (1..near.len()).filter(|&at| is_digit(at.saturating_sub(1)) && !is_digit(at));
    let mut starts = std::iter::once(past(near, 0, b" +->|#*")).chain(ends.map(|at| {
        let sign = past(near, at, b" \\");
        let rest = near.get(sign..).unwrap_or_default();
        let signs = ["\u{2192}", "\t", ":", "-", "|", "t", "u2192"];
        let length =
            signs.iter().find(|it| rest.starts_with(it.as_bytes())).map_or(0, |it| it.len());
        past(near, sign.saturating_add(length), b" ")
    }));
    starts.find(|&at| line.get(at..).is_some_and(is_line_of_key))
}

/// A line of base64, or a short one before the key's end.
fn is_line_of_key(line: &[u8]) -> bool {
    let length = run_of_base64(line);
    if length >= LEAST_LINE {
        return true;
    }
    let after = line.get(length..).unwrap_or_default();
    let after = after.get(..LONGEST_MARK).unwrap_or(after);
    let line_end = after.starts_with(b"\n") || after.starts_with(b"\r") || after.starts_with(b"\\");
    length > 0 && line_end && after.windows(END.len()).any(|it| it == END)
}

/// Where the first private key of a text may start. No word before it is a part of one, and nearly no text has any.
pub fn first_private_key(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let name = PRIVATE_KEY.as_bytes();
    let mut from = 0_usize;
    // Of its letters `V` is the rarest.
    while let Some(place) = find(bytes.get(from..)?, b'V') {
        let at = from.saturating_add(place);
        let start = at.checked_sub(3);
        if start.and_then(|start| bytes.get(start..)).is_some_and(|it| it.starts_with(name)) {
            return start;
        }
        from = at.saturating_add(1);
    }
    None
}

/// Where the private key in PEM ends whose body starts at a word: the words in it are parts of a secret, however short.
#[inline(never)]
pub fn end_of_key(text: &str, word: usize) -> Option<usize> {
    let before = text.get(..word)?;
    let line = behind_line_end(before.as_bytes());
    let is_marked = |line: &usize| {
        let start = text.as_bytes().get(*line..).and_then(past_mark);
        start.is_some_and(|start| line.saturating_add(start) <= word)
    };
    let before = text.get(..line.filter(is_marked).unwrap_or(word))?;
    let before = before.trim_end_matches([' ', '\n', '\r', '\\', 'n', 'r']);
    if !before.ends_with("-----") {
        return None;
    }
    let near = text.floor_char_boundary(before.len().saturating_sub(LONGEST_HEAD));
    let head = before.get(near..)?.rfind(BEGIN)?;
    pem(text.as_bytes(), near.saturating_add(head)).map(|(_, end)| end)
}

fn run_of_base64(bytes: &[u8]) -> usize {
    run(bytes, |byte| is_base64(byte) || byte == b'=')
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

/// Signs of a value that stands alone.
pub(super) fn is_value(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_+/=.~!@#%^*$".contains(&byte)
}

/// Signs of a sentence in quotes, or of the rest of a line.
fn is_in_line(byte: u8) -> bool {
    !matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\')
}

/// Signs of a value in quotes.
pub(super) fn is_quoted_value(byte: u8) -> bool {
    (byte.is_ascii_graphic() && !b"\"'`\\[]<>{}".contains(&byte)) || !byte.is_ascii()
}

/// Letters and digits: no word.
fn is_mixed(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

/// Signs as a random value has them: digits among letters all along, and no word or number between its other signs.
fn is_random(value: &[u8]) -> bool {
    let is_change = |two: &&[u8]| matches!(two, [a, b] if a.is_ascii_digit() != b.is_ascii_digit());
    let mut parts = value.split(|byte| !byte.is_ascii_alphanumeric());
    value.len() >= LEAST_RANDOM
        && value.windows(2).filter(is_change).count() >= value.len() / 6
        && parts.all(|part| part.len() < LEAST_PART || is_mixed(part))
}

/// Signs of base64, in fours.
fn is_coded(value: &[u8]) -> bool {
    run_of_base64(value) == value.len()
        && value.len().is_multiple_of(4)
        && (is_mixed(value) || is_login(value))
}

/// Base64 of a user and a password. Words are base64 too, but of bytes that are no text.
fn is_login(value: &[u8]) -> bool {
    let mut bits = 0_u32;
    let mut is_pair = false;
    for (at, sign) in value.iter().enumerate() {
        let Some(digit) = base64_digit(*sign) else { break };
        bits = bits << 6 | digit;
        let byte = match at % 4 {
            0 => continue,
            1 => bits >> 4,
            2 => bits >> 2,
            _ => bits,
        } & 0xff;
        is_pair |= byte == u32::from(b':');
        if !(0x20..0x7f).contains(&byte) {
            return false;
        }
    }
    is_pair
}

/// Names a function, which is called here: by its first arguments. Or a secret was already taken out of it.
fn is_call(name: &[u8], after: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$');
    after.starts_with(b"(") && name.iter().all(is_name) || after.starts_with(REDACTED.as_bytes())
}

/// Names a place that holds the secret, or holds none.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    words("process.env os.environ env. $ xxx *** your example").any(|none| starts_with(value, none))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a key's body, with its lines' ends as they are and escaped: none is told.
    /// Row A10.
    #[test]
    fn no_word_of_a_key_is_an_identifier() {
        let body = "MHcCAQEEIab/cd+fooBar\nsrc/a_b.rs\nAbC1/fooBar2 ==";
        for (kind, end) in [("EC ", "\n"), ("", "\n  "), ("OPENSSH ", "\\n"), ("RSA ", "\r\n")] {
            let key = format!(
                "TS2304 -----BEGIN {kind}PRIVATE KEY-----{end}{}{end}-----END",
                body.replace('_', "x").replace('.', "y").replace('\n', end)
            );
            let mut found = Vec::new();
            let mut until = 0;
            super::super::identifiers(&key, &mut |word, at| {
                until = until.max(end_of_key(&key, at).unwrap_or(0));
                if at >= until {
                    found.push(word);
                }
            });
            assert_eq!(found, ["TS2304"], "{key}");
        }
        for mark in
            ["     1\u{2192}", "  1\t", "id_rsa:1:", "a/b-2.pem-1-", "1 | ", "> ", "\\t1\\u2192"]
        {
            let key = format!(
                "-----BEGIN PRIVATE KEY-----\n{mark}fooBarMHcCAQEEIab/cd\n{mark}srcAbC==\n{mark}-----END"
            );
            let word = key.find("fooBar").unwrap();
            assert!(first_private_key(&key) < Some(word));
            let end = key.find("==").unwrap() + 2;
            assert_eq!(end_of_key(&key, word).map(|at| at > end), Some(true), "{key}");
        }
        for text in ["-----BEGIN PUBLIC KEY-----\nfooBar", "-----\nfooBar", "-----BEGIN fooBar"] {
            let at = text.find("fooBar").unwrap();
            assert_eq!(end_of_key(text, at), None, "{text}");
        }
    }

    #[test]
    fn the_first_private_key_of_a_text_is_found() {
        for (text, expected) in [
            ("", None),
            ("PRIVATE KE", None),
            ("VATE KEY", None),
            ("PRIVATE KEY", Some(0)),
            ("VPRIVPRIVATE KEYPRIVATE KEY", Some(5)),
            ("é PRIVATE KEY", Some(3)),
        ] {
            assert_eq!(
                (first_private_key(text), text.find(PRIVATE_KEY)),
                (expected, expected),
                "{text}"
            );
        }
    }
}
