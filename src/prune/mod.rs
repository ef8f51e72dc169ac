//! The default policy: what of a measured transcript is edited, when, and how deep.
//!
//! Sticky edits, batched and timed by rent-or-buy; blocks chosen by expected need per token; folds that keep a hot set and
//! carry a digest of identifiers; a fit that always fits unless the fixed part alone is too large. It knows measures and
//! masks only: no text, no format, no provider, no clock but the transcript's.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "tokens, prices and shares: u32 sums and small constants, far below u64"
)]

mod economy;
mod edit;
mod fit;
mod fold;
mod fold_room;
mod forecast;
mod need;
mod presets;
mod protect;
#[cfg(test)]
mod tests;
mod tuning;

pub use economy::{Cache, INSTRUCTION, Sent};
pub use edit::stub;
pub use fold::Head;
pub use forecast::Forecast;
use need::may_become_candidate;
pub use need::{SMALLEST_EDIT, is_candidate, stub_line_identifiers, stub_lines_room};
pub use presets::{Marker, Seed, Shorten, Strategy, Stub, Trigger, oldest_chunk};
use protect::Bounds;
pub use protect::Protect;
pub use tuning::{BASIS_POINTS, Early, Policy, Prices};

use crate::ledger::Ledger;
use crate::model::{Block, BlockId, Form, Kind, MessageId};

/// Sizes that a decision is made for, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The model's context window.
    pub window: u64,
    /// The window less what is held back for the answer.
    pub usable: u64,
    /// What is sent beside the messages: system prompt and tools.
    pub fixed: u64,
    /// Of that, what mending the last request added, if this one is of the same messages.
    pub mended: u64,
    /// Above so many something must go, whatever share of the window that is.
    pub cap: u64,
}

/// When a decision is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Assistant messages before this request.
    pub call: u32,
    /// The last request is younger than the cache lives.
    pub warm: bool,
    /// No request was made before.
    pub first: bool,
    /// What becomes of a fold.
    pub folds: Folds,
    /// The host has a summarizer.
    pub summarizes: bool,
}

/// What becomes of a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folds {
    /// It is carried out.
    Carried,
    /// One without which the request fits is reported instead.
    Deferred,
    /// There is none: what this request leaves out is for this request only.
    Never,
}

/// Why a block is no longer sent as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Too large a share of the window to be sent whole even once.
    IngestCap,
    /// Its rent has paid for the edit.
    Timed,
    /// The cache was cold: the edit cost nothing.
    Cold,
    /// The window was nearly full.
    Capacity,
    /// A preset's way: what stands before its protected end is shortened.
    Prune,
    /// A preset's way: old bodies were cut to reach the target.
    Truncate,
    /// A preset's way: the oldest were dropped to reach the target.
    Discard,
    /// A fold replaced what stood before its cut.
    Fold,
    /// The request would not have fit.
    HardFit,
    /// Reasoning that was bound to what stood before it, and that has changed.
    BoundThinking,
    /// The model takes no reasoning.
    NoThinking,
    /// More images or bytes than the provider takes.
    Limit,
    /// The host's history broke a rule of the provider.
    Repair,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 13] = [
        Self::IngestCap,
        Self::Timed,
        Self::Cold,
        Self::Capacity,
        Self::Prune,
        Self::Truncate,
        Self::Discard,
        Self::Fold,
        Self::HardFit,
        Self::BoundThinking,
        Self::NoThinking,
        Self::Limit,
        Self::Repair,
    ];

    /// The rule of this public name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// What it took is no part of the history any more.
    pub fn takes(self) -> bool {
        matches!(self, Self::Fold | Self::Discard)
    }

    /// Its public name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::IngestCap => "ingest-cap",
            Self::Timed => "timed",
            Self::Cold => "cold",
            Self::Capacity => "capacity",
            Self::Prune => "prune",
            Self::Truncate => "truncate",
            Self::Discard => "discard",
            Self::Fold => "fold",
            Self::HardFit => "hard-fit",
            Self::BoundThinking => "bound-thinking",
            Self::NoThinking => "no-thinking",
            Self::Limit => "provider-limit",
            Self::Repair => "repair",
        }
    }

    /// Why it changes a message, in words for people. The command line has them from `js/generated.ts`.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::IngestCap => "too large for the window: cut before it was first sent",
            Self::Timed => {
                "reading it from the cache again and again came to cost more than taking it out"
            }
            Self::Cold => "the cache had gone cold: taking it out cost nothing",
            Self::Capacity => "the window was full",
            Self::Prune => {
                "it had left what the preset protects, and the window was above the trigger"
            }
            Self::Truncate => "pruning was not enough: the preset cuts old bodies",
            Self::Discard => "pruning was not enough: the preset drops the oldest",
            Self::Fold => "folded: what is still in use, digest and people's text stay",
            Self::HardFit => "the request would not have fitted otherwise",
            Self::BoundThinking => "reasoning after an edit, which its provider would refuse",
            Self::NoThinking => "reasoning, which this model does not take",
            Self::Limit => "its provider takes no more of these",
            Self::Repair => "its provider would have refused it as it was",
        }
    }
}

