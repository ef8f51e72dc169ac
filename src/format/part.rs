//! Reading of message parts shared by the formats: text, reasoning, calls, results and images.

use std::borrow::Cow;

use super::fingerprint::of_json;
use super::image;
use super::json::{Flaw, Read, each, or_empty};
use crate::json::{
    self, Content, Item, Members, Object, RawValue, Shape, Type, optional, required,
};
use crate::model::{Kind, Part, Place};
use crate::number::count;

/// How a format reads a block into a part, whose place is known.
pub(super) type Block<'r, 'a> = &'r dyn Fn(Item<'a>, &mut Part<'a>) -> Read<()>;

/// A part of which only its place is known.
pub(super) fn at<'a>(place: Place) -> Part<'a> {
    Part::new(Kind::Other, place, "")
}

/// The parts of a message's content: its text, or its blocks.
pub(super) fn content<'a>(
    content: Option<Content<'a>>,
    block: Block<'_, 'a>,
    parts: &mut Vec<Part<'a>>,
) -> Read<()> {
    match content {
        None => Ok(()),
        Some(Content::Text(text)) => {
            parts.push(Part::new(Kind::Text, Place::Content, text));
            Ok(())
        }
        Some(Content::Blocks(blocks)) => list(blocks, "/content", &Place::Item, block, parts),
    }
}

/// The parts of a list, which stands at a path.
pub(super) fn list<'a>(
    blocks: Vec<Item<'a>>,
    path: &str,
    place: &dyn Fn(u32) -> Place,
    block: Block<'_, 'a>,
    parts: &mut Vec<Part<'a>>,
) -> Read<()> {
    each(blocks, path, &mut |item, number| {
        let mut part = at(place(number));
        block(item, &mut part)?;
        parts.push(part);
        Ok(())
    })
}

/// Text or reasoning: the member with it must be there.
pub(super) fn read_text<'a>(
    block: &mut Members<'a>,
    kind: Kind,
    member: &str,
    part: &mut Part<'a>,
) -> Read<()> {
    let text = block.text(member);
    say(part, kind, text.ok_or_else(|| Flaw::new("", "a string").under(&format!("/{member}")))?);
    Ok(())
}

/// A part of this kind with this text.
pub(super) fn say<'a>(part: &mut Part<'a>, kind: Kind, text: Cow<'a, str>) {
    *part = Part::new(kind, part.piece.place, text);
}

/// A call without its name: its arguments, or `none`.
pub(super) fn call<'a>(block: &mut Members<'a>, member: &str, none: &'a str, part: &mut Part<'a>) {
    let text = block.raw(member).unwrap_or(none);
    say(part, Kind::Call, text.into());
    part.piece.bad_arguments = !text.starts_with('{');
}

/// Gives a call or a result its id and its tool's name; those that stand in no member are empty.
pub(super) fn name(part: &mut Part<'_>, members: &mut Members<'_>, id: &str, name: &str) {
    part.piece.id = or_empty(members.text(id)).into();
    part.piece.name = or_empty(members.text(name)).into();
}

/// Makes the one part of a message a setting.
pub(super) fn set(part: &mut Part<'_>, name: &'static str) {
    (part.piece.kind, part.piece.place) = (Kind::Other, Place::Message(name));
    (part.piece.blank, part.piece.opaque) = (false, true);
}

/// A part with so many characters of a signature, or of what is encrypted.
pub(super) fn seal(part: &mut Part<'_>, chars: usize) {
    part.opaque = count(chars);
    part.piece.opaque = chars > 0;
    part.piece.blank &= chars == 0;
}

/// Something that is shown and not said, known by `json`. A document costs an image for each of its pages; one that is nothing but text
/// costs its text. `block` has its media type and its data.
pub(super) fn medium<'a>(json: &str, block: &'a RawValue, part: &mut Part<'a>) {
    let text = text_of(block, true);
    let images = if text.is_some() { 0 } else { image::pages(json) };
    say(part, Kind::Image, text.unwrap_or_default());
    part.images = images;
    part.media = of_json(json);
}

