//! Codex rollouts, as the items of `OpenAI` Responses that they are.
//!
//! `response_item` lines are what went to the model and came from it, and stay byte for byte, encrypted reasoning and all;
//! `event_msg` lines tell the same again and are used for nothing but the reported usage and the window. Neighbouring items of the
//! model are of one call.

use std::borrow::Cow;

use super::file::{CompactionRecord, SessionFile, SessionWindow, refuse_leaf};
use super::forgotten::View;
use super::lines::Line;
use super::messages::plain;
use super::native::{RESPONSES, Whose};
use super::raw::{Object, RawValue, is_object, items};
use super::time::millis;
use super::undone::{Mark, undone};
use super::usage;
use crate::error::Error;

const KNOWN: [&str; 7] = [
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "world_state",
    "token_usage_record",
];

/// An item that Codex keeps for itself.
const ITS_OWN: &str = "ghost_snapshot";

/// How the tags begin of what Codex writes in the user's name, those of older versions included.
const OWN_TAGS: [&str; 13] = [
    "user_instructions",
    "environment_context",
    "extension_context",
    "external_",
    "goal_context",
    "codex_internal_context",
    "skill",
    "user_shell_command",
    "turn_aborted",
    "subagent_notification",
    "agent_message_board_notification",
    "recommended_plugins",
    "hook_prompt",
];

/// How such texts begin that have no tag.
const OWN_STARTS: [&str; 4] = [
    "# AGENTS.md instructions",
    "Warning: The maximum number of unified exec processes",
    "Warning: apply_patch was requested via ",
    "Warning: Your account was flagged for ",
];

