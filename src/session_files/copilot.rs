//! GitHub Copilot CLI: events, one a line.
//!
//! What the model was sent for a user's message is its `transformedContent`. Newer files have the usage of a call before its answer;
//! older ones have that of the whole session only, at its end. A compaction removes what came before it started. The events of a
//! subagent name it (`agentId`); older ones name the call that started it.

use super::script::{Act, Rule, Script};
use super::usage::CLINE;

pub(super) const SCRIPT: Script = Script {
    kind: &[("", "type")],
    time: "timestamp",
    aside: "agentId|data.parentToolCallId",
    rules: &[
        Rule {
            kinds: &["system.message"],
            needs: "data.content",
            acts: &[Act::System("data.content")],
        },
        Rule {
            kinds: &["user.message"],
            needs: "data.transformedContent|data.content",
            acts: &[Act::Hear("user", "data.transformedContent|data.content")],
        },
        Rule {
            kinds: &["system.notification"],
            needs: "data.content",
            acts: &[Act::Hear("user", "data.content")],
        },
        Rule {
            kinds: &["assistant.message"],
            needs: "data.content|data.toolRequests",
            acts: &[
                Act::Step("data.apiCallId|data.messageId"),
                Act::Model("data.model"),
                Act::Think("data.reasoningText"),
                Act::Say("data.content"),
                Act::Calls {
                    list: "data.toolRequests",
                    id: "toolCallId",
                    name: "name",
                    arguments: "arguments",
                },
            ],
        },
        Rule {
            kinds: &["tool.execution_complete"],
            needs: "data.toolCallId",
            acts: &[Act::Result {
                id: "data.toolCallId",
                content: "data.result.content|data.error.message|data.error",
                note: "",
            }],
        },
        Rule { kinds: &["assistant.usage"], needs: "data", acts: &[Act::Cost("data", &CLINE)] },
        Rule {
            kinds: &["session.usage_record"],
            needs: "data.usage",
            acts: &[
                Act::Step("data.usage.apiCallId"),
                Act::Window("data.usage.maxPromptTokens"),
                Act::Cost("data.usage", &CLINE),
            ],
        },
        Rule { kinds: &["session.compaction_start"], needs: "", acts: &[Act::FoldEnd] },
        Rule {
            kinds: &["session.usage_info", "session.truncation"],
            needs: "data",
            acts: &[Act::Window("data.tokenLimit")],
        },
        Rule {
            kinds: &["session.compaction_complete"],
            needs: "data",
            acts: &[Act::Fold {
                summary: "data.summaryContent",
                head: "",
                before: "data.preCompactionTokens",
                after: "data.postCompactionTokens",
                unless: "data.error",
            }],
        },
        Rule {
            kinds: &[
                "session.*",
                "hook.*",
                "permission.*",
                "assistant.*",
                "tool.*",
                "subagent.*",
                "skill.*",
                "command.*",
                "user_input.*",
                "elicitation.*",
                "external_tool.*",
                "exit_plan_mode.*",
                "pending_messages.*",
                "abort",
            ],
            needs: "",
            acts: &[],
        },
    ],
};

#[cfg(test)]
mod tests {
    use super::super::testing::{json, models, open_lines};

