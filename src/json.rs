//! JSON without a tree: objects read by a table (which members are read, and as what), values of ours as text.
//!
//! One reader serves all forms, where a derived one for each would cost kilobytes of Wasm a piece.

mod fill_in;
mod object;
mod reader;
#[cfg(test)]
mod tests;
mod value;

use std::borrow::Cow;

pub use fill_in::{Filled, Source, fill_in};
pub use object::{Object, Places, members, unsigned};
pub use reader::{Error, MOST_LEVELS, RawValue, Read, Reader, is_integer};
pub use value::{Value, Write, fields, impl_json, json, json_struct, object, quote, write};

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
    type_: Type,
    is_required: bool,
}

/// What a member must be.
#[derive(Clone, Copy)]
pub enum Type {
    /// A string.
    Text,
    /// `true` or `false`.
    Flag,
    /// An integer.
    Integer,
    /// Anything, left unread.
    Raw,
    /// An array, its items left unread.
    Items,
    /// What the caller of [`Shape::read_with`] reads it as; for [`Shape::read`] anything, left unread.
    Content,
}

/// Reads a member of type `Content`: [`left_unread`], [`unread_blocks`], or one that calls [`Shape::blocks`].
pub type ReadContent = for<'a> fn(&mut Reader<'a>) -> Read<MemberValue<'a>>;

/// A member that must be there.
pub const fn required(name: &'static str, type_: Type) -> Member {
    Member { name, type_, is_required: true }
}

/// A member that may be missing or `null`.
pub const fn optional(name: &'static str, type_: Type) -> Member {
    Member { name, type_, is_required: false }
}

/// Content as messages have it. Blocks are left unread, so that unknown ones are kept as they stand.
#[derive(Debug)]
pub enum Content<'a> {
    /// A string.
    Text(Cow<'a, str>),
    /// Blocks.
    Blocks(Vec<Item<'a>>),
}

/// An item of an array: its JSON, and its members if they were read.
#[derive(Debug)]
pub struct Item<'a> {
    /// Its JSON.
    pub raw: &'a RawValue,
    read: Option<Members<'a>>,
}

impl<'a> Item<'a> {
    /// An item of which nothing was read.
    pub fn unread(raw: &'a RawValue) -> Self {
        Self { raw, read: None }
    }

    /// Its members. `form` is the one that the array was read by.
    ///
    /// # Errors
    /// Says what is not of that form.
    pub fn members(self, form: &Shape) -> Read<Members<'a>> {
        self.read.map_or_else(|| form.read(self.raw), Ok)
    }

    /// A member that is a string; none if the item was left unread.
    pub fn str(&self, name: &str) -> Option<&str> {
        self.read.as_ref()?.str(name)
    }
}

