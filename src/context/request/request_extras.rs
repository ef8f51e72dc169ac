//! Request extras: system prompt, tool definitions, and tokens that are not visible to us.

use std::borrow::Cow;

use crate::context::request::recall::QUOTED;
use crate::context::transcript::counter::Counter;
use crate::error::{Error, Result};
use crate::estimate::DEFINITION;
use crate::hash::fnv;
use crate::json::{self, RawValue, Reader, Shape, Type, optional};

/// The measure of a request's other parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Tokens of the system prompt.
    pub system: u64,
    /// Tokens of the tool definitions.
    pub tools: u64,
    /// Tokens that we are not shown.
    pub unseen: u64,
    /// Of system and tools: a change opens an epoch.
    pub fingerprint: u64,
    /// UTF-16 code units of the system prompt and of the tool definitions.
    pub chars: (u64, u64),
    /// How many definitions there are; `None`: the host does not say.
    pub definitions: Option<u32>,
    /// Cache markers on blocks of the system prompt and on definitions.
    pub marks: u32,
    /// Bytes of the JSON of both.
    pub bytes: u64,
    /// The agent may ask for what was cut.
    pub recalls: bool,
    /// The host appends more after these messages, which we are not shown.
    pub open: bool,
}

const PARTS: Shape = Shape {
    what: "parts: { system, tools, unseenTokens, open }",
    members: &[
        optional("system", Type::Raw),
        optional("tools", Type::Raw),
        optional("unseenTokens", Type::Integer),
        optional("open", Type::Flag),
    ],
    closed: true,
};

impl Parts {
    /// Measures `{system, tools, unseenTokens, open}`.
    ///
    /// # Errors
    /// `InvalidArgument` names the part.
    pub(in crate::context) fn parse(json: &str, counter: &mut Counter<'_>) -> Result<Self> {
        let Words { system, tools, definitions, known, marks, bytes, unseen, open, fingerprint } =
            Words::parse(json)?;
        let recalls = !tools.is_empty() && names_recall(&tools);
        let overhead = u64::from(DEFINITION).saturating_mul(definitions as u64);
        let chars = |text: &str| crate::text::utf16_len(text) as u64;
        Ok(Self {
            system: u64::from(counter.tokens(&system)),
            tools: u64::from(counter.tokens(&tools)).saturating_add(overhead),
            unseen: u64::from(unseen),
            fingerprint,
            chars: (chars(&system), chars(&tools)),
            definitions: known,
            marks,
            bytes,
            recalls,
            open,
        })
    }

    /// Its texts that are counted.
    ///
    /// # Errors
    /// `InvalidArgument` names the part.
    pub(in crate::context) fn texts(json: &str) -> Result<Vec<String>> {
        let words = Words::parse(json)?;
        let mut texts = vec![words.system, words.tools];
        texts.retain(|text| !text.is_empty());
        Ok(texts)
    }

    /// All its tokens.
    pub fn total(&self) -> u64 {
        self.system.saturating_add(self.tools).saturating_add(self.unseen)
    }
}

/// What is counted of the parts.
struct Words {
    system: String,
    tools: String,
    definitions: usize,
    known: Option<u32>,
    marks: u32,
    bytes: u64,
    unseen: u32,
    open: bool,
    fingerprint: u64,
}

impl Words {
    fn parse(json: &str) -> Result<Self> {
        let mut members = PARTS.read(json).map_err(refused)?;
        let mut raw = |name| members.raw(name).unwrap_or("null");
        let (system, tools) = (sent(raw("system")), raw("tools"));
        // Of the JSON as it is sent: any byte that differs loses the provider's cache.
        let fingerprint = fnv(format!("{system}\n{tools}").into_bytes());
        let bytes = (system.len() as u64).saturating_add(tools.len() as u64);
        let strict = |raw| Reader::new(raw).strict().map_err(refused);
        let (system, tools) = (strict(system)?, strict(tools)?);
        let marks = marks(system).saturating_add(marks(tools));
        let unseen = members.integer("unseenTokens").unwrap_or(0);
        let unseen = u32::try_from(unseen)
            .map_err(|_| Error::argument("unseenTokens", "a number of tokens", unseen))?;
        let open = members.flag("open").unwrap_or(false);
        let mut known = None;
        let definitions = if tools.starts_with('n') { 0 } else { definitions_in(tools)? };
        if tools != "null" {
            known = u32::try_from(definitions).ok();
        }
        let tools = if definitions == 0 { "" } else { tools }.into();
        if !is_system(system) {
            let allowed = "a string, the provider's blocks or the plan of assemblePrompt";
            return Err(Error::argument("system", allowed, system));
        }
        let system = system_text(system);
        Ok(Self { system, tools, definitions, known, marks, bytes, unseen, open, fingerprint })
    }
}

