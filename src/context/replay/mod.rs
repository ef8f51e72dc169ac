//! Sessions of a file: as their agent sent them (`recorded`), and as a policy would send them (`played`).

mod as_sent;
mod at_call;
mod find;
mod layers;
mod message_changes;
mod played;
mod recorded;
mod recorded_view;
mod recording;
mod retention;
mod summarized;
mod usage_fit;

pub use at_call::AtCall;
pub use find::Found;
pub use layers::Layers;
pub use message_changes::MessageChange;
pub use played::{Call, CallEvent, Replay, Totals};
pub use recorded::{Recorded, SentCall, UsageFit};
pub use recorded_view::RecordedView;
pub use recording::{Recording, Unreadable};
pub use retention::{Retention, Share};
