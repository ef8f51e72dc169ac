//! What the host chose, checked once.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::estimate::Estimator;
use crate::format::Format;
use crate::prune::{Policy, Prices, WHOLE};
use crate::validity::Provider;

/// Options as they come over the boundary. Unknown members are refused.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Given {
    window: Option<Window>,
    format: Option<String>,
    provider: Option<String>,
    estimator: Option<String>,
    preset: Option<String>,
    retention: Option<f64>,
    trigger: Option<f64>,
    target: Option<f64>,
    ingest_cap: Option<f64>,
    minimum_gain_tokens: Option<f64>,
    economy: Option<Economy>,
    defer_folds: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Window {
    context_tokens: f64,
    max_output_tokens: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Economy {
    cache_read: f64,
    cache_write: f64,
    output: f64,
    cache_ttl_ms: f64,
}

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
    /// A fold that only pays is reported, not carried out: a summarizer will do it better.
    pub defer_folds: bool,
}

impl Options {
    /// Reads options from JSON.
    ///
    /// # Errors
    /// `InvalidArgument` names the option and what is allowed.
    pub fn parse(json: &str) -> Result<Self> {
        let given: Given = serde_json::from_str(json)
            .map_err(|error| Error::argument("options", "options of the chosen preset", error))?;
        let window = given.window.as_ref();
        let of = |name, value| amount(name, value, 1.0, f64::from(u32::MAX));
        let total = window.map_or(Ok(0), |w| of("window.contextTokens", w.context_tokens))?;
        let reserve = window.and_then(|window| window.max_output_tokens).unwrap_or(0.0);
        let reserve = of("window.maxOutputTokens", reserve)?;
        if total > 0 && reserve >= total {
            let expected = format!("less than window.contextTokens ({total})");
            return Err(Error::argument("window.maxOutputTokens", &expected, reserve));
        }
        Ok(Self {
            window: total,
            usable: total.saturating_sub(reserve),
            format: match given.format.as_deref() {
                None | Some("auto") => None,
                Some(name) => Some(Format::parse(name)?),
            },
            provider: given.provider.as_deref().map(Provider::parse).transpose()?,
            estimator: given
                .estimator
                .as_deref()
                .map_or(Ok(Estimator::default()), Estimator::parse)?,
            policy: policy(&given)?,
            defer_folds: given.defer_folds,
        })
    }
}

fn policy(given: &Given) -> Result<Policy> {
    let mut policy = Policy::preset(given.preset.as_deref().unwrap_or("balanced"))?;
    if let Some(retention) = given.retention {
        if given.preset.is_some() {
            return Err(Error::argument("retention", "no `preset` beside it", retention));
        }
        policy = Policy::retaining(thousandths("retention", retention)?)?;
    }
    let share = |name, value: Option<f64>, default| {
        value.map_or(Ok(default), |value| amount(name, value, 10_000.0, 1.0))
    };
    policy.trigger = share("trigger", given.trigger, policy.trigger)?;
    policy.target = share("target", given.target, policy.target)?;
    policy.ingest_cap = share("ingestCap", given.ingest_cap, policy.ingest_cap)?.min(WHOLE);
    let gain = given.minimum_gain_tokens.unwrap_or(0.0);
    policy.minimum_gain = amount("minimumGainTokens", gain, 1.0, f64::from(u32::MAX))?;
    if let Some(economy) = &given.economy {
        let price = |name, value| amount(name, value, 1000.0, 1000.0);
        policy.prices = Prices {
            read: price("economy.cacheRead", economy.cache_read)?,
            write: price("economy.cacheWrite", economy.cache_write)?,
            output: price("economy.output", economy.output)?,
            ttl_ms: amount("economy.cacheTtlMs", economy.cache_ttl_ms, 1.0, 1e15)?,
        };
    }
    Ok(policy)
}

/// A number from 0 to `most`, times `scale`, as an integer. Floats end here.
fn amount(name: &str, value: f64, scale: f64, most: f64) -> Result<u64> {
    if !(0.0..=most).contains(&value) {
        return Err(Error::argument(name, &format!("a number from 0 to {most}"), value));
    }
    #[expect(
        clippy::float_arithmetic,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an option is scaled once, within the range just checked"
    )]
    Ok((value * scale).round() as u64)
}

fn thousandths(name: &str, value: f64) -> Result<i64> {
    if !(-1e6..=1e6).contains(&value) {
        return Err(Error::argument(name, "a number from -0.6 to 1.3", value));
    }
    #[expect(
        clippy::float_arithmetic,
        clippy::cast_possible_truncation,
        reason = "an option is scaled once, within the range just checked"
    )]
    Ok((value * 1000.0).round() as i64)
}

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
        assert!(unknown.contains("unknown field `stubChars`"), "{unknown}");
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
