//! The ways of other systems, by the item of each system's description.

mod aceclaw;
mod aiclaw;
mod hermes;
mod protected;

use crate::context::request::build_request::violations_sent;
use crate::context::session::snapshot::restore_session;
use crate::context::session::snapshot::snapshot_bytes;
use litemap::LiteMap;

use super::*;
use crate::model::NONE;
use crate::prune::{Policy, Setting};

fn preset(name: &str, tokens: u32, more: &Value) -> Host {
    let mut options = window(tokens);
    options["preset"] = name.into();
    for (name, value) in more.as_object().unwrap() {
        options[name] = value.clone();
    }
    Host::new(&options)
}

pub(super) fn host_of(roles: &str) -> Host {
    let mut options = window(0);
    options["format"] = "openai-chat".into();
    let mut host = Host::new(&options);
    let mut calls = 0;
    for role in roles.chars() {
        let id = |at: i32| format!("c{at}");
        host.append(match role {
            'u' => json!({ "role": "user", "content": "go on" }),
            's' => json!({ "role": "system", "content": "be brief" }),
            'c' => {
                calls += 1;
                let call = |at| json!({ "id": id(at), "type": "function", "function": { "name": "ls", "arguments": "{}" } });
                json!({ "role": "assistant", "content": "", "tool_calls": [call(10 * calls), call(10 * calls + 1)] })
            }
            't' => {
                let results = host.messages.iter().rev().take_while(|it| it["role"] == "tool");
                let number = i32::try_from(results.count()).unwrap();
                json!({ "role": "tool", "tool_call_id": id(10 * calls + number), "content": "done" })
            }
            _ => json!({ "role": "assistant", "content": "done" }),
        });
    }
    host
}

/// Turns with a call each; every result has so many characters.
fn worked(host: &mut Host, turns: usize, chars: usize) {
    for at in 0..turns {
        host.ask(&format!("question {at}"));
        host.work(&format!("c{at}"), &json!({ "path": format!("src/{at}.rs") }), &text(at, chars));
        host.say(&format!("answer {at}"));
    }
    host.ask("and now?");
}

pub(super) fn text(at: usize, chars: usize) -> String {
    let text = words(chars / 4, &format!("x{at}y"));
    text.chars().take(chars).collect()
}

/// The messages that the host is to send, with edits carried out on results.
fn results(answer: &Answer) -> Vec<(u32, String)> {
    let edits = answer.edits.iter().flat_map(|edit| {
        edit.ops.iter().filter_map(|op| {
            let op: Value = serde_json::from_str(&crate::json::write(op)).unwrap();
            Some((edit.index, op["value"].as_str()?.to_owned()))
        })
    });
    edits.collect()
}

