//! Every order of the steps, with every guard and without each of them.

use plimsoll_models::{Protocol, Steps};
use stateright::{Checker, HasDiscoveries, Model};

/// Checks every state, and prints how many there are.
fn check(name: &str, steps: Steps) {
    let checker = Protocol::new(steps).checker().threads(2).spawn_bfs().join();
    println!(
        "model {name}: {} states, depth {}",
        checker.unique_state_count(),
        checker.max_depth()
    );
    checker.assert_properties();
}

#[test]
fn three_gateways_that_compact_lose_no_compaction() {
    check("compactions", compactions());
}

#[test]
fn kills_lost_answers_late_commits_and_stolen_locks_lose_no_compaction() {
    let steps = Steps { plans: [1, 1, 1], kills: 1, losses: 1, ..compactions() };
    check("faults", steps);
}

#[test]
fn gateways_that_compact_and_pin_lose_no_pin() {
    let steps = Steps { plans: [1, 0, 0], pins: 2, unpins: true, kills: 1, ..compactions() };
    check("pins", steps);
}

#[test]
fn a_pin_may_return_only_after_a_lost_answer() {
    let steps = Steps { pins: 2, unpins: true, losses: 1, revisions: 3, ..Steps::default() };
    check("pins and lost answers", steps);
}

/// Without a guard the checker finds how this property breaks.
fn breaks(mutant: &str, without: impl Fn(&mut Protocol), steps: Steps, property: &'static str) {
    let mut protocol = Protocol::new(steps);
    without(&mut protocol);
    let found = protocol
        .checker()
        .threads(2)
        .finish_when(HasDiscoveries::AllOf([property].into()))
        .spawn_bfs()
        .join();
    let path = found.assert_any_discovery(property);
    let steps = path.into_actions().len();
    println!("model in which {mutant}: after {steps} steps, not: {property}");
}

/// Compactions of three gateways, with nothing that fails.
fn compactions() -> Steps {
    Steps { messages: 3, plans: [2, 1, 1], revisions: 3, ..Steps::default() }
}

#[test]
fn without_a_guard_the_checker_finds_what_breaks() {
    let lost = "no committed compaction is lost";
    breaks("revisions are not compared", |it| it.compares_revisions = false, compactions(), lost);
    breaks("nothing is merged after a conflict", |it| it.merges = false, compactions(), lost);
    breaks("a merge prefers ours", |it| it.prefers_theirs = false, compactions(), lost);
    breaks("two write at once", |it| it.locks = false, compactions(), lost);
    let twice = "no compaction is applied twice";
    breaks("a plan is not checked", |it| it.checks_plan = false, compactions(), twice);
    let counted = "a plan knows only how many compactions there were";
    breaks(counted, |it| it.knows_summary = false, compactions(), lost);
    let incomplete = "the summary has all that is gone";
    breaks(counted, |it| it.knows_summary = false, compactions(), incomplete);
    let stolen = Steps { losses: 1, ..compactions() };
    breaks("a lock that was taken away is not noticed", |it| it.checks_lock = false, stolen, lost);
    let torn = "a killed gateway leaves the store whole";
    breaks("a record is written in place", |it| it.renames = false, compactions(), torn);
}
