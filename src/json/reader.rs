//! JSON read piece by piece, straight from the text: no tree, no recursion, no float.
#![expect(clippy::arithmetic_side_effects, reason = "positions in a text, and counts of its bytes")]

mod error;
mod string;

use std::borrow::Cow;

pub use error::Error;
use error::fault;

use super::fill_in::Source;

/// A value that is left unread: its text, without the space around it.
pub type RawValue = str;

/// A reader that builds trees takes at most so many levels; what is left unread may be nested as deeply as it likes.
pub const MOST_LEVELS: usize = 127;

/// The result of reading.
pub type Read<T> = Result<T, Error>;

/// A place in JSON text.
#[derive(Debug)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The most levels of a value that was left unread.
    levels: usize,
    /// The same text, for what is known of it from here on.
    source: Source<'a>,
}

impl<'a> Reader<'a> {
    /// At the start of the text.
    pub fn new(text: &'a str) -> Self {
        Self::of(text.into())
    }

    /// At the start of JSON of which some strings are known.
    pub fn of(source: Source<'a>) -> Self {
        Self { text: source.json, at: 0, levels: 0, source }
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The first byte of what follows, space aside.
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = self.byte()?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Something is wrong with what was read last.
    pub fn error(&self, what: impl Into<Cow<'static, str>>) -> Error {
        fault(self.text, self.at, what.into())
    }

    /// Something is wrong with what comes next.
    fn next_is(&self, what: &'static str) -> Error {
        fault(self.text, self.text.len().min(self.at + 1), what.into())
    }

    /// Nothing may follow.
    pub fn end(&mut self) -> Read<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.next_is("trailing characters")),
        }
    }

    /// Goes into an array or object, whose first byte was seen.
    pub fn enter(&mut self) {
        self.at += 1;
    }

    /// Goes on to the next item of an array or object; false: it has ended. Of an object the key is next.
    pub fn more(&mut self, first: bool, close: u8) -> Read<bool> {
        let list = close == b']';
        match self.peek() {
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(b',') if !first => {
                self.at += 1;
                match self.peek() {
                    Some(byte) if byte == close => Err(self.next_is("trailing comma")),
                    Some(_) => Ok(true),
                    None => Err(self.next_is("EOF while parsing a value")),
                }
            }
            Some(_) if first => Ok(true),
            Some(_) if list => Err(self.next_is("expected `,` or `]`")),
            Some(_) => Err(self.next_is("expected `,` or `}`")),
            None if list => Err(self.next_is("EOF while parsing a list")),
            None => Err(self.next_is("EOF while parsing an object")),
        }
    }

    /// A member's name.
    pub fn key(&mut self) -> Read<Cow<'a, str>> {
        self.must_be_key()?;
        let key = self.string()?;
        self.colon()?;
        Ok(key)
    }

    /// A member's name; a lone surrogate becomes U+FFFD.
    pub(super) fn lossy_key(&mut self) -> Read<Cow<'a, str>> {
        self.must_be_key()?;
        let key = self.lossy_string()?;
        self.colon()?;
        Ok(key)
    }

    fn must_be_key(&mut self) -> Read<()> {
        match self.peek() {
            Some(b'"') => Ok(()),
            _ => Err(self.next_is("key must be a string")),
        }
    }

    fn colon(&mut self) -> Read<()> {
        match self.peek() {
            Some(b':') => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(self.next_is("expected `:`")),
            None => Err(self.next_is("EOF while parsing an object")),
        }
    }

    /// A value of any kind, left unread. Lone surrogates may stand in it.
    pub fn raw(&mut self) -> Read<&'a RawValue> {
        self.value(false)
    }

    /// A value of any kind, of which a tree could be built: no lone surrogates, at most [`MOST_LEVELS`] levels.
    pub fn strict(&mut self) -> Read<&'a RawValue> {
        self.value(true)
    }

    fn value(&mut self, strict: bool) -> Read<&'a str> {
        self.peek();
        let start = self.at;
        // The brackets that are still to be closed.
        let mut open: Vec<u8> = Vec::new();
        loop {
            let mut first = false;
            match self.peek() {
                Some(byte @ (b'[' | b'{')) => {
                    if strict && open.len() >= MOST_LEVELS {
                        return Err(self.next_is("recursion limit exceeded"));
                    }
                    self.at += 1;
                    // `]` and `}` stand two places after `[` and `{`.
                    open.push(byte + 2);
                    self.levels = self.levels.max(open.len());
                    first = true;
                }
                Some(b'"') => self.skip_string(strict)?,
                _ => drop(self.word()?),
            }
            loop {
                let Some(&close) = open.last() else { return Ok(self.from(start, self.at)) };
                if self.more(first, close)? {
                    if close == b'}' {
                        self.must_be_key()?;
                        self.skip_string(strict)?;
                        self.colon()?;
                    }
                    break;
                }
                open.pop();
                first = false;
            }
        }
    }

    /// The JSON of the next value, and what `read` makes of it. If `read` fails, the value is left unread.
    pub(super) fn either<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Read<T>,
    ) -> Read<(&'a RawValue, Option<T>)> {
        self.peek();
        let (start, source) = (self.at, self.source);
        let Ok(made) = read(self) else {
            (self.at, self.source) = (start, source);
            return Ok((self.raw()?, None));
        };
        Ok((self.from(start, self.at), Some(made)))
    }

    /// How many levels the deepest value has that was left unread: `[]` has one.
    pub fn levels(&self) -> usize {
        self.levels
    }

    /// An integer.
    pub fn integer(&mut self) -> Read<i64> {
        let next = self.peek();
        let start = self.at;
        if let Some(b'-' | b'0'..=b'9') = next
            && let Ok(integer) = self.word()?.parse()
        {
            return Ok(integer);
        }
        self.at = start;
        Err(self.wrong("i64"))
    }

    /// `null`, `true`, `false` or a number, as it stands.
    pub fn word(&mut self) -> Read<&'a str> {
        let start = self.at;
        let word = match self.peek() {
            Some(b'n') => "null",
            Some(b't') => "true",
            Some(b'f') => "false",
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                return Ok(self.from(start, self.at));
            }
            Some(_) => return Err(self.next_is("expected value")),
            None => return Err(self.next_is("EOF while parsing a value")),
        };
        for letter in word.bytes() {
            match self.byte() {
                Some(byte) => {
                    self.at += 1;
                    if byte != letter {
                        return Err(self.error("expected ident"));
                    }
                }
                None => return Err(self.error("EOF while parsing a value")),
            }
        }
        Ok(word)
    }

    fn number(&mut self) -> Read<()> {
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        let zero = self.byte() == Some(b'0');
        let start = self.at;
        self.digits()?;
        if zero && self.at > start + 1 {
            self.at = start + 1;
            return Err(self.next_is("invalid number"));
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// At least one digit.
    fn digits(&mut self) -> Read<()> {
        match self.byte() {
            Some(b'0'..=b'9') => {}
            Some(_) => return Err(self.next_is("invalid number")),
            None => return Err(self.error("EOF while parsing a value")),
        }
        while let Some(b'0'..=b'9') = self.byte() {
            self.at += 1;
        }
        Ok(())
    }

    /// The items of an array, left unread.
    pub fn items(&mut self) -> Read<Vec<&'a RawValue>> {
        if self.peek() != Some(b'[') {
            return Err(self.wrong("an array"));
        }
        self.enter();
        let mut items = Vec::new();
        while self.more(items.is_empty(), b']')? {
            items.push(self.raw()?);
        }
        Ok(items)
    }

    /// What follows is not what is expected.
    pub fn wrong(&mut self, expected: &str) -> Error {
        let what = match self.peek() {
            Some(b'[') => "an array",
            Some(b'{') => "an object",
            _ => match self.strict() {
                Ok(raw) => raw,
                Err(error) => return error,
            },
        };
        self.error(format!("invalid type: {what}, expected {expected}"))
    }

    fn from(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }
}

/// A number is written without fraction and exponent.
pub fn is_integer(number: &str) -> bool {
    !number.contains(['.', 'e', 'E'])
}
