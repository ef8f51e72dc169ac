//! Secrets out of texts (F106, A10): tokens by the prefixes that their makers gave them, values beside words like `password`,
//! keys in PEM, credentials in addresses and headers. Linear and idempotent: what is put in their place matches nothing.

use super::secrets::{ASSIGNED, Kind, Secret, TOKENS, WORDS};
use crate::text::find;

/// What stands where a secret stood.
pub(super) const REDACTED: &str = "[redacted]";

/// Fewer characters beside a word like `password` are no secret: types, `true`, `null`.
const LEAST_QUOTED: usize = 6;
const LEAST_BARE: usize = 8;
/// Fewer characters behind `Bearer` are a word.
const LEAST_BEARER: usize = 12;
/// Fewer characters are no signed token.
const LEAST_JWT: usize = 30;
/// So much of a value tells whether it is a secret; what repeats without end is read once.
const TELLING: usize = 64;
/// User and password in an address are no longer than this together.
const MOST_USERINFO: usize = 256;

/// The text with every secret that is known by its form replaced.
pub(super) fn redact(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut done, mut at) = (0, 0);
    // A long word that was looked at as a signed token is not looked at again.
    let mut no_jwt_before = 0;
    while let Some(&byte) = bytes.get(at) {
        let found = if byte == b':' {
            userinfo(bytes, at)
        } else if byte == b'-' {
            pem(text, at)
        } else if starts(bytes, at) {
            token(text, at)
                .or_else(|| jwt(bytes, at, &mut no_jwt_before))
                .or_else(|| assigned(text, at))
        } else {
            None
        };
        let Some((from, to)) = found else {
            at = at.saturating_add(1);
            continue;
        };
        out.push_str(text.get(done..from).unwrap_or_default());
        out.push_str(REDACTED);
        (done, at) = (to, to);
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

type Found = Option<(usize, usize)>;

/// A word starts here; also behind an escape, as in JSON that stands in a text, and at a hump: `dbPassword`.
fn starts(bytes: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| bytes.get(at)).copied();
    let escaped = matches!(before(1), Some(b'n' | b't' | b'r')) && before(2) == Some(b'\\');
    let hump = before(1).is_some_and(|byte| byte.is_ascii_lowercase());
    match bytes.get(at) {
        Some(byte) if byte.is_ascii_alphanumeric() => {
            let inside = before(1).is_some_and(|byte| byte.is_ascii_alphanumeric());
            !inside || escaped || (hump && byte.is_ascii_uppercase())
        }
        _ => false,
    }
}

/// A token by its prefix: at least so many signs of its alphabet behind it.
fn token(text: &str, at: usize) -> Found {
    let rest = text.as_bytes().get(at..)?;
    let first = *rest.first()?;
    TOKENS.iter().filter(|secret| secret.prefix.as_bytes().first() == Some(&first)).find_map(
        |secret| {
            let tail = rest.strip_prefix(secret.prefix.as_bytes())?;
            Some((at, at.saturating_add(secret.prefix.len()).saturating_add(body(tail, secret)?)))
        },
    )
}

/// How many signs behind the prefix are the token's.
fn body(tail: &[u8], secret: &Secret) -> Option<usize> {
    let run = run(tail, |byte| secret.kind.has(byte));
    let least = usize::from(secret.least);
    let taken = if secret.kind == Kind::Exact || secret.kind == Kind::Hex {
        run == least
    } else {
        run >= least
    };
    // A word that runs on is another word.
    let ends = !tail.get(run).is_some_and(u8::is_ascii_alphanumeric);
    (taken && ends).then_some(run)
}

