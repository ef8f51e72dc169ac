//! Reasoning is bound to what stands before it: newer models of Anthropic refuse it once that has changed. Others let it
//! stand behind a change, or take none.

use super::options::Thinking;
use super::state::State;
use super::turns::hosts;
use super::view::Entry;
use crate::model::{Form, Kind};
use crate::prune::{Change, Rule};

impl State {
    /// Behind a change reasoning is void.
    pub(super) fn binds_reasoning(&self) -> bool {
        let told = self.options.thinking;
        told.map_or_else(|| self.provider.binds_reasoning(), |told| told == Thinking::Bound)
    }

    /// Reasoning behind a change is bound to what is gone: it goes too, but for the newest, which only a hint saves.
    /// True if something went.
    pub(super) fn unbind(&mut self, entries: &[Entry], changed_at: usize) -> bool {
        if !self.binds_reasoning() {
            return false;
        }
        let mut behind = Vec::new();
        for entry in entries.iter().skip(changed_at) {
            for message in hosts(&entry.item) {
                behind.extend(self.ledger.blocks_of(message));
            }
        }
        self.drop_reasoning(&behind, Rule::BoundThinking)
    }

    /// All reasoning goes where the model takes none; and where it is bound from now on, but what stands before it has
    /// changed already. True if something went.
    pub(super) fn keep_reasoning(&mut self) -> bool {
        let rebind = std::mem::take(&mut self.sent.rebind);
        let rule = match self.options.thinking {
            Some(Thinking::None) => Rule::NoThinking,
            _ if rebind => Rule::BoundThinking,
            _ => return false,
        };
        let live = self.ledger.live().to_vec();
        self.drop_reasoning(&live, rule)
    }

    /// True if something went. What may not go, though it is void, is known to be so.
    fn drop_reasoning(&mut self, blocks: &[u32], rule: Rule) -> bool {
        let mut went = false;
        for &at in blocks {
            let Some(block) = self.ledger.blocks.get(at as usize) else { continue };
            if block.kind != Kind::Thinking || block.form == Form::Gone {
                continue;
            }
            let before = block.now;
            if block.mask.may_edit {
                self.ledger.set_form(at, Form::Gone, 0);
                self.note(Change { block: at, rule, before });
                went = true;
            } else if rule == Rule::BoundThinking {
                self.unbound.insert(at, ());
            }
        }
        went
    }

    /// Reasoning is sent that is bound to what is gone: the provider must be told to drop it.
    pub(super) fn needs_drop_hint(&self) -> bool {
        let lives =
            |at: &u32| self.ledger.blocks.get(*at as usize).is_some_and(|b| b.form != Form::Gone);
        self.binds_reasoning() && self.unbound.keys().any(lives)
    }
}
