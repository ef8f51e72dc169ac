//! A snapshot as bytes.

use super::bytes::{Reader, Writer};
use super::forgotten::Past;
use super::{Changed, Shape, Snapshot, Want, Why};
use crate::context::compaction::compaction_history::Compactions;
use crate::context::compaction::memory_flush::Flush;
use crate::context::session::calibration::{Calibration, Counted};
use crate::context::session::pins::Pins;
use crate::error::Result;
use crate::format::Format;
use crate::model::Form;
use crate::prune::{Head, Marker, Rule, Shorten};

const CAPPED: u64 = 1;
const STUBBED: u64 = 2;
const GONE: u64 = 3;
/// Cut, and nothing more may become of it.
const CUT: u64 = 4;

impl Snapshot {
    #[inline(never)]
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.number(self.upto.into());
        out.text(self.format.name());
        out.number(u64::from(self.certain) | (u64::from(self.is_old) << 1));
        out.hash(self.before);
        out.number(self.marks.len() as u64);
        for &mark in &self.marks {
            out.mark(mark);
        }
        if !self.is_old {
            self.past.write(&self.traces, &mut out);
        }
        out.number(self.epoch.into());
        out.perhaps(self.at_ms.and_then(|at| u64::try_from(at).ok()));
        out.number(self.peak);
        out.number(self.tokens);
        out.number(self.last);
        out.number(self.parts.is_some().into());
        if let Some((fingerprint, tokens)) = self.parts {
            out.hash(fingerprint);
            out.number(tokens);
        }
        // Two bits, so that what was written before there was a second reads the same.
        out.number(u64::from(self.fold_due) | (u64::from(self.open) << 1));
        out.number(self.start.into());
        out.number(self.head_from.into());
        out.number(self.head.is_some().into());
        if let Some(head) = &self.head {
            out.number(head.tokens.into());
            out.numbers(&head.digest);
            // As above: a time, one more than it is, behind the bit.
            let at = self.head_at.and_then(|at| u64::try_from(at).ok()?.checked_add(1));
            out.number(u64::from(head.summary) | (at.unwrap_or(0) << 1));
            out.number(head.folds.into());
            out.text(&self.said);
            out.number(self.summary as u64);
        }
        out.number(self.fold_rent);
        out.perhaps(self.charged.map(u64::from));
        self.write_changed(&mut out);
        out.number(self.rents.len() as u64);
        let mut last = 0;
        for &(block, rent) in &self.rents {
            out.number(block.saturating_sub(last).into());
            out.number(rent);
            last = block;
        }
        out.ascending(&self.unbound);
        out.number(self.bound.into());
        out.number(self.calibration.last.is_some().into());
        if let Some(Counted { epoch, used, estimate }) = self.calibration.last {
            out.number(epoch.into());
            out.number(used);
            out.number(estimate);
        }
        out.number(self.calibration.grown.0);
        out.number(self.calibration.grown.1);
        out.number(self.usable);
        out.number(self.window.0);
        out.number(self.window.1);
        out.ascending(&self.breakpoints);
        self.pins.write(&mut out);
        self.compactions.write(&mut out);
        out.number(self.fold_wanted.into());
        out.number(self.anew.into());
        out.ascending(&self.stubbed);
        out.ascending(&self.summarized);
        self.flush.write(&mut out);
        out.done()
    }

    /// Runs of blocks that went the same way at the same time; rules by their names, each once.
    fn write_changed(&self, out: &mut Writer) {
        let mut rules: Vec<Rule> = Vec::new();
        for changed in &self.changed {
            if !rules.contains(&changed.why.rule) {
                rules.push(changed.why.rule);
            }
        }
        out.number(rules.len() as u64);
        for rule in &rules {
            out.text(rule.name());
        }
        let mut rest = self.changed.as_slice();
        let mut end = 0;
        while let Some(first) = rest.first() {
            let why = first.why;
            let goes_on = |pair: &&[Changed]| matches!(pair, [one, next] if one.goes_on(next));
            let length = rest.windows(2).take_while(goes_on).count().saturating_add(1);
            out.number(length as u64);
            out.number(first.block.saturating_sub(end).into());
            let rule = rules.iter().position(|rule| *rule == why.rule);
            out.number(rule.unwrap_or_default() as u64);
            out.number(why.epoch.into());
            out.number(why.call.into());
            match &first.form {
                Shape::Gone => out.number(GONE),
                Shape::Cut(want, form) => {
                    out.number(if *form == Form::Capped { CAPPED } else { CUT });
                    out.number(want.code());
                    out.number(first.now.into());
                }
                Shape::Stubbed(line) => {
                    out.number(STUBBED);
                    out.text(line);
                    out.number(first.now.into());
                }
            }
            end = first.block.saturating_add(super::count(length));
            rest = rest.get(length..).unwrap_or_default();
        }
        out.number(0);
    }

    #[inline(never)]
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut given = Reader::new(bytes)?;
        let upto = given.small();
        let format = Format::parse(given.text()).unwrap_or_else(|_| {
            given.refuse("a format is unknown");
            Format::Anthropic
        });
        let flags = given.number();
        let (certain, is_old) = (flags & 1 != 0, given.is_old || flags & 2 != 0);
        let before = given.hash();
        let mut marks = Vec::new();
        for _ in 0..given.count() {
            marks.push(given.mark());
        }
        let (past, traces) =
            if is_old { Default::default() } else { Past::read(&mut given, upto, marks.len()) };
        let epoch = given.small();
        let at_ms = given.perhaps().and_then(|at| i64::try_from(at).ok());
        let (peak, tokens, last) = (given.number(), given.number(), given.number());
        let parts = if given.flag() { Some((given.hash(), given.number())) } else { None };
        let flags = given.number();
        let (fold_due, open) = (flags & 1 != 0, flags & 2 != 0);
        let start = given.small();
        let head_from = given.small();
        let (mut head, mut head_at, mut said, mut summary) = (None, None, String::new(), 0);
        if given.flag() {
            let tokens = given.small();
            let digest = given.numbers();
            let (bits, folds) = (given.number(), given.small());
            head_at = (bits >> 1).checked_sub(1).and_then(|at| i64::try_from(at).ok());
            head = Some(Head { tokens, digest, summary: bits & 1 != 0, folds });
            said = given.text().into();
            summary = given.small() as usize;
        }
        let fold_rent = given.number();
        let charged = given.perhaps().and_then(|call| u32::try_from(call).ok());
        let forms = read_changed(&mut given);
        let rents = read_rents(&mut given);
        let (unbound, bound) = (given.ascending(), given.flag());
        let mut counted = None;
        if given.flag() {
            let (epoch, used) = (given.small(), given.number());
            counted = Some(Counted { epoch, used, estimate: given.number() });
        }
        let calibration = Calibration { last: counted, grown: (given.number(), given.number()) };
        let usable = given.number();
        let window = (given.number(), given.number());
        let breakpoints = given.ascending();
        let pins = Pins::read(&mut given);
        let compactions = Compactions::of(&mut given);
        let (fold_wanted, anew) = (given.flag(), given.flag());
        let stubbed = given.ascending();
        let summarized = given.ascending();
        let flush = Flush::of(&mut given);
        given.end()?;
        Ok(Self {
            upto,
            format,
            certain,
            before,
            is_old,
            marks,
            traces,
            past,
            epoch,
            at_ms,
            peak,
            tokens,
            last,
            parts,
            fold_due,
            open,
            start,
            head_from,
            head,
            head_at,
            said,
            summary,
            fold_rent,
            charged,
            changed: forms,
            rents,
            unbound,
            bound,
            calibration,
            usable,
            window,
            breakpoints,
            pins,
            compactions,
            flush,
            fold_wanted,
            stubbed,
            summarized,
            anew,
            recount: false,
            reshaped: false,
            items: None,
        })
    }
}

