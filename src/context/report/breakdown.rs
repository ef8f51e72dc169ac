//! Breakdown of a request by kind of content, and message by message.

use crate::context::report::explain::{KEEP, Sending, sending};
use litemap::LiteMap;

use crate::json;

use crate::context::session::Session;
use crate::model::{Block, Form, Kind, Message, MessageId, Role};
use crate::number::count;
use crate::prune::Rule;
use crate::sort::{down, sort_by};

json::json_struct! {
    /// Blocks of one kind in a request.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[cfg_attr(test, derive(ts_rs::TS), ts(rename_all = "camelCase"))]
    pub struct Bucket {
        /// `system`, `tools`, `user`, `assistant`, `thinking`, `image`, `call NAME` or `result NAME` of a tool; `head`: the message that
        /// replaces folded ones; `unseen`: `unseenTokens`; `pins`: pinned texts; `made`: synthetic messages that repair the history.
        pub bucket: String,
        /// Number of blocks.
        pub blocks: u32,
        /// Tokens of the originals; 0 for `head` and `made`.
        pub tokens: u64,
        /// Tokens as they are sent.
        pub sent_tokens: u64,
        /// Number of blocks that are sent unchanged.
        pub kept: u32,
        /// Number of blocks of which head and tail are sent.
        pub capped: u32,
        /// Number of blocks in whose place one line is sent.
        pub stubbed: u32,
        /// Number of blocks that are not sent.
        pub gone: u32,
    }
}

json::json_struct! {
    /// Message of the history, and how much of it is sent.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[cfg_attr(
        test,
        derive(ts_rs::TS),
        ts(rename_all = "camelCase", rename = "ListedMessage", optional_fields)
    )]
    pub struct Listed {
        /// Its index in the history.
        pub index: u32,
        /// `system`, `user`, `assistant` or `tool`.
        pub role: &'static str,
        /// Kind of its largest block.
        pub kind: &'static str,
        /// Name of the tool, if the largest block is a tool call or a tool result.
        pub tool: Option<String> as "tool?",
        /// Bucket of its largest block, as in `Bucket.bucket`.
        pub bucket: String,
        /// Tokens of the original.
        pub tokens: u64,
        /// Tokens as it is sent.
        pub sent_tokens: u64,
        /// How it is sent; see `Explanation.state`.
        #[cfg_attr(
            test,
            ts(
                type = "\"kept\" | \"capped\" | \"stubbed\" | \"thinned\" | \"summarized\" | \"dropped\""
            )
        )]
        pub state: &'static str,
        /// Name of the rule that changed it; `keep` if none did, `repair` if only a repair did.
        pub rule: &'static str,
        /// Number of its turn.
        pub turn: u32,
        /// Messages with the same number are kept or removed together. Its own index if it is alone.
        pub group: u32,
    }
}

/// What the request holds, the largest first.
pub fn list_buckets(session: &Session) -> Vec<Bucket> {
    let mut of_blocks: Vec<Bucket> = Vec::new();
    for block in &session.transcript.ledger.blocks {
        let number = bucket_of(session, block);
        if of_blocks.len() <= number {
            of_blocks.resize(number.saturating_add(1), Bucket::default());
        }
        let Some(bucket) = of_blocks.get_mut(number) else { continue };
        bucket.blocks = bucket.blocks.saturating_add(1);
        bucket.tokens = bucket.tokens.saturating_add(u64::from(block.tokens));
        bucket.sent_tokens = bucket.sent_tokens.saturating_add(u64::from(block.now));
        let count = match block.form {
            Form::Full => &mut bucket.kept,
            Form::Capped => &mut bucket.capped,
            Form::Stubbed => &mut bucket.stubbed,
            Form::Gone => &mut bucket.gone,
        };
        *count = count.saturating_add(1);
    }
    let mut buckets: LiteMap<[&str; 2], Bucket> = LiteMap::new();
    for (number, bucket) in of_blocks.into_iter().enumerate().filter(|(_, it)| it.blocks > 0) {
        buckets.insert(bucket_name(session, number), bucket);
    }
    for (name, tokens, ours) in
        beside_messages(session).into_iter().filter(|(_, tokens, _)| *tokens > 0)
    {
        let bucket = buckets.entry([name, ""]).or_default();
        bucket.blocks = bucket.blocks.saturating_add(1);
        bucket.kept = bucket.kept.saturating_add(1);
        bucket.sent_tokens = bucket.sent_tokens.saturating_add(tokens);
        bucket.tokens = bucket.tokens.saturating_add(if ours { tokens } else { 0 });
    }
    let mut buckets: Vec<Bucket> =
        buckets.into_iter().map(|(name, rest)| Bucket { bucket: name.concat(), ..rest }).collect();
    sort_by(&mut buckets, |bucket| (down(bucket.sent_tokens), down(bucket.tokens)));
    buckets
}

