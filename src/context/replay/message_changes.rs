//! Changes of messages from call to call: which state each had, and how much of it was sent.

use crate::context::report::explain::{KEEP, sending};
use crate::context::session::Session;
use crate::json;
use crate::model::{Form, MessageId};
use crate::prune::Rule;

json::json_struct! {
    /// A message that a call sent otherwise than the one before.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct MessageChange {
        /// Its index in the history.
        pub index: u32,
        /// The call.
        pub call: u32,
        /// How it is sent from then on; see `Explanation.state`.
        pub state: &'static str,
        /// Tokens as it is sent from then on.
        pub sent_tokens: u64,
        /// Name of the rule that changed it.
        pub rule: &'static str,
    }
}

/// All changes so far, and what each message is now.
#[derive(Clone, Debug, Default)]
pub(super) struct MessageChanges {
    /// In order of the calls, those of a call in order of the messages.
    pub log: Vec<MessageChange>,
    /// Of each message the tokens that are sent, and the forms of its blocks.
    now: Vec<(u64, u8)>,
}

impl MessageChanges {
    /// What each message is now.
    pub(super) fn without_log(&self) -> Self {
        Self { log: Vec::new(), now: self.now.clone() }
    }

    /// Notes which of these messages, in their order, a call sends otherwise. A message that comes unchanged has not changed.
    pub(super) fn note(
        &mut self,
        session: &Session,
        call: u32,
        messages: impl IntoIterator<Item = MessageId>,
    ) {
        for index in messages {
            let now = sent(session, index);
            let was_unchanged = match self.now.get_mut(index.index()) {
                Some(before) if *before == now => continue,
                Some(before) => is_unchanged(std::mem::replace(before, now)),
                None => {
                    self.now.push(now);
                    true
                }
            };
            // Where a request ends, a repair may cost tokens for as long: that is no other state.
            if was_unchanged && is_unchanged(now) {
                continue;
            }
            let now_sent = sending(session, index);
            let (state, sent_tokens) = (now_sent.state.name(), now.0);
            let rule = now_sent.rule.map_or(KEEP, Rule::name);
            self.log.push(MessageChange { index: index.get(), call, state, sent_tokens, rule });
        }
    }

    /// Every message is as it was noted.
    pub(super) fn are_all(&self, session: &Session) -> bool {
        let all = MessageId::FIRST.to(session.transcript.ledger.next_message());
        all.map(|index| sent(session, index)).eq(self.now.iter().copied())
    }
}

/// All blocks are sent as they are.
fn is_unchanged((_, forms): (u64, u8)) -> bool {
    forms & !(1 << Form::Full as u8) == 0
}

fn sent(session: &Session, index: MessageId) -> (u64, u8) {
    let mut all = (0u64, 0u8);
    for at in session.transcript.ledger.blocks_of(index) {
        let Some(block) = session.transcript.ledger.block(at) else { continue };
        all.0 = all.0.saturating_add(block.now.into());
        all.1 |= 1 << block.form as u8;
    }
    all
}
