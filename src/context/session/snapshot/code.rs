//! A snapshot as bytes.

use super::bytes::{Reader, Writer};
use crate::context::compaction::compaction_history::Compactions;
use crate::context::compaction::flush::Flush;
use crate::context::request::last_request::SentItem;
use crate::context::request::pins::Pins;
use crate::context::request::placeholders::Want;
use crate::context::session::calibration::{Calibration, Counted};
use crate::context::session::snapshot::content::{Changed, Shape, Snapshot, UNKNOWN};
use crate::context::session::snapshot::past::{MOST_BLOCKS, Past};
use crate::context::session::why::Why;
use crate::error::Result;
use crate::format::Format;
use crate::model::{BlockId, Form, MessageId};
use crate::number::count;
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
        out.number(u64::from(self.certain) | (u64::from(self.is_old) << 1) | (self.estimator << 2));
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
            // As above: a time, one more than it is, after the bit.
            let at = self.head_at.and_then(|at| u64::try_from(at).ok()?.checked_add(1));
            out.number(u64::from(head.summary) | (at.unwrap_or(0) << 1));
            out.number(head.folds.into());
            out.text(&self.head_text);
            out.number(self.summary as u64);
        }
        out.number(self.fold_rent);
        out.perhaps(self.charged.map(u64::from));
        self.write_changed(&mut out);
        out.number(self.rents.len() as u64);
        let mut last = BlockId::FIRST;
        for &(block, rent) in &self.rents {
            out.number(block.since(last).into());
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
        // Only where the messages do not tell them: they are as many as the messages of a request.
        let items = self.items.as_deref().filter(|items| self.anew && *items != [UNKNOWN]);
        // As above: four bits.
        out.number(
            u64::from(self.anew)
                | (u64::from(self.asked) << 1)
                | (u64::from(items.is_some()) << 2)
                | (u64::from(self.recount) << 3),
        );
        out.ascending(&self.stubbed);
        out.ascending(&self.summarized);
        self.compactions.flush.write(&mut out);
        if let Some(items) = items {
            write_items(items, &mut out);
        }
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
        let mut end = BlockId::FIRST;
        while let Some(first) = rest.first() {
            let why = first.why;
            let goes_on = |pair: &&[Changed]| matches!(pair, [one, next] if one.goes_on(next));
            let length = rest.windows(2).take_while(goes_on).count().saturating_add(1);
            out.number(length as u64);
            out.number(first.block.since(end).into());
            let rule = rules.iter().position(|rule| *rule == why.rule);
            out.number(rule.unwrap_or_default() as u64);
            out.number(why.epoch.into());
            out.number(why.call.into());
            match &first.form {
                Shape::Gone => out.number(GONE),
                Shape::Cut(want, form) => {
                    out.number(if *form == Form::Capped { CAPPED } else { CUT });
                    out.number(code_of(*want));
                    out.number(first.now.into());
                }
                Shape::Stubbed(line) => {
                    out.number(STUBBED);
                    out.text(line);
                    out.number(first.now.into());
                }
            }
            end = first.block.plus(count(length));
            rest = rest.get(length..).unwrap_or_default();
        }
        out.number(0);
    }

    #[inline(never)]
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes)?;
        let upto = MessageId::from(reader.small());
        let format = Format::parse(reader.text()).unwrap_or_else(|_| {
            reader.refuse("a format is unknown");
            Format::Anthropic
        });
        let flags = reader.number();
        let (certain, estimator) = (flags & 1 != 0, flags >> 2);
        let is_old = reader.is_old || flags & 2 != 0;
        let before = reader.hash();
        let marks: Vec<u32> = (0..reader.count()).map(|_| reader.mark()).collect();
        let (past, traces) =
            if is_old { Default::default() } else { Past::read(&mut reader, upto, marks.len()) };
        let epoch = reader.small();
        let at_ms = reader.perhaps().and_then(|at| i64::try_from(at).ok());
        let (peak, tokens, last) = (reader.number(), reader.number(), reader.number());
        let parts = if reader.flag() { Some((reader.hash(), reader.number())) } else { None };
        let flags = reader.number();
        let (fold_due, open) = (flags & 1 != 0, flags & 2 != 0);
        let start = reader.small().into();
        let head_from = reader.small().into();
        let (mut head, mut head_at, mut head_text, mut summary) = (None, None, String::new(), 0);
        if reader.flag() {
            let tokens = reader.small();
            let digest = reader.numbers();
            let (bits, folds) = (reader.number(), reader.small());
            head_at = (bits >> 1).checked_sub(1).and_then(|at| i64::try_from(at).ok());
            head = Some(Head { tokens, digest, summary: bits & 1 != 0, folds });
            head_text = reader.text().into();
            summary = reader.small() as usize;
        }
        let fold_rent = reader.number();
        let charged = reader.perhaps().and_then(|call| u32::try_from(call).ok());
        let forms = read_changed(&mut reader);
        let rents = read_rents(&mut reader);
        let (unbound, bound) = (reader.ascending(), reader.flag());
        let mut counted = None;
        if reader.flag() {
            let (epoch, used) = (reader.small(), reader.number());
            counted = Some(Counted { epoch, used, estimate: reader.number() });
        }
        let calibration = Calibration { last: counted, grown: (reader.number(), reader.number()) };
        let usable = reader.number();
        let window = (reader.number(), reader.number());
        let breakpoints = reader.ascending();
        let pins = Pins::read(&mut reader);
        let mut compactions = Compactions::of(&mut reader);
        let (fold_wanted, again) = (reader.flag(), reader.number());
        let stubbed = reader.ascending();
        let summarized = reader.ascending();
        compactions.flush = Flush::of(&mut reader);
        let (anew, has_items) = (again & 1 != 0, again & 4 != 0);
        let items = anew.then(|| if has_items { read_items(&mut reader) } else { vec![UNKNOWN] });
        reader.end()?;
        Ok(Self {
            upto,
            format,
            certain,
            estimator,
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
            head_text,
            summary,
            fold_rent,
            charged,
            changed: forms,
            rents,
            unbound: unbound.into_iter().map(BlockId::from).collect(),
            bound,
            calibration,
            usable,
            window,
            breakpoints,
            pins,
            compactions,
            fold_wanted,
            stubbed,
            summarized,
            anew,
            asked: again & 2 != 0,
            recount: again & 8 != 0,
            has_new_shape: false,
            items,
        })
    }
}

