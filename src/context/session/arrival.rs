//! Arrival of a message: it is read, measured, repaired, and capped if it is too large to be sent whole even once.

use std::rc::Rc;

use crate::context::compaction::memory_flush::detect_note_writes;
use crate::context::request::about::About;
use crate::context::request::shorten::is_listed_tool;
use crate::context::session::Session;
use crate::context::session::adopted::adopt_summary;
use crate::context::session::counter::set_learned;
use crate::context::session::marks::mark;
use crate::context::session::snapshot::Match;
use crate::context::session::snapshot::measured::keep_where_closed;
use crate::context::session::snapshot::restore::{cap_again, match_message};
use crate::context::session::take_decision::follow_call;
use crate::context::transcript::counter::Counter;
use crate::context::transcript::dialect::native;
use crate::context::transcript::masks::{mask_of, protect, protected_turn};
use crate::context::transcript::measure::{Measure, measure};
use crate::error::Result;
use crate::format::{Format, fingerprint, utf8, with_call_ids};
use crate::json::Source;
use crate::ledger::Arrival;
use crate::model::{
    BlockId, Draft, Fix, FixKind, Form, GroupId, Kind, Mask, Message, MessageId, NONE, Outline,
    Piece, Role,
};
use crate::number::count;
use crate::prune::{Change, Rule};
use crate::validity::Findings;

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
        let index = self.transcript.ledger.message_count();
        self.push_json(utf8(bytes, index)?.into())
    }

    /// The same of JSON of which some strings are known.
    ///
    /// # Errors
    /// As `push`.
    pub fn push_json(&mut self, source: Source<'_>) -> Result<Append> {
        let bytes = source.json.as_bytes();
        let adopts = std::mem::take(&mut self.compactions.adopts);
        if !self.transcript.dialect.certain
            && let Some((shown, certain)) = Format::shown_by(bytes)
        {
            self.transcript.dialect.certain = certain;
            if shown != self.transcript.dialect.format
                && (certain || shown.is_more_specific_than(self.transcript.dialect.format))
            {
                let empty = self.transcript.outlines.is_empty();
                self.transcript.dialect.format = shown;
                self.transcript.dialect.provider =
                    self.options.provider.unwrap_or_else(|| native(shown));
                self.reset();
                if !empty {
                    return Ok(Append::RereadAll);
                }
            }
        }
        let index = self.transcript.ledger.next_message();
        let draft = self.transcript.dialect.format.read_json(source, index.get())?;
        keep_where_closed(self);
        if let Match::Different = match_message(self, index, fingerprint(&draft)) {
            return Ok(Append::RereadAll);
        }
        let counts = std::mem::take(&mut self.counts.next);
        let mut counter = Counter::new(self.options.estimator, &counts);
        counter.image_tokens = self.options.image_tokens;
        // Without a window nothing leaves, and nobody asks what would be needed again.
        let decides = self.options.mode.is_managed();
        let identifiers = decides.then_some(&mut self.transcript.ledger.identifiers);
        let traits = &mut self.transcript.traits;
        let measure = measure(&draft, bytes, &mut counter, identifiers, traits);
        set_learned(self, counter.learned);
        self.monitor.work.bytes_measured =
            self.monitor.work.bytes_measured.saturating_add(bytes.len() as u64);
        append_measured(self, &measure, Some(&draft), &mut Findings::default());
        detect_note_writes(self, &draft);
        let first = self.transcript.ledger.blocks_of(index).start;
        cap_again(self, &draft, first);
        if adopts {
            adopt_summary(self, first, &draft);
        }
        Ok(Append::Appended)
    }
}

/// Whether this is, in content, the message that stands at `index`.
///
/// # Errors
/// `MalformedMessage`.
pub fn is_same_message(session: &mut Session, index: MessageId, bytes: &[u8]) -> Result<bool> {
    session.monitor.work.bytes_measured =
        session.monitor.work.bytes_measured.saturating_add(bytes.len() as u64);
    let draft = session.transcript.dialect.format.read(bytes, index.get())?;
    let known = session.transcript.ledger.message(index);
    let is_alike = known.is_some_and(|it| it.fingerprint == fingerprint(&draft));
    session.request.last.renamed |= is_alike && has_other_ids(session, index, &draft);
    let same = is_alike
        && !answers_another(session, index, &draft)
        && !calls_again(session, index, &draft);
    // The same message written in another shape is edited elsewhere: what is known of it does not hold. Nor does what
    // was sent, which says where in the host's messages something stands.
    let old = session.transcript.outline(index).and_then(|outline| outline.pieces.last());
    let new = draft.parts.last().map(|part| &part.piece);
    let wrapper = |piece: &Piece| piece.place.wrapper();
    let as_before = old.map(wrapper) == new.map(wrapper);
    session.request.last.has_new_shape |= same && !as_before;
    let parts = session.transcript.outline(index).map_or(0, |outline| outline.pieces.len());
    // One whose steps we joined has none to join.
    Ok(same
        && as_before
        && parts == draft.parts.len()
        && old.map(|piece| piece.step) == new.map(|piece| piece.step))
}

