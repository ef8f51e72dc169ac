//! Contents of messages in the words of many agents, as `OpenAI` chat has them.

use std::borrow::Cow;

use super::raw::{Object, RawValue, inside, is_object, items, quote};

/// A part of a content.
#[derive(Clone, Debug)]
pub(super) enum Part<'a> {
    /// The JSON of a string.
    Text(Cow<'a, str>),
    /// The JSON of a string that the model thought.
    Thought(&'a str),
    /// The JSON of a part of another type.
    Other(String),
}

/// The parts of a content: a string is one, and so is anything that is no list.
pub(super) fn parts(content: &RawValue) -> Vec<Part<'_>> {
    match content.as_bytes().first() {
        Some(b'[') => items(content).into_iter().map(part).collect(),
        _ => vec![part(content)],
    }
}

fn part(raw: &RawValue) -> Part<'_> {
    if inside(raw).is_some() {
        return Part::Text(raw.into());
    }
    let fields = if is_object(raw) { Object::of(raw) } else { Object::default() };
    let string = |name| fields.get(name).filter(|raw| inside(raw).is_some());
    let kind = fields.text("type").unwrap_or_default();
    match &*kind {
        "" | "text" | "input_text" | "output_text" => {
            string("text").map(|text| Part::Text(text.into()))
        }
        "think" | "thinking" | "reasoning" | "summary_text" => {
            let thought = string(&kind).or_else(|| string("text"));
            thought.map(Part::Thought)
        }
        "input_image" | "image" => string("image_url").or_else(|| string("image")).map(|url| {
            Part::Other(format!("{{\"type\":\"image_url\",\"image_url\":{{\"url\":{url}}}}}"))
        }),
        _ => None,
    }
    .unwrap_or_else(|| {
        // What has no type is no part: it is told as its JSON.
        let json = if kind.is_empty() { text_part(&quote(raw)) } else { raw.to_owned() };
        Part::Other(json)
    })
}

fn text_part(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{text}}}")
}

/// A content of these parts: one text is a string, anything else a list; thoughts have their place elsewhere.
pub(super) fn join(parts: &[Part<'_>]) -> String {
    match parts {
        [] => "\"\"".into(),
        [Part::Text(text)] => text.clone().into_owned(),
        [Part::Thought(text)] => (*text).to_owned(),
        _ => {
            let list = parts.iter().map(|part| match part {
                Part::Text(text) => text_part(text),
                Part::Thought(text) => text_part(text),
                Part::Other(json) => json.clone(),
            });
            format!("[{}]", list.collect::<Vec<_>>().join(","))
        }
    }
}

/// A call; id, name and arguments are JSON.
pub(super) fn call(id: &str, name: &str, arguments: &str) -> String {
    format!(
        "{{\"id\":{id},\"type\":\"function\",\"function\":{{\"name\":{name},\"arguments\":{arguments}}}}}"
    )
}

/// The arguments of a call as the JSON of a string; what is no string is told as its JSON.
pub(super) fn arguments(raw: Option<&RawValue>) -> String {
    match raw {
        Some(raw) if inside(raw).is_some() => raw.to_owned(),
        Some(raw) => quote(raw),
        None => quote("{}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        let raw: &RawValue = crate::json::parse(json).expect("JSON");
        assert_eq!(join(&parts(raw)), expected);
    }

    #[test]
    fn contents_are_converted_to_those_of_openai() {
        check(r#""a\ud800""#, r#""a\ud800""#);
        check(r#"[{"type":"input_text","text":"a"}]"#, r#""a""#);
        check(
            r#"["a",{"type":"image","image":"data:x"},{"type":"file","file":{}}]"#,
            r#"[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:x"}},{"type":"file","file":{}}]"#,
        );
        check("[]", r#""""#);
    }

    #[test]
    fn an_unknown_part_is_shown_as_its_json() {
        check(r#"{"exit":1}"#, r#"[{"type":"text","text":"{\"exit\":1}"}]"#);
        check("7", r#"[{"type":"text","text":"7"}]"#);
    }

    #[test]
    fn arguments_of_a_call_are_written_as_a_json_string() {
        let raw: &RawValue = crate::json::parse(r#"{"a":1}"#).expect("JSON");
        let written = call("\"c\"", "\"n\"", &arguments(Some(raw)));
        assert_eq!(
            written,
            r#"{"id":"c","type":"function","function":{"name":"n","arguments":"{\"a\":1}"}}"#
        );
    }
}
