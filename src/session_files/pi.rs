//! pi and `OpenClaw` sessions: a tree of entries, one a line.
//!
//! The conversation is the way from a leaf (the newest entry, or the one asked for) back to the root. Each entry's parent
//! stands before it in the file, so the walk is a loop that ends. Where the parent is not in the file, the entry before
//! stands in for it; so it does everywhere in files whose entries have no ids. A broken line keeps its place in the tree.
//! An edit of an earlier entry holds for the file as it is now: also calls before the edit are shown with what it put there.

use std::borrow::Cow;

use litemap::LiteMap;

use super::checkpoint;
use super::file::SessionFile;
use super::lines::Line;
use super::raw::{Object, RawValue, inside, is_object, quote};
use super::record;
use super::time::millis;
use super::usage;
use crate::error::Error;
use crate::hash_index::ByName;
use crate::number::count;

const KNOWN: [&str; 12] = [
    "session",
    "message",
    "compaction",
    "branch_summary",
    "custom",
    "custom_message",
    "model_change",
    "thinking_level_change",
    "label",
    "session_info",
    "context_edit",
    "usage",
];

/// Messages of the system's that compactions keep: with all of many, a file of nothing else would take too long.
const MOST_PROMPTS: usize = 64;

struct Entry<'l, 'a> {
    line: &'l Line<'a>,
    /// Position among all lines, as old compactions count it.
    position: usize,
    parent: Option<usize>,
}

#[derive(Default)]
struct Tree<'l, 'a> {
    entries: Vec<Entry<'l, 'a>>,
    by_id: ByName<'a>,
    bridged: u32,
}

/// Reads the conversation that ends at the entry `leaf`, or at the newest.
#[inline(never)]
pub(super) fn read(lines: &[Line<'_>], leaf: Option<&str>) -> Result<SessionFile, Error> {
    let mut file = SessionFile::new("pi", "pi");
    for line in lines {
        if let Some(reason) = fault(line) {
            file.receipt.fail(line.number, reason);
        } else {
            let kind = line.fields.text("type").unwrap_or_default();
            file.receipt.count(&kind, KNOWN.contains(&&*kind) || checkpoint::is_one(line));
        }
    }
    let tree = Tree::grow(lines);
    let path = tree.path(leaf)?;
    let newest = path.last().and_then(|&at| tree.entries.get(at));
    file.receipt.leaf = newest.and_then(Entry::id).map(Cow::into_owned);
    file.receipt.branches = tree.leaves();
    file.receipt.bridged = tree.bridged;
    let is_left = |(at, entry): &(usize, &Entry<'_, '_>)| {
        entry.line.fields.is("type", "message") && path.binary_search(at).is_err()
    };
    file.receipt.dead_ends = count(tree.entries.iter().enumerate().filter(is_left).count());
    follow(&tree, &path, &mut file);
    file.resume = record::resume(&file);
    let mut file = file.finish();
    // A message may declare the prompt and the tools: they are read with the messages, and not a second time beside them.
    let entries = path.iter().filter_map(|&at| tree.entries.get(at));
    for message in entries.filter_map(|entry| entry.line.fields.object("message")) {
        if message.is("role", "system") {
            let tools = message.get("toolsAdded").is_some();
            file.receipt.absent.retain(|part| !(*part == "system" || tools && *part == "tools"));
        }
    }
    Ok(file)
}

fn fault(line: &Line<'_>) -> Option<String> {
    let bare =
        line.fields.is("type", "message") && !line.fields.get("message").is_some_and(is_object);
    let bare = bare.then(|| "a message entry without a message".into());
    line.fault.clone().or(bare)
}

impl<'a> Entry<'_, 'a> {
    fn id(&self) -> Option<Cow<'a, str>> {
        self.line.fields.text("id")
    }
}

