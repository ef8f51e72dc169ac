//! The candidates of an agent, and what becomes of them (A92, A95).

use super::entry::{Candidate, DAY_MS, Observation, Outcome};
use super::gates::Gates;
use super::index::Index;
use super::state::{Kind, State};
use crate::error::{Error, Result, listed};

/// F139: maintenance is due a day after the last.
const MAINTENANCE_MS: i64 = DAY_MS;
/// What nobody has seen for longer is archived, and then, after as long again, forgotten.
const RETENTION_MS: i64 = 90 * DAY_MS;
/// What is not to be done with a tool keeps its candidates from being promoted so long.
const WARNED_MS: i64 = 30 * DAY_MS;
/// The newest so many transitions are kept.
const MOST_TRANSITIONS: usize = 1000;

/// A candidate's change of state (F141).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Whose.
    pub id: String,
    /// From where.
    pub from: State,
    /// To where.
    pub to: State,
    /// Why, in the host's words; the code where the store decided.
    pub reason: String,
    /// What decided it.
    pub code: Code,
    /// When, in milliseconds.
    pub at: i64,
}

/// What decides a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Every gate was passed.
    PromotionGatePass,
    /// It failed too often, or was contradicted.
    DemotionRegression,
    /// Its cool-down is over.
    CooldownOver,
    /// It went into a prompt.
    Injected,
    /// Nobody has seen it for 90 days.
    Retention,
    /// The host, where no gate speaks against it.
    ManualTransition,
    /// The host, past the gates.
    ManualForce,
    /// The host takes back a promotion, past the gates.
    ManualRollback,
}

impl Code {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::PromotionGatePass,
        Self::DemotionRegression,
        Self::CooldownOver,
        Self::Injected,
        Self::Retention,
        Self::ManualTransition,
        Self::ManualForce,
        Self::ManualRollback,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PromotionGatePass => "PROMOTION_GATE_PASS",
            Self::DemotionRegression => "DEMOTION_REGRESSION",
            Self::CooldownOver => "COOLDOWN_OVER",
            Self::Injected => "INJECTED",
            Self::Retention => "RETENTION",
            Self::ManualTransition => "MANUAL_TRANSITION",
            Self::ManualForce => "MANUAL_FORCE",
            Self::ManualRollback => "MANUAL_ROLLBACK",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }
}

/// Where a candidate is to go, and why.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// Where to.
    pub to: State,
    /// Why; blank is `auto`.
    pub reason: &'a str,
    /// When, in milliseconds.
    pub at: i64,
    /// Past the gates: only what may follow what is still checked.
    pub force: bool,
}

/// The candidates of an agent.
#[derive(Clone, Debug, Default)]
pub struct Store {
    pub(super) gates: Gates,
    /// Whose they are: a file that was signed for others does not verify.
    pub(super) scope: String,
    pub(super) all: Vec<Candidate>,
    pub(super) index: Index,
    pub(super) transitions: Vec<Transition>,
    /// When maintenance was done last, in milliseconds.
    pub(super) maintained: Option<i64>,
    /// Files that were made of it and of what it was loaded from, one after the other.
    pub(super) revision: u64,
    /// Changes of any kind: what was begun on another count is out of date.
    pub(super) changes: u64,
}

impl Store {
    /// One with these gates.
    pub fn new(gates: Gates, scope: String) -> Self {
        Self { gates, scope, ..Self::default() }
    }

    /// Its candidates, in the order in which they came.
    pub fn candidates(&self) -> &[Candidate] {
        &self.all
    }

