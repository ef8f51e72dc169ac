//! A summarizer that answers in every way there is, and what the machine makes of it.
#![expect(clippy::arithmetic_side_effects, reason = "small numbers of a test")]

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const NONCE: &str = "0123456789abcdef0123456789abcdef";
const BODY: &str = "did what was asked, in src/a.rs, and it works";

/// Options with these beside what must be there.
fn options(more: Value) -> String {
    let mut all =
        json!({ "nonce": NONCE, "room": 5_000, "contextTokens": 32_000, "summarizers": 1 });
    for (name, value) in more.as_object().unwrap() {
        all[name] = value.clone();
    }
    all.to_string()
}

fn message(index: usize, words: usize) -> String {
    let role = if index.is_multiple_of(2) { "user" } else { "assistant" };
    let text = format!("message {index}: {}", "some words of it ".repeat(words / 4));
    json!({ "index": index, "turn": index / 2, "tokens": words, "role": role, "parts": [{ "kind": "text", "text": text }] })
        .to_string()
}

fn machine(more: Value, count: usize, words: usize) -> Compaction {
    let mut machine = Compaction::new(&options(more)).unwrap();
    for index in 0..count {
        machine.push(&message(index, words)).unwrap();
    }
    machine
}

/// A summary with the headings that were asked for.
fn good(job: &Value) -> Value {
    let headings = job["requiredHeadings"].as_array().unwrap();
    let sections =
        headings.iter().map(|heading| format!("## {}\n{BODY}\n", heading.as_str().unwrap()));
    let text = sections.collect::<Vec<_>>().concat();
    json!({ "text": if text.is_empty() { BODY.into() } else { text }, "finishReason": "stop" })
}

fn threw(detail: &str, status: u16) -> Value {
    json!({ "failed": "threw", "detail": detail, "status": status })
}

/// What came of it, and every call with what was put to it.
fn play(
    mut machine: Compaction,
    mut answer: impl FnMut(usize, &Value) -> Value,
) -> (Value, Vec<Value>) {
    let mut asked: Vec<Value> = Vec::new();
    let mut open: Vec<Value> = Vec::new();
    for _ in 0..1_000 {
        let next: Value = serde_json::from_str(&machine.step()).unwrap();
        if let Some(done) = next.get("done") {
            return (done.clone(), asked);
        }
        open.extend(next["ask"].as_array().cloned().unwrap_or_default());
        let ask = open.remove(0);
        let reply = answer(asked.len(), &ask);
        asked.push(ask.clone());
        machine.answer(u32::try_from(ask["id"].as_u64().unwrap()).unwrap(), &reply.to_string());
    }
    panic!("it does not end");
}

fn kinds(asked: &[Value]) -> Vec<&str> {
    asked.iter().map(|ask| ask["job"]["kind"].as_str().unwrap()).collect()
}

