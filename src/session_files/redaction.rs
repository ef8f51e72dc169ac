//! Sessions to be shown to others: secrets, names of users and, if asked, the texts themselves are taken out of the JSON.

use crate::error::{Error, Result};
use crate::json::{self, Shape, Type, optional, quote};
use crate::number::count;
use crate::text::{is_value_of, redact_each};

/// What is taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// Secrets that are known by their form.
    pub secrets: bool,
    /// Names of users in paths to their folders.
    pub paths: bool,
    /// What becomes of the texts.
    pub texts: Texts,
}

/// What becomes of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(unnameable_types, reason = "options are parsed, never written down")]
pub enum Texts {
    /// They stay.
    Full,
    /// The first letters stay; of the rest each letter becomes an `x`, each digit a `0`.
    Stubs,
    /// The same of all letters.
    Numbers,
}

const OPTIONS: Shape = Shape {
    what: "{ secrets, paths, texts }",
    members: &[
        optional("secrets", Type::Flag),
        optional("paths", Type::Flag),
        optional("texts", Type::Text),
    ],
    closed: true,
};

json::json_struct! {
    /// Something that was taken out.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Hit {
        /// Where: `message:12`, `compaction:0`, or the member of the session, such as `system`.
        pub place: String,
        /// `token`, `signed-token`, `private-key`, `credentials`, `labelled`, or `user` of a path.
        pub kind: &'static str,
        /// UTF-16 code units of it.
        pub length: u32,
    }
}

impl Redaction {
    /// Reads `{ secrets, paths, texts }`.
    ///
    /// # Errors
    /// `InvalidArgument` names what is allowed.
    pub fn parse(json: &str) -> Result<Self> {
        let wrong = |error: json::Error| Error::argument("options", OPTIONS.what, error.got());
        let mut options = OPTIONS.read(json).map_err(wrong)?;
        let texts = match options.text("texts").as_deref() {
            None | Some("full") => Texts::Full,
            Some("stubs") => Texts::Stubs,
            Some("numbers") => Texts::Numbers,
            Some(other) => {
                let got = format_args!("\"{other}\"");
                return Err(Error::argument("texts", "one of full, stubs, numbers", got));
            }
        };
        let mut flag = |name| options.flag(name).unwrap_or(true);
        Ok(Self { secrets: flag("secrets"), paths: flag("paths"), texts })
    }

    /// The session (JSON) without what is to be taken out, and what that was.
    pub fn session(self, json: &str) -> (String, Vec<Hit>) {
        let mut walk = Walk {
            redaction: self,
            out: String::with_capacity(json.len()),
            hits: Vec::new(),
            open: Vec::new(),
        };
        walk.run(json);
        (walk.out, walk.hits)
    }
}

/// Strings under these names tell of the shape of a session, not of what was said.
const OF_SHAPE: [&str; 19] = [
    "role",
    "type",
    "id",
    "name",
    "format",
    "messageFormat",
    "toolName",
    "toolCallId",
    "tool_call_id",
    "tool_use_id",
    "call_id",
    "toolUseId",
    "status",
    "stopReason",
    "stop_reason",
    "mimeType",
    "media_type",
    "timestamp",
    "firstKeptEntryId",
];
/// What the arguments of a call stand under, and results that have members of their own: a `name` there is anybody's.
fn is_content(key: &str) -> bool {
    let keys =
        ["arguments", "args", "input", "response", "details", "artifact", "structuredContent"];
    keys.contains(&key)
}

/// Letters of a text that stay in a stub.
const STUB: usize = 60;

/// A pass through JSON, which copies what it does not change.
struct Walk {
    redaction: Redaction,
    out: String,
    hits: Vec<Hit>,
    /// The objects and arrays around the place.
    open: Vec<Open>,
}

/// An object or array around the place.
struct Open {
    is_object: bool,
    /// The last key of an object.
    key: String,
    /// Text before each value, if the key names a secret. Made once, so that a long key costs an array's items nothing.
    label: String,
    /// Position in `open` of the object whose key names the items: of an array the next one around it.
    named_by: usize,
    /// How many items came before.
    items: u32,
}

/// Bytes of a key that are enough to tell that it names a secret.
const LABEL: usize = 64;

