//! Records of a candidate file, each a line of JSON: a head, candidates, transitions.

use super::entry::{Candidate, Evidence};
use super::similarity::Words;
use super::state::{Kind, State};
use super::store::{Code, Transition};
use crate::argument::{each, text};
use crate::json::{Members, Read, Reader, Shape, Type, Write, fields, object, optional, required};

/// The form of the files that are written, and read.
const VERSION: i64 = 1;

/// The first line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Files before it, of its store and those that this was loaded from.
    pub(super) revision: u64,
    /// Lines after it.
    pub(super) lines: usize,
    /// When maintenance was done last.
    pub(super) maintained: Option<i64>,
    /// SHA-256 of the lines after it. They are signed with this line's signature, and no other file has the same.
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
        required("kind", Type::Text),
        required("version", Type::Integer),
        required("revision", Type::Integer),
        required("lines", Type::Integer),
        optional("maintained", Type::Integer),
        required("digest", Type::Text),
    ],
    closed: true,
};

const LINE: Shape = Shape {
    what: "a candidate or a transition",
    members: &[
        required("kind", Type::Text),
        required("id", Type::Text),
        // A candidate.
        optional("type", Type::Text),
        optional("category", Type::Text),
        optional("content", Type::Text),
        optional("tool", Type::Text),
        optional("tags", Type::Items),
        optional("trusted", Type::Flag),
        optional("state", Type::Text),
        optional("sum", Type::Integer),
        optional("count", Type::Integer),
        optional("successes", Type::Integer),
        optional("failures", Type::Integer),
        optional("first", Type::Integer),
        optional("last", Type::Integer),
        optional("decayed", Type::Integer),
        optional("cooldown", Type::Integer),
        optional("sources", Type::Items),
        optional("evidence", Type::Items),
        // A transition.
        optional("from", Type::Text),
        optional("to", Type::Text),
        optional("reason", Type::Text),
        optional("code", Type::Text),
        optional("at", Type::Integer),
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
        let mut members = HEAD.read(json).ok()?;
        if members.str("kind")? != "head" || members.integer("version")? != VERSION {
            return None;
        }
        Some(Self {
            revision: u64::try_from(members.integer("revision")?).ok()?,
            lines: usize::try_from(members.integer("lines")?).ok()?,
            maintained: members.integer("maintained"),
            digest: members.text("digest")?.into_owned(),
        })
    }
}

impl Write for Evidence {
    fn write(&self, out: &mut String) {
        (self.at, i64::from(self.flags)).write(out);
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
        let mut members = LINE.read(json).ok()?;
        match members.text("kind")?.as_ref() {
            "candidate" => candidate(&mut members).map(Box::new).map(Self::Candidate),
            "transition" => transition(&mut members).map(Self::Transition),
            _ => None,
        }
    }
}

fn candidate(members: &mut Members<'_>) -> Option<Candidate> {
    let texts = |items| each(items, format_args!(""), text).ok();
    let log = members.items("evidence")?.into_iter().map(evidence).collect::<Read<Vec<Evidence>>>();
    let mut it = Candidate {
        id: members.text("id")?.into_owned(),
        kind: Kind::named(members.str("type")?)?,
        category: members.text("category")?.into_owned(),
        content: members.text("content")?.into_owned(),
        tool: members.text("tool")?.into_owned(),
        tags: texts(members.items("tags"))?,
        trusted: members.flag("trusted")?,
        state: State::named(members.str("state")?)?,
        sum: u64::try_from(members.integer("sum")?).ok()?,
        evidence: u32::try_from(members.integer("count")?).ok()?,
        successes: u32::try_from(members.integer("successes")?).ok()?,
        failures: u32::try_from(members.integer("failures")?).ok()?,
        first_seen: members.integer("first")?,
        last_seen: members.integer("last")?,
        decayed: members.integer("decayed")?,
        cooldown: members.integer("cooldown"),
        sources: texts(members.items("sources"))?,
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
    let [at, flags] = numbers;
    Ok(Evidence { at, flags: u8::try_from(flags).unwrap_or_default() })
}

fn transition(members: &mut Members<'_>) -> Option<Transition> {
    Some(Transition {
        id: members.text("id")?.into_owned(),
        from: State::named(members.str("from")?)?,
        to: State::named(members.str("to")?)?,
        reason: members.text("reason")?.into_owned(),
        code: Code::named(members.str("code")?)?,
        at: members.integer("at")?,
    })
}
