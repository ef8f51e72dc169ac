//! Labels of secrets: names like `password`, and how each is joined to its value in code, settings and command lines.

use super::secret_forms::{run, starts_with};
use super::secrets::{CODE, COOKIE, LONGEST_WORD, SHORTEST, WORDS, words};

/// A label is at most so far before the word `value`.
const FARTHEST_VALUE: usize = 64;
/// The type of a variable is shorter than any token.
const LONGEST_TYPE: usize = SHORTEST - 1;
const QUOTES: &[u8] = b"\"'\\`";
/// Signs between a label and the word `value`: quotes, line ends, also escaped, and what tools put before each line.
const BETWEEN: &[u8] = "\"'\\,\r\n\t 0123456789nrt+|\u{2192}".as_bytes();

/// A label, and how its value is written.
pub(super) struct Label {
    /// The group of its word.
    pub(super) group: u8,
    /// Bytes from the label's start to the value's.
    pub(super) from: usize,
    pub(super) is_quoted: bool,
    /// Only what has letters and digits is a secret.
    pub(super) is_mixed: bool,
    /// `<password>x</password>`
    pub(super) is_tag: bool,
}

impl Label {
    /// A label of a value that has no quotes.
    pub(super) fn bare(group: u8, from: usize) -> Self {
        Self { group, from, is_quoted: false, is_mixed: true, is_tag: false }
    }
}

/// The label that starts here, if it has a value.
pub(super) fn label(bytes: &[u8], at: usize) -> Option<Label> {
    let rest = bytes.get(at..)?;
    let name = rest.get(..=LONGEST_WORD).unwrap_or(rest);
    let end = run(name, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    // Nearly every word ends otherwise, or has no value: that is seen before the words are compared.
    if end > LONGEST_WORD || !ends_as_label(rest.get(..end)?) {
        return None;
    }
    let sign = joined(bytes, at, end)?;
    let mut group = known(rest.get(..end)?)?;
    let open = past(rest, sign.saturating_add(1), b"=> ");
    let typed = after_type(rest, open);
    let open = typed.unwrap_or(open);
    let from = past(rest, open, QUOTES);
    let is_quoted = from > open;
    if group == COOKIE && !is_quoted && rest.get(sign) != Some(&b':') {
        group = CODE;
    }
    // `name: PASSWORD`, and `value: x` after it.
    let is_pair = rest.get(end..sign)?.iter().any(u8::is_ascii_alphabetic);
    let is_mixed = group >= CODE || typed.is_some() || !is_quoted || is_pair;
    Some(Label { group, from, is_quoted, is_mixed, is_tag: rest.get(sign) == Some(&b'>') })
}

/// The group of the label's word.
fn known(name: &[u8]) -> Option<u8> {
    let mut group = 0_u8;
    words(WORDS).find(|word| {
        group = group.saturating_add(u8::from(word.is_empty()));
        name.eq_ignore_ascii_case(word)
    })?;
    Some(group)
}

/// Where the sign is that joins a name to its value: `password: x`, `password = "x"`, `--password x`, `<password>x</password>`.
fn joined(bytes: &[u8], at: usize, end: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let sign = sign_after(rest, end);
    if sign.is_some() {
        return sign;
    }
    match rest.get(end..)? {
        // Not the next flag.
        [b' ', b'-', ..] => None,
        [b' ', ..] => bytes.get(..at)?.ends_with(b"--").then_some(end),
        [b'>', ..] => Some(end),
        between @ [b'"' | b'\'' | b'\\' | b'\n' | b'\r', ..] => {
            let between = between.get(..FARTHEST_VALUE).unwrap_or(between);
            let value = end.saturating_add(past(between, 0, BETWEEN));
            let is_value = starts_with(rest.get(value..)?, b"value");
            sign_after(rest, value.saturating_add(5)).filter(|_| is_value)
        }
        _ => None,
    }
}

/// `"password": "...`, also where the quotes are escaped. `==` compares.
fn sign_after(rest: &[u8], end: usize) -> Option<usize> {
    let sign = past(rest, past(rest, end, b"\"'\\]"), b" ");
    let is_sign = match rest.get(sign..)? {
        [b'=', next @ ..] => !next.starts_with(b"="),
        [b':', ..] => true,
        _ => false,
    };
    is_sign.then_some(sign)
}

/// The text in quotes after a variable's type: `password: string = "...`. No digit is in a type: a secret would be passed over.
fn after_type(rest: &[u8], open: usize) -> Option<usize> {
    let near = rest.get(open..)?;
    let near = near.get(..LONGEST_TYPE).unwrap_or(near);
    let length = run(near, |byte| byte.is_ascii_alphabetic() || b"_&<>?".contains(&byte));
    let quote = near.get(length..)?.strip_prefix(b" = ")?.first()?;
    (length > 0 && QUOTES.contains(quote)).then_some(open.saturating_add(length).saturating_add(3))
}

/// Whether a text may end in a label and the sign after it, by the last letters of the words that name a secret.
pub fn is_value_of(before: &str) -> bool {
    let signs = [' ', '"', '\'', '\\', '`', ']', '=', ':', '>'];
    let name = before.trim_end_matches(signs);
    let (name, between) = before.as_bytes().split_at(name.len());
    let is_flag = || {
        let last = name.get(name.len().saturating_sub(LONGEST_WORD + 2)..).unwrap_or_default();
        last.windows(2).any(|two| two == b"--")
    };
    ends_as_label(name)
        && (between.iter().any(|sign| matches!(sign, b'=' | b':' | b'>'))
            || between.starts_with(b" ") && is_flag())
}

/// Whether the last letters are those of a word after which a value may follow: of a label, of `value`, or of a type of texts.
fn ends_as_label(name: &[u8]) -> bool {
    // Neighbours here are the last two letters of each such word; a few other pairs only take time.
    let ends = b"rdwdseteyenieuessthtangontr";
    name.last_chunk()
        .is_some_and(|end: &[u8; 2]| ends.windows(2).any(|it| it.eq_ignore_ascii_case(end)))
}

/// After all that is one of these signs.
pub(super) fn past(bytes: &[u8], from: usize, signs: &[u8]) -> usize {
    from.saturating_add(run(bytes.get(from..).unwrap_or_default(), |byte| signs.contains(&byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_the_list_labels_a_secret() {
        for word in WORDS.split(' ').filter(|word| !word.is_empty()) {
            assert!(is_value_of(&format!("x_{word}: \"")), "{word}");
            assert!(is_value_of(&format!("x --{word} ")), "{word}");
            assert!(word.len() <= LONGEST_WORD);
        }
    }

    #[test]
    fn each_group_of_words_has_its_number() {
        use super::super::secrets::{AUTH, HEADER, KEY, PASS, PASSWORD, PRIVATE, PWD};
        for (word, group) in [
            ("PassWord", PASSWORD),
            ("pwd", PWD),
            ("token", CODE),
            ("cookie", COOKIE),
            ("pass", PASS),
            ("privateKey", PRIVATE),
            ("key", KEY),
            ("auth", AUTH),
            ("Authorization", HEADER),
        ] {
            assert_eq!(known(word.as_bytes()), Some(group), "{word}");
        }
        assert!(known(b"secret") < Some(CODE));
        assert_eq!(known(b"keys"), None);
    }
}