#[cold]
fn refused(error: json::Error) -> Error {
    Error::argument("parts", "{system, tools, unseenTokens, open} as they are sent", error.got())
}

/// How many definitions there are in an array or a record of them.
#[inline(never)]
fn definitions_in(tools: &RawValue) -> Result<usize> {
    match tools.as_bytes().first() {
        Some(b'[') => {
            let mut sum = 0_usize;
            for (at, tool) in json::items(tools).map_err(refused)?.into_iter().enumerate() {
                if !tool.starts_with('{') {
                    return Err(Error::argument(&format!("tools[{at}]"), "a definition", tool));
                }
                sum = sum.saturating_add(definitions(tool));
            }
            Ok(sum)
        }
        Some(b'{') => Ok(json::members(tools).map_err(refused)?.len()),
        _ => Err(Error::argument("tools", "an array or a record of definitions", tools)),
    }
}

/// The tool that brings back what was cut is among the definitions: under its name, or as a member of a record.
#[inline(never)]
fn names_recall(mut tools: &str) -> bool {
    while let Some((before, after)) = tools.split_once(QUOTED) {
        let member = before.trim_end().strip_suffix(':');
        if member.is_some_and(|it| it.trim_end().ends_with("\"name\""))
            || after.trim_start().starts_with(':')
        {
            return true;
        }
        tools = after;
    }
    false
}

/// A system prompt (JSON) that was given as the plan it came from.
#[derive(Debug)]
pub struct Plan<'a> {
    /// The text that is sent.
    pub prompt: &'a RawValue,
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Plan<'a> {
    /// None: it is no plan.
    pub fn read(system: &'a RawValue) -> Option<Self> {
        if !system.starts_with('{') {
            return None;
        }
        let plan = Self { prompt: "", members: json::members(system).ok()? };
        let prompt = plan.of("prompt").filter(|it| it.starts_with('"'))?;
        plan.of("sections")?;
        Some(Self { prompt, ..plan })
    }

    /// A member that is there and says something.
    pub fn of(&self, name: &str) -> Option<&'a RawValue> {
        let found = self.members.iter().find(|(key, _)| key == name).map(|(_, it)| *it);
        found.filter(|it| *it != "null")
    }
}

/// Of a plan only its prompt is sent: a report that says something else of the same prompt is no change.
fn sent(system: &RawValue) -> &RawValue {
    Plan::read(system).map_or(system, |plan| plan.prompt)
}

/// How many definitions an entry has: Gemini lists several in one.
fn definitions(tool: &RawValue) -> usize {
    let members = json::members(tool).unwrap_or_default();
    let lists = ["functionDeclarations", "function_declarations"];
    let listed = lists.iter().find_map(|list| {
        let (_, listed) = members.iter().rev().find(|(name, _)| name == list)?;
        json::items(listed).ok()
    });
    listed.map_or(1, |listed| listed.len())
}

/// Cache markers on the elements of an array.
pub(in crate::context) fn marks(list: &RawValue) -> u32 {
    // Reading anything else would make an error that quotes it, and a system prompt may be long.
    if list.starts_with('[') { marks_in(list) } else { 0 }
}

#[inline(never)]
fn marks_in(list: &RawValue) -> u32 {
    let mut marks = 0_u32;
    for item in json::items(list).unwrap_or_default() {
        let members = json::members(item).unwrap_or_default();
        let marked = members.iter().any(|(name, it)| name == "cache_control" && *it != "null");
        marks = marks.saturating_add(u32::from(marked));
    }
    marks
}

