//! How an error goes over: JSON `{"info": ..., "message": ...}`, thrown as a string.

use serde::Serialize;
use wasm_bindgen::JsValue;

use crate::error::Error;

#[derive(Serialize)]
struct Thrown<'a> {
    info: &'a Error,
    message: String,
}

impl From<Error> for JsValue {
    fn from(error: Error) -> Self {
        let thrown = Thrown { message: error.to_string(), info: &error };
        // Strings and numbers only: writing them cannot fail, and if it did, the empty text is no valid error either.
        Self::from_str(&serde_json::to_string(&thrown).unwrap_or_default())
    }
}
