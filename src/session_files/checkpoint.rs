//! A checkpoint, i.e. a summary made ahead of time, as `OpenClaw` and we write it: one line beside the messages (G41).

use super::file::{CheckpointContent, CheckpointRecord, SessionFile};
use super::lines::Line;
use super::raw::{Object, list};
use super::record::resumed;

/// Whether a line is of that shape: others write lines of this type, too.
pub(super) fn is_one(line: &Line<'_>) -> bool {
    let has_summary = |it: Object<'_>| it.text("summary").is_some();
    line.fields.is("type", "checkpoint")
        && line.fields.object("checkpoint").is_some_and(has_summary)
}

/// The record of a line; none, if it has no such checkpoint.
pub(super) fn read(line: &Line<'_>, file: &SessionFile) -> Option<CheckpointRecord> {
    let content = line.fields.object("checkpoint")?;
    let id = line.fields.text("id");
    Some(CheckpointRecord {
        kind: "checkpoint",
        id: id.map_or_else(|| format!("checkpoint-{}", line.number), Into::into),
        timestamp: line.fields.text("timestamp").unwrap_or_default().into(),
        checkpoint: CheckpointContent {
            summary: content.text("summary")?.into(),
            tokens_at_checkpoint: content.number("tokensAtCheckpoint").unwrap_or(0),
            message_count_at_checkpoint: covered(&content, file),
            topics: list(&content, "topics"),
            open_questions: list(&content, "openQuestions"),
            key_decisions: list(&content, "keyDecisions"),
        },
    })
}

/// How many messages it covers of those that the session goes on with. Its writer may have counted the whole conversation, also what a
/// compaction had replaced by then. If both are possible it is the smaller number: what is not covered is summarized again, and not lost.
fn covered(content: &Object<'_>, file: &SessionFile) -> u32 {
    let count = content.number("messageCountAtCheckpoint").unwrap_or(0);
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let total = file.len();
    let now = resumed(file);
    let replaced = if count > now { total.saturating_sub(now) } else { 0 };
    count.saturating_sub(replaced).min(now)
}

#[cfg(test)]
mod tests {
    use super::super::{SessionFile, read_session};

    fn session(lines: &[&str]) -> SessionFile {
        let header = r#"{"type":"session","version":3,"id":"s","cwd":"/"}"#;
        read_session([&[header], lines].concat().join("\n").as_bytes(), None).expect("read")
    }

    const USER_LINE: &str = r#"{"type":"message","message":{"role":"user","content":"x"}}"#;
    const FOLD: &str = r#"{"type":"compaction","id":"f","summary":"s","firstKeptIndex":3}"#;

    fn checkpoint(count: &str) -> String {
        format!(
            r#"{{"type":"checkpoint","id":"c","timestamp":"t","checkpoint":{{"summary":"so far","tokensAtCheckpoint":9,"messageCountAtCheckpoint":{count},"topics":["a",1],"keyDecisions":["b"]}}}}"#
        )
    }

    /// Row F119.
    #[test]
    fn a_checkpoint_is_read_with_its_content() {
        let file = session(&[USER_LINE, USER_LINE, &checkpoint("2")]);
        let [record] = &file.checkpoints[..] else { panic!("one") };
        let content = &record.checkpoint;
        assert_eq!((record.id.as_str(), record.timestamp.as_str()), ("c", "t"));
        assert_eq!((content.summary.as_str(), content.tokens_at_checkpoint), ("so far", 9));
        assert_eq!(
            (content.topics.concat(), content.key_decisions.concat()),
            ("a".into(), "b".into())
        );
        assert!(content.open_questions.is_empty());
        assert_eq!((file.receipt.read, file.receipt.unknown), (4, 0));
    }

    #[test]
    fn a_line_of_another_shape_is_not_read() {
        for bad in [r#"{"type":"checkpoint","id":"c"}"#, r#"{"type":"checkpoint","checkpoint":{}}"#]
        {
            let file = session(&[USER_LINE, bad]);
            assert!(file.checkpoints.is_empty());
            assert_eq!((file.receipt.read, file.receipt.unknown), (2, 1));
        }
    }

    #[test]
    fn messages_are_counted_as_the_session_goes_on_with_them() {
        let of = |lines: &[&str]| {
            let file = session(lines);
            let checkpoints = file.checkpoints.iter();
            checkpoints.map(|it| it.checkpoint.message_count_at_checkpoint).collect::<Vec<_>>()
        };
        assert_eq!(of(&[USER_LINE, USER_LINE, &checkpoint("7")]), [2], "not more than there were");
        assert_eq!(of(&[USER_LINE, USER_LINE, &checkpoint("-1")]), [0]);
        assert_eq!(
            of(&[USER_LINE, USER_LINE, USER_LINE, &checkpoint("2"), FOLD]),
            [0u32; 0],
            "the fold is newer"
        );
        // The head, the message that was kept, and one more: 3, of 5 in the whole conversation.
        let folded = [USER_LINE, USER_LINE, USER_LINE, USER_LINE, FOLD, USER_LINE];
        assert_eq!(of(&[&folded[..], &[&checkpoint("5")]].concat()), [3]);
        assert_eq!(of(&[&folded[..], &[&checkpoint("4")]].concat()), [2]);
        assert_eq!(of(&[&folded[..], &[&checkpoint("3")]].concat()), [3]);
    }
}
