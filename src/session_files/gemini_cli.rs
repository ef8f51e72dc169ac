//! Gemini CLI: records, one a line; older versions wrote one object with a list of them.
//!
//! A record replaces an earlier one with its id, in its place. `$rewindTo` takes back a message and all after it. `$set` may hold the
//! history anew: after a compression, a summary and the messages that stayed. Calls stand in the model's record with their results.
//! Thoughts that stand beside the content are not sent again, and so are left out.

use super::file::{CompactionRecord, SessionFile, refuse_leaf};
use super::fold::{Fold, write_all};
use super::lines::Line;
use super::messages::plain;
use super::path::{any, at};
use super::raw::{Object, RawValue, inside, is_object, items, text};
use super::time::millis;
use super::usage::GEMINI_CLI;
use crate::error::Error;
use crate::hash_index::ByName;

/// Reads the records, or those of the one object.
#[inline(never)]
pub(super) fn read(lines: &[Line<'_>], leaf: Option<&str>) -> Result<SessionFile, Error> {
    refuse_leaf(leaf, "gemini-cli")?;
    let mut file = SessionFile::new("gemini-cli", "gemini");
    let mut history = History::default();
    for line in lines {
        let Some(kind) = kind(line) else {
            let fault = line.fault.as_deref().unwrap_or("a record without an id");
            file.receipt.fail(line.number, fault);
            continue;
        };
        let known = ["user", "gemini", "info", "error", "warning", "session", "$set", "$rewindTo"];
        file.receipt.count(&kind, known.contains(&&*kind));
        match &*kind {
            "$rewindTo" => history.rewind(&line.fields),
            "$set" => history.set(line),
            _ if is_message(&line.fields) => history.add(line.number, line.fields.clone()),
            _ => {}
        }
    }
    let count = |which| u32::try_from(history.count(which)).unwrap_or(u32::MAX);
    (file.receipt.dead_ends, file.receipt.repeated) = (count(Stay::TakenBack), history.repeated);
    history.write(&mut file);
    Ok(file.finish())
}

/// The type of a record; none: it is broken.
fn kind<'a>(line: &Line<'a>) -> Option<std::borrow::Cow<'a, str>> {
    let fields = &line.fields;
    if line.fault.is_some() {
        return None;
    }
    for name in ["$set", "$rewindTo"] {
        if fields.has(name) {
            return Some(name.into());
        }
    }
    match fields.text("type") {
        Some(kind) => fields.has("id").then_some(kind),
        None => fields.has("sessionId").then_some("session".into()),
    }
}

/// It is sent: what the user or the model says, or a file that a tool read, which goes out after its result.
fn is_message(fields: &Object<'_>) -> bool {
    fields.is("type", "user")
        || fields.is("type", "gemini")
        || (fields.is("type", "info") && any(fields, "content.*.inlineData", &|_| true))
}

/// Whether a message is still part of the history.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stay {
    Here,
    /// A compression removed it.
    Folded,
    /// The user took it back.
    TakenBack,
    /// It is, or is part of, the summary of a compression.
    Summary,
}

struct Message<'a> {
    line: u32,
    fields: Object<'a>,
    stay: Stay,
    /// The last list of all messages that it was in.
    listed: usize,
}

#[derive(Default)]
struct History<'a> {
    messages: Vec<Message<'a>>,
    /// The places of the messages of which the history consists now, in order.
    here: Vec<usize>,
    /// The place of the newest message with an id, also if it is gone.
    places: ByName<'a>,
    folds: Vec<Fold>,
    /// How often it was set anew.
    lists: usize,
    repeated: u32,
}

impl<'a> History<'a> {
    /// The place of the message with the record's id, if it is part of the history.
    fn place(&self, fields: &Object<'_>) -> Option<usize> {
        let place = self.places.get(0, &fields.text("id")?)?;
        let message = self.messages.get(place)?;
        matches!(message.stay, Stay::Here | Stay::Summary).then_some(place)
    }

    fn is_summary(&self, place: usize) -> bool {
        self.messages.get(place).is_some_and(|it| it.stay == Stay::Summary)
    }

