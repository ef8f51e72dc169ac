//! The heart: one session, from the host's bytes to the view that is sent.

mod agent;
mod answer;
mod bound;
mod budget;
mod calibration;
mod commit;
mod compactions;
mod counter;
mod estimate;
mod explain;
mod flush;
mod guard;
mod history;
mod inventory;
mod limits;
mod lines;
mod made;
mod measure;
mod monitor;
mod options;
mod parts;
mod pins;
mod plan;
mod recall;
mod replay;
mod shorten;
mod snapshot;
mod state;
mod status;
mod step;
#[cfg(test)]
mod tests;
mod tiers;
mod turns;
mod view;
#[cfg(test)]
mod wire_tests;

pub use agent::{Told, agent_tools};
pub use answer::{Answer, Edit, Event, Folded, Outcome};
pub use budget::context_budget;
pub use compactions::Compacted;
pub use estimate::{BudgetCheck, ByKind, Estimate};
pub use explain::{Explanation, Since};
pub use flush::{FlushPrompt, Flushed};
pub use history::{Shared, history_limit};
pub use inventory::{Bucket, Listed};
pub use options::Options;
pub use parts::{Parts, Plan, system_text};
pub use recall::{Recall, Share};
pub use replay::{Call, Recording, Replay, Totals};
pub use state::{Counters, Pushed, State};
pub use status::{Status, Window};
pub use step::Step;
pub use view::Written;
