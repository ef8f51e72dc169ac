//! What a file of candidates consists of, each a line of JSON: a head, candidates, transitions.

use super::entry::{Candidate, Evidence};
use super::similarity::Words;
use super::state::{Kind, State};
use super::store::{Code, Transition};
use crate::argument::{each, text};
use crate::json::{Members, Read, Reader, Shape, Want, Write, fields, may, must, object};

/// The form of the files that are written, and read.
const VERSION: i64 = 1;

/// The first line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Files before it, of its store and those that this was loaded from.
    pub(super) revision: u64,
    /// Lines behind it.
    pub(super) lines: usize,
    /// When maintenance was done last.
    pub(super) maintained: Option<i64>,
    /// SHA-256 of the lines behind it. They are signed with this line's signature, and no other file has the same.
    pub(super) digest: String,
}

/// Any other line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Candidate(Box<Candidate>),
    Transition(Transition),
}

const HEAD: Shape = Shape {
    what: "a head",
    members: &[
        must("kind", Want::Text),
        must("version", Want::Integer),
        must("revision", Want::Integer),
        must("lines", Want::Integer),
        may("maintained", Want::Integer),
        must("digest", Want::Text),
    ],
    closed: true,
};

const LINE: Shape = Shape {
    what: "a candidate or a transition",
    members: &[
        must("kind", Want::Text),
        must("id", Want::Text),
        // A candidate.
        may("type", Want::Text),
        may("category", Want::Text),
        may("content", Want::Text),
        may("tool", Want::Text),
        may("tags", Want::Items),
        may("trusted", Want::Flag),
        may("state", Want::Text),
        may("sum", Want::Integer),
        may("count", Want::Integer),
        may("successes", Want::Integer),
        may("failures", Want::Integer),
        may("first", Want::Integer),
        may("last", Want::Integer),
        may("decayed", Want::Integer),
        may("cooldown", Want::Integer),
        may("sources", Want::Items),
        may("evidence", Want::Items),
        // A transition.
        may("from", Want::Text),
        may("to", Want::Text),
        may("reason", Want::Text),
        may("code", Want::Text),
        may("at", Want::Integer),
    ],
    closed: true,
};

impl Write for Head {
    fn write(&self, out: &mut String) {
        object(
            &[
                ("kind", &"head"),
                ("version", &VERSION),
                ("revision", &self.revision),
                ("lines", &self.lines),
                ("maintained?", &self.maintained),
                ("digest", &self.digest),
            ],
            out,
        );
    }
}

impl Head {
    /// Reads one; nothing: it is none, or of a version that is not known.
    pub(super) fn read(json: &str) -> Option<Self> {
        let mut given = HEAD.read(json).ok()?;
        if given.said("kind")? != "head" || given.integer("version")? != VERSION {
            return None;
        }
        Some(Self {
            revision: u64::try_from(given.integer("revision")?).ok()?,
            lines: usize::try_from(given.integer("lines")?).ok()?,
            maintained: given.integer("maintained"),
            digest: given.text("digest")?.into_owned(),
        })
    }
}

impl Write for Evidence {
    fn write(&self, out: &mut String) {
        (self.at, i64::from(self.says)).write(out);
    }
}

/// A candidate as a line.
pub(super) fn candidate_line(it: &Candidate) -> String {
    let mut out = String::new();
    fields(
        "kind id type category content tool tags trusted state sum count successes failures first last decayed cooldown? sources evidence",
        &[
            &"candidate",
            &it.id,
            &it.kind.name(),
            &it.category,
            &it.content,
            &it.tool,
            &it.tags,
            &it.trusted,
            &it.state.name(),
            &it.sum,
            &it.evidence,
            &it.successes,
            &it.failures,
            &it.first_seen,
            &it.last_seen,
            &it.decayed,
            &it.cooldown,
            &it.sources,
            &it.log,
        ],
        &mut out,
    );
    out
}

/// A transition as a line.
pub(super) fn transition_line(it: &Transition) -> String {
    let mut out = String::new();
    fields(
        "kind id from to reason code at",
        &[
            &"transition",
            &it.id,
            &it.from.name(),
            &it.to.name(),
            &it.reason,
            &it.code.name(),
            &it.at,
        ],
        &mut out,
    );
    out
}

impl Line {
    /// Reads a line; nothing: it is neither.
    pub(super) fn read(json: &str) -> Option<Self> {
        let mut given = LINE.read(json).ok()?;
        match given.text("kind")?.as_ref() {
            "candidate" => candidate(&mut given).map(Box::new).map(Self::Candidate),
            "transition" => transition(&mut given).map(Self::Transition),
            _ => None,
        }
    }
}

fn candidate(given: &mut Members<'_>) -> Option<Candidate> {
    let texts = |items| each(items, format_args!(""), text).ok();
    let log = given.items("evidence")?.into_iter().map(evidence).collect::<Read<Vec<Evidence>>>();
    let mut it = Candidate {
        id: given.text("id")?.into_owned(),
        kind: Kind::named(given.said("type")?)?,
        category: given.text("category")?.into_owned(),
        content: given.text("content")?.into_owned(),
        tool: given.text("tool")?.into_owned(),
        tags: texts(given.items("tags"))?,
        trusted: given.flag("trusted")?,
        state: State::named(given.said("state")?)?,
        sum: u64::try_from(given.integer("sum")?).ok()?,
        evidence: u32::try_from(given.integer("count")?).ok()?,
        successes: u32::try_from(given.integer("successes")?).ok()?,
        failures: u32::try_from(given.integer("failures")?).ok()?,
        first_seen: given.integer("first")?,
        last_seen: given.integer("last")?,
        decayed: given.integer("decayed")?,
        cooldown: given.integer("cooldown"),
        sources: texts(given.items("sources"))?,
        log: log.ok()?,
        words: Words::default(),
        tag_words: Words::default(),
        group: 0,
    };
    it.index();
    Some(it)
}

/// `[at, says]`.
fn evidence(json: &str) -> Read<Evidence> {
    let mut reader = Reader::new(json);
    let mut numbers = [0, 0];
    if reader.peek() != Some(b'[') {
        return Err(reader.wrong("a pair"));
    }
    reader.enter();
    for (at, number) in numbers.iter_mut().enumerate() {
        reader.more(at == 0, b']')?;
        *number = reader.integer()?;
    }
    let [at, says] = numbers;
    Ok(Evidence { at, says: u8::try_from(says).unwrap_or_default() })
}

fn transition(given: &mut Members<'_>) -> Option<Transition> {
    Some(Transition {
        id: given.text("id")?.into_owned(),
        from: State::named(given.said("from")?)?,
        to: State::named(given.said("to")?)?,
        reason: given.text("reason")?.into_owned(),
        code: Code::named(given.said("code")?)?,
        at: given.integer("at")?,
    })
}
