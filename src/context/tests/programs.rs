//! Results that a program of the model's reads: they reach it whole, and leave with it.

use super::providers::host;
use super::*;
use crate::context::request::shorten::piece_of;
use crate::model::Kind;

/// The items of one host that lets the model's programs call its tools.
struct Wire {
    provider: &'static str,
    format: &'static str,
}

const WIRES: [Wire; 6] = [
    Wire { provider: "anthropic", format: "anthropic" },
    Wire { provider: "bedrock", format: "anthropic" },
    Wire { provider: "openai-responses", format: "openai-responses" },
    Wire { provider: "openai-responses", format: "openai-agents" },
    Wire { provider: "anthropic", format: "ai-sdk" },
    Wire { provider: "anthropic", format: "langchain" },
];

impl Wire {
    /// A program starts; its first call follows in the same message where the format has several parts in one.
    fn starts(&self, id: &str, call: &str) -> Vec<Value> {
        let made = self.calls(id, call);
        let with = |program: Value| {
            let mut message = made[0].clone();
            message["content"].as_array_mut().unwrap().insert(0, program);
            vec![message]
        };
        match self.format {
            "openai-responses" => {
                let program = json!({ "type": "program", "id": format!("pr_{id}"), "call_id": id, "code": "await rows()", "fingerprint": "f" });
                [vec![program], made].concat()
            }
            "openai-agents" => {
                let program = json!({ "type": "program", "id": format!("pr_{id}"), "callId": id, "code": "await rows()", "fingerprint": "f" });
                [vec![program], made].concat()
            }
            "ai-sdk" => with(
                json!({ "type": "tool-call", "toolCallId": id, "toolName": "code_execution", "input": {}, "providerExecuted": true }),
            ),
            _ => with(
                json!({ "type": "server_tool_use", "id": id, "name": "code_execution", "input": { "code": "await rows()" } }),
            ),
        }
    }

    /// The program makes another call.
    fn calls(&self, id: &str, call: &str) -> Vec<Value> {
        let caller = json!({ "type": "code_execution_20250825", "tool_id": id });
        let content = match self.format {
            "openai-responses" => {
                let caller = json!({ "type": "program", "caller_id": id });
                return vec![
                    json!({ "type": "function_call", "call_id": call, "name": "rows", "arguments": arguments(call).to_string(), "caller": caller }),
                ];
            }
            "openai-agents" => {
                let caller = json!({ "type": "program", "callerId": id });
                return vec![
                    json!({ "type": "function_call", "callId": call, "name": "rows", "arguments": arguments(call).to_string(), "caller": caller }),
                ];
            }
            "ai-sdk" => {
                let caller = json!({ "type": "code_execution_20250825", "toolId": id });
                json!({ "type": "tool-call", "toolCallId": call, "toolName": "rows", "input": arguments(call),
                    "providerOptions": { "anthropic": { "caller": caller } } })
            }
            _ => {
                json!({ "type": "tool_use", "id": call, "name": "rows", "input": arguments(call), "caller": caller })
            }
        };
        let role = if self.format == "langchain" { "type" } else { "role" };
        let speaker = if self.format == "langchain" { "ai" } else { "assistant" };
        vec![json!({ role: speaker, "content": [content] })]
    }

    fn answers(&self, id: &str, call: &str, text: &str) -> Value {
        match self.format {
            "openai-responses" => {
                json!({ "type": "function_call_output", "call_id": call, "output": text, "caller": { "type": "program", "caller_id": id } })
            }
            "openai-agents" => {
                json!({ "type": "function_call_result", "callId": call, "name": "rows", "status": "completed", "output": text, "caller": { "type": "program", "callerId": id } })
            }
            "ai-sdk" => {
                json!({ "role": "tool", "content": [{ "type": "tool-result", "toolCallId": call, "toolName": "rows", "output": { "type": "text", "value": text } }] })
            }
            "langchain" => {
                json!({ "type": "tool", "tool_call_id": call, "name": "rows", "content": text })
            }
            _ => {
                json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": call, "content": text }] })
            }
        }
    }

