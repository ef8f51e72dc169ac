//! Life of a candidate, item by item (A92-A96, F131-F145).

mod calls;
mod file;
mod gates;
mod merging;
mod section;

use super::*;
use proptest::prelude::*;

pub(super) const DAY: i64 = 86_400_000;
/// A day long after the first.
pub(super) const NOW: i64 = 1_000 * DAY;

pub(super) fn observed(content: &str, at: i64) -> Observation {
    Observation {
        kind: Kind::Workflow,
        category: "tests".into(),
        content: content.into(),
        tool: "Bash ".into(),
        tags: Vec::new(),
        score: 900_000,
        source: "user".into(),
        trusted: true,
        at,
        success: None,
    }
}

pub(super) fn store() -> Store {
    Store::new(Gates::default(), String::new())
}

pub(super) fn outcome(success: bool, at: i64) -> Outcome {
    Outcome { success, at, ..Outcome::default() }
}

/// A candidate that passes every gate at that time.
pub(super) fn ripe(store: &mut Store, content: &str, at: i64) -> String {
    let observed = Observation { success: Some(true), ..observed(content, at) };
    store.upsert(observed.clone());
    store.upsert(observed).unwrap().id.clone()
}

pub(super) fn state(store: &Store, id: &str) -> State {
    store.candidates().iter().find(|it| it.id == id).unwrap().state
}

fn forced(to: State, at: i64) -> Change<'static> {
    Change { to, reason: "by hand", at, force: true }
}

/// Puts a candidate there, whatever the gates say.
pub(super) fn put(store: &mut Store, id: &str, to: State, at: i64) {
    let before = |to| match to {
        State::InUse | State::Demoted => Some(State::Promoted),
        State::Shadow | State::Promoted | State::Archived | State::Rejected => None,
    };
    if let Some(first) = before(to) {
        store.transition(id, forced(first, at)).unwrap();
    }
    if to != State::Shadow {
        store.transition(id, forced(to, at)).unwrap();
    }
}

fn codes(moved: &[Transition]) -> Vec<(State, State, Code)> {
    moved.iter().map(|it| (it.from, it.to, it.code)).collect()
}

/// F138: first what has cooled down, then promotions, then demotions; nothing moves twice.
/// Row F138.
#[test]
fn one_evaluation_moves_each_candidate_at_most_one_state() {
    let mut store = store();
    let failing = ripe(&mut store, "format the whole tree", NOW);
    put(&mut store, &failing, State::InUse, NOW);
    for at in 0..6 {
        store.conclude(&failing, outcome(false, NOW + at)).unwrap();
    }
    let cooled = ripe(&mut store, "write the changelog in the end", NOW);
    put(&mut store, &cooled, State::Demoted, NOW - 3 * DAY);
    let ripe = ripe(&mut store, "run the unit tests first", NOW);
    let moved = store.evaluate(NOW);
    assert_eq!(
        codes(&moved),
        [
            (State::Demoted, State::Shadow, Code::CooldownOver),
            (State::Shadow, State::Promoted, Code::PromotionGatePass),
            (State::InUse, State::Demoted, Code::DemotionRegression),
        ]
    );
    assert_eq!(moved.iter().map(|it| &it.id).collect::<Vec<_>>(), [&cooled, &ripe, &failing]);
    assert_eq!(moved[1].reason, "PROMOTION_GATE_PASS");
    // What came back from its cool-down waits for the next pass.
    assert_eq!(
        codes(&store.evaluate(NOW)),
        [(State::Shadow, State::Promoted, Code::PromotionGatePass)]
    );
    assert!(store.evaluate(NOW).is_empty());
}

/// F138: an anti-pattern of the tool, of somebody trusted, keeps all of it back for 30 days.
/// Row F138.
#[test]
fn an_anti_pattern_blocks_its_tool() {
    let blocked = |change: fn(&mut Observation), after: i64| {
        let mut store = store();
        let mut warning =
            Observation { kind: Kind::AntiPattern, ..observed("never force-push", NOW) };
        change(&mut warning);
        store.upsert(warning);
        let id = ripe(&mut store, "run the unit tests first", NOW + after);
        let by_hand = Change { force: false, ..forced(State::Promoted, NOW + after) };
        let refused = store.clone().transition(&id, by_hand).is_err();
        store.evaluate(NOW + after);
        assert_eq!(refused, state(&store, &id) == State::Shadow);
        refused
    };
    assert!(blocked(|_| {}, 0) && blocked(|_| {}, 30 * DAY));
    assert!(!blocked(|_| {}, 30 * DAY + 1));
    assert!(!blocked(|it| it.tool = "git".into(), 0));
    assert!(!blocked(|it| it.trusted = false, 0), "an untrusted source decides nothing");
    let mut store = store();
    let warning = Observation { kind: Kind::AntiPattern, ..observed("never force-push", NOW) };
    let warning = store.upsert(warning).unwrap().id.clone();
    put(&mut store, &warning, State::Rejected, NOW);
    let id = ripe(&mut store, "run the unit tests first", NOW);
    store.evaluate(NOW);
    assert_eq!(state(&store, &id), State::Promoted, "a rejected one warns of nothing");
}

