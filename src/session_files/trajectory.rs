//! Trajectories of research agents: SWE-agent, mini-swe-agent, and the talks of Who&When.
//!
//! SWE-agent and mini-swe-agent may have the model write its action into the text, between fences. There the action is a call of
//! `bash` with an id of ours, the text around it is what was said, and the next message is its result. Where mini-swe-agent
//! calls the Responses API, an answer is a response with its items. The agents of Who&When talk to each other: each is an assistant with a
//! name.

use super::script::{Act, Rule, Script};
use super::usage::{OPENAI, RESPONSES};

/// SWE-agent and mini-swe-agent.
pub(super) const SWE: Script = Script {
    kind: &[("", "role|object|type")],
    time: "timestamp|extra.timestamp",
    aside: "",
    rules: &[
        Rule { kinds: &["system"], needs: "content", acts: &[Act::Hear("system", "content")] },
        Rule { kinds: &["user"], needs: "content", acts: &[Act::Reply("content")] },
        Rule {
            kinds: &["assistant"],
            needs: "content|tool_calls",
            acts: &[
                Act::Step(""),
                Act::Model("extra.response.model"),
                Act::Think("reasoning_content"),
                Act::Acting { content: "content", action: "action", calls: "tool_calls" },
                Act::Calls {
                    list: "tool_calls",
                    id: "id",
                    name: "function.name",
                    arguments: "function.arguments",
                },
                Act::Cost("extra.response.usage", &OPENAI),
            ],
        },
        Rule {
            kinds: &["response"],
            needs: "output",
            acts: &[
                Act::Step(""),
                Act::Model("model"),
                Act::Items("output"),
                Act::Cost("usage", &RESPONSES),
            ],
        },
        Rule {
            kinds: &["function_call_output"],
            needs: "call_id",
            acts: &[Act::Result { id: "call_id", content: "output", note: "" }],
        },
        Rule {
            kinds: &["tool"],
            needs: "tool_call_ids.0|tool_call_id",
            acts: &[Act::Result {
                id: "tool_call_ids.0|tool_call_id",
                content: "content",
                note: "",
            }],
        },
        Rule { kinds: &["exit"], needs: "", acts: &[] },
    ],
};

/// Who&When.
pub(super) const TALK: Script = Script {
    kind: &[("", "role")],
    time: "",
    aside: "",
    rules: &[
        Rule { kinds: &["human", "user"], needs: "content", acts: &[Act::Hear("user", "content")] },
        Rule {
            kinds: &["*"],
            needs: "content",
            acts: &[Act::Step(""), Act::Speaker("name|role"), Act::Say("content")],
        },
    ],
};

#[cfg(test)]
mod tests {
    use super::super::testing::{json, models, open};

