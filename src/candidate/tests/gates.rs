//! Every gate by itself: just passed, and just not (A93, A94).

use super::*;

/// What keeps a ripe candidate back after a change, under these gates.
fn stop(gates: Gates, change: impl FnOnce(&mut Candidate)) -> Option<&'static str> {
    let mut store = store();
    ripe(&mut store, "run the unit tests first", NOW);
    let mut it = store.candidates()[0].clone();
    change(&mut it);
    gates.stops(&it, NOW)
}

fn usual(change: impl FnOnce(&mut Candidate)) -> Option<&'static str> {
    stop(Gates::default(), change)
}

fn attempts(it: &mut Candidate, flags: &[u8]) {
    it.log = (0i64..)
        .zip(flags)
        .map(|(after, flags)| Evidence { at: (NOW - 100).saturating_add(after), flags: *flags })
        .collect();
}

const OK: u8 = Evidence::SUCCESS;
const BAD: u8 = Evidence::FAILURE;

/// Row A94.
#[test]
fn a_ready_candidate_passes_every_gate() {
    assert_eq!(usual(|_| {}), None);
}

/// Row A94.
#[test]
fn an_anti_pattern_is_never_promoted() {
    assert_eq!(usual(|it| it.kind = Kind::AntiPattern), Some("kind"));
}

/// Row A5.
#[test]
fn untrusted_candidates_are_never_promoted() {
    assert_eq!(usual(|it| it.trusted = false), Some("trusted"));
}

/// Row A94.
#[test]
fn promotion_needs_an_allowed_category() {
    let only = |name: &str| Gates { categories: vec![name.into()], ..Gates::default() };
    assert_eq!(stop(only("tests"), |_| {}), None);
    assert_eq!(stop(only("Tests"), |_| {}), Some("categories"));
}

/// Blocked only while the cool-down lies strictly ahead.
/// Row A94.
#[test]
fn promotion_waits_for_the_end_of_a_cool_down() {
    assert_eq!(usual(|it| it.cooldown = Some(NOW)), None);
    assert_eq!(usual(|it| it.cooldown = Some(NOW + 1)), Some("demotionCooldownMs"));
}

/// Row A94.
#[test]
fn promotion_needs_enough_evidence() {
    let (one, two) = (1, 2);
    let with = |it: &mut Candidate, evidence| {
        it.evidence = evidence;
        it.sum = 900_000 * u64::from(evidence);
    };
    assert_eq!(usual(|it| with(it, one)), Some("minEvidence"));
    assert_eq!(usual(|it| with(it, two)), None);
}

/// Row A94.
#[test]
fn promotion_needs_a_high_score() {
    assert_eq!(usual(|it| it.sum = 1_500_000), None);
    assert_eq!(usual(|it| it.sum = 1_499_999), Some("minScore"));
    // As it is by now, and not as it was when it was last seen.
    assert_eq!(usual(|it| (it.last_seen, it.decayed) = (NOW - 16 * DAY, 0)), Some("minScore"));
}

/// Two attempts within fourteen days, the fourteenth included.
/// Row A94.
#[test]
fn promotion_needs_enough_recent_attempts() {
    let at = |it: &mut Candidate, age| it.log.iter_mut().for_each(|piece| piece.at = NOW - age);
    assert_eq!(usual(|it| at(it, 14 * DAY)), None);
    assert_eq!(usual(|it| at(it, 14 * DAY + 1)), Some("minAttempts"));
    assert_eq!(usual(|it| it.log[0].flags = 0), Some("minAttempts"));
    let none = Gates { min_attempts: 0, ..Gates::default() };
    assert_eq!(stop(none, |it| it.log.clear()), None);
}

/// Row A94.
#[test]
fn promotion_needs_few_failed_attempts() {
    assert_eq!(usual(|it| attempts(it, &[BAD, OK, OK, OK, OK])), None);
    assert_eq!(usual(|it| attempts(it, &[BAD, OK, OK, OK])), Some("maxFailureRate"));
}

/// The original had the figure and never looked at it.
/// Row A93.
#[test]
fn promotion_needs_few_consecutive_failures() {
    let mut flags = [OK; 40];
    flags[37..].fill(BAD);
    assert_eq!(usual(|it| attempts(it, &flags)), None);
    flags[36] = BAD;
    assert_eq!(usual(|it| attempts(it, &flags)), Some("maxConsecutiveFailures"));
    let later = [&flags[..], &[0, OK]].concat();
    assert_eq!(usual(|it| attempts(it, &later)), None, "a success ends the row");
    let seen = [&flags[..], &[0]].concat();
    assert_eq!(usual(|it| attempts(it, &seen)), Some("maxConsecutiveFailures"));
}

