//! Qwen Code: records, one a line, in a tree by `parentUuid`; each holds a content of Gemini's API.
//!
//! The program goes on from the last record: what the user rewound is another branch. Each result has a record, and so has what the user
//! wrote while tools ran; they were sent as one content. `chat_compression` holds the new history without ids: a summary, an answer
//! to it, and messages that stayed. A prompt or result for which the program compressed comes before that record, and was sent after it.

use super::claude_branch::{branch, is_message};
use super::file::{CompactionRecord, SessionFile, SessionWindow, Usage};
use super::fold::{Fold, write_all};
use super::gemini_cli::content;
use super::lines::Line;
use super::messages::plain;
use super::path::at;
use super::raw::{Object, RawValue, is_object, items, text, unsigned};
use super::signs::Test::{self, Has, Is, Starts};
use super::signs::all;
use super::time::millis;
use super::usage::QWEN_CODE;
use crate::error::Error;
use crate::hash;
use crate::hash_index::{ByHash, ByName};

const KNOWN: [&str; 4] = ["user", "assistant", "tool_result", "system"];

/// Records that no other follows, and that the program does not go on from.
const ASIDE: [&[Test]; 3] = [
    &[Starts("subtype", "session_artifact_")],
    &[Starts("subtype", "session_sources_")],
    &[Starts("subtype", "managed_session_")],
];
/// A command was answered without the model: the prompt before, which is the command, was not sent.
const ANSWERED: &[Test] = &[
    Is("subtype", &["slash_command"]),
    Is("systemPayload.phase", &["result"]),
    Is("systemPayload.outputHistoryItems.*.type", &["assistant"]),
];
const COMPRESSED: &[Test] =
    &[Is("subtype", &["chat_compression"]), Has("systemPayload.compressedHistory.0")];
/// A conversation by voice is with another model.
const SPOKEN: &[Test] = &[Is("subtype", &["realtime_message"])];

/// Reads the conversation that ends at the record with the uuid `leaf`, or at the newest.
#[inline(never)]
pub(super) fn read(lines: &[Line<'_>], leaf: Option<&str>) -> Result<SessionFile, Error> {
    let mut file = SessionFile::new("qwen-code", "gemini");
    let mut uuids = ByName::default();
    let mut main = Vec::with_capacity(lines.len());
    for line in lines {
        let is_aside = ASIDE.iter().any(|tests| all(tests, &line.fields));
        let uuid = line.fields.text("uuid").filter(|_| !is_aside);
        main.push(uuid.is_some_and(|uuid| uuids.insert(0, uuid, 0).is_none()));
    }
    let branch = branch(lines, &main, leaf, true)?;
    let receipt = &mut file.receipt;
    (receipt.leaf, receipt.branches, receipt.bridged) =
        (branch.leaf, branch.leaves, branch.bridged);
    let mut history = History::default();
    for ((line, is_main), live) in lines.iter().zip(main).zip(branch.live) {
        let fields = &line.fields;
        let kind = fields.text("type").filter(|_| fields.has("uuid") && line.fault.is_none());
        let Some(kind) = kind else {
            let fault = line.fault.as_deref().unwrap_or("a record without a type or uuid");
            file.receipt.fail(line.number, fault);
            continue;
        };
        file.receipt.count(&kind, KNOWN.contains(&&*kind));
        if !live {
            let receipt = &mut file.receipt;
            let total = if is_main { &mut receipt.dead_ends } else { &mut receipt.repeated };
            *total = total.saturating_add(u32::from(is_message(fields)));
        } else if is_message(fields) {
            if !all(SPOKEN, fields) {
                history.add(line);
            }
            if let Some(context_tokens) = fields.number("contextWindowSize").filter(|it| *it > 0) {
                file.window = Some(SessionWindow { context_tokens, max_output_tokens: None });
            }
        } else if all(COMPRESSED, fields) {
            history.fold(line);
        } else if all(ANSWERED, fields) {
            history.take_back(fields);
        }
    }
    let messages = history.messages;
    write_all(messages.len(), history.folds, &mut file, &|place, file| {
        if let Some(message) = messages.get(place) {
            message.write(file);
        }
    });
    Ok(file.finish())
}

struct Message<'a> {
    line: u32,
    /// Its first record.
    fields: Object<'a>,
    parts: Vec<&'a RawValue>,
    key: u64,
    /// How many compressions there were when it was kept last.
    kept: usize,
}

