//! A conversation told in pieces, put together as `OpenAI` chat messages.
//!
//! What the model said in one call is one message, wherever its pieces stand; results follow their call, and what the user said
//! while calls were running follows the results, as the API had it.

use std::borrow::Cow;

use super::content::{Part, call, join};
use super::file::{SessionFile, Usage};
use crate::hash_index::ByName;

/// The scope of all calls.
const EVER: usize = usize::MAX;

/// A conversation that is being told.
pub(super) struct Chat<'a> {
    pub(super) file: SessionFile,
    /// For each message the line that it begins with.
    pub(super) lines: Vec<u32>,
    /// The model in use; empty: none was named.
    pub(super) model: Cow<'a, str>,
    open: Option<Answer<'a>>,
    /// Calls by the number of their model call.
    known: ByName<'a>,
    steps: usize,
}

/// An assistant message that is still growing, and what comes after it.
#[derive(Default)]
struct Answer<'a> {
    line: u32,
    key: Option<&'a str>,
    at: Option<i64>,
    usage: Option<Usage>,
    name: Option<String>,
    texts: Vec<Part<'a>>,
    thought: Vec<&'a str>,
    calls: Vec<String>,
    waiting: usize,
    results: Vec<(u32, String)>,
    later: Vec<(u32, String)>,
}

impl<'a> Chat<'a> {
    pub(super) fn new(format: &'static str) -> Self {
        Self {
            file: SessionFile::new(format, "openai-chat"),
            lines: Vec::new(),
            model: Cow::default(),
            open: None,
            known: ByName::default(),
            steps: 0,
        }
    }

    /// A model call begins, unless it is the one with this key that is open; true: it does.
    pub(super) fn step(&mut self, line: u32, key: Option<&'a str>, at: Option<i64>) -> bool {
        let same = key.is_some() && self.open.as_ref().is_some_and(|open| open.key == key);
        if !same {
            self.close();
            self.open = Some(Answer { line, key, at, ..Answer::default() });
        }
        !same
    }

    /// All that the open call asked for was answered, or none is open.
    pub(super) fn is_answered(&self) -> bool {
        self.open.as_ref().is_none_or(|open| open.waiting == 0 && !open.results.is_empty())
    }

    /// The open call has asked for this id (JSON) already.
    pub(super) fn has_asked(&self, id: &str) -> bool {
        self.known.has(self.steps, id)
    }

    fn answer(&mut self, line: u32) -> &mut Answer<'a> {
        self.open.get_or_insert_with(|| Answer { line, ..Answer::default() })
    }

    /// The model says this.
    pub(super) fn say(&mut self, line: u32, content: Vec<Part<'a>>) {
        let open = self.answer(line);
        for part in content {
            match part {
                Part::Thought(text) => open.thought.extend(unquoted(text)),
                part @ (Part::Text(_) | Part::Other(_)) => open.texts.push(part),
            }
        }
    }

    /// The model thinks this.
    pub(super) fn think(&mut self, line: u32, content: Vec<Part<'a>>) {
        let open = self.answer(line);
        for part in content {
            let text = match part {
                Part::Text(Cow::Borrowed(text)) | Part::Thought(text) => text,
                Part::Text(Cow::Owned(_)) | Part::Other(_) => continue,
            };
            open.thought.extend(unquoted(text).filter(|text| !text.is_empty()));
        }
    }

    /// Who speaks, where several do.
    pub(super) fn speaker(&mut self, line: u32, name: String) {
        self.answer(line).name = Some(name);
    }

    /// The model calls a tool; id, name and arguments are JSON. A call that is told twice is one.
    pub(super) fn call(&mut self, line: u32, id: String, name: &str, arguments: &str) {
        let json = call(&id, name, arguments);
        self.known.insert(EVER, id.clone(), 0);
        if self.known.insert(self.steps, id, 0).is_none() {
            let open = self.answer(line);
            open.calls.push(json);
            open.waiting = open.waiting.saturating_add(1);
        }
    }

    /// A tool answers; id and content are JSON.
    pub(super) fn result(&mut self, line: u32, id: &str, content: &str) {
        let json = format!("{{\"role\":\"tool\",\"tool_call_id\":{id},\"content\":{content}}}");
        match &mut self.open {
            Some(open) => {
                let asked = self.known.has(self.steps, id);
                open.waiting = open.waiting.saturating_sub(usize::from(asked));
                open.results.push((line, json));
            }
            None => self.made(line, json),
        }
    }

    /// Someone else says this.
    pub(super) fn hear(&mut self, line: u32, role: &str, content: &str) {
        let json = format!("{{\"role\":\"{role}\",\"content\":{content}}}");
        match &mut self.open {
            Some(open) if open.waiting > 0 => open.later.push((line, json)),
            // Nothing was answered yet: it is what the answer will be to.
            Some(open) if open.is_silent() => self.made(line, json),
            _ => {
                self.close();
                self.made(line, json);
            }
        }
    }

    /// What the open call, or the last, was reported to have cost.
    pub(super) fn cost(&mut self, usage: Option<Usage>) {
        let Some(usage) = usage else { return };
        match (&mut self.open, self.file.calls.last_mut()) {
            (Some(open), _) => open.usage = Some(usage),
            (None, Some(call)) => call.usage = Some(usage),
            (None, None) => {}
        }
    }

    /// The same, where nothing was reported yet.
    pub(super) fn cost_if_none(&mut self, usage: Option<Usage>) {
        let open = self.open.as_ref().map(|open| open.usage);
        let known = open.or_else(|| self.file.calls.last().map(|call| call.usage)).flatten();
        self.cost(usage.filter(|_| known.is_none()));
    }

    /// When the open call was made.
    pub(super) fn date(&mut self, at: Option<i64>) {
        if let Some(open) = &mut self.open {
            open.at = at.or(open.at);
        }
    }

    /// A call of this id was told before.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.known.has(EVER, id)
    }

    /// The open call is over. One that was ended before the model said anything is none.
    pub(super) fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        self.steps = self.steps.saturating_add(1);
        if !open.is_silent() {
            self.file.call(open.at, open.usage);
            if !self.model.is_empty() {
                self.file.called(&self.model);
            }
            self.made(open.line, open.json());
        }
        for (line, json) in open.results.into_iter().chain(open.later) {
            self.made(line, json);
        }
    }

    /// Adds a message; one that is no JSON is none.
    fn made(&mut self, line: u32, json: String) {
        self.file.made(line, json);
        self.lines.resize(self.file.messages.len(), line);
    }

    /// All was told.
    pub(super) fn finish(mut self) -> SessionFile {
        self.close();
        self.file.finish()
    }
}

