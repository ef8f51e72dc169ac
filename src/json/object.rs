//! Object read member by member: names in their own order, values left unread.

use std::borrow::Cow;
use std::ops::Deref;

use super::reader::{RawValue, Read, Reader};
use super::{lossy_string, string};

/// Members of an object in their own order, each left unread.
///
/// # Example
/// ```
/// use plimsoll::json::Object;
/// let object = Object::read(r#"{"a":1,"b":null,"a":[2]}"#)?;
/// assert_eq!((object.get("a"), object.get("b"), object.raw("b")), (Some("[2]"), None, Some("null")));
/// # Ok::<(), plimsoll::json::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Object<'a> {
    /// Reads an object.
    ///
    /// # Errors
    /// Says what is not JSON, or not an object.
    pub fn read(json: &'a str) -> Read<Self> {
        let mut reader = Reader::new(json);
        if reader.peek() != Some(b'{') {
            return Err(reader.wrong("an object"));
        }
        let mut object = Self::default();
        object.collect(&mut reader, true)?;
        Ok(object)
    }

    /// Reads an object of a file, and how many levels it has: lone surrogates in names become U+FFFD, and the members before a
    /// fault are kept beside it.
    pub fn read_lossy(json: &'a str) -> (Self, Read<usize>) {
        let mut object = Self::default();
        let mut reader = Reader::new(json);
        let read = if reader.peek() == Some(b'{') {
            object.collect(&mut reader, false)
        } else {
            Err(reader.wrong("a JSON object"))
        };
        (object, read.map(|()| reader.levels().saturating_add(1)))
    }

    /// The same, without the fault: a value that is no object has no members.
    pub fn of(json: &'a str) -> Self {
        Self::read_lossy(json).0
    }

    fn collect(&mut self, reader: &mut Reader<'a>, strict: bool) -> Read<()> {
        reader.enter();
        while reader.more(self.0.is_empty(), b'}')? {
            let key = if strict { reader.key()? } else { reader.lossy_key()? };
            self.0.push((key, reader.raw()?));
        }
        reader.end()
    }

    /// Adds the members of another object, which win over members of the same name here.
    pub fn overlay(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The member; of two with one name the last, as in JavaScript.
    pub fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// The member, unless it is `null`.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.raw(name).filter(|value| *value != "null")
    }

    /// The member, if it is a string that is valid Unicode.
    pub fn string(&self, name: &str) -> Option<Cow<'a, str>> {
        self.raw(name).and_then(|value| string(value).ok())
    }

    /// The member, if it is a string; a lone surrogate becomes U+FFFD.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.raw(name).and_then(lossy_string)
    }

    /// The member is a string equal to this.
    pub fn is(&self, name: &str, text: &str) -> bool {
        self.text(name).is_some_and(|found| found == text)
    }

    /// The member is `true`.
    pub fn flag(&self, name: &str) -> bool {
        self.raw(name) == Some("true")
    }

    /// The member, if it is a number of 0 or more; its fraction is cut off.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.raw(name).and_then(unsigned)
    }

    /// The member is there, be it `null`.
    pub fn has(&self, name: &str) -> bool {
        self.raw(name).is_some()
    }

    /// The member, if it is an object.
    pub fn object(&self, name: &str) -> Option<Self> {
        self.raw(name).filter(|value| value.starts_with('{')).map(Self::of)
    }

    /// The items of the member; none if it is no array.
    pub fn items(&self, name: &str) -> Vec<&'a RawValue> {
        self.raw(name).and_then(|value| super::items(value).ok()).unwrap_or_default()
    }
}

/// Places of an object's members in its text, so that text and members can be kept side by side.
#[derive(Clone, Debug)]
pub struct Places(Box<[(Name, [usize; 2])]>);

/// A name: where it stands, or as it reads if it has escapes.
#[derive(Clone, Debug)]
enum Name {
    At([usize; 2]),
    Own(Box<str>),
}

impl Places {
    /// Where the members of an object stand in the text that it was read from.
    pub fn of(object: &Object<'_>, json: &str) -> Self {
        let start = json.as_ptr().addr();
        let place = |part: &str| {
            let from = part.as_ptr().addr().saturating_sub(start);
            [from, from.saturating_add(part.len())]
        };
        let name = |name: &Cow<'_, str>| match name {
            Cow::Borrowed(name) => Name::At(place(name)),
            Cow::Owned(name) => Name::Own(name.as_str().into()),
        };
        Self(object.0.iter().map(|(key, value)| (name(key), place(value))).collect())
    }

    /// The object again, read from nothing but the places.
    pub fn object<'a>(&'a self, json: &'a str) -> Object<'a> {
        let at = |[from, to]: &[usize; 2]| json.get(*from..*to).unwrap_or_default();
        let members = self.0.iter().map(|(name, value)| match name {
            Name::At(place) => (Cow::Borrowed(at(place)), at(value)),
            Name::Own(name) => (Cow::Borrowed(&**name), at(value)),
        });
        Object(members.collect())
    }
}

impl<'a> Deref for Object<'a> {
    type Target = [(Cow<'a, str>, &'a RawValue)];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a> IntoIterator for Object<'a> {
    type Item = (Cow<'a, str>, &'a RawValue);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// A number of 0 or more; its fraction is cut off.
pub fn unsigned(raw: &RawValue) -> Option<u64> {
    raw.split('.').next()?.parse().ok()
}

/// The members of an object in their own order, left unread.
///
/// # Errors
/// Says what is not JSON, or not an object.
pub fn members(json: &str) -> Read<Vec<(Cow<'_, str>, &RawValue)>> {
    Object::read(json).map(|object| object.0)
}
