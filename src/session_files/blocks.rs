//! Messages of Anthropic, put together from blocks.

use std::borrow::Cow;

use super::raw::{Object, RawValue, inside, items, text};

/// A block as it was sent.
pub(super) type Sent<'f> = dyn Fn(&RawValue) -> Cow<'_, RawValue> + 'f;

/// The blocks of a content; a string is one piece.
pub(super) fn pieces(content: Option<&RawValue>) -> Vec<&RawValue> {
    match content {
        Some(raw) if inside(raw).is_some() => vec![raw],
        Some(raw) => items(raw),
        None => Vec::new(),
    }
}

/// A message of these blocks, each as `sent` has it.
pub(super) fn message(role: &str, pieces: &[&RawValue], sent: &Sent<'_>) -> String {
    let mut json = format!("{{\"role\":\"{role}\",\"content\":");
    if let [only] = pieces
        && inside(only).is_some()
    {
        json.push_str(only);
    } else {
        let blocks: Vec<Cow<'_, str>> = pieces.iter().map(|piece| block(piece, sent)).collect();
        json.push('[');
        json.push_str(&blocks.join(","));
        json.push(']');
    }
    json.push('}');
    json
}

fn block<'a>(piece: &'a RawValue, sent: &Sent<'_>) -> Cow<'a, str> {
    match inside(piece) {
        Some(_) => Cow::Owned(format!("{{\"type\":\"text\",\"text\":{piece}}}")),
        None => sent(piece),
    }
}

/// The text of a content.
pub(super) fn plain(content: Option<&RawValue>) -> String {
    let texts = pieces(content).into_iter().filter_map(|piece| match text(piece) {
        Some(text) => Some(text),
        None => Object::of(piece).text("text"),
    });
    texts.collect::<Vec<_>>().join("\n")
}
