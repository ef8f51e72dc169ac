//! Candidates: what an agent might have learned, before it is let into a prompt.
//!
//! An observation becomes a candidate, or evidence for one that is much the same. Gates decide by its evidence when it is promoted;
//! from then on it may stand in the prompt, and what comes of it keeps or demotes it. What an untrusted source says is kept
//! apart, and only the host can promote it. A file of candidates is signed line by line, so that what was changed is seen.
//!
//! After `AceClaw` (A92-A96); where this differs it says so.

mod calls;
mod entry;
mod file;
mod gates;
mod index;
mod record;
mod section;
mod sign;
mod similarity;
mod state;
mod store;

pub use entry::{Candidate, Evidence, Observation, Outcome};
pub use file::{Loaded, Loading, Rejected, Saving};
pub use gates::Gates;
pub use section::{Limits, Rendered};
pub use sign::Key;
pub use state::{Kind, State};
pub use store::{Change, Code, Store, Transition};

#[cfg(test)]
mod tests;
