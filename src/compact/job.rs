//! A compaction as a state machine: what to ask next, what an answer means, and when it is over.
//!
//! Calls that failed since the last that did not, and calls that are under way, are never more than two together: no progress
//! twice in a row stops the attempts (law 6), also where calls run side by side. Of several summarizers the first call goes alone, so
//! that the next one is asked if it fails. A summarizer that says that its input is too large is asked again with three quarters
//! of it, twice at most; that is no failure.

use std::ops::Range;

use super::flat::Message;
use super::local::extract;
use super::options::Options;
use super::outcome::{Attempt, Done, FROM_CHECKPOINT, Failure, Report};
use super::overflow::text_and_status;
use super::task;
use super::task::{Line, Stage, Task};
use super::verify::{Expect, lost, verify};
use crate::compact::fault::Fault;
use crate::error::Result;
use crate::json::{self, Shape, Type, Value, json, optional};
use crate::text::prefix;

/// Calls without progress, after which a job ends: a gate that no answer passes would otherwise strand the session (F8).
const MOST_STRIKES: u32 = 2;
/// G34: how often an input is made smaller because it was too large.
const MOST_SHRINKS: u32 = 2;
/// Messages of the user by which the language is told.
const MOST_USER_MESSAGES: usize = 20;
/// Characters of an error that are told.
const MOST_DETAIL: usize = 300;
/// G23: between a summary and that of a turn's beginning.
const TURN: &str = "\n\n## Turn Context (split turn)\n\n";

/// One compaction, from its messages to its summary.
pub struct Compaction {
    options: Options,
    messages: Vec<Message>,
    pushed: usize,
    tasks: Vec<Task>,
    /// Summarizers that cannot be reached, or not with this key.
    dead: Vec<usize>,
    /// The one that has answered last: the calls that follow begin with it.
    works: Option<usize>,
    strikes: u32,
    asked: u32,
    attempts: Vec<Attempt>,
    done: Option<Done>,
}

const ANSWER: Shape = Shape {
    what: "an answer",
    members: &[
        optional("text", Type::Raw),
        optional("chars", Type::Integer),
        optional("finishReason", Type::Raw),
        optional("failed", Type::Text),
        optional("detail", Type::Text),
        optional("error", Type::Raw),
        optional("status", Type::Raw),
    ],
    closed: false,
};

impl Compaction {
    /// One with these options (JSON).
    ///
    /// # Errors
    /// `InvalidArgument` with the option's name.
    pub fn new(json: &str) -> Result<Self> {
        let options = Options::parse(json)?;
        // One is always asked.
        let strikes = options.strikes.min(MOST_STRIKES.saturating_sub(1));
        Ok(Self {
            options,
            messages: Vec::new(),
            pushed: 0,
            tasks: Vec::new(),
            dead: Vec::new(),
            works: None,
            strikes,
            asked: 0,
            attempts: Vec::new(),
            done: None,
        })
    }

    /// Takes the next message that goes (JSON); what says nothing is passed over.
    ///
    /// # Errors
    /// `MalformedMessage` with its place among those that were pushed.
    pub fn push(&mut self, json: &str) -> Result<()> {
        let message = Message::parse(json, self.pushed, &self.options)?;
        self.pushed = self.pushed.saturating_add(1);
        let covered = message.index < self.options.checkpoint.covers && !message.kept;
        if !message.text.is_empty() && !covered {
            self.messages.push(message);
        }
        Ok(())
    }

    /// What to do now, as JSON: `{ ask: [{ id, summarizer, job }] }`, `{ wait: true }` or `{ done }`.
    pub fn step(&mut self) -> String {
        if self.tasks.is_empty() && self.done.is_none() {
            self.begin();
        }
        loop {
            if let Some(done) = &self.done {
                return json!({ "done": Report { done, attempts: &self.attempts, strikes: self.strikes } }).to_string();
            }
            let asks = self.start();
            if !asks.is_empty() {
                return json!({ "ask": asks }).to_string();
            }
            if self.under_way() > 0 {
                return json!({ "wait": true }).to_string();
            }
            self.advance();
        }
    }

