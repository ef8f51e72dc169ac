//! Check of a guessed format against the history.

use crate::context::session::Session;
use crate::error::{Error, ErrorInfo, Result};
use crate::format::Format;
use crate::model::{Fix, FixKind, MessageId, NONE, Outline};

/// So many messages at least are lost: a few empty ones are repaired, whatever share of the history they are.
const LEAST: usize = 3;

/// Refuses a history of which a quarter would be dropped or lose the ids of its calls because its format is only a
/// guess. Once a message has shown the format, only the first request is looked at: later ones grew from it.
///
/// # Errors
/// `UnknownFormat` says what was seen and which formats there are.
pub fn understood(session: &Session) -> Result<()> {
    let named = session.options.format.is_some();
    if named
        || (session.transcript.dialect.certain
            && (session.request.last.upto > MessageId::FIRST
                || session.restoration.waiting.is_some()))
    {
        return Ok(());
    }
    if session.repairs.fixes.len() < LEAST { Ok(()) } else { not_lost(session) }
}

#[inline(never)]
fn not_lost(session: &Session) -> Result<()> {
    let outline = |index: MessageId| session.transcript.outline(index);
    let lost =
        session.repairs.fixes.iter().filter(|(index, fixes)| {
            outline(**index).is_some_and(|outline| is_lost(outline, fixes))
        });
    let (lost, all) = (lost.count(), session.transcript.outlines.len());
    if lost < LEAST || lost.saturating_mul(4) < all {
        return Ok(());
    }
    let saw = format!(
        "{all} messages, of which {lost} would be lost if they were read as \"{}\"; \
        pass `format`: {}, or convert them to one of these",
        session.transcript.dialect.format.name(),
        Format::names(),
    );
    Err(Error::new(ErrorInfo::UnknownFormat { saw }))
}

/// Nothing of the message is sent, because it holds nothing that is known or answers no call; or its call has no id.
fn is_lost(outline: &Outline, fixes: &[Fix]) -> bool {
    let mut dropped = 0_usize;
    for fix in fixes {
        match fix.kind {
            FixKind::Drop { piece: NONE } if fix.violation.rule == "I6" => return true,
            FixKind::Drop { .. } if matches!(fix.violation.rule, "I6" | "I2") => {
                dropped = dropped.saturating_add(1);
            }
            FixKind::Rename { piece, .. } => {
                if outline.pieces.get(piece as usize).is_some_and(|it| it.id.is_empty()) {
                    return true;
                }
            }
            FixKind::Drop { .. }
            | FixKind::Text { .. }
            | FixKind::Unicode { .. }
            | FixKind::Arguments { .. }
            | FixKind::Sign { .. }
            | FixKind::Unmark { .. }
            | FixKind::AsUser
            | FixKind::Turn
            | FixKind::Before(_)
            | FixKind::After(_) => {}
        }
    }
    dropped > 0 && dropped == outline.pieces.len()
}
