//! What the host chose, checked once.

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::estimate::Estimator;
use crate::format::Format;
use crate::prune::{Policy, Prices, WHOLE};
use crate::validity::Provider;

/// What the host chose.
#[derive(Clone, Debug)]
pub struct Options {
    /// The model's window; 0: unknown, and nothing is decided.
    pub window: u64,
    /// The window less what is held back for the answer.
    pub usable: u64,
    /// The message format, or `None`: the first messages show it.
    pub format: Option<Format>,
    /// Whose rules hold, or `None`: the format's own provider's.
    pub provider: Option<Provider>,
    /// What tokens are estimated by.
    pub estimator: Estimator,
    /// The policy.
    pub policy: Policy,
    /// Lost signatures of Gemini's calls are made up for by the documented sentinel.
    pub signs: bool,
    /// A fold that only pays is reported, not carried out: a summarizer will do it better.
    pub defer_folds: bool,
}

impl Options {
    /// Reads options from JSON.
    ///
    /// # Errors
    /// `InvalidArgument` names the option and what is allowed.
    pub fn parse(json: &str) -> Result<Self> {
        let all: Map<String, Value> = serde_json::from_str(json)
            .map_err(|error| Error::argument("options", "an object", error))?;
        let given = Given { path: "", members: &all };
        given.refuse_others(&NAMES)?;
        let nothing = Map::new();
        let unknown = Given { path: "window", members: &nothing };
        let window = given.inner("window")?.unwrap_or(unknown);
        window.refuse_others(&["contextTokens", "maxOutputTokens"])?;
        let total = window.amount("contextTokens", 1, TOKENS)?.unwrap_or(0);
        let reserve = window.amount("maxOutputTokens", 1, TOKENS)?.unwrap_or(0);
        if total > 0 && reserve >= total {
            let expected = format!("less than window.contextTokens ({total})");
            return Err(Error::argument("window.maxOutputTokens", &expected, reserve));
        }
        let estimator = match given.members.get("estimator") {
            // The host's own counter: it stays with the host.
            Some(Value::Null) => Some(Estimator::Scaled(1000)),
            _ => given.text("estimator")?.map(Estimator::parse).transpose()?,
        };
        Ok(Self {
            window: total,
            usable: total.saturating_sub(reserve),
            format: match given.text("format")? {
                None | Some("auto") => None,
                Some(name) => Some(Format::parse(name)?),
            },
            provider: given.text("provider")?.map(Provider::parse).transpose()?,
            estimator: estimator.unwrap_or_default(),
            policy: policy(&given)?,
            signs: given.flag("signCalls")?.unwrap_or(false),
            defer_folds: false,
        })
    }
}

/// Every option that is known; protections and the seeds' own ways are not built yet.
const NAMES: [&str; 12] = [
    "window",
    "format",
    "provider",
    "estimator",
    "preset",
    "retention",
    "trigger",
    "target",
    "ingestCap",
    "minimumGainTokens",
    "economy",
    "signCalls",
];

fn policy(given: &Given<'_>) -> Result<Policy> {
    let preset = given.text("preset")?;
    let mut policy = Policy::preset(preset.unwrap_or("balanced"))?;
    if let Some(retention) = given.members.get("retention") {
        if preset.is_some() {
            return Err(given.refused("retention", "no `preset` beside it", retention));
        }
        let number = given.scaled("retention", retention, 1000, "a number from -0.6 to 1.3")?;
        policy = Policy::retaining(number)?;
    }
    let share = |name, default| Ok(given.amount(name, WHOLE, 1)?.unwrap_or(default));
    policy.trigger = share("trigger", policy.trigger)?;
    policy.target = share("target", policy.target)?;
    policy.ingest_cap = share("ingestCap", policy.ingest_cap)?.min(WHOLE);
    let gain = given.amount("minimumGainTokens", 1, TOKENS)?;
    policy.minimum_gain = gain.unwrap_or(policy.minimum_gain);
    if let Some(economy) = given.inner("economy")? {
        economy.refuse_others(&["cacheRead", "cacheWrite", "output", "cacheTtlMs"])?;
        let needed = |name: &str, scale, most| {
            economy.amount(name, scale, most)?.ok_or_else(|| {
                Error::argument(
                    &economy.path_of(name),
                    "a number: all four prices together",
                    "nothing",
                )
            })
        };
        policy.prices = Prices {
            read: needed("cacheRead", 1000, 1000)?,
            write: needed("cacheWrite", 1000, 1000)?,
            output: needed("output", 1000, 1000)?,
            ttl_ms: needed("cacheTtlMs", 1, 1_000_000_000_000_000)?,
        };
    }
    Ok(policy)
}

