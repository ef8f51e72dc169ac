//! A session of a file, measured once: what replays and the recorded view are made of.

use std::borrow::Cow;
use std::rc::Rc;

use super::usage_fit::{ONE, scaled};
use crate::compressed_texts::{CompressedTexts, Text};
use crate::context::options::Options;
use crate::context::request::request_extras::Parts;
use crate::context::session::Session;
use crate::context::session::arrival::append_measured;
use crate::context::session::counter::{set_learned, texts};
use crate::context::transcript::counter::{Counter, Learned};
use crate::context::transcript::measure::{Measure, measure};
use crate::error::{Error, Result};
use crate::estimate::Estimator;
use crate::format::Format;
use crate::identifiers::Identifiers;
use crate::json::{self, Members, RawValue, Shape, Type, optional, required};
use crate::model::{Draft, MessageId, RecentTraits, Role};
use crate::number::{count, is_time};
use crate::sort::sort_by;
use crate::validity::Findings;

/// A session measured once, to be replayed under many policies.
#[derive(Debug)]
pub struct Recording {
    pub(super) format: Format,
    pub(super) parts: Parts,
    /// As JSON; shared with whoever has read them.
    pub(super) raw: Rc<CompressedTexts>,
    pub(super) measures: Vec<Measure>,
    pub(super) identifiers: Identifiers,
    pub(super) calls: Vec<RecordedCall>,
    /// In order of their places.
    pub(super) compactions: Vec<HostCompaction>,
    /// Messages that are not of the format, in order. They stand in the history, and in no request.
    pub unreadable: Vec<Unreadable>,
    /// The window that the file tells, and its reserve; 0: it does not.
    pub(super) window: (u64, u64),
    learned: Learned,
}

json::json_struct! {
    /// A message of a file that is not of the file's format.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Unreadable {
        /// Its index in the history.
        pub index: u32,
        /// What is wrong with it, and where.
        pub reason: String,
    }
}

/// A session as `readSession` gave it.
const SESSION: Shape = Shape {
    what: "a session",
    members: &[
        required("messageFormat", Type::Text),
        required("messages", Type::Items),
        optional("system", Type::Raw),
        optional("tools", Type::Raw),
        optional("calls", Type::Items),
        optional("compactions", Type::Items),
        optional("window", Type::Raw),
        optional("counts", Type::Items),
    ],
    closed: false,
};
const CALL: Shape = Shape {
    what: "a call: { sent, at, usage }",
    members: &[
        required("sent", Type::Integer),
        optional("at", Type::Integer),
        optional("usage", Type::Raw),
    ],
    closed: false,
};
const USAGE: Shape = Shape {
    what: "{ inputTokens }",
    members: &[optional("inputTokens", Type::Integer)],
    closed: false,
};
const COMPACTION: Shape = Shape {
    what: "a compaction: { at, firstKeptIndex, kept, summary, head }",
    members: &[
        optional("at", Type::Integer),
        optional("firstKeptIndex", Type::Integer),
        optional("kept", Type::Items),
        optional("summary", Type::Text),
        optional("head", Type::Text),
    ],
    closed: false,
};
const WINDOW: Shape = Shape {
    what: "{ contextTokens, maxOutputTokens }",
    members: &[
        optional("contextTokens", Type::Integer),
        optional("maxOutputTokens", Type::Integer),
    ],
    closed: false,
};

#[derive(Clone, Copy, Debug)]
pub(super) struct RecordedCall {
    pub sent: u32,
    pub at: Option<i64>,
    /// Tokens of the request as the provider counted them. Files that report nothing may write zeros.
    pub usage: Option<u64>,
}

impl RecordedCall {
    fn read(json: &str) -> Result<Self> {
        let mut call = CALL.read(json).map_err(no_session)?;
        let sent =
            call.integer("sent").and_then(|sent| u32::try_from(sent).ok()).unwrap_or(u32::MAX);
        let at = call.integer("at").filter(|at| is_time(*at));
        let mut usage = USAGE.read(call.raw("usage").unwrap_or("{}")).map_err(no_session)?;
        Ok(Self { sent, at, usage: positive(usage.integer("inputTokens")) })
    }
}

fn positive(figure: Option<i64>) -> Option<u64> {
    figure.and_then(|figure| u64::try_from(figure).ok()).filter(|figure| *figure > 0)
}

