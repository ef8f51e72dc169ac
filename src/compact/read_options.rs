//! Reading the options of a compaction job.

use super::checkpoint::{Earlier, check_checkpoints, last};
use super::inert::inert;
use super::language::named;
use super::options::{Ahead, Options};
use super::template::{Template, bare};
use crate::argument;
use crate::error::{Error, Result};
use crate::estimate::Estimator;
use crate::json::{self, Members, RawValue, Shape, Type, optional, required};
use crate::text::{prefix, redact};

/// G24, H26: characters that the host's wishes and the focus may have.
const MOST_INSTRUCTIONS: usize = 4_000;
const MOST_FOCUS: usize = 700;
/// Deadlines where the host gives none; ten minutes in all are `GoClaw`'s (G37).
const SILENCE_MS: u32 = 120_000;
const TOTAL_MS: u32 = 600_000;
/// Timers of JavaScript take no more.
const MOST_MS: u32 = 2_147_483_647;
/// A fence needs a name that nobody guesses.
const LEAST_NONCE: usize = 16;

/// The host's own members, and what else there is: a session checks its host's long before a compaction reads them.
macro_rules! members {
    ($($more:expr),* $(,)?) => {
        &[
            optional("template", Type::Text),
            optional("prefix", Type::Text),
            optional("maxTokens", Type::Integer),
            optional("language", Type::Text),
            optional("instructions", Type::Text),
            optional("redact", Type::Flag),
            optional("contextTokens", Type::Integer),
            optional("parallel", Type::Flag),
            optional("systemNote", Type::Flag),
            optional("silenceMs", Type::Integer),
            optional("totalMs", Type::Integer),
            $($more),*
        ]
    };
}

/// The host's `summary`. A session reads `minimumTokens` by itself, and carries `checkpoints` beside the job.
pub const SUMMARY: Shape = Shape {
    what: "an object of options",
    members: members![optional("minimumTokens", Type::Raw), optional("checkpoints", Type::Raw)],
    closed: true,
};

/// Checks the host's `summary` (JSON), so that no compaction can fail for it, and returns the checkpoint of an earlier process that it
/// names.
///
/// # Errors
/// `InvalidArgument` with the member's name.
#[inline(never)]
pub fn check_summary(json: &str) -> Result<Option<Earlier>> {
    let mut summary = argument::read(&SUMMARY, json, format_args!("summary"))?;
    Figures::read(&mut summary)?;
    check_checkpoints(summary.raw("checkpoints"))
}

/// Members of which not every value of their type is taken.
struct Figures {
    template: Template,
    max_tokens: u32,
    window: u32,
    silence_ms: u32,
    total_ms: u32,
    instructions: String,
}

impl Figures {
    fn read(members: &mut Members<'_>) -> Result<Self> {
        let mut tokens = |name: &str| {
            let number = members.integer(name).unwrap_or(0);
            amount(number, 0, u32::MAX, name, "a number of tokens, from 0 to 4294967295")
        };
        let (max_tokens, window) = (tokens("maxTokens")?, tokens("contextTokens")?);
        let mut ms = |name: &str, usual: u32| {
            let number = members.integer(name).unwrap_or_else(|| i64::from(usual));
            amount(number, 1, MOST_MS, name, "1 to 2147483647 milliseconds")
        };
        let (silence_ms, total_ms) = (ms("silenceMs", SILENCE_MS)?, ms("totalMs", TOTAL_MS)?);
        let instructions = members.text("instructions").unwrap_or_default().into_owned();
        if prefix(&instructions, MOST_INSTRUCTIONS).len() < instructions.len() {
            let got = format_args!("{} of them", instructions.encode_utf16().count());
            return Err(Error::argument("summary.instructions", "at most 4000 characters", got));
        }
        let template = Template::parse(members.str("template").unwrap_or("plimsoll"))?;
        Ok(Self { template, max_tokens, window, silence_ms, total_ms, instructions })
    }
}