/// Seven days, the last included.
/// Row A94.
#[test]
fn a_recent_severe_failure_stops_promotion() {
    let severe = |it: &mut Candidate, age| {
        it.log.insert(0, Evidence { at: NOW - age, flags: Evidence::SEVERE });
    };
    assert_eq!(usual(|it| severe(it, 7 * DAY)), Some("severeFailureLookbackMs"));
    assert_eq!(usual(|it| severe(it, 7 * DAY + 1)), None);
}

/// Row A94.
#[test]
fn promotion_needs_evidence_that_names_no_anti_pattern() {
    let anti_pattern = |it: &mut Candidate, age| {
        it.log.insert(0, Evidence { at: NOW - age, flags: Evidence::ANTI_PATTERN });
    };
    assert_eq!(usual(|it| anti_pattern(it, 14 * DAY)), Some("antiPattern"));
    assert_eq!(usual(|it| anti_pattern(it, 14 * DAY + 1)), None);
}

/// Ours: what the next pass would demote is not promoted.
#[test]
fn what_would_be_demoted_is_not_promoted() {
    let conflict = OK | Evidence::CONFLICT;
    assert_eq!(usual(|it| attempts(it, &[OK, OK, conflict, conflict])), Some("regression"));
    assert_eq!(usual(|it| attempts(it, &[OK, conflict, conflict])), None);
}

/// F133: four attempts, and six tenths of them failed or two contradictions.
/// Row F133.
#[test]
fn a_candidate_that_fails_is_demoted() {
    let demotes = |flags: &[u8], state: State| {
        let mut store = store();
        ripe(&mut store, "run the unit tests first", NOW);
        let mut it = store.candidates()[0].clone();
        attempts(&mut it, flags);
        it.state = state;
        Gates::default().demotes(&it, NOW)
    };
    assert!(demotes(&[BAD, BAD, BAD, OK, OK], State::Promoted));
    assert!(!demotes(&[BAD, BAD, OK, OK], State::Promoted), "half is not six tenths");
    assert!(!demotes(&[BAD, BAD, BAD], State::Promoted), "three are no four");
    assert!(demotes(&[BAD, BAD, BAD, OK], State::InUse));
    let conflict = OK | Evidence::CONFLICT;
    assert!(demotes(&[OK, OK, conflict, conflict], State::InUse));
    assert!(!demotes(&[OK, OK, OK, conflict], State::InUse));
    for state in [State::Shadow, State::Demoted, State::Archived, State::Rejected] {
        assert!(!demotes(&[BAD; 8], state));
    }
}

/// F133, D6: three days after a demotion, the last included, it is a shadow again; a promotion ends the cool-down.
/// Row F133.
#[test]
fn a_demotion_has_a_cool_down_of_three_days() {
    let mut store = store();
    let id = ripe(&mut store, "run the unit tests first", NOW);
    put(&mut store, &id, State::Demoted, NOW);
    assert_eq!(store.candidates()[0].cooldown, Some(NOW + 3 * DAY));
    assert!(store.clone().evaluate(NOW + 3 * DAY - 1).is_empty());
    let shadow = |at| Change { to: State::Shadow, reason: "", at, force: false };
    assert!(store.transition(&id, shadow(NOW + 3 * DAY - 1)).is_err());
    assert!(store.clone().transition(&id, shadow(NOW + 3 * DAY)).is_ok(), "by hand, too");
    assert_eq!(store.evaluate(NOW + 3 * DAY).len(), 1);
    assert_eq!(state(&store, &id), State::Shadow);
    store.evaluate(NOW + 3 * DAY);
    assert_eq!((state(&store, &id), store.candidates()[0].cooldown), (State::Promoted, None));
}

