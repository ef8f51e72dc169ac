//! Text as bytes: pair weights, identifiers, secrets, cuts. Knows nothing of messages.

mod cut;
mod graphemes;
mod identifiers;
mod labelled_secrets;
mod labels;
mod leaves;
mod lines;
mod logins;
pub mod pairs;
mod patterns;
mod redact;
mod scan;
mod secret_forms;
mod secrets;
mod terminal;
// Without vectors of bytes it is slower than the walk, and stands for those with them in its tests.
#[cfg(any(test, all(target_arch = "wasm32", target_feature = "simd128")))]
mod windows;

pub use cut::{
    Cut, char_count_of, head_tail, line_end_before, prefix, suffix, utf16_len, utf16_len_of,
};
pub use graphemes::{ceil_grapheme, floor_grapheme};
pub use identifiers::identifiers;
pub use labelled_secrets::{end_of_key, first_private_key};
pub use labels::is_value_of;
pub use leaves::leaves;
pub use lines::{Quote, identifier_lines};
pub use redact::{is_secret, redact, redact_each};
pub use terminal::plain;
