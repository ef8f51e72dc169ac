//! A request checked as it grows: each message is looked at once.

use super::findings::Findings;
use super::provider::Provider;
use super::repairer::Repairer;
use super::request_rules::{RequestRules, is_marked};
use super::{Options, request_rules};
use crate::model::{Fix, MessageId, Outline, Violation};

/// Checks a request message by message; what depends on how the request ends is decided anew each time it is asked for.
#[derive(Clone, Debug)]
pub struct Checker {
    repairer: Repairer,
    request_rules: RequestRules,
    thinking: bool,
    /// Cache markers beside the messages, and the messages that have some.
    marks: u32,
    marked: Vec<(MessageId, Outline)>,
    found: Vec<Violation>,
    /// Of the newest message.
    seen: Findings,
    next: MessageId,
}

impl Checker {
    /// Before the first message.
    pub fn new(provider: Provider, options: Options) -> Self {
        Self {
            // `ending` reports missing signatures; a repairer that signs would report each of them again.
            repairer: Repairer::new(provider).with_options(Options { thinking: false, ..options }),
            request_rules: RequestRules::new(provider, options),
            thinking: options.thinking,
            marks: options.marks,
            marked: Vec::new(),
            found: Vec::new(),
            seen: Findings::default(),
            next: MessageId::FIRST,
        }
    }

    /// The next message of the request.
    pub fn push(&mut self, outline: &Outline) {
        #[cfg(test)]
        PUSHED.set(PUSHED.get().saturating_add(1));
        self.repairer.find(self.next, outline, &mut self.seen);
        for fix in self.seen.fixes.drain(..) {
            add(&mut self.found, None, fix.violation);
        }
        self.request_rules.push(self.next, outline);
        if is_marked(outline) && self.repairer.provider.most_markers() > 0 {
            self.marked.push((self.next, outline.clone()));
        }
        self.next = self.next.next();
    }

    /// How many rules a request of these messages breaks; those on cache markers, which are not content, aside.
    pub fn count(&self) -> usize {
        let found = self.found.len().saturating_add(self.ending(Vec::new()).len());
        found.saturating_add(self.request_rules.count())
    }

    /// All of them and the rules on cache markers, by message.
    pub fn violations(&self) -> Vec<Violation> {
        let marked = self.marked.iter().map(|(at, outline)| (*at, outline));
        let markers = request_rules::markers(marked, self.repairer.provider, self.marks);
        let mut violations = self.found.clone();
        violations.extend(self.ending(markers));
        violations.extend(self.request_rules.violations());
        crate::sort::sort_by(&mut violations, |violation| (i64::from(violation.index), 0));
        violations
    }

    /// What is wrong because the request ends here, or as a whole.
    fn ending(&self, markers: Vec<Fix>) -> Vec<Violation> {
        let mut ending = Vec::new();
        let fixes = self.repairer.finish().into_iter().chain(markers).map(|fix| fix.violation);
        let thinking =
            self.repairer.thinking().into_iter().chain(self.repairer.missing_signatures());
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

#[cfg(test)]
thread_local! {
    /// Messages that were checked.
    pub static PUSHED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}