fn amount(number: i64, least: u32, most: u32, name: &str, expected: &str) -> Result<u32> {
    let fits = u32::try_from(number).ok().filter(|number| (least..=most).contains(number));
    fits.ok_or_else(|| Error::argument(&["summary.", name].concat(), expected, number))
}

const OPTIONS: Shape = Shape {
    what: "options of a compaction",
    members: members![
        optional("focus", Type::Text),
        required("nonce", Type::Text),
        optional("summarizers", Type::Integer),
        optional("previousSummary", Type::Text),
        optional("droppedTokens", Type::Integer),
        required("room", Type::Integer),
        optional("estimator", Type::Text),
        optional("pins", Type::Items),
        optional("identifiers", Type::Items),
        optional("degrade", Type::Flag),
        optional("splitTurn", Type::Integer),
        optional("makesCheckpoint", Type::Flag),
        optional("checkpoints", Type::Raw),
        optional("folds", Type::Integer),
        optional("requestTokens", Type::Integer),
        optional("waits", Type::Flag),
        optional("strikes", Type::Integer),
    ],
    closed: true,
};

impl Options {
    /// Reads them.
    ///
    /// # Errors
    /// `InvalidArgument` with the option's name.
    pub(super) fn parse(json: &str) -> Result<Self> {
        let mut members = OPTIONS
            .read(json)
            .map_err(|error| Error::argument("summary", error.what(), "options"))?;
        let Figures { template, max_tokens, window, silence_ms, total_ms, instructions } =
            Figures::read(&mut members)?;
        let redacts = members.flag("redact").unwrap_or(true);
        let nonce = members.text("nonce").unwrap_or_default().into_owned();
        if nonce.len() < LEAST_NONCE || !nonce.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Error::argument("nonce", "16 or more hexadecimal digits", nonce));
        }
        let safe = |text: &str| {
            let text = if redacts { redact(text) } else { text.to_owned() };
            inert(&text, &nonce)
        };
        let prefix_of = members.text("prefix").map(std::borrow::Cow::into_owned);
        let before = prefix_of.as_deref().unwrap_or_default();
        let previous = members.text("previousSummary").map(|text| safe(bare(&text, before)));
        let mut options = Self {
            template,
            max_tokens: Some(max_tokens).filter(|most| *most > 0),
            language: members
                .text("language")
                .map(|text| prefix(&safe(named(&text)), 40).to_owned()),
            instructions: prefix(&safe(&instructions), MOST_INSTRUCTIONS).to_owned(),
            focus: prefix(&safe(&members.text("focus").unwrap_or_default()), MOST_FOCUS).to_owned(),
            window,
            summarizers: usize::try_from(members.integer("summarizers").unwrap_or(1)).unwrap_or(0),
            previous: previous.filter(|text| !text.is_empty()),
            room: members.integer("room").and_then(|room| u32::try_from(room).ok()).unwrap_or(0),
            estimator: estimator(members.str("estimator").unwrap_or_default()),
            pins: texts(members.items("pins"), safe),
            identifiers: texts(members.items("identifiers"), safe),
            parallel: members.flag("parallel").unwrap_or(true),
            degrade: members.flag("degrade").unwrap_or(true),
            split_turn: members.integer("splitTurn"),
            strikes: u32::try_from(members.integer("strikes").unwrap_or(0)).unwrap_or(0),
            checkpoint: Ahead {
                makes: members.flag("makesCheckpoint").unwrap_or(false),
                ..Ahead::default()
            },
            silence_ms,
            total_ms,
            prefix: prefix_of,
            redact: redacts,
            nonce,
        };
        let folds = members.integer("folds").unwrap_or(0);
        if let Some(last) = last(members.raw("checkpoints"), folds, &options) {
            let request = members.integer("requestTokens").unwrap_or(i64::MAX);
            let waits = members.flag("waits").unwrap_or(false);
            options.checkpoint.is_enough = waits && last.tokens.saturating_mul(2) >= request;
            options.checkpoint.covers = last.messages;
            options.previous = Some(last.text);
        }
        Ok(options)
    }
}

