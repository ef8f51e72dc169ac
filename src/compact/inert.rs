//! Transcript text as data: nothing in it closes a fence, looks like a marker of ours or of others, or reads as a call.
//!
//! What a reader would take for structure loses its first sign to one that looks like it; code keeps its meaning to a reader.

/// Names of tags that structure prompts, of this package and of others. `|`, also as wide as a letter of Chinese, begins the
/// signs of chat templates.
const TAGS: [&str; 34] = [
    "|",
    "\u{ff5c}",
    "analysis",
    "assistant",
    "context",
    "conversation",
    "data",
    "end_of_turn",
    "function_call",
    "function_calls",
    "function_results",
    "human",
    "im_end",
    "im_start",
    "instructions",
    "invoke",
    "parameter",
    "previous-summary",
    "previous_summary",
    "reasoning",
    "start_of_turn",
    "summary",
    "sys",
    "system",
    "system-reminder",
    "think",
    "thinking",
    "tool_call",
    "tool_calls",
    "tool_response",
    "tool_result",
    "tool_use",
    "transcript",
    "user",
];

/// How markers of compaction and of calls begin, after their bracket.
const MARKERS: [&str; 14] = [
    "/inst]",
    "assistant tool",
    "begin ",
    "compacted",
    "context compaction",
    "context compression",
    "context summary",
    "end ",
    "inst]",
    "previous context",
    "summary pending",
    "tool call",
    "tool_call",
    "truncated",
];

/// What stands in for `<`, for `[` and for a fence's name.
const ANGLE: char = '\u{2039}';
const BRACKET: char = '\u{27e6}';
const NAME: &str = "\u{2026}";

/// The text with nothing left in it that a reader could take for structure, nor the fence's name. Linear, idempotent.
pub(super) fn inert(text: &str, nonce: &str) -> String {
    let mut seen: String = text.chars().filter(|sign| !is_hidden(*sign)).collect();
    if !nonce.is_empty() && seen.contains(nonce) {
        seen = seen.replace(nonce, NAME);
    }
    let lower = seen.to_ascii_lowercase();
    let mut out = String::with_capacity(seen.len());
    let mut before = ' ';
    for (at, sign) in seen.char_indices() {
        let after = lower.get(at.saturating_add(1)..).unwrap_or_default();
        match sign {
            '<' if is_tag(after) => out.push(ANGLE),
            '[' if MARKERS.iter().any(|marker| after.starts_with(marker)) => out.push(BRACKET),
            '(' if after.starts_with('{') && is_word(before) => out.push_str("( "),
            _ => out.push(sign),
        }
        before = sign;
    }
    out
}

/// Whether a line reads as a call that was written out: `shell({"command": ...`.
pub(super) fn is_call(line: &str) -> bool {
    let line = line.trim_start_matches(['-', '*', ' ', '`']);
    let name = line.find(|sign| !is_word(sign) && sign != '.').unwrap_or(line.len());
    name > 0 && line.get(name..).is_some_and(|rest| rest.starts_with("({"))
}

fn is_tag(after: &str) -> bool {
    let name = after.strip_prefix('/').unwrap_or(after);
    let name = name.strip_prefix("antml:").unwrap_or(name);
    TAGS.iter().any(|tag| {
        let rest = name.strip_prefix(tag);
        rest.is_some_and(|rest| {
            matches!(*tag, "|" | "\u{ff5c}")
                || !rest.starts_with(|next| is_word(next) || next == '-')
        })
    })
}

fn is_word(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_'
}

/// Signs that show nothing and may part a word or carry text unseen: controls, marks of direction, tags.
fn is_hidden(sign: char) -> bool {
    matches!(
        sign,
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NONCE: &str = "0123456789abcdef";

    /// Row A2.
    #[test]
    fn fences_markers_and_calls_in_a_transcript_become_plain_text() {
        for (input, expected) in [
            ("a </summary> b", "a \u{2039}/summary> b"),
            ("<PREVIOUS-summary>", "\u{2039}PREVIOUS-summary>"),
            ("<|im_start|>system", "\u{2039}|im_start|>system"),
            ("<\u{ff5c}User\u{ff5c}>", "\u{2039}\u{ff5c}User\u{ff5c}>"),
            ("<<SYS>> <</SYS>>", "<\u{2039}SYS>> <\u{2039}/SYS>>"),
            (
                "<end_of_turn>\n<start_of_turn>model",
                "\u{2039}end_of_turn>\n\u{2039}start_of_turn>model",
            ),
            ("[COMPACTED] x", "\u{27e6}COMPACTED] x"),
            ("[Context Compression Summary]", "\u{27e6}Context Compression Summary]"),
            ("<sum\u{202e}mary>", "\u{2039}summary>"),
            ("END 0123456789abcdef", "END \u{2026}"),
        ] {
            assert_eq!(inert(input, NONCE), expected);
        }
    }

    #[test]
    fn code_is_not_changed() {
        for text in
            ["Vec<String> a < b", "list[0]", "<div class=x>", "<users>", "f(x, {})", "a\tb\n"]
        {
            assert_eq!(inert(text, NONCE), text);
        }
    }

    /// Row F23.
    #[test]
    fn text_that_reads_as_a_call_is_recognized() {
        assert_eq!(inert(r#"shell({"command": "x"})"#, ""), r#"shell( {"command": "x"})"#);
        assert!(is_call(r#"shell({"command": "x"})"#));
        assert!(is_call("- functions.exec({})"));
        assert!(!is_call("ran shell with a command"));
        assert!(!is_call("({})"));
    }

    proptest! {
        /// Row A2.
        #[test]
        fn any_text_is_inert_after_one_pass(
            text in r"(</?(summary|think|conversation|\|im_end)>?|\[(COMPACTED|Truncated|end )\]?|[a-z]\(\{|0123456789abcdef|01234567|89abcdef|[\n é\u{202e}<\[({]){0,30}",
        ) {
            let once = inert(&text, NONCE);
            prop_assert!(!once.contains(NONCE));
            let lower = once.to_lowercase();
            for sign in ["<summary>", "</summary>", "</conversation>", "<think>", "<|im_end", "[compacted", "[end ", "a({"] {
                prop_assert!(!lower.contains(sign), "{} in {}", sign, once);
            }
            prop_assert_eq!(inert(&once, NONCE), once);
        }
    }
}
