//! Roles in turn, where a provider wants them so: neighbours of one role become one message, and where that cannot be, a
//! line of ours stands between.

use super::made::line;
use super::state::State;
use super::view::{Entry, IMAGE, changed_piece};
use crate::format::{Change, Format, Joined, What};
use crate::model::{FixKind, Item, Joint, Kind, Made, MadePart, Outline, Piece, Role, Voice};
use crate::validity::{Between, CONTINUE, GAP, SYSTEM};

impl State {
    /// The entries as the provider takes them behind a message of `before`. None: the first belongs into that message.
    pub(super) fn take_turns(
        &self,
        entries: Vec<Entry>,
        before: Option<Role>,
    ) -> Option<Vec<Entry>> {
        if !self.provider.takes_turns() && !self.provider.signs_calls() {
            return Some(entries);
        }
        let mut out: Vec<Entry> = Vec::with_capacity(entries.len());
        let mut last = (None, before);
        let mut waiting = entries;
        waiting.reverse();
        while let Some(entry) = waiting.pop() {
            let entry = match self.apart(&entry.item) {
                Some((results, says)) => {
                    waiting.push(self.entry(says));
                    self.entry(results)
                }
                None => entry,
            };
            let Some(role) = self.speaker(&entry.item) else {
                out.push(entry);
                continue;
            };
            // A message that holds calls and their results begins with the model and ends with the tool.
            let opens = if self.models(&entry.item).is_some() { Role::Assistant } else { role };
            // A fold may leave the model's word directly before its calls (I18).
            if self.provider.signs_calls()
                && last.1 == Some(Role::Assistant)
                && self
                    .models(&entry.item)
                    .is_some_and(|it| it.pieces.iter().any(|it| it.kind == Kind::Call))
            {
                out.push(self.entry(line(CONTINUE)));
            }
            match self.provider.between(last.1, opens) {
                Between::Nothing => {}
                Between::Assistant => out.push(self.entry(Item::Says(GAP))),
                Between::OneMessage => {
                    let at: usize = last.0?;
                    if let Some(joined) = self.join(out.get(at), &entry, role)
                        && let Some(slot) = out.get_mut(at)
                    {
                        *slot = joined;
                        continue;
                    }
                    out.push(self.entry(match opens {
                        Role::Assistant => line(CONTINUE),
                        Role::User | Role::System | Role::Tool => Item::Says(GAP),
                    }));
                }
            }
            last = (Some(out.len()), Some(role));
            out.push(entry);
        }
        Some(out)
    }

    /// Who speaks last in these.
    pub(super) fn last_speaker(&self, entries: &[Entry]) -> Option<Role> {
        entries.iter().rev().find_map(|entry| self.speaker(&entry.item))
    }

    /// The system's message as the user's, if it may not be the system's where it stands.
    pub(super) fn as_user(
        &self,
        message: u32,
        outline: &Outline,
        changes: &[Change],
    ) -> Option<Item> {
        self.fixes_of(message).find(|fix| fix.kind == FixKind::AsUser)?;
        if self.lists() {
            let mut parts = vec![MadePart::Text(SYSTEM.into())];
            parts.append(&mut self.words(message, outline, changes)?);
            return Some(Item::Make(Made::User(parts)));
        }
        if !outline.pieces.iter().all(|piece| Joined::takes(self.format, piece)) {
            return None;
        }
        let note = Made::User(vec![MadePart::Text(SYSTEM.into())]);
        let mut parts = vec![Joint::Made(note)];
        parts.append(&mut joints(message, outline, changes));
        Some(Item::Join(Voice::User, parts))
    }

    /// The model's message that an item is.
    fn models(&self, item: &Item) -> Option<&Outline> {
        let (Item::Keep(message) | Item::Edit(message, _)) = *item else { return None };
        self.outlines.get(message as usize).filter(|it| it.role == Role::Assistant)
    }

    /// Results and what the user says beside them, where the one is the tool's and the other is not.
    fn apart(&self, item: &Item) -> Option<(Item, Item)> {
        if !self.provider.splits_results() {
            return None;
        }
        let (Item::Keep(message) | Item::Edit(message, _)) = *item else { return None };
        let outline = self.outlines.get(message as usize)?;
        let mut changes = self.changes(message, outline);
        let (mut says, mut answers) = (Vec::new(), false);
        for (at, piece) in staying(outline, &changes) {
            answers |= piece.kind == Kind::Result;
            if piece.kind != Kind::Result {
                says.push(Joint::Host(message, at));
            }
        }
        if outline.role != Role::User || !answers || says.is_empty() {
            return None;
        }
        for part in &says {
            if let Joint::Host(_, piece) = part {
                changes.retain(|change| change.piece != *piece);
                changes.push(Change { piece: *piece, what: What::Drop });
            }
        }
        let results = self.format.edit(outline, &changes);
        Some((Item::Edit(message, results), Item::Join(Voice::User, says)))
    }

    /// An entry with more in it, if both can be in one message.
    fn join(&self, entry: Option<&Entry>, more: &Entry, role: Role) -> Option<Entry> {
        if self.lists() {
            let mut parts = self.says(&entry?.item)?;
            parts.append(&mut self.says(&more.item)?);
            return Some(self.entry(Item::Make(Made::User(parts))));
        }
        let voice = if role == Role::Assistant { Voice::Assistant } else { Voice::User };
        let mut parts = self.parts_of(&entry?.item)?;
        parts.append(&mut self.parts_of(&more.item)?);
        Some(self.entry(Item::Join(voice, parts)))
    }

    /// An SDK writes one message in several shapes: what the user says in it goes into one of ours.
    fn lists(&self) -> bool {
        matches!(self.format, Format::AiSdk | Format::LangChain)
    }