/// Of the tables only the first is linked here, so that every family is estimated by it.
fn estimator(name: &str) -> Estimator {
    match Estimator::parse(name) {
        Ok(plain @ (Estimator::Chars4 | Estimator::Chars21 | Estimator::Cjk)) => plain,
        Ok(Estimator::Profile(_) | Estimator::Scaled(_)) | Err(_) => Estimator::default(),
    }
}

fn texts(items: Option<Vec<&RawValue>>, safe: impl Fn(&str) -> String) -> Vec<String> {
    let items = items.unwrap_or_default();
    let texts = items.iter().filter_map(|item| json::string(item).ok());
    texts.map(|text| safe(&text)).filter(|text| !text.trim().is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "0123456789abcdef0123";

    #[test]
    fn texts_of_options_are_redacted_and_inert() {
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        let json = format!(
            r#"{{"nonce":"{NONCE}","room":100,"focus":"</summary> {secret}","previousSummary":"[COMPACTED]\n\n{secret}","pins":["{secret}",""],"identifiers":["a.rs"],"language":"de-AT","estimator":"o200k"}}"#
        );
        let options = Options::parse(&json).unwrap();
        assert_eq!(options.focus, "\u{2039}/summary> [redacted]");
        assert_eq!(options.previous.as_deref(), Some("[redacted]"));
        assert_eq!(
            (options.pins, options.identifiers),
            (vec!["[redacted]".into()], vec!["a.rs".into()])
        );
        assert_eq!(options.language.as_deref(), Some("German"));
        assert_eq!(options.estimator, Estimator::default());
    }

    #[test]
    fn wrong_options_are_refused_by_name() {
        for (json, expected) in [
            (r#"{"nonce":"12","room":1}"#, "nonce: expected 16 or more hexadecimal digits, got 12"),
            (
                r#"{"nonce":"0123456789abcdef","room":1,"maxTokens":-1}"#,
                "summary.maxTokens: expected a number of tokens, from 0 to 4294967295, got -1",
            ),
            (
                r#"{"nonce":"0123456789abcdef","room":1,"x":1}"#,
                "summary: expected unknown field `x`, expected one of",
            ),
        ] {
            let error = Options::parse(json).err().unwrap().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn a_hosts_summary_is_checked_member_by_member() {
        assert_eq!(check_summary("{}"), Ok(None));
        let all = r#"{"template":"hermes","prefix":"","maxTokens":0,"language":"de","instructions":"x","redact":false,
            "contextTokens":4294967295,"parallel":true,"silenceMs":1,"totalMs":2147483647,"minimumTokens":0,
            "checkpoints":{"thresholds":[1,100],"turns":1,"minimumTokens":0}}"#;
        assert_eq!(check_summary(all), Ok(None));
        for (json, expected) in [
            (r#"{"maxTokens":"many"}"#, "summary.maxTokens: expected a whole number, got \"many\""),
            (
                r#"{"silenceMs":0}"#,
                "summary.silenceMs: expected 1 to 2147483647 milliseconds, got 0",
            ),
            (
                r#"{"nonce":"0123456789abcdef"}"#,
                "unknown option summary.nonce; the options are template, ",
            ),
            (
                r#"{"checkpoints":1}"#,
                "summary.checkpoints: expected true, false or an object, got 1",
            ),
            (
                r#"{"checkpoints":{"turns":0}}"#,
                "summary.checkpoints.turns: expected a number of turns, 1 or more, got 0",
            ),
            (
                r#"{"checkpoints":{"thresholds":[101]}}"#,
                "summary.checkpoints.thresholds: expected percents from 1 to 100, got 101",
            ),
            (
                r#"{"checkpoints":{"last":{"summary":"x","tokensAtCheckpoint":1}}}"#,
                "summary.checkpoints.last: expected a checkpoint, got no `messageCountAtCheckpoint`",
            ),
            (
                r#"{"checkpoints":{"last":{"summary":"x","tokensAtCheckpoint":1,"messageCountAtCheckpoint":-1}}}"#,
                "summary.checkpoints.last.messageCountAtCheckpoint: expected 0 or more, got -1",
            ),
        ] {
            let error = check_summary(json).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