    /// The program ends, and the model says something.
    fn ends(&self, id: &str) -> Vec<Value> {
        match self.format {
            "openai-responses" => {
                vec![
                    json!({ "type": "program_output", "id": format!("po_{id}"), "call_id": id, "result": "sum", "status": "completed" }),
                ]
            }
            "openai-agents" => {
                vec![
                    json!({ "type": "program_output", "id": format!("po_{id}"), "callId": id, "output": "sum", "status": "completed" }),
                ]
            }
            "ai-sdk" => vec![json!({ "role": "assistant", "content": [
                { "type": "tool-result", "toolCallId": id, "toolName": "code_execution", "output": { "type": "json", "value": "sum" } },
                { "type": "text", "text": "the sum" },
            ] })],
            _ => {
                let ended = json!({ "type": "code_execution_tool_result", "tool_use_id": id, "content": { "stdout": "sum" } });
                let role = if self.format == "langchain" { "type" } else { "role" };
                let speaker = if self.format == "langchain" { "ai" } else { "assistant" };
                vec![
                    json!({ role: speaker, "content": [ended, { "type": "text", "text": "the sum" }] }),
                ]
            }
        }
    }

    fn ask(&self, text: &str) -> Value {
        if self.format == "langchain" {
            return json!({ "type": "human", "content": text });
        }
        json!({ "role": "user", "content": text })
    }

    /// All programs of the history so far: what is sent of each is sent whole, and all of it or nothing.
    #[track_caller]
    fn check(&self, host: &Host) {
        let session = &host.session;
        assert_eq!(violations_sent(session), [], "{}", self.format);
        let ledger = &session.transcript.ledger;
        let mut groups = std::collections::BTreeMap::<u32, Vec<Form>>::new();
        for index in 0..ledger.message_count() {
            let outline = session.transcript.outline(index.into()).unwrap();
            for (piece, at) in outline.pieces.iter().zip(ledger.blocks_of(index.into())) {
                let block = ledger.block(at).unwrap();
                let is_read =
                    |at| piece_of(session, at).is_some_and(|call| !call.caller.is_empty());
                let of_program =
                    !piece.caller.is_empty() || block.kind == Kind::Result && is_read(block.pair);
                if of_program {
                    assert!(
                        matches!(block.form, Form::Full | Form::Gone),
                        "{}: {index} {:?}",
                        self.format,
                        block.form
                    );
                }
                if of_program || piece.is_provider_run() {
                    groups.entry(block.group.get()).or_default().push(block.form);
                }
            }
        }
        for (group, forms) in groups {
            assert!(
                forms.iter().all(|form| *form == forms[0]),
                "{}: {group} {forms:?}",
                self.format
            );
        }
    }
}

fn arguments(call: &str) -> Value {
    json!({ "of": words(260, call) })
}

#[test]
fn a_result_that_a_program_reads_is_not_cut_however_large_it_is() {
    for wire in WIRES {
        let mut host = host(wire.provider, wire.format, 16_000);
        host.append(wire.ask("sum it"));
        wire.starts("p", "c").into_iter().for_each(|message| host.append(message));
        host.append(wire.answers("p", "c", &words(2_500, "row")));
        let answer = host.request();
        assert!(answer.fits && answer.edits.is_empty(), "{}", wire.format);
        wire.check(&host);
    }
}

