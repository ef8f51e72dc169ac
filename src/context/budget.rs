//! The `ContextBudget` of the feature request to `OpenClaw`: how full a window is by the provider's usage, or by an estimate
//! where there is none; bands, a line for a status, a hint.

use crate::argument::OptionsReader;
use crate::context::status_line::{BANDS, FULL, hint, line, short};
use crate::error::Result;
use crate::json::{Value, json};

const OPTIONS: [&str; 9] = [
    "contextTokens",
    "maxOutputTokens",
    "warn",
    "compact",
    "force",
    "maxMessages",
    "maxRunTokens",
    "enabled",
    "estimator",
];
/// The window if the host does not say (B4).
const WINDOW: u64 = 131_072;
/// What the facade keeps of a budget, and what is new.
const REPORTED: [&str; 13] = [
    "tokens",
    "source",
    "hinted",
    "consumed",
    "messages",
    "prompt",
    "completion",
    "estimate",
    "since",
    "usage",
    "answered",
    "base",
    "estimated",
];
const PLACES: u32 = 4;
const TOKENS: u64 = u32::MAX as u64;
/// As many as a run can come to.
const ALL: u64 = u64::MAX >> 16;
/// Usage that many times the window is a session's sum, and none of this request.
const ABSURD: u64 = 8;

/// A budget after what it was told, as JSON: options, `tokens`, `source` and `hinted` as they were, and the `prompt` and
/// `completion` of a response, or an `estimate`.
///
/// # Errors
/// `InvalidArgument` names the option.
pub fn context_budget(ask: &str) -> Result<Value> {
    let options = OptionsReader::read(ask)?;
    options.refuse_others(&OPTIONS, &REPORTED);
    let tokens = |name, most| options.amount(name, 0, most).unwrap_or(0);
    let window = options.amount(OPTIONS[0], 0, TOKENS).unwrap_or(WINDOW);
    let reserve = tokens(OPTIONS[1], TOKENS);
    let enabled = options.flag("enabled").unwrap_or(true);
    if window > 0 && reserve >= window {
        options.refuse(OPTIONS[1], &format!("less than contextTokens ({window})"));
    }
    let budget = window.saturating_sub(reserve);
    let mut lines = [0; 3];
    let mut least = (0, "");
    for (line, (name, share)) in lines.iter_mut().zip(BANDS) {
        let usual = share.max(least.0);
        *line = options.amount(name, PLACES, 1).unwrap_or(usual);
        if *line < least.0 {
            options.refuse(name, &format!("no less than `{}`", least.1));
        }
        least = (*line, name);
    }
    let response = response(&options, window);
    let Fill { used, counted, usage, answered, base, estimated } = used(&options, response);
    let messages = tokens("messages", TOKENS);
    let most = tokens("maxMessages", TOKENS);
    let many = enabled && most > 0 && messages > most;
    let consumed = options.amount("consumed", 0, ALL).unwrap_or(0);
    let consumed = consumed.saturating_add(response.unwrap_or(0)).min(ALL);
    // An unknown window has no band, and nothing is divided by it (B18).
    let at = |line: &u64| {
        enabled && budget > 0 && used.saturating_mul(FULL) >= line.saturating_mul(budget)
    };
    let reached = lines.iter().filter(|line| at(line)).count();
    // Below the first band a new cycle begins.
    let hinted = if reached == 0 { 0 } else { tokens("hinted", 3) };
    let news = u64::try_from(reached).unwrap_or(0) > hinted;
    let pct = used.saturating_mul(100).checked_div(budget).unwrap_or(0);
    let band = reached.checked_sub(1);
    let hint = band.filter(|_| news).map(|band| hint(band, pct, budget));
    let of = |share: u64| share.saturating_mul(budget).div_ceil(FULL);
    let source = if counted { "usage" } else { "estimate" };
    let named = band.and_then(|band| BANDS.get(band)).map_or("ok", |(name, _)| name);
    let run = run(&options, consumed);
    options.checked(Ok(json!({
        "tokens": used,
        "source": source,
        "usage": usage,
        "answered": answered,
        "base": base,
        "estimated": estimated,
        "window": window,
        "hinted": hinted,
        "reached": reached,
        "thresholdTokens": of(lines[0]),
        "compress": reached > 1 || many,
        "consumed": consumed,
        "messages": messages,
        "run": run,
        "status": {
            "used": used,
            "budget": budget,
            "remaining": budget.saturating_sub(used),
            "usedPct": pct,
            "promptTokens": usage.saturating_sub(answered),
            "completionTokens": answered,
            "source": source,
            "band": named
        },
        "line": line(used, budget, pct, counted),
        "short": short(used, budget, pct),
        "hint": hint
    })))
}

