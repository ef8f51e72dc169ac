//! Merging of equal candidates, and the effect of seeing one again (A95).

use super::*;

/// A95: a new one is a shadow with one piece of evidence, and its tool in lower case.
/// Row A95.
#[test]
fn a_new_candidate_is_a_shadow() {
    let mut store = store();
    let it = store.upsert(observed("run the unit tests first", NOW)).unwrap();
    assert_eq!((it.state, it.evidence, it.score()), (State::Shadow, 1, 900_000));
    assert_eq!((it.tool.as_str(), it.first_seen, it.last_seen), ("bash", NOW, NOW));
    let blank = Observation { tool: " ".into(), ..observed("something else entirely", NOW) };
    assert_eq!(store.upsert(blank).unwrap().tool, "general");
}

/// Kind, category, tool, content, trust and time change it; score, source, tags and success do not.
/// Row A95.
#[test]
fn the_id_of_a_candidate_is_16_digits_made_of_its_first_observation() {
    let id = |change: fn(&mut Observation)| {
        let mut first = observed("run the tests", NOW);
        change(&mut first);
        Candidate::new(first).id
    };
    let first = id(|_| {});
    assert!(first.len() == 16 && first.chars().all(|it| it.is_ascii_hexdigit()), "{first}");
    let same: [fn(&mut Observation); 4] = [
        |it| it.score = 1,
        |it| it.source = "docs".into(),
        |it| it.tags = vec!["slow".into()],
        |it| it.success = Some(true),
    ];
    for change in same {
        assert_eq!(id(change), first);
    }
    let other: [fn(&mut Observation); 6] = [
        |it| it.kind = Kind::Preference,
        |it| it.category = "style".into(),
        |it| it.tool = "git".into(),
        |it| it.content = "run the linter".into(),
        |it| it.trusted = false,
        |it| it.at += 1,
    ];
    for change in other {
        assert_ne!(id(change), first);
    }
}

