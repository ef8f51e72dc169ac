//! Session file, as read.

use std::borrow::Cow;

use litemap::LiteMap;

use super::lines::Line;
use super::raw::items;
use crate::compressed_texts::CompressedTexts;
use crate::error::Error;
use crate::json::{self, RawValue, Reader, Write};
use crate::number::count;

/// Different type names that a receipt counts by name; further ones are counted together as `other`.
const KINDS: usize = 64;

/// A session as its agent wrote it, in one list of messages.
#[derive(Debug)]
pub struct SessionFile {
    /// `pi`, `claude-code`, `codex`, `gemini-cli`, `qwen-code`, `copilot-cli`, `kimi-wire`, `managed-agents`, `opencode`, `openhands`, `swe-agent`, `mini-swe-agent`, `inspect`,
    /// `whowhen-text`, `anthropic-messages`, `openai-messages`, `openai-responses`, `gemini-contents`, `langchain`, `ai-sdk` or
    /// `tau-openai`.
    pub format: &'static str,
    /// The format of `messages`: `pi`, `anthropic`, `openai-chat`, `openai-responses`, `gemini`, `langchain` or `ai-sdk`.
    pub message_format: &'static str,
    /// The whole conversation, also what a compaction took out of the request. Text of the file wherever possible, so
    /// that signatures, unusual numbers and lone surrogates come through.
    pub messages: CompressedTexts,
    /// The system prompt, where the file holds it.
    pub system: Option<String>,
    /// The tool definitions, if the file has them. `take_tools` says which are left out.
    pub tools: Option<Vec<String>>,
    /// The model's window, where the file holds it.
    pub window: Option<SessionWindow>,
    /// The models that were called, where the file names them; the one called first is first.
    pub models: Vec<SessionModel>,
    /// One for each model call, in order.
    pub calls: Vec<SessionCall>,
    /// The agent's own compactions.
    pub compactions: Vec<CompactionRecord>,
    /// Checkpoints since the last of them.
    pub checkpoints: Vec<CheckpointRecord>,
    /// What goes on after the last compaction, where the file says what stands for the rest.
    pub resume: Option<Resume>,
    /// What was read, and what was not.
    pub receipt: Receipt,
}

/// JSON texts as one array.
struct Texts<'a>(&'a [String]);

impl Write for Texts<'_> {
    fn write(&self, out: &mut String) {
        write_list(self.0, out);
    }
}

impl Write for CompressedTexts {
    fn write(&self, out: &mut String) {
        write_list(self.iter(), out);
    }
}

/// Appends JSON texts as one array.
pub fn write_list(texts: impl IntoIterator<Item: AsRef<str>>, out: &mut String) {
    out.push('[');
    for (at, text) in texts.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push_str(text.as_ref());
    }
    out.push(']');
}

impl Write for SessionFile {
    fn write(&self, out: &mut String) {
        let members: [(&str, &dyn Write); 12] = [
            ("format", &self.format),
            ("message_format", &self.message_format),
            ("messages", &self.messages),
            ("system?", &self.system),
            ("tools?", &self.tools.as_deref().map(Texts)),
            ("window?", &self.window),
            ("models", &self.models),
            ("calls", &self.calls),
            ("compactions", &self.compactions),
            ("checkpoints", &self.checkpoints),
            ("resume?", &self.resume),
            ("receipt", &self.receipt),
        ];
        json::object(&members, out);
    }
}

json::json_struct! {
    /// A model's window, in tokens.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SessionWindow {
        /// Input and output together.
        pub context_tokens: u64,
        /// Held back for the answer.
        pub max_output_tokens: Option<u64> as "max_output_tokens?",
    }
}

json::json_struct! {
    /// A model that was called.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct SessionModel {
        /// As the file names it.
        pub name: String,
        /// How many calls it answered.
        pub calls: u32,
    }
}

json::json_struct! {
    /// A model call.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SessionCall {
        /// How many of the messages stood before its answer: the index of its assistant message.
        pub sent: u32,
        /// When, in epoch milliseconds.
        pub at: Option<i64> as "at?",
        /// What the provider reported.
        pub usage: Option<Usage> as "usage?",
    }
}

json::json_struct! {
    /// Tokens that a provider reported.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Usage {
        /// All that was sent, cached or not.
        pub input_tokens: u64,
        /// All that came back, reasoning included.
        pub output_tokens: u64,
        /// Of the input: read from the cache.
        pub cache_read_tokens: u64,
        /// Of the input: written to the cache.
        pub cache_write_tokens: u64,
    }
}