/// What all calls of a run have taken, where the host has given it a limit (I24): one of 0 or less is none.
fn run(options: &OptionsReader<'_>, consumed: u64) -> Option<Value> {
    let below = options.get("maxRunTokens")?.starts_with('-');
    let limit = if below { 0 } else { options.amount("maxRunTokens", 0, ALL).unwrap_or(0) };
    let left = i64::try_from(limit.saturating_sub(consumed)).unwrap_or(i64::MAX);
    let remaining = if limit == 0 { -1 } else { left };
    let exceeded = limit > 0 && consumed >= limit;
    Some(json!({ "consumed": consumed, "remaining": remaining, "exceeded": exceeded }))
}

/// The tokens of a response, if there was one; 0 where it has no usage, or one that cannot be.
fn response(options: &OptionsReader<'_>, window: u64) -> Option<u64> {
    let prompt = options.amount("prompt", 0, ALL)?;
    let all = prompt.saturating_add(options.amount("completion", 0, ALL).unwrap_or(0));
    let most = if window > 0 { window.saturating_mul(ABSURD) } else { TOKENS };
    Some(if prompt > 0 && all <= most { all } else { 0 })
}

/// How full the window is, and by whose count.
struct Fill {
    used: u64,
    /// A provider has counted most of it.
    counted: bool,
    /// Prompt and completion of the last response with a usage; 0: there was none, or estimates count again.
    usage: u64,
    /// The completion alone.
    answered: u64,
    /// The estimate of what that usage counts; 0: there was no estimate before it.
    base: u64,
    /// The last estimate since then.
    estimated: u64,
}

