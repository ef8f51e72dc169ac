//! Claude Code sessions, as the messages that the API saw.
//!
//! Claude Code writes a line for each content block, and one for each result. Here the lines of one assistant message are one
//! message, wherever they stand, and what follows it until the next is ONE user message: results of its calls first, then
//! what the user said, also while the model worked. Lines marked `isMeta` (skills, caveats) are sent to the model and so are
//! kept; summaries of compactions and messages about API errors are not part of the conversation. Newer files hold the texts that were
//! sent for attachments (reminders, skills, files), the system prompt and the tools; what is attached again after a compaction is part
//! of what stands for the older messages. In older ones attachments other than prompts are left out.

use std::borrow::Cow;
use std::mem;

use crate::json::RawValue;

use super::blocks::{message, pieces, plain};
use super::claude_branch::{branch, is_message, is_queued};
use super::file::{CompactionRecord, SessionFile, Usage};
use super::lines::Line;
use super::path::at;
use super::raw::{Object, inside, is_object, items, text};
use super::time::millis;
use super::usage;
use crate::error::Error;
use crate::hash_index::ByName;

const KNOWN: [&str; 23] = [
    "user",
    "assistant",
    "system",
    "progress",
    "summary",
    "file-history-snapshot",
    "queue-operation",
    "attachment",
    "pr-link",
    "custom-title",
    "ai-title",
    "agent-name",
    "last-prompt",
    "permission-mode",
    "mode",
    "tag",
    "api-request",
    "api-request-blob",
    "atis-latch",
    "cost-state",
    "tools-used",
    SHAPE,
    REPLACEMENT,
];

/// A line with the system prompt and the tools of the requests that follow.
const SHAPE: &str = "api-request-shape";

/// A line with texts that were sent in place of long results, from their first request on.
const REPLACEMENT: &str = "content-replacement";

/// Reads the conversation that ends at the line with the uuid `leaf`, or at the newest.
#[inline(never)]
pub(super) fn read(lines: &[Line<'_>], leaf: Option<&str>) -> Result<SessionFile, Error> {
    let mut file = SessionFile::new("claude-code", "anthropic");
    let main = main_lines(lines);
    let branch = branch(lines, &main, leaf, false)?;
    file.receipt.leaf = branch.leaf;
    file.receipt.branches = branch.leaves;
    file.receipt.bridged = branch.bridged;
    let mut talk = Talk::default();
    for ((line, is_main), live) in lines.iter().zip(main).zip(branch.live) {
        let fields = &line.fields;
        if let Some(reason) = fault(line) {
            file.receipt.fail(line.number, reason);
            continue;
        }
        let kind = fields.text("type").unwrap_or_default();
        file.receipt.count(&kind, KNOWN.contains(&&*kind));
        if kind == REPLACEMENT {
            talk.replace(fields);
        }
        let counter = match (is_main, live) {
            (true, true) if !talk.hear(line) => &mut file.receipt.repeated,
            (true, true) => {
                let what = at(fields, "attachment.type").and_then(text);
                let is_left_out = !is_message(fields) && rendered(fields).is_empty();
                let Some(what) = what.filter(|_| is_left_out) else { continue };
                file.receipt.note(&format!("attachment/{what}"));
                &mut file.receipt.attachments
            }
            (false, _) => &mut file.receipt.sidechain,
            (true, false) if is_message(fields) => &mut file.receipt.dead_ends,
            (true, false) => continue,
        };
        *counter = counter.saturating_add(1);
    }
    talk.finish(&mut file);
    take_prompt(lines, &mut file);
    Ok(file.finish())
}

/// Takes the system prompt and the tools of the first request, or those that are noted for the next process.
fn take_prompt(lines: &[Line<'_>], file: &mut SessionFile) {
    let find = |path: &str| lines.iter().find_map(|line| at(&line.fields, path));
    for [system, tools] in
        [["shape.system", "shape.tools"], ["attachment.systemPrompt", "attachment.tools"]]
    {
        if file.system.is_none() {
            file.system = find(system).map(|system| plain(Some(system)));
        }
        if file.tools.is_none() {
            file.take_tools(find(tools));
        }
    }
}

/// The texts that were sent for an attachment; none in older files.
fn rendered<'a>(fields: &Object<'a>) -> Vec<&'a RawValue> {
    let texts = fields.items("rendered").into_iter().map(Object::of);
    texts.filter_map(|text| text.get("content")).filter(|text| inside(text).is_some()).collect()
}

