//! States and steps of the protocol.

use stateright::{Model, Property};

use crate::properties;
use crate::session::{Fold, Plan, Session};

pub(crate) const GATEWAYS: u8 = 3;

/// The protocol, with guards that a test switches off to see what they are for.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each guard is a switch of its own")]
pub struct Protocol {
    pub steps: Steps,
    /// A commit names the revision that it goes on from.
    pub compares_revisions: bool,
    /// After a conflict the stored session is taken in.
    pub merges: bool,
    /// If both have folded, the session goes on from the stored one.
    pub prefers_theirs: bool,
    /// A plan is carried out only on the session that it was made for.
    pub checks_plan: bool,
    /// That session is known by its summary, and not only by how many compactions it had.
    pub knows_summary: bool,
    /// A record is compared and replaced under a lock.
    pub locks: bool,
    /// Whoever replaces a record looks first whether the lock was taken away.
    pub checks_lock: bool,
    /// A record is written beside the old one and renamed.
    pub renames: bool,
}

/// How much may happen.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// Messages that may go: cuts are from 1 to this.
    pub messages: u8,
    /// Plans of each gateway.
    pub plans: [u8; GATEWAYS as usize],
    /// The first gateways have one pin each.
    pub pins: u8,
    pub unpins: bool,
    pub kills: u8,
    /// Lost answers, late commits and stolen locks.
    pub losses: u8,
    /// No save begins once the store has so many revisions.
    pub revisions: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(crate) gateways: Vec<Gateway>,
    pub(crate) record: Session,
    pub(crate) revision: u8,
    /// Half of a record is where the record should be.
    pub(crate) is_torn: bool,
    pub(crate) lock: Option<u8>,
    pub(crate) late: Option<Late>,
    /// Pins that a gateway let go, and those of them that are gone from the store.
    pub(crate) unpinned: u8,
    pub(crate) removed: u8,
    pub(crate) kills: u8,
    pub(crate) losses: u8,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Gateway {
    pub(crate) session: Session,
    pub(crate) plan: Option<Plan>,
    pub(crate) plans: u8,
    /// The stored session that this one goes on from, and its revision.
    pub(crate) base: Session,
    pub(crate) revision: u8,
    /// The commit that is under way, or whose answer was lost; and the one before it, if its answer was lost.
    pub(crate) sent: Option<Session>,
    pub(crate) before: Option<Session>,
    pub(crate) saving: Saving,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Saving {
    #[default]
    Idle,
    Sent,
    /// Revisions were compared; this one is being written.
    Writing(u8),
    Made(u8),
    Refused,
}

/// A commit that reaches the store after its gateway has given it up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Late {
    pub(crate) session: Session,
    pub(crate) expected: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Decides a cut, and asks the summarizer.
    Plan {
        by: u8,
        cut: u8,
    },
    /// Carries the plan out on the session as it is by now. The host may do so again.
    Carry {
        by: u8,
    },
    Pin {
        by: u8,
    },
    Unpin {
        by: u8,
        pin: u8,
    },
    /// Takes a snapshot and hands it to the store.
    Save {
        by: u8,
    },
    /// Takes the lock and compares revisions.
    Take {
        by: u8,
    },
    /// Replaces the record and gives the lock back.
    Write {
        by: u8,
    },
    /// Gets the answer that the commit was made.
    Hear {
        by: u8,
    },
    /// Loads the record after a conflict, takes it in and tries again.
    Merge {
        by: u8,
    },
    /// Gets no answer: the commit was made, was refused, or is late.
    Lose {
        by: u8,
    },
    /// The late commit reaches the store.
    Arrive,
    /// The lock is taken away from a gateway that seems to be dead.
    Steal,
    /// A gateway is killed, and a new process goes on from the store.
    Kill {
        by: u8,
    },
}