impl Answer<'_> {
    fn is_silent(&self) -> bool {
        self.texts.is_empty() && self.thought.is_empty() && self.calls.is_empty()
    }

    fn json(&self) -> String {
        let mut json = String::from("{\"role\":\"assistant\"");
        if let Some(name) = &self.name {
            json.extend([",\"name\":", name]);
        }
        if !self.thought.is_empty() {
            json.extend([",\"reasoning_content\":\"", &self.thought.join("\\n\\n"), "\""]);
        }
        let silent = |part: &Part<'_>| matches!(part, Part::Text(text) if text == "\"\"");
        let content = match (self.texts.iter().all(silent), self.calls.is_empty()) {
            (true, false) => "null".into(),
            (true, true) => "\"\"".into(),
            (false, _) => join(&self.texts),
        };
        json.extend([",\"content\":", &content]);
        if !self.calls.is_empty() {
            json.extend([",\"tool_calls\":[", &self.calls.join(","), "]"]);
        }
        json.push('}');
        json
    }
}

/// The text between a string's quotes.
fn unquoted(json: &str) -> Option<&str> {
    json.strip_prefix('"')?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::super::raw::RawValue;
    use super::super::testing::json;
    use super::*;

    fn part(json: &str) -> Vec<Part<'_>> {
        let raw: &RawValue = crate::json::parse(json).expect("JSON");
        super::super::content::parts(raw)
    }

    fn messages_of(chat: Chat<'_>) -> Vec<String> {
        json(&chat.finish())
    }

    #[test]
    fn results_follow_their_calls_and_others_wait_for_them() {
        let mut chat = Chat::new("test");
        chat.step(1, Some("k"), None);
        chat.hear(2, "user", "\"before the answer\"");
        assert!(!chat.step(3, Some("k"), None));
        for id in ["\"a\"", "\"b\"", "\"a\""] {
            chat.call(3, id.into(), "\"f\"", "\"{}\"");
        }
        chat.result(4, "\"a\"", "\"1\"");
        chat.hear(5, "user", "\"meanwhile\"");
        chat.say(6, part(r#""late text""#));
        chat.result(7, "\"b\"", "\"2\"");
        chat.hear(8, "user", "\"next\"");
        let messages = messages_of(chat);
        assert_eq!(messages[0], r#"{"role":"user","content":"before the answer"}"#);
        assert!(
            messages[1].contains("late text")
                && messages[1].matches("\"function\"").count() == 2 * 2
        );
        assert_eq!(messages[2], r#"{"role":"tool","tool_call_id":"a","content":"1"}"#);
        assert_eq!(messages[3], r#"{"role":"tool","tool_call_id":"b","content":"2"}"#);
        assert_eq!(
            messages[4..],
            [r#"{"role":"user","content":"meanwhile"}"#, r#"{"role":"user","content":"next"}"#]
        );
    }

    #[test]
    fn a_step_without_an_answer_is_no_call() {
        let mut chat = Chat::new("test");
        chat.step(1, None, Some(5));
        chat.step(2, None, Some(6));
        chat.say(2, part(r#""""#));
        let file = chat.finish();
        assert_eq!((file.calls.len(), file.calls[0].at, file.messages.len()), (1, Some(6), 1));
        assert_eq!(json(&file)[0], r#"{"role":"assistant","content":""}"#);
    }
}
