//! Rules that the requests of a session break: within an epoch a request only grows, so only what is new is looked at.

use crate::context::report::estimate::request_options;
use crate::context::request::build_request::entries_from;
use crate::context::request::view::Entry;
use crate::context::session::Session;
use crate::model::{MessageId, Role};
use crate::validity::Checker;

/// The last request, checked.
#[derive(Debug, Default)]
pub(super) struct Checked {
    checker: Option<Checker>,
    epoch: u32,
    /// Its messages, the messages of the history that they stand for, and who spoke last.
    items: usize,
    upto: MessageId,
    speaker: Option<Role>,
}

impl Checked {
    /// How many rules of the provider the request breaks that was just made.
    pub(super) fn count(&mut self, state: &Session) -> usize {
        let known = self.checker.take().and_then(|checker| Some((checker, self.grown(state)?)));
        let (mut checker, new) = known.unwrap_or_else(|| {
            let all = entries_from(state, MessageId::FIRST, None).unwrap_or_default().0;
            (Checker::new(state.dialect.provider, request_options(state, false)), all)
        });
        for outline in state.builder().outgoing(&new) {
            checker.push(&outline);
        }
        let count = checker.count();
        *self = Self {
            checker: Some(checker),
            epoch: state.request.last.epoch,
            items: state.request.last.items.len(),
            upto: state.request.last.upto,
            speaker: state.request.last.speaker,
        };
        count
    }

    /// What the request has more than the one before; none where it does not just go on.
    fn grown(&self, state: &Session) -> Option<Vec<Entry>> {
        let sent = state
            .request
            .last
            .items
            .get(self.items..)
            .filter(|_| self.epoch == state.request.last.epoch)?;
        let (new, _) = entries_from(state, self.upto, self.speaker)?;
        sent.iter().copied().eq(new.iter().map(Entry::sent)).then_some(new)
    }
}