/// A block's form has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The block.
    pub block: BlockId,
    /// Why.
    pub rule: Rule,
    /// Its tokens before.
    pub before: u32,
}

/// Writes the lines that stand for what was removed, and so knows what they cost.
pub trait Writer {
    /// A stub for `block` with these identifiers; its tokens.
    fn stub(&mut self, ledger: &Ledger, block: BlockId, ids: &[u32], ids_tokens: u32) -> u32;
    /// A cap of at most `tokens` for `block`; its tokens.
    fn cap(&mut self, ledger: &Ledger, block: BlockId, tokens: u32) -> u32;
    /// `block` is to be shortened so; its tokens where they are known before its text is.
    fn shorten(&mut self, ledger: &Ledger, block: BlockId, how: Shorten) -> Option<u32>;
    /// Whether a summary of the blocks that go is at hand, which may be new if the fold `asks`; its identifiers are marked as
    /// summarized.
    fn summarize(&mut self, ledger: &mut Ledger, gone: &[BlockId], asks: bool) -> bool;
    /// The next head is to have lines of these identifiers, best first: from the results of messages from this one on that go now, and
    /// otherwise from the head before. Their texts come after the decision.
    fn keep_lines(&mut self, _: &Ledger, _: Vec<u32>, _: MessageId) {}
    /// Tokens to set aside in the head for those, so many at most.
    fn reserve_lines(&mut self, _: u32) -> u32 {
        0
    }
    /// What a head would cost: summary, if there is one, and digest.
    fn head_tokens(
        &self,
        ledger: &Ledger,
        digest: &[u32],
        digest_tokens: u32,
        summary: bool,
    ) -> u32;
    /// The same, and it is the head from now on.
    fn head(&mut self, ledger: &Ledger, digest: &[u32], digest_tokens: u32, summary: bool) -> u32 {
        self.head_tokens(ledger, digest, digest_tokens, summary)
    }
}

/// What a decision came to.
#[derive(Clone, Debug, Default)]
pub struct Decision {
    /// Blocks whose form changed, in the order of the changes.
    pub changes: Vec<Change>,
    /// A fold was carried out.
    pub folded: bool,
    /// A fold is due, and was deferred.
    pub fold_due: bool,
    /// Why a fold that was wanted was not carried out.
    pub refused: Option<&'static str>,
    /// Blocks that were looked at.
    pub visited: u64,
}

/// The policy's history: what cannot be recomputed from the transcript.
#[derive(Clone, Debug)]
pub struct Pruner {
    /// The setting of the policy.
    pub policy: Policy,
    /// The first message that no fold has touched.
    pub start: MessageId,
    /// What stands for all that folds removed.
    pub head: Option<Head>,
    /// First message that goes out after the head; those before it were protected.
    pub head_from: MessageId,
    bounds: Bounds,
    /// Tokens of those that folds and discards have taken, as they arrived.
    pub taken: u64,
    /// Rent on what only a fold could remove, in thousandths.
    pub fold_rent: u64,
    /// The last call that was charged rent.
    pub charged: Option<u32>,
    /// A fold was asked for: the next decision that carries folds out carries it out.
    pub fold_wanted: bool,
    /// The host no longer holds the messages before this one.
    pub forgotten: MessageId,
    /// What was sent of some of them is not there any more.
    pub lost: bool,
    /// Blocks that may become candidates, in order: what a decision looks at.
    open: Vec<BlockId>,
    /// Blocks before this one have been looked at for that.
    seen: BlockId,
}

