//! What becomes of candidates, item by item (A92-A96, F131-F145).

mod file;
mod gates;
mod section;

use super::*;
use crate::error::Error;
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

fn told(moved: &[Transition]) -> Vec<(State, State, Code)> {
    moved.iter().map(|it| (it.from, it.to, it.code)).collect()
}

/// A95: a new one is a shadow with one piece of evidence, and its tool in lower case.
#[test]
fn a95_what_is_new_is_a_shadow() {
    let mut store = store();
    let it = store.upsert(observed("run the unit tests first", NOW)).unwrap();
    assert_eq!((it.state, it.evidence, it.score()), (State::Shadow, 1, 900_000));
    assert_eq!((it.tool.as_str(), it.first_seen, it.last_seen), ("bash", NOW, NOW));
    let blank = Observation { tool: " ".into(), ..observed("something else entirely", NOW) };
    assert_eq!(store.upsert(blank).unwrap().tool, "general");
}

/// F134: what is like enough is the same, in one kind, category, tool and trust, and within 30 days.
#[test]
fn f134_what_is_much_the_same_is_one() {
    let first = "run the unit tests before the slow ones";
    let again = "always run the unit tests before the slow ones";
    let merged = |change: fn(&mut Observation)| {
        let mut store = store();
        store.upsert(observed(first, NOW));
        let mut other = observed(again, NOW);
        change(&mut other);
        store.upsert(other);
        store.candidates().len() == 1
    };
    assert!(merged(|_| {}));
    assert!(merged(|it| it.tool = "BASH".into()));
    assert!(merged(|it| it.at += 30 * DAY) && merged(|it| it.at -= 30 * DAY));
    assert!(!merged(|it| it.at += 30 * DAY + 1));
    assert!(!merged(|it| it.at -= 30 * DAY + 1));
    assert!(!merged(|it| it.category = "style".into()));
    assert!(!merged(|it| it.tool = "git".into()));
    assert!(!merged(|it| it.kind = Kind::AntiPattern));
    assert!(!merged(|it| it.trusted = false));
    assert!(!merged(|it| it.content = "commit the unit tests with their code, apart".into()));
    // Five of ten words: exactly half is enough, four of nine are not.
    assert!(merged(|it| it.content = "run the unit tests before a quick lunch".into()));
    assert!(!merged(|it| it.content = "run the unit tests every quick lunch".into()));
}

/// What is looked up is what looking through all would find.
#[test]
fn f134_nothing_that_is_alike_is_missed() {
    let mut store = store();
    let mut next = 0u64;
    let mut some = |below: u64| {
        next = crate::hash::mix(next);
        next % below
    };
    for at in 0..400 {
        let words: Vec<String> = (0..some(9)).map(|_| format!("w{}", some(12))).collect();
        let tags = (0..some(3)).map(|_| format!("t{}", some(2))).collect();
        let tool = ["a", "b"][usize::try_from(some(2)).unwrap()].into();
        let content = format!("{} {}", words.join(" "), "!".repeat(1 + at % 3));
        let new = Candidate::new(Observation { tags, tool, ..observed(&content, NOW) });
        let all = store.candidates().iter().enumerate();
        let found: Vec<usize> =
            all.filter(|(_, it)| it.likeness(&new) > 0).map(|(place, _)| place).collect();
        let near = store.index.near(&new);
        assert!(found.iter().all(|place| near.contains(place)), "{content}");
        store.index.add(&new);
        store.all.push(new);
    }
    assert!(store.index.near(&store.all[0]).len() < 100);
}

#[test]
fn f134_the_most_similar_takes_it() {
    let mut store = store();
    store.upsert(Observation { tags: vec!["a".into()], ..observed("one two three four", NOW) });
    store.upsert(Observation { tags: vec!["b".into()], ..observed("one two three five", NOW) });
    assert_eq!(store.candidates().len(), 2, "0.7 * 3/5 + 0 is less than half");
    let more = Observation { tags: vec!["b".into()], ..observed("one two three six", NOW) };
    assert_eq!(store.upsert(more).unwrap().content, "one two three five");
}

