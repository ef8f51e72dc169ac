//! Rules that the requests of a session break: within an epoch a request only grows, so only what is new is looked at.

use super::state::State;
use super::view::Entry;
use crate::model::Role;
use crate::validity::Checker;

/// The last request, checked.
#[derive(Debug, Default)]
pub(super) struct Checked {
    checker: Option<Checker>,
    epoch: u32,
    /// Its messages, the messages of the history that they stand for, and who spoke last.
    items: usize,
    upto: u32,
    speaker: Option<Role>,
}

impl Checked {
    /// How many rules of the provider the request breaks that was just made.
    pub(super) fn count(&mut self, state: &State) -> usize {
        let known = self.checker.take().and_then(|checker| Some((checker, self.grown(state)?)));
        let (mut checker, new) = known.unwrap_or_else(|| {
            let all = state.after(0, None).unwrap_or_default().0;
            (Checker::new(state.provider, state.request_options(false)), all)
        });
        for outline in state.outgoing(&new) {
            checker.push(&outline);
        }
        let count = checker.count();
        *self = Self {
            checker: Some(checker),
            epoch: state.sent.epoch,
            items: state.sent.items.len(),
            upto: state.sent.upto,
            speaker: state.sent.speaker,
        };
        count
    }

    /// What the request has more than the one before; none where it does not just go on.
    fn grown(&self, state: &State) -> Option<Vec<Entry>> {
        let sent = state.sent.items.get(self.items..).filter(|_| self.epoch == state.sent.epoch)?;
        let (new, _) = state.after(self.upto, self.speaker)?;
        sent.iter().copied().eq(new.iter().map(Entry::sent)).then_some(new)
    }
}
