//! How an error goes over: JSON `{"info": ..., "message": ...}`, thrown as a string.

use wasm_bindgen::JsValue;

use crate::error::Error;
use crate::json;

impl From<Error> for JsValue {
    fn from(error: Error) -> Self {
        let mut thrown = String::new();
        json::object(&[("info", &error), ("message", &error.to_string())], &mut thrown);
        Self::from_str(&thrown)
    }
}
