//! Status lines: the fill of a window in a line for people and in a hint for the model.

use crate::context::report::status::Status;
use crate::context::report::status::status;
use crate::context::session::Session;
use crate::number::thousands;

/// Bands, the option that says where each begins, and its share of the budget, in 1e-4 (B3).
pub(in crate::context) const BANDS: [(&str, u64); 3] =
    [("warn", 8000), ("compact", 8500), ("force", 10_000)];
pub(in crate::context) const FULL: u64 = 10_000;

/// What each band has an agent know.
const HINTS: [&str; 3] = [
    "It is filling: ask for less at a time, and note what must outlast a summary.",
    "Older parts are about to be shortened: finish what needs them, and note what must outlast that.",
    "It is full: older parts are shortened before the next step.",
];

/// `📚 Context: 45,231/131,072 (34%)` (B6): an estimate is marked, an unknown window is a question.
pub(in crate::context) fn line(used: u64, budget: u64, pct: u64, counted: bool) -> String {
    let mark = if counted { "" } else { "~" };
    let used = thousands(used);
    if budget == 0 {
        return format!("📚 Context: {mark}{used}/? (?%)");
    }
    format!("📚 Context: {mark}{used}/{} ({pct}%)", thousands(budget))
}

/// `[Context: 156k/200k tokens (78%)]` (G40): all floored, nothing of an unknown window.
pub(in crate::context) fn short(used: u64, budget: u64, pct: u64) -> String {
    if budget == 0 {
        return String::new();
    }
    format!("[Context: {}k/{}k tokens ({pct}%)]", used / 1000, budget / 1000)
}

/// What the model is told in a band.
pub(in crate::context) fn hint(band: usize, pct: u64, budget: u64) -> String {
    let text = HINTS.get(band).copied().unwrap_or_default();
    format!("[Context: {pct}% of {} tokens. {text}]", thousands(budget))
}

/// How full the window is by the last request, in a line.
pub fn status_line_of(session: &Session, is_short: bool) -> String {
    let Status { used, pct, source, .. } = status(session);
    let usable = session.usable_now();
    if is_short { short(used, usable, pct) } else { line(used, usable, pct, source != "estimate") }
}

/// A hint for the model, once in each band that is newly reached; below the first they begin anew.
pub fn pressure_hint(session: &mut Session) -> Option<String> {
    let Status { used, usable, pct, .. } = status(session);
    let at = |share: u64| usable > 0 && used.saturating_mul(FULL) >= share.saturating_mul(usable);
    let reached = BANDS.iter().filter(|(_, share)| at(*share)).count();
    let hinted = &mut session.monitor.hinted;
    if reached == 0 || reached > *hinted {
        *hinted = reached;
        return reached.checked_sub(1).map(|band| hint(band, pct, usable));
    }
    None
}