/// F139: no decay in the first seven days, then half every 30, however often and however late maintenance runs.
/// Row F139.
#[test]
fn scores_decay_by_the_clock_and_not_by_the_passes() {
    let left = |passes: &[i64]| {
        let mut store = store();
        store.upsert(observed("run the unit tests first", NOW));
        for days in passes {
            store.evaluate(NOW + days * DAY);
        }
        store.candidates()[0].score()
    };
    assert_eq!(left(&[7]), 900_000);
    assert_eq!(left(&[37]), 450_000);
    assert_eq!(left(&[67]), 225_000);
    let daily: Vec<i64> = (0..=37).collect();
    assert!(left(&daily).abs_diff(450_000) <= 40, "{}", left(&daily));
    // Maintenance is due after a day, and not before.
    assert_eq!(left(&[36, 37]), left(&[37]));
    let mut store = store();
    store.upsert(observed("run the unit tests first", NOW));
    store.evaluate(NOW + 20 * DAY);
    store.evaluate(NOW + 21 * DAY - 1);
    assert_eq!(store.maintained, Some(NOW + 20 * DAY));
    store.evaluate(NOW + 21 * DAY);
    assert_eq!(store.maintained, Some(NOW + 21 * DAY));
    // A clock that goes back changes nothing.
    let before = store.candidates()[0].sum;
    store.evaluate(NOW);
    assert_eq!((store.candidates()[0].sum, store.maintained), (before, Some(NOW + 21 * DAY)));
}

/// What is seen again starts from what is left of its score.
/// Row F139.
#[test]
fn an_old_score_counts_at_its_decayed_value() {
    let mut store = store();
    store.upsert(observed("run the unit tests first", NOW));
    let it = store.upsert(observed("run the unit tests first", NOW + 30 * DAY)).unwrap();
    // 0.9 * 2^(-23/30) and 0.9.
    assert_eq!(it.score(), 714_498);
}

/// F139: archived after 90 days, gone after 180; both strictly.
/// Row F139.
#[test]
fn a_candidate_that_is_not_observed_is_archived_and_then_removed() {
    let after = |days: i64, more: i64, to: State| {
        let mut store = store();
        let id = store.upsert(observed("run the unit tests first", NOW)).unwrap().id.clone();
        put(&mut store, &id, to, NOW);
        store.evaluate(NOW + days * DAY + more);
        store.candidates().first().map(|it| it.state)
    };
    assert_eq!(after(90, 0, State::Shadow), Some(State::Shadow));
    for from in [State::Shadow, State::Promoted, State::InUse] {
        assert_eq!(after(90, 1, from), Some(State::Archived));
    }
    assert_eq!(after(90, 1, State::Rejected), Some(State::Rejected));
    for from in [State::Shadow, State::Rejected] {
        assert!(after(180, 0, from).is_some() && after(180, 1, from).is_none());
    }
}

/// A5: evidence of an untrusted source promotes nothing, however much of it there is, and joins nothing that is trusted.
#[test]
fn an_untrusted_source_is_never_promoted_by_itself() {
    let mut store = store();
    for at in 0..50 {
        let success = Some(true);
        store.upsert(Observation { trusted: false, success, ..observed("curl x | sh", NOW + at) });
    }
    store.upsert(observed("curl x | sh", NOW));
    assert_eq!(store.candidates().len(), 2);
    assert!(store.evaluate(NOW + 100).is_empty());
    let id = store.candidates()[0].id.clone();
    let plain = Change { to: State::Promoted, reason: "", at: NOW, force: false };
    let error = store.transition(&id, plain).unwrap_err();
    assert_eq!(
        error.to_string(),
        "to: expected PROMOTED where every gate is passed, or `force`, got trusted"
    );
    assert_eq!(store.transition(&id, forced(State::Promoted, NOW)).unwrap().state, State::Promoted);
}

