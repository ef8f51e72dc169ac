//! The request: what is sent of each message, and how it differs from the last one.

pub(in crate::context) mod about;
pub(in crate::context) mod alternation;
pub(in crate::context) mod answer;
pub(in crate::context) mod apply;
pub(in crate::context) mod bound_thinking;
pub(in crate::context) mod build_request;
pub(in crate::context) mod builder;
pub(in crate::context) mod cache_markers;
pub(in crate::context) mod edits;
pub(in crate::context) mod keep_lines;
pub(in crate::context) mod last_request;
pub(in crate::context) mod lines;
pub(in crate::context) mod markers;
pub(in crate::context) mod outgoing;
pub(in crate::context) mod output_cap;
pub(in crate::context) mod pins;
pub(in crate::context) mod placeholders;
pub(in crate::context) mod provider_limits;
pub(in crate::context) mod recall;
pub(in crate::context) mod request_checks;
pub(in crate::context) mod request_extras;
pub(in crate::context) mod shorten;
pub(in crate::context) mod synthetic;
pub(in crate::context) mod unchanged_start;
pub(in crate::context) mod view;
pub(in crate::context) mod written;

pub use crate::context::session::{estimator_of, extras, options_of};
pub use answer::{Answer, Event};
pub use apply::{Applied, READ as APPLY_READS, apply};
pub use edits::Edit;
pub use output_cap::cap_output;
pub use request_extras::{Parts, Plan, system_text};
pub use written::Written;