impl Protocol {
    /// With every guard.
    pub fn new(steps: Steps) -> Self {
        Self {
            steps,
            compares_revisions: true,
            merges: true,
            prefers_theirs: true,
            checks_plan: true,
            knows_summary: true,
            locks: true,
            checks_lock: true,
            renames: true,
        }
    }

    /// The session after the plan of this gateway, unless it is refused.
    pub(crate) fn carried(&self, gateway: &Gateway) -> Option<Session> {
        let (plan, session) = (gateway.plan.as_ref()?, &gateway.session);
        let is_known = if self.knows_summary {
            plan.previous == session.summary
        } else {
            plan.previous.len() == usize::from(session.folds)
        };
        (is_known || !self.checks_plan).then(|| session.folded(plan))
    }

    /// Whether this gateway is about to replace the record.
    pub(crate) fn may_write(&self, state: &State, by: u8) -> bool {
        let is_writing = matches!(state.gateways[usize::from(by)].saving, Saving::Writing(_));
        is_writing && (!self.locks || !self.checks_lock || state.lock == Some(by))
    }
}

impl State {
    fn gateway(&mut self, by: u8) -> &mut Gateway {
        &mut self.gateways[usize::from(by)]
    }

    fn replace(&mut self, session: Session, revision: u8) {
        self.removed |= self.record.pins & !session.pins;
        (self.record, self.revision) = (session, revision);
    }

    fn release(&mut self, by: u8) {
        self.lock = self.lock.filter(|&owner| owner != by);
    }
}

impl Gateway {
    /// Goes on from a stored session.
    fn opened(record: &Session, revision: u8, plans: u8) -> Self {
        Self { session: record.clone(), base: record.clone(), revision, plans, ..Self::default() }
    }

    fn has_news(&self) -> bool {
        self.session != self.base || self.sent.is_some()
    }

    fn send(&mut self) {
        self.before = self.sent.replace(self.session.clone());
        self.saving = Saving::Sent;
    }

    fn settle(&mut self, base: Session, revision: u8) {
        (self.base, self.revision) = (base, revision);
        (self.sent, self.before, self.saving) = (None, None, Saving::Idle);
    }

    /// `#commit` of `js/store/commits.ts` after a conflict.
    fn take_in(&mut self, protocol: &Protocol, record: &Session, revision: u8) {
        if self.sent.as_ref() == Some(record) {
            return self.settle(record.clone(), revision);
        }
        let is_own = self.before.as_ref() == Some(record);
        if protocol.merges && revision > 0 && !is_own {
            self.session = self.session.merged(record, &self.base, protocol.prefers_theirs);
        }
        self.settle(record.clone(), revision);
        if is_own || self.session != self.base {
            self.send();
        }
    }
}

