//! Tasks of a compaction job: the messages of each call, and the calls that depend on earlier ones.

use std::borrow::Cow;
use std::ops::Range;

use super::chunk::{LEAST_MESSAGES, by_most, by_share, is_oversized, share_permille, with_margin};
use super::flat::Message;
use super::options::Options;
use super::prompt::{Ask, Job, Kind, TURN_HEADINGS, fence_tokens, job};
use super::verify::missing;
use crate::text::{Cut, head_tail};

/// G34: a call is made smaller by a quarter, down to so many tokens.
const LEAST_INPUT: u32 = 500;
/// Under so many tokens of messages a window is no use.
const LEAST_ROOM: u32 = 300;
/// A part of fewer tokens is its own summary.
const LEAST_CHUNK: u32 = 200;
/// F32: a summary costs no more, unless the host or its template asks for more.
const MOST_SUMMARY: u32 = 8_000;

/// Which text a call is about: that of the history, or of the turn whose rest is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    History,
    Turn,
}

/// How far a call has come.
pub(super) enum Stage {
    Waiting,
    Asked(u32),
    Answered(String),
    /// Its text went into a merge.
    Merged,
}

pub(super) enum Input {
    Messages(Range<usize>),
    Texts(Vec<String>),
}

/// A call, from its first attempt to its answer.
pub(super) struct Task {
    pub(super) line: Line,
    pub(super) kind: Kind,
    pub(super) input: Input,
    /// Its answer is the line's.
    pub(super) last: bool,
    pub(super) place: Option<(usize, usize)>,
    pub(super) stage: Stage,
    pub(super) summarizer: usize,
    pub(super) attempt: u32,
    pub(super) complaint: Option<String>,
    /// Tokens that its texts may have, once it was made smaller; how often that was.
    pub(super) most: Option<u32>,
    pub(super) shrunk: u32,
    /// Characters that its answer may have.
    pub(super) answer_chars: u32,
}

/// Says that no call can be made, whatever is asked.
pub(super) struct NoRoom;

impl Task {
    fn new(line: Line, kind: Kind, input: Input, last: bool) -> Self {
        Self {
            line,
            kind,
            input,
            last,
            place: None,
            stage: Stage::Waiting,
            summarizer: 0,
            attempt: 1,
            complaint: None,
            most: None,
            shrunk: 0,
            answer_chars: 0,
        }
    }

    /// What was answered, as long as nothing was made of it.
    pub(super) fn body(&self) -> Option<&str> {
        if let Stage::Answered(text) = &self.stage { Some(text) } else { None }
    }

    /// Three quarters of its input from now on (F108). False: it is as small as it gets.
    pub(super) fn shrink(&mut self, messages: &[Message], options: &Options) -> bool {
        let (texts, _) = self.texts(messages, options);
        let tokens = texts.iter().map(|text| options.tokens(text)).fold(0, u32::saturating_add);
        let most = (tokens / 4).saturating_mul(3).max(LEAST_INPUT);
        self.shrunk = self.shrunk.saturating_add(1);
        let smaller = most < tokens;
        if smaller {
            self.most = Some(most);
        }
        smaller
    }

