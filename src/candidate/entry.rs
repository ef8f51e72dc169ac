//! One candidate: what was observed, how often, and what came of it (A95).

use super::similarity::{Words, similarity};
use super::state::{Kind, State};
use crate::candidate::sign::{digest, hex};
use crate::{hash, number};

/// One, as a share: scores and rates are in millionths.
pub(super) const MILLION: u64 = 1_000_000;
/// What an outcome adds to the score that it is evidence of, or takes from it.
const SUCCESS: u64 = 20_000;
const FAILURE: u64 = 50_000;
/// F136: the newest so many sources and pieces of evidence are kept.
const MOST_SOURCES: usize = 50;
const MOST_EVIDENCE: usize = 200;
/// F139: a score halves every 30 days, from the eighth day on that nothing is seen of it.
const HALF_LIFE_MS: u64 = 30 * DAY_MS as u64;
const GRACE_MS: i64 = 7 * DAY_MS;
/// Observations further apart are not of the same.
const MERGED_MS: i64 = 30 * DAY_MS;
/// A day in milliseconds.
pub(super) const DAY_MS: i64 = 86_400_000;
/// A blend of at least this is the same (F134).
const ALIKE: u64 = 500_000;
/// Of what has no tool.
const GENERAL: &str = "general";

/// Something that was learned, as the host tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// What it is.
    pub kind: Kind,
    /// The host's own sort.
    pub category: String,
    /// What was learned.
    pub content: String,
    /// The tool that it is about.
    pub tool: String,
    /// Words that it goes by, besides.
    pub tags: Vec<String>,
    /// How sure it is, in millionths.
    pub score: u64,
    /// Where it comes from.
    pub source: String,
    /// The source may make the agent do things. What one may not say is kept apart, and never promoted by itself.
    pub trusted: bool,
    /// When, in milliseconds.
    pub at: i64,
    /// What was observed was itself an attempt that succeeded, or failed.
    pub success: Option<bool>,
}

/// What came of a candidate that was acted on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each may hold by itself")]
pub struct Outcome {
    /// It did what it was to do.
    pub success: bool,
    /// It did harm.
    pub severe: bool,
    /// The user, or what is known, says otherwise.
    pub conflict: bool,
    /// It turned out to be what is not to be done.
    pub anti_pattern: bool,
    /// When, in milliseconds.
    pub at: i64,
}

/// A piece of evidence: when, and what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Evidence {
    /// When, in milliseconds.
    pub at: i64,
    /// The sum of what holds of it.
    pub flags: u8,
}

impl Evidence {
    /// An attempt that succeeded.
    pub const SUCCESS: u8 = 1;
    /// An attempt that failed.
    pub const FAILURE: u8 = 2;
    /// It did harm.
    pub const SEVERE: u8 = 4;
    /// It was contradicted.
    pub const CONFLICT: u8 = 8;
    /// It is not to be done.
    pub const ANTI_PATTERN: u8 = 16;

    /// That holds of it.
    pub const fn is(self, what: u8) -> bool {
        self.flags & what != 0
    }
}

/// A candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its name, made of what was first observed of it.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// The host's own sort.
    pub category: String,
    /// What was learned, as it was first told.
    pub content: String,
    /// The tool that it is about, in lower case.
    pub tool: String,
    /// Words that it goes by.
    pub tags: Vec<String>,
    /// Who said it may make the agent do things.
    pub trusted: bool,
    /// Where it stands.
    pub state: State,
    /// The scores of its evidence together, in millionths: the mean does not hang on the order in which they came.
    pub sum: u64,
    /// How many pieces of evidence there were.
    pub evidence: u32,
    /// Attempts that succeeded.
    pub successes: u32,
    /// Attempts that failed.
    pub failures: u32,
    /// When it was seen first.
    pub first_seen: i64,
    /// When it was seen last.
    pub last_seen: i64,
    /// The time up to which its score has decayed: kept with it, so that what passes while nothing runs counts.
    pub decayed: i64,
    /// It is not promoted before this time.
    pub cooldown: Option<i64>,
    /// Where it comes from, the newest last.
    pub sources: Vec<String>,
    /// The newest evidence, by time.
    pub log: Vec<Evidence>,
    pub(super) words: Words,
    pub(super) tag_words: Words,
    /// Of its kind, category, tool and trust: only what has the same can be the same.
    pub(super) group: u64,
}

impl Candidate {
    /// What was observed for the first time.
    pub fn new(observed: Observation) -> Self {
        let mut new = Self {
            id: name_of(&observed),
            kind: observed.kind,
            category: observed.category.clone(),
            content: observed.content.clone(),
            tool: tool(&observed.tool),
            tags: observed.tags.clone(),
            trusted: observed.trusted,
            state: State::Shadow,
            sum: 0,
            evidence: 0,
            successes: 0,
            failures: 0,
            first_seen: observed.at,
            last_seen: observed.at,
            decayed: observed.at,
            cooldown: None,
            sources: Vec::new(),
            log: Vec::new(),
            words: Words::default(),
            tag_words: Words::default(),
            group: 0,
        };
        new.index();
        new.observe(observed);
        new
    }

