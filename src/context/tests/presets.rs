//! The ways of other systems, by the item of each system's description; and protections under every preset.

use litemap::LiteMap;

use super::*;
use crate::model::{Kind, NONE};
use crate::prune::{Protect, Setting};

const SEEDS: [&str; 5] = ["aceclaw", "aiclaw", "openclaw", "context-budget", "hermes"];
const PRESETS: [&str; 8] = [
    "balanced",
    "economy",
    "retention",
    "aceclaw",
    "aiclaw",
    "openclaw",
    "context-budget",
    "hermes",
];

fn preset(name: &str, tokens: u32, more: &Value) -> Told {
    let mut options = window(tokens);
    options["preset"] = name.into();
    for (name, value) in more.as_object().unwrap() {
        options[name] = value.clone();
    }
    Told::new(&options)
}

/// What is protected at the end of a history of these roles: `u`, `a`, `c` (a call), `t` (its result), `s`.
fn tail(roles: &str, protect: &Protect) -> u32 {
    protect.tail(&told_of(roles).state.ledger)
}

fn told_of(roles: &str) -> Told {
    let mut options = window(0);
    options["format"] = "openai-chat".into();
    let mut told = Told::new(&options);
    let mut calls = 0;
    for role in roles.chars() {
        let id = |at: i32| format!("c{at}");
        told.tell(match role {
            'u' => json!({ "role": "user", "content": "go on" }),
            's' => json!({ "role": "system", "content": "be brief" }),
            'c' => {
                calls += 1;
                let call = |at| json!({ "id": id(at), "type": "function", "function": { "name": "ls", "arguments": "{}" } });
                json!({ "role": "assistant", "content": "", "tool_calls": [call(10 * calls), call(10 * calls + 1)] })
            }
            't' => {
                let results = told.messages.iter().rev().take_while(|it| it["role"] == "tool");
                let number = i32::try_from(results.count()).unwrap();
                json!({ "role": "tool", "tool_call_id": id(10 * calls + number), "content": "done" })
            }
            _ => json!({ "role": "assistant", "content": "done" }),
        });
    }
    told
}

/// Turns with a call each; every result has so many characters.
fn worked(told: &mut Told, turns: usize, chars: usize) {
    for at in 0..turns {
        told.ask(&format!("question {at}"));
        told.work(&format!("c{at}"), &json!({ "path": format!("src/{at}.rs") }), &text(at, chars));
        told.say(&format!("answer {at}"));
    }
    told.ask("and now?");
}

fn text(at: usize, chars: usize) -> String {
    let text = words(chars / 4, &format!("x{at}y"));
    text.chars().take(chars).collect()
}

/// What the host is told to send, with edits carried out on results.
fn results(answer: &Answer) -> Vec<(u32, String)> {
    let edits = answer.edits.iter().flat_map(|edit| {
        edit.ops.iter().filter_map(|op| {
            let op: Value = serde_json::from_str(&crate::json::write(op)).unwrap();
            Some((edit.index, op["value"].as_str()?.to_owned()))
        })
    });
    edits.collect()
}

#[test]
fn a67_the_trigger_is_a_share_of_the_usable_window_and_strict() {
    let limit = |name: &str, window: u64, reserve: u64| {
        let policy = crate::prune::Policy::preset(name).unwrap();
        let setting = Setting { window, usable: window - reserve, fixed: 0 };
        policy.seed.unwrap().limit(&setting)
    };
    assert_eq!(limit("aceclaw", 200_000, 16_384), 156_073);
    assert_eq!(limit("aiclaw", 1000, 0), 500); // I4
    assert_eq!(limit("context-budget", 131_072, 0), 111_411); // B3
    assert_eq!(limit("openclaw", 200_000, 16_384), 183_616); // G23
    assert_eq!(limit("openclaw", 20_000, 0), 10_000);
    // H6, H7
    assert_eq!(limit("hermes", 200_000, 0), 150_000);
    assert_eq!(limit("hermes", 128_000, 8_000), 90_000);
    assert_eq!(limit("hermes", 64_000, 0), 54_400);
    assert_eq!(limit("hermes", 32_000, 0), 27_200);
    assert_eq!(limit("hermes", 1_000_000, 0), 500_000);
    assert_eq!(limit("hermes", 1, 0), 1);
}