    /// The texts that are fed, and how many there would be.
    pub(super) fn texts<'t>(
        &'t self,
        messages: &'t [Message],
        options: &Options,
    ) -> (Vec<Cow<'t, str>>, usize) {
        let all: Vec<&str> = match &self.input {
            Input::Messages(range) => messages
                .get(range.clone())
                .unwrap_or_default()
                .iter()
                .map(|message| message.text.as_str())
                .collect(),
            Input::Texts(texts) => texts.iter().map(String::as_str).collect(),
        };
        let count = all.len();
        let Some(most) = self.most else {
            return (all.into_iter().map(Cow::Borrowed).collect(), count);
        };
        let measure = |text: &str| options.tokens(text);
        if self.kind == Kind::Merge {
            let each = most.checked_div(u32::try_from(count).unwrap_or(u32::MAX)).unwrap_or(most);
            return (
                all.into_iter().map(|text| head_tail(text, each, Cut::TOKENS, measure)).collect(),
                count,
            );
        }
        // G34: the newest that fit.
        let mut left = most;
        let mut kept: Vec<Cow<'t, str>> = Vec::new();
        for text in all.into_iter().rev() {
            let tokens = measure(text);
            if tokens > left {
                if kept.is_empty() {
                    kept.push(head_tail(text, left, Cut::TOKENS, measure));
                }
                break;
            }
            left = left.saturating_sub(tokens);
            kept.push(Cow::Borrowed(text));
        }
        kept.reverse();
        (kept, count)
    }

    /// The call as it is put to a summarizer.
    pub(super) fn job(&self, messages: &[Message], options: &Options) -> Job {
        let (texts, of) = self.texts(messages, options);
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let note = (texts.len() < of)
            .then(|| format!("Showing {} of {of} messages (recent messages only).", texts.len()));
        let input: u32 = texts.iter().map(|text| options.tokens(text)).fold(0, u32::saturating_add);
        let previous = self.previous(options);
        let ask = Ask {
            kind: self.kind,
            texts: &texts,
            place: self.place,
            previous: previous.as_deref(),
            headings: self.headings(options),
            output_tokens: output_tokens(input, options),
            attempt: self.attempt,
            complaint: self.complaint.as_deref(),
            checkpoint: self.last && options.checkpoint.makes,
            note: note.as_deref(),
        };
        job(ask, options)
    }

    /// The previous summary, for the call that writes the next; no more of it than half the window takes.
    fn previous<'o>(&self, options: &'o Options) -> Option<Cow<'o, str>> {
        let previous =
            options.previous.as_deref().filter(|_| self.last && self.line == Line::History)?;
        let most = if options.window == 0 { u32::MAX } else { options.window / 3 };
        Some(head_tail(previous, most, Cut::TOKENS, |text| options.tokens(text)))
    }

    pub(super) fn headings(&self, options: &Options) -> &'static [&'static str] {
        match (self.last && !options.checkpoint.makes, self.line) {
            (false, _) => &[],
            (true, Line::History) => options.template.headings(),
            (true, Line::Turn) => &TURN_HEADINGS,
        }
    }

    /// Its answer costs less: than what it is made of, and than there is room for.
    pub(super) fn below(&self, messages: &[Message], room: u32, options: &Options) -> u32 {
        if self.last {
            let cap = output_tokens(u32::MAX, options).max(MOST_SUMMARY);
            return room.min(cap);
        }
        let (texts, _) = self.texts(messages, options);
        texts.iter().map(|text| options.tokens(text)).fold(0, u32::saturating_add)
    }

    /// Tokens of texts that it may have beside its own words.
    fn limit(&self, options: &Options) -> Result<u32, NoRoom> {
        if options.window == 0 {
            return Ok(u32::MAX);
        }
        let previous = self.previous(options);
        let headings = self.headings(options);
        let complaint = missing(headings);
        let empty = Ask {
            kind: self.kind,
            texts: &[],
            place: Some((1, 99)),
            previous: previous.as_deref(),
            headings,
            output_tokens: output_tokens(u32::MAX, options),
            attempt: 1,
            complaint: Some(&complaint),
            checkpoint: self.last && options.checkpoint.makes,
            note: None,
        };
        let words = job(empty, options).input_tokens;
        let left =
            options.window.saturating_sub(output_tokens(u32::MAX, options)).saturating_sub(words);
        let left = with_margin(left);
        if left < LEAST_ROOM { Err(NoRoom) } else { Ok(left) }
    }
}

/// F102: tokens for an answer, within the host's word and a quarter of the window.
fn output_tokens(input: u32, options: &Options) -> u32 {
    let most =
        options.max_tokens.unwrap_or_else(|| options.template.output_tokens(input, options.window));
    let window = if options.window == 0 { u32::MAX } else { options.window / 4 };
    most.min(window).min(options.room).max(1)
}

