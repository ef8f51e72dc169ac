//! Messages that a session has forgotten, as its snapshot keeps them.

use crate::context::session::snapshot::bytes::{Reader, Writer};
use crate::model::{MessageId, Role};

/// No session has more; longer runs are a forgery that would fill the memory and take seconds.
pub(super) const MOST_BLOCKS: usize = 1_000_000;

/// What of a message is remembered for when it is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::context) struct Trace {
    pub(super) role: Role,
    /// A turn of the user's starts with it.
    pub(super) is_request: bool,
    /// A call of the model's starts with it.
    pub(super) speaks: bool,
    pub(super) blocks: u32,
}

/// What came before the messages that are known one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::context) struct Past {
    pub(super) blocks: u32,
    pub(super) turns: u32,
    pub(super) calls: u32,
    /// Number and mark of the first message that is not the system's.
    pub(super) opening: (MessageId, u32),
}

const ROLES: [Role; 4] = [Role::System, Role::User, Role::Assistant, Role::Tool];

impl Trace {
    pub(super) fn code(self) -> u64 {
        let role = ROLES.iter().position(|&role| role == self.role).unwrap_or_default() as u64;
        let flags = u64::from(self.is_request) << 2 | u64::from(self.speaks) << 3;
        role | flags | u64::from(self.blocks) << 4
    }

    pub(super) fn of_code(code: u64) -> Self {
        Self {
            role: ROLES.into_iter().nth((code & 3) as usize).unwrap_or(Role::User),
            is_request: code & 4 != 0,
            speaks: code & 8 != 0,
            blocks: u32::try_from(code >> 4).unwrap_or(0),
        }
    }
}

impl Past {
    pub(super) fn write(self, traces: &[Trace], out: &mut Writer) {
        for trace in traces {
            out.number(trace.code());
        }
        let Self { blocks, turns, calls, opening } = self;
        for number in [blocks, turns, calls, opening.0.get()] {
            out.number(number.into());
        }
        out.mark(opening.1);
    }

    pub(super) fn read(
        reader: &mut Reader<'_>,
        upto: MessageId,
        singly: usize,
    ) -> (Self, Vec<Trace>) {
        let mut traces = Vec::new();
        for _ in 0..singly {
            traces.push(Trace::of_code(reader.number()));
        }
        let past = Self {
            blocks: reader.small(),
            turns: reader.small(),
            calls: reader.small(),
            opening: (reader.small().into(), reader.mark()),
        };
        let blocks = traces.iter().fold(past.blocks, |sum, it| sum.saturating_add(it.blocks));
        if upto.get().max(blocks) as usize > MOST_BLOCKS {
            reader.refuse("it has more messages than a session holds");
        }
        (past, traces)
    }
}