impl Walk {
    fn run(&mut self, json: &str) {
        let bytes = json.as_bytes();
        let (mut at, mut done) = (0, 0);
        // A string that follows one of these is a key.
        let mut is_key = false;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    let end = end_of_string(bytes, at);
                    let raw = json.get(at..end).unwrap_or_default();
                    let text = json::parse(raw).ok().and_then(json::lossy_string);
                    let text = text.as_deref().unwrap_or_default();
                    let new = self.redacted(text, is_key);
                    if new != text {
                        self.out.push_str(json.get(done..at).unwrap_or_default());
                        quote(&new, &mut self.out);
                        done = end;
                    }
                    if let Some(open) = self.open.last_mut().filter(|_| is_key) {
                        text.clone_into(&mut open.key);
                        open.label = label_of(text);
                    }
                    is_key = false;
                    at = end;
                    continue;
                }
                b'{' | b'[' => {
                    is_key = byte == b'{';
                    let around = self.open.last().filter(|_| !is_key);
                    self.open.push(Open {
                        is_object: is_key,
                        key: String::new(),
                        label: String::new(),
                        named_by: around.map_or(self.open.len(), |it| it.named_by),
                        items: 0,
                    });
                }
                b'}' | b']' => {
                    self.open.pop();
                }
                b',' => {
                    if let Some(open) = self.open.last_mut() {
                        open.items = open.items.saturating_add(1);
                        is_key = open.is_object;
                    }
                }
                _ => {}
            }
            at = at.saturating_add(1);
        }
        self.out.push_str(json.get(done..).unwrap_or_default());
    }

    /// A string without what is to be taken out.
    fn redacted(&mut self, text: &str, is_key: bool) -> String {
        let mut hits = Vec::new();
        let mut found = |from: usize, to: usize, kind: &'static str, all: &str| {
            let length = count(crate::text::utf16_len(all.get(from..to).unwrap_or_default()));
            hits.push((kind, length));
        };
        let last = self.open.last();
        let mut new = text.to_owned();
        if self.redaction.secrets {
            let named_by = last.filter(|_| !is_key).and_then(|it| self.open.get(it.named_by));
            let label = named_by.map_or("", |it| &it.label);
            let labelled = format!("{label}{text}");
            new = redact_each(&labelled, label.len(), &mut |from, to, kind| {
                found(from, to, kind, &labelled);
            });
        }
        if self.redaction.paths {
            let before = new;
            new = without_users(&before, &mut |from, to| found(from, to, "user", &before));
        }
        let place = if hits.is_empty() { String::new() } else { self.place() };
        self.hits.extend(hits.into_iter().map(|(kind, length)| Hit {
            place: place.clone(),
            kind,
            length,
        }));
        let is_shape = self.open.last().is_some_and(|it| OF_SHAPE.contains(&&*it.key))
            && !self.open.iter().any(|it| is_content(&it.key));
        if !is_key && !is_shape {
            new = match self.redaction.texts {
                Texts::Full => new,
                Texts::Stubs => masked(&new, STUB),
                Texts::Numbers => masked(&new, 0),
            };
        }
        new
    }

    /// Where the walk stands, as a report names it.
    fn place(&self) -> String {
        let member = self.open.first().map_or("", |it| &it.key);
        let item = self.open.get(1).map_or(0, |it| it.items);
        match member {
            "messages" => format!("message:{item}"),
            "compactions" => format!("compaction:{item}"),
            _ => member.to_owned(),
        }
    }
}

/// Text that labels the value of a key like `password` as a secret, as in a text; empty for any other key.
fn label_of(key: &str) -> String {
    let mut from = key.len().saturating_sub(LABEL);
    while !key.is_char_boundary(from) {
        from = from.saturating_add(1);
    }
    let key = key.get(from..).unwrap_or_default();
    if is_value_of(&format!("{key}:")) { format!("\"{key}\": \"") } else { String::new() }
}

/// After the last quote of the string that starts here.
fn end_of_string(bytes: &[u8], at: usize) -> usize {
    let mut end = at.saturating_add(1);
    while let Some(&byte) = bytes.get(end) {
        match byte {
            b'"' => return end.saturating_add(1),
            b'\\' => end = end.saturating_add(2),
            _ => end = end.saturating_add(1),
        }
    }
    bytes.len()
}

/// What the folder of a user stands in, with the sign between names: paths, and paths as one name.
const HOMES: [(&str, char); 6] = [
    ("/home/", '/'),
    ("/Users/", '/'),
    ("\\Users\\", '\\'),
    ("\\Users\\\\", '\\'),
    ("-home-", '-'),
    ("-Users-", '-'),
];
/// Instead of a user's name.
const USER: &str = "user";

