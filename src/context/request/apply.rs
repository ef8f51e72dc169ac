//! A request merged into the body that the host sends: its messages, cache markers, and what the provider must be told.

use crate::context::request::request_extras::marks;
use crate::error::{Error, Result};
use crate::format::{Format, member, merge};
use crate::json::{self, RawValue, Shape, Type, Value, optional, required};
use crate::model::Op;
use crate::validity::Provider;

json::json_struct! {
    /// What is merged.
    #[derive(Debug, Default)]
    pub struct Applied {
        /// The member of the body that holds the messages.
        pub member: &'static str,
        /// On the body.
        pub body: Vec<Op>,
        /// On the headers.
        pub headers: Vec<Op>,
        /// On messages of the request, by their positions.
        pub marks: Vec<(u32, Vec<Op>)>,
    }
}

/// Members of the host's body that are read. The rest stays with the host: it may be what has no JSON.
pub const READ: [&str; 8] = [
    "system",
    "instructions",
    "tools",
    "thinking",
    "betas",
    "anthropic_beta",
    "additionalModelRequestFields",
    "providerOptions",
];

const REQUEST: Shape = Shape {
    what: "a request",
    members: &[
        required("format", Type::Text),
        required("provider", Type::Text),
        required("hints", Type::Raw),
        required("marked", Type::Integer),
        optional("note", Type::Text),
        optional("body", Type::Raw),
        optional("headers", Type::Raw),
        optional("messages", Type::Items),
    ],
    closed: true,
};

/// Merges a request (JSON: format, provider, hints, cache markers of the host's in its messages, and the messages that are to be
/// marked, each as `[position, message]`) into what the host has of a body and headers. What the host has set stays.
///
/// # Errors
/// `InvalidArgument`.
pub fn apply(json: &str) -> Result<Applied> {
    let refused =
        |error: json::Error| Error::argument("prepared", "a request of this session", error.got());
    let mut request = REQUEST.read(json).map_err(refused)?;
    let mut text = |name| request.text(name).unwrap_or_default();
    let (format, provider) = (Format::parse(&text("format"))?, Provider::parse(&text("provider"))?);
    let hints = request.raw("hints").unwrap_or("{}");
    let body = request.raw("body").unwrap_or("{}");
    let mut applied = Applied { member: format.messages_member(), ..Applied::default() };
    if let Some(headers) = request.raw("headers") {
        merge_headers(headers, member(hints, "headers").unwrap_or("{}"), &mut applied.headers);
    }
    // Where these hosts have what thinking is bound to, their request has no member for it.
    if !matches!(format, Format::LangChain | Format::Pi) {
        merge_hints(body, hints, &mut applied.body);
    }
    if let Some(note) = request.text("note") {
        append_note(body, &note, provider == Provider::Bedrock, &mut applied.body);
    }
    let part = |name| member(body, name).map_or(0, marks);
    let own = u32::try_from(request.integer("marked").unwrap_or(0)).unwrap_or(u32::MAX);
    let taken = own.saturating_add(part("system")).saturating_add(part("tools"));
    let room = provider.most_markers().saturating_sub(taken) as usize;
    let is_bedrock = provider == Provider::Bedrock;
    // Of fewer than all the last: the earlier ones are where the cache was, the last where it will be.
    for pair in request.items("messages").unwrap_or_default().into_iter().rev().take(room) {
        let pair = json::items(pair).map_err(refused)?;
        let [at, message] = pair[..] else { continue };
        let ops = format.mark(message, is_bedrock);
        if let (Ok(at), false) = (at.parse(), ops.is_empty()) {
            applied.marks.push((at, ops));
        }
    }
    Ok(applied)
}

/// Ends the host's system prompt with a note, wherever its body has one: a text, or blocks of it. Once.
fn append_note(body: &RawValue, note: &str, is_bedrock: bool, ops: &mut Vec<Op>) {
    for name in ["system", "instructions"] {
        let Some(prompt) = member(body, name).filter(|prompt| !prompt.contains(note)) else {
            continue;
        };
        if let Ok(text) = json::string(prompt) {
            let value = [&*text, "\n\n", note].concat().into();
            ops.push(Op::Replace { path: ["/", name].concat(), value });
        } else if prompt.starts_with('[') {
            let mut block = Value::object(&[("text", note.into())]);
            if !is_bedrock {
                block.set("type", "text".into());
            }
            ops.push(Op::Add { path: ["/", name, "/-"].concat(), value: block });
        }
    }
}

/// Merges the hint of a body, if the host has not turned thinking off.
fn merge_hints(body: &RawValue, hints: &RawValue, ops: &mut Vec<Op>) {
    let Some(hint) = member(hints, "body") else { return };
    let Some(path) = path_of_thinking(hint) else { return };
    let own = path.split('/').skip(1).try_fold(body, member);
    let kind = own.and_then(|own| member(own, "type")).and_then(|kind| json::string(kind).ok());
    if kind.as_deref() == Some("disabled") {
        return;
    }
    merge(body, hint, "", ops);
    // It must name its type. A model that binds thinking thinks unless it is told not to, and this is what it does then.
    if kind.is_none() {
        ops.push(Op::Add { path: format!("{path}/type"), value: "adaptive".into() });
    }
    // An SDK takes betas beside the body and makes the header of them.
    if let Some(betas) = member(body, "betas").filter(|betas| betas.starts_with('['))
        && let Some((_, beta)) =
            json::members(member(hints, "headers").unwrap_or("{}")).unwrap_or_default().first()
        && !json::items(betas).unwrap_or_default().contains(beta)
    {
        ops.push(Op::Add { path: "/betas/-".into(), value: Value::raw((*beta).into()) });
    }
}

/// Where a hint has its `thinking`.
fn path_of_thinking(hint: &RawValue) -> Option<String> {
    let (mut path, mut at) = (String::new(), hint);
    loop {
        let members = json::members(at).ok()?;
        let known = members.iter().find(|(name, _)| name == "thinking");
        let (name, inner) = known.or_else(|| members.first())?;
        path.push('/');
        path.push_str(name);
        if known.is_some() {
            return Some(path);
        }
        at = inner;
    }
}

/// Merges headers: names in any case, values that are lists.
fn merge_headers(headers: &RawValue, ours: &RawValue, ops: &mut Vec<Op>) {
    let theirs = json::members(headers).unwrap_or_default();
    for (name, value) in json::members(ours).unwrap_or_default() {
        let known = theirs.iter().find(|(own, _)| own.eq_ignore_ascii_case(&name));
        let Some((own, listed)) = known.and_then(|(own, it)| Some((own, json::string(it).ok()?)))
        else {
            ops.push(Op::Add { path: format!("/{name}"), value: Value::raw(value.into()) });
            continue;
        };
        let value = json::string(value).unwrap_or_default();
        if listed.split(',').all(|one| one.trim() != value) {
            let both =
                if listed.trim().is_empty() { value.into() } else { format!("{listed},{value}") };
            ops.push(Op::Replace { path: format!("/{own}"), value: both.into() });
        }
    }
}
