//! Sections under a budget: each cut to its own share first, then the lowest priorities go until the whole fits.

use std::borrow::Cow;

use super::aceclaw::place;
use super::boost::boost;
use super::budget::Budget;
use super::section::{Order, Protect, Section};
use super::truncate::{Split, truncate};
use crate::error::{Error, Result};
use crate::estimate::Estimator;
use crate::focus::Focus;
use crate::hash::fnv;
use crate::sort::{down, sort_by};
use crate::text::utf16_len;

/// A section that would be cut to less than this goes whole: a fragment says nothing.
const LEAST_FRAGMENT: usize = 200;

/// How a prompt is put together.
#[derive(Clone, Debug, Default)]
pub struct Options<'f> {
    /// Characters.
    pub budget: Budget,
    /// What the request is about: lifts priorities.
    pub focus: Option<&'f Focus>,
    /// Protected sections over the total.
    pub protect: Protect,
    /// The order in the prompt.
    pub order: Order,
    /// What stands where a section was cut (as `Split::marker`), if not the usual.
    pub marker: Option<&'f str>,
}

/// A prompt, and what became of each section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan<'s> {
    /// The prompt: what is included, one after the other, nothing between.
    pub prompt: String,
    /// Its UTF-16 code units.
    pub total_chars: usize,
    /// Of its start: so much is the same whatever the sections that are not stable are.
    pub stable_prefix_chars: usize,
    /// The same start, the same key: what a prompt cache may be known by.
    pub stable_prefix_key: String,
    /// Keys of sections that were cut or left out, as given.
    pub truncated: Vec<&'s str>,
    /// One for each section that is not blank, in the order of the prompt.
    pub sections: Vec<Report<'s>>,
}

/// What became of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report<'s> {
    /// Its name.
    pub key: &'s str,
    /// Where it comes from; its key's family if nobody said.
    pub source_type: &'s str,
    /// `always-on` or `task-local`.
    pub scope_type: &'s str,
    /// Why it is, or is not, in the prompt.
    pub inclusion_reason: Cow<'s, str>,
    /// With its boost.
    pub priority: u32,
    /// Without.
    pub base_priority: u32,
    /// As given.
    pub protected: bool,
    /// UTF-16 code units of its text.
    pub original_chars: usize,
    /// Of what is included.
    pub final_chars: usize,
    /// Tokens of that, by the default profile.
    pub estimated_tokens: u32,
    /// Where it stands in the prompt.
    pub offset: Option<usize>,
    /// It is in the prompt, whole or cut.
    pub included: bool,
    /// It was cut or left out.
    pub truncated: bool,
    /// What speaks for it: given, then boosts.
    pub evidence: Vec<String>,
    /// The total budget from which on the total cuts nothing of it.
    pub whole_from_total_chars: usize,
}

/// A section on its way.
struct Candidate<'s> {
    section: &'s Section<'s>,
    priority: u32,
    evidence: Vec<String>,
    chars: usize,
    /// After its own cap.
    capped: usize,
    /// After the total.
    allowed: usize,
    complete_from: usize,
}

/// The prompt of these sections.
///
/// Blank sections are none. Whatever the total leaves no room for goes, lowest priority first; of those with the same
/// priority the first given. One is cut at the border, if what would be left of it says anything.
///
/// # Errors
/// `InvalidArgument`: a budget of nothing; protected sections over the total where that is an error.
pub fn assemble<'s>(sections: &'s [Section<'s>], options: &Options<'_>) -> Result<Plan<'s>> {
    let budget = options.budget.checked()?;
    let mut all: Vec<Candidate<'_>> = Vec::new();
    for section in sections.iter().filter(|section| !section.content.trim().is_empty()) {
        let lifted = options.focus.map(|focus| boost(section, focus)).unwrap_or_default();
        let chars = utf16_len(&section.content);
        let capped = if section.protected { chars } else { chars.min(budget.per_tier) };
        all.push(Candidate {
            section,
            priority: if options.focus.is_some() {
                lifted.priority
            } else {
                section.priority.min(100)
            },
            evidence: lifted.evidence,
            chars,
            capped,
            allowed: capped,
            complete_from: 0,
        });
    }
    share(&mut all, budget.total, options.protect)?;
    match options.order {
        Order::Insertion => {}
        Order::StableFirst => {
            sort_by(&mut all, |candidate| (i64::from(!candidate.section.stable), 0));
        }
        Order::Aceclaw => {
            sort_by(&mut all, |candidate| place(&candidate.section.key, candidate.priority));
        }
    }
    let usual = Split::default();
    Ok(write(&all, &Split { marker: options.marker.unwrap_or(usual.marker), ..usual }))
}