/// F060: at the trigger nothing happens, one token above it something does.
#[test]
fn a68_nothing_happens_at_the_trigger() {
    let mut told = preset("aceclaw", 0, &json!({ "protectTurns": 1 }));
    worked(&mut told, 6, 4000);
    let size = u32::try_from(told.request().tokens).unwrap();
    // The least window of which 85 % is the size.
    let at = (u64::from(size) * 10_000).div_ceil(8500);
    for (window, edits) in [(at, 0), (at - 2, 6)] {
        let window = u32::try_from(window).unwrap();
        let mut told = preset("aceclaw", window, &json!({ "protectTurns": 1 }));
        worked(&mut told, 6, 4000);
        assert_eq!(told.request().edits.len(), edits, "{window} for {size}");
    }
}

#[test]
fn a75_a_turn_is_every_message_of_the_users_role_and_a76_a_call_keeps_its_result() {
    let role = |turns| Protect { turns, by_role: true, ..Protect::default() };
    let real = |turns| Protect { turns, ..Protect::default() };
    // user, asst, result, asst, user, asst
    assert_eq!(tail("ucttaua", &role(2)), 1);
    assert_eq!(tail("uauauauaua", &role(2)), 6);
    assert_eq!(tail("uaua", &role(0)), 4, "none: everything is old");
    assert_eq!(tail("uaua", &role(5)), 0, "fewer than that: nothing is old");
    // D3: a turn starts where a person speaks.
    assert_eq!(tail("ucttaua", &real(2)), 0);
    assert_eq!(tail("ucttaua", &real(1)), 5);
    assert_eq!(tail("uauauauaua", &real(2)), 6);
    assert_eq!((tail("uaua", &real(0)), tail("uaua", &real(5))), (4, 0));
}

#[test]
fn i7_the_end_starts_at_the_call_that_a_result_belongs_to() {
    let last = |last| Protect { last, ..Protect::default() };
    assert_eq!(tail("succttu", &last(2)), 3);
    assert_eq!(tail("suttu".replace("tt", "ctt").as_str(), &last(2)), 2);
    assert_eq!(tail("sucttu", &last(4)), 2, "on the call: as it is");
    assert_eq!(tail(&"ua".repeat(25), &last(20)), 30);
}

#[test]
fn h10_the_start_is_behind_the_systems_messages_and_never_in_a_group() {
    let head =
        |roles, first| Protect { first, ..Protect::default() }.head(&told_of(roles).state.ledger);
    assert_eq!((head("suaua", 1), head("suaua", 3), head("suaua", 0)), (2, 4, 0));
    assert_eq!((head("ucttau", 2), head("ucttau", 3), head("ua", 9)), (4, 4, 2));
}

#[test]
fn a77_results_over_400_characters_keep_200_and_a_marker_and_reasoning_goes() {
    let mut told = preset(
        "aceclaw",
        3000,
        &json!({ "turn": "user", "protectTurns": 1, "format": "anthropic" }),
    );
    told.ask("go");
    for (id, chars) in [("a", 400), ("b", 401), ("c", 12_000)] {
        let thinking = json!({ "type": "thinking", "thinking": "hm", "signature": "s" });
        let call = json!({ "type": "tool_use", "id": id, "name": "read", "input": { "path": id } });
        told.tell(json!({ "role": "assistant", "content": [thinking, call] }));
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": text(1, chars), "is_error": chars == 401 });
        told.tell(json!({ "role": "user", "content": [result] }));
    }
    told.tell(json!({ "role": "assistant", "content": [{ "type": "thinking", "thinking": "only", "signature": "s" }] }));
    told.ask("next");
    let answer = told.request();
    let marker = "\n\n[content pruned during context compaction";
    let stubs: Vec<_> = results(&answer);
    assert_eq!(stubs.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [4, 6]);
    for (_, stub) in &stubs {
        assert!(stub.starts_with(&(text(1, 200) + marker)), "{stub}");
    }
    let forms: Vec<_> = told.state.ledger.blocks.iter().map(|it| (it.kind, it.form)).collect();
    let thinking = forms.iter().filter(|(kind, _)| *kind == Kind::Thinking);
    let thinking: Vec<_> = thinking.map(|(_, form)| *form).collect();
    assert_eq!(thinking[..2], [Form::Gone; 2]);
    assert_eq!(told.state.explain(4).unwrap().rule, "prune");
    assert_eq!(told.state.violations(), []);
    assert!(answer.fits && answer.fold.is_none());
}

/// F071, F059: twice is once, and alone is as in a session.
#[test]
fn h17_pruning_what_was_pruned_changes_nothing() {
    for name in SEEDS {
        let mut told = preset(name, 12_000, &json!({ "transient": true }));
        worked(&mut told, 40, 2000);
        told.request();
        let forms = told.forms();
        told.state.sent.settled = false;
        let again = told.request();
        assert_eq!(
            (told.forms(), again.edits.len(), again.first_changed),
            (forms, 0, None),
            "{name}"
        );
    }
}

