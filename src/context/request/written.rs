//! Written items: the messages of a request as the facade carries them out.

use crate::context::request::builder::Builder;
use crate::json::{self, Value, Write};
use crate::model::{Copied, Item, Joint, Made, MessageId, Op, Voice};

/// Where the content of a message of ours stands, by format.
const CONTENTS: [&str; 5] = ["/content", "/parts", "/kwargs/content", "/data/content", "/output"];

/// An item as the facade carries it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// So many messages of the last request that stand unchanged at the same places.
    Same(u32),
    /// The host's message as it is.
    Keep {
        /// The message.
        index: MessageId,
    },
    /// The host's message, changed.
    Edit {
        /// The message.
        index: MessageId,
        /// What is done with it.
        ops: Vec<Op>,
    },
    /// A message of ours.
    Make {
        /// The message, with `null` where something of the host's goes.
        make: Value,
        /// What of the host's goes into it.
        copies: Vec<Copied>,
        /// What is then changed on it.
        ops: Vec<Op>,
        /// JSON Pointer of its content.
        content: &'static str,
        /// Who says it.
        role: &'static str,
        /// The call that it answers.
        tool_call_id: Option<String>,
        /// The tool of that call.
        tool_name: Option<String>,
        /// The first of the host's messages that it stands for.
        about: Option<u32>,
        /// When that was written.
        at: Option<i64>,
    },
}

impl Write for Written {
    fn write(&self, out: &mut String) {
        let changed = match self {
            Self::Make { ops, .. } if !ops.is_empty() => Some(ops),
            Self::Same(_) | Self::Keep { .. } | Self::Edit { .. } | Self::Make { .. } => None,
        };
        let members: &[(&str, &dyn Write)] = match self {
            Self::Same(messages) => return messages.write(out),
            Self::Keep { index } => &[("index", index)],
            Self::Edit { index, ops } => &[("index", index), ("ops", ops)],
            Self::Make {
                make, copies, content, role, tool_call_id, tool_name, about, at, ..
            } => &[
                ("make", make),
                ("copies", copies),
                ("ops?", &changed),
                ("content", content),
                ("role", role),
                ("toolCallId?", tool_call_id),
                ("toolName?", tool_name),
                ("about?", about),
                ("at?", at),
            ],
        };
        json::object(members, out);
    }
}

impl Builder<'_> {
    /// An item as the facade carries it out.
    pub(in crate::context) fn write(&self, item: &Item, about: MessageId) -> Written {
        match item {
            Item::Keep(index) => Written::Keep { index: *index },
            Item::Edit(index, ops) => Written::Edit { index: *index, ops: ops.clone() },
            Item::Make(made) => self.dated(self.write_made(made), about),
            Item::Join(voice, parts) => self.dated(self.write_joined(*voice, parts), about),
            Item::Filler(text) => self.dated(self.write_filler(text), about),
        }
    }

    /// Gives a message of ours the time of the host's message that it replaces.
    #[inline(never)]
    fn dated(&self, mut written: Written, about: MessageId) -> Written {
        if let Written::Make { make, about: of, at, .. } = &mut written
            && let Some(message) = self.transcript.ledger.message(about)
        {
            *of = Some(about.get());
            *at = message.at_ms;
            self.transcript.dialect.format.date(make, *at);
        }
        written
    }

    #[inline(never)]
    fn write_made(&self, made: &Made) -> Written {
        let (message, copies) =
            self.transcript.dialect.format.make(made, |at| self.transcript.outline(at));
        let (role, call) = match made {
            Made::User(_) => ("user", None),
            Made::Results(_) => ("tool", None),
            Made::Result { id, name, .. } | Made::Moved { id, name, .. } => {
                ("tool", Some((id.clone(), name.clone())))
            }
        };
        let ops = self.mends_copies(&copies);
        let mut written = Written::ours(message, copies, ops, role);
        if let Written::Make { tool_call_id, tool_name, .. } = &mut written {
            (*tool_call_id, *tool_name) = call.unzip();
        }
        written
    }

    #[inline(never)]
    fn write_joined(&self, voice: Voice, parts: &[Joint]) -> Written {
        let joined = self.joined(voice, parts);
        let message = joined.message();
        let role = if voice == Voice::Assistant { "assistant" } else { "user" };
        Written::ours(message, joined.copied, joined.ops, role)
    }

    #[inline(never)]
    fn write_filler(&self, text: &str) -> Written {
        let spoken = self.transcript.dialect.format.say(text, |at| self.transcript.outline(at));
        Written::ours(spoken, Vec::new(), Vec::new(), "assistant")
    }
}

impl Written {
    fn ours(make: Value, copies: Vec<Copied>, ops: Vec<Op>, role: &'static str) -> Self {
        let content = CONTENTS.iter().find(|path| make.has(path));
        let content = content.copied().unwrap_or_default();
        let (tool_call_id, tool_name, about, at) = (None, None, None, None);
        Self::Make { make, copies, ops, content, role, tool_call_id, tool_name, about, at }
    }
}
