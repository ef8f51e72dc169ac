//! A file of candidates: each line is signed after the one before it, and all of them for the first.
//!
//! A line is the JSON of a record with one member more at its end, `"mac"`: the signature in 64 hexadecimal digits. What stands
//! before `,"mac":` is the line's text. Signed are five parts, each after its length ([`joined`]): `plimsoll candidates 1`, the
//! scope, the signature of the head, that of the line before, the text; the head, which is the first line, has nothing for either
//! signature. So a line fits after its neighbour only, in its own file only; the head says how many there are.
//!
//! The signatures themselves are made elsewhere, by a [`Key`](super::Key) or by the host: [`Saving`] and [`Loading`] name the bytes
//! and take what comes.

use std::collections::VecDeque;
use std::mem::take;

use super::index::Index;
use super::record::{Head, Line, candidate_line, transition_line};
use super::sign::{SIGNATURE, digest, hex, is_same, joined, unhex};
use super::store::Store;
use crate::error::{Error, Result};

const DOMAIN: &[u8] = b"plimsoll candidates 1";
const MAC: &str = ",\"mac\":\"";
/// Length of a line after its text: the name, the digits, the quote and the brace.
const TAIL: usize = MAC.len() + 2 * SIGNATURE + 2;

/// The signatures that are part of what a line signs: the head's, and that of the line before.
#[derive(Clone, Debug, Default)]
struct Behind {
    head: Vec<u8>,
    before: Vec<u8>,
}

impl Behind {
    fn bytes(&self, scope: &str, text: &str) -> Vec<u8> {
        joined(&[DOMAIN, scope.as_bytes(), &self.head, &self.before, text.as_bytes()])
    }

    /// The next line is signed after a line with this signature.
    fn go_on(&mut self, signature: &[u8]) {
        if self.head.is_empty() {
            self.head = signature.to_vec();
        }
        self.before = signature.to_vec();
    }
}

/// A file in the making: what a store held when it was begun.
pub struct Saving {
    scope: String,
    pub(super) texts: VecDeque<String>,
    behind: Behind,
    file: String,
}

impl Saving {
    /// What is to be signed next; nothing: the file is whole.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        self.texts.front().map(|text| self.behind.bytes(&self.scope, text))
    }

    /// Takes the signature of it.
    ///
    /// # Errors
    /// `InvalidArgument` if it has not 32 bytes.
    pub fn take(&mut self, signature: &[u8]) -> Result<()> {
        let signature = taken(signature)?;
        if let Some(text) = self.texts.pop_front() {
            for part in [text.as_str(), MAC, &hex(&signature), "\"}\n"] {
                self.file.push_str(part);
            }
            self.behind.go_on(&signature);
        }
        Ok(())
    }

    /// The lines that are signed.
    pub fn file(&mut self) -> String {
        take(&mut self.file)
    }
}

/// A line that was not taken, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The line, from 1; one after the last where lines are missing there.
    pub line: usize,
    /// Why.
    pub reason: String,
}

/// A file that is read.
pub struct Loading {
    scope: String,
    /// The file is refused if it is older.
    least: u64,
    lines: VecDeque<String>,
    /// The line that is looked at, from 1.
    line: usize,
    behind: Behind,
    head: Option<Head>,
    read: Vec<Line>,
    rejected: Vec<Rejected>,
    /// What the store had seen of changes when this was begun.
    changes: u64,
}

impl Loading {
    /// What has to be signed to see whether the next line is whole; nothing: all were looked at.
    pub fn bytes(&mut self) -> Option<Vec<u8>> {
        loop {
            let line = self.lines.front()?;
            if let Some((text, _)) = parts(line) {
                return Some(self.behind.bytes(&self.scope, text));
            }
            self.reject("it is no signed line");
            self.go_on();
        }
    }

    /// Takes the signature that it should have.
    ///
    /// # Errors
    /// `InvalidArgument` if it has not 32 bytes.
    pub fn take(&mut self, signature: &[u8]) -> Result<()> {
        let signature = taken(signature)?;
        let Some(line) = self.lines.front() else { return Ok(()) };
        let Some((text, stated)) = parts(line) else { return Ok(()) };
        if is_same(signature, stated) {
            let record = format!("{text}}}");
            self.accept(&record);
        } else {
            self.reject(
                "its signature does not fit: it was changed, or does not stand where it was signed",
            );
        }
        self.behind.go_on(&stated);
        self.go_on();
        Ok(())
    }

