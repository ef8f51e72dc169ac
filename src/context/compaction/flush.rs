//! State of the memory flushes: what the current cycle has asked for.

use crate::context::session::snapshot::bytes::{Reader, Writer};
use crate::json;

/// What this cycle has asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::context) struct Flush {
    pub(in crate::context) asked: Option<Flushed>,
    /// Folds before the cycle.
    pub(in crate::context) folds: u32,
}

json::json_struct! {
    /// The last prompt of a cycle.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Flushed {
        /// Its line, in percent.
        pub threshold: u32,
        /// Notes were written since.
        pub acted: bool,
    }
}

impl Flush {
    /// The next message may be the model's that writes them.
    pub(in crate::context) fn awaits_notes(&self) -> bool {
        self.asked.is_some_and(|asked| !asked.acted)
    }

    pub(in crate::context) fn write(self, out: &mut Writer) {
        out.number(self.asked.map_or(0, |it| it.threshold).into());
        out.number(self.asked.is_some_and(|it| it.acted).into());
        out.number(self.folds.into());
    }

    pub(in crate::context) fn of(reader: &mut Reader<'_>) -> Self {
        let (threshold, acted, folds) = (reader.small(), reader.flag(), reader.small());
        Self { asked: (threshold > 0).then_some(Flushed { threshold, acted }), folds }
    }
}
