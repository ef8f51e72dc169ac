//! The decision about the messages, once all of them have come.

use crate::context::request::bound_thinking::keep_reasoning;
use crate::context::session::Session;
use crate::context::session::end_repairs::set_end_repairs;
use crate::context::session::snapshot::restore::finish_restore;
use crate::context::session::take_decision::take_decision;
use crate::context::session::tiers::apply_tiers;
use crate::prune::{Decision, Folds, Moment};

/// Before a decision: all messages have come.
pub(in crate::context) fn finish_history(session: &mut Session) {
    finish_restore(session);
    keep_reasoning(session);
    let ending = session.repairs.finish();
    set_end_repairs(session, ending);
    session.renew_usable();
}

pub(in crate::context) fn decide(session: &mut Session, now_ms: i64) -> Decision {
    if let Some(tiers) = session.options.tiers {
        return apply_tiers(session, tiers);
    }
    if !session.options.mode.is_managed() || session.options.noop {
        return Decision::default();
    }
    let ttl = i64::try_from(session.decisions.pruner.policy.prices.ttl_ms).unwrap_or(i64::MAX);
    let moment = Moment {
        call: session.transcript.call,
        warm: session.request.last.at_ms.is_some_and(|last| now_ms.saturating_sub(last) <= ttl),
        first: session.request.last.at_ms.is_none(),
        summarizes: session.options.summarizes,
        // What was asked for waits only where a summarizer may be asked.
        folds: match session.options.folds {
            Folds::Deferred
                if session.decisions.pruner.fold_wanted && !session.compactions.asks =>
            {
                Folds::Carried
            }
            folds @ (Folds::Carried | Folds::Deferred | Folds::Never) => folds,
        },
    };
    let setting = session.deciding(session.decisions.usable);
    let decision = session.decisions.pruner.decide(
        &mut session.transcript.ledger,
        &setting,
        moment,
        &mut session.decisions.placeholders,
    );
    take_decision(session, decision.clone());
    decision
}
