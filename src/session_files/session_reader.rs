//! Session file that comes in pieces.
//!
//! A line is taken apart as soon as it is whole, which is most of the work; what the lines say together is read at the end. A
//! file that does not begin with a line of its own is one JSON value, or broken there: it is kept, and read at the end.

use std::borrow::Cow;
use std::mem;

use super::file::SessionFile;
use super::lines::Line;
use super::{detect, of_document, of_lines, unknown, value};
use crate::bytes::find;
use crate::error::Error;
use crate::json::{self, Places};
use crate::number::count;

/// A buffer larger than this is given back once its line is read.
const KEPT_BYTES: usize = 1 << 20;

/// Reads a session file in pieces of any size.
///
/// # Example
/// ```
/// use plimsoll::session_files::SessionReader;
/// let mut reader = SessionReader::default();
/// reader.push(br#"{"role":"user","con"#);
/// reader.push(br#"tent":"hello"}"#);
/// assert_eq!(reader.end(None)?.messages.len(), 1);
/// # Ok::<(), plimsoll::error::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct SessionReader {
    /// Bytes of no line yet. Until the first line was read: all of them.
    rest: Vec<u8>,
    /// Where the last line in `rest` begins.
    from: usize,
    lines: Vec<OwnedLine>,
    /// Lines that ended, blank ones included.
    ended: u32,
    bytes: usize,
    lossy: u32,
    /// The file begins with something else than a line of its own.
    is_document: bool,
}

/// As `Line`, with its text.
#[derive(Debug)]
struct OwnedLine {
    number: u32,
    text: Box<str>,
    fields: Places,
    fault: Option<String>,
}

impl OwnedLine {
    fn line(&self) -> Line<'_> {
        let (number, text) = (self.number, &*self.text);
        Line { number, text, fields: self.fields.object(text), fault: self.fault.clone() }
    }
}

impl SessionReader {
    /// Takes in the next bytes of the file.
    pub fn push(&mut self, mut bytes: &[u8]) {
        self.bytes = self.bytes.saturating_add(bytes.len());
        while !self.is_document
            && let Some(at) = find(bytes, b'\n')
        {
            let (line, after) = bytes.split_at(at);
            if self.lines.is_empty() {
                self.begin(line);
                if self.lines.is_empty() {
                    self.rest.push(b'\n');
                    self.from = self.rest.len();
                }
            } else if self.rest.is_empty() {
                self.take(line);
            } else {
                self.rest.extend_from_slice(line);
                self.take_rest();
            }
            self.ended = self.ended.saturating_add(1);
            bytes = after.get(1..).unwrap_or_default();
        }
        self.rest.extend_from_slice(bytes);
    }

    /// Lines that ended so far, of a file of lines.
    pub fn lines(&self) -> u32 {
        self.ended
    }

    /// Bytes that came so far.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The session, once all bytes came.
    ///
    /// # Errors
    /// As `read_session`, which `leaf` is described at, too.
    pub fn end(mut self, leaf: Option<&str>) -> Result<SessionFile, Error> {
        let mut session = if self.lines.is_empty() {
            self.read_document(leaf)?
        } else {
            self.take_rest();
            self.read_lines(leaf)?
        };
        let receipt = &mut session.receipt;
        receipt.lossy = self.lossy;
        let broken = count(receipt.broken.len());
        receipt.lines = receipt.read.saturating_add(receipt.unknown).saturating_add(broken);
        Ok(session)
    }

    /// Takes in the first lines: blank ones, and the first that is not.
    fn begin(&mut self, end: &[u8]) {
        self.rest.extend_from_slice(end);
        let line = without_mark(&self.rest, self.from).to_vec();
        self.take(&line);
        match self.lines.first() {
            None => {}
            Some(first) if first.fault.is_none() => self.rest.clear(),
            Some(_) => {
                self.is_document = true;
                self.lines.clear();
                self.lossy = 0;
            }
        }
    }

    fn take(&mut self, line: &[u8]) {
        // Lossy reading looks at each byte by itself.
        let text =
            str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
        self.lossy = self.lossy.saturating_add(u32::from(matches!(text, Cow::Owned(_))));
        let text = text.trim();
        if !text.is_empty() {
            let Line { number, text, fields, fault } =
                Line::read(self.ended.saturating_add(1), text);
            let fields = Places::of(&fields, text);
            self.lines.push(OwnedLine { number, text: text.into(), fields, fault });
        }
    }

    fn take_rest(&mut self) {
        let rest = mem::take(&mut self.rest);
        self.take(&rest);
        if rest.capacity() <= KEPT_BYTES {
            self.rest = rest;
            self.rest.clear();
        }
    }

    fn read_lines(&self, leaf: Option<&str>) -> Result<SessionFile, Error> {
        let lines: Vec<Line<'_>> = self.lines.iter().map(OwnedLine::line).collect();
        if let [line] = lines.as_slice()
            && detect::shown(&line.fields).is_none()
            && let Ok(raw) = json::parse(line.text)
        {
            return value(raw, leaf);
        }
        of_lines(&lines, leaf)
    }

    fn read_document(&mut self, leaf: Option<&str>) -> Result<SessionFile, Error> {
        let bytes = without_mark(&self.rest, 0);
        if let Some(what) = detect::sealed(bytes) {
            return Err(unknown(what));
        }
        let text = String::from_utf8_lossy(bytes);
        if text.trim().is_empty() {
            return Err(Error::argument("session", "a session file", "an empty file"));
        }
        if matches!(text, Cow::Owned(_)) {
            let bad =
                bytes.split(|byte| *byte == b'\n').filter(|line| str::from_utf8(line).is_err());
            self.lossy = count(bad.count());
        }
        of_document(&text, leaf)
    }
}

/// The bytes of a file from a place on, without its byte order mark.
fn without_mark(bytes: &[u8], from: usize) -> &[u8] {
    let bytes = bytes.get(from..).unwrap_or_default();
    if from == 0 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes }
}