/// What a request has beside the messages of the history: its bucket, its tokens, and whether there was an original of it.
pub(in crate::context) fn beside_messages(session: &Session) -> [(&'static str, u64, bool); 6] {
    let head = session.decisions.pruner.head.as_ref().map_or(0, |head| u64::from(head.tokens));
    [
        ("system", session.request.extras.system, true),
        ("tools", session.request.extras.tools, true),
        ("unseen", session.request.extras.unseen, true),
        ("pins", session.request.pins.tokens(session.options.estimator), true),
        ("head", head, false),
        ("made", session.request.last.made_tokens, false),
    ]
}

/// What a block can be to a reader; the last two have the name of a tool after them.
const PARTS: [&str; 7] = ["user", "assistant", "system", "image", "thinking", "call ", "result "];

/// The number of a block's bucket: its part in the lowest three bits, the number of its tool above them.
pub(in crate::context) fn bucket_of(session: &Session, block: &Block) -> usize {
    let role = || session.transcript.ledger.message(block.message).map(|message| message.role);
    let part = match block.kind {
        Kind::Result => 6,
        Kind::Call => 5,
        Kind::Thinking => 4,
        Kind::Image => 3,
        Kind::Text | Kind::Other => match role() {
            Some(Role::System) => 2,
            Some(Role::Assistant) => 1,
            Some(Role::User | Role::Tool) | None => 0,
        },
    };
    (block.tool as usize) << 3 | part
}

/// The two parts of a bucket's name.
pub(in crate::context) fn bucket_name(session: &Session, bucket: usize) -> [&str; 2] {
    let (tool, part) = (bucket >> 3, bucket & 7);
    let part = PARTS.get(part).copied().unwrap_or_default();
    let has_tool = part.ends_with(' ');
    [part, if has_tool { session.transcript.ledger.tool(count(tool)) } else { "" }]
}

/// The bucket of a message is that of its largest block.
pub(in crate::context) fn largest_block(session: &Session, index: MessageId) -> Option<&Block> {
    let ledger = &session.transcript.ledger;
    let blocks = ledger.blocks_of(index).filter_map(|at| ledger.block(at));
    blocks.max_by_key(|block| block.tokens)
}

/// Every message of the history and what is sent of it.
pub fn list_messages(session: &Session) -> Vec<Listed> {
    let ledger = &session.transcript.ledger;
    let messages = MessageId::FIRST.on().zip(&ledger.messages);
    messages.map(|(index, message)| listed_message(session, index, message)).collect()
}

fn listed_message(session: &Session, index: MessageId, message: &Message) -> Listed {
    let largest = largest_block(session, index);
    let kind = largest.map_or(Kind::Other, |block| block.kind);
    let tool = largest.filter(|_| matches!(kind, Kind::Call | Kind::Result));
    let Sending { state, rule, tokens, sent_tokens, group, .. } = sending(session, index);
    Listed {
        index: index.get(),
        role: match message.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        },
        kind: kind.name(),
        tool: tool.map(|block| session.transcript.ledger.tool(block.tool).to_owned()),
        bucket: bucket_name(session, largest.map_or(0, |it| bucket_of(session, it))).concat(),
        tokens,
        sent_tokens,
        state: state.name(),
        rule: rule.map_or(KEEP, Rule::name),
        turn: message.turn,
        group: group.get(),
    }
}
