//! A compaction carried out: on what it was planned on, beside whatever came meanwhile, and only if it makes the request smaller.

use super::calibration::Counted;
use super::ceiling::Ceiling;
use super::compactions::{Record, record_id};
use super::guard::Failure;
use super::plan::{folded_of, ranges};
use super::state::State;
use crate::error::{Error, Result};
use crate::extract::Extracted;
use crate::json::{self, Members, Shape, Value, Want, json, may, must};
use crate::model::NONE;
use crate::prune::{Decision, Setting};
use crate::sort::sort_set;

const PLANNED: Shape = Shape {
    what: "a plan",
    members: &[
        must("base", Want::Text),
        must("gone", Want::Items),
        may("summary", Want::Text),
        may("degraded", Want::Flag),
        may("failure", Want::Text),
        may("extracted", Want::Raw),
        may("lost", Want::Items),
        may("messages", Want::Integer),
    ],
    closed: false,
};

/// Requests in a row that are made smaller after a provider has refused them (G45).
const MOST_REFUSALS: u32 = 2;

impl State {
    /// Carries a planned compaction out (JSON: base and gone of the plan, and what the summarizer came to). The next request
    /// tells of it. What came of it, as JSON.
    ///
    /// # Errors
    /// `StalePlan`, `InvalidArgument`; then nothing has changed.
    pub fn commit(&mut self, planned: &str, now_ms: i64) -> Result<Value> {
        let mut copy = self.clone();
        copy.ready();
        let (before, _) = copy.sizes();
        let (rent, seen) = (copy.pruner.fold_rent, copy.fresh.len());
        let mut given = copy.fold_given(planned)?;
        let (after, line) = copy.sizes();
        let degraded = given.flag("degraded").unwrap_or(false);
        let summarized = given.str("summary").is_some() && !degraded;
        // A summary stands for what went without one too, and may come for that alone.
        let wanting = if summarized { self.dropped_of(&self.wanting()) } else { 0 };
        let stood = before.saturating_add(wanting);
        let gone = folded_of(copy.fresh.get(seen..).unwrap_or_default());
        let alone = wanting > 0 && gone.is_empty();
        let sizes = (self.calibration.tokens(stood), self.calibration.tokens(after));
        let carried = after < before || (alone && after < stood && after <= line);
        let failure = given.text("failure").and_then(|name| Failure::parse(&name));
        if carried {
            let at_ms = self.compactions.last.as_ref().map_or(now_ms, |it| it.at_ms.max(now_ms));
            let id = record_id(at_ms, copy.folds());
            let lost = texts(given.items("lost").unwrap_or_default());
            let found = extracted(given.raw("extracted").unwrap_or("{}"));
            let record = Record { id, at_ms, degraded, lost, found };
            copy.compactions.last = Some(record);
            copy.compactions.untold = Some((stood, after));
            if degraded {
                copy.compactions.wanting.extend(ranges(&gone));
            } else if summarized {
                (copy.compactions.wanting, copy.compactions.tries) = (Vec::new(), 0);
            }
            if alone {
                copy.pruner.fold_rent = rent;
            }
            // What came meanwhile is none of what it left.
            let planned = given.integer("messages").and_then(|it| u32::try_from(it).ok());
            let from = copy.ledger.blocks_of(planned.unwrap_or(NONE)).start;
            let held = copy.ledger.live();
            let since = held.get(held.partition_point(|&at| at < from)..).unwrap_or_default();
            let left = after.saturating_sub(copy.dropped_of(since));
            copy.compactions.guard.done(copy.sent.epoch.saturating_add(1), left, degraded);
            copy.pruner.fold_wanted = false;
            (copy.sent.settled, copy.sent.rebuild) = (false, true);
            *self = copy;
            self.keep_record(sizes.0, sizes.1);
        }
        let failure = match failure {
            // One compaction is one strike.
            Some(Failure::Ineffective) if carried => Some(Failure::Temporary),
            failure if carried => failure,
            Some(_) | None => Some(Failure::Ineffective),
        };
        if let Some(failure) = failure {
            self.fail(failure, now_ms);
        }
        let last = self.compactions.last.as_ref();
        Ok(json!({
            "carried": carried,
            "id": last.map_or("", |it| it.id.as_str()),
            "tokensBefore": sizes.0,
            "tokensAfter": sizes.1,
            "firstKept": self.pruner.start,
            "kept": self.kept_before(self.pruner.start),
            "head": self.lines.head,
            "identifiers": self.digest()
        }))
    }

    /// A compaction came to nothing (JSON: `{ failure }`).
    pub fn compaction_failed(&mut self, kind: &str, now_ms: i64) {
        if let Some(failure) = Failure::parse(kind) {
            self.fail(failure, now_ms);
        }
    }

    fn fail(&mut self, failure: Failure, now_ms: i64) {
        self.compactions.guard.fail(failure, now_ms);
        self.compactions.tries = self.compactions.tries.saturating_add(1);
    }

