//! The measured transcript: messages, blocks, identifiers, and what the model's use of them says.
//!
//! Last use, uses and live counts are a function of the transcript; forms and rent are history.

mod sums;

use sums::Sums;

use crate::hash_index::{ByHash, ByName};
use crate::identifiers::{Identifiers, room};
use crate::model::{
    Block, BlockId, Form, GroupId, Kind, Mask, Message, MessageId, Occurrence, Role, Span,
};
use crate::number::count;
use crate::shared_list::SharedList;

/// A measured block as it arrives.
#[derive(Clone, Debug)]
pub struct Arrival<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its measure in tokens.
    pub tokens: u32,
    /// Tokens of it that remain whatever is sent of its text.
    pub overhead: u32,
    /// UTF-16 code units of its text.
    pub chars: u32,
    /// Bytes of its text and images.
    pub bytes: u32,
    /// A result that reports an error.
    pub failed: bool,
    /// Ranks of its identifiers ([`Occurrence::rank`]), each once.
    pub ids: &'a [u32],
    /// A result's call.
    pub pair: BlockId,
    /// Name of the tool of a call or a result; empty where it has none.
    pub tool: &'a str,
    /// Blocks that stay or go together have the same group; `NONE` for a block on its own.
    pub group: GroupId,
    /// Of a result's tool and arguments; `None` where its call is not known.
    pub call_key: Option<u64>,
    /// Of a call's tool and arguments; of anything else, of its text and images.
    pub key: u64,
    /// What validity allows.
    pub mask: Mask,
    /// Its tool is protected.
    pub named: bool,
}

/// Messages and blocks in order, with their identifiers.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The messages.
    pub messages: SharedList<Message>,
    /// The blocks of all messages.
    pub blocks: SharedList<Block>,
    /// The identifiers of all blocks.
    pub identifiers: Identifiers,
    block_ids: Vec<u32>,
    live: Vec<BlockId>,
    /// Of each block its tokens in its present form.
    now: Sums,
    /// Blocks that cost more because the request ends where it does, and how much more.
    at_end: Vec<(BlockId, u32)>,
    /// Tokens of all blocks as they arrived.
    arrived: u64,
    /// Tokens of what people wrote, and of that part of it which is sent verbatim.
    user: (u64, u64),
    same_call: ByHash,
    same_text: ByHash,
    /// Names of tools by number, from 1.
    tools: ByName<'static>,
}

/// A tool that has no name.
const NAMELESS: &str = "?";

/// A result of at most this many tokens is never taken for a repetition of another by its text alone.
const SMALL_RESULT: u32 = 60;

impl Ledger {
    /// Begins the next message; its blocks follow with [`Self::append`].
    pub fn begin(&mut self, message: Message) {
        self.messages.push(Message { first_block: self.next_block(), ..message });
    }

    /// Appends a block to the last message. `call` is the call at which it is first sent.
    pub fn append(&mut self, arrival: &Arrival<'_>, call: u32) -> BlockId {
        let block = self.next_block();
        let message = self.next_message().minus(1);
        let role = self.messages.last().map_or(Role::User, |message| message.role);
        let pair = self.block(arrival.pair).map_or(0, |it| it.tool);
        let tool = self.number_tool(arrival.tool).unwrap_or(pair);
        let start = count(self.block_ids.len());
        let (len, capacity) = (self.block_ids.len(), self.block_ids.capacity());
        self.block_ids.reserve_exact(room(len, capacity, arrival.ids.len()));
        self.block_ids.extend_from_slice(arrival.ids);
        let end = count(self.block_ids.len());
        self.blocks.push(Block {
            kind: arrival.kind,
            user: role == Role::User && arrival.kind == Kind::Text,
            summary: false,
            message,
            group: arrival.group,
            tokens: arrival.tokens,
            now: arrival.tokens,
            overhead: arrival.overhead,
            chars: arrival.chars,
            bytes: arrival.bytes,
            key: arrival.key,
            failed: arrival.failed,
            pair: arrival.pair,
            tool,
            ids: (start, end),
            last: call,
            uses: 0,
            live: 0,
            used_live: 0,
            duplicate: false,
            repeated: false,
            in_protected_range: false,
            named: arrival.named,
            rent: 0,
            form: Form::Full,
            mask: arrival.mask,
        });
        self.live.push(block);
        let tokens = u64::from(arrival.tokens);
        self.now.push(tokens);
        self.arrived = self.arrived.saturating_add(tokens);
        if role == Role::User && arrival.kind == Kind::Text {
            self.user = (self.user.0.saturating_add(tokens), self.user.1.saturating_add(tokens));
        }
        if let Some(call_block) = self.blocks.get_mut(arrival.pair.index()) {
            call_block.pair = block;
        }
        if role == Role::Assistant && matches!(arrival.kind, Kind::Text | Kind::Call) {
            self.use_identifiers(arrival.ids, block, call);
        } else {
            self.hold_identifiers(arrival.ids, block, arrival.kind);
        }
        if arrival.kind == Kind::Result {
            self.note_duplicates(arrival, block, message);
        }
        block
    }

