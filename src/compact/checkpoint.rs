//! Checkpoints: summaries that are made ahead, while a session fills, so that a fold finds one (`GoClaw`; G30, G32, G36, G37).
//!
//! Each is made of the one before and of what came since. When one is due is a function of figures and of a state that the session
//! keeps as text; the state changes when a checkpoint is asked for, not when it comes, so that nothing is asked for twice (G54).

use super::options::Options;
use crate::argument;
use crate::error::{Error, Result};
use crate::json::{self, Object, RawValue, Shape, Type, Value, json, optional, required};
use crate::text::prefix;

/// G37, where the host gives none.
const THRESHOLDS: [u32; 3] = [25, 50, 75];
const TURNS: i64 = 15;
const LEAST_TOKENS: i64 = 10_000;
/// G36: characters of an answer that is no JSON; entries of a list, and characters of one.
const MOST_RAW: usize = 4_000;
const MOST_ENTRIES: usize = 20;
const MOST_ENTRY: usize = 500;

json::json_struct! {
    /// What a checkpoint says.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub(super) struct Checkpoint {
        summary: String,
        topics: Vec<String>,
        key_decisions: Vec<String>,
        open_questions: Vec<String>,
    }
}

impl Checkpoint {
    /// Of an answer: it is JSON, or holds an object that is, or is the summary itself (G36).
    pub(super) fn read(answer: &str, options: &Options) -> Self {
        let objects = std::iter::once(answer.trim()).chain(Objects { text: answer, from: 0 });
        let mut found = objects.filter_map(|object| Self::of(object, options));
        found.next().unwrap_or_else(|| {
            let text = options.safe(answer.trim());
            let head = prefix(&text, MOST_RAW);
            let more = if head.len() < text.len() { "..." } else { "" };
            Self { summary: [head, more].concat(), ..Self::default() }
        })
    }

    fn of(object: &str, options: &Options) -> Option<Self> {
        let object = Object::read(object).ok()?;
        let summary = object.string("summary")?;
        let list = |name: &str| -> Vec<String> {
            let texts = object.items(name).into_iter().filter_map(|it| json::string(it).ok());
            let texts = texts.map(|it| prefix(&options.safe(it.trim()), MOST_ENTRY).to_owned());
            texts.filter(|it| !it.is_empty()).take(MOST_ENTRIES).collect()
        };
        Some(Self {
            summary: options.safe(summary.trim()),
            topics: list("topics"),
            key_decisions: list("keyDecisions"),
            open_questions: list("openQuestions"),
        })
    }

    /// Whether it says anything.
    pub(super) fn is_blank(&self) -> bool {
        !self.summary.chars().any(char::is_alphanumeric)
    }

    /// As a summary (G32).
    fn to_text(&self) -> String {
        let mut out = self.summary.clone();
        if !self.topics.is_empty() {
            out.push_str("\n\nTopics discussed: ");
            out.push_str(&self.topics.join(", "));
        }
        for (name, list) in [
            ("\n\nKey decisions:", &self.key_decisions),
            ("\n\nOpen questions:", &self.open_questions),
        ] {
            for (at, entry) in list.iter().enumerate() {
                for piece in [if at == 0 { name } else { "" }, "\n- ", entry] {
                    out.push_str(piece);
                }
            }
        }
        out
    }
}

/// Balanced `{...}` of a text, each after the one before; braces in strings are none.
struct Objects<'t> {
    text: &'t str,
    from: usize,
}

impl<'t> Iterator for Objects<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let rest = self.text.get(self.from..)?;
        let start = rest.find('{')?;
        let (mut depth, mut quoted, mut escaped) = (0u32, false, false);
        for (at, byte) in rest.bytes().enumerate().skip(start) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = quoted,
                b'"' => quoted = !quoted,
                b'{' if !quoted => depth = depth.saturating_add(1),
                b'}' if !quoted => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                let end = at.saturating_add(1);
                self.from = self.from.saturating_add(end);
                return rest.get(start..end);
            }
        }
        self.from = self.text.len();
        None
    }
}

/// What a session keeps of its checkpoints.
#[derive(Debug, Default)]
pub(super) struct State<'a> {
    /// Folds when its figures were taken last: a fold begins a new cycle.
    folds: i64,
    /// Percent of the window up to which this cycle has been told.
    covered: u32,
    /// Turns when one was asked for last.
    turns: i64,
    /// Folds when the last was asked for, what it says, and of which messages and tokens.
    made: i64,
    checkpoint: Option<&'a RawValue>,
}

const STATE: Shape = Shape {
    what: "the state of checkpoints",
    members: &[
        required("folds", Type::Integer),
        required("covered", Type::Integer),
        required("turns", Type::Integer),
        optional("made", Type::Integer),
        optional("checkpoint", Type::Raw),
    ],
    closed: false,
};

