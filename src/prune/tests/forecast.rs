//! Forecasts compared with what comes, in sessions where each call brings the same number of tokens.

use super::super::forecast::Forecast;
use super::*;

const TRIGGER: &str = "that is the trigger";
const EDIT: &str = "editing then costs less than resending";
const FOLD: &str = "folding then costs less than resending";

/// A session that goes on as it went.
#[derive(Clone)]
struct Uniform {
    story: Story,
    setting: Setting,
    summarizes: bool,
    /// Tokens of the arguments and of the result that each call brings.
    brought: (u32, u32),
}

impl Uniform {
    fn new(preset: &str, window: u64, brought: (u32, u32), summarizes: bool) -> Self {
        let setting = Setting { window, usable: window, fixed: 0, mended: 0, cap: u64::MAX };
        let mut story = Story::of(preset);
        story.ask(100, Mask::FREE);
        Self { story, setting, summarizes, brought }
    }

    /// Makes the next call and request. Returns the tokens of the request before anything was changed, and the decision.
    fn go_on(&mut self) -> (u64, Decision) {
        let (arguments, result) = self.brought;
        let first = self.story.call == 0;
        self.story.work((arguments, Mask::FREE), &[(result, Mask::FREE)], &[]);
        let window = self.setting.window;
        let tokens = self.story.context(window);
        let moment = Moment { first, summarizes: self.summarizes, ..Story::REQUEST };
        (tokens, self.story.decide_at(window, moment))
    }

    fn forecast(&self) -> Option<Forecast> {
        let Story { pruner, ledger, call, .. } = &self.story;
        pruner.forecast(ledger, &self.setting, *call, self.summarizes)
    }

    /// Where the next request is changed, and why.
    fn next_change(&self) -> Forecast {
        let mut later = self.clone();
        loop {
            let (tokens, decision) = later.go_on();
            if !decision.changes.is_empty() {
                let line = later.story.pruner.line(&later.setting);
                let early = if decision.folded { FOLD } else { EDIT };
                return if tokens <= line {
                    Forecast { tokens, reason: early }
                } else {
                    Forecast { tokens: line, reason: TRIGGER }
                };
            }
        }
    }
}

#[test]
fn a_session_that_goes_on_as_it_went_is_changed_where_the_forecast_has_it() {
    for preset in ["economy", "balanced", "retention", "capacity"] {
        for brought in [(20, 150), (20, 400), (20, 900), (20, 2_500), (300, 900), (500, 20)] {
            for (window, summarizes) in [(20_000, true), (40_000, true), (40_000, false)] {
                let mut session = Uniform::new(preset, window, brought, summarizes);
                for call in 1..=54 {
                    session.go_on();
                    if call % 6 != 0 {
                        continue;
                    }
                    let (forecast, comes) = (session.forecast().unwrap(), session.next_change());
                    let apart = forecast.tokens.abs_diff(comes.tokens);
                    assert!(
                        forecast.reason == comes.reason && 100 * apart <= 12 * comes.tokens,
                        "{preset} {window} {brought:?} {call}: {forecast:?} {comes:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_forecast_of_a_long_session_is_exact() {
    let mut session = Uniform::new("balanced", 40_000, (20, 2_500), true);
    for _ in 0..1_000 {
        session.go_on();
    }
    assert_eq!(session.forecast(), Some(session.next_change()));
}

#[test]
fn before_the_first_call_there_is_no_forecast() {
    assert_eq!(Uniform::new("balanced", 40_000, (20, 900), true).forecast(), None);
}

#[test]
fn what_must_stay_as_it_is_brings_no_edit() {
    let mut session = Uniform::new("balanced", 40_000, (20, 900), false);
    for _ in 0..10 {
        session.story.work((300, Mask::FIXED), &[(900, Mask::FIXED)], &[]);
        session.story.decide(40_000, false);
    }
    assert_eq!(session.forecast(), Some(Forecast { tokens: 38_000, reason: TRIGGER }));
}
