//! A compaction as pi, `OpenClaw` and we write it, one line beside the messages, and what a session goes on with after it.

use super::file::{CompactionRecord, Resume, SessionFile};
use super::lines::Line;
use super::raw::{Object, items, list, quote};
use super::time::millis;

/// Stands before a summary whose record does not say what the model was sent for it (G43).
const PREVIOUS: &str = "[Previous context summary]\n";

/// The record of a line. Where the first entry kept was found by its id, that is where; else our own index says, where it can.
/// The messages kept before it are told by index too, and hold only if that is of this file.
pub(super) fn read(line: &Line<'_>, by_entry: Option<u32>, messages: u32) -> CompactionRecord {
    let fields = &line.fields;
    let index = fields.number("firstKeptIndex").and_then(|index| u32::try_from(index).ok());
    let index = index.filter(|&index| index <= messages);
    let id = fields.text("firstKeptEntryId");
    let by_index = index.filter(|_| id.is_none());
    let first = by_entry.or(by_index).unwrap_or(messages);
    let mut record = CompactionRecord::at(line, first);
    record.at = messages;
    record.first_kept_entry_id = id.map(Into::into);
    record.summary = fields.text("summary").unwrap_or_default().into();
    record.head = fields.text("head").unwrap_or_default().into();
    record.tokens_before = fields.number("tokensBefore").unwrap_or(0);
    record.tokens_after = fields.number("tokensAfter").unwrap_or(0);
    record.degraded = fields.flag("degraded");
    record.lost = list(fields, "lost");
    if index == Some(first) {
        record.kept = kept(fields, first);
    }
    if let Some(details) = fields.object("details") {
        let found = &mut record.details;
        found.read_files = list(&details, "readFiles");
        found.modified_files = list(&details, "modifiedFiles");
        found.commands = list(&details, "commands");
        found.errors = list(&details, "errors");
        found.identifiers = list(&details, "identifiers");
    }
    record
}

/// Ranges in order, none beyond the first message kept.
fn kept(fields: &Object<'_>, first: u32) -> Vec<[u32; 2]> {
    let mut end = 0;
    let mut ranges = Vec::new();
    for range in fields.get("kept").map(items).unwrap_or_default() {
        let ends: Vec<u32> = items(range).iter().filter_map(|it| it.parse().ok()).collect();
        if let &[from, to] = ends.as_slice()
            && end <= from
            && from < to
            && to <= first
        {
            ranges.push([from, to]);
            end = to;
        }
    }
    ranges
}

/// The last compaction, if it says what stands for the rest.
fn last(file: &SessionFile) -> Option<&CompactionRecord> {
    file.compactions.last().filter(|it| !it.head.is_empty() || !it.summary.is_empty())
}

/// How many messages a session goes on with.
pub(super) fn resumed(file: &SessionFile) -> u32 {
    let Some(last) = last(file) else { return file.len() };
    let kept = last.kept.iter().map(|[from, to]| to.saturating_sub(*from));
    let later = file.len().saturating_sub(last.first_kept_index);
    kept.fold(later.saturating_add(1), u32::saturating_add)
}

/// What a session goes on with: after its last compaction, if that says what stands for the rest.
pub(super) fn resume(file: &SessionFile) -> Option<Resume> {
    let last = last(file)?;
    let joined = match (last.head.as_str(), last.summary.as_str()) {
        ("", summary) => format!("{PREVIOUS}{summary}"),
        (head, _) => head.into(),
    };
    let at = millis(&quote(&last.timestamp)).unwrap_or(0);
    let (text, mut kept) = (quote(&joined), last.kept.clone());
    kept.push([last.first_kept_index, file.len()]);
    let head = format!(
        r#"{{"role":"user","content":[{{"type":"text","text":{text}}}],"timestamp":{at}}}"#
    );
    Some(Resume { head, kept })
}

#[cfg(test)]
mod tests {
    use super::super::{SessionFile, read_session};

    fn message(role: &str, id: &str) -> String {
        format!(
            r#"{{"type":"message","id":"{id}","message":{{"role":"{role}","content":"{id}"}}}}"#
        )
    }

    fn session(lines: &[&str]) -> SessionFile {
        let header = r#"{"type":"session","version":3,"id":"s","cwd":"/"}"#;
        let text = [&[header], lines].concat().join("\n");
        read_session(text.as_bytes(), None).expect("read")
    }

    /// Ids as `OpenClaw` writes them: random, so that none says what came first.
    fn four() -> [String; 4] {
        [
            message("user", "f3a1"),
            message("assistant", "0b22"),
            message("user", "9c00"),
            message("assistant", "1d4e"),
        ]
    }

    fn resumed(file: &SessionFile) -> (String, Vec<[u32; 2]>) {
        let resume = file.resume.clone().expect("a compaction");
        (resume.head, resume.kept)
    }

