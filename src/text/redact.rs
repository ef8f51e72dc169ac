//! Secrets out of texts (F106, A10): tokens by the prefixes that their makers gave them, values beside words like `password`,
//! keys in PEM, credentials in addresses and headers. Linear and idempotent: what is put in their place matches nothing.

use super::find::places;
use super::secrets::{ENDS, FAMILIES, Family, Kind, LONGEST_WORD, SHORTEST, WORDS};

/// What stands where a secret stood.
pub(super) const REDACTED: &str = "[redacted]";

/// A word is looked at as a part of a secret from so many bytes on, and only with a digit in it.
const LEAST_WORD: usize = 16;
/// What may be one token with a word is looked at so far before it and behind it, and a name that may stand before all that.
const BEFORE: usize = 512;
const BEHIND: usize = 128;
const NAME: usize = 40;

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
/// `ENCRYPTED ` is the longest.
const LONGEST_KIND: usize = 12;
/// The first line of a key, and how it begins.
const LONGEST_HEAD: usize = 64;
const BEGIN: &str = "-----BEGIN ";

/// The text with every secret that is known by its form replaced.
pub fn redact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    secrets(text, &mut |from, to| {
        out.push_str(text.get(done..from).unwrap_or_default());
        out.push_str(REDACTED);
        done = to;
    });
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// Whether a word of a text is a secret or a part of one, by what stands around it. Most words are told at a glance.
pub fn is_secret(text: &str, from: usize, to: usize) -> bool {
    let (Some(before), Some(word)) = (text.get(..from), text.get(from..to)) else { return false };
    let bytes = before.as_bytes();
    let digits = || word.bytes().any(|byte| byte.is_ascii_digit());
    // A hash or an id stands by itself.
    let id = || word.bytes().all(|byte| Kind::Hex.has(byte) || byte == b'-');
    let joined = || bytes.last().is_some_and(|byte| Kind::Dotted.has(*byte));
    let long = word.len() >= LEAST_WORD && digits() && (joined() || !id());
    let beside = || is_value_of(before) || before.ends_with("earer ");
    if !long && !beside() && text.as_bytes().get(to) != Some(&b'@') {
        return false;
    }
    let back = bytes.iter().rev().take(BEFORE).take_while(|byte| Kind::Dotted.has(**byte)).count();
    let start = text.floor_char_boundary(from.saturating_sub(back.saturating_add(NAME)));
    let behind = text.as_bytes().get(to..).unwrap_or_default();
    let ahead = run(behind.get(..BEHIND).unwrap_or(behind), |byte| Kind::Dotted.has(byte));
    let end = text.ceil_char_boundary(to.saturating_add(ahead).saturating_add(1));
    let mut is = false;
    let mut found = |own: usize, end: usize| {
        is |= start.saturating_add(own) < to && from < start.saturating_add(end);
    };
    secrets(text.get(start..end).unwrap_or_default(), &mut found);
    is
}

/// Where the private key in PEM ends whose body starts at a word: the words in it are parts of a secret, however short.
pub fn key_end(text: &str, word: usize) -> Option<usize> {
    let before = text.get(..word)?.trim_end_matches([' ', '\n', '\r', '\\', 'n', 'r']);
    if !before.ends_with("-----") {
        return None;
    }
    let near = text.floor_char_boundary(before.len().saturating_sub(LONGEST_HEAD));
    let head = places(before.get(near..)?, BEGIN).last()?;
    pem(text.as_bytes(), near.saturating_add(head)).map(|(_, end)| end)
}