    #[test]
    fn a_call_has_the_usage_before_it_and_a_compaction_removes_what_came_before_its_start() {
        let usage = |call: &str, tokens: u32| {
            format!(
                r#"{{"type":"session.usage_record","data":{{"usage":{{"apiCallId":"{call}","inputTokens":{tokens},"maxPromptTokens":900}}}}}}"#
            )
        };
        let answer = |call: &str| {
            format!(
                r#"{{"type":"assistant.message","data":{{"content":"{call}","apiCallId":"{call}"}}}}"#
            )
        };
        let start = r#"{"type":"session.compaction_start","data":{}}"#;
        let end = |more: &str| {
            format!(
                r#"{{"type":"session.compaction_complete","data":{{"summaryContent":"s"{more}}}}}"#
            )
        };
        let hi = r#"{"type":"user.message","data":{"content":"hi"}}"#;
        let lines = [
            r#"{"type":"session.start","data":{"sessionId":"s","version":1}}"#,
            hi,
            &usage("a", 70),
            &answer("a"),
            start,
            &usage("b", 80),
            &answer("b"),
            &usage("a title", 5),
            &end(""),
            hi,
            start,
            &end(r#","error":"no""#),
            &usage("c", 90),
            &answer("c"),
            &end(""),
        ];
        let file = open_lines(&lines);
        let found: Vec<_> = file
            .calls
            .iter()
            .map(|call| (call.sent, call.usage.map(|usage| usage.input_tokens)))
            .collect();
        assert_eq!(found, [(1, Some(70)), (2, Some(80)), (4, Some(90))]);
        assert_eq!(file.window.map(|window| window.context_tokens), Some(900));
        let folds: Vec<_> =
            file.compactions.iter().map(|fold| (fold.at, fold.first_kept_index)).collect();
        assert_eq!(folds, [(3, 2), (5, 5)]);
        assert_eq!(file.receipt.unknown, 0);
    }

    #[test]
    fn events_become_messages_as_the_model_saw_them() {
        let file = open_lines(&[
            r#"{"type":"session.start","data":{"sessionId":"s","version":1}}"#,
            r#"{"type":"system.message","data":{"content":"rules"}}"#,
            r#"{"type":"user.message","data":{"content":"hi","transformedContent":"now: hi"}}"#,
            r#"{"type":"assistant.message","timestamp":"1970-01-01T00:00:03Z","data":{"content":"","reasoningText":"hm","apiCallId":"m","model":"gpt-x","toolRequests":[{"toolCallId":"a","name":"bash","arguments":{"x":1}},{"toolCallId":"b","name":"view","arguments":{}}]}}"#,
            r#"{"type":"assistant.message","data":{"content":"inside","parentToolCallId":"a"}}"#,
            r#"{"type":"tool.execution_complete","data":{"toolCallId":"a","success":true,"result":{"content":"ok"}}}"#,
            r#"{"type":"system.notification","data":{"content":"<n>"}}"#,
            r#"{"type":"tool.execution_complete","data":{"toolCallId":"b","success":false,"error":{"message":"no"}}}"#,
            r#"{"type":"assistant.usage","data":{"inputTokens":70,"outputTokens":2,"cacheReadTokens":60}}"#,
            r#"{"type":"session.compaction_complete","data":{"success":true,"preCompactionTokens":900,"postCompactionTokens":90,"summaryContent":"so far"}}"#,
            r#"{"type":"tool.execution_complete","data":{}}"#,
            r#"{"type":"something.new","data":{}}"#,
        ]);
        let json = json(&file);
        assert_eq!(
            json,
            [
                r#"{"role":"user","content":"now: hi"}"#,
                r#"{"role":"assistant","reasoning_content":"hm","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"bash","arguments":"{\"x\":1}"}},{"id":"b","type":"function","function":{"name":"view","arguments":"{}"}}]}"#,
                r#"{"role":"tool","tool_call_id":"a","content":"ok"}"#,
                r#"{"role":"tool","tool_call_id":"b","content":"no"}"#,
                r#"{"role":"user","content":"<n>"}"#,
            ]
        );
        assert_eq!((file.format, file.system.as_deref()), ("copilot-cli", Some("rules")));
        assert_eq!(models(&file), [("gpt-x", 1)]);
        let call = file.calls[0];
        assert_eq!((file.calls.len(), call.sent, call.at), (1, 1, Some(3000)));
        assert_eq!(call.usage.map(|usage| usage.input_tokens), Some(70));
        let fold = &file.compactions[0];
        assert_eq!((fold.first_kept_index, fold.tokens_before, &*fold.summary), (5, 900, "so far"));
        let receipt = &file.receipt;
        assert_eq!((receipt.read, receipt.unknown, receipt.sidechain), (10, 1, 1));
        assert_eq!(receipt.broken[0].line, 11);
        assert_eq!(
            receipt.broken[0].reason,
            "a record of type \"tool.execution_complete\" without data.toolCallId"
        );
    }

    #[test]
    fn events_of_a_subagent_are_no_part_of_the_conversation() {
        let file = open_lines(&[
            r#"{"type":"session.start","data":{"sessionId":"s"},"id":"1"}"#,
            r#"{"type":"system.message","data":{"content":"main rules"},"id":"2"}"#,
            r#"{"type":"user.message","data":{"content":"look around"},"id":"3"}"#,
            r#"{"type":"assistant.message","data":{"content":"","toolRequests":[{"toolCallId":"t","name":"task","arguments":{}}]},"id":"4"}"#,
            r#"{"type":"subagent.started","data":{"toolCallId":"t"},"id":"5","agentId":"sub"}"#,
            r#"{"type":"system.message","data":{"content":"its rules"},"id":"6","agentId":"sub"}"#,
            r#"{"type":"user.message","data":{"content":"its task"},"id":"7","agentId":"sub"}"#,
            r#"{"type":"assistant.message","data":{"content":"inside","toolRequests":[{"toolCallId":"v","name":"view","arguments":{}}]},"id":"8","agentId":"sub"}"#,
            r#"{"type":"tool.execution_complete","data":{"toolCallId":"v","result":{"content":"its file"}},"id":"9","agentId":"sub"}"#,
            r#"{"type":"tool.execution_complete","data":{"toolCallId":"t","result":{"content":"found"}},"id":"10"}"#,
            r#"{"type":"assistant.message","data":{"content":"done"},"id":"11"}"#,
        ]);
        assert_eq!(
            json(&file),
            [
                r#"{"role":"user","content":"look around"}"#,
                r#"{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"task","arguments":"{}"}}]}"#,
                r#"{"role":"tool","tool_call_id":"t","content":"found"}"#,
                r#"{"role":"assistant","content":"done"}"#,
            ]
        );
        assert_eq!((file.system.as_deref(), file.receipt.sidechain), (Some("main rules"), 4));
    }
}
