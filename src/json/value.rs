//! JSON written as text, piece by piece: values of ours, and types that say of what members they consist.

use std::borrow::Cow;
use std::fmt;

use litemap::LiteMap;

use crate::bytes::plain_until;

/// Bytes for which room is made at once: a small object fits.
const USUAL: usize = 128;

/// A value of ours: its JSON text.
///
/// # Example
/// ```
/// use plimsoll::json::{Value, json};
/// let value = json!({ "type": "text", "text": "a \"b\"", "cached": false });
/// assert_eq!(value.json(), r#"{"type":"text","text":"a \"b\"","cached":false}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value(Cow<'static, str>);

impl Value {
    /// `null`.
    pub const NULL: Self = Self(Cow::Borrowed("null"));

    /// What is JSON already.
    pub fn raw(json: String) -> Self {
        Self(Cow::Owned(json))
    }

    /// An object with these members.
    pub fn object(members: &[(&str, Self)]) -> Self {
        let mut out = String::with_capacity(USUAL);
        out.push('{');
        for (name, value) in members {
            named(name, value, &mut out);
        }
        out.push('}');
        Self::raw(out)
    }

    /// The same, with the names in one text and a value of any kind for each of them.
    pub fn of(names: &str, values: &[&dyn Write]) -> Self {
        let mut out = String::with_capacity(USUAL);
        out.push('{');
        for (name, value) in names.split(' ').zip(values) {
            named(name, *value, &mut out);
        }
        out.push('}');
        Self::raw(out)
    }

    /// An array of these.
    pub fn array(items: &[Self]) -> Self {
        let items: Vec<&dyn Write> = items.iter().map(|item| item as &dyn Write).collect();
        Self::list(&items)
    }

    /// The same, of values of any kind.
    pub fn list(items: &[&dyn Write]) -> Self {
        let mut out = String::new();
        list(items, &mut out);
        Self::raw(out)
    }

    /// Its JSON text.
    pub fn json(&self) -> &str {
        &self.0
    }

    /// Whether something stands at a JSON Pointer of plain names.
    pub fn has(&self, pointer: &str) -> bool {
        let mut at = self.json();
        for name in pointer.split('/').skip(1) {
            let members = super::members(at).unwrap_or_default();
            let Some((_, inner)) = members.into_iter().find(|(known, _)| known == name) else {
                return false;
            };
            at = inner;
        }
        true
    }

    /// Sets a member of an object, whether it was there or not.
    pub fn set(&mut self, name: &str, value: Self) {
        let members = super::members(&self.0).unwrap_or_default();
        let mut all: Vec<(&str, Self)> = Vec::with_capacity(members.len().saturating_add(1));
        for (known, raw) in &members {
            if known != name {
                all.push((known, Self::raw((*raw).into())));
            }
        }
        all.push((name, value));
        *self = Self::object(&all);
    }

    /// What it says, if it is a string.
    pub fn as_str(&self) -> Option<Cow<'_, str>> {
        super::string(&self.0).ok()
    }
}

