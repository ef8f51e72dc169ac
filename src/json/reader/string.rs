//! Strings: found, skipped, unescaped.

use std::borrow::Cow;

use super::{Read, Reader};
use crate::bytes::plain_until;

impl<'a> Reader<'a> {
    /// A string, whose quote was seen; borrowed where it has no escapes.
    pub fn string(&mut self) -> Read<Cow<'a, str>> {
        self.unescaped(true)
    }

    /// The same; a lone surrogate becomes U+FFFD.
    pub(in crate::json) fn lossy_string(&mut self) -> Read<Cow<'a, str>> {
        self.unescaped(false)
    }

    fn unescaped(&mut self, strict: bool) -> Read<Cow<'a, str>> {
        if let Some((text, end)) = self.source.string_at(self.at) {
            self.at = end;
            return Ok(Cow::Borrowed(text));
        }
        let start = self.at + 1;
        self.at = plain_until(self.text.as_bytes(), start);
        if self.byte() == Some(b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(self.from(start, self.at - 1)));
        }
        self.escaped(start, strict)
    }

    /// The string that begins at `start`, if it has escapes; the reader is at the first of them.
    #[inline(never)]
    fn escaped(&mut self, start: usize, strict: bool) -> Read<Cow<'a, str>> {
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
                out.push(self.escape(strict)?);
            }
            // Escapes often follow each other, and to begin a search costs more than an escape.
            if self.byte() != Some(b'\\') {
                let start = self.at;
                self.at = plain_until(self.text.as_bytes(), start);
                out.push_str(self.from(start, self.at));
            }
        }
        Ok(Cow::Owned(out))
    }

    /// The same, left unread.
    pub(super) fn skip_string(&mut self, strict: bool) -> Read<()> {
        if let Some((_, end)) = self.source.string_at(self.at) {
            self.at = end;
            return Ok(());
        }
        let bytes = self.text.as_bytes();
        self.at += 1;
        loop {
            if self.byte() != Some(b'\\') {
                self.at = plain_until(self.text.as_bytes(), self.at);
            }
            let end = self.at;
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

    /// What an escape stands for, after its backslash; a lone surrogate is refused, or stands for U+FFFD.
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
                if (0xd800..0xdc00).contains(&code) {
                    let after = self.at;
                    if self.from(after, after + 2) == "\\u" {
                        self.at += 2;
                        let low = self.hex()?;
                        if (0xdc00..0xe000).contains(&low) {
                            code = 0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                        } else if strict {
                            return Err(self.error("lone leading surrogate in hex escape"));
                        } else {
                            // It is read once more, as an escape of its own.
                            self.at = after;
                        }
                    } else if strict {
                        return Err(self.next_is("unexpected end of hex escape"));
                    }
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
}
