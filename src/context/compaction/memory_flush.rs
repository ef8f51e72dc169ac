//! Memory flush: a prompt for notes at the end of a request when the window has newly filled beyond a line.
//!
//! A cycle ends with a fold, or when little is left of the request (G38). Within one, each line asks once, the highest that
//! was crossed alone; whether notes were written since is seen in the calls as they arrive (F127).

use crate::context::compaction::flush::{Flush, Flushed};
use crate::context::compaction::folds::fold_count;
use crate::context::report::status::status;
use crate::context::session::Session;
use crate::extract::Extracted;
use crate::json;
use crate::model::Draft;

/// Percent of the usable window at which notes are asked for, and below which a new cycle begins (F126).
const LINES: [u32; 3] = [90, 75, 50];
const LOW: u32 = 25;
/// Where the notes go.
const NOTES: &str = "memory/";

json::json_struct! {
    /// A prompt for the end of the request.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct FlushPrompt {
        /// The line that was crossed, in percent.
        pub threshold: u32,
        /// What it says.
        pub text: String,
    }
}

/// The prompt of the highest line that is newly crossed, on this day (YYYY-MM-DD); none, if nothing is, or no request was made.
pub fn flush_prompt(session: &mut Session, date: &str) -> Option<FlushPrompt> {
    // What it asked for before is known once its messages have come.
    if session.restoration.waiting.is_some() {
        return None;
    }
    rearm_flush(session);
    let status = status(session);
    let crossed = |line: &u32| is_filled(session, status.used, *line);
    let threshold = LINES.into_iter().find(crossed).filter(|_| session.request.last.tokens > 0)?;
    if session.compactions.flush.asked.is_some_and(|it| it.threshold >= threshold) {
        return None;
    }
    session.compactions.flush.asked = Some(Flushed { threshold, acted: false });
    let soon = if threshold == LINES[0] { "is about to be" } else { "will at some point be" };
    let pct = status.pct;
    let text = format!(
        "[Context: {pct}% of the window is used. What is oldest in it {soon} shortened. Facts, decisions and open points \
         that should outlast that can be noted now in {NOTES}{date}.md, added to what it holds, if you have a tool that \
         writes files. This asks for notes and nothing else; if none are needed, go on as you were.]"
    );
    Some(FlushPrompt { threshold, text })
}

/// Begins a new cycle where one has ended.
pub(in crate::context) fn rearm_flush(session: &mut Session) {
    let folds = fold_count(session).unwrap_or(0);
    if session.compactions.flush.folds != folds || !is_filled(session, status(session).used, LOW) {
        session.compactions.flush = Flush { asked: None, folds };
    }
}

/// Whether notes are written in a message that arrives.
pub(in crate::context) fn detect_note_writes(session: &mut Session, draft: &Draft<'_>) {
    if let Some(asked) = session.compactions.flush.asked.as_mut().filter(|asked| !asked.acted) {
        asked.acted = writes_notes(draft);
    }
}

#[inline(never)]
fn writes_notes(draft: &Draft<'_>) -> bool {
    let mut found = Extracted::default();
    for part in &draft.parts {
        found.take(part);
    }
    let is_note = |path: &String| path.trim_start_matches("./").starts_with(NOTES);
    found.modified_files.iter().any(is_note)
}

fn is_filled(session: &Session, used: u64, pct: u32) -> bool {
    let window = session.options.mode.window();
    window.is_some_and(|it| used.saturating_mul(100) >= it.usable.saturating_mul(pct.into()))
}
