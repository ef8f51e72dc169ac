//! Gates: conditions for promoting a candidate, and for demoting it (A93, A94).

use super::entry::{Candidate, DAY_MS, Evidence};
use super::state::{Kind, State};
use crate::error::{Error, Result};
use crate::json::{Object, RawValue, is_integer};
use crate::number::decimal;

/// One, as a share.
const MILLION: i64 = 1_000_000;

/// The figures of the gates. Shares are in millionths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gates {
    /// Pieces of evidence that a promotion takes.
    pub min_evidence: i64,
    /// Attempts within the window that it takes.
    pub min_attempts: i64,
    /// Its score is at least this.
    pub min_score: i64,
    /// Of the attempts within the window at most this share failed.
    pub max_failure_rate: i64,
    /// The last attempts within the window did not fail more often than this in a row.
    pub max_consecutive_failures: i64,
    /// Attempts, contradictions and anti-patterns count so long.
    pub rolling_window_ms: i64,
    /// What did harm counts so long.
    pub severe_failure_lookback_ms: i64,
    /// Attempts within the window before anything is demoted.
    pub demotion_min_attempts: i64,
    /// Of them this share failed, or more: demoted.
    pub demotion_failure_rate: i64,
    /// So often contradicted: demoted.
    pub correction_conflicts: i64,
    /// What was demoted is not promoted before this has passed.
    pub demotion_cooldown_ms: i64,
    /// The host's sorts that may be promoted; none: all.
    pub categories: Vec<String>,
}

impl Default for Gates {
    fn default() -> Self {
        Self {
            min_evidence: 2,
            min_attempts: 2,
            min_score: 750_000,
            max_failure_rate: 200_000,
            max_consecutive_failures: 3,
            rolling_window_ms: 14 * DAY_MS,
            severe_failure_lookback_ms: 7 * DAY_MS,
            demotion_min_attempts: 4,
            demotion_failure_rate: 600_000,
            correction_conflicts: 2,
            demotion_cooldown_ms: 3 * DAY_MS,
            categories: Vec::new(),
        }
    }
}

/// What a figure may be.
#[derive(Clone, Copy)]
enum Range {
    Share,
    /// From this on, to a million.
    Count(i64),
    /// Milliseconds from this on, to ten years.
    Duration(i64),
}

const NAMES: [&str; 11] = [
    "minEvidence",
    "minAttempts",
    "minScore",
    "maxFailureRate",
    "maxConsecutiveFailures",
    "rollingWindowMs",
    "severeFailureLookbackMs",
    "demotionMinAttempts",
    "demotionFailureRate",
    "correctionConflicts",
    "demotionCooldownMs",
];

/// What counts of a candidate's evidence at a time.
struct Tally {
    attempts: i64,
    failures: i64,
    /// Failures since the last success.
    in_a_row: i64,
    conflicts: i64,
    severe: bool,
    anti_pattern: bool,
}

impl Gates {
    /// The figures that the host gives, the usual ones for the others.
    ///
    /// # Errors
    /// `InvalidArgument` names the figure and what it may be.
    pub fn parse(json: &RawValue) -> Result<Self> {
        let mut gates = Self::default();
        let all = Object::read(json)
            .map_err(|_| Error::argument("gates", "an object with numbers", json))?;
        for (name, value) in all {
            let path = format!("gates.{name}");
            let (figure, range) =
                gates.figure(&name).ok_or_else(|| Error::unknown_option(&path, &NAMES, value))?;
            *figure = range.read(&path, value)?;
        }
        Ok(gates)
    }

    fn figure(&mut self, name: &str) -> Option<(&mut i64, Range)> {
        Some(match name {
            "minEvidence" => (&mut self.min_evidence, Range::Count(1)),
            "minAttempts" => (&mut self.min_attempts, Range::Count(0)),
            "minScore" => (&mut self.min_score, Range::Share),
            "maxFailureRate" => (&mut self.max_failure_rate, Range::Share),
            "maxConsecutiveFailures" => (&mut self.max_consecutive_failures, Range::Count(0)),
            "rollingWindowMs" => (&mut self.rolling_window_ms, Range::Duration(1)),
            "severeFailureLookbackMs" => (&mut self.severe_failure_lookback_ms, Range::Duration(0)),
            "demotionMinAttempts" => (&mut self.demotion_min_attempts, Range::Count(1)),
            "demotionFailureRate" => (&mut self.demotion_failure_rate, Range::Share),
            "correctionConflicts" => (&mut self.correction_conflicts, Range::Count(1)),
            "demotionCooldownMs" => (&mut self.demotion_cooldown_ms, Range::Duration(0)),
            _ => return None,
        })
    }

