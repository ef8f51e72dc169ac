//! Reads the records of a writer by its table, and puts what they say together.

use std::borrow::Cow;

use litemap::LiteMap;

use super::chat::Chat;
use super::content::{self, Part, join, parts};
use super::fence::fenced;
use super::file::{CompactionRecord, SessionWindow};
use super::forgotten::View;
use super::lines::Line;
use super::path::at;
use super::raw::{Object, RawValue, inside, is_object, items, quote, text, unsigned};
use super::script::{Act, Script};
use super::time::millis;

/// Reads the records of a writer.
pub(super) struct Reader<'s, 'a> {
    script: &'s Script,
    pub(super) chat: Chat<'a>,
    /// Texts that stand elsewhere, by what stands in their place after `attachment://`.
    pub(super) attached: Object<'a>,
    /// The call of an action that has no answer yet.
    acting: Option<String>,
    /// Calls by the actions that make them.
    calls_of_actions: LiteMap<String, String>,
    /// The call that the record is a result of.
    asked: Option<String>,
    /// How many messages the next fold removes, if that is known before it.
    fold_end: Option<u32>,
    /// Messages that are left of those before the last fold.
    view: View<'a>,
}

impl<'s, 'a> Reader<'s, 'a> {
    pub(super) fn new(script: &'s Script, format: &'static str) -> Self {
        Self {
            script,
            chat: Chat::new(format),
            attached: Object::default(),
            acting: None,
            calls_of_actions: LiteMap::new(),
            asked: None,
            fold_end: None,
            view: View::default(),
        }
    }

    /// Takes in the records in order, and says of each whether it was understood. Those of turns that the user took back are left out.
    pub(super) fn read(&mut self, lines: &[Line<'a>], undone: &[bool]) {
        for (at, line) in lines.iter().enumerate() {
            let before = lines.get(..at).unwrap_or_default();
            self.record(line, before, undone.get(at) == Some(&true));
        }
    }

    #[inline(never)]
    fn record(&mut self, line: &Line<'a>, before: &[Line<'a>], is_undone: bool) {
        let kind = self.kind(&line.fields);
        if let Some(fault) = &line.fault {
            return self.chat.file.receipt.fail(line.number, fault.as_str());
        }
        if kind.is_empty() {
            return self.chat.file.receipt.fail(line.number, "a record without its type");
        }
        let named = |known: &&str| match known.strip_suffix('*') {
            Some(start) => kind.starts_with(start),
            None => kind == **known,
        };
        let Some(rule) = self.script.rules.iter().find(|rule| rule.kinds.iter().any(&named)) else {
            return self.chat.file.receipt.count(&kind, false);
        };
        if !rule.needs.is_empty() && at(&line.fields, rule.needs).is_none() {
            let reason = format!("a record of type \"{kind}\" without {}", rule.needs);
            return self.chat.file.receipt.fail(line.number, reason);
        }
        if let Some(Act::Asked { call, cause }) = rule.acts.first() {
            match self.call_of(&line.fields, call, cause) {
                Ok(call) => self.asked = call,
                Err(fault) => return self.chat.file.receipt.fail(line.number, fault),
            }
        }
        self.chat.file.receipt.count(&kind, true);
        if is_undone {
            let dead_ends = &mut self.chat.file.receipt.dead_ends;
            *dead_ends = dead_ends.saturating_add(1);
            return;
        }
        if !rule.acts.is_empty() && at(&line.fields, self.script.aside).is_some() {
            let aside = &mut self.chat.file.receipt.sidechain;
            *aside = aside.saturating_add(1);
            return;
        }
        for act in rule.acts {
            if !self.act(act, line, before) {
                return;
            }
        }
    }

