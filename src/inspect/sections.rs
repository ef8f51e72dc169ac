//! The sections of a system prompt that was given as the plan it came from.

use std::borrow::Cow;

use crate::context::{Plan, system_text};
use crate::estimate::Estimator;
use crate::json::{self, RawValue, Value};
use crate::text::{prefix, utf16_len};

/// Sources whose sections have a bucket of their own; all others are the prompt's core (A103).
const GROUPS: [(&str, &str); 5] = [
    ("rules", "rules"),
    ("candidates", "candidates"),
    ("skills", "skills"),
    ("learned-signals", "learned"),
    ("memory", "memory"),
];
/// What is in no group.
pub(super) const CORE: &str = "core";

/// A system prompt as it is reported.
#[derive(Default)]
pub(super) struct Prompt<'a> {
    /// Its words.
    pub text: String,
    /// Its sections; none where it is no plan.
    pub sections: Vec<Section<'a>>,
    focus: Option<&'a RawValue>,
    budget: Option<&'a RawValue>,
    truncated: Option<&'a RawValue>,
}

/// A section, with its cost by the session's own estimator.
pub(super) struct Section<'a> {
    pub key: String,
    pub group: &'static str,
    pub tokens: u64,
    pub original_chars: u64,
    pub final_chars: u64,
    /// Where it stands in the prompt; none: it does not.
    offset: Option<u64>,
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Prompt<'a> {
    /// Reads what goes out as the system prompt (JSON).
    pub(super) fn read(system: &'a RawValue, total: u64, estimator: Estimator) -> Self {
        let text = system_text(system);
        let Some(plan) = Plan::read(system) else { return Self { text, ..Self::default() } };
        let listed = plan.of("sections").and_then(|it| json::items(it).ok()).unwrap_or_default();
        let mut sections: Vec<Section<'_>> = listed.into_iter().filter_map(Section::read).collect();
        let mut cursor = Cursor { chars: 0, at: 0 };
        for section in &mut sections {
            let words = cursor.words(&text, section);
            section.tokens = estimator.tokens(words).into();
        }
        tile(&mut sections, utf16_len(&text) as u64, total);
        let (focus, budget) = (plan.of("focus"), plan.of("budget"));
        Self { text, sections, focus, budget, truncated: plan.of("truncatedSectionKeys") }
    }

    /// What the request is about, what the prompt was held to, and the keys of what was cut: as the plan has them.
    pub(super) fn plan(&self) -> (Value, Value, Value) {
        let raw = |it: Option<&RawValue>| it.map_or(Value::NULL, |it| Value::raw(it.into()));
        let truncated =
            self.truncated.map_or_else(|| Value::array(&[]), |it| Value::raw(it.into()));
        (raw(self.focus), raw(self.budget), truncated)
    }

    /// What stands in the prompt of a section, or all of it.
    pub(super) fn words(&self, key: &str) -> Option<&str> {
        let section = self.sections.iter().find(|it| it.key == key);
        let all = (key == SYSTEM && !self.text.is_empty()).then_some(&*self.text);
        section.map(|it| Cursor { chars: 0, at: 0 }.words(&self.text, it)).or(all)
    }
}

/// The key of the whole prompt.
pub(super) const SYSTEM: &str = "system";

impl<'a> Section<'a> {
    fn read(json: &'a RawValue) -> Option<Self> {
        let members = json::members(json).ok()?;
        let of = |name| members.iter().find(|(key, _)| key == name).map(|(_, it)| *it);
        let number = |name| of(name).and_then(|it| it.parse().ok());
        let text = |name| of(name).and_then(|it| json::string(it).ok()).unwrap_or_default();
        let source = text("sourceType");
        let group = GROUPS.into_iter().find(|(of, _)| *of == source).map_or(CORE, |(_, it)| it);
        Some(Self {
            key: text("key").into(),
            group,
            tokens: 0,
            original_chars: number("originalChars").unwrap_or(0),
            final_chars: number("finalChars").unwrap_or(0),
            offset: number("offset"),
            members,
        })
    }

    /// As the plan tells it, at the session's own cost.
    pub(super) fn shown(&self) -> Value {
        const COST: &str = "estimatedTokens";
        let cost = || Value::raw(json::write(&self.tokens));
        let mut members: Vec<(&str, Value)> = Vec::with_capacity(self.members.len());
        for (name, raw) in &self.members {
            members.push((name, if name == COST { cost() } else { Value::raw((*raw).into()) }));
        }
        if !members.iter().any(|(name, _)| *name == COST) {
            members.push((COST, cost()));
        }
        Value::object(&members)
    }
}

/// A place in a text, by UTF-16 code units and by bytes: sections mostly stand in its order.
struct Cursor {
    chars: u64,
    at: usize,
}

impl Cursor {
    fn words<'t>(&mut self, text: &'t str, section: &Section<'_>) -> &'t str {
        let Some(offset) = section.offset else { return "" };
        let (chars, at) = if offset < self.chars { (0, 0) } else { (self.chars, self.at) };
        let rest = text.get(at..).unwrap_or_default();
        let skipped = prefix(rest, count(offset.saturating_sub(chars)));
        let words =
            prefix(rest.get(skipped.len()..).unwrap_or_default(), count(section.final_chars));
        *self = Self {
            chars: offset.saturating_add(section.final_chars),
            at: at.saturating_add(skipped.len()).saturating_add(words.len()),
        };
        words
    }
}

fn count(chars: u64) -> usize {
    usize::try_from(chars).unwrap_or(usize::MAX)
}

/// Sections that are all of the prompt cost together what it costs: what rounding leaves over is dealt out.
fn tile(sections: &mut [Section<'_>], chars: u64, total: u64) {
    let (mut all, mut tokens) = (0u64, 0u64);
    for section in sections.iter().filter(|it| it.offset.is_some()) {
        all = all.saturating_add(section.final_chars);
        tokens = tokens.saturating_add(section.tokens);
    }
    if all != chars {
        return;
    }
    let share = |upto: u64| total.saturating_mul(upto).checked_div(tokens).unwrap_or(0);
    let mut upto = 0u64;
    for section in sections {
        let from = share(upto);
        upto = upto.saturating_add(section.tokens);
        section.tokens = share(upto).saturating_sub(from);
    }
}
