//! What goes out beside the messages: system prompt, tool definitions, and what we are not shown.

use serde_json::Value;
use serde_json::value::RawValue;

use super::counter::Counter;
use crate::error::{Error, Result};
use crate::estimate::{DEFINITION, MESSAGE};
use crate::hash::fnv;
use crate::json::{Shape, Want, may};

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
}

const PARTS: Shape = Shape {
    what: "parts: { system, tools, unseenTokens }",
    members: &[
        may("system", Want::Raw),
        may("tools", Want::Raw),
        may("unseenTokens", Want::Integer),
    ],
    closed: true,
};

impl Parts {
    /// Measures `{system, tools, unseenTokens}`.
    ///
    /// # Errors
    /// `InvalidArgument` names the part.
    pub(super) fn parse(json: &str, counter: &mut Counter<'_>) -> Result<Self> {
        let Words { system, tools, definitions, known, marks, bytes, unseen, fingerprint } =
            Words::parse(json)?;
        let overhead = u64::from(DEFINITION).saturating_mul(definitions as u64);
        let message = if system.is_empty() { 0 } else { u64::from(MESSAGE) };
        let chars = |text: &str| crate::text::utf16_len(text) as u64;
        Ok(Self {
            system: u64::from(counter.tokens(&system)).saturating_add(message),
            tools: u64::from(counter.tokens(&tools)).saturating_add(overhead),
            unseen: u64::from(unseen),
            fingerprint,
            chars: (chars(&system), chars(&tools)),
            definitions: known,
            marks,
            bytes,
        })
    }

    /// Its texts that are counted.
    ///
    /// # Errors
    /// `InvalidArgument` names the part.
    pub(super) fn texts(json: &str) -> Result<Vec<String>> {
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
    fingerprint: u64,
}

impl Words {
    fn parse(json: &str) -> Result<Self> {
        let refused = |error| {
            Error::argument("parts", "{system, tools, unseenTokens} as they are sent", error)
        };
        let mut given = PARTS.read(json).map_err(refused)?;
        let mut raw = |name| given.raw(name).map_or("null", RawValue::get);
        let (system, tools) = (raw("system"), raw("tools"));
        let fingerprint = fnv(format!("{system}\n{tools}").into_bytes());
        let value = |raw: &str| serde_json::from_str::<Value>(raw).map_err(refused);
        let bytes = (system.len() as u64).saturating_add(tools.len() as u64);
        let (system, tools) = (value(system)?, value(tools)?);
        let marks = marks(&system).saturating_add(marks(&tools));
        let unseen = given.integer("unseenTokens").unwrap_or(0);
        let unseen = u32::try_from(unseen)
            .map_err(|_| Error::argument("unseenTokens", "a number of tokens", unseen))?;
        let system = system_text(&system);
        let definitions = match &tools {
            Value::Null => None,
            Value::Array(tools) => Some(tools.iter().map(definitions).sum()),
            Value::Object(tools) => Some(tools.len()),
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                let got = tools.to_string();
                return Err(Error::argument("tools", "an array or a record of definitions", got));
            }
        };
        let known = definitions.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        let definitions = definitions.unwrap_or_default();
        let tools = if definitions == 0 { String::new() } else { tools.to_string() };
        Ok(Self { system, tools, definitions, known, marks, bytes, unseen, fingerprint })
    }
}

/// How many definitions an entry has: Gemini lists several in one.
fn definitions(tool: &Value) -> usize {
    let listed = ["functionDeclarations", "function_declarations"];
    let listed = listed.iter().find_map(|name| tool.get(name)?.as_array());
    listed.map_or(1, Vec::len)
}

/// Cache markers on the elements of an array.
fn marks(value: &Value) -> u32 {
    let marked = |item: &&Value| item.get("cache_control").is_some_and(|marker| !marker.is_null());
    let count = value.as_array().map_or(0, |items| items.iter().filter(marked).count());
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The words of a system prompt: text, the texts of its blocks, the prompt of a plan; else its JSON.
fn system_text(system: &Value) -> String {
    match system {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(system_text).collect::<Vec<_>>().join("\n"),
        Value::Object(members) => {
            let known = ["text", "prompt", "parts"].iter().find_map(|name| members.get(*name));
            match known {
                Some(Value::String(text)) => text.clone(),
                // Gemini's instruction: parts of text.
                Some(parts @ (Value::Array(_) | Value::Object(_))) => system_text(parts),
                Some(Value::Null | Value::Bool(_) | Value::Number(_)) | None => system.to_string(),
            }
        }
        Value::Bool(_) | Value::Number(_) => system.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Estimator;

    fn parts(json: &str) -> Parts {
        Parts::parse(json, &mut Counter::new(Estimator::Chars4, &[])).unwrap()
    }

    #[test]
    fn a39_a_definition_costs_ten_more_than_its_json() {
        let one = parts(r#"{"tools":[{"name":"read"}]}"#);
        assert_eq!(one.tools, 10 + 5); // [{"name":"read"}] has 17 characters
        assert_eq!(parts(r#"{"tools":[]}"#).tools, 0);
        assert_eq!(parts(r#"{"tools":{"a":{},"b":{}}}"#).tools, 20 + 4);
    }

    #[test]
    fn a_system_prompt_is_its_words() {
        let text = parts(r#"{"system":"12345678"}"#);
        assert_eq!((text.system, text.chars.0), (2 + 4, 8));
        let blocks =
            r#"{"system":[{"type":"text","text":"1234567","cache_control":{}},{"text":"8"}]}"#;
        assert_eq!(parts(blocks).chars.0, 9);
        assert_eq!(parts(r#"{"system":{"prompt":"12345678","budget":{}}}"#).system, text.system);
        let (fingerprint, bytes) = (parts("{}").fingerprint, "nullnull".len() as u64);
        assert_eq!(parts("{}"), Parts { fingerprint, bytes, ..Parts::default() });
    }
}
