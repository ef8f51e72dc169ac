//! A request checked as it grows: each message is looked at once.

use super::mender::Mender;
use super::provider::Provider;
use super::whole::Whole;
use super::{Options, whole};
use crate::model::{Fix, Outline, Violation};

/// Checks a request message by message; what depends on how the request ends is decided anew each time it is asked for.
#[derive(Clone, Debug)]
pub struct Checker {
    mender: Mender,
    whole: Whole,
    thinking: bool,
    found: Vec<Violation>,
    messages: u32,
}

impl Checker {
    /// Before the first message.
    pub fn new(provider: Provider, options: Options) -> Self {
        Self {
            mender: Mender::new(provider).told(Options { thinking: false, ..options }),
            whole: Whole::new(provider, options),
            thinking: options.thinking,
            found: Vec::new(),
            messages: 0,
        }
    }

    /// The next message of the request.
    pub fn push(&mut self, outline: &Outline) {
        for fix in self.mender.push(self.messages, outline).fixes {
            add(&mut self.found, None, fix.violation);
        }
        self.whole.push(self.messages, outline);
        self.messages = self.messages.saturating_add(1);
    }

    /// How many rules a request of these messages breaks; those on cache markers, which are not content, aside.
    pub fn count(&self) -> usize {
        let found = self.found.len().saturating_add(self.ending(Vec::new()).len());
        found.saturating_add(self.whole.count())
    }

    /// All of them, by message.
    pub(super) fn violations(self, outlines: &[Outline], markers: u32) -> Vec<Violation> {
        let ending = self.ending(whole::markers(outlines, self.mender.provider, markers));
        let mut violations = self.found;
        violations.extend(ending);
        violations.extend(self.whole.violations());
        crate::order::sort_by(&mut violations, |violation| (i64::from(violation.index), 0));
        violations
    }

    /// What is wrong because the request ends here, or as a whole.
    fn ending(&self, markers: Vec<Fix>) -> Vec<Violation> {
        let mut ending = Vec::new();
        let fixes = self.mender.finish().into_iter().chain(markers).map(|fix| fix.violation);
        let thinking = self.mender.thinking().into_iter().chain(self.mender.missing_signatures());
        for violation in fixes.chain(thinking.filter(|_| self.thinking)) {
            add(&mut ending, self.found.last(), violation);
        }
        ending
    }
}

/// A result that moves is one violation with two fixes.
fn add(list: &mut Vec<Violation>, before: Option<&Violation>, violation: Violation) {
    if list.last().or(before) != Some(&violation) {
        list.push(violation);
    }
}