    #[test]
    fn actions_in_text_are_calls() {
        let file = open(
            r#"{"trajectory":[],"history":[
            {"role":"system","content":"s","agent":"main"},
            {"role":"user","content":"do","agent":"main"},
            {"role":"assistant","content":"I look.\n```\nls\n```","thought":"I look.\n","action":"ls\n","agent":"main"},
            {"role":"user","content":"a.py","agent":"main"},
            {"role":"assistant","content":"no action"},
            {"role":"user","content":"bad format"}]}"#,
        );
        assert_eq!(
            json(&file),
            [
                r#"{"role":"system","content":"s"}"#,
                r#"{"role":"user","content":"do"}"#,
                r#"{"role":"assistant","content":"I look.\n","tool_calls":[{"id":"action-3","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]}"#,
                r#"{"role":"tool","tool_call_id":"action-3","content":"a.py"}"#,
                r#"{"role":"assistant","content":"no action"}"#,
                r#"{"role":"user","content":"bad format"}"#,
            ]
        );
        assert_eq!((file.format, file.calls.len(), file.calls[1].sent), ("swe-agent", 2, 4));
    }

    #[test]
    fn function_calling_is_taken_as_it_is() {
        let file = open(
            r#"{"trajectory":[],"history":[{"role":"assistant","content":"t","thought":"t","action":"ls","tool_calls":[{"id":"c","type":"function","function":{"name":"bash","arguments":"{}"}}]},
            {"role":"tool","content":"out","tool_call_ids":["c"]},{"role":"tool","content":"x"},{"role":"odd","content":"y"},7]}"#,
        );
        assert_eq!(
            json(&file),
            [
                r#"{"role":"assistant","content":"t","tool_calls":[{"id":"c","type":"function","function":{"name":"bash","arguments":"{}"}}]}"#,
                r#"{"role":"tool","tool_call_id":"c","content":"out"}"#,
            ]
        );
        let found: Vec<_> =
            file.receipt.broken.iter().map(|it| (it.line, it.reason.as_str())).collect();
        let without = "a record of type \"tool\" without tool_call_ids.0|tool_call_id";
        assert_eq!(found, [(3, without), (5, "not a JSON object")]);
        assert_eq!((file.receipt.unknown, file.receipt.lines), (1, 5));
    }

    #[test]
    fn a_bare_list_of_mini_swe_agent_is_known_by_its_fence() {
        let file = open(
            r#"[{"role":"user","content":"do"},{"role":"assistant","content":"so\n\n```mswea_bash_command\nls\n```","extra":{"response":{"model":"x","usage":{"prompt_tokens":5}}}},{"role":"user","content":"<returncode>0</returncode>"}]"#,
        );
        assert_eq!((file.format, file.messages.len()), ("mini-swe-agent", 3));
        assert!(json(&file)[2].contains(r#""tool_call_id":"action-2""#));
        assert_eq!(file.calls[0].usage.map(|usage| usage.input_tokens), Some(5));
        assert_eq!(models(&file), [("x", 1)]);
    }

    #[test]
    fn responses_of_mini_swe_agent_are_answers() {
        let file = open(
            r#"{"info":{"mini_version":"2"},"trajectory_format":"mini-swe-agent-1.1","messages":[
            {"role":"user","content":"do"},
            {"object":"response","model":"gpt-x","output":[
                {"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"z"},
                {"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look"}]},
                {"type":"function_call","name":"bash","arguments":"{\"command\":\"ls\"}","call_id":"a"}],
             "usage":{"input_tokens":500,"output_tokens":20},"extra":{"timestamp":1795168801}},
            {"type":"function_call_output","call_id":"a","output":"a.txt"},
            {"object":"response","output":[{"type":"function_call","name":"bash","arguments":"{}","call_id":"b"}]},
            {"type":"function_call_output","call_id":"b","output":""},
            {"role":"exit","content":""}]}"#,
        );
        assert_eq!(
            json(&file),
            [
                r#"{"role":"user","content":"do"}"#,
                r#"{"role":"assistant","reasoning_content":"hm","content":"I look","tool_calls":[{"id":"a","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]}"#,
                r#"{"role":"tool","tool_call_id":"a","content":"a.txt"}"#,
                r#"{"role":"assistant","content":null,"tool_calls":[{"id":"b","type":"function","function":{"name":"bash","arguments":"{}"}}]}"#,
                r#"{"role":"tool","tool_call_id":"b","content":""}"#,
            ]
        );
        assert_eq!(file.calls[0].usage.map(|usage| usage.input_tokens), Some(500));
        assert_eq!((file.calls[0].at, file.receipt.read), (Some(1_795_168_801_000), 6));
        assert_eq!(models(&file), [("gpt-x", 2)]);
    }

    #[test]
    fn agents_that_talk_are_assistants_with_names() {
        let file = open(
            r#"{"question_ID":"q","history":[{"role":"human","content":"why"},{"role":"Boss (-> Web)","content":"look"},{"role":"Web","content":"seen"}]}"#,
        );
        assert_eq!(
            json(&file)[1..],
            [
                r#"{"role":"assistant","name":"Boss_(-__Web)","content":"look"}"#,
                r#"{"role":"assistant","name":"Web","content":"seen"}"#
            ]
        );
        assert_eq!((file.format, file.calls.len()), ("whowhen-text", 2));
    }
}