    /// The number of a tool's name, which is given to it if it is new.
    fn number_tool(&mut self, name: &str) -> Option<u32> {
        if name.is_empty() || name == NAMELESS {
            return None;
        }
        let known = self.tools.get(0, name).unwrap_or_else(|| {
            let next = self.tools.len();
            self.tools.insert(0, name.to_owned(), next);
            next
        });
        Some(count(known).saturating_add(1))
    }

    /// The name of the tool with a number, which a block has.
    pub fn tool(&self, number: u32) -> &str {
        let at = (number as usize).checked_sub(1);
        at.and_then(|at| self.tools.name(at)).unwrap_or(NAMELESS)
    }

    /// The model has written these identifiers in a text or a call: what they came from was used.
    #[inline(never)]
    fn use_identifiers(&mut self, ranks: &[u32], block: BlockId, call: u32) {
        let Some(&Block { message, kind, .. }) = self.block(block) else { return };
        let mut touched = BlockId::NONE;
        for id in numbers(ranks) {
            let Some(identifier) = self.identifiers.get_mut(id) else { continue };
            let (newest, source) = (identifier.newest, identifier.source);
            let first_use = identifier.uses == 0;
            identifier.uses = identifier.uses.saturating_add(1);
            identifier.last_use = call;
            identifier.blocks = identifier.blocks.saturating_add(1);
            if kind == Kind::Call {
                identifier.newest = block;
            }
            // Identifiers that stand together mostly come from one block.
            for at in [newest, source] {
                if at != touched
                    && let Some(it) = self.blocks.get_mut(at.index())
                    && it.message < message
                {
                    if it.last != call || it.uses == 0 {
                        it.uses = it.uses.saturating_add(1);
                    }
                    it.last = call;
                    touched = at;
                }
            }
            if first_use && let Some(it) = self.blocks.get_mut(source.index()) {
                it.used_live = it.used_live.saturating_add(1);
            }
        }
    }

    /// The block, which the model has not written, holds these identifiers; a result is now the newest source of them.
    fn hold_identifiers(&mut self, ranks: &[u32], block: BlockId, kind: Kind) {
        let (mut live, mut used_live) = (0u32, 0u32);
        // Identifiers that stand together mostly had one source.
        let (mut old, mut lost) = (BlockId::NONE, (0u32, 0u32));
        for id in numbers(ranks) {
            let Some(identifier) = self.identifiers.get_mut(id) else { continue };
            identifier.blocks = identifier.blocks.saturating_add(1);
            if matches!(kind, Kind::Result | Kind::Call) {
                identifier.newest = block;
            }
            if kind != Kind::Result {
                continue;
            }
            let used = u32::from(identifier.uses > 0);
            let source = std::mem::replace(&mut identifier.source, block);
            if source != old {
                self.lose_source(old, lost);
                (old, lost) = (source, (0, 0));
            }
            lost = (lost.0.saturating_add(1), lost.1.saturating_add(used));
            live = live.saturating_add(1);
            used_live = used_live.saturating_add(used);
        }
        self.lose_source(old, lost);
        if let Some(it) = self.blocks.get_mut(block.index()) {
            (it.live, it.used_live) = (live, used_live);
        }
    }

