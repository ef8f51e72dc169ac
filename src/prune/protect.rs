//! Protection by the host: the first and the last messages, and tools by name. Never edited and never folded; only a request
//! that would not fit touches it, after everything else.

use crate::ledger::Ledger;
use crate::model::{BlockId, MessageId, Role, Span};

/// What is protected. All zero and empty: nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protect {
    /// So many first messages, those of the system not counted.
    pub first: u32,
    /// So many last messages.
    pub last: u32,
    /// So many last turns.
    pub turns: u32,
    /// A turn starts at every message with the user's role, also one that only carries results.
    pub by_role: bool,
    /// The last messages of at most so many tokens, as they arrived.
    pub tokens: u64,
    /// Names or globs of tools.
    pub tools: Vec<String>,
}

impl Protect {
    /// The tool is one of those named.
    #[inline(never)]
    pub fn names(&self, tool: &str) -> bool {
        self.tools.iter().any(|glob| glob == tool || fast_glob::glob_match(glob, tool))
    }

    /// The message is protected by where it stands.
    pub fn holds(&self, ledger: &Ledger, message: MessageId) -> bool {
        message < self.head(ledger) || message >= self.tail(ledger)
    }

    /// First message after those protected at the start; a group is not split.
    pub fn head(&self, ledger: &Ledger) -> MessageId {
        let (mut at, mut left) = (MessageId::FIRST, self.first);
        while left > 0
            && let Some(message) = ledger.message(at)
        {
            left = left.saturating_sub(u32::from(message.role != Role::System));
            at = at.next();
        }
        // Forward, so that a group that begins in the protected part is protected whole.
        while at > MessageId::FIRST && !ledger.may_cut(at) {
            at = at.next();
        }
        at
    }

    /// First message of those protected at the end; a group is not split.
    pub fn tail(&self, ledger: &Ledger) -> MessageId {
        let from = ledger.next_message().minus(self.last).min(self.turn(ledger));
        let from = from.min(newest(ledger, self.tokens));
        ledger.cut_at_or_before(from)
    }

    /// Where the first of the protected turns starts; with fewer turns, the history.
    fn turn(&self, ledger: &Ledger) -> MessageId {
        if self.turns == 0 {
            return ledger.next_message();
        }
        if !self.by_role {
            let newest = ledger.messages.last().map_or(0, |message| message.turn);
            return ledger.turn_start(newest.saturating_add(1).saturating_sub(self.turns));
        }
        let mut left = self.turns;
        // Of results that stand side by side in messages of their own only the first counts.
        let role = |at: MessageId| ledger.message(at).map(|message| message.role);
        let first = MessageId::FIRST.to(ledger.next_message()).rev().find(|&at| {
            let tools = role(at) == Some(Role::Tool);
            let again = tools && at.previous().and_then(role) == Some(Role::Tool);
            let starts = role(at) == Some(Role::User) || (tools && !again);
            left = left.saturating_sub(u32::from(starts));
            left == 0
        });
        first.unwrap_or_default()
    }
}

/// First of the last messages of at most so many tokens, as they arrived.
pub(super) fn newest(ledger: &Ledger, tokens: u64) -> MessageId {
    let (mut at, mut sum) = (ledger.next_message(), 0u64);
    while tokens > 0
        && let Some(before) = at.previous()
    {
        // By what arrived and not by what is sent, so that an edit does not move the bound.
        sum = sum.saturating_add(arrived(ledger, before));
        if sum > tokens {
            break;
        }
        at = before;
    }
    at
}

/// Tokens of a message as it arrived.
pub(super) fn arrived(ledger: &Ledger, message: MessageId) -> u64 {
    let blocks = ledger.blocks_of(message);
    let tokens = blocks.filter_map(|at| ledger.block(at).map(|it| it.tokens));
    tokens.map(u64::from).sum()
}

/// What stands where nothing is edited and nothing is folded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    /// First message after those protected at the start.
    pub first: MessageId,
    /// First message of those at the end that are not edited.
    pub edit: MessageId,
    /// First message of those at the end that are not folded.
    pub fold: MessageId,
}

impl Bounds {
    /// Marks the blocks that these bounds hold, where they differ from `before`.
    pub(super) fn hold(self, ledger: &mut Ledger, before: Self) {
        let first = ledger.blocks_of(self.first.max(before.first)).start;
        let rest = ledger.blocks_of(self.edit.min(before.edit)).start;
        let rest = rest.to(ledger.next_block());
        let changed =
            if self.first == before.first { Span::default() } else { BlockId::FIRST.to(first) };
        for at in changed.chain(rest) {
            let Some(block) = ledger.blocks.get_mut(at.index()) else { continue };
            let holds = block.message < self.first || block.message >= self.edit;
            // The host's own summary is not protected: the next fold updates it and puts the new one in its place.
            block.in_protected_range = holds && !block.summary;
        }
    }
}