/// The text with another name for each user whose folder it names; `found` hears of each.
fn without_users(text: &str, found: &mut dyn FnMut(usize, usize)) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices(['/', '\\', '-']) {
        let Some(rest) = text.get(at..).filter(|_| at >= done) else { continue };
        let home = HOMES.iter().rev().find(|(home, _)| rest.starts_with(home));
        let Some((home, end)) = home else { continue };
        let from = at.saturating_add(home.len());
        let name = text.get(from..).unwrap_or_default();
        let outside =
            |letter: char| letter == *end || !(letter.is_alphanumeric() || "._-".contains(letter));
        let length = name.find(outside).unwrap_or(name.len());
        let short = name.get(..length).unwrap_or_default().trim_end_matches('.');
        let name = on_windows(text.get(..at).unwrap_or_default(), name, *end).unwrap_or(short);
        if name.is_empty() || name == USER || name == "Shared" {
            continue;
        }
        let to = from.saturating_add(name.len());
        out.push_str(text.get(done..from).unwrap_or_default());
        out.push_str(USER);
        found(from, to);
        done = to;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// Spaces that a user's name may have: more of them are a sentence.
const SPACES: usize = 4;

/// The name of a Windows user, which may have spaces, at the start of `rest`, if it is clear where it ends: at a sign between
/// names, at a quote, or with the text if that is nothing but the path. `before`: the text before the users' folder.
fn on_windows<'t>(before: &str, rest: &'t str, end: char) -> Option<&'t str> {
    let is_drive = before.ends_with(':')
        || matches!(before.as_bytes(), [.., b'/', letter] if letter.is_ascii_alphabetic());
    if end != '\\' && !(end == '/' && is_drive) {
        return None;
    }
    let outside = |letter: char| letter.is_control() || "\"/\\[]:;|=,+*?<>".contains(letter);
    let length = rest.find(outside).unwrap_or(rest.len());
    let (name, after) = rest.split_at_checked(length)?;
    let ends = after.starts_with(['\\', '/', '"'])
        || (after.is_empty() && before.len() == 2 && before.ends_with(':'));
    let is_name = name.trim() == name && name.matches(' ').count() <= SPACES;
    (ends && is_name).then_some(name)
}

