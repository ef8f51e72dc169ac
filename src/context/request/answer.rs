//! Answer for the facade: the new part of a request, and what is said about it.

use crate::context::compaction::compaction_history::Folded;
use crate::context::compaction::compaction_outcome::Outcome;
use crate::context::compaction::folds::needs_summary;
use crate::context::report::floor::why_too_large;
use crate::context::report::status::source_of_figures;
use crate::context::request::bound_thinking::drop_hint;
use crate::context::request::cache_markers::{marker_fixes, markers_sent};
use crate::context::request::edits::Edit;
use crate::context::request::written::Written;
use crate::context::session::{Session, system_note};
use crate::json;
use crate::model::{Fix, FixKind, Made, Message, MessageId, Role, Violation};

json::json_struct! {
    /// A request: what stays of the one before, what follows, and what is to be said about it.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Answer {
        /// So many messages of the last request stand at the start of this one.
        pub keep: u32,
        /// The messages after them.
        pub items: Vec<Written>,
        /// Changes only when something other than the end of the request does.
        pub epoch: u32,
        /// First message that differs from the last request; -1: system or tools; none: it only grew.
        pub first_changed: Option<i64>,
        /// By our estimate the request fits the usable window.
        pub fits: bool,
        /// Why it does not.
        pub why: Option<json::Value>,
        /// Its tokens.
        pub tokens: u64,
        /// The same as we count, whatever the provider's own figures say.
        pub estimate: u64,
        /// What `tokens` stands on.
        pub source: &'static str,
        /// Tokens of the request before.
        pub tokens_before: u64,
        /// Tokens of the request before that stood after the first change.
        pub cached_tokens_lost: u64,
        /// What had to be repaired in the host's history.
        pub repairs: Vec<Violation>,
        /// Edits that are new in this request.
        pub edits: Vec<Edit>,
        /// What the policy did.
        pub event: Option<Event>,
        /// What room was made.
        pub outcome: Option<Outcome>,
        /// The fold that was carried out.
        pub fold: Option<Folded>,
        /// A fold pays, and waits for a summarizer.
        pub fold_due: bool,
        /// What the provider must be told, as the JSON of members of its body and headers: reasoning is sent after a change,
        /// and it is to drop what it no longer accepts.
        pub hints: Option<&'static str>,
        /// What the host's system prompt is to say.
        pub system_note: Option<&'static str>,
        /// In which format, and by whose rules.
        pub format: &'static str,
        /// The provider's name.
        pub provider: &'static str,
        /// Cache markers of the host's in these messages.
        pub marked: u32,
        /// Positions of messages in the request after which a cache marker pays: at most three, for a provider that is told.
        pub cache_breakpoints: Vec<u32>,
        /// First message of the last group: until another message follows, it may still change.
        pub last_group: u32,
    }
}

/// What the policy did at a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Blocks were stubbed, capped or thinned.
    Edit,
    /// A fold was carried out.
    Fold,
}

impl json::Write for Event {
    fn write(&self, out: &mut String) {
        let name = match self {
            Self::Edit => "edit",
            Self::Fold => "fold",
        };
        name.write(out);
    }
}

/// What is said of a request that is new.
#[derive(Default)]
pub(in crate::context) struct Difference {
    pub(in crate::context) keep: u32,
    pub(in crate::context) outcome: Option<Outcome>,
    pub(in crate::context) fold: Option<Folded>,
    pub(in crate::context) before: u64,
    pub(in crate::context) lost: u64,
    pub(in crate::context) first_changed: Option<i64>,
    pub(in crate::context) event: Option<Event>,
}

/// The answer of the request that was just built, or of one that is sent again.
pub(in crate::context) fn answer_with(
    session: &Session,
    items: Vec<Written>,
    edits: Vec<Edit>,
    difference: Difference,
) -> Answer {
    let tokens = session.decisions.pruner.context(&session.transcript.ledger, &session.setting());
    let fits = !session.options.mode.is_managed() || tokens <= session.decisions.usable;
    Answer {
        keep: difference.keep,
        items,
        epoch: session.request.last.epoch,
        first_changed: difference.first_changed,
        fits,
        why: (!fits).then(|| why_too_large(session, tokens)),
        tokens: session.counts.calibration.tokens(tokens),
        estimate: tokens,
        source: source_of_figures(session),
        tokens_before: session.counts.calibration.tokens(difference.before),
        cached_tokens_lost: difference.lost,
        repairs: repairs_made(session),
        edits,
        event: difference.event,
        outcome: difference.outcome,
        fold: difference.fold,
        fold_due: session.request.last.fold_due || needs_summary(session),
        hints: drop_hint(session),
        system_note: system_note(session),
        format: session.transcript.dialect.format.name(),
        provider: session.transcript.dialect.provider.name(),
        marked: markers_sent(session),
        cache_breakpoints: session.request.last.breakpoints.clone(),
        last_group: last_group(session).get(),
    }
}

/// The newest message of the model, or the first of the run that it ends; the last message if there is none.
pub(in crate::context) fn last_group(session: &Session) -> MessageId {
    let messages = &session.transcript.ledger.messages;
    let speaks = |message: &Message| message.role == Role::Assistant;
    let mut at = messages.rposition(speaks);
    while let Some(before) = at.and_then(|at| at.checked_sub(1))
        && session.transcript.dialect.format.has_runs()
        && messages.get(before).is_some_and(speaks)
    {
        at = Some(before);
    }
    MessageId::at(at.unwrap_or_else(|| messages.len().saturating_sub(1)))
}

/// What was mended in the messages that are sent.
pub(in crate::context) fn repairs_made(session: &Session) -> Vec<Violation> {
    if session.options.noop {
        return Vec::new();
    }
    let mut made: Vec<Violation> = Vec::new();
    for fixes in session.repairs.fixes.values() {
        add_violations(fixes, &mut made);
    }
    add_violations(&marker_fixes(session), &mut made);
    add_violations(&session.decisions.end_fixes, &mut made);
    made.extend_from_slice(&session.request.last.violations);
    made.extend(session.request.last.oversize.clone());
    made
}

#[inline(never)]
fn add_violations(fixes: &[Fix], made: &mut Vec<Violation>) {
    // A result that moves is dropped at one place and made at another: that is one repair.
    let moves = |fix: &&Fix| matches!(fix.kind, FixKind::After(Made::Moved { .. }));
    made.extend(fixes.iter().filter(|fix| !moves(fix)).map(|fix| fix.violation.clone()));
}
