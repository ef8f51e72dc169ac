//! Options of a session, checked once.

use crate::argument::OptionsReader;
use crate::compact::{Earlier, SUMMARY, check_summary};
use crate::context::mode::Mode;
use crate::context::policy_options::{SHARE_PLACES, TOKENS, policy};
use crate::context::session::tier_options::Tiers;
use crate::error::{Error, Result};
use crate::estimate::{Estimator, image_tokens};
use crate::format::Format;
use crate::prune::{Folds, Policy};
use crate::validity::Provider;

/// What the host chose.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent choices of the host, not a state")]
pub struct Options {
    /// Whether requests are decided on, and by which window.
    pub mode: Mode,
    /// The message format, or `None`: the first messages show it.
    pub format: Option<Format>,
    /// Whose rules hold, or `None`: the format's own provider's.
    pub provider: Option<Provider>,
    /// What tokens are estimated by.
    pub estimator: Estimator,
    /// Tokens of an image, and of a page of a document.
    pub image_tokens: u32,
    /// Every request is the history as it was passed.
    pub noop: bool,
    /// The policy.
    pub policy: Policy,
    /// Lost signatures of Gemini's calls are made up for by the documented sentinel.
    pub signs: bool,
    /// What becomes of a fold.
    pub folds: Folds,
    /// The host has a summarizer: a fold that can wait for it does.
    pub summarizes: bool,
    /// Secrets are taken out of what the core lists by itself.
    pub redacts: bool,
    /// The host's system prompt is to say that there is a summary.
    pub note: bool,
    /// Tokens of the summarizer's window.
    pub summary_window: u64,
    /// The last checkpoint of an earlier process.
    pub checkpoint: Option<Earlier>,
    /// What is loaded of a history, instead of a policy.
    pub tiers: Option<Tiers>,
    /// What reasoning that is kept is bound to, or `None`: what the provider binds it to.
    pub thinking: Option<Thinking>,
    /// Above so many tokens something must go, whatever share of the window that is.
    pub cap: u64,
    /// Whether a replay counts in the provider's tokens if the file has its counts.
    pub calibrate: bool,
    /// Tokens of each request in a replay that are not in the file; `None`: they are found from the file's counts.
    pub unseen: Option<u64>,
    /// Tokens of each summary in a replay, which then has a summarizer; 0: it has none.
    pub summary_tokens: u64,
    /// The session is replayed: its requests are neither written nor checked but leave their messages to the replay, and no later
    /// session goes on from its measures.
    pub is_replayed: bool,
    /// By what estimates are multiplied before they are held against a limit, in thousandths; what a provider counted is not.
    pub margin: u64,
}

/// Options that only a replay has.
const OF_REPLAY: [&str; 3] = ["calibrate", "unseenTokens", "summaryTokens"];
/// A margin of nothing.
pub(in crate::context) const ONE: u64 = 1000;

/// What reasoning that is kept is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(unnameable_types, reason = "options are parsed, never written down")]
pub enum Thinking {
    /// All that stands before it: after a change it goes, or the provider is told to drop it (I12).
    Bound,
    /// Nothing: it stays behind a change.
    Free,
    /// All that stands before it, and after a change all of it goes, the newest too: no hint is needed.
    Drop,
    /// None is kept: the model takes none.
    None,
}

impl Thinking {
    fn parse(name: &str) -> Result<Self> {
        match name {
            "bound" => Ok(Self::Bound),
            "drop" => Ok(Self::Drop),
            "free" => Ok(Self::Free),
            "none" => Ok(Self::None),
            _ => {
                let got = format_args!("\"{name}\"");
                Err(Error::argument("thinking", "one of bound, drop, free, none", got))
            }
        }
    }
}

impl Options {
    /// Reads options from JSON.
    ///
    /// # Errors
    /// `InvalidArgument` names the option and what is allowed.
    pub fn parse(json: &str) -> Result<Self> {
        Self::read(json, &FACADE, &["transient", "tiers", "summarizes"])
    }

    /// As `parse`, for a replay: `economy` may stand beside every preset, since the bill counts with it.
    ///
    /// # Errors
    /// As `parse`.
    pub fn for_replay(json: &str) -> Result<Self> {
        Self::read(json, &OF_REPLAY, &["transient", "economy"])
    }

    /// `facade`: options that stay with it and are not in the JSON. `internal`: what it adds.
    fn read(json: &str, facade: &[&str], internal: &[&str]) -> Result<Self> {
        let mut options = OptionsReader::read(json)?;
        if let Some(own) = of_model(&options) {
            options.overlay(own);
        }
        options.checked(Self::of(&options, facade, internal))
    }