/// A wanted text as a number: what, in the last three bits, and how much.
fn code_of(want: Want) -> u64 {
    let (what, much) = match want {
        Want::Cap(tokens) => (0, tokens),
        Want::Shorten(Shorten::Head(chars, Marker::Pruned)) => (1, chars),
        Want::Shorten(Shorten::Head(chars, Marker::Truncated)) => (2, chars),
        Want::Shorten(Shorten::Leaves(chars)) => (3, chars),
        // In place of a stub with lines a snapshot has its text.
        Want::Lines(_)
        | Want::Shorten(Shorten::Line | Shorten::Repeated | Shorten::Image | Shorten::Gone) => {
            (4, 0)
        }
    };
    (u64::from(much) << 3) | what
}

fn want_of(code: u64) -> Want {
    let much = u32::try_from(code >> 3).unwrap_or(u32::MAX);
    Want::Shorten(match code & 7 {
        0 => return Want::Cap(much),
        1 => Shorten::Head(much, Marker::Pruned),
        2 => Shorten::Head(much, Marker::Truncated),
        3 => Shorten::Leaves(much),
        _ => Shorten::Line,
    })
}

impl Changed {
    /// The next block went with this one, and nothing stands in its place.
    fn goes_on(&self, next: &Self) -> bool {
        self.form == Shape::Gone
            && next.form == Shape::Gone
            && self.why == next.why
            && self.block.next() == next.block
    }
}

/// What a request sent, without how the host's side carried it out: that side does not hold it any more.
fn write_items(items: &[SentItem], out: &mut Writer) {
    out.number(items.len() as u64);
    for item in items {
        out.hash(item.key);
        out.number(item.ids);
        out.perhaps((!item.source.is_none()).then(|| item.source.into()));
    }
}

#[inline(never)]
fn read_items(reader: &mut Reader<'_>) -> Vec<SentItem> {
    let mut items = Vec::new();
    for _ in 0..reader.count() {
        let (key, ids, source) = (reader.hash(), reader.number(), reader.perhaps());
        let source = source.and_then(|at| u32::try_from(at).ok()).map(MessageId::from);
        items.push(SentItem { key, ids, source: source.unwrap_or(MessageId::NONE), carried: 0 });
    }
    items
}

#[inline(never)]
fn read_rents(reader: &mut Reader<'_>) -> Vec<(BlockId, u64)> {
    let mut rents = Vec::new();
    let mut block = BlockId::FIRST;
    for _ in 0..reader.count() {
        block = block.plus(reader.small());
        rents.push((block, reader.number()));
    }
    rents
}

#[inline(never)]
fn read_changed(reader: &mut Reader<'_>) -> Vec<Changed> {
    let mut rules = Vec::new();
    for _ in 0..reader.count() {
        match Rule::parse(reader.text()) {
            Some(rule) => rules.push(rule),
            None => reader.refuse("a rule is unknown"),
        }
    }
    let mut changed: Vec<Changed> = Vec::new();
    let mut end = BlockId::FIRST;
    loop {
        let length = reader.small();
        if length == 0 {
            return changed;
        }
        let first = end.plus(reader.small());
        end = first.plus(length);
        let rule = rules.get(reader.small() as usize).copied();
        let why =
            Why { rule: rule.unwrap_or(Rule::Repair), epoch: reader.small(), call: reader.small() };
        let form = match reader.number() {
            CAPPED => Shape::Cut(want_of(reader.number()), Form::Capped),
            CUT => Shape::Cut(want_of(reader.number()), Form::Stubbed),
            STUBBED => Shape::Stubbed(reader.text().into()),
            _ => Shape::Gone,
        };
        let now = if form == Shape::Gone { 0 } else { reader.small() };
        let too_many = changed.len().saturating_add(length as usize) > MOST_BLOCKS;
        if rule.is_none() || too_many || (length > 1 && form != Shape::Gone) {
            reader.refuse("a run has no rule, or no end");
            return Vec::new();
        }
        for block in first.to(end) {
            changed.push(Changed { block, now, why, form: form.clone() });
        }
    }
}
