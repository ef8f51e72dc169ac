//! The heart: one session, from the host's bytes to the request that is sent.

mod budget;
mod compaction;
mod mode;
mod options;
mod policy_options;
mod replay;
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
pub use compaction::{
    Compacted, FlushPrompt, Flushed, Folded, Outcome, commit_lines, commit_plan, compaction_failed,
    extract_facts, extracted_so_far, flat_message, flush_prompt, list_compactions,
    may_ask_summarizer, plan_checkpoint, plan_compaction, record_refusal, set_checkpoints, warning,
};
pub use mode::{ManagedWindow, Mode};
pub use options::Options;
pub use replay::{
    AtCall, Call, CallEvent, Found, Layers, MessageChange, Recorded, RecordedView, Recording,
    Replay, Retention, SentCall, Share, Totals, Unreadable, UsageFit,
};
pub use report::{
    Bucket, BudgetCheck, ByKind, Counters, Estimate, Explanation, Listed, Since, Status, Window,
    check_budget, check_history, estimate_history, estimate_since_reply, explain, list_buckets,
    list_messages, monitor_report, new_pressure, record_outside, status, status_json,
    window_report,
};
pub use request::{
    APPLY_READS, Answer, Applied, Edit, Event, Parts, Plan, Written, apply, cap_output,
    estimator_of, extras, options_of, system_text,
};
pub use session::{
    AgentReply, Alignment, Append, Appended, KnownMessages, Session, Shared, Step, agent_tools,
    align, append_known, call_agent_tool, content_fingerprint, counted_texts,
    counted_texts_of_extras, forget_messages, history_limit, is_same_message, keeps, last_turns,
    may_send, measures_of, merge_committed, message_count, message_text, next_is_summary,
    offer_known, offer_message, pin_matches, pin_message, pin_text, preset_summary_options,
    recalled_text, referenced_message, renamed_messages, renew_repairs, reread, restore_from,
    returning_messages, set_options, share_turns, snapshot_bytes, snapshot_with, split_measures,
    starts_late, take_counts, truncate, understood, unpaired_before, unpin,
};
pub use status_line::{pressure_hint, status_line_of};