    /// Takes what came of a call (JSON): `{ text, chars, finishReason }`, without the text if it has more characters than the call allows, or `{ failed, detail, status, error }`. Whatever stands there is an
    /// answer; what comes late changes nothing.
    pub fn answer(&mut self, id: u32, json: &str) {
        let asked = |task: &Task| matches!(task.stage, Stage::Asked(own) if own == id);
        let Some(at) = self.tasks.iter().position(asked) else { return };
        if self.done.is_some() {
            return;
        }
        let mut members = ANSWER.read(json).unwrap_or_default();
        let status = members.raw("status").and_then(|raw| raw.parse().ok());
        if let Some(failed) = members.text("failed") {
            let (message, own) = members.raw("error").map(text_and_status).unwrap_or_default();
            let detail = members.text("detail").unwrap_or_default();
            let (result, failure) = match &*failed {
                "aborted" => ("aborted", Failure::Aborted),
                "timeout" => ("timeout", Failure::Temporary),
                _ => ("threw", Failure::of(&format!("{detail} {message}"), status.or(own))),
            };
            let line = if detail.is_empty() {
                message.lines().next().unwrap_or_default()
            } else {
                &*detail
            };
            let detail = prefix(&self.options.safe(line), MOST_DETAIL).to_owned();
            return self.failed(at, result, detail, failure);
        }
        let chars = members.integer("chars").unwrap_or(0);
        // Before anything else is done with it: to look into megabytes takes seconds.
        if self.tasks.get(at).is_some_and(|task| chars > i64::from(task.answer_chars)) {
            let detail = "it is longer than any summary".into();
            return self.failed(at, Fault::Inflated.name(), detail, Failure::Ineffective);
        }
        let finish = members.raw("finishReason").and_then(|raw| json::string(raw).ok());
        let text = members.raw("text").unwrap_or("null");
        let room = self.room(at);
        let Some(task) = self.tasks.get_mut(at) else { return };
        let (input, _) = task.texts(&self.messages, &self.options);
        let input: Vec<&str> = if matches!(task.input, task::Input::Messages(_)) {
            input.iter().map(AsRef::as_ref).collect()
        } else {
            Vec::new()
        };
        let below = task.below(&self.messages, room, &self.options);
        let checkpoint = task.last && self.options.checkpoint.makes;
        let headings = task.headings(&self.options);
        let expect = Expect { headings, checkpoint, below, input: &input };
        match verify(text, finish.as_deref(), &expect, &self.options) {
            Ok(body) => {
                task.stage = Stage::Answered(body);
                self.works = Some(task.summarizer);
                self.strikes = 0;
                self.tried(at, "ok", String::new());
            }
            Err((fault, why)) => {
                self.failed(at, fault.name(), why.into(), Failure::Ineffective);
            }
        }
    }

    /// Milliseconds that a call may be silent, and that all of it may take, as a list in JSON.
    pub fn deadlines(&self) -> String {
        json!([self.options.silence_ms, self.options.total_ms]).to_string()
    }

    /// Ends it: the host has aborted (`aborted`), or the time for all of it is over (`timeout`).
    pub fn stop(&mut self, why: &str) {
        if self.done.is_some() {
            return;
        }
        let result = if why == "aborted" { "aborted" } else { "timeout" };
        for at in 0..self.tasks.len() {
            if self.tasks.get(at).is_some_and(|task| matches!(task.stage, Stage::Asked(_))) {
                self.tried(at, result, String::new());
            }
        }
        if why == "aborted" {
            self.give_up("aborted".into(), Failure::Aborted);
        } else {
            self.give_up("the time for the compaction is over".into(), Failure::Temporary);
        }
    }

    fn under_way(&self) -> u32 {
        let asked = self.tasks.iter().filter(|task| matches!(task.stage, Stage::Asked(_))).count();
        u32::try_from(asked).unwrap_or(u32::MAX)
    }

    /// The first calls, or the end where there is nothing to ask.
    fn begin(&mut self) {
        if self.messages.iter().all(|message| message.kept) {
            let summary = self.options.previous.as_deref().map(|previous| self.dressed(previous));
            let checkpoint = summary.is_some() && self.options.checkpoint.covers > 0;
            let reason = if checkpoint { FROM_CHECKPOINT } else { "nothing to summarize" };
            return self.end(summary, false, reason.into(), Failure::None);
        }
        if self.options.checkpoint.is_enough
            && let Some(summary) = self.extracted()
        {
            return self.end(Some(summary), false, FROM_CHECKPOINT.into(), Failure::None);
        }
        if self.options.language.is_none() {
            let is_user_text = |it: &&Message| it.role == "user" && !it.words.is_empty();
            let recent = self.messages.iter().rev().filter(is_user_text);
            let mut words = String::new();
            for message in recent.take(MOST_USER_MESSAGES) {
                words.push_str(&message.words);
                words.push('\n');
            }
            self.options.language = super::language::language_of(&words).map(Into::into);
        }
        if self.options.summarizers == 0 {
            return self.give_up("there is no summarizer".into(), Failure::None);
        }
        let (messages, split) = (&self.messages, self.options.split_turn.unwrap_or(i64::MAX));
        let cut = messages.partition_point(|it| it.turn < split);
        let end = messages.partition_point(|it| it.turn <= split);
        for (line, range) in [(Line::History, 0..cut), (Line::Turn, cut..end)] {
            self.add_first(line, range);
        }
    }

