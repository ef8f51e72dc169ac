//! Arguments from the host: those that are read, and those that are refused.

use super::*;
use crate::error::{Error, ErrorInfo};

#[test]
fn a_store_has_the_gates_categories_and_scope_of_its_options() {
    let options =
        r#"{"gates":{"minEvidence":7},"categories":["tests","style"],"scope":"tenant a"}"#;
    let store = Store::from_options(options).unwrap();
    let categories = vec!["tests".into(), "style".into()];
    assert_eq!(store.gates, Gates { min_evidence: 7, categories, ..Gates::default() });
    assert_eq!(store.scope, "tenant a");
    let usual = Store::from_options("{}").unwrap();
    assert_eq!((usual.gates, usual.scope.as_str()), (Gates::default(), ""));
    let wrong = Store::from_options(r#"{"scope":7}"#).unwrap_err().to_string();
    assert_eq!(wrong, "scope: expected a string, got 7");
}

#[test]
fn a_transition_returns_its_candidate_and_is_in_the_audit() {
    let mut store = store();
    let first = Observation { tags: vec!["slow".into()], ..observed("run the tests", 1) };
    let id = store.upsert(first).unwrap().id.clone();
    assert_eq!(store.audit(), "[]");
    let change = r#"{"reason":"they asked","at":5,"force":true}"#;
    let candidate = format!(
        r#"{{"id":"{id}","kind":"WORKFLOW","category":"tests","content":"run the tests","toolTag":"bash","tags":["slow"],"score":0.9,"source":"user","trusted":true,"at":1,"state":"PROMOTED","evidenceCount":1,"successes":0,"failures":0,"firstSeen":1,"lastSeen":1,"cooldownUntil":null,"sources":["user"]}}"#
    );
    assert_eq!(store.transition_json(&format!(r#"["{id}","PROMOTED",{change}]"#)), Ok(candidate));
    let promoted = format!(
        r#"{{"id":"{id}","from":"SHADOW","to":"PROMOTED","reason":"they asked","code":"MANUAL_FORCE","at":5}}"#
    );
    assert_eq!(store.audit(), format!("[{promoted}]"));
    let archived = format!(
        r#"{{"id":"{id}","from":"PROMOTED","to":"ARCHIVED","reason":"RETENTION","code":"RETENTION","at":{NOW}}}"#
    );
    store.all[0].last_seen = NOW - 91 * DAY;
    assert_eq!(store.evaluate_json(&NOW.to_string()), Ok(format!("[{archived}]")));
    assert_eq!(store.audit(), format!("[{promoted},{archived}]"));
}

#[test]
fn a_list_has_all_candidates_or_those_of_one_state() {
    let mut store = store();
    store.upsert(observed("run the unit tests first", NOW)).unwrap();
    let second = store.upsert(observed("answer in French", NOW)).unwrap().id.clone();
    put(&mut store, &second, State::Rejected, NOW);
    let [first, second] = [0, 1].map(|at| crate::json::write(&store.all[at]));
    assert_eq!(store.list_json("null"), Ok(format!("[{first},{second}]")));
    assert_eq!(store.list_json("\"SHADOW\""), Ok(format!("[{first}]")));
    assert_eq!(store.list_json("\"REJECTED\""), Ok(format!("[{second}]")));
    assert_eq!(store.list_json("\"PROMOTED\""), Ok("[]".into()));
}

/// One byte more is refused: `a_wrong_argument_is_refused_by_name`.
#[test]
fn texts_of_the_largest_size_are_accepted() {
    let mut store = store();
    let (content, name) = ("x".repeat(16_384), "n".repeat(1_024));
    let observation = format!(
        r#"{{"kind":"WORKFLOW","category":"{name}","content":"{content}","score":0.5,"source":"{name}","trusted":true,"at":1}}"#
    );
    assert!(store.upsert_json(&observation).is_ok());
    assert_eq!((&store.all[0].content, &store.all[0].category), (&content, &name));
}

/// What crosses: each wrong argument is named with what is allowed there.
#[test]
fn a_wrong_argument_is_refused_by_name() {
    let good = r#"{"kind":"WORKFLOW","category":"c","content":"x","score":0.5,"source":"s","trusted":true,"at":1}"#;
    let mut store = store();
    let answer = store.upsert_json(good).unwrap();
    assert!(
        answer.contains(r#""toolTag":"general","tags":[],"score":0.5,"source":"s""#),
        "{answer}"
    );
    let mut refused = |from: &str, to: &str, expected: &str| {
        assert_ne!(good, good.replace(from, to));
        let error = store.upsert_json(&good.replace(from, to)).unwrap_err();
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
    refused(":1}", ":1.5}", "at: expected a whole number, got 1.5");
    refused(":1}", ":-1}", "at: expected whole milliseconds since 1970, got -1");
    refused(
        ":1}",
        ":8640000000000001}",
        "at: expected whole milliseconds since 1970, got 8640000000000001",
    );
    refused("true", "1", "trusted: expected a boolean, got 1");
    refused("\"x\"", "\" \\n\"", "content: expected what was learned, got nothing");
    refused("\"x\"", "7", "content: expected a string, got 7");
    let long = good.replace("\"x\"", &format!("\"{}\"", "x".repeat(16_385)));
    assert_eq!(
        store.upsert_json(&long).unwrap_err(),
        Error::new(ErrorInfo::TooLarge {
            what: "observation.content".into(),
            size: 16_385,
            cap: 16_384
        })
    );
    let long = good.replace("\"s\"", &format!("\"{}\"", "x".repeat(1_025)));
    assert_eq!(
        store.upsert_json(&long).unwrap_err(),
        Error::new(ErrorInfo::TooLarge {
            what: "observation.source".into(),
            size: 1_025,
            cap: 1_024
        })
    );
    let tags = |many: usize| {
        let tags: Vec<String> = (0..many).map(|at| format!("\"{at}\"")).collect();
        good.replace("\"at\"", &format!("\"tags\":[{}],\"at\"", tags.join(",")))
    };
    assert!(store.upsert_json(&tags(64)).is_ok());
    assert!(store.upsert_json(&tags(65)).unwrap_err().to_string().contains("at most 64, got 65"));
    let error = |result: crate::error::Result<String>| result.unwrap_err().to_string();
    assert_eq!(
        error(store.list_json("\"shadow\"")),
        "filter.state: expected one of SHADOW, PROMOTED, IN_USE, DEMOTED, ARCHIVED, REJECTED, got \"shadow\""
    );
    assert_eq!(
        error(store.evaluate_json("1.5")),
        "at: expected whole milliseconds since 1970, got 1.5"
    );
    assert_eq!(
        error(store.conclude_json(r#"["x",{"success":1,"at":1}]"#)),
        "outcome.success: expected a boolean, got 1"
    );
    assert_eq!(
        error(store.conclude_json(r#"[null,{"success":true,"at":1}]"#)),
        "id: expected a string, got null"
    );
}
