//! The measure of a message: tokens, identifiers, fingerprint. The text itself is forgotten.

use std::rc::Rc;

use crate::context::transcript::counter::Counter;
use crate::context::transcript::occurrences::Packed;
use crate::estimate::{CALL, Estimator, MESSAGE, RESULT, encrypted_tokens, opaque_tokens};
use crate::format::{fingerprint, of_bytes};
use crate::hash;
use crate::identifiers::Identifiers;
use crate::model::{Draft, Kind, Occurrence, Op, Outline, Part, RecentTraits, Role};
use crate::sort::sort_set;
use crate::text::{end_of_key, first_private_key, identifiers, is_secret, leaves, utf16_len};

/// A message measured.
#[derive(Clone, Debug)]
pub(in crate::context) struct Measure {
    /// What is remembered of its shape.
    pub outline: Rc<Outline>,
    /// Of its content.
    pub fingerprint: u64,
    /// Of its JSON, and how many bytes that has.
    pub written: u64,
    pub bytes: u32,
    /// When it was written.
    pub at_ms: Option<i64>,
    /// A person's own words: a turn starts here.
    pub is_request: bool,
    /// One for each piece of the outline.
    pub blocks: Vec<Measured>,
}

/// A part measured.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct Measured {
    /// Tokens of its text and of what goes with it.
    pub tokens: u32,
    /// Of them, what remains whatever happens to the text: its share of the message, its name, its frame.
    pub overhead: u32,
    /// UTF-16 code units of its text.
    pub chars: u32,
    /// Ranks of its identifiers, each once.
    pub ids: Vec<u32>,
    /// Of a call: tool and arguments. Of anything else: its text and images.
    pub key: u64,
    /// Bytes of its text and of its images.
    pub bytes: u32,
    /// Replaces its strings that hold half a surrogate pair.
    pub mended: Vec<Op>,
    /// Its identifiers as they stand in it; none where they are to be found in its text: one of them is a secret.
    pub found: Option<Packed>,
}

impl Measured {
    /// The numbers of its identifiers.
    pub(in crate::context) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.ids.iter().map(|rank| Occurrence::of_rank(*rank).id)
    }
}

/// Identifiers in this many first characters count as standing in the head.
const HEAD_CHARS: usize = 200;

/// Measures a message that was read from this JSON. Its identifiers are found where they are asked for.
pub(in crate::context) fn measure(
    draft: &Draft<'_>,
    bytes: &[u8],
    counter: &mut Counter<'_>,
    mut identifiers: Option<&mut Identifiers>,
    traits: &mut RecentTraits,
) -> Measure {
    let bears = |part: &&Part<'_>| !matches!(part.piece.kind, Kind::Thinking | Kind::Image);
    let bearer = draft.parts.iter().find(bears).or_else(|| draft.parts.first());
    let bearer = bearer.map(std::ptr::from_ref);
    let blocks = draft.parts.iter().map(|part| {
        if part.piece.unsent {
            return Measured { found: Some(Packed::default()), ..Measured::default() };
        }
        let message = if bearer == Some(std::ptr::from_ref(part)) { MESSAGE } else { 0 };
        measure_part(part, message, counter, identifiers.as_deref_mut())
    });
    let blocks = blocks.collect();
    let has = |kind: Kind, blank: bool| {
        let is =
            |p: &Part<'_>| p.piece.kind == kind && !p.piece.unsent && (blank || !p.piece.blank);
        draft.parts.iter().any(is)
    };
    let speaks = has(Kind::Text, false) || has(Kind::Image, true);
    let mut outline = draft.outline();
    outline.pieces.iter_mut().for_each(|piece| traits.share(&mut piece.traits));
    Measure {
        outline: Rc::new(outline),
        fingerprint: fingerprint(draft),
        written: of_bytes(bytes),
        bytes: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
        at_ms: draft.at_ms,
        is_request: draft.role == Role::User && speaks && !has(Kind::Result, true),
        blocks,
    }
}

