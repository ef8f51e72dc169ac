//! Flat messages: what a summarizer reads of the messages that go, and the facts that are found in them.

use std::borrow::Cow;

use crate::context::request::shorten::piece_of;
use crate::context::session::Session;
use crate::context::session::read_message::read_message;
use crate::error::Result;
use crate::extract::Extracted;
use crate::json::{Value, json};
use crate::model::{Block, BlockId, Form, Kind, MessageId, Part, Role};
use crate::text::{Cut, head_tail, redact};

/// A message (JSON) as a summarizer's prompt is made of: of one that a plan takes apart only what goes, and words of the user that
/// are kept. What it tells of files, commands and errors is taken up.
///
/// # Errors
/// `MalformedMessage`, or `InvalidArgument` if there is no such message.
pub fn flat_message(session: &mut Session, index: MessageId, bytes: &[u8]) -> Result<Value> {
    let draft = read_message(session, index, bytes)?;
    let blocks = session.transcript.ledger.blocks_of(index);
    let (mut parts, mut tokens) = (Vec::new(), 0u64);
    for (at, part) in blocks.zip(&draft.parts) {
        let block = session.transcript.ledger.block(at);
        let kept = is_kept(&session.compactions.going, at);
        if !is_summarized(block, part, kept) {
            continue;
        }
        session.compactions.found.take(part);
        let goes = block.filter(|_| !kept);
        tokens = tokens.saturating_add(goes.map_or(0, |it| it.tokens.into()));
        let call =
            block.filter(|it| it.kind == Kind::Result).and_then(|it| piece_of(session, it.pair));
        let name = call.map_or(&*part.piece.name, |call| &call.name);
        let kind = match part.piece.kind {
            Kind::Text => "text",
            Kind::Thinking => "thinking",
            Kind::Call => "call",
            Kind::Result => "result",
            Kind::Image => "image",
            Kind::Other => "other",
        };
        let error = part.piece.error;
        // What the model no longer saw in full is not summarized in full.
        let shown = block.filter(|it| matches!(it.form, Form::Capped | Form::Stubbed));
        let short = shown.and_then(|_| session.decisions.placeholders.text.get(&at));
        let is_cut = block.is_some_and(|it| it.form == Form::Capped);
        let text = match short {
            Some(short) if is_cut => cut_safely(session, &part.text, short),
            Some(short) => Cow::Borrowed(&**short),
            None => Cow::Borrowed(&*part.text),
        };
        parts.push(
            json!({ "kind": kind, "text": &*text, "name": name, "error": error, "kept": kept }),
        );
    }
    let role = match draft.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let turn = session.transcript.turn_of(index);
    Ok(json!({ "index": index, "turn": turn, "tokens": tokens, "role": role, "parts": parts }))
}

/// What was sent of a text that is cut. A cut may part a secret, whose halves are not known for what they are: such a text is cut
/// anew, without its secrets.
fn cut_safely<'a>(session: &Session, text: &str, sent: &'a str) -> Cow<'a, str> {
    let safe = if session.options.redacts { redact(text) } else { return Cow::Borrowed(sent) };
    if safe == text {
        return Cow::Borrowed(sent);
    }
    let tokens = |text: &str| session.options.estimator.tokens(text);
    Cow::Owned(head_tail(&safe, tokens(sent), Cut::TOKENS, tokens).into_owned())
}

/// Extracts the files, commands and errors of a message (JSON) as [`flat_message`] does, without writing the message out.
///
/// # Errors
/// `MalformedMessage`, or `InvalidArgument` if there is no such message.
pub fn extract_facts(session: &mut Session, index: MessageId, bytes: &[u8]) -> Result<()> {
    let draft = read_message(session, index, bytes)?;
    for (at, part) in session.transcript.ledger.blocks_of(index).zip(&draft.parts) {
        let block = session.transcript.ledger.block(at);
        if is_summarized(block, part, is_kept(&session.compactions.going, at)) {
            session.compactions.found.take(part);
        }
    }
    Ok(())
}

/// Whether a plan by which these blocks go leaves one where it is. Without a plan all go.
fn is_kept(going: &[BlockId], at: BlockId) -> bool {
    !going.is_empty() && going.binary_search(&at).is_err()
}

/// Whether a summarizer reads a part. A summary is fed once, as the previous one.
fn is_summarized(block: Option<&Block>, part: &Part<'_>, kept: bool) -> bool {
    let is_summary = block.is_some_and(|it| it.summary);
    !part.piece.unsent && !is_summary && (!kept || block.is_some_and(|it| it.user))
}

/// What the messages that were asked for since the last plan or fold tell.
pub fn extracted_so_far(session: &Session) -> &Extracted {
    &session.compactions.found
}
