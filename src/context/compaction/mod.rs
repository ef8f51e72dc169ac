//! Compaction: what a fold would do, carried out or refused, and what is remembered of it.

pub(in crate::context) mod aside;
pub(in crate::context) mod ceiling;
pub(in crate::context) mod checkpoint;
pub(in crate::context) mod commit;
pub(in crate::context) mod compaction_history;
pub(in crate::context) mod compaction_outcome;
pub(in crate::context) mod cool_down;
pub(in crate::context) mod flat_message;
pub(in crate::context) mod flush;
pub(in crate::context) mod folds;
pub(in crate::context) mod guard;
pub(in crate::context) mod memory_flush;
pub(in crate::context) mod plan;
pub(in crate::context) mod summary_chunks;

pub use checkpoint::{plan_checkpoint, set_checkpoints};
pub use commit::{commit_lines, commit_plan, compaction_failed, record_refusal};
pub use compaction_history::Compacted;
pub use compaction_history::Folded;
pub use compaction_outcome::Outcome;
pub use compaction_outcome::list_compactions;
pub use cool_down::{may_ask_summarizer, warning};
pub use flat_message::{extract_facts, extracted_so_far, flat_message};
pub use flush::Flushed;
pub use memory_flush::FlushPrompt;
pub use memory_flush::flush_prompt;
pub use plan::plan_compaction;
