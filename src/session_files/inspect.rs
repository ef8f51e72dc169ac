//! Inspect logs in JSON: the messages of one sample, and what its model events reported.
//!
//! Long texts may stand in `attachments`, with a reference in their place. A log holds a sample an epoch; `leaf` is its index.

use super::detect::elements;
use super::file::{SessionCall, SessionFile};
use super::lines::Line;
use super::path::at;
use super::raw::{Object, is_object, text};
use super::reader::Reader;
use super::script::{Act, Rule, Script};
use super::time::millis;
use super::usage::INSPECT;
use crate::error::Error;
use crate::hash_index::ByName;

const SCRIPT: Script = Script {
    kind: &[("", "role")],
    time: "",
    aside: "",
    rules: &[
        Rule { kinds: &["system"], needs: "content", acts: &[Act::Hear("system", "content")] },
        Rule { kinds: &["user"], needs: "content", acts: &[Act::Hear("user", "content")] },
        Rule {
            kinds: &["assistant"],
            needs: "content|tool_calls",
            acts: &[
                Act::Step(""),
                Act::Say("content"),
                Act::Calls {
                    list: "tool_calls",
                    id: "id",
                    name: "function",
                    arguments: "arguments",
                },
            ],
        },
        Rule {
            kinds: &["tool"],
            needs: "tool_call_id",
            acts: &[Act::Result { id: "tool_call_id", content: "error.message|content", note: "" }],
        },
    ],
};

/// Reads the sample of this index, or the first.
#[inline(never)]
pub(super) fn read(samples: &[Line<'_>], leaf: Option<&str>) -> Result<SessionFile, Error> {
    if samples.is_empty() {
        return Err(Error::argument("session", "an Inspect log with samples", "one without"));
    }
    let chosen = leaf.unwrap_or("0");
    let index: Option<usize> = chosen.parse().ok();
    let Some(sample) = index.and_then(|index| samples.get(index)) else {
        let expected = format!("the index of a sample, less than {}", samples.len());
        return Err(Error::argument("leaf", &expected, chosen));
    };
    let mut reader = Reader::new(&SCRIPT, "inspect");
    reader.attached = sample.fields.object("attachments").unwrap_or_default();
    let events = sample.fields.get("events").map(elements).unwrap_or_default();
    let (answers, calls) = model_calls(&events);
    for line in &sample.fields.get("messages").map(elements).unwrap_or_default() {
        reader.read(std::slice::from_ref(line), &[]);
        let call = line.fields.text("id").and_then(|id| calls_at(&answers, &calls, &id));
        if let Some(call) = call.filter(|_| line.fields.is("role", "assistant")) {
            reader.chat.cost(call.usage);
            reader.chat.date(call.at);
        }
    }
    let mut lists = events.iter().filter_map(|event| event.fields.get("tools"));
    reader.chat.file.take_tools(lists.find(|list| !super::raw::items(list).is_empty()));
    let mut file = reader.chat.finish();
    file.receipt.leaf = Some(chosen.to_owned());
    file.receipt.branches = (0..samples.len()).map(|index| index.to_string()).collect();
    Ok(file)
}

fn calls_at(answers: &ByName<'_>, calls: &[SessionCall], id: &str) -> Option<SessionCall> {
    calls.get(answers.get(0, id)?).copied()
}

/// What was reported of each answer, by the id of its message.
fn model_calls<'a>(events: &[Line<'a>]) -> (ByName<'a>, Vec<SessionCall>) {
    let (mut answers, mut calls) = (ByName::default(), Vec::new());
    for event in events.iter().filter(|event| event.fields.is("event", "model")) {
        let Some(id) = at(&event.fields, "output.choices.0.message.id").and_then(text) else {
            continue;
        };
        let usage = at(&event.fields, "output.usage").filter(|raw| is_object(raw));
        let usage = usage.and_then(|raw| INSPECT.read(&Object::of(raw)));
        let at = event.fields.get("timestamp").and_then(millis);
        answers.insert(0, id, calls.len());
        calls.push(SessionCall { sent: 0, at, usage });
    }
    (answers, calls)
}

#[cfg(test)]
mod tests {
    use super::super::read_session;
    use super::super::testing::json;

    const LOG: &str = r#"{"version":2,"eval":{"task":"t"},"samples":[{"messages":[]},{
        "messages":[{"role":"system","content":"s"},{"id":"u","role":"user","content":[{"type":"text","text":"attachment://h1"}]},
        {"id":"m","role":"assistant","content":[{"type":"reasoning","reasoning":"hm"},{"type":"text","text":"ok"}],"tool_calls":[{"id":"c","function":"f","arguments":{"a":1}}]},
        {"role":"tool","tool_call_id":"c","content":"","error":{"type":"timeout","message":"late"}},{"role":"odd"}],
        "attachments":{"h1":"the long text"},
        "events":[{"event":"state"},{"event":"model","timestamp":"1970-01-01T00:00:04Z","tools":[{"name":"f"}],"output":{"choices":[{"message":{"id":"m"}}],"usage":{"input_tokens":7,"output_tokens":3,"input_tokens_cache_read":5}}}]}]}"#;

    #[test]
    fn a_sample_is_read_with_what_its_events_report() {
        let file = read_session(LOG.as_bytes(), Some("1")).expect("read");
        let json = json(&file);
        assert_eq!(
            json,
            [
                r#"{"role":"system","content":"s"}"#,
                r#"{"role":"user","content":"the long text"}"#,
                r#"{"role":"assistant","reasoning_content":"hm","content":"ok","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}"#,
                r#"{"role":"tool","tool_call_id":"c","content":"late"}"#,
            ]
        );
        let call = file.calls[0];
        assert_eq!((file.format, call.sent, call.at), ("inspect", 2, Some(4000)));
        assert_eq!(call.usage.map(|it| (it.input_tokens, it.cache_read_tokens)), Some((7, 5)));
        assert_eq!((file.tools.map(|it| it.len()), file.receipt.unknown), (Some(1), 1));
        assert_eq!(file.receipt.branches, ["0", "1"]);
    }

    #[test]
    fn a_log_without_samples_is_a_typed_error() {
        let say =
            |text: &str, leaf| read_session(text.as_bytes(), leaf).expect_err(text).to_string();
        let empty = say(r#"{"version":2,"eval":{"task":"t"}}"#, None);
        assert_eq!(empty, "session: expected an Inspect log with samples, got one without");
        assert_eq!(say(LOG, Some("2")), "leaf: expected the index of a sample, less than 2, got 2");
        let sealed = read_session(b"PK\x03\x04\x14\x00", None).expect_err("zip").to_string();
        assert!(sealed.contains("inspect log convert"), "{sealed}");
    }
}