impl Default for Value {
    fn default() -> Self {
        Self::NULL
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        let mut out = String::with_capacity(text.len().saturating_add(2));
        quote(text, &mut out);
        Self::raw(out)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self(Cow::Borrowed(if flag { "true" } else { "false" }))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A value of ours, written as JSON is, with expressions for values: `json!({ "type": "text", "text": text, "of": [] })`.
#[macro_export]
#[doc(hidden)]
macro_rules! __json {
    (@ [$($name:literal)*] [$($value:expr,)*]) => {
        $crate::json::Value::of(concat!($($name, " "),*), &[$(&$value),*])
    };
    (@ [$($name:literal)*] [$($done:tt)*] $next:literal : null $(, $($rest:tt)*)?) => {
        $crate::__json!(@ [$($name)* $next] [$($done)* $crate::json::Value::NULL,] $($($rest)*)?)
    };
    (@ [$($name:literal)*] [$($done:tt)*] $next:literal : { $($in:tt)* } $(, $($rest:tt)*)?) => {
        $crate::__json!(@ [$($name)* $next] [$($done)* $crate::__json!({ $($in)* }),] $($($rest)*)?)
    };
    (@ [$($name:literal)*] [$($done:tt)*] $next:literal : [ $($in:tt)* ] $(, $($rest:tt)*)?) => {
        $crate::__json!(@ [$($name)* $next] [$($done)* $crate::__json!([ $($in)* ]),] $($($rest)*)?)
    };
    (@ [$($name:literal)*] [$($done:tt)*] $next:literal : $value:expr $(, $($rest:tt)*)?) => {
        $crate::__json!(@ [$($name)* $next] [$($done)* $value,] $($($rest)*)?)
    };
    ({ $($members:tt)* }) => { $crate::__json!(@ [] [] $($members)*) };
    ([ $({ $($in:tt)* }),+ $(,)? ]) => {
        $crate::json::Value::list(&[$(&$crate::__json!({ $($in)* })),+])
    };
    ([ $($item:expr),* $(,)? ]) => {
        $crate::json::Value::list(&[$(&$item),*])
    };
}
pub use __json as json;

/// Appends text as a string of JSON.
pub fn quote(text: &str, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push('"');
    let mut start = 0;
    loop {
        let end = plain_until(text.as_bytes(), start);
        out.push_str(text.get(start..end).unwrap_or_default());
        let Some(&byte) = text.as_bytes().get(end) else { break };
        out.push('\\');
        let letter = match byte {
            b'\n' => 'n',
            b'\r' => 'r',
            b'\t' => 't',
            0x8 => 'b',
            0xc => 'f',
            b'"' | b'\\' => char::from(byte),
            _ => {
                out.push_str(if byte < 0x10 { "u000" } else { "u001" });
                HEX.get(usize::from(byte & 0xf)).map_or('0', |digit| char::from(*digit))
            }
        };
        out.push(letter);
        start = end.saturating_add(1);
    }
    out.push('"');
}

/// What can be written as JSON.
pub trait Write {
    /// Appends its JSON text.
    fn write(&self, out: &mut String);

    /// It may be left out where a member may.
    fn is_nothing(&self) -> bool {
        false
    }
}

/// The JSON text of a value.
pub fn write(value: &dyn Write) -> String {
    let mut out = String::with_capacity(USUAL);
    value.write(&mut out);
    out
}

/// Appends an object. A name is written in camel case; one that ends in `?` is left out where there is nothing, the
/// members of one that is `*` stand beside the others.
pub fn object(members: &[(&str, &dyn Write)], out: &mut String) {
    out.push('{');
    for (name, value) in members {
        member(name, *value, out);
    }
    out.push('}');
}

/// The same, with the names in one text.
pub fn fields(names: &str, values: &[&dyn Write], out: &mut String) {
    out.push('{');
    for (name, value) in names.split(' ').zip(values) {
        member(name, *value, out);
    }
    out.push('}');
}

fn named(name: &str, value: &dyn Write, out: &mut String) {
    if !out.ends_with('{') {
        out.push(',');
    }
    quote(name, out);
    out.push(':');
    value.write(out);
}

fn member(name: &str, value: &dyn Write, out: &mut String) {
    let optional = name.strip_suffix('?');
    if optional.is_some() && value.is_nothing() {
        return;
    }
    if !out.ends_with('{') {
        out.push(',');
    }
    if name == "*" {
        let inner = write(value);
        let inner = inner.strip_prefix('{').and_then(|inner| inner.strip_suffix('}'));
        out.push_str(inner.unwrap_or_default());
        return;
    }
    out.push('"');
    let name = optional.unwrap_or(name);
    let mut start = 0;
    for (at, _) in name.bytes().enumerate().filter(|(_, byte)| *byte == b'_') {
        out.push_str(name.get(start..at).unwrap_or_default());
        start = at.saturating_add(2);
        if let Some(letter) = name.as_bytes().get(at.saturating_add(1)) {
            out.push(char::from(letter.to_ascii_uppercase()));
        }
    }
    out.push_str(name.get(start..).unwrap_or_default());
    out.push_str("\":");
    value.write(out);
}

/// Implements `Write` for a struct: `impl_json!(Name { field, other, last as "last?" })`, with the names of [`object`].
#[macro_export]
#[doc(hidden)]
macro_rules! __impl_json {
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
    ($type:ty { $($field:ident $(as $name:literal)?),* $(,)? }) => {
        impl $crate::json::Write for $type {
            fn write(&self, out: &mut String) {
                $crate::json::fields(
                    concat!($($crate::__impl_json!(@name $field $($name)?), " "),*),
                    &[$(&self.$field),*],
                    out,
                );
            }
        }
    };
}
pub use __impl_json as impl_json;

/// Declares a struct that is written as JSON, each field under its name or the one after `as`, as [`object`] has them.
///
/// # Example
/// ```
/// plimsoll::json::json_struct! {
///     struct Shown {
///         tool_name: &'static str,
///         path: Option<String> as "path?",
///     }
/// }
/// let shown = Shown { tool_name: "grep", path: None };
/// assert_eq!(plimsoll::json::write(&shown), r#"{"toolName":"grep"}"#);
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! __json_struct {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $($(#[$about:meta])* $field_vis:vis $field:ident: $type:ty $(as $json:literal)?),* $(,)?
        }
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$about])* $field_vis $field: $type),*
        }
        $crate::json::impl_json!($name { $($field $(as $json)?),* });
    };
}
pub use __json_struct as json_struct;

