//! Entry points for the host: each takes one JSON object of arguments and returns JSON.

use std::fmt::Arguments;

use super::entry::{Candidate, MILLION, Observation, Outcome};
use super::file::{Loaded, Rejected};
use super::gates::Gates;
use super::section::{KEY, Limits, PRIORITY, Rendered};
use super::state::{Kind, State};
use super::store::{Change, Store, Transition};
use crate::argument::{self, each, text};
use crate::error::{Error, ErrorInfo, Result, listed};
use crate::focus::Focus;
use crate::json::{
    RawValue, Shape, Type, Value, Write, fields, impl_json, json, optional, required, write,
};
use crate::number::decimal;

/// Bytes that content may have, and a name: a category, a tool, a tag, a source, a reason.
const MOST_CONTENT: usize = 16_384;
const MOST_NAME: usize = 1_024;
const MOST_TAGS: usize = 64;
/// The last time that JavaScript's `Date` has.
const LAST_MS: i64 = 8_640_000_000_000_000;
const WHEN: &str = "whole milliseconds since 1970";

const OPTIONS: Shape = Shape {
    what: "options: { sign, gates, categories, scope }",
    members: &[
        optional("gates", Type::Raw),
        optional("categories", Type::Items),
        optional("scope", Type::Text),
    ],
    closed: true,
};
const OBSERVATION: Shape = Shape {
    what: "an observation: { kind, category, content, toolTag, tags, score, source, trusted, at, success }",
    members: &[
        required("kind", Type::Text),
        required("category", Type::Text),
        required("content", Type::Text),
        optional("toolTag", Type::Text),
        optional("tags", Type::Items),
        required("score", Type::Raw),
        required("source", Type::Text),
        required("trusted", Type::Flag),
        required("at", Type::Integer),
        optional("success", Type::Flag),
    ],
    closed: true,
};
const OUTCOME: Shape = Shape {
    what: "an outcome: { success, severe, conflict, antiPattern, at }",
    members: &[
        required("success", Type::Flag),
        optional("severe", Type::Flag),
        optional("conflict", Type::Flag),
        optional("antiPattern", Type::Flag),
        required("at", Type::Integer),
    ],
    closed: true,
};
const CHANGE: Shape = Shape {
    what: "a change: { reason, at, force }",
    members: &[
        required("reason", Type::Text),
        required("at", Type::Integer),
        optional("force", Type::Flag),
    ],
    closed: true,
};
const SECTION: Shape = Shape {
    what: "options: { at, maxCount, maxTokens, headroom, categories }",
    members: &[
        required("at", Type::Integer),
        optional("maxCount", Type::Integer),
        optional("maxTokens", Type::Integer),
        optional("headroom", Type::Raw),
        optional("categories", Type::Items),
    ],
    closed: true,
};

impl Store {
    /// A store with `{gates, categories, scope}`.
    ///
    /// # Errors
    /// `InvalidArgument` with the option's name, as all here.
    pub fn from_options(json: &str) -> Result<Self> {
        let mut members = argument::read(&OPTIONS, json, format_args!(""))?;
        let mut gates = members.raw("gates").map(Gates::parse).transpose()?.unwrap_or_default();
        gates.categories = each(members.items("categories"), format_args!("categories"), name)?;
        let scope = members.text("scope").unwrap_or_default().into_owned();
        Ok(Self::new(gates, within("scope", scope, MOST_NAME)?))
    }

    /// `upsert`: an observation.
    pub fn upsert_json(&mut self, json: &str) -> Result<String> {
        let observed = observation(json)?;
        Ok(write(&self.upsert(observed)))
    }

    /// `recordOutcome`: `[id, outcome]`.
    pub fn conclude_json(&mut self, json: &str) -> Result<String> {
        let [id, raw] = arguments(json)?;
        let mut members = argument::read(&OUTCOME, raw, format_args!("outcome"))?;
        let mut is = |name| members.flag(name).unwrap_or(false);
        let mut outcome = Outcome {
            success: is("success"),
            severe: is("severe"),
            conflict: is("conflict"),
            anti_pattern: is("antiPattern"),
            at: 0,
        };
        outcome.at = time("outcome.at", members.integer("at"))?;
        Ok(write(self.conclude(&text(format_args!("id"), id)?, outcome)?))
    }

    /// `evaluateAll`: a time.
    pub fn evaluate_json(&mut self, json: &str) -> Result<String> {
        Ok(write(&self.evaluate(at(json)?)))
    }

    /// `transition`: `[id, to, change]`.
    pub fn transition_json(&mut self, json: &str) -> Result<String> {
        let [id, to, raw] = arguments(json)?;
        let to = state("to", &text(format_args!("to"), to)?)?;
        let mut members = argument::read(&CHANGE, raw, format_args!("change"))?;
        let reason = members.text("reason").unwrap_or_default().into_owned();
        let change = Change {
            to,
            reason: &within("change.reason", reason, MOST_NAME)?,
            at: time("change.at", members.integer("at"))?,
            force: members.flag("force").unwrap_or(false),
        };
        Ok(write(self.transition(&text(format_args!("id"), id)?, change)?))
    }

