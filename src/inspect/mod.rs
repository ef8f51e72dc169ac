//! Report on a session, and its rendering as text.

mod near;
mod render;
mod report;
mod sections;
#[cfg(test)]
mod tests;

pub use near::nearest;
pub use render::{Look, render_detail, render_list};
pub use report::report;
