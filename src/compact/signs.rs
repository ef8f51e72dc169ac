//! Signs that an answer is no summary: the provider's finish reason, and patterns in the text.

use super::inert::is_call;
use crate::compact::fault::{Fault, Why};
use crate::json;
use crate::number::count;

/// How providers say that an answer is not whole. A word that is not known says nothing.
pub(super) fn ended(finish: Option<&str>) -> Result<(), Why> {
    const CUT: [&str; 10] = [
        "length",
        "max_tokens",
        "max_output_tokens",
        "max_completion_tokens",
        "model_length",
        "incomplete",
        "model_context_window_exceeded",
        "pause_turn",
        "token_limit",
        "error",
    ];
    const REFUSED: [&str; 10] = [
        "refusal",
        "content_filter",
        "content_filtered",
        "safety",
        "recitation",
        "blocklist",
        "prohibited_content",
        "spii",
        "guardrail_intervened",
        "language",
    ];
    const CALLED: [&str; 6] = [
        "tool_calls",
        "tool_use",
        "function_call",
        "malformed_function_call",
        "unexpected_tool_call",
        "tool_call",
    ];
    let word = finish.unwrap_or_default().to_ascii_lowercase().replace('-', "_");
    let is = |words: &[&str]| words.contains(&word.as_str());
    if is(&CUT) {
        return Fault::Cut.why("it ran out of tokens");
    }
    if is(&REFUSED) {
        return Fault::Refused.why("a filter stopped it");
    }
    if is(&CALLED) {
        return Fault::Unverified.why("a tool call came");
    }
    Ok(())
}

/// Whether the line is that heading, whatever marks it.
pub(super) fn is_heading(line: &str, heading: &str) -> bool {
    let name = line.trim_start_matches(|sign: char| {
        matches!(sign, '#' | '*' | ' ' | '_' | '.' | ')') || sign.is_ascii_digit()
    });
    let Some(head) = name.get(..heading.len()) else { return false };
    let after =
        name.get(heading.len()..).unwrap_or_default().trim_end_matches(['*', '_', ' ', ':', '#']);
    head.eq_ignore_ascii_case(heading) && (after.is_empty() || after.starts_with([':', '*', '(']))
}

/// Begins as models refuse, in the languages that they do it in.
pub(super) fn is_refusal(body: &str) -> bool {
    const STARTS: [&str; 37] = [
        "i'm sorry",
        "i am sorry",
        "sorry,",
        "sorry but",
        "i apologize",
        "i can't",
        "i cannot",
        "i can not",
        "i'm unable",
        "i am unable",
        "i won't",
        "i will not",
        "i'm not able",
        "i am not able",
        "as an ai",
        "unfortunately, i",
        "i must decline",
        "i have to decline",
        "i do not have access",
        "i don't have access",
        "i'd be happy to help, but",
        "there is no conversation",
        "please provide",
        "no conversation was provided",
        "es tut mir leid",
        "ich kann leider",
        "leider kann ich",
        "je suis désolé",
        "désolé",
        "lo siento",
        "desculpe",
        "申し訳",
        "对不起",
        "抱歉",
        "죄송",
        "Извините",
        "К сожалению",
    ];
    let start: String =
        body.chars().take(120).collect::<String>().to_ascii_lowercase().replace('\u{2019}', "'");
    let start = start.trim_start_matches(|sign: char| !sign.is_alphanumeric());
    STARTS.iter().any(|phrase| start.starts_with(phrase))
}

/// A call instead of a text: as tags, as JSON, or written out.
pub(super) fn calls_tools(body: &str) -> bool {
    const SIGNS: [&str; 10] = [
        "<tool_call",
        "<function_call",
        "<function=",
        "<invoke",
        "<tool_use",
        // Anthropic's own markup and DeepSeek's.
        concat!("<ant", "ml:"),
        "tool\u{2581}call",
        "[tool_calls]",
        "<|tool",
        "to=functions.",
    ];
    let body = unfenced(body);
    let lower = body.to_ascii_lowercase();
    let named = |name: &str| lower.contains(name);
    let is_json = lower.starts_with(['{', '[']) && json::parse(body).is_ok();
    SIGNS.iter().any(|sign| lower.contains(sign))
        || (is_json
            && named("\"name\"")
            && (named("\"arguments\"") || named("\"input\"") || named("\"parameters\"")))
        || body.lines().next().is_some_and(is_call)
}

/// What stands in a fence that is all of a text.
fn unfenced(text: &str) -> &str {
    let inside = text.trim().strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    inside.and_then(|text| text.split_once('\n')).map_or(text, |(_, inside)| inside.trim())
}

