//! Explanation of one message: its state, the rule that decided, and the evidence.

use crate::context::request::builder::Builder;
use crate::context::session::Session;
use crate::context::session::why::Why;
use crate::error::{Error, Result};
use crate::json;
use crate::model::{Block, BlockId, Fix, FixKind, Form, GroupId, Kind, MessageId};
use crate::prune::Rule;

json::json_struct! {
    /// Explanation of how a message is sent, and why.
    #[derive(Clone, Debug, PartialEq)]
    #[cfg_attr(test, derive(ts_rs::TS), ts(rename_all = "camelCase"))]
    pub struct Explanation {
        /// Index of the message in the history.
        pub index: u32,
        /// `kept`: nothing is cut or left out. `capped`: head and tail of a long body. `stubbed`: one line in place of a body. `thinned`:
        /// some blocks are left out. `summarized`: replaced by a summary. `dropped`: not sent.
        #[cfg_attr(
            test,
            ts(
                type = "\"kept\" | \"capped\" | \"stubbed\" | \"thinned\" | \"summarized\" | \"dropped\""
            )
        )]
        pub state: &'static str,
        /// Name of the rule that changed it; `keep` if none did. `repair` if only a repair did: it filled an empty result, for example.
        pub rule: &'static str,
        /// Facts behind the rule, in words, and what was repaired in the message or beside it.
        pub evidence: Vec<String>,
        /// Tokens of the original.
        pub tokens_before: u64,
        /// Tokens as it is sent.
        pub tokens_after: u64,
        /// Messages with the same number are kept or removed together. Its own index if it is alone.
        pub group: u32,
        /// Number of its turn.
        pub turn: u32,
        /// When something of it was cut or left out; `null` if nothing was.
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
    let Sending { state, rule, tokens, sent_tokens, group, why } = sending(session, index);
    let changed = blocks_of(session, index).filter(|(_, block)| block.form != Form::Full);
    let mut lines: Vec<_> =
        changed.flat_map(|(_, block)| evidence(block, session.transcript.call)).collect();
    let builder = Builder::new(session);
    lines.extend(builder.fixes_of(index).map(|fix| fix.violation.message.clone()));
    Ok(Explanation {
        index: index.get(),
        state: state.name(),
        rule: rule.map_or(KEEP, Rule::name),
        evidence: lines,
        tokens_before: tokens,
        tokens_after: sent_tokens,
        group: group.get(),
        turn: message.turn,
        since: why.map(|why| Since { epoch: why.epoch, call: why.call }),
        restore: match rule {
            None => "nothing to bring back",
            Some(Rule::Repair) => "a history that the provider accepts",
            Some(Rule::IngestCap) => "a pin, with the next epoch; a larger window or ingestCap",
            Some(Rule::Limit | Rule::BoundThinking) => "nothing: its provider would refuse it",
            Some(Rule::NoThinking) => "nothing: the model takes no thinking",
            // They save cost, however much room there is.
            Some(Rule::Timed | Rule::Cold) => {
                "a pin, with the next epoch; preset \"capacity\", from the start of the session"
            }
            Some(
                Rule::Capacity
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

/// How a message is sent, and by which rule.
pub(in crate::context) struct Sending {
    pub state: State,
    pub rule: Option<Rule>,
    /// Tokens as it arrived.
    pub tokens: u64,
    pub sent_tokens: u64,
    /// First message of those that are kept or removed together; its own if it is alone.
    pub group: MessageId,
    pub why: Option<Why>,
}

/// How a message is sent; of several reasons the deepest.
pub(in crate::context) fn sending(session: &Session, index: MessageId) -> Sending {
    let (mut tokens, mut sent_tokens) = (0u64, 0u64);
    let (mut has, mut count) = ([0u32; 4], 0u32);
    let (mut group, mut why) = (GroupId::NONE, None::<Why>);
    for (at, block) in blocks_of(session, index) {
        tokens = tokens.saturating_add(block.tokens.into());
        sent_tokens = sent_tokens.saturating_add(block.now.into());
        if let Some(of_form) = has.get_mut(block.form as usize) {
            *of_form = of_form.saturating_add(1);
        }
        group = if group.is_none() { block.group } else { group };
        count = count.saturating_add(1);
        let reason = session.decisions.reasons.get(at).filter(|_| block.form != Form::Full);
        why = why.into_iter().chain(reason).max_by_key(|why| why.rule);
    }
    // One that only adds a message before or after it does not change it.
    let changes = |fix: &Fix| !matches!(fix.kind, FixKind::Before(_) | FixKind::After(_));
    let is_repaired = || Builder::new(session).fixes_of(index).any(changes);
    let rule = why.map(|why| why.rule).or_else(|| is_repaired().then_some(Rule::Repair));
    let summary = session.decisions.pruner.head.as_ref().is_some_and(|head| head.summary);
    let [_, capped, stubbed, gone] = has;
    let state = if count > 0 && gone == count {
        if rule == Some(Rule::Fold) && summary { State::Summarized } else { State::Dropped }
    } else if stubbed > 0 {
        State::Stubbed
    } else if capped > 0 {
        State::Capped
    } else if gone > 0 {
        State::Thinned
    } else {
        State::Kept
    };
    let group = if group.is_none() { index } else { group.first_message() };
    Sending { state, rule, tokens, sent_tokens, group, why }
}

/// The name of no rule.
pub(in crate::context) const KEEP: &str = "keep";

fn blocks_of(session: &Session, index: MessageId) -> impl Iterator<Item = (BlockId, &Block)> {
    let ledger = &session.transcript.ledger;
    ledger.blocks_of(index).filter_map(|at| Some((at, ledger.block(at)?)))
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
