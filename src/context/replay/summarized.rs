//! Summaries of a replay: compactions as a host with a summarizer has them. Everything is decided as it is live; only the summary
//! is made up, of so many tokens.

use super::recording::Recording;
use super::usage_fit::{ONE, at_percent, scaled};
use crate::context::compaction::folds::needs_summary;
use crate::context::compaction::{commit_plan, may_ask_summarizer, plan_compaction};
use crate::context::request::answer::Answer;
use crate::context::session::Session;
use crate::context::session::step::Step;
use crate::error::Result;
use crate::estimate::Estimator;
use crate::json::{Object, Value, json};
use crate::prune::{INSTRUCTION, Prices};

/// A summary consists of this word: it names nothing, so that the head's list of names stays as it is.
const WORD: &str = "a ";

/// Summaries that were asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summaries {
    pub asked: u32,
    /// What they cost, in thousandths of a base input token.
    pub bill: u64,
}

impl Recording {
    /// Tokens of the session's own summaries, the middle one of them; 0: none is in the file, or none that can be read. `calibrate`:
    /// in the provider's tokens.
    pub fn summary_tokens(&self, calibrate: bool) -> u32 {
        let sizes = self.compactions.iter().map(|one| i64::from(one.summary));
        let mut sizes: Vec<i64> = sizes.filter(|size| *size > 0).collect();
        let middle = at_percent(&mut sizes, 50).map_or(0, i64::unsigned_abs);
        let factor = if calibrate { self.calibration().0 } else { ONE };
        u32::try_from(scaled(middle, factor)).unwrap_or(u32::MAX)
    }

    /// The next request. If it does not fit without a fold, a summary comes before it.
    pub(super) fn request(&self, session: &mut Session, at: i64) -> Result<(Answer, Summaries)> {
        let (mut step, summaries) = if let Some(step) = session.prepare(at) {
            (step, Summaries::default())
        } else {
            let summaries = compact(session, at)?;
            (session.request(at), summaries)
        };
        loop {
            match step {
                Step::Done(answer) => return Ok((*answer, summaries)),
                Step::Need(messages) => {
                    for index in messages {
                        self.supply(session, index)?;
                    }
                    step = session.resume();
                }
            }
        }
    }
}

/// The fold that the last request left for a summary: that has come by now.
pub(super) fn compact_due(session: &mut Session) -> Result<Summaries> {
    let at = session.request.last.at_ms.unwrap_or_default();
    let is_due = session.request.last.fold_due || needs_summary(session);
    let asks = session.options.summary_tokens > 0 && is_due && may_ask_summarizer(session, at);
    if asks { compact(session, at) } else { Ok(Summaries::default()) }
}

fn compact(session: &mut Session, now_ms: i64) -> Result<Summaries> {
    let json = plan_compaction(session, false, None, now_ms)?;
    let all = Object::of(json.json());
    let plan = all.object("plan").unwrap_or_default();
    let is_wanted = all.flag("summaryWanted");
    let is_blocked = is_wanted && all.get("blocked").is_some();
    if !plan.is("outcome", "summarize") || is_blocked {
        return Ok(Summaries::default());
    }
    let (mut summary, mut summaries) = (None, Summaries::default());
    if is_wanted {
        let estimator = session.decisions.placeholders.estimator;
        // One that is larger would be refused.
        let tokens = session.options.summary_tokens.min(all.number("room").unwrap_or(0));
        let before = all.text("previousSummary").map_or(0, |it| estimator.tokens(&it).into());
        let input = all.number("droppedTokens").unwrap_or(0).saturating_add(before);
        let prices = &session.options.policy.prices;
        summaries = Summaries { asked: 1, bill: price(prices, input, tokens) };
        summary = Some(text_of(tokens, estimator));
    }
    let raw = |name| Value::raw(plan.raw(name).unwrap_or("null").into());
    let messages = Value::raw(all.raw("messages").unwrap_or("null").into());
    let planned = json!({
        "base": raw("base"),
        "gone": raw("gone"),
        "messages": messages,
        "summary": summary,
        "degraded": false
    });
    commit_plan(session, planned.json(), now_ms)?;
    Ok(summaries)
}

/// A summarizer's prompt is in no cache.
fn price(prices: &Prices, input: u64, output: u64) -> u64 {
    let input = input.saturating_add(INSTRUCTION).saturating_mul(1000);
    input.saturating_add(output.saturating_mul(prices.output))
}

/// The shortest text of at least so many tokens.
fn text_of(tokens: u64, estimator: Estimator) -> String {
    let (mut least, mut most) = (0usize, usize::try_from(tokens).unwrap_or(0).saturating_mul(8));
    while least < most {
        let middle = least.midpoint(most);
        let text = WORD.repeat(middle);
        if u64::from(estimator.tokens(&text)) < tokens {
            least = middle.saturating_add(1);
        } else {
            most = middle;
        }
    }
    WORD.repeat(least)
}
