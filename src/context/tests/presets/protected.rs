//! Protected messages, under every preset.

use super::*;
use crate::context::request::build_request::violations_sent;
use crate::prune::{Policy, Protect};

/// What is protected at the end of a history of these roles: `u`, `a`, `c` (a call), `t` (its result), `s`.
fn tail(roles: &str, protect: &Protect) -> u32 {
    protect.tail(&host_of(roles).session.transcript.ledger).get()
}

/// Tokens of the messages from `from` on, as they arrived.
fn arrived(host: &Host, from: u32) -> u64 {
    let blocks =
        host.session.transcript.ledger.blocks.iter().filter(|it| it.message >= from.into());
    blocks.map(|it| u64::from(it.tokens)).sum()
}

/// Rows A75, A76.
#[test]
fn a_turn_starts_at_each_user_role_message_and_a_call_keeps_its_result() {
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

/// Row I7.
#[test]
fn a_protected_end_starts_at_the_call_of_its_first_result() {
    let last = |last| Protect { last, ..Protect::default() };
    assert_eq!(tail("succttu", &last(2)), 3);
    assert_eq!(tail("suttu".replace("tt", "ctt").as_str(), &last(2)), 2);
    assert_eq!(tail("sucttu", &last(4)), 2, "on the call: as it is");
    assert_eq!(tail(&"ua".repeat(25), &last(20)), 30);
}

/// Row H10.
#[test]
fn a_protected_start_follows_system_messages_and_splits_no_group() {
    let head = |roles, first| {
        Protect { first, ..Protect::default() }
            .head(&host_of(roles).session.transcript.ledger)
            .get()
    };
    assert_eq!((head("suaua", 1), head("suaua", 3), head("suaua", 0)), (2, 4, 0));
    assert_eq!((head("ucttau", 2), head("ucttau", 3), head("ua", 9)), (4, 4, 2));
}

/// F083: where the last request is in the protected end, the reply before it stays too.
/// Row H13.
#[test]
fn the_last_reply_of_the_model_is_protected() {
    let more = json!({ "protectLast": 1, "protectFirst": 0 });
    let mut host = preset("context-budget", 16_000, &more);
    for at in 0..30 {
        host.ask(&format!("question {at}"));
        host.say(&text(at, 2000));
    }
    host.ask("and now?");
    assert!(host.request().fold.is_some());
    let forms = host.forms();
    assert_eq!((forms[59], forms[57], forms[60]), (Form::Full, Form::Gone, Form::Full));
}

/// Row H4.
#[test]
fn protections_hold_under_every_preset() {
    let more = json!({ "protectFirst": 1, "protectLast": 3, "protectTools": ["note*", "plan"], "format": "anthropic" });
    for name in Policy::PRESETS {
        let mut host = preset(name, 24_000, &more);
        host.ask("the first");
        let mut named = Vec::new();
        for at in 0..60 {
            let (id, tool) = (format!("c{at}"), if at % 20 == 3 { "note_it" } else { "read" });
            if tool == "note_it" {
                named.extend([host.messages.len(), host.messages.len() + 1]);
            }
            let call = json!({ "type": "tool_use", "id": id, "name": tool, "input": { "at": at } });
            host.append(json!({ "role": "assistant", "content": [call] }));
            let result =
                json!({ "type": "tool_result", "tool_use_id": id, "content": text(at, 2400) });
            host.append(json!({ "role": "user", "content": [result] }));
            if at % 10 == 0 {
                host.ask(&format!("ask {at}"));
            }
            let answer = host.request();
            let count = host.messages.len();
            assert!(answer.fits, "{name}");
            for block in &host.session.transcript.ledger.blocks {
                let message = block.message.index();
                let protected = message == 0 || message + 3 >= count || named.contains(&message);
                assert!(!protected || block.form == Form::Full, "{name} {message} of {count}");
            }
            assert_eq!(violations_sent(&host.session), [], "{name}");
        }
        assert!(host.forms().iter().any(|form| *form >= Form::Stubbed), "{name}");
    }
}

/// Row G23.
#[test]
fn the_last_tokens_are_the_last_messages_that_are_no_larger() {
    let host = host_of("uauaua");
    let tail = |host: &Host, tokens| {
        Protect { tokens, ..Protect::default() }.tail(&host.session.transcript.ledger).get()
    };
    for from in 0..6 {
        let size = arrived(&host, from);
        assert_eq!((tail(&host, size), tail(&host, size - 1)), (from, from + 1));
    }
    assert_eq!((tail(&host, 0), tail(&host, u64::MAX)), (6, 0));
    let called = host_of("ucttu");
    assert_eq!(tail(&called, arrived(&called, 3)), 1, "a result keeps its call");
}

/// Row G23.
#[test]
fn protected_tokens_hold_under_every_preset() {
    for name in Policy::PRESETS {
        let more = json!({ "protectFirst": 0, "protectTokens": 5000, "format": "anthropic" });
        let mut host = preset(name, 24_000, &more);
        host.ask("go");
        for at in 0..60 {
            host.work(&format!("c{at}"), &json!({ "at": at }), &text(at, 2400));
            let answer = host.request();
            assert!(answer.fits, "{name}");
            for block in &host.session.transcript.ledger.blocks {
                let protected = arrived(&host, block.message.get()) <= 5000;
                assert!(!protected || block.form == Form::Full, "{name} {}", block.message);
            }
        }
        assert!(host.forms().iter().any(|form| *form >= Form::Stubbed), "{name}");
    }
}

/// F063: three real turns, or three messages of the user's role where a preset counts those.
/// Row A75.
#[test]
fn protected_turns_hold_under_every_preset() {
    for name in Policy::PRESETS {
        let ways: &[&str] =
            if Policy::seeds().any(|seed| seed == name) { &["user", "user-role"] } else { &[""] };
        for turn in ways {
            let mut more = json!({ "protectFirst": 0, "protectLast": 0, "protectTurns": 3 });
            if !turn.is_empty() {
                more["turn"] = (*turn).into();
            }
            let mut host = preset(name, 24_000, &more);
            for at in 0..40 {
                host.ask(&format!("question {at}"));
                for step in 0..2 {
                    host.work(&format!("c{at}-{step}"), &json!({ "at": at }), &text(at, 2400));
                }
                host.say("done");
                let answer = host.request();
                assert!(answer.fits, "{name} {turn}");
                // Of six messages a turn has three of the user's role: it and what stands beside its last call.
                let kept = if *turn == "user-role" { 6 } else { 18 };
                for block in &host.session.transcript.ledger.blocks {
                    let protected = block.message.index() + kept >= host.messages.len();
                    assert!(
                        !protected || block.form == Form::Full,
                        "{name} {turn} {}",
                        block.message
                    );
                }
            }
            assert!(host.forms().iter().any(|form| *form >= Form::Stubbed), "{name} {turn}");
        }
    }
}

/// What is protected at the end is at most half of what `openclaw` acts above, unless the host says how much.
/// Row G23.
#[test]
fn openclaw_keeps_its_tokens_but_no_more_than_half() {
    for (option, most) in [(None, 8000), (Some(4000), 4000), (Some(12_000), 12_000)] {
        let more = option.map_or_else(|| json!({}), |tokens| json!({ "protectTokens": tokens }));
        let mut host = preset("openclaw", 32_000, &more);
        let mut cut = None;
        for at in 0..40 {
            host.ask(&format!("question {at}"));
            host.say(&text(at, 2000));
            host.ask("and?");
            let answer = host.request();
            cut = cut.or_else(|| answer.fold.map(|fold| fold.first_kept));
            if cut.is_some() {
                break;
            }
        }
        let kept = arrived(&host, cut.unwrap().get());
        // The next turn would be too much.
        assert!(kept <= most && kept + 600 > most, "{kept} of {most}");
    }
}

/// More than fits is protected: it is cut after all, and nothing else is left to cut.
#[test]
fn protected_messages_are_edited_only_if_the_request_would_not_fit() {
    for name in Policy::PRESETS {
        let mut host = preset(name, 10_000, &json!({ "protectLast": 50 }));
        for at in 0..40 {
            host.work(&format!("c{at}"), &json!({ "at": at }), &text(at, 2000));
        }
        host.ask("and?");
        let answer = host.request();
        assert!(answer.fits, "{name}");
        let live: Vec<_> = host
            .session
            .transcript
            .ledger
            .blocks
            .iter()
            .filter(|it| it.form == Form::Full)
            .collect();
        assert!(live.iter().all(|it| it.is_protected() || it.user), "{name}");
    }
}