#[test]
fn a72_pruning_comes_first_and_a80_a_fold_only_if_it_is_not_enough() {
    let mut told = preset("aceclaw", 12_000, &json!({}));
    worked(&mut told, 15, 3000);
    let answer = told.request();
    assert!(answer.fold.is_none() && !answer.edits.is_empty(), "results go, that is enough");
    assert!(answer.edits.iter().all(|edit| edit.rule == "prune"), "{:?}", answer.edits);
    let outcome = answer.outcome.unwrap();
    assert_eq!((outcome.status, outcome.reason), ("pruned", "edits made room"));
    assert!(outcome.tokens_before > outcome.tokens_after && outcome.tokens_after == answer.tokens);
    let mut told = preset("aceclaw", 12_000, &json!({}));
    for at in 0..40 {
        told.ask(&format!("question {at}"));
        told.say(&text(at, 1600));
    }
    told.ask("and now?");
    let answer = told.request();
    let fold = answer.fold.expect("nothing to prune: a fold");
    assert_eq!(fold.first_kept, 72, "five messages of the user's stay");
    assert!(answer.fits);
    // F079: asked for, below the trigger, it stops where pruning has reached the target.
    for (words, folds) in [(false, false), (true, true)] {
        let mut told = preset("aceclaw", 20_000, &json!({}));
        for at in 0..14 {
            told.ask(&format!("question {at}"));
            if words {
                told.say(&text(at, 4000));
            } else {
                told.work(&format!("c{at}"), &json!({}), &text(at, 4000));
            }
        }
        told.ask("and now?");
        told.state.pruner.fold_wanted = true;
        let answer = told.request();
        assert_eq!(answer.fold.is_some(), folds);
        assert!(folds || answer.tokens <= 12_000 && !answer.edits.is_empty());
    }
}

/// F076, F077, F079: the outcome tells of the deepest step that was taken; one that only pays is none.
#[test]
fn b14_the_outcome_tells_what_made_room() {
    for (name, strategy, status) in [
        ("context-budget", "discard", "discarded"),
        ("openclaw", "discard", "discarded"),
        ("context-budget", "truncate", "truncated"),
        ("context-budget", "summarize", "truncated"),
    ] {
        let mut told = preset(name, 12_000, &json!({ "strategy": strategy }));
        worked(&mut told, 40, 2000);
        let answer = told.request();
        let outcome = answer.outcome.as_ref().unwrap();
        assert_eq!(outcome.status, status, "{name} {strategy}");
        assert_eq!(answer.fold.is_some(), strategy == "summarize");
        assert_eq!(told.request().outcome, None, "the same again made no room");
    }
    // Ours: an edit that pays makes no room, and one for capacity does.
    let mut told = Told::new(&window(30_000));
    told.ask("find it");
    let mut timed = 0;
    for at in 0..60 {
        told.work(&format!("c{at}"), &json!({ "path": at }), &words(500, &format!("x{at}y")));
        let answer = told.request();
        assert_eq!(answer.outcome, None);
        timed += answer.edits.len();
    }
    assert!(timed > 0);
    let mut told = Told::new(&window(30_000));
    worked(&mut told, 60, 2000);
    let answer = told.request();
    assert!(answer.edits.iter().any(|edit| edit.rule == "capacity"));
    assert_eq!(answer.outcome.map(|it| it.status), Some("pruned"));
}

#[test]
fn i8_aiclaw_cuts_results_to_200_between_the_first_and_the_last_twenty() {
    let mut told = preset("aiclaw", 12_000, &json!({}));
    worked(&mut told, 12, 2000);
    let answer = told.request();
    let stubs = results(&answer);
    let count = told.messages.len();
    assert!(stubs.iter().all(|(at, _)| (*at as usize) < count - 20), "{stubs:?}");
    assert!(stubs.len() >= 6 && answer.fold.is_none());
    assert!(stubs.iter().all(|(_, stub)| stub.ends_with("\n...(truncated)") && stub.len() == 215));
}

