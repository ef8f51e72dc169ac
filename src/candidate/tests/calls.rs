//! Arguments from the host: those that are read, and those that are refused.

use super::*;
use crate::error::Error;

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
        store.upsert_json(&long).unwrap_err(),
        Error::TooLarge { what: "observation.content".into(), size: 16_385, cap: 16_384 }
    );
    let long = good.replace("\"s\"", &format!("\"{}\"", "x".repeat(1_025)));
    assert_eq!(
        store.upsert_json(&long).unwrap_err(),
        Error::TooLarge { what: "observation.source".into(), size: 1_025, cap: 1_024 }
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
        "outcome.success: expected a boolean, got integer `1`"
    );
    assert_eq!(
        error(store.conclude_json(r#"[null,{"success":true,"at":1}]"#)),
        "id: expected a string, got null"
    );
}
