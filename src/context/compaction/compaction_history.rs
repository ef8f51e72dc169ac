//! Compaction history: the last compactions, the one that no request has reported yet, and the limit after a refusal.

use crate::context::compaction::ceiling::Ceiling;
use crate::context::compaction::flush::Flush;
use crate::context::compaction::guard::Guard;
use crate::context::session::snapshot::bytes::{Reader, Writer};
use crate::extract::Extracted;
use crate::json;
use crate::model::{BlockId, MessageId};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::context) struct Compactions {
    pub guard: Guard,
    /// The last one.
    pub last: Option<Record>,
    /// It was carried out, and no request has told of it yet: tokens of the request before, and after.
    pub unreported: Option<(u64, u64)>,
    /// Which notes were asked for. Its bytes stand at the end of a snapshot, apart from the others.
    pub flush: Flush,
    /// While a provider's refusal limits requests.
    pub limit: Option<Ceiling>,
    /// Requests in a row that it refused, and the call at which.
    pub refusals: (u32, u32),
    /// The host calls the next message a summary.
    pub adopts: bool,
    /// A summarizer may be asked before a fold is carried out.
    pub asks: bool,
    /// Blocks that went without a summary where one was wanted, as [from, to); and how often one was asked for in vain since.
    pub wanting: Vec<(BlockId, BlockId)>,
    pub tries: u32,
    /// What the job engine keeps of checkpoints: text of its own, empty before the first.
    pub checkpoints: String,
    /// What goes by the last plan or fold, and what was found in it as far as its texts have come.
    pub going: Vec<BlockId>,
    pub found: Extracted,
    /// The newest of them, the last at the end. Not in a snapshot.
    pub recent: Vec<Compacted>,
}

json::json_struct! {
    /// A compaction with the sizes of the request before and after it. What it says is there of the last one alone: the summary
    /// of a later one stands for those before it.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Compacted {
        /// What it came to.
        pub fold: Folded as "*",
        /// Tokens of the request before.
        pub tokens_before: u64,
        /// Tokens of the request with it.
        pub tokens_after: u64,
    }
}

/// A compaction that was carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::context) struct Record {
    pub id: String,
    pub at_ms: i64,
    pub degraded: bool,
    /// What the summary was to hold and does not.
    pub lost: Vec<String>,
    pub found: Extracted,
}

/// Ids of records sort as the compactions came, also within a millisecond (F128).
pub(in crate::context) fn record_id(at_ms: i64, folds: Option<u32>) -> String {
    format!("{:013}_{:06}", at_ms.max(0), folds.unwrap_or(0))
}

/// Bytes of each list of a record in a snapshot; the oldest entries go first.
/// They keep a parked session small, however much its compactions have found.
const LIST: usize = 1000;

impl Compactions {
    /// Without what is known of a history that is another now.
    pub(in crate::context) fn of_another(self) -> Self {
        Self { guard: self.guard, limit: self.limit, recent: self.recent, ..Self::default() }
    }

    pub(in crate::context) fn write(&self, out: &mut Writer) {
        self.guard.write(out);
        out.perhaps(self.unreported.map(|(before, _)| before));
        out.perhaps(self.unreported.map(|(_, after)| after));
        Ceiling::write(self.limit, out);
        out.number(self.tries.into());
        out.number(self.wanting.len() as u64);
        for (from, to) in &self.wanting {
            out.number((*from).into());
            out.number((*to).into());
        }
        out.text(&self.checkpoints);
        out.number(self.last.is_some().into());
        if let Some(last) = &self.last {
            out.text(&last.id);
            out.number(u64::try_from(last.at_ms).unwrap_or(0));
            out.number(last.degraded.into());
            let found = &last.found;
            let lists = [&found.modified_files, &found.read_files, &found.commands, &found.errors];
            for list in lists.into_iter().chain([&last.lost]) {
                let kept = newest(list);
                out.number(kept.len() as u64);
                for text in kept {
                    out.text(text);
                }
            }
        }
    }

    pub(in crate::context) fn of(reader: &mut Reader<'_>) -> Self {
        let guard = Guard::of(reader);
        let unreported = reader.perhaps().zip(reader.perhaps());
        let limit = Ceiling::read(reader);
        let tries = reader.small();
        let wanting =
            (0..reader.count()).map(|_| (reader.small().into(), reader.small().into())).collect();
        let checkpoints = reader.text().into();
        let last = reader.flag().then(|| {
            let id = reader.text().into();
            let at_ms = i64::try_from(reader.number()).unwrap_or(0);
            let degraded = reader.flag();
            let mut list = || (0..reader.count()).map(|_| reader.text().into()).collect();
            let (modified_files, read_files) = (list(), list());
            let found = Extracted {
                modified_files,
                read_files,
                commands: list(),
                errors: list(),
                ..Extracted::default()
            };
            Record { id, at_ms, degraded, lost: list(), found }
        });
        Self { guard, last, unreported, limit, wanting, tries, checkpoints, ..Self::default() }
    }
}

impl Folded {
    pub(in crate::context) fn without_texts(mut self) -> Self {
        (self.head, self.summary, self.identifiers) = Default::default();
        let found = &mut self.extracted;
        let lists = [
            &mut found.modified_files,
            &mut found.read_files,
            &mut found.commands,
            &mut found.errors,
        ];
        for list in lists.into_iter().chain([&mut self.lost]) {
            *list = newest(list).to_vec();
        }
        self
    }
}

/// The last entries of a list that have room in a snapshot.
fn newest(list: &[String]) -> &[String] {
    let mut room = LIST;
    let fits = |text: &&String| {
        let rest = room.checked_sub(text.len());
        room = rest.unwrap_or(0);
        rest.is_some()
    };
    let kept = list.iter().rev().take_while(fits).count();
    list.get(list.len().saturating_sub(kept)..).unwrap_or_default()
}

json::json_struct! {
    /// A fold: what stands before `first_kept` is replaced by a head, except `kept`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Folded {
        /// Sorts as the compactions came.
        pub id: String,
        /// When it was carried out.
        pub at: i64,
        /// First message that is kept as it is.
        pub first_kept: MessageId,
        /// Messages before it of which something stays, as [from, to).
        pub kept: Vec<(MessageId, MessageId)>,
        /// What stands for the rest.
        pub head: String,
        /// The summary in it; empty: it has none.
        pub summary: String,
        /// The identifiers of its digest.
        pub identifiers: Vec<String>,
        /// What is known of files, commands and errors.
        pub extracted: Extracted,
        /// What the summary was to hold and does not.
        pub lost: Vec<String>,
        /// There was to be a summary by the host's summarizer, and there is none.
        pub degraded: bool,
    }
}