#[derive(Default)]
struct History<'a> {
    messages: Vec<Message<'a>>,
    /// The places of the messages of which the history consists now, in order.
    here: Vec<usize>,
    /// The place of the first message that neither an answer nor a compression has followed.
    waiting: usize,
    /// How often the history was set anew, also with all of its messages.
    lists: usize,
    folds: Vec<Fold>,
}

impl<'a> History<'a> {
    /// The last message, if no compression came after it.
    fn last(&mut self) -> Option<&mut Message<'a>> {
        let folded = self.folds.last().is_some_and(|fold| fold.after == self.messages.len());
        self.messages.last_mut().filter(|_| !folded)
    }

    fn add(&mut self, line: &Line<'a>) {
        let fields = &line.fields;
        let parts = parts(at(fields, "message.parts"));
        let is_answer = fields.is("type", "assistant");
        let before = if fields.is("type", "tool_result") {
            "tool_result"
        } else if fields.is("subtype", "mid_turn_user_message") {
            "user"
        } else {
            ""
        };
        if let Some(last) = self.last()
            && (last.fields.is("type", "tool_result") && !before.is_empty()
                || last.fields.is("type", before))
        {
            last.parts.extend(parts);
            return;
        }
        self.here.push(self.messages.len());
        let (line, fields, key) = (line.number, fields.clone(), key(is_answer, &parts));
        self.messages.push(Message { line, fields, parts, key, kept: 0 });
        if is_answer {
            self.waiting = self.messages.len();
        }
    }

    /// Takes the last prompt back, if it is this command.
    fn take_back(&mut self, fields: &Object<'a>) {
        let command = at(fields, "systemPayload.rawCommand").and_then(text).unwrap_or_default();
        let prompt = hash_of(false, &command);
        let is_prompt =
            |last: &mut Message<'_>| last.fields.is("type", "user") && last.key == prompt;
        let to_model = at(fields, "systemPayload.sentToModel") == Some("true");
        if !to_model && self.last().is_some_and(is_prompt) {
            self.messages.pop();
            self.here.pop();
        }
    }

    /// The history is this one from now on, with what waits for an answer.
    fn fold(&mut self, line: &Line<'a>) {
        let list =
            at(&line.fields, "systemPayload.compressedHistory").map(items).unwrap_or_default();
        let list: Vec<Object<'_>> = list.into_iter().map(Object::of).collect();
        self.lists = self.lists.saturating_add(1);
        let mut first = ByHash::default();
        for (at, place) in (0..).zip(&self.here) {
            let key = self.messages.get(*place).map_or(0, |message| message.key);
            if first.get(key).is_none() {
                first.insert(key, at);
            }
        }
        let (mut front, mut end) = (list.len(), self.here.len());
        for (at, fields) in list.iter().enumerate().rev() {
            let key = key(fields.is("role", "model"), &parts(fields.get("parts")));
            // Messages keep their order: only one before the message found last counts.
            let is_before = |at: i64| usize::try_from(at).is_ok_and(|at| at < end);
            if key == 0 || !first.get(key).is_some_and(is_before) {
                continue;
            }
            front = at;
            while end > 0 {
                end = end.saturating_sub(1);
                let place = self.here.get(end).copied().unwrap_or_default();
                if let Some(message) = self.messages.get_mut(place).filter(|it| it.key == key) {
                    message.kept = self.lists;
                    break;
                }
            }
        }
        let before = std::mem::take(&mut self.here);
        for place in &before {
            let kept = self.messages.get(*place).is_some_and(|it| it.kept == self.lists);
            if kept || *place >= self.waiting {
                self.here.push(*place);
            }
        }
        self.waiting = self.messages.len();
        let mut record = CompactionRecord::at(line, 0);
        for fields in list.iter().take(front).filter(|it| it.is("role", "user")) {
            let text = fields.get("parts").map(plain).unwrap_or_default();
            if !text.is_empty() && !text.starts_with("<system-reminder>") {
                if !record.summary.is_empty() {
                    record.summary.push_str("\n\n");
                }
                record.summary.push_str(&text);
            }
        }
        // A summary of before may be all that was left out.
        if self.here.len() == before.len() && record.summary.is_empty() {
            return;
        }
        let count = |path| at(&line.fields, path).and_then(unsigned).unwrap_or(0);
        record.tokens_before = count("systemPayload.info.originalTokenCount");
        record.tokens_after = count("systemPayload.info.newTokenCount");
        self.folds.push(Fold { after: self.messages.len(), record, kept: self.here.clone() });
    }
}