/// Row A67.
#[test]
fn the_trigger_is_a_share_of_the_usable_window_and_strict() {
    let limit = |name: &str, window: u64, reserve: u64| {
        let policy = Policy::preset(name).unwrap();
        let setting =
            Setting { window, usable: window - reserve, fixed: 0, mended: 0, cap: u64::MAX };
        policy.seed.unwrap().limit(&setting)
    };
    assert_eq!(limit("aceclaw", 200_000, 16_384), 156_073);
    let target = Policy::preset("aceclaw").unwrap().target;
    assert_eq!(target * 183_616 / 10_000, 110_169);
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

/// F071, F059: twice is once, and alone is as in a session.
/// Row H17.
#[test]
fn pruning_what_was_pruned_changes_nothing() {
    for name in Policy::seeds() {
        for window in (4_000..16_000).step_by(500) {
            let mut host = preset(name, window, &json!({ "transient": true }));
            worked(&mut host, 40, 2000);
            host.request();
            let forms = host.forms();
            host.session.request.last.settled = false;
            let again = host.request();
            let got = (host.forms(), again.edits.len(), again.first_changed);
            assert_eq!(got, (forms, 0, None), "{name} {window}");
        }
    }
}

/// F076, F077, F079: the outcome tells of the deepest step that was taken; one that only pays is none.
/// Row B14.
#[test]
fn the_outcome_names_what_made_room() {
    for (name, strategy, status) in [
        ("context-budget", "discard", "discarded"),
        ("openclaw", "discard", "discarded"),
        ("context-budget", "truncate", "truncated"),
        ("context-budget", "summarize", "folded"),
    ] {
        let mut host = preset(name, 12_000, &json!({ "strategy": strategy }));
        worked(&mut host, 40, 2000);
        let answer = host.request();
        let outcome = answer.outcome.as_ref().unwrap();
        assert_eq!(outcome.status, status, "{name} {strategy}");
        assert_eq!(answer.fold.is_some(), strategy == "summarize");
        assert_eq!(host.request().outcome, None, "the same again made no room");
    }
    // Ours: an edit that pays makes no room, and one for capacity does.
    let mut host = Host::new(&window(30_000));
    host.ask("find it");
    let mut timed = 0;
    for at in 0..60 {
        host.work(&format!("c{at}"), &json!({ "path": at }), &words(500, &format!("x{at}y")));
        let answer = host.request();
        assert_eq!(answer.outcome, None);
        timed += answer.edits.len();
    }
    assert!(timed > 0);
    let mut host = Host::new(&window(30_000));
    worked(&mut host, 60, 2000);
    let answer = host.request();
    assert!(answer.edits.iter().any(|edit| edit.rule == "capacity"));
    assert_eq!(answer.outcome.map(|it| it.status), Some("pruned"));
}

/// F084: a person's words are not folded where the reply to them stays.
/// Row H13.
#[test]
fn a_request_and_its_reply_are_never_split() {
    for name in Policy::seeds() {
        for last in 1..6 {
            let more = json!({ "protectFirst": 0, "protectTurns": 0, "protectTokens": 0, "protectLast": last });
            let mut host = preset(name, 16_000, &more);
            let mut cuts = Vec::new();
            for at in 0..60 {
                host.ask(&format!("question {at}"));
                let answer = host.request();
                cuts.extend(answer.fold.map(|fold| (fold.first_kept, host.messages.len())));
                host.say(&text(at, 2000));
            }
            assert!(!cuts.is_empty(), "{name} {last}");
            for (cut, count) in cuts {
                assert_eq!(cut.get() % 2, 0, "{name} {last}: cut before {cut} of {count}, a reply");
            }
        }
    }
}

/// F083, F089: one request and a long run of tools; the request stays verbatim.
/// Row H13.
#[test]
fn the_last_request_stays_when_a_turn_is_split() {
    for name in Policy::seeds() {
        let mut host = preset(name, 30_000, &json!({}));
        for at in 0..12 {
            host.ask(&format!("early {at}"));
            host.say(&text(at, 2000));
        }
        host.ask("the request");
        host.say("the reply");
        host.ask("the last request");
        let mut folds = 0;
        for at in 0..60 {
            host.work(&format!("c{at}"), &json!({ "at": at }), &text(at, 3600));
            let answer = host.request();
            folds += u32::from(answer.fold.is_some());
            assert!(answer.fits, "{name}");
            assert_eq!(violations_sent(&host.session), [], "{name}");
            let form_of = |message: u32| {
                let block = host.session.transcript.ledger.blocks_of(message.into()).start;
                host.session.transcript.ledger.blocks[block.index()].form
            };
            assert_eq!(form_of(26), Form::Full, "{name} at {at}");
        }
        // The others have shortened enough.
        assert!(folds > 0 || ["aceclaw", "hermes"].contains(&name), "{name}");
    }
}

/// F085: of parallel calls none is left alone, also where a person speaks between them and their results.
/// Row G13.
#[test]
fn parallel_calls_and_displaced_results_stay_together() {
    for name in Policy::seeds() {
        for strategy in ["summarize", "truncate", "discard"] {
            let more = json!({ "strategy": strategy, "format": "anthropic" });
            let mut host = preset(name, 16_000, &more);
            host.ask("go");
            for at in 0..40 {
                let call = |n: u32| json!({ "type": "tool_use", "id": format!("c{at}-{n}"), "name": "read", "input": { "n": n } });
                let result = |n: u32| json!({ "type": "tool_result", "tool_use_id": format!("c{at}-{n}"), "content": text(at, 1200) });
                host.append(json!({ "role": "assistant", "content": [call(0), call(1), call(2)] }));
                if at % 5 == 0 {
                    host.ask("wait");
                }
                host.append(
                    json!({ "role": "user", "content": [result(0), result(1), result(2)] }),
                );
                let answer = host.request();
                assert!(answer.fits, "{name} {strategy} at {at}");
                assert_eq!(violations_sent(&host.session), [], "{name} {strategy} at {at}");
                let mut groups: LiteMap<u32, bool> = LiteMap::new();
                for block in &host.session.transcript.ledger.blocks {
                    let live = block.form != Form::Gone;
                    if block.group != NONE.into() {
                        assert_eq!(
                            *groups.entry(block.group.get()).or_insert(live),
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
/// Row B14.
#[test]
fn strategies_truncate_and_discard_take_no_fold() {
    for name in Policy::seeds() {
        for (strategy, rule) in [("truncate", "truncate"), ("discard", "discard")] {
            let mut host = preset(name, 16_000, &json!({ "strategy": strategy }));
            for at in 0..60 {
                host.ask(&format!("question {at}"));
                host.say(&text(at, 1600));
            }
            host.ask("and now?");
            let answer = host.request();
            assert!(answer.fits && answer.fold.is_none(), "{name} {strategy}");
            let rules: Vec<_> = answer.edits.iter().map(|edit| edit.rule).collect();
            assert!(
                rules.iter().filter(|it| **it == rule).count() > 10,
                "{name} {strategy} {rules:?}"
            );
            let user = host.session.transcript.ledger.blocks.iter().filter(|it| it.user);
            assert!(user.clone().all(|it| matches!(it.form, Form::Full | Form::Gone)));
            assert!(strategy == "discard" || user.clone().all(|it| it.form == Form::Full));
            assert_eq!(violations_sent(&host.session), []);
        }
    }
}

#[test]
fn a_restored_session_has_what_its_preset_left() {
    for name in Policy::seeds() {
        let mut host = preset(name, 16_000, &json!({ "format": "anthropic" }));
        worked(&mut host, 30, 2000);
        let long = json!({ "path": "src/a.rs", "content": text(7, 3000) });
        host.work("long", &long, "ok");
        host.request();
        let bytes = snapshot_bytes(&host.session);
        let options = host.session.options.clone();
        let mut woken = Host {
            session: restore_session(options, &bytes).unwrap(),
            messages: Vec::new(),
            now_ms: host.now_ms,
        };
        for message in host.messages.clone() {
            woken.append(message);
        }
        for host in [&mut host, &mut woken] {
            host.say("so");
            worked(host, 2, 2000);
        }
        let (one, other) = (host.request(), woken.request());
        assert_eq!(one.tokens, other.tokens, "{name}");
        assert_eq!(host.forms(), woken.forms(), "{name}");
        assert_eq!(
            host.session.decisions.placeholders.text, woken.session.decisions.placeholders.text,
            "{name}"
        );
    }
}

/// The tables in docs/policies.md have the figures and lists of the code.
#[test]
fn the_docs_have_the_figures_and_options_of_every_preset() {
    use crate::context::options::FACADE;
    use crate::context::policy_options::{EVERY, OURS, SEEDS as THEIRS};
    use crate::prune::{Policy, Stub, Trigger};

    let page = include_str!("../../../docs/policies.md");
    let thousands = |number: u64| match (number / 1000, number % 1000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{thousands},{rest:03}"),
    };
    for name in Policy::seeds() {
        let Policy { seed, target, protect, .. } = Policy::preset(name).unwrap();
        let seed = seed.unwrap();
        let above = match seed.trigger {
            Trigger::Share(share) => format!("{} % of the usable window", share / 100),
            Trigger::Reserve(reserve) if seed.most_messages < u32::MAX => {
                let messages = seed.most_messages;
                format!("the window less {}, or {messages} messages", thousands(reserve))
            }
            Trigger::Reserve(reserve) => format!("the window less {}", thousands(reserve)),
            Trigger::Hermes => {
                "75 % of the usable window (50 % of windows of 512,000 and more), but at least 64,000 tokens; 85 % if no more than 64,000 are usable".into()
            }
        };
        let once = if seed.first_once { ", until the first fold" } else { "" };
        let last = match (protect.turns, protect.last, protect.tokens) {
            (0, last, _) if seed.keeps == 5000 => {
                format!("half of the messages, at least {last}")
            }
            (0, 0, tokens) => {
                format!("{} tokens, at most half of the trigger", thousands(tokens))
            }
            (0, last, _) if seed.tail_least > 0 => {
                format!("{last} messages, at least {} % of the trigger", seed.tail_least / 100)
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
            shortens += "; removes reasoning";
        }
        if seed.leaves > 0 {
            let each = format!("; arguments over {} to {}", seed.leaves, seed.stub_chars);
            shortens += &each;
        }
        if seed.repeated > 0 && seed.images {
            shortens += "; repetitions; older images";
        }
        let messages = if protect.first == 1 { "message" } else { "messages" };
        let row = format!(
            "| `{name}` | {above} | {} % | {} {messages}{once} | {last} | {shortens} |",
            target / 100,
            protect.first
        );
        assert!(page.contains(&row), "{row}");
    }
    for (whose, names) in [("all", &EVERY[..]), ("ours", &OURS), ("the others", &THEIRS)] {
        // After those of policies, all have others.
        let row = format!("| {whose} | `{}`", names.join("`, `"));
        assert!(page.contains(&row), "{row}");
    }
    for name in FACADE {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn a_preset_of_another_system_has_its_template_of_summaries() {
    let of_preset = |name: &str| -> Value {
        let host = preset(name, 20_000, &json!({}));
        serde_json::from_str(preset_summary_options(&host.session)).unwrap()
    };
    for name in ["aceclaw", "aiclaw", "openclaw", "context-budget", "hermes"] {
        assert_eq!(of_preset(name), json!({ "template": name }));
    }
    assert_eq!(of_preset("goclaw"), json!({ "template": "goclaw", "checkpoints": true }));
    assert_eq!(of_preset("economy"), json!({}));
}

/// Rows I10, F101.
#[test]
fn only_aiclaw_has_a_note_on_its_summary_in_the_system_prompt() {
    for name in ["aceclaw", "aiclaw", "openclaw", "goclaw", "context-budget", "hermes", "balanced"]
    {
        let host = preset(name, 20_000, &json!({}));
        assert_eq!(host.session.options.note, name == "aiclaw", "{name}");
    }
}
