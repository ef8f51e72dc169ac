//! Numbers and texts as few bytes, and back.

use crate::error::{Error, ErrorInfo, Result};
use crate::hash::{self, fnv};
use crate::leb128;

/// What every snapshot starts with, and the version of what follows. Whatever changes in what is written after it changes
/// the version: `tests/golden/snapshot-3.bin` is of this one.
const START: &[u8] = b"PLIM";
const VERSION: u8 = 3;
/// Pins had no text then, a refusal was a number, and nothing told what the messages were.
const OLDEST: u8 = 2;

/// Writes a snapshot.
pub(in crate::context) struct Writer(Vec<u8>);

/// Reads a snapshot that has verified. What does not read is 0 or empty; `end` tells of the first that did not.
pub(in crate::context) struct Reader<'a> {
    /// Of the version before.
    pub(in crate::context) is_old: bool,
    rest: &'a [u8],
    flaw: Option<&'static str>,
}

impl Writer {
    pub(in crate::context) fn new() -> Self {
        let mut bytes = START.to_vec();
        bytes.push(VERSION);
        Self(bytes)
    }

    /// Of bytes without a start, for something else than a snapshot.
    pub(in crate::context) const fn bare() -> Self {
        Self(Vec::new())
    }

    /// Bytes that are read as a whole.
    pub(in crate::context) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.append(bytes);
    }

    /// What another writer wrote.
    pub(in crate::context) fn append(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The bytes as they are.
    pub(in crate::context) fn bare_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The bytes, with a faster hash than a snapshot's at the end.
    pub(in crate::context) fn sealed(mut self) -> Vec<u8> {
        let hash = hash::bytes(0, &self.0);
        self.hash(hash);
        self.0
    }

    pub(in crate::context) fn number(&mut self, number: u64) {
        leb128::write(&mut self.0, number);
    }

    /// None is 0, and every number one more.
    pub(in crate::context) fn perhaps(&mut self, number: Option<u64>) {
        self.number(number.map_or(0, |number| number.saturating_add(1)));
    }

    pub(in crate::context) fn hash(&mut self, hash: u64) {
        self.0.extend_from_slice(&hash.to_le_bytes());
    }

    pub(in crate::context) fn mark(&mut self, mark: u32) {
        self.0.extend_from_slice(&mark.to_le_bytes());
    }

    pub(in crate::context) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(in crate::context) fn numbers(&mut self, numbers: &[u32]) {
        self.number(numbers.len() as u64);
        for &number in numbers {
            self.number(number.into());
        }
    }

    /// Ascending numbers, as the steps between them.
    pub(in crate::context) fn ascending<T: Copy + Into<u32>>(&mut self, numbers: &[T]) {
        self.number(numbers.len() as u64);
        let mut last = 0;
        for number in numbers.iter().map(|&number| number.into()) {
            self.number(number.saturating_sub(last).into());
            last = number;
        }
    }

    /// The bytes, with a hash of them at the end.
    pub(in crate::context) fn done(mut self) -> Vec<u8> {
        let hash = fnv(self.0.iter().copied());
        self.hash(hash);
        self.0
    }
}

impl<'a> Reader<'a> {
    /// # Errors
    /// `CorruptState` for what no snapshot of this version is, or is not as it was written.
    pub(in crate::context) fn new(bytes: &'a [u8]) -> Result<Self> {
        let (all, hash) = bytes.split_last_chunk().ok_or_else(|| corrupt("it is cut short"))?;
        let Some((&version, rest)) = all.strip_prefix(START).and_then(<[u8]>::split_first) else {
            return Err(corrupt("it is no snapshot"));
        };
        if !(OLDEST..=VERSION).contains(&version) {
            let read = format!("{OLDEST} to {VERSION} are read");
            return Err(corrupt(&format!("it is of version {version}; {read}")));
        }
        if fnv(all.iter().copied()) != u64::from_le_bytes(*hash) {
            return Err(corrupt("its bytes have changed"));
        }
        Ok(Self { rest, flaw: None, is_old: version == OLDEST })
    }