fn list<T: Write>(items: &[T], out: &mut String) {
    out.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        item.write(out);
    }
    out.push(']');
}

impl Write for Value {
    fn write(&self, out: &mut String) {
        out.push_str(&self.0);
    }
}

impl Write for str {
    fn write(&self, out: &mut String) {
        quote(self, out);
    }
}

impl Write for String {
    fn write(&self, out: &mut String) {
        quote(self, out);
    }
}

impl Write for Cow<'_, str> {
    fn write(&self, out: &mut String) {
        quote(self, out);
    }
}

impl Write for bool {
    fn write(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }
}

impl Write for u64 {
    fn write(&self, out: &mut String) {
        if *self >= 10 {
            (*self / 10).write(out);
        }
        let digit = u32::try_from(*self % 10).unwrap_or_default();
        out.push(char::from_digit(digit, 10).unwrap_or('0'));
    }
}

impl Write for usize {
    fn write(&self, out: &mut String) {
        u64::try_from(*self).unwrap_or(u64::MAX).write(out);
    }
}

impl Write for u32 {
    fn write(&self, out: &mut String) {
        u64::from(*self).write(out);
    }
}

impl Write for i64 {
    fn write(&self, out: &mut String) {
        if *self < 0 {
            out.push('-');
        }
        self.unsigned_abs().write(out);
    }
}

impl<T: Write + ?Sized> Write for &T {
    fn write(&self, out: &mut String) {
        (**self).write(out);
    }

    fn is_nothing(&self) -> bool {
        (**self).is_nothing()
    }
}

impl<T: Write> Write for Box<T> {
    fn write(&self, out: &mut String) {
        (**self).write(out);
    }
}

impl<T: Write> Write for Option<T> {
    fn write(&self, out: &mut String) {
        match self {
            Some(value) => value.write(out),
            None => out.push_str("null"),
        }
    }

    fn is_nothing(&self) -> bool {
        self.is_none()
    }
}

impl<T: Write> Write for Vec<T> {
    fn write(&self, out: &mut String) {
        list(self, out);
    }
}

impl<T: Write, const N: usize> Write for [T; N] {
    fn write(&self, out: &mut String) {
        list(self, out);
    }
}

impl<A: Write, B: Write> Write for (A, B) {
    fn write(&self, out: &mut String) {
        list(&[&self.0 as &dyn Write, &self.1], out);
    }
}

impl Write for LiteMap<String, u32> {
    fn write(&self, out: &mut String) {
        out.push('{');
        for (at, (name, value)) in self.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            quote(name, out);
            out.push(':');
            value.write(out);
        }
        out.push('}');
    }
}
