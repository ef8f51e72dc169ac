//! Reasoning is bound to what stands before it: newer models of Anthropic refuse it once that has changed.

use super::state::State;
use super::turns::hosts;
use super::view::Entry;
use crate::model::{Form, Kind};
use crate::prune::{Change, Rule};

impl State {
    /// Reasoning behind a change is bound to what is gone: it goes too, but for the newest, which only a hint saves.
    /// True if something went.
    pub(super) fn unbind(&mut self, entries: &[Entry], changed_at: usize) -> bool {
        if !self.provider.binds_reasoning() {
            return false;
        }
        let mut behind = Vec::new();
        for entry in entries.iter().skip(changed_at) {
            behind.append(&mut hosts(&entry.item));
        }
        let mut went = false;
        for message in behind {
            for at in self.ledger.blocks_of(message) {
                let Some(block) = self.ledger.blocks.get(at as usize) else { continue };
                if block.kind != Kind::Thinking || block.form == Form::Gone {
                    continue;
                }
                let before = block.now;
                if block.mask.may_edit {
                    self.ledger.set_form(at, Form::Gone, 0);
                    self.note(Change { block: at, rule: Rule::BoundThinking, before });
                    went = true;
                } else {
                    self.unbound.insert(at, ());
                }
            }
        }
        went
    }

    /// Reasoning is sent that is bound to what is gone: the provider must be told to drop it.
    pub(super) fn needs_drop_hint(&self) -> bool {
        let lives =
            |at: &u32| self.ledger.blocks.get(*at as usize).is_some_and(|b| b.form != Form::Gone);
        self.unbound.keys().any(lives)
    }
}