/// The text with an `x` for every letter and a `0` for every digit after the first so many letters: as long as it was.
fn masked(text: &str, kept: usize) -> String {
    let mask = |(at, letter): (usize, char)| match letter {
        _ if at < kept => letter,
        _ if letter.is_numeric() => '0',
        _ if letter.is_alphanumeric() && letter.len_utf16() == 1 => 'x',
        _ if letter.is_ascii() => letter,
        _ => 'x',
    };
    text.chars().enumerate().map(mask).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "ghp_a1B2c3D4e5F6g7H8j9K0a1B2c3D4e5F6g7H8";

    fn redacted(json: &str, options: &str) -> (String, Vec<String>) {
        let (session, hits) = Redaction::parse(options).unwrap().session(json);
        json::parse(&session).expect("JSON");
        let shown =
            hits.into_iter().map(|Hit { place, kind, length }| format!("{place} {kind} {length}"));
        (session, shown.collect())
    }

    #[test]
    fn secrets_are_taken_out_wherever_they_stand_and_named_by_their_place() {
        let json = format!(
            r#"{{"system":"token {KEY}","messages":[{{"role":"user","content":"a\n{KEY} \ud83d\ude00"}},{{"role":"assistant","content":[{{"type":"toolCall","name":"run","arguments":{{"password":"hunter2hunter2","{KEY}":1,"cmd":"curl https://me:s3cretpass@host/"}}}}]}}],"compactions":[{{"summary":"{KEY}"}}]}}"#
        );
        let (session, hits) = redacted(&json, "{}");
        for secret in [KEY, "hunter2", "s3cretpass"] {
            assert!(!session.contains(secret), "{session}");
        }
        assert!(session.contains(r"\ud83d\ude00") || session.contains('\u{1f600}'), "{session}");
        assert_eq!(
            hits,
            [
                "system token 40",
                "message:0 token 40",
                "message:1 labelled 14",
                "message:1 token 40",
                "message:1 credentials 10",
                "compaction:0 token 40"
            ]
        );
        assert_eq!(redacted(&session, "{}"), (session, vec![]), "nothing is left");
        assert_eq!(redacted(&json, r#"{"secrets":false}"#).0, json);
    }

    #[test]
    fn names_of_users_in_paths_are_replaced() {
        let json = r#"{"messages":["/home/ann.lee/x /Users/ann C:\\Users\\Bob\\y -Users-ann-code- /home/user/ /home/","{\"p\":\"C:\\\\Users\\\\Bob\"}"]}"#;
        let (session, hits) = redacted(json, "{}");
        assert_eq!(
            session,
            r#"{"messages":["/home/user/x /Users/user C:\\Users\\user\\y -Users-user-code- /home/user/ /home/","{\"p\":\"C:\\\\Users\\\\user\"}"]}"#
        );
        assert_eq!(hits.len(), 5, "{hits:?}");
        assert_eq!(hits[0], "message:0 user 7");
        assert_eq!(redacted(json, r#"{"paths":false}"#).0, json);
    }

    #[test]
    fn secrets_behind_an_empty_key_and_in_arrays_are_taken_out() {
        let json = r#"{"messages":[{"input":{"":1,"password":"hunter2hunter2","":"x","q":["a"],"secret":[[["hunter3hunter3"],1],{"n":"plain words"}]}}]}"#;
        let (session, hits) = redacted(json, "{}");
        assert!(!session.contains("hunter"), "{session}");
        assert!(session.contains(r#""q":["a"]"#) && session.contains("plain words"), "{session}");
        assert_eq!(hits, ["message:0 labelled 14", "message:0 labelled 14"]);
        assert_eq!(redacted(&session, "{}"), (session, vec![]), "nothing is left");
        let json = r#"{"messages":[{"input":{"":1,"alpha":"beta","":"two","name":["Ann"]}}]}"#;
        let (session, _) = redacted(json, r#"{"texts":"numbers"}"#);
        assert_eq!(
            session,
            r#"{"messages":[{"input":{"":1,"alpha":"xxxx","":"xxx","name":["xxx"]}}]}"#
        );
    }

    #[test]
    fn what_a_long_key_adds_to_each_value_of_its_array_has_an_end() {
        let key = format!("{}password", "é".repeat(50_000));
        assert!(label_of(&key).len() < 80);
        let json = format!(r#"{{"messages":[{{"{key}":["a","hunter2hunter2"]}}]}}"#);
        let (session, _) = redacted(&json, "{}");
        assert!(!session.contains("hunter"));
    }

    #[test]
    fn names_of_windows_users_may_have_spaces() {
        let of = |text: &str| without_users(text, &mut |_, _| ());
        for (text, new) in [
            (r"C:\Users\Ann Lee\x", r"C:\Users\user\x"),
            (r"see C:\\Users\\Ann O'Lee\\x", r"see C:\\Users\\user\\x"),
            (r#"{"p":"C:\\Users\\Ann Lee"}"#, r#"{"p":"C:\\Users\\user"}"#),
            (r"C:\Users\Ann Lee", r"C:\Users\user"),
            (r"C:\Users\Ann Lee/x", r"C:\Users\user/x"),
            ("C:/Users/Ann Lee/x /mnt/c/Users/Ann Lee/x", "C:/Users/user/x /mnt/c/Users/user/x"),
            (r"in C:\Users\Bob and more", r"in C:\Users\user and more"),
            (r"C:\Users\Bob C:\Users\Ann x", r"C:\Users\user C:\Users\user x"),
            (r"C:\Users\Bob has one of very many\x", r"C:\Users\user has one of very many\x"),
            ("/Users/ann and src/x", "/Users/user and src/x"),
        ] {
            assert_eq!(of(text), new);
            assert_eq!(of(new), new, "nothing is left");
        }
    }

    #[test]
    fn texts_are_masked_and_as_long_as_they_were() {
        let json = r#"{"messages":[{"role":"user","content":"Call +49 123, Zoë: 船 😀 ok?"}]}"#;
        let (session, _) = redacted(json, r#"{"texts":"numbers"}"#);
        assert_eq!(
            session,
            r#"{"messages":[{"role":"user","content":"xxxx +00 000, xxx: x x xx?"}]}"#
        );
        let json = r#"{"messages":[{"type":"tool_use","name":"pay","input":{"name":"Ann","to":[{"id":"DE1"}]}}]}"#;
        let (session, _) = redacted(json, r#"{"texts":"numbers"}"#);
        assert_eq!(
            session,
            r#"{"messages":[{"type":"tool_use","name":"pay","input":{"name":"xxx","to":[{"id":"xx0"}]}}]}"#
        );
        let json = r#"{"messages":[{"role":"user","parts":[{"functionResponse":{"name":"pay","response":{"name":"Ann","status":"ill"}}}]},{"details":{"id":"Ann"}}]}"#;
        let (session, _) = redacted(json, r#"{"texts":"numbers"}"#);
        assert_eq!(
            session,
            r#"{"messages":[{"role":"user","parts":[{"functionResponse":{"name":"pay","response":{"name":"xxx","status":"xxx"}}}]},{"details":{"id":"xxx"}}]}"#
        );
        let long = format!(r#"{{"messages":[{{"content":"{}"}}]}}"#, "ab1 ".repeat(40));
        let (session, _) = redacted(&long, r#"{"texts":"stubs"}"#);
        assert_eq!(
            session,
            format!(
                r#"{{"messages":[{{"content":"{}{}"}}]}}"#,
                "ab1 ".repeat(15),
                "xx0 ".repeat(25)
            )
        );
        let wrong = Redaction::parse(r#"{"texts":"none"}"#).unwrap_err().to_string();
        assert_eq!(wrong, "texts: expected one of full, stubs, numbers, got \"none\"");
    }

    #[test]
    fn nothing_but_strings_is_touched() {
        let json = r#" { "a" : [ 1.50 , -0 , true , null , "\ud800" , { } , [ ] ] , "b" : "x" } "#;
        assert_eq!(redacted(json, "{}").0, json);
    }
}
