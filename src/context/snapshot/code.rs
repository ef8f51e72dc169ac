//! A snapshot as bytes.

use super::bytes::{Reader, Writer, corrupt};
use super::{Changed, Shape, Snapshot, Why};
use crate::error::Result;
use crate::format::Format;
use crate::prune::{Head, Rule};

const CAPPED: u64 = 1;
const STUBBED: u64 = 2;
const GONE: u64 = 3;

impl Snapshot {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.number(self.upto.into());
        out.text(self.format.name());
        out.number(self.certain.into());
        out.hash(self.before);
        out.number(self.marks.len() as u64);
        for &mark in &self.marks {
            out.mark(mark);
        }
        out.number(self.epoch.into());
        out.perhaps(self.at_ms.and_then(|at| u64::try_from(at).ok()));
        out.number(self.peak);
        out.number(self.tokens);
        out.number(self.parts.is_some().into());
        if let Some((fingerprint, tokens)) = self.parts {
            out.hash(fingerprint);
            out.number(tokens);
        }
        out.number(self.fold_due.into());
        out.number(self.start.into());
        out.number(self.head.is_some().into());
        if let Some(head) = &self.head {
            out.number(head.tokens.into());
            out.number(head.digest.len() as u64);
            for &id in &head.digest {
                out.number(id.into());
            }
            out.number(head.summary.into());
            out.number(head.folds.into());
            out.text(&self.said);
        }
        out.number(self.fold_rent);
        out.perhaps(self.charged.map(u64::from));
        self.write_changed(&mut out);
        let (blocks, rents): (Vec<u32>, Vec<u64>) = self.rents.iter().copied().unzip();
        out.ascending(&blocks);
        for rent in rents {
            out.number(rent);
        }
        out.ascending(&self.unbound);
        out.ascending(&self.stubbed);
        out.ascending(&self.summarized);
        out.done()
    }

    /// Runs of blocks that went the same way at the same time; rules by their names, each once.
    fn write_changed(&self, out: &mut Writer) {
        let mut rules: Vec<Rule> = self.changed.iter().map(|changed| changed.why.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        out.number(rules.len() as u64);
        for rule in &rules {
            out.text(rule.name());
        }
        let runs: Vec<&[Changed]> = self.changed.chunk_by(Changed::goes_on).collect();
        out.number(runs.len() as u64);
        let mut end = 0;
        for run in runs {
            let Some(first) = run.first() else { continue };
            let why = first.why;
            out.number(first.block.saturating_sub(end).into());
            out.number(run.len() as u64);
            end = first.block.saturating_add(super::count(run.len()));
            out.number(rules.binary_search(&why.rule).unwrap_or_default() as u64);
            out.number(why.epoch.into());
            out.number(why.call.into());
            match &first.form {
                Shape::Gone => out.number(GONE),
                Shape::Capped(tokens) => {
                    out.number(CAPPED);
                    out.number((*tokens).into());
                    out.number(first.now.into());
                }
                Shape::Stubbed(line) => {
                    out.number(STUBBED);
                    out.text(line);
                    out.number(first.now.into());
                }
            }
        }
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut given = Reader::new(bytes)?;
        let upto = given.small()?;
        let format = Format::parse(&given.text()?).map_err(|_| corrupt("a format is unknown"))?;
        let certain = given.flag()?;
        let before = given.hash()?;
        let marks = (0..given.count()?).map(|_| given.mark()).collect::<Result<_>>()?;
        let epoch = given.small()?;
        let at_ms = given.perhaps()?.and_then(|at| i64::try_from(at).ok());
        let peak = given.number()?;
        let tokens = given.number()?;
        let parts = if given.flag()? { Some((given.hash()?, given.number()?)) } else { None };
        let fold_due = given.flag()?;
        let start = given.small()?;
        let (head, said) = if given.flag()? {
            let tokens = given.small()?;
            let digest = (0..given.count()?).map(|_| given.small()).collect::<Result<_>>()?;
            let (summary, folds) = (given.flag()?, given.small()?);
            (Some(Head { tokens, digest, summary, folds }), given.text()?)
        } else {
            (None, String::new())
        };
        let fold_rent = given.number()?;
        let charged = given.perhaps()?.and_then(|call| u32::try_from(call).ok());
        let blocks_changed = read_changed(&mut given)?;
        let blocks = given.ascending()?;
        let rents =
            blocks.into_iter().map(|at| Ok((at, given.number()?))).collect::<Result<_>>()?;
        let unbound = given.ascending()?;
        let stubbed = given.ascending()?;
        let summarized = given.ascending()?;
        given.end()?;
        Ok(Self {
            upto,
            format,
            certain,
            before,
            marks,
            epoch,
            at_ms,
            peak,
            tokens,
            parts,
            fold_due,
            start,
            head,
            said,
            fold_rent,
            charged,
            changed: blocks_changed,
            rents,
            unbound,
            stubbed,
            summarized,
            items: None,
        })
    }
}

impl Changed {
    /// The next block went with this one, and nothing stands in its place.
    fn goes_on(&self, next: &Self) -> bool {
        let gone = [&self.form, &next.form].into_iter().all(|form| *form == Shape::Gone);
        gone && self.why == next.why && self.block.saturating_add(1) == next.block
    }
}

fn read_changed(given: &mut Reader<'_>) -> Result<Vec<Changed>> {
    let mut rules = Vec::new();
    for _ in 0..given.count()? {
        let rule = Rule::parse(&given.text()?).ok_or_else(|| corrupt("a rule is unknown"))?;
        rules.push(rule);
    }
    let mut changed: Vec<Changed> = Vec::new();
    let mut end = 0u32;
    for _ in 0..given.count()? {
        let first = end.checked_add(given.small()?);
        let length = given.small()?;
        let run = first.and_then(|first| Some(first..first.checked_add(length)?));
        let run =
            run.filter(|_| length <= MOST_BLOCKS).ok_or_else(|| corrupt("a run has no end"))?;
        end = run.end;
        let rule = rules.get(usize::try_from(given.number()?).unwrap_or(usize::MAX));
        let rule = *rule.ok_or_else(|| corrupt("a rule has no name"))?;
        let why = Why { rule, epoch: given.small()?, call: given.small()? };
        let form = match given.number()? {
            CAPPED => Shape::Capped(given.small()?),
            STUBBED => Shape::Stubbed(given.text()?),
            GONE => Shape::Gone,
            _ => return Err(corrupt("a form is unknown")),
        };
        let now = if form == Shape::Gone { 0 } else { given.small()? };
        changed.extend(run.map(|block| Changed { block, now, why, form: form.clone() }));
    }
    Ok(changed)
}

/// No session has more; a longer run is a forgery that would fill the memory.
const MOST_BLOCKS: u32 = 10_000_000;
