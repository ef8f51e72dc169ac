//! The step: what this request sends. One function decides; what it needs from the host it answers as a need.

use crate::context::compaction::cool_down::may_ask_summarizer;
use crate::context::compaction::folds::fold_count;
use crate::context::options::ONE;
use crate::context::request::about::About;
use crate::context::request::answer::{Answer, Difference, answer_with};
use crate::context::request::build_request::{build_request, resend};
use crate::context::request::cache_markers::{renew_places, unread_markers};
use crate::context::request::keep_lines::{
    line_stub, messages_of_lines, take_lines, write_lines_of_head,
};
use crate::context::request::last_request::Entry;
use crate::context::request::placeholders::Want;
use crate::context::request::provider_limits::fit_provider_limits;
use crate::context::request::shorten::{about_block, calls_for_placeholders, record_call};
use crate::context::session::Session;
use crate::context::session::agent::renew_promises;
use crate::context::session::decide::{decide, finish_history};
use crate::context::session::decisions::Decided;
use crate::context::session::pinning::bring_back_pins;
use crate::context::session::read_message::read_message;
use crate::context::session::snapshot::restore::finish_restore;
use crate::context::session::take_decision::take_decision;
use crate::context::transcript::counter::Counter;
use crate::context::transcript::measure::measure;
use crate::error::Result;
use crate::json;
use crate::model::{Form, Kind, MessageId};
use crate::number::count;
use crate::prune::{Folds, Setting};

/// What a step comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The texts of these messages are needed: hand them over and resume.
    Need(Vec<MessageId>),
    /// The request.
    Done(Box<Answer>),
}

impl Session {
    /// Decides what to send now. The same history, parts and options give the same request and move nothing.
    pub fn request(&mut self, now_ms: i64) -> Step {
        let restored = finish_restore(self);
        if self.request.last.settled {
            return self.request_again(restored);
        }
        finish_history(self);
        let parts_change =
            self.request.last.parts.is_some_and(|parts| parts != self.request.extras.fingerprint);
        if parts_change {
            renew_promises(self);
        }
        let context = |state: &Self| {
            state.decisions.pruner.context(&state.transcript.ledger, &state.setting())
        };
        let mut before = context(self);
        let mut decision = decide(self, now_ms);
        let opens = !decision.changes.is_empty() || parts_change || self.request.last.rebuild;
        let left = context(self);
        if opens && bring_back_pins(self) {
            // The request as it would have been has what was pinned.
            before = before.saturating_add(context(self).saturating_sub(left));
            let again = decide(self, now_ms);
            decision.folded |= again.folded;
            decision.fold_due = again.fold_due;
            decision.changes.extend(again.changes);
        }
        if self.options.folds != Folds::Never || !decision.changes.is_empty() {
            fit_provider_limits(self);
        }
        // No request has carried out what was decided before the history or the parts changed: this one does.
        let none = Decided { before, measured: true, ..Decided::default() };
        let unfinished = self.decisions.pending.unwrap_or(none);
        self.decisions.pending = Some(Decided {
            before: unfinished.before,
            folded: decision.folded || unfinished.folded,
            fold_due: decision.fold_due,
            refused: decision.refused,
            measured: decision.changes.is_empty() && unfinished.measured,
        });
        self.request.last.settled = true;
        self.request.last.at_ms =
            Some(self.request.last.at_ms.map_or(now_ms, |last| last.max(now_ms)));
        self.resume()
    }

    /// The last request once more: nothing has changed since. `entries`: its messages, if they were just built.
    #[inline(never)]
    fn request_again(&mut self, entries: Option<Vec<Entry>>) -> Step {
        // The host could not send a text that was needed: the same decision goes on.
        if self.decisions.pending.is_some() {
            return self.resume();
        }
        if std::mem::take(&mut self.request.last.resend_all) {
            return Step::Done(Box::new(resend(self, entries)));
        }
        let keep = count(self.request.last.items.len());
        let difference =
            Difference { keep, before: self.request.last.tokens, ..Difference::default() };
        Step::Done(Box::new(answer_with(self, Vec::new(), Vec::new(), difference)))
    }

