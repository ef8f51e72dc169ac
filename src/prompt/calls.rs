//! Entry points for the host: each takes one JSON object of arguments and returns JSON.

use std::borrow::Cow;
use std::fmt::Arguments;

use super::{
    Budget, Locale, Rule, Section, Split, TierFile, Truncated, base_priority, build_context,
    descriptions, known_keys, match_rules, memory_tiers, task_focus, tier_names, trim_descriptions,
    workspace_sections,
};
use crate::argument::{self, each, text};
use crate::error::{Error, Result};
use crate::focus::{Focus, LANGUAGES};
use crate::json::{
    Members, RawValue, Shape, Type, Value, impl_json, optional, required, string, write,
};

impl_json!(Section<'_> {
    key, content, priority, protected, source as "source?", scope as "scope?", reason as "reason?", evidence, stable
});
const SECTION: Shape = Shape {
    what: "a section: { key, content, priority }",
    members: &[
        required("key", Type::Text),
        required("content", Type::Text),
        optional("priority", Type::Integer),
        optional("protected", Type::Flag),
        optional("source", Type::Text),
        optional("scope", Type::Text),
        optional("reason", Type::Text),
        optional("evidence", Type::Items),
        optional("stable", Type::Flag),
    ],
    closed: true,
};
const BUDGET: Shape = Shape {
    what: "a budget: { maxPerTierChars, maxTotalChars }",
    members: &[
        required("maxPerTierChars", Type::Integer),
        required("maxTotalChars", Type::Integer),
    ],
    closed: true,
};
const WINDOW: Shape = Shape {
    what: "a window: { contextTokens, maxOutputTokens }",
    members: &[
        required("contextTokens", Type::Integer),
        optional("maxOutputTokens", Type::Integer),
    ],
    closed: true,
};
const LOCALE: Shape = Shape {
    what: "a locale: \"en\", \"vi\", \"zh\" or { memoryHeader, truncated, compressed, question }",
    members: &[
        required("memoryHeader", Type::Text),
        required("truncated", Type::Text),
        required("compressed", Type::Text),
        required("question", Type::Text),
    ],
    closed: true,
};
const FILE: Shape = Shape {
    what: "a file: { path, content }",
    members: &[
        optional("tier", Type::Text),
        optional("name", Type::Text),
        optional("path", Type::Text),
        required("content", Type::Text),
    ],
    closed: false,
};

/// `requestFocus`: `{query, recent, projectRoot, languages}`.
pub fn focus(json: &str) -> Result<String> {
    const ARGUMENTS: Shape = Shape {
        what: "arguments",
        members: &[
            required("query", Type::Text),
            optional("recent", Type::Items),
            optional("projectRoot", Type::Text),
            optional("languages", Type::Items),
        ],
        closed: true,
    };
    let mut members = argument::read(&ARGUMENTS, json, format_args!(""))?;
    let query = members.text("query").unwrap_or_default();
    let recent = each(members.items("recent"), format_args!("recent"), text)?;
    let root = members.text("projectRoot");
    let languages = match members.items("languages") {
        None => LANGUAGES.map(ToOwned::to_owned).to_vec(),
        some => each(some, format_args!("languages"), text)?,
    };
    if let Some(other) = languages.iter().find(|it| !LANGUAGES.contains(&it.as_str())) {
        return Err(Error::argument(
            "languages",
            &format!("some of {}", LANGUAGES.join(", ")),
            other,
        ));
    }
    let recent: Vec<&str> = recent.iter().map(String::as_str).collect();
    let languages: Vec<&str> = languages.iter().map(String::as_str).collect();
    Ok(write(&Focus::of(&query, &recent, root.as_deref(), &languages)))
}

/// `promptBudget`: a window.
pub fn budget(json: &str) -> Result<String> {
    let mut window = argument::read(&WINDOW, json, format_args!("window"))?;
    let tokens = |value: Option<i64>, name: &str| {
        let value = value.unwrap_or(0);
        u64::try_from(value).map_err(|_| Error::argument(name, "a number of tokens", value))
    };
    let context = tokens(window.integer("contextTokens"), "window.contextTokens")?;
    let output = tokens(window.integer("maxOutputTokens"), "window.maxOutputTokens")?;
    let budget = if context == 0 { Budget::default() } else { Budget::for_window(context, output) };
    let mut out = String::new();
    crate::json::object(
        &[("max_per_tier_chars", &budget.per_tier), ("max_total_chars", &budget.total)],
        &mut out,
    );
    Ok(out)
}