    /// The first gate that keeps a candidate from being promoted, by its name; none: it may be.
    pub fn stops(&self, candidate: &Candidate, at: i64) -> Option<&'static str> {
        let tally = self.tally(candidate, at);
        let sum = i64::try_from(candidate.sum_at(at)).unwrap_or(i64::MAX);
        let allowed = self.categories.is_empty() || self.categories.contains(&candidate.category);
        let stops = [
            ("kind", candidate.kind == Kind::AntiPattern),
            ("trusted", !candidate.trusted),
            ("categories", !allowed),
            ("demotionCooldownMs", candidate.cooldown.is_some_and(|until| until > at)),
            ("minEvidence", i64::from(candidate.evidence) < self.min_evidence),
            ("minScore", sum < self.min_score.saturating_mul(candidate.evidence.into())),
            ("minAttempts", tally.attempts < self.min_attempts),
            ("maxFailureRate", tally.rate_beyond(self.max_failure_rate)),
            ("maxConsecutiveFailures", tally.in_a_row > self.max_consecutive_failures),
            ("severeFailureLookbackMs", tally.severe),
            ("antiPattern", tally.anti_pattern),
            // What would be demoted at once is not promoted.
            ("regression", self.regressed(&tally)),
        ];
        stops.into_iter().find(|(_, stops)| *stops).map(|(name, _)| name)
    }

    /// Whether what is promoted has failed too often, or was contradicted.
    pub fn demotes(&self, candidate: &Candidate, at: i64) -> bool {
        candidate.state.is_live() && self.regressed(&self.tally(candidate, at))
    }

    /// Whether the cool-down of what was demoted is over.
    pub fn cooled(candidate: &Candidate, at: i64) -> bool {
        candidate.state == State::Demoted && candidate.cooldown.is_none_or(|until| until <= at)
    }

    fn regressed(&self, tally: &Tally) -> bool {
        tally.attempts >= self.demotion_min_attempts
            && (tally.failures.saturating_mul(MILLION)
                >= self.demotion_failure_rate.saturating_mul(tally.attempts)
                || tally.conflicts >= self.correction_conflicts)
    }

    fn tally(&self, candidate: &Candidate, at: i64) -> Tally {
        let window = at.saturating_sub(self.rolling_window_ms);
        let lookback = at.saturating_sub(self.severe_failure_lookback_ms);
        let recent = || candidate.log.iter().filter(|piece| piece.at >= window);
        let count = |what| {
            let all = recent().filter(|piece| piece.is(what)).count();
            i64::try_from(all).unwrap_or(i64::MAX)
        };
        let failures = count(Evidence::FAILURE);
        let attempts = || recent().rev().filter(|it| it.is(Evidence::SUCCESS | Evidence::FAILURE));
        let in_a_row = attempts().take_while(|piece| piece.is(Evidence::FAILURE)).count();
        Tally {
            attempts: failures.saturating_add(count(Evidence::SUCCESS)),
            failures,
            in_a_row: i64::try_from(in_a_row).unwrap_or(i64::MAX),
            conflicts: count(Evidence::CONFLICT),
            severe: candidate
                .log
                .iter()
                .any(|piece| piece.is(Evidence::SEVERE) && piece.at >= lookback),
            anti_pattern: recent().any(|piece| piece.is(Evidence::ANTI_PATTERN)),
        }
    }
}

impl Tally {
    fn rate_beyond(&self, most: i64) -> bool {
        self.failures.saturating_mul(MILLION) > most.saturating_mul(self.attempts)
    }
}

impl Range {
    fn read(self, place: &str, value: &RawValue) -> Result<i64> {
        let number = value.starts_with(|char: char| char == '-' || char.is_ascii_digit());
        let (read, low, high) = match self {
            Self::Share => (decimal(value, 6), 0, MILLION),
            Self::Count(low) => (integer(value), low, 1_000_000),
            Self::Duration(low) => (integer(value), low, 3650 * DAY_MS),
        };
        read.filter(|read| number && (low..=high).contains(read))
            .ok_or_else(|| Error::argument(place, &self.allowed(), value))
    }

    fn allowed(self) -> String {
        match self {
            Self::Share => "a share, 0 to 1".into(),
            Self::Count(low) => format!("a whole number, {low} to 1000000"),
            Self::Duration(low) => format!("whole milliseconds, {low} to {}", 3650 * DAY_MS),
        }
    }
}

fn integer(value: &RawValue) -> Option<i64> {
    if is_integer(value) { value.parse().ok() } else { None }
}
