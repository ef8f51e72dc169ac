//! The heart: one session, from the host's bytes to the request that is sent.

mod budget;
mod compaction;
mod options;
mod report;
mod request;
mod session;
mod status_line;
#[cfg(test)]
mod tests;
mod transcript;
#[cfg(test)]
mod wire_tests;

pub use budget::context_budget;
pub use compaction::{Compacted, FlushPrompt, Flushed, Folded, Outcome};
pub use options::Options;
pub use report::{
    Bucket, BudgetCheck, ByKind, Estimate, Explanation, Listed, Since, Status, Window,
};
pub use request::{
    APPLY_READS, Answer, Applied, Edit, Event, Parts, Plan, Written, apply, cap_output, system_text,
};
pub use session::{
    AgentReply, Alignment, Append, Call, Counters, Recall, Recording, Replay, Session, Share,
    Shared, Step, Totals, agent_tools, history_limit,
};
