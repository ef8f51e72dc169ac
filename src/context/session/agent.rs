//! The agent's own tools: status of its context, a compaction, and the original of a stub.

use crate::context::report::status::status;
use crate::context::request::recall::RECALL;
use crate::context::session::Session;
use crate::context::session::read_message::read_message;
use crate::error::{Error, Result, listed};
use crate::json::{self, Value, json};
use crate::model::{BlockId, Draft, Form, Kind, MessageId, Part};

/// A tool of the agent's: its name, what it says, and its one parameter with what that says.
type Tool = (&'static str, &'static str, Option<(&'static str, &'static str)>);

const TOOLS: [Tool; 3] = [
    ("context_status", "How full your context window is, and what was removed from it.", None),
    (
        "context_compact",
        "Remove older material from your context before the next step, when you no longer need it.",
        None,
    ),
    (
        RECALL,
        "The original text of something that was cut from your context.",
        Some(("ref", "The reference in the line that stands for it, such as r12.")),
    ),
];

/// Said instead of an original that the host has no more.
const LOST: &str = "The original is not there any more.";

/// Said if the arguments have no reference.
const NO_REFERENCE: &str = "The argument \"ref\" is missing: a reference such as \"r12\".";

/// What comes of a call to one of the tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentReply {
    /// Text for the tool's result.
    Text(String),
    /// The original is wanted: of this block of this message. If the host has it no more, the text says so.
    Recall(MessageId, BlockId),
}

impl json::Write for AgentReply {
    fn write(&self, out: &mut String) {
        match self {
            Self::Text(text) => json::object(&[("text", text)], out),
            Self::Recall(message, block) => {
                json::object(&[("message", message), ("block", block), ("text", &LOST)], out);
            }
        }
    }
}

/// Definitions in plain JSON Schema.
pub fn agent_tools() -> Value {
    let tool = |(name, description, parameter): Tool| {
        let (properties, required) = match parameter {
            None => (Value::object(&[]), Value::array(&[])),
            Some((name, description)) => {
                let described = json!({ "type": "string", "description": description });
                (Value::object(&[(name, described)]), Value::array(&[name.into()]))
            }
        };
        let parameters =
            json!({ "type": "object", "properties": properties, "required": required });
        json!({ "name": name, "description": description, "parameters": parameters })
    };
    Value::array(&TOOLS.map(tool))
}

/// A call of the agent's to one of the tools, with its arguments as JSON, or as a string of that: so `OpenAI` gives them.
///
/// # Errors
/// `InvalidArgument` for another name. What the model got wrong in the arguments is told in the text.
pub fn call_agent_tool(session: &mut Session, name: &str, arguments: &str) -> Result<AgentReply> {
    match name {
        "context_status" => Ok(AgentReply::Text(status_text(session))),
        "context_compact" => {
            session.decisions.pruner.fold_wanted = true;
            session.decide_again();
            Ok(AgentReply::Text("The context will be compacted before the next step.".into()))
        }
        RECALL => {
            let inner = json::string(arguments).unwrap_or_else(|_| arguments.into());
            let members = json::members(&inner).unwrap_or_default();
            let reference_text = members.iter().find(|(name, _)| name == "ref");
            let reference_text =
                reference_text.and_then(|(_, it)| json::string(it).ok()).unwrap_or_default();
            Ok(match referenced_message(session, &reference_text) {
                Some((message, block)) => AgentReply::Recall(message, block),
                None if reference_text.is_empty() => AgentReply::Text(NO_REFERENCE.into()),
                None => AgentReply::Text(format!("There is nothing under \"{reference_text}\".")),
            })
        }
        _ => {
            let names = listed(&TOOLS.map(|(name, ..)| name), "");
            Err(Error::argument("name", &format!("one of {names}"), format_args!("\"{name}\"")))
        }
    }
}

fn status_text(session: &Session) -> String {
    let status = status(session);
    let saved = status.tokens_saved;
    let (used, usable, pct) = (status.used, status.usable, status.pct);
    let pressure = status.pressure;
    format!(
        "{used} of {usable} usable tokens ({pct} %), pressure {pressure}. {} compactions; {saved} tokens of the history are not sent.",
        status.compactions
    )
}

/// The request has other tools now: stubs promise their originals if the agent can ask for them.
#[inline(never)]
pub(in crate::context) fn renew_promises(session: &mut Session) {
    for at in session.transcript.ledger.live().to_vec() {
        let block = session.transcript.ledger.block(at);
        let Some(block) = block.filter(|block| block.form == Form::Stubbed) else { continue };
        if let Some(now) = session.decisions.placeholders.promise_again(block, at) {
            session.transcript.ledger.set_form(at, Form::Stubbed, now);
        }
    }
}

/// Message and block of a reference such as `r12`.
pub fn referenced_message(session: &Session, reference: &str) -> Option<(MessageId, BlockId)> {
    let block = reference.trim().strip_prefix('r')?.parse().ok()?;
    Some((session.transcript.ledger.block(block)?.message, block))
}

/// The original text of a block, from the JSON of its message; none if the host has changed it since.
///
/// # Errors
/// `MalformedMessage`.
pub fn recalled_text(
    session: &Session,
    message: MessageId,
    block: BlockId,
    bytes: &[u8],
) -> Result<Option<String>> {
    let draft = read_message(session, message, bytes)?;
    let same = Some(crate::format::fingerprint(&draft));
    if same != session.transcript.ledger.message(message).map(|it| it.fingerprint) {
        return Ok(None);
    }
    let piece = block.since(session.transcript.ledger.blocks_of(message).start);
    Ok(draft.parts.get(piece as usize).map(|part| part.text.clone().into_owned()))
}

/// What stands between the parts of a message.
const BETWEEN: &str = "\n\n";

/// Messages of the history.
pub fn message_count(session: &Session) -> u32 {
    session.transcript.ledger.message_count()
}

/// What a message (JSON) says: the texts of its parts, a call as its tool and arguments.
///
/// # Errors
/// `MalformedMessage`.
pub fn message_text(session: &Session, index: MessageId, bytes: &[u8]) -> Result<String> {
    Ok(words_of(&session.transcript.dialect.format.read(bytes, index.get())?, |_| true))
}

/// The texts of some parts of a message, a call as its tool and arguments.
pub(in crate::context) fn words_of(draft: &Draft<'_>, is_wanted: fn(&Part<'_>) -> bool) -> String {
    let mut words = String::new();
    for part in draft.parts.iter().filter(|part| !part.piece.mirror && is_wanted(part)) {
        if !words.is_empty() {
            words.push_str(BETWEEN);
        }
        if part.piece.kind == Kind::Call {
            words.push_str(&part.piece.name);
            words.push(' ');
        }
        words.push_str(&part.text);
    }
    words
}