/// I1, I6, F082, F088: fewer than five between what is protected are not folded, and it is said why.
#[test]
fn i6_a_fold_of_fewer_than_five_is_none_and_says_why() {
    for (messages, folds) in [(24, false), (26, true)] {
        let mut told = preset("aiclaw", 16_000, &json!({}));
        for at in 0..messages / 2 {
            told.ask(&format!("question {at}"));
            told.say(&text(at, 4000));
        }
        let answer = told.request();
        assert_eq!(answer.fold.is_some(), folds, "{messages}");
        let reason = "too few messages stand between what is protected";
        let outcome = answer.outcome.unwrap();
        assert_eq!(outcome.reason, if folds { "fold by digest and hot set" } else { reason });
        assert!(answer.fits);
    }
}

#[test]
fn h16_hermes_tells_of_results_in_a_line_and_of_repetitions_and_cuts_leaves() {
    let mut told = preset("hermes", 20_000, &json!({ "format": "anthropic" }));
    told.ask("go");
    let output = |at: usize| format!("{}\nexit code: {at}", text(at, 5000));
    let mut work = |id: &str, name: &str, input: Value, result: &str| {
        let call = json!({ "type": "tool_use", "id": id, "name": name, "input": input });
        told.tell(json!({ "role": "assistant", "content": [call] }));
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": result });
        told.tell(json!({ "role": "user", "content": [result] }));
    };
    work("h0", "ls", json!({}), "kept: among the first");
    work("c1", "terminal", json!({ "command": "cargo test src/main.rs" }), &output(3));
    let long = json!({ "path": "src/a.rs", "content": text(7, 6000), "mode": 1 });
    work("c2", "write_file", long, "ok");
    for at in 0..8 {
        work(&format!("r{at}"), "read", json!({ "path": "src/b.rs" }), &text(9, 9000));
    }
    for at in 0..10 {
        work(&format!("s{at}"), "ls", json!({ "at": at }), "short");
    }
    told.ask("and now?");
    let answer = told.request();
    let stubs = results(&answer);
    let stub =
        |at: u32| stubs.iter().find(|(index, _)| *index == at).map(|(_, stub)| stub.as_str());
    assert_eq!(stub(4), Some("[terminal] ran src/main.rs -> exit 3, 2 lines"));
    assert_eq!(stub(8), Some("[Duplicate tool output: the same content as a more recent call]"));
    assert_eq!(stub(22), None, "F066: the newest is kept");
    let edit = answer.edits.iter().find(|edit| edit.index == 5).unwrap();
    let op: Value = serde_json::from_str(&crate::json::write(&edit.ops[0])).unwrap();
    assert_eq!(op["path"], "/content/0/input");
    assert_eq!((&op["value"]["path"], &op["value"]["mode"]), (&json!("src/a.rs"), &json!(1)));
    let cut = op["value"]["content"].as_str().unwrap();
    assert_eq!(cut, text(7, 200) + "...[truncated]");
    assert_eq!(told.state.violations(), []);
}

/// F070: what gains less than 4,096 tokens waits.
#[test]
fn h19_hermes_waits_until_a_prune_gains_enough() {
    for (gain, edits) in [(4096, false), (0, true)] {
        let mut told = preset("hermes", 12_000, &json!({ "minimumGainTokens": gain }));
        worked(&mut told, 2, 3000);
        for at in 0..60 {
            told.ask("more");
            told.say(&text(at, 640));
        }
        told.ask("so?");
        let answer = told.request();
        let pruned = answer.edits.iter().any(|edit| edit.rule == "prune");
        assert_eq!(pruned, edits, "{gain}");
    }
}

/// F069: the oldest images go, the newest stays.
#[test]
fn h18_images_before_the_users_newest_become_a_word() {
    let image = |data: &str| json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } });
    let mut told = preset(
        "hermes",
        16_000,
        &json!({ "minimumGainTokens": 0, "protectLast": 1, "protectFirst": 0, "format": "anthropic" }),
    );
    for at in 0..3 {
        told.tell(json!({ "role": "user", "content": [image(&format!("aGk{at}")), { "type": "text", "text": "see" }] }));
        told.say(&text(at, 6000));
    }
    for at in 0..6 {
        told.ask("more");
        told.say(&text(at, 4000));
    }
    told.ask("so?");
    let answer = told.request();
    let images = told.state.ledger.blocks.iter().filter(|it| it.kind == Kind::Image);
    let forms: Vec<_> = images.map(|it| it.form).collect();
    assert_eq!(forms, [Form::Stubbed, Form::Stubbed, Form::Full]);
    let edited: Vec<_> = answer.edits.iter().map(|edit| edit.index).collect();
    assert_eq!(edited, [0, 2], "nothing else goes");
    for edit in &answer.edits {
        assert!(crate::json::write(&edit.ops).contains("[image cut]"), "{:?}", edit.ops);
    }
}