/// It says the same, but of another call of the turn: two tools may both say "ok". An id that no call has is a new name.
fn answers_another(session: &Session, index: MessageId, draft: &Draft<'_>) -> bool {
    let Some(known) = session.transcript.outline(index) else { return false };
    let before = session.transcript.outlines.iter_to(index.index());
    let is_result = |it: &Outline| it.role != Role::Assistant;
    let turn = before.rev().skip_while(|it| is_result(it)).take_while(|it| !is_result(it));
    let is_called = |id: &str| {
        let mut pieces = turn.clone().flat_map(|it| &it.pieces);
        pieces.any(|it| it.kind == Kind::Call && &*it.id == id)
    };
    known.pieces.iter().zip(&draft.parts).any(|(old, new)| {
        new.piece.kind == Kind::Result && old.id != new.piece.id && is_called(&new.piece.id)
    })
}

/// A call or a result in it has another id.
fn has_other_ids(session: &Session, index: MessageId, draft: &Draft<'_>) -> bool {
    let known = session.transcript.outline(index).map_or(&[][..], |it| &it.pieces);
    known.iter().zip(&draft.parts).any(|(old, new)| old.id != new.piece.id)
}

/// It makes the same call, but under another id, and the known one waits for its result: what comes is that of the new one.
fn calls_again(session: &Session, index: MessageId, draft: &Draft<'_>) -> bool {
    let Some(known) = session.transcript.outline(index) else { return false };
    let blocks =
        session.transcript.ledger.blocks_of(index).map(|at| session.transcript.ledger.block(at));
    let mut pieces = known.pieces.iter().zip(&draft.parts).zip(blocks);
    pieces.any(|((old, new), block)| {
        let waits = block.is_some_and(|block| block.pair.is_none());
        old.kind == Kind::Call && waits && old.id != new.piece.id
    })
}

/// Of a message's content: roles, texts and calls, these `with_ids` or without, but not cache markers.
///
/// # Errors
/// `MalformedMessage`, with the index that it would have at the end of the history.
pub fn content_fingerprint(session: &Session, bytes: &[u8], with_ids: bool) -> Result<u64> {
    let draft =
        session.transcript.dialect.format.read(bytes, session.transcript.ledger.message_count())?;
    Ok(if with_ids { with_call_ids(&draft) } else { fingerprint(&draft) })
}

/// A measured message joins the session. `draft` has its text, for a cap; without it the cap waits.
pub(in crate::context) fn append_measured(
    session: &mut Session,
    measure: &Measure,
    draft: Option<&Draft<'_>>,
    found: &mut Findings,
) {
    let index = session.transcript.ledger.next_message();
    let outline = &measure.outline;
    session.repairs.find(index, outline, found);
    let pushed = &*found;
    session.transcript.turn = session.transcript.turn.saturating_add(u32::from(measure.is_request));
    let before =
        session.transcript.outlines.last().filter(|_| session.transcript.dialect.format.has_runs());
    let continues =
        before.is_some_and(|it| it.role == Role::Assistant) && outline.role == Role::Assistant;
    session.transcript.ledger.begin(Message {
        fingerprint: measure.fingerprint,
        written: measure.written,
        role: outline.role,
        first_block: BlockId::FIRST,
        call: session.transcript.call.saturating_sub(u32::from(continues)),
        turn: session.transcript.turn,
        bytes: measure.bytes,
        may_cut: pushed.may_cut,
        at_ms: measure.at_ms,
    });
    // The request that first sends it comes after it: after one more call, if it is the model's. A run is one call.
    let speaks = outline.role == Role::Assistant && !continues;
    session.transcript.call = session.transcript.call.saturating_add(u32::from(speaks));
    let first = session.transcript.ledger.next_block();
    let end = first.plus(count(outline.pieces.len()));
    let keeps_measures = !session.options.is_replayed;
    if keeps_measures {
        session.transcript.occurrences.begin();
    }
    session.request.pins.attach_arrived(
        first.to(end),
        mark(measure.fingerprint),
        session.restoration.waiting.is_some(),
    );
    for (at, (piece, measured)) in (0u32..).zip(outline.pieces.iter().zip(&measure.blocks)) {
        let call = pushed.pairs.get(at as usize).copied().flatten();
        let call_block = call
            .map(|(message, piece)| session.transcript.ledger.blocks_of(message).start.plus(piece));
        // Reasoning may leave alone where the provider lets it; everything else of the model's turn stays or goes with
        // its calls and results.
        let free = piece.kind == Kind::Thinking && !pushed.ties_reasoning;
        let group = pushed.groups.get(at as usize).copied().filter(|_| !free);
        let group = group.unwrap_or(GroupId::NONE);
        let call_key =
            call_block.and_then(|at| session.transcript.ledger.block(at)).map(|call| call.key);
        let block = session.transcript.ledger.append(
            &Arrival {
                kind: piece.kind,
                tokens: measured.tokens,
                chars: measured.chars,
                ids: &measured.ids,
                pair: call_block.filter(|_| piece.kind == Kind::Result).unwrap_or(BlockId::NONE),
                tool: match piece.kind {
                    Kind::Call | Kind::Result => &piece.name,
                    Kind::Text | Kind::Thinking | Kind::Image | Kind::Other => "",
                },
                group,
                call_key,
                key: measured.key,
                overhead: measured.overhead,
                bytes: measured.bytes,
                failed: piece.error,
                mask: if session.request.pins.hold(first.plus(at)) {
                    Mask::FIXED
                } else {
                    let pair = call_block.unwrap_or(BlockId::NONE);
                    mask_of(session, index, outline.role, piece, group.is_some(), pair)
                },
                named: is_listed_tool(session, piece, call),
            },
            session.transcript.call,
        );
        session.transcript.images = session.transcript.images.saturating_add(piece.images);
        session.transcript.widest = session.transcript.widest.max(piece.widest);
        if keeps_measures {
            // What replaces half surrogate pairs is found in the text.
            let found = measured.found.as_ref().filter(|_| measured.mended.is_empty());
            session.transcript.occurrences.push(found);
        }
        if !measured.mended.is_empty() {
            session.transcript.sanitized.insert(block, measured.mended.clone());
        }
        cap_at_arrival(session, block, at, draft);
        follow_call(session, block, call_block);
    }
    session.transcript.bytes = session.transcript.bytes.saturating_add(measure.bytes.into());
    session.request.markers.note(index, outline);
    let request = if measure.is_request { index } else { session.transcript.user_request };
    session.transcript.outlines.push(Rc::clone(&measure.outline));
    protect(session, request, protected_turn(session));
    if !found.fixes.is_empty() {
        repair_arrival(session, std::mem::take(&mut found.fixes));
    }
    session.request.last.settled = false;
}