    /// So many identifiers, and so many used ones, have a newer source than the block.
    fn lose_source(&mut self, block: BlockId, (live, used): (u32, u32)) {
        if let Some(it) = self.blocks.get_mut(block.index()) {
            it.live = it.live.saturating_sub(live);
            it.used_live = it.used_live.saturating_sub(used);
        }
    }

    /// An earlier result of the same call, or of the same text, is a duplicate.
    #[inline(never)]
    fn note_duplicates(&mut self, arrival: &Arrival<'_>, block: BlockId, message: MessageId) {
        if let Some(key) = arrival.call_key
            && let Some(earlier) = self.same_call.insert(key, i64::from(block))
            && let Some(earlier) =
                usize::try_from(earlier).ok().and_then(|at| self.blocks.get_mut(at))
            && earlier.message < message
        {
            earlier.duplicate = true;
        }
        if arrival.tokens > SMALL_RESULT
            && let Some(earlier) = self.same_text.insert(arrival.key, i64::from(block))
            && let Some(earlier) =
                usize::try_from(earlier).ok().and_then(|at| self.blocks.get_mut(at))
        {
            earlier.duplicate = true;
            earlier.repeated = true;
        }
    }

    /// The block is a summary, and no words of a person's.
    pub fn mark_summary(&mut self, block: BlockId) {
        let Some(it) = self.blocks.get_mut(block.index()) else { return };
        self.user.1 = self.user.1.saturating_sub(verbatim(it));
        if it.user {
            self.user.0 = self.user.0.saturating_sub(it.tokens.into());
        }
        (it.user, it.summary, it.in_protected_range) = (false, true, false);
    }

    /// Gives a block a later form, which has so many tokens beside what the end of the request adds; a form never goes back, and what
    /// is gone has no tokens.
    pub fn set_form(&mut self, block: BlockId, form: Form, now: u32) {
        let at_end = if form == Form::Gone { 0 } else { self.at_end(block) };
        let now = now.saturating_add(at_end);
        let known = self.blocks.get_mut(block.index());
        let Some(it) = known.filter(|it| it.form != Form::Gone) else { return };
        self.now.change(block.get(), u64::from(it.now), u64::from(now));
        it.now = now;
        self.user.1 = self.user.1.saturating_sub(verbatim(it));
        it.form = it.form.max(form);
        self.user.1 = self.user.1.saturating_add(verbatim(it));
        if form != Form::Gone {
            return;
        }
        it.ids = (0, 0);
        if let Ok(at) = self.live.binary_search(&block) {
            self.live.remove(at);
        }
    }

    /// A block costs so much more because the request ends where it does, whatever is sent of its text; if it is gone, once it is back.
    pub fn add_at_end(&mut self, block: BlockId, tokens: u32) {
        self.at_end.push((block, tokens));
        let known = self.blocks.get_mut(block.index());
        let Some(it) = known.filter(|it| it.form != Form::Gone) else { return };
        let now = it.now.saturating_add(tokens);
        self.now.change(block.get(), it.now.into(), now.into());
        it.now = now;
    }

    /// No block costs more for that any longer.
    pub fn clear_at_end(&mut self) {
        for (block, tokens) in std::mem::take(&mut self.at_end) {
            let Some(it) = self.blocks.get_mut(block.index()) else { continue };
            let now = it.now.saturating_sub(tokens);
            self.now.change(block.get(), it.now.into(), now.into());
            it.now = now;
        }
    }

    /// What a block costs more for that.
    pub fn at_end(&self, block: BlockId) -> u32 {
        let all = self.at_end.iter().filter(|(at, _)| *at == block);
        all.fold(0, |sum, (_, tokens)| sum.saturating_add(*tokens))
    }

    /// The first block that costs more for that.
    pub fn first_at_end(&self) -> Option<BlockId> {
        self.at_end.iter().map(|(block, _)| *block).min()
    }