/// Whether a value can be a system prompt: text, an object with words, a list of texts and blocks.
fn is_system(system: &RawValue) -> bool {
    match system.as_bytes().first() {
        Some(b'n' | b'"') => true,
        Some(b'[') => json::items(system)
            .is_ok_and(|items| items.iter().all(|item| item.starts_with(['"', '{']))),
        Some(b'{') => words_in(system).is_some(),
        _ => false,
    }
}

/// The member of a block, a plan, Gemini's instruction or a system message that holds its words.
fn words_in(object: &RawValue) -> Option<&RawValue> {
    let members = json::members(object).ok()?;
    let of = |name| members.iter().rev().find(|(key, _)| key == name);
    ["text", "prompt", "parts", "content"].into_iter().find_map(of).map(|(_, words)| *words)
}

/// The words of a system prompt: text, the texts of its blocks, the prompt of a plan; else its JSON.
pub fn system_text(system: &RawValue) -> String {
    if system.starts_with('n') { String::new() } else { words_of_system(system) }
}

#[inline(never)]
fn words_of_system(system: &RawValue) -> String {
    match system.as_bytes().first() {
        Some(b'"') => return json::string(system).unwrap_or_default().into_owned(),
        Some(b'[') => {
            let mut words = String::new();
            for (at, block) in json::items(system).unwrap_or_default().into_iter().enumerate() {
                if at > 0 {
                    words.push('\n');
                }
                words.push_str(&system_text(block));
            }
            return words;
        }
        Some(b'{') => {
            if let Some(words) = words_in(system).filter(|it| it.starts_with(['"', '[', '{'])) {
                return system_text(words);
            }
        }
        _ => {}
    }
    system.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Estimator;

    fn parts(json: &str) -> Parts {
        Parts::parse(json, &mut Counter::new(Estimator::Chars4, &[])).unwrap()
    }

    /// Row A39.
    #[test]
    fn a_definition_costs_ten_more_than_its_json() {
        let one = parts(r#"{"tools":[{"name":"read"}]}"#);
        assert_eq!(one.tools, 10 + 5); // [{"name":"read"}] has 17 characters
        assert_eq!(parts(r#"{"tools":[]}"#).tools, 0);
        assert_eq!(parts(r#"{"tools":{"a":{},"b":{}}}"#).tools, 20 + 4);
    }

    #[test]
    fn geminis_lists_of_definitions_and_instruction_are_counted() {
        let listed = parts(
            r#"{"tools":[{"functionDeclarations":[{"name":"a"},{"name":"b"}]},{"googleSearch":{}}]}"#,
        );
        let json = r#"[{"functionDeclarations":[{"name":"a"},{"name":"b"}]},{"googleSearch":{}}]"#;
        assert_eq!(listed.tools, 30 + json.len().div_ceil(4) as u64);
        let read =
            parts(r#"{"system":{"role":"system","parts":[{"text":"1234567"},{"text":"8"}]}}"#);
        assert_eq!((read.system, read.chars.0), (3, 9));
        assert_eq!(parts(r#"{"system":{"parts":{"text":"12345678"}}}"#).chars.0, 8);
        let flat = parts(r#"{"tools":[{"type":"function","name":"a","parameters":{}}]}"#);
        assert_eq!(flat.tools, 10 + 12);
    }

    #[test]
    fn a_system_prompt_is_its_words() {
        let text = parts(r#"{"system":"12345678"}"#);
        assert_eq!((text.system, text.chars.0), (2, 8), "no frame of a message: A41");
        let blocks =
            r#"{"system":[{"type":"text","text":"1234567","cache_control":{}},{"text":"8"}]}"#;
        assert_eq!(parts(blocks).chars.0, 9);
        assert_eq!(parts(r#"{"system":{"prompt":"12345678","budget":{}}}"#).system, text.system);
        let plan = r#"{"system":{"prompt":"12345678","sections":[{"priority":1}]}}"#;
        assert_eq!(parts(plan), text, "a plan is its prompt");
        let (fingerprint, bytes) = (parts("{}").fingerprint, "nullnull".len() as u64);
        assert_eq!(parts("{}"), Parts { fingerprint, bytes, ..Parts::default() });
    }
}
