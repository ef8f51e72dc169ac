//! Rules that the requests of a session break: within an epoch a request only grows, so only what is new is looked at.

use crate::context::report::estimate::request_options;
use crate::context::request::builder::Builder;
use crate::context::request::last_request::Built;
use crate::context::session::Session;
use crate::validity::Checker;

/// The last request, checked.
#[derive(Debug, Default)]
pub(super) struct Checked {
    checker: Option<Checker>,
    epoch: u32,
    /// How many messages of it the checker has seen.
    items: usize,
}

impl Checked {
    /// How many rules of the provider the request breaks that was just built.
    pub(super) fn count(&mut self, session: &Session, built: &Built) -> usize {
        let epoch = session.request.last.epoch;
        let grown = self.items.checked_sub(built.start).filter(|_| epoch == self.epoch);
        let (mut checker, seen) = self.checker.take().zip(grown).unwrap_or_else(|| {
            (Checker::new(session.transcript.dialect.provider, request_options(session, false)), 0)
        });
        for outline in Builder::new(session).outgoing(built.entries.get(seen..).unwrap_or_default())
        {
            checker.push(&outline);
        }
        self.epoch = epoch;
        self.items = built.start.saturating_add(built.entries.len());
        let count = checker.count();
        self.checker = Some(checker);
        count
    }
}