/// Neither by edits before the trigger nor above it, and whatever the preset; after the end of the program too.
#[test]
fn results_that_programs_read_leave_uncut_and_with_their_program() {
    let presets = [
        "balanced",
        "economy",
        "capacity",
        "aceclaw",
        "openclaw",
        "hermes",
        "goclaw",
        "context-budget",
    ];
    for (wire, preset) in WIRES.iter().flat_map(|wire| presets.map(|preset| (wire, preset))) {
        let mut options = window(16_000);
        (options["provider"], options["format"]) = (wire.provider.into(), wire.format.into());
        options["preset"] = preset.into();
        let mut host = Host::new(&options);
        host.append(wire.ask("sum them"));
        host.request();
        for at in 0..14 {
            let id = format!("p{at}");
            let call = |number: usize| format!("c{at}x{number}");
            for number in 0..3 {
                let made = if number == 0 {
                    wire.starts(&id, &call(0))
                } else {
                    wire.calls(&id, &call(number))
                };
                host.append_all(made);
                host.append(wire.answers(&id, &call(number), &words(300, &call(number))));
                let answer = host.request();
                assert!(answer.fits, "{} {preset} {at}", wire.format);
                wire.check(&host);
            }
            wire.ends(&id).into_iter().for_each(|message| host.append(message));
            if at % 4 == 3 {
                host.append(wire.ask("and on"));
                host.request();
                wire.check(&host);
            }
        }
        assert!(host.forms().contains(&Form::Gone), "{} {preset}", wire.format);
    }
}

/// One that is too large to be sent whole is reported: what is cut would be no result of that tool.
#[test]
fn a_program_with_too_large_results_is_sent_uncut_and_reported() {
    for wire in WIRES {
        let mut host = host(wire.provider, wire.format, 8_000);
        host.append(wire.ask("sum them"));
        let mut fitted = true;
        for number in 0..12 {
            let call = format!("c{number}");
            let made = if number == 0 { wire.starts("p", &call) } else { wire.calls("p", &call) };
            host.append_all(made);
            host.append(wire.answers("p", &call, &words(300, &call)));
            fitted = host.request().fits;
            wire.check(&host);
        }
        assert!(!fitted, "{}", wire.format);
    }
}

/// A call that the model makes itself is cut like any other, also beside one of a program.
#[test]
fn a_result_that_the_model_reads_is_cut_beside_one_that_a_program_reads() {
    let mut host = host("anthropic", "anthropic", 64_000);
    host.ask("sum it");
    let call = |id: &str, caller: Value| json!({ "type": "tool_use", "id": id, "name": "rows", "input": {}, "caller": caller });
    let of_program = call("b", json!({ "type": "code_execution_20250825", "tool_id": "p" }));
    let program =
        json!({ "type": "server_tool_use", "id": "p", "name": "code_execution", "input": {} });
    let direct = call("a", json!({ "type": "direct" }));
    host.append(json!({ "role": "assistant", "content": [direct, program, of_program] }));
    let result = |id: &str| json!({ "type": "tool_result", "tool_use_id": id, "content": words(5_000, "row") });
    host.append(json!({ "role": "user", "content": [result("a"), result("b")] }));
    assert_eq!(host.request().edits.len(), 1);
    assert_eq!(host.forms()[4..], [Form::Capped, Form::Full]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn programs_are_sent_uncut_or_not_at_all_in_any_history(
        wire in 0..WIRES.len(),
        preset in prop::sample::select(&["balanced", "economy", "capacity", "aceclaw", "hermes"][..]),
        tokens in 4_000..20_000_u32,
        steps in prop::collection::vec((0..4_u8, 10..500_usize), 1..60),
    ) {
        let wire = &WIRES[wire];
        let mut options = window(tokens);
        (options["provider"], options["format"]) = (wire.provider.into(), wire.format.into());
        options["preset"] = preset.into();
        let mut host = Host::new(&options);
        host.append(wire.ask("sum them"));
        let mut running: Option<String> = None;
        for (at, (step, size)) in steps.into_iter().enumerate() {
            let call = format!("c{at}");
            match (step, running.take()) {
                (0, Some(id)) => wire.ends(&id).into_iter().for_each(|message| host.append(message)),
                (1, _) => host.append(wire.ask(&words(size / 10, &call))),
                (_, before) => {
                    let id = before.clone().unwrap_or_else(|| format!("p{at}"));
                    let made = if before.is_some() { wire.calls(&id, &call) } else { wire.starts(&id, &call) };
                    host.append_all(made);
                    host.append(wire.answers(&id, &call, &words(size, &call)));
                    running = Some(id);
                }
            }
            host.request();
            wire.check(&host);
        }
    }
}
