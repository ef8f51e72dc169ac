//! Report of a session, for whatever shows one.

mod report;
mod sections;
#[cfg(test)]
mod tests;

pub use report::report;
