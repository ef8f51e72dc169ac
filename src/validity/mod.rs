//! What a provider takes: one set of rules, used to check a transcript, to mend it, and to say what may be touched.
//!
//! The rules are those of the reliability notes that one request shows: I1-I3 (every call answered once, next to it),
//! I4 (approvals), I5 (ids), I6 (nothing empty), I7 and I8 (first and last message), I11 (reasoning in an open tool loop), I26
//! (Unicode) and I30 (arguments); of Responses I14 (reasoning and what it led to) and I15 (kinds of calls), of Gemini I18
//! (places of calls), I19 (as many results as calls, in one content) and I20 (signatures). What a violation is and how it is mended are one piece of code, so they cannot drift.

mod apply;
mod end;
mod ids;
mod mender;
mod piece;
mod provider;
mod run;
mod signs;
mod together;
mod within;

use crate::model::{Fix, Outline, Violation};

pub use apply::{apply, outline_of};
pub use mender::{Mender, Seen};
pub use provider::Provider;

/// What a result that never came says: it tells of no success.
pub const NO_RESULT: &str = "No result was recorded: the call was aborted.";
/// What an empty result says.
pub const NO_OUTPUT: &str = "(no output)";
/// The user's line after an assistant message that must not be the last.
pub const CONTINUE: &str = "Continue.";
/// The user's line before an assistant message that must not be the first.
pub const START: &str = "(The conversation starts here.)";

/// What of a request is known beside its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Extended thinking is on in this request: then I11 and I20 are checked too.
    pub thinking: bool,
    /// Results stand directly behind each assistant message, also where the provider merges neighbours: pi's messages.
    pub apart: bool,
    /// A message holds one result, whatever the provider wants: its host puts those of a turn together.
    pub single: bool,
}

/// Every rule that the request breaks, by message; empty means that the provider would take it.
///
/// ```
/// use plimsoll::format::Format;
/// use plimsoll::validity::{Options, Provider, check};
///
/// let call = br#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{}}]}"#;
/// let outlines = [Format::Anthropic.read(call, 0)?.outline()];
/// let rules: Vec<_> = check(&outlines, Provider::Anthropic, Options::default())
///     .into_iter()
///     .map(|violation| violation.rule)
///     .collect();
/// assert_eq!(rules, ["I7", "I1"]);
/// # Ok::<(), plimsoll::error::Error>(())
/// ```
pub fn check(outlines: &[Outline], provider: Provider, options: Options) -> Vec<Violation> {
    let told = Options { thinking: false, ..options };
    let (mender, fixes) = run(outlines, Mender::new(provider).told(told));
    let mut violations: Vec<Violation> = Vec::new();
    let mut found: Vec<Violation> = fixes.into_iter().map(|fix| fix.violation).collect();
    if options.thinking {
        found.extend(mender.thinking().into_iter().chain(mender.missing_signatures()));
    }
    for violation in found {
        // A result that moves is one violation with two fixes.
        if violations.last() != Some(&violation) {
            violations.push(violation);
        }
    }
    crate::order::sort_by(&mut violations, |violation| (i64::from(violation.index), 0));
    violations
}

/// What makes the request valid: nothing for a valid one, and nothing more when it is applied. It never invents success.
pub fn mend(outlines: &[Outline], provider: Provider) -> Vec<Fix> {
    mend_told(outlines, provider, Options::default())
}

/// The same, with what is known of the host and the request.
pub fn mend_told(outlines: &[Outline], provider: Provider, options: Options) -> Vec<Fix> {
    let (mender, fixes) = run(outlines, Mender::new(provider).told(options));
    if mender.is_together() { together::joined(fixes) } else { fixes }
}

fn run(outlines: &[Outline], mut mender: Mender) -> (Mender, Vec<Fix>) {
    let mut fixes = Vec::new();
    for (index, outline) in (0u32..).zip(outlines) {
        fixes.extend(mender.push(index, outline).fixes);
    }
    fixes.extend(mender.finish());
    (mender, fixes)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod within_tests;