    /// The host could not carry out the last request: the next one is handed over whole.
    pub fn resend_all(&mut self) {
        self.request.last.resend_all = true;
    }

    /// Goes on once the texts that were needed are there.
    pub fn resume(&mut self) -> Step {
        let placeholders = &self.decisions.placeholders;
        let is_waiting = !placeholders.wanted.is_empty()
            || placeholders.awaited.is_some()
            || !self.decisions.returned.is_empty();
        let mut messages = if is_waiting { self.messages_needed() } else { Vec::new() };
        if messages.is_empty() {
            write_lines_of_head(self);
            if shrink_again(self) {
                return self.resume();
            }
            messages = unread_markers(self);
            if messages.is_empty() {
                return Step::Done(Box::new(build_request(self)));
            }
        }
        Step::Need(messages)
    }

    /// Messages whose texts are needed, in order.
    #[inline(never)]
    fn messages_needed(&self) -> Vec<MessageId> {
        let mut messages: Vec<MessageId> = self
            .decisions
            .placeholders
            .wanted
            .keys()
            .filter_map(|&at| self.transcript.ledger.block(at))
            .filter(|block| block.form != Form::Gone)
            .map(|block| block.message)
            .collect();
        messages.extend(calls_for_placeholders(self));
        messages.extend(messages_of_lines(self));
        let returned =
            self.decisions.returned.iter().filter_map(|&at| self.transcript.ledger.block(at));
        messages.extend(returned.map(|block| block.message));
        crate::sort::sort_set(&mut messages);
        messages
    }

    /// The text of a message that was needed.
    ///
    /// # Errors
    /// `MalformedMessage`.
    pub fn supply(&mut self, index: MessageId, bytes: &[u8]) -> Result<()> {
        let draft = read_message(self, index, bytes)?;
        renew_places(self, index, &draft);
        let blocks = self.transcript.ledger.blocks_of(index);
        if self.decisions.returned.iter().any(|at| blocks.contains(*at)) {
            let mut counter = Counter::new(self.options.estimator, &[]);
            let identifiers = Some(&mut self.transcript.ledger.identifiers);
            let traits = &mut self.transcript.traits;
            let measure = measure(&draft, bytes, &mut counter, identifiers, traits);
            for (measured, at) in measure.blocks.iter().zip(blocks) {
                if self.decisions.returned.contains(&at) {
                    self.transcript.ledger.restore_ids(at, &measured.ids);
                }
            }
            self.decisions.returned.retain(|at| !blocks.contains(*at));
        }
        for (piece, at) in blocks.enumerate() {
            let part = draft.parts.get(piece);
            take_lines(self, at, part);
            let Some(part) = part else {
                // The host has changed the message in place: waiting for the text would never end.
                self.decisions.placeholders.wanted.remove(&at);
                continue;
            };
            if let Some(Want::Lines(room)) = self.decisions.placeholders.wanted.get(&at).copied() {
                self.decisions.placeholders.wanted.remove(&at);
                let now = line_stub(self, at, part, room);
                self.transcript.ledger.set_form(at, Form::Stubbed, now);
                continue;
            }
            if part.piece.kind == Kind::Call {
                record_call(self, at, part);
            }
            let about = if part.piece.kind == Kind::Result {
                about_block(self, at)
            } else {
                About::default()
            };
            let overhead = self.transcript.ledger.block(at).map_or(0, |it| it.overhead);
            if let Some(now) = self.decisions.placeholders.supply(at, overhead, part, &about) {
                self.transcript.ledger.set_form(at, Form::Capped, now);
            }
        }
        if self.decisions.placeholders.wanted.is_empty() {
            self.decisions.placeholders.calls.clear();
        }
        Ok(())
    }