/// F135: unrelated texts of a script without spaces, which the original took for the same.
#[test]
fn f135_chinese_texts_merge_by_what_they_say() {
    let mut store = store();
    store.upsert(observed("提交之前先运行全部测试", NOW));
    store.upsert(observed("不要修改配置文件", NOW));
    assert_eq!(store.candidates().len(), 2);
    store.upsert(observed("提交之前要先运行全部测试", NOW));
    assert_eq!(store.candidates().len(), 2);
    for text in ["!!!", "???", "!!!"] {
        store.upsert(observed(text, NOW));
    }
    assert_eq!(
        store.candidates().len(),
        4,
        "nothing is not like nothing; the same text is the same"
    );
}

/// F136, A95: the mean of the scores, counts together, the first and the last time; state, content and tags stay.
#[test]
fn f136_what_is_merged() {
    let mut store = store();
    let first = store.upsert(observed("run the unit tests first", NOW)).unwrap().id.clone();
    put(&mut store, &first, State::Rejected, NOW);
    let more = Observation {
        score: 300_000,
        at: NOW - DAY,
        tags: vec!["new".into()],
        source: "docs".into(),
        success: Some(false),
        ..observed("run the unit tests first!", NOW)
    };
    let it = store.upsert(more).unwrap();
    assert_eq!((it.score(), it.evidence, it.state), (600_000, 2, State::Rejected));
    assert_eq!((it.content.as_str(), it.tags.len()), ("run the unit tests first", 0));
    assert_eq!((it.first_seen, it.last_seen), (NOW - DAY, NOW));
    assert_eq!((it.successes, it.failures), (0, 1));
    assert_eq!(it.sources, ["user", "docs"]);
}

#[test]
fn f136_the_newest_fifty_sources_and_two_hundred_pieces_of_evidence_stay() {
    let mut store = store();
    for at in 0..300 {
        let source = format!("source {}", at % 60);
        store.upsert(Observation { source, ..observed("run the unit tests first", NOW + at) });
    }
    let it = &store.candidates()[0];
    assert_eq!((it.sources.len(), it.log.len(), it.evidence), (50, 200, 300));
    assert_eq!((it.sources[0].as_str(), it.sources[49].as_str()), ("source 10", "source 59"));
    assert_eq!((it.log[0].at, it.log[199].at), (NOW + 100, NOW + 299));
}

/// F137: evidence of a score 0.02 higher or 0.05 lower, with the weight of one.
#[test]
fn f137_outcomes() {
    let mut store = store();
    let id = store.upsert(observed("run the unit tests first", NOW)).unwrap().id.clone();
    let it = store.conclude(&id, outcome(true, NOW)).unwrap();
    assert_eq!((it.score(), it.evidence, it.successes), (910_000, 2, 1));
    let it = store.conclude(&id, outcome(false, NOW + 1)).unwrap();
    // (910 + 910 + 860) / 3
    assert_eq!((it.score(), it.failures, it.last_seen), (893_333, 1, NOW + 1));
    for _ in 0..100 {
        store.conclude(&id, outcome(true, NOW)).unwrap();
    }
    assert!(store.candidates()[0].score() <= 1_000_000);
    let none = store.conclude("none", outcome(true, NOW)).unwrap_err();
    assert_eq!(none.to_string(), "id: expected the id of a candidate, got \"none\"");
}

/// F138: first what has cooled down, then promotions, then demotions; nothing moves twice.
#[test]
fn f138_one_pass_moves_each_once() {
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
        told(&moved),
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
        told(&store.evaluate(NOW)),
        [(State::Shadow, State::Promoted, Code::PromotionGatePass)]
    );
    assert!(store.evaluate(NOW).is_empty());
}

