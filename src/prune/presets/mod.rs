//! The ways of other systems, as they describe them: one decision of shared steps, a row of figures for each.
//!
//! A trigger compares the history as it arrived, so a request decided alone and one of a session agree while the history
//! grows. What stands before the protected end is shortened; then, if it is still over, folded, cut or dropped; the default
//! policy's hard fit comes last. The end slides with every message, and with it an epoch may open at nearly every call.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "tokens and shares: u32 sums and small constants, far below u64"
)]

mod figures;
mod share;

pub use share::oldest_chunk;

use super::edit::stub;
use super::protect::{Bounds, arrived, newest};
use super::{BASIS_POINTS, Change, Decision, Moment, Protect, Pruner, Rule, Setting, Writer};
use crate::ledger::Ledger;
use crate::model::{Block, BlockId, Form, Kind, MessageId, Role};

/// A system's figures, and which steps it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent steps of a row, not a state")]
pub struct Seed {
    /// The preset's name.
    pub name: &'static str,
    /// Over how many tokens it acts.
    pub trigger: Trigger,
    /// What becomes of an old result.
    pub stub: Stub,
    /// Characters of a body that stay.
    pub stub_chars: u32,
    /// A body is shortened over so many times that.
    pub above: u32,
    /// Old reasoning goes.
    pub thinking: bool,
    /// Arguments of more characters have their long strings cut; 0: never.
    pub leaves: u32,
    /// A result of at least so many characters that a later one repeats says so; 0: never.
    pub repeated: u32,
    /// Images before the user's newest go.
    pub images: bool,
    /// Share of the trigger that the protected end has at most; 0: no such bound.
    pub tail_most: u64,
    /// Share of the trigger that it has at least; 0: none.
    pub tail_least: u64,
    /// Bodies in an end that has more than that go too.
    pub yields: bool,
    /// The first messages are protected until the first fold only.
    pub first_once: bool,
    /// A fold of fewer messages is none.
    pub middle: u32,
    /// A history of no more messages than its protected ends and that is left alone (I4).
    pub spares: bool,
    /// What is dropped is the first of so many chunks of equal tokens; 0: message by message until the target is reached.
    pub parts: u32,
    /// What comes after shortening.
    pub strategy: Strategy,
    /// It also acts on more messages since the last fold.
    pub most_messages: u32,
    /// Share of the messages since the last fold that the protected end has at least, in 1e-4; 0: none (G31).
    pub keeps: u64,
    /// Options of summaries that it sets, as JSON: a host's own win.
    pub summary: &'static str,
    /// The system prompt says that there is a summary (I10).
    pub note: bool,
}

/// When a preset acts: strictly above so many tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// This share of the usable window, in 1e-4.
    Share(u64),
    /// The window less this reserve, or half of a small one.
    Reserve(u64),
    /// Half of the usable window, three quarters of one below 512,000; at least 64,000, or 85 % where that is too much.
    Hermes,
}

/// What becomes of an old result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stub {
    /// It stays.
    None,
    /// Its first characters and a marker.
    Head(Marker),
    /// One line that tells what it was.
    Line,
}

/// What ends a body that was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// A77.
    Pruned,
    /// I8.
    Truncated,
}

impl Marker {
    /// Its text.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Pruned => {
                "\n\n[content pruned during context compaction: the original was too large to retain]"
            }
            Self::Truncated => "\n...(truncated)",
        }
    }
}

/// What comes after shortening, if the request is still over the trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// A fold: without a summarizer, digest and hot set.
    Summarize,
    /// Old bodies are cut until the target is reached.
    Truncate,
    /// The oldest are dropped.
    Discard,
}

/// How a block is shortened; its text is asked for where it takes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shorten {
    /// To its first characters and a marker.
    Head(u32, Marker),
    /// To a line that tells what it was.
    Line,
    /// To a line that says that a later result tells the same.
    Repeated,
    /// Long strings in its arguments to so many characters.
    Leaves(u32),
    /// An image to a word.
    Image,
    /// It goes.
    Gone,
}

/// What a line or marker costs, roughly: known once it is written.
const LINE: u64 = 24;

impl Seed {
    /// How the block is shortened where nothing protects it.
    pub fn shortens(&self, block: &Block) -> Option<Shorten> {
        let long = |least: u32| least > 0 && block.chars > least;
        let how = match block.kind {
            Kind::Result if block.repeated && long(self.repeated.saturating_sub(1)) => {
                Shorten::Repeated
            }
            Kind::Result if long(self.stub_chars * self.above) => match self.stub {
                Stub::None => return None,
                Stub::Head(marker) => Shorten::Head(self.stub_chars, marker),
                Stub::Line => Shorten::Line,
            },
            Kind::Call if long(self.leaves) => Shorten::Leaves(self.stub_chars),
            Kind::Thinking if self.thinking => Shorten::Gone,
            Kind::Image if self.images => Shorten::Image,
            Kind::Text | Kind::Thinking | Kind::Call | Kind::Result | Kind::Image | Kind::Other => {
                return None;
            }
        };
        (block.form == Form::Full).then_some(how)
    }