fn fault(line: &Line<'_>) -> Option<String> {
    if line.fault.is_some() || !is_message(&line.fields) {
        return line.fault.clone();
    }
    if line.fields.object("message").is_none() && !is_queued(&line.fields) {
        return Some("a line without its message".into());
    }
    let is_odd = |content: &RawValue| !content.starts_with(['"', '[']);
    let odd = content(line).is_some_and(is_odd);
    odd.then(|| "a message whose content is neither a text nor a list".into())
}

/// The content of a message, or a prompt. `null` is none.
fn content<'a>(line: &Line<'a>) -> Option<&'a RawValue> {
    at(&line.fields, "message.content|attachment.prompt")
}

/// Lines that are no subagent's: those of its output as a stream name the call that started it. A file of a subagent has no
/// others: there they are the conversation.
fn main_lines(lines: &[Line<'_>]) -> Vec<bool> {
    let own = |line: &Line<'_>| {
        let fields = &line.fields;
        !fields.flag("isSidechain") && fields.get("parent_tool_use_id").is_none()
    };
    let all = !lines.iter().any(|line| is_message(&line.fields) && own(line));
    lines.iter().map(|line| all || own(line)).collect()
}

/// An assistant message and what follows it until the next.
#[derive(Default)]
struct Turn<'a> {
    line: u32,
    answer: Option<Vec<&'a RawValue>>,
    model: Option<Cow<'a, str>>,
    at: Option<i64>,
    usage: Option<Usage>,
    results: Vec<&'a RawValue>,
    user: Vec<&'a RawValue>,
    system: Vec<&'a RawValue>,
}

/// A compaction, and how many turns stood before it.
struct Fold<'a> {
    record: CompactionRecord,
    turns: usize,
    /// What was attached again before the next answer.
    attached: Vec<&'a RawValue>,
    /// Place of the first message that was kept after it, with all that follow.
    kept: Option<usize>,
}

#[derive(Default)]
struct Talk<'a> {
    turns: Vec<Turn<'a>>,
    by_message: ByName<'a>,
    by_call: ByName<'a>,
    folds: Vec<Fold<'a>>,
    /// Places of lines: twice their turn, and 1 for the user's.
    uuids: ByName<'a>,
    /// Within their turn.
    blocks: ByName<'a>,
    answered: ByName<'a>,
    /// Positions in `replacements`, by call.
    replaced: ByName<'a>,
    replacements: Vec<&'a RawValue>,
    /// The first line of that time.
    times: ByName<'a>,
    /// Within their time.
    user_lines: ByName<'a>,
}

impl<'a> Talk<'a> {
    /// Takes in a line; false: it was here before.
    fn hear(&mut self, line: &Line<'a>) -> bool {
        let fields = &line.fields;
        // A prompt has the uuid that its line would have had as a message of its own.
        for name in ["attachment.source_uuid", "uuid"] {
            let uuid = at(fields, name).and_then(text);
            if uuid.is_some_and(|uuid| self.uuids.insert(0, uuid, usize::MAX).is_some()) {
                return false;
            }
        }
        if fields.flag("isCompactSummary") {
            self.summary(line);
            return true;
        }
        match fields.text("type").as_deref() {
            Some("system") if fields.is("subtype", "compact_boundary") => {
                self.boundary(line);
                true
            }
            Some("user") => self.user(line),
            Some("assistant") if !fields.flag("isApiErrorMessage") => self.assistant(line),
            _ if is_queued(fields) => self.user(line),
            _ => {
                self.attachment(fields);
                true
            }
        }
    }

    fn attachment(&mut self, fields: &Object<'a>) {
        let texts = rendered(fields);
        let is_system = fields.is("renderedRole", "system");
        let last = self.last();
        let Some(turn) = self.turns.get_mut(last).filter(|_| !texts.is_empty()) else { return };
        let fold = self.folds.last_mut().filter(|fold| fold.turns == last);
        match fold.filter(|_| turn.answer.is_none()) {
            Some(fold) => &mut fold.attached,
            None if is_system => &mut turn.system,
            None => &mut turn.user,
        }
        .extend(texts);
    }

