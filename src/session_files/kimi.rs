//! Kimi CLI: its wire, one event a line.
//!
//! A step is a model call; its parts, calls and results come as events of their own. A step that was cancelled before the model said
//! anything left nothing in the history. The notes that the agent put under a result belong to it. Turns that the user took back are left
//! out; after `/clear` the session goes on without what was before.

use std::borrow::Cow;

use super::lines::Line;
use super::path::at;
use super::raw::{Object, text};
use super::script::{Act, Rule, Script};
use super::undone::{self, Mark};
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
        Rule {
            kinds: &["config.update", "profile.bind"],
            needs: "",
            acts: &[Act::System("systemPrompt")],
        },
        Rule { kinds: &["llm.request"], needs: "", acts: &[Act::Model("model|modelAlias")] },
        Rule { kinds: &["llm.tools_snapshot"], needs: "", acts: &[Act::Tools("tools")] },
        Rule {
            kinds: &["context.apply_compaction"],
            needs: "",
            acts: &[
                Act::Fold {
                    summary: "summary",
                    head: "contextSummary",
                    before: "tokensBefore",
                    after: "tokensAfter",
                    unless: "",
                },
                Act::Keep {
                    there: "message.origin.kind",
                    this: "\"user\"",
                    count: "keptUserMessageCount",
                },
            ],
        },
        Rule {
            kinds: &["context.clear"],
            needs: "",
            acts: &[Act::Fold { summary: "", head: "", before: "", after: "", unless: "" }],
        },
        Rule {
            kinds: &[
                "context.undo",
                "metadata",
                "turn.*",
                "llm.*",
                "usage.*",
                "tools.*",
                "permission.*",
                "plan_mode.*",
                "full_compaction.*",
                "agent.message.*",
                "agent.turn.*",
                "plugin.*",
                "prompt.*",
                "runtime.*",
                "token_counting.*",
            ],
            needs: "",
            acts: &[],
        },
    ],
};

/// For each line whether it is a message, or a part of one, of a turn that the user took back. What the agent added beside the user's
/// messages stays.
pub(super) fn undone(lines: &[Line<'_>]) -> Vec<bool> {
    let of_turns = undone::undone(lines, mark);
    let is_message = |line: &Line<'_>| {
        let kind = line.fields.text("type").unwrap_or_default();
        kind.starts_with("context.append") && origin(&line.fields, "kind") != "injection"
    };
    lines.iter().zip(of_turns).map(|(line, is_undone)| is_undone && is_message(line)).collect()
}

fn mark(line: &Line<'_>) -> Mark {
    let fields = &line.fields;
    match &*fields.text("type").unwrap_or_default() {
        "context.append_message" if is_turn(fields) => Mark::Turn,
        "context.undo" => Mark::Undo(fields.number("count").unwrap_or(0)),
        "context.clear" | "context.apply_compaction" => Mark::Boundary,
        _ => Mark::Other,
    }
}

/// A message or a command of the user's that starts a turn. What was typed while the agent worked starts none.
fn is_turn(fields: &Object<'_>) -> bool {
    at(fields, "message.role").and_then(text).is_some_and(|role| role == "user")
        && at(fields, "message.origin.inTurn") != Some("true")
        && match &*origin(fields, "kind") {
            "" | "user" => true,
            "skill_activation" | "plugin_command" => origin(fields, "trigger") == "user-slash",
            _ => false,
        }
}

