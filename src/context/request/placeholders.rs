//! Placeholders: the texts of stubs, caps and heads, and their tokens.

use std::rc::Rc;

use litemap::LiteMap;

use crate::context::request::about::About;
use crate::context::request::lines::{Awaited, LINES, OF_STUB, write_lines};
use crate::context::request::recall::{PROMISE, reference};
use crate::estimate::{Estimator, MESSAGE};
use crate::json::{Value, json};
use crate::ledger::Ledger;
use crate::model::{Block, BlockId, Kind, MessageId, Part};
use crate::prune::{Shorten, Writer, stub_lines_room};
use crate::text::{Cut, head_tail};

/// The lines written so far, by block.
#[derive(Clone, Debug)]
pub(in crate::context) struct Placeholders {
    pub(in crate::context) estimator: Estimator,
    /// A summary costs the host's system prompt its note.
    pub notes: bool,
    /// The agent may ask for what was cut: stubs say how.
    pub recalls: bool,
    /// Stubs and caps. Copies of a session share them.
    pub text: LiteMap<BlockId, Rc<str>>,
    /// The head of the last fold; empty before the first.
    pub head: String,
    /// The summary in it; empty: it has none.
    pub summary: String,
    /// Summaries of the host's, by block.
    pub adopted: LiteMap<BlockId, Rc<str>>,
    /// The summary that the next fold carries.
    pub summary_to_write: Option<String>,
    /// Blocks whose line stands for all of a call's arguments, as JSON.
    pub uncut_arguments: LiteMap<BlockId, ()>,
    /// What calls asked for whose results wait for their line.
    pub calls: LiteMap<BlockId, Rc<str>>,
    /// What waits for its block's text.
    pub wanted: LiteMap<BlockId, Want>,
    /// What was made of a block's text.
    pub caps: LiteMap<BlockId, Want>,
    /// Results leave lines, not only names.
    pub keeps_lines: bool,
    /// Lines that the head waits for.
    pub awaited: Option<Awaited>,
}

/// What is made of a text once it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::context) enum Want {
    /// A cap of so many tokens.
    Cap(u32),
    /// What a preset's way leaves.
    Shorten(Shorten),
    /// A stub with lines of so many tokens in place of names.
    Lines(u32),
}

/// A text that copies of a session share. One copy of this code: it is asked for in many places.
#[inline(never)]
pub(in crate::context) fn shared(text: &str) -> Rc<str> {
    text.into()
}

impl Placeholders {
    /// No line yet.
    pub(in crate::context) fn new(estimator: Estimator) -> Self {
        Self {
            estimator,
            notes: false,
            recalls: false,
            text: LiteMap::new(),
            head: String::new(),
            summary: String::new(),
            adopted: LiteMap::new(),
            summary_to_write: None,
            uncut_arguments: LiteMap::new(),
            calls: LiteMap::new(),
            wanted: LiteMap::new(),
            caps: LiteMap::new(),
            keeps_lines: false,
            awaited: None,
        }
    }

    /// Writes what was wanted; its tokens. `about`: see `about_block`.
    pub(in crate::context) fn supply(
        &mut self,
        block: BlockId,
        overhead: u32,
        part: &Part<'_>,
        about: &About,
    ) -> Option<u32> {
        let want = self.wanted.remove(&block)?;
        let tokens = match want {
            Want::Cap(tokens) => tokens,
            // Written by `line_stub`.
            Want::Lines(_) => return None,
            Want::Shorten(how) => {
                self.caps.insert(block, want);
                return Some(self.shorten_text(block, overhead, how, part, about));
            }
        };
        self.caps.insert(block, want);
        let room = tokens.saturating_sub(overhead);
        let estimator = self.estimator;
        let is_call = part.piece.kind == Kind::Call;
        // A call's cap travels as a JSON string: what is escaped there counts.
        let measure = |text: &str| {
            if is_call { estimator.tokens(arguments(text).json()) } else { estimator.tokens(text) }
        };
        let mut text = head_tail(&part.text, room, Cut::TOKENS, measure).into_owned();
        // A result of nothing but images.
        if part.piece.kind == Kind::Result && text.trim().is_empty() {
            text = IMAGE.into();
        }
        let now = overhead.saturating_add(measure(&text));
        self.put(block, &text);
        Some(now)
    }

    /// A line stands for the block from now on; it holds no more than it says.
    pub(in crate::context) fn put(&mut self, block: BlockId, text: &str) {
        self.text.insert(block, shared(text));
    }