    /// A provider has refused the last request as too large. `limit`, `counted`: what the provider takes, and what it counted of
    /// this request, if the host knows. None: it was refused twice in a row, or nothing is decided.
    pub fn refused(&mut self, limit: Option<u64>, counted: Option<u64>) -> Option<u32> {
        let (times, call) = self.compactions.refusals;
        let times = if call == self.call { times } else { 0 };
        if self.options.window == 0 || times >= MOST_REFUSALS {
            return None;
        }
        let times = times.saturating_add(1);
        self.compactions.refusals = (times, self.call);
        let sent = if self.sent.tokens > 0 { self.sent.tokens } else { self.sizes().0 };
        let refused = sent.min(self.usable);
        let limit = limit.map(|limit| match counted {
            Some(counted) => refused.saturating_mul(limit).checked_div(counted).unwrap_or(0),
            None => self.calibration.estimate(limit),
        });
        let before = self.compactions.limit;
        self.compactions.limit = Some(Ceiling::refuse(before, refused, limit));
        self.sent.settled = false;
        Some(times)
    }

    /// What a provider counted tells of the last compaction, and that it took the request.
    pub(super) fn heard(&mut self, counted: Counted) {
        if self.calibration.last != Some(counted) {
            return;
        }
        if let Some(mut ceiling) = self.compactions.limit {
            ceiling.accept(counted.estimate, self.lines(ceiling.tokens).0);
            self.compactions.limit = Some(ceiling);
        }
        let (usable, cap) = (self.options.usable, self.options.cap);
        let setting = Setting { usable, cap, ..self.setting() };
        let fits = counted.used <= self.pruner.line(&setting);
        self.compactions.guard.read(counted.epoch, fits);
        self.compactions.refusals = (0, 0);
    }

    /// The identifiers that the head lists.
    pub(super) fn digest(&self) -> Vec<&str> {
        let head = self.pruner.head.as_ref();
        let digest = head.map_or(&[][..], |head| &head.digest);
        digest.iter().map(|&id| self.ledger.identifiers.text(id)).collect()
    }

    /// Folds what a plan lets go, with its summary if it has one. What was pinned since stays, and all that it stays with.
    /// The other members of the plan.
    ///
    /// # Errors
    /// `StalePlan`, `InvalidArgument`.
    pub(super) fn fold_given<'a>(&mut self, planned: &'a str) -> Result<Members<'a>> {
        let refused = |error: json::Error| Error::argument("plan", "a CompactionPlan", error);
        let mut given = PLANNED.read(planned).map_err(refused)?;
        let cut = self.cut_of(&given.text("base").unwrap_or_default())?;
        let end = self.ledger.blocks_of(cut).start;
        let mut gone = Vec::new();
        for range in given.items("gone").unwrap_or_default() {
            let ends: Vec<u32> = json::items(range)
                .map_err(refused)?
                .iter()
                .filter_map(|it| it.parse().ok())
                .collect();
            if let [from, to] = *ends.as_slice() {
                gone.extend(from.min(end)..to.min(end));
            }
        }
        sort_set(&mut gone);
        let live = self.ledger.live();
        let before = live.get(..live.partition_point(|&at| at < end)).unwrap_or_default();
        let goes = |at: &u32| {
            let block = self.ledger.blocks.get(*at as usize);
            block.is_some_and(|it| it.mask.may_drop) && gone.binary_search(at).is_ok()
        };
        let group = |at: &u32| self.ledger.blocks.get(*at as usize).map_or(NONE, |it| it.group);
        let bound = |at: &&u32| {
            let verbatim = self.ledger.blocks.get(**at as usize).is_some_and(|it| it.user);
            !verbatim && !goes(at)
        };
        let mut stay: Vec<u32> = before.iter().filter(bound).map(group).collect();
        sort_set(&mut stay);
        let free = |at: &u32| group(at) == NONE || stay.binary_search(&group(at)).is_err();
        let gone: Vec<u32> = before.iter().filter(|at| goes(at) && free(at)).copied().collect();
        self.lines.given = given.str("summary").map(Into::into);
        let mut decision = Decision::default();
        let (setting, call) = (self.deciding(self.usable), self.call);
        let (ledger, lines) = (&mut self.ledger, &mut self.lines);
        self.pruner.replace(ledger, &setting, call, cut, &gone, true, lines, &mut decision);
        self.take(decision);
        Ok(given)
    }
}

fn texts(items: Vec<&json::RawValue>) -> Vec<String> {
    items.into_iter().filter_map(|it| json::string(it).ok().map(Into::into)).collect()
}

/// What `extracted` told, as it comes back.
fn extracted(json: &json::RawValue) -> Extracted {
    let members = json::members(json).unwrap_or_default();
    let list = |name: &str| {
        let found = members.iter().find(|(known, _)| known == name);
        texts(found.and_then(|(_, it)| json::items(it).ok()).unwrap_or_default())
    };
    Extracted {
        modified_files: list("modifiedFiles"),
        read_files: list("readFiles"),
        commands: list("commands"),
        errors: list("errors"),
        ..Extracted::default()
    }
}
