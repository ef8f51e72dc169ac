//! A focus as it crosses: JSON in and out.

use std::borrow::Cow;

use super::{Focus, Signal};
use crate::argument::{self, each, text};
use crate::error::Result;
use crate::json::{RawValue, Shape, Type, Write, object, optional};

const FOCUS: Shape = Shape {
    what: "a focus: { querySummary, activeFilePaths, inferredFilePaths, activeSymbols, planSignals }",
    members: &[
        optional("querySummary", Type::Text),
        optional("activeFilePaths", Type::Items),
        optional("inferredFilePaths", Type::Items),
        optional("activeSymbols", Type::Items),
        optional("planSignals", Type::Items),
    ],
    closed: false,
};

impl Focus {
    /// A focus that the host hands over.
    ///
    /// # Errors
    /// `InvalidArgument` with the place in it.
    pub fn parse(raw: &RawValue) -> Result<Self> {
        let mut members = argument::read(&FOCUS, raw, format_args!("focus"))?;
        let names = each(members.items("planSignals"), format_args!("focus.planSignals"), text)?;
        let all = [Signal::Continue, Signal::Plan, Signal::Change, Signal::Verify];
        Ok(Self {
            summary: members.text("querySummary").map(Cow::into_owned).unwrap_or_default(),
            files: each(
                members.items("activeFilePaths"),
                format_args!("focus.activeFilePaths"),
                text,
            )?,
            inferred: each(
                members.items("inferredFilePaths"),
                format_args!("focus.inferredFilePaths"),
                text,
            )?,
            symbols: each(
                members.items("activeSymbols"),
                format_args!("focus.activeSymbols"),
                text,
            )?,
            signals: all
                .into_iter()
                .filter(|signal| names.iter().any(|name| name == signal.name()))
                .collect(),
        })
    }
}

impl Write for Focus {
    fn write(&self, out: &mut String) {
        let signals: Vec<&str> = self.signals.iter().map(|signal| signal.name()).collect();
        object(
            &[
                ("query_summary", &self.summary),
                ("active_file_paths", &self.files),
                ("inferred_file_paths", &self.inferred),
                ("active_symbols", &self.symbols),
                ("plan_signals", &signals),
            ],
            out,
        );
    }
}
