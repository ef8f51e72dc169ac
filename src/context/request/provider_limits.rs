//! Provider limits beside tokens: images, their size, and bytes (I27, I28). The oldest images and large results go first,
//! many at once, so that it happens rarely.

use crate::context::request::placeholders::IMAGE;
use crate::context::session::Session;
use crate::model::{BlockId, Form, Kind, MessageId, Violation};
use crate::prune::{Change, Decision, Rule};
use crate::sort::sort_set;
use crate::validity::Limits;

/// A block smaller than this gains nothing when it goes because of its bytes.
const SMALL_BYTES: u32 = 1024;

/// Cuts images and large results until the request is within the provider's limits, or nothing is left to cut.
pub(in crate::context) fn fit_provider_limits(session: &mut Session) {
    let limits = session.transcript.dialect.provider.limits();
    let widest = session.transcript.widest;
    let beside = session.request.extras.bytes;
    session.request.last.oversize = None;
    if limits.images == 0
        || (session.transcript.images <= limits.many
            && widest <= limits.pixels
            && renew_byte_bound(session, beside) <= limits.bytes)
    {
        return;
    }
    cut_to_limits(session, limits, beside);
}

#[inline(never)]
fn cut_to_limits(session: &mut Session, limits: Limits, beside: u64) {
    let shown = images_sent(session);
    let count = |shown: &[Shown]| shown.iter().fold(0u32, |sum, it| sum.saturating_add(it.images));
    for at in shown.iter().filter(|it| it.widest > limits.pixels) {
        cut_block(session, at.block);
    }
    let shown = images_sent(session);
    let many = count(&shown) > limits.many && shown.iter().any(|it| it.widest > limits.many_pixels);
    // Half of what the provider takes, so that the next images open no epoch. Up to `many` of them, none has to be
    // small (I27).
    let most = match many {
        true => limits.many / 2,
        false if count(&shown) > limits.images => limits.images / 2,
        false => limits.images,
    };
    cut_oldest(session, &shown, count(&shown).saturating_sub(most).into(), |it| it.images.into());
    let bytes = bytes_sent(session).saturating_add(beside);
    if bytes > limits.bytes {
        // A quarter stays free, so that the next results open no epoch.
        let target = limits.bytes.saturating_sub(limits.bytes / 4);
        let large = images_sent(session);
        cut_oldest(session, &large, bytes.saturating_sub(target), |it| {
            if it.bytes > SMALL_BYTES { it.bytes.into() } else { 0 }
        });
        let bytes = bytes_sent(session).saturating_add(beside);
        session.request.last.oversize =
            (bytes > limits.bytes).then(|| too_large(MessageId::FIRST, bytes, limits.bytes));
    }
}

/// I28: the history itself has too many bytes.
pub(in crate::context) fn oversize_request(session: &Session) -> Option<Violation> {
    let most = session.transcript.dialect.provider.limits().bytes;
    let sum = |sum: &mut u64, bytes: u32| {
        *sum = sum.saturating_add(u64::from(bytes));
        Some(*sum)
    };
    let messages = session.transcript.ledger.messages.iter().map(|message| message.bytes);
    let sums = messages.scan(session.request.extras.bytes, |so_far, bytes| sum(so_far, bytes));
    let sums: Vec<u64> = sums.collect();
    let all = sums.last().copied().filter(|&all| most > 0 && all > most)?;
    let at = sums.partition_point(|&sum| sum <= most);
    Some(too_large(MessageId::at(at), all, most))
}

/// Cuts from the oldest on until so much of `what` is gone.
fn cut_oldest(
    session: &mut Session,
    shown: &[Shown],
    mut excess: u64,
    what: impl Fn(&Shown) -> u64,
) {
    for it in shown {
        let gain = what(it);
        if excess == 0 {
            return;
        }
        if gain > 0 && cut_block(session, it.block) {
            excess = excess.saturating_sub(gain);
        }
    }
}