    /// Takes in a record: a new one is the last of the history.
    fn add(&mut self, line: u32, fields: Object<'a>) {
        if self.place(&fields).is_some() {
            self.repeated = self.repeated.saturating_add(1);
        } else {
            self.here.push(self.messages.len());
        }
        self.put(line, fields);
    }

    /// Writes a record at the place of its id, or at a new place. Returns the place.
    fn put(&mut self, line: u32, fields: Object<'a>) -> usize {
        let place = self.place(&fields).unwrap_or(self.messages.len());
        if let Some(known) = self.messages.get_mut(place) {
            known.fields = fields;
            return place;
        }
        if let Some(id) = fields.text("id") {
            self.places.insert(0, id, place);
        }
        self.messages.push(Message { line, fields, stay: Stay::Here, listed: 0 });
        place
    }

    fn leave(&mut self, place: usize, stay: Stay) {
        if let Some(message) = self.messages.get_mut(place).filter(|it| it.stay == Stay::Here) {
            message.stay = stay;
        }
    }

    /// Takes back this message and all after it; all messages, if it is not known.
    fn rewind(&mut self, fields: &Object<'_>) {
        let Some(id) = fields.text("$rewindTo") else { return };
        let first = self.places.get(0, &id);
        let from = self.here.iter().rposition(|place| Some(*place) == first).unwrap_or(0);
        for place in self.here.split_off(from) {
            self.leave(place, Stay::TakenBack);
        }
    }

    /// The history is this one from now on.
    fn set(&mut self, line: &Line<'a>) {
        let list = at(&line.fields, "$set.messages").filter(|list| list.starts_with('['));
        let Some(list) = list else { return };
        let records = items(list).into_iter().map(Object::of);
        let records: Vec<Object<'a>> = records.filter(is_message).collect();
        let known: Vec<_> = records.iter().map(|record| self.place(record)).collect();
        let summary = self.in_front(&known, &records);
        let texts = records.iter().take(summary).filter(|record| record.is("type", "user"));
        let texts: Vec<_> = texts.filter_map(|it| it.get("content")).map(plain).collect();
        let after = self.messages.len();
        self.lists = self.lists.saturating_add(1);
        let before = std::mem::take(&mut self.here);
        for record in records {
            let place = self.put(line.number, record);
            let listed = self.messages.get_mut(place).map(|it| &mut it.listed);
            if listed.is_some_and(|it| std::mem::replace(it, self.lists) != self.lists) {
                self.here.push(place);
            }
        }
        let mut folds = false;
        for place in before {
            if self.messages.get(place).is_some_and(|it| it.listed != self.lists) {
                folds = true;
                self.leave(place, Stay::Folded);
            }
        }
        if !folds {
            return;
        }
        let kept = self.here.split_off(summary.min(self.here.len()));
        for place in self.here.clone() {
            self.leave(place, Stay::Summary);
        }
        self.here.extend(&kept);
        let mut record = CompactionRecord::at(line, 0);
        record.summary = texts.join("\n\n");
        let time = at(&line.fields, "$set.lastUpdated").and_then(text);
        record.timestamp = time.unwrap_or_default().into_owned();
        self.folds.push(Fold { after, record, kept });
    }

    /// How many messages stand in front of the first that stays where it was: they are the summary, with the answer to it. Without
    /// such a message they end before the user's next.
    fn in_front(&self, known: &[Option<usize>], records: &[Object<'_>]) -> usize {
        let mut least = usize::MAX;
        let answers = records.iter().skip(1).take_while(|it| !it.is("type", "user")).count();
        let mut front = records.len().min(answers.saturating_add(1));
        for (at, place) in known.iter().enumerate().rev() {
            if let Some(place) = place.filter(|place| *place < least) {
                (least, front) = (place, at);
            }
        }
        let is_summary = |place: &&Option<usize>| place.is_some_and(|place| self.is_summary(place));
        front.saturating_add(known.iter().skip(front).take_while(is_summary).count())
    }

    fn count(&self, stay: Stay) -> usize {
        self.messages.iter().filter(|message| message.stay == stay).count()
    }

    /// Appends all messages that were ever sent, and where they were folded.
    fn write(mut self, file: &mut SessionFile) {
        let answered = self.answered();
        let folds = std::mem::take(&mut self.folds);
        write_all(self.messages.len(), folds, file, &|place, file| {
            let message = self.messages.get(place);
            let is_sent = |it: &&Message<'_>| matches!(it.stay, Stay::Here | Stay::Folded);
            if let Some(message) = message.filter(is_sent) {
                message.write(&answered, file);
            }
        });
    }

    /// Ids of the calls whose results are messages of their own: their copies in the calls' records are not.
    fn answered(&self) -> ByName<'a> {
        let mut answered = ByName::default();
        for message in self.messages.iter().filter(|message| message.fields.is("type", "user")) {
            for part in parts(message.fields.get("content"), &text_part) {
                note(&mut answered, &part, "functionResponse.id");
            }
        }
        answered
    }
}