impl Model for Protocol {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            gateways: vec![Gateway::default(); usize::from(GATEWAYS)],
            record: Session::default(),
            revision: 0,
            is_torn: false,
            lock: None,
            late: None,
            unpinned: 0,
            removed: 0,
            kills: 0,
            losses: 0,
        }]
    }

    fn actions(&self, state: &State, steps: &mut Vec<Step>) {
        let limits = &self.steps;
        let may_lose = state.losses < limits.losses;
        for (by, it) in (0..).zip(&state.gateways) {
            if it.plans < limits.plans[usize::from(by)] {
                let cuts = it.session.start + 1..=limits.messages;
                steps.extend(cuts.map(|cut| Step::Plan { by, cut }));
            }
            // Without a check a plan could be carried out for ever.
            if it.plan.is_some() && it.session.folds <= limits.messages {
                steps.push(Step::Carry { by });
            }
            if by < limits.pins && (it.session.pins | state.unpinned) & (1 << by) == 0 {
                steps.push(Step::Pin { by });
            }
            let pinned = (0..limits.pins).filter(|pin| it.session.pins & (1 << pin) != 0);
            steps.extend(pinned.filter(|_| limits.unpins).map(|pin| Step::Unpin { by, pin }));
            match it.saving {
                // A save that neither brings nor finds anything is left out.
                Saving::Idle
                    if state.revision < limits.revisions
                        && (it.has_news() || it.revision < state.revision) =>
                {
                    steps.push(Step::Save { by });
                }
                Saving::Sent if state.lock.is_none() => steps.push(Step::Take { by }),
                Saving::Writing(_) => steps.push(Step::Write { by }),
                Saving::Made(_) => steps.push(Step::Hear { by }),
                Saving::Refused => steps.push(Step::Merge { by }),
                Saving::Idle | Saving::Sent => {}
            }
            let may_be_late = it.saving == Saving::Sent && state.late.is_none();
            let is_answered = matches!(it.saving, Saving::Made(_) | Saving::Refused);
            if may_lose && (is_answered || may_be_late) {
                steps.push(Step::Lose { by });
            }
            if state.kills < limits.kills {
                steps.push(Step::Kill { by });
            }
        }
        if state.late.is_some() && state.lock.is_none() {
            steps.push(Step::Arrive);
        }
        if may_lose && state.lock.is_some() {
            steps.push(Step::Steal);
        }
    }

    fn next_state(&self, last: &State, step: Step) -> Option<State> {
        let mut state = last.clone();
        match step {
            Step::Plan { by, cut } => {
                let it = state.gateway(by);
                let fold = Fold { by, number: it.plans, cut };
                it.plan = Some(Plan { fold, previous: it.session.summary.clone() });
                it.plans += 1;
            }
            Step::Carry { by } => match self.carried(state.gateway(by)) {
                Some(folded) => state.gateway(by).session = folded,
                None => state.gateway(by).plan = None,
            },
            Step::Pin { by } => state.gateway(by).session.pins |= 1 << by,
            Step::Unpin { by, pin } => {
                state.gateway(by).session.pins &= !(1 << pin);
                state.unpinned |= 1 << pin;
            }
            Step::Save { by } => state.gateway(by).send(),
            Step::Take { by } => {
                let revision = state.revision;
                let it = state.gateway(by);
                if it.revision == revision || !self.compares_revisions {
                    it.saving = Saving::Writing(revision + 1);
                    state.lock = self.locks.then_some(by);
                    state.is_torn = !self.renames;
                } else {
                    it.saving = Saving::Refused;
                }
            }
            Step::Write { by } => {
                let may_write = self.may_write(&state, by);
                let it = state.gateway(by);
                let (Saving::Writing(revision), Some(sent)) = (it.saving, it.sent.clone()) else {
                    return None;
                };
                it.saving = if may_write { Saving::Made(revision) } else { Saving::Idle };
                if may_write {
                    state.replace(sent, revision);
                }
                state.is_torn = false;
                state.release(by);
            }
            Step::Hear { by } => {
                let it = state.gateway(by);
                let (Saving::Made(revision), Some(sent)) = (it.saving, it.sent.clone()) else {
                    return None;
                };
                it.settle(sent, revision);
            }
            Step::Merge { by } => {
                let (record, revision) = (last.record.clone(), last.revision);
                state.gateway(by).take_in(self, &record, revision);
            }
            Step::Lose { by } => {
                let it = state.gateway(by);
                if it.saving == Saving::Sent {
                    let (session, expected) = (it.sent.clone()?, it.revision);
                    state.late = Some(Late { session, expected });
                }
                state.gateway(by).saving = Saving::Idle;
                state.losses += 1;
            }
            Step::Arrive => {
                let Late { session, expected } = state.late.take()?;
                if state.revision == expected || !self.compares_revisions {
                    let revision = state.revision + 1;
                    state.replace(session, revision);
                }
            }
            Step::Steal => {
                state.lock = None;
                state.losses += 1;
            }
            Step::Kill { by } => {
                let plans = state.gateway(by).plans;
                *state.gateway(by) = Gateway::opened(&last.record, last.revision, plans);
                state.release(by);
                state.kills += 1;
            }
        }
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::of(&self.steps)
    }
}