/// Whether a text ends as what stands before a secret's value does: by the last letters of the words that name one.
fn is_value_of(before: &str) -> bool {
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

/// Where secrets stand in a text.
fn secrets(text: &str, found: &mut dyn FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    // A long word that was looked at as a signed token is not looked at again.
    let mut no_jwt_before = 0;
    while let Some(&byte) = bytes.get(at) {
        let secret = if byte == b':' {
            userinfo(bytes, at)
        } else if byte == b'-' {
            pem(bytes, at)
        } else if starts(bytes, at) {
            word(bytes, at, &mut no_jwt_before)
        } else {
            None
        };
        if let Some((from, to)) = secret {
            found(from, to);
        }
        at = secret.map_or_else(|| at.saturating_add(1), |(_, to)| to);
    }
}

type Found = Option<(usize, usize)>;

/// A secret whose first word starts here.
fn word(bytes: &[u8], at: usize, no_jwt_before: &mut usize) -> Found {
    token(bytes, at).or_else(|| jwt(bytes, at, no_jwt_before)).or_else(|| assigned(bytes, at))
}

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
fn token(bytes: &[u8], at: usize) -> Found {
    let rest = bytes.get(at..)?;
    // Most words are too short for any.
    if !rest.get(..SHORTEST)?.iter().all(|byte| Kind::Dotted.has(*byte)) {
        return None;
    }
    FAMILIES.iter().find_map(|family| {
        let behind = |prefix: &str| {
            let tail = rest.strip_prefix(prefix.as_bytes())?;
            Some(at.saturating_add(prefix.len()).saturating_add(body(tail, family)?))
        };
        Some((at, family.prefixes().find_map(behind)?))
    })
}

/// How many signs behind the prefix are the token's.
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
fn assigned(bytes: &[u8], at: usize) -> Found {
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
    let told = value.get(..telling)?;
    let is_call = value.get(telling) == Some(&b'(');
    if telling < least || is_call || is_placeholder(told) || !(quoted || is_mixed(told)) {
        return None;
    }
    let from = at.saturating_add(from);
    Some((from, from.saturating_add(run(value, inside))))
}

/// Behind all that is one of these signs.
fn past(bytes: &[u8], from: usize, signs: &[u8]) -> usize {
    from.saturating_add(run(bytes.get(from..).unwrap_or_default(), |byte| signs.contains(&byte)))
}

fn starts_with(bytes: &[u8], word: &str) -> bool {
    bytes.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
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
    if rest.get(length) != Some(&b'@') || password >= end {
        return None;
    }
    // A token may stand where the user does.
    let mut names = from..password;
    let told = names.any(|at| starts(bytes, at) && word(bytes, at, &mut 0).is_some());
    Some((if told { from } else { password }, end))
}

/// A private key in PEM, as far as it looks like one: lines of base64, also with escaped ends.
fn pem(bytes: &[u8], at: usize) -> Found {
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
fn is_mixed(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

/// Names a place that holds the secret, or holds none.
fn is_placeholder(value: &[u8]) -> bool {
    let none = "process.env os.environ env. $ xxx *** your example";
    none.split(' ').any(|none| starts_with(value, none))
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
        let forms = FAMILIES.iter().flat_map(|it| it.prefixes().map(move |prefix| (it, prefix)));
        let mut all: Vec<String> = forms
            .map(|(secret, prefix)| {
                let sign = match secret.kind {
                    Kind::Hex => "0a1b2c3d4e5f",
                    Kind::Exact => "A1B2C3D4",
                    Kind::Plain | Kind::Wide | Kind::Dotted => "a1B2c3D4e5",
                };
                let body: String = sign.chars().cycle().take(secret.least.into()).collect();
                format!("{prefix}{body}")
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

    /// Whatever of a secret is taken for an identifier, it is known for what it is.
    #[test]
    fn a10_no_part_of_a_secret_is_a_word() {
        let mut parts = 0;
        for secret in corpus() {
            for text in [
                secret.clone(),
                format!("key {secret}, and more"),
                format!("export X={secret}\n"),
                format!("{{\"key\": \"{secret}\"}}"),
                format!("https://x.example/?k={secret}&b=1"),
                format!("Authorization: Bearer {secret}"),
            ] {
                super::super::identifiers(&text, &mut |word, at| {
                    let is_part = word.len() >= LEAST_WORD && secret.contains(word);
                    assert!(!is_part || is_secret(&text, at, at + word.len()), "{word} in {text}");
                    parts += usize::from(is_part);
                });
            }
        }
        assert!(parts > 200);
        for (text, secret) in [
            ("dbPassword: \"tr0ubAdor\"", "tr0ubAdor"),
            ("DB_PASSWORD=correctHorse9", "correctHorse9"),
            ("{\"token\":\"aB3dE6\"}", "aB3dE6"),
            ("postgres://me:hunterTwo22@db/x", "hunterTwo22"),
            ("a: Bearer abcDef0123456789", "abcDef0123456789"),
            ("password := 'tr0ubAdor'", "tr0ubAdor"),
        ] {
            super::super::identifiers(text, &mut |word, at| {
                assert!(word != secret || is_secret(text, at, at + word.len()), "{text}");
            });
        }
    }

    /// The words of a key's body, with its lines' ends as they are and escaped: none is told.
    #[test]
    fn a10_no_word_of_a_key_is_told() {
        let body = "MHcCAQEEIab/cd+fooBar\nsrc/a_b.rs\nAbC1/fooBar2 ==";
        for (kind, end) in [("EC ", "\n"), ("", "\n  "), ("OPENSSH ", "\\n"), ("RSA ", "\r\n")] {
            let key = format!(
                "TS2304 -----BEGIN {kind}PRIVATE KEY-----{end}{}{end}-----END",
                body.replace('_', "x").replace('.', "y").replace('\n', end)
            );
            let mut told = Vec::new();
            let mut until = 0;
            super::super::identifiers(&key, &mut |word, at| {
                until = until.max(key_end(&key, at).unwrap_or(0));
                if at >= until {
                    told.push(word);
                }
            });
            assert_eq!(told, ["TS2304"], "{key}");
        }
        for text in ["-----BEGIN PUBLIC KEY-----\nfooBar", "-----\nfooBar", "-----BEGIN fooBar"] {
            let at = text.find("fooBar").unwrap();
            assert_eq!(key_end(text, at), None, "{text}");
        }
    }

    #[test]
    fn every_word_ends_as_one_of_them_does() {
        for word in WORDS.split(' ') {
            assert!(is_value_of(&format!("x_{word}: \"")), "{word}");
            assert!(word.len() <= LONGEST_WORD);
        }
    }

    #[test]
    fn most_words_are_no_secret() {
        let text = "see src/compact/very_long_name_of_2_files.rs, 123e4567-e89b-12d3-a456-426614174000 and \
                    3f786850e387550fdab836ed7e6dc881de23001b, path: \"src/other/file.rs\" max_tokens=12345678";
        super::super::identifiers(text, &mut |word, at| {
            assert!(!is_secret(text, at, at + word.len()), "{word}");
        });
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

    #[test]
    fn a_token_for_a_user_goes_with_its_password() {
        let text = format!("see https://ghp_{}:x-oauth@github.com", filler(36));
        assert_eq!(redact(&text), "see https://[redacted]@github.com");
    }

    #[test]
    fn what_is_no_kind_of_key_hides_no_secret() {
        let text = format!("-----BEGIN sk-{0}://PRIVATE KEY{0}", filler(20));
        let once = redact(&text);
        assert!(!once.contains(&format!("sk-{}", filler(20))), "{once}");
        assert_eq!(redact(&once), once);
    }

    proptest! {
        #[test]
        fn it_is_idempotent(text in r#"(sk-|ghp_|eyJ|AKIA|key-|password|token|Bearer |://|:|=|"|@|\\n|-----BEGIN |PRIVATE KEY|-----|[a-zA-Z0-9]{1,40}|[ .\-_é/]){0,30}"#) {
            let once = redact(&text);
            prop_assert_eq!(redact(&once), once);
        }
    }
}
