//! Lines of results that stay word for word: in the head of a fold, and in stubs.

use crate::identifiers::Identifiers;
use crate::ledger::Ledger;
use crate::model::{BlockId, Form};
use crate::sort::sort_set;
use crate::text::{Quote, identifiers, plain};

/// A line of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::context) struct Line {
    /// Tool and argument of the result.
    pub label: String,
    /// On one line, whatever it was; where it was cut, a sign says so.
    pub text: String,
}

/// Lines of the head, and those that it waits for.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct Lines {
    /// The policy keeps lines.
    pub kept: bool,
    /// In the head, the most telling first.
    pub head: Vec<Line>,
    /// Identifiers in them, sorted.
    pub ids: Vec<u32>,
    /// What a fold has chosen from, until its head is written.
    pub awaited: Option<Awaited>,
}

/// Lines that the next head may have.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct Awaited {
    /// Identifiers in the digest's order, and their newest results.
    pub used: Vec<(u32, BlockId)>,
    /// Results whose texts are to come, and the identifiers of their calls.
    pub sources: Vec<(BlockId, Vec<u32>)>,
    /// What came of those that have.
    pub found: Vec<(u32, Line)>,
    /// Lines of the head before.
    pub before: Vec<Line>,
    /// Tokens that the head has for them.
    pub room: u32,
}

/// Starts a line that is quoted: no text of a line ends the quotation, since it has no line ends.
pub(in crate::context) const MARK: &str = "> ";
/// What a head says before its lines.
pub(in crate::context) const LINES: &str =
    "Lines of results in them that were used, as they stood there:\n";
/// Stands where a line was cut.
const CUT: char = '\u{2026}';
/// What the piece of a long line, and a label, count at least.
const LEAST_PIECE: u32 = 60;
pub(in crate::context) const LEAST_LABEL: u32 = 12;

impl Line {
    /// What it costs, measured so with its mark.
    pub(in crate::context) fn cost(&self, measure: impl Fn(&str) -> u32) -> u32 {
        let tokens = measure(&format!("{MARK}{}\n", self.text));
        let is_piece = self.text.starts_with(CUT) || self.text.ends_with(CUT);
        if is_piece { tokens.max(LEAST_PIECE) } else { tokens }
    }
}

/// A quotation on one line, without what a terminal would obey.
pub(in crate::context) fn quoted(quote: Quote<'_>) -> String {
    let mut text = String::new();
    if quote.cut.0 {
        text.push(CUT);
    }
    text.push_str(&on_one_line(quote.text));
    if quote.cut.1 {
        text.push(CUT);
    }
    text
}

/// The text without line ends.
pub(in crate::context) fn on_one_line(text: &str) -> String {
    plain(text).trim_end().replace('\n', " ")
}

/// Writes these lines under their labels.
pub(in crate::context) fn write_lines(lines: &[Line], out: &mut String) {
    for (at, line) in lines.iter().enumerate() {
        let same = |other: &&Line| other.label == line.label;
        if lines.iter().take(at).any(|other| same(&other)) {
            continue;
        }
        out.push_str(&line.label);
        out.push('\n');
        for line in lines.iter().filter(same) {
            out.push_str(MARK);
            out.push_str(&line.text);
            out.push('\n');
        }
    }
}

/// The lines of what a head says behind its summary.
pub(in crate::context) fn read_lines(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let Some(text) = text.trim_start_matches(['\n', '[', ' ']).strip_prefix(LINES) else {
        return lines;
    };
    let mut label = "";
    for line in text.split('\n') {
        match line.strip_prefix(MARK) {
            Some(text) => lines.push(Line { label: label.into(), text: text.into() }),
            None if line.starts_with('[') => label = line,
            None => break,
        }
    }
    lines
}

/// So many identifiers of a call may be in a label.
const LABEL_IDS: usize = 8;

impl Lines {
    /// The next head has lines of these, of which each that goes now is asked for; this one is written without.
    pub(in crate::context) fn choose_from(&mut self, ledger: &Ledger, used: Vec<(u32, BlockId)>) {
        let mut before = std::mem::take(&mut self.head);
        self.ids.clear();
        // A fold whose lines have not come yet, and another.
        let other = self.awaited.take().unwrap_or_default();
        if used.is_empty() {
            return;
        }
        before.extend(other.before);
        let is_gone = |at| ledger.block(at).is_none_or(|it| it.form == Form::Gone);
        let mut sources = other.sources;
        sources.retain(|&(at, _)| is_gone(at));
        let mut goes: Vec<BlockId> = used.iter().map(|&(_, at)| at).collect();
        sort_set(&mut goes);
        for at in goes.into_iter().filter(|&at| !is_gone(at)) {
            let call = ledger.block(at).map_or(BlockId::NONE, |it| it.pair);
            let ids = ledger.ids(call).iter().take(LABEL_IDS).copied().collect();
            sources.push((at, ids));
        }
        self.awaited = Some(Awaited { used, sources, found: other.found, before, room: 0 });
    }
}

/// The identifiers in these lines, sorted.
pub(in crate::context) fn ids_in(lines: &[Line], known: &Identifiers) -> Vec<u32> {
    let mut ids = Vec::new();
    for line in lines {
        identifiers(&line.text, &mut |word, _| ids.extend(known.find(word)));
    }
    sort_set(&mut ids);
    ids
}