/// Members of an object of options, and where it stands.
struct Given<'a> {
    path: &'a str,
    members: &'a Map<String, Value>,
}

impl<'a> Given<'a> {
    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.into() } else { format!("{}.{name}", self.path) }
    }

    /// An option that does not exist is an error, never ignored.
    fn refuse_others(&self, known: &[&str]) -> Result<()> {
        match self.members.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => {
                let expected = format!("no such option; there are {}", known.join(", "));
                let got = self.members.get(name).map_or(String::new(), Value::to_string);
                Err(Error::argument(&self.path_of(name), &expected, got))
            }
        }
    }

    fn refused(&self, name: &str, expected: &str, got: &Value) -> Error {
        Error::argument(&self.path_of(name), expected, got)
    }

    fn inner(&self, name: &'a str) -> Result<Option<Self>> {
        match self.members.get(name) {
            None => Ok(None),
            Some(Value::Object(members)) => Ok(Some(Given { path: name, members })),
            Some(other) => Err(self.refused(name, "an object", other)),
        }
    }

    fn text(&self, name: &str) -> Result<Option<&'a str>> {
        match self.members.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.refused(name, "a name", other)),
        }
    }

    fn flag(&self, name: &str) -> Result<Option<bool>> {
        match self.members.get(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(other) => Err(self.refused(name, "true or false", other)),
        }
    }

    /// A number from 0 to `most`, times `scale`, as an integer.
    fn amount(&self, name: &str, scale: u64, most: u64) -> Result<Option<u64>> {
        let Some(value) = self.members.get(name) else { return Ok(None) };
        let expected = format!("a number from 0 to {most}");
        let amount = u64::try_from(self.scaled(name, value, scale, &expected)?).ok();
        let fits = amount.filter(|&amount| amount <= most.saturating_mul(scale));
        fits.map(Some).ok_or_else(|| self.refused(name, &expected, value))
    }

    /// A number times `scale`, as the nearest integer. Floats end here.
    fn scaled(&self, name: &str, value: &Value, scale: u64, expected: &str) -> Result<i64> {
        let number = value.as_f64().ok_or_else(|| self.refused(name, "a number", value))?;
        if !(-1e15..=1e15).contains(&number) {
            return Err(self.refused(name, expected, value));
        }
        #[expect(
            clippy::float_arithmetic,
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            reason = "an option is scaled once, far below where floats lose integers"
        )]
        Ok((number * scale as f64).round() as i64)
    }
}

/// No window has more tokens.
const TOKENS: u64 = u32::MAX as u64;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refuses(json: &str, message: &str) {
        assert_eq!(Options::parse(json).unwrap_err().to_string(), message);
    }

    #[test]
    fn names_the_option_and_what_is_allowed() {
        refuses(
            r#"{"window":{"contextTokens":1000,"maxOutputTokens":1000}}"#,
            "window.maxOutputTokens: expected less than window.contextTokens (1000), got 1000",
        );
        refuses(
            r#"{"window":{"contextTokens":-1}}"#,
            "window.contextTokens: expected a number from 0 to 4294967295, got -1",
        );
        refuses(r#"{"trigger":1.5}"#, "trigger: expected a number from 0 to 1, got 1.5");
        refuses(
            r#"{"preset":"balanced","retention":1}"#,
            "retention: expected no `preset` beside it, got 1",
        );
        let unknown = Options::parse(r#"{"stubChars":10}"#).unwrap_err().to_string();
        assert!(
            unknown.starts_with("stubChars: expected no such option; there are window,"),
            "{unknown}"
        );
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
    fn an_unknown_window_decides_nothing() {
        let options = Options::parse("{}").unwrap();
        assert_eq!((options.window, options.usable), (0, 0));
    }

    #[test]
    fn shares_and_prices_are_scaled_once() {
        let options = Options::parse(
            r#"{"window":{"contextTokens":200000,"maxOutputTokens":8192},"target":0.55,"retention":0.65,
                "economy":{"cacheRead":0.1,"cacheWrite":1.25,"output":5,"cacheTtlMs":300000}}"#,
        );
        let options = options.unwrap();
        assert_eq!((options.usable, options.policy.target), (191_808, 5500));
        assert_eq!(options.policy.prices, Prices::ANTHROPIC);
    }
}
