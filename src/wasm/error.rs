//! Errors for JavaScript: JSON `{"info": ..., "message": ...}`, thrown as a string.

use wasm_bindgen::JsValue;

use crate::error::Error;
use crate::json;

impl From<Error> for JsValue {
    fn from(error: Error) -> Self {
        Self::from_str(&thrown(&error))
    }
}

/// An error as `js/core/errors.ts` reads it.
pub(super) fn thrown(error: &Error) -> String {
    let mut thrown = String::new();
    // The facade knows which of the options a misspelt one is nearest to.
    let members: &[(&str, &dyn json::Write)] =
        &[("info", error), ("message", &error.to_string()), ("known", &error.known_options())];
    json::object(members, &mut thrown);
    thrown
}