/// Reads a rollout; it has one branch.
#[inline(never)]
pub(super) fn read(lines: &[Line<'_>], leaf: Option<&str>) -> Result<SessionFile, Error> {
    refuse_leaf(leaf, "Codex")?;
    let mut reader = Reader {
        file: SessionFile::new("codex", RESPONSES.messages),
        model: String::new(),
        answering: false,
        view: View::default(),
    };
    for (line, is_undone) in lines.iter().zip(undone(lines, mark)) {
        reader.line(line, is_undone);
    }
    Ok(reader.file.finish())
}

fn mark(line: &Line<'_>) -> Mark {
    let payload = line.fields.object("payload").unwrap_or_default();
    if line.fields.is("type", "response_item") && is_turn(&payload) {
        Mark::Turn
    } else if payload.is("type", "thread_rolled_back") {
        Mark::Undo(payload.number("num_turns").unwrap_or(0))
    } else {
        Mark::Other
    }
}

/// A user's message with which a turn starts: not one with something that Codex itself writes in the user's name.
fn is_turn(item: &Object<'_>) -> bool {
    let blocks = item.get("content").map(items).unwrap_or_default();
    let mut blocks = blocks.into_iter().filter(|block| is_object(block)).map(Object::of);
    item.is("type", "message")
        && item.is("role", "user")
        && !blocks.any(|block| block.text("text").is_some_and(|text| is_own(text.trim())))
}

/// A text that Codex writes in the user's name. A tag has to be closed at the end: a user may begin with one, too.
fn is_own(text: &str) -> bool {
    let end = text.rfind('<').and_then(|at| text.get(at..)).unwrap_or_default();
    let is_tagged = |tag: &&str| {
        text.strip_prefix('<').is_some_and(|rest| rest.starts_with(tag))
            && end.strip_prefix("</").is_some_and(|rest| rest.starts_with(tag))
    };
    OWN_TAGS.iter().any(is_tagged) || OWN_STARTS.iter().any(|start| text.starts_with(start))
}

struct Reader<'a> {
    file: SessionFile,
    /// The model in use; empty: none was named.
    model: String,
    /// The last item was the model's: the next may be of the same call.
    answering: bool,
    /// Messages that no compaction has removed, by their contents.
    view: View<'a>,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &Line<'a>, is_undone: bool) {
        let fields = &line.fields;
        let kind = fields.text("type");
        let payload = fields.object("payload");
        let receipt = &mut self.file.receipt;
        let (Some(kind), Some(payload), None) = (kind, payload, &line.fault) else {
            let bare = if fields.has("type") {
                "a line without a payload"
            } else {
                "a line without a type"
            };
            receipt.fail(line.number, line.fault.clone().unwrap_or_else(|| bare.into()));
            return;
        };
        let part = payload.text("type").unwrap_or_default();
        let item = (kind == "response_item").then(|| RESPONSES.weigh(&payload)).flatten();
        if kind == "response_item" && item.is_none() {
            receipt.fail(line.number, "an item without a type");
            return;
        }
        let known = match &item {
            Some((kind, whose)) => *whose != Whose::Unknown || kind == ITS_OWN,
            None => KNOWN.contains(&&*kind),
        };
        let name = if part.is_empty() { kind.clone() } else { format!("{kind}/{part}").into() };
        receipt.count(&name, known);
        if is_undone {
            receipt.dead_ends = receipt.dead_ends.saturating_add(item.is_some().into());
            self.answering = false;
            return;
        }
        if let (Some((kind, whose)), Some(raw)) = (item, fields.get("payload"))
            && kind != ITS_OWN
        {
            self.item(line, whose, raw);
        }
        match &*kind {
            "event_msg" => self.event(&payload),
            "session_meta" => self.meta(&payload),
            "turn_context" => {
                let model = payload.text("model").map(Cow::into_owned);
                self.model = model.unwrap_or_else(|| std::mem::take(&mut self.model));
            }
            "compacted" => self.compacted(line, &payload),
            _ => {}
        }
    }

    fn item(&mut self, line: &Line<'_>, whose: Whose, raw: &'a RawValue) {
        let answer = whose == Whose::Models;
        if answer && !self.answering {
            self.file.call(line.fields.get("timestamp").and_then(millis), None);
            if !self.model.is_empty() {
                self.file.called(&self.model);
            }
        }
        self.answering = answer;
        // A message that has none is no message that a compaction lists.
        self.view.push(self.file.len(), Object::of(raw).get("content").unwrap_or(""));
        self.file.messages.push(raw);
    }

    fn meta(&mut self, meta: &Object<'_>) {
        let base = meta.object("base_instructions").and_then(|base| base.text("text"));
        let system = base.or_else(|| meta.text("instructions")).map(Cow::into_owned);
        self.file.system = self.file.system.take().or(system);
    }

    fn event(&mut self, event: &Object<'_>) {
        let info = event.object("info").unwrap_or_default();
        let size = "model_context_window";
        if let Some(context_tokens) = info.number(size).or_else(|| event.number(size)) {
            self.file.window = Some(SessionWindow { context_tokens, max_output_tokens: None });
        }
        let usage = info.object("last_token_usage").and_then(|it| usage::CODEX.read(&it));
        if let (Some(call), Some(usage)) = (self.file.calls.last_mut(), usage) {
            call.usage = Some(usage);
        }
    }

    fn compacted(&mut self, line: &Line<'_>, payload: &Object<'_>) {
        self.answering = false;
        let mut record = CompactionRecord::at(line, self.file.len());
        if let Some(window) = payload.text("window_id") {
            record.id = window.into_owned();
        }
        record.summary = payload.text("message").unwrap_or_default().into_owned();
        record.opaque = record.summary.is_empty();
        let last = self.file.calls.last().and_then(|call| call.usage);
        record.tokens_before = last.map_or(0, |usage| usage.input_tokens);
        // What the session goes on with: messages that stay, others that are written anew, and the summary.
        let listed = payload.items("replacement_history").into_iter().map(Object::of);
        let contents: Vec<_> = listed.filter_map(|item| item.get("content")).collect();
        let new = self.view.keep(&contents, &mut record);
        if new.len() > 1 {
            record.head = new.into_iter().map(plain).collect::<Vec<_>>().join("\n\n");
        }
        self.file.compactions.push(record);
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines::lines;
    use super::super::testing::json;
    use super::*;

    fn item(payload: &str) -> String {
        format!(
            r#"{{"timestamp":"1970-01-01T00:00:02Z","type":"response_item","payload":{payload}}}"#
        )
    }

    fn rollout(items: &[&str]) -> SessionFile {
        let mut text = String::from(
            r#"{"timestamp":"x","type":"session_meta","payload":{"id":"s","base_instructions":{"text":"You are"}}}"#,
        );
        for line in items {
            text.push('\n');
            text.push_str(&if line.starts_with(r#"{"type":"#) {
                item(line)
            } else {
                (*line).into()
            });
        }
        read(&lines(&text), None).expect("read")
    }

    #[test]
    fn turns_that_the_user_took_back_are_left_out() {
        let say = |role: &str, text: &str| {
            format!(
                r#"{{"type":"message","role":"{role}","content":[{{"type":"x","text":"{text}"}}]}}"#
            )
        };
        let back = |turns: &str| {
            format!(
                r#"{{"timestamp":"x","type":"event_msg","payload":{{"type":"thread_rolled_back","num_turns":{turns}}}}}"#
            )
        };
        let compacted =
            r#"{"timestamp":"x","type":"compacted","payload":{"message":"undone too"}}"#;
        let lines = [
            say("user", "<environment_context></environment_context>"),
            say("user", "one"),
            say("assistant", "A"),
            say("user", "two"),
            say("assistant", "B"),
            compacted.into(),
            say("user", "three"),
            say("assistant", "C"),
            back("2"),
            say("user", "four"),
            say("assistant", "D"),
            back("0"),
            say("user", "<turn_aborted></turn_aborted>"),
            say("user", "five"),
            back("1"),
            say("user", "six"),
            say("assistant", "F"),
        ];
        let file = rollout(&lines.each_ref().map(|line| &**line));
        let texts: Vec<String> = json(&file)
            .iter()
            .map(|text| text.rsplit_once("text\":\"").unwrap().1.split('"').next().unwrap().into())
            .collect();
        let left = [
            "<environment_context></environment_context>",
            "one",
            "A",
            "four",
            "D",
            "<turn_aborted></turn_aborted>",
            "six",
            "F",
        ];
        assert_eq!(texts, left);
        let sent: Vec<u32> = file.calls.iter().map(|call| call.sent).collect();
        assert_eq!((sent, file.compactions.len(), file.receipt.dead_ends), (vec![2, 4, 7], 0, 5));
        // All of them, and more than there are.
        assert_eq!(rollout(&[&lines[1], &lines[2], &back("9")]).messages.len(), 0);
    }

    #[test]
    fn a_message_of_the_user_with_a_tag_or_an_image_is_a_turn_and_codexs_own_are_none() {
        let text = |text: &str| format!(r#"{{"type":"input_text","text":"{text}"}}"#);
        let left = |content: &str| {
            let message = format!(r#"{{"type":"message","role":"user","content":[{content}]}}"#);
            let back = r#"{"timestamp":"x","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}"#;
            let first = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"one"}]}"#;
            rollout(&[first, &message, back]).messages.len()
        };
        let image = r#"{"type":"input_image","image_url":"data:x"}"#;
        for of_the_user in [
            text("<Button> does not render"),
            text("<skill> is a tag, is it?"),
            text("<b>bold</b>"),
            image.into(),
            [&text("<image name=[Image #1]>"), image, &text("</image>")].join(","),
        ] {
            assert_eq!(left(&of_the_user), 1, "{of_the_user}");
        }
        for own in [
            text(r"# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>"),
            text(r"<environment_context>\n<cwd>/w</cwd>\n</environment_context>\n"),
            text("<external_notes>x</external_notes>"),
            text(r#"<codex_internal_context source=\"goal\">x</codex_internal_context>"#),
            text("Warning: apply_patch was requested via exec_command."),
            [text("<skill>x</skill>"), text("and this")].join(","),
        ] {
            assert_eq!(left(&own), 0, "{own}");
        }
    }

    #[test]
    fn items_stay_as_they_are_and_neighbours_of_the_model_are_one_call() {
        let items = [
            r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}"#,
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a\ud800"}]}"#,
            r#"{"type":"reasoning","summary":[],"content":null,"encrypted_content":"z z"}"#,
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok\u00e9"}]}"#,
            r#"{"type":"custom_tool_call", "name":"patch","input":"*** \"x\"","call_id":"c2"}"#,
            r#"{"type":"web_search_call","action":{"type":"open_page"}}"#,
            r#"{"type":"custom_tool_call_output","call_id":"c2","output":"fine"}"#,
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}"#,
        ];
        let mut lines = items.to_vec();
        lines.insert(
            3,
            r#"{"timestamp":"x","type":"event_msg","payload":{"type":"agent_message","message":"twice told"}}"#,
        );
        lines.insert(
            7,
            r#"{"timestamp":"x","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":50,"cached_input_tokens":40,"output_tokens":3},"model_context_window":999}}}"#,
        );
        let file = rollout(&lines);
        let json = json(&file);
        assert_eq!(json, items);
        assert_eq!(file.message_format, "openai-responses");
        assert_eq!(file.system.as_deref(), Some("You are"));
        assert_eq!(file.window.map(|window| window.context_tokens), Some(999));
        let sent: Vec<u32> = file.calls.iter().map(|call| call.sent).collect();
        assert_eq!((sent, file.calls[0].at), (vec![2, 7], Some(2000)));
        let found: Vec<_> =
            file.calls.iter().map(|it| it.usage.map(|it| it.input_tokens)).collect();
        assert_eq!(found, [Some(50), None]);
        assert_eq!(file.receipt.absent, ["tools"]);
    }

    #[test]
    fn an_unknown_item_stays_and_what_codex_keeps_for_itself_goes() {
        let file = rollout(&[
            r#"{"type":"new_item","call_id":"c"}"#,
            r#"{"type":"ghost_snapshot","ghost_commit":{}}"#,
        ]);
        assert_eq!((file.messages.len(), file.receipt.read, file.receipt.unknown), (1, 2, 1));
    }

    #[test]
    fn a_compaction_keeps_the_messages_that_it_lists_and_replaces_the_others() {
        let say = |role: &str, text: &str| {
            format!(
                r#"{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"{text}"}}]}}"#
            )
        };
        let compacted = |listed: &[&str]| {
            format!(
                r#"{{"timestamp":"x","type":"compacted","payload":{{"message":"so far","replacement_history":[{}]}}}}"#,
                listed.join(",")
            )
        };
        let [rules, cwd, one, go] = [
            say("developer", "rules"),
            say("user", "<environment_context>1</environment_context>"),
            say("user", "one"),
            say("user", "go on"),
        ];
        // The same message under another id, and what is written anew.
        let listed_one = one.replace("{\"type\":\"message\"", r#"{"id":"m","type":"message""#);
        let (other_cwd, summary) = (cwd.replace('1', "2"), say("user", "so far"));
        let first = compacted(&[&rules, &other_cwd, &listed_one, &go, &summary]);
        let reasoning = r#"{"type":"reasoning","summary":[],"content":null}"#;
        let encrypted = r#"{"type":"compaction","encrypted_content":"e"}"#;
        let second = compacted(&[&go, &one, &summary, encrypted]);
        let state = r#"{"timestamp":"x","type":"world_state","payload":{"full":true}}"#;
        let file = rollout(&[
            &rules, &cwd, &one, &go, reasoning, &go, &first, state, &go, reasoning, &second, &go,
        ]);
        let kept: Vec<_> = file.compactions.iter().map(|it| it.kept.clone()).collect();
        assert_eq!(kept, [[[0, 1], [2, 3]], [[2, 3], [6, 7]]]);
        let found: Vec<_> =
            file.compactions.iter().map(|it| (it.at, it.first_kept_index)).collect();
        assert_eq!(found, [(6, 5), (8, 8)]);
        let heads: Vec<_> = file.compactions.iter().map(|it| it.head.as_str()).collect();
        assert_eq!(heads, ["<environment_context>2</environment_context>\n\nso far", ""]);
        assert_eq!((file.messages.len(), file.receipt.unknown), (9, 0));
    }

    #[test]
    fn damaged_rows_are_receipts_and_compactions_are_placed() {
        let file = rollout(&[
            r#"{"type":"message","role":"user","content":"a"}"#,
            r#"{"type":"message","role":"assistant","content":[]}"#,
            "{\"timestamp\":\"x\",\"type\":\"response_item\",\"payload\":{\0\0\0",
            r#"{"timestamp":"x","payload":{}}"#,
            r#"{"timestamp":"x","type":"compacted","payload":{"message":"so far","replacement_history":[]}}"#,
            r#"{"timestamp":"x","type":"token_usage_record","payload":{"type":"y"}}"#,
            r#"{"type":"ghost","text":"boo"}"#,
            r#"{"type":"message","role":"user","content":"b"}"#,
            r#"{"timestamp":"x","type":"response_item","payload":{}}"#,
        ]);
        assert_eq!(file.messages.len(), 4);
        let reasons: Vec<_> =
            file.receipt.broken.iter().map(|it| (it.line, it.reason.as_str())).collect();
        assert_eq!(
            reasons,
            [(4, "NUL bytes"), (5, "a line without a type"), (10, "an item without a type")]
        );
        assert_eq!(file.receipt.unknown, 1);
        let record = &file.compactions[0];
        assert_eq!((record.first_kept_index, record.summary.as_str()), (2, "so far"));
        assert_eq!(record.id, "compaction-6");
    }
}