    /// Of what [`Writer::sealed`] gave; none: they are other bytes.
    pub(in crate::context) fn sealed(bytes: &'a [u8]) -> Option<Self> {
        let (all, hash) = bytes.split_last_chunk()?;
        (hash::bytes(0, all) == u64::from_le_bytes(*hash)).then(|| Self::bare(all))
    }

    pub(in crate::context) const fn bare(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, flaw: None, is_old: false }
    }

    /// What [`Writer::bytes`] wrote.
    pub(in crate::context) fn bytes(&mut self) -> &'a [u8] {
        let length = usize::try_from(self.number()).unwrap_or(usize::MAX);
        let Some((bytes, rest)) = self.rest.split_at_checked(length) else {
            self.refuse("a list is cut");
            return &[];
        };
        self.rest = rest;
        bytes
    }

    /// How many bytes are left.
    pub(in crate::context) const fn left(&self) -> usize {
        self.rest.len()
    }

    pub(in crate::context) fn refuse(&mut self, flaw: &'static str) {
        self.flaw.get_or_insert(flaw);
        self.rest = &[];
    }

    pub(in crate::context) fn number(&mut self) -> u64 {
        let Some((number, rest)) = leb128::read(self.rest) else {
            self.refuse("a number has no end");
            return 0;
        };
        self.rest = rest;
        number
    }

    pub(in crate::context) fn small(&mut self) -> u32 {
        u32::try_from(self.number()).unwrap_or_else(|_| {
            self.refuse("a number is too large");
            0
        })
    }

    pub(in crate::context) fn perhaps(&mut self) -> Option<u64> {
        self.number().checked_sub(1)
    }

    pub(in crate::context) fn flag(&mut self) -> bool {
        self.number() != 0
    }

    pub(in crate::context) fn hash(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    pub(in crate::context) fn mark(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let Some((taken, rest)) = self.rest.split_first_chunk() else {
            self.refuse("a hash is cut");
            return [0; N];
        };
        self.rest = rest;
        *taken
    }

    pub(in crate::context) fn text(&mut self) -> &'a str {
        let length = usize::try_from(self.number()).unwrap_or(usize::MAX);
        let (text, rest) = self.rest.split_at_checked(length).unwrap_or_default();
        let text = std::str::from_utf8(text).unwrap_or_default();
        if text.len() == length {
            self.rest = rest;
        } else {
            self.refuse("a text is cut, or none");
        }
        text
    }

    /// How many things follow, of which each has at least one byte.
    pub(in crate::context) fn count(&mut self) -> usize {
        let count = usize::try_from(self.number()).unwrap_or(usize::MAX);
        if count <= self.rest.len() {
            return count;
        }
        self.refuse("a list is cut");
        0
    }

    pub(in crate::context) fn numbers(&mut self) -> Vec<u32> {
        let mut numbers = Vec::new();
        for _ in 0..self.count() {
            numbers.push(self.small());
        }
        numbers
    }

    /// Ascending numbers, as `Writer::ascending` wrote them.
    pub(in crate::context) fn ascending(&mut self) -> Vec<u32> {
        let mut numbers = self.numbers();
        let mut last = 0u32;
        for number in &mut numbers {
            last = last.saturating_add(*number);
            *number = last;
        }
        numbers
    }

    /// # Errors
    /// `CorruptState` if something did not read, or something is left.
    pub(in crate::context) fn end(self) -> Result<()> {
        match self.flaw {
            Some(flaw) => Err(corrupt(flaw)),
            None if self.rest.is_empty() => Ok(()),
            None => Err(corrupt("something follows its end")),
        }
    }
}

fn corrupt(reason: &str) -> Error {
    Error::new(ErrorInfo::CorruptState { what: "snapshot".into(), reason: reason.into() })
}
