//! `OpenHands`: actions and observations, and the events of its SDK.
//!
//! Both tell a call and its result apart by the call's id; without function calling an observation names the action that caused it.
//! The model's own answer stands in each action that came of it, and is told once. A condensation removes the events that it names; the
//! place of its summary among those that stay (`summary_offset`) is not read.

use super::script::{Act, Rule, Script};
use super::usage::OPENAI;

/// Actions and observations: a trajectory as the page saves it, or the history of an evaluation.
pub(super) const EVENTS: Script = Script {
    kind: &[("action ", "action"), ("observation ", "observation"), (" of ", "source")],
    time: "timestamp",
    aside: "",
    rules: &[
        Rule {
            kinds: &["action system*"],
            needs: "args.content",
            acts: &[Act::System("args.content"), Act::Tools("args.tools")],
        },
        Rule {
            kinds: &["action message of user"],
            needs: "args.content",
            acts: &[Act::Hear("user", "args.content")],
        },
        Rule {
            kinds: &["action message of agent"],
            needs: "args.content",
            acts: &[Act::Step("tool_call_metadata.model_response.id"), Act::Say("args.content")],
        },
        Rule {
            kinds: &[
                "action change_agent_state*",
                "action recall*",
                "action null*",
                "action condensation_request*",
            ],
            needs: "",
            acts: &[],
        },
        Rule {
            kinds: &["action condensation*"],
            needs: "args",
            acts: &[
                Act::Fold { summary: "args.summary", head: "", before: "", after: "", unless: "" },
                Act::Forget {
                    ids: "args.forgotten_event_ids",
                    first: "args.forgotten_events_start_id",
                    last: "args.forgotten_events_end_id",
                },
            ],
        },
        Rule {
            kinds: &["action *"],
            needs: "args",
            acts: &[
                Act::Action { id: "id", call: "tool_call_metadata.tool_call_id|id" },
                Act::Only("source", "agent"),
                Act::First("tool_call_metadata.model_response.id"),
                Act::Say(
                    "tool_call_metadata.model_response.choices.0.message.content|args.thought",
                ),
                Act::Think("tool_call_metadata.model_response.choices.0.message.reasoning_content"),
                Act::Calls {
                    list: "tool_call_metadata.model_response.choices.0.message.tool_calls",
                    id: "id",
                    name: "function.name",
                    arguments: "function.arguments",
                },
                Act::Calls {
                    list: "",
                    id: "tool_call_metadata.tool_call_id|id",
                    name: "tool_call_metadata.function_name|action",
                    arguments: "args",
                },
                Act::Cost("tool_call_metadata.model_response.usage", &OPENAI),
            ],
        },
        Rule {
            kinds: &[
                "observation null*",
                "observation agent_state_changed*",
                "observation recall*",
            ],
            needs: "",
            acts: &[],
        },
        Rule {
            kinds: &["observation *"],
            needs: "content",
            acts: &[
                Act::Asked { call: "tool_call_metadata.tool_call_id", cause: "cause" },
                Act::Result { id: "", content: "content", note: "" },
            ],
        },
    ],
};

/// Events of the SDK.
pub(super) const SDK: Script = Script {
    kind: &[("", "kind"), (" of ", "source")],
    time: "timestamp",
    aside: "",
    rules: &[
        Rule {
            kinds: &["SystemPromptEvent*"],
            needs: "system_prompt",
            acts: &[Act::System("system_prompt.text|system_prompt"), Act::Tools("tools")],
        },
        Rule {
            kinds: &["MessageEvent of user"],
            needs: "llm_message.content",
            acts: &[Act::Hear("user", "llm_message.content")],
        },
        Rule {
            kinds: &["MessageEvent of agent"],
            needs: "llm_message.content",
            acts: &[
                Act::Step("llm_response_id"),
                Act::Think("llm_message.reasoning_content"),
                Act::Say("llm_message.content"),
            ],
        },
        Rule {
            kinds: &["ActionEvent*"],
            needs: "tool_call_id",
            acts: &[
                Act::Step("llm_response_id"),
                Act::Think("reasoning_content"),
                Act::Say("thought"),
                Act::Calls {
                    list: "",
                    id: "tool_call_id",
                    name: "tool_name|tool_call.name",
                    arguments: "tool_call.arguments|tool_call.function.arguments|action",
                },
            ],
        },
        Rule {
            kinds: &["ObservationEvent*", "AgentErrorEvent*", "UserRejectObservation*"],
            needs: "tool_call_id",
            acts: &[Act::Result {
                id: "tool_call_id",
                content: "observation.content|observation.output|error|rejection_reason|observation",
                note: "",
            }],
        },
        Rule {
            kinds: &["Condensation of*"],
            needs: "",
            acts: &[
                Act::Fold { summary: "summary", head: "", before: "", after: "", unless: "" },
                Act::Forget { ids: "forgotten_event_ids", first: "", last: "" },
            ],
        },
        Rule {
            kinds: &[
                "Condensation*",
                "Conversation*",
                "PauseEvent*",
                "TokenEvent*",
                "LLMCompletionLogEvent*",
            ],
            needs: "",
            acts: &[],
        },
    ],
};

