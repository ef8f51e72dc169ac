//! Alternation: neighbours of one role become one message for providers that require it, or get a synthetic line between
//! them if they cannot be joined.

use crate::context::request::builder::Builder;
use crate::context::request::last_request::Entry;
use crate::context::request::placeholders::IMAGE;
use crate::context::request::synthetic::line;
use crate::context::request::view::changed_pieces;
use crate::format::{Change, Format, Joined, What, gone};
use crate::model::{
    FixKind, Item, Joint, Kind, Made, MadePart, MessageId, Outline, Piece, Role, Voice,
    begins_with_result,
};
use crate::validity::{Between, CONTINUE, GAP, SYSTEM};

/// Messages of one role that go out as one.
struct Run {
    parts: Parts,
    /// There is more than one of them.
    joined: bool,
}

/// What they say.
enum Parts {
    Words(Vec<MadePart>),
    Joints(Voice, Vec<Joint>),
}

impl Run {
    fn append(&mut self, more: Self) {
        self.joined = true;
        match (&mut self.parts, more.parts) {
            (Parts::Words(words), Parts::Words(mut more)) => words.append(&mut more),
            (Parts::Joints(_, joints), Parts::Joints(_, mut more)) => joints.append(&mut more),
            (Parts::Words(_), Parts::Joints(..)) | (Parts::Joints(..), Parts::Words(_)) => {}
        }
    }
}

