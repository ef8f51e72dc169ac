//! Model of plan, commit and save: three gateways drive one session on one store, with every order of their steps.
//!
//! A step is what runs without a pause: between two steps another gateway may work, or the process may be killed.
//!
//! | step | code |
//! |---|---|
//! | `Plan`, `Carry` | `src/context/compaction/plan.rs`, `commit.rs`, and `cut_of_base` in `folds.rs` |
//! | `Save`, `Hear`, `Lose`, `Merge` | `js/store/commits.ts`; `Session::merged` is `src/context/session/snapshot/merge.rs` |
//! | `Take`, `Write`, `Steal` | `js/store/file.ts` and `lock.ts`: a record is compared and replaced under a lock |
//!
//! Messages are the host's, and every gateway gets the same ones, so the model has none: a compaction is its cut. All messages before
//! the cut are gone, and stand in the summary.

mod properties;
mod protocol;
mod session;

pub use protocol::{Protocol, Steps};