/// `truncateText`: `{text, maxChars, head, tail, marker}`, shares in thousandths.
pub fn truncate(json: &str) -> Result<String> {
    const ARGUMENTS: Shape = Shape {
        what: "arguments",
        members: &[
            required("text", Type::Text),
            required("maxChars", Type::Integer),
            optional("head", Type::Integer),
            optional("tail", Type::Integer),
            optional("marker", Type::Text),
        ],
        closed: true,
    };
    let mut members = argument::read(&ARGUMENTS, json, format_args!(""))?;
    let text = members.text("text").unwrap_or_default();
    let usual = Split::default();
    let marker = members.text("marker");
    let mut share = |name, usual| {
        Ok(members
            .integer(name)
            .map(|it| size(it, name))
            .transpose()?
            .map_or(usual, |it| u32::try_from(it).unwrap_or(1000)))
    };
    let split = Split {
        head: share("head", usual.head)?,
        tail: share("tail", usual.tail)?,
        marker: marker.as_deref().unwrap_or(usual.marker),
    };
    let max = size(members.integer("maxChars").unwrap_or_default(), "maxChars")?;
    let Truncated { text, original_chars, truncated } = super::truncate(&text, max, &split);
    let mut out = String::new();
    crate::json::object(
        &[("text", &&*text), ("original_chars", &original_chars), ("truncated", &truncated)],
        &mut out,
    );
    Ok(out)
}

/// `memoryTiers`: `{files}`.
pub fn tiers(json: &str) -> Result<String> {
    let mut members = files(json)?;
    let files = each(members.items("files"), format_args!("files"), tier_file)?;
    let sections = memory_tiers(&files);
    let unknown = |tier: String| {
        let at = files.iter().position(|file| file.tier == tier).unwrap_or_default();
        Error::argument(&format!("files[{at}].tier"), &format!("one of {}", tier_names()), tier)
    };
    Ok(write(&sections.map_err(unknown)?))
}

/// `matchRules`: `{files, active}`.
pub fn rules(json: &str) -> Result<String> {
    let mut members = files(json)?;
    let rules = each(members.items("files"), format_args!("rules"), rule)?;
    let active = each(members.items("active"), format_args!("activeFilePaths"), text)?;
    Ok(write(&match_rules(&rules, &active)))
}

/// The sections of a workspace: `{files, rules, focus, subagent}`.
pub fn workspace(json: &str) -> Result<String> {
    let mut members = files(json)?;
    let named = each(members.items("files"), format_args!("files"), named_file)?;
    let rules = each(members.items("rules"), format_args!("rules"), rule)?;
    let focus = members.raw("focus").map(Focus::parse).transpose()?;
    let mut sections = workspace_sections(&named, members.flag("subagent").unwrap_or(false));
    if let Some(focus) = &focus {
        sections.extend(task_focus(focus));
        sections.extend(match_rules(&rules, focus.paths()));
    }
    Ok(write(&sections))
}

/// `trimToolDescriptions`: `{tools, maxChars}`; the answer is edits of the tools.
pub fn trim(json: &str) -> Result<String> {
    const ARGUMENTS: Shape = Shape {
        what: "arguments",
        members: &[required("tools", Type::Items), required("maxChars", Type::Integer)],
        closed: true,
    };
    let mut members = argument::read(&ARGUMENTS, json, format_args!(""))?;
    let mut found = Vec::new();
    for (at, tool) in members.items("tools").unwrap_or_default().into_iter().enumerate() {
        descriptions(format!("/{at}"), &format!("tools[{at}]"), tool, &mut found)?;
    }
    let all: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
    let max = size(members.integer("maxChars").unwrap_or_default(), "maxChars")?;
    let cut = trim_descriptions(&all, max);
    let mut edits = Vec::new();
    for ((path, _), cut) in found.iter().zip(&cut).filter(|((_, text), cut)| text != *cut) {
        edits.push(Value::of("op path value", &[&"replace", path, cut]));
    }
    Ok(write(&edits))
}

/// `buildContext`: `{memories, text, maxChars, locale}`.
pub fn remember(json: &str) -> Result<String> {
    let mut members = argument::read(&WORDS, json, format_args!(""))?;
    let memories = each(members.items("memories"), format_args!("memories"), text)?;
    let memories: Vec<&str> = memories.iter().map(String::as_str).collect();
    let (message, max, locale) = words(&mut members)?;
    Ok(write(&build_context(&memories, &message, max, &locale)))
}

/// `compressText`: `{text, maxChars, locale}`.
pub fn compress(json: &str) -> Result<String> {
    let mut members = argument::read(&WORDS, json, format_args!(""))?;
    let (text, max, locale) = words(&mut members)?;
    Ok(write(&super::compress(&text, max, &locale)))
}