    fn of(options: &OptionsReader<'_>, facade: &[&str], internal: &[&str]) -> Result<Self> {
        let mut policy = policy(options, facade, internal)?;
        let summary = options.inner_or_empty("summary");
        let checkpoint = checkpoint(options, &summary)?;
        let minimum = summary.amount("minimumTokens", 0, TOKENS);
        policy.summary_minimum = minimum.unwrap_or(policy.summary_minimum);
        let summary_tokens = options.amount("summaryTokens", 0, TOKENS).unwrap_or(0);
        let summarizes = options.flag("summarizes").unwrap_or(false) || summary_tokens > 0;
        let window = options.inner_or_empty("window");
        window.refuse_others(&["contextTokens", "maxOutputTokens"], &[]);
        let total = window.amount("contextTokens", 0, TOKENS).unwrap_or(0);
        let reserve = window.amount("maxOutputTokens", 0, TOKENS).unwrap_or(0);
        if total > 0 && reserve >= total {
            window.refuse("maxOutputTokens", &format!("less than window.contextTokens ({total})"));
        }
        let note = policy.seed.as_ref().is_some_and(|seed| seed.note);
        let estimator = match options.get("estimator") {
            // The host's own counter: it stays with the host.
            Some("null") => Some(Estimator::Scaled(1000)),
            _ => options.named("estimator", Estimator::parse),
        };
        Ok(Self {
            mode: Mode::of_window(total, reserve),
            format: match options.get("format") {
                Some(r#""auto""#) => None,
                _ => options.named("format", Format::parse),
            },
            provider: options.named("provider", Provider::parse),
            estimator: estimator.unwrap_or_default(),
            image_tokens: match options.amount("imageTokens", 0, TOKENS) {
                Some(tokens) => u32::try_from(tokens).unwrap_or(u32::MAX),
                None => image_tokens(),
            },
            noop: options.flag("noop").unwrap_or(false),
            policy,
            signs: options.flag("signCalls").unwrap_or(false),
            tiers: options.get("tiers").map(Tiers::read).transpose()?,
            thinking: options.named("thinking", Thinking::parse),
            cap: options.amount("triggerTokens", 0, TOKENS).unwrap_or(u64::MAX),
            margin: margin(options),
            calibrate: options.flag("calibrate").unwrap_or(true),
            unseen: options.amount("unseenTokens", 0, TOKENS),
            summary_tokens,
            is_replayed: false,
            folds: if options.flag("transient").unwrap_or(false) {
                Folds::Never
            } else if summarizes {
                Folds::Deferred
            } else {
                Folds::Carried
            },
            summarizes,
            redacts: summary.flag("redact").unwrap_or(true),
            note: summary.flag("systemNote").unwrap_or(note),
            checkpoint,
            summary_window: match summary.amount("contextTokens", 0, TOKENS) {
                // Not known: nothing is divided for it.
                Some(0) => TOKENS,
                options => options.unwrap_or(total),
            },
        })
    }
}

/// What a model may have of its own.
const OF_MODEL: [&str; 4] = ["trigger", "triggerTokens", "target", "margin"];

/// The thresholds of the host's model: those under the longest key that its name contains (H7). All of them are checked, since the
/// host may change its model when nobody looks any more.
fn of_model<'a>(options: &OptionsReader<'a>) -> Option<OptionsReader<'a>> {
    let model = options.text("model").unwrap_or_default();
    of_models(&model, &options.inner("models")?)
}

#[inline(never)]
fn of_models<'a>(model: &str, models: &OptionsReader<'a>) -> Option<OptionsReader<'a>> {
    let mut found: Option<(usize, OptionsReader<'a>)> = None;
    for name in models.names() {
        let Some(own) = models.inner(name) else { continue };
        own.refuse_others(&OF_MODEL, &[]);
        for share in ["trigger", "target"] {
            own.amount(share, SHARE_PLACES, 1);
        }
        own.amount("triggerTokens", 0, TOKENS);
        margin(&own);
        if model.contains(name) && found.as_ref().is_none_or(|(length, _)| name.len() > *length) {
            found = Some((name.len(), own));
        }
    }
    found.map(|(_, own)| own)
}

/// At least 1: less would let estimates pass that a provider refuses.
fn margin(options: &OptionsReader<'_>) -> u64 {
    options.amount_from("margin", 3, 1, 3).unwrap_or(ONE)
}

/// The checkpoint among the options of summaries. They are checked here, since nobody waits for the compaction that reads them.
fn checkpoint(options: &OptionsReader<'_>, summary: &OptionsReader<'_>) -> Result<Option<Earlier>> {
    summary.refuse_others(&SUMMARY.names(), &[]);
    options.get("summary").map_or(Ok(None), check_summary)
}