json::json_struct! {
    /// A compaction that the agent itself carried out; fields that the file does not tell are empty or 0.
    #[derive(Clone, Debug)]
    pub struct CompactionRecord {
        /// Always `compaction`.
        pub kind: &'static str as "type",
        /// The entry's id; `compaction-` and the line's number where it has none.
        pub id: String,
        /// As the file has it.
        pub timestamp: String,
        /// The summary; empty where it is encrypted.
        pub summary: String,
        /// Of the first entry kept.
        pub first_kept_entry_id: Option<String>,
        /// Messages before it, when it was made.
        pub at: u32,
        /// Calls before it.
        pub call: u32,
        /// Its summary is encrypted: only the provider can read it.
        pub opaque: bool,
        /// Index in `messages` of the first message kept.
        pub first_kept_index: u32,
        /// Messages before it that stayed, as `[from, to)`.
        pub kept: Vec<[u32; 2]>,
        /// What stood in place of the rest, where it is more than the summary.
        pub head: String,
        /// Tokens of the request before.
        pub tokens_before: u64,
        /// Tokens after.
        pub tokens_after: u64,
        /// What the agent extracted.
        pub details: Extracted,
        /// Facts known to be lost.
        pub lost: Vec<String>,
        /// A summary was wanted and there is none.
        pub degraded: bool,
    }
}

impl CompactionRecord {
    /// A record of which nothing is known but where it stands.
    pub(super) fn at(line: &Line<'_>, first_kept_index: u32) -> Self {
        let id = line.fields.text("uuid").or_else(|| line.fields.text("id"));
        Self {
            kind: "compaction",
            id: id.map_or_else(|| format!("compaction-{}", line.number), Cow::into_owned),
            timestamp: line.fields.text("timestamp").unwrap_or_default().into_owned(),
            summary: String::new(),
            first_kept_entry_id: None,
            at: first_kept_index,
            call: 0,
            opaque: false,
            first_kept_index,
            kept: Vec::new(),
            head: String::new(),
            tokens_before: 0,
            tokens_after: 0,
            details: Extracted::default(),
            lost: Vec::new(),
            degraded: false,
        }
    }
}

json::json_struct! {
    /// A checkpoint as its line has it.
    #[derive(Clone, Debug)]
    pub struct CheckpointRecord {
        /// Always `checkpoint`.
        pub kind: &'static str as "type",
        /// The entry's id; `checkpoint-` and the line's number where it has none.
        pub id: String,
        /// As the file has it.
        pub timestamp: String,
        /// What it says.
        pub checkpoint: CheckpointContent,
    }
}

json::json_struct! {
    /// A summary made ahead of time.
    #[derive(Clone, Debug)]
    pub struct CheckpointContent {
        /// Its text.
        pub summary: String,
        /// Tokens of the request after which it was made.
        pub tokens_at_checkpoint: u64,
        /// Messages that it covers, of those that the session goes on with.
        pub message_count_at_checkpoint: u32,
        /// Topics.
        pub topics: Vec<String>,
        /// Open questions.
        pub open_questions: Vec<String>,
        /// Decisions.
        pub key_decisions: Vec<String>,
    }
}

/// What a session goes on with after a compaction: a message of ours, and what was kept of the file's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// A user's message (JSON, of `message_format`) that stands for what is gone.
    pub head: String,
    /// Positions of the messages after it, as `[from, to)`.
    pub kept: Vec<[u32; 2]>,
}

impl Write for Resume {
    fn write(&self, out: &mut String) {
        let head = json::Value::raw(self.head.clone());
        json::object(&[("head", &head), ("kept", &self.kept)], out);
    }
}

json::json_struct! {
    /// What an agent noted beside its summary.
    #[derive(Clone, Debug, Default)]
    pub struct Extracted {
        /// Files written.
        pub modified_files: Vec<String>,
        /// Files read.
        pub read_files: Vec<String>,
        /// Commands run.
        pub commands: Vec<String>,
        /// Errors met.
        pub errors: Vec<String>,
        /// Names worth keeping.
        pub identifiers: Vec<String>,
    }
}