    /// The newest thousand transitions, in their order.
    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// Files that were made of it and of what it was loaded from.
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// Takes in an observation: evidence for the candidate that is most like it, or a new one.
    pub fn upsert(&mut self, observed: Observation) -> Option<&Candidate> {
        self.changed();
        let mut new = Candidate::new(observed.clone());
        let mut best = (0, 0);
        for place in self.index.near(&new) {
            let alike = self.all.get(place).map_or(0, |known| known.likeness(&new));
            // Of those that are equally like it, the oldest.
            if alike > best.0 || (alike == best.0 && place < best.1) {
                best = (alike, place);
            }
        }
        let (alike, place) = best;
        if alike > 0 {
            let known = self.all.get_mut(place)?;
            known.observe(observed);
            return Some(known);
        }
        // The same said again at the same time, of what was archived since.
        while self.place(&new.id).is_some() {
            new.id.push('+');
        }
        self.index.add(&new);
        self.all.push(new);
        self.all.last()
    }

    /// Takes in what came of a candidate.
    ///
    /// # Errors
    /// `InvalidArgument` if there is none of that id.
    pub fn conclude(&mut self, id: &str, outcome: Outcome) -> Result<&Candidate> {
        let place = self.place(id);
        if let Some(candidate) = place.and_then(|place| self.all.get_mut(place)) {
            candidate.conclude(outcome);
            self.changed();
        }
        self.find(id)
    }

    /// Moves what is due: maintenance once a day, then what has cooled down, then promotions, then demotions. Each candidate
    /// moves at most once, and what has moved is told.
    pub fn evaluate(&mut self, at: i64) -> Vec<Transition> {
        self.changed();
        let before = self.transitions.len();
        let due = |last: i64| at >= last.saturating_add(MAINTENANCE_MS);
        if self.maintained.is_none_or(due) {
            self.maintain(at);
        }
        let warned = self.warned(at);
        let mut steps: [Vec<(usize, State, Code)>; 3] = Default::default();
        let [cooled, promoted, demoted] = &mut steps;
        for (place, it) in self.all.iter().enumerate() {
            if Gates::cooled(it, at) {
                cooled.push((place, State::Shadow, Code::CooldownOver));
            } else if it.state == State::Shadow
                && !warned.contains(&it.tool.as_str())
                && self.gates.stops(it, at).is_none()
            {
                promoted.push((place, State::Promoted, Code::PromotionGatePass));
            } else if self.gates.demotes(it, at) {
                demoted.push((place, State::Demoted, Code::DemotionRegression));
            }
        }
        for (place, to, code) in steps.into_iter().flatten() {
            self.go(place, to, code, code.name(), at);
        }
        let moved = self.transitions.get(before..).unwrap_or_default().to_vec();
        self.forget_transitions();
        moved
    }

    /// Scores decay; what nobody has seen is archived, and in the end forgotten.
    fn maintain(&mut self, at: i64) {
        self.maintained = Some(at);
        let unseen = |it: &Candidate| at.saturating_sub(it.last_seen);
        let before = self.all.len();
        self.all.retain(|it| unseen(it) <= 2 * RETENTION_MS);
        if self.all.len() < before {
            self.index = Index::of(&self.all);
        }
        for it in &mut self.all {
            it.settle(at);
        }
        for place in 0..self.all.len() {
            let old = |it: &Candidate| unseen(it) > RETENTION_MS && !it.state.is_over();
            if self.all.get(place).is_some_and(old) {
                self.go(place, State::Archived, Code::Retention, Code::Retention.name(), at);
            }
        }
    }

    /// Tools of which somebody trusted has said lately what is not to be done with them, each once.
    fn warned(&self, at: i64) -> Vec<&str> {
        let fresh = at.saturating_sub(WARNED_MS);
        let warns = |it: &&Candidate| {
            it.kind == Kind::AntiPattern
                && it.trusted
                && !it.state.is_over()
                && it.last_seen >= fresh
        };
        let mut tools: Vec<&str> = Vec::new();
        for it in self.all.iter().filter(warns) {
            if !tools.contains(&it.tool.as_str()) {
                tools.push(&it.tool);
            }
        }
        tools
    }

