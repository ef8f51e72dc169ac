//! Passwords after a user's name in command lines of curl: `curl -u user:password`, `--user`, `--proxy-user`.

use super::labelled_secrets::{is_placeholder, is_quoted_value, is_value};
use super::labels::past;
use super::secret_forms::run;

/// Between a flag and its value, also where each is a text of JSON.
const SEPARATORS: &[u8] = b" =\"'\\,\t";
const MOST_SEPARATORS: usize = 8;
/// Flags of one letter that stand together: `-sSu`.
const MOST_LETTERS: usize = 6;
const MOST_USER: usize = 64;
/// Fewer characters are no password.
const LEAST: usize = 3;
/// So much of a value tells whether it is a password; what repeats without end is read once.
const TELLING: usize = 64;
/// The name of the command is looked for so far before the flag.
const BEFORE: usize = 256;
const COMMAND: &[u8] = b"curl";

/// A login whose flag starts here: where its user starts, and its password, and where that ends.
pub(super) fn login(bytes: &[u8], at: usize) -> Option<(usize, usize, usize)> {
    let after_flag = flag(bytes.get(at..)?)?;
    let separators = past(after_flag, 0, SEPARATORS);
    let (between, value) = after_flag.split_at_checked(separators)?;
    if !(1..=MOST_SEPARATORS).contains(&separators) {
        return None;
    }
    let user = run(value.get(..MOST_USER).unwrap_or(value), is_user);
    let password = value.get(user..)?.strip_prefix(b":")?;
    let is_quoted = between.iter().any(|sign| matches!(sign, b'"' | b'\''));
    let inside =
        |byte| if is_quoted { is_quoted_value(byte) } else { is_value(byte) || byte == b':' };
    let telling = run(password.get(..TELLING).unwrap_or(password), inside);
    let is_login = user > 0
        && telling >= LEAST
        && !password.starts_with(b"//")
        && !is_placeholder(password)
        && is_command(bytes.get(..at)?);
    if !is_login {
        return None;
    }
    let start = bytes.len().saturating_sub(password.len());
    let from = start.saturating_sub(user.saturating_add(1));
    Some((from, start, start.saturating_add(run(password, inside))))
}

/// What follows the flag that a text starts with.
fn flag(text: &[u8]) -> Option<&[u8]> {
    let name = text.strip_prefix(b"-")?;
    if let Some(name) = name.strip_prefix(b"-") {
        return name.strip_prefix(b"proxy-").unwrap_or(name).strip_prefix(b"user");
    }
    let near = name.get(..MOST_LETTERS).unwrap_or(name);
    let (letters, after) = name.split_at_checked(run(near, |byte| byte.is_ascii_alphabetic()))?;
    matches!(letters, [.., b'u' | b'U']).then_some(after)
}

/// Whether a text ends in a command line of curl, which may go on over several lines, and a new word may start.
fn is_command(before: &[u8]) -> bool {
    let near = before.get(before.len().saturating_sub(BEFORE)..).unwrap_or_default();
    if near.last().is_some_and(|byte| !b" \"'\t".contains(byte)) {
        return false;
    }
    let Some(name) = near.windows(COMMAND.len()).rposition(|it| it == COMMAND) else {
        return false;
    };
    // No backslash before the line's end, which may be escaped.
    let is_break = |three: &[u8]| match three {
        [_, before, b'\n' | b'\r'] => !matches!(before, b'\\' | b'\r'),
        [before, b'\\', b'n'] => *before != b'\\',
        _ => false,
    };
    !near.get(name..).unwrap_or_default().windows(3).any(is_break)
}

fn is_user(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._@+-%".contains(&byte)
}

/// Whether a text may end in the user of a login, after a flag.
pub(super) fn is_login_of(before: &[u8]) -> bool {
    let Some(before) = before.strip_suffix(b":") else { return false };
    let back = |text: &[u8], most: usize, is: fn(u8) -> bool| {
        text.iter().rev().take(most).take_while(|byte| is(**byte)).count()
    };
    let user = back(before, MOST_USER, is_user);
    let before = before.get(..before.len().saturating_sub(user)).unwrap_or_default();
    let separators = back(before, MOST_SEPARATORS, |byte| SEPARATORS.contains(&byte));
    let before = before.get(..before.len().saturating_sub(separators)).unwrap_or_default();
    separators > 0 && matches!(before, [.., b'u' | b'U'] | [.., b'e', b'r'])
}