/// F068: bodies in an end that is too large go too, but for the last three messages.
#[test]
fn h16_an_end_that_is_too_large_gives_up_its_bodies() {
    let mut told = preset("hermes", 20_000, &json!({}));
    worked(&mut told, 2, 400);
    for at in 0..4 {
        told.work(&format!("big{at}"), &json!({ "at": at }), &text(at, 20_000));
    }
    told.say("done");
    told.ask("and?");
    let answer = told.request();
    let last = told.messages.len() - 8;
    let inside = answer.edits.iter().filter(|edit| edit.index as usize >= last);
    assert!(inside.count() == 2 && answer.fits, "{:?}", answer.edits);
}

/// F081: the first messages are protected until the first fold only.
#[test]
fn h10_the_protected_start_is_let_go_at_the_second_fold() {
    let mut told = preset("hermes", 12_000, &json!({}));
    let mut kept = Vec::new();
    for at in 0..150 {
        told.ask(&format!("question {at}"));
        told.say(&text(at, 1200));
        let answer = told.request();
        if let Some(fold) = &answer.fold {
            let first = told.state.ledger.blocks[1].form;
            kept.push((fold.id.clone(), first == Form::Full));
        }
        assert!(answer.fits);
    }
    assert!(kept.is_sorted(), "ids sort as the folds came: {kept:?}");
    assert!(kept[0].0.ends_with("_000001-fold") && kept[1].0.ends_with("_000002-fold"));
    assert_eq!((kept[0].1, kept[1].1), (true, false));
}

/// F083: where the last request is in the protected end, the reply before it stays too.
#[test]
fn h13_the_last_reply_stays() {
    let more = json!({ "protectLast": 1, "protectFirst": 0 });
    let mut told = preset("context-budget", 16_000, &more);
    for at in 0..30 {
        told.ask(&format!("question {at}"));
        told.say(&text(at, 2000));
    }
    told.ask("and now?");
    assert!(told.request().fold.is_some());
    let forms = told.forms();
    assert_eq!((forms[59], forms[57], forms[60]), (Form::Full, Form::Gone, Form::Full));
}

/// F084: a person's words are not folded where the reply to them stays.
#[test]
fn h13_a_request_and_its_reply_are_never_split() {
    for name in SEEDS {
        for last in 1..6 {
            let more = json!({ "protectFirst": 0, "protectTurns": 0, "protectTokens": 0, "protectLast": last });
            let mut told = preset(name, 16_000, &more);
            let mut cuts = Vec::new();
            for at in 0..60 {
                told.ask(&format!("question {at}"));
                let answer = told.request();
                cuts.extend(answer.fold.map(|fold| (fold.first_kept, told.messages.len())));
                told.say(&text(at, 2000));
            }
            assert!(!cuts.is_empty(), "{name} {last}");
            for (cut, count) in cuts {
                assert_eq!(cut % 2, 0, "{name} {last}: cut before {cut} of {count}, a reply");
            }
        }
    }
}

/// F083, F089: one request and a long run of tools; the request stays verbatim.
#[test]
fn h13_the_last_request_stays_when_a_turn_is_split() {
    for name in SEEDS {
        let mut told = preset(name, 30_000, &json!({}));
        for at in 0..12 {
            told.ask(&format!("early {at}"));
            told.say(&text(at, 2000));
        }
        told.ask("the request");
        told.say("the reply");
        told.ask("the last request");
        let mut folds = 0;
        for at in 0..60 {
            told.work(&format!("c{at}"), &json!({ "at": at }), &text(at, 3600));
            let answer = told.request();
            folds += u32::from(answer.fold.is_some());
            assert!(answer.fits, "{name}");
            assert_eq!(told.state.violations(), [], "{name}");
            let whole = |message: u32| {
                let block = told.state.ledger.blocks_of(message).start;
                told.state.ledger.blocks[block as usize].form
            };
            assert_eq!(whole(26), Form::Full, "{name} at {at}");
        }
        // The others have shortened enough.
        assert!(folds > 0 || ["aceclaw", "hermes"].contains(&name), "{name}");
    }
}

