//! Compressions that set the history anew: what was left out, and where the messages that stayed are among all.

use super::file::{CompactionRecord, SessionFile};

/// A compression: the history was set anew, without some of its messages.
pub(super) struct Fold {
    /// How many messages came before it.
    pub(super) after: usize,
    pub(super) record: CompactionRecord,
    /// The messages that stayed.
    pub(super) kept: Vec<usize>,
}

/// Writes so many messages with `write`, which may write none or several of the file's, and where they were folded.
pub(super) fn write_all(
    messages: usize,
    folds: Vec<Fold>,
    file: &mut SessionFile,
    write: &dyn Fn(usize, &mut SessionFile),
) {
    let mut spans = Vec::with_capacity(messages);
    let mut folds = folds.into_iter().peekable();
    for place in 0..messages {
        while let Some(fold) = folds.next_if(|fold| fold.after <= place) {
            file.compactions.push(fold.placed(&spans, file.len()));
        }
        let from = file.len();
        write(place, file);
        spans.push([from, file.len()]);
    }
    for fold in folds {
        file.compactions.push(fold.placed(&spans, file.len()));
    }
}

impl Fold {
    /// Where the messages that stayed are in the file.
    fn placed(mut self, spans: &[[u32; 2]], before: u32) -> CompactionRecord {
        let record = &mut self.record;
        (record.at, record.first_kept_index) = (before, before);
        for [from, to] in self.kept.iter().filter_map(|place| spans.get(*place).copied()) {
            match record.kept.last_mut() {
                Some([_, end]) if *end == from => *end = to,
                _ if from == to => {}
                _ => record.kept.push([from, to]),
            }
        }
        if let Some([from, _]) = record.kept.pop_if(|[_, end]| *end == before) {
            record.first_kept_index = from;
        }
        self.record
    }
}
