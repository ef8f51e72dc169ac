//! Outcomes: what a request, a plan and a commit report of a compaction.

use super::*;
use crate::context::compaction::flat_message::extract_facts;
use crate::context::compaction::plan::plan_compaction;

#[test]
fn a_fold_reports_all_facts_that_a_commit_names() {
    let mut host = talked(&options(&json!({})), 20);
    host.request();
    let plan = host.plan(true);
    let found = json!({ "modifiedFiles": ["a.rs"], "readFiles": ["b.rs"], "commands": ["make"], "errors": ["E1"] });
    let planned = json!({ "base": plan["plan"]["base"], "gone": plan["plan"]["gone"],
        "summary": "short", "extracted": found });
    commit_plan(&mut host.session, &planned.to_string(), host.now_ms).unwrap();
    let fold = host.request().fold.unwrap();
    assert_eq!(fold.extracted.modified_files, ["a.rs"]);
    assert_eq!(fold.extracted.read_files, ["b.rs"]);
    assert_eq!(fold.extracted.commands, ["make"]);
    assert_eq!(fold.extracted.errors, ["E1"]);
}

#[test]
fn a_fold_lists_the_identifiers_in_its_head() {
    let mut host = talked(&options(&json!({})), 20);
    host.request();
    let plan = host.plan(true);
    let done = host.commit(&plan, None).unwrap();
    let fold = host.request().fold.unwrap();
    assert_eq!(plan["identifiers"], done["identifiers"]);
    assert!(fold.identifiers.contains(&"src/f3.rs".to_owned()), "{:?}", fold.identifiers);
    assert!(fold.identifiers.iter().all(|name| fold.head.contains(name)), "{}", fold.head);
}

#[test]
fn a_fold_is_called_summarized_only_if_a_summarizer_wrote_its_summary() {
    for (summary, degraded, status) in [
        (Some("short"), false, "summarized"),
        (Some("short"), true, "folded"),
        (None, false, "folded"),
    ] {
        let mut host = talked(&options(&json!({})), 20);
        host.request();
        let plan = host.plan(true);
        let planned = json!({ "base": plan["plan"]["base"], "gone": plan["plan"]["gone"],
            "summary": summary, "degraded": degraded });
        commit_plan(&mut host.session, &planned.to_string(), host.now_ms).unwrap();
        assert_eq!(host.request().outcome.unwrap().status, status, "{summary:?} {degraded}");
    }
}

#[test]
fn a_large_fold_without_its_summarizer_is_degraded() {
    for (least, degraded) in [(100, true), (1_000_000, false)] {
        let summary = json!({ "minimumTokens": least });
        let mut host = talked(&options(&json!({ "summary": summary })), 120);
        host.now_ms = 5_000;
        let answer = host.request();
        let (fold, outcome) = (answer.fold.unwrap(), answer.outcome.unwrap());
        assert_eq!((fold.degraded, fold.at), (degraded, host.now_ms));
        assert_eq!(outcome.status, "folded");
        assert!(outcome.identifiers.is_empty(), "the fold lists them");
        assert!(outcome.unread.contains(&1.into()), "{:?}", outcome.unread);
        assert!(!outcome.unread.contains(&0.into()), "a user's words hold no facts");
    }
}