/// A93: each figure within its range, both ends included; what is outside is told with the range.
/// Row A93.
#[test]
fn figures_of_gates_outside_their_range_are_refused() {
    const YEARS: i64 = 3650 * DAY;
    let rows = [
        ("minEvidence", "1", "1000000", "0", "a whole number, 1 to 1000000"),
        ("minAttempts", "0", "1000000", "-1", "a whole number, 0 to 1000000"),
        ("maxConsecutiveFailures", "0", "1000000", "1000001", "a whole number, 0 to 1000000"),
        ("demotionMinAttempts", "1", "1000000", "1.5", "a whole number, 1 to 1000000"),
        ("correctionConflicts", "1", "1000000", "\"2\"", "a whole number, 1 to 1000000"),
        ("minScore", "0", "1", "1.000001", "a share, 0 to 1"),
        ("maxFailureRate", "0", "1.0", "-0.000001", "a share, 0 to 1"),
        ("demotionFailureRate", "0.000001", "1", "null", "a share, 0 to 1"),
        ("rollingWindowMs", "1", &YEARS.to_string(), "0", "whole milliseconds, 1 to 315360000000"),
        (
            "severeFailureLookbackMs",
            "0",
            &YEARS.to_string(),
            "-1",
            "whole milliseconds, 0 to 315360000000",
        ),
        (
            "demotionCooldownMs",
            "0",
            &YEARS.to_string(),
            "315360000001",
            "whole milliseconds, 0 to 315360000000",
        ),
    ];
    for (name, low, high, wrong, allowed) in rows {
        let parse = |value: &str| Gates::parse(&format!("{{\"{name}\":{value}}}"));
        for value in [low, high] {
            assert_ne!(parse(value).unwrap(), Gates::default(), "{name} is taken");
        }
        let error = parse(wrong).unwrap_err().to_string();
        assert_eq!(error, format!("gates.{name}: expected {allowed}, got {wrong}"));
    }
    let error = Gates::parse("{\"minScores\":1}").unwrap_err().to_string();
    assert!(
        error.starts_with(
            "unknown option gates.minScores; the options are minEvidence, minAttempts,"
        ),
        "{error}"
    );
    assert!(error.ends_with("demotionCooldownMs"), "{error}");
    assert!(Gates::parse("7").unwrap_err().to_string().starts_with("gates: expected an object"));
}

/// Each figure decides what it is named for.
/// Row A93.
#[test]
fn every_gate_figure_is_validated() {
    let gates = |json: &str| Gates::parse(json).unwrap();
    assert_eq!(stop(gates("{\"minEvidence\":3}"), |_| {}), Some("minEvidence"));
    assert_eq!(stop(gates("{\"minAttempts\":3}"), |_| {}), Some("minAttempts"));
    assert_eq!(stop(gates("{\"minScore\":0.900001}"), |_| {}), Some("minScore"));
    let half = |it: &mut Candidate| attempts(it, &[BAD, OK]);
    assert_eq!(stop(gates("{\"maxFailureRate\":0.5}"), half), None);
    let lax = "\"maxFailureRate\":1,\"demotionMinAttempts\":9";
    let row = |it: &mut Candidate| attempts(it, &[OK, BAD]);
    assert_eq!(
        stop(gates(&format!("{{{lax},\"maxConsecutiveFailures\":0}}")), row),
        Some("maxConsecutiveFailures")
    );
    let old = |it: &mut Candidate| it.log.iter_mut().for_each(|piece| piece.at = NOW - DAY);
    assert_eq!(stop(gates("{\"rollingWindowMs\":1000}"), old), Some("minAttempts"));
    let severe = |it: &mut Candidate| {
        it.log.insert(0, Evidence { at: NOW - DAY, flags: Evidence::SEVERE });
    };
    assert_eq!(stop(gates("{\"severeFailureLookbackMs\":1000}"), severe), None);
    let bad = |it: &mut Candidate| {
        attempts(it, &[BAD, OK]);
        it.state = State::Promoted;
    };
    let demotes = |json: &str| {
        let mut store = store();
        ripe(&mut store, "run the unit tests first", NOW);
        let mut it = store.candidates()[0].clone();
        bad(&mut it);
        gates(json).demotes(&it, NOW)
    };
    assert!(!demotes("{}") && !demotes("{\"demotionMinAttempts\":2}"));
    assert!(demotes("{\"demotionMinAttempts\":2,\"demotionFailureRate\":0.5}"));
    let conflict = |it: &mut Candidate| attempts(it, &[OK, OK, OK, OK | Evidence::CONFLICT]);
    assert_eq!(stop(gates("{\"correctionConflicts\":1}"), conflict), Some("regression"));
    let mut short = Store::new(gates("{\"demotionCooldownMs\":5}"), String::new());
    let id = ripe(&mut short, "run the unit tests first", NOW);
    put(&mut short, &id, State::Demoted, NOW);
    assert_eq!(short.candidates()[0].cooldown, Some(NOW + 5));
}
