//! Whether an answer is a summary: mechanically, by what it is made of (design section 10; F4 to F7, F23).

use super::checkpoint::Checkpoint;
use super::options::Options;
use super::prompt::OPENING;
use super::signs::{calls_tools, echoes, ended, is_heading, is_refusal, is_skeleton, is_unclosed};
use crate::compact::fault::{Fault, Why};
use crate::json;

/// Tells which headings an answer lacks.
pub(super) fn missing(headings: &[&str]) -> String {
    let one = headings.len() == 1;
    let mut out = String::from(if one { "the heading" } else { "the headings" });
    for (at, heading) in headings.iter().enumerate() {
        for piece in [if at == 0 { " \"## " } else { ", \"## " }, heading, "\""] {
            out.push_str(piece);
        }
    }
    out.push_str(if one { " is missing" } else { " are missing" });
    out
}

/// What is asked of an answer.
pub(super) struct Expect<'a> {
    pub(super) headings: &'a [&'a str],
    /// It is a checkpoint, and kept as JSON.
    pub(super) checkpoint: bool,
    /// It must cost less.
    pub(super) below: u32,
    /// What it is made of, where an echo of that would be no summary.
    pub(super) input: &'a [&'a str],
}

/// The body of an answer, ready to be kept: without secrets and structure.
///
/// # Errors
/// What is wrong with it, and how that is told.
pub(super) fn verify(
    answer: &str,
    finish: Option<&str>,
    expect: &Expect<'_>,
    options: &Options,
) -> Result<String, Why> {
    ended(finish)?;
    let Ok(text) = json::string(answer) else { return Fault::Empty.why("no text came") };
    let answer = without_thoughts(&text)?;
    let body = tagged(&answer)?;
    if !body.chars().any(char::is_alphanumeric) {
        return Fault::Empty.why("a blank text came");
    }
    let is_missing = |heading: &&&str| !body.lines().any(|line| is_heading(line, heading));
    let absent: Vec<&str> = expect.headings.iter().filter(is_missing).copied().collect();
    // The summary of a session about a refusal may begin like one: all headings and some length show that it is a summary.
    let has_headings = !expect.headings.is_empty() && absent.is_empty();
    if is_refusal(body) && (!has_headings || body.len() < SHORT) {
        return Fault::Refused.why("a refusal came");
    }
    if calls_tools(body) {
        return Fault::Unverified.why("a tool call came");
    }
    if answer.contains(OPENING) {
        return Fault::Unverified.why("the instructions came back");
    }
    if answer.contains(&*options.nonce) || echoes(body, expect.input) {
        return Fault::Unverified.why("the transcript came back");
    }
    if !absent.is_empty() {
        return Err((Fault::Unverified, missing(&absent).into()));
    }
    if is_unclosed(body, expect.headings) {
        return Fault::Cut.why("the text ends within a section");
    }
    if !expect.headings.is_empty() && is_skeleton(body, expect.headings) {
        return Fault::Empty.why("headings with nothing under them came");
    }
    let body = if expect.checkpoint {
        let checkpoint = Checkpoint::read(body, options);
        if checkpoint.is_blank() {
            return Fault::Empty.why("a blank text came");
        }
        json::write(&checkpoint)
    } else {
        options.safe(body)
    };
    let body = body.trim();
    // Measured last, on what is kept: redaction and escaping change its length.
    if options.tokens(body) >= expect.below {
        return Fault::Inflated.why("it is too long");
    }
    Ok(body.to_owned())
}

/// Those of the texts that do not stand in the summary.
pub(super) fn lost<'a>(summary: &str, texts: impl Iterator<Item = &'a String>) -> Vec<String> {
    texts.filter(|text| !summary.contains(text.trim())).cloned().collect()
}

/// Under so many bytes an answer that begins as a refusal is one, whatever follows.
const SHORT: usize = 600;

/// F097, A86: between the first `<summary>` and the first `</summary>`, else all of it.
fn tagged(text: &str) -> Result<&str, Why> {
    let Some(open) = text.find("<summary>") else { return Ok(text.trim()) };
    let start = open.saturating_add(9);
    let end = text.find("</summary>");
    match end {
        Some(end) if end >= start => Ok(text.get(start..end).unwrap_or_default().trim()),
        Some(_) => Ok(text.trim()),
        None => Fault::Cut.why("the summary is not closed"),
    }
}