impl Pruner {
    /// A policy without history.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            start: MessageId::FIRST,
            head: None,
            head_from: MessageId::FIRST,
            bounds: Bounds::default(),
            taken: 0,
            fold_rent: 0,
            charged: None,
            fold_wanted: false,
            forgotten: MessageId::FIRST,
            lost: false,
            open: Vec::new(),
            seen: BlockId::FIRST,
        }
    }

    /// Tokens of a request of all live blocks in their present forms.
    pub fn context(&self, ledger: &Ledger, setting: &Setting) -> u64 {
        let head = self.head.as_ref().map_or(0, |head| u64::from(head.tokens));
        setting.fixed.saturating_add(head).saturating_add(ledger.total())
    }

    /// Tokens above which something must go.
    pub fn line(&self, setting: &Setting) -> u64 {
        let seed = self.policy.seed.as_ref();
        seed.map_or_else(
            || (self.policy.trigger.saturating_mul(setting.usable) / BASIS_POINTS).min(setting.cap),
            |seed| seed.limit(setting),
        )
    }

    /// Tokens that are aimed for where something must go.
    pub fn target(&self, setting: &Setting) -> u64 {
        let seed = self.policy.seed.as_ref();
        seed.map_or_else(
            || self.room(setting) / (BASIS_POINTS * BASIS_POINTS),
            |_| self.aim(setting),
        )
    }

    /// The most tokens of a result that is sent whole when it arrives.
    fn arrival_cap(&self, window: u64) -> u32 {
        let cap = window.saturating_mul(self.policy.ingest_cap) / BASIS_POINTS;
        u32::try_from(cap).unwrap_or(u32::MAX)
    }

    /// A result of so many tokens is too large for that.
    pub fn cuts_at_arrival(&self, tokens: u32, window: u64) -> bool {
        self.policy.ingest_cap < BASIS_POINTS && tokens > self.arrival_cap(window)
    }

    /// Caps a block that has just arrived and is too large a share of the window to be sent whole even once.
    pub fn ingest(
        &self,
        ledger: &mut Ledger,
        block: BlockId,
        window: u64,
        writer: &mut dyn Writer,
    ) -> Option<Change> {
        let it = ledger.block(block)?;
        let cap = self.arrival_cap(window);
        if it.kind != Kind::Result || !self.cuts_at_arrival(it.tokens, window) {
            return None;
        }
        // What the host protects is cut only if the request would not fit.
        if it.named || self.policy.protect.holds(ledger, it.message) {
            return None;
        }
        let before = it.now;
        let now = writer.cap(ledger, block, cap);
        ledger.set_form(block, Form::Capped, now);
        Some(Change { block, rule: Rule::IngestCap, before })
    }

    /// Decides what this request leaves out, and changes forms, rents and head accordingly.
    pub fn decide(
        &mut self,
        ledger: &mut Ledger,
        setting: &Setting,
        moment: Moment,
        writer: &mut dyn Writer,
    ) -> Decision {
        let visited = self.look_at_new(ledger);
        let mut decision = Decision { visited, ..Decision::default() };
        self.hold(ledger, setting);
        if let Some(seed) = self.policy.seed.clone() {
            self.seed_way(&seed, ledger, setting, moment, writer, &mut decision);
            return decision;
        }
        if self.lost || self.forgotten > MessageId::FIRST {
            self.remove_forgotten(ledger, setting, moment, writer, &mut decision);
        }
        let context = self.context(ledger, setting);
        // On replayed sessions, at equal quality, a tail of 2,000 tokens costs 1.6 % more and one of 20,000 costs 2.8 %
        // more.
        let limit = (20 * setting.usable).min(600_000); // 20 % of the usable window, at most 6,000 tokens
        let tail = self.tail(ledger, limit);
        // Once for each call of the model, so that a plan or a repeated request pays no second rent.
        let charge = !moment.first && self.charged.is_none_or(|last| last < moment.call);
        let stale = self.timed_edit(ledger, context, tail, moment, charge, writer, &mut decision);
        let context = self.context(ledger, setting);
        let due = self.fold_pays(ledger, setting, moment, context, tail, charge);
        self.charged = Some(moment.call);
        if self.fold_wanted {
            self.fold(ledger, setting, moment, true, writer, &mut decision);
            // A fold that was deferred stays wanted until its summary is there.
            self.fold_wanted = decision.fold_due;
        }
        // Below the trigger nothing has to go: only a fold that saves money is made.
        if context <= self.line(setting) {
            if due {
                self.fold(ledger, setting, moment, false, writer, &mut decision);
            }
            return decision;
        }
        self.make_room(ledger, setting, moment, &stale, tail, writer, &mut decision);
        // Edits and folds spare what is protected or in use. The window spares nothing.
        self.hard_fit(ledger, setting, writer, &mut decision);
        decision
    }

    /// What was shortened has been measured, and the request does not fit after all.
    pub fn fit_again(
        &self,
        ledger: &mut Ledger,
        setting: &Setting,
        writer: &mut dyn Writer,
    ) -> Decision {
        let mut decision = Decision::default();
        // The default policy knows what its stubs cost when it writes them; a preset may know it only after it has read
        // the text.
        if self.policy.seed.is_some() {
            self.hard_fit(ledger, &presets::with_margin(setting), writer, &mut decision);
        }
        decision
    }

    /// Looks at the blocks that have come since it last did; how many they are.
    pub fn look_at_new(&mut self, ledger: &Ledger) -> u64 {
        let fresh = self.seen.to(ledger.next_block());
        self.seen = fresh.end;
        let visited = fresh.len() as u64;
        for at in fresh {
            let Some(block) = ledger.block(at) else { continue };
            if self.may_open(block) {
                self.open.push(at);
            }
        }
        visited
    }

    /// A block that came back in its first form may be edited again, once it may be changed.
    pub fn reopen(&mut self, ledger: &Ledger, at: BlockId) {
        let may = ledger.block(at).is_some_and(|block| self.may_open(block));
        if may
            && at < self.seen
            && let Err(place) = self.open.binary_search(&at)
        {
            self.open.insert(place, at);
        }
    }

    /// The block may be edited at some time.
    fn may_open(&self, block: &Block) -> bool {
        let of_seed = |seed: &Seed| seed.shortens(block).is_some();
        self.policy.seed.as_ref().map_or_else(|| may_become_candidate(block), of_seed)
    }

    /// Marks what the host protects.
    fn hold(&mut self, ledger: &mut Ledger, setting: &Setting) {
        let bounds = self.bounds_of(ledger, setting);
        bounds.hold(ledger, std::mem::replace(&mut self.bounds, bounds));
    }

    /// First message of the tail: the last messages of at most `limit` (1/100 token), at least the last group.
    fn tail(&self, ledger: &Ledger, limit: u64) -> MessageId {
        let end = ledger.next_message();
        let mut message = end;
        while message > self.start {
            let tokens = ledger.tokens_from(ledger.blocks_of(message.minus(1)).start);
            if message < end && 100 * tokens > limit {
                break;
            }
            message = message.minus(1);
        }
        // A tail that begins with a result would separate it from its call (I1).
        while message > self.start && !ledger.may_cut(message) {
            message = message.minus(1);
        }
        message
    }
}

/// Tokens of these blocks in their present forms.
fn now_of(ledger: &Ledger, blocks: &[BlockId]) -> u64 {
    blocks.iter().filter_map(|&at| ledger.block(at)).map(|block| u64::from(block.now)).sum()
}
