//! Session files as tables: which member of which record says what. One reader carries them all out.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::chat::Chat;
use super::content::{self, Part, join, parts};
use super::fence::fenced;
use super::file::{CompactionRecord, SessionWindow};
use super::lines::Line;
use super::path::at;
use super::raw::{Fields, inside, is_object, items, quote, text};
use super::time::millis;
use super::usage::Dialect;

/// How the records of one writer are read.
pub(super) struct Script {
    /// What comes before a value, and the path to it: together the kind of a record.
    pub(super) kind: &'static [(&'static str, &'static str)],
    /// When a record was written.
    pub(super) time: &'static str,
    /// Stands in the records of a subagent.
    pub(super) aside: &'static str,
    /// The first that names the kind counts.
    pub(super) rules: &'static [Rule],
}

/// What the records of some kinds say.
pub(super) struct Rule {
    /// Kinds; `*` at the end stands for anything.
    pub(super) kinds: &'static [&'static str],
    /// What such a record must hold; without it the record is broken.
    pub(super) needs: &'static str,
    /// Nothing: such records are known and no context.
    pub(super) acts: &'static [Act],
}

/// Something that a record says. The texts are paths.
pub(super) enum Act {
    /// The system prompt, beside the messages; the last one counts.
    System(&'static str),
    /// The tools.
    Tools(&'static str),
    /// The model's window.
    Window(&'static str),
    /// A model call begins, unless it is the one of this key that is open.
    Step(&'static str),
    /// The same, and what follows is told by the first record of that call alone.
    First(&'static str),
    /// The model says, in the call that is open.
    Say(&'static str),
    /// The model thinks.
    Think(&'static str),
    /// Who of several speaks.
    Speaker(&'static str),
    /// Calls in a list, or the record itself where the list is "".
    Calls { list: &'static str, id: &'static str, name: &'static str, arguments: &'static str },
    /// A result, and a note of the agent to it.
    Result { id: &'static str, content: &'static str, note: &'static str },
    /// A message of this role.
    Hear(&'static str, &'static str),
    /// The model says a text with an action in it, told again beside it or fenced.
    /// Where there are calls too, it is a text and no more.
    Acting { content: &'static str, action: &'static str, calls: &'static str },
    /// The answer to an action, where one is open; else a user's message.
    Reply(&'static str),
    /// What the call cost.
    Cost(&'static str, &'static Dialect),
    /// Everything before was folded.
    Fold {
        summary: &'static str,
        head: &'static str,
        before: &'static str,
        after: &'static str,
        unless: &'static str,
    },
    /// The rest is told by records alone that hold this there.
    Only(&'static str, &'static str),
    /// The rest is told by the results of calls that are known alone.
    Asked(&'static str),
}

/// Reads the records of a writer.
pub(super) struct Reader<'s, 'a> {
    script: &'s Script,
    pub(super) chat: Chat<'a>,
    /// Texts that stand elsewhere, by what stands in their place behind `attachment://`.
    pub(super) attached: Fields<'a>,
    /// The call of an action that has no answer yet.
    acting: Option<String>,
}

impl<'s, 'a> Reader<'s, 'a> {
    pub(super) fn new(script: &'s Script, format: &'static str) -> Self {
        Self { script, chat: Chat::new(format), attached: Fields::default(), acting: None }
    }

    /// Takes in the records in order, and says of each whether it was understood.
    pub(super) fn read(&mut self, lines: &[Line<'a>]) {
        for line in lines {
            self.record(line);
        }
    }

    fn record(&mut self, line: &Line<'a>) {
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
        let Some(rule) =
            self.script.rules.iter().find(|rule| rule.kinds.iter().any(|it| named(&it)))
        else {
            return self.chat.file.receipt.count(&kind, false);
        };
        if !rule.needs.is_empty() && at(&line.fields, rule.needs).is_none() {
            let reason = format!("a record of type \"{kind}\" without {}", rule.needs);
            return self.chat.file.receipt.fail(line.number, reason);
        }
        self.chat.file.receipt.count(&kind, true);
        if at(&line.fields, self.script.aside).is_some() {
            let aside = &mut self.chat.file.receipt.sidechain;
            *aside = aside.saturating_add(1);
            return;
        }
        for act in rule.acts {
            if !self.act(act, line) {
                return;
            }
        }
    }

    fn kind(&self, fields: &Fields<'a>) -> String {
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
    fn act(&mut self, act: &Act, line: &Line<'a>) -> bool {
        let number = line.number;
        let found = |path| at(&line.fields, path);
        match act {
            Act::System(path) => {
                let told = found(path).and_then(text);
                if let Some(system) = told.filter(|system| !system.is_empty()) {
                    self.chat.file.system = Some(system.into_owned());
                }
            }
            Act::Tools(path) => {
                let tools = found(path).map(items).unwrap_or_default();
                if !tools.is_empty() {
                    let tools = tools.into_iter().map(RawValue::to_owned).collect();
                    self.chat.file.tools = Some(tools);
                }
            }
            Act::Window(path) => {
                let tokens = found(path).and_then(|raw| raw.get().parse().ok());
                if let Some(context_tokens) = tokens {
                    let window = SessionWindow { context_tokens, max_output_tokens: None };
                    self.chat.file.window = Some(window);
                }
            }
            Act::Step(key) => drop(self.step(key, line)),
            Act::First(key) => return self.step(key, line),
            Act::Say(path) => {
                if let Some(content) = found(path) {
                    self.chat.say(number, self.told(content));
                }
            }
            Act::Think(path) => {
                if let Some(content) = found(path) {
                    self.chat.think(number, self.told(content));
                }
            }
            Act::Speaker(path) => {
                if let Some(name) = found(path).and_then(text) {
                    let taken = |sign: char| sign.is_whitespace() || "<|\\/>".contains(sign);
                    self.chat.speaker(number, quote(&name.replace(taken, "_")));
                }
            }
            Act::Calls { list, id, name, arguments } => {
                let record = [line.fields.clone()];
                let listed: Vec<Fields<'a>> = match *list {
                    "" => record.into(),
                    list => found(list)
                        .map(items)
                        .unwrap_or_default()
                        .into_iter()
                        .filter(|it| is_object(it))
                        .map(Fields::of)
                        .collect(),
                };
                for (nth, call) in (1_u32..).zip(&listed) {
                    let id = at(call, id).map(named);
                    let id = id.unwrap_or_else(|| format!("\"call-{number}-{nth}\""));
                    let name = at(call, name).filter(|raw| inside(raw).is_some());
                    let name = name.map_or("\"unknown\"", RawValue::get);
                    self.chat.call(number, id, name, &content::arguments(at(call, arguments)));
                }
            }
            Act::Result { id, content, note } => {
                let id = found(id).map_or_else(|| "\"\"".into(), named);
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
                Some(content) => self.chat.say(number, self.told(content)),
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
                self.chat.cost(counts.and_then(|raw| dialect.read(&Fields::of(raw))));
            }
            Act::Fold { unless, .. } if found(unless).is_some() => {}
            Act::Fold { summary, head, before, after, unless: _ } => {
                self.chat.close();
                let told = |path| found(path).and_then(text).unwrap_or_default().into_owned();
                let tokens = |path| found(path).and_then(|raw| raw.get().parse().ok()).unwrap_or(0);
                let file = &mut self.chat.file;
                let mut record = CompactionRecord::at(line, file.len());
                (record.summary, record.head) = (told(summary), told(head));
                (record.tokens_before, record.tokens_after) = (tokens(before), tokens(after));
                file.compactions.push(record);
            }
            Act::Only(path, value) => {
                return found(path).and_then(text).is_some_and(|it| it == *value);
            }
            Act::Asked(id) => return found(id).is_some_and(|id| self.chat.knows(&named(id))),
        }
        true
    }

    fn step(&mut self, key: &str, line: &Line<'a>) -> bool {
        self.acting = None;
        let key = at(&line.fields, key).map(RawValue::get);
        let time = at(&line.fields, self.script.time).and_then(millis);
        self.chat.step(line.number, key, time)
    }

    /// The parts of a content; a text that stands elsewhere is fetched.
    fn told(&self, content: &'a RawValue) -> Vec<Part<'a>> {
        let mut parts = parts(content);
        for part in &mut parts {
            if let Part::Text(Cow::Borrowed(text)) = part
                && let Some(name) = text.strip_prefix("\"attachment://")
                && let Some(whole) = self.attached.get(name.trim_end_matches('"'))
                && inside(whole).is_some()
            {
                *text = whole.get();
            }
        }
        parts
    }

    /// A content, and what the agent added to it.
    fn content(&self, content: Option<&'a RawValue>, note: Option<&'a RawValue>) -> String {
        let mut told = content.map(|raw| self.told(raw)).unwrap_or_default();
        let Some(note) = note else { return join(&told) };
        told.extend(parts(note));
        match told.as_slice() {
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
        let told = action.and_then(text);
        let whole = text(content).unwrap_or_default();
        let Some((said, command)) = fenced(&whole, told.as_deref()) else {
            self.chat.say(number, self.told(content));
            return None;
        };
        self.chat.say(number, vec![Part::Text(quote(&said).into())]);
        let id = format!("\"action-{number}\"");
        let arguments = format!("{{\"command\":{}}}", quote(&command));
        self.chat.call(number, id.clone(), "\"bash\"", &quote(&arguments));
        Some(id)
    }
}

/// An id as the JSON of a string, be it a number in the file.
fn named(raw: &RawValue) -> String {
    if inside(raw).is_some() { raw.get().to_owned() } else { quote(raw.get()) }
}