    /// `list`: the name of a state, or `null`.
    pub fn list_json(&self, json: &str) -> Result<String> {
        let wanted = match json.trim() {
            "null" => None,
            name => Some(state("filter.state", &text(format_args!("filter.state"), name)?)?),
        };
        let all = self.candidates().iter();
        let all = all.filter(|it| wanted.is_none_or(|state| it.state == state));
        Ok(write(&all.collect::<Vec<&Candidate>>()))
    }

    /// `section`: `[focus, options]`.
    pub fn section_json(&self, json: &str) -> Result<String> {
        let [focus, raw] = arguments(json)?;
        let focus = Focus::parse(focus)?;
        let mut members = argument::read(&SECTION, raw, format_args!("options"))?;
        let usual = Limits::default();
        let count = size("options.maxCount", members.integer("maxCount"))?;
        let tokens = size("options.maxTokens", members.integer("maxTokens"))?;
        let limits = Limits {
            count: count.map_or(usual.count, |count| usize::try_from(count).unwrap_or(usize::MAX)),
            tokens: tokens.unwrap_or(usual.tokens),
            headroom: match members.raw("headroom") {
                None => usual.headroom,
                Some(raw) => share("options.headroom", raw, 1)?,
            },
            categories: each(
                members.items("categories"),
                format_args!("options.categories"),
                name,
            )?,
        };
        let rendered = self.render(&focus, &limits, time("options.at", members.integer("at"))?);
        Ok(section(&rendered, &focus).json().into())
    }

    /// `injected`: `[ids, sections, at]`, of the sections the reports that a plan has.
    pub fn inject_json(&mut self, json: &str) -> Result<String> {
        const REPORT: Shape = Shape {
            what: "a section's report",
            members: &[
                required("key", Type::Text),
                required("included", Type::Flag),
                required("truncated", Type::Flag),
            ],
            closed: false,
        };
        let [ids, sections, when] = arguments(json)?;
        let (mut included, mut cut) = (false, false);
        for (place, raw) in items("plan.sections", sections)?.into_iter().enumerate() {
            let mut members = argument::read(&REPORT, raw, format_args!("plan.sections[{place}]"))?;
            if members.str("key") == Some(KEY) {
                included |= members.flag("included").unwrap_or(false);
                cut |= members.flag("truncated").unwrap_or(true);
            }
        }
        let ids = each(Some(items("ids", ids)?), format_args!("ids"), text)?;
        Ok(write(&self.inject(&ids, included && !cut, at(when)?)))
    }

    /// `audit`: the transitions.
    pub fn audit(&self) -> String {
        write(&self.transitions().iter().collect::<Vec<&Transition>>())
    }
}

