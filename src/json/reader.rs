//! JSON read piece by piece, straight from the text: no tree, no recursion, no float.
#![expect(clippy::arithmetic_side_effects, reason = "positions in a text, and counts of its bytes")]

use std::borrow::Cow;
use std::fmt;

/// A value that is left unread: its text, without the space around it.
pub type RawValue = str;

/// A reader that builds trees takes at most so many levels; what is left unread may be nested as deeply as it likes.
pub const MOST_LEVELS: usize = 127;

/// Why text is not the JSON that was wanted, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Fault>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    what: Cow<'static, str>,
    offset: usize,
    line: usize,
    column: usize,
    member: Option<&'static str>,
}

impl Error {
    /// What is wrong.
    pub fn what(&self) -> &str {
        &self.0.what
    }

    /// The member of a `Shape` that is not as it must be.
    pub fn member(&self) -> Option<&'static str> {
        self.0.member
    }

    /// The same, of this member.
    pub(super) fn of(mut self, member: &'static str) -> Self {
        self.0.member = Some(member);
        self
    }

    /// So many bytes were read when it showed.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// The line it is in, from 1.
    pub fn line(&self) -> usize {
        self.0.line
    }

    /// Bytes of that line that were read when it showed.
    pub fn column(&self) -> usize {
        self.0.column
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { what, line, column, .. } = &*self.0;
        write!(f, "{what} at line {line} column {column}")
    }
}

impl std::error::Error for Error {}

/// The result of reading.
pub type Read<T> = Result<T, Error>;

