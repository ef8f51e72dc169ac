//! Explanation of one message: its state, the rule that decided, and the evidence.

use crate::context::session::Session;
use crate::context::session::why::Why;
use crate::error::{Error, Result};
use crate::json;
use crate::model::{Block, BlockId, Form, GroupId, Kind, MessageId};
use crate::prune::Rule;

json::json_struct! {
    /// Explanation of how a message is sent, and why.
    #[derive(Clone, Debug, PartialEq)]
    #[cfg_attr(test, derive(ts_rs::TS), ts(rename_all = "camelCase"))]
    pub struct Explanation {
        /// Index of the message in the history.
        pub index: u32,
        /// `kept`: unchanged. `capped`: head and tail of a long body. `stubbed`: one line in place of a body. `thinned`: some blocks are left
        /// out. `summarized`: replaced by a summary. `dropped`: not sent.
        #[cfg_attr(
            test,
            ts(
                type = "\"kept\" | \"capped\" | \"stubbed\" | \"thinned\" | \"summarized\" | \"dropped\""
            )
        )]
        pub state: &'static str,
        /// Name of the rule that changed it; `keep` if none did.
        pub rule: &'static str,
        /// Facts that the rule was based on, in words.
        pub evidence: Vec<String>,
        /// Tokens of the original.
        pub tokens_before: u64,
        /// Tokens as it is sent.
        pub tokens_after: u64,
        /// Messages with the same number are kept or removed together. Its own index if it is alone.
        pub group: u32,
        /// Number of its turn.
        pub turn: u32,
        /// When it was changed; `null` if it was not.
        pub since: Option<Since>,
        /// What would bring the original back, in words.
        pub restore: &'static str,
    }
}

json::json_struct! {
    /// Request in which a message was changed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(test, derive(ts_rs::TS))]
    pub struct Since {
        /// Number of the epoch that the change ended.
        pub epoch: u32,
        /// Assistant messages in the history before that request.
        pub call: u32,
    }
}

/// Why the message at `index` is sent as it is.
///
/// # Errors
/// `InvalidArgument` if there is no such message.
pub fn explain(session: &Session, index: MessageId) -> Result<Explanation> {
    let Some(message) = session.transcript.ledger.message(index) else {
        let expected = match session.transcript.ledger.message_count().checked_sub(1) {
            Some(last) => format!("a message of the history (0 to {last})"),
            None => "a message of the history, which is empty".into(),
        };
        return Err(Error::argument("index", &expected, index));
    };
    let blocks = blocks_of(session, index);
    let changed = blocks.iter().filter(|(_, block)| block.form != Form::Full);
    let why = why_of(session, &blocks);
    let group = blocks.iter().map(|(_, block)| block.group).find(|group| group.is_some());
    let sum = |size: fn(&Block) -> u32| blocks.iter().map(|(_, b)| u64::from(size(b))).sum();
    Ok(Explanation {
        index: index.get(),
        state: state_of(session, &blocks, why.map(|why| why.rule)).name(),
        rule: why.map_or(KEEP, |why| why.rule.name()),
        evidence: changed.flat_map(|(_, block)| evidence(block, session.transcript.call)).collect(),
        tokens_before: sum(|block| block.tokens),
        tokens_after: sum(|block| block.now),
        group: group.map_or(index, GroupId::first_message).get(),
        turn: message.turn,
        since: why.map(|why| Since { epoch: why.epoch, call: why.call }),
        restore: match why.map(|why| why.rule) {
            None => "nothing to bring back",
            Some(Rule::Repair) => "a history that the provider accepts",
            Some(Rule::IngestCap) => "a pin, with the next epoch; a larger window or ingestCap",
            Some(Rule::Limit | Rule::BoundThinking) => "nothing: its provider would refuse it",
            Some(Rule::NoThinking) => "nothing: the model takes no thinking",
            Some(
                Rule::Timed
                | Rule::Cold
                | Rule::Capacity
                | Rule::Prune
                | Rule::Truncate
                | Rule::Discard
                | Rule::Fold
                | Rule::HardFit,
            ) => "a pin, with the next epoch; a larger window, from the start of the session",
        },
    })
}

/// How a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::context) enum State {
    Kept,
    Capped,
    Stubbed,
    Thinned,
    Summarized,
    Dropped,
}

impl State {
    /// All of them, in the order of their numbers in a table.
    pub(in crate::context) const ALL: [Self; 6] =
        [Self::Kept, Self::Capped, Self::Stubbed, Self::Thinned, Self::Summarized, Self::Dropped];

    pub(in crate::context) fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Capped => "capped",
            Self::Stubbed => "stubbed",
            Self::Thinned => "thinned",
            Self::Summarized => "summarized",
            Self::Dropped => "dropped",
        }
    }
}

/// How a message is sent, and the name of the rule that changed it.
pub(in crate::context) fn state_and_rule(
    session: &Session,
    index: MessageId,
) -> (State, &'static str) {
    let blocks = blocks_of(session, index);
    let rule = why_of(session, &blocks).map(|why| why.rule);
    (state_of(session, &blocks, rule), rule.map_or(KEEP, Rule::name))
}

/// The name of no rule.
const KEEP: &str = "keep";

fn blocks_of(session: &Session, index: MessageId) -> Vec<(BlockId, &Block)> {
    let ledger = &session.transcript.ledger;
    ledger.blocks_of(index).filter_map(|at| ledger.block(at).map(|block| (at, block))).collect()
}

/// Why a message is not sent as it is: of several reasons the deepest.
fn why_of(session: &Session, blocks: &[(BlockId, &Block)]) -> Option<Why> {
    let changed = blocks.iter().filter(|(_, block)| block.form != Form::Full);
    let reasons = changed.filter_map(|(at, _)| session.decisions.reasons.get(at));
    reasons.max_by_key(|why| why.rule).copied()
}

fn state_of(session: &Session, blocks: &[(BlockId, &Block)], rule: Option<Rule>) -> State {
    let all_gone = !blocks.is_empty() && blocks.iter().all(|(_, b)| b.form == Form::Gone);
    let has = |form| blocks.iter().any(|(_, block)| block.form == form);
    let summary = session.decisions.pruner.head.as_ref().is_some_and(|head| head.summary);
    if all_gone && rule == Some(Rule::Fold) && summary {
        State::Summarized
    } else if all_gone {
        State::Dropped
    } else if has(Form::Stubbed) {
        State::Stubbed
    } else if has(Form::Capped) {
        State::Capped
    } else if has(Form::Gone) {
        State::Thinned
    } else {
        State::Kept
    }
}

fn evidence(block: &Block, call: u32) -> Vec<String> {
    let kind = block.kind.name();
    // One for all: each way to format costs in the Wasm.
    let sentence = |first: &str, one: u32, between: &str, other: u32, last: &str| {
        format!("{kind}: {first}{one}{between}{other}{last}")
    };
    let mut lines = vec![sentence("", block.tokens, " tokens, now ", block.now, "")];
    if matches!(block.kind, Kind::Call | Kind::Result) {
        let idle = call.saturating_sub(block.last);
        lines.push(sentence("used by ", block.uses.into(), " calls, idle for ", idle, ""));
    }
    if block.kind == Kind::Result {
        let (live, used) = (block.live, block.used_live);
        lines.push(sentence("newest source of ", live, " identifiers, ", used, " of them used"));
    }
    if block.duplicate {
        lines.push(format!("{kind}: a later result says the same"));
    }
    lines
}
