//! F072, I23: what is loaded of a history, tier by tier.

use super::*;
use crate::context::report::explain::explain;
use crate::context::request::build_request::violations_sent;

/// Turns of a call with a result, what the model says beside the call, and its answer; all long.
fn turns(format: &str, provider: &str, count: usize, tiers: &Value) -> Host {
    let options = json!({ "window": { "contextTokens": 0 }, "format": format, "provider": provider, "transient": true, "tiers": tiers });
    let mut host = Host::new(&options);
    let long = |of: &str, at: usize| words(300, &format!("{of}{at}v"));
    for at in 0..count {
        let id = format!("c{at}");
        host.append(json!({ "role": "user", "content": long("ask", at) }));
        if format == "anthropic" {
            let (text, thinking) = (
                json!({ "type": "text", "text": long("so", at) }),
                json!({ "type": "thinking", "thinking": "hm", "signature": "s" }),
            );
            let call = json!({ "type": "tool_use", "id": id, "name": "read", "input": { "path": long("in", at) } });
            host.append(json!({ "role": "assistant", "content": [thinking, text, call] }));
            host.append(json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": long("got", at) }] }));
            host.append(json!({ "role": "assistant", "content": long("say", at) }));
        } else {
            for item in [
                json!({ "type": "reasoning", "id": format!("rs_{at}"), "summary": [] }),
                json!({ "type": "function_call", "id": format!("fc_{at}"), "call_id": id, "name": "read", "arguments": "{}" }),
                json!({ "type": "function_call_output", "call_id": id, "output": long("got", at) }),
                json!({ "type": "reasoning", "id": format!("rs_{at}b"), "summary": [] }),
                json!({ "type": "message", "id": format!("msg_{at}"), "role": "assistant", "content": [{ "type": "output_text", "text": long("say", at) }] }),
            ] {
                host.append(item);
            }
        }
    }
    host.ask("and now?");
    host
}

/// What goes out, message by message: all of it, or what is done with it.
fn out(host: &mut Host) -> Vec<(u32, Option<Value>)> {
    let answer = host.request();
    assert_eq!(violations_sent(&host.session), []);
    let items = answer.items.iter().map(|item| match item {
        Written::Keep { index } => (index.get(), None),
        Written::Edit { index, ops } => {
            (index.get(), Some(serde_json::from_str(&crate::json::write(ops)).unwrap()))
        }
        Written::Make { .. } | Written::Same(_) => panic!("nothing of ours is needed"),
    });
    items.collect()
}

/// Row I23.
#[test]
fn three_turns_are_full_five_light_and_of_the_rest_question_and_answer_stay() {
    // The last question is a turn of its own: two full ones are before it.
    let mut host = turns("anthropic", "anthropic", 9, &json!({}));
    let out = out(&mut host);
    let of =
        |turn: u32| -> Vec<_> { out.iter().filter(|(at, _)| at / 4 == turn).cloned().collect() };
    for heavy in [0, 1] {
        let kept: Vec<_> = of(heavy);
        assert_eq!(kept, [(4 * heavy, None), (4 * heavy + 3, None)], "question and answer, whole");
    }
    for light in 2..7 {
        let (kept, at) = (of(light), light as usize);
        assert_eq!(kept.len(), 4);
        let short = |of: &str, chars: usize| {
            let text: String = words(300, &format!("{of}{at}v")).chars().take(chars).collect();
            Value::from(text + "\n...(truncated)")
        };
        let values: Vec<Value> =
            kept.iter().map(|(_, ops)| ops.as_ref().expect("cut")[0]["value"].clone()).collect();
        let expected = [short("ask", 500), short("so", 500), short("got", 300), short("say", 500)];
        assert_eq!(values, expected);
        assert_eq!(kept[1].1.as_ref().unwrap().as_array().unwrap().len(), 1, "the call stays");
    }
    for full in [7, 8] {
        assert!(of(full).iter().all(|(_, ops)| ops.is_none()) && of(full).len() == 4);
    }
    assert_eq!(out.last(), Some(&(36, None)));
    assert_eq!(explain(&host.session, 1.into()).unwrap().rule, "prune");
}

/// Row I23.
#[test]
fn the_host_chooses_the_limits_of_tiers() {
    let short = json!({ "fullTurns": 1, "lightTurns": 1, "resultChars": 100_000, "textChars": 10 });
    let out = out(&mut turns("anthropic", "anthropic", 3, &short));
    let host: Vec<_> = out.iter().map(|(at, ops)| (*at, ops.is_some())).collect();
    let heavy = [(0, false), (3, false), (4, false), (7, false)];
    assert_eq!(host[..4], heavy);
    // I10: what stands beside the newest reasoning stays as it is.
    assert_eq!(host[4..], [(8, true), (9, false), (10, false), (11, true), (12, false)]);
    let parse = |tiers: &str| Options::parse(&format!(r#"{{"tiers":{tiers}}}"#)).unwrap_err();
    let error = parse(r#"{"lightTurns":-1}"#).to_string();
    assert_eq!(error, "lightTurns: expected a number from 0 to 4294967295, got -1");
    assert!(parse(r#"{"turns":1}"#).to_string().starts_with("unknown option turns;"));
}

/// I14: an answer that is known by its id goes out with the reasoning that led to it.
/// Row I23.
#[test]
fn an_answer_keeps_the_reasoning_that_its_provider_wants_with_it() {
    let mut host = turns("openai-responses", "openai-responses", 9, &json!({}));
    let out = out(&mut host);
    let kept: Vec<u32> = out.iter().map(|(at, _)| *at).filter(|at| *at < 12).collect();
    assert_eq!(kept, [0, 4, 5, 6, 10, 11]);
}

/// I10: what stays as it is, stays with its results, also in the oldest tier.
/// Row I23.
#[test]
fn messages_that_may_not_be_removed_stay_with_their_group() {
    let tiers = json!({ "fullTurns": 1, "lightTurns": 0 });
    let out = out(&mut turns("anthropic", "anthropic", 2, &tiers));
    let kept: Vec<u32> = out.iter().map(|(at, _)| *at).collect();
    assert_eq!(kept, [0, 3, 4, 5, 6, 7, 8]);
}

/// What a program reads is not shortened; with its turn it goes.
#[test]
fn a_result_that_a_program_reads_is_full_or_left_out() {
    let options = json!({ "window": { "contextTokens": 0 }, "format": "anthropic", "transient": true, "tiers": {} });
    let mut host = Host::new(&options);
    for at in 0..9 {
        host.ask("sum it");
        let (program, call) = (format!("s{at}"), format!("c{at}"));
        let caller = json!({ "type": "code_execution_20250825", "tool_id": program });
        host.append(json!({ "role": "assistant", "content": [
            { "type": "server_tool_use", "id": program, "name": "code_execution", "input": {} },
            { "type": "tool_use", "id": call, "name": "rows", "input": {}, "caller": caller },
        ] }));
        host.append(json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": call, "content": words(300, "row") }] }));
        host.append(json!({ "role": "assistant", "content": [
            { "type": "code_execution_tool_result", "tool_use_id": program, "content": {} },
            { "type": "text", "text": "so" },
        ] }));
    }
    host.ask("and now?");
    let out = out(&mut host);
    let results: Vec<_> = out.iter().filter(|(at, _)| at % 4 == 2).collect();
    assert_eq!(results.len(), 7);
    assert!(results.iter().all(|(_, ops)| ops.is_none()));
}