impl<'a> State<'a> {
    fn parse(json: Option<&'a RawValue>) -> Option<Self> {
        let mut fields = STATE.read(json?).ok()?;
        Some(Self {
            folds: fields.integer("folds")?,
            covered: u32::try_from(fields.integer("covered")?).ok()?,
            turns: fields.integer("turns")?,
            made: fields.integer("made").unwrap_or(-1),
            checkpoint: fields.raw("checkpoint").filter(|it| *it != "null"),
        })
    }

    /// Messages that the last one tells of, if no fold came since: its head is newer.
    fn covers(&self, folds: i64) -> Option<i64> {
        let kept = Object::read(self.checkpoint.filter(|_| self.made == folds)?).ok()?;
        kept.raw("messageCountAtCheckpoint")?.parse().ok()
    }

    fn to_json(&self) -> String {
        let kept = self.checkpoint.map(|it| Value::raw(it.to_owned()));
        let Self { folds, covered, turns, made, .. } = self;
        json!({ "folds": folds, "covered": covered, "turns": turns, "made": made, "checkpoint": kept })
            .to_string()
    }
}

const FIGURES: Shape = Shape {
    what: "the figures of a session",
    members: &[
        required("used", Type::Integer),
        required("usable", Type::Integer),
        required("turns", Type::Integer),
        required("folds", Type::Integer),
        optional("state", Type::Raw),
        optional("thresholds", Type::Items),
        optional("everyTurns", Type::Integer),
        optional("minimumTokens", Type::Integer),
    ],
    closed: false,
};

/// Whether a checkpoint is due, by the figures of a session (JSON), from which message on, and the state that is kept from then on:
/// `{ due, from, state }`.
///
/// It is due from 10,000 tokens on, when the window's use has newly crossed 25, 50 or 75 %, or 15 turns after the last (G37). What is
/// crossed by a fold alone is not new.
///
/// # Errors
/// `InvalidArgument`.
pub fn checkpoint_due(json: &str) -> Result<String> {
    let mut fields = FIGURES
        .read(json)
        .map_err(|error| Error::argument("checkpoints", "figures", error.got()))?;
    let mut number = |name: &str| fields.integer(name).map(|it| it.max(0));
    let (used, usable) = (number("used").unwrap_or(0), number("usable").unwrap_or(0));
    let (turns, folds) = (number("turns").unwrap_or(0), number("folds").unwrap_or(0));
    let every = number("everyTurns").unwrap_or(TURNS).max(1);
    let least = number("minimumTokens").unwrap_or(LEAST_TOKENS);
    let thresholds = fields.items("thresholds").map(percents).transpose()?;
    let thresholds = thresholds.unwrap_or_else(|| THRESHOLDS.to_vec());
    let reached = |percent: &&u32| {
        usable > 0 && used.saturating_mul(100) >= usable.saturating_mul(i64::from(**percent))
    };
    let highest = thresholds.iter().filter(reached).max().copied().unwrap_or(0);
    let fresh = || State { folds, made: -1, ..State::default() };
    let mut state = State::parse(fields.raw("state")).unwrap_or_else(fresh);
    if state.folds != folds {
        (state.folds, state.covered) = (folds, highest);
    }
    let late = turns.saturating_sub(state.turns) >= every;
    let due = usable > 0 && used >= least && (highest > state.covered || late);
    if due {
        (state.covered, state.turns) = (highest.max(state.covered), turns);
    }
    let from = state.covers(folds).unwrap_or(0);
    Ok(json!({ "due": due, "from": from, "state": Value::raw(state.to_json()) }).to_string())
}

fn percents(items: Vec<&RawValue>) -> Result<Vec<u32>> {
    let percent = |it: &RawValue| it.parse().ok().filter(|it| (1..=100).contains(it));
    let refused =
        |it| Error::argument("summary.checkpoints.thresholds", "percents from 1 to 100", it);
    items.into_iter().map(|it| percent(it).ok_or_else(|| refused(it))).collect()
}

const CHECKPOINTS: Shape = Shape {
    what: "an object of options",
    members: &[
        optional("thresholds", Type::Items),
        optional("turns", Type::Integer),
        optional("minimumTokens", Type::Integer),
        optional("last", Type::Raw),
    ],
    closed: true,
};

const LAST: Shape = Shape {
    what: "a checkpoint",
    members: &[
        required("summary", Type::Text),
        required("tokensAtCheckpoint", Type::Integer),
        required("messageCountAtCheckpoint", Type::Integer),
    ],
    closed: false,
};

