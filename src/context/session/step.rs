//! The step: what this request sends. One function decides; what it needs from the host it answers as a need.

use crate::context::options::ONE;
use crate::context::request::response::{Answer, Said};
use crate::context::request::shorten::About;
use crate::context::session::counter::Counter;
use crate::context::session::{Decided, Session};
use crate::context::transcript::measure::measure;
use crate::error::Result;
use crate::json;
use crate::model::{Form, Kind};
use crate::number::count;
use crate::prune::{Decision, Folds, Moment, Setting};

/// What a step comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The texts of these messages are needed: hand them over and resume.
    Need(Vec<u32>),
    /// The request.
    Done(Box<Answer>),
}

impl Session {
    /// Decides what to send now. The same history, parts and options give the same request and move nothing.
    pub fn request(&mut self, now_ms: i64) -> Step {
        self.take_up();
        if self.last_request.settled {
            // The host could not send a text that was needed: the same decision goes on.
            if self.pending.is_some() {
                return self.resume();
            }
            if std::mem::take(&mut self.last_request.unheld) {
                return Step::Done(Box::new(self.again()));
            }
            let keep = count(self.last_request.items.len());
            let said = Said { keep, before: self.last_request.tokens, ..Said::default() };
            return Step::Done(Box::new(self.answer(Vec::new(), Vec::new(), said)));
        }
        self.ready();
        let parts_change =
            self.last_request.parts.is_some_and(|parts| parts != self.extras.fingerprint);
        if parts_change {
            self.promise_again();
        }
        let context = |state: &Self| {
            state.decisions.pruner.context(&state.transcript.ledger, &state.setting())
        };
        let mut before = context(self);
        let mut decision = self.decide(now_ms);
        let opens = !decision.changes.is_empty() || parts_change || self.last_request.rebuild;
        let left = context(self);
        if opens && self.bring_back_pins() {
            // The request as it would have been has what was pinned.
            before = before.saturating_add(context(self).saturating_sub(left));
            let again = self.decide(now_ms);
            decision.folded |= again.folded;
            decision.fold_due = again.fold_due;
            decision.changes.extend(again.changes);
        }
        if self.options.folds != Folds::Never || !decision.changes.is_empty() {
            self.keep_limits();
        }
        // No request has carried out what was decided before the history or the parts changed: this one does.
        let none = Decided { before, measured: true, ..Decided::default() };
        let unfinished = self.pending.unwrap_or(none);
        self.pending = Some(Decided {
            before: unfinished.before,
            folded: decision.folded || unfinished.folded,
            fold_due: decision.fold_due,
            refused: decision.refused,
            measured: decision.changes.is_empty() && unfinished.measured,
        });
        self.last_request.settled = true;
        self.last_request.at_ms =
            Some(self.last_request.at_ms.map_or(now_ms, |last| last.max(now_ms)));
        self.resume()
    }

    /// The host could not carry out the last request: the next one is handed over whole.
    pub fn resend_all(&mut self) {
        self.last_request.unheld = true;
    }

    /// Goes on once the texts that were needed are there.
    pub fn resume(&mut self) -> Step {
        let mut messages: Vec<u32> = self
            .decisions
            .placeholders
            .wanted
            .keys()
            .filter_map(|&at| self.transcript.ledger.blocks.get(at as usize))
            .filter(|block| block.form != Form::Gone)
            .map(|block| block.message)
            .collect();
        messages.extend(self.calls_of_lines());
        let returned = self
            .decisions
            .returned
            .iter()
            .filter_map(|&at| self.transcript.ledger.blocks.get(at as usize));
        messages.extend(returned.map(|block| block.message));
        crate::sort::sort_set(&mut messages);
        if messages.is_empty() {
            if self.fits_no_more() {
                return self.resume();
            }
            messages = self.unread_markers();
            if messages.is_empty() {
                return Step::Done(Box::new(self.carry_out()));
            }
        }
        Step::Need(messages)
    }

    /// What a preset's way left is measured only once its text is there: if the request does not fit with it, more goes.
    fn fits_no_more(&mut self) -> bool {
        let Some(decided) = self.pending.as_mut().filter(|decided| !decided.measured) else {
            return false;
        };
        decided.measured = true;
        if self.options.window == 0 {
            return false;
        }
        let setting = self.deciding(self.decisions.usable);
        let decision = self.decisions.pruner.fit_again(
            &mut self.transcript.ledger,
            &setting,
            &mut self.decisions.placeholders,
        );
        let more = !decision.changes.is_empty();
        self.take(decision);
        more
    }

    /// Remembers what a decision changed.
    pub(in crate::context) fn take(&mut self, decision: Decision) {
        let visited = self.counters.blocks_visited;
        self.counters.blocks_visited = visited.saturating_add(decision.visited);
        for &change in &decision.changes {
            self.note(change);
        }
        if !decision.changes.is_empty() {
            self.follow_calls();
        }
    }