json::json_struct! {
    /// What was read of a file: `lines` = `read` + `unknown` + the number of `broken`.
    #[derive(Clone, Debug, Default)]
    pub struct Receipt {
        /// Lines with something in them; elements, where the file is one JSON list.
        pub lines: u32,
        /// Lines understood, those that are no context included.
        pub read: u32,
        /// Lines of a type that is not known.
        pub unknown: u32,
        /// Lines that could not be read.
        pub broken: Vec<Broken>,
        /// Lines that are not UTF-8; they were read with U+FFFD in place of each bad sequence.
        pub lossy: u32,
        /// Lines by type.
        pub kinds: LiteMap<String, u32>,
        /// Lines of subagents, left out.
        pub sidechain: u32,
        /// Lines of branches that the conversation left, and of messages that it took back, left out.
        pub dead_ends: u32,
        /// Lines that repeat one before them, left out.
        pub repeated: u32,
        /// Attachments of the conversation (files, reminders, lists of skills), left out.
        pub attachments: u32,
        /// Lines whose parent the file does not hold: the line before them stands in for it.
        pub bridged: u32,
        /// Where the conversation was read from, backwards.
        pub leaf: Option<String> as "leaf?",
        /// What `leaf` may be, oldest first: ends of branches, or indexes of runs.
        pub branches: Vec<String>,
        /// What a file of this format does not hold: `system`, `tools`, `window`.
        pub absent: Vec<&'static str>,
    }
}

json::json_struct! {
    /// A line that could not be read.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Broken {
        /// Its number in the file, from 1; in a JSON list the element's.
        pub line: u32,
        /// Why.
        pub reason: String,
    }
}

impl Receipt {
    /// Counts a line by its type, `known` or not.
    pub(super) fn count(&mut self, kind: &str, known: bool) {
        let total = if known { &mut self.read } else { &mut self.unknown };
        *total = total.saturating_add(1);
        self.note(kind);
    }

    /// Counts a kind of something inside a line.
    pub(super) fn note(&mut self, kind: &str) {
        let full = self.kinds.len() >= KINDS && !self.kinds.contains_key(kind);
        let name = if full { "other".into() } else { kind.chars().take(64).collect::<String>() };
        let of_kind = self.kinds.entry(name).or_default();
        *of_kind = of_kind.saturating_add(1);
    }

    /// Notes a line that could not be read.
    pub(super) fn fail(&mut self, line: u32, reason: impl Into<String>) {
        self.broken.push(Broken { line, reason: reason.into() });
    }
}

impl SessionFile {
    /// Nothing read yet.
    pub(super) fn new(format: &'static str, message_format: &'static str) -> Self {
        Self {
            format,
            message_format,
            messages: CompressedTexts::default(),
            system: None,
            tools: None,
            window: None,
            models: Vec::new(),
            calls: Vec::new(),
            compactions: Vec::new(),
            checkpoints: Vec::new(),
            resume: None,
            receipt: Receipt::default(),
        }
    }

    /// The number of messages, as an index.
    pub(super) fn len(&self) -> u32 {
        count(self.messages.len())
    }

    /// Adds a model call whose answer is the next message.
    pub(super) fn call(&mut self, at: Option<i64>, usage: Option<Usage>) {
        self.calls.push(SessionCall { sent: self.len(), at, usage });
    }

    /// Counts a call of this model.
    pub(super) fn called(&mut self, model: &str) {
        if let Some(known) = self.models.iter_mut().find(|known| known.name == model) {
            known.calls = known.calls.saturating_add(1);
        } else if self.models.len() < KINDS {
            self.models.push(SessionModel { name: model.chars().take(200).collect(), calls: 1 });
        }
    }

    /// Takes the tool definitions of a list, if it has any, but for those that no request can have: nested too deeply, or with half
    /// a character.
    pub(super) fn take_tools(&mut self, list: Option<&RawValue>) {
        let tools = list.map(items).unwrap_or_default();
        if !tools.is_empty() {
            let can_be_sent = |tool: &&&RawValue| Reader::new(tool).strict().is_ok();
            self.tools =
                Some(tools.iter().filter(can_be_sent).map(|tool| (*tool).to_owned()).collect());
        }
    }

    /// Adds a message that was put together from pieces of the file.
    pub(super) fn made(&mut self, line: u32, json: String) {
        match json::parse(&json) {
            Ok(_) => self.messages.push(&json),
            Err(error) => self.receipt.fail(line, error.to_string()),
        }
    }

    /// Says what the file does not hold, and how many calls came before each compaction.
    pub(super) fn finish(mut self) -> Self {
        for record in &mut self.compactions {
            record.call = count(self.calls.partition_point(|call| call.sent < record.at));
        }
        let present = [
            ("system", self.system.is_some()),
            ("tools", self.tools.is_some()),
            ("window", self.window.is_some()),
        ];
        self.receipt.absent = present.iter().filter(|(_, is)| !is).map(|(name, _)| *name).collect();
        self
    }
}

/// The file has one branch only.
pub(super) fn refuse_leaf(leaf: Option<&str>, format: &str) -> Result<(), Error> {
    leaf.map_or(Ok(()), |leaf| {
        Err(Error::argument("leaf", &format!("none: {format} has no branches"), leaf))
    })
}