impl Builder<'_> {
    /// The entries as the provider takes them after a message of `before`. None: the first belongs into that message.
    #[inline(never)]
    pub(in crate::context) fn take_turns(
        &self,
        entries: Vec<Entry>,
        before: Option<Role>,
    ) -> Option<Vec<Entry>> {
        if !self.transcript.dialect.provider.takes_turns()
            && !self.transcript.dialect.provider.signs_calls()
        {
            return Some(entries);
        }
        self.alternate(entries, before)
    }

    #[inline(never)]
    fn alternate(&self, entries: Vec<Entry>, before: Option<Role>) -> Option<Vec<Entry>> {
        let mut out: Vec<Entry> = Vec::with_capacity(entries.len());
        let mut last = (None, before);
        let mut run: Option<Run> = None;
        let mut waiting = entries;
        waiting.reverse();
        while let Some(entry) = waiting.pop() {
            let entry = match self.apart(&entry.item) {
                Some((results, speech)) => {
                    waiting.push(self.entry(speech, entry.about));
                    self.entry(results, entry.about)
                }
                None => entry,
            };
            let Some(role) = self.speaker_of(&entry.item) else {
                out.push(entry);
                continue;
            };
            // A line of ours has the time of the message before it, also where nothing follows it yet.
            let before_it = entry.about.minus(1);
            // A message that holds calls and their results begins with the model and ends with the tool.
            let opens = if self.models(&entry.item).is_some() { Role::Assistant } else { role };
            // A fold may leave the model's word directly before its calls (I18).
            if self.transcript.dialect.provider.signs_calls()
                && last.1 == Some(Role::Assistant)
                && self.models(&entry.item).is_some_and(|it| {
                    it.pieces.iter().any(Piece::is_host_call)
                        && !begins_with_result(it.pieces.iter())
                })
            {
                out.push(self.entry(line(CONTINUE), before_it));
            }
            match self.transcript.dialect.provider.between(last.1, opens) {
                Between::Nothing => {}
                Between::Assistant => out.push(self.entry(Item::Filler(GAP), before_it)),
                Between::OneMessage => {
                    let at: usize = last.0?;
                    let begun = run.take().or_else(|| self.run_of(&out.get(at)?.item, role));
                    if let Some(mut begun) = begun {
                        if let Some(more) = self.run_of(&entry.item, role) {
                            begun.append(more);
                            run = Some(begun);
                            continue;
                        }
                        run = Some(begun);
                    }
                    let between = match opens {
                        Role::Assistant => line(CONTINUE),
                        Role::User | Role::System | Role::Tool => Item::Filler(GAP),
                    };
                    out.push(self.entry(between, before_it));
                }
            }
            self.end_run(&mut run, last.0, &mut out);
            last = (Some(out.len()), Some(role));
            out.push(entry);
        }
        self.end_run(&mut run, last.0, &mut out);
        Some(out)
    }

    /// What a run of one role came to, as one message: it is put together once, however many go into it.
    fn end_run(&self, run: &mut Option<Run>, at: Option<usize>, out: &mut [Entry]) {
        let slot = at.and_then(|at| out.get_mut(at));
        if let (Some(Run { parts, joined: true }), Some(slot)) = (run.take(), slot) {
            let item = match parts {
                Parts::Words(words) => Item::Make(Made::User(words)),
                Parts::Joints(voice, joints) => Item::Join(voice, joints),
            };
            *slot = self.entry(item, slot.about);
        }
    }

    /// Who speaks last in these.
    pub(in crate::context) fn last_speaker(&self, entries: &[Entry]) -> Option<Role> {
        entries.iter().rev().find_map(|entry| self.speaker_of(&entry.item))
    }

    /// The system's message as the user's, if it may not be the system's where it stands.
    pub(in crate::context) fn as_user(
        &self,
        message: MessageId,
        outline: &Outline,
        changes: &[Change],
    ) -> Option<Item> {
        self.fixes_of(message).find(|fix| fix.kind == FixKind::AsUser)?;
        self.sent_as_user(message, outline, changes)
    }

    #[inline(never)]
    fn sent_as_user(
        &self,
        message: MessageId,
        outline: &Outline,
        changes: &[Change],
    ) -> Option<Item> {
        if self.lists() {
            let mut parts = vec![MadePart::Text(SYSTEM.into())];
            parts.append(&mut self.words(message, outline, changes)?);
            return Some(Item::Make(Made::User(parts)));
        }
        let note = Made::User(vec![MadePart::Text(SYSTEM.into())]);
        let mut parts = vec![Joint::Made(note)];
        parts.append(&mut self.joints(message, outline, changes)?);
        Some(Item::Join(Voice::User, parts))
    }

    /// The model's message that an item is.
    fn models(&self, item: &Item) -> Option<&Outline> {
        let (Item::Keep(message) | Item::Edit(message, _)) = *item else { return None };
        self.transcript.outline(message).filter(|it| it.role == Role::Assistant)
    }

    /// Results and what the user says beside them, where the one is the tool's and the other is not.
    fn apart(&self, item: &Item) -> Option<(Item, Item)> {
        if !self.transcript.dialect.provider.splits_results() {
            return None;
        }
        let (Item::Keep(message) | Item::Edit(message, _)) = *item else { return None };
        let outline = self.transcript.outline(message)?;
        let mut changes = self.changes(message, outline);
        let (mut speech, mut answers) = (Vec::new(), false);
        for (at, piece) in staying(outline, &changes) {
            answers |= piece.kind == Kind::Result;
            if piece.kind != Kind::Result {
                speech.push(Joint::Host(message, at));
            }
        }
        if outline.role != Role::User || !answers || speech.is_empty() {
            return None;
        }
        for part in &speech {
            if let Joint::Host(_, piece) = part {
                changes.push(Change { piece: *piece, what: What::Drop });
            }
        }
        let results = self.transcript.dialect.format.edit(outline, &changes);
        Some((Item::Edit(message, results), Item::Join(Voice::User, speech)))
    }

    /// What an item says in a message that more is said in. None where it cannot be taken apart.
    fn run_of(&self, item: &Item, role: Role) -> Option<Run> {
        let voice = if role == Role::Assistant { Voice::Assistant } else { Voice::User };
        let parts = if self.lists() {
            Parts::Words(self.words_of(item)?)
        } else {
            Parts::Joints(voice, self.parts_of(item)?)
        };
        Some(Run { parts, joined: false })
    }

    /// An SDK writes one message in several shapes, and Gemini has parts instead of blocks: what the user says in it goes into one
    /// of ours.
    fn lists(&self) -> bool {
        matches!(self.transcript.dialect.format, Format::AiSdk | Format::LangChain | Format::Gemini)
    }

    /// What the user says in an item. None where it is another's.
    fn words_of(&self, item: &Item) -> Option<Vec<MadePart>> {
        match item {
            Item::Keep(message) | Item::Edit(message, _) => {
                let outline = self.transcript.outline(*message)?;
                let changes = self.changes(*message, outline);
                (outline.role == Role::User).then(|| self.words(*message, outline, &changes))?
            }
            Item::Make(Made::User(parts)) => Some(parts.clone()),
            Item::Make(_) | Item::Join(..) | Item::Filler(_) => None,
        }
    }

    /// The pieces of a message that go out, as they go out.
    fn words(
        &self,
        message: MessageId,
        outline: &Outline,
        changes: &[Change],
    ) -> Option<Vec<MadePart>> {
        let first = self.transcript.ledger.blocks_of(message).start;
        let part = |(number, piece): (u32, &Piece)| {
            let at = first.plus(number);
            let text = self.decisions.placeholders.text.get(&at);
            match (piece.kind, text) {
                (Kind::Image, Some(_)) => Some(MadePart::Text(IMAGE.into())),
                (Kind::Text, Some(text)) => Some(MadePart::Text(String::from(&**text))),
                (Kind::Text | Kind::Image | Kind::Other, _) => {
                    Some(MadePart::Host(message, number))
                }
                (Kind::Thinking | Kind::Call | Kind::Result, _) => None,
            }
        };
        // A call does not go out in the user's name, nor what repeats it.
        staying(outline, changes).into_iter().filter(|(_, piece)| !piece.mirror).map(part).collect()
    }

    /// What an item says, as parts of another message. None where it cannot be taken apart.
    fn parts_of(&self, item: &Item) -> Option<Vec<Joint>> {
        let inline = self.transcript.dialect.format.has_results_inline();
        match item {
            Item::Keep(message) | Item::Edit(message, _) => {
                let outline = self.transcript.outline(*message)?;
                let assistant = outline.role == Role::Assistant;
                let changes = self.changes(*message, outline);
                let parts = self.joints(*message, outline, &changes)?;
                (inline || !assistant).then_some(parts)
            }
            Item::Make(made @ Made::User(_)) => Some(vec![Joint::Made(made.clone())]),
            Item::Make(made) => inline.then(|| vec![Joint::Made(made.clone())]),
            Item::Join(_, parts) => Some(parts.clone()),
            Item::Filler(_) => None,
        }
    }

    /// All pieces of a message that go out, for another message. None where one of them cannot stand in another.
    fn joints(
        &self,
        message: MessageId,
        outline: &Outline,
        changes: &[Change],
    ) -> Option<Vec<Joint>> {
        let format = self.transcript.dialect.format;
        let joint = |(at, piece): (u32, &Piece)| {
            Joined::takes(format, piece).then_some(Joint::Host(message, at))
        };
        staying(outline, changes).into_iter().map(joint).collect()
    }

    /// A joined message in the format's shape.
    pub(in crate::context) fn joined(&self, voice: Voice, parts: &[Joint]) -> Joined {
        let mut joined = Joined::new(self.transcript.dialect.format, voice);
        let mut of = (MessageId::NONE, Vec::new());
        for part in parts {
            match part {
                Joint::Made(made) => {
                    let before = joined.copied.len();
                    joined.made(made, |at| self.transcript.outline(at));
                    let copies = joined.copied.get(before..).unwrap_or_default();
                    let ops = self.mends_copies(copies);
                    joined.ops.extend(ops);
                }
                Joint::Host(message, number) => {
                    let Some(outline) = self.transcript.outline(*message) else {
                        continue;
                    };
                    let Some(piece) = outline.pieces.get(*number as usize) else { continue };
                    if of.0 != *message {
                        of = (*message, self.changes(*message, outline));
                    }
                    // The changes of a message stand in the order of its pieces.
                    let from = of.1.partition_point(|change| change.piece < *number);
                    let rest = of.1.get(from..).unwrap_or_default();
                    let own = rest.partition_point(|change| change.piece == *number);
                    joined.host(*message, piece, rest.get(..own).unwrap_or_default());
                }
            }
        }
        joined
    }

    /// The shape of a joined message, for the validator.
    pub(in crate::context) fn joined_outline(&self, voice: Voice, parts: &[Joint]) -> Outline {
        let role = if voice == Voice::Assistant { Role::Assistant } else { Role::User };
        let mut pieces = Vec::new();
        let mut of = (MessageId::NONE, Vec::new());
        for part in parts {
            match part {
                Joint::Made(made) => pieces.extend(self.made_outline(made).pieces),
                Joint::Host(message, number) => {
                    let Some(outline) = self.transcript.outline(*message) else {
                        continue;
                    };
                    if of.0 != *message {
                        let changes = self.changes(*message, outline);
                        of = (*message, changed_pieces(outline, &changes));
                    }
                    pieces.extend(of.1.get(*number as usize).cloned().flatten());
                }
            }
        }
        Outline { role, pieces }
    }
}

/// The pieces of a message that go out.
fn staying<'o>(outline: &'o Outline, changes: &[Change]) -> Vec<(u32, &'o Piece)> {
    let pieces = (0u32..).zip(&outline.pieces).zip(gone(outline, changes));
    pieces.filter(|(_, gone)| !gone).map(|(piece, _)| piece).collect()
}