    /// The call that a record is a result of; none if the action that it names is not the model's.
    fn call_of(
        &self,
        fields: &Object<'a>,
        call: &str,
        cause: &str,
    ) -> Result<Option<String>, &'static str> {
        let is_known = |id: &String| self.chat.knows(id);
        let named_call = at(fields, call).map(named).filter(is_known);
        if named_call.is_some() {
            return Ok(named_call);
        }
        let cause = at(fields, cause).map(named).unwrap_or_default();
        let known = self
            .calls_of_actions
            .get(&cause)
            .ok_or("a result of a call that the file does not hold")?;
        Ok(Some(known.clone()).filter(is_known))
    }

    fn kind(&self, fields: &Object<'a>) -> String {
        let mut kind = String::new();
        for (before, path) in self.script.kind {
            if let Some(value) = at(fields, path).and_then(text) {
                kind.push_str(before);
                kind.push_str(&value);
            }
        }
        kind
    }

    /// False: the rest of the acts is not for this record.
    fn act(&mut self, act: &Act, line: &Line<'a>, before: &[Line<'a>]) -> bool {
        let number = line.number;
        let found = |path| at(&line.fields, path);
        match act {
            Act::System(_) | Act::Tools(_) | Act::Window(_) => self.beside(act, line),
            Act::Model(path) => {
                if let Some(model) = found(path).and_then(text) {
                    self.chat.model = model;
                }
            }
            Act::Step(key) => drop(self.step(key, line)),
            Act::GoesOn if self.chat.is_answered() => drop(self.step("", line)),
            Act::GoesOn => {}
            Act::First(key) => return self.step(key, line),
            Act::Say(path) => {
                if let Some(content) = found(path) {
                    self.chat.say(number, self.parts_of(content));
                }
            }
            Act::Think(path) => {
                if let Some(content) = found(path) {
                    self.chat.think(number, self.parts_of(content));
                }
            }
            Act::Speaker(path) => {
                if let Some(name) = found(path).and_then(text) {
                    let taken = |sign: char| sign.is_whitespace() || "<|\\/>".contains(sign);
                    self.chat.speaker(number, quote(&name.replace(taken, "_")));
                }
            }
            Act::Calls { list, id, name, arguments } => {
                self.calls(line, list, [*id, *name, *arguments]);
            }
            Act::Items(path) => self.items(line, path),
            Act::Result { id, content, note } => {
                let asked = self.asked.take().filter(|_| id.is_empty());
                let id = asked.or_else(|| found(id).map(named)).unwrap_or_else(|| "\"\"".into());
                let content = self.content(found(content), found(note));
                self.chat.result(number, &id, &content);
            }
            Act::Hear(role, path) => {
                let content = self.content(found(path), None);
                self.acting = None;
                self.chat.hear(number, role, &content);
            }
            Act::Acting { content, action, calls } => match found(content) {
                Some(content) if found(calls).is_none_or(|calls| items(calls).is_empty()) => {
                    self.acting = self.action(number, content, found(action));
                }
                Some(content) => self.chat.say(number, self.parts_of(content)),
                None => {}
            },
            Act::Reply(path) => {
                let content = self.content(found(path), None);
                match self.acting.take() {
                    Some(id) => self.chat.result(number, &id, &content),
                    None => self.chat.hear(number, "user", &content),
                }
            }
            Act::Cost(path, dialect) => {
                let counts = found(path).filter(|raw| is_object(raw));
                self.chat.cost(counts.and_then(|raw| dialect.read(&Object::of(raw))));
            }
            Act::Fold { unless, .. } if found(unless).is_some() => self.fold_end = None,
            Act::Fold { summary, head, before, after, unless: _ } => {
                self.fold(line, [*summary, *head], [*before, *after]);
            }
            Act::FoldEnd => {
                self.chat.close();
                self.fold_end = Some(self.chat.file.len());
            }
            Act::Forget { ids, first, last } => {
                let ids = found(ids).map(items).unwrap_or_default();
                let number = |path| found(path).and_then(unsigned);
                self.view.extend(&self.chat.lines, before, "id");
                if let Some(record) = self.chat.file.compactions.last_mut() {
                    self.view.forget(&ids, number(first).zip(number(last)), record);
                }
            }
            Act::Keep { there, this, count } => {
                self.view.extend(&self.chat.lines, before, there);
                let count = found(count).and_then(unsigned).unwrap_or(0);
                let count = usize::try_from(count).unwrap_or(usize::MAX).min(self.view.len());
                if let Some(record) = self.chat.file.compactions.last_mut() {
                    self.view.keep(&vec![*this; count], record);
                }
            }
            Act::Only(path, value) => {
                return found(path).and_then(text).is_some_and(|it| it == *value);
            }
            Act::Action { id, call } => {
                if let (Some(id), Some(call)) = (found(id), found(call)) {
                    self.calls_of_actions.insert(named(id), named(call));
                }
            }
            Act::Asked { .. } => return self.asked.is_some(),
        }
        true
    }

    /// What stands beside the messages; the last one counts.
    fn beside(&mut self, act: &Act, line: &Line<'a>) {
        let file = &mut self.chat.file;
        if let Act::System(path) = act
            && let Some(system) = at(&line.fields, path).and_then(text)
            && !system.is_empty()
        {
            file.system = Some(system.into_owned());
        } else if let Act::Tools(path) = act {
            file.take_tools(at(&line.fields, path));
        } else if let Act::Window(path) = act
            && let Some(context_tokens) = at(&line.fields, path).and_then(unsigned)
        {
            file.window = Some(SessionWindow { context_tokens, max_output_tokens: None });
        }
    }

    fn calls(&mut self, line: &Line<'a>, list: &str, [id, name, arguments]: [&str; 3]) {
        let listed: Vec<Object<'a>> = if list.is_empty() {
            vec![line.fields.clone()]
        } else {
            let listed = at(&line.fields, list).map(items).unwrap_or_default();
            listed.into_iter().filter(|call| is_object(call)).map(Object::of).collect()
        };
        for (nth, call) in (1_u32..).zip(&listed) {
            self.call(line.number, nth, call, [id, name, arguments]);
        }
    }

    fn call(&mut self, line: u32, nth: u32, call: &Object<'a>, [id, name, arguments]: [&str; 3]) {
        let id = at(call, id).map_or_else(|| format!("\"call-{line}-{nth}\""), named);
        let name = at(call, name).filter(|raw| inside(raw).is_some()).unwrap_or("\"unknown\"");
        let arguments = content::arguments(at(call, arguments));
        self.chat.call(line, id, name, &arguments);
    }

    fn items(&mut self, line: &Line<'a>, list: &str) {
        let listed = at(&line.fields, list).map(items).unwrap_or_default();
        for (nth, item) in (1_u32..).zip(listed.into_iter().filter(|item| is_object(item))) {
            let item = Object::of(item);
            let parts = |name| item.get(name).map(parts).unwrap_or_default();
            match item.text("type").as_deref() {
                Some("message") => self.chat.say(line.number, parts("content")),
                Some("reasoning") => self.chat.think(line.number, parts("summary")),
                Some("function_call") => {
                    self.call(line.number, nth, &item, ["call_id", "name", "arguments"]);
                }
                _ => {}
            }
        }
    }

    fn fold(&mut self, line: &Line<'a>, texts: [&str; 2], tokens: [&str; 2]) {
        self.chat.close();
        let [summary, head] = texts.map(|path| at(&line.fields, path).and_then(text));
        let [before, after] = tokens.map(|path| at(&line.fields, path).and_then(unsigned));
        let all = self.chat.file.len();
        let mut record = CompactionRecord::at(line, self.fold_end.take().unwrap_or(all));
        record.at = all;
        record.summary = summary.unwrap_or_default().into_owned();
        record.head = head.unwrap_or_default().into_owned();
        (record.tokens_before, record.tokens_after) = (before.unwrap_or(0), after.unwrap_or(0));
        self.chat.file.compactions.push(record);
    }

    fn step(&mut self, key: &str, line: &Line<'a>) -> bool {
        self.acting = None;
        let key = at(&line.fields, key);
        let time = at(&line.fields, self.script.time).and_then(millis);
        self.chat.step(line.number, key, time)
    }

    /// The parts of a content; a text that stands elsewhere is fetched.
    fn parts_of(&self, content: &'a RawValue) -> Vec<Part<'a>> {
        let mut parts = parts(content);
        for part in &mut parts {
            if let Part::Text(Cow::Borrowed(text)) = part
                && let Some(name) = text.strip_prefix("\"attachment://")
                && let Some(file_text) = self.attached.get(name.trim_end_matches('"'))
                && inside(file_text).is_some()
            {
                *text = file_text;
            }
        }
        parts
    }

    /// A content, and what the agent added to it.
    fn content(&self, content: Option<&'a RawValue>, note: Option<&'a RawValue>) -> String {
        let mut all = content.map(|raw| self.parts_of(raw)).unwrap_or_default();
        let Some(note) = note else { return join(&all) };
        all.extend(parts(note));
        match all.as_slice() {
            [Part::Text(text), Part::Text(note)] => {
                let (text, note) = (text.strip_suffix('"'), note.strip_prefix('"'));
                [text.unwrap_or_default(), "\\n", note.unwrap_or_default()].concat()
            }
            parts => join(parts),
        }
    }

    /// Tells text and action apart; the id of the action's call, if there is one.
    fn action(
        &mut self,
        number: u32,
        content: &'a RawValue,
        action: Option<&RawValue>,
    ) -> Option<String> {
        let known_action = action.and_then(text);
        let full = text(content).unwrap_or_default();
        let Some((thought, command)) = fenced(&full, known_action.as_deref()) else {
            self.chat.say(number, self.parts_of(content));
            return None;
        };
        self.chat.say(number, vec![Part::Text(quote(&thought).into())]);
        let id = format!("\"action-{number}\"");
        let arguments = format!("{{\"command\":{}}}", quote(&command));
        self.chat.call(number, id.clone(), "\"bash\"", &quote(&arguments));
        Some(id)
    }
}

/// An id as the JSON of a string, be it a number in the file.
fn named(raw: &RawValue) -> String {
    if inside(raw).is_some() { raw.to_owned() } else { quote(raw) }
}
