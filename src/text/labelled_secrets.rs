//! Secrets that are known by what stands beside them: a word like `password`, an address, the first line of a key.

use super::secrets::{ENDS, LONGEST_WORD, WORDS};
use crate::text::secret_forms::{Found, REDACTED, run};

/// Fewer characters beside a word like `password` are no secret: types, `true`, `null`.
const LEAST_QUOTED: usize = 6;
const LEAST_BARE: usize = 8;
/// Fewer characters behind `Bearer` are a word.
const LEAST_BEARER: usize = 12;
/// So much of a value tells whether it is a secret; what repeats without end is read once.
const TELLING: usize = 64;
/// `ENCRYPTED ` is the longest.
const LONGEST_KIND: usize = 12;
/// The first line of a key, and how it begins.
const LONGEST_HEAD: usize = 64;
const BEGIN: &str = "-----BEGIN ";

/// A value beside a word like `password`, or behind `Bearer`.
pub(super) fn assigned(bytes: &[u8], at: usize) -> Found {
    let rest = bytes.get(at..)?;
    let is_scheme = |word: &&str| starts_with(rest, word);
    let scheme = ["bearer ", "basic "].into_iter().find(is_scheme);
    let (from, least, quoted) = if let Some(scheme) = scheme {
        (scheme.len(), LEAST_BEARER, false)
    } else {
        // Nearly every word has no value: that is seen before the words are compared.
        let name = rest.get(..=LONGEST_WORD).unwrap_or(rest);
        let end = run(name, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        // `"password": "...`, also where the quotes are escaped.
        let sign = past(rest, past(rest, end, b"\"'\\]"), b" ");
        if end > LONGEST_WORD || !matches!(rest.get(sign), Some(b'=' | b':')) {
            return None;
        }
        WORDS.split(' ').find(|word| word.len() == end && starts_with(rest, word))?;
        let open = past(rest, sign.saturating_add(1), b"=> ");
        let from = past(rest, open, b"\"'\\`");
        let quoted = from > open;
        (from, if quoted { LEAST_QUOTED } else { LEAST_BARE }, quoted)
    };
    let inside = |byte| if quoted { is_quoted(byte) } else { is_value(byte) };
    let value = rest.get(from..)?;
    let telling = run(value.get(..TELLING).unwrap_or(value), inside);
    let secret = value.get(..telling)?;
    if telling < least
        || is_call(secret, value.get(telling..)?)
        || is_placeholder(secret)
        || !(quoted || is_mixed(secret))
    {
        return None;
    }
    let from = at.saturating_add(from);
    Some((from, from.saturating_add(run(value, inside))))
}

/// Whether a text ends as what stands before a secret's value does: by the last letters of the words that name one.
pub fn is_value_of(before: &str) -> bool {
    let signs = [' ', '"', '\'', '\\', '`', ']', '=', ':', '>'];
    let name = before.trim_end_matches(signs);
    let (name, between) = before.as_bytes().split_at(name.len());
    if !between.iter().any(|sign| matches!(sign, b'=' | b':')) {
        return false;
    }
    let Some(end) = name.last_chunk::<2>() else { return false };
    let end = end.to_ascii_lowercase();
    ENDS.split(' ').any(|known| known.as_bytes() == end)
}

/// Behind all that is one of these signs.
fn past(bytes: &[u8], from: usize, signs: &[u8]) -> usize {
    from.saturating_add(run(bytes.get(from..).unwrap_or_default(), |byte| signs.contains(&byte)))
}

fn starts_with(bytes: &[u8], word: &str) -> bool {
    bytes.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
}

/// A private key in PEM, as far as it looks like one: lines of base64, also with escaped ends.
pub(super) fn pem(bytes: &[u8], at: usize) -> Found {
    let rest = bytes.get(at..)?;
    let head = rest.strip_prefix(BEGIN.as_bytes())?;
    let name = b"PRIVATE KEY";
    // Kinds of keys are short words in capitals: no other secret stands in one.
    let head = head.get(..LONGEST_KIND.saturating_add(name.len())).unwrap_or(head);
    let kind = head.windows(name.len()).position(|it| it == name)?;
    if !head.get(..kind)?.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b' ') {
        return None;
    }
    let name = kind.saturating_add(22);
    let from = past(rest, past(rest, name, b" BLOCK"), b"-");
    let mut space = false;
    let length = run(rest.get(from..)?, |byte| {
        // Spaces only at a line's start: behind a key that is only spoken of the sentence goes on.
        let inside =
            byte.is_ascii_alphanumeric() || b"+/=\\\r\n".contains(&byte) || (byte == b' ' && space);
        space = byte == b'\n' || (byte == b' ' && space);
        inside
    });
    let body = rest.get(past(rest, from, b"\\nr\n\r ")..)?;
    let from = at.saturating_add(from);
    (run(body, is_base64) >= 16).then_some((from, from.saturating_add(length)))
}

/// Where the private key in PEM ends whose body starts at a word: the words in it are parts of a secret, however short.
pub fn key_end(text: &str, word: usize) -> Option<usize> {
    let before = text.get(..word)?.trim_end_matches([' ', '\n', '\r', '\\', 'n', 'r']);
    if !before.ends_with("-----") {
        return None;
    }
    let near = text.floor_char_boundary(before.len().saturating_sub(LONGEST_HEAD));
    let head = before.get(near..)?.rfind(BEGIN)?;
    pem(text.as_bytes(), near.saturating_add(head)).map(|(_, end)| end)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

/// Signs of a value that stands alone.
fn is_value(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_+/=.~!@#%^*$".contains(&byte)
}

/// Signs of a value in quotes.
fn is_quoted(byte: u8) -> bool {
    (byte.is_ascii_graphic() && !b"\"'`\\[]<>{}".contains(&byte)) || !byte.is_ascii()
}

/// Letters and digits: no word.
fn is_mixed(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

/// Names a function, which is called here: by its first arguments, or by a secret that was already taken out of its name.
fn is_call(name: &[u8], behind: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$');
    name.iter().all(is_name)
        && (behind.starts_with(b"(") || behind.starts_with(REDACTED.as_bytes()))
}

/// Names a place that holds the secret, or holds none.
fn is_placeholder(value: &[u8]) -> bool {
    let none = "process.env os.environ env. $ xxx *** your example";
    none.split(' ').any(|none| starts_with(value, none))
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
                until = until.max(key_end(&key, at).unwrap_or(0));
                if at >= until {
                    found.push(word);
                }
            });
            assert_eq!(found, ["TS2304"], "{key}");
        }
        for text in ["-----BEGIN PUBLIC KEY-----\nfooBar", "-----\nfooBar", "-----BEGIN fooBar"] {
            let at = text.find("fooBar").unwrap();
            assert_eq!(key_end(text, at), None, "{text}");
        }
    }

    #[test]
    fn every_word_of_the_list_labels_a_secret() {
        for word in WORDS.split(' ') {
            assert!(is_value_of(&format!("x_{word}: \"")), "{word}");
            assert!(word.len() <= LONGEST_WORD);
        }
    }
}