    /// Gives a block back its first form. True: it was gone, and its identifiers with it; they come with its text again.
    pub fn bring_back(&mut self, block: BlockId) -> bool {
        let at_end = self.at_end(block);
        let Some(it) = self.blocks.get_mut(block.index()) else { return false };
        let now = it.tokens.saturating_add(at_end);
        self.now.change(block.get(), u64::from(it.now), u64::from(now));
        let was_gone = it.form == Form::Gone;
        it.now = now;
        self.user.1 = self.user.1.saturating_sub(verbatim(it));
        it.form = Form::Full;
        self.user.1 = self.user.1.saturating_add(verbatim(it));
        if was_gone {
            // A snapshot tells no rent of what is gone.
            it.rent = 0;
        }
        if let Err(at) = self.live.binary_search(&block) {
            self.live.insert(at, block);
        }
        was_gone
    }

    /// None of these is gone.
    pub fn is_live(&self, mut blocks: Span<BlockId>) -> bool {
        blocks.all(|at| self.blocks.get(at.index()).is_some_and(|block| block.form != Form::Gone))
    }

    /// Gives a block that came back the identifiers that it arrived with.
    pub fn restore_ids(&mut self, block: BlockId, ranks: &[u32]) {
        let start = count(self.block_ids.len());
        self.block_ids.extend_from_slice(ranks);
        let end = count(self.block_ids.len());
        if let Some(it) = self.blocks.get_mut(block.index()).filter(|it| it.form != Form::Gone) {
            it.ids = (start, end);
        }
    }

    /// Removes these blocks, which are in order, as far as they are live.
    pub fn drop_all(&mut self, blocks: &[BlockId]) {
        let mut rest = blocks.iter().peekable();
        self.drop_unless(|at, _| {
            while rest.next_if(|it| **it < at).is_some() {}
            rest.next_if_eq(&&at).is_none()
        });
    }

    /// Removes every live block that `keep` refuses, in one pass, and frees what it held.
    pub fn drop_unless(&mut self, mut keep: impl FnMut(BlockId, &Block) -> bool) -> Vec<BlockId> {
        let (mut gone, mut lost) = (Vec::new(), Vec::new());
        let blocks = &mut self.blocks;
        let user = &mut self.user.1;
        self.live.retain(|&at| {
            let Some(block) = blocks.get(at.index()) else { return false };
            if keep(at, block) {
                return true;
            }
            let Some(block) = blocks.get_mut(at.index()) else { return false };
            lost.push((at.get(), u64::from(block.now)));
            block.now = 0;
            *user = user.saturating_sub(verbatim(block));
            block.form = Form::Gone;
            block.ids = (0, 0);
            gone.push(at);
            false
        });
        self.now.clear(&lost);
        self.free_identifier_lists();
        gone
    }

    /// Only live blocks are asked for their identifiers again.
    fn free_identifier_lists(&mut self) {
        let mut kept = Vec::new();
        let mut lists: Vec<(BlockId, (u32, u32))> = Vec::with_capacity(self.live.len());
        for &at in &self.live {
            let start = count(kept.len());
            kept.extend_from_slice(self.ranks(at));
            lists.push((at, (start, count(kept.len()))));
        }
        for (at, list) in lists {
            if let Some(block) = self.blocks.get_mut(at.index()) {
                block.ids = list;
            }
        }
        kept.shrink_to_fit();
        self.block_ids = kept;
    }

    /// Blocks that are still sent, in order.
    pub fn live(&self) -> &[BlockId] {
        &self.live
    }

    /// Tokens of all blocks in their present forms.
    pub fn total(&self) -> u64 {
        self.now.total()
    }

    /// Tokens of all blocks as they arrived.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Tokens of what people wrote, and of that part of it which is sent verbatim.
    pub fn user_tokens(&self) -> (u64, u64) {
        self.user
    }

    /// Tokens of the blocks from this one on, in their present forms.
    pub fn tokens_from(&self, block: BlockId) -> u64 {
        self.now.from(block.get())
    }

    /// How many blocks there are.
    pub fn block_count(&self) -> u32 {
        count(self.blocks.len())
    }

