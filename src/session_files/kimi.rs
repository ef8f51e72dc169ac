//! Kimi CLI: its wire, one event a line.
//!
//! A step is a model call; its parts, calls and results come as events of their own. A step that was cancelled before the model said
//! anything left nothing in the history. The notes that the agent put under a result belong to it.

use super::script::{Act, Rule, Script};
use super::usage::KIMI;

pub(super) const SCRIPT: Script = Script {
    kind: &[("", "type"), ("/", "event.type"), ("/", "event.part.type")],
    time: "time",
    aside: "",
    rules: &[
        Rule {
            kinds: &["context.append_message"],
            needs: "message.content",
            acts: &[Act::Hear("user", "message.content")],
        },
        Rule {
            kinds: &["context.append_loop_event/step.begin"],
            needs: "",
            acts: &[Act::Step("event.uuid")],
        },
        Rule {
            kinds: &["context.append_loop_event/content.part/think"],
            needs: "event.part.think",
            acts: &[Act::Think("event.part.think")],
        },
        Rule {
            kinds: &["context.append_loop_event/content.part/text"],
            needs: "event.part.text",
            acts: &[Act::Say("event.part.text")],
        },
        Rule {
            kinds: &["context.append_loop_event/content.part/*"],
            needs: "event.part",
            acts: &[Act::Say("event.part")],
        },
        Rule {
            kinds: &["context.append_loop_event/tool.call"],
            needs: "event.toolCallId",
            acts: &[Act::Calls {
                list: "",
                id: "event.toolCallId",
                name: "event.name",
                arguments: "event.args",
            }],
        },
        Rule {
            kinds: &["context.append_loop_event/tool.result"],
            needs: "event.toolCallId",
            acts: &[Act::Result {
                id: "event.toolCallId",
                content: "event.result.output|event.result",
                note: "event.result.note",
            }],
        },
        Rule {
            kinds: &["context.append_loop_event/step.end"],
            needs: "",
            acts: &[Act::Cost("event.usage", &KIMI)],
        },
        Rule { kinds: &["config.update"], needs: "", acts: &[Act::System("systemPrompt")] },
        Rule { kinds: &["llm.tools_snapshot"], needs: "", acts: &[Act::Tools("tools")] },
        Rule {
            kinds: &["context.apply_compaction"],
            needs: "",
            acts: &[Act::Fold {
                summary: "summary",
                head: "contextSummary",
                before: "tokensBefore",
                after: "tokensAfter",
                unless: "",
            }],
        },
        Rule {
            kinds: &[
                "metadata",
                "turn.*",
                "llm.*",
                "usage.*",
                "tools.*",
                "permission.*",
                "plan_mode.*",
                "full_compaction.*",
            ],
            needs: "",
            acts: &[],
        },
    ],
};

#[cfg(test)]
mod tests {
    use super::super::read_session;
    use super::super::testing::json;

    #[test]
    fn steps_become_messages_and_cancelled_ones_nothing() {
        let lines = [
            r#"{"type":"metadata","protocol_version":"1.4"}"#,
            r#"{"type":"config.update","systemPrompt":"rules","time":1}"#,
            r#"{"type":"llm.tools_snapshot","tools":[{"name":"Bash"}]}"#,
            r#"{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"hi"}]}}"#,
            r#"{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"1"}}"#,
            r#"{"type":"turn.cancel"}"#,
            r#"{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"2"},"time":1785613801102}"#,
            r#"{"type":"context.append_loop_event","event":{"type":"content.part","part":{"type":"think","think":"hm"}}}"#,
            r#"{"type":"context.append_loop_event","event":{"type":"content.part","part":{"type":"text","text":"look"}}}"#,
            r#"{"type":"context.append_loop_event","event":{"type":"tool.call","toolCallId":"Bash_0","name":"Bash","args":{"command":"ls"}}}"#,
            r#"{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"Bash_0","result":{"output":"a\n","note":"<system>1 file</system>"}}}"#,
            r#"{"type":"context.append_loop_event","event":{"type":"step.end","usage":{"inputOther":10,"output":4,"inputCacheRead":30,"inputCacheCreation":2}}}"#,
            r#"{"type":"context.apply_compaction","summary":"so far","contextSummary":"head","tokensBefore":900,"tokensAfter":90}"#,
        ];
        let file = read_session(lines.join("\n").as_bytes(), None).expect("read");
        let json = json(&file);
        assert_eq!(
            json,
            [
                r#"{"role":"user","content":"hi"}"#,
                r#"{"role":"assistant","reasoning_content":"hm","content":"look","tool_calls":[{"id":"Bash_0","type":"function","function":{"name":"Bash","arguments":"{\"command\":\"ls\"}"}}]}"#,
                r#"{"role":"tool","tool_call_id":"Bash_0","content":"a\n\n<system>1 file</system>"}"#,
            ]
        );
        assert_eq!((file.format, file.receipt.absent.as_slice()), ("kimi-wire", &["window"][..]));
        let call = file.calls[0];
        assert_eq!((file.calls.len(), call.sent, call.at), (1, 1, Some(1_785_613_801_102)));
        assert_eq!(
            call.usage.map(|usage| (usage.input_tokens, usage.cache_read_tokens)),
            Some((42, 30))
        );
        let fold = &file.compactions[0];
        assert_eq!((fold.first_kept_index, &*fold.head, fold.tokens_after), (3, "head", 90));
    }
}
