//! Repairs at the end of a request.

use super::piece::{fix, shown};
use super::repairer::Repairer;
use super::{CONTINUE, LEAD, NO_RESULT};
use crate::model::{Fix, FixKind, Kind, Made, MadePart, Place, Role, Violation};
use crate::sort::sort_by;
use crate::validity::call::Call;

impl Repairer {
    /// What makes a request valid that ends with the last message pushed: results for calls that have none, a user's
    /// line where the first or the last message must be the user's. Of a prefix, whose end is not shown, only what its
    /// start needs. Nothing is remembered of it.
    ///
    /// Costs what is open, not what was pushed.
    pub fn finish(&self) -> Vec<Fix> {
        let mut fixes = Vec::new();
        let growing = self.run.as_ref().filter(|run| run.growing && !self.open);
        let names = self.provider.rules().names;
        // One that waits for the host too goes on after the host's results: there its reasoning ends it.
        let ends = growing.filter(|run| !run.is_paused() || run.waits());
        fixes.extend(ends.into_iter().flat_map(|run| run.cut_trailing(names.trailing)));
        if self.signs {
            fixes.extend(self.signatures());
        }
        // A run of reasoning alone does not go out, so it is neither first nor last.
        let vanishes = ends.filter(|run| !run.has_solid);
        let first = self.first.filter(|(first, _)| vanishes.is_none_or(|run| *first < run.start));
        let last = vanishes.map_or(self.last, |run| run.before.0);
        if let Some((index, Role::Assistant | Role::Tool | Role::System)) = first {
            let message = "the first message must be the user's".into();
            let kind = FixKind::Before(line(LEAD));
            fixes.insert(0, fix(index, None, kind, names.first, message));
        }
        let alone = match (first, last, self.left_out) {
            (None, Some(Role::System), _) => {
                Some((self.newest, "nothing but the system's messages"))
            }
            (None, None, Some(index)) => Some((index, "nothing that the host sends")),
            _ => None,
        };
        if let Some((index, what)) = alone.filter(|_| !self.open) {
            let message = format!("{what}: a message of the user's must follow");
            let kind = FixKind::After(line(LEAD));
            fixes.push(fix(index, None, kind, names.first, message));
        }
        if let Some(run) = self.run.as_ref().filter(|run| Self::must_gather(run)) {
            fixes.extend(self.gather(run));
        }
        fixes.extend(self.results());
        if last == Some(Role::Assistant)
            && let Some(run) = growing
            && run.open.is_empty()
        {
            if self.provider_runs {
                fixes.extend(self.lost_waiting());
            }
            // Newer Claude models refuse a prefill, and Mistral any assistant at the end (I8).
            let message = "the last message must not be the assistant's".into();
            fixes.push(fix(run.end, None, FixKind::After(line(CONTINUE)), names.last, message));
        }
        fixes
    }

    /// A result for every call that has none; it says that there is none.
    fn results(&self) -> Vec<Fix> {
        let is_open = self.run.as_ref().is_some_and(|run| !run.open.is_empty());
        if is_open || !self.waiting.is_empty() || !self.lost.is_empty() {
            self.missing_results()
        } else {
            Vec::new()
        }
    }

    #[inline(never)]
    fn missing_results(&self) -> Vec<Fix> {
        let names = self.provider.rules().names;
        let waiting = self.waiting.iter().map(|call| (call.anchor, call));
        let lost = self.lost.iter().map(|call| (call.anchor, call));
        let run = self.run.iter().flat_map(|run| {
            let owed = move |call: &&Call| {
                !(run.answering && (self.open || call.decided == Some(run.until)))
            };
            run.open.iter().filter(owed).map(|call| (run.end, call))
        });
        let all = waiting.chain(lost).chain(run);
        // Whoever runs these tools answers them: a result of ours would be a second one.
        let owed = |call: &Call| !call.traits.within && !call.traits.pending;
        let mut calls: Vec<_> = all.filter(|(_, call)| owed(call)).collect();
        sort_by(&mut calls, |(_, call)| (i64::from(call.message), i64::from(call.piece)));
        let fixes = calls.into_iter().map(|(anchor, call)| {
            let (id, name) = (call.wire.to_string(), call.traits.name.clone().into());
            let message = format!("the call \"{}\" has no result", shown(&call.key));
            // A part that is call and result in one is answered where it stands.
            let (index, kind) = if matches!(call.traits.place, Place::Tool(_)) {
                let text = Some(NO_RESULT.into());
                (call.message, FixKind::Text { piece: call.piece, text })
            } else {
                let (text, like) = (NO_RESULT.into(), call.traits.place);
                let toolset = call.traits.toolset.clone().into();
                let made = Made::Result { id, name, text, error: true, like, toolset };
                (anchor, FixKind::After(made))
            };
            let mut fix = fix(call.message, Some(call.traits.place), kind, names.open, message);
            fix.index = index;
            fix
        });
        fixes.collect()
    }

    /// I11: with thinking on, the assistant's turn of an open tool loop starts with its reasoning. Nothing mends it.
    pub(super) fn thinking(&self) -> Option<Violation> {
        let run = self.run.as_ref().filter(|run| run.answering && !run.keys.is_empty())?;
        let (kind, place) = run.head;
        (self.provider.binds_reasoning() && kind != Kind::Thinking).then(|| Violation {
            rule: "I11",
            index: run.start.get(),
            path: Some(place.pointer()),
            message: "with thinking on, the turn that made the open calls must start with its thinking block".into(),
        })
    }
}

#[inline(never)]
fn line(text: &str) -> Made {
    Made::User(vec![MadePart::Text(text.into())])
}