/// What a model thought aloud is no part of its answer. Linear: each tag is looked for after the one before.
fn without_thoughts(text: &str) -> Result<String, Why> {
    let mut text = text.to_owned();
    for (open, close) in
        [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<analysis>", "</analysis>")]
    {
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        // Some templates open the thoughts themselves, so that only their end comes.
        if let Some((before, after)) = rest.split_once(close)
            && !before.contains(open)
        {
            rest = after;
        }
        while let Some((before, thoughts)) = rest.split_once(open) {
            out.push_str(before);
            let Some((_, after)) = thoughts.split_once(close) else {
                let fault = if out.trim().is_empty() { Fault::Empty } else { Fault::Cut };
                return fault.why("the thoughts do not end");
            };
            rest = after;
        }
        out.push_str(rest);
        text = out;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "0123456789abcdef";
    const HEADINGS: [&str; 2] = ["Goal", "Next Steps"];
    const GOOD: &str = "## Goal\nFix the parser.\n\n## Next Steps\n- run the tests";

    #[expect(clippy::unwrap_in_result, reason = "the options are right")]
    fn judge(
        answer: &str,
        finish: Option<&str>,
        below: u32,
        input: &[&str],
    ) -> Result<String, Why> {
        let options = Options::parse(&format!(r#"{{"nonce":"{NONCE}","room":9000}}"#)).unwrap();
        verify(
            answer,
            finish,
            &Expect { headings: &HEADINGS, checkpoint: false, below, input },
            &options,
        )
    }

    #[track_caller]
    fn check(text: &str, expected: Result<&str, Fault>) {
        let found = judge(&json::write(&text), None, 500, &[]);
        assert_eq!(found.as_deref().map_err(|(fault, _)| *fault), expected, "{text}");
    }

    /// Row F097.
    #[test]
    fn a_summary_is_the_text_in_its_tags_or_all_of_it() {
        check(GOOD, Ok(GOOD));
        check(&format!("Here:\n<summary>\n{GOOD}\n</summary> bye"), Ok(GOOD));
        check(&format!("</summary><summary>{GOOD}"), Err(Fault::Unverified));
        check(&format!("<think>plan</think>{GOOD}"), Ok(GOOD));
        check(&format!("plan</think>{GOOD}"), Ok(GOOD));
    }

    /// F4: empty, blank, no string, thoughts alone.
    /// Row F4.
    #[test]
    fn an_empty_answer_is_no_summary() {
        for text in [
            "",
            "  \n",
            "<think>only this</think>",
            "<think>only this",
            "<summary>\n</summary>",
            "---",
        ] {
            check(text, Err(Fault::Empty));
        }
        for json in ["null", "42", "{}", "[]", "true", "", "{", "\"a"] {
            assert_eq!(judge(json, None, 500, &[]).unwrap_err().0, Fault::Empty, "{json}");
        }
    }

    /// F5: the provider's own word, and what does not end.
    /// Row F5.
    #[test]
    fn an_answer_cut_by_its_limit_is_no_summary() {
        let good = json::write(&GOOD);
        for word in
            ["length", "max_tokens", "MAX_TOKENS", "model_length", "incomplete", "max-tokens"]
        {
            assert_eq!(judge(&good, Some(word), 500, &[]).unwrap_err().0, Fault::Cut, "{word}");
        }
        for word in ["stop", "end_turn", "STOP", "eos", "something new"] {
            assert!(judge(&good, Some(word), 500, &[]).is_ok(), "{word}");
        }
        check(&format!("<summary>{GOOD}"), Err(Fault::Cut));
        check("## Goal\n```sh\nls\n\n## Next Steps\nx", Err(Fault::Cut));
        check("## Goal\nx\n## Next Steps", Err(Fault::Cut));
    }

    /// Row F6.
    #[test]
    fn a_summary_that_is_longer_than_allowed_is_refused() {
        let tokens = judge(&json::write(&GOOD), None, 500, &[])
            .map(|_| crate::estimate::Estimator::default().tokens(GOOD));
        let tokens = tokens.unwrap();
        assert!(judge(&json::write(&GOOD), None, tokens + 1, &[]).is_ok());
        assert_eq!(judge(&json::write(&GOOD), None, tokens, &[]).unwrap_err().0, Fault::Inflated);
    }

    /// Row F7.
    #[test]
    fn refusals_and_tool_calls_are_no_summary() {
        for text in [
            "I'm sorry, but I can't help with that.",
            "I\u{2019}m unable to summarize this.",
            "As an AI language model, I cannot",
            "Es tut mir leid, das geht nicht.",
            "Lo siento, no puedo.",
            "抱歉，我无法",
            "<summary>I cannot assist</summary>",
        ] {
            check(text, Err(Fault::Refused));
        }
        for text in [
            r#"{"name":"shell","arguments":{"command":"ls"}}"#,
            "<tool_call>{}</tool_call>",
            r#"shell({"command":"ls"})"#,
            "```json\n{\"name\":\"shell\",\"arguments\":{\"command\":\"ls\"}}\n```",
            concat!("<ant", "ml:function_calls>\n</ant", "ml:function_calls>"),
            "<\u{ff5c}tool\u{2581}calls\u{2581}begin\u{ff5c}>shell",
            "<function=shell>",
            "Sure! I will now go on with the parser and run the tests.",
        ] {
            check(text, Err(Fault::Unverified));
        }
        check(
            "## Goal\nI can't reproduce the bug.\n## Next Steps\n- ask",
            Ok("## Goal\nI can't reproduce the bug.\n## Next Steps\n- ask"),
        );
        let options = Options::parse(&format!(r#"{{"nonce":"{NONCE}","room":9000}}"#)).unwrap();
        // A part of a transcript has no headings that would show what it is.
        let part = |text: &str| {
            let expect = Expect { headings: &[], checkpoint: false, below: 5000, input: &["x"] };
            let found = verify(&json::write(&text), None, &expect, &options);
            found.map_or_else(|(fault, _)| Some(fault), |_| None)
        };
        assert_eq!(part("The parser was mended, and its tests pass."), None);
        assert_eq!(part(&"I'm sorry, but I can't help. ".repeat(50)), Some(Fault::Refused));
        let instructions = format!("{OPENING} Answer with <summary>, the text, </summary>.");
        assert_eq!(part(&instructions), Some(Fault::Unverified));
        let echo = format!("BEGIN {NONCE} <summary>, the text, </summary>");
        assert_eq!(part(&echo), Some(Fault::Unverified));
        let good = json::write(&GOOD);
        for (word, fault) in [
            ("SAFETY", Fault::Refused),
            ("refusal", Fault::Refused),
            ("tool_use", Fault::Unverified),
        ] {
            assert_eq!(judge(&good, Some(word), 500, &[]).unwrap_err().0, fault);
        }
    }

    /// Row F7.
    #[test]
    fn an_echo_is_no_summary() {
        let lines: Vec<String> = (1..=8)
            .map(|at| format!("  line {at} of a parser that reads the file, and it does\n"))
            .collect();
        let input = format!("#1 user\n{}", lines.concat());
        let echo = format!("## Goal\n{}## Next Steps\n- go", lines.concat());
        assert_eq!(
            judge(&json::write(&echo), None, 900, &[&input]).unwrap_err().0,
            Fault::Unverified
        );
        assert!(judge(&json::write(&echo), None, 900, &["something else"]).is_ok());
        check(&format!("{GOOD}\nEND {NONCE}"), Err(Fault::Unverified));
    }

    /// What an agent noted between its calls is a summary as it is, word by word.
    /// Row F7.
    #[test]
    fn facts_in_the_agents_words_are_no_echo() {
        let notes: Vec<String> = (10..40)
            .map(|at| format!("conf/unit-{at}.conf retry_budget = {at}7, asked for by the office"))
            .collect();
        let results: Vec<String> = notes.iter().map(|_| "a line of a file\n".repeat(9)).collect();
        let input: Vec<&str> =
            notes.iter().zip(&results).flat_map(|(note, result)| [&**note, &**result]).collect();
        let summary = format!("## Goal\n- {}\n## Next Steps\n- go", notes.join("\n- "));
        assert!(judge(&json::write(&summary), None, 9_000, &input).is_ok());
    }

    /// F7: on the generated body only, in whatever marks them; in another language they are others.
    #[test]
    fn a_summary_without_its_headings_is_refused() {
        check("**Goal:**\nx\n1. Next steps\ny", Ok("**Goal:**\nx\n1. Next steps\ny"));
        check("## Ziel\nx\n## Next Steps\ny", Err(Fault::Unverified));
        check("## Goals of others\nx\n## Next Steps\ny", Err(Fault::Unverified));
        check("<think>## Goal\n## Next Steps</think>a text", Err(Fault::Unverified));
    }

    /// Row F9.
    #[test]
    fn headings_without_text_are_no_summary() {
        check("## Goal\nNone\n## Next Steps\n- (none)", Err(Fault::Empty));
    }

    /// Rows F23, A10.
    #[test]
    fn an_accepted_summary_is_inert_and_without_secrets() {
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        let text = format!(
            "## Goal\nkey {secret}, then shell({{\"a\": 1}})\n## Next Steps\n- [COMPACTED] </summary>"
        );
        let kept = judge(&json::write(&format!("<summary>{text}")), None, 900, &[]).unwrap();
        assert!(
            !kept.contains(&secret) && !kept.contains("({") && !kept.contains("[COMPACTED]"),
            "{kept}"
        );
    }

    #[test]
    fn identifiers_that_the_summary_lacks_are_listed() {
        let texts: Vec<String> = ["src/a.rs", "gone.rs"].map(String::from).to_vec();
        assert_eq!(lost("we changed src/a.rs", texts.iter()), ["gone.rs"]);
    }
}
