//! Lines of results that stay word for word, in stubs and in the head of a fold: how they are written, and read again.

use crate::identifiers::Identifiers;
use crate::ledger::Ledger;
use crate::model::{BlockId, Form, MessageId};
use crate::sort::{sort_by, sort_set};
use crate::text::{Quote, identifiers};

/// Lines that the next head may have.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct Awaited {
    /// Identifiers in the digest's order.
    pub used: Vec<u32>,
    /// Results whose texts are to come, and what their calls were about.
    pub sources: Vec<(BlockId, String)>,
    /// Lines of identifiers: of the head before, and of the results whose texts have come. Each after its label.
    pub found: Vec<(u32, String)>,
    /// Tokens that the head has for them.
    pub room: u32,
}

/// Starts a line that is quoted: no text of a line ends the quotation, since it has no line ends.
pub(in crate::context) const MARK: &str = "> ";
/// What a head says before its lines.
pub(in crate::context) const LINES: &str =
    "Lines of results in them that were used, as they stood there:\n";
/// What a stub with lines says after the size of its block.
pub(in crate::context) const OF_STUB: &str = "; of it:\n";
/// Stands where a line was cut.
const CUT: char = '\u{2026}';
/// What the piece of a long line, and a label, count at least.
const LEAST_PIECE: u32 = 60;
const LEAST_LABEL: u32 = 12;
/// So many bytes of what a call was about are in a label.
const LABEL: usize = 60;

/// A quotation as a line of its own, however its text was written.
pub(in crate::context) fn quoted(quote: Quote<'_>) -> String {
    let mut line = String::from(MARK);
    if quote.cut.0 {
        line.push(CUT);
    }
    push_plain(quote.text.trim_end(), &mut line);
    if quote.cut.1 {
        line.push(CUT);
    }
    line.push('\n');
    line
}

/// Without line ends, control characters, and what turns the direction of writing.
pub(in crate::context) fn push_plain(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '\t' => out.push(c),
            '\n' | '\u{2028}' | '\u{2029}' => out.push(' '),
            '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {}
            _ if c.is_control() => {}
            _ => out.push(c),
        }
    }
}

/// What a quoted line costs.
pub(in crate::context) fn cost_of_line(line: &str, measure: &dyn Fn(&str) -> u32) -> u32 {
    let text = line.strip_prefix(MARK).unwrap_or(line).trim_end();
    let is_piece = text.starts_with(CUT) || text.ends_with(CUT);
    measure(line).max(if is_piece { LEAST_PIECE } else { 0 })
}

/// Label and quoted line of an entry.
pub(in crate::context) fn parts(entry: &str) -> (&str, &str) {
    entry.split_at(entry.find('\n').map_or(0, |at| at.saturating_add(1)))
}

/// Writes these entries, those of one label under it.
pub(in crate::context) fn write_lines(entries: &[String], out: &mut String) {
    for (at, entry) in entries.iter().enumerate() {
        let (label, _) = parts(entry);
        if entries.iter().take(at).any(|other| parts(other).0 == label) {
            continue;
        }
        out.push_str(label);
        for (_, line) in entries.iter().map(|entry| parts(entry)).filter(|it| it.0 == label) {
            out.push_str(line);
        }
    }
}

/// Reads what a head says of its lines again: by each identifier that they hold.
fn read_lines(text: &str, known: &Identifiers, found: &mut Vec<(u32, String)>) {
    let mut label = "";
    for line in text.split_inclusive('\n') {
        if !line.starts_with(MARK) {
            label = line;
            continue;
        }
        let entry = [label, line].concat();
        identifiers(line, &mut |word, _| {
            found.extend(known.find(word).map(|id| (id, entry.clone())));
        });
    }
}

/// The identifiers in these entries' lines, sorted.
pub(in crate::context) fn ids_in(entries: &[String], known: &Identifiers) -> Vec<u32> {
    let mut ids = Vec::new();
    for entry in entries {
        identifiers(parts(entry).1, &mut |word, _| ids.extend(known.find(word)));
    }
    sort_set(&mut ids);
    ids
}

impl Awaited {
    /// The next head has lines of these identifiers, from the results of messages from `from` on that go now, and from what the head
    /// before says of its lines.
    pub(in crate::context) fn add(
        &mut self,
        ledger: &Ledger,
        used: Vec<u32>,
        from: MessageId,
        before: &str,
    ) {
        let sent = |at: BlockId| ledger.block(at).filter(|it| it.form != Form::Gone);
        self.sources.retain(|&(at, _)| sent(at).is_none());
        let known = &ledger.identifiers;
        let mut sources: Vec<BlockId> =
            used.iter().filter_map(|&id| Some(known.get(id)?.source)).collect();
        sort_set(&mut sources);
        for at in sources {
            let Some(it) = sent(at).filter(|it| it.message >= from) else { continue };
            let mut about = String::new();
            for word in ledger.ids_head_first(it.pair).map(|id| known.text(id)) {
                if about.len().saturating_add(word.len()) < LABEL && !about.contains(word) {
                    about.push(' ');
                    about.push_str(word);
                }
            }
            self.sources.push((at, about));
        }
        read_lines(before, known, &mut self.found);
        self.used = used;
    }

    /// The entries that fit, in the order of their identifiers, each line once.
    pub(in crate::context) fn chosen(
        mut self,
        ledger: &Ledger,
        measure: &dyn Fn(&str) -> u32,
    ) -> Vec<String> {
        sort_by(&mut self.found, |(id, _)| (i64::from(*id), 0));
        let mut chosen: Vec<String> = Vec::new();
        let mut left = self.room.saturating_sub(measure(LINES));
        for id in self.used {
            // What a pin has brought back is sent.
            let source = ledger.identifiers.get(id).and_then(|it| ledger.block(it.source));
            let is_sent = source.is_some_and(|it| it.form != Form::Gone);
            let Some(entry) = entry_of(&self.found, id).filter(|_| !is_sent) else { continue };
            let (label, line) = parts(entry);
            let mut cost = cost_of_line(line, measure);
            if !chosen.iter().any(|it| parts(it).0 == label) {
                cost = cost.saturating_add(measure(label).max(LEAST_LABEL));
            }
            if cost <= left && !chosen.iter().any(|it| parts(it).1 == line) {
                left = left.saturating_sub(cost);
                chosen.push(entry.into());
            }
        }
        chosen
    }
}

/// The newest entry of an identifier, where they are in the order of these.
pub(in crate::context) fn entry_of(found: &[(u32, String)], id: u32) -> Option<&str> {
    let end = found.partition_point(|(known, _)| *known <= id);
    let (known, entry) = found.get(end.checked_sub(1)?)?;
    (*known == id).then_some(entry)
}