#[test]
fn a_plan_names_its_reason() {
    let reason = |steps: usize, force: bool| {
        let mut host = talked(&options(&json!({})), steps);
        host.plan(force)["plan"]["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(reason(20, true), "it was asked for");
    assert_eq!(reason(120, false), "the request would not fit");
    let mut host = Host::new(&options(&json!({})));
    let mut nearly = false;
    for at in 0..200 {
        host.ask(&format!("go {at}"));
        host.say(&prose(150));
        let (tokens, line) = host.session.sizes();
        if tokens > line && tokens <= host.session.decisions.usable {
            assert_eq!(host.plan(false)["plan"]["reason"], "the window is nearly full");
            nearly = true;
            break;
        }
    }
    assert!(nearly);
}

#[test]
fn a_plan_cut_from_another_was_asked_for() {
    let mut host = talked(&options(&json!({})), 20);
    let plan = host.plan(true);
    let smaller =
        plan_compaction(&mut host.session, false, Some(&plan["plan"].to_string()), 0).unwrap();
    let smaller: Value = serde_json::from_str(smaller.json()).unwrap();
    assert_eq!(smaller["plan"]["reason"], "it was asked for");
    assert_eq!(smaller["plan"]["gone"], plan["plan"]["gone"]);
}

#[test]
fn facts_are_extracted_only_from_messages_that_go() {
    let mut host = talked(&options(&json!({})), 20);
    host.plan(true);
    let newest = host.messages[77].to_string();
    extract_facts(&mut host.session, 77.into(), newest.as_bytes()).unwrap();
    assert_eq!(extracted_so_far(&host.session).read_files, Vec::<String>::new());
    let flat = flat_message(&mut host.session, 77.into(), newest.as_bytes()).unwrap();
    assert!(flat.json().contains(r#""parts":[]"#), "{}", flat.json());
    let oldest = host.messages[1].to_string();
    extract_facts(&mut host.session, 1.into(), oldest.as_bytes()).unwrap();
    assert_eq!(extracted_so_far(&host.session).read_files, ["src/f0.rs"]);
    assert!(extract_facts(&mut host.session, 1.into(), b"no JSON").is_err());
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).collect()
}

#[test]
fn a_plan_that_only_shortens_lists_the_calls_and_names_of_what_it_shortens() {
    let mut host = Host::new(&window(25_000));
    host.ask("find it");
    for at in 0..25 {
        let input = json!({ "path": format!("src/f{at}.rs") });
        host.work(&format!("c{at}"), &input, &words(500, &format!("x{at}y")));
    }
    let plan = host.plan(false);
    assert_eq!(plan["plan"]["outcome"], "prune", "{plan}");
    let go = numbers(&plan["go"]);
    assert!(!go.is_empty() && go.iter().all(|at| at % 2 == 1), "only calls: {go:?}");
    let first = format!("src/f{}.rs", (go[0] - 1) / 2);
    assert!(plan["identifiers"].as_array().unwrap().contains(&json!(first)), "{plan}");
    assert!(!plan["identifiers"].as_array().unwrap().contains(&json!("src/f24.rs")), "{plan}");
}

#[test]
fn a_plan_names_the_turn_that_its_cut_splits() {
    let mut split = Host::new(&options(&json!({})));
    split.ask("before");
    split.say("yes");
    split.ask("go");
    for at in 0..30 {
        split.work(&format!("c{at}"), &json!({ "path": at }), &prose(300));
    }
    let plan = split.plan(true);
    assert_eq!((&plan["plan"]["outcome"], &plan["splitTurn"]), (&json!("summarize"), &json!(2)));
    let mut between = Host::new(&options(&json!({})));
    for at in 0..30 {
        between.ask(&format!("step {at} {}", prose(60)));
        between.say(&prose(300));
    }
    let plan = between.plan(true);
    let cut = plan["plan"]["firstKept"].as_u64().unwrap();
    let expected = if cut.is_multiple_of(2) { Value::Null } else { json!(cut / 2 + 1) };
    assert_eq!(plan["splitTurn"], expected, "{cut}");
}

#[test]
fn a_summarizer_reads_the_first_and_newest_words_of_the_user_and_the_last_of_all() {
    let mut host = talked(&options(&json!({})), 60);
    let plan = host.plan(true);
    let cut = plan["plan"]["firstKept"].as_u64().unwrap();
    let kept: Vec<u64> = plan["plan"]["kept"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|it| it[0].as_u64().unwrap()..it[1].as_u64().unwrap())
        .collect();
    let before: Vec<u64> = kept.iter().copied().filter(|at| at % 4 == 0).collect();
    let users: Vec<u64> =
        numbers(&plan["go"]).into_iter().filter(|at| before.contains(at) || *at >= cut).collect();
    assert!(before.len() > 16, "{before:?}");
    let mut expected = vec![before[0]];
    expected.extend(&before[before.len() - 15..]);
    expected.push(59 * 4);
    assert_eq!(users, expected);
}

#[test]
fn each_chunk_of_a_plan_fits_a_summarizer_and_chunks_are_merged_by_one_more_call() {
    let mut host = talked(&options(&json!({})), 60);
    let plan = host.plan(true);
    let chunks = plan["plan"]["chunks"].as_array().unwrap();
    let tokens: Vec<u64> = chunks.iter().map(|it| it["tokens"].as_u64().unwrap()).collect();
    assert_eq!(json!(tokens.iter().sum::<u64>()), plan["droppedTokens"]);
    let most = u64::from(WINDOW) * 4000 / 12_000;
    // A call's result stays with it, even if the chunk grows beyond its size.
    assert!(chunks.iter().all(|it| it["from"].as_u64().unwrap() % 4 != 2), "{plan}");
    assert!(tokens.len() > 1 && tokens.iter().all(|it| *it <= most + 100), "{tokens:?}");
    for pair in tokens.windows(2) {
        assert!(pair[0] + pair[1] > most, "as few as fit: {tokens:?}");
    }
    assert_eq!(plan["plan"]["calls"], json!(tokens.len() + 1), "{plan}");
    let mut small = talked(&options(&json!({})), 12);
    let plan = small.plan(true);
    assert_eq!(plan["plan"]["chunks"].as_array().unwrap().len(), 1, "{plan}");
    assert_eq!(plan["plan"]["calls"], 1);
}

#[test]
fn a_request_that_edits_made_room_in_lists_the_names_of_what_was_shortened() {
    let mut host = Host::new(&window(25_000));
    host.ask("find it");
    for at in 0..25 {
        let input = json!({ "path": format!("src/f{at}.rs") });
        host.work(&format!("c{at}"), &input, &words(500, &format!("x{at}y")));
    }
    let outcome = host.request().outcome.unwrap();
    assert_eq!(outcome.status, "pruned");
    assert!(outcome.identifiers.contains(&"src/f0.rs".to_owned()), "{:?}", outcome.identifiers);
}

fn of_preset(name: &str) -> Host {
    let mut options = options(&json!({ "preset": name }));
    options.as_object_mut().unwrap().remove("ingestCap");
    Host::new(&options)
}

/// A message of the user's that brings the request to exactly so many tokens.
fn filled_to(host: &Host, tokens: u64) -> Host {
    let missing = usize::try_from(tokens - host.session.sizes().0).unwrap();
    let lengths = (missing.saturating_sub(20) * 4..missing * 4 + 4).rev();
    let filled = lengths.map(|chars| {
        let (session, messages) = (host.session.clone(), host.messages.clone());
        let mut filled = Host { session, messages, now_ms: host.now_ms };
        filled.ask(&"x".repeat(chars));
        filled
    });
    filled.into_iter().find(|it| it.session.sizes().0 == tokens).unwrap()
}

#[test]
fn a_plan_waits_only_for_a_request_larger_than_the_usable_window() {
    let mut host = talked(&options(&json!({})), 12);
    host.request();
    let waits = |tokens: u64| filled_to(&host, tokens).plan(false)["waits"].clone();
    assert_eq!([waits(19_000), waits(19_001)], [json!(false), json!(true)]);
}

#[test]
fn a_request_of_exactly_the_triggers_size_is_no_overflow() {
    let host = Host::new(&options(&json!({})));
    let line = host.session.sizes().1;
    let outcome = |tokens: u64| {
        let mut filled = filled_to(&host, tokens);
        filled.plan(false)["plan"]["outcome"].clone()
    };
    assert_eq!([outcome(line), outcome(line + 1)], [json!("none"), json!("overflow")]);
}

#[test]
fn a_request_of_exactly_the_usable_size_that_a_preset_refuses_to_fold_is_no_overflow() {
    let host = of_preset("aiclaw");
    let outcome = |tokens: u64| {
        let plan = filled_to(&host, tokens).plan(false);
        (plan["plan"]["outcome"].clone(), plan["plan"]["reason"].clone())
    };
    let refused = "too few messages stand between what is protected";
    assert_eq!(outcome(19_000), (json!("none"), json!(refused)));
    assert_eq!(outcome(19_001).0, json!("overflow"));
}

#[test]
fn a_fold_of_a_request_of_exactly_the_triggers_size_is_not_for_room() {
    let mut host = of_preset("goclaw");
    for at in 0..251 {
        host.ask(&format!("question {at}"));
        host.say(&prose(30));
    }
    let line = host.session.sizes().1;
    let reason = |tokens: u64| filled_to(&host, tokens).plan(false)["plan"]["reason"].clone();
    // GoClaw folds more than 500 messages at any size.
    assert_eq!(reason(line), "a fold pays");
    assert_eq!(reason(line + 1), "the window is nearly full");
}

#[test]
fn a_plan_without_calls_of_a_summarizer_makes_none_when_carried_out() {
    let options = options(&json!({ "summary": { "minimumTokens": 1_000_000 } }));
    let mut host = talked(&options, 20);
    host.request();
    let plan = host.plan(true);
    for (calls, wanted) in [(0, false), (1, true)] {
        let cut_from =
            json!({ "base": plan["plan"]["base"], "gone": plan["plan"]["gone"], "calls": calls });
        let again = plan_compaction(&mut host.session, false, Some(&cut_from.to_string()), 0);
        let again: Value = serde_json::from_str(again.unwrap().json()).unwrap();
        assert_eq!(again["plan"]["outcome"], "summarize", "{again}");
        assert_eq!(again["summaryWanted"], wanted, "{calls} calls");
    }
}

#[test]
fn a_plan_estimates_what_its_commit_leaves() {
    let (mut folded, mut exact) = (0, 0);
    for seed in 0..40_usize {
        let mut host = Host::new(&options(&json!({ "summarizes": false })));
        host.ask("find it");
        for at in 0..30 + seed {
            let words = 40 + (at * 7 + seed * 13) % 9 * 60;
            host.work(
                &format!("c{at}"),
                &json!({ "path": format!("src/f{at}.rs") }),
                &prose(words),
            );
            if at % 3 == seed % 3 {
                host.say(&prose(80));
                host.ask(&format!("and {at}? {}", prose(30)));
            }
            if at % 5 == 0 {
                host.request();
            }
        }
        let plan = host.plan(true);
        if plan["plan"]["outcome"] != "summarize" {
            continue;
        }
        folded += 1;
        let first_kept = plan["plan"]["firstKept"].as_u64().unwrap();
        for range in plan["plan"]["gone"].as_array().unwrap() {
            let last = usize::try_from(range[1].as_u64().unwrap() - 1).unwrap();
            let message = host.session.transcript.ledger.blocks[last].message;
            assert!(u64::from(message.get()) < first_kept, "seed {seed}: {plan}");
        }
        let (planned, done) =
            (&plan["plan"]["tokensAfterEstimate"], host.commit(&plan, None).unwrap());
        exact += i32::from(done["tokensAfter"] == *planned);
    }
    // A plan may count edits of what stays, which are made later.
    assert!(folded > 30 && exact + 1 >= folded, "{exact} of {folded}");
}

/// A host of steps and sizes that the seed chooses, without a summarizer: some of them so large that a fold alone is not enough.
fn varied(seed: u64) -> Host {
    let mut state = seed;
    let mut below = |most: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((state >> 33) % most).unwrap()
    };
    let mut host = Host::new(&options(&json!({ "summarizes": false })));
    host.ask("find it");
    for at in 0..20 + below(20) {
        let most = if below(6) == 0 { 4_000 } else { 400 };
        let text = prose(below(most));
        match below(8) {
            0 => host.ask(&text),
            1 => host.say(&text),
            2 => {
                let thinking = json!({ "type": "thinking", "thinking": text, "signature": "s" });
                let content = [thinking, json!({ "type": "text", "text": "so" })];
                host.append(json!({ "role": "assistant", "content": content }));
            }
            _ => host.work(&format!("c{at}"), &json!({ "path": format!("f{at}.rs") }), &text),
        }
        if below(5) == 0 {
            host.request();
        }
    }
    host
}

#[test]
fn a_plan_lists_as_gone_what_a_fold_removes_before_its_cut_and_no_edits() {
    let (mut folds, mut shortened, mut later) = (0, 0, [0, 0]);
    for seed in 0..150 {
        let mut host = varied(seed);
        let plan = host.plan(true);
        let before = host.forms();
        host.session.decisions.pruner.fold_wanted = true;
        if plan["plan"]["outcome"] != "summarize" || host.request().fold.is_none() {
            continue;
        }
        folds += 1;
        let first_kept = plan["plan"]["firstKept"].as_u64().unwrap();
        let gone = plan["plan"]["gone"].as_array().unwrap();
        let lists =
            |at: u64| gone.iter().any(|it| (it[0].as_u64()..it[1].as_u64()).contains(&Some(at)));
        for (at, block) in (0..).zip(&host.session.transcript.ledger.blocks) {
            let went = block.form == Form::Gone && before[at] != Form::Gone;
            let message = u64::from(block.message.get());
            let is_listed = lists(u64::try_from(at).unwrap());
            assert_eq!(is_listed, went && message < first_kept, "seed {seed}, block {at}: {plan}");
            shortened += usize::from(block.form != before[at] && !went && message < first_kept);
            later[0] += usize::from(went && message == first_kept);
            later[1] += usize::from(went && message > first_kept);
        }
    }
    assert!(folds > 100 && shortened > 0 && !later.contains(&0), "{folds} {shortened} {later:?}");
}
