//! Numbers and texts as few bytes, and back: a count in seven bits a byte, the lowest first, as LEB128 has it.

use crate::error::{Error, Result};
use crate::hash::fnv;

/// What every snapshot starts with, and the version of what follows.
const START: [u8; 5] = [b'P', b'L', b'I', b'M', 1];

/// Writes a snapshot.
pub(super) struct Writer(Vec<u8>);

/// Reads a snapshot that has verified.
pub(super) struct Reader<'a>(&'a [u8]);

impl Writer {
    pub(super) fn new() -> Self {
        Self(START.to_vec())
    }

    pub(super) fn number(&mut self, mut number: u64) {
        loop {
            let [low, ..] = number.to_le_bytes();
            number >>= 7;
            if number == 0 {
                return self.0.push(low & 0x7f);
            }
            self.0.push(low | 0x80);
        }
    }

    /// None is 0, and every number one more.
    pub(super) fn perhaps(&mut self, number: Option<u64>) {
        self.number(number.map_or(0, |number| number.saturating_add(1)));
    }

    pub(super) fn hash(&mut self, hash: u64) {
        self.0.extend_from_slice(&hash.to_le_bytes());
    }

    pub(super) fn mark(&mut self, mark: u32) {
        self.0.extend_from_slice(&mark.to_le_bytes());
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Ascending numbers: how many, then the steps between them.
    pub(super) fn ascending(&mut self, numbers: &[u32]) {
        self.number(numbers.len() as u64);
        let mut last = 0;
        for &number in numbers {
            self.number(number.saturating_sub(last).into());
            last = number;
        }
    }

    /// The bytes, with a hash of them at the end.
    pub(super) fn done(mut self) -> Vec<u8> {
        let hash = fnv(self.0.iter().copied());
        self.hash(hash);
        self.0
    }
}

impl<'a> Reader<'a> {
    /// # Errors
    /// `CorruptState` for what no snapshot of this version is, or is not as it was written.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self> {
        let (all, hash) = bytes.split_last_chunk().ok_or_else(|| corrupt("it is cut short"))?;
        let Some(rest) = all.strip_prefix(&START) else {
            return Err(corrupt("it is no snapshot of this version"));
        };
        if fnv(all.iter().copied()) != u64::from_le_bytes(*hash) {
            return Err(corrupt("its bytes have changed"));
        }
        Ok(Self(rest))
    }

    pub(super) fn number(&mut self) -> Result<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let Some((&byte, rest)) = self.0.split_first() else { break };
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(corrupt("a number has no end"))
    }

    pub(super) fn small(&mut self) -> Result<u32> {
        u32::try_from(self.number()?).map_err(|_| corrupt("a number is too large"))
    }

    pub(super) fn perhaps(&mut self) -> Result<Option<u64>> {
        Ok(self.number()?.checked_sub(1))
    }

    pub(super) fn flag(&mut self) -> Result<bool> {
        Ok(self.number()? != 0)
    }

    pub(super) fn hash(&mut self) -> Result<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub(super) fn mark(&mut self) -> Result<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk().ok_or_else(|| corrupt("a hash is cut"))?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(super) fn text(&mut self) -> Result<String> {
        let length = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        let (text, rest) =
            self.0.split_at_checked(length).ok_or_else(|| corrupt("a text is cut"))?;
        self.0 = rest;
        Ok(std::str::from_utf8(text).map_err(|_| corrupt("a text is none"))?.to_owned())
    }

    /// How many things follow, of which each has at least one byte.
    pub(super) fn count(&mut self) -> Result<usize> {
        let count = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if count > self.0.len() {
            return Err(corrupt("a list is cut"));
        }
        Ok(count)
    }

    pub(super) fn ascending(&mut self) -> Result<Vec<u32>> {
        let mut last = 0u32;
        let mut numbers = Vec::new();
        for _ in 0..self.count()? {
            last = last.checked_add(self.small()?).ok_or_else(|| corrupt("a list has no end"))?;
            numbers.push(last);
        }
        Ok(numbers)
    }

    /// # Errors
    /// `CorruptState` if something is left.
    pub(super) fn end(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(corrupt("something follows its end")) }
    }
}

pub(super) fn corrupt(reason: &str) -> Error {
    Error::CorruptState { what: "snapshot".into(), reason: reason.into() }
}
