//! Reports: sizes, reasons and figures of a session, read and never changed.

pub(super) mod breakdown;
pub(super) mod estimate;
pub(super) mod explain;
pub(super) mod floor;
pub(super) mod monitor;
pub(super) mod status;

pub use breakdown::{Bucket, Listed};
pub use estimate::{BudgetCheck, ByKind, Estimate};
pub use explain::{Explanation, Since};
pub use status::{Status, Window};
