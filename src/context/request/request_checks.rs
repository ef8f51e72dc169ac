//! Checks of requests by the one validator. A check goes on where a request begins to differ from the one that was checked before.

use std::rc::Rc;

use crate::context::report::estimate::request_options;
use crate::context::request::build_request::all_entries;
use crate::context::request::builder::Builder;
use crate::context::request::last_request::Entry;
use crate::context::session::Session;
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

    /// Only so many messages at the start of the request are still what was checked.
    pub(in crate::context) fn keep(&mut self, messages: usize) {
        while self.states.pop_if(|it| it.messages > messages).is_some() {}
    }

    fn last(&self) -> usize {
        self.states.last().map_or(0, |it| it.messages)
    }
}

/// Checks a request of which these are the messages from `start` on; what is before them was checked, or all are checked again.
#[inline(never)]
pub(in crate::context) fn check_request(
    session: &mut Session,
    start: usize,
    entries: &[Entry],
) -> Rc<Checker> {
    let mut checks = std::mem::take(&mut session.request.last.checks);
    let rules = rules_of(session);
    if checks.rules != Some(rules) {
        checks = RequestChecks { rules: Some(rules), states: Vec::new() };
    }
    let state = checks.states.pop_if(|it| it.messages >= start);
    if state.is_none() {
        checks.states.clear();
    }
    let (mut messages, checker) = state.map_or_else(
        || (0, Rc::new(Checker::new(rules.0, rules.1))),
        |it| (it.messages, it.checker),
    );
    let mut checker = Rc::unwrap_or_clone(checker);
    let all: Vec<Entry>;
    let new = if let Some(seen) = messages.checked_sub(start) {
        entries.get(seen..)
    } else {
        all = all_entries(session).unwrap_or_default().0;
        Some(&*all)
    };
    let new = new.unwrap_or_default();
    let apart = messages.saturating_add(new.len()).checked_div(PART).unwrap_or(LEAST).max(LEAST);
    for outline in Builder::new(session).outgoing(new) {
        if messages.saturating_sub(checks.last()) >= apart {
            checks.states.push(State { messages, checker: Rc::new(checker.clone()) });
        }
        checker.push(&outline);
        messages = messages.saturating_add(1);
    }
    let checker = Rc::new(checker);
    checks.states.push(State { messages, checker: Rc::clone(&checker) });
    session.request.last.checks = checks;
    checker
}

fn rules_of(session: &Session) -> (Provider, Options) {
    (session.transcript.dialect.provider, request_options(session, false))
}