/// Gives the total to the sections, those that matter most first.
fn share(all: &mut [Candidate<'_>], total: usize, protect: Protect) -> Result<()> {
    let mut ranked: Vec<(usize, bool, u32)> =
        all.iter().enumerate().map(|(at, it)| (at, it.section.protected, it.priority)).collect();
    ranked.reverse();
    sort_by(&mut ranked, |(_, protected, priority)| {
        (i64::from(!protected), down(u64::from(*priority)))
    });
    let (mut room, mut needed) = (total, 0usize);
    for (at, protected, _) in ranked {
        let Some(it) = all.get_mut(at) else { continue };
        needed = needed.saturating_add(it.capped);
        it.complete_from = needed;
        if it.capped <= room || protected && protect == Protect::Never {
            room = room.saturating_sub(it.capped);
            continue;
        }
        if protected && protect == Protect::Error {
            let expected = format!("protected sections of at most {total} chars");
            return Err(Error::argument(
                "sections",
                &expected,
                format_args!("{needed} up to \"{}\"", it.section.key),
            ));
        }
        it.allowed = if room < LEAST_FRAGMENT { 0 } else { room };
        room = 0;
    }
    Ok(())
}

fn write<'s>(all: &[Candidate<'s>], split: &Split<'_>) -> Plan<'s> {
    let mut plan = Plan {
        prompt: String::new(),
        total_chars: 0,
        stable_prefix_chars: 0,
        stable_prefix_key: String::new(),
        truncated: Vec::new(),
        sections: Vec::with_capacity(all.len()),
    };
    let mut prefix_goes_on = true;
    let mut prefix_bytes = 0;
    for it in all {
        let text = match it.allowed {
            0 => Cow::Borrowed(""),
            allowed => truncate(&it.section.content, allowed, split).text,
        };
        let report = report(it, &text, plan.total_chars);
        plan.total_chars = plan.total_chars.saturating_add(report.final_chars);
        // What the total cut depends on the others' sizes.
        prefix_goes_on &= it.section.stable && it.allowed == it.capped;
        if report.truncated {
            plan.truncated.push(report.key);
        }
        plan.prompt.push_str(&text);
        plan.sections.push(report);
        if prefix_goes_on {
            plan.stable_prefix_chars = plan.total_chars;
            prefix_bytes = plan.prompt.len();
        }
    }
    plan.stable_prefix_key = format!("{:016x}", fnv(plan.prompt.bytes().take(prefix_bytes)));
    plan
}

/// A100: what is about the request at hand.
fn scope_of(family: &str) -> &'static str {
    let local = ["task-focus", "rules", "candidates", "git"].contains(&family);
    if local { "task-local" } else { "always-on" }
}

fn report<'s>(it: &Candidate<'s>, text: &str, offset: usize) -> Report<'s> {
    let section = it.section;
    let included = !text.is_empty();
    let family = || section.key.split_once(':').map_or(&*section.key, |(family, _)| family);
    let mut evidence = section.evidence.clone();
    evidence.extend(it.evidence.iter().cloned());
    let why = if it.allowed < it.capped || !included {
        let fate = if included { "cut" } else { "left out" };
        format!("{fate} by the total: whole from {} chars on", it.complete_from).into()
    } else if it.allowed < it.chars {
        "cut to the most that a section may have".into()
    } else {
        section.reason.as_deref().unwrap_or("fits").into()
    };
    Report {
        key: &section.key,
        source_type: section.source.as_deref().unwrap_or_else(family),
        scope_type: section.scope.as_deref().unwrap_or_else(|| scope_of(family())),
        inclusion_reason: why,
        priority: it.priority,
        base_priority: section.priority,
        protected: section.protected,
        original_chars: it.chars,
        final_chars: if it.allowed == it.chars { it.chars } else { utf16_len(text) },
        estimated_tokens: Estimator::default().tokens(text),
        offset: included.then_some(offset),
        included,
        truncated: it.allowed < it.chars,
        evidence,
        whole_from_total_chars: it.complete_from,
    }
}

#[cfg(test)]
mod tests;