/// Images and results that go out whole, in order.
fn images_sent(session: &Session) -> Vec<Shown> {
    let mut shown = Vec::new();
    for &at in session.transcript.ledger.live() {
        let Some(block) = session.transcript.ledger.block(at) else { continue };
        if block.form != Form::Full || !matches!(block.kind, Kind::Image | Kind::Result) {
            continue;
        }
        let number = at.since(session.transcript.ledger.blocks_of(block.message).start);
        let outline = session.transcript.outline(block.message);
        let piece = outline.and_then(|outline| outline.pieces.get(number as usize));
        let bytes = block.bytes;
        let (images, widest) = piece.map_or((0, 0), |piece| (piece.images, piece.widest));
        shown.push(Shown { block: at, images, widest, bytes });
    }
    shown
}

/// Puts a line in the place of a block, if it may be edited.
fn cut_block(session: &mut Session, at: BlockId) -> bool {
    let Some(block) = session.transcript.ledger.block(at).filter(|it| it.mask.may_edit) else {
        return false;
    };
    if block.kind == Kind::Image {
        let change = Change { block: at, rule: Rule::Limit, before: block.now };
        let now = session.options.estimator.tokens(IMAGE);
        session.decisions.placeholders.put(at, IMAGE);
        session.transcript.ledger.set_form(at, Form::Stubbed, now);
        session.note(change);
        return true;
    }
    let mut decision = Decision::default();
    crate::prune::stub(
        &mut session.transcript.ledger,
        at,
        Rule::Limit,
        &mut session.decisions.placeholders,
        &mut decision,
    );
    for change in decision.changes {
        session.note(change);
    }
    true
}

/// The most bytes that may go out. They are counted anew where that may be much: a long session has let most of its go.
fn renew_byte_bound(session: &mut Session, beside: u64) -> u64 {
    if session.transcript.bytes.saturating_add(beside)
        > session.transcript.dialect.provider.limits().bytes / 2
    {
        session.transcript.bytes = bytes_uncut(session);
    }
    session.transcript.bytes.saturating_add(beside)
}

/// The bytes of each message of which something goes out.
fn bytes_uncut(session: &Session) -> u64 {
    let (mut bytes, mut last) = (0u64, None);
    for block in session
        .transcript
        .ledger
        .live()
        .iter()
        .filter_map(|&at| session.transcript.ledger.block(at))
    {
        if last.replace(block.message) != Some(block.message) {
            let message = session.transcript.ledger.message(block.message);
            bytes = bytes.saturating_add(message.map_or(0, |it| it.bytes.into()));
        }
    }
    bytes
}

/// Bytes of what goes out of the history: of each message its JSON, less what was cut from it.
fn bytes_sent(session: &Session) -> u64 {
    let live = session
        .transcript
        .ledger
        .live()
        .iter()
        .filter_map(|&at| session.transcript.ledger.block(at));
    let mut messages: Vec<MessageId> = live.map(|block| block.message).collect();
    sort_set(&mut messages);
    let of = |at: &MessageId| {
        let bytes_before =
            session.transcript.ledger.message(*at).map_or(0, |message| message.bytes);
        let blocks =
            session.transcript.ledger.blocks_of(*at).map(|at| session.transcript.ledger.block(at));
        let cut = blocks.flatten().filter(|it| it.form != Form::Full);
        u64::from(cut.fold(bytes_before, |bytes, cut| bytes.saturating_sub(cut.bytes)))
    };
    messages.iter().map(of).sum()
}

/// A block that goes out whole.
struct Shown {
    block: BlockId,
    images: u32,
    widest: u32,
    bytes: u32,
}

fn too_large(index: MessageId, bytes: u64, most: u64) -> Violation {
    let message = format!("the request has {bytes} bytes; at most {most} are taken");
    Violation { rule: "I28", index: index.get(), path: None, message }
}