    /// Takes in the words of its texts.
    pub(super) fn index(&mut self) {
        self.words = Words::of(&self.content);
        self.tag_words = Words::from(self.tags.iter().map(String::as_str));
        let names = [self.kind.name(), &self.category, &self.tool];
        let hash = |hash, name: &&str| hash::bytes(hash, name.as_bytes());
        self.group = names.iter().fold(self.trusted.into(), hash);
    }

    /// How alike it is to something new, in millionths; 0: not the same. Only what is of one kind, category, tool and trust
    /// can be, and was seen in the same month.
    pub fn likeness(&self, new: &Self) -> u64 {
        let near = self.last_seen.abs_diff(new.last_seen) <= MERGED_MS.unsigned_abs();
        let same = near
            && self.trusted == new.trusted
            && self.kind == new.kind
            && self.state != State::Archived
            && self.tool == new.tool
            && self.category == new.category;
        if !same {
            return 0;
        }
        if self.content == new.content {
            return MILLION;
        }
        let words = [&self.words, &new.words];
        let alike = similarity(words, [&self.tag_words, &new.tag_words]);
        if alike < ALIKE { 0 } else { alike }
    }

    /// Takes in what is the same: its score counts for one, its state, content and tags do not.
    pub fn observe(&mut self, observed: Observation) {
        self.settle(observed.at);
        let flags = match observed.success {
            Some(true) => Evidence::SUCCESS,
            Some(false) => Evidence::FAILURE,
            None => 0,
        };
        self.add(observed.score, Evidence { at: observed.at, flags });
        self.sources.retain(|known| *known != observed.source);
        self.sources.push(observed.source);
        let over = self.sources.len().saturating_sub(MOST_SOURCES);
        self.sources.drain(..over);
    }

    /// Takes in what came of it: evidence of a score a little higher, or lower (F137).
    pub fn conclude(&mut self, outcome: Outcome) {
        self.settle(outcome.at);
        let score = if outcome.success {
            self.score().saturating_add(SUCCESS).min(MILLION)
        } else {
            self.score().saturating_sub(FAILURE)
        };
        let flags = [
            (outcome.success, Evidence::SUCCESS),
            (!outcome.success, Evidence::FAILURE),
            (outcome.severe, Evidence::SEVERE),
            (outcome.conflict, Evidence::CONFLICT),
            (outcome.anti_pattern, Evidence::ANTI_PATTERN),
        ];
        let flags = flags.iter().filter(|(holds, _)| *holds).fold(0, |all, (_, bit)| all | bit);
        self.add(score, Evidence { at: outcome.at, flags });
    }

    fn add(&mut self, score: u64, piece: Evidence) {
        self.sum = self.sum.saturating_add(score);
        self.evidence = self.evidence.saturating_add(1);
        let success = piece.is(Evidence::SUCCESS);
        self.successes = self.successes.saturating_add(u32::from(success));
        let failure = piece.is(Evidence::FAILURE);
        self.failures = self.failures.saturating_add(u32::from(failure));
        self.first_seen = self.first_seen.min(piece.at);
        self.last_seen = self.last_seen.max(piece.at);
        let place = self.log.partition_point(|known| *known <= piece);
        self.log.insert(place, piece);
        let over = self.log.len().saturating_sub(MOST_EVIDENCE);
        self.log.drain(..over);
    }

    /// The mean score of its evidence, in millionths.
    pub fn score(&self) -> u64 {
        self.sum.checked_div(self.evidence.into()).unwrap_or(0)
    }

    /// The sum of its scores as it is at a time. What was seen lately does not decay.
    pub fn sum_at(&self, at: i64) -> u64 {
        let from = self.decayed.max(self.last_seen.saturating_add(GRACE_MS));
        let elapsed = u64::try_from(at.saturating_sub(from)).unwrap_or(0);
        number::decayed(self.sum, elapsed, HALF_LIFE_MS)
    }

    /// The score as it is at a time, in millionths.
    pub fn score_at(&self, at: i64) -> u64 {
        self.sum_at(at).checked_div(self.evidence.into()).unwrap_or(0)
    }

    /// Lets the score decay up to a time.
    pub fn settle(&mut self, at: i64) {
        self.sum = self.sum_at(at);
        self.decayed = self.decayed.max(at);
    }
}

/// A tool's name as it is compared: in lower case, `general` where there is none.
fn tool(name: &str) -> String {
    let name = name.trim();
    if name.is_empty() { GENERAL.into() } else { name.to_lowercase() }
}

/// The id of what was observed for the first time: 16 hexadecimal digits.
pub(super) fn name_of(observed: &Observation) -> String {
    let name = digest(&[
        observed.kind.name().as_bytes(),
        observed.category.as_bytes(),
        observed.tool.as_bytes(),
        observed.content.as_bytes(),
        &[u8::from(observed.trusted)],
        &observed.at.to_be_bytes(),
    ]);
    hex(name.get(..8).unwrap_or_default())
}