fn parts(list: Option<&RawValue>) -> Vec<&RawValue> {
    let mut parts = list.map(items).unwrap_or_default();
    parts.retain(|part| is_object(part));
    parts
}

/// What a content is known by, also after its results were cleared: the first call or result, else its texts. 0: by nothing.
fn key(is_answer: bool, parts: &[&RawValue]) -> u64 {
    let mut texts = String::new();
    for part in parts {
        let part = Object::of(part);
        let ids = "functionCall.id|functionResponse.id|functionCall.name|functionResponse.name";
        if let Some(id) = at(&part, ids) {
            return hash_of(is_answer, id);
        }
        if !part.flag("thought") {
            texts.push_str(&part.text("text").unwrap_or_default());
        }
    }
    hash_of(is_answer, &texts)
}

fn hash_of(is_answer: bool, text: &str) -> u64 {
    // The program trims what it records of some answers.
    match text.trim() {
        "" => 0,
        text => hash::bytes(u64::from(is_answer), text.as_bytes()),
    }
}

impl Message<'_> {
    fn write(&self, file: &mut SessionFile) {
        let (fields, all) = (&self.fields, self.parts.join(","));
        if all.is_empty() {
            return;
        }
        let mut role = "user";
        if fields.is("type", "assistant") {
            role = "model";
            file.call(fields.get("timestamp").and_then(millis), usage(fields));
            if let Some(model) = fields.text("model") {
                file.called(&model);
            }
        }
        file.made(self.line, content(role, &all));
    }
}

