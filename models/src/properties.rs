//! Properties: those that always hold, and outcomes that are reached, so that the others do not hold for want of anything happening.

use stateright::Model;

use crate::protocol::{GATEWAYS, Gateway, Protocol, Saving, State, Step, Steps};
use crate::session::Session;

type Property = stateright::Property<Protocol>;

/// The properties that the steps give occasion to.
pub(crate) fn of(steps: &Steps) -> Vec<Property> {
    let mut all = vec![
        Property::always("no committed compaction is lost", |_, state| {
            let summary = &state.record.summary;
            state.gateways.iter().all(|it| summary.starts_with(&it.base.summary))
        }),
        Property::always("no compaction is applied twice", |_, state| {
            sessions(state).all(|it| {
                usize::from(it.folds) == it.summary.len()
                    && it.summary.is_sorted_by(|a, b| a.cut < b.cut)
            })
        }),
        Property::always("the summary has all that is gone", |_, state| {
            sessions(state).all(|it| it.summary.last().map_or(0, |fold| fold.cut) == it.start)
        }),
        Property::always("a plan that is out of date is refused", |model, state| {
            let refuses = |it: &Gateway| !is_outdated(it) || model.carried(it).is_none();
            state.gateways.iter().all(refuses)
        }),
        Property::always("a save overwrites nothing that it has not taken in", |model, state| {
            (0..GATEWAYS).filter(|&by| model.may_write(state, by)).all(|by| {
                let (sent, record) = (&state.gateways[usize::from(by)].sent, &state.record);
                sent.as_ref().is_some_and(|it| {
                    it.summary.starts_with(&record.summary)
                        && record.pins & !state.unpinned & !it.pins == 0
                })
            })
        }),
        Property::always("a revision is one commit", |_, state| {
            let ours = state.gateways.iter().map(|it| (it.revision, &it.base));
            let all: Vec<_> = ours.chain([(state.revision, &state.record)]).collect();
            all.iter().all(|a| all.iter().all(|b| a.0 != b.0 || a.1 == b.1))
        }),
        Property::always("a killed gateway leaves the store whole", |_, state| !state.is_torn),
        Property::always("a save that nobody disturbs comes through", |model, state| {
            state.lock.is_some() || (0..GATEWAYS).all(|by| saves_alone(model, state, by))
        }),
    ];
    if steps.plans.iter().all(|&plans| plans > 0) {
        all.extend([
            Property::sometimes("a plan is out of date", |_, state| {
                state.gateways.iter().any(is_outdated)
            }),
            Property::sometimes("the store has compactions of every gateway", |_, state| {
                (0..GATEWAYS).all(|by| state.record.summary.iter().any(|fold| fold.by == by))
            }),
            Property::sometimes("a conflict ends with the other's compaction", |_, state| {
                conflicts(state).any(|it| {
                    it.session.has_folded_since(&it.base) && state.record.has_folded_since(&it.base)
                })
            }),
        ]);
    }
    if steps.pins > 0 {
        all.push(Property::always("a pin is lost only if it is let go", |_, state| {
            let lost = |it: &Gateway| it.base.pins & !state.unpinned & !state.record.pins;
            state.gateways.iter().all(|it| lost(it) == 0)
        }));
        all.push(Property::sometimes("the store has every pin", |model, state| {
            u32::from(model.steps.pins) == state.record.pins.count_ones()
        }));
    }
    if steps.pins > 0 && steps.plans[0] > 0 {
        all.push(Property::sometimes("a conflict ends with the own compaction", |_, state| {
            conflicts(state).any(|it| {
                it.session.has_folded_since(&it.base) && !state.record.has_folded_since(&it.base)
            })
        }));
    }
    if steps.unpins && steps.losses == 0 {
        all.push(Property::always("a pin that was let go does not return", |_, state| {
            state.record.pins & state.removed == 0
        }));
    }
    if steps.unpins && steps.losses > 0 {
        all.push(Property::sometimes("limit: a pin returns after a lost answer", |_, state| {
            state.record.pins & state.removed != 0
        }));
    }
    all.extend(faults(steps));
    all
}

/// Faults that the others must have held through.
fn faults(steps: &Steps) -> Vec<Property> {
    let mut all = Vec::new();
    if steps.kills > 0 {
        all.push(Property::sometimes("a gateway is killed while it writes", |model, state| {
            state.kills < model.steps.kills
                && state.gateways.iter().any(|it| matches!(it.saving, Saving::Writing(_)))
        }));
    }
    if steps.losses > 0 {
        all.push(Property::sometimes("an own commit is recognized", |_, state| {
            conflicts(state).any(|it| it.before.as_ref() == Some(&state.record))
        }));
        all.push(Property::sometimes("a late commit is made", |_, state| {
            state.late.as_ref().is_some_and(|late| late.expected == state.revision)
        }));
        all.push(Property::sometimes("a late commit is refused", |_, state| {
            state.late.as_ref().is_some_and(|late| late.expected != state.revision)
        }));
        all.push(Property::sometimes("a lock is taken away from a writer", |_, state| {
            (0..)
                .zip(&state.gateways)
                .any(|(by, it)| matches!(it.saving, Saving::Writing(_)) && state.lock != Some(by))
        }));
    }
    all
}

/// Every session that is somewhere.
fn sessions(state: &State) -> impl Iterator<Item = &Session> {
    state.gateways.iter().map(|it| &it.session).chain([&state.record])
}

/// Gateways that are about to take in what another has committed.
fn conflicts(state: &State) -> impl Iterator<Item = &Gateway> {
    state.gateways.iter().filter(|it| it.saving == Saving::Refused)
}

/// The session is not the one that the plan was made for.
fn is_outdated(gateway: &Gateway) -> bool {
    gateway.plan.as_ref().is_some_and(|plan| plan.previous != gateway.session.summary)
}

/// Whether a save of an idle gateway, while nobody else moves, ends with the session in the store: at the second try or before.
fn saves_alone(model: &Protocol, state: &State, by: u8) -> bool {
    if state.gateways[usize::from(by)].saving != Saving::Idle {
        return true;
    }
    let mut now = model.next_state(state, Step::Save { by });
    // Save, take, merge, take, write and hear.
    for _ in 0..6 {
        let Some(state) = &now else { return false };
        let gateway = &state.gateways[usize::from(by)];
        let step = match gateway.saving {
            Saving::Idle => return gateway.session == state.record,
            Saving::Sent => Step::Take { by },
            Saving::Writing(_) => Step::Write { by },
            Saving::Made(_) => Step::Hear { by },
            Saving::Refused => Step::Merge { by },
        };
        now = model.next_state(state, step);
    }
    now.is_some_and(|state| state.gateways[usize::from(by)].session == state.record)
}