/// F085: of parallel calls none is left alone, also where a person speaks between them and their results.
#[test]
fn g13_parallel_calls_and_displaced_results_stay_together() {
    for name in SEEDS {
        for strategy in ["summarize", "truncate", "discard"] {
            let more = json!({ "strategy": strategy, "format": "anthropic" });
            let mut told = preset(name, 16_000, &more);
            told.ask("go");
            for at in 0..40 {
                let call = |n: u32| json!({ "type": "tool_use", "id": format!("c{at}-{n}"), "name": "read", "input": { "n": n } });
                let result = |n: u32| json!({ "type": "tool_result", "tool_use_id": format!("c{at}-{n}"), "content": text(at, 1200) });
                told.tell(json!({ "role": "assistant", "content": [call(0), call(1), call(2)] }));
                if at % 5 == 0 {
                    told.ask("wait");
                }
                told.tell(json!({ "role": "user", "content": [result(0), result(1), result(2)] }));
                let answer = told.request();
                assert!(answer.fits, "{name} {strategy} at {at}");
                assert_eq!(told.state.violations(), [], "{name} {strategy} at {at}");
                let mut groups: LiteMap<u32, bool> = LiteMap::new();
                for block in &told.state.ledger.blocks {
                    let live = block.form != Form::Gone;
                    if block.group != NONE {
                        assert_eq!(
                            *groups.entry(block.group).or_insert(live),
                            live,
                            "{name} {strategy}"
                        );
                    }
                }
            }
        }
    }
}

/// F076, F077: each strategy does only its own, and reaches the target.
#[test]
fn b14_strategies_truncate_and_discard_take_no_fold() {
    for name in SEEDS {
        for (strategy, rule) in [("truncate", "truncate"), ("discard", "discard")] {
            let mut told = preset(name, 16_000, &json!({ "strategy": strategy }));
            for at in 0..60 {
                told.ask(&format!("question {at}"));
                told.say(&text(at, 1600));
            }
            told.ask("and now?");
            let answer = told.request();
            assert!(answer.fits && answer.fold.is_none(), "{name} {strategy}");
            let rules: Vec<_> = answer.edits.iter().map(|edit| edit.rule).collect();
            assert!(
                rules.iter().filter(|it| **it == rule).count() > 10,
                "{name} {strategy} {rules:?}"
            );
            let user = told.state.ledger.blocks.iter().filter(|it| it.user);
            assert!(user.clone().all(|it| matches!(it.form, Form::Full | Form::Gone)));
            assert!(strategy == "discard" || user.clone().all(|it| it.form == Form::Full));
            assert_eq!(told.state.violations(), []);
        }
    }
}

#[test]
fn g21_the_last_turns_from_a_request_on() {
    assert_eq!(told_of("uauaua").state.last_turns(2), [(2, 6)]);
    assert_eq!(told_of("uauaua").state.last_turns(0), [(0, 6)]);
    assert_eq!(told_of("uauaua").state.last_turns(9), [(0, 6)]);
    assert_eq!(told_of("suaua").state.last_turns(1), [(0, 1), (3, 5)], "the system stays");
    assert_eq!(told_of("uaucttau").state.last_turns(2), [(2, 8)]);
    assert_eq!(told_of("uacuttau").state.last_turns(2), [(2, 8)], "a call that waits stays");
    assert_eq!(told_of("").state.last_turns(2), []);
}

#[test]
fn g20_the_oldest_half_goes_until_the_share_is_kept() {
    let share = |told: &Told, tokens: u64| {
        let given = json!({ "maxContextTokens": tokens });
        told.state.share(&given.to_string()).unwrap()
    };
    // Eight messages of 100 characters: 25 + 4 tokens each.
    let mut told = Told::new(&window(0));
    for at in 0..4 {
        told.ask(&text(at, 100));
        told.say(&text(at, 100));
    }
    let all = share(&told, 464);
    assert_eq!(
        (all.kept.clone(), all.dropped_chunks, all.kept_tokens, all.budget_tokens),
        (vec![(0, 8)], 0, 232, 232)
    );
    let half = share(&told, 463);
    assert_eq!(
        (half.kept.clone(), half.dropped_chunks, half.dropped_messages),
        (vec![(4, 8)], 1, 4)
    );
    assert_eq!((half.dropped_tokens, half.kept_tokens), (116, 116));
    let least = share(&told, 0);
    assert_eq!(
        (least.kept.clone(), least.dropped_chunks, least.budget_tokens),
        (vec![(7, 8)], 3, 1)
    );
    let group = share(&told_of("ucttctt"), 0);
    assert_eq!(group.kept, [(4, 7)], "a group goes or stays");
    let system = share(&told_of("sucttctt"), 0);
    assert_eq!((system.kept, system.dropped_messages), (vec![(0, 1), (5, 8)], 4));
}

