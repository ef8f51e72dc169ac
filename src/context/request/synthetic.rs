//! Synthetic messages: the head of a fold, results that repair, and lines that let a request start or end with the user.

use crate::context::request::builder::Builder;
use crate::context::request::last_request::Entry;
use crate::context::request::view::changed;
use crate::estimate::{MESSAGE, RESULT};
use crate::format::{Format, What, copied_ops};
use crate::hash::{bytes, fnv, round};
use crate::json::{self, Value, json as object};
use crate::model::{
    BlockId, Copied, Fix, FixKind, Form, Item, Joint, Kind, Made, MadePart, MessageId, Op, Outline,
    Piece, Place, Role, Voice, setting,
};
use crate::validity::{CONTINUE, LEAD, NO_OUTPUT, outline_of};

impl Builder<'_> {
    /// A user's text or image before the cut of the last fold stands in the head's message. What a host of its own kind
    /// keeps in members of its own (a command and its output) stays where it is.
    pub(in crate::context) fn is_in_head(
        &self,
        message: MessageId,
        role: Role,
        piece: &Piece,
    ) -> bool {
        self.decisions.pruner.head.is_some()
            && self.decisions.pruner.head_from.to(self.decisions.pruner.start).contains(message)
            && role == Role::User
            && matches!(piece.kind, Kind::Text | Kind::Image)
            && !matches!(piece.place, Place::Field(_))
    }

    /// The head of the last fold with every kept user text before its cut, in order, and as it was mended.
    pub(in crate::context) fn head(&self) -> Made {
        let head = Some(&self.decisions.placeholders.head)
            .filter(|_| self.decisions.pruner.head.is_some());
        let texts = head.map(String::as_str).into_iter().chain(self.pins.sent());
        let mut parts: Vec<MadePart> = texts.map(|text| MadePart::Text(text.into())).collect();
        for &at in self.transcript.ledger.live() {
            let Some(block) = self.transcript.ledger.block(at) else { continue };
            if block.message >= self.decisions.pruner.start || self.decisions.pruner.head.is_none()
            {
                break;
            }
            let number = at.since(self.transcript.ledger.blocks_of(block.message).start);
            let Some(outline) = self.transcript.outline(block.message) else {
                continue;
            };
            let piece = outline.pieces.get(number as usize);
            if piece.is_some_and(|piece| self.is_in_head(block.message, outline.role, piece)) {
                parts.push(MadePart::Host(block.message, number));
            }
        }
        Made::User(parts)
    }

    /// Messages from `from` on after which a result of ours, or one that moved, may go; in order.
    pub(in crate::context) fn anchors(&self, from: MessageId) -> Vec<MessageId> {
        let is_result = |fix: &&Fix| {
            matches!(fix.kind, FixKind::After(Made::Result { .. } | Made::Moved { .. }))
        };
        let mut anchors: Vec<MessageId> = Vec::new();
        let mut add = |fixes: &[Fix]| {
            let later = fixes.iter().filter(|fix| fix.index >= from);
            anchors.extend(later.filter(is_result).map(|fix| fix.index));
        };
        for fixes in self.repairs.fixes.values() {
            add(fixes);
        }
        add(&self.decisions.end_fixes);
        crate::sort::sort_set(&mut anchors);
        anchors
    }

    /// What goes out after a message, also where that one does not go out itself.
    pub(in crate::context) fn add_results(&self, message: MessageId, entries: &mut Vec<Entry>) {
        if self.fixes_of(message).any(|fix| matches!(fix.kind, FixKind::After(_))) {
            self.add_results_of(message, entries);
        }
    }

    #[inline(never)]
    fn add_results_of(&self, message: MessageId, entries: &mut Vec<Entry>) {
        let together = self.transcript.dialect.format == Format::Gemini;
        let (mut results, mut about) = (Vec::new(), MessageId::NONE);
        let mut next_call = 0;
        for fix in self.fixes_of(message) {
            let FixKind::After(made) = &fix.kind else { continue };
            if together && !matches!(made, Made::User(_)) {
                about = about.min(fix.violation.index.into());
                results.extend(self.mends(fix, made, &mut next_call));
            } else {
                let made = self.mends(fix, made, &mut next_call);
                let about = fix.violation.index.into();
                entries.extend(made.map(|made| self.entry(Item::Make(made), about)));
            }
        }
        if !results.is_empty() {
            entries.push(self.entry(Item::Make(Made::Results(results)), about));
        }
    }

    /// A message of ours that mends; none for a call that is gone. A moved result that was stubbed or capped goes as it
    /// now is.
    #[inline(never)]
    pub(in crate::context) fn add_made(&self, fix: &Fix, made: &Made, entries: &mut Vec<Entry>) {
        let about = fix.violation.index.into();
        let made = self.mends(fix, made, &mut 0);
        entries.extend(made.map(|made| self.entry(Item::Make(made), about)));
    }

    /// `next_call`: where in its message the call of a result is looked for first; then the place after it, since results come in
    /// the order of their calls.
    #[inline(never)]
    fn mends(&self, fix: &Fix, made: &Made, next_call: &mut usize) -> Option<Made> {
        Some(match made {
            Made::Moved { id, name, message, piece } => {
                let at = self.transcript.ledger.blocks_of(*message).start.plus(*piece);
                let block = self.transcript.ledger.block(at)?;
                match self.decisions.placeholders.text.get(&at) {
                    _ if block.form == Form::Gone => return None,
                    Some(text) => {
                        let (id, name, mut text) =
                            (id.clone(), name.clone(), String::from(&**text));
                        if text.trim().is_empty() {
                            text = NO_OUTPUT.into();
                        }
                        let error = block.failed;
                        let like = self.piece(*message, *piece);
                        let toolset = like.map_or("", |piece| &piece.toolset).into();
                        let like = like.map_or(Place::Content, |piece| piece.place);
                        Made::Result { id, name, text, error, like, toolset }
                    }
                    None => made.clone(),
                }
            }
            Made::Result { .. } if self.is_gone(fix, next_call) => return None,
            Made::User(_) | Made::Result { .. } | Made::Results(_) => made.clone(),
        })
    }

    /// What mends pieces of the host's where they are copied to: broken strings, blank blocks, cache markers.
    pub(in crate::context) fn mends_copies(&self, copies: &[Copied]) -> Vec<Op> {
        let mut ops = Vec::new();
        for copy in copies {
            let Some(outline) = self.transcript.outline(copy.index) else { continue };
            let unmarked = self.unmarked(copy.index, outline);
            if unmarked.is_empty() && !self.repairs.fixes.contains_key(&copy.index) {
                continue;
            }
            let blocks = self.transcript.ledger.blocks_of(copy.index);
            for ((number, piece), at) in (0u32..).zip(&outline.pieces).zip(blocks) {
                let strings = self.transcript.sanitized.get(&at).cloned().map(What::Strings);
                let hollow = (piece.hollow != 0).then_some(What::Hollow);
                let marks = unmarked.iter().filter(|(piece, _)| *piece == number);
                let marks = marks.map(|(_, marks)| What::Unmark(*marks));
                let changes: Vec<What> = strings.into_iter().chain(hollow).chain(marks).collect();
                if !changes.is_empty() {
                    ops.extend(copied_ops(piece, copy, &changes));
                }
            }
        }
        ops
    }

    fn piece(&self, message: MessageId, piece: u32) -> Option<&Piece> {
        self.transcript.outline(message)?.pieces.get(piece as usize)
    }

    /// The call that a fix gives a result is not sent.
    fn is_gone(&self, fix: &Fix, next_call: &mut usize) -> bool {
        let (message, path) = (MessageId::from(fix.violation.index), fix.violation.path.as_deref());
        let outline = self.transcript.outline(message);
        let pieces = outline.map_or(&[][..], |outline| &outline.pieces);
        let blocks = || self.transcript.ledger.blocks_of(message).zip(pieces).enumerate();
        let is_call =
            |(_, (_, piece)): &(usize, (BlockId, &Piece))| path == Some(&piece.place.pointer());
        let call = blocks().skip(*next_call).find(is_call).or_else(|| blocks().find(is_call));
        call.is_none_or(|(number, (at, _))| {
            *next_call = number.saturating_add(1);
            self.transcript.ledger.block(at).is_none_or(|block| block.form == Form::Gone)
        })
    }

    /// A request starts with the user, after the system.
    pub(in crate::context) fn lead(&self, entries: &mut Vec<Entry>) {
        // A fold may leave an assistant message first, which providers refuse (I7).
        let speaks = |entry: &Entry| match self.setter(&entry.item) {
            Some(it) if it.setting() == Some(setting::COMPACTION) => Some(Role::User),
            Some(it) => it.is_between().then_some(Role::System),
            None => self.speaker_of(&entry.item).filter(|&role| role != Role::System),
        };
        let first = entries.iter().enumerate().find_map(|(at, entry)| Some((at, speaks(entry)?)));
        if let Some((at, role)) = first
            && role != Role::User
        {
            let about = entries.get(at).map_or(MessageId::NONE, |entry| entry.about);
            entries.insert(at, self.entry(line(LEAD), about));
        }
    }

    /// A request ends with the user or a result. True if it had to be made to.
    #[inline(never)]
    pub(in crate::context) fn trail(&self, entries: &mut Vec<Entry>, is_complete: bool) -> bool {
        if self.repairs.repairer.is_prefix() {
            return false;
        }
        let last = entries.iter().rev().find_map(|entry| self.speaker_of(&entry.item));
        // Mistral and newer Claude models refuse a request that ends with the assistant (I8), unless it waits for a
        // tool of the provider.
        let text = match last {
            None if is_complete && !self.transcript.outlines.is_empty() => LEAD,
            Some(Role::System) if is_complete && entries.iter().all(|it| self.is_systems(it)) => {
                LEAD
            }
            Some(Role::Assistant) if !self.repairs.repairer.is_paused() => CONTINUE,
            None | Some(_) => return false,
        };
        let about = self.transcript.ledger.next_message().minus(1);
        entries.push(self.entry(line(text), about));
        true
    }

    fn is_systems(&self, entry: &Entry) -> bool {
        self.speaker_of(&entry.item).is_none_or(|role| role == Role::System)
    }

    /// Who speaks in a message that is sent; none in one that the host itself leaves out.
    pub(in crate::context) fn speaker_of(&self, item: &Item) -> Option<Role> {
        let inline = self.transcript.dialect.format.has_results_inline();
        match item {
            Item::Keep(at) | Item::Edit(at, _) => {
                let outline = self.transcript.outline(*at)?;
                let unsent = outline.pieces.iter().any(|piece| piece.unsent);
                let answers = outline.pieces.iter().any(|piece| piece.kind == Kind::Result);
                let role = if answers && outline.role != Role::Assistant {
                    self.transcript.dialect.provider.speaker_of_results(inline, outline.role)
                } else if matches!(item, Item::Edit(..)) {
                    let sent = changed(outline, &self.changes(*at, outline));
                    sent.last_role()
                } else {
                    outline.last_role()
                };
                (!unsent).then_some(role)
            }
            Item::Make(Made::User(_)) | Item::Join(Voice::User, _) => Some(Role::User),
            Item::Make(Made::Result { .. } | Made::Moved { .. } | Made::Results(_)) => {
                Some(self.transcript.dialect.provider.speaker_of_results(inline, Role::Tool))
            }
            Item::Join(Voice::Assistant, _) | Item::Filler(_) => Some(Role::Assistant),
        }
    }

    /// Of what it says, and of the host's messages that it copies from.
    pub(in crate::context) fn key_of_made(&self, made: &Made) -> u64 {
        let content = fnv(content(made).into_bytes());
        let with = |key: u64, message: MessageId| key.rotate_left(1) ^ self.fingerprint(message);
        match made {
            Made::User(parts) => parts.iter().fold(content, |key, part| match part {
                MadePart::Host(message, _) => with(key, *message),
                MadePart::Text(_) => key,
            }),
            Made::Moved { message, .. } => with(content, *message),
            Made::Results(results) => results
                .iter()
                .fold(content, |key, made| key.rotate_left(1) ^ self.key_of_made(made)),
            Made::Result { .. } => content,
        }
    }

    /// Takes from what is copied where it stands in the host's history, and tells what it says: the same piece may stand
    /// alone or beside others.
    /// `last`: where the piece of the copy before was found; the next mostly follows it.
    pub(in crate::context) fn take_place(&self, copy: &mut Copied, last: &mut usize) -> u64 {
        let index = std::mem::take(&mut copy.index);
        let pieces = self.transcript.outline(index).map_or(&[][..], |outline| &outline.pieces);
        let all = self.transcript.ledger.blocks_of(index).zip(pieces).enumerate();
        for (number, (at, piece)) in all.clone().skip(*last).chain(all.take(*last)) {
            let pointer = piece.place.pointer();
            let under = copy.from.strip_prefix(&pointer);
            if let Some(under) = under.filter(|it| it.is_empty() || it.starts_with('/')) {
                copy.from = under.into();
                *last = number;
                let content = self.transcript.ledger.block(at).map_or(0, |it| it.key);
                let key = bytes(content, piece.kind.name().as_bytes());
                return round(key, u64::from(piece.error));
            }
        }
        self.fingerprint(index)
    }

    pub(in crate::context) fn fingerprint(&self, message: MessageId) -> u64 {
        self.transcript.ledger.message(message).map_or(0, |message| message.fingerprint)
    }

    /// Tokens of our own messages that stand for no block of the host's; the policy counts the head.
    pub(in crate::context) fn made_tokens(&self, entries: &[Entry]) -> u64 {
        let result = |text: &str| {
            self.options.estimator.tokens(text).saturating_add(RESULT).saturating_add(MESSAGE)
        };
        let tokens = |made: &Made| match made {
            Made::Result { text, .. } => result(text),
            Made::Results(results) => results.iter().fold(0, |sum: u32, made| match made {
                Made::Result { text, .. } => sum.saturating_add(result(text)),
                Made::User(_) | Made::Moved { .. } | Made::Results(_) => sum,
            }),
            Made::User(parts) => match parts.as_slice() {
                [MadePart::Text(text)]
                    if *text != self.decisions.placeholders.head
                        && !self.pins.sent().any(|pin| pin == text) =>
                {
                    self.options.estimator.tokens(text).saturating_add(MESSAGE)
                }
                _ => 0,
            },
            Made::Moved { .. } => 0,
        };
        let joint = |part: &Joint| match part {
            Joint::Made(made) => u64::from(tokens(made)),
            Joint::Host(..) => 0,
        };
        let made = entries.iter().map(|entry| match &entry.item {
            Item::Make(made) => u64::from(tokens(made)),
            Item::Join(_, parts) => parts.iter().map(joint).sum(),
            Item::Filler(text) => {
                u64::from(self.options.estimator.tokens(text).saturating_add(MESSAGE))
            }
            Item::Keep(_) | Item::Edit(..) => 0,
        });
        made.sum()
    }

    pub(in crate::context) fn made_outline(&self, made: &Made) -> Outline {
        match made {
            // To write and read a head that has hundreds of the user's texts would take most of the time of a request with a fold.
            Made::User(parts) => {
                let text = Piece::new(Kind::Text, Place::Content);
                return Outline { role: Role::User, pieces: vec![text; parts.len()] };
            }
            Made::Results(_) => return outline_of(made, &|at| self.transcript.outline(at)),
            Made::Result { .. } | Made::Moved { .. } => {}
        }
        let (message, _) =
            self.transcript.dialect.format.make(made, |at| self.transcript.outline(at));
        let readable = stand_in(message.json(), false);
        let outline = self
            .transcript
            .dialect
            .format
            .read(readable.json().as_bytes(), u32::MAX)
            .map(|draft| draft.outline());
        outline.unwrap_or(Outline { role: Role::User, pieces: Vec::new() })
    }
}

