//! Arrival of a message: it is read, measured, repaired, and capped if it is too large to be sent whole even once.

use crate::context::request::shorten::About;
use crate::context::session::counter::Counter;
use crate::context::session::snapshot::{Known, mark};
use crate::context::session::{Session, native};
use crate::context::transcript::measure::{Measure, measure};
use crate::error::{Error, Result};
use crate::estimate::RESULT;
use crate::format::{Format, fingerprint, with_call_ids};
use crate::ledger::Arrival;
use crate::model::{
    Block, Draft, Fix, FixKind, Form, Kind, Made, Mask, Message, NONE, Outline, Piece, Role,
    Violation,
};
use crate::number::count;
use crate::prune::{Change, Rule};
use crate::sort::sort_by;

/// What came of a message that was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Append {
    /// It is part of the session.
    Appended,
    /// It shows that the messages before it were read in the wrong format: hand all over again.
    RereadAll,
}

impl Session {
    /// Takes the next message of the history, as JSON.
    ///
    /// # Errors
    /// `MalformedMessage` with its index; the session is as it was.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Append> {
        let adopts = std::mem::take(&mut self.compactions.adopts);
        if !self.dialect.certain
            && let Some((shown, certain)) = Format::shown_by(bytes)
        {
            self.dialect.certain = certain;
            if shown != self.dialect.format
                && (certain || shown.is_more_specific_than(self.dialect.format))
            {
                let empty = self.transcript.outlines.is_empty();
                self.dialect.format = shown;
                self.dialect.provider = self.options.provider.unwrap_or_else(|| native(shown));
                self.reset();
                if !empty {
                    return Ok(Append::RereadAll);
                }
            }
        }
        let index = self.transcript.ledger.message_count();
        let draft = self.dialect.format.read(bytes, index)?;
        if let Known::Strange = self.meet(index, fingerprint(&draft)) {
            return Ok(Append::RereadAll);
        }
        let given = std::mem::take(&mut self.counter.counts);
        let mut counter = Counter::new(self.options.estimator, &given);
        counter.image_tokens = self.options.image_tokens;
        // Without a window nothing leaves, and nobody asks what would be needed again.
        let decides = self.options.window > 0;
        let identifiers = decides.then_some(&mut self.transcript.ledger.identifiers);
        let measure = measure(&draft, bytes, &mut counter, identifiers);
        self.learn(counter.learned);
        self.counters.bytes_measured =
            self.counters.bytes_measured.saturating_add(bytes.len() as u64);
        self.arrive(&measure, Some(&draft));
        self.hear_notes(&draft);
        let first = self.transcript.ledger.blocks_of(index).start;
        self.cap_again(&draft, first);
        if adopts {
            self.adopt(first, &draft);
        }
        Ok(Append::Appended)
    }

    /// Whether this is, in content, the message that stands at `index`.
    ///
    /// # Errors
    /// `MalformedMessage`.
    pub fn is_same(&mut self, index: u32, bytes: &[u8]) -> Result<bool> {
        self.counters.bytes_measured =
            self.counters.bytes_measured.saturating_add(bytes.len() as u64);
        let draft = self.dialect.format.read(bytes, index)?;
        let known = self.transcript.ledger.messages.get(index as usize);
        let same = known.is_some_and(|it| it.fingerprint == fingerprint(&draft))
            && !self.answers_another(index, &draft)
            && !self.calls_again(index, &draft);
        // The same message written in another shape is edited elsewhere: what is known of it does not hold. Nor does what
        // was sent, which says where in the host's messages something stands.
        let old =
            self.transcript.outlines.get(index as usize).and_then(|outline| outline.pieces.last());
        let new = draft.parts.last().map(|part| &part.piece);
        let wrapper = |piece: &Piece| piece.place.wrapper();
        let as_before = old.map(wrapper) == new.map(wrapper);
        self.last_request.reshaped |= same && !as_before;
        let parts =
            self.transcript.outlines.get(index as usize).map_or(0, |outline| outline.pieces.len());
        // One whose steps we joined has none to join.
        Ok(same
            && as_before
            && parts == draft.parts.len()
            && old.map(|piece| piece.step) == new.map(|piece| piece.step))
    }

    /// It says the same, but of another call of the turn: two tools may both say "ok". An id that no call has is a new name.
    fn answers_another(&self, index: u32, draft: &Draft<'_>) -> bool {
        let (before, from) =
            self.transcript.outlines.split_at(self.transcript.outlines.len().min(index as usize));
        let Some(known) = from.first() else { return false };
        let is_result = |it: &Outline| it.role != Role::Assistant;
        let turn =
            before.iter().rev().skip_while(|it| is_result(it)).take_while(|it| !is_result(it));
        let is_called = |id: &str| {
            let mut pieces = turn.clone().flat_map(|it| &it.pieces);
            pieces.any(|it| it.kind == Kind::Call && &*it.id == id)
        };
        known.pieces.iter().zip(&draft.parts).any(|(old, new)| {
            new.piece.kind == Kind::Result && old.id != new.piece.id && is_called(&new.piece.id)
        })
    }

    /// It makes the same call, but under another id, and the known one waits for its result: what comes is that of the new one.
    fn calls_again(&self, index: u32, draft: &Draft<'_>) -> bool {
        let Some(known) = self.transcript.outlines.get(index as usize) else { return false };
        let blocks = self
            .transcript
            .ledger
            .blocks_of(index)
            .map(|at| self.transcript.ledger.blocks.get(at as usize));
        let mut pieces = known.pieces.iter().zip(&draft.parts).zip(blocks);
        pieces.any(|((old, new), block)| {
            let waits = block.is_some_and(|block| block.pair == NONE);
            old.kind == Kind::Call && waits && old.id != new.piece.id
        })
    }

    /// Of a message's content: roles, texts and calls, these `with_ids` or without, but not cache markers.
    ///
    /// # Errors
    /// `MalformedMessage`, with the index that it would have at the end of the history.
    pub fn fingerprint_of(&self, bytes: &[u8], with_ids: bool) -> Result<u64> {
        let draft = self.dialect.format.read(bytes, self.transcript.ledger.message_count())?;
        Ok(if with_ids { with_call_ids(&draft) } else { fingerprint(&draft) })
    }

    /// A measured message joins the session. `draft` has its text, for a cap; without it the cap waits.
    pub(in crate::context) fn arrive(&mut self, measure: &Measure, draft: Option<&Draft<'_>>) {
        let index = self.transcript.ledger.message_count();
        let outline = &measure.outline;
        // The host leaves an aborted turn out by itself; between a call and its result it must not even stand.
        let stands_between =
            self.repairs.mender.is_open() && outline.pieces.iter().any(|piece| piece.unsent);
        let mut pushed = self.repairs.mender.push(index, outline);
        if stands_between {
            pushed.fixes.push(aborted_between(index));
        }
        self.transcript.turn = self.transcript.turn.saturating_add(u32::from(measure.is_request));
        let before = self.transcript.outlines.last().filter(|_| self.dialect.format.has_runs());
        let continues =
            before.is_some_and(|it| it.role == Role::Assistant) && outline.role == Role::Assistant;
        self.transcript.ledger.begin(Message {
            fingerprint: measure.fingerprint,
            written: measure.written,
            role: outline.role,
            first_block: 0,
            call: self.transcript.call.saturating_sub(u32::from(continues)),
            turn: self.transcript.turn,
            bytes: measure.bytes,
            may_cut: pushed.may_cut,
            at_ms: measure.at_ms,
        });
        // The request that first sends it comes after it: after one more call, if it is the model's. A run is one call.
        let speaks = outline.role == Role::Assistant && !continues;
        self.transcript.call = self.transcript.call.saturating_add(u32::from(speaks));
        let first = self.transcript.ledger.block_count();
        let end = first.saturating_add(count(outline.pieces.len()));
        self.pins.meet(
            &(first..end),
            mark(measure.fingerprint),
            self.restoration.waiting.is_some(),
        );
        for (at, (piece, measured)) in (0u32..).zip(outline.pieces.iter().zip(&measure.blocks)) {
            let call = pushed.pairs.get(at as usize).copied().flatten();
            let pair = call.map_or(NONE, |(message, piece)| {
                self.transcript.ledger.blocks_of(message).start.saturating_add(piece)
            });
            // Reasoning may leave alone where the provider lets it; everything else of the model's turn stays or goes with
            // its calls and results.
            let free = piece.kind == Kind::Thinking && !pushed.ties_reasoning;
            let group =
                if free { NONE } else { pushed.groups.get(at as usize).copied().unwrap_or(NONE) };
            let call_key = self.transcript.ledger.blocks.get(pair as usize).map(|call| call.key);
            let block = self.transcript.ledger.append(
                &Arrival {
                    kind: piece.kind,
                    tokens: measured.tokens,
                    chars: measured.chars,
                    ids: &measured.ids,
                    head_ids: measured.head_ids,
                    pair: if piece.kind == Kind::Result { pair } else { NONE },
                    group,
                    call_key,
                    key: measured.key,
                    overhead: measured.overhead,
                    bytes: measured.bytes,
                    failed: piece.error,
                    mask: if self.pins.hold(first.saturating_add(at)) {
                        Mask::FIXED
                    } else {
                        self.mask(index, outline.role, piece, group != NONE)
                    },
                    named: self.is_named(piece, call),
                },
                self.transcript.call,
            );
            self.transcript.images = self.transcript.images.saturating_add(piece.images);
            self.transcript.widest = self.transcript.widest.max(piece.widest);
            if !measured.mended.is_empty() {
                self.transcript.sanitized.insert(block, measured.mended.clone());
            }
            self.cap_at_arrival(block, at, draft);
            self.follow_call(block, pair);
        }
        self.transcript.bytes = self.transcript.bytes.saturating_add(measure.bytes.into());
        self.markers.note(index, outline);
        self.transcript.outlines.push(outline.clone());
        let request = if measure.is_request { index } else { self.transcript.user_request };
        self.hold(request, self.held_turn());
        self.mend(pushed.fixes);
        self.last_request.settled = false;
    }

    /// A result that comes when its call is gone already goes with it.
    fn follow_call(&mut self, block: u32, call: u32) {
        let gone =
            self.transcript.ledger.blocks.get(call as usize).is_some_and(|b| b.form == Form::Gone);
        if !gone {
            return;
        }
        let before = self.transcript.ledger.blocks.get(block as usize).map_or(0, |block| block.now);
        let rule = self.decisions.reasons.get(&call).map_or(Rule::HardFit, |why| why.rule);
        self.transcript.ledger.set_form(block, Form::Gone, 0);
        self.note(Change { block, rule, before });
    }

    /// Results and approvals leave with their call if a cut has separated them from it.
    pub(in crate::context) fn follow_calls(&mut self) {
        for at in self.transcript.ledger.live().to_vec() {
            let Some(block) = self.transcript.ledger.blocks.get(at as usize) else { continue };
            let call = match block.kind {
                Kind::Result => block.pair,
                Kind::Other => self.gone_call_beside(block),
                Kind::Text | Kind::Thinking | Kind::Call | Kind::Image => NONE,
            };
            self.follow_call(at, call);
        }
    }

    /// A call of the same turn that is gone.
    fn gone_call_beside(&self, block: &Block) -> u32 {
        if block.group == NONE {
            return NONE;
        }
        let mut turn =
            (block.group..=block.message).flat_map(|at| self.transcript.ledger.blocks_of(at));
        let is_it = |at: &u32| {
            self.transcript.ledger.blocks.get(*at as usize).is_some_and(|it| {
                it.kind == Kind::Call && it.group == block.group && it.form == Form::Gone
            })
        };
        turn.find(is_it).unwrap_or(NONE)
    }

    /// A result too large to be sent whole even once is cut before it is first sent.
    fn cap_at_arrival(&mut self, block: u32, piece: u32, draft: Option<&Draft<'_>>) {
        let window = self.options.window;
        // What was sent of a known message is known too.
        let known = self.restoration.waiting.is_some();
        if known
            || window == 0
            || self.transcript.ledger.blocks.get(block as usize).is_none_or(|b| !b.mask.may_edit)
        {
            return;
        }
        self.counters.blocks_visited = self.counters.blocks_visited.saturating_add(1);
        let Some(change) = self.decisions.pruner.ingest(
            &mut self.transcript.ledger,
            block,
            window,
            &mut self.decisions.placeholders,
        ) else {
            return;
        };
        let overhead =
            self.transcript.ledger.blocks.get(block as usize).map_or(0, |it| it.overhead);
        if let Some(part) = draft.and_then(|draft| draft.parts.get(piece as usize))
            && let Some(now) =
                self.decisions.placeholders.supply(block, overhead, part, &About::default())
        {
            self.transcript.ledger.set_form(block, Form::Capped, now);
        }
        self.note(change);
    }

    /// Takes up what mends the host's history.
    pub(in crate::context) fn mend(&mut self, fixes: Vec<Fix>) {
        for fix in &fixes {
            if let FixKind::After(Made::Moved { message, piece, .. }) = fix.kind {
                self.repairs.displaced.insert((message, piece), ());
            }
        }
        let mut dropped = Vec::new();
        for fix in fixes {
            if let FixKind::Drop { piece } = fix.kind {
                self.drop_piece(fix.index, piece, &mut dropped);
            }
            self.count_mended(&fix);
            self.last_request.rebuild |= fix.index < self.last_request.upto;
            self.repairs.fixes.entry(fix.index).or_default().push(fix);
        }
        // From the last to the first: each leaves the end of the list of what is sent.
        for block in dropped.into_iter().rev() {
            self.transcript.ledger.set_form(block, Form::Gone, 0);
        }
    }

    /// A piece, or with `NONE` a whole message, is not sent because it mends the history; one that moves is sent elsewhere.
    fn drop_piece(&mut self, message: u32, piece: u32, dropped: &mut Vec<u32>) {
        let blocks = self.transcript.ledger.blocks_of(message);
        let pieces =
            if piece == NONE { 0..count(blocks.len()) } else { piece..piece.saturating_add(1) };
        for number in pieces {
            let block = blocks.start.saturating_add(number);
            if self.repairs.displaced.contains_key(&(message, number)) || !blocks.contains(&block) {
                continue;
            }
            let before =
                self.transcript.ledger.blocks.get(block as usize).map_or(0, |block| block.now);
            self.note(Change { block, rule: Rule::Repair, before });
            dropped.push(block);
        }
    }

    /// What a repair puts in place of a block's text is what is counted of it.
    fn count_mended(&mut self, fix: &Fix) {
        let at = self.transcript.ledger.blocks_of(fix.index).start.saturating_add(fix.kind.piece());
        let block =
            self.transcript.ledger.blocks.get(at as usize).filter(|block| block.form != Form::Gone);
        let Some(block) = block else { return };
        let tokens = |text: &str| self.options.estimator.tokens(text);
        let now = match &fix.kind {
            FixKind::Arguments { .. } => block.overhead.saturating_add(tokens("{}")),
            FixKind::Text { text: Some(text), .. } => block.now.saturating_add(tokens(text)),
            FixKind::Text { text: None, .. }
            | FixKind::Drop { .. }
            | FixKind::Rename { .. }
            | FixKind::Unicode { .. }
            | FixKind::Sign { .. }
            | FixKind::Unmark { .. }
            | FixKind::AsUser
            | FixKind::Turn
            | FixKind::Before(_)
            | FixKind::After(_) => return,
        };
        self.transcript.ledger.set_form(at, Form::Full, now);
    }

    /// Takes up what the request needs because it ends here. What that changes of a block's tokens holds until there is
    /// another message.
    pub(in crate::context) fn end_with(&mut self, ending: Vec<Fix>) {
        for (block, before, now) in std::mem::take(&mut self.decisions.end_costs) {
            let still = self.transcript.ledger.blocks.get(block as usize);
            if still.is_some_and(|it| it.now == now && it.form != Form::Gone) {
                self.transcript.ledger.set_form(block, Form::Full, before);
            }
        }
        let mut leaving = Vec::new();
        let mut moving = Vec::new();
        for fix in &ending {
            if let FixKind::Drop { piece } = fix.kind {
                leaving.push((fix.index, piece));
            } else if let FixKind::After(Made::Moved { message, piece, .. }) = fix.kind {
                moving.push((message, piece));
            } else if let FixKind::Text { piece, text: Some(text) } = &fix.kind {
                // A call that is answered in its own part.
                let more = self.options.estimator.tokens(text).saturating_add(RESULT);
                self.cost_at_end(fix.index, *piece, |now| now.saturating_add(more));
            }
        }
        let place = |it: &(u32, u32)| (i64::from(it.0), i64::from(it.1));
        sort_by(&mut moving, place);
        for at in &leaving {
            if moving.binary_search(at).is_err() {
                self.cost_at_end(at.0, at.1, |_| 0);
            }
        }
        leaving.append(&mut moving);
        sort_by(&mut leaving, place);
        self.decisions.absent_at_end = leaving;
        self.decisions.end_fixes = ending;
    }

    fn cost_at_end(&mut self, message: u32, piece: u32, cost: impl Fn(u32) -> u32) {
        let at = self.transcript.ledger.blocks_of(message).start.saturating_add(piece);
        let block =
            self.transcript.ledger.blocks.get(at as usize).filter(|block| block.form != Form::Gone);
        if let Some(before) = block.map(|block| block.now) {
            let now = cost(before);
            self.transcript.ledger.set_form(at, Form::Full, now);
            self.decisions.end_costs.push((at, before, now));
        }
    }

    /// The draft of a message of the session, from its bytes.
    pub(in crate::context) fn read<'a>(&self, index: u32, bytes: &'a [u8]) -> Result<Draft<'a>> {
        if index >= self.transcript.ledger.message_count() {
            return Err(Error::argument("index", "a message of the session", index));
        }
        self.dialect.format.read(bytes, index)
    }
}

/// An aborted turn goes where it would part a call from its result.
fn aborted_between(index: u32) -> Fix {
    let message = "an aborted turn stands between a call and its result".into();
    let violation = Violation { rule: "I3", index, path: None, message };
    Fix { index, kind: FixKind::Drop { piece: NONE }, violation }
}
