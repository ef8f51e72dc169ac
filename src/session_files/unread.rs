//! Files of agents that no reader knows, though their records look like another agent's.

use super::lines::Line;
use super::signs::Test::{self, Has, Is, Lacks};
use super::signs::all;

/// What such a file is, and what shows it.
const SIGNS: [(&str, &[Test]); 4] = [
    ("a session of Factory Droid", &[Is("type", &["session_start"])]),
    // Without condensing, its messages are those that were sent.
    (
        "a condensed session of Roo Code",
        &[Has("role"), Has("condenseParent|condenseId|truncationParent|truncationId")],
    ),
    ("a session of goose", &[Is("content.*.type", &["toolRequest", "toolResponse"])]),
    // It shows calls and results as the screen does. Every record of a session has the folder.
    (
        "an export of Qwen Code, not its session (under ~/.qwen/projects)",
        &[Has("uuid"), Has("message.parts|toolCall"), Lacks("cwd|parentUuid")],
    ),
];

/// Such a file shows itself within so many records: no file is searched for it to its end.
const LOOKED_AT: usize = 100;

/// What the file is, if no reader knows its agent.
pub(super) fn unread(records: &[Line<'_>]) -> Option<&'static str> {
    records.iter().take(LOOKED_AT).find_map(|record| {
        SIGNS.iter().find(|(_, tests)| all(tests, &record.fields)).map(|(what, _)| *what)
    })
}

#[cfg(test)]
mod tests {
    use super::super::read_session;

    #[test]
    fn files_of_agents_that_no_reader_knows_are_refused_by_name() {
        let ask = r#"{"type":"message","id":"a","message":{"role":"user","content":[{"type":"text","text":"go"}]}}"#;
        let condensed = r#"{"role":"user","content":"old","ts":1,"condenseParent":"c"}"#;
        let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"n","input":{}}]}"#;
        for (name, file) in [
            ("Factory Droid", format!("{{\"type\":\"session_start\",\"id\":\"s\",\"cwd\":\"/\"}}\n{ask}")),
            ("Roo Code", format!("[{condensed},{call}]")),
            (
                "goose",
                [
                    r#"{"working_dir":"/w","message_count":2}"#,
                    r#"{"role":"user","content":[{"type":"text","text":"go"}]}"#,
                    r#"{"role":"assistant","content":[{"type":"toolRequest","id":"t","toolCall":{}}]}"#,
                ]
                .join("\n"),
            ),
            (
                "Qwen Code, not its session (under ~/.qwen/projects)",
                [
                    r#"{"type":"session_metadata","sessionId":"s"}"#,
                    r#"{"uuid":"b","sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"go"}]}}"#,
                ]
                .join("\n"),
            ),
        ] {
            let error = read_session(file.as_bytes(), None).map(|it| it.format);
            let error = error.expect_err(name).to_string();
            assert!(error.contains(&format!("of {name} (session files that are known")), "{error}");
        }
    }
}