    /// How many messages there are.
    pub fn message_count(&self) -> u32 {
        count(self.messages.len())
    }

    /// The block that arrives next.
    pub fn next_block(&self) -> BlockId {
        BlockId::at(self.blocks.len())
    }

    /// The message that arrives next.
    pub fn next_message(&self) -> MessageId {
        MessageId::at(self.messages.len())
    }

    /// The block, if there is one.
    pub fn block(&self, at: BlockId) -> Option<&Block> {
        self.blocks.get(at.index())
    }

    /// The message, if there is one.
    pub fn message(&self, at: MessageId) -> Option<&Message> {
        self.messages.get(at.index())
    }

    /// The identifiers of a block, in the order of their numbers; none once it is gone.
    pub fn ids(&self, block: BlockId) -> impl Iterator<Item = u32> {
        numbers(self.ranks(block))
    }

    /// The same, those of its head first.
    pub fn ids_head_first(&self, block: BlockId) -> impl Iterator<Item = u32> {
        let part = |in_head: bool| {
            let all = self.ranks(block).iter().map(|rank| Occurrence::of_rank(*rank));
            all.filter(move |it| it.in_head == in_head).map(|it| it.id)
        };
        part(true).chain(part(false))
    }

    /// Ranks of the identifiers of a block.
    pub fn ranks(&self, block: BlockId) -> &[u32] {
        let (from, to) = self.blocks.get(block.index()).map_or((0, 0), |block| block.ids);
        self.block_ids.get(from as usize..to as usize).unwrap_or(&[])
    }

    /// A cut may be made before this message: no call is open there.
    pub fn may_cut(&self, message: MessageId) -> bool {
        self.messages.get(message.index()).is_none_or(|it| it.may_cut)
    }

    /// Where a cut may be made, at this message or before it.
    pub fn cut_at_or_before(&self, message: MessageId) -> MessageId {
        let mut messages = MessageId::FIRST.to(message.next());
        messages.rfind(|&at| self.may_cut(at)).unwrap_or_default()
    }

    /// A turn starts with this message.
    pub fn starts_turn(&self, message: MessageId) -> bool {
        let turn = |at: MessageId| self.messages.get(at.index()).map_or(0, |it| it.turn);
        turn(message) > message.previous().map_or(0, turn)
    }

    /// First message of a turn; of turn 0, the first of all.
    pub fn turn_start(&self, turn: u32) -> MessageId {
        let at = self.messages.partition_point(|message| message.turn < turn);
        if turn == 0 { MessageId::FIRST } else { MessageId::at(at) }
    }

    /// The blocks of a message.
    pub fn blocks_of(&self, message: MessageId) -> Span<BlockId> {
        let first = |at: MessageId| {
            let message = self.messages.get(at.index());
            message.map_or_else(|| self.next_block(), |message| message.first_block)
        };
        first(message).to(first(message.next()))
    }
}

fn numbers(ranks: &[u32]) -> impl Iterator<Item = u32> {
    ranks.iter().map(|rank| Occurrence::of_rank(*rank).id)
}