/// A shorter passage of the transcript is a quotation, such as a fact in the agent's own words. Bytes.
const LEAST_PASSAGE: usize = 400;
/// So many lines in a row are a passage, however short they are.
const LEAST_LINES: usize = 5;
/// Fewer bytes of passages are a quotation.
const LEAST_ECHO: usize = 200;

/// Lines without what marks them, blank ones left out.
fn bare_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(|line| line.trim().trim_start_matches(['-', '*', '>', ' ']))
        .filter(|line| !line.is_empty())
}

/// Bytes of a window.
const WINDOW: usize = 8;

/// Transcript in which many passages are looked for: each of its windows tells where it first is, so that a passage is compared
/// only where it may be.
struct Searched {
    text: String,
    /// By the hash of a window the end of the first that has it; 0: there is none.
    ends: Vec<u32>,
}

impl Searched {
    fn new<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let mut text = String::new();
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        let mut ends = vec![0; text.len().next_power_of_two()];
        let size = ends.len();
        for (end, window) in (WINDOW..).zip(text.as_bytes().windows(WINDOW)) {
            if let Some(first @ 0) = ends.get_mut(slot(window, size)) {
                *first = count(end);
            }
        }
        Self { text, ends }
    }

    /// Position of a passage, not before this one.
    fn find(&self, passage: &str, from: usize) -> Option<usize> {
        let is_at = |at: usize| self.text.get(at..).is_some_and(|rest| rest.starts_with(passage));
        if is_at(from) {
            return Some(from);
        }
        let mut from = from;
        for (end, window) in (WINDOW..).zip(passage.as_bytes().windows(WINDOW)) {
            let first = *self.ends.get(slot(window, self.ends.len()))?;
            if first == 0 {
                return None;
            }
            from = from.max((first as usize).saturating_sub(end));
        }
        let from = self.text.floor_char_boundary(from);
        let after = self.text.get(from..)?.find(passage)?;
        Some(from.saturating_add(after))
    }
}

/// Place of a window in a table of this size, by its hash.
fn slot(window: &[u8], size: usize) -> usize {
    let hash = window.iter().fold(0_u64, |all, &byte| (all << 8) | u64::from(byte));
    let [.., a, b, c, d] = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    (u32::from_le_bytes([a, b, c, d]) as usize).checked_rem(size).unwrap_or(0)
}

/// Four fifths of it are passages of the input. Single lines of it are not: a good summary repeats facts word by word.
pub(super) fn echoes(body: &str, input: &[&str]) -> bool {
    let lines: Vec<&str> = bare_lines(body).collect();
    let total: usize = lines.iter().map(|line| line.len()).sum();
    if input.is_empty() || total < LEAST_ECHO {
        return false;
    }
    let transcript = Searched::new(input.iter().copied().flat_map(bare_lines));
    let mut own = 0_usize;
    let mut rest = lines.as_slice();
    let mut passage = String::new();
    while let Some((first, after)) = rest.split_first() {
        passage.clear();
        passage.push_str(first);
        rest = after;
        let mut found = 0_usize;
        let mut place = transcript.find(&passage, 0);
        while let Some(at) = place {
            found = found.saturating_add(1);
            let Some((next, after)) = rest.split_first() else { break };
            let length = passage.len();
            passage.push('\n');
            passage.push_str(next);
            // A longer passage is nowhere before the shorter one.
            place = transcript.find(&passage, at);
            if place.is_some() {
                rest = after;
            } else {
                passage.truncate(length);
            }
        }
        if found < LEAST_LINES && (found == 0 || passage.len() < LEAST_PASSAGE) {
            own = own.saturating_add(passage.len());
            if own.saturating_mul(5) > total {
                return false;
            }
        }
    }
    true
}

/// A fence that is not closed, or a heading at the end.
pub(super) fn is_unclosed(body: &str, headings: &[&str]) -> bool {
    let fences = body.lines().filter(|line| line.trim_start().starts_with("```")).count();
    let last = body.lines().next_back().unwrap_or_default();
    !fences.is_multiple_of(2)
        || (last.starts_with('#') && headings.iter().any(|heading| is_heading(last, heading)))
}

/// Nothing stands under its headings (F9).
pub(super) fn is_skeleton(body: &str, headings: &[&str]) -> bool {
    const NOTHING: [&str; 10] =
        ["", "none", "n/a", "na", "nothing", "unknown", "not specified", "empty", "none yet", "no"];
    body.lines().filter(|line| !headings.iter().any(|heading| is_heading(line, heading))).all(
        |line| {
            let lower = line.to_ascii_lowercase();
            NOTHING.contains(&lower.trim_matches(|sign: char| !sign.is_alphanumeric()))
        },
    )
}

#[cfg(test)]
#[path = "signs_tests.rs"]
mod tests;
