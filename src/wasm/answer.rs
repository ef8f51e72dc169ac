//! Answers of calls: one JavaScript value each. The glue of a function that returns several values, or a pointer to them, is long, and
//! V8 compiles code for each signature with several values when it compiles the Wasm.

use js_sys::Error as Refused;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use super::error::thrown;
use crate::error::{Error, Result};

#[wasm_bindgen]
extern "C" {
    /// A text.
    #[wasm_bindgen(typescript_type = "string")]
    pub type Text;
    /// A text, or none.
    #[wasm_bindgen(typescript_type = "string | undefined")]
    pub type PerhapsText;
    /// Yes or no.
    #[wasm_bindgen(typescript_type = "boolean")]
    pub type Flag;
    /// A number.
    #[wasm_bindgen(typescript_type = "number")]
    pub type Number;
    /// A number, or none.
    #[wasm_bindgen(typescript_type = "number | undefined")]
    pub type PerhapsNumber;
    /// A number of 64 bits.
    #[wasm_bindgen(typescript_type = "bigint")]
    pub type LargeNumber;
    /// Bytes.
    #[wasm_bindgen(typescript_type = "Uint8Array<ArrayBuffer>")]
    pub type Bytes;
    /// Bytes, or none.
    #[wasm_bindgen(typescript_type = "Uint8Array<ArrayBuffer> | undefined")]
    pub type PerhapsBytes;
    /// Numbers, or none.
    #[wasm_bindgen(typescript_type = "Uint32Array | undefined")]
    pub type PerhapsNumbers;
    /// It is done.
    #[wasm_bindgen(typescript_type = "void")]
    pub type Nothing;
}

/// A value as it is.
pub(super) fn value<A: JsCast>(value: impl Into<JsValue>) -> A {
    value.into().unchecked_into()
}

/// The value of a result. An error becomes a JavaScript `Error` with its JSON, which `js/core/answered.ts` throws.
pub(super) fn answer<A: JsCast>(result: Result<impl Into<JsValue>>) -> A {
    match result {
        Ok(answer) => value(answer),
        Err(error) => value(refused(&error)),
    }
}

/// A text as it is. One copy of this code, since most answers are texts.
#[inline(never)]
pub(super) fn plain(text: &str) -> Text {
    value(text)
}

/// A text, or an error as `answer` has it.
#[inline(never)]
pub(super) fn text(result: Result<String>) -> Text {
    answer(result)
}

#[inline(never)]
fn refused(error: &Error) -> JsValue {
    Refused::new(&thrown(error)).into()
}

/// No value, or an error.
#[cfg(any(feature = "manager", feature = "compact", feature = "candidates"))]
pub(super) fn done(result: Result<()>) -> Nothing {
    answer(result.map(|()| JsValue::UNDEFINED))
}