/// What a message says of where it comes from; empty if it says nothing.
fn origin<'a>(fields: &Object<'a>, name: &str) -> Cow<'a, str> {
    let message = fields.object("message").unwrap_or_default();
    let origin = message.object("origin").unwrap_or_default();
    origin.text(name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::read_session;
    use super::super::testing::{json, models};

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
            r#"{"type":"llm.request","kind":"loop","model":"kimi-x"}"#,
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
        assert_eq!(models(&file), [("kimi-x", 1)]);
        let call = file.calls[0];
        assert_eq!((file.calls.len(), call.sent, call.at), (1, 1, Some(1_785_613_801_102)));
        assert_eq!(
            call.usage.map(|usage| (usage.input_tokens, usage.cache_read_tokens)),
            Some((42, 30))
        );
        let fold = &file.compactions[0];
        assert_eq!((fold.first_kept_index, &*fold.head, fold.tokens_after), (3, "head", 90));
    }

    #[test]
    fn a_compaction_keeps_so_many_of_the_users_newest_messages() {
        let say = |text: &str, kind: &str| {
            format!(
                r#"{{"type":"context.append_message","message":{{"role":"user","content":"{text}","origin":{{"kind":"{kind}"}}}}}}"#
            )
        };
        let compacted = |kept: &str| {
            format!(r#"{{"type":"context.apply_compaction","contextSummary":"head"{kept}}}"#)
        };
        let lines = [
            r#"{"type":"profile.bind","systemPrompt":"rules"}"#.into(),
            say("one", "user"),
            say("date", "injection"),
            say("two", "user"),
            compacted(r#","keptUserMessageCount":1"#),
            say("date", "injection"),
            say("three", "user"),
            r#"{"type":"token_counting.rebased","tokens":9}"#.into(),
            compacted(r#","keptUserMessageCount":18446744073709551615"#),
            compacted(""),
        ];
        let file = read_session(lines.join("\n").as_bytes(), None).expect("read");
        let found: Vec<_> =
            file.compactions.iter().map(|it| (it.first_kept_index, it.kept.clone())).collect();
        assert_eq!(found, [(2, vec![]), (4, vec![[2, 3]]), (5, vec![])]);
        assert_eq!((file.system.as_deref(), file.receipt.unknown), (Some("rules"), 0));
    }

    #[test]
    fn turns_that_the_user_took_back_are_left_out_and_what_the_agent_added_stays() {
        let say = |text: &str, origin: &str| {
            format!(
                r#"{{"type":"context.append_message","message":{{"role":"user","content":"{text}"{origin}}}}}"#
            )
        };
        let user = |text: &str| say(text, r#","origin":{"kind":"user"}"#);
        let of = |kind: &str| format!(r#","origin":{{"kind":"{kind}"}}"#);
        let step = |id: &str| {
            format!(
                r#"{{"type":"context.append_loop_event","event":{{"type":"step.begin","uuid":"{id}"}}}}
{{"type":"context.append_loop_event","event":{{"type":"content.part","part":{{"type":"text","text":"{id}"}}}}}}
{{"type":"context.append_loop_event","event":{{"type":"step.end"}}}}"#
            )
        };
        let undo = |count: &str| format!(r#"{{"type":"context.undo","count":{count}}}"#);
        let slash = r#","origin":{"kind":"skill_activation","trigger":"user-slash"}"#;
        let lines = [
            user("one"),
            step("A"),
            say("two", ""),
            say("note", &of("injection")),
            say("timer", &of("cron_job")),
            r#"{"type":"config.update","systemPrompt":"rules"}"#.into(),
            step("B"),
            undo("1"),
            say("three", slash),
            step("C"),
            undo("0"),
            user("four"),
            step("D"),
            undo("2"),
            user("five"),
            step("E"),
        ];
        let read =
            |lines: &[String]| read_session(lines.join("\n").as_bytes(), None).expect("read");
        let texts = |lines: &[String]| {
            let texts = json(&read(lines)).into_iter();
            let texts = texts.map(|text| text.split('"').nth(7).unwrap_or_default().to_owned());
            texts.collect::<Vec<_>>()
        };
        assert_eq!(texts(&lines), ["one", "A", "note", "five", "E"]);
        // A prompt that was typed while the agent worked belongs to the turn before it.
        let in_turn = say("and this", r#","origin":{"kind":"user","inTurn":true}"#);
        let steered = [user("one"), step("A"), user("two"), in_turn, step("B"), undo("1")];
        assert_eq!(texts(&steered), ["one", "A"]);
        let file = read(&lines);
        assert_eq!((file.system.as_deref(), file.calls.len()), (Some("rules"), 2));
        assert_eq!((file.receipt.unknown, file.receipt.dead_ends), (0, 13));
        // What a compaction took and what was cleared cannot be taken back.
        let fold = r#"{"type":"context.apply_compaction","summary":"so far"}"#;
        let clear = r#"{"type":"context.clear"}"#;
        for (boundary, summary) in [(fold, "so far"), (clear, "")] {
            let lines = [
                user("one"),
                step("A"),
                boundary.into(),
                user("two"),
                step("B"),
                undo("9"),
                user("three"),
                step("C"),
            ];
            assert_eq!(texts(&lines), ["one", "A", "three", "C"]);
            let file = read(&lines);
            let record = &file.compactions[0];
            assert_eq!((record.first_kept_index, &*record.summary), (2, summary));
            assert_eq!(file.receipt.unknown, 0);
        }
    }
}
