//! A JSONL file as lines: each with its members, or with the reason why it has none.

use super::raw::{Fields, MAX_DEPTH, depth, is_object};

/// Whose lines they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    /// pi or `OpenClaw`.
    Pi,
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// One message of a provider's API in each line.
    Messages,
}

/// A line with something in it.
#[derive(Debug)]
pub(super) struct Line<'a> {
    /// From 1, as an editor counts.
    pub(super) number: u32,
    /// The line's JSON text.
    pub(super) text: &'a str,
    /// Its members; of a broken line those before the fault.
    pub(super) fields: Fields<'a>,
    /// Why it could not be read.
    pub(super) fault: Option<String>,
}

/// All lines but blank ones.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let numbered = (1_u32..).zip(text.split('\n'));
    let filled = numbered.map(|(number, line)| (number, line.trim()));
    filled.filter(|(_, line)| !line.is_empty()).map(|(number, line)| read(number, line)).collect()
}

fn read(number: u32, text: &str) -> Line<'_> {
    let (fields, fault) = Fields::read(text);
    let fault = if text.contains('\0') {
        Some("NUL bytes".into())
    } else if !text.starts_with('{') {
        Some("not a JSON object".into())
    } else if fault.is_none() && depth(text) > MAX_DEPTH {
        Some(format!("nested deeper than {MAX_DEPTH} levels"))
    } else {
        fault
    };
    Line { number, text, fields, fault }
}

/// The first line that says whose file it is.
pub(super) fn writer(lines: &[Line<'_>]) -> Option<Writer> {
    lines.iter().filter(|line| line.fault.is_none()).find_map(|line| recognise(&line.fields))
}

/// Whose line it is, as far as it says.
pub(super) fn recognise(fields: &Fields<'_>) -> Option<Writer> {
    let kind = fields.text("type");
    let kind = kind.as_deref().unwrap_or_default();
    let object = |name| fields.get(name).is_some_and(is_object);
    let codex = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];
    if codex.contains(&kind) && object("payload") {
        return Some(Writer::Codex);
    }
    if (kind == "session" && (fields.has("cwd") || fields.has("version")))
        || (kind == "message" && object("message"))
    {
        return Some(Writer::Pi);
    }
    if (matches!(kind, "user" | "assistant") && object("message"))
        || (fields.has("uuid") && fields.has("sessionId"))
        || (kind == "summary" && fields.has("leafUuid"))
        || (kind == "file-history-snapshot" && fields.has("snapshot"))
        || (kind == "queue-operation" && fields.has("sessionId"))
    {
        return Some(Writer::ClaudeCode);
    }
    let said = fields.has("content") || fields.has("tool_calls");
    (fields.text("role").is_some() && said).then_some(Writer::Messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_as_an_editor_does_and_faults_are_told() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        let text =
            format!("{{\"a\":1}}\r\n\r\n{{\"a\":\0}}\n12\n{{\"id\":\"x\",\n{deep}\n{{\"b\":2}}");
        let lines = lines(&text);
        let told: Vec<_> = lines.iter().map(|line| (line.number, line.fault.as_deref())).collect();
        assert_eq!(
            told,
            [
                (1, None),
                (3, Some("NUL bytes")),
                (4, Some("not a JSON object")),
                (5, Some("EOF while parsing a value at column 10")),
                (6, Some("nested deeper than 127 levels")),
                (7, None),
            ]
        );
        assert!(lines[3].fields.is("id", "x"));
    }

    #[test]
    fn writers_are_recognised_by_any_line() {
        for (line, expected) in [
            (r#"{"type":"session","version":3,"id":"a"}"#, Some(Writer::Pi)),
            (r#"{"type":"message","message":{"role":"user"}}"#, Some(Writer::Pi)),
            (r#"{"type":"user","message":{"role":"user"}}"#, Some(Writer::ClaudeCode)),
            (r#"{"type":"summary","summary":"x","leafUuid":"y"}"#, Some(Writer::ClaudeCode)),
            (r#"{"type":"event_msg","payload":{}}"#, Some(Writer::Codex)),
            (r#"{"role":"user","content":"x"}"#, Some(Writer::Messages)),
            (r#"{"type":"session.start","data":{}}"#, None),
        ] {
            assert_eq!(recognise(&Fields::read(line).0), expected, "{line}");
        }
    }
}