/// The last checkpoint of an earlier process, by which a session begins that has no snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    json: Box<str>,
    /// Messages of the history that it covers.
    pub messages: u32,
    tokens: u64,
}

impl Earlier {
    fn read(json: &RawValue) -> Result<Self> {
        let argument = "summary.checkpoints.last";
        let mut fields = argument::read(&LAST, json, format_args!("{argument}"))?;
        let mut count = |name: &str| {
            let number = fields.integer(name).unwrap_or_default();
            let refused = |_| Error::argument(&format!("{argument}.{name}"), "0 or more", number);
            u32::try_from(number).map_err(refused)
        };
        let (messages, tokens) =
            (count("messageCountAtCheckpoint")?, count("tokensAtCheckpoint")?.into());
        Ok(Self { json: json.into(), messages, tokens })
    }

    /// What a session keeps of it until the next is made, as JSON: it was made at this turn, in a window of so many usable tokens.
    pub fn state(&self, turn: u32, usable: u64) -> String {
        let covered = self.tokens.saturating_mul(100).checked_div(usable).unwrap_or(0);
        let covered = u32::try_from(covered).unwrap_or(u32::MAX);
        let (turns, checkpoint) = (turn.into(), Some(&*self.json));
        State { folds: 0, covered, turns, made: 0, checkpoint }.to_json()
    }
}

/// Checks the host's `summary.checkpoints`, and returns the last of an earlier process, if there is one.
pub(super) fn check_checkpoints(fields: Option<&RawValue>) -> Result<Option<Earlier>> {
    let argument = "summary.checkpoints";
    match fields {
        None | Some("true" | "false" | "null") => Ok(None),
        Some(object) if object.starts_with('{') => {
            let mut fields = argument::read(&CHECKPOINTS, object, format_args!("{argument}"))?;
            fields.items("thresholds").map(percents).transpose()?;
            for (name, least, expected) in [
                ("turns", 1, "a number of turns, 1 or more"),
                ("minimumTokens", 0, "a number of tokens, 0 or more"),
            ] {
                if let Some(number) = fields.integer(name).filter(|number| *number < least) {
                    return Err(Error::argument(&format!("{argument}.{name}"), expected, number));
                }
            }
            fields.raw("last").filter(|it| *it != "null").map(Earlier::read).transpose()
        }
        Some(other) => Err(Error::argument(argument, "true, false or an object", other)),
    }
}

const TAKEN: Shape = Shape {
    what: "a checkpoint that has come",
    members: &[
        required("state", Type::Raw),
        required("folds", Type::Integer),
        required("tokens", Type::Integer),
        required("messages", Type::Integer),
        required("summary", Type::Text),
    ],
    closed: false,
};

/// The state with a checkpoint that has come (JSON: the state, the figures of when it was asked for, and what it says).
///
/// # Errors
/// `InvalidArgument`.
pub fn checkpoint_taken(json: &str) -> Result<String> {
    let refused = |error: json::Error| Error::argument("checkpoint", TAKEN.what, error.got());
    let mut fields = TAKEN.read(json).map_err(refused)?;
    let answer = fields.text("summary").unwrap_or_default();
    let members = Object::read(&answer).map_err(refused)?;
    let mut all: Vec<(&str, Value)> =
        members.iter().map(|(name, it)| (&**name, Value::raw((*it).to_owned()))).collect();
    let mut number = |name: &str| fields.integer(name).unwrap_or_default();
    for (name, of) in [("tokensAtCheckpoint", "tokens"), ("messageCountAtCheckpoint", "messages")] {
        all.push((name, Value::raw(number(of).to_string())));
    }
    let made = number("folds");
    let checkpoint = Value::object(&all);
    let state = fields.raw("state");
    let fresh = || State { folds: made, ..State::default() };
    let state = State::parse(state).unwrap_or_else(fresh);
    Ok(State { made, checkpoint: Some(checkpoint.json()), ..state }.to_json())
}

/// What a compaction takes from the last checkpoint: its text, of how many messages, and of how many tokens.
pub(super) struct Last {
    pub(super) text: String,
    pub(super) messages: i64,
    pub(super) tokens: i64,
}

/// None, if a fold came since: its head is newer.
pub(super) fn last(state: Option<&RawValue>, folds: i64, options: &Options) -> Option<Last> {
    let state = State::parse(state)?;
    let messages = state.covers(folds)?;
    let kept = state.checkpoint?;
    let tokens = Object::read(kept).ok()?.raw("tokensAtCheckpoint")?.parse().ok()?;
    let text = Checkpoint::of(kept, options).filter(|it| !it.is_blank())?.to_text();
    Some(Last { text, messages, tokens })
}

#[cfg(test)]
#[path = "checkpoint_tests.rs"]
mod tests;