impl<'l, 'a> Tree<'l, 'a> {
    fn grow(lines: &'l [Line<'a>]) -> Self {
        let mut tree = Self::default();
        for (position, line) in lines.iter().enumerate() {
            let id = line.fields.text("id");
            let placeless = line.fault.is_some() && id.is_none();
            if placeless || line.fields.is("type", "session") {
                continue;
            }
            let at = tree.entries.len();
            let before = at.checked_sub(1);
            let parent = match line.fields.text("parentId") {
                Some(named) => tree.by_id.get(0, &named).or_else(|| {
                    tree.bridged = tree.bridged.saturating_add(u32::from(before.is_some()));
                    before
                }),
                None if id.is_some() && line.fields.has("parentId") => None,
                None => before,
            };
            tree.entries.push(Entry { line, position, parent });
            if let Some(id) = id {
                tree.by_id.insert(0, id, at);
            }
        }
        tree
    }

    /// From the root to the leaf.
    fn path(&self, leaf: Option<&str>) -> Result<Vec<usize>, Error> {
        let mut at =
            match leaf {
                None => self.entries.len().checked_sub(1),
                Some(leaf) => Some(self.by_id.get(0, leaf).ok_or_else(|| {
                    Error::argument("leaf", "the id of an entry of this file", leaf)
                })?),
            };
        let mut path = Vec::new();
        while let Some(index) = at {
            path.push(index);
            // Strictly before its child, whatever the file says: no circle.
            let parent = self.entries.get(index).and_then(|entry| entry.parent);
            at = parent.filter(|&parent| parent < index);
        }
        path.reverse();
        Ok(path)
    }

    fn leaves(&self) -> Vec<String> {
        let mut leaf = vec![true; self.entries.len()];
        for parent in self.entries.iter().filter_map(|entry| entry.parent) {
            if let Some(is_leaf) = leaf.get_mut(parent) {
                *is_leaf = false;
            }
        }
        let ends = self.entries.iter().zip(leaf).filter(|(_, is_leaf)| *is_leaf);
        ends.filter_map(|(entry, _)| entry.id()).map(Cow::into_owned).collect()
    }
}

fn follow(tree: &Tree<'_, '_>, path: &[usize], file: &mut SessionFile) {
    let edits = edits(tree, path);
    let mut messages_before: LiteMap<usize, u32> = LiteMap::new();
    let mut prompts: Vec<[u32; 2]> = Vec::new();
    for &at in path {
        let Some(entry) = tree.entries.get(at) else { continue };
        messages_before.insert(at, file.len());
        let fields = &entry.line.fields;
        if fault(entry.line).is_some() {
            continue;
        }
        let edit = edits.get(at).copied().flatten();
        match fields.text("type").as_deref() {
            Some("message" | "custom_message") if edit == Some(Edit::Removed) => {
                file.receipt.dead_ends = file.receipt.dead_ends.saturating_add(1);
            }
            Some("message") => {
                let is_prompt = fields.object("message").is_some_and(|it| it.is("role", "system"));
                if is_prompt && prompts.len() < MOST_PROMPTS {
                    prompts.push([file.len(), file.len().saturating_add(1)]);
                }
                add_message(entry.line, edit, file);
            }
            Some("custom_message") => add_custom(entry.line, edit, file),
            Some("branch_summary") => add_branch_summary(entry.line, file),
            Some("compaction") => {
                let kept = first_kept(tree, fields).and_then(|at| messages_before.get(&at));
                let mut record = record::read(entry.line, kept.copied(), file.len());
                // The prompt and the tools outlive it: it holds what the messages before it have declared.
                if fields.has("systemMessage") {
                    let first = record.first_kept_index;
                    record.kept = prompts.iter().copied().filter(|[at, _]| *at < first).collect();
                }
                file.compactions.push(record);
                file.checkpoints.clear();
            }
            Some("checkpoint") => file.checkpoints.extend(checkpoint::read(entry.line, file)),
            _ => {}
        }
    }
}

/// What an entry of its own has made of an earlier one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edit<'a> {
    /// It is not sent any more.
    Removed,
    /// This content is sent instead.
    Replaced(&'a RawValue),
}

/// The last edit of each entry of the tree.
fn edits<'a>(tree: &Tree<'_, 'a>, path: &[usize]) -> Vec<Option<Edit<'a>>> {
    let mut edits = vec![None; tree.entries.len()];
    let entries = path.iter().filter_map(|&at| tree.entries.get(at));
    for fields in entries.map(|entry| &entry.line.fields).filter(|it| it.is("type", "context_edit"))
    {
        let target = fields.text("targetId").and_then(|id| tree.by_id.get(0, &id));
        let content = fields.object("replacement").and_then(|it| it.get("content"));
        let is_removed = fields.raw("replacement") == Some("null");
        let edit = if is_removed { Some(Edit::Removed) } else { content.map(Edit::Replaced) };
        if let Some(last) = target.and_then(|at| edits.get_mut(at)) {
            *last = edit.or(*last);
        }
    }
    edits
}