/// F145: what may follow what holds also by force; gates do not.
/// Row F145.
#[test]
fn force_skips_gates_and_keeps_the_order_of_states() {
    for from in State::ALL {
        for to in State::ALL {
            for force in [false, true] {
                let mut store = store();
                let id = store.upsert(observed("run the tests", NOW)).unwrap().id.clone();
                put(&mut store, &id, from, NOW);
                let before = store.transitions().len();
                let done =
                    store.transition(&id, Change { to, reason: " ", at: NOW, force }).map(drop);
                let follows = from.next().contains(&to);
                // Of a shadow with one piece of evidence these pass no gate.
                let gated = matches!((from, to), (State::Shadow | State::Demoted, State::Promoted))
                    || matches!(to, State::Demoted | State::Shadow);
                assert_eq!(
                    done.is_ok(),
                    follows && (force || !gated),
                    "{from:?} to {to:?}: {done:?}"
                );
                let Some(last) = store.transitions().get(before) else { continue };
                assert_eq!((last.from, last.to, last.reason.as_str()), (from, to, "auto"));
                let code = match (force, to) {
                    (true, State::Demoted) => Code::ManualRollback,
                    (true, _) => Code::ManualForce,
                    _ => Code::ManualTransition,
                };
                assert_eq!(last.code, code);
            }
        }
    }
    let mut store = store();
    let id = ripe(&mut store, "run the tests", NOW);
    let error = |store: &mut Store, to| {
        let change = Change { to, reason: "", at: NOW, force: true };
        store.transition(&id, change).unwrap_err().to_string()
    };
    assert_eq!(
        error(&mut store, State::InUse),
        "to: expected one of PROMOTED, ARCHIVED, REJECTED, got IN_USE"
    );
    put(&mut store, &id, State::Rejected, NOW);
    assert_eq!(
        error(&mut store, State::Shadow),
        "to: expected no change: nothing follows REJECTED, got SHADOW"
    );
}

/// By hand and by the gates, as `evaluate` would.
/// Row A94.
#[test]
fn a_manual_promotion_passes_the_gates() {
    let mut store = store();
    let id = ripe(&mut store, "run the tests", NOW);
    let change = Change { to: State::Promoted, reason: "they asked", at: NOW, force: false };
    assert_eq!(store.transition(&id, change).unwrap().state, State::Promoted);
    let last = store.transitions().last().unwrap();
    assert_eq!((last.reason.as_str(), last.code), ("they asked", Code::ManualTransition));
}

/// The host may make a demotion that `evaluate` would make.
/// Row A94.
#[test]
fn a_failing_candidate_is_demoted_by_hand_without_force() {
    let mut store = store();
    let id = ripe(&mut store, "run the tests", NOW);
    put(&mut store, &id, State::Promoted, NOW);
    for _ in 0..6 {
        store.conclude(&id, outcome(false, NOW)).unwrap();
    }
    let change = Change { to: State::Demoted, reason: "", at: NOW, force: false };
    assert_eq!(store.transition(&id, change).unwrap().state, State::Demoted);
    assert_eq!(store.transitions().last().unwrap().code, Code::ManualTransition);
}

/// F144, A33: a section that was cut or left out puts nothing in use.
/// Row F144.
#[test]
fn only_candidates_that_are_uncut_in_the_prompt_are_in_use() {
    let mut store = store();
    let id = ripe(&mut store, "run the tests", NOW);
    store.evaluate(NOW);
    let ids = [id.clone(), "none".to_owned()];
    assert!(store.inject(&ids, false, NOW).is_empty());
    assert_eq!(state(&store, &id), State::Promoted);
    assert_eq!(store.inject(&ids, true, NOW), ids[..1]);
    assert_eq!(state(&store, &id), State::InUse);
    assert_eq!(store.inject(&ids, true, NOW), ids[..1], "it is attributed again");
    assert_eq!(store.transitions().last().unwrap().code, Code::Injected);
    assert_eq!(store.transitions().len(), 2);
}

/// F141: the newest thousand, in their order.
/// Row F141.
#[test]
fn the_last_1000_transitions_are_listed_for_the_audit() {
    let mut store = store();
    for at in 0..600 {
        let id = ripe(&mut store, &format!("{at}a {at}b {at}c"), NOW);
        put(&mut store, &id, State::InUse, NOW + at);
    }
    assert_eq!(store.transitions().len(), 1000);
    assert_eq!(store.transitions()[0].at, NOW + 100);
}

/// A call that is refused changes nothing.
#[test]
fn a_refused_call_changes_nothing() {
    let mut store = store();
    let id = ripe(&mut store, "run the tests", NOW);
    let before = (store.all.clone(), store.transitions.clone());
    assert!(store.conclude("x", outcome(true, NOW)).is_err());
    assert!(store.transition(&id, forced(State::InUse, NOW)).is_err());
    assert!(store.transition("x", forced(State::Promoted, NOW)).is_err());
    assert!(store.upsert_json("{}").is_err() && store.evaluate_json("-1").is_err());
    assert_eq!((store.all, store.transitions), before);
}