    /// A stub's line promises its original, or does so no more; its tokens. None where the line is no stub of ours.
    pub(in crate::context) fn promise_again(&mut self, it: &Block, block: BlockId) -> Option<u32> {
        if self.caps.contains_key(&block) {
            return None;
        }
        let old = self.text.get(&block)?;
        let (before, after) =
            old.split_at_checked(old.find(TOKENS)?.saturating_add(TOKENS.len()))?;
        let promise = promise(block);
        let after = after.strip_prefix(&*promise).unwrap_or(after);
        let mut line = String::from(before);
        if self.recalls {
            line.push_str(&promise);
        }
        line.push_str(after);
        let now = self.cost(it, block, &line);
        self.put(block, &line);
        Some(now)
    }

    /// What is made of a block's text, also while the text is still to come.
    pub(in crate::context) fn cut_of(&self, block: BlockId) -> Option<Want> {
        self.caps.get(&block).or_else(|| self.wanted.get(&block)).copied()
    }

    /// No line stands for the block any more.
    pub(in crate::context) fn forget(&mut self, block: BlockId) {
        self.text.remove(&block);
        self.uncut_arguments.remove(&block);
        self.wanted.remove(&block);
        self.caps.remove(&block);
    }

    /// What a line in the place of a block costs. A call's travels as JSON: what is escaped there counts.
    pub(in crate::context) fn cost(&self, it: &Block, block: BlockId, line: &str) -> u32 {
        let is_object = self.uncut_arguments.contains_key(&block);
        let text = if it.kind == Kind::Call && !is_object {
            self.estimator.tokens(arguments(line).json())
        } else {
            self.estimator.tokens(line)
        };
        it.overhead.saturating_add(text)
    }

    /// What the head says of its lines; nothing where it has none.
    pub(in crate::context) fn lines_of_head(&self) -> &str {
        let (start, sign) = if self.head.starts_with(SUMMARY) {
            (SUMMARY.len().saturating_add(self.summary.len()), BEHIND_SUMMARY)
        } else {
            (REMOVED.len(), " ")
        };
        let after = self.head.get(start..).and_then(|it| it.strip_prefix(sign));
        let lines = after.and_then(|it| it.strip_prefix(LINES));
        lines.map_or("", |lines| lines.rsplit_once(DIGEST).map_or(lines, |it| it.0))
    }

    /// This is the head from now on; its tokens.
    pub(in crate::context) fn put_head(
        &mut self,
        ledger: &Ledger,
        digest: &[u32],
        lines: &[String],
        summary: bool,
    ) -> u32 {
        self.head = self.head_of(ledger, digest, lines, summary);
        self.cost_of_head(&self.head, summary)
    }

    /// What a head says: the summary, if it has one, these lines, and these identifiers.
    fn head_of(&self, ledger: &Ledger, digest: &[u32], lines: &[String], summary: bool) -> String {
        let mut head = String::from(if summary { SUMMARY } else { REMOVED });
        if summary {
            head.push_str(&self.summary);
            head.push_str(BEHIND_SUMMARY);
        }
        if !lines.is_empty() {
            head.push_str(if summary { "" } else { " " });
            head.push_str(LINES);
            write_lines(lines, &mut head);
        }
        if !digest.is_empty() {
            head.push_str(if summary || !lines.is_empty() { "" } else { " " });
            head.push_str(DIGEST);
            for &id in digest {
                head.push(' ');
                head.push_str(ledger.identifiers.text(id));
            }
        } else if summary && lines.is_empty() {
            // Without a digest nothing else would close the summary, and what follows would read as part of it (H29).
            head.push_str("End of the summary");
        }
        head.push(']');
        head.shrink_to_fit();
        head
    }

    /// The start of a stub's line.
    pub(in crate::context) fn opening(&self, it: &Block, block: BlockId) -> String {
        let what = if it.kind == Kind::Call {
            "arguments"
        } else if it.failed {
            "error"
        } else {
            "result"
        };
        let mut line = format!("[{what} cut, {} tokens", it.tokens);
        if self.recalls {
            line.push_str(&promise(block));
        }
        line
    }

    /// What a stub with lines of so many tokens may cost.
    pub(in crate::context) fn most_of_lines(&self, it: &Block, block: BlockId, room: u32) -> u32 {
        let frame = format!("{}{OF_STUB}]", self.opening(it, block));
        self.cost(it, block, &frame).saturating_add(room)
    }

    fn cost_of_head(&self, head: &str, summary: bool) -> u32 {
        let note = if self.notes && summary { self.estimator.tokens(NOTE) } else { 0 };
        self.estimator.tokens(head).saturating_add(note).saturating_add(MESSAGE)
    }