/// A place in JSON text.
#[derive(Debug)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// At the start of the text.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
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

    /// A member's name as it stands, escapes and all.
    pub fn raw_key(&mut self) -> Read<&'a str> {
        self.must_be_key()?;
        let start = self.at + 1;
        self.skip_string(false)?;
        let key = self.from(start, self.at - 1);
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
                    // `]` and `}` stand two places behind `[` and `{`.
                    open.push(byte + 2);
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

    /// An integer.
    pub fn integer(&mut self) -> Read<i64> {
        let next = self.peek();
        let start = self.at;
        if let Some(b'-' | b'0'..=b'9') = next
            && let Ok(whole) = self.word()?.parse()
        {
            return Ok(whole);
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

    /// A string, whose quote was seen; borrowed where it has no escapes.
    pub fn string(&mut self) -> Read<Cow<'a, str>> {
        let start = self.at + 1;
        self.at = plain_until(self.text, start);
        if self.byte() == Some(b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(self.from(start, self.at - 1)));
        }
        // What follows is rarely longer than this: it need not grow line by line.
        let mut out = String::with_capacity((self.text.len() - start).min(4096));
        out.push_str(self.from(start, self.at));
        loop {
            // Nearly all escapes are these.
            let short = match self.text.as_bytes().get(self.at..self.at + 2) {
                Some(b"\\n") => "\n",
                Some(b"\\\"") => "\"",
                Some(b"\\t") => "\t",
                _ => "",
            };
            if !short.is_empty() {
                self.at += 2;
                out.push_str(short);
            } else if self.ends()? {
                break;
            } else {
                out.push(self.escape(true)?);
            }
            let start = self.at;
            self.at = plain_until(self.text, start);
            out.push_str(self.from(start, self.at));
        }
        Ok(Cow::Owned(out))
    }

    fn skip_string(&mut self, strict: bool) -> Read<()> {
        let bytes = self.text.as_bytes();
        self.at += 1;
        loop {
            let end = plain_until(self.text, self.at);
            self.at = end;
            match (bytes.get(end), bytes.get(end + 1)) {
                (Some(b'\\'), Some(b'"' | b'\\' | b'n' | b't')) => self.at += 2,
                _ if self.ends()? => return Ok(()),
                _ => drop(self.escape(strict)?),
            }
        }
    }

    /// The string ends here, or an escape follows, whose backslash is passed over.
    fn ends(&mut self) -> Read<bool> {
        let byte = self.byte();
        self.at = self.text.len().min(self.at + 1);
        match byte {
            Some(b'"') => Ok(true),
            Some(b'\\') => Ok(false),
            Some(_) => {
                Err(self.error("control character (\\u0000-\\u001F) found while parsing a string"))
            }
            None => Err(self.error("EOF while parsing a string")),
        }
    }

    /// What an escape stands for, behind its backslash; a lone surrogate is refused, or stands for U+FFFD.
    fn escape(&mut self, strict: bool) -> Read<char> {
        let Some(byte) = self.byte() else { return Err(self.error("EOF while parsing a string")) };
        self.at += 1;
        Ok(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let mut code = self.hex()?;
                if strict && (0xd800..0xdc00).contains(&code) {
                    if !self.from(self.at, self.at + 2).starts_with("\\u") {
                        return Err(self.next_is("unexpected end of hex escape"));
                    }
                    self.at += 2;
                    let low = self.hex()?;
                    if !(0xdc00..0xe000).contains(&low) {
                        return Err(self.error("lone leading surrogate in hex escape"));
                    }
                    code = 0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                }
                match char::from_u32(code) {
                    Some(char) => char,
                    None if strict => {
                        return Err(self.error("lone leading surrogate in hex escape"));
                    }
                    None => char::REPLACEMENT_CHARACTER,
                }
            }
            _ => return Err(self.error("invalid escape")),
        })
    }

    /// The four digits of a `\u` escape.
    fn hex(&mut self) -> Read<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(byte) = self.byte() else {
                return Err(self.error("EOF while parsing a string"));
            };
            self.at += 1;
            let Some(digit) = char::from(byte).to_digit(16) else {
                return Err(self.error("invalid escape"));
            };
            code = code * 16 + digit;
        }
        Ok(code)
    }

    /// The items of an array, left unread.
    pub fn items(&mut self) -> Read<Vec<&'a RawValue>> {
        if self.peek() != Some(b'[') {
            return Err(self.wrong("a sequence"));
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
        let byte = self.peek();
        let what: Cow<'static, str> = match byte {
            Some(b'[') => "sequence".into(),
            Some(b'{') => "map".into(),
            _ => {
                let raw = match self.strict() {
                    Ok(raw) => raw,
                    Err(error) => return error,
                };
                match byte {
                    Some(b'"') => format!("string {raw}").into(),
                    Some(b't' | b'f') => format!("boolean `{raw}`").into(),
                    Some(b'n') => "null".into(),
                    _ if is_whole(raw) => format!("integer `{raw}`").into(),
                    _ => format!("floating point `{raw}`").into(),
                }
            }
        };
        self.error(format!("invalid type: {what}, expected {expected}"))
    }

    fn from(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }
}

/// A number is written without fraction and exponent.
pub fn is_whole(number: &str) -> bool {
    !number.contains(['.', 'e', 'E'])
}

fn fault(text: &str, offset: usize, what: Cow<'static, str>) -> Error {
    let before = text.as_bytes().get(..offset).unwrap_or_default();
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let line = text.get(..offset).map_or(0, |text| text.matches('\n').count()) + 1;
    Error(Box::new(Fault { what, offset, line, column: offset - start, member: None }))
}

/// The first place from `at` on of a quote, a backslash or a control character: eight bytes at a time.
pub(super) fn plain_until(text: &str, mut at: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    let bytes = text.as_bytes();
    let (chunks, _) = bytes.get(at..).unwrap_or_default().as_chunks::<8>();
    for chunk in chunks {
        let word = u64::from_le_bytes(*chunk);
        // The high bit of each byte that is zero after the quote, or the backslash, is taken off; or below a space.
        let quote = word ^ (ONES * 0x22);
        let slash = word ^ (ONES * 0x5c);
        let found = (quote.wrapping_sub(ONES) & !quote)
            | (slash.wrapping_sub(ONES) & !slash)
            | (word.wrapping_sub(ONES * 0x20) & !word);
        let found = found & (ONES * 0x80);
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while let Some(byte) = bytes.get(at) {
        if *byte < 0x20 || matches!(byte, b'"' | b'\\') {
            break;
        }
        at += 1;
    }
    at
}