    /// The text of a message that was needed.
    ///
    /// # Errors
    /// `MalformedMessage`.
    pub fn supply(&mut self, index: u32, bytes: &[u8]) -> Result<()> {
        let draft = self.read(index, bytes)?;
        self.find_again(index, &draft);
        let blocks = self.transcript.ledger.blocks_of(index);
        if self.decisions.returned.iter().any(|at| blocks.contains(at)) {
            let mut counter = Counter::new(self.options.estimator, &[]);
            let measure =
                measure(&draft, bytes, &mut counter, Some(&mut self.transcript.ledger.identifiers));
            for (measured, at) in measure.blocks.iter().zip(blocks.clone()) {
                if self.decisions.returned.contains(&at) {
                    self.transcript.ledger.restore_ids(at, &measured.ids);
                }
            }
            self.decisions.returned.retain(|at| !blocks.contains(at));
        }
        for (piece, at) in blocks.enumerate() {
            let Some(part) = draft.parts.get(piece) else {
                // The host has changed the message in place: waiting for the text would never end.
                self.decisions.placeholders.wanted.remove(&at);
                continue;
            };
            if part.piece.kind == Kind::Call {
                self.note_call(at, part);
            }
            let about =
                if part.piece.kind == Kind::Result { self.about(at) } else { About::default() };
            let overhead =
                self.transcript.ledger.blocks.get(at as usize).map_or(0, |it| it.overhead);
            if let Some(now) = self.decisions.placeholders.supply(at, overhead, part, &about) {
                self.transcript.ledger.set_form(at, Form::Capped, now);
            }
        }
        if self.decisions.placeholders.wanted.is_empty() {
            self.decisions.placeholders.calls.clear();
        }
        Ok(())
    }

    /// Before a decision: all messages have come.
    pub(in crate::context) fn ready(&mut self) {
        self.take_up();
        self.keep_reasoning();
        let ending = self.repairs.mender.finish();
        self.end_with(ending);
        self.renew_usable();
    }

    /// As `request`. None: it would not fit without a fold, and a summarizer may be asked first; nothing has moved.
    pub fn prepare(&mut self, now_ms: i64) -> Option<Step> {
        self.take_up();
        if self.last_request.settled || !self.options.summarizes {
            return Some(self.request(now_ms));
        }
        self.renew_usable();
        let over = self.sizes().0 > self.decisions.usable;
        let wanted = over || self.decisions.pruner.fold_wanted;
        self.compactions.asks = wanted && self.may_summarize(now_ms);
        if over && self.compactions.asks {
            let mut copy = self.clone();
            copy.request(now_ms);
            if copy.folds() != self.folds() {
                self.compactions.asks = false;
                return None;
            }
        }
        let step = self.request(now_ms);
        self.compactions.asks = false;
        Some(step)
    }

    pub(in crate::context) fn decide(&mut self, now_ms: i64) -> Decision {
        if let Some(tiers) = self.options.tiers {
            return self.keep_tiers(tiers);
        }
        if self.options.window == 0 || self.options.noop {
            return Decision::default();
        }
        let ttl = i64::try_from(self.decisions.pruner.policy.prices.ttl_ms).unwrap_or(i64::MAX);
        let moment = Moment {
            call: self.calls(),
            warm: self.last_request.at_ms.is_some_and(|last| now_ms.saturating_sub(last) <= ttl),
            first: self.last_request.at_ms.is_none(),
            summarizes: self.options.summarizes,
            // What was asked for waits only where a summarizer may be asked.
            folds: match self.options.folds {
                Folds::Deferred if self.decisions.pruner.fold_wanted && !self.compactions.asks => {
                    Folds::Carried
                }
                folds @ (Folds::Carried | Folds::Deferred | Folds::Never) => folds,
            },
        };
        let setting = self.deciding(self.decisions.usable);
        let decision = self.decisions.pruner.decide(
            &mut self.transcript.ledger,
            &setting,
            moment,
            &mut self.decisions.placeholders,
        );
        self.take(decision.clone());
        decision
    }

    /// Tokens that count as content though no message holds them: what only usage tells of, and the margin on estimates.
    pub(in crate::context) fn beside_content(&self) -> u64 {
        let context = self.decisions.pruner.context(&self.transcript.ledger, &self.setting());
        let extra = self.calibration.last.map_or(0, |_| self.calibration.since(context));
        let extra = extra.saturating_mul(self.options.margin.saturating_sub(ONE)) / ONE;
        self.calibration.hidden().saturating_add(extra)
    }

    /// What a decision is made for, if requests may have so many tokens of messages: shares are of the whole window, so what a
    /// provider counts besides is content, and not a smaller window.
    pub(in crate::context) fn deciding(&self, usable: u64) -> Setting {
        let setting = self.setting();
        let hidden = self.calibration.hidden();
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
        let estimate = self.calibration.estimate(tokens);
        if self.calibration.last.is_some() || tokens == u64::MAX {
            return estimate;
        }
        estimate.saturating_mul(ONE).checked_div(self.options.margin).unwrap_or(estimate)
    }

    /// As messages measure it; decisions are made for [`Self::deciding`].
    pub(in crate::context) fn setting(&self) -> Setting {
        Setting {
            window: self.options.window,
            usable: self.decisions.usable,
            fixed: self
                .extras
                .total()
                .saturating_add(self.last_request.made_tokens)
                .saturating_add(self.pins.tokens(self.options.estimator)),
            mended: if self.transcript.ledger.message_count() == self.last_request.upto {
                self.last_request.made_tokens
            } else {
                0
            },
            cap: u64::MAX,
        }
    }
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