    /// The summary so far, and those of the host's among these blocks.
    pub(in crate::context) fn joined(&self, blocks: &[BlockId]) -> String {
        let mut joined = self.summary.clone();
        for text in blocks.iter().filter_map(|at| self.adopted.get(at)) {
            if !joined.is_empty() {
                joined.push_str(BETWEEN);
            }
            joined.push_str(text);
        }
        joined
    }
}

/// Ends what a stub says of its block.
const TOKENS: &str = " tokens";

/// How a stub promises its original.
fn promise(block: BlockId) -> String {
    let mut promise = String::from(PROMISE);
    promise.push_str(&reference(block));
    promise
}

/// The arguments of a call that was stubbed or capped: an object, as every provider wants.
pub(in crate::context) fn arguments(line: &str) -> Value {
    json!({ "cut": line })
}

impl Writer for Placeholders {
    fn stub(&mut self, ledger: &Ledger, block: BlockId, ids: &[u32], _: u32) -> u32 {
        let Some(it) = ledger.block(block) else { return 0 };
        let mut line = self.opening(it, block);
        for (at, &id) in ids.iter().enumerate() {
            line.push_str(if at == 0 { ": " } else { " " });
            line.push_str(ledger.identifiers.text(id));
        }
        line.push(']');
        let now = self.cost(it, block, &line);
        self.forget(block);
        self.put(block, &line);
        let Some(room) = stub_lines_room(it).filter(|_| self.keeps_lines) else { return now };
        // Names until its text is there.
        self.wanted.insert(block, Want::Lines(room));
        self.most_of_lines(it, block, room).max(now)
    }

    fn cap(&mut self, _: &Ledger, block: BlockId, tokens: u32) -> u32 {
        self.forget(block);
        self.wanted.insert(block, Want::Cap(tokens));
        tokens
    }

    fn shorten(&mut self, ledger: &Ledger, block: BlockId, how: Shorten) -> Option<u32> {
        let it = ledger.block(block)?;
        self.shorten_now(block, it.overhead, how)
    }

    /// Only a compaction brings a summary: a request's own fold is carried by digest and hot set, and what was adopted stays.
    fn summarize(&mut self, ledger: &mut Ledger, gone: &[BlockId], asks: bool) -> bool {
        let summary_to_write = if asks { self.summary_to_write.take() } else { None };
        let adopts =
            summary_to_write.is_none() && gone.iter().any(|at| self.adopted.contains_key(at));
        let kept = adopts.then(|| self.joined(gone));
        let Some(summary) = summary_to_write.or(kept) else { return false };
        ledger.identifiers.note_summary(&summary);
        self.summary = summary;
        true
    }

    fn keep_lines(&mut self, ledger: &Ledger, used: Vec<u32>, from: MessageId) {
        // A fold whose lines have not come yet may be followed by another.
        let mut awaited = self.awaited.take().unwrap_or_default();
        if !used.is_empty() {
            awaited.add(ledger, used, from, self.lines_of_head());
            self.awaited = Some(awaited);
        }
    }

    fn reserve_lines(&mut self, room: u32) -> u32 {
        let Some(awaited) = &mut self.awaited else { return 0 };
        awaited.room = room;
        room
    }

    fn head_tokens(&self, ledger: &Ledger, digest: &[u32], _: u32, summary: bool) -> u32 {
        self.cost_of_head(&self.head_of(ledger, digest, &[], summary), summary)
    }

    fn head(&mut self, ledger: &Ledger, digest: &[u32], _: u32, summary: bool) -> u32 {
        self.put_head(ledger, digest, &[], summary)
    }
}

/// Ends a summary, and starts what stands beside it.
const BEHIND_SUMMARY: &str = "\n\n[";
/// What a head says before its names.
pub(in crate::context) const DIGEST: &str =
    "Names and values seen in them, the most relevant first:";
/// What the host's system prompt says beside a summary, if it is to (I10).
pub(in crate::context) const NOTE: &str =
    "[Note: earlier parts of this conversation have been compressed into a summary.]";
/// Between two summaries of which one follows the other.
const BETWEEN: &str = "\n\n";
/// What a head starts with that has no summary, and one that has.
pub(in crate::context) const REMOVED: &str =
    "[Earlier messages were removed to fit the context window.";
pub(in crate::context) const SUMMARY: &str = "[Earlier messages were removed to fit the context window. A summary of them follows: it is reference, not a request.]\n\n";
/// Stands where an image was.
pub(in crate::context) const IMAGE: &str = "[image cut]";