/// Tokens of a block that people wrote, if it is sent verbatim.
fn verbatim(block: &Block) -> u64 {
    if block.user && block.form == Form::Full { block.tokens.into() } else { 0 }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::arithmetic_side_effects, reason = "small numbers")]

    use super::*;

    struct Fixture {
        ledger: Ledger,
        call: u32,
    }

    impl Fixture {
        fn push(&mut self, role: Role, kind: Kind, pair: BlockId, names: &[&str]) -> BlockId {
            let message = Message {
                fingerprint: 0,
                written: 0,
                role,
                first_block: BlockId::FIRST,
                call: self.call,
                turn: 0,
                bytes: 0,
                may_cut: true,
                at_ms: None,
            };
            self.ledger.begin(message);
            self.call += u32::from(role == Role::Assistant);
            let ids: Vec<u32> = names
                .iter()
                .map(|name| rank(self.ledger.identifiers.intern(name, |_| 1)))
                .collect();
            let arrival = Arrival {
                kind,
                tokens: 100,
                chars: 400,
                overhead: 0,
                bytes: 0,
                failed: false,
                ids: &ids,
                tool: "",
                pair,
                group: GroupId::NONE,
                call_key: (kind == Kind::Result).then_some(u64::from(pair)),
                key: u64::from(self.ledger.block_count()),
                mask: Mask::FREE,
                named: false,
            };
            self.ledger.append(&arrival, self.call)
        }

        fn block(&self, at: BlockId) -> &Block {
            &self.ledger.blocks[at.index()]
        }
    }

    fn rank(id: u32) -> u32 {
        Occurrence { id, in_head: true, is_new: false }.rank()
    }

    fn fixture() -> Fixture {
        Fixture { ledger: Ledger::default(), call: 0 }
    }

    #[test]
    fn what_is_gone_stays_gone_and_has_no_tokens() {
        let mut fixture = fixture();
        let at = fixture.push(Role::Tool, Kind::Result, BlockId::NONE, &[]);
        fixture.ledger.set_form(at, Form::Gone, 0);
        fixture.ledger.set_form(at, Form::Stubbed, 50);
        assert_eq!((fixture.block(at).form, fixture.block(at).now), (Form::Gone, 0));
        assert_eq!(fixture.ledger.total(), 0);
    }

    #[test]
    fn the_newest_result_is_the_source_of_what_is_used() {
        let mut fixture = fixture();
        let old = fixture.push(Role::Tool, Kind::Result, BlockId::NONE, &["a.rs", "b.rs"]);
        assert_eq!((fixture.block(old).live, fixture.block(old).used_live), (2, 0));
        fixture.push(Role::Assistant, Kind::Text, BlockId::NONE, &["a.rs"]);
        assert_eq!((fixture.block(old).uses, fixture.block(old).last), (1, 1));
        assert_eq!((fixture.block(old).live, fixture.block(old).used_live), (2, 1));
        let new = fixture.push(Role::Tool, Kind::Result, BlockId::NONE, &["a.rs"]);
        assert_eq!((fixture.block(old).live, fixture.block(old).used_live), (1, 0));
        assert_eq!((fixture.block(new).live, fixture.block(new).used_live), (1, 1));
        fixture.push(Role::Assistant, Kind::Text, BlockId::NONE, &["a.rs"]);
        assert_eq!((fixture.block(old).uses, fixture.block(new).uses), (1, 1));
        assert_eq!((fixture.block(old).last, fixture.block(new).last), (1, 2));
    }

    #[test]
    fn a_call_that_uses_two_names_of_a_result_is_one_use() {
        let mut fixture = fixture();
        let result = fixture.push(Role::Tool, Kind::Result, BlockId::NONE, &["a.rs", "b.rs"]);
        fixture.push(Role::Assistant, Kind::Call, BlockId::NONE, &["a.rs", "b.rs"]);
        assert_eq!((fixture.block(result).uses, fixture.block(result).used_live), (1, 2));
    }

    #[test]
    fn the_same_call_again_makes_its_earlier_result_a_duplicate() {
        let mut fixture = fixture();
        let first = fixture.push(Role::Tool, Kind::Result, 7.into(), &[]);
        let other = fixture.push(Role::Tool, Kind::Result, 8.into(), &[]);
        let again = fixture.push(Role::Tool, Kind::Result, 7.into(), &[]);
        assert_eq!(
            [first, other, again].map(|at| fixture.block(at).duplicate),
            [true, false, false]
        );
    }

    #[test]
    fn forms_never_go_back_and_sums_follow() {
        let mut fixture = fixture();
        let all: Vec<BlockId> =
            (0..3).map(|_| fixture.push(Role::User, Kind::Text, BlockId::NONE, &["a"])).collect();
        fixture.ledger.set_form(all[1], Form::Stubbed, 10);
        fixture.ledger.set_form(all[1], Form::Capped, 10);
        assert_eq!(fixture.block(all[1]).form, Form::Stubbed);
        assert_eq!((fixture.ledger.total(), fixture.ledger.tokens_from(all[1])), (210, 110));
        fixture.ledger.set_form(all[0], Form::Gone, 0);
        assert_eq!((fixture.ledger.live(), fixture.ledger.total()), (&all[1..], 110));
        assert_eq!(fixture.ledger.ids(all[0]).next(), None);
    }

    #[test]
    fn what_the_end_of_a_request_costs_is_added_to_any_form_until_it_is_cleared() {
        let mut fixture = fixture();
        let all: Vec<BlockId> =
            (0..3).map(|_| fixture.push(Role::Assistant, Kind::Call, BlockId::NONE, &[])).collect();
        let ledger = &mut fixture.ledger;
        ledger.set_form(all[2], Form::Gone, 0);
        for &at in &all {
            ledger.add_at_end(at, 7);
        }
        ledger.set_form(all[1], Form::Stubbed, 10);
        let now = |ledger: &Ledger| {
            all.iter().map(|at| ledger.blocks[at.index()].now).collect::<Vec<_>>()
        };
        assert_eq!((now(ledger), ledger.total()), (vec![107, 17, 0], 124));
        ledger.bring_back(all[2]);
        assert_eq!((now(ledger), ledger.total()), (vec![107, 17, 107], 231));
        ledger.clear_at_end();
        assert_eq!((now(ledger), ledger.total()), (vec![100, 10, 100], 210));
        assert_eq!((ledger.at_end(all[0]), ledger.first_at_end()), (0, None));
    }

    #[test]
    fn user_text_is_summed_with_its_verbatim_part() {
        let mut fixture = fixture();
        let all: Vec<BlockId> =
            (0..3).map(|_| fixture.push(Role::User, Kind::Text, BlockId::NONE, &["a"])).collect();
        fixture.push(Role::Assistant, Kind::Text, BlockId::NONE, &[]);
        fixture.push(Role::User, Kind::Image, BlockId::NONE, &[]);
        assert_eq!((fixture.ledger.arrived(), fixture.ledger.user_tokens()), (500, (300, 300)));
        fixture.ledger.set_form(all[1], Form::Capped, 40);
        fixture.ledger.set_form(all[1], Form::Stubbed, 10);
        fixture.ledger.drop_unless(|at, _| at != all[0]);
        assert_eq!((fixture.ledger.arrived(), fixture.ledger.user_tokens()), (500, (300, 100)));
        fixture.ledger.bring_back(all[1]);
        fixture.ledger.bring_back(all[1]);
        assert_eq!(fixture.ledger.user_tokens(), (300, 200));
    }

    #[test]
    fn dropping_a_block_forgets_its_own_identifiers_only() {
        let mut fixture = fixture();
        let names = [&["a", "b"][..], &["c"], &["d", "e", "f"]];
        let all: Vec<BlockId> = names
            .iter()
            .map(|names| fixture.push(Role::Tool, Kind::Result, BlockId::NONE, names))
            .collect();
        assert_eq!(fixture.ledger.drop_unless(|at, _| at != all[1]), [all[1]]);
        let kept: Vec<Vec<&str>> = all
            .iter()
            .map(|&at| {
                fixture.ledger.ids(at).map(|id| fixture.ledger.identifiers.text(id)).collect()
            })
            .collect();
        assert_eq!(kept, [vec!["a", "b"], vec![], vec!["d", "e", "f"]]);
        assert_eq!((fixture.ledger.live(), fixture.ledger.total()), (&[all[0], all[2]][..], 200));
        fixture.ledger.drop_unless(|_, _| true);
        assert_eq!(fixture.ledger.ids(all[2]).count(), 3);
    }

    #[test]
    fn blocks_are_dropped_whichever_of_them_are_gone_already() {
        let mut fixture = fixture();
        let all: Vec<BlockId> =
            (0..6).map(|_| fixture.push(Role::User, Kind::Text, BlockId::NONE, &[])).collect();
        fixture.ledger.drop_all(&[all[0], all[3]]);
        fixture.ledger.drop_all(&[all[0], all[2], all[3], all[5]]);
        assert_eq!(fixture.ledger.live(), [all[1], all[4]]);
        fixture.ledger.drop_all(&[]);
        assert_eq!(fixture.ledger.live().len(), 2);
    }
}