#[test]
fn h4_protections_hold_under_every_preset() {
    let more = json!({ "protectFirst": 1, "protectLast": 3, "protectTools": ["note*", "plan"], "format": "anthropic" });
    for name in PRESETS {
        let mut told = preset(name, 24_000, &more);
        told.ask("the first");
        let mut named = Vec::new();
        for at in 0..60 {
            let (id, tool) = (format!("c{at}"), if at % 20 == 3 { "note_it" } else { "read" });
            if tool == "note_it" {
                named.extend([told.messages.len(), told.messages.len() + 1]);
            }
            let call = json!({ "type": "tool_use", "id": id, "name": tool, "input": { "at": at } });
            told.tell(json!({ "role": "assistant", "content": [call] }));
            let result =
                json!({ "type": "tool_result", "tool_use_id": id, "content": text(at, 2400) });
            told.tell(json!({ "role": "user", "content": [result] }));
            if at % 10 == 0 {
                told.ask(&format!("ask {at}"));
            }
            let answer = told.request();
            let count = told.messages.len();
            assert!(answer.fits, "{name}");
            for block in &told.state.ledger.blocks {
                let message = block.message as usize;
                let protected = message == 0 || message + 3 >= count || named.contains(&message);
                assert!(!protected || block.form == Form::Full, "{name} {message} of {count}");
            }
            assert_eq!(told.state.violations(), [], "{name}");
        }
        assert!(told.forms().iter().any(|form| *form >= Form::Stubbed), "{name}");
    }
}

/// Tokens of the messages from `from` on, as they arrived.
fn arrived(told: &Told, from: u32) -> u64 {
    let blocks = told.state.ledger.blocks.iter().filter(|it| it.message >= from);
    blocks.map(|it| u64::from(it.tokens)).sum()
}

#[test]
fn g23_the_last_tokens_are_the_last_messages_that_are_no_larger() {
    let told = told_of("uauaua");
    let tail =
        |told: &Told, tokens| Protect { tokens, ..Protect::default() }.tail(&told.state.ledger);
    for from in 0..6 {
        let size = arrived(&told, from);
        assert_eq!((tail(&told, size), tail(&told, size - 1)), (from, from + 1));
    }
    assert_eq!((tail(&told, 0), tail(&told, u64::MAX)), (6, 0));
    let called = told_of("ucttu");
    assert_eq!(tail(&called, arrived(&called, 3)), 1, "a result keeps its call");
}

#[test]
fn g23_protected_tokens_hold_under_every_preset() {
    for name in PRESETS {
        let more = json!({ "protectFirst": 0, "protectTokens": 5000, "format": "anthropic" });
        let mut told = preset(name, 24_000, &more);
        told.ask("go");
        for at in 0..60 {
            told.work(&format!("c{at}"), &json!({ "at": at }), &text(at, 2400));
            let answer = told.request();
            assert!(answer.fits, "{name}");
            for block in &told.state.ledger.blocks {
                let protected = arrived(&told, block.message) <= 5000;
                assert!(!protected || block.form == Form::Full, "{name} {}", block.message);
            }
        }
        assert!(told.forms().iter().any(|form| *form >= Form::Stubbed), "{name}");
    }
}

/// What is protected at the end is at most half of what `openclaw` acts above, unless the host says how much.
#[test]
fn g23_openclaw_keeps_its_tokens_but_no_more_than_half() {
    for (given, most) in [(None, 8000), (Some(4000), 4000), (Some(12_000), 12_000)] {
        let more = given.map_or_else(|| json!({}), |tokens| json!({ "protectTokens": tokens }));
        let mut told = preset("openclaw", 32_000, &more);
        let mut cut = None;
        for at in 0..40 {
            told.ask(&format!("question {at}"));
            told.say(&text(at, 2000));
            told.ask("and?");
            let answer = told.request();
            cut = cut.or_else(|| answer.fold.map(|fold| fold.first_kept));
            if cut.is_some() {
                break;
            }
        }
        let kept = arrived(&told, cut.unwrap());
        // The next turn would be too much.
        assert!(kept <= most && kept + 600 > most, "{kept} of {most}");
    }
}

/// More than fits is protected: it is cut after all, and nothing else is left to cut.
#[test]
fn what_is_protected_gives_way_only_to_a_request_that_would_not_fit() {
    for name in PRESETS {
        let mut told = preset(name, 10_000, &json!({ "protectLast": 50 }));
        for at in 0..40 {
            told.work(&format!("c{at}"), &json!({ "at": at }), &text(at, 2000));
        }
        told.ask("and?");
        let answer = told.request();
        assert!(answer.fits, "{name}");
        let live: Vec<_> =
            told.state.ledger.blocks.iter().filter(|it| it.form == Form::Full).collect();
        assert!(live.iter().all(|it| it.is_protected() || it.user), "{name}");
    }
}