#[cfg(test)]
mod tests {
    use super::super::SessionFile;
    use super::super::testing::{json, open, open_lines};

    #[test]
    fn actions_of_one_answer_are_one_message() {
        let answer = r#""tool_call_metadata":{"tool_call_id":"ID","function_name":"bash","model_response":{"id":"r","usage":{"prompt_tokens":9,"completion_tokens":2},"choices":[{"message":{"content":"both","tool_calls":[{"id":"a","function":{"name":"bash","arguments":"{ }"}},{"id":"b","function":{"name":"edit","arguments":"{}"}}]}}]}}"#;
        let event = |rest: &str, id: &str| {
            format!("{{\"source\":\"agent\",{rest},{}}}", answer.replace("ID", id))
        };
        let file = open_lines(&[
            r#"{"id":1,"source":"user","action":"message","args":{"content":"hi"}}"#,
            &event(
                r#""id":2,"timestamp":"1970-01-01T00:00:01.5","action":"run","args":{"command":"ls","thought":"both"}"#,
                "a",
            ),
            &event(r#""id":3,"observation":"run","content":"out","cause":2"#, "a"),
            &event(r#""id":4,"action":"edit","args":{"path":"x"}"#, "b"),
            &event(r#""id":5,"observation":"edit","content":"","cause":4"#, "b"),
            r#"{"id":6,"source":"agent","action":"run","args":{"command":"pwd","thought":"plain"}}"#,
            r#"{"id":7,"source":"agent","observation":"run","content":"/","cause":6}"#,
            r#"{"id":8,"source":"user","action":"run","args":{"command":"mine"}}"#,
            r#"{"id":9,"source":"user","observation":"run","content":"yours","cause":8}"#,
            r#"{"id":10,"source":"environment","observation":"agent_state_changed","content":""}"#,
        ]);
        assert_eq!(
            json(&file),
            [
                r#"{"role":"user","content":"hi"}"#,
                r#"{"role":"assistant","content":"both","tool_calls":[{"id":"a","type":"function","function":{"name":"bash","arguments":"{ }"}},{"id":"b","type":"function","function":{"name":"edit","arguments":"{}"}}]}"#,
                r#"{"role":"tool","tool_call_id":"a","content":"out"}"#,
                r#"{"role":"tool","tool_call_id":"b","content":""}"#,
                r#"{"role":"assistant","content":"plain","tool_calls":[{"id":"6","type":"function","function":{"name":"run","arguments":"{\"command\":\"pwd\",\"thought\":\"plain\"}"}}]}"#,
                r#"{"role":"tool","tool_call_id":"6","content":"/"}"#,
            ]
        );
        assert_eq!((file.format, file.calls.len(), file.calls[0].at), ("openhands", 2, Some(1500)));
        assert_eq!(file.calls[0].usage.map(|usage| usage.input_tokens), Some(9));
    }

    #[test]
    fn a_result_with_damaged_metadata_is_that_of_its_cause_and_one_without_a_call_is_reported() {
        for metadata in ["{}", r#"{"tool_call_id":"other"}"#, "null"] {
            let action = r#"{"id":2,"source":"agent","action":"run","args":{"command":"ls"},"tool_call_metadata":{"tool_call_id":"a","function_name":"run"}}"#;
            let result = |cause: u32| {
                format!(
                    r#"{{"id":3,"source":"agent","observation":"run","content":"out","cause":{cause},"tool_call_metadata":{metadata}}}"#
                )
            };
            let mine = r#"{"id":7,"source":"user","action":"run","args":{"command":"mine"}}"#;
            let file = open_lines(&[action, &result(2), &result(5), mine, &result(7)]);
            let messages = json(&file);
            assert_eq!(messages.len(), 2, "{messages:?}");
            assert_eq!(messages[1], r#"{"role":"tool","tool_call_id":"a","content":"out"}"#);
            let broken: Vec<u32> = file.receipt.broken.iter().map(|it| it.line).collect();
            assert_eq!((broken, file.receipt.read), (vec![3], 4));
        }
    }

    #[test]
    fn events_of_the_sdk_are_read() {
        let events = [
            r#"{"kind":"SystemPromptEvent","source":"agent","system_prompt":{"type":"text","text":"rules"},"tools":[{"name":"t"}]}"#,
            r#"{"kind":"MessageEvent","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"hi"}]}}"#,
            r#"{"kind":"ActionEvent","source":"agent","thought":[{"type":"text","text":"go"}],"tool_name":"t","tool_call_id":"a","tool_call":{"id":"a","name":"t","arguments":"{}"},"llm_response_id":"r"}"#,
            r#"{"kind":"ActionEvent","source":"agent","thought":[],"tool_name":"t","tool_call_id":"b","tool_call":{"id":"b","name":"t","arguments":"{}"},"llm_response_id":"r"}"#,
            r#"{"kind":"ObservationEvent","source":"environment","tool_call_id":"a","observation":{"content":[{"type":"text","text":"out"}]}}"#,
            r#"{"kind":"AgentErrorEvent","source":"agent","tool_call_id":"b","error":"bad"}"#,
            r#"{"kind":"Condensation","source":"environment","summary":"so far"}"#,
            r#"{"kind":"NewEvent","source":"agent"}"#,
        ];
        let file = open_lines(&events);
        // As its server passes them on.
        let page = open(&format!("{{\"items\":[{}],\"next_page_id\":null}}", events.join(",")));
        assert_eq!(json(&page), json(&file));
        assert_eq!(
            json(&file)[1..],
            [
                r#"{"role":"assistant","content":"go","tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"t","arguments":"{}"}}]}"#,
                r#"{"role":"tool","tool_call_id":"a","content":"out"}"#,
                r#"{"role":"tool","tool_call_id":"b","content":"bad"}"#,
            ]
        );
        assert_eq!((file.compactions[0].summary.as_str(), file.receipt.unknown), ("so far", 1));
    }

    fn kept(file: &SessionFile) -> Vec<(u32, &[[u32; 2]], u32, &str)> {
        let records = file.compactions.iter();
        records.map(|it| (it.at, &*it.kept, it.first_kept_index, &*it.summary)).collect()
    }

    #[test]
    fn a_condensation_of_the_sdk_removes_the_events_that_it_names() {
        let user = |id: &str| {
            format!(
                r#"{{"id":"{id}","kind":"MessageEvent","source":"user","llm_message":{{"role":"user","content":"{id}"}}}}"#
            )
        };
        let act = |id: &str, call: &str, answer: &str| {
            format!(
                r#"{{"id":"{id}","kind":"ActionEvent","source":"agent","thought":[],"tool_name":"t","tool_call_id":"{call}","tool_call":{{"id":"{call}","name":"t","arguments":"{{}}"}},"llm_response_id":"{answer}"}}"#
            )
        };
        let observe = |id: &str, call: &str| {
            format!(
                r#"{{"id":"{id}","kind":"ObservationEvent","source":"environment","tool_call_id":"{call}","observation":{{"content":"{id}"}}}}"#
            )
        };
        let condense = |ids: &str, summary: &str| {
            format!(
                r#"{{"id":"x","kind":"Condensation","source":"environment","forgotten_event_ids":[{ids}],"summary":"{summary}","summary_offset":1}}"#
            )
        };
        let lines = [
            user("e1"),
            act("e2", "a", "r1"),
            act("e3", "b", "r1"),
            observe("e4", "a"),
            observe("e5", "b"),
            act("e6", "c", "r2"),
            observe("e7", "c"),
            condense(r#""e2","e3","e4","e5""#, "one"),
            user("e8"),
            condense("", "none"),
            condense(r#""e6","e7","x-summary","of no message""#, "two"),
            act("e9", "d", "r3"),
            condense(r#""e1","e8","e9""#, "all"),
            user("e10"),
        ];
        let file = open_lines(&lines.each_ref().map(|line| &**line));
        assert_eq!(file.messages.len(), 9);
        let found: [(u32, &[[u32; 2]], u32, &str); 4] = [
            (6, &[[0, 1]], 4, "one"),
            (7, &[[0, 1]], 4, "none"),
            (7, &[[0, 1]], 6, "two"),
            (8, &[], 8, "all"),
        ];
        assert_eq!(kept(&file), found);
    }

    #[test]
    fn a_condensation_action_removes_a_list_or_a_range_of_events() {
        let condense = |id: u32, forgotten: &str| {
            format!(
                r#"{{"id":{id},"source":"agent","action":"condensation","args":{{{forgotten},"summary":"{id}","summary_offset":1}}}}"#
            )
        };
        let lines = [
            r#"{"id":0,"source":"user","action":"message","args":{"content":"task"}}"#.into(),
            r#"{"id":1,"source":"agent","action":"run","args":{"command":"ls"}}"#.into(),
            r#"{"id":2,"source":"agent","observation":"run","content":"out","cause":1}"#.into(),
            condense(3, r#""forgotten_event_ids":[1,2]"#),
            r#"{"id":4,"source":"agent","action":"message","args":{"content":"A"}}"#.into(),
            r#"{"id":5,"source":"user","action":"message","args":{"content":"go on"}}"#.into(),
            condense(6, r#""forgotten_events_start_id":3,"forgotten_events_end_id":4"#),
            r#"{"id":7,"source":"agent","action":"condensation_request","args":{}}"#.into(),
        ];
        let file = open_lines(&lines.each_ref().map(|line: &String| &**line));
        let found: [(u32, &[[u32; 2]], u32, &str); 2] =
            [(3, &[[0, 1]], 3, "3"), (5, &[[0, 1]], 4, "6")];
        assert_eq!(kept(&file), found);
        assert_eq!((file.messages.len(), file.receipt.unknown), (5, 0));
    }
}
