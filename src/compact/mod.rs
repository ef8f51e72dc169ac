//! Compaction by a host's own summarizer, as a state machine: it is given flat messages and figures, says what to ask, judges what
//! is answered, and ends with a summary, an extract, or a reason. It knows no message format, no session and no policy.
//!
//! Way of a message: `flat` (secrets out, structure out, cut to its cap) -> `task` (which call it is in) -> `prompt` (fenced) ->
//! the host's summarizer -> `verify` -> merged, or done. `job` is the machine; `local` is what stands in where nothing helps.

mod checkpoint;
mod chunk;
mod fault;
mod flat;
mod inert;
mod job;
mod language;
mod local;
mod options;
mod outcome;
mod overflow;
mod prompt;
mod read_options;
mod signs;
mod task;
mod template;
mod verify;

pub use checkpoint::{Earlier, checkpoint_due, checkpoint_taken};
pub use job::Compaction;
pub use overflow::is_context_overflow;
pub use read_options::{SUMMARY, check_summary};