fn results(done: &Value) -> Vec<&str> {
    done["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tried| tried["result"].as_str().unwrap())
        .collect()
}

/// Row F092.
#[test]
fn one_call_summarizes_a_history_that_fits() {
    let (done, asked) =
        play(machine(json!({ "identifiers": ["src/a.rs", "src/z.rs"] }), 6, 100), |_, ask| {
            good(&ask["job"])
        });
    assert_eq!(kinds(&asked), ["whole"]);
    assert!(done["summary"].as_str().unwrap().starts_with("## Goal\ndid what"));
    assert_eq!(
        (&done["degraded"], &done["failure"], &done["reason"]),
        (&json!(false), &json!("none"), &json!("summarized"))
    );
    assert_eq!(done["lost"], json!(["src/z.rs"]));
    assert_eq!(asked[0]["job"]["previousSummary"], json!(null));
    assert!(
        asked[0]["job"]["system"].as_str().unwrap().contains("write in English")
            || asked[0]["job"]["system"].as_str().unwrap().contains("language of the user")
    );
}

/// Row F096.
#[test]
fn an_update_is_fed_the_previous_summary_once() {
    let machine = machine(
        json!({ "previousSummary": "[COMPACTED]\n\nOLD STATE", "template": "aceclaw" }),
        6,
        100,
    );
    let (done, asked) = play(machine, |_, ask| good(&ask["job"]));
    assert_eq!(kinds(&asked), ["update"]);
    let job = &asked[0]["job"];
    let all = format!("{}{}", job["system"], job["prompt"]);
    assert_eq!(all.matches("OLD STATE").count(), 1);
    assert_eq!(job["previousSummary"], json!("OLD STATE"));
    assert!(done["summary"].as_str().unwrap().starts_with("[COMPACTED]"));
}

/// F090, F104, F30: chunks within the window, then one merge, which is fed the previous summary.
/// Row F104.
#[test]
fn a_large_history_is_summarized_in_chunks_and_merged() {
    let machine =
        machine(json!({ "contextTokens": 16_000, "previousSummary": "OLD STATE" }), 60, 400);
    let (done, asked) = play(machine, |_, ask| good(&ask["job"]));
    let kinds = kinds(&asked);
    let (merge, chunks) = kinds.split_last().unwrap();
    assert!(
        chunks.len() >= 3 && chunks.iter().all(|kind| *kind == "chunk") && *merge == "merge",
        "{kinds:?}"
    );
    for (at, ask) in asked.iter().enumerate() {
        let job = &ask["job"];
        let prompt = job["prompt"].as_str().unwrap();
        assert_eq!(prompt.contains("OLD STATE"), at == chunks.len());
        let cost = job["inputTokens"].as_u64().unwrap() + job["maxOutputTokens"].as_u64().unwrap();
        assert!(cost <= 16_000, "{cost}");
    }
    for index in 0..60 {
        let calls = asked
            .iter()
            .filter(|ask| ask["job"]["prompt"].as_str().unwrap().contains(&format!("#{index} ")));
        assert_eq!(calls.count(), 1, "message {index}");
    }
    assert_eq!(done["degraded"], json!(false));
}

/// F30: fifty windows' worth; every call fits, and there are not many more than are needed.
/// Row F30.
#[test]
fn every_call_fits_the_window_when_the_history_is_fifty_times_as_large() {
    let (done, asked) =
        play(machine(json!({ "contextTokens": 8_000 }), 800, 500), |_, ask| good(&ask["job"]));
    for ask in &asked {
        let job = &ask["job"];
        let cost = job["inputTokens"].as_u64().unwrap() + job["maxOutputTokens"].as_u64().unwrap();
        assert!(cost <= 8_000, "{}: {cost}", job["kind"]);
    }
    assert!(asked.len() < 50 * 8, "{} calls", asked.len());
    assert_eq!(done["degraded"], json!(false), "{}", done["reason"]);
}

/// Row F091.
#[test]
fn oversized_messages_are_noted() {
    let mut machine = machine(json!({ "contextTokens": 8_000, "template": "aceclaw" }), 4, 100);
    machine.push(&message(4, 12_000)).unwrap();
    let (_, asked) = play(machine, |_, ask| good(&ask["job"]));
    let prompt = asked[0]["job"]["prompt"].as_str().unwrap();
    assert!(prompt.contains("[Large user (~11K tokens) omitted from summary]"), "{prompt}");
}

/// Row F089.
#[test]
fn the_beginning_of_a_split_turn_has_its_own_summary() {
    let (done, asked) =
        play(machine(json!({ "splitTurn": 2 }), 6, 100), |_, ask| good(&ask["job"]));
    assert_eq!(kinds(&asked), ["whole", "turn-prefix"]);
    let summary = done["summary"].as_str().unwrap();
    assert!(summary.contains("## Turn Context (split turn)\n\n## Original Request"), "{summary}");
    assert!(!asked[0]["job"]["prompt"].as_str().unwrap().contains("#4 "));
    let (done, asked) =
        play(machine(json!({ "splitTurn": 0, "previousSummary": "OLD" }), 2, 100), |_, ask| {
            good(&ask["job"])
        });
    assert_eq!(kinds(&asked), ["turn-prefix"]);
    assert!(done["summary"].as_str().unwrap().starts_with("OLD\n\n## Turn Context"));
}

/// Row F9.
#[test]
fn nothing_to_summarize_keeps_the_previous_summary() {
    let (done, asked) = play(machine(json!({ "previousSummary": "OLD" }), 0, 0), |_, _| json!({}));
    assert_eq!((done["summary"].as_str(), asked.len()), (Some("OLD"), 0));
    let (done, _) = play(machine(json!({}), 0, 0), |_, _| json!({}));
    assert_eq!((&done["summary"], &done["reason"]), (&json!(null), &json!("nothing to summarize")));
}

/// F2, F4 to F8: two calls and no more, then an extract that says so.
/// Row F8.
#[test]
fn two_calls_without_progress_end_a_job() {
    for (reply, result, failure) in [
        (threw("boom", 500), "threw", "temporary"),
        (json!({ "failed": "timeout" }), "timeout", "temporary"),
        (json!({ "text": "" }), "empty", "ineffective"),
        (json!({ "text": null }), "empty", "ineffective"),
        (json!({ "text": "x", "finishReason": "length" }), "cut", "ineffective"),
        (json!({ "text": "I'm sorry, I can't." }), "refused", "ineffective"),
        (json!({ "text": "no headings" }), "unverified", "ineffective"),
    ] {
        let (done, asked) =
            play(machine(json!({ "previousSummary": "OLD" }), 20, 400), |_, _| reply.clone());
        assert_eq!(results(&done), [result, result], "{reply}");
        assert_eq!(asked.len(), 2);
        assert_eq!((&done["degraded"], &done["failure"]), (&json!(true), &json!(failure)));
        assert!(done["summary"].as_str().unwrap().contains("OLD"));
        let (done, _) = play(machine(json!({ "degrade": false }), 20, 400), |_, _| reply.clone());
        assert_eq!((&done["summary"], &done["degraded"]), (&json!(null), &json!(false)));
    }
}

/// Rows F6, F111.
#[test]
fn a_summary_that_is_not_smaller_is_refused() {
    let long = "new words that nobody said before, one after the other\n".repeat(90);
    let (done, _) = play(machine(json!({ "room": 600 }), 6, 400), |_, ask| {
        let text = format!("{}\n{long}", good(&ask["job"])["text"].as_str().unwrap());
        json!({ "text": text })
    });
    assert_eq!(results(&done), ["inflated", "inflated"]);
    assert_eq!(done["degraded"], json!(true));
}

/// F105: the cheaper first, the next when it fails; a smaller input for the same one where there is no other.
/// Rows F105, F108.
#[test]
fn a_failed_call_tries_the_next_summarizer_and_then_a_smaller_input() {
    let (done, asked) = play(machine(json!({ "summarizers": 3 }), 20, 400), |at, ask| {
        if at == 0 { threw("boom", 500) } else { good(&ask["job"]) }
    });
    assert_eq!(
        asked.iter().map(|ask| ask["summarizer"].as_u64().unwrap()).collect::<Vec<_>>(),
        [0, 1]
    );
    assert_eq!(results(&done), ["threw", "ok"]);
    assert_eq!(asked[0]["job"]["prompt"], asked[1]["job"]["prompt"]);

    let (_, asked) = play(machine(json!({}), 20, 400), |at, ask| {
        if at == 0 { threw("boom", 500) } else { good(&ask["job"]) }
    });
    let tokens: Vec<u64> =
        asked.iter().map(|ask| ask["job"]["inputTokens"].as_u64().unwrap()).collect();
    assert!(tokens[1] < tokens[0], "{tokens:?}");
    let prompt = asked[1]["job"]["prompt"].as_str().unwrap();
    assert!(prompt.contains("of 20 messages (recent messages only).") && prompt.contains("#19 "));
    assert_eq!(asked[1]["job"]["attempt"], json!(2));
}

/// G34: three quarters and three quarters of that, since the summarizer says that it is too much; not under 500 tokens.
/// Row F108.
#[test]
fn an_overflow_of_the_summarizer_makes_the_input_smaller() {
    let (done, asked) = play(machine(json!({}), 20, 400), |at, ask| {
        if at < 2 { threw("prompt is too long", 400) } else { good(&ask["job"]) }
    });
    assert_eq!(results(&done), ["threw", "threw", "ok"]);
    let tokens: Vec<u64> =
        asked.iter().map(|ask| ask["job"]["inputTokens"].as_u64().unwrap()).collect();
    assert!(tokens[0] > tokens[1] && tokens[1] > tokens[2], "{tokens:?}");
    let (done, asked) = play(machine(json!({}), 3, 100), |_, _| threw("prompt is too long", 400));
    assert_eq!((asked.len(), &done["degraded"]), (2, &json!(true)));
}

/// Row F108.
#[test]
fn authentication_and_network_errors_stop_a_job_at_once() {
    for (error, failure) in [
        (threw("no", 401), "auth"),
        (threw("fetch failed", 0), "temporary"),
        (json!({ "failed": "threw", "detail": "ECONNREFUSED" }), "network"),
    ] {
        let (done, asked) = play(machine(json!({}), 20, 400), |_, _| error.clone());
        let calls = if failure == "temporary" { 2 } else { 1 };
        assert_eq!((asked.len(), done["failure"].as_str()), (calls, Some(failure)));
        assert_eq!(done["degraded"], json!(true));
    }
    let (done, asked) =
        play(machine(json!({ "summarizers": 2, "contextTokens": 16_000 }), 60, 400), |at, ask| {
            if at == 0 { threw("no", 401) } else { good(&ask["job"]) }
        });
    assert_eq!(done["degraded"], json!(false));
    // The second was asked beside the first.
    assert!(
        asked.iter().skip(2).all(|ask| ask["summarizer"] == json!(1)),
        "what has no key is not asked again"
    );
}

/// Row F7.
#[test]
fn a_retry_prompt_names_the_fault() {
    let (done, asked) = play(machine(json!({}), 20, 400), |at, ask| {
        if at == 0 { json!({ "text": "no headings" }) } else { good(&ask["job"]) }
    });
    assert_eq!(results(&done), ["unverified", "ok"]);
    assert!(asked[1]["job"]["prompt"].as_str().unwrap().contains(
        "Your previous answer was rejected: the headings \"## Goal\", \"## Constraints\""
    ));
    assert!(!asked[0]["job"]["prompt"].as_str().unwrap().contains("rejected"));
}

#[test]
fn an_abort_changes_nothing() {
    let (done, asked) = play(machine(json!({}), 20, 400), |_, _| json!({ "failed": "aborted" }));
    assert_eq!(
        (&done["summary"], done["failure"].as_str(), asked.len()),
        (&json!(null), Some("aborted"), 1)
    );
    let mut machine = machine(json!({}), 20, 400);
    machine.step();
    machine.stop("aborted");
    let done: Value = serde_json::from_str(&machine.step()).unwrap();
    assert_eq!(
        (&done["done"]["summary"], &done["done"]["failure"]),
        (&json!(null), &json!("aborted"))
    );
}

/// F3: what was finished is not lost when time is over; what comes late changes nothing.
/// Row F3.
#[test]
fn a_job_that_is_out_of_time_ends_with_what_it_has() {
    let mut machine = machine(json!({ "contextTokens": 16_000 }), 60, 400);
    let first: Value = serde_json::from_str(&machine.step()).unwrap();
    machine.answer(1, &json!({ "text": "THE FIRST PART" }).to_string());
    machine.step();
    machine.stop("timeout");
    let done = machine.step();
    machine.answer(2, &good(&first["ask"][0]["job"]).to_string());
    machine.stop("aborted");
    assert_eq!(machine.step(), done);
    let done: Value = serde_json::from_str(&done).unwrap();
    assert_eq!(results(&done["done"]), ["ok", "timeout", "timeout"]);
    assert!(done["done"]["summary"].as_str().unwrap().contains("THE FIRST PART"));
    assert_eq!(done["done"]["degraded"], json!(true));
}

/// F30: what cannot be summarized in that window is not tried.
/// Row F090.
#[test]
fn a_window_that_is_too_small_is_seen_before_any_call() {
    let (done, asked) =
        play(machine(json!({ "contextTokens": 600 }), 20, 400), |_, ask| good(&ask["job"]));
    assert_eq!((asked.len(), &done["degraded"]), (0, &json!(true)));
    assert_eq!(done["reason"], json!("a window of 600 tokens is too small for a summary"));
}

#[test]
fn two_calls_run_in_parallel_if_the_host_allows() {
    let mut machine = machine(json!({ "contextTokens": 16_000, "parallel": true }), 60, 400);
    let next: Value = serde_json::from_str(&machine.step()).unwrap();
    assert_eq!(next["ask"].as_array().unwrap().len(), 2);
    assert_eq!(machine.step(), r#"{"wait":true}"#);
    machine.answer(2, &threw("boom", 500).to_string());
    assert_eq!(machine.step(), r#"{"wait":true}"#, "one open and one strike");
    machine.answer(1, &json!({ "text": "part" }).to_string());
    let next: Value = serde_json::from_str(&machine.step()).unwrap();
    assert_eq!(next["ask"].as_array().unwrap().len(), 2);
}

/// Row F105.
#[test]
fn the_next_summarizer_is_asked_although_calls_may_run_side_by_side() {
    let more = |summarizers: u32| json!({ "contextTokens": 16_000, "parallel": true, "summarizers": summarizers });
    let asked_of = |asked: &[Value]| -> Vec<u64> {
        asked.iter().map(|ask| ask["summarizer"].as_u64().unwrap()).collect()
    };
    for reply in [threw("boom", 503), json!({ "text": "" }), json!({ "failed": "timeout" })] {
        let (done, asked) = play(machine(more(2), 60, 400), |_, ask| {
            if ask["summarizer"] == json!(0) { reply.clone() } else { good(&ask["job"]) }
        });
        let of = asked_of(&asked);
        assert!(of.len() > 2 && of[0] == 0 && of[1..].iter().all(|it| *it == 1), "{reply} {of:?}");
        assert_eq!((&done["degraded"], &done["reason"]), (&json!(false), &json!("summarized")));
        // Without progress two calls are the end, however many there are to ask.
        for (summarizers, expected) in [(1, [0, 0]), (2, [0, 1]), (3, [0, 1])] {
            let (_, asked) = play(machine(more(summarizers), 60, 400), |_, _| reply.clone());
            assert_eq!(asked_of(&asked), expected, "{reply}");
        }
    }
    // After an answer two go side by side again.
    let mut machine = machine(more(2), 60, 400);
    for count in [1, 2] {
        let next: Value = serde_json::from_str(&machine.step()).unwrap();
        assert_eq!(next["ask"].as_array().unwrap().len(), count);
        machine.answer(1, &json!({ "text": "part" }).to_string());
    }
}

/// A10: at every boundary, in and out: messages, previous summary, focus, wishes, pins, identifiers, names, errors, answers.
/// Row A10.
#[test]
fn no_secret_crosses_any_boundary_of_a_job() {
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let settings = json!({
        "previousSummary": format!("old {secret}"), "focus": format!("focus {secret}"), "instructions": format!("keep {secret}"),
        "pins": [format!("pin {secret}")], "identifiers": [secret], "summarizers": 1, "language": format!("x {secret}"),
    });
    let mut machine = Compaction::new(&options(settings)).unwrap();
    let parts = json!([
        { "kind": "text", "text": secret }, { "kind": "call", "name": secret, "text": json!({ "a": secret }).to_string() },
        { "kind": "result", "name": "x", "text": format!("out {secret}"), "error": true }, { "kind": "thinking", "text": secret },
    ]);
    machine.push(&json!({ "index": 0, "role": "user", "parts": parts }).to_string()).unwrap();
    let (done, asked) = play(machine, |_, ask| {
        if ask["job"]["attempt"] == json!(1) {
            return threw(&format!("bad key {secret}"), 500);
        }
        json!({ "text": format!("## Goal\n{secret}") })
    });
    assert!(!json!(asked).to_string().contains(&secret), "{}", json!(asked));
    assert!(!done.to_string().contains(&secret), "{done}");
    let (done, _) = play(
        self::machine(json!({}), 4, 400),
        |_, ask| json!({ "text": good(&ask["job"])["text"].as_str().unwrap().replace("src/a.rs", &secret) }),
    );
    assert_eq!(done["degraded"], json!(false));
    assert!(!done.to_string().contains(&secret), "{done}");
}

/// F32: fifty rounds of a summarizer that forgets; the size stays under the cap, and the facts that are gone are told.
/// Row F32.
#[test]
fn a_summary_of_summaries_does_not_grow() {
    let mut previous = "src/pinned.rs".to_owned();
    for round in 0..50 {
        let machine = machine(
            json!({ "previousSummary": previous, "pins": ["src/pinned.rs"], "room": 9_000 }),
            8,
            200,
        );
        let (done, _) = play(machine, |_, ask| {
            let mut text = good(&ask["job"])["text"].as_str().unwrap().to_owned();
            for at in 0..round * 10 {
                text += "- more of it, number ";
                text += &(at * round).to_string();
                text.push('\n');
            }
            json!({ "text": text })
        });
        previous = done["summary"].as_str().unwrap().to_owned();
        assert!(crate::estimate::Estimator::default().tokens(&previous) <= 8_000);
        if !previous.contains("src/pinned.rs") {
            assert_eq!(done["lost"], json!(["src/pinned.rs"]));
        }
    }
}

fn answers() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0_u8..12, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// Whatever is answered, it ends: with a summary that is smaller than its room, or none; never three calls in a row fail.
    #[test]
    fn a_job_ends_whatever_is_answered(
        script in answers(), parallel: bool, degrade: bool, summarizers in 0_usize..4, window in prop::sample::select(vec![0, 900, 4_000, 16_000]),
        count in 0_usize..24, room in 0_u32..3_000, split in 0_usize..30, previous: bool,
    ) {
        let mut more = json!({
            "parallel": parallel, "degrade": degrade, "summarizers": summarizers, "contextTokens": window, "room": room, "splitTurn": split,
        });
        if previous {
            more["previousSummary"] = json!("before all that there was something else");
        }
        let (done, asked) = play(machine(more, count, 200), |at, ask| match script[at % script.len()] {
            0 => threw("boom", 500),
            1 => threw("prompt is too long", 400),
            2 => threw("no", 401),
            3 => json!({ "failed": "timeout" }),
            4 => json!({ "text": "", "finishReason": "stop" }),
            5 => json!({ "text": 42 }),
            6 => json!([]),
            7 => json!({ "text": "x", "finishReason": "length" }),
            8 => json!({ "text": "I cannot." }),
            _ => good(&ask["job"]),
        });
        if let Some(summary) = done["summary"].as_str() {
            let fits = crate::estimate::Estimator::default().tokens(summary) < room;
            prop_assert!(fits || done["reason"] == "nothing to summarize");
        } else {
            prop_assert_eq!(&done["degraded"], &json!(false));
        }
        let mut failed = 0;
        for tried in done["attempts"].as_array().unwrap() {
            let too_large = tried["detail"] == "prompt is too long";
            failed = if tried["result"] == "ok" { 0 } else { failed + u32::from(!too_large) };
            prop_assert!(failed <= 2 + u32::from(parallel), "{}", done);
        }
        prop_assert!(asked.len() <= 4 * (count + 2));
        for ask in asked.iter().filter(|_| window > 0) {
            let job = &ask["job"];
            prop_assert!(job["inputTokens"].as_u64().unwrap() + job["maxOutputTokens"].as_u64().unwrap() <= window);
        }
    }
}

/// Row F8.
#[test]
fn failed_calls_of_an_earlier_job_count() {
    for (strikes, calls) in [(0, 2), (1, 1), (9, 1)] {
        let (done, asked) =
            play(machine(json!({ "strikes": strikes }), 12, 40), |_, _| threw("no", 500));
        assert_eq!((asked.len(), &done["strikes"]), (calls, &json!(2)));
    }
    let (done, asked) = play(machine(json!({ "strikes": 1 }), 12, 40), |_, ask| good(&ask["job"]));
    assert_eq!((asked.len(), &done["strikes"], &done["degraded"]), (1, &json!(0), &json!(false)));
}

#[test]
fn an_answer_of_more_characters_than_a_call_allows_is_refused_unread() {
    let (done, asked) = play(machine(json!({}), 12, 100), |at, ask| {
        let most = ask["job"]["maxOutputTokens"].as_u64().unwrap() * 16;
        assert_eq!(ask["job"]["maxOutputChars"], most);
        if at == 0 { json!({ "text": null, "chars": most + 1 }) } else { good(&ask["job"]) }
    });
    assert_eq!((results(&done), asked.len()), (vec!["inflated", "ok"], 2));
}
