//! Reports: sizes, reasons and figures of a session, read and never changed.

pub(in crate::context) mod breakdown;
pub(in crate::context) mod estimate;
pub(in crate::context) mod explain;
pub(in crate::context) mod floor;
pub(in crate::context) mod monitor;
pub(in crate::context) mod monitor_report;
pub(in crate::context) mod status;

pub use breakdown::{Bucket, Listed};
pub use breakdown::{list_buckets, list_messages};
pub use estimate::{BudgetCheck, ByKind, Estimate};
pub use estimate::{check_budget, check_history, estimate_history, estimate_since_reply};
pub use explain::explain;
pub use explain::{Explanation, Since};
pub use monitor::Counters;
pub use monitor_report::{monitor_report, new_pressure, record_outside};
pub use status::{Status, Window};
pub use status::{status, status_json, window_report};
