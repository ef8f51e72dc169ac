//! Helpers for the tests of several readers.

use super::{SessionFile, read_session};

/// A session file of this text.
pub(super) fn open(text: &str) -> SessionFile {
    read_session(text.as_bytes(), None).expect("read")
}

/// The same, line by line.
pub(super) fn open_lines(lines: &[&str]) -> SessionFile {
    open(&lines.join("\n"))
}

/// The models that it names, and how many calls each answered.
pub(super) fn models(file: &SessionFile) -> Vec<(&str, u32)> {
    file.models.iter().map(|model| (&*model.name, model.calls)).collect()
}

/// Its messages as JSON.
pub(super) fn json(file: &SessionFile) -> Vec<String> {
    file.messages.iter().map(|json| json.to_string()).collect()
}
