//! Floor of a request that does not fit: the parts that cannot be removed, their sizes, and what would help.

use crate::context::session::Session;
use crate::json::{self, Value, json};
use crate::model::{Block, BlockId, Role};
use crate::sort::{down, sort_by};

json::json_struct! {
    /// What no compaction makes smaller, in tokens.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(in crate::context) struct Floor {
        system: u64 as "systemTokens",
        tool: u64 as "toolTokens",
        pinned: u64 as "pinnedTokens",
        thinking: u64 as "thinkingTokens",
        last_turn: u64 as "lastTurnTokens",
        other: u64 as "otherTokens",
        reserve: u64 as "reserveTokens",
        window: u64 as "windowTokens",
    }
}

/// A part of less than this share of what is over helps nobody by getting smaller.
const WORTH: u64 = 10;

/// What cannot go: the figures of an overflow that nothing helps. The parts are the request, as `tokens` counts it.
pub(in crate::context) fn smallest_request(session: &Session, tokens: u64) -> Floor {
    let mut floor = Floor {
        system: session.request.extras.system.saturating_add(session.request.extras.unseen),
        tool: session.request.extras.tools,
        pinned: session.request.pins.tokens(session.options.estimator),
        reserve: session
            .options
            .mode
            .window_tokens()
            .saturating_sub(session.options.mode.usable_tokens()),
        window: session.options.mode.window_tokens(),
        ..Floor::default()
    };
    for &at in session.transcript.ledger.live() {
        if let Some(block) = session.transcript.ledger.block(at) {
            let part = part_of(session, at, block, &mut floor);
            *part = part.saturating_add(block.now.into());
        }
    }
    let known =
        [floor.system, floor.tool, floor.pinned, floor.thinking, floor.last_turn, floor.other];
    let rest = tokens.saturating_sub(known.into_iter().sum());
    floor.other = floor.other.saturating_add(rest);
    floor
}

fn part_of<'f>(session: &Session, at: BlockId, block: &Block, floor: &'f mut Floor) -> &'f mut u64 {
    let message = session.transcript.ledger.message(block.message);
    if session.request.pins.hold(at) {
        &mut floor.pinned
    } else if session.transcript.protected.contains(block.message) {
        &mut floor.thinking
    } else if block.message >= session.transcript.user_request {
        &mut floor.last_turn
    } else if message.is_some_and(|it| it.role == Role::System) {
        &mut floor.system
    } else {
        &mut floor.other
    }
}

/// Why a request of so many tokens (as we count) does not fit.
#[inline(never)]
pub(in crate::context) fn why_too_large(session: &Session, estimate: u64) -> Value {
    let tokens = session.counts.calibration.tokens(estimate);
    let over =
        tokens.saturating_sub(session.counts.calibration.tokens(session.decisions.usable)).max(1);
    let floor = smallest_request(session, tokens);
    json!({ "overTokens": over, "floor": floor, "help": floor.help(over) })
}

impl Floor {
    /// What would help, the largest part first.
    fn help(&self, over: u64) -> Vec<&'static str> {
        let mut parts = [
            (self.system, "shorten the system prompt, or what unseenTokens stands for"),
            (self.tool, "pass fewer tools, or shorten them with trimToolDescriptions()"),
            (self.pinned, "unpin() what is no longer needed"),
            (self.thinking, "start a new turn, or send no reasoning (thinking: \"none\")"),
            (self.last_turn, "shorten the last message of the user and what follows it"),
            (self.reserve, "hold back less for the answer (maxOutputTokens)"),
        ];
        sort_by(&mut parts, |&(tokens, _)| (down(tokens), 0));
        let worth = parts.into_iter().filter(|&(tokens, _)| tokens.saturating_mul(WORTH) >= over);
        worth.map(|(_, help)| help).chain(["use a model with a larger window"]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_names_the_largest_part_first_and_no_part_that_would_not_help() {
        let floor = Floor { system: 500, tool: 4_000, last_turn: 90, ..Floor::default() };
        let help = floor.help(1_000);
        assert_eq!(help.len(), 3, "{help:?}");
        assert!(help.first().is_some_and(|it| it.contains("tools")), "{help:?}");
        assert!(help.get(1).is_some_and(|it| it.contains("system prompt")), "{help:?}");
        assert_eq!(Floor::default().help(1_000), ["use a model with a larger window"]);
    }
}
