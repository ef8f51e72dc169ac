//! Secrets out of texts (F106, A10): tokens by the prefixes that their makers gave them, values beside words like `password`,
//! keys in PEM, credentials in addresses and headers. Linear and idempotent: what is put in their place matches nothing.

use super::labelled_secrets::{assigned, pem};
use super::labels::is_value_of;
use super::logins::{is_login_of, login};
use super::secrets::Kind;
use crate::text::secret_forms::{Found, REDACTED, jwt, run, starts, token};

/// A word is looked at as a part of a secret from so many bytes on, and only with a digit in it.
const LEAST_WORD: usize = 16;
/// What may be one token with a word is looked at so far before it and after it, and a name that may stand before all that.
const BEFORE: usize = 512;
const AFTER: usize = 128;
const NAME: usize = 40;

/// The text with every secret that is known by its form replaced.
pub fn redact(text: &str) -> String {
    redact_each(text, 0, &mut |_, _, _| {})
}

/// The same from a byte on, what stands before it left out; `found` hears of each secret: where its bytes begin and end, and its form.
pub fn redact_each(
    text: &str,
    start: usize,
    found: &mut dyn FnMut(usize, usize, &'static str),
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = start;
    secrets(text, 0, &mut |from, to| {
        if to > start {
            out.push_str(text.get(done..from).unwrap_or_default());
            out.push_str(REDACTED);
            found(from, to, form_of(text.get(from..to).unwrap_or_default(), text, from));
            done = to;
        }
    });
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// The form of a secret: `private-key`, `credentials` of an address, `token` by its prefix, `signed-token`, or `labelled` by a word
/// like `password` before it.
fn form_of(secret: &str, text: &str, from: usize) -> &'static str {
    let after = text.get(from.saturating_add(secret.len())..).unwrap_or_default();
    let before = text.get(..from).unwrap_or_default();
    // The first line of a key stays, and says what was there.
    if before.ends_with("-----") {
        "private-key"
    } else if after.starts_with('@') {
        "credentials"
    } else if token(secret.as_bytes(), 0).is_some() {
        "token"
    } else if secret.starts_with("eyJ") {
        "signed-token"
    } else {
        "labelled"
    }
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
    let scheme = || matches!(bytes.last_chunk(), Some(b"arer " | b"asic " | b"oken "));
    let beside = || is_value_of(before) || scheme() || is_login_of(bytes);
    if !long && !beside() && text.as_bytes().get(to) != Some(&b'@') {
        return false;
    }
    let back = bytes.iter().rev().take(BEFORE).take_while(|byte| Kind::Dotted.has(**byte)).count();
    let start = text.floor_char_boundary(from.saturating_sub(back.saturating_add(NAME)));
    let after = text.as_bytes().get(to..).unwrap_or_default();
    let ahead = run(after.get(..AFTER).unwrap_or(after), |byte| Kind::Dotted.has(byte));
    // With the sign after it, or the two that close a tag.
    let end = text.ceil_char_boundary(to.saturating_add(ahead).saturating_add(2));
    let mut is = false;
    let text = text.get(..end).unwrap_or_default();
    secrets(text, start, &mut |secret, end| is |= secret < to && from < end);
    is
}

/// Where secrets stand in a text, from a byte on.
fn secrets(text: &str, mut at: usize, found: &mut dyn FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    // A long word that was looked at as a signed token is not looked at again.
    let mut no_jwt_before = 0;
    while let Some(&byte) = bytes.get(at) {
        let secret = if byte == b':' {
            userinfo(bytes, at)
        } else if byte == b'-' {
            let password = |(user, password, end)| (start_of_login(bytes, user, password), end);
            pem(bytes, at).or_else(|| login(bytes, at).map(password))
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

/// A secret whose first word starts here.
pub(super) fn word(bytes: &[u8], at: usize, no_jwt_before: &mut usize) -> Found {
    token(bytes, at).or_else(|| jwt(bytes, at, no_jwt_before)).or_else(|| assigned(bytes, at))
}

/// User and password in an address are no longer than this together.
const MOST_USERINFO: usize = 256;

/// User and password in an address: `://user:password@host`. Not everybody writes the `@` of a password as `%40`: the last one ends it.
pub(super) fn userinfo(bytes: &[u8], at: usize) -> Found {
    let rest = bytes.get(at..)?.strip_prefix(b"://")?;
    let from = at.saturating_add(3);
    let inside = |byte: u8| byte.is_ascii_graphic() && !b"/?#\"'<>[]\\".contains(&byte);
    let length = run(rest.get(..=MOST_USERINFO).unwrap_or(rest), inside);
    let length = rest.get(..length)?.iter().rposition(|byte| *byte == b'@')?;
    let colon = rest.get(..length)?.iter().position(|byte| matches!(byte, b':' | b'@'))?;
    let password = from.saturating_add(colon).saturating_add(1);
    let end = from.saturating_add(length);
    if rest.get(colon) != Some(&b':') || password >= end {
        return None;
    }
    Some((start_of_login(bytes, from, password), end))
}

/// A token may stand where the user does.
fn start_of_login(bytes: &[u8], from: usize, password: usize) -> usize {
    let mut names = from..password;
    let is_named = names.any(|at| starts(bytes, at) && word(bytes, at, &mut 0).is_some());
    if is_named { from } else { password }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::secrets::FAMILIES;
    use proptest::prelude::*;

    /// Letters and digits that no maker has given out.
    fn filler(length: usize) -> String {
        "a1B2c3D4e5F6g7H8j9K0".chars().cycle().take(length).collect()
    }

    /// A token of each form in the table, and those that are known by their place.
    fn corpus() -> Vec<String> {
        let forms = FAMILIES
            .iter()
            .flat_map(|it| it.prefixes().map(move |prefix| (it, String::from_utf8_lossy(prefix))));
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

    /// Rows F106, A10.
    #[test]
    #[expect(clippy::print_stdout, reason = "says how many forms were tried")]
    fn each_kind_of_secret_is_redacted_at_each_place() {
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

    /// Row F106.
    #[test]
    fn a_value_beside_a_word_for_secrets_is_redacted() {
        for (text, expected) in [
            ("Authorization: Bearer abc123def456ghi", "Authorization: Bearer [redacted]"),
            ("postgres://me:hunter2@db:5432/x", "postgres://me:[redacted]@db:5432/x"),
            ("postgres://me:hun@ter:2@db:5432/x", "postgres://me:[redacted]@db:5432/x"),
            ("PGPASSWORD=correct9horse psql", "PGPASSWORD=[redacted] psql"),
            ("DB_PASSWORD=correct9horse", "DB_PASSWORD=[redacted]"),
            ("dbPassword: \"tr0ub4dor\"", "dbPassword: \"[redacted]\""),
            (r#"{"client_secret":"abcdef"}"#, r#"{"client_secret":"[redacted]"}"#),
            (r#"{\"password\": \"hunter22\"}"#, r#"{\"password\": \"[redacted]\"}"#),
            ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = [redacted]"),
            ("Bearer sk-ant-R0.Y=sk-zzzzzzzzzzzzzzzzzzzzz(n", "Bearer [redacted](n"),
            ("AccountKey=abc123def4==;End", "AccountKey=[redacted];End"),
            ("?token=abcd1234efgh&x=1", "?token=[redacted]&x=1"),
            (r#""auth_token":"Bearer a1b2c3d4e5f6""#, r#""auth_token":"Bearer [redacted]""#),
            ("passphrase: 'correct horse <9> staple'", "passphrase: '[redacted]'"),
            ("Cookie: theme=dark; sid=a1b2\r\nHost: x", "Cookie: [redacted]\r\nHost: x"),
            ("set-cookie:a=b; Path=/", "set-cookie:[redacted]"),
            ("Cookie: a=$x; sid=real", "Cookie: [redacted]"),
            (r#"{\"cookie\":\"a=b; sid=c d\"}"#, r#"{\"cookie\":\"[redacted]\"}"#),
            ("\u{1b}[1;32mpassword=ab12cd34\u{1b}[0m", "\u{1b}[1;32mpassword=[redacted]\u{1b}[0m"),
            ("a\\u0026api_key=ab12cd34ef", "a\\u0026api_key=[redacted]"),
            ("x%26token=ab12cd34ef", "x%26token=[redacted]"),
            ("bot 1234567890:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw9", "bot [redacted]"),
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
        for label in ["\"private_key\": \"", "PRIVATE_KEY='", "{\\\"private_key\\\": \\\""] {
            for end in ["\n", "\\n", "\\\\n"] {
                let labelled =
                    redact(&format!("{label}{}", key.trim_start_matches("a\n").replace('\n', end)));
                assert!(!labelled.contains(&filler(20)), "{labelled}");
                assert_eq!(redact(&labelled), labelled);
            }
        }
        assert!(
            safe.starts_with("a\n") && safe.ends_with("-----END RSA PRIVATE KEY-----\nb"),
            "{safe}"
        );
    }

    /// Row F106.
    #[test]
    fn secrets_in_settings_code_and_command_lines_are_redacted() {
        for (text, expected) in [
            // Variables of the environment.
            ("DB_PASS=hunter2x", "DB_PASS=[redacted]"),
            ("SMTP_PASS: \"hunt2x\"", "SMTP_PASS: \"[redacted]\""),
            ("STRIPE_KEY=a8Kd93jfLq02mZx8", "STRIPE_KEY=[redacted]"),
            ("\"API_V2_KEY\": \"3f786850e387550fdab8\"", "\"API_V2_KEY\": \"[redacted]\""),
            ("X_KEY='q7/Rt5+vT2b9-Lk3_0dQ8w=='", "X_KEY='[redacted]'"),
            // Names in camel case.
            ("privateKey: \"a8Kd93jf\"", "privateKey: \"[redacted]\""),
            ("privateKey=9f8Ae21cB07d44e6fA13", "privateKey=[redacted]"),
            ("privateKey: 9f8ae21cb07d44e6fa13, x", "privateKey: [redacted], x"),
            (
                "cast send --private-key 0x9f8ae21cb07d44e6fa13",
                "cast send --private-key [redacted]",
            ),
            ("wallet-private-key: \"a8Kd93jf\"", "wallet-private-key: \"[redacted]\""),
            ("DBPassword = \"correct horse\"", "DBPassword = \"[redacted]\""),
            ("DBPassword=hunter2x", "DBPassword=[redacted]"),
            ("dbPass: 'hunter2x'", "dbPass: '[redacted]'"),
            ("{ user: \"me\", pass: \"hunter2x\" }", "{ user: \"me\", pass: \"[redacted]\" }"),
            ("NGROK_AUTHTOKEN=2aB4cD6e", "NGROK_AUTHTOKEN=[redacted]"),
            ("authToken: \"2aB4cD6e\"", "authToken: \"[redacted]\""),
            ("secretAccessKey: \"wJalrXUtnFEMI\"", "secretAccessKey: \"[redacted]\""),
            // Declarations with a type.
            ("const password: string = \"hunter2x\";", "const password: string = \"[redacted]\";"),
            ("password: str = 'hunter2x'", "password: str = '[redacted]'"),
            ("let token: Option<&str> = \"hunt2x\"", "let token: Option<&str> = \"[redacted]\""),
            ("String password = \"hunter2x\";", "String password = \"[redacted]\";"),
            // Command lines.
            ("mysql --password hunter2x db", "mysql --password [redacted] db"),
            (
                "x --api-key 'a8Kd93' --token  2aB4cD6e",
                "x --api-key '[redacted]' --token  [redacted]",
            ),
            ("x --access-token 2aB4cD6e", "x --access-token [redacted]"),
            // Headers.
            ("Authorization: token 3f786850e387", "Authorization: token [redacted]"),
            (
                r#"{"Authorization": "token 3f786850e387"}"#,
                r#"{"Authorization": "token [redacted]"}"#,
            ),
            ("'Authorization': 'Token 3f786850e387'", "'Authorization': 'Token [redacted]'"),
            ("Authorization: Basic bWU6aHVudGVyMng=", "Authorization: Basic [redacted]"),
            // Logins without a digit in their base64.
            ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [redacted]"),
            ("-H 'Authorization: Basic bWU6Y29ycmVjdA=='", "-H 'Authorization: Basic [redacted]'"),
            (r#""auth": "dXNlcjpwYXNz""#, r#""auth": "[redacted]""#),
            // Logins of curl.
            ("curl -u me:hunter https://a.example", "curl -u me:[redacted] https://a.example"),
            ("curl -sSu 'me@a.example:h,unt er' x", "curl -sSu 'me@a.example:[redacted] er' x"),
            ("curl x --user \"me:hunter2\" y", "curl x --user \"me:[redacted]\" y"),
            ("/usr/bin/curl --proxy-user=me:a:b:c", "/usr/bin/curl --proxy-user=me:[redacted]"),
            (
                "curl -s \\\n  -u elastic:changeme \\\n  x",
                "curl -s \\\n  -u elastic:[redacted] \\\n  x",
            ),
            (r#""curl -s \\\n -u me:hunter""#, r#""curl -s \\\n -u me:[redacted]""#),
            (r#"["curl", "-u", "me:hunter2"]"#, r#"["curl", "-u", "me:[redacted]"]"#),
            (
                r#"{"command":"curl -u \"me:hunter2\" x"}"#,
                r#"{"command":"curl -u \"me:[redacted]\" x"}"#,
            ),
            ("curl -u sk_live_a1B2c3D4e5F6g7H8:x12 y", "curl -u [redacted] y"),
            // Files of settings.
            (r#""auth": "bWU6aHVudGVyMng=""#, r#""auth": "[redacted]""#),
            ("//npm.example/:_auth=bWU6aHVudGVyMng=", "//npm.example/:_auth=[redacted]"),
            ("client-key-data: LS0tLS1CRUdJTiBFQ/+==", "client-key-data: [redacted]"),
            ("    token: 2aB4cD6e8fG0", "    token: [redacted]"),
            ("<password>hunt2x</password>", "<password>[redacted]</password>"),
            (
                "<db:dbPass>{0}</a><secret>a1+b2/c3=</secret>",
                "<db:dbPass>{0}</a><secret>[redacted]</secret>",
            ),
            (
                r#"<add key="Password" value="hunt2x"/>"#,
                r#"<add key="Password" value="[redacted]"/>"#,
            ),
            ("- name: DB_PASSWORD\n  value: hunter2x", "- name: DB_PASSWORD\n  value: [redacted]"),
            (
                "- name: \"X_TOKEN\"\r\n  value: \"hunt2x\"",
                "- name: \"X_TOKEN\"\r\n  value: \"[redacted]\"",
            ),
            (
                r#"{"name": "API_KEY",\n "value": "a8Kd93"}"#,
                r#"{"name": "API_KEY",\n "value": "[redacted]"}"#,
            ),
            (
                " 12\u{2192}- name: DB_PASS\n 13\u{2192}  value: hunt2x77",
                " 12\u{2192}- name: DB_PASS\n 13\u{2192}  value: [redacted]",
            ),
            (
                "- name: STRIPE_KEY\\n  value: a8Kd93jfLq02mZx8",
                "- name: STRIPE_KEY\\n  value: [redacted]",
            ),
        ] {
            assert_eq!(redact(text), expected);
            assert_eq!(redact(expected), expected);
        }
    }

    /// Tools that show files number the lines, and name the file before each.
    #[test]
    fn a_key_whose_lines_are_numbered_is_redacted() {
        let lines = [filler(64), filler(64), "Ab9==".to_owned()];
        let mark: [&dyn Fn(usize) -> String; 12] = [
            &|_| String::new(),
            &|at| format!("{at:>6}\u{2192}"),
            &|at| format!("{at:>6}\t"),
            &|at| format!("{at:>6}  "),
            &|at| format!("{at}: "),
            &|at| format!("{at} | "),
            &|at| format!("keys/id_rsa-2:{at}:"),
            &|at| format!("keys/1-a/id_rsa-{at}-"),
            &|_| "+".to_owned(),
            &|_| "-".to_owned(),
            &|_| "> ".to_owned(),
            &|_| "    ".to_owned(),
        ];
        for mark in mark {
            let shown = |lines: &[String], end: &str| -> String {
                let lines =
                    lines.iter().enumerate().map(|(at, it)| format!("{}{it}", mark(at + 9)));
                lines.collect::<Vec<_>>().join(end)
            };
            let all = [
                &["-----BEGIN RSA PRIVATE KEY-----".to_owned()],
                &lines[..],
                &["-----END RSA PRIVATE KEY-----".to_owned(), "behind".to_owned()],
            ]
            .concat();
            for end in ["\n", "\r\n", "\\n"] {
                let text = shown(&all, end);
                for text in [text.clone(), text.replace('\t', "\\t").replace('\u{2192}', "\\u2192")]
                {
                    let safe = redact(&text);
                    assert!(lines.iter().all(|line| !safe.contains(line)), "{safe}");
                    assert!(
                        safe.contains("-----END RSA PRIVATE KEY-----") && safe.ends_with("behind"),
                        "{safe}"
                    );
                    assert_eq!(redact(&safe), safe);
                }
                // A view that ends in the key.
                let safe = redact(&shown(&all[..3], end));
                assert!(lines.iter().all(|line| !safe.contains(line)), "{safe}");
            }
        }
    }

    /// Whatever of a secret is taken for an identifier, it is known for what it is.
    /// Row A10.
    #[test]
    fn no_part_of_a_secret_is_a_word() {
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
            ("DB_PASS=\"tr0ubAdor\"", "tr0ubAdor"),
            ("dbPass: 'tr0ubAdor'", "tr0ubAdor"),
            ("DBPassword=tr0ubAdor", "tr0ubAdor"),
            ("STRIPE_KEY=a8Kd93jfLq02mZx8", "a8Kd93jfLq02mZx8"),
            ("password: string = \"tr0ubAdor\"", "tr0ubAdor"),
            ("password: str = \"tr0ubAdor\"", "tr0ubAdor"),
            ("x --password tr0ubAdor", "tr0ubAdor"),
            ("x --api-key 'tr0ubAdor'", "tr0ubAdor"),
            ("Authorization: token tr0ubAdorAbc", "tr0ubAdorAbc"),
            ("Authorization: Basic bWU6aHVudGVyMng", "bWU6aHVudGVyMng"),
            ("\"auth\": \"bWU6aHVudGVyMng=\"", "bWU6aHVudGVyMng"),
            ("client-key-data: tr0ubAdor", "tr0ubAdor"),
            ("<password>tr0ubAdor</password>", "tr0ubAdor"),
            ("<add key=\"Password\" value=\"tr0ubAdor\"/>", "tr0ubAdor"),
            ("- name: DB_PASSWORD\n  value: tr0ubAdor", "tr0ubAdor"),
            ("curl -u me:tr0ubAdor x", "tr0ubAdor"),
            ("curl --user 'me:tr0ubAdor' x", "tr0ubAdor"),
        ] {
            let mut found = 0;
            super::super::identifiers(text, &mut |word, at| {
                found += usize::from(word.contains(secret) && is_secret(text, at, at + word.len()));
            });
            assert!(found > 0, "{text}");
        }
    }

    #[test]
    fn paths_ids_and_hashes_are_no_secrets() {
        let text = "see src/compact/very_long_name_of_2_files.rs, 123e4567-e89b-12d3-a456-426614174000 and \
                    3f786850e387550fdab836ed7e6dc881de23001b, path: \"src/other/file.rs\" max_tokens=12345678";
        super::super::identifiers(text, &mut |word, at| {
            assert!(!is_secret(text, at, at + word.len()), "{word}");
        });
    }

    /// False positives are bounded: code, prose, hashes and ids stay.
    #[test]
    fn text_without_secrets_is_unchanged() {
        for text in [
            "let token: string = await getToken(user1);",
            // Keys that are no secrets, and passes that are no passwords.
            "PRIMARY_KEY=id FOREIGN_KEY=user_id2 CACHE_KEY=user:1 SORT_KEY=created_at2",
            "CACHE_KEY=3f786850e387550fdab836ed7e6dc881de23001b PUBLIC_KEY=a8Kd93jfLq02mZx8",
            "BUILD_KEY=linux-node20-3f786850e387550fdab8, STORAGE_KEY = 'app_state_v2_2024'",
            "DATE_KEY=20240102-030405-06 GRID_KEY='grid-v1-2x2-cols' A_KEY=a8Kd93jfLq02mZ",
            "const ENTER_KEY = \"KeyboardEnter13Code\", my_key=a8Kd93jfLq02mZx8",
            "--- PASS: TestLogin1 (0.00s), FIRST_PASS=colours, render_pass = renderPass2",
            "pass: \"contains 12 items\", \"pass\": \"12items of 13\", pass: 'only letters'",
            "this.bloomPass = bloomPass2, compass: 'north1', _PASS=short1",
            "privateKey: RedactedUint8Array, key: 'Set-Cookie', value: `id=${id1}; Path=/`",
            "privateKey: \"string\", privateKey = loadKey2(path), authtoken: undefined",
            "privateKey: privateKeyBytes32ofTheWallet, privateKey=key1.pem --private-key ./keys/rsa2048.pem",
            "Authorization: Basic architecture, Basic Introduction",
            "curl -u \"$USER:$PASSWORD\" -u me:${PASSWORD} --user <user>:<password> -u : --user me:",
            "curl -u me:[redacted] x; curl -u https://a.example --url a:bcd -su ab:12",
            "docker run -u 1000:1000 --user node:node x; rsync -u here:there/x y; curl x\ndocker run -u me:group",
            "curl x\r\ndocker run -u me:group, curl x\\ndocker run -u me:group",
            "interface A { password: string; dbPass: string, privateKey: Buffer }",
            "const password: string = \"required\", token: str = os.environ[\"X1\"]",
            "PASSWORD=none NAME=\"abc123\" run; password: a b = \"abc123\"",
            "x --password <password> --token $TOKEN --secret ${SECRET1} --api-key \"your key1\"",
            "x --password-stdin, --token --verbose1, --password PASSWORD, the --token to use1now",
            "the token abc12345, a-password abc12345 - token abc12345",
            "Authorization: token <token12>, Authorization: token required, a token 3f786850e387",
            "Authorization: Basic authentication, Basic AuthenticationFilter, Basic Credentials",
            "auth: 'required', auth: \"oauth2-proxy9\", \"auth\": \"authenticate\", auth=abcdefgh1jkl",
            "auth: \"oauth2Handler\", Authorization: key1Ofanother",
            "client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t1",
            "<password>your password</password><token>abcdefgh</token><password>ab12</password>",
            "Vec<Token>abc12345, if token>abc12345 {}, <password>abc12345<b>, <secret>$A12345</secret>",
            "<input type=\"password\" value=\"Submit\"><p title=\"token\" value=\"${a1}\">",
            "- name: DB_PASSWORD\n  valueFrom: secret1ref, password\nvalues: hunter2x",
            "- name: DB_PASSWORD\n- value: hunter2x, \"password\"}, {\"value\": \"hunter2x\"",
            "the password value: abc12345",
            "exports.readX509Token = readX509Token;",
            "max_tokens: 4096, tokens=12345678a",
            "{ token: \"keyword\" }, typeof token === \"string9\", \"cookie\":\"^0.7.1\"",
            "PWD=/home/me/projects/4",
            "cookie: Cookie = {}; the cookie: a = b, cookie=a=b and more",
            "at 12345678:ABC and 123456789:Ab",
            "password = process.env.PASSWORD1",
            "the password: it is forgotten",
            "type Secret = { secret: boolean }",
            "commit 3f786850e387550fdab836ed7e6dc881de23001b",
            "sk-learn and task-runner-with-a-long-name",
            "-----BEGIN PRIVATE KEY----- and the words behind it",
            "1: -----BEGIN PRIVATE KEY-----\n2: and the words behind it\n3: ==",
            "https://example.org:8080/a@b",
            "ssh://git@example.org:22/a, mail me@example.org",
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

    /// Prefixes of letters alone also stand inside the base64 of pictures.
    #[test]
    fn base64_with_the_prefix_of_a_token_in_it_is_unchanged() {
        for (prefix, before) in [("EwB", "iVBORw0K/"), ("ATBB", "iVBORw0KGg+"), ("AIza", "AAe")] {
            let data = format!("data:image/png;base64,{before}{prefix}{}", filler(150));
            assert_eq!(redact(&data), data);
            let token = format!("key={prefix}{}", filler(150));
            assert_eq!(redact(&token), "key=[redacted]");
        }
    }

    /// What repeats is not read again and again: each would take minutes.
    #[test]
    fn redaction_reads_long_crafted_texts_in_linear_time() {
        for piece in [
            "password=",
            "eyJ-",
            "sk-",
            "-----BEGIN PRIVATE KEY",
            "-----BEGIN PRIVATE KEY-----\n1:AAAAAAAAAAAAAAAA",
            "\n1:AAAAAAAAAAAAAAAA",
            "://a:",
            "Bearer a",
            "key-0",
            "aB",
            "\"token\": \"",
            "password\n",
            "password\"n ",
            "token: a",
            "token: a = ",
            "A_KEY=a1",
            "--token ",
            "<token>",
            "Basic dXNl",
            " -u a:bcd ",
            "curl -u ab:cdefgh",
            "\"1\" ",
        ] {
            assert!(!redact(&piece.repeat(1_000_000 / piece.len())).is_empty());
        }
    }

    #[test]
    fn a_user_token_is_redacted_with_its_password() {
        let text = format!("see https://ghp_{}:x-oauth@github.com", filler(36));
        assert_eq!(redact(&text), "see https://[redacted]@github.com");
    }

    #[test]
    fn a_heading_that_is_no_key_hides_no_secret_after_it() {
        let text = format!("-----BEGIN sk-{0}://PRIVATE KEY{0}", filler(20));
        let once = redact(&text);
        assert!(!once.contains(&format!("sk-{}", filler(20))), "{once}");
        assert_eq!(redact(&once), once);
    }

    proptest! {
        #[test]
        fn a_redacted_text_is_not_redacted_again(text in r#"(\(|sk-|ghp_|eyJ|AKIA|key-|password|token|Bearer |://|:|=|"|@|_KEY|--|</?|>|value| = |"auth|"pass|\\n|-----BEGIN |PRIVATE KEY|-----|[a-zA-Z0-9]{1,40}|[ .\-_é/]){0,30}"#) {
            let once = redact(&text);
            prop_assert_eq!(redact(&once), once);
        }
    }
}