    /// Moves a candidate, as the host wants it.
    ///
    /// # Errors
    /// `InvalidArgument` if there is none of that id, if that state may not follow, or, without `force`, names the gate that
    /// speaks against it.
    pub fn transition(&mut self, id: &str, change: Change<'_>) -> Result<&Candidate> {
        let Change { to, reason, at, force } = change;
        let candidate = self.find(id)?;
        let (from, next) = (candidate.state, candidate.state.next());
        if !next.contains(&to) {
            let names: Vec<&str> = next.iter().map(|state| state.name()).collect();
            let allowed = if next.is_empty() {
                format!("no change: nothing follows {}", from.name())
            } else {
                format!("one of {}", listed(&names, ""))
            };
            return Err(Error::argument("to", &allowed, to.name()));
        }
        if let Some(gate) = self.stops(candidate, to, at).filter(|_| !force) {
            let expected = format!("{} where every gate is passed, or `force`", to.name());
            return Err(Error::argument("to", &expected, gate));
        }
        let code = match (force, to) {
            (false, _) => Code::ManualTransition,
            (true, State::Demoted) => Code::ManualRollback,
            (true, _) => Code::ManualForce,
        };
        let place = self.place(id).unwrap_or_default();
        let reason = reason.trim();
        self.changed();
        self.go(place, to, code, if reason.is_empty() { "auto" } else { reason }, at);
        self.forget_transitions();
        self.find(id)
    }

    /// What speaks against a step that the host wants, by its name.
    fn stops(&self, candidate: &Candidate, to: State, at: i64) -> Option<&'static str> {
        match to {
            State::Promoted if candidate.state != State::InUse => {
                let warned = || self.warned(at).contains(&candidate.tool.as_str());
                let stop = self.gates.stops(candidate, at);
                stop.or_else(|| warned().then_some("an anti-pattern of its tool"))
            }
            State::Demoted if !self.gates.demotes(candidate, at) => Some("no regression"),
            State::Shadow if !Gates::cooled(candidate, at) => Some("demotionCooldownMs"),
            State::Shadow
            | State::Promoted
            | State::InUse
            | State::Demoted
            | State::Archived
            | State::Rejected => None,
        }
    }

    /// Which of these stand in a prompt as they were told: all that are known, or none where their section was left out or
    /// cut (A33). They are in use from now on.
    pub fn inject(&mut self, ids: &[String], is_complete: bool, at: i64) -> Vec<String> {
        let mut injected = Vec::new();
        if !is_complete {
            return injected;
        }
        self.changed();
        for id in ids {
            let Some(place) = self.place(id) else { continue };
            injected.push(id.clone());
            if self.all.get(place).is_some_and(|it| it.state == State::Promoted) {
                self.go(place, State::InUse, Code::Injected, Code::Injected.name(), at);
            }
        }
        self.forget_transitions();
        injected
    }

    fn go(&mut self, place: usize, to: State, code: Code, reason: &str, at: i64) {
        let cooldown = at.saturating_add(self.gates.demotion_cooldown_ms);
        let Some(candidate) = self.all.get_mut(place) else { return };
        let (id, from) = (candidate.id.clone(), candidate.state);
        candidate.state = to;
        match to {
            State::Demoted => candidate.cooldown = Some(cooldown),
            State::Promoted => candidate.cooldown = None,
            State::Shadow | State::InUse | State::Archived | State::Rejected => {}
        }
        self.transitions.push(Transition { id, from, to, reason: reason.into(), code, at });
    }

    fn forget_transitions(&mut self) {
        let over = self.transitions.len().saturating_sub(MOST_TRANSITIONS);
        self.transitions.drain(..over);
    }

    fn changed(&mut self) {
        self.changes = self.changes.wrapping_add(1);
    }

    fn place(&self, id: &str) -> Option<usize> {
        let is_it = |it: &Candidate| it.id == id;
        let place = self.index.place(id)?;
        // Two ids of one hash: the index knows the first only.
        if self.all.get(place).is_some_and(is_it) {
            return Some(place);
        }
        self.all.iter().position(is_it)
    }

    fn find(&self, id: &str) -> Result<&Candidate> {
        let found = self.place(id).and_then(|place| self.all.get(place));
        found.ok_or_else(|| Error::argument("id", "the id of a candidate", format_args!("{id:?}")))
    }
}