const DOCUMENT: Shape = Shape {
    what: "a document",
    members: &[
        optional("type", Type::Text),
        optional("text", Type::Text),
        optional("data", Type::Raw),
        optional("file_data", Type::Raw),
        optional("file", Type::Raw),
        optional("source", Type::Raw),
        optional("mediaType", Type::Text),
        optional("mimeType", Type::Text),
        optional("mime_type", Type::Text),
        optional("media_type", Type::Text),
    ],
    closed: false,
};

/// The text of a document that is nothing but text: as it is, or in base64. `nests`: its data may stand in an object of its own.
fn text_of(block: &RawValue, nests: bool) -> Option<Cow<'_, str>> {
    let mut document = DOCUMENT.read(block).ok()?;
    if let Some(text) = document.text("text") {
        return Some(text);
    }
    let data = ["data", "file_data", "file", "source"].iter().find_map(|it| document.raw(it))?;
    if data.starts_with('{') {
        return if nests { text_of(data, false) } else { None };
    }
    if document.text("type").is_some_and(|kind| kind == "text") {
        return json::string(data).ok();
    }
    let names = ["mediaType", "mimeType", "mime_type", "media_type"];
    let media = names.iter().find_map(|name| document.text(name));
    let is_text = media.is_some_and(|media| media.starts_with("text/"));
    let is_text = is_text || data.starts_with("\"data:text/");
    image::decoded(image::base64_of(data).trim_matches('"')).filter(|_| is_text).map(Cow::Owned)
}

/// What a result says: the texts of its blocks, its images, and whatever else it holds as JSON text.
#[derive(Default)]
pub(super) struct Body<'a> {
    text: Option<Cow<'a, str>>,
    images: u32,
    media: u64,
    media_bytes: u32,
    encrypted: u32,
    /// Of the piece that it becomes.
    shown: u32,
    widest: u32,
    marks: u64,
    hollow: u64,
    blocks: u32,
}

impl<'a> Body<'a> {
    /// All of a content. Of a list that can be changed block by block each block is known.
    pub(super) fn content(
        &mut self,
        content: Option<Content<'a>>,
        path: &str,
        block: Block<'_, 'a>,
        can_change: bool,
    ) -> Read<()> {
        match content {
            None => Ok(()),
            Some(Content::Text(text)) => {
                self.say(text);
                Ok(())
            }
            Some(Content::Blocks(blocks)) => each(blocks, path, &mut |item, _| {
                let mut part = at(Place::Content);
                block(item, &mut part)?;
                if can_change {
                    self.list(part);
                } else {
                    self.take(part);
                }
                Ok(())
            }),
        }
    }

    pub(super) fn say(&mut self, more: Cow<'a, str>) {
        match &mut self.text {
            Some(text) => {
                let text = text.to_mut();
                text.push('\n');
                text.push_str(&more);
            }
            None => self.text = Some(more),
        }
    }

    /// One block of a list that can be changed block by block.
    fn list(&mut self, part: Part<'a>) {
        let bit = 1u64.checked_shl(self.blocks).unwrap_or(0);
        if part.piece.kind == Kind::Text && part.piece.blank {
            self.hollow |= bit;
        }
        self.take(part);
    }

    pub(super) fn take(&mut self, part: Part<'a>) {
        self.images = self.images.saturating_add(part.images);
        self.media = self.media.rotate_left(1) ^ part.media;
        self.media_bytes = self.media_bytes.saturating_add(part.media_bytes);
        self.encrypted = self.encrypted.saturating_add(part.encrypted);
        self.shown = self.shown.saturating_add(part.piece.images);
        self.widest = self.widest.max(part.piece.widest);
        self.blocks = self.blocks.saturating_add(1);
        self.marks |= (part.piece.marks & 1).checked_shl(self.blocks).unwrap_or(0);
        if !part.text.is_empty() {
            self.say(part.text);
        }
    }

    pub(super) fn fill(self, part: &mut Part<'a>) {
        say(part, Kind::Result, self.text.unwrap_or_default());
        part.images = self.images;
        part.media = self.media;
        part.media_bytes = self.media_bytes;
        part.encrypted = self.encrypted;
        part.piece.images = self.shown;
        part.piece.widest = self.widest;
        part.piece.marks = self.marks;
        part.piece.hollow = self.hollow;
        part.piece.blank &= self.images == 0;
    }
}