fn observation(json: &str) -> Result<Observation> {
    let mut members = argument::read(&OBSERVATION, json, format_args!("observation"))?;
    let kind = members.text("kind").unwrap_or_default();
    let known = Kind::named(&kind).ok_or_else(|| {
        let names = listed(&Kind::ALL.map(Kind::name), "");
        Error::argument("observation.kind", &format!("one of {names}"), format_args!("{kind:?}"))
    })?;
    let mut bounded = |name: &str, most| {
        let text = members.text(name).unwrap_or_default().into_owned();
        within(&format!("observation.{name}"), text, most)
    };
    let (category, content) = (bounded("category", MOST_NAME)?, bounded("content", MOST_CONTENT)?);
    let (tool, source) = (bounded("toolTag", MOST_NAME)?, bounded("source", MOST_NAME)?);
    if content.trim().is_empty() {
        return Err(Error::argument("observation.content", "what was learned", "nothing"));
    }
    let mut tags: Vec<String> = Vec::new();
    for tag in each(members.items("tags"), format_args!("observation.tags"), name)? {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    if tags.len() > MOST_TAGS {
        let most = format!("at most {MOST_TAGS}");
        return Err(Error::argument("observation.tags", &most, tags.len()));
    }
    Ok(Observation {
        kind: known,
        category,
        content,
        tool,
        tags,
        score: share("observation.score", members.raw("score").unwrap_or_default(), 0)?,
        source,
        trusted: members.flag("trusted").unwrap_or(false),
        at: time("observation.at", members.integer("at"))?,
        success: members.flag("success"),
    })
}

/// What the host gets of a section: itself, and whose candidates are in it.
fn section(rendered: &Rendered, focus: &Focus) -> Value {
    if rendered.ids.is_empty() {
        return json!({ "section": Value::NULL, "ids": rendered.ids });
    }
    // A101: what it was chosen by.
    let of = |what: &str, names: &[String], most: usize| {
        let names: Vec<&str> = names.iter().take(most).map(String::as_str).collect();
        (!names.is_empty()).then(|| format!("{what}={}", names.join(", ")))
    };
    let signals: Vec<String> = focus.signals.iter().map(|it| it.name().into()).collect();
    let query = Some(&focus.summary).filter(|summary| !summary.is_empty());
    let evidence = [
        of("files", &focus.files, 3),
        of("symbols", &focus.symbols, 4),
        of("plan", &signals, usize::MAX),
        query.map(|summary| format!("query={summary}")),
    ];
    let evidence: Vec<String> = evidence.into_iter().flatten().collect();
    json!({
        "section": {
            "key": KEY,
            "content": rendered.content,
            "priority": PRIORITY,
            "source": KEY,
            "scope": "task-local",
            "reason": "promoted by what came of them",
            "evidence": evidence,
        },
        "ids": rendered.ids,
    })
}

impl Write for Candidate {
    fn write(&self, out: &mut String) {
        let (score, source) = (Millionths(self.score()), self.sources.last());
        fields(
            "id kind category content tool_tag tags score source trusted at state evidence_count successes failures first_seen last_seen cooldown_until sources",
            &[
                &self.id,
                &self.kind.name(),
                &self.category,
                &self.content,
                &self.tool,
                &self.tags,
                &score,
                &source.map_or("", String::as_str),
                &self.trusted,
                &self.last_seen,
                &self.state.name(),
                &self.evidence,
                &self.successes,
                &self.failures,
                &self.first_seen,
                &self.last_seen,
                &self.cooldown,
                &self.sources,
            ],
            out,
        );
    }
}

impl Write for Transition {
    fn write(&self, out: &mut String) {
        fields(
            "id from to reason code at",
            &[
                &self.id,
                &self.from.name(),
                &self.to.name(),
                &self.reason,
                &self.code.name(),
                &self.at,
            ],
            out,
        );
    }
}

impl_json!(Loaded { loaded, rejected });
impl_json!(Rejected { line, reason });

/// A share in millionths, written as what it is.
struct Millionths(u64);

impl Write for Millionths {
    fn write(&self, out: &mut String) {
        let text = format!("{}.{:06}", self.0 / MILLION, self.0 % MILLION);
        out.push_str(text.trim_end_matches('0').trim_end_matches('.'));
    }
}

/// So many arguments, in an array.
fn arguments<const N: usize>(json: &str) -> Result<[&RawValue; N]> {
    let all = items("arguments", json)?;
    <[&RawValue; N]>::try_from(all)
        .map_err(|all| Error::argument("arguments", &format!("{N}"), all.len()))
}

fn items<'a>(argument: &str, json: &'a str) -> Result<Vec<&'a RawValue>> {
    crate::json::items(json).map_err(|_| Error::argument(argument, "an array", json))
}

/// A name within its bounds.
fn name(argument: Arguments<'_>, raw: &RawValue) -> Result<String> {
    let name = text(argument, raw)?;
    within(&argument.to_string(), name, MOST_NAME)
}

fn within(what: &str, text: String, most: usize) -> Result<String> {
    if text.len() > most {
        return Err(Error::new(ErrorInfo::TooLarge {
            what: what.into(),
            size: text.len() as u64,
            cap: most as u64,
        }));
    }
    Ok(text)
}

fn state(argument: &str, name: &str) -> Result<State> {
    State::named(name).ok_or_else(|| {
        let names = listed(&State::ALL.map(State::name), "");
        Error::argument(argument, &format!("one of {names}"), format_args!("{name:?}"))
    })
}

fn at(json: &str) -> Result<i64> {
    let read = json.parse().map_err(|_| Error::argument("at", WHEN, json));
    time("at", Some(read?))
}

/// A time of JavaScript's.
fn time(argument: &str, value: Option<i64>) -> Result<i64> {
    value
        .filter(|value| (0..=LAST_MS).contains(value))
        .ok_or_else(|| Error::argument(argument, WHEN, value.unwrap_or_default()))
}

fn size(argument: &str, value: Option<i64>) -> Result<Option<u32>> {
    let size = value.map(u32::try_from).transpose();
    size.map_err(|_| {
        let expected = format!("a whole number, 0 to {}", u32::MAX);
        Error::argument(argument, &expected, value.unwrap_or_default())
    })
}

/// A share in millionths, of at least so many.
fn share(argument: &str, raw: &RawValue, least: u64) -> Result<u64> {
    let number = raw.starts_with(|char: char| char == '-' || char.is_ascii_digit());
    let read = decimal(raw, 6).filter(|_| number).and_then(|share| u64::try_from(share).ok());
    let expected = if least == 0 { "a share, 0 to 1" } else { "a share, over 0 up to 1" };
    read.filter(|share| (least..=MILLION).contains(share))
        .ok_or_else(|| Error::argument(argument, expected, raw))
}
