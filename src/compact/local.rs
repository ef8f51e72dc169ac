//! A summary without a summarizer (H37): what the previous one said, the parts that were summarized, the last turns in the
//! user's words, and what failed. It tells that it is an extract.

use super::flat::{Message, capped};
use super::options::Options;
use crate::text::prefix;

/// Characters of new words, and of one turn, where all fits; then fewer.
const WORDS: [usize; 5] = [8_000, 4_000, 2_000, 800, 160];
const TURN: usize = 700;
/// Characters of the previous summary: all of it, as long as any new words fit beside it.
const PREVIOUS: [usize; 4] = [usize::MAX, 3_000, 800, 80];
/// Turns and errors that are told of.
const MOST_TURNS: usize = 8;
const MOST_ERRORS: usize = 8;

const OURS: &str = "(An extract: no summary could be made of this part.)";
const EARLIER: &str = "Earlier summary";

/// An extract that costs less than `below` tokens; `None` where that is too little for one.
pub(super) fn extract(
    messages: &[Message],
    parts: &[&str],
    below: u32,
    options: &Options,
) -> Option<String> {
    let sizes = PREVIOUS.iter().flat_map(|earlier| WORDS.map(|words| (*earlier, words)));
    let mut drafts =
        sizes.map(|(earlier, words)| draft(messages, parts, (earlier, words), options));
    drafts.find(|text| options.tokens(text) < below)
}

/// With so many characters of the previous summary and of new words.
fn draft(
    messages: &[Message],
    parts: &[&str],
    (earlier, words): (usize, usize),
    options: &Options,
) -> String {
    let mut out = format!("{OURS}\n");
    if let Some(previous) = &options.previous {
        section(&mut out, EARLIER, &short(unwrapped(previous), earlier));
    }
    let turn = (words / 4).min(TURN);
    let mut new = String::new();
    for part in parts {
        section(
            &mut new,
            "Summary of a part",
            &short(part, (words / 2).checked_div(parts.len()).unwrap_or(0)),
        );
    }
    let mut recent: Vec<String> =
        spoken(messages, "user").take(MOST_TURNS).map(|text| item(text, turn)).collect();
    recent.reverse();
    section(&mut new, "What the user said last", &recent.concat());
    if let Some(reply) = spoken(messages, "assistant").next() {
        section(&mut new, "What was answered last", &short(reply, turn));
    }
    let errors = messages.iter().rev().filter_map(|message| message.error.as_deref());
    let errors: Vec<String> = errors.take(MOST_ERRORS).map(|text| item(text, turn)).collect();
    section(&mut new, "What failed", &errors.concat());
    out.push_str(prefix(new.trim_end(), words));
    out
}

/// A previous summary without what an extract says of itself: one after another, they would say it as often.
fn unwrapped(previous: &str) -> &str {
    let Some(own) = previous.trim_start().strip_prefix(OURS) else { return previous };
    let own = own.trim_start();
    let headed = own.strip_prefix("## ").and_then(|own| own.strip_prefix(EARLIER));
    headed.unwrap_or(own).trim_start()
}

/// What they said, the newest first.
fn spoken<'m>(messages: &'m [Message], role: &'m str) -> impl Iterator<Item = &'m str> {
    let recent = messages.iter().rev().filter(move |it| it.role == role && !it.kept);
    recent.map(|message| message.words.trim()).filter(|words| !words.is_empty())
}

fn short(text: &str, most: usize) -> String {
    capped(text, Some([most, (most / 4).saturating_mul(3), most / 4]))
}

fn item(text: &str, most: usize) -> String {
    format!("- {}\n", short(&text.replace('\n', " "), most))
}

fn section(out: &mut String, name: &str, text: &str) {
    if !text.trim().is_empty() {
        for piece in ["\n## ", name, "\n", text.trim_end(), "\n"] {
            out.push_str(piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(previous: &str) -> Options {
        let json =
            format!(r#"{{"nonce":"0123456789abcdef","room":9000,"previousSummary":"{previous}"}}"#);
        Options::parse(&json).unwrap()
    }

    fn messages(options: &Options) -> Vec<Message> {
        (0..40)
            .map(|at| {
                let (role, kind) = match at % 3 {
                    0 => ("user", "text"),
                    1 => ("assistant", "text"),
                    _ => ("tool", "result"),
                };
                let text = format!("words {at} {}", "of a long message ".repeat(20));
                let json = format!(
                    r#"{{"index":{at},"role":"{role}","parts":[{{"kind":"{kind}","text":"{text}","error":true}}]}}"#
                );
                Message::parse(&json, at, options).unwrap()
            })
            .collect()
    }

    /// Rows F108, H37.
    #[test]
    fn an_extract_contains_the_last_summary_the_last_turns_and_failures() {
        let options = options("we began");
        let text = extract(&messages(&options), &["a part"], 9_000, &options).unwrap();
        for expected in [
            "(An extract",
            "we began",
            "a part",
            "words 39",
            "words 18",
            "words 37",
            "What failed\n- words 38",
        ] {
            assert!(text.contains(expected), "{expected} in {text}");
        }
        assert!(!text.contains("words 15"), "the last eight requests only");
    }

    /// Row F32.
    #[test]
    fn an_extract_of_an_extract_has_one_notice() {
        let mut previous = String::from("we began");
        for _ in 0..4 {
            let options = Options { previous: Some(previous), ..options("") };
            previous = extract(&messages(&options), &[], 9_000, &options).unwrap();
        }
        for once in [OURS, "## Earlier summary", "we began"] {
            assert_eq!(previous.matches(once).count(), 1, "{once} in {previous}");
        }
    }

    /// It is smaller than it must be, whatever that is, or there is none.
    /// Rows F9, F108.
    #[test]
    fn an_extract_fits_and_the_previous_summary_stays() {
        let long = "all that was before. ".repeat(300);
        let options = options(&long);
        let messages = messages(&options);
        for below in [9_000, 3_000, 1_600, 300, 150] {
            let text = extract(&messages, &[], below, &options).unwrap();
            assert!(options.tokens(&text) < below);
            assert_eq!(text.contains(long.trim()), below >= 1_600, "{below}");
            assert!(text.contains("all that was before"), "{below}: {text}");
        }
        assert_eq!(extract(&messages, &[], 5, &options), None);
    }
}