    /// Tokens above which it acts.
    #[inline(never)]
    pub fn limit(&self, setting: &Setting) -> u64 {
        let Setting { window, usable, cap, .. } = *setting;
        let limit = match self.trigger {
            Trigger::Share(share) => share * usable / BASIS_POINTS,
            Trigger::Reserve(reserve) => window.saturating_sub(reserve).max(usable / 2).min(usable),
            Trigger::Hermes => {
                let share = if window < 512_000 { 75 } else { 50 };
                let limit = (share * usable / 100).max(64_000);
                let small = (85 * usable / 100).min(usable.saturating_sub(1)).max(1);
                if limit < usable { limit } else { small }
            }
        };
        limit.min(cap)
    }
}

impl Pruner {
    /// What is protected now.
    pub(super) fn bounds_of(&self, ledger: &Ledger, setting: &Setting) -> Bounds {
        if let Some(seed) = &self.policy.seed {
            return self.bounds_of_seed(seed, ledger, setting);
        }
        let protect = &self.policy.protect;
        let tail = protect.tail(ledger);
        Bounds { first: protect.head(ledger), edit: tail, fold: tail }
    }

    #[inline(never)]
    fn bounds_of_seed(&self, seed: &Seed, ledger: &Ledger, setting: &Setting) -> Bounds {
        let protect = &self.policy.protect;
        let is_folded = seed.first_once && self.head.is_some();
        let first = if is_folded { MessageId::FIRST } else { protect.head(ledger) };
        let mut tail = protect.tail(ledger);
        if seed.keeps > 0 {
            let kept = u64::from(self.messages(ledger)) * seed.keeps / BASIS_POINTS;
            let kept = u32::try_from(kept).unwrap_or(u32::MAX);
            tail = tail.min(ledger.cut_at_or_before(ledger.next_message().minus(kept)));
        }
        let plain = Bounds { first, edit: tail, fold: tail };
        let limit = seed.limit(setting);
        let share = |share: u64| Some(share * limit / BASIS_POINTS).filter(|&tokens| tokens > 0);
        if let Some(most) = share(seed.tail_most) {
            let tail = tail.max(ledger.cut_at_or_before(newest(ledger, most)));
            return Bounds { edit: tail, fold: tail, ..plain };
        }
        let Some(least) = share(seed.tail_least) else { return plain };
        let fold = tail.min(ledger.cut_at_or_before(newest(ledger, least)));
        if !seed.yields {
            return Bounds { edit: fold, fold, ..plain };
        }
        // H16: the last messages beyond their share stay, but their bodies may go.
        let bodies = ledger.cut_at_or_before(ledger.next_message().minus(YIELDS_TO));
        let edit = [fold, bodies, ledger.next_message()].into_iter().find(|&at| {
            let rest = at.to(ledger.next_message());
            let tokens: u64 = rest.map(|message| arrived(ledger, message)).sum();
            tokens <= least
        });
        Bounds { edit: edit.unwrap_or(fold), fold, ..plain }
    }

    /// Messages since the last fold.
    fn messages(&self, ledger: &Ledger) -> u32 {
        ledger.next_message().since(self.start)
    }

    /// Tokens of the history as it arrived, less what folds and discards have taken.
    fn raw(&self, ledger: &Ledger, setting: &Setting) -> u64 {
        let head = self.head.as_ref().map_or(0, |head| u64::from(head.tokens));
        let arrived = ledger.arrived().saturating_sub(self.taken);
        setting.fixed.saturating_add(head).saturating_add(arrived)
    }

    /// Decides as the preset's system does.
    #[inline(never)]
    pub(super) fn seed_way(
        &mut self,
        seed: &Seed,
        ledger: &mut Ledger,
        setting: &Setting,
        moment: Moment,
        writer: &mut dyn Writer,
        decision: &mut Decision,
    ) {
        // A fold that was asked for comes at any size, if pruning alone does not reach the target (A80).
        let asked = std::mem::take(&mut self.fold_wanted);
        let limit = if asked { self.aim(setting) } else { seed.limit(setting) };
        let many = self.messages(ledger) > seed.most_messages;
        if self.raw(ledger, setting) <= limit && !many {
            return;
        }
        let Protect { first, last, .. } = self.policy.protect;
        let few = first.saturating_add(last).saturating_add(seed.middle);
        if seed.spares && ledger.message_count() <= few {
            decision.refused = Some(TOO_FEW);
            self.hard_fit(ledger, &with_margin(setting), writer, decision);
            return;
        }
        self.shorten_old(seed, ledger, writer, decision);
        if self.context(ledger, setting) > limit || many {
            match seed.strategy {
                Strategy::Summarize => self.fold(ledger, setting, moment, true, writer, decision),
                Strategy::Truncate => self.truncate(seed, ledger, setting, writer, decision),
                Strategy::Discard => self.discard(seed, ledger, setting, decision),
            }
        }
        self.fold_wanted = asked && decision.fold_due;
        self.hard_fit(ledger, &with_margin(setting), writer, decision);
    }