/// A compaction of the session's agent; one whose place is not told stands where its first kept message does.
fn compaction(json: &str, estimator: Estimator) -> Result<HostCompaction> {
    let mut record = COMPACTION.read(json).map_err(no_session)?;
    let mut index = |name| record.integer(name).and_then(|it| u32::try_from(it).ok());
    let first_kept = index("firstKeptIndex").unwrap_or(0);
    let at = index("at").unwrap_or(first_kept);
    let range = |json: &&RawValue| {
        let ends = json::items(json).ok()?;
        let &[from, to] = ends.as_slice() else { return None };
        Some((from.parse().ok()?, to.parse().ok()?))
    };
    let mut kept: Vec<(u32, u32)> =
        record.items("kept").unwrap_or_default().iter().filter_map(range).collect();
    sort_by(&mut kept, |&(from, to)| (from.into(), to.into()));
    kept.dedup_by(|(from, to), (_, end)| {
        let overlaps = *from <= *end;
        *end = if overlaps { (*to).max(*end) } else { *end };
        overlaps
    });
    let mut text = |name| record.text(name).map_or(0, |text| estimator.tokens(&text));
    let (head, summary) = (text("head"), text("summary"));
    let or = |one, other| if one > 0 { one } else { other };
    let (head, summary) = (or(head, summary), or(summary, head));
    Ok(HostCompaction { at, first_kept, kept, head, summary })
}

/// A message that has nothing in it: no request sends it.
const NOTHING: Draft<'static> = Draft { role: Role::User, parts: Vec::new(), at_ms: None };

fn no_session(error: json::Error) -> Error {
    Error::argument("session", "what readSession gave", error.got())
}

impl Recording {
    /// Measures a session as `readSession` gave it.
    ///
    /// # Errors
    /// `InvalidArgument` for what is no session.
    pub fn parse(json: &str, estimator: Estimator) -> Result<Self> {
        let mut session = SESSION.read(json).map_err(no_session)?;
        let messages = owned(&mut session);
        Self::measured(session, messages, estimator)
    }

    /// The same with the messages apart: those in the session are not read.
    ///
    /// # Errors
    /// As `parse`.
    pub fn of(json: &str, messages: Rc<CompressedTexts>, estimator: Estimator) -> Result<Self> {
        Self::measured(SESSION.read(json).map_err(no_session)?, messages, estimator)
    }

    fn measured(
        mut session: Members<'_>,
        raw: Rc<CompressedTexts>,
        estimator: Estimator,
    ) -> Result<Self> {
        let format = format_of(&mut session, &raw)?;
        let counts = session.items("counts").unwrap_or_default();
        let counts: Vec<u32> = counts.iter().map(|one| one.parse().unwrap_or(0)).collect();
        let mut counter = Counter::new(estimator, &counts);
        let mut identifiers = Identifiers::default();
        let mut traits = RecentTraits::default();
        let (mut measures, mut unreadable) = (Vec::with_capacity(raw.len()), Vec::new());
        for (index, message) in (0u32..).zip(raw.iter()) {
            let bytes = message.as_bytes();
            let draft = format.read(bytes, index).unwrap_or_else(|error| {
                unreadable.push(Unreadable { index, reason: error.to_string() });
                NOTHING
            });
            let mut measure =
                measure(&draft, bytes, &mut counter, Some(&mut identifiers), &mut traits);
            // A recording is not kept by another session.
            measure.blocks.iter_mut().for_each(|block| block.found = None);
            measures.push(measure);
        }
        let parts = beside(&mut session);
        let calls = session.items("calls").unwrap_or_default();
        let calls = calls.into_iter().map(RecordedCall::read);
        let compactions = session.items("compactions").unwrap_or_default();
        let compactions = compactions.into_iter().map(|json| compaction(json, estimator));
        let mut compactions = compactions.collect::<Result<Vec<_>>>()?;
        sort_by(&mut compactions, |one| (i64::from(one.at), 0));
        let mut window = WINDOW.read(session.raw("window").unwrap_or("{}")).map_err(no_session)?;
        let mut size = |name| positive(window.integer(name)).unwrap_or(0);
        Ok(Self {
            compactions,
            unreadable,
            window: (size("contextTokens"), size("maxOutputTokens")),
            format,
            parts: Parts::parse(&parts, &mut counter)?,
            raw,
            measures,
            identifiers,
            calls: calls.collect::<Result<_>>()?,
            learned: counter.learned,
        })
    }

    /// The texts of a session that are counted: for a counter of the host's, whose numbers go into `counts` of the
    /// session in the same order.
    ///
    /// # Errors
    /// As `parse`.
    pub fn texts(json: &str) -> Result<Vec<String>> {
        let messages = owned(&mut SESSION.read(json).map_err(no_session)?);
        Self::texts_of(json, &messages)
    }

    /// The same with the messages apart.
    ///
    /// # Errors
    /// As `parse`.
    pub fn texts_of(json: &str, messages: &CompressedTexts) -> Result<Vec<String>> {
        let mut session = SESSION.read(json).map_err(no_session)?;
        let format = format_of(&mut session, messages)?;
        let mut all = Vec::new();
        for (index, message) in (0u32..).zip(messages.iter()) {
            let draft = format.read(message.as_bytes(), index).unwrap_or(NOTHING);
            all.extend(texts(&draft).into_iter().map(ToOwned::to_owned));
        }
        all.extend(Parts::texts(&beside(&mut session))?);
        Ok(all)
    }

