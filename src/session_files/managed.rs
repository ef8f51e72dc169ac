//! Claude Managed Agents: the events of a session, a line each, in a list, or as a page of the API.
//!
//! What belongs to one model call is told by the start of its span; a log without spans has a call wherever the agent goes on
//! after all its results. An event of a compaction has no summary.

use super::script::{Act, Rule, Script};
use super::usage::ANTHROPIC;

pub(super) const SCRIPT: Script = Script {
    kind: &[("", "type")],
    time: "processed_at",
    aside: "",
    rules: &[
        Rule { kinds: &["user.message"], needs: "content", acts: &[Act::Hear("user", "content")] },
        Rule { kinds: &["span.model_request_start"], needs: "", acts: &[Act::Step("")] },
        Rule {
            kinds: &["span.model_request_end"],
            needs: "",
            acts: &[Act::Cost("model_usage", &ANTHROPIC)],
        },
        Rule {
            kinds: &["agent.message"],
            needs: "content",
            acts: &[Act::GoesOn, Act::Say("content")],
        },
        Rule {
            kinds: &["agent.thinking"],
            needs: "",
            acts: &[Act::GoesOn, Act::Think("content|thinking")],
        },
        Rule {
            kinds: &["agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"],
            needs: "id",
            acts: &[
                Act::GoesOn,
                Act::Calls { list: "", id: "id", name: "name", arguments: "input" },
            ],
        },
        Rule {
            kinds: &["agent.tool_result", "agent.mcp_tool_result", "user.custom_tool_result"],
            needs: RESULT_OF,
            acts: &[Act::Result { id: RESULT_OF, content: "content", note: "" }],
        },
        Rule { kinds: &["user.*", "agent.*", "session.*", "span.*"], needs: "", acts: &[] },
    ],
};

const RESULT_OF: &str = "tool_use_id|mcp_tool_use_id|custom_tool_use_id";

#[cfg(test)]
mod tests {
    use super::super::testing::{json, open, open_lines};

    const EVENTS: [&str; 9] = [
        r#"{"type":"user.message","id":"e1","content":[{"type":"text","text":"list them"}],"processed_at":"1970-01-01T00:00:01Z"}"#,
        r#"{"type":"session.status_running","id":"e2"}"#,
        r#"{"type":"agent.message","id":"e3","content":[{"type":"text","text":"looking"}],"processed_at":"1970-01-01T00:00:03Z"}"#,
        r#"{"type":"agent.tool_use","id":"e4","name":"bash","input":{"command":"ls"}}"#,
        r#"{"type":"agent.mcp_tool_use","id":"e5","mcp_server_name":"m","name":"find","input":{}}"#,
        r#"{"type":"agent.tool_result","id":"e6","tool_use_id":"e4","content":[{"type":"text","text":"a.rs"}]}"#,
        r#"{"type":"agent.mcp_tool_result","id":"e7","mcp_tool_use_id":"e5","content":[]}"#,
        r#"{"type":"agent.message","id":"e8","content":[{"type":"text","text":"one file"}],"processed_at":"1970-01-01T00:00:08Z"}"#,
        r#"{"type":"session.status_idle","id":"e9","stop_reason":{"type":"end_turn"}}"#,
    ];
    const MESSAGES: [&str; 5] = [
        r#"{"role":"user","content":"list them"}"#,
        r#"{"role":"assistant","content":"looking","tool_calls":[{"id":"e4","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}},{"id":"e5","type":"function","function":{"name":"find","arguments":"{}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"e4","content":"a.rs"}"#,
        r#"{"role":"tool","tool_call_id":"e5","content":""}"#,
        r#"{"role":"assistant","content":"one file"}"#,
    ];

    #[test]
    fn events_become_messages_with_a_call_for_each_answer() {
        let listed = EVENTS.join(",");
        for file in [
            open_lines(&EVENTS),
            open(&format!("[{listed}]")),
            open(&format!("{{\"data\":[{listed}],\"next_page\":null}}")),
        ] {
            assert_eq!(json(&file), MESSAGES);
            assert_eq!(file.format, "managed-agents");
            let calls: Vec<_> = file.calls.iter().map(|call| (call.sent, call.at)).collect();
            assert_eq!(calls, [(1, Some(3000)), (4, Some(8000))]);
            assert_eq!((file.receipt.read, file.receipt.unknown), (9, 0));
        }
    }

    #[test]
    fn a_span_is_a_model_call_with_its_usage() {
        let start = r#"{"type":"span.model_request_start","id":"s"}"#;
        let end = r#"{"type":"span.model_request_end","model_usage":{"input_tokens":7,"output_tokens":2,"cache_read_input_tokens":90,"cache_creation_input_tokens":3}}"#;
        let mut events = EVENTS.to_vec();
        events.splice(7..8, [start, EVENTS[7], end]);
        events.insert(2, start);
        let file = open_lines(&events);
        assert_eq!(json(&file), MESSAGES);
        let found: Vec<_> =
            file.calls.iter().map(|it| it.usage.map(|it| it.input_tokens)).collect();
        assert_eq!(found, [None, Some(100)]);
    }
}
