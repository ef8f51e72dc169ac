//! Several messages in one: what a provider wants whose roles alternate.

use crate::json::{self, Object, Value};

use super::{Change, Format, What};
use crate::model::{Copied, Kind, Made, MessageId, Op, Outline, Piece, Place, Voice};
use crate::number::count;

/// A message that is put together: what of the host's goes into it stands as `null`, and is changed there afterwards.
#[derive(Clone, Debug)]
pub struct Joined {
    format: Format,
    voice: Voice,
    content: Vec<Value>,
    /// What of the host's goes into it.
    pub copied: Vec<Copied>,
    /// What is then changed on it.
    pub ops: Vec<Op>,
}

impl Joined {
    /// A message with nothing in it yet.
    pub fn new(format: Format, voice: Voice) -> Self {
        Self { format, voice, content: Vec::new(), copied: Vec::new(), ops: Vec::new() }
    }

    /// The message.
    pub fn message(&self) -> Value {
        let content = Value::array(&self.content);
        match self.voice {
            Voice::User => {
                let mut message = self.format.make(&Made::User(Vec::new()), |_| None).0;
                message.set("content", content);
                message
            }
            Voice::Assistant => self.format.assistant_line(content.json()),
        }
    }

    /// Whether a piece can stand in another message: blocks and plain text can; what a host keeps beside its content cannot.
    pub fn takes(format: Format, piece: &Piece) -> bool {
        match format {
            Format::Anthropic | Format::OpenAiChat | Format::Pi => {}
            Format::OpenAiResponses
            | Format::OpenAiAgents
            | Format::Gemini
            | Format::AiSdk
            | Format::LangChain => return false,
        }
        let is_text = piece.kind == Kind::Text && piece.place == Place::Content;
        is_text || matches!(piece.place, Place::Item(_))
    }

    /// Takes a piece of the host's, changed as it would be in its own message.
    pub fn host(&mut self, message: MessageId, piece: &Piece, changes: &[Change]) {
        let at = count(self.content.len());
        let path = format!("/content/{at}");
        let from = piece.place.pointer();
        let is_block = matches!(piece.place, Place::Item(_));
        let (path, null) = if is_block {
            (path, Value::NULL)
        } else {
            (format!("{path}/text"), super::edit::block_of(Value::NULL))
        };
        let copy = Copied { path, index: message, from };
        self.content.push(null);
        let mut moved = piece.clone();
        moved.place = Place::Item(at);
        // Whole strings first: what sets one of them anew comes after.
        let is_strings = |change: &&Change| matches!(change.what, What::Strings(_));
        let others = changes.iter().filter(|change| !is_strings(change));
        for change in changes.iter().filter(is_strings).chain(others) {
            match &change.what {
                What::Strings(_) => {
                    let strings = std::slice::from_ref(&change.what);
                    self.ops.extend(super::edit::copied_ops(piece, &copy, strings));
                }
                What::Unmark(marks) => super::edit::unmark(&moved, *marks, &mut self.ops),
                What::Hollow => super::edit::hollow(&moved, &mut self.ops),
                What::Drop | What::Text(_) | What::Arguments(_) | What::Id(_) | What::Sign => {
                    self.ops.extend(self.format.set(&moved, &change.what));
                }
            }
        }
        self.copied.push(copy);
    }

    /// Takes all that a message of ours says.
    pub fn made<'o>(&mut self, made: &Made, outlines: impl Fn(MessageId) -> Option<&'o Outline>) {
        let (message, copied) = self.format.make(made, outlines);
        let before = self.content.len();
        for (name, content) in Object::read(message.json()).unwrap_or_default() {
            if name == "content" {
                for block in json::items(content).unwrap_or_default() {
                    self.content.push(Value::raw(block.into()));
                }
            }
        }
        for copy in copied {
            let rest = copy.path.strip_prefix("/content/").unwrap_or_default();
            let (at, under) =
                rest.split_once('/').map_or((rest, None), |(at, under)| (at, Some(under)));
            let at = at.parse::<usize>().unwrap_or_default().saturating_add(before);
            let under = under.map_or(String::new(), |under| format!("/{under}"));
            self.copied.push(Copied { path: format!("/content/{at}{under}"), ..copy });
        }
    }
}

impl Format {
    /// A message of the assistant's with this content, as JSON.
    fn assistant_line(self, content: &str) -> Value {
        let (before, after) = match self {
            Self::Pi => {
                (r#"{"role":"assistant","content":"#, r#","stopReason":"stop","timestamp":0}"#)
            }
            Self::Gemini => (r#"{"role":"model","parts":"#, "}"),
            Self::OpenAiResponses => (r#"{"type":"message","role":"assistant","content":"#, "}"),
            Self::OpenAiAgents => {
                (r#"{"type":"message","role":"assistant","status":"completed","content":"#, "}")
            }
            Self::Anthropic | Self::OpenAiChat | Self::AiSdk | Self::LangChain => {
                (r#"{"role":"assistant","content":"#, "}")
            }
        };
        Value::raw(format!("{before}{content}{after}"))
    }

    /// A line of ours in the assistant's name; nothing in it needs an escape.
    pub fn say<'o>(self, line: &str, outlines: impl Fn(MessageId) -> Option<&'o Outline>) -> Value {
        let host = |message: MessageId, piece: u32| {
            outlines(message)?.pieces.get(usize::try_from(piece).ok()?)
        };
        let (before, after) = match self {
            Self::AiSdk => return super::ai_sdk::parts::say(line, &host),
            Self::LangChain => return super::langchain::say(line, &host),
            Self::OpenAiChat => ("\"", "\""),
            Self::Gemini => (r#"[{"text":""#, "\"}]"),
            Self::OpenAiResponses | Self::OpenAiAgents => {
                (r#"[{"type":"output_text","text":""#, "\"}]")
            }
            Self::Anthropic | Self::Pi => (r#"[{"type":"text","text":""#, "\"}]"),
        };
        self.assistant_line(&format!("{before}{line}{after}"))
    }
}