    /// Row G53.
    #[test]
    fn kept_messages_are_found_by_order_and_not_by_the_text_of_ids() {
        let [a, b, c, d] = four();
        let record = r#"{"type":"compaction","id":"e0","summary":"so \"far\"","firstKeptEntryId":"9c00","tokensBefore":9,"details":{"readFiles":["x"]},"fromHook":false}"#;
        let file = session(&[&a, &b, &c, record, &d]);
        let (head, kept) = resumed(&file);
        assert_eq!(kept, [[2, 4]]);
        assert!(head.contains(r#""[Previous context summary]\nso \"far\"""#), "{head}");
        assert_eq!(file.messages.len(), 4, "the whole conversation stays");
    }

    /// Row G43.
    #[test]
    fn the_last_compaction_wins_and_one_without_an_entry_keeps_what_follows() {
        let [a, b, c, d] = four();
        let first = r#"{"type":"compaction","id":"e0","summary":"one","firstKeptEntryId":"0b22"}"#;
        let second =
            r#"{"type":"compaction","id":"e1","summary":"two","firstKeptEntryId":"never written"}"#;
        let (head, kept) = resumed(&session(&[&a, &b, first, &c, second, &d]));
        assert!(head.contains("two") && !head.contains("one"), "{head}");
        assert_eq!(kept, [[3, 4]]);
    }

    #[test]
    fn our_own_record_is_read_back_complete() {
        let [a, b, c, d] = four();
        let record = r#"{"type":"compaction","id":"1700000000000_000001","timestamp":"1970-01-01T00:00:02Z","summary":"s","firstKeptEntryId":null,"firstKeptIndex":3,"kept":[[0,1],[2,3],[2,9],[1,2]],"head":"HEAD","tokensBefore":9,"tokensAfter":4,"details":{"modifiedFiles":["m"],"readFiles":["r"],"commands":["c"],"errors":["e"],"identifiers":["i"]},"lost":["l"],"degraded":true}"#;
        let file = session(&[&a, &b, &c, &d, record]);
        let found = &file.compactions[0];
        assert_eq!((found.first_kept_index, found.kept.as_slice()), (3, &[[0, 1], [2, 3]][..]));
        assert_eq!((found.tokens_before, found.tokens_after, found.degraded), (9, 4, true));
        let details = &found.details;
        let lists =
            [&details.modified_files, &details.read_files, &details.commands, &details.errors];
        assert_eq!(lists.map(|list| list.concat()).concat(), "mrce");
        assert_eq!((details.identifiers.concat(), found.lost.concat()), ("i".into(), "l".into()));
        let (head, kept) = resumed(&file);
        assert_eq!(
            head,
            r#"{"role":"user","content":[{"type":"text","text":"HEAD"}],"timestamp":2000}"#
        );
        assert_eq!(kept, [[0, 1], [2, 3], [3, 4]]);
    }

    #[test]
    fn indexes_of_another_history_keep_nothing() {
        let [a, b, c, d] = four();
        let with = |id: &str, index: u32| {
            format!(
                r#"{{"type":"compaction","id":"e0","summary":"s","firstKeptEntryId":{id},"firstKeptIndex":{index},"kept":[[0,1]]}}"#
            )
        };
        assert_eq!(resumed(&session(&[&a, &b, &c, &d, &with("\"9c00\"", 3)])).1, [[2, 4]]);
        assert_eq!(resumed(&session(&[&a, &b, &c, &d, &with("\"9c00\"", 2)])).1, [[0, 1], [2, 4]]);
        assert_eq!(resumed(&session(&[&a, &b, &c, &d, &with("null", 99)])).1, [[4, 4]]);
    }

    #[test]
    fn an_empty_record_removes_nothing() {
        let [a, b, c, d] = four();
        assert_eq!(session(&[&a, &b, &c, &d]).resume, None);
        let empty = r#"{"type":"compaction","id":"e0","summary":"","firstKeptEntryId":"1d4e"}"#;
        assert_eq!(session(&[&a, &b, &c, &d, empty]).resume, None);
    }

    /// Row F129.
    #[test]
    fn a_line_of_ten_megabytes_a_bad_line_and_unknown_types_are_no_hindrance() {
        let [a, b, c, d] = four();
        let long = message("user", &"x".repeat(10_000_000));
        let checkpoint =
            r#"{"type":"checkpoint","id":"k","content":{"summary":"s"},"tokensAtCheckpoint":5}"#;
        let record = r#"{"type":"compaction","id":"e0","summary":"s","firstKeptEntryId":"9c00"}"#;
        let cut = r#"{"type":"message","id":"#;
        let file = session(&[&a, &b, cut, &long, &c, checkpoint, record, &d]);
        assert_eq!((file.messages.len(), resumed(&file).1), (5, vec![[3, 5]]));
        let receipt = &file.receipt;
        assert_eq!((receipt.lines, receipt.unknown, receipt.broken.len()), (9, 1, 1));
        assert_eq!((receipt.broken[0].line, receipt.kinds.get("checkpoint")), (4, Some(&1)));
    }
}