/// An image, known by `json`; its data is a string of base64, or stands in an object as a `data:` URL.
pub(super) fn picture<'a>(json: &str, data: &'a RawValue, part: &mut Part<'a>) {
    medium(json, data, part);
    part.media_bytes = count(json.len());
    part.piece.images = 1;
    part.piece.widest = image::longer_side(image::base64_of(data));
}

/// The result of a tool of the provider's own that paints: its base64 is an image to the model, no text.
pub(super) fn painted(json: &str, part: &mut Part<'_>) {
    let mut image = at(Place::Content);
    medium(json, "", &mut image);
    let mut body = Body::default();
    body.take(image);
    body.fill(part);
}

/// A block that is carried as it is: counted by its JSON text and its images, and known by both without its cache marker.
pub(super) fn other<'a>(raw: &'a RawValue, part: &mut Part<'a>) {
    say(part, Kind::Other, unmarked(raw));
    take_data(part);
    part.piece.opaque = true;
    part.piece.marks = u64::from(is_marked(raw));
}

/// Takes base64 out of a part's JSON text: of pictures, which count as images, and of what is encrypted.
pub(super) fn take_data(part: &mut Part<'_>) {
    let Some((text, images, encrypted)) = image::without_data(&part.text) else { return };
    let bytes = count(part.text.len().saturating_sub(text.len()));
    part.media_bytes = part.media_bytes.saturating_add(bytes);
    part.images = part.images.saturating_add(images);
    part.encrypted = count(encrypted);
    part.media = part.media.rotate_left(1) ^ of_json(&part.text);
    part.text = text.into();
}

const CALLER: Shape = Shape {
    what: "a caller: { type, .. }",
    members: &[
        optional("tool_id", Type::Text),
        optional("toolId", Type::Text),
        optional("caller_id", Type::Text),
        optional("callerId", Type::Text),
    ],
    closed: false,
};

/// The id of the program that made a call; empty where the model made it.
pub(super) fn caller(raw: Option<&RawValue>) -> Box<str> {
    let mut caller = raw.and_then(|raw| CALLER.read(raw).ok()).unwrap_or_default();
    or_empty(CALLER.names().into_iter().find_map(|name| caller.text(name))).into()
}

const PROVIDER_RUN: Shape = Shape {
    what: "a block",
    members: &[
        required("type", Type::Text),
        optional("id", Type::Text),
        optional("name", Type::Text),
        optional("input", Type::Raw),
        optional("tool_use_id", Type::Text),
    ],
    closed: false,
};

/// A block of the model's that its format carries as it is: one of a tool that Anthropic runs itself is a call, or the result
/// of one, which go together.
pub(super) fn of_model<'a>(raw: &'a RawValue, part: &mut Part<'a>) {
    other(raw, part);
    let Ok(mut block) = PROVIDER_RUN.read(raw) else { return };
    let kind = or_empty(block.text("type"));
    if kind.ends_with("_tool_use") {
        if let Some(input) = block.raw("input") {
            part.text = Cow::Borrowed(input);
        }
        part.piece.kind = Kind::Call;
        name(part, &mut block, "id", "name");
    } else if kind.ends_with("_tool_result") {
        part.piece.kind = Kind::Result;
        name(part, &mut block, "tool_use_id", "");
    } else {
        return;
    }
    part.piece.within = true;
}

/// Whether a block has a cache marker.
pub(super) fn is_marked(json: &str) -> bool {
    matches!(unmarked(json), Cow::Owned(_))
}

/// A block without its cache marker.
pub(super) fn unmarked(json: &str) -> Cow<'_, str> {
    if !json.contains("\"cache_control\"") {
        return Cow::Borrowed(json);
    }
    let Ok(members) = Object::read(json) else { return Cow::Borrowed(json) };
    // It may stand further in.
    if !members.iter().any(|(key, _)| key == "cache_control") {
        return Cow::Borrowed(json);
    }
    let mut kept = String::from("{");
    for (key, raw) in members {
        if key == "cache_control" {
            continue;
        }
        if kept.len() > 1 {
            kept.push(',');
        }
        json::quote(&key, &mut kept);
        kept.push(':');
        kept.push_str(raw);
    }
    kept.push('}');
    Cow::Owned(kept)
}
