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

/// Its messages as JSON.
pub(super) fn json(file: &SessionFile) -> Vec<String> {
    file.messages.iter().map(|json| json.to_string()).collect()
}