    fn last(&mut self) -> usize {
        if self.turns.is_empty() {
            self.turns.push(Turn::default());
        }
        self.turns.len().saturating_sub(1)
    }

    fn place(&mut self, line: &Line<'a>, place: usize) {
        if let Some(uuid) = line.fields.text("uuid") {
            self.uuids.insert(0, uuid, place);
        }
    }

    /// Place of the first message that a compaction preserved, if the last one before it is preserved, too.
    fn kept(&self, boundary: &Line<'_>) -> Option<usize> {
        let uuids = items(at(&boundary.fields, "compactMetadata.preservedMessages.uuids")?);
        let place = |uuid: &&RawValue| self.uuids.get(0, &text(uuid)?);
        let turn = self.turns.last()?;
        let has_user = !(turn.results.is_empty() && turn.user.is_empty());
        let last = self.turns.len().saturating_mul(2).saturating_sub(2);
        let last = last.saturating_add(usize::from(has_user));
        uuids.last().and_then(place).filter(|place| *place == last)?;
        uuids.first().and_then(place)
    }

    fn assistant(&mut self, line: &Line<'a>) -> bool {
        let Some(message) = line.fields.object("message") else { return true };
        let id = message.text("id");
        let known = id.as_ref().and_then(|id| self.by_message.get(0, id));
        let at = known.unwrap_or(self.turns.len());
        if known.is_none() {
            let time = line.fields.get("timestamp").and_then(millis);
            self.turns.push(Turn { line: line.number, at: time, ..Turn::default() });
            if let Some(id) = id {
                self.by_message.insert(0, id, at);
            }
        }
        let pieces = pieces(message.get("content"));
        let empty = pieces.is_empty();
        self.place(line, at.saturating_mul(2));
        let new: Vec<&RawValue> = pieces
            .into_iter()
            .filter(|piece| self.blocks.insert(at, *piece, 0).is_none())
            .collect();
        for call in
            new.iter().map(|raw| Object::of(raw)).filter(|block| block.is("type", "tool_use"))
        {
            if let Some(id) = call.text("id") {
                self.by_call.insert(0, id, at);
            }
        }
        let Some(turn) = self.turns.get_mut(at) else { return true };
        turn.model = message.text("model").or_else(|| turn.model.take());
        turn.usage =
            message.object("usage").and_then(|it| usage::ANTHROPIC.read(&it)).or(turn.usage);
        let repeated = known.is_some() && new.is_empty() && !empty;
        turn.answer.get_or_insert_default().extend(new);
        !repeated
    }

    fn user(&mut self, line: &Line<'a>) -> bool {
        let fields = &line.fields;
        let Some(raw) = content(line) else { return true };
        if let Some(time) = fields.get("timestamp") {
            let first = self.times.get(0, time).unwrap_or(line.number as usize);
            self.times.insert(0, time, first);
            if self.user_lines.insert(first, raw, 0).is_some() {
                return false;
            }
        }
        let last = self.last();
        self.place(line, last.saturating_mul(2).saturating_add(1));
        let mut new = false;
        let pieces = pieces(Some(raw));
        let empty = pieces.is_empty();
        for piece in pieces {
            let block = if is_object(piece) { Object::of(piece) } else { Object::default() };
            let result = block.is("type", "tool_result");
            let call = block.text("tool_use_id").filter(|_| result);
            let at = call.as_ref().and_then(|id| self.by_call.get(0, id)).unwrap_or(last);
            if call.is_some_and(|id| self.answered.insert(at, id, 0).is_some()) {
                continue;
            }
            new = true;
            if let Some(turn) = self.turns.get_mut(at) {
                if result { &mut turn.results } else { &mut turn.user }.push(piece);
                turn.line = turn.line.max(1);
            }
        }
        new || empty
    }

    fn replace(&mut self, fields: &Object<'a>) {
        for one in fields.items("replacements").into_iter().map(Object::of) {
            let new = one.get("replacement").filter(|new| inside(new).is_some());
            if let (Some(call), Some(new)) = (one.text("toolUseId"), new) {
                self.replaced.insert(0, call, self.replacements.len());
                self.replacements.push(new);
            }
        }
    }