    fn add_first(&mut self, line: Line, range: Range<usize>) {
        // Where only a turn's beginning goes, what was summarized before it stays as it is.
        let own = self.messages.get(range.clone()).unwrap_or_default();
        if own.iter().all(|message| message.kept) {
            return;
        }
        match task::first(line, range, &mut self.messages, &self.options) {
            Ok(tasks) => self.tasks.extend(tasks),
            Err(task::NoRoom) => self.no_room(),
        }
    }

    fn no_room(&mut self) {
        let reason =
            format!("a window of {} tokens is too small for a summary", self.options.window);
        self.give_up(reason, Failure::Ineffective);
    }

    /// Calls that may begin now.
    fn start(&mut self) -> Vec<Value> {
        let is_tried = self.options.summarizers == 1 || self.works.is_some();
        let most = if self.options.parallel && is_tried { MOST_STRIKES } else { 1 };
        let mut asks = Vec::new();
        loop {
            let open = self.under_way();
            if open >= most || open.saturating_add(self.strikes) >= MOST_STRIKES {
                return asks;
            }
            let waiting = |task: &&mut Task| matches!(task.stage, Stage::Waiting);
            let Some(task) = self.tasks.iter_mut().find(waiting) else { return asks };
            let first = task.summarizer.max(self.works.unwrap_or_default());
            if let Some(alive) = alive_from(first, self.options.summarizers, &self.dead) {
                task.summarizer = alive;
            }
            self.asked = self.asked.saturating_add(1);
            task.stage = Stage::Asked(self.asked);
            let job = task.job(&self.messages, &self.options);
            task.answer_chars = job.max_output_chars;
            asks.push(json!({ "id": self.asked, "summarizer": task.summarizer, "job": job }));
        }
    }

    /// Nothing is under way: what was told is merged, or it is done.
    fn advance(&mut self) {
        for line in [Line::History, Line::Turn] {
            let answered: Vec<usize> =
                (0..self.tasks.len()).filter(|at| self.is_part(*at, line)).collect();
            if answered.is_empty() {
                continue;
            }
            let texts = answered
                .iter()
                .filter_map(|at| self.tasks.get(*at)?.body())
                .map(Into::into)
                .collect();
            let Ok((merges, taken)) = task::merges(line, texts, &self.options) else {
                return self.no_room();
            };
            for at in answered.iter().take(taken) {
                if let Some(task) = self.tasks.get_mut(*at) {
                    task.stage = Stage::Merged;
                }
            }
            // Those that are left stand after the new ones: they were the last.
            let mut left: Vec<Task> = Vec::new();
            for at in answered.iter().skip(taken).rev() {
                left.push(self.tasks.remove(*at));
            }
            self.tasks.extend(merges);
            self.tasks.extend(left.into_iter().rev());
            return;
        }
        let body_of = |line| {
            self.tasks.iter().find(|task| task.line == line && task.last).and_then(Task::body)
        };
        let history = body_of(Line::History).or(self.options.previous.as_deref());
        let body = match (history, body_of(Line::Turn)) {
            (Some(history), Some(turn)) => [history, TURN, turn].concat(),
            (Some(only), None) | (None, Some(only)) => only.to_owned(),
            (None, None) => String::new(),
        };
        let summary = self.dressed(&body);
        if self.options.tokens(&summary) >= self.options.room {
            return self.give_up(
                "the summary is not smaller than what it replaces".into(),
                Failure::Ineffective,
            );
        }
        self.end(Some(summary), false, "summarized".into(), Failure::None);
    }

    fn is_part(&self, at: usize, line: Line) -> bool {
        self.tasks
            .get(at)
            .is_some_and(|task| task.line == line && !task.last && task.body().is_some())
    }