/// The parts of a record's content, as JSON: a string, a part, or a list of both. `of_text` makes one of a string (JSON).
fn parts(content: Option<&RawValue>, of_text: &dyn Fn(&str) -> String) -> Vec<String> {
    let Some(content) = content else { return Vec::new() };
    let list = if content.starts_with('[') { items(content) } else { vec![content] };
    let part = |raw: &RawValue| match inside(raw) {
        Some("") => None,
        Some(_) => Some(of_text(raw)),
        None => is_object(raw).then(|| raw.into()),
    };
    list.into_iter().filter_map(part).collect()
}

fn text_part(text: &str) -> String {
    format!("{{\"text\":{text}}}")
}

/// Notes the id of a call or a result, if the part has one. True: it was noted before.
fn note(ids: &mut ByName<'_>, part: &str, path: &str) -> bool {
    let id = at(&Object::of(part), path).and_then(text);
    id.is_some_and(|id| ids.insert(0, id.into_owned(), 0).is_some())
}

/// A content of Gemini's API with these parts, as JSON.
pub(super) fn content(role: &str, parts: &str) -> String {
    format!("{{\"role\":\"{role}\",\"parts\":[{parts}]}}")
}

impl Message<'_> {
    fn write(&self, answered: &ByName<'_>, file: &mut SessionFile) {
        let spoken = self.fields.get("content");
        let mut all = parts(spoken, &text_part);
        if !self.fields.is("type", "gemini") {
            // A command of the program.
            let is_command =
                spoken.is_some_and(|it| plain(it).trim_start().starts_with(['/', '?']));
            if !all.is_empty() && !is_command {
                file.made(self.line, content("user", &all.join(",")));
            }
            return;
        }
        let results = self.add_calls(&mut all, answered);
        if all.is_empty() {
            return;
        }
        let usage = self.fields.object("tokens").and_then(|tokens| GEMINI_CLI.read(&tokens));
        let model = self.fields.text("model");
        // What the program says in the model's place has neither.
        if model.is_some() || usage.is_some() {
            file.call(self.fields.get("timestamp").and_then(millis), usage);
        }
        if let Some(model) = model {
            file.called(&model);
        }
        file.made(self.line, content("model", &all.join(",")));
        if !results.is_empty() {
            file.made(self.line, content("user", &results.join(",")));
        }
    }

    /// Adds the calls that are no parts of the content. Results that are no messages.
    fn add_calls(&self, all: &mut Vec<String>, answered: &ByName<'_>) -> Vec<String> {
        let (mut asked, mut found) = (ByName::default(), ByName::default());
        for part in &*all {
            note(&mut asked, part, "functionCall.id");
        }
        let mut results = Vec::new();
        for call in self.fields.items("toolCalls").into_iter().map(Object::of) {
            let id = call.get("id").map_or("\"\"", |id| id);
            let name = call.get("name").map_or("\"unknown\"", |name| name);
            let plain_id = text(id).unwrap_or_default();
            if !asked.has(0, &plain_id) {
                let args = call.get("args").filter(|args| is_object(args)).map_or("{}", |it| it);
                all.push(format!(
                    "{{\"functionCall\":{{\"id\":{id},\"name\":{name},\"args\":{args}}}}}"
                ));
            }
            if answered.has(0, &plain_id) {
                continue;
            }
            let of_text = |output: &str| {
                format!(
                    "{{\"functionResponse\":{{\"id\":{id},\"name\":{name},\"response\":{{\"output\":{output}}}}}}}"
                )
            };
            // Of calls that were made together each may hold the results of all.
            let new = |part: &String| !note(&mut found, part, "functionResponse.id");
            results.extend(parts(call.get("result"), &of_text).into_iter().filter(new));
        }
        results
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{json, models, open, open_lines};
    use super::super::{SessionFile, read_session};

    const START: &str = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-01-01T00:00:00.000Z","kind":"main"}"#;
    const ASK: &str = r#"{"id":"u","timestamp":"2026-01-01T00:00:01.000Z","type":"user","content":[{"text":"hi"}]}"#;

    fn user(id: &str, text: &str) -> String {
        format!(r#"{{"id":"{id}","timestamp":"t","type":"user","content":"{text}"}}"#)
    }

    fn model(id: &str, text: &str) -> String {
        format!(r#"{{"id":"{id}","timestamp":"t","type":"gemini","content":"{text}","model":"g"}}"#)
    }

    fn set(messages: &[String]) -> String {
        format!(r#"{{"$set":{{"lastUpdated":"then","messages":[{}]}}}}"#, messages.join(","))
    }

    fn lines(all: &[String]) -> SessionFile {
        open(&format!("{START}\n{}", all.join("\n")))
    }

    /// The texts of its messages.
    fn texts(file: &SessionFile) -> String {
        let text =
            |json: String| json.split("\"text\":\"").nth(1)?.split('"').next().map(str::to_owned);
        json(file).into_iter().filter_map(text).collect::<Vec<_>>().join(" ")
    }

    const CALL: &str = r#"{"id":"m","timestamp":"1970-01-01T00:00:03Z","type":"gemini","content":"I look.","thoughts":[{"subject":"hm","description":"so"}],"model":"gemini-x","tokens":{"input":90,"output":5,"cached":70,"thoughts":2,"tool":0,"total":97},"toolCalls":[{"id":"a","name":"ls","args":{"p":1},"result":[{"functionResponse":{"id":"a","name":"ls","response":{"output":"out"}}}],"status":"success"},{"id":"b","name":"cat","args":{},"result":"text"},{"id":"c","name":"rm","args":{}}]}"#;

    #[test]
    fn a_record_holds_calls_and_their_results() {
        let file = open_lines(&[START, ASK, CALL, r#"{"id":"i","type":"info","content":"note"}"#]);
        assert_eq!(
            json(&file),
            [
                r#"{"role":"user","parts":[{"text":"hi"}]}"#,
                r#"{"role":"model","parts":[{"text":"I look."},{"functionCall":{"id":"a","name":"ls","args":{"p":1}}},{"functionCall":{"id":"b","name":"cat","args":{}}},{"functionCall":{"id":"c","name":"rm","args":{}}}]}"#,
                r#"{"role":"user","parts":[{"functionResponse":{"id":"a","name":"ls","response":{"output":"out"}}},{"functionResponse":{"id":"b","name":"cat","response":{"output":"text"}}}]}"#,
            ]
        );
        assert_eq!((file.format, file.message_format), ("gemini-cli", "gemini"));
        assert_eq!(models(&file), [("gemini-x", 1)]);
        let call = file.calls[0];
        let usage = call.usage.expect("reported");
        assert_eq!((call.sent, call.at), (1, Some(3000)));
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.cache_read_tokens), (90, 7, 70));
        assert_eq!((file.receipt.read, file.receipt.unknown), (4, 0));
    }

    #[test]
    fn a_session_in_one_object_is_read_alike() {
        let lines = open_lines(&[START, ASK, CALL]);
        let start = START.trim_end_matches('}');
        let document = open(&format!("{start},\n\"messages\":[\n{ASK},\n{CALL}]}}"));
        assert_eq!(json(&document), json(&lines));
        assert_eq!((document.format, document.calls), ("gemini-cli", lines.calls));
    }

    #[test]
    fn a_record_replaces_the_one_with_its_id() {
        let file =
            lines(&[user("u", "one"), model("m", "draft"), user("v", "two"), model("m", "done")]);
        assert_eq!(texts(&file), "one done two");
        assert_eq!((file.receipt.repeated, file.calls.len()), (1, 1));
    }

    #[test]
    fn what_the_user_took_back_is_left_out() {
        let back = |id: &str| format!(r#"{{"$rewindTo":"{id}"}}"#);
        let file = lines(&[
            user("u", "one"),
            model("m", "two"),
            user("v", "three"),
            back("m"),
            user("w", "four"),
        ]);
        assert_eq!((texts(&file).as_str(), file.receipt.dead_ends), ("one four", 2));
        let odd = r#"{"$rewindTo":7}"#.to_owned();
        assert_eq!(texts(&lines(&[user("u", "one"), odd, user("v", "two")])), "one two");
        let file = lines(&[user("u", "one"), back("nobody's"), user("u", "two")]);
        assert_eq!((texts(&file).as_str(), file.receipt.dead_ends), ("two", 1));
    }

    #[test]
    fn a_command_of_the_program_is_not_sent() {
        let file =
            lines(&[user("u", "/stats"), user("v", "?"), user("w", "go"), model("m", "/no")]);
        assert_eq!(texts(&file), "go /no");
    }

    #[test]
    fn a_compression_keeps_the_last_messages() {
        let talk: Vec<_> = (0..4)
            .flat_map(|at| {
                [
                    user(&format!("u{at}"), &format!("u{at}")),
                    model(&format!("m{at}"), &format!("m{at}")),
                ]
            })
            .collect();
        let mut kept = vec![user("s", "so far"), model("t", "Got it.")];
        kept.extend_from_slice(&talk[6..]);
        let mut all = talk.clone();
        all.extend([set(&kept), user("v", "more"), model("n", "yes")]);
        let file = lines(&all);
        assert_eq!(texts(&file), "u0 m0 u1 m1 u2 m2 u3 m3 more yes");
        let [fold] = file.compactions.as_slice() else { panic!("one") };
        assert_eq!((fold.at, fold.first_kept_index, fold.call), (8, 6, 4));
        assert_eq!(
            (fold.summary.as_str(), fold.timestamp.as_str(), fold.kept.len()),
            ("so far", "then", 0)
        );
        // The summary is a record of its own before.
        let mut recorded = talk.clone();
        recorded.extend([user("s", "so far"), set(&kept), user("v", "more")]);
        let file = lines(&recorded);
        assert_eq!(texts(&file), "u0 m0 u1 m1 u2 m2 u3 m3 more");
        assert_eq!(file.compactions[0].summary, "so far");
        // Messages in the middle are gone, and the first ones stayed.
        let mut all = talk.clone();
        all.insert(4, user("command", "/stats"));
        all.push(set(&[
            talk[0].clone(),
            talk[1].clone(),
            user("command", "/stats"),
            talk[6].clone(),
            talk[7].clone(),
            user("v", "more"),
        ]));
        let file = lines(&all);
        let fold = &file.compactions[0];
        assert_eq!(
            (texts(&file).as_str(), fold.summary.as_str()),
            ("u0 m0 u1 m1 u2 m2 u3 m3 more", "")
        );
        assert_eq!((fold.first_kept_index, fold.kept.as_slice()), (6, &[[0, 2]][..]));
    }

    #[test]
    fn a_compression_of_all_leaves_a_summary() {
        let front =
            [user("s", "so far"), r#"{"id":"t","type":"gemini","content":"Got it."}"#.into()];
        let next = [user("v", "two"), model("n", "three")];
        let both = [&front[..], &next[..]].concat();
        let start = [user("u", "one"), set(&front)];
        // Later messages come as records, or with a list that begins with the summary again.
        for end in [&[set(&both)][..], &next[..], &[next[0].clone(), set(&both), set(&both)][..]] {
            let file = lines(&[&start[..], end].concat());
            assert_eq!(texts(&file), "one two three");
            let [fold] = file.compactions.as_slice() else { panic!("one") };
            assert_eq!((fold.at, fold.first_kept_index, fold.summary.as_str()), (1, 1, "so far"));
            assert_eq!(file.calls.len(), 1);
        }
        let back = [&start[..], &next[..], &[r#"{"$rewindTo":"s"}"#.into()], &[user("w", "four")]];
        assert_eq!(texts(&lines(&back.concat())), "one four");
        // Folded once more, after which the summary is the first.
        let again = [&start[..], &next[..], &[set(&front)], &[user("w", "four")]].concat();
        let file = lines(&again);
        assert_eq!((texts(&file).as_str(), file.compactions.len()), ("one two three four", 2));
        assert_eq!((file.compactions[1].at, file.compactions[1].summary.as_str()), (3, "so far"));
        // Cleared.
        let file = lines(&[user("u", "one"), set(&[]), user("v", "two")]);
        let fold = &file.compactions[0];
        assert_eq!((texts(&file).as_str(), fold.summary.as_str()), ("one two", ""));
        assert_eq!((fold.at, fold.first_kept_index, fold.kept.len()), (1, 1, 0));
    }

    #[test]
    fn a_file_that_a_tool_read_goes_out_after_its_result() {
        let file = lines(&[
            model("m", "look"),
            r#"{"id":"r","type":"user","content":[{"functionResponse":{"id":"a","response":{}}}]}"#.into(),
            r#"{"id":"t","type":"gemini","content":[{"text":"Binary content received.","thought":true}]}"#.into(),
            r#"{"id":"i","type":"info","content":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}"#.into(),
            r#"{"id":"n","type":"info","content":"note"}"#.into(),
        ]);
        let json = json(&file);
        assert_eq!((json.len(), file.calls.len()), (4, 1));
        assert!(json[3].starts_with(r#"{"role":"user","parts":[{"inlineData""#), "{}", json[3]);
    }

    #[test]
    fn a_history_that_is_set_again_replaces_texts_and_folds_nothing() {
        let file = lines(&[
            user("u", "long"),
            model("m", "two"),
            set(&[
                user("u", "masked"),
                r#"{"id":"i","type":"info","content":"note"}"#.into(),
                model("m", "two"),
                user("v", "three"),
            ]),
            r#"{"$set":{"lastUpdated":"t"}}"#.into(),
        ]);
        assert_eq!((texts(&file).as_str(), file.compactions.len()), ("masked two three", 0));
    }

    #[test]
    fn calls_and_results_that_stand_in_two_records_are_read_once() {
        let call = r#"{"id":"m","timestamp":"t","type":"gemini","content":[{"text":"x"},{"functionCall":{"id":"a","name":"ls","args":{}}}],"toolCalls":[{"id":"a","name":"ls","args":{},"result":[{"functionResponse":{"id":"a","response":{}}}]}]}"#;
        let result = r#"{"id":"r","timestamp":"t","type":"user","content":[{"functionResponse":{"id":"a","response":{"output":"masked"}}}]}"#;
        let file = lines(&[call.into(), result.into()]);
        let json = json(&file);
        assert_eq!((json.len(), json[0].matches("functionCall").count()), (2, 1));
        assert!(json[1].contains("masked"));
        let both = r#"[{"functionResponse":{"id":"a","response":{}}},{"functionResponse":{"id":"b","response":{}}}]"#;
        let calls = format!(
            r#"{{"id":"m","type":"gemini","content":"","toolCalls":[{{"id":"a","name":"x","result":{both}}},{{"id":"b","name":"y","result":{both}}}]}}"#
        );
        assert_eq!(
            super::super::testing::json(&lines(&[calls]))[1].matches("functionResponse").count(),
            2
        );
    }

    #[test]
    fn broken_and_unknown_records_are_counted_apart() {
        let file = lines(&[
            "{".into(),
            r#"{"x":1}"#.into(),
            r#"{"id":"z","type":"new","content":""}"#.into(),
            user("u", ""),
        ]);
        assert_eq!((file.receipt.broken.len(), file.receipt.unknown, file.receipt.read), (2, 1, 2));
        assert_eq!(file.messages.len(), 0);
        assert!(read_session(format!("{START}\n").as_bytes(), Some("x")).is_err());
    }
}
