//! States of the validator at places of a request: a check goes on where a request begins to differ from the one checked before.

use std::rc::Rc;

use crate::validity::{Checker, Options, Provider};

/// Between two states are at least this part of the request's messages, and at least so many.
const PART: usize = 8;
const LEAST: usize = 8;

/// States of the validator at places of the last request that was checked.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct RequestChecks {
    /// By whose rules it was checked, and with what beside the messages.
    rules: Option<(Provider, Options)>,
    /// In the order of their places; the last at its end.
    states: Vec<State>,
}

/// The validator after so many messages of the request.
#[derive(Clone, Debug)]
struct State {
    messages: usize,
    checker: Rc<Checker>,
}

impl RequestChecks {
    /// Whether a check can go on after so many messages of the request.
    pub(in crate::context) fn has_state_after(&self, messages: usize) -> bool {
        self.states.binary_search_by_key(&messages, |it| it.messages).is_ok()
    }

    /// Keeps the states of the first `messages` messages. The messages after them have changed, so their states are void.
    pub(in crate::context) fn keep(&mut self, messages: usize) {
        while self.states.pop_if(|it| it.messages > messages).is_some() {}
    }

    /// Takes the last state from which a check by these rules can go on, if it has seen the messages before `start`; else that before
    /// the first message. And how many messages it has seen.
    pub(in crate::context) fn take(
        &mut self,
        rules: (Provider, Options),
        start: usize,
    ) -> (usize, Checker) {
        if self.rules != Some(rules) {
            *self = Self { rules: Some(rules), states: Vec::new() };
        }
        if let Some(state) = self.states.pop_if(|it| it.messages >= start) {
            return (state.messages, Rc::unwrap_or_clone(state.checker));
        }
        self.states.clear();
        (0, Checker::new(rules.0, rules.1))
    }

    /// Keeps the state after so many messages of a request with `all`, if the one before is far enough.
    pub(in crate::context) fn note(&mut self, messages: usize, checker: &Checker, all: usize) {
        let last = self.states.last().map_or(0, |it| it.messages);
        if messages.saturating_sub(last) >= (all / PART).max(LEAST) {
            self.states.push(State { messages, checker: Rc::new(checker.clone()) });
        }
    }

    /// Keeps the state at the end of the request.
    pub(in crate::context) fn end(&mut self, messages: usize, checker: Checker) -> Rc<Checker> {
        let checker = Rc::new(checker);
        self.states.push(State { messages, checker: Rc::clone(&checker) });
        checker
    }
}
