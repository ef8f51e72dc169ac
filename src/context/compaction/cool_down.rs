//! Cool-down of the summarizer: whether it may be asked now, and the reason that the host is told.

use crate::context::session::Session;
use crate::json::{Value, json};

/// Whether a summarizer may be asked now, without the host's wish.
pub fn may_ask_summarizer(session: &mut Session, now_ms: i64) -> bool {
    let (tokens, line) = session.sizes();
    let needed = tokens > session.decisions.usable;
    session.options.summarizes && session.compactions.guard.permits(tokens, line, needed, now_ms)
}

/// Why no summarizer is asked, as `status()` tells it.
pub(in crate::context) fn blocked_reason(session: &Session, now_ms: i64) -> Value {
    let guard = &session.compactions.guard;
    if guard.is_ineffective() {
        json!({ "reason": "ineffective" })
    } else if guard.cools(now_ms) {
        json!({ "reason": "cooldown", "untilMs": guard.until_ms })
    } else {
        Value::NULL
    }
}

/// The same, once for each cool-down, and for each time that compactions did not help.
pub fn warning(session: &mut Session, now_ms: i64) -> Option<Value> {
    let blocked = blocked_reason(session, now_ms);
    let is_new =
        blocked != Value::NULL && !std::mem::replace(&mut session.compactions.guard.warned, true);
    is_new.then_some(blocked)
}