fn usage(fields: &Object<'_>) -> Option<Usage> {
    let counts = fields.object("usageMetadata")?;
    let mut usage = QWEN_CODE.read(&counts)?;
    let total = counts.number("totalTokenCount").unwrap_or(0);
    if let Some(output) = total.checked_sub(usage.input_tokens) {
        usage.output_tokens = output;
    }
    Some(usage)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{json, models, open, open_lines};
    use super::super::{SessionFile, read_session};

    /// A record after another: its uuid, that of its parent, its type, and further members.
    fn record(uuid: &str, parent: &str, kind: &str, more: &str) -> String {
        let parent = if parent.is_empty() { "null".into() } else { format!("\"{parent}\"") };
        format!(
            r#"{{"uuid":"{uuid}","parentUuid":{parent},"sessionId":"s","cwd":"/","timestamp":"1970-01-01T00:00:03Z","type":"{kind}",{more}}}"#
        )
    }

    fn content(role: &str, parts: &str) -> String {
        format!(r#"{{"role":"{role}","parts":[{parts}]}}"#)
    }

    fn text(role: &str, text: &str) -> String {
        content(role, &format!(r#"{{"text":"{text}"}}"#))
    }

    fn call(id: &str) -> String {
        format!(r#"{{"functionCall":{{"id":"{id}","name":"f","args":{{}}}}}}"#)
    }

    fn result(id: &str) -> String {
        format!(
            r#"{{"functionResponse":{{"id":"{id}","name":"f","response":{{"output":"{id}"}}}}}}"#
        )
    }

    fn message(uuid: &str, parent: &str, kind: &str, message: &str) -> String {
        record(uuid, parent, kind, &format!(r#""message":{message}"#))
    }

    fn user(uuid: &str, parent: &str) -> String {
        message(uuid, parent, "user", &text("user", uuid))
    }

    fn model(uuid: &str, parent: &str) -> String {
        message(uuid, parent, "assistant", &text("model", uuid))
    }

    fn compressed(uuid: &str, parent: &str, history: &[String]) -> String {
        let history = history.join(",");
        let payload = format!(
            r#""subtype":"chat_compression","systemPayload":{{"info":{{"originalTokenCount":90,"newTokenCount":30}},"compressedHistory":[{history}]}}"#
        );
        record(uuid, parent, "system", &payload)
    }

    fn summary(text_of: &str) -> [String; 2] {
        [text("user", text_of), text("model", "Got it.")]
    }

    fn lines(all: &[String]) -> SessionFile {
        open(&all.join("\n"))
    }

    /// The texts, calls and results of its messages.
    fn texts(file: &SessionFile) -> String {
        let all = json(file).concat();
        let quoted = |part: &str| part.split('"').next().unwrap_or_default().to_owned();
        let parts = all.split("\"text\":\"").skip(1).map(quoted);
        parts.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn records_are_contents_with_usage_model_and_window() {
        let answer = format!(
            r#""model":"qwen-x","message":{},"usageMetadata":{{"promptTokenCount":90,"candidatesTokenCount":5,"thoughtsTokenCount":4,"totalTokenCount":99,"cachedContentTokenCount":70}},"contextWindowSize":262144"#,
            content(
                "model",
                &format!(r#"{{"text":"hm","thought":true}},{},{}"#, call("a"), call("b"))
            )
        );
        let file = lines(&[
            user("u", ""),
            record("t", "u", "system", r#""subtype":"ui_telemetry","systemPayload":{}"#),
            record("m", "t", "assistant", &answer),
            message("r", "m", "tool_result", &content("user", &result("a"))),
            record("t2", "r", "system", r#""subtype":"ui_telemetry","systemPayload":{}"#),
            message("q", "t2", "tool_result", &content("user", &result("b"))),
            record(
                "w",
                "q",
                "user",
                &format!(r#""subtype":"mid_turn_user_message","message":{}"#, text("user", "stop")),
            ),
            model("n", "w"),
        ]);
        let expected = [
            text("user", "u"),
            content(
                "model",
                &format!(r#"{{"text":"hm","thought":true}},{},{}"#, call("a"), call("b")),
            ),
            content("user", &format!(r#"{},{},{{"text":"stop"}}"#, result("a"), result("b"))),
            text("model", "n"),
        ];
        assert_eq!(json(&file), expected);
        assert_eq!((file.format, file.message_format), ("qwen-code", "gemini"));
        assert_eq!(models(&file), [("qwen-x", 1)]);
        let call = file.calls[0];
        let usage = call.usage.expect("reported");
        assert_eq!((call.sent, call.at, file.calls.len()), (1, Some(3000), 2));
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.cache_read_tokens), (90, 9, 70));
        assert_eq!(file.window.map(|window| window.context_tokens), Some(262_144));
        assert_eq!((file.receipt.read, file.receipt.unknown), (8, 0));
    }

    #[test]
    fn what_was_rewound_is_another_branch() {
        let rewound = r#""subtype":"rewind","systemPayload":{}"#;
        let all = [
            user("u", ""),
            model("m", "u"),
            user("v", "m"),
            model("n", "v"),
            record("back", "m", "system", rewound),
            user("w", "back"),
            record("title", "w", "system", r#""subtype":"custom_title","systemPayload":{}"#),
            // Beside the conversation.
            record(
                "aside",
                "n",
                "system",
                r#""subtype":"session_artifact_event","systemPayload":{}"#,
            ),
        ];
        let file = lines(&all);
        assert_eq!((texts(&file).as_str(), file.receipt.dead_ends), ("u m w", 2));
        assert_eq!(file.receipt.branches, ["n", "title"]);
        assert_eq!(file.receipt.leaf.as_deref(), Some("title"));
        let other = read_session(all.join("\n").as_bytes(), Some("n")).expect("read");
        assert_eq!(texts(&other), "u m v n");
        assert!(read_session(all.join("\n").as_bytes(), Some("x")).is_err());
        // To the start.
        let file = lines(&[
            user("u", ""),
            model("m", "u"),
            record("b", "", "system", rewound),
            user("w", "b"),
        ]);
        assert_eq!((texts(&file).as_str(), file.receipt.dead_ends), ("w", 2));
    }

    #[test]
    fn a_compression_keeps_the_last_messages_and_what_waits_for_an_answer() {
        let all = |history: &[String]| {
            lines(&[
                user("u", ""),
                model("m", "u"),
                user("v", "m"),
                model("n", "v"),
                user("w", "n"),
                compressed("c", "w", history),
                model("o", "c"),
            ])
        };
        let kept = [text("user", " v"), text("model", "n\\n")];
        let file = all(&[&summary("so far")[..], &kept].concat());
        assert_eq!(texts(&file), "u m v n w o");
        let [fold] = file.compactions.as_slice() else { panic!("one") };
        assert_eq!((fold.at, fold.first_kept_index, fold.call), (5, 2, 2));
        assert_eq!((fold.summary.as_str(), fold.id.as_str(), fold.kept.len()), ("so far", "c", 0));
        assert_eq!((fold.tokens_before, fold.tokens_after), (90, 30));
        let file = all(&summary("so far"));
        assert_eq!(file.compactions[0].first_kept_index, 4);
        // The prompt is part of the history already.
        let file = all(&[&summary("so far")[..], &[text("user", "w")]].concat());
        assert_eq!(file.compactions[0].first_kept_index, 4);
        let reminder = [text("user", "<system-reminder> Skills")];
        let file = all(&[&reminder, &summary("so far")[..], &[text("user", "u")]].concat());
        let fold = &file.compactions[0];
        assert_eq!((fold.summary.as_str(), fold.kept.as_slice()), ("so far", &[[0, 1]][..]));
        assert_eq!(fold.first_kept_index, 4);
        // All stays, with other texts.
        let everything = [text("user", "u"), text("model", "m"), kept[0].clone(), kept[1].clone()];
        assert_eq!(all(&everything).compactions.len(), 0);
    }

    #[test]
    fn calls_stay_with_the_results_that_wait() {
        let file = lines(&[
            user("u", ""),
            message(
                "m",
                "u",
                "assistant",
                &content("model", &format!(r#"{{"text":"look"}},{}"#, call("a"))),
            ),
            message("r", "m", "tool_result", &content("user", &result("a"))),
            compressed(
                "c",
                "r",
                &[
                    text("user", "so far"),
                    content("model", &format!(r#"{{"text":"Got it."}},{}"#, call("a"))),
                ],
            ),
            message("q", "c", "tool_result", &content("user", &result("b"))),
            compressed("d", "q", &summary("again")),
            compressed("e", "d", &summary("once more")),
            user("v", "e"),
        ]);
        let folds: Vec<_> =
            file.compactions.iter().map(|it| (it.at, it.first_kept_index)).collect();
        // What two compressions follow waits no more.
        assert_eq!(folds, [(3, 1), (4, 3), (4, 4)]);
        assert_eq!(file.messages.len(), 5, "a compression is no message");
    }

    #[test]
    fn equal_messages_are_kept_from_the_end() {
        let again =
            |uuid: &str, parent: &str| message(uuid, parent, "user", &text("user", "go on"));
        let go = text("user", "go on");
        let file = lines(&[
            again("u", ""),
            model("m", "u"),
            again("v", "m"),
            model("n", "v"),
            again("w", "n"),
            model("o", "w"),
            // More of them than there are before the last answer.
            compressed(
                "c",
                "o",
                &[
                    &summary("so far")[..],
                    &[go.clone(), go.clone(), go.clone(), go, text("model", "o")],
                ]
                .concat(),
            ),
        ]);
        let fold = &file.compactions[0];
        assert_eq!((fold.kept.as_slice(), fold.first_kept_index), (&[[0, 1], [2, 3]][..], 4));
    }

    #[test]
    fn a_message_that_a_compression_repeats_is_kept_once() {
        let file = lines(&[
            user("u", ""),
            model("m", "u"),
            user("v", "m"),
            model("n", "v"),
            compressed(
                "c",
                "n",
                &[
                    &summary("so far")[..],
                    &[text("user", "u"), text("user", "v"), text("user", "v"), text("model", "n")],
                ]
                .concat(),
            ),
        ]);
        let fold = &file.compactions[0];
        assert_eq!((fold.kept.as_slice(), fold.first_kept_index), (&[[0, 1]][..], 2));
    }

    #[test]
    fn a_compression_may_replace_only_the_summary_before_it_or_write_none() {
        let file = lines(&[
            user("u", ""),
            model("m", "u"),
            user("v", "m"),
            model("n", "v"),
            compressed(
                "c",
                "n",
                &[&summary("first")[..], &[text("user", "v"), text("model", "n")]].concat(),
            ),
            compressed(
                "d",
                "c",
                &[&summary("second")[..], &[text("user", "v"), text("model", "n")]].concat(),
            ),
            user("w", "d"),
            model("o", "w"),
            compressed("e", "o", &[text("user", "w"), text("model", "o")]),
        ]);
        let folds = file.compactions.iter().map(|it| (it.summary.as_str(), it.first_kept_index));
        assert_eq!(folds.collect::<Vec<_>>(), [("first", 2), ("second", 2), ("", 4)]);
    }

    #[test]
    fn a_window_of_no_tokens_is_not_known() {
        let answer = format!(r#""contextWindowSize":0,"message":{}"#, text("model", "m"));
        let file = lines(&[user("u", ""), record("m", "u", "assistant", &answer)]);
        assert!(file.window.is_none());
    }

    #[test]
    fn a_summary_with_the_words_of_a_later_message_is_no_message() {
        let file = lines(&[
            user("u", ""),
            model("m", "u"),
            user("v", "m"),
            model("n", "v"),
            compressed("c", "n", &[text("user", "v"), text("user", "u"), text("model", "n")]),
        ]);
        let fold = &file.compactions[0];
        assert_eq!((fold.kept.as_slice(), fold.first_kept_index), (&[[0, 1]][..], 3));
        assert_eq!(fold.summary, "v");
    }

    #[test]
    fn a_command_that_the_program_answered_was_not_sent() {
        let command = |text: &str, more: &str| {
            let payload = format!(
                r#""subtype":"slash_command","systemPayload":{{"phase":"result","rawCommand":"{text}","outputHistoryItems":[{{"type":"assistant"}}]{more}}}"#
            );
            record("c", "v", "system", &payload)
        };
        for (answer, expected) in [
            (command("v", ""), "u m"),
            (command("/other", ""), "u m v"),
            (command("v", r#","sentToModel":true"#), "u m v"),
            (command("v", "").replace("result", "invocation"), "u m v"),
            (command("v", "").replace("assistant", "info"), "u m v"),
        ] {
            let file = lines(&[user("u", ""), model("m", "u"), user("v", "m"), answer]);
            assert_eq!(texts(&file), expected);
        }
    }

    #[test]
    fn broken_unknown_and_repeated_records_are_counted_apart() {
        let last = model("n", "m");
        let file = lines(&[
            user("u", ""),
            format!("{}x", model("m", "u")),
            last.clone(),
            last,
            record("o", "n", "new", r#""a":1"#),
            r#"{"type":"user","message":{}}"#.into(),
            message("p", "o", "user", "7"),
            message("q", "o", "user", r#"{"role":"user"}"#),
            record(
                "v",
                "q",
                "user",
                &format!(r#""subtype":"realtime_message","message":{}"#, text("user", "spoken")),
            ),
            user("w", "nobody"),
        ]);
        assert_eq!(
            texts(&file),
            "u n w",
            "a record whose parent is absent follows the one before it"
        );
        let receipt = &file.receipt;
        assert_eq!((receipt.broken.len(), receipt.unknown, receipt.read), (2, 1, 7));
        assert_eq!((receipt.repeated, receipt.bridged, receipt.dead_ends), (1, 1, 1));
        let file =
            open_lines(&[&record("a", "", "system", r#""subtype":"rewind","systemPayload":{}"#)]);
        assert_eq!((file.format, file.messages.len()), ("qwen-code", 0));
    }
}
