//! Compaction: what a fold would do, carried out or refused, and what is remembered of it.

pub(super) mod ceiling;
mod commit;
pub(super) mod compaction_history;
pub(super) mod compaction_outcome;
pub(super) mod guard;
pub(super) mod memory_flush;
pub(super) mod plan;

pub use compaction_history::Compacted;
pub use compaction_outcome::{Folded, Outcome};
pub use memory_flush::{FlushPrompt, Flushed};