    /// Shortens what has left the protected end, if all of it together gains enough.
    fn shorten_old(
        &mut self,
        seed: &Seed,
        ledger: &mut Ledger,
        writer: &mut dyn Writer,
        decision: &mut Decision,
    ) {
        let shown = if seed.images { shown_last(ledger) } else { MessageId::FIRST };
        let mut steps = Vec::new();
        let mut gained = 0;
        for at in self.open_before(ledger, self.bounds.edit, decision) {
            let Some(block) = ledger.block(at) else { continue };
            // A message without its only part would be empty, which providers refuse (I6).
            let stays = block.kind == Kind::Image && block.message >= shown
                || block.kind == Kind::Thinking && is_all(ledger, block.message, Kind::Thinking);
            let Some(how) = seed.shortens(block).filter(|_| is_free(block) && !stays) else {
                continue;
            };
            gained += u64::from(block.now.saturating_sub(left_of(block, how)));
            steps.push((at, how));
        }
        // Every commit breaks the provider's cached prefix (H19).
        if gained < self.policy.minimum_gain {
            return;
        }
        for (at, how) in steps {
            shorten(ledger, at, how, Rule::Prune, writer, decision);
        }
    }

    /// Why a preset's fold of what stands before `cut` is not carried out.
    pub(super) fn refuses(&self, seed: &Seed, cut: MessageId) -> Option<&'static str> {
        let middle = cut.since(self.start.max(self.bounds.first));
        (middle < seed.middle).then_some(TOO_FEW)
    }
}

/// Why a short history is not folded.
const TOO_FEW: &str = "too few messages stand between what is protected";

/// A window with room for what mending a request adds: a line where a result is missing, or where the user must speak. What the last
/// request was mended with is counted already.
pub(super) fn with_margin(setting: &Setting) -> Setting {
    let margin = (setting.usable / 64).min(256).saturating_sub(setting.mended);
    Setting { usable: setting.usable.saturating_sub(margin), ..*setting }
}

/// H16: the last messages whose bodies stay when the end has more than its share.
const YIELDS_TO: u32 = 3;

/// Nothing forbids an edit.
fn is_free(block: &Block) -> bool {
    block.mask.may_edit && !block.is_protected()
}

/// The user's newest message with an image.
fn shown_last(ledger: &Ledger) -> MessageId {
    let of_user = |block: &&Block| {
        let message = ledger.message(block.message);
        block.kind == Kind::Image && message.is_some_and(|it| it.role == Role::User)
    };
    ledger.blocks.iter().rev().find(of_user).map_or(MessageId::FIRST, |block| block.message)
}

fn is_all(ledger: &Ledger, message: MessageId, kind: Kind) -> bool {
    ledger.blocks_of(message).all(|at| ledger.block(at).is_some_and(|it| it.kind == kind))
}

/// What will be left of the block, roughly.
fn left_of(block: &Block, how: Shorten) -> u32 {
    let kept = match how {
        Shorten::Head(chars, _) | Shorten::Leaves(chars) => {
            u64::from(block.tokens) * u64::from(chars) / u64::from(block.chars.max(1)) + LINE
        }
        Shorten::Line | Shorten::Repeated | Shorten::Image => LINE,
        Shorten::Gone => 0,
    };
    u32::try_from(kept).unwrap_or(u32::MAX).min(block.now)
}

/// Shortens a block, if that is worth anything.
fn shorten(
    ledger: &mut Ledger,
    at: BlockId,
    how: Shorten,
    rule: Rule,
    writer: &mut dyn Writer,
    decision: &mut Decision,
) {
    if how == Shorten::Gone {
        return stub(ledger, at, rule, writer, decision);
    }
    let Some(block) = ledger.block(at) else { return };
    let (before, left) = (block.now, left_of(block, how));
    if left >= before {
        return;
    }
    decision.changes.push(Change { block: at, rule, before });
    let left = writer.shorten(ledger, at, how).unwrap_or(left);
    let form = if matches!(how, Shorten::Leaves(_)) { Form::Capped } else { Form::Stubbed };
    ledger.set_form(at, form, left);
}