/// What was read of a member.
#[derive(Debug)]
pub enum MemberValue<'a> {
    /// A string.
    Text(Cow<'a, str>),
    /// `true` or `false`.
    Flag(bool),
    /// An integer.
    Integer(i64),
    /// Anything, left unread.
    Raw(&'a RawValue),
    /// The items of an array, left unread.
    Items(Vec<&'a RawValue>),
    /// A string or blocks.
    Content(Content<'a>),
}

/// The members that were read; each is taken out once.
///
/// # Example
/// ```
/// use plimsoll::json::{Shape, Type, optional, required};
/// const CALL: Shape =
///     Shape { what: "a call", members: &[required("id", Type::Text), optional("at", Type::Integer)], closed: false };
/// let mut call = CALL.read(r#"{"id":"a","other":1}"#)?;
/// assert_eq!((&*call.text("id").unwrap_or_default(), call.integer("at")), ("a", None));
/// assert!(CALL.read(r#"{"id":null}"#).is_err());
/// # Ok::<(), plimsoll::json::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Members<'a>(Vec<(&'static str, MemberValue<'a>)>);

impl Shape {
    /// Reads an object of this form.
    ///
    /// # Errors
    /// Says what is not JSON, not an object, or has a member that is not as it must be.
    pub fn read<'a>(&self, json: &'a str) -> Read<Members<'a>> {
        self.read_with(json.into(), left_unread)
    }

    /// The same of JSON of which some strings are known; `content` reads its members of that type.
    ///
    /// # Errors
    /// As `read`.
    pub fn read_with<'a>(&self, source: Source<'a>, content: ReadContent) -> Read<Members<'a>> {
        let mut reader = Reader::of(source);
        let members = self.next(&mut reader, content)?;
        reader.end()?;
        Ok(members)
    }

    /// Reads the object that comes next.
    fn next<'a>(&self, reader: &mut Reader<'a>, content: ReadContent) -> Read<Members<'a>> {
        if reader.peek() != Some(b'{') {
            return Err(reader.wrong(self.what));
        }
        reader.enter();
        let mut read = Vec::with_capacity(self.members.len());
        let mut seen = 0u32;
        let mut first = true;
        while reader.more(first, b'}')? {
            first = false;
            let key = reader.key()?;
            let mut numbered = (0u32..).zip(self.members);
            let Some((number, member)) = numbered.find(|(_, member)| member.name == key) else {
                if self.closed {
                    return Err(reader.error(self.unknown(&key)));
                }
                reader.raw()?;
                continue;
            };
            let bit = 1u32.wrapping_shl(number);
            if seen & bit != 0 {
                // The last one counts, as for `JSON.parse`, which the host has read the message with.
                read.retain(|(name, _)| *name != member.name);
            }
            seen |= bit;
            if let Some(value) =
                member.read(reader, content).map_err(|error| error.of(member.name))?
            {
                read.push((member.name, value));
            }
        }
        for member in self.members {
            if member.is_required && !read.iter().any(|(name, _)| *name == member.name) {
                return Err(reader.error(format!("missing field `{}`", member.name)));
            }
        }
        Ok(Members(read))
    }

    /// Reads a string, or an array of which the items that are objects of this form are read at once, their own content by `content`:
    /// nothing in them is looked at twice.
    ///
    /// # Errors
    /// Says what is not JSON, or of neither form.
    pub fn blocks<'a>(
        &self,
        reader: &mut Reader<'a>,
        content: ReadContent,
    ) -> Read<MemberValue<'a>> {
        next_content(reader, Some((self, content))).map(MemberValue::Content)
    }

    /// The same; anything else is left unread.
    ///
    /// # Errors
    /// Says what is not JSON.
    pub fn any_blocks<'a>(
        &self,
        reader: &mut Reader<'a>,
        content: ReadContent,
    ) -> Read<MemberValue<'a>> {
        match reader.peek() {
            Some(b'[' | b'"') => self.blocks(reader, content),
            _ => left_unread(reader),
        }
    }

    /// Names of the members that are read.
    pub fn names(&self) -> Vec<&'static str> {
        self.members.iter().map(|member| member.name).collect()
    }

    fn unknown(&self, key: &str) -> String {
        format!("unknown field `{key}`, expected one of {}", listed(&self.names(), "`"))
    }
}

/// Names one after the other, each between these marks.
pub fn listed(names: &[&str], mark: &str) -> String {
    let mut list = String::new();
    for name in names {
        let before = if list.is_empty() { "" } else { ", " };
        for part in [before, mark, name, mark] {
            list.push_str(part);
        }
    }
    list
}

impl Member {
    fn read<'a>(
        &self,
        reader: &mut Reader<'a>,
        content: ReadContent,
    ) -> Read<Option<MemberValue<'a>>> {
        let next = reader.peek();
        if next == Some(b'n') && !self.is_required {
            reader.word()?;
            return Ok(None);
        }
        let value = match (self.type_, next) {
            (Type::Text, Some(b'"')) => MemberValue::Text(reader.string()?),
            (Type::Flag, Some(b't' | b'f')) => MemberValue::Flag(reader.word()? == "true"),
            (Type::Integer, _) => MemberValue::Integer(reader.integer()?),
            (Type::Raw, _) => MemberValue::Raw(reader.raw()?),
            (Type::Content, _) => content(reader)?,
            (Type::Items, _) => MemberValue::Items(reader.items()?),
            (Type::Text, _) => return Err(reader.wrong("a string")),
            (Type::Flag, _) => return Err(reader.wrong("a boolean")),
        };
        Ok(Some(value))
    }
}

impl<'a> Members<'a> {
    fn take<T>(
        &mut self,
        name: &str,
        as_wanted: impl FnOnce(MemberValue<'a>) -> Option<T>,
    ) -> Option<T> {
        let at = self.0.iter().position(|(known, _)| *known == name)?;
        as_wanted(self.0.swap_remove(at).1)
    }

    /// How many there are that nobody has taken.
    pub const fn count(&self) -> usize {
        self.0.len()
    }

    /// Anything, left for who takes it.
    pub fn peek(&self, name: &str) -> Option<&'a RawValue> {
        let (_, value) = self.0.iter().find(|(known, _)| *known == name)?;
        if let MemberValue::Raw(raw) = value { Some(*raw) } else { None }
    }

