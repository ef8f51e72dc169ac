//! Objects of JSON read by a table: which members are read, and as what. One reader serves all forms, where a derived one
//! for each would cost kilobytes of Wasm a piece.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;

/// The form of an object.
pub struct Shape {
    /// What an object of this form is called where there is something else.
    pub what: &'static str,
    /// The members that are read.
    pub members: &'static [Member],
    /// No other members are allowed; otherwise they are passed over.
    pub closed: bool,
}

/// A member that is read.
pub struct Member {
    name: &'static str,
    want: Want,
    must: bool,
}

/// What a member must be.
#[derive(Clone, Copy)]
pub enum Want {
    /// A string.
    Text,
    /// `true` or `false`.
    Flag,
    /// Any number.
    Number,
    /// An integer.
    Integer,
    /// Anything, left unread.
    Raw,
    /// An array, its items left unread.
    Items,
    /// A string, or an array with its items left unread.
    Content,
}

/// A member that must be there.
pub const fn must(name: &'static str, want: Want) -> Member {
    Member { name, want, must: true }
}

/// A member that may be missing or `null`.
pub const fn may(name: &'static str, want: Want) -> Member {
    Member { name, want, must: false }
}

/// A string that borrows from the JSON where it has no escapes.
#[derive(serde::Deserialize)]
#[serde(transparent)]
pub struct Str<'a>(#[serde(borrow)] pub Cow<'a, str>);

/// Content as messages have it. Blocks are left unread, so that unknown ones are kept as they stand.
pub enum Content<'a> {
    /// A string.
    Text(Cow<'a, str>),
    /// Blocks.
    Blocks(Vec<&'a RawValue>),
}

enum Value<'a> {
    Text(Cow<'a, str>),
    Flag(bool),
    Number(f64),
    Integer(i64),
    Raw(&'a RawValue),
    Content(Content<'a>),
}

/// The members that were read; each is taken out once.
///
/// # Example
/// ```
/// use plimsoll::json::{Shape, Want, may, must};
/// const CALL: Shape =
///     Shape { what: "a call", members: &[must("id", Want::Text), may("at", Want::Integer)], closed: false };
/// let mut call = CALL.read(r#"{"id":"a","other":1}"#)?;
/// assert_eq!((&*call.text("id").unwrap_or_default(), call.integer("at")), ("a", None));
/// assert!(CALL.read(r#"{"id":null}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Default)]
pub struct Members<'a>(Vec<(&'static str, Value<'a>)>);

impl Shape {
    /// Reads an object of this form.
    ///
    /// # Errors
    /// What `serde_json` says of what is not JSON, not an object, or has a member that is not as it must be.
    pub fn read<'a>(&self, json: &'a str) -> Result<Members<'a>, serde_json::Error> {
        let mut reader = serde_json::Deserializer::from_str(json);
        let members = self.deserialize(&mut reader)?;
        reader.end()?;
        Ok(members)
    }
}

impl<'a> Members<'a> {
    fn take<T>(&mut self, name: &str, as_wanted: impl FnOnce(Value<'a>) -> Option<T>) -> Option<T> {
        let at = self.0.iter().position(|(known, _)| *known == name)?;
        as_wanted(self.0.swap_remove(at).1)
    }

    /// Anything, left for who takes it.
    pub fn peek(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find_map(|(known, value)| match value {
            Value::Raw(raw) if *known == name => Some(*raw),
            _ => None,
        })
    }

    /// A string, left for who takes it.
    pub fn said(&self, name: &str) -> Option<&str> {
        self.0.iter().find_map(|(known, value)| match value {
            Value::Text(text) if *known == name => Some(&**text),
            _ => None,
        })
    }

    /// A string.
    pub fn text(&mut self, name: &str) -> Option<Cow<'a, str>> {
        self.take(name, |value| if let Value::Text(text) = value { Some(text) } else { None })
    }

    /// `true` or `false`.
    pub fn flag(&mut self, name: &str) -> Option<bool> {
        self.take(name, |value| if let Value::Flag(flag) = value { Some(flag) } else { None })
    }

    /// A number.
    pub fn number(&mut self, name: &str) -> Option<f64> {
        self.take(name, |value| if let Value::Number(number) = value { Some(number) } else { None })
    }

    /// An integer.
    pub fn integer(&mut self, name: &str) -> Option<i64> {
        self.take(name, |value| if let Value::Integer(whole) = value { Some(whole) } else { None })
    }

    /// Anything.
    pub fn raw(&mut self, name: &str) -> Option<&'a RawValue> {
        self.take(name, |value| if let Value::Raw(raw) = value { Some(raw) } else { None })
    }

    /// A string or blocks.
    pub fn content(&mut self, name: &str) -> Option<Content<'a>> {
        self.take(name, |value| if let Value::Content(it) = value { Some(it) } else { None })
    }

    /// The items of an array.
    pub fn items(&mut self, name: &str) -> Option<Vec<&'a RawValue>> {
        self.content(name).and_then(|content| match content {
            Content::Blocks(items) => Some(items),
            Content::Text(_) => None,
        })
    }
}

impl<'de> DeserializeSeed<'de> for &Shape {
    type Value = Members<'de>;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Members<'de>, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &Shape {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut read = Vec::with_capacity(self.members.len());
        let mut seen = 0u32;
        while let Some(Str(key)) = map.next_key()? {
            let mut numbered = (0u32..).zip(self.members);
            let Some((number, member)) = numbered.find(|(_, member)| member.name == key) else {
                if self.closed {
                    return Err(self.unknown(&key));
                }
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let bit = 1u32.wrapping_shl(number);
            if seen & bit != 0 {
                return Err(A::Error::duplicate_field(member.name));
            }
            seen |= bit;
            if let Some(value) = map.next_value_seed(Slot(member))? {
                read.push((member.name, value));
            }
        }
        let mut musts = self.members.iter().filter(|member| member.must);
        match musts.find(|member| !read.iter().any(|(name, _)| *name == member.name)) {
            Some(missing) => Err(A::Error::missing_field(missing.name)),
            None => Ok(Members(read)),
        }
    }
}

impl Shape {
    fn unknown<E: Error>(&self, key: &str) -> E {
        let names: Vec<_> = self.members.iter().map(|it| format!("`{}`", it.name)).collect();
        E::custom(format!("unknown field `{key}`, expected one of {}", names.join(", ")))
    }
}

/// Where a member's value is read.
struct Slot<'f>(&'f Member);

impl<'de> DeserializeSeed<'de> for Slot<'_> {
    type Value = Option<Value<'de>>;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        if self.0.must { self.visit_some(from) } else { from.deserialize_option(self) }
    }
}

impl<'de> Visitor<'de> for Slot<'_> {
    type Value = Option<Value<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        Ok(Some(match self.0.want {
            Want::Text => Value::Text(Str::deserialize(from)?.0),
            Want::Flag => Value::Flag(bool::deserialize(from)?),
            Want::Number => Value::Number(f64::deserialize(from)?),
            Want::Integer => Value::Integer(i64::deserialize(from)?),
            Want::Raw => Value::Raw(<&RawValue>::deserialize(from)?),
            Want::Items => Value::Content(Content::Blocks(Vec::deserialize(from)?)),
            Want::Content => Value::Content(Content::deserialize(from)?),
        }))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Content<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array of blocks")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Owned(text.into())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = seq.next_element()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }
        }
        from.deserialize_any(Either)
    }
}