/// F138: an anti-pattern of the tool, of somebody trusted, keeps all of it back for 30 days.
#[test]
fn f138_an_anti_pattern_blocks_its_tool() {
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
#[test]
fn f139_scores_decay_by_the_clock_and_not_by_the_passes() {
    let score = |passes: &[i64]| {
        let mut store = store();
        store.upsert(observed("run the unit tests first", NOW));
        passes.iter().for_each(|days| drop(store.evaluate(NOW + days * DAY)));
        store.candidates()[0].score()
    };
    assert_eq!(score(&[7]), 900_000);
    assert_eq!(score(&[37]), 450_000);
    assert_eq!(score(&[67]), 225_000);
    let daily: Vec<i64> = (0..=37).collect();
    assert!(score(&daily).abs_diff(450_000) <= 40, "{}", score(&daily));
    // Maintenance is due after a day, and not before.
    assert_eq!(score(&[36, 37]), score(&[37]));
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
#[test]
fn f139_an_old_score_counts_for_what_is_left_of_it() {
    let mut store = store();
    store.upsert(observed("run the unit tests first", NOW));
    let it = store.upsert(observed("run the unit tests first", NOW + 30 * DAY)).unwrap();
    // 0.9 * 2^(-23/30) and 0.9.
    assert_eq!(it.score(), (528_996 + 900_000) / 2);
}

/// F139: archived after 90 days, gone after 180; both strictly.
#[test]
fn f139_what_nobody_sees_is_archived_and_then_gone() {
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

#[test]
fn what_is_archived_takes_nothing_in() {
    let mut store = store();
    let id = store.upsert(observed("run the unit tests first", NOW)).unwrap().id.clone();
    put(&mut store, &id, State::Archived, NOW);
    let new = store.upsert(observed("run the unit tests first", NOW)).unwrap();
    assert_eq!((new.state, new.evidence), (State::Shadow, 1));
    assert_ne!(new.id, id);
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
#[test]
fn f145_force_goes_past_gates_and_not_past_the_order_of_states() {
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
#[test]
fn a94_a_promotion_by_hand_takes_the_gates() {
    let mut store = store();
    let id = ripe(&mut store, "run the tests", NOW);
    let change = Change { to: State::Promoted, reason: "they asked", at: NOW, force: false };
    assert_eq!(store.transition(&id, change).unwrap().state, State::Promoted);
    let last = store.transitions().last().unwrap();
    assert_eq!((last.reason.as_str(), last.code), ("they asked", Code::ManualTransition));
}

/// F144, A33: a section that was cut or left out puts nothing in use.
#[test]
fn f144_only_what_stands_whole_in_the_prompt_is_in_use() {
    let mut store = store();
    let id = ripe(&mut store, "run the tests", NOW);
    store.evaluate(NOW);
    let ids = [id.clone(), "none".to_owned()];
    assert!(store.inject(&ids, false, NOW).is_empty());
    assert_eq!(state(&store, &id), State::Promoted);
    assert_eq!(store.inject(&ids, true, NOW), [id.clone()]);
    assert_eq!(state(&store, &id), State::InUse);
    assert_eq!(store.inject(&ids, true, NOW), [id.clone()], "it is attributed again");
    assert_eq!(store.transitions().last().unwrap().code, Code::Injected);
    assert_eq!(store.transitions().len(), 2);
}

/// F141: the newest thousand, in their order.
#[test]
fn f141_transitions_are_kept() {
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
fn what_is_refused_leaves_no_trace() {
    let mut store = store();
    let id = ripe(&mut store, "run the tests", NOW);
    let before = (store.all.clone(), store.transitions.clone());
    assert!(store.conclude("x", outcome(true, NOW)).is_err());
    assert!(store.transition(&id, forced(State::InUse, NOW)).is_err());
    assert!(store.transition("x", forced(State::Promoted, NOW)).is_err());
    assert!(store.upsert_given("{}").is_err() && store.evaluate_given("-1").is_err());
    assert_eq!((store.all, store.transitions), before);
}

/// What crosses: each wrong argument is named with what is allowed there.
#[test]
fn wrong_arguments_are_named() {
    let good = r#"{"kind":"WORKFLOW","category":"c","content":"x","score":0.5,"source":"s","trusted":true,"at":1}"#;
    let mut store = store();
    let told = store.upsert_given(good).unwrap();
    assert!(told.contains(r#""toolTag":"general","tags":[],"score":0.5,"source":"s""#), "{told}");
    let mut refused = |from: &str, to: &str, expected: &str| {
        assert_ne!(good, good.replace(from, to));
        let error = store.upsert_given(&good.replace(from, to)).unwrap_err();
        assert_eq!(error.to_string(), format!("observation.{expected}"));
    };
    refused(
        "WORKFLOW",
        "workflow",
        "kind: expected one of ERROR_RECOVERY, PREFERENCE, WORKFLOW, ANTI_PATTERN, SKILL_SEED, got \"workflow\"",
    );
    refused("0.5", "1.000001", "score: expected a share, 0 to 1, got 1.000001");
    refused("0.5", "-0.1", "score: expected a share, 0 to 1, got -0.1");
    refused("0.5", "\"1\"", "score: expected a share, 0 to 1, got \"1\"");
    refused("0.5", "null", "score: expected a share, 0 to 1, got null");
    refused(":1}", ":1.5}", "at: expected a whole number, got floating point `1.5`");
    refused(":1}", ":-1}", "at: expected whole milliseconds since 1970, got -1");
    refused(
        ":1}",
        ":8640000000000001}",
        "at: expected whole milliseconds since 1970, got 8640000000000001",
    );
    refused("true", "1", "trusted: expected a boolean, got integer `1`");
    refused("\"x\"", "\" \\n\"", "content: expected what was learned, got nothing");
    refused("\"x\"", "7", "content: expected a string, got integer `7`");
    let long = good.replace("\"x\"", &format!("\"{}\"", "x".repeat(16_385)));
    assert_eq!(
        store.upsert_given(&long).unwrap_err(),
        Error::TooLarge { what: "observation.content".into(), size: 16_385, cap: 16_384 }
    );
    let long = good.replace("\"s\"", &format!("\"{}\"", "x".repeat(1_025)));
    assert_eq!(
        store.upsert_given(&long).unwrap_err(),
        Error::TooLarge { what: "observation.source".into(), size: 1_025, cap: 1_024 }
    );
    let tags = |many: usize| {
        let tags: Vec<String> = (0..many).map(|at| format!("\"{at}\"")).collect();
        good.replace("\"at\"", &format!("\"tags\":[{}],\"at\"", tags.join(",")))
    };
    assert!(store.upsert_given(&tags(64)).is_ok());
    assert!(store.upsert_given(&tags(65)).unwrap_err().to_string().contains("at most 64, got 65"));
    let error = |result: crate::error::Result<String>| result.unwrap_err().to_string();
    assert_eq!(
        error(store.list_given("\"shadow\"")),
        "filter.state: expected one of SHADOW, PROMOTED, IN_USE, DEMOTED, ARCHIVED, REJECTED, got \"shadow\""
    );
    assert_eq!(
        error(store.evaluate_given("1.5")),
        "at: expected whole milliseconds since 1970, got 1.5"
    );
    assert_eq!(
        error(store.conclude_given(r#"["x",{"success":1,"at":1}]"#)),
        "outcome.success: expected a boolean, got integer `1`"
    );
    assert_eq!(
        error(store.conclude_given(r#"[null,{"success":true,"at":1}]"#)),
        "id: expected a string, got null"
    );
}

proptest! {
    /// Evidence of one week gives the same candidate in whatever order it came.
    #[test]
    fn a_merge_does_not_hang_on_the_order(
        given in proptest::collection::vec((0u32..=1_000_000, 0i64..7 * DAY, proptest::option::of(any::<bool>())), 1..40),
        seed in any::<u64>(),
    ) {
        let play = |given: &[(u32, i64, Option<bool>)]| {
            let mut store = store();
            for (score, after, success) in given {
                let (score, success) = (*score, *success);
                store.upsert(Observation { score, success, ..observed("run the tests", NOW + after) });
            }
            store.evaluate(NOW + 20 * DAY);
            let Candidate { id: _, state, sum, evidence, successes, failures, first_seen, last_seen, log, .. } =
                store.candidates()[0].clone();
            (state, sum, evidence, successes, failures, first_seen, last_seen, log)
        };
        let mut other = given.clone();
        other.sort_by_key(|it| crate::hash::mix(seed ^ u64::from(it.0)));
        prop_assert_eq!(play(&given), play(&other));
    }
}
