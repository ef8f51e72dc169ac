//! What a session is, for whoever looks at it: one report, and how it is shown.

mod near;
mod render;
mod report;
mod sections;
#[cfg(test)]
mod tests;

pub use near::nearest;
pub use render::{Look, render_detail, render_list};
pub use report::report;