    /// As `request`. None: it would not fit without a fold, and a summarizer may be asked first; nothing has moved.
    pub fn prepare(&mut self, now_ms: i64) -> Option<Step> {
        finish_restore(self);
        if self.request.last.settled || !self.options.summarizes {
            return Some(self.request(now_ms));
        }
        self.renew_usable();
        let over = self.sizes().0 > self.decisions.usable;
        let wanted = over || self.decisions.pruner.fold_wanted;
        self.compactions.asks = wanted && may_ask_summarizer(self, now_ms);
        if over && self.compactions.asks {
            let mut copy = self.clone();
            copy.request(now_ms);
            if fold_count(&copy) != fold_count(self) {
                self.compactions.asks = false;
                return None;
            }
        }
        let step = self.request(now_ms);
        self.compactions.asks = false;
        Some(step)
    }

    /// Tokens that count as content though no message holds them: what only usage tells of, and the margin on estimates.
    pub(in crate::context) fn beside_content(&self) -> u64 {
        let context = self.decisions.pruner.context(&self.transcript.ledger, &self.setting());
        let extra =
            self.counts.calibration.last.map_or(0, |_| self.counts.calibration.since(context));
        let extra = extra.saturating_mul(self.options.margin.saturating_sub(ONE)) / ONE;
        self.counts.calibration.hidden().saturating_add(extra)
    }

    /// What a decision is made for, if requests may have so many tokens of messages: shares are of the whole window, so what a
    /// provider counts besides is content, and not a smaller window.
    pub(in crate::context) fn deciding(&self, usable: u64) -> Setting {
        let setting = self.setting();
        let hidden = self.counts.calibration.hidden();
        Setting {
            usable: usable.saturating_add(hidden),
            fixed: setting.fixed.saturating_add(self.beside_content()),
            cap: self.estimated(self.options.cap).saturating_add(hidden),
            ..setting
        }
    }

    /// Tokens of messages above which something must go, and those that are then aimed for.
    pub(in crate::context) fn lines(&self, usable: u64) -> (u64, u64) {
        let setting = self.deciding(usable);
        let own = |all: u64| all.saturating_sub(self.beside_content());
        (own(self.decisions.pruner.line(&setting)), own(self.decisions.pruner.target(&setting)))
    }

    /// The estimate that so many tokens of the provider's are; without its figures, less by the margin.
    pub(in crate::context) fn estimated(&self, tokens: u64) -> u64 {
        let estimate = self.counts.calibration.estimate(tokens);
        if self.counts.calibration.last.is_some() || tokens == u64::MAX {
            return estimate;
        }
        estimate.saturating_mul(ONE).checked_div(self.options.margin).unwrap_or(estimate)
    }

    /// As messages measure it; decisions are made for [`Self::deciding`].
    pub(in crate::context) fn setting(&self) -> Setting {
        Setting {
            window: self.options.mode.window_tokens(),
            usable: self.decisions.usable,
            fixed: self
                .request
                .extras
                .total()
                .saturating_add(self.request.last.made_tokens)
                .saturating_add(self.request.pins.tokens(self.options.estimator)),
            mended: if self.transcript.ledger.next_message() == self.request.last.upto {
                self.request.last.made_tokens
            } else {
                0
            },
            cap: u64::MAX,
        }
    }
}

/// What a preset's way left is measured only once its text is there: if the request does not fit with it, more goes.
fn shrink_again(session: &mut Session) -> bool {
    let Some(decided) = session.decisions.pending.as_mut().filter(|decided| !decided.measured)
    else {
        return false;
    };
    decided.measured = true;
    session.options.mode.is_managed() && fit_again(session)
}

/// Fits the request once more; true if something went.
#[inline(never)]
fn fit_again(session: &mut Session) -> bool {
    let setting = session.deciding(session.decisions.usable);
    let decision = session.decisions.pruner.fit_again(
        &mut session.transcript.ledger,
        &setting,
        &mut session.decisions.placeholders,
    );
    let more = !decision.changes.is_empty();
    take_decision(session, decision);
    more
}

impl Step {
    /// As JSON for the facade: `{"need": [..]}` or `{"done": {..}}`.
    pub fn to_json(&self) -> String {
        // What an answer takes that says nothing new.
        let mut out = String::with_capacity(512);
        match self {
            Self::Need(messages) => json::object(&[("need", messages)], &mut out),
            Self::Done(answer) => json::object(&[("done", answer)], &mut out),
        }
        out
    }
}
