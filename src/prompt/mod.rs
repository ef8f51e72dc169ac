//! The system prompt: sections under a budget of characters, shaped by what the request is about.
//!
//! Whatever is included stands in the prompt in a fixed order and unchanged, or cut once; what is cut and what goes is
//! decided by priority, and the report says for each section why, and from which budget on it would be whole.

mod aceclaw;
mod assemble;
mod boost;
mod budget;
pub mod calls;
pub mod crossing;
mod memory;
mod rule;
mod section;
mod tier;
mod tools;
mod truncate;
mod workspace;

pub use aceclaw::{base_priority, known_keys};
pub use assemble::{Options, Plan, Report, assemble};
pub use boost::{Boost, boost};
pub use budget::Budget;
pub use memory::{Locale, build_context, compress};
pub use rule::{Rule, match_rules};
pub use section::{Order, Protect, Section};
pub use tier::{TierFile, memory_tiers, tier_names};
pub use tools::{descriptions, trim_descriptions};
pub use truncate::{Split, Truncated, truncate};
pub use workspace::{task_focus, workspace_sections};