    /// A block as it was sent.
    fn sent<'b>(&self, result: &'b RawValue) -> Cow<'b, str> {
        let block = Object::of(if self.replacements.is_empty() { "{}" } else { result });
        let at = block.text("tool_use_id").and_then(|call| self.replaced.get(0, &call));
        let new = at.and_then(|at| self.replacements.get(at));
        match (block.get("content"), new) {
            (Some(old), Some(new)) => {
                let from = old.as_ptr().addr().saturating_sub(result.as_ptr().addr());
                let to = from.saturating_add(old.len());
                let before = result.get(..from).unwrap_or_default();
                let after = result.get(to..).unwrap_or_default();
                [before, new, after].concat().into()
            }
            _ => result.into(),
        }
    }

    fn boundary(&mut self, line: &Line<'a>) {
        let mut record = CompactionRecord::at(line, 0);
        if let Some(meta) = line.fields.object("compactMetadata") {
            record.tokens_before = meta.number("preTokens").unwrap_or(0);
            record.tokens_after = meta.number("postTokens").unwrap_or(0);
        }
        let kept = self.kept(line);
        self.fold(record, kept);
    }

    /// The summary belongs to the boundary before it; older files have no boundary.
    fn summary(&mut self, line: &Line<'a>) {
        let turns = self.turns_before();
        let is_open = |fold: &Fold<'_>| fold.turns == turns && fold.record.summary.is_empty();
        if !self.folds.last().is_some_and(is_open) {
            self.fold(CompactionRecord::at(line, 0), None);
        }
        if let Some(fold) = self.folds.last_mut() {
            fold.record.summary = plain(content(line));
        }
    }

    /// How many turns there are, without a last one in which nothing is yet.
    fn turns_before(&self) -> usize {
        let is_empty = |turn: &Turn<'_>| {
            turn.answer.is_none()
                && [&turn.results, &turn.user, &turn.system].iter().all(|list| list.is_empty())
        };
        self.turns.len().saturating_sub(self.turns.last().is_some_and(is_empty).into())
    }

    /// What follows is another message, also if the user goes on.
    fn fold(&mut self, record: CompactionRecord, kept: Option<usize>) {
        let turns = self.turns_before();
        self.turns.resize_with(turns.saturating_add(1), Turn::default);
        self.folds.push(Fold { record, turns, attached: Vec::new(), kept });
    }

    /// Writes the messages, calls and compactions.
    fn finish(mut self, file: &mut SessionFile) {
        let mut folds = mem::take(&mut self.folds).into_iter().peekable();
        // Indexes of the messages at each place.
        let mut indexes: Vec<u32> = Vec::new();
        for (index, turn) in self.turns.iter().enumerate() {
            while let Some(fold) = folds.next_if(|fold| fold.turns <= index) {
                file.compactions.push(fold.placed(&indexes, file.len()));
            }
            indexes.push(file.len());
            if let Some(answer) = &turn.answer {
                file.call(turn.at, turn.usage);
                if let Some(model) = &turn.model {
                    file.called(model);
                }
                file.made(turn.line, message("assistant", answer, &|block| block.into()));
            }
            indexes.push(file.len());
            let user: Vec<&RawValue> = turn.results.iter().chain(&turn.user).copied().collect();
            if !user.is_empty() {
                file.made(turn.line, message("user", &user, &|block| self.sent(block)));
            }
            if !turn.system.is_empty() {
                file.made(turn.line, message("system", &turn.system, &|block| block.into()));
            }
        }
        for fold in folds {
            file.compactions.push(fold.placed(&indexes, file.len()));
        }
    }
}

impl Fold<'_> {
    /// The record, with the first message that was kept: of these that stand at the places, or the next.
    fn placed(mut self, indexes: &[u32], next: u32) -> CompactionRecord {
        if !self.attached.is_empty() {
            let attached = self.attached.into_iter().map(|text| plain(Some(text)));
            let all = std::iter::once(self.record.summary.clone()).chain(attached);
            self.record.head = all.collect::<Vec<_>>().join("\n\n");
        }
        let first = self.kept.and_then(|place| indexes.get(place)).copied();
        (self.record.at, self.record.first_kept_index) = (next, first.unwrap_or(next));
        self.record
    }
}