impl Want {
    /// It as a number: what, in the last three bits, and how much.
    fn code(self) -> u64 {
        let (what, much) = match self {
            Self::Cap(tokens) => (0, tokens),
            Self::Shorten(Shorten::Head(chars, Marker::Pruned)) => (1, chars),
            Self::Shorten(Shorten::Head(chars, Marker::Truncated)) => (2, chars),
            Self::Shorten(Shorten::Leaves(chars)) => (3, chars),
            Self::Shorten(Shorten::Line | Shorten::Repeated | Shorten::Image | Shorten::Gone) => {
                (4, 0)
            }
        };
        (u64::from(much) << 3) | what
    }

    fn of_code(code: u64) -> Self {
        let much = u32::try_from(code >> 3).unwrap_or(u32::MAX);
        Self::Shorten(match code & 7 {
            0 => return Self::Cap(much),
            1 => Shorten::Head(much, Marker::Pruned),
            2 => Shorten::Head(much, Marker::Truncated),
            3 => Shorten::Leaves(much),
            _ => Shorten::Line,
        })
    }
}

impl Changed {
    /// The next block went with this one, and nothing stands in its place.
    fn goes_on(&self, next: &Self) -> bool {
        self.form == Shape::Gone
            && next.form == Shape::Gone
            && self.why == next.why
            && self.block.saturating_add(1) == next.block
    }
}

fn read_rents(given: &mut Reader<'_>) -> Vec<(u32, u64)> {
    let mut rents = Vec::new();
    let mut block = 0u32;
    for _ in 0..given.count() {
        block = block.saturating_add(given.small());
        rents.push((block, given.number()));
    }
    rents
}

fn read_changed(given: &mut Reader<'_>) -> Vec<Changed> {
    let mut rules = Vec::new();
    for _ in 0..given.count() {
        match Rule::parse(given.text()) {
            Some(rule) => rules.push(rule),
            None => given.refuse("a rule is unknown"),
        }
    }
    let mut changed: Vec<Changed> = Vec::new();
    let mut end = 0u32;
    loop {
        let length = given.small();
        if length == 0 {
            return changed;
        }
        let first = end.saturating_add(given.small());
        end = first.saturating_add(length);
        let rule = rules.get(given.small() as usize).copied();
        let why =
            Why { rule: rule.unwrap_or(Rule::Repair), epoch: given.small(), call: given.small() };
        let form = match given.number() {
            CAPPED => Shape::Cut(Want::of_code(given.number()), Form::Capped),
            CUT => Shape::Cut(Want::of_code(given.number()), Form::Stubbed),
            STUBBED => Shape::Stubbed(given.text().into()),
            _ => Shape::Gone,
        };
        let now = if form == Shape::Gone { 0 } else { given.small() };
        let too_many = changed.len().saturating_add(length as usize) > MOST_BLOCKS;
        if rule.is_none() || too_many || (length > 1 && form != Shape::Gone) {
            given.refuse("a run has no rule, or no end");
            return Vec::new();
        }
        for block in first..end {
            changed.push(Changed { block, now, why, form: form.clone() });
        }
    }
}

/// No session has more; longer runs are a forgery that would fill the memory and take seconds.
pub(super) const MOST_BLOCKS: usize = 1_000_000;