#[test]
fn a_parked_session_wakes_to_what_a_preset_left() {
    for name in SEEDS {
        let mut told = preset(name, 16_000, &json!({ "format": "anthropic" }));
        worked(&mut told, 30, 2000);
        let long = json!({ "path": "src/a.rs", "content": text(7, 3000) });
        told.work("long", &long, "ok");
        told.request();
        let bytes = told.state.snapshot();
        let options = told.state.options.clone();
        let mut woken = Told {
            state: State::restore(options, &bytes).unwrap(),
            messages: Vec::new(),
            now_ms: told.now_ms,
        };
        for message in told.messages.clone() {
            woken.tell(message);
        }
        for told in [&mut told, &mut woken] {
            told.say("so");
            worked(told, 2, 2000);
        }
        let (one, other) = (told.request(), woken.request());
        assert_eq!(one.tokens, other.tokens, "{name}");
        assert_eq!(told.forms(), woken.forms(), "{name}");
        assert_eq!(told.state.lines.text, woken.state.lines.text, "{name}");
    }
}

/// The README's tables are written from the figures and lists that the code goes by.
#[test]
fn the_readme_tells_of_presets_and_options_as_they_are() {
    use crate::context::options::{EVERY, OURS, SEEDS as THEIRS};
    use crate::prune::{Policy, Stub, Trigger};

    let readme = include_str!("../../../README.md");
    let thousands = |number: u64| match (number / 1000, number % 1000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{thousands},{rest:03}"),
    };
    for name in SEEDS {
        let Policy { seed, target, protect, .. } = Policy::preset(name).unwrap();
        let seed = seed.unwrap();
        let above = match seed.trigger {
            Trigger::Share(share) => format!("{} % of the usable window", share / 100),
            Trigger::Reserve(reserve) => format!("the window less {}", thousands(reserve)),
            Trigger::Hermes => "75 %, of 512,000 and more 50 %; not below 64,000, or 85 %".into(),
        };
        let once = if seed.first_once { ", until the first fold" } else { "" };
        let last = match (protect.turns, protect.last, protect.tokens) {
            (0, 0, tokens) => {
                format!("{} tokens, at most half of what it acts above", thousands(tokens))
            }
            (0, last, _) if seed.tail_least > 0 => {
                format!(
                    "{last} messages, at least {} % of what it acts above",
                    seed.tail_least / 100
                )
            }
            (0, last, _) => format!("{last} messages"),
            (turns, ..) => format!("{turns} turns of the user's role"),
        };
        let over = format!("results over {} characters to", seed.stub_chars * seed.above);
        let mut shortens = match seed.stub {
            Stub::None => "nothing".into(),
            Stub::Head(_) => format!("{over} {}", seed.stub_chars),
            Stub::Line => format!("{over} a line"),
        };
        if seed.thinking {
            shortens += "; reasoning goes";
        }
        if seed.leaves > 0 {
            let each = format!("; arguments over {} to {} each", seed.leaves, seed.stub_chars);
            shortens += &each;
        }
        if seed.repeated > 0 && seed.images {
            shortens += "; repetitions; older images";
        }
        let row = format!(
            "| `{name}` | {above} | {} % | {} messages{once} | {last} | {shortens} |",
            target / 100,
            protect.first
        );
        assert!(readme.contains(&row), "{row}");
    }
    for (whose, names) in [("every preset", &EVERY[..]), ("ours", &OURS), ("the others", &THEIRS)] {
        let row = format!("| {whose} | `{}` |", names.join("`, `"));
        assert!(readme.contains(&row), "{row}");
    }
}

/// What has no long string is no shorter with its leaves cut: the message is the host's own, and no epoch opens.
#[test]
fn h16_arguments_without_a_long_string_stay_as_they_are() {
    let mut told = preset("hermes", 12_000, &json!({ "minimumGainTokens": 0, "protectFirst": 0 }));
    told.ask("go");
    let many: Vec<usize> = (0..2000).collect();
    told.work("many", &json!({ "n": many }), "ok");
    for at in 0..12 {
        told.ask("more");
        told.say(&text(at, 1200));
    }
    told.ask("so?");
    let answer = told.request();
    assert!(
        answer.tokens > 0 && answer.edits.iter().all(|edit| edit.index != 1),
        "{:?}",
        answer.edits
    );
    let call = &told.state.ledger.blocks[1];
    assert_eq!((call.kind, call.now), (Kind::Call, call.tokens));
}