    /// A string, left for who takes it.
    pub fn str(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(known, _)| *known == name)?;
        if let MemberValue::Text(text) = value { Some(text) } else { None }
    }

    /// A string.
    pub fn text(&mut self, name: &str) -> Option<Cow<'a, str>> {
        self.take(name, |value| if let MemberValue::Text(text) = value { Some(text) } else { None })
    }

    /// `true` or `false`.
    pub fn flag(&mut self, name: &str) -> Option<bool> {
        self.take(name, |value| if let MemberValue::Flag(flag) = value { Some(flag) } else { None })
    }

    /// An integer.
    pub fn integer(&mut self, name: &str) -> Option<i64> {
        self.take(name, |value| {
            if let MemberValue::Integer(integer) = value { Some(integer) } else { None }
        })
    }

    /// Anything.
    pub fn raw(&mut self, name: &str) -> Option<&'a RawValue> {
        self.take(name, |value| if let MemberValue::Raw(raw) = value { Some(raw) } else { None })
    }

    /// A string or blocks.
    pub fn content(&mut self, name: &str) -> Option<Content<'a>> {
        self.take(name, |value| if let MemberValue::Content(it) = value { Some(it) } else { None })
    }

    /// The items of an array, and what was read of them.
    pub fn blocks(&mut self, name: &str) -> Option<Vec<Item<'a>>> {
        self.take(name, |value| match value {
            MemberValue::Content(Content::Blocks(items)) => Some(items),
            MemberValue::Items(items) => Some(items.iter().map(|raw| Item::unread(raw)).collect()),
            MemberValue::Content(Content::Text(_))
            | MemberValue::Text(_)
            | MemberValue::Flag(_)
            | MemberValue::Integer(_)
            | MemberValue::Raw(_) => None,
        })
    }

    /// The items of an array.
    pub fn items(&mut self, name: &str) -> Option<Vec<&'a RawValue>> {
        self.take(name, |value| if let MemberValue::Items(it) = value { Some(it) } else { None })
    }
}

/// A text that is one value of JSON: that value, without the space around it.
///
/// # Errors
/// Says what is not JSON.
pub fn parse(json: &str) -> Read<&RawValue> {
    let mut reader = Reader::new(json);
    let raw = reader.raw()?;
    reader.end()?;
    Ok(raw)
}

/// A string.
///
/// # Errors
/// Says what is not JSON, or not a string.
pub fn string(json: &str) -> Read<Cow<'_, str>> {
    let mut reader = Reader::new(json);
    if reader.peek() != Some(b'"') {
        return Err(reader.wrong("a string"));
    }
    let text = reader.string()?;
    reader.end()?;
    Ok(text)
}

/// A string of JSON that was read before; a lone surrogate becomes U+FFFD. None for any other value.
pub fn lossy_string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let mut reader = Reader::new(raw);
    if reader.peek() != Some(b'"') {
        return None;
    }
    reader.lossy_string().ok()
}

/// A string or an array of blocks; `None` for `null`.
///
/// # Errors
/// Says what is not JSON, or of neither form.
pub fn content(json: &str) -> Read<Option<Content<'_>>> {
    let mut reader = Reader::new(json);
    let content = match reader.peek() {
        Some(b'n') => {
            reader.word()?;
            None
        }
        _ => Some(next_content(&mut reader, None)?),
    };
    reader.end()?;
    Ok(content)
}

/// Reads a string, or an array with its items left unread.
///
/// # Errors
/// Says what is not JSON, or of neither form.
pub fn unread_blocks<'a>(reader: &mut Reader<'a>) -> Read<MemberValue<'a>> {
    next_content(reader, None).map(MemberValue::Content)
}

/// Reads anything, and leaves it unread.
///
/// # Errors
/// Says what is not JSON.
pub fn left_unread<'a>(reader: &mut Reader<'a>) -> Read<MemberValue<'a>> {
    reader.raw().map(MemberValue::Raw)
}

/// A string or an array; its items that are objects of the form are read, and their content by its reader.
fn next_content<'a>(
    reader: &mut Reader<'a>,
    form: Option<(&Shape, ReadContent)>,
) -> Read<Content<'a>> {
    match reader.peek() {
        Some(b'"') => return Ok(Content::Text(reader.string()?)),
        Some(b'[') => reader.enter(),
        _ => return Err(reader.wrong("a string or an array of blocks")),
    }
    let mut items = Vec::new();
    while reader.more(items.is_empty(), b']')? {
        items.push(match form {
            Some((form, content)) => {
                let (raw, read) = reader.either(|reader| form.next(reader, content))?;
                Item { raw, read }
            }
            None => Item::unread(reader.raw()?),
        });
    }
    Ok(Content::Blocks(items))
}

/// The items of an array, left unread.
///
/// # Errors
/// Says what is not JSON, or not an array.
pub fn items(json: &str) -> Read<Vec<&RawValue>> {
    let mut reader = Reader::new(json);
    let items = reader.items()?;
    reader.end()?;
    Ok(items)
}