fn measure_part(
    part: &Part<'_>,
    message: u32,
    counter: &mut Counter<'_>,
    identifiers: Option<&mut Identifiers>,
) -> Measured {
    let text = counter.tokens(&part.text);
    let frame = match part.piece.kind {
        Kind::Call => CALL.saturating_add(counter.tokens(&part.piece.name)),
        Kind::Result => RESULT,
        Kind::Text | Kind::Thinking | Kind::Image | Kind::Other => 0,
    };
    let overhead = message.saturating_add(frame);
    let hidden = if part.text.is_empty() { opaque_tokens(part.opaque) } else { 0 };
    let hidden = hidden.saturating_add(encrypted_tokens(part.encrypted));
    let images = counter.image_tokens.saturating_mul(part.images);
    let mut leaf = String::new();
    let source: &str = match part.piece.kind {
        Kind::Call => {
            leaves(&part.text, &mut leaf);
            &leaf
        }
        Kind::Text | Kind::Result => &part.text,
        Kind::Thinking | Kind::Image | Kind::Other => "",
    };
    let name = if part.piece.kind == Kind::Call { &*part.piece.name } else { "" };
    let key = hash::bytes(hash::bytes(part.media, name.as_bytes()), part.text.as_bytes());
    let mut block = Measured {
        tokens: text.saturating_add(overhead).saturating_add(hidden).saturating_add(images),
        overhead,
        chars: u32::try_from(utf16_len(&part.text)).unwrap_or(u32::MAX),
        key,
        bytes: u32::try_from(part.text.len()).unwrap_or(u32::MAX).saturating_add(part.media_bytes),
        mended: part.mended.clone(),
        found: Some(Packed::default()),
        ..Measured::default()
    };
    if let Some(known) = identifiers {
        block.ids = intern(source, counter.estimator, known);
        keep_found(&mut block, known);
    }
    block
}

/// Where the first so many characters end.
fn chars_end(text: &str, chars: usize) -> usize {
    match text.as_bytes().get(..chars) {
        Some(head) if head.is_ascii() => chars,
        _ => text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at),
    }
}

/// Ranks of the text's identifiers, secrets among them, in order: each once for the head and once for the rest.
fn intern(text: &str, estimator: Estimator, known: &mut Identifiers) -> Vec<u32> {
    let head_end = chars_end(text, HEAD_CHARS);
    let mut all = Vec::new();
    let redacts = !known.keeps_secrets;
    let first_key = if redacts { first_private_key(text) } else { None };
    let mut key_end = 0;
    // Texts repeat themselves at short distances.
    let mut recent = [(u32::MAX, false); 64];
    identifiers(text, &mut |found, at| {
        if at >= key_end && first_key.is_some_and(|first| first < at) {
            key_end = end_of_key(text, at).unwrap_or(key_end);
        }
        if at < key_end {
            return;
        }
        let ends = at.saturating_add(found.len());
        let before = known.len();
        let is_secret = || redacts && is_secret(text, at, ends);
        let id = known.intern(found, |word| cost_of_new(word, estimator, is_secret));
        let in_head = ends <= head_end;
        if let Some(last) = recent.get_mut(id as usize % 64)
            && std::mem::replace(last, (id, in_head)) != (id, in_head)
        {
            all.push(Occurrence { id, in_head, is_new: id >= before }.rank());
        }
    });
    if all.len() > 1 {
        in_order(&mut all);
    }
    all
}

/// Tokens of an identifier that has no number yet; of a secret none.
#[inline(never)]
fn cost_of_new(word: &str, estimator: Estimator, is_secret: impl Fn() -> bool) -> u32 {
    // One token separates it from the next.
    if is_secret() { 0 } else { estimator.tokens(word).saturating_add(1) }
}

/// By their numbers: new ones got these in order of appearance. What stands in the head comes before the same in the rest.
pub(in crate::context) fn in_order(ranks: &mut Vec<u32>) {
    sort_set(ranks);
    // The first place that is new is the one where it got its number.
    ranks.dedup_by_key(|rank| *rank >> 1);
}

/// The identifier is a secret, or a part of one.
fn is_hidden(known: &Identifiers, rank: u32) -> bool {
    known.get(Occurrence::of_rank(rank).id).is_some_and(|it| it.tokens == 0)
}

/// A block has the identifiers of some ranks, which are [`in_order`]: they are kept as they are, and each stays once, without secrets.
pub(in crate::context) fn keep_found(block: &mut Measured, known: &Identifiers) {
    // Whether a word is a secret depends on the text in which it was first found: another session looks for itself.
    if known.has_secrets && block.ids.iter().any(|rank| is_hidden(known, *rank)) {
        block.found = None;
    } else {
        block.found.get_or_insert_default().set(&block.ids);
    }
    each_once(block, known);
}

/// Of its ranks each identifier's first one stays, and none of a secret.
pub(in crate::context) fn each_once(block: &mut Measured, known: &Identifiers) {
    if known.has_secrets {
        block.ids.retain(|rank| !is_hidden(known, *rank));
    }
    block.ids.dedup_by_key(|rank| Occurrence::of_rank(*rank).id);
}