/// A response without usage lets estimates count again (B2, B17). After one with usage, what came since is added by estimate: what
/// the estimate has grown by, at most what is after the model's last message.
fn used(options: &OptionsReader<'_>, response: Option<u64>) -> Fill {
    let kept = |name| options.amount(name, 0, ALL).unwrap_or(0);
    let (before, estimate) = (kept("tokens"), options.amount("estimate", 0, TOKENS));
    let counted = options.text("source").as_deref() == Some("usage");
    let (usage, answered, base) = (kept("usage"), kept("answered"), kept("base"));
    let estimated = kept("estimated");
    let mut now = Fill { used: before, counted, usage, answered, base, estimated };
    if let Some(all) = response {
        let completion = kept("completion");
        now.counted = all > 0;
        now.usage = all;
        now.answered = if all > 0 { completion } else { 0 };
        if all > 0 {
            now.used = all;
            now.base = if estimated > 0 { estimated.saturating_add(completion) } else { 0 };
            now.estimated = 0;
        }
    } else if let Some(estimate) = estimate {
        let since = kept("since");
        let grown = if base > 0 { estimate.saturating_sub(base).min(since) } else { since };
        now.used = if counted { usage.saturating_add(grown) } else { estimate };
        now.estimated = estimate;
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A budget as a facade keeps it.
    struct Kept {
        options: String,
        report: serde_json::Value,
    }

    impl Kept {
        fn new(options: &str) -> Self {
            let mut kept = Self { options: options.into(), report: serde_json::json!({}) };
            kept.update("");
            kept
        }

        fn update(&mut self, what: &str) {
            let of = |name| self.report.get(name).and_then(serde_json::Value::as_u64).unwrap_or(0);
            let (tokens, hinted) = (of("tokens"), of("hinted"));
            let (consumed, messages) = (of("consumed"), of("messages"));
            let messages = if what.contains("messages") {
                String::new()
            } else {
                format!(r#","messages":{messages}"#)
            };
            let source = self.report["source"].as_str().unwrap_or("estimate");
            let [usage, answered, base, estimated] =
                ["usage", "answered", "base", "estimated"].map(of);
            let messages = format!(
                r#"{messages},"usage":{usage},"answered":{answered},"base":{base},"estimated":{estimated}"#
            );
            let ask = format!(
                r#"{{{},"tokens":{tokens},"hinted":{hinted},"consumed":{consumed}{messages},"source":"{source}"{what}}}"#,
                self.options
            );
            self.report = serde_json::from_str(context_budget(&ask).unwrap().json()).unwrap();
        }

        fn answered(&mut self, prompt: u64, completion: u64) {
            self.update(&format!(r#","prompt":{prompt},"completion":{completion}"#));
        }

        fn hint(&mut self) -> Option<String> {
            let hint = self.report["hint"].as_str().map(Into::into);
            if hint.is_some() {
                self.report["hinted"] = self.report["reached"].clone();
                self.update("");
            }
            hint
        }

        fn band(&self) -> &str {
            self.report["status"]["band"].as_str().unwrap()
        }
    }

    const WINDOW: &str = r#""contextTokens":131072"#;

    /// Row B1.
    #[test]
    fn a_new_budget_holds_nothing_and_its_threshold_is_eighty_percent() {
        let new = Kept::new(WINDOW);
        assert_eq!(new.report["tokens"], 0);
        assert_eq!(new.report["thresholdTokens"], 104_858);
        let status = serde_json::json!({ "used": 0, "budget": 131_072, "remaining": 131_072, "usedPct": 0,
            "promptTokens": 0, "completionTokens": 0, "source": "estimate", "band": "ok" });
        assert_eq!(new.report["status"], status);
        assert_eq!(new.report["compress"], false);
    }

    /// Row B2.
    #[test]
    fn usage_counts_prompt_and_completion_and_replaces_an_estimate() {
        let mut budget = Kept::new(WINDOW);
        budget.update(r#","estimate":700"#);
        assert_eq!(
            (&budget.report["tokens"], &budget.report["source"]),
            (&700.into(), &"estimate".into())
        );
        budget.answered(45_000, 231);
        assert_eq!(
            (&budget.report["tokens"], &budget.report["source"]),
            (&45_231.into(), &"usage".into())
        );
        budget.update(r#","estimate":60000"#);
        assert_eq!(budget.report["tokens"], 45_231);
    }

    #[test]
    fn messages_after_a_usage_are_added_by_estimate() {
        let mut budget = Kept::new(r#""contextTokens":10000"#);
        budget.answered(7000, 200);
        budget.update(r#","estimate":17000,"since":10000"#);
        assert_eq!(budget.report["tokens"], 17_200);
        assert_eq!((budget.band(), &budget.report["compress"]), ("force", &true.into()));
        assert_eq!(budget.report["line"], "📚 Context: 17,200/10,000 (172%)");
        assert_eq!(budget.report["status"]["promptTokens"], 7000);
        assert_eq!(budget.report["status"]["completionTokens"], 200);
        // A usage of the same again: nothing came since.
        budget.update(r#","estimate":17000,"since":10000"#);
        budget.answered(8000, 100);
        budget.update(r#","estimate":17100,"since":500"#);
        assert_eq!(budget.report["tokens"], 8100, "the estimate grew by the answer alone");
        budget.update(r#","estimate":18000,"since":5000"#);
        assert_eq!(budget.report["tokens"], 9000);
        budget.answered(0, 0);
        budget.update(r#","estimate":100,"since":100"#);
        assert_eq!(budget.report["tokens"], 100, "estimates count again");
        assert_eq!(budget.report["status"]["promptTokens"], 0);
    }

    /// Row B4.
    #[test]
    fn the_default_window_is_128k_and_a_disabled_budget_never_compresses() {
        let mut usual = Kept::new(r#""maxMessages":1"#);
        assert_eq!(usual.report["status"]["budget"], 131_072);
        usual.update(r#","messages":2"#);
        assert_eq!(usual.report["compress"], true);
        let mut off = Kept::new(r#""enabled":false,"maxMessages":1"#);
        off.answered(200_000, 0);
        off.update(r#","messages":2"#);
        assert_eq!((off.band(), &off.report["compress"]), ("ok", &false.into()));
        assert_eq!((off.hint(), &off.report["tokens"]), (None, &200_000.into()));
    }

    /// Row B17.
    #[test]
    fn a_response_without_usage_lets_estimates_count_again() {
        let mut budget = Kept::new(WINDOW);
        budget.answered(45_000, 231);
        for (prompt, completion) in [(0, 0), (0, 900), (1_100_000, 0), (131_072 * 8, 1)] {
            budget.answered(1000, 0);
            budget.answered(prompt, completion);
            assert_eq!(
                (&budget.report["tokens"], &budget.report["source"]),
                (&1000.into(), &"estimate".into())
            );
            budget.update(r#","estimate":60000"#);
            assert_eq!(budget.report["line"], "📚 Context: ~60,000/131,072 (45%)");
        }
    }

    /// Row B3.
    #[test]
    fn each_band_begins_at_its_documented_percentage() {
        let mut budget = Kept::new(r#""contextTokens":100000"#);
        for (used, band, compress) in [
            (79_999, "ok", false),
            (80_000, "warn", false),
            (84_999, "warn", false),
            (85_000, "compact", true),
            (94_999, "compact", true),
            (99_999, "compact", true),
            (100_000, "force", true),
            (120_000, "force", true),
            (1, "ok", false),
        ] {
            budget.answered(used, 0);
            assert_eq!(
                (budget.band(), &budget.report["compress"]),
                (band, &compress.into()),
                "{used}"
            );
        }
    }

    /// Rows B4, B5.
    #[test]
    fn the_host_sets_where_bands_begin() {
        let mut budget = Kept::new(r#""contextTokens":1000,"warn":0.5,"compact":0.6,"force":0.7"#);
        assert_eq!(budget.report["thresholdTokens"], 500);
        for (used, band) in [(499, "ok"), (500, "warn"), (600, "compact"), (700, "force")] {
            budget.answered(used, 0);
            assert_eq!(budget.band(), band);
        }
        // A higher first band takes the others with it.
        let mut late = Kept::new(r#""contextTokens":1000,"warn":0.9"#);
        late.answered(899, 0);
        assert_eq!(late.band(), "ok");
        late.answered(900, 0);
        assert_eq!(late.band(), "compact");
    }

    /// Row B6.
    #[test]
    fn the_status_line_is_floored_and_marks_an_estimate() {
        let mut budget = Kept::new(WINDOW);
        budget.update(r#","estimate":45231"#);
        assert_eq!(budget.report["line"], "📚 Context: ~45,231/131,072 (34%)");
        budget.answered(45_231, 0);
        assert_eq!(budget.report["line"], "📚 Context: 45,231/131,072 (34%)");
        budget.answered(131_071, 0);
        assert_eq!(budget.report["line"], "📚 Context: 131,071/131,072 (99%)");
    }

    /// Row G40.
    #[test]
    fn the_short_line_is_floored_and_empty_without_a_window() {
        let mut budget = Kept::new(r#""contextTokens":200999"#);
        budget.answered(156_999, 0);
        assert_eq!(budget.report["short"], "[Context: 156k/200k tokens (78%)]");
        let mut unknown = Kept::new(r#""contextTokens":0"#);
        unknown.answered(156_999, 0);
        assert_eq!(unknown.report["short"], "");
    }

    /// Row B7.
    #[test]
    fn a_hint_comes_once_for_a_band_and_a_cycle() {
        let mut budget = Kept::new(r#""contextTokens":100000"#);
        assert_eq!(budget.hint(), None);
        budget.answered(81_500, 0);
        let hint = budget.hint().unwrap();
        assert!(hint.starts_with("[Context: 81% of 100,000 tokens. It is filling:"), "{hint}");
        assert_eq!(budget.hint(), None);
        budget.answered(101_000, 0);
        assert!(budget.hint().unwrap().contains("101%"), "the highest alone");
        for used in [90_000, 100_000, 80_000] {
            budget.answered(used, 0);
            assert_eq!(budget.hint(), None, "{used}");
        }
        budget.answered(30_000, 0);
        assert_eq!(budget.hint(), None);
        budget.answered(86_000, 0);
        assert!(budget.hint().is_some(), "a new cycle");
    }

    /// Row B13.
    #[test]
    fn the_budget_excludes_the_reserve_for_the_answer() {
        let mut budget = Kept::new(r#""contextTokens":100000,"maxOutputTokens":20000"#);
        assert_eq!(budget.report["thresholdTokens"], 64_000);
        budget.answered(64_000, 0);
        assert_eq!((budget.band(), &budget.report["status"]["budget"]), ("warn", &80_000.into()));
    }

    /// Row B18.
    #[test]
    fn a_budget_without_a_window_has_no_percentage_and_an_exceeded_one_nothing_left() {
        let mut budget = Kept::new(r#""contextTokens":0"#);
        budget.answered(5000, 0);
        let status = serde_json::json!({ "used": 5000, "budget": 0, "remaining": 0, "usedPct": 0, "promptTokens": 5000, "completionTokens": 0, "source": "usage", "band": "ok" });
        assert_eq!(budget.report["status"], status);
        assert_eq!(budget.hint(), None);
        assert_eq!(budget.report["line"], "📚 Context: 5,000/? (?%)");
        let mut huge = Kept::new(r#""contextTokens":4000000000"#);
        huge.answered(20_000_000_000, 0);
        huge.update("");
        assert_eq!(huge.report["line"], "📚 Context: 20,000,000,000/4,000,000,000 (500%)");
        let mut over = Kept::new(r#""contextTokens":1000"#);
        over.answered(1500, 0);
        assert_eq!(
            (&over.report["status"]["remaining"], &over.report["status"]["usedPct"]),
            (&0.into(), &150.into())
        );
    }

    /// Row I24.
    #[test]
    fn a_run_without_a_limit_is_never_exceeded_and_the_rest_of_a_limit_is_never_negative() {
        for limit in ["0", "-5"] {
            let mut free = Kept::new(&format!(r#"{WINDOW},"maxRunTokens":{limit}"#));
            free.answered(100_000, 5000);
            let run =
                serde_json::json!({ "consumed": 105_000, "remaining": -1, "exceeded": false });
            assert_eq!(free.report["run"], run);
        }
        let mut budget = Kept::new(&format!(r#"{WINDOW},"maxRunTokens":1000"#));
        for (prompt, consumed, remaining, exceeded) in [
            (400, 400, 600, false),
            (599, 999, 1, false),
            (0, 999, 1, false),
            (1, 1000, 0, true),
            (700, 1700, 0, true),
        ] {
            budget.answered(prompt, 0);
            let run = serde_json::json!({ "consumed": consumed, "remaining": remaining, "exceeded": exceeded });
            assert_eq!(budget.report["run"], run);
        }
        assert_eq!(Kept::new(WINDOW).report["run"], serde_json::Value::Null);
    }

    /// Row G29.
    #[test]
    fn more_messages_than_the_host_allows_are_compressed_whatever_their_size() {
        let mut budget = Kept::new(&format!(r#"{WINDOW},"maxMessages":500"#));
        for (messages, compress) in [(499, false), (500, false), (501, true), (20, false)] {
            budget.update(&format!(r#","estimate":900,"messages":{messages}"#));
            assert_eq!(budget.report["compress"], compress, "{messages}");
        }
        budget.update(r#","estimate":900,"messages":501"#);
        budget.answered(1000, 0);
        assert_eq!(budget.report["compress"], true, "a response takes none away");
        let mut free = Kept::new(&format!(r#"{WINDOW},"maxMessages":0"#));
        free.update(r#","estimate":900,"messages":90000"#);
        assert_eq!(free.report["compress"], false);
        // Without a window the count alone decides.
        let mut unknown = Kept::new(r#""contextTokens":0,"maxMessages":5"#);
        unknown.update(r#","estimate":900,"messages":6"#);
        assert_eq!(unknown.report["compress"], true);
    }

    /// Rows G28, G23.
    #[test]
    fn a_reserve_in_tokens_is_the_trigger_if_the_band_is_all_of_the_budget() {
        for reserve in [4000, 16_384] {
            let options =
                format!(r#"{WINDOW},"maxOutputTokens":{reserve},"warn":1,"compact":1,"force":1"#);
            let mut budget = Kept::new(&options);
            for (used, compress) in [(131_071 - reserve, false), (131_072 - reserve, true)] {
                budget.answered(used, 0);
                assert_eq!(budget.report["compress"], compress, "{used}");
            }
        }
    }

    #[test]
    fn an_impossible_option_is_refused_by_name() {
        for (options, message) in [
            (
                r#""contextTokens":-1"#,
                "contextTokens: expected a number from 0 to 4294967295, got -1",
            ),
            (
                r#""contextTokens":10,"maxOutputTokens":10"#,
                "maxOutputTokens: expected less than contextTokens (10), got 10",
            ),
            (r#""contextTokens":10,"warn":80"#, "warn: expected a number from 0 to 1, got 80"),
            (
                r#""contextTokens":10,"warn":0.9,"compact":0.8"#,
                "compact: expected no less than `warn`, got 0.8",
            ),
            (
                r#""contextTokens":10,"force":0.8"#,
                "force: expected no less than `compact`, got 0.8",
            ),
            (r#""contextTokens":"10""#, "contextTokens: expected a number, got \"10\""),
            (
                r#""window":10"#,
                "unknown option window; the options are contextTokens, maxOutputTokens, warn, compact, force, maxMessages, maxRunTokens, enabled, estimator",
            ),
        ] {
            let error = context_budget(&format!("{{{options}}}")).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }
}