    /// A call has failed: another summarizer, a smaller input, the same with a complaint, or the end (F108).
    fn failed(&mut self, at: usize, result: &'static str, detail: String, failure: Failure) {
        let reason =
            if detail.is_empty() { result.to_owned() } else { format!("{result}: {detail}") };
        let complaint = (failure == Failure::Ineffective).then(|| detail.clone());
        // With less to tell of, an answer ends before its limit.
        let shrinks =
            complaint.is_none() || [Fault::Cut, Fault::Inflated].map(Fault::name).contains(&result);
        self.tried(at, result, detail);
        let count = self.options.summarizers;
        let Some(task) = self.tasks.get_mut(at) else { return };
        task.attempt = task.attempt.saturating_add(1);
        task.complaint = complaint;
        task.stage = Stage::Waiting;
        if failure == Failure::Aborted {
            return self.give_up("aborted".into(), failure);
        }
        if failure == Failure::TooLarge
            && task.shrunk < MOST_SHRINKS
            && task.shrink(&self.messages, &self.options)
        {
            return;
        }
        self.strikes = self.strikes.saturating_add(1);
        if matches!(failure, Failure::Auth | Failure::Network)
            && !self.dead.contains(&task.summarizer)
        {
            self.dead.push(task.summarizer);
        }
        let next = alive_from(task.summarizer.saturating_add(1), count, &self.dead);
        let none_left = alive_from(0, count, &self.dead).is_none();
        if self.strikes >= MOST_STRIKES || none_left {
            return self.give_up(reason, failure);
        }
        match next {
            Some(next) => task.summarizer = next,
            // What was no summary is asked for again, with what was wrong; what failed, with less.
            None if shrinks => {
                task.shrink(&self.messages, &self.options);
            }
            None => {}
        }
    }

    fn tried(&mut self, at: usize, result: &'static str, detail: String) {
        let Some(task) = self.tasks.get(at) else { return };
        let detail = Some(detail).filter(|detail| !detail.is_empty());
        self.attempts.push(Attempt {
            kind: task.kind.name(),
            summarizer: task.summarizer,
            result,
            detail,
        });
    }

    /// No summarizer helps: an extract, if one may stand in; an abort leaves everything as it is.
    fn give_up(&mut self, reason: String, failure: Failure) {
        let may = self.options.degrade && failure != Failure::Aborted;
        let summary = if may { self.extracted() } else { None };
        let degraded = summary.is_some();
        // Of a checkpoint nothing depends.
        let checkpoint = self.options.checkpoint.makes && failure == Failure::Ineffective;
        self.end(summary, degraded, reason, if checkpoint { Failure::Temporary } else { failure });
    }

    /// What can be told without a summarizer.
    fn extracted(&self) -> Option<String> {
        let parts: Vec<&str> = self.tasks.iter().filter_map(Task::body).collect();
        let below = self.options.room.saturating_sub(self.options.tokens(&self.dressed("")));
        extract(&self.messages, &parts, below, &self.options)
            .map(|text| self.dressed(&text))
            .filter(|text| self.options.tokens(text) < self.options.room)
    }

    fn end(&mut self, summary: Option<String>, degraded: bool, reason: String, failure: Failure) {
        let facts = self.options.pins.iter().chain(&self.options.identifiers);
        let lost = summary.as_deref().map_or_else(Vec::new, |summary| lost(summary, facts));
        self.done = Some(Done { summary, degraded, reason, lost, failure });
    }

    /// With what its family, or the host, puts around it (F098, F100).
    fn dressed(&self, body: &str) -> String {
        if self.options.checkpoint.makes {
            return body.to_owned();
        }
        let (before, after) = self.options.template.around();
        match &self.options.prefix {
            Some(prefix) => [prefix, "\n", body, after].concat(),
            None => [before, body, after].concat(),
        }
    }

    /// Tokens that the answer to a line's last call has.
    fn room(&self, at: usize) -> u32 {
        let around = self.options.tokens(&self.dressed(TURN));
        let room = self.options.room.saturating_sub(around);
        let third = room / 3;
        let has = |line| self.tasks.iter().any(|task| task.line == line);
        match self.tasks.get(at).map(|task| task.line) {
            Some(Line::Turn) if has(Line::History) || self.options.previous.is_some() => third,
            Some(Line::History) if has(Line::Turn) => room.saturating_sub(third),
            _ => room,
        }
    }
}

/// The first summarizer from there on that can be reached.
fn alive_from(from: usize, count: usize, dead: &[usize]) -> Option<usize> {
    (from..count).find(|at| !dead.contains(at))
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
