//! The request: what is sent of each message, and how it differs from the last one.

pub(super) mod alternation;
mod apply;
pub(super) mod bound_thinking;
pub(super) mod edits;
pub(super) mod markers;
mod output_cap;
pub(super) mod placeholders;
mod provider_limits;
pub(super) mod request_extras;
pub(super) mod response;
pub(super) mod shorten;
pub(super) mod synthetic;
pub(super) mod view;

pub use apply::{Applied, READ as APPLY_READS, apply};
pub use edits::Edit;
pub use output_cap::cap_output;
pub use request_extras::{Parts, Plan, system_text};
pub use response::{Answer, Event};
pub use view::Written;