/// The first calls of a line: one, or one for each chunk. Messages that are too large for any are noted instead (F091).
pub(super) fn first(
    line: Line,
    range: Range<usize>,
    messages: &mut [Message],
    options: &Options,
) -> Result<Vec<Task>, NoRoom> {
    let kind = match line {
        Line::Turn => Kind::TurnPrefix,
        Line::History if options.previous.is_some() => Kind::Update,
        Line::History => Kind::Full,
    };
    let single = Task::new(line, kind, Input::Messages(range.clone()), true);
    let part = Task::new(line, Kind::Chunk, Input::Messages(range.clone()), false);
    let (limit, part_limit) = (single.limit(options)?, part.limit(options)?);
    let offset = range.start;
    let own = messages.get_mut(range).unwrap_or_default();
    for message in own.iter_mut() {
        if is_oversized(message.tokens, options.window) || message.tokens > part_limit {
            message.omit();
            message.tokens = options.tokens(&message.text);
        }
    }
    let tokens: Vec<u32> = own.iter().map(|message| message.tokens).collect();
    let total = tokens.iter().copied().fold(0, u32::saturating_add);
    let share =
        u64::from(options.window).saturating_mul(share_permille(&tokens, options.window)) / 1000;
    let share = u32::try_from(share).unwrap_or(u32::MAX);
    let few = tokens.len() < LEAST_MESSAGES || options.window == 0;
    if total <= limit && (few || total <= share) {
        return Ok(vec![single]);
    }
    let most = with_margin(share).min(part_limit).max(1);
    let mut tasks = Vec::new();
    for shared in by_share(&tokens, total.div_ceil(most)) {
        let inner = tokens.get(shared.clone()).unwrap_or_default();
        for cut in by_most(inner, part_limit) {
            let at = |place: usize| offset.saturating_add(shared.start).saturating_add(place);
            tasks.push(Task::new(
                line,
                Kind::Chunk,
                Input::Messages(at(cut.start)..at(cut.end)),
                false,
            ));
        }
    }
    let of = tasks.len();
    for (at, task) in tasks.iter_mut().enumerate() {
        task.place = Some((at.saturating_add(1), of));
        let (texts, _) = task.texts(messages, options);
        let text = texts.concat();
        if options.tokens(&text) < LEAST_CHUNK {
            task.stage = Stage::Answered(text);
        }
    }
    Ok(tasks)
}

/// Merges of what a line's calls have told: one that is the line's last, or as many as their window asks for.
pub(super) fn merges(
    line: Line,
    texts: Vec<String>,
    options: &Options,
) -> Result<(Vec<Task>, usize), NoRoom> {
    let last = Task::new(line, Kind::Merge, Input::Texts(Vec::new()), true);
    let limit = last.limit(options)?;
    let measure = |text: &str| options.tokens(text);
    let fence = fence_tokens(options);
    let half = (limit / 2).saturating_sub(fence);
    let texts: Vec<String> =
        texts.iter().map(|text| head_tail(text, half, Cut::TOKENS, measure).into_owned()).collect();
    let tokens: Vec<u32> = texts.iter().map(|text| measure(text).saturating_add(fence)).collect();
    let groups = by_most(&tokens, limit);
    let count = texts.len();
    if groups.len() <= 1 {
        return Ok((vec![Task { input: Input::Texts(texts), ..last }], count));
    }
    // One that would be alone waits for the next round.
    let taken: usize =
        groups.iter().filter(|group| group.len() > 1).map(ExactSizeIterator::len).sum();
    let of =
        |group: &Range<usize>| Input::Texts(texts.get(group.clone()).unwrap_or_default().to_vec());
    let merges = groups.iter().filter(|group| group.len() > 1);
    Ok((merges.map(|group| Task::new(line, Kind::Merge, of(group), false)).collect(), taken))
}