#[inline(never)]
pub(in crate::context) fn line(text: &str) -> Item {
    Item::Make(Made::User(vec![MadePart::Text(text.into())]))
}

/// What a message of ours says, and whose it is: the same for the same message only.
fn content(made: &Made) -> String {
    match made {
        Made::User(parts) => {
            let each = parts.iter().map(|part| match part {
                MadePart::Text(text) => format!("\0{text}"),
                MadePart::Host(message, piece) => format!("\0\0{message}/{piece}"),
            });
            std::iter::once("user".into()).chain(each).collect()
        }
        Made::Result { id, name, text, error, .. } => {
            format!("result\0{id}\0{name}\0{text}\0{error}")
        }
        Made::Results(_) => String::from("results"),
        Made::Moved { id, name, message, piece } => {
            format!("moved\0{id}\0{name}\0{message}/{piece}")
        }
    }
}

/// What is copied from the host stands as null: something in its place keeps the shape readable.
fn stand_in(json: &str, listed: bool) -> Value {
    match json.as_bytes().first() {
        Some(b'[') => {
            let items = json::items(json).unwrap_or_default();
            Value::array(&items.into_iter().map(|item| stand_in(item, true)).collect::<Vec<_>>())
        }
        Some(b'{') => {
            let members = json::members(json).unwrap_or_default();
            let members: Vec<_> =
                members.iter().map(|(name, member)| (&**name, stand_in(member, false))).collect();
            Value::object(&members)
        }
        Some(b'n') if listed => object!({ "type": "text", "text": "-" }),
        Some(b'n') => "-".into(),
        _ => Value::raw(json.into()),
    }
}