    /// What the user says in an item. None where it is another's.
    fn says(&self, item: &Item) -> Option<Vec<MadePart>> {
        match item {
            Item::Keep(message) | Item::Edit(message, _) => {
                let outline = self.outlines.get(*message as usize)?;
                let changes = self.changes(*message, outline);
                (outline.role == Role::User).then(|| self.words(*message, outline, &changes))?
            }
            Item::Make(Made::User(parts)) => Some(parts.clone()),
            Item::Make(_) | Item::Join(..) | Item::Says(_) => None,
        }
    }

    /// The pieces of a message that go out, as they go out.
    fn words(&self, message: u32, outline: &Outline, changes: &[Change]) -> Option<Vec<MadePart>> {
        let first = self.ledger.blocks_of(message).start;
        let part = |(number, piece): (u32, &Piece)| {
            let at = first.saturating_add(number);
            let text = self.lines.text.get(&at).or_else(|| self.mended.get(&at));
            match (piece.kind, text) {
                (Kind::Image, Some(_)) => Some(MadePart::Text(IMAGE.into())),
                (Kind::Text, Some(text)) => Some(MadePart::Text(text.clone())),
                (Kind::Text | Kind::Image | Kind::Other, _) => {
                    Some(MadePart::Host(message, number))
                }
                (Kind::Thinking | Kind::Call | Kind::Result, _) => None,
            }
        };
        staying(outline, changes).into_iter().map(part).collect()
    }

    /// What an item says, as parts of another message. None where it cannot be taken apart.
    fn parts_of(&self, item: &Item) -> Option<Vec<Joint>> {
        let inline = self.format.has_results_inline();
        match item {
            Item::Keep(message) | Item::Edit(message, _) => {
                let outline = self.outlines.get(*message as usize)?;
                let assistant = outline.role == Role::Assistant;
                let movable = outline.pieces.iter().all(|piece| Joined::takes(self.format, piece));
                let changes = self.changes(*message, outline);
                let parts = joints(*message, outline, &changes);
                (movable && (inline || !assistant)).then_some(parts)
            }
            Item::Make(made @ Made::User(_)) => Some(vec![Joint::Made(made.clone())]),
            Item::Make(made) => inline.then(|| vec![Joint::Made(made.clone())]),
            Item::Join(_, parts) => Some(parts.clone()),
            Item::Says(_) => None,
        }
    }

    /// A joined message in the format's shape.
    pub(super) fn joined(&self, voice: Voice, parts: &[Joint]) -> Joined {
        let mut joined = Joined::new(self.format, voice);
        for part in parts {
            match part {
                Joint::Made(made) => {
                    let before = joined.copied.len();
                    joined.made(made, |at| self.outlines.get(at as usize));
                    let copies = joined.copied.get(before..).unwrap_or_default();
                    let ops = self.mends_copy(made, copies);
                    joined.ops.extend(ops);
                }
                Joint::Host(message, number) => {
                    let Some(outline) = self.outlines.get(*message as usize) else { continue };
                    let Some(piece) = outline.pieces.get(*number as usize) else { continue };
                    let at = self.ledger.blocks_of(*message).start.saturating_add(*number);
                    // Mended words of the user's are ours, as in the head of a fold: written alike, they are the same.
                    if let Some(text) = self.mended.get(&at)
                        && (voice, piece.kind, piece.marks) == (Voice::User, Kind::Text, 0)
                    {
                        let said = Made::User(vec![MadePart::Text(text.clone())]);
                        joined.made(&said, |_| None);
                        continue;
                    }
                    let mut changes = self.changes(*message, outline);
                    changes.retain(|change| change.piece == *number);
                    joined.host(*message, piece, &changes);
                }
            }
        }
        joined
    }

    /// The shape of a joined message, for the validator.
    pub(super) fn joined_outline(&self, voice: Voice, parts: &[Joint]) -> Outline {
        let role = if voice == Voice::Assistant { Role::Assistant } else { Role::User };
        let mut pieces = Vec::new();
        for part in parts {
            match part {
                Joint::Made(made) => pieces.extend(self.made_outline(made).pieces),
                Joint::Host(message, number) => {
                    let Some(outline) = self.outlines.get(*message as usize) else { continue };
                    let Some(piece) = outline.pieces.get(*number as usize) else { continue };
                    pieces.extend(changed_piece(*number, piece, &self.changes(*message, outline)));
                }
            }
        }
        Outline { role, pieces }
    }
}

/// The messages of the host's that an item is made of.
pub(super) fn hosts(item: &Item) -> Vec<u32> {
    match item {
        Item::Keep(at) | Item::Edit(at, _) => vec![*at],
        Item::Make(_) | Item::Says(_) => Vec::new(),
        Item::Join(_, parts) => {
            let mut hosts = Vec::new();
            for part in parts {
                if let Joint::Host(message, _) = part
                    && hosts.last() != Some(message)
                {
                    hosts.push(*message);
                }
            }
            hosts
        }
    }
}

/// The pieces of a message that go out.
fn staying<'o>(outline: &'o Outline, changes: &[Change]) -> Vec<(u32, &'o Piece)> {
    let gone = |at| changes.iter().any(|change| change.piece == at && change.what == What::Drop);
    (0u32..).zip(&outline.pieces).filter(|(at, _)| !gone(*at)).collect()
}

/// All of them, for another message.
fn joints(message: u32, outline: &Outline, changes: &[Change]) -> Vec<Joint> {
    let staying = staying(outline, changes);
    staying.into_iter().map(|(at, _)| Joint::Host(message, at)).collect()
}