    /// What the model wrote after this many messages.
    pub(super) fn answer_to(&self, sent: u32) -> &[Measure] {
        let after = self.measures.get(sent as usize..).unwrap_or(&[]);
        let speaks = |next: &&Measure| next.outline.role == Role::Assistant;
        let run = if self.format.has_runs() { after.iter().take_while(speaks).count() } else { 1 };
        after.get(..run).unwrap_or(&[])
    }

    /// Messages of the session.
    pub fn len(&self) -> u32 {
        count(self.measures.len())
    }

    /// The message after its last.
    pub(super) fn end(&self) -> MessageId {
        MessageId::at(self.measures.len())
    }

    /// It has no message.
    pub fn is_empty(&self) -> bool {
        self.measures.is_empty()
    }

    /// A session without messages, to be played or shown by these options.
    pub(super) fn session(&self, options: &Options) -> Session {
        let options = Options { is_replayed: true, ..options.clone() };
        let mut session = Session::new(options, self.format);
        session.transcript.ledger.identifiers = self.identifiers.clone();
        session.request.extras = self.parts.clone();
        set_learned(&mut session, self.learned);
        session
    }

    /// A message measured, by a factor for its tokens.
    pub(super) fn measure(&self, index: MessageId, factor: u64) -> Option<Cow<'_, Measure>> {
        let measure = self.measures.get(index.index())?;
        if factor == ONE {
            return Some(Cow::Borrowed(measure));
        }
        let mut measure = measure.clone();
        let size = |tokens: u32| u32::try_from(scaled(tokens.into(), factor)).unwrap_or(u32::MAX);
        for block in &mut measure.blocks {
            block.tokens = size(block.tokens);
            block.overhead = size(block.overhead).min(block.tokens);
        }
        Some(Cow::Owned(measure))
    }

    /// The next message comes to a session that is played.
    pub(super) fn arrive(
        &self,
        session: &mut Session,
        index: MessageId,
        measure: &Measure,
    ) -> Result<()> {
        append_measured(session, measure, None, &mut Findings::default());
        if !session.decisions.placeholders.wanted.is_empty() {
            self.supply(session, index)?;
        }
        Ok(())
    }

    pub(super) fn supply(&self, session: &mut Session, index: MessageId) -> Result<()> {
        session.supply(index, self.raw(index).as_bytes())
    }

    /// A message of the session; nothing where there is none.
    pub(super) fn raw(&self, index: MessageId) -> Text {
        self.raw.get(index.index()).unwrap_or_default()
    }
}

/// The messages of a session, as JSON.
fn owned(session: &mut Members<'_>) -> Rc<CompressedTexts> {
    Rc::new(session.items("messages").unwrap_or_default().into_iter().collect())
}

fn format_of(session: &mut Members<'_>, messages: &CompressedTexts) -> Result<Format> {
    match &*session.text("messageFormat").unwrap_or_default() {
        "auto" => {
            let first: Vec<Text> = messages.iter().take(32).collect();
            Format::detect(&first.iter().map(|json| json.as_bytes()).collect::<Vec<_>>())
        }
        name => Format::parse(name),
    }
}

/// What goes out beside the messages, as JSON.
fn beside(session: &mut Members<'_>) -> String {
    let mut part = |name| session.raw(name).unwrap_or("null");
    let (system, tools) = (part("system"), part("tools"));
    format!(r#"{{"system":{system},"tools":{tools}}}"#)
}

/// A compaction by the agent that wrote the file.
#[derive(Clone, Debug)]
pub(super) struct HostCompaction {
    /// Messages before it.
    pub at: u32,
    /// The first message kept, and ranges before it that stayed, in order and apart.
    pub first_kept: u32,
    pub kept: Vec<(u32, u32)>,
    /// Tokens of the message that replaced the others.
    pub head: u32,
    /// Tokens of the summary in that message.
    pub summary: u32,
}

impl HostCompaction {
    /// The message was no longer sent after it.
    pub(super) fn removes(&self, message: MessageId) -> bool {
        let message = message.get();
        let after = self.kept.partition_point(|&(from, _)| from <= message);
        let before = after.checked_sub(1).and_then(|at| self.kept.get(at));
        message < self.first_kept && before.is_none_or(|&(_, to)| to <= message)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_compaction_keeps_every_message_of_its_ranges(
            kept in prop::collection::vec((0u32..20, 0u32..20), 0..6),
            first_kept in 0u32..20,
        ) {
            let ranges: Vec<_> = kept.iter().map(|(from, to)| format!("[{from},{to}]")).collect();
            let json = format!(r#"{{"firstKeptIndex":{first_kept},"kept":[{}]}}"#, ranges.join(","));
            let compaction = compaction(&json, Estimator::default()).expect("a record");
            for message in 0..25 {
                let stays = message >= first_kept
                    || kept.iter().any(|(from, to)| (*from..*to).contains(&message));
                prop_assert_eq!(compaction.removes(message.into()), !stays, "{}", message);
            }
        }
    }
}