/// F134: what is like enough is the same, in one kind, category, tool and trust, and within 30 days.
/// Row F134.
#[test]
fn similar_observations_are_one_candidate() {
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

/// By what it is, and not by a hash of it.
/// Row A5.
#[test]
fn untrusted_and_trusted_observations_are_never_merged() {
    let [a, b] = [true, false]
        .map(|trusted| Candidate::new(Observation { trusted, ..observed("run the tests", NOW) }));
    assert_eq!((a.likeness(&b), b.likeness(&a), a.likeness(&a)), (0, 0, 1_000_000));
}

/// Also after some are gone, which stood before others.
/// Row F134.
#[test]
fn remaining_candidates_are_found_after_a_removal() {
    let mut store = store();
    store.upsert(observed("format the whole tree", NOW - 200 * DAY));
    store.upsert(observed("run the unit tests first", NOW));
    store.evaluate(NOW);
    store.upsert(observed("run the unit tests first, please", NOW));
    assert_eq!((store.candidates().len(), store.candidates()[0].evidence), (1, 2));
}

/// What is looked up is what looking through all would find.
/// Row F134.
#[test]
fn every_similar_candidate_is_found() {
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
        let new = Candidate::new(Observation { tool, tags, ..observed(&content, NOW) });
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

/// Row F134.
#[test]
fn the_most_similar_candidate_receives_an_observation() {
    let mut store = store();
    store.upsert(Observation { tags: vec!["a".into()], ..observed("one two three four", NOW) });
    store.upsert(Observation { tags: vec!["b".into()], ..observed("one two three five", NOW) });
    assert_eq!(store.candidates().len(), 2, "0.7 * 3/5 + 0 is less than half");
    let more = Observation { tags: vec!["b".into()], ..observed("one two three six", NOW) };
    assert_eq!(store.upsert(more).unwrap().content, "one two three five");
}

/// The word index may find either of them first.
/// Row F134.
#[test]
fn the_oldest_of_equally_similar_candidates_receives_an_observation() {
    for [older, newer] in [["one two", "three four"], ["three four", "one two"]] {
        let mut store = store();
        store.upsert(observed(older, NOW));
        store.upsert(observed(newer, NOW));
        assert_eq!(store.candidates().len(), 2);
        let it = store.upsert(observed("one two three four", NOW)).unwrap();
        assert_eq!((it.content.as_str(), it.evidence), (older, 2));
    }
}

/// The word index may find either of them first.
/// Row F134.
#[test]
fn a_more_similar_candidate_is_chosen_over_an_older_one() {
    for [older, newer] in [["one two", "three four"], ["three four", "one two"]] {
        let mut store = store();
        let tagged = |content: &str, tags: &[&str]| {
            let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
            Observation { tags, ..observed(content, NOW) }
        };
        store.upsert(tagged(older, &["a"]));
        store.upsert(tagged(newer, &["a", "b"]));
        assert_eq!(store.candidates().len(), 2);
        // 0.7 * 2/4 and 0.3 * 1/2 of the older, 0.7 * 2/4 and 0.3 of the newer.
        let it = store.upsert(tagged("one two three four", &["a", "b"])).unwrap();
        assert_eq!((it.content.as_str(), it.evidence), (newer, 2));
    }
}

/// F135: unrelated texts of a script without spaces, which the original took for the same.
/// Row F135.
#[test]
fn chinese_texts_merge_by_what_they_say() {
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
/// Row F136.
#[test]
fn a_similar_observation_adds_to_the_candidate() {
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
    let it = store.upsert(observed("run the unit tests first", NOW)).unwrap();
    assert_eq!(it.sources, ["docs", "user"]);
}

/// Row F136.
#[test]
fn the_newest_fifty_sources_and_two_hundred_pieces_of_evidence_stay() {
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
/// Row F137.
#[test]
fn outcomes_move_the_score_of_a_candidate() {
    let mut store = store();
    let id = store.upsert(observed("run the unit tests first", NOW)).unwrap().id.clone();
    let it = store.conclude(&id, outcome(true, NOW)).unwrap();
    assert_eq!((it.score(), it.evidence, it.successes), (910_000, 2, 1));
    let it = store.conclude(&id, outcome(false, NOW + 1)).unwrap();
    // (910 + 910 + 860) / 3
    assert_eq!((it.score(), it.failures, it.last_seen), (893_333, 1, NOW + 1));
    let sure = Observation { score: 1_000_000, ..observed("something else entirely", NOW) };
    let sure = store.upsert(sure).unwrap().id.clone();
    assert_eq!(store.conclude(&sure, outcome(true, NOW)).unwrap().score(), 1_000_000);
    let none = store.conclude("none", outcome(true, NOW)).unwrap_err();
    assert_eq!(none.to_string(), "id: expected the id of a candidate, got \"none\"");
}

#[test]
fn an_archived_candidate_takes_no_more_observations() {
    let mut store = store();
    let id = store.upsert(observed("run the unit tests first", NOW)).unwrap().id.clone();
    put(&mut store, &id, State::Archived, NOW);
    let new = store.upsert(observed("run the unit tests first", NOW)).unwrap();
    assert_eq!((new.state, new.evidence), (State::Shadow, 1));
    assert_ne!(new.id, id);
}

proptest! {
    /// Evidence of one week gives the same candidate in whatever order it came.
    #[test]
    fn a_merge_does_not_depend_on_the_order(
        attempts in proptest::collection::vec((0u64..=1_000_000, 0i64..7 * DAY, proptest::option::of(any::<bool>())), 1..40),
        seed in any::<u64>(),
    ) {
        let play = |attempts: &[(u64, i64, Option<bool>)]| {
            let mut store = store();
            for (score, after, success) in attempts {
                let (score, success) = (*score, *success);
                store.upsert(Observation { score, success, ..observed("run the tests", NOW.saturating_add(*after)) });
            }
            store.evaluate(NOW + 20 * DAY);
            let Candidate { id: _, state, sum, evidence, successes, failures, first_seen, last_seen, log, .. } =
                store.candidates()[0].clone();
            (state, sum, evidence, successes, failures, first_seen, last_seen, log)
        };
        let mut other = attempts.clone();
        other.sort_by_key(|it| crate::hash::mix(seed ^ it.0));
        prop_assert_eq!(play(&attempts), play(&other));
    }
}