    fn accept(&mut self, record: &str) {
        if self.line > 1 {
            match Line::read(record) {
                Some(line) => self.read.push(line),
                None => self.reject("it is signed, but no record of version 1"),
            }
            return;
        }
        match Head::read(record) {
            None => self.reject("it is signed, but no head of version 1"),
            Some(head) if head.revision < self.least => {
                let (found, least) = (head.revision, self.least);
                self.reject(&format!("it is revision {found}, and {least} was there before"));
            }
            Some(head) => self.head = Some(head),
        }
    }

    fn reject(&mut self, reason: &str) {
        self.rejected.push(Rejected { line: self.line, reason: reason.into() });
    }

    fn go_on(&mut self) {
        self.lines.pop_front();
        self.line = self.line.saturating_add(1);
        let Some(head) = &self.head else {
            // Without its head nothing tells of which file a line is.
            self.lines.clear();
            return;
        };
        let behind = self.line.saturating_sub(2);
        let (signed, left) = (head.lines, self.lines.len());
        if behind < signed && left == 0 {
            self.reject(&format!(
                "the file ends here: {signed} lines were signed, and {behind} stand here"
            ));
        } else if behind >= signed && left > 0 {
            self.reject(&format!("only {signed} lines were signed, and {left} follow them"));
            self.lines.clear();
        }
    }
}

/// The text of a line, and the signature that it states.
fn parts(line: &str) -> Option<(&str, [u8; SIGNATURE])> {
    let (text, tail) = line.split_at_checked(line.len().checked_sub(TAIL)?)?;
    let digits = tail.strip_prefix(MAC)?.strip_suffix("\"}")?;
    Some((text, unhex(digits)?))
}

fn taken(signature: &[u8]) -> Result<[u8; SIGNATURE]> {
    <[u8; SIGNATURE]>::try_from(signature).map_err(|_| {
        Error::argument(
            "sign.hmac",
            "an HMAC-SHA256: 32 bytes",
            format_args!("{}", signature.len()),
        )
    })
}

/// What came of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Candidates that were taken.
    pub loaded: usize,
    /// Lines that were not.
    pub rejected: Vec<Rejected>,
}

impl Store {
    /// Begins a file of what it holds. Its revision is the next one, also where the file comes to nothing.
    pub fn save(&mut self) -> Saving {
        self.revision = self.revision.saturating_add(1);
        let mut texts: VecDeque<String> = self.all.iter().map(candidate_line).collect();
        texts.extend(self.transitions.iter().map(transition_line));
        for text in &mut texts {
            // Without its closing brace.
            text.pop();
        }
        let parts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        let head = Head {
            revision: self.revision,
            lines: texts.len(),
            maintained: self.maintained,
            digest: hex(&digest(&parts)),
        };
        let mut head = crate::json::write(&head);
        head.pop();
        texts.push_front(head);
        let scope = self.scope.clone();
        Saving { scope, texts, behind: Behind::default(), file: String::new() }
    }

    /// Begins to read a file, of this revision or a later one.
    pub fn load(&self, file: &str, least: u64) -> Loading {
        let lines = file.strip_suffix('\n').unwrap_or(file).split('\n');
        Loading {
            scope: self.scope.clone(),
            least,
            lines: lines.map(ToOwned::to_owned).collect(),
            line: 1,
            behind: Behind::default(),
            head: None,
            read: Vec::new(),
            rejected: Vec::new(),
            changes: self.changes,
        }
    }

    /// Holds what was read instead of what it held; where the head was not taken it holds what it held.
    ///
    /// # Errors
    /// `InvalidArgument` if something changed while the file was read; then nothing is taken.
    pub fn adopt(&mut self, loading: &mut Loading) -> Result<Loaded> {
        let rejected = take(&mut loading.rejected);
        let Some(head) = loading.head.take() else { return Ok(Loaded { loaded: 0, rejected }) };
        if loading.changes != self.changes {
            let expected = "a store that nothing changes while it loads";
            return Err(Error::argument("load", expected, "a change"));
        }
        self.all.clear();
        self.transitions.clear();
        for line in take(&mut loading.read) {
            match line {
                Line::Candidate(candidate) => self.all.push(*candidate),
                Line::Transition(transition) => self.transitions.push(transition),
            }
        }
        self.index = Index::of(&self.all);
        self.maintained = head.maintained;
        self.revision = head.revision;
        self.changes = self.changes.wrapping_add(1);
        Ok(Loaded { loaded: self.all.len(), rejected })
    }
}
