//! State set aside: everything that a decision changes, kept so that the decision can be taken back.

use crate::context::report::monitor::Counters;
use crate::context::session::Session;
use crate::context::session::decisions::Decisions;
use crate::ledger::Ledger;
use crate::prune::Folds;

/// Everything that a decision changes, as it was before one that may be taken back.
pub(in crate::context) struct Aside {
    ledger: Ledger,
    pub decisions: Decisions,
    folds: Folds,
    rebinds_reasoning: bool,
    work: Counters,
}

/// Copies what a decision changes, and nothing else of the session.
pub(in crate::context) fn set_aside(session: &Session) -> Aside {
    Aside {
        ledger: session.transcript.ledger.clone(),
        decisions: session.decisions.clone(),
        folds: session.options.folds,
        rebinds_reasoning: session.request.last.rebinds_reasoning,
        work: session.monitor.work,
    }
}

/// Takes a decision back.
pub(in crate::context) fn put_back(session: &mut Session, aside: Aside) {
    session.transcript.ledger = aside.ledger;
    session.decisions = aside.decisions;
    session.options.folds = aside.folds;
    session.request.last.rebinds_reasoning = aside.rebinds_reasoning;
    session.monitor.work = aside.work;
}