/// Options that a replay does not have: functions, the id, how sessions are summarized and measured.
pub(in crate::context) const FACADE: [&str; 11] = [
    "summarize",
    "summary",
    "isSummary",
    "create",
    "key",
    "appendOnly",
    "on",
    "clock",
    "id",
    "imageTokens",
    "noop",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::policy_options::OURS;
    use crate::prune::Prices;

    #[track_caller]
    fn refuses(json: &str, message: &str) {
        assert_eq!(Options::parse(json).unwrap_err().to_string(), message);
    }

    #[test]
    fn an_error_names_the_option_and_what_is_allowed() {
        refuses(
            r#"{"window":{"contextTokens":1000,"maxOutputTokens":1000}}"#,
            "window.maxOutputTokens: expected less than window.contextTokens (1000), got 1000",
        );
        refuses(
            r#"{"window":{"contextTokens":-1}}"#,
            "window.contextTokens: expected a number from 0 to 4294967295, got -1",
        );
        for margin in ["0.5", "4", "-1"] {
            refuses(
                &format!(r#"{{"margin":{margin}}}"#),
                &format!("margin: expected a number from 1 to 3, got {margin}"),
            );
        }
        refuses(r#"{"margin":"x"}"#, r#"margin: expected a number, got "x""#);
        refuses(r#"{"trigger":1.5}"#, "trigger: expected a number from 0 to 1, got 1.5");
        refuses(
            r#"{"target":2,"trigger":1.5,"window":7}"#,
            "trigger: expected a number from 0 to 1, got 1.5",
        );
        refuses(
            r#"{"preset":"balanced","retention":1}"#,
            "retention: expected no `preset` beside it, got 1",
        );
        refuses(r#"{"retention":-1.5}"#, "retention: expected a number from -0.6 to 1.3, got -1.5");
        let unknown = Options::parse(r#"{"stubs":10}"#).unwrap_err().to_string();
        assert!(unknown.starts_with("unknown option stubs; the options are window,"), "{unknown}");
        refuses(
            r#"{"window":{"contextTokens":"1"}}"#,
            "window.contextTokens: expected a number, got \"1\"",
        );
        refuses(r#"{"window":7}"#, "window: expected an object, got 7");
        refuses(
            r#"{"economy":{"cacheRead":0.1}}"#,
            "economy.cacheWrite: expected a number: all four prices together, got nothing",
        );
    }

    #[test]
    fn a_preset_has_its_own_options_and_refuses_the_others_by_name() {
        let presets = Policy::seeds().collect::<Vec<_>>().join(", ");
        let ours = "balanced, economy, retention, capacity";
        for preset in Policy::seeds() {
            for (name, expected) in OURS.map(|name| match name {
                "retention" => (name, "no `preset` beside it".to_string()),
                _ => (name, format!("one of the presets {ours} beside it")),
            }) {
                let options = format!(r#"{{"preset":"{preset}","{name}":1}}"#);
                refuses(&options, &format!("{name}: expected {expected}, got 1"));
            }
            for (name, value) in
                [("turn", "\"user\""), ("stubChars", "9"), ("strategy", "\"discard\"")]
            {
                assert!(
                    Options::parse(&format!(r#"{{"preset":"{preset}","{name}":{value}}}"#)).is_ok()
                );
                refuses(
                    &format!(r#"{{"{name}":{value}}}"#),
                    &format!(
                        "{name}: expected one of the presets {presets} beside it, got {value}"
                    ),
                );
            }
        }
        let more = r#","protectTurns":1,"protectFirst":2,"protectLast":3,"protectTokens":4,"protectTools":["a","b*"]"#;
        for preset in ["balanced", "hermes"] {
            let options = Options::parse(&format!(r#"{{"preset":"{preset}"{more}}}"#)).unwrap();
            let protect = options.policy.protect;
            assert_eq!((protect.turns, protect.first, protect.last, protect.tokens), (1, 2, 3, 4));
            assert!(protect.names("a") && protect.names("bcd") && !protect.names("ab"));
        }
        refuses(
            r#"{"preset":"aceclaw","strategy":"forget"}"#,
            "strategy: expected one of summarize, truncate, discard, got \"forget\"",
        );
        refuses(
            r#"{"preset":"aceclaw","turn":"both"}"#,
            "turn: expected one of user, user-role, got \"both\"",
        );
        refuses(
            r#"{"protectTools":"read"}"#,
            "protectTools: expected a list of tool names or globs, got \"read\"",
        );
        refuses(
            r#"{"preset":"aceclaw","trigger":0.5,"target":0.5}"#,
            "target: expected less than the trigger, got 0.5",
        );
        refuses(r#"{"target":0.95}"#, "target: expected less than the trigger, got 0.95");
    }

    #[test]
    fn with_an_unknown_window_nothing_is_decided() {
        let options = Options::parse("{}").unwrap();
        assert_eq!(options.mode, Mode::Unmanaged);
    }

    #[test]
    fn shares_and_prices_are_scaled_once() {
        let options = Options::parse(
            r#"{"window":{"contextTokens":200000,"maxOutputTokens":8192},"target":0.55,"retention":0.65,
                "economy":{"cacheRead":0.1,"cacheWrite":1.25,"output":5,"cacheTtlMs":300000}}"#,
        );
        let options = options.unwrap();
        assert_eq!((options.mode.usable_tokens(), options.policy.aim), (191_808, Some(5500)));
        assert_eq!(options.policy.prices, Prices::ANTHROPIC);
    }
}
