//! Provider rules: one set, used to check a transcript, to repair it, and to decide which blocks may be edited.
//!
//! The rules are those that one request shows: I1-I3 and I22 (every call answered once, next to it), I4 (approvals), I5
//! (ids), I6 (nothing empty), I7-I9 and I21 (first and last message, roles in turn, the results of a turn in one message),
//! I11 and I23 (reasoning of open calls, and of calls), I13 (cache markers), I14 and I18-I20 (what Responses and Gemini
//! want besides), I26 (Unicode), I27 (images), I29 (declared tools), I30 (arguments) and I31 (one system). What a violation
//! is and how it is mended are one piece of code, so they cannot drift; a provider is a row in `provider.rs`.

mod apply;
mod assistant;
mod call;
mod checker;
mod findings;
mod gather_results;
mod ids;
mod inline_results;
mod open_calls;
mod piece;
mod provider;
mod repairer;
mod request_end;
mod request_rules;
mod results;
mod run;
mod signs;
mod user_messages;

use crate::model::{Fix, Outline, Violation};

pub use apply::{join_steps, outline_of};
pub use checker::Checker;
#[cfg(test)]
pub use checker::PUSHED;
pub use findings::Findings;
pub use provider::{Between, Limits, Provider};
pub use repairer::Repairer;
pub use request_rules::{is_marked, markers_of, most_sent, unmark, unmarked};

/// What a result that never came says: it tells of no success.
pub const NO_RESULT: &str = "No result was recorded: the call was aborted.";
/// What an empty result says.
pub const NO_OUTPUT: &str = "(no output)";
/// The user's line after an assistant message that must not be the last.
pub const CONTINUE: &str = "Continue.";
/// The assistant's line between a tool and the user, or between two of the user's messages that cannot be one.
pub const GAP: &str = "(The user goes on.)";
/// Stands before what the system says as the user.
pub const SYSTEM: &str = "(From the system:)";
/// The user's line where a request would begin with the assistant, or has none of the user's. One text for what the host passes and
/// for what is left of it, so that a new process that knows only the end of a history sends the same.
pub const LEAD: &str = "(The conversation goes on.)";

/// What of a request is known beside its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a request, not a state")]
pub struct Options {
    /// Extended thinking is on in this request: then I11 and I20 are checked too.
    pub thinking: bool,
    /// Results stand directly after each assistant message, also where the provider merges neighbours: pi's messages.
    pub apart: bool,
    /// A message holds one result, whatever the provider wants: its host puts those of a turn together.
    pub single: bool,
    /// Results travel in the user's messages, as Anthropic's do: neighbours can be merged.
    pub inline: bool,
    /// The system's messages stand where the host puts them: one in the middle is looked at (I31). Else its converter moves it.
    pub as_placed: bool,
    /// The request declares tools, or declares none; `None`: that is not known.
    pub tools: Option<bool>,
    /// Cache markers in the system prompt and the tools.
    pub marks: u32,
    /// More follows that is not shown: what a request needs because it ends is not looked at.
    pub open: bool,
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
pub fn check<'o>(
    outlines: impl IntoIterator<Item = &'o Outline>,
    provider: Provider,
    options: Options,
) -> Vec<Violation> {
    let mut checker = Checker::new(provider, options);
    for outline in outlines {
        checker.push(outline);
    }
    checker.violations()
}

/// What makes the request valid: nothing for a valid one, and nothing more when it is applied. It never invents success.
pub fn mend(outlines: &[Outline], provider: Provider) -> Vec<Fix> {
    mend_with(outlines, provider, Options::default())
}

/// The same, with what is known of the host and the request.
pub fn mend_with(outlines: &[Outline], provider: Provider, options: Options) -> Vec<Fix> {
    let (repairer, mut fixes) = run(outlines, Repairer::new(provider).with_options(options));
    fixes.extend(request_rules::markers(piece::messages(outlines), provider, options.marks));
    if repairer.is_together() { gather_results::joined(fixes) } else { fixes }
}

fn run(outlines: &[Outline], mut repairer: Repairer) -> (Repairer, Vec<Fix>) {
    let mut fixes = Vec::new();
    for (index, outline) in piece::messages(outlines) {
        fixes.extend(repairer.push(index, outline).fixes);
    }
    fixes.extend(repairer.finish());
    (repairer, fixes)
}

#[cfg(test)]
mod inline_results_tests;
#[cfg(test)]
mod tests;