const WORDS: Shape = Shape {
    what: "arguments",
    members: &[
        optional("memories", Type::Items),
        required("text", Type::Text),
        required("maxChars", Type::Integer),
        optional("locale", Type::Raw),
    ],
    closed: true,
};

fn words<'a>(members: &mut Members<'a>) -> Result<(Cow<'a, str>, usize, Locale)> {
    let locale = match members.raw("locale") {
        None => Locale::named("en").unwrap_or_else(|| Locale {
            memory_header: String::new(),
            truncated: String::new(),
            compressed: String::new(),
            question: String::new(),
        }),
        Some(raw) => locale_of(raw)?,
    };
    let max = size(members.integer("maxChars").unwrap_or_default(), "maxChars")?;
    Ok((members.text("text").unwrap_or_default(), max, locale))
}

fn files(json: &str) -> Result<Members<'_>> {
    const ARGUMENTS: Shape = Shape {
        what: "arguments",
        members: &[
            required("files", Type::Items),
            optional("rules", Type::Items),
            optional("active", Type::Items),
            optional("focus", Type::Raw),
            optional("subagent", Type::Flag),
        ],
        closed: true,
    };
    argument::read(&ARGUMENTS, json, format_args!(""))
}

pub(super) fn section<'a>(argument: Arguments<'_>, raw: &'a RawValue) -> Result<Section<'a>> {
    let mut members = argument::read(&SECTION, raw, argument)?;
    let key = members.text("key").unwrap_or_default();
    let own =
        members.integer("priority").map(|own| u32::try_from(own.clamp(0, 100)).unwrap_or_default());
    let Some(priority) = own.or_else(|| base_priority(&key)) else {
        let expected = format!("a priority, 0 to 100 (known without one: {})", known_keys());
        return Err(Error::argument(
            &format!("{argument}.priority"),
            &expected,
            format_args!("none for the key {key:?}"),
        ));
    };
    Ok(Section {
        key,
        content: members.text("content").unwrap_or_default(),
        priority,
        protected: members.flag("protected").unwrap_or(false),
        source: members.text("source"),
        scope: members.text("scope"),
        reason: members.text("reason"),
        evidence: each(members.items("evidence"), format_args!("{argument}.evidence"), text)?,
        stable: members.flag("stable").unwrap_or(false),
    })
}

fn tier_file(argument: Arguments<'_>, raw: &RawValue) -> Result<TierFile> {
    let mut members = argument::read(&FILE, raw, argument)?;
    Ok(TierFile {
        tier: members.text("tier").unwrap_or_default().into_owned(),
        content: members.text("content").unwrap_or_default().into_owned(),
        path: members.text("path").map(Cow::into_owned),
    })
}

fn named_file(argument: Arguments<'_>, raw: &RawValue) -> Result<TierFile> {
    let mut members = argument::read(&FILE, raw, argument)?;
    Ok(TierFile {
        tier: members.text("name").unwrap_or_default().into_owned(),
        content: members.text("content").unwrap_or_default().into_owned(),
        path: members.text("path").map(Cow::into_owned),
    })
}

fn rule(argument: Arguments<'_>, raw: &RawValue) -> Result<Rule> {
    let mut members = argument::read(&FILE, raw, argument)?;
    Ok(Rule {
        path: members.text("path").unwrap_or_default().into_owned(),
        content: members.text("content").unwrap_or_default().into_owned(),
    })
}

pub(super) fn budget_of(raw: &RawValue) -> Result<Budget> {
    let mut members = argument::read(&BUDGET, raw, format_args!("budget"))?;
    let mut chars =
        |name: &str| size(members.integer(name).unwrap_or_default(), &format!("budget.{name}"));
    Ok(Budget { per_tier: chars("maxPerTierChars")?, total: chars("maxTotalChars")? })
}

pub(super) fn locale_of(raw: &RawValue) -> Result<Locale> {
    if let Ok(name) = string(raw) {
        return Locale::named(&name)
            .ok_or_else(|| Error::argument("locale", LOCALE.what, Value::from(&*name)));
    }
    let mut members = argument::read(&LOCALE, raw, format_args!("locale"))?;
    let mut words = |name| members.text(name).unwrap_or_default().into_owned();
    Ok(Locale {
        memory_header: words("memoryHeader"),
        truncated: words("truncated"),
        compressed: words("compressed"),
        question: words("question"),
    })
}

fn size(value: i64, argument: &str) -> Result<usize> {
    let size = u64::try_from(value)
        .map_err(|_| Error::argument(argument, "a whole number, 0 or more", value))?;
    Ok(usize::try_from(size).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests;