fn add_message(line: &Line<'_>, edit: Option<Edit<'_>>, file: &mut SessionFile) {
    let fields = &line.fields;
    let Some(raw) = fields.get("message") else { return };
    let message = Object::of(raw);
    if message.is("role", "assistant") {
        let at = fields.get("timestamp").and_then(millis);
        let at = at.or_else(|| message.get("timestamp").and_then(millis));
        let usage = message.object("usage").and_then(|counts| usage::PI.read(&counts));
        file.call(at, usage);
        if let Some(model) = message.text("model") {
            file.called(&model);
        }
    }
    match edit {
        Some(Edit::Replaced(content)) => file.made(line.number, with_content(&message, content)),
        _ => file.messages.push(raw),
    }
}

/// The message with another content. The model's answers and results of tools have lists only.
fn with_content(message: &Object<'_>, content: &RawValue) -> String {
    let is_list = message.is("role", "assistant") || message.is("role", "toolResult");
    let content = match inside(content).filter(|_| is_list) {
        Some(_) => format!(r#"[{{"type":"text","text":{content}}}]"#),
        None => content.into(),
    };
    let others = message.iter().filter(|(name, _)| name != "content");
    let members: Vec<_> = others.map(|(name, raw)| format!("{}:{raw},", quote(name))).collect();
    format!(r#"{{{}"content":{content}}}"#, members.concat())
}

/// What an extension has put among the messages: pi sends it as the user's.
fn add_custom(line: &Line<'_>, edit: Option<Edit<'_>>, file: &mut SessionFile) {
    let fields = &line.fields;
    let Some(mut content) = fields.get("content") else { return };
    if let Some(Edit::Replaced(replaced)) = edit {
        content = replaced;
    }
    let kind = quote(&fields.text("customType").unwrap_or_default());
    let (display, at) = (fields.flag("display"), sent_at(fields));
    file.made(
        line.number,
        format!(
            r#"{{"role":"custom","customType":{kind},"content":{content},"display":{display},"timestamp":{at}}}"#
        ),
    );
}

/// What stands for a branch that the conversation came back from: pi sends it as the user's.
fn add_branch_summary(line: &Line<'_>, file: &mut SessionFile) {
    let fields = &line.fields;
    let Some(summary) = fields.text("summary").filter(|summary| !summary.is_empty()) else {
        return;
    };
    let (summary, from) = (quote(&summary), quote(&fields.text("fromId").unwrap_or_default()));
    let at = sent_at(fields);
    file.made(
        line.number,
        format!(
            r#"{{"role":"branchSummary","summary":{summary},"fromId":{from},"timestamp":{at}}}"#
        ),
    );
}

fn sent_at(fields: &Object<'_>) -> i64 {
    fields.get("timestamp").and_then(millis).unwrap_or(0)
}

/// The first entry kept: by id, or in old files by its position among all lines, the header's being 0.
fn first_kept(tree: &Tree<'_, '_>, fields: &Object<'_>) -> Option<usize> {
    if let Some(id) = fields.text("firstKeptEntryId") {
        return tree.by_id.get(0, &id);
    }
    let position = usize::try_from(fields.number("firstKeptEntryIndex")?).ok()?;
    let at = tree.entries.partition_point(|entry| entry.position < position);
    (at < tree.entries.len()).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::super::lines::lines;
    use super::*;
    use crate::compressed_texts::Text;

    fn message(role: &str, text: &str, id: &str, parent: &str) -> String {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"1970-01-01T00:00:01Z","message":{{"role":"{role}","content":"{text}","usage":{{"input":2,"cacheRead":5,"output":1}}}}}}"#
        )
    }

    fn texts(file: &SessionFile) -> Vec<String> {
        let text =
            |message: Text| Object::of(&message).text("content").unwrap_or_default().into_owned();
        file.messages.iter().map(text).collect()
    }

    fn tree() -> String {
        [
            r#"{"type":"session","version":3,"id":"s"}"#.into(),
            message("user", "hello", "a", "null"),
            message("assistant", "first try", "b", "\"a\""),
            message("user", "left", "c", "\"b\""),
            message("assistant", "second try", "d", "\"a\""),
        ]
        .join("\n")
    }

    #[test]
    fn the_newest_leaf_is_walked_and_others_are_offered() {
        let text = tree();
        let file = read(&lines(&text), None).expect("read");
        assert_eq!(texts(&file), ["hello", "second try"]);
        assert_eq!(file.receipt.branches, ["c", "d"]);
        assert_eq!(file.receipt.leaf.as_deref(), Some("d"));
        assert_eq!(file.calls.len(), 1);
        assert_eq!((file.calls[0].sent, file.calls[0].at), (1, Some(1000)));
        assert_eq!(file.calls[0].usage.map(|usage| usage.input_tokens), Some(7));
    }

    #[test]
    fn what_extensions_and_left_branches_say_is_among_the_messages() {
        let text = [
            message("user", "hi", "a", "null"),
            r#"{"type":"custom_message","id":"b","parentId":"a","timestamp":"1970-01-01T00:00:02Z","customType":"notes","content":[{"type":"text","text":"by \"us\""}],"display":false}"#.into(),
            message("assistant", "ok", "c", "\"b\""),
            message("user", "left", "d", "\"c\""),
            r#"{"type":"branch_summary","id":"e","parentId":"c","fromId":"d","summary":"found \"it\""}"#.into(),
            r#"{"type":"branch_summary","id":"f","parentId":"e","fromId":"d","summary":""}"#.into(),
            r#"{"type":"custom_message","id":"g","parentId":"f"}"#.into(),
            r#"{"type":"custom","id":"h","parentId":"g","content":"state of an extension, never sent"}"#.into(),
            r#"{"type":"compaction","id":"i","parentId":"h","summary":"s","firstKeptEntryId":"e"}"#.into(),
            message("user", "go on", "j", "\"i\""),
        ]
        .join("\n");
        let file = read(&lines(&text), None).expect("read");
        assert_eq!((file.messages.len(), file.receipt.dead_ends, file.receipt.unknown), (5, 1, 0));
        let all = super::super::testing::json(&file);
        assert_eq!(
            [&all[1], &all[3]],
            [
                r#"{"role":"custom","customType":"notes","content":[{"type":"text","text":"by \"us\""}],"display":false,"timestamp":2000}"#,
                r#"{"role":"branchSummary","summary":"found \"it\"","fromId":"d","timestamp":0}"#,
            ]
        );
        assert_eq!((file.calls[0].sent, file.compactions[0].first_kept_index), (2, 3));
    }

    #[test]
    fn the_last_edit_of_a_message_counts_on_its_branch_only() {
        let edit = |id: &str, parent: &str, target: &str, replacement: &str| {
            format!(
                r#"{{"type":"context_edit","id":"{id}","parentId":"{parent}","targetId":"{target}","replacement":{replacement}}}"#
            )
        };
        let text = [
            message("user", "ask", "a", "null"),
            message("assistant", "failed", "b", "\"a\""),
            edit("c", "b", "b", "null"),
            message("assistant", "long", "d", "\"c\""),
            r#"{"type":"custom_message","id":"e","parentId":"d","customType":"n","content":"note"}"#
                .into(),
            edit("f", "e", "d", r#"{"content":"first"}"#),
            edit("g", "f", "d", r#"{"content":"short"}"#),
            edit("h", "g", "e", r#"{"content":[]}"#),
            edit("i", "h", "never written", "null"),
            edit("j", "i", "a", "7"),
            r#"{"type":"usage","id":"k","parentId":"j","kind":"cache_warm","usage":{"cacheRead":9}}"#
                .into(),
        ]
        .join("\n");
        let file = read(&lines(&text), None).expect("read");
        let all = super::super::testing::json(&file);
        let sent = [&all[0], &all[1], &all[2]].map(|it| Object::of(it).get("content"));
        let short = r#"[{"type":"text","text":"short"}]"#;
        assert_eq!((all.len(), sent), (3, [Some("\"ask\""), Some(short), Some("[]")]));
        assert!(all[1].starts_with(r#"{"role":"assistant","usage":{"#), "{}", all[1]);
        assert_eq!((file.calls.len(), file.receipt.dead_ends, file.receipt.unknown), (1, 1, 0));
        let before = read(&lines(&text), Some("d")).expect("read");
        assert_eq!(texts(&before), ["ask", "long"], "the edit after it is none on its branch");
    }

    #[test]
    fn a_compaction_that_holds_the_prompt_keeps_the_messages_that_declared_it() {
        let text = |checkpoint: &str| {
            [
                message("system", "prompt", "a", "null"),
                message("user", "one", "b", "\"a\""),
                message("system", "more", "c", "\"b\""),
                message("assistant", "two", "d", "\"c\""),
                message("system", "kept anyway", "e", "\"d\""),
                format!(
                    r#"{{"type":"compaction","id":"f","parentId":"e","summary":"s","firstKeptEntryId":"d"{checkpoint}}}"#
                ),
            ]
            .join("\n")
        };
        let kept = |text: &str| read(&lines(text), None).expect("read").compactions[0].kept.clone();
        let checkpoint = r#","systemMessage":{"role":"system"}"#;
        assert_eq!(kept(&text(checkpoint)), [[0, 1], [2, 3]]);
        assert_eq!(kept(&text("")), [[0_u32; 2]; 0], "in older files it is declared once more");
    }

    #[test]
    fn another_leaf_may_be_asked_for() {
        let text = tree();
        assert_eq!(
            texts(&read(&lines(&text), Some("c")).expect("read")),
            ["hello", "first try", "left"]
        );
        let error = read(&lines(&text), Some("zz")).expect_err("no such entry");
        assert_eq!(error.to_string(), "leaf: expected the id of an entry of this file, got zz");
    }

    #[test]
    fn without_ids_a_file_is_linear_and_compactions_count_lines() {
        let text = [
            r#"{"type":"session","version":1,"cwd":"/"}"#,
            r#"{"type":"message","message":{"role":"user","content":"one"}}"#,
            r#"{"type":"model_change"}"#,
            r#"{"type":"message","message":{"role":"assistant","content":"two"}}"#,
            r#"{"type":"compaction","summary":"so far","firstKeptEntryIndex":2,"tokensBefore":99}"#,
            r#"{"type":"message","message":{"role":"user","content":"three"}}"#,
            r#"{"type":"something_new"}"#,
        ]
        .join("\n");
        let file = read(&lines(&text), None).expect("read");
        assert_eq!(texts(&file), ["one", "two", "three"]);
        let record = &file.compactions[0];
        assert_eq!((record.first_kept_index, record.tokens_before), (1, 99));
        assert_eq!((record.summary.as_str(), record.kind), ("so far", "compaction"));
        assert_eq!((file.receipt.read, file.receipt.unknown), (6, 1));
    }

    #[test]
    fn a_broken_line_keeps_its_place_and_a_lost_parent_is_bridged() {
        let broken = message("toolResult", "bad \\* escape", "b", "\"a\"");
        let text = [
            message("user", "one", "a", "\"cut off before the file\""),
            broken,
            message("assistant", "two", "c", "\"b\""),
            message("user", "three", "d", "\"never written\""),
            r#"{"type":"message","id":"e","parentId":"d","message":7}"#.into(),
        ]
        .join("\n");
        let file = read(&lines(&text), None).expect("read");
        assert_eq!(texts(&file), ["one", "two", "three"]);
        assert_eq!(file.receipt.bridged, 1);
        let broken: Vec<u32> = file.receipt.broken.iter().map(|broken| broken.line).collect();
        assert_eq!(broken, [2, 5]);
    }

    #[test]
    fn kept_entries_are_found_by_id_and_details_are_taken() {
        let text = format!(
            "{}\n{}\n{}",
            message("user", "one", "a", "null"),
            message("assistant", "two", "b", "\"a\""),
            r#"{"type":"compaction","id":"c","parentId":"b","summary":"s","firstKeptEntryId":"b","details":{"readFiles":["x.rs"]}}"#
        );
        let file = read(&lines(&text), None).expect("read");
        let record = &file.compactions[0];
        assert_eq!((record.first_kept_index, record.id.as_str()), (1, "c"));
        assert_eq!(record.details.read_files, ["x.rs"]);
    }

    #[test]
    fn a_circle_and_a_long_chain_end() {
        let circle = format!(
            "{}\n{}",
            message("user", "a", "a", "\"b\""),
            message("user", "b", "b", "\"a\"")
        );
        assert_eq!(read(&lines(&circle), None).expect("read").messages.len(), 2);
        let mut long = message("user", "0", "0", "null");
        for n in 1..20_000 {
            long.push('\n');
            long.push_str(&message("user", "n", &n.to_string(), &format!("\"{}\"", n - 1)));
        }
        assert_eq!(read(&lines(&long), None).expect("read").messages.len(), 20_000);
    }

    #[test]
    fn a_system_message_declares_the_system_prompt_and_the_tools() {
        let declare = |members: &str| {
            format!(
                r#"{{"type":"session","version":3,"id":"s"}}
{{"type":"message","id":"a","parentId":null,"message":{{"role":"system","content":""{members}}}}}"#
            )
        };
        let absent = |text: &str| read(&lines(text), None).expect("read").receipt.absent;
        assert_eq!(absent(&tree()), ["system", "tools", "window"]);
        assert_eq!(absent(&declare(r#","sections":{"a":"rules"}"#)), ["tools", "window"]);
        assert_eq!(absent(&declare(r#","toolsAdded":[{"name":"read"}]"#)), ["window"]);
        // On a branch that the conversation left, it declares nothing for this one.
        let left = [&declare(""), &*message("user", "hello", "b", "null")].join("\n");
        assert_eq!(absent(&left), ["system", "tools", "window"]);
    }
}
