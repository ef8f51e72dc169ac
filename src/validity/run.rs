//! The newest turn of the model, and the calls that wait for a result.

use std::rc::Rc;

use super::open_calls::OpenCalls;
use super::piece::fix;
use crate::hash_index::ByName;
use crate::model::{Fix, FixKind, Kind, MessageId, Place, Role, Span};

/// A request for approval in the newest run.
#[derive(Clone, Debug)]
pub(super) struct Approval {
    /// Its own id.
    pub(super) id: Box<str>,
    /// The call that it asks for, if it is open: message and piece.
    pub(super) call: Option<(MessageId, u32)>,
}

/// Assistant messages that the provider reads as one, and the results behind them.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a turn, not a state")]
pub(super) struct Run {
    pub(super) start: MessageId,
    /// The first of the assistant's messages that stand before it with nothing between: none of them changes while it is held.
    pub(super) beside: MessageId,
    pub(super) end: MessageId,
    /// Its last message or result.
    pub(super) until: MessageId,
    /// No other message has followed yet: it may still grow.
    pub(super) growing: bool,
    /// Nothing but results has followed: results may still come.
    pub(super) answering: bool,
    /// Calls without a result.
    pub(super) open: OpenCalls,
    /// Ids of all its calls.
    pub(super) keys: Keys,
    /// What the user is asked.
    pub(super) approvals: Vec<Approval>,
    /// Reasoning at its end, which must not be the end.
    pub(super) trailing: Vec<Reasoning>,
    /// Results that stand in place, in the message directly behind it, where the provider wants them together.
    pub(super) placed: Vec<Placed>,
    /// One of them has the name of another tool.
    pub(super) misnamed: bool,
    /// References in it to items that we are not shown: so many results may be of calls that they stand for.
    pub(super) references: u32,
    /// It has something else than reasoning and calls that the provider runs, which may turn out to have no result.
    pub(super) has_solid: bool,
    /// Its first piece.
    pub(super) head: (Kind, Place),
    /// Who spoke before it, and what was held then: it may turn out to be nothing.
    pub(super) before: (Option<Role>, Option<Span<MessageId>>),
}

/// Reasoning with nothing behind it yet.
#[derive(Clone, Debug)]
pub(super) struct Reasoning {
    pub(super) message: MessageId,
    pub(super) piece: u32,
    pub(super) place: Place,
    /// It is there by its id alone: what follows it is known by its id too.
    pub(super) by_id: bool,
}

impl Reasoning {
    pub(super) fn dropped(&self, rule: &'static str, message: &str) -> Fix {
        let kind = FixKind::Drop { piece: self.piece };
        fix(self.message, Some(self.place), kind, rule, message.into())
    }
}

/// A result that stands where it should.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) message: MessageId,
    pub(super) piece: u32,
    pub(super) place: Place,
    /// With which id and name it would move.
    pub(super) wire: Rc<str>,
    pub(super) name: Box<str>,
}

/// Ids of calls, as the host wrote them, and as the newest with each goes out.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    index: ByName<'static>,
    wires: Vec<Rc<str>>,
}

impl Keys {
    pub(super) fn insert(&mut self, key: &str, wire: Rc<str>) {
        self.index.insert(0, key.to_owned(), self.wires.len());
        self.wires.push(wire);
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.index.has(0, key)
    }

    /// How the newest call with the id goes out.
    pub(super) fn wire(&self, key: &str) -> Option<&str> {
        self.index.get(0, key).and_then(|at| self.wires.get(at)).map(|wire| &**wire)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.wires.is_empty()
    }

    /// Each once.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.index.names()
    }
}

impl Run {
    /// It waits for what the provider's own tool finds: the model goes on with it as it is.
    pub(super) fn is_paused(&self) -> bool {
        self.open.has_provider_run()
    }

    /// A call of the host's has no result yet.
    pub(super) fn waits(&self) -> bool {
        self.open.has_host_run()
    }

    /// Drops the reasoning at its end.
    pub(super) fn cut_trailing(&self, rule: &'static str) -> impl Iterator<Item = Fix> {
        let message = "reasoning stands at the end of the assistant's turn, with nothing behind it";
        self.trailing.iter().map(move |it| it.dropped(rule, message))
    }
}

/// First calls of the current turn's steps that are not signed.
#[derive(Clone, Debug, Default)]
pub(super) struct Unsigned(pub(super) Vec<(MessageId, u32, Place)>);