/// `eyJ...`, in two or three parts.
fn jwt(bytes: &[u8], at: usize, no_jwt_before: &mut usize) -> Found {
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

/// A value beside a word like `password`, or behind `Bearer`.
fn assigned(text: &str, at: usize) -> Found {
    let rest = text.get(at..)?;
    let bytes = rest.as_bytes();
    let scheme = ["Bearer ", "bearer ", "Basic ", "basic "]
        .into_iter()
        .find(|scheme| rest.starts_with(scheme));
    if let Some(scheme) = scheme {
        let value = rest.get(scheme.len()..)?;
        let told = value.get(..run(telling(value), is_value))?;
        let from = at.saturating_add(scheme.len());
        let to = from.saturating_add(run(value.as_bytes(), is_value));
        return (told.len() >= LEAST_BEARER && is_mixed(told)).then_some((from, to));
    }
    let known = WORDS.iter().find_map(|known| {
        let head = rest.get(..known.len())?;
        let ends = !bytes
            .get(known.len())
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        (ends && head.eq_ignore_ascii_case(known)).then_some(known.len())
    });
    let mut behind = rest.get(known?..)?;
    // `"password": "...`, also where the quotes are escaped.
    behind = behind.trim_start_matches(['"', '\'', '\\', ']']);
    behind = behind.trim_start_matches(' ').strip_prefix(ASSIGNED)?;
    behind = behind.trim_start_matches(['=', '>', ' ']);
    let bare = behind.trim_start_matches(['"', '\'', '\\', '`']);
    let quoted = bare.len() < behind.len();
    let inside = |byte| if quoted { is_quoted(byte) } else { is_value(byte) };
    let length = run(telling(bare), inside);
    let told = bare.get(..bare.floor_char_boundary(length))?;
    let least = if quoted { LEAST_QUOTED } else { LEAST_BARE };
    let calls = bare.as_bytes().get(length) == Some(&b'(');
    if length < least || calls || is_placeholder(told) || !(quoted || is_mixed(told)) {
        return None;
    }
    let from = text.len().checked_sub(bare.len())?;
    Some((from, from.saturating_add(run(bare.as_bytes(), inside))))
}

fn telling(value: &str) -> &[u8] {
    value.as_bytes().get(..TELLING).unwrap_or(value.as_bytes())
}

/// User and password in an address: `://user:password@host`.
fn userinfo(bytes: &[u8], at: usize) -> Found {
    let rest = bytes.get(at..)?.strip_prefix(b"://")?;
    let from = at.saturating_add(3);
    let inside = |byte: u8| byte.is_ascii_graphic() && !b"/@?#\"'<>[]\\".contains(&byte);
    let length = run(rest.get(..MOST_USERINFO).unwrap_or(rest), inside);
    let colon = rest.get(..length)?.iter().position(|byte| *byte == b':')?;
    let password = from.saturating_add(colon).saturating_add(1);
    let end = from.saturating_add(length);
    (rest.get(length) == Some(&b'@') && password < end).then_some((password, end))
}

/// A private key in PEM, as far as it looks like one: lines of base64, also with escaped ends.
fn pem(text: &str, at: usize) -> Found {
    let rest = text.get(at..)?;
    let head = rest.strip_prefix("-----BEGIN ")?;
    // Names of keys are short.
    let name: &str = head.get(..head.floor_char_boundary(40))?;
    let ends = find(name, "PRIVATE KEY", 0)?;
    let from = at.saturating_add(11).saturating_add(ends).saturating_add(11);
    let inside = text.as_bytes().get(from..)?;
    let block = if inside.starts_with(b" BLOCK") { 6 } else { 0 };
    let dashes = run(inside.get(block..)?, |byte| byte == b'-').saturating_add(block);
    let from = from.saturating_add(dashes);
    let mut space = false;
    let length = run(text.as_bytes().get(from..)?, |byte| {
        // Spaces only at a line's start: behind a key that is only spoken of the sentence goes on.
        let inside =
            byte.is_ascii_alphanumeric() || b"+/=\\\r\n".contains(&byte) || (byte == b' ' && space);
        space = byte == b'\n' || (byte == b' ' && space);
        inside
    });
    let body = text.get(from..from.saturating_add(length))?;
    (run(body.trim_start_matches(['\\', 'n', 'r', '\n', '\r', ' ']).as_bytes(), is_base64) >= 16)
        .then_some((from, from.saturating_add(length)))
}

fn run(bytes: &[u8], mut inside: impl FnMut(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !inside(*byte)).unwrap_or(bytes.len())
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
fn is_mixed(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Names a place that holds the secret, or holds none.
fn is_placeholder(value: &str) -> bool {
    const NONE: [&str; 8] =
        ["process.env", "os.environ", "env.", "$", "xxx", "***", "your", "example"];
    let lower = value.to_ascii_lowercase();
    NONE.iter().any(|none| lower.starts_with(none))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Letters and digits that no maker has given out.
    fn filler(length: usize) -> String {
        "a1B2c3D4e5F6g7H8j9K0".chars().cycle().take(length).collect()
    }

    /// A token of each form in the table, and those that are known by their place.
    fn corpus() -> Vec<String> {
        let mut all: Vec<String> = TOKENS
            .iter()
            .map(|secret| {
                let sign = match secret.kind {
                    Kind::Hex => "0a1b2c3d4e5f",
                    Kind::Exact => "A1B2C3D4",
                    Kind::Plain | Kind::Wide | Kind::Dotted => "a1B2c3D4e5",
                };
                let body: String = sign.chars().cycle().take(secret.least.into()).collect();
                format!("{}{body}", secret.prefix)
            })
            .collect();
        all.push(format!("eyJhbGciOiJIUzI1NiJ9.{}.{}", filler(40), filler(43)));
        all
    }

    #[test]
    #[expect(clippy::print_stdout, reason = "says how many forms were tried")]
    fn f106_a10_every_form_at_every_place() {
        let corpus = corpus();
        println!("{} forms of tokens", corpus.len());
        assert!(corpus.len() >= 40);
        for secret in corpus {
            for text in [
                secret.clone(),
                format!("key {secret}, and more"),
                format!("export X={secret}\n"),
                format!("{{\"key\": \"{secret}\"}}"),
                format!("{{\\\"out\\\": \\\"line\\n{secret}\\\"}}"),
                format!("https://x.example/?k={secret}&b=1"),
                format!("é{secret}é"),
                format!("({secret})"),
            ] {
                let safe = redact(&text);
                assert!(!safe.contains(&secret), "{secret} in {safe}");
                assert!(safe.contains(REDACTED), "{safe}");
                assert_eq!(redact(&safe), safe);
            }
        }
    }

    #[test]
    fn f106_what_is_known_by_its_place() {
        for (text, expected) in [
            ("Authorization: Bearer abc123def456ghi", "Authorization: Bearer [redacted]"),
            ("postgres://me:hunter2@db:5432/x", "postgres://me:[redacted]@db:5432/x"),
            ("DB_PASSWORD=correct9horse", "DB_PASSWORD=[redacted]"),
            ("dbPassword: \"tr0ub4dor\"", "dbPassword: \"[redacted]\""),
            (r#"{"client_secret":"abcdef"}"#, r#"{"client_secret":"[redacted]"}"#),
            (r#"{\"password\": \"hunter22\"}"#, r#"{\"password\": \"[redacted]\"}"#),
            ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = [redacted]"),
            ("AccountKey=abc123def4==;End", "AccountKey=[redacted];End"),
            ("?token=abcd1234efgh&x=1", "?token=[redacted]&x=1"),
        ] {
            assert_eq!(redact(text), expected);
            assert_eq!(redact(expected), expected);
        }
        let key = format!(
            "a\n-----BEGIN RSA PRIVATE KEY-----\n{0}\n{0}\n-----END RSA PRIVATE KEY-----\nb",
            filler(64)
        );
        let safe = redact(&key);
        assert!(!safe.contains(&filler(20)), "{safe}");
        assert!(
            safe.starts_with("a\n") && safe.ends_with("-----END RSA PRIVATE KEY-----\nb"),
            "{safe}"
        );
    }

    /// False positives are bounded: code, prose, hashes and ids stay.
    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "let token: string = await getToken(user1);",
            "max_tokens: 4096, tokens=12345678a",
            "password = process.env.PASSWORD1",
            "the password: it is forgotten",
            "type Secret = { secret: boolean }",
            "commit 3f786850e387550fdab836ed7e6dc881de23001b",
            "sk-learn and task-runner-with-a-long-name",
            "-----BEGIN PRIVATE KEY----- and the words behind it",
            "https://example.org:8080/a@b",
            "uuid 123e4567-e89b-12d3-a456-426614174000",
            "a Bearer of good news2",
            "toolu_01A09q90qw90lq917835lq9",
            "call_abcdefghijklmnop12345678",
            "eyJust a word",
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    /// What repeats is not read again and again: each would take minutes.
    #[test]
    fn it_is_linear() {
        for piece in [
            "password=",
            "eyJ-",
            "sk-",
            "-----BEGIN PRIVATE KEY",
            "://a:",
            "Bearer a",
            "key-0",
            "aB",
            "\"token\": \"",
        ] {
            assert!(!redact(&piece.repeat(1_000_000 / piece.len())).is_empty());
        }
    }

    proptest! {
        #[test]
        fn it_is_idempotent(text in r#"(sk-|ghp_|eyJ|AKIA|key-|password|token|Bearer |://|:|=|"|@|\\n|-----BEGIN |PRIVATE KEY|-----|[a-zA-Z0-9]{1,40}|[ .\-_é/]){0,30}"#) {
            let once = redact(&text);
            prop_assert_eq!(redact(&once), once);
        }
    }
}