/// A result too large to be sent whole even once is cut before it is first sent.
fn cap_at_arrival(session: &mut Session, block: BlockId, piece: u32, draft: Option<&Draft<'_>>) {
    let window = session.options.mode.window_tokens();
    // What was sent of a known message is known too.
    let known = session.restoration.waiting.is_some();
    if known
        || session.options.noop
        || !session.options.mode.is_managed()
        || session.transcript.ledger.block(block).is_none_or(|b| !b.mask.may_edit)
    {
        return;
    }
    session.monitor.work.blocks_visited = session.monitor.work.blocks_visited.saturating_add(1);
    let Some(change) = session.decisions.pruner.ingest(
        &mut session.transcript.ledger,
        block,
        window,
        &mut session.decisions.placeholders,
    ) else {
        return;
    };
    let overhead = session.transcript.ledger.block(block).map_or(0, |it| it.overhead);
    if let Some(part) = draft.and_then(|draft| draft.parts.get(piece as usize))
        && let Some(now) =
            session.decisions.placeholders.supply(block, overhead, part, &About::default())
    {
        session.transcript.ledger.set_form(block, Form::Capped, now);
    }
    session.note(change);
}

/// Takes up what mends the host's history.
#[inline(never)]
pub(in crate::context) fn repair_arrival(session: &mut Session, fixes: Vec<Fix>) {
    session.repairs.displace(&fixes);
    let mut dropped = Vec::new();
    for fix in fixes {
        if let FixKind::Drop { piece } = fix.kind {
            drop_block(session, fix.index, piece, &mut dropped);
        }
        recount_repaired(session, &fix);
        session.request.last.rebuild |= fix.index < session.request.last.upto;
        session.repairs.fixes.entry(fix.index).or_default().push(fix);
    }
    // From the last to the first: each leaves the end of the list of what is sent.
    for block in dropped.into_iter().rev() {
        session.transcript.ledger.set_form(block, Form::Gone, 0);
    }
}

/// A piece, or with `NONE` a whole message, is not sent because it mends the history; one that moves is sent elsewhere.
fn drop_block(session: &mut Session, message: MessageId, piece: u32, dropped: &mut Vec<BlockId>) {
    let blocks = session.transcript.ledger.blocks_of(message);
    let pieces =
        if piece == NONE { 0..count(blocks.len()) } else { piece..piece.saturating_add(1) };
    for number in pieces {
        let block = blocks.start.plus(number);
        if session.repairs.displaced.contains_key(&(message, number)) || !blocks.contains(block) {
            continue;
        }
        let before = session.transcript.ledger.block(block).map_or(0, |block| block.now);
        session.note(Change { block, rule: Rule::Repair, before });
        dropped.push(block);
    }
}

/// What a repair puts in place of a block's text is what is counted of it.
pub(in crate::context) fn recount_repaired(session: &mut Session, fix: &Fix) {
    let at = session.transcript.ledger.blocks_of(fix.index).start.plus(fix.kind.piece());
    let block = session.transcript.ledger.block(at).filter(|block| block.form != Form::Gone);
    let Some(block) = block else { return };
    let tokens = |text: &str| session.options.estimator.tokens(text);
    let now = match &fix.kind {
        FixKind::Arguments { .. } => block.overhead.saturating_add(tokens("{}")),
        FixKind::Text { text: Some(text), .. } => {
            let now = block.now.saturating_sub(session.transcript.ledger.at_end(at));
            now.saturating_add(tokens(text))
        }
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
    session.transcript.ledger.set_form(at, Form::Full, now);
}
