//! The view: keep, edit or make each message that is sent.

use std::borrow::Cow;

use crate::context::request::builder::Builder;
use crate::context::request::last_request::Entry;
use crate::context::request::placeholders::{IMAGE, arguments};
use crate::context::request::written::Written;
use crate::format::{Change, What, gone, is_marker};
use crate::hash::fnv;
use crate::json::{self, Value};
use crate::model::{
    BlockId, Fix, FixKind, Form, Item, Kind, Made, MessageId, NONE, Op, Outline, Piece, Place,
    Role, setting,
};
use crate::number::count;
use crate::sort::sort_by;
use crate::validity::{GAP, NO_OUTPUT, join_steps};

impl Builder<'_> {
    /// The items for all messages from `from` on; from 0 with the head of the last fold.
    pub(in crate::context) fn build(&self, from: MessageId) -> Vec<Entry> {
        let mut entries = Vec::new();
        let mut waiting_head = from == MessageId::FIRST
            && (self.decisions.pruner.head.is_some() || self.pins.sent().next().is_some());
        let first = self.transcript.ledger.blocks_of(from).start;
        let live = self.transcript.ledger.live();
        let mut rest = live.get(live.partition_point(|&at| at < first)..).unwrap_or(&[]);
        let mut anchors = self.anchors(from).into_iter().peekable();
        let compacted = if waiting_head { self.last_compaction(live) } else { None };
        while let Some(message) = self.message_of(rest) {
            while let Some(anchor) = anchors.next_if(|&anchor| anchor <= message) {
                if anchor < message {
                    self.add_results(anchor, &mut entries);
                }
            }
            let end = self.transcript.ledger.blocks_of(message).end;
            let own = rest.iter().take_while(|&&at| at < end).count();
            rest = rest.get(own..).unwrap_or(&[]);
            let role = self.transcript.outline(message).map_or(Role::User, |it| it.role);
            if waiting_head && compacted < Some(message) && self.is_behind_head(message, role) {
                self.add_head(&mut entries);
                waiting_head = false;
            }
            self.add_message(message, &mut entries);
        }
        for anchor in anchors {
            self.add_results(anchor, &mut entries);
        }
        if waiting_head {
            self.add_head(&mut entries);
        }
        self.part_settings(&mut entries);
        if from == MessageId::FIRST {
            self.lead(&mut entries);
        }
        entries
    }

    #[inline(never)]
    fn add_head(&self, entries: &mut Vec<Entry>) {
        entries.push(self.entry(Item::Make(self.head()), self.head_about()));
    }

    /// The last summary that the provider itself made before the cut. The provider ignores all messages before it, the head as well.
    fn last_compaction(&self, live: &[BlockId]) -> Option<MessageId> {
        let messages =
            live.iter().rev().filter_map(|&at| Some(self.transcript.ledger.block(at)?.message));
        let mut before = messages.skip_while(|&it| it >= self.decisions.pruner.start);
        let kind = |it: &MessageId| self.transcript.outline(*it)?.setting();
        before.find(|it| kind(it) == Some(setting::COMPACTION))
    }

    /// The outline of an item that is a setting.
    pub(in crate::context) fn setter(&self, item: &Item) -> Option<&Outline> {
        let (Item::Keep(message) | Item::Edit(message, _)) = *item else { return None };
        self.transcript.outline(message).filter(|it| it.setting().is_some())
    }

    /// Puts a line of the model's between a change of tools and the user, if a fold has removed what the model said there.
    fn part_settings(&self, entries: &mut Vec<Entry>) {
        let mut at = 0;
        let mut is_after = false;
        while let Some(entry) = entries.get(at) {
            match self.setter(&entry.item) {
                Some(it) => is_after |= it.is_between(),
                None if is_after => {
                    is_after = false;
                    if self.speaker_of(&entry.item) == Some(Role::User) {
                        let line = self.entry(Item::Filler(GAP), entry.about.minus(1));
                        entries.insert(at, line);
                    }
                }
                None => {}
            }
            at = at.saturating_add(1);
        }
    }

    /// Whether a message follows the head. What the system said before the cut precedes it; what it says later follows, so that
    /// the head keeps its place however often the request is built.
    fn is_behind_head(&self, message: MessageId, role: Role) -> bool {
        let is_after_cut =
            self.decisions.pruner.head.is_some() && message >= self.decisions.pruner.start;
        message >= self.decisions.pruner.head_from && (role != Role::System || is_after_cut)
    }

    /// The first message that the head stands for: the system's stay where they are.
    pub(in crate::context) fn head_about(&self) -> MessageId {
        let later = self.transcript.outlines.iter_from(self.decisions.pruner.head_from.index());
        let systems = later.take_while(|it| it.role == Role::System).count();
        self.decisions.pruner.head_from.plus(count(systems))
    }

    /// What mends a message, for good or because the request ends here.
    pub(in crate::context) fn fixes_of(&self, message: MessageId) -> impl Iterator<Item = &Fix> {
        let lasting = self.repairs.fixes.get(&message).map_or(&[][..], Vec::as_slice);
        let ending = &self.decisions.end_fixes;
        let first = ending.partition_point(|fix| fix.index < message);
        let own = ending.iter().skip(first).take_while(move |fix| fix.index == message);
        lasting.iter().chain(own)
    }

    fn message_of(&self, live: &[BlockId]) -> Option<MessageId> {
        Some(self.transcript.ledger.block(*live.first()?)?.message)
    }

    /// A message with what goes out around it.
    #[inline(never)]
    fn add_message(&self, message: MessageId, entries: &mut Vec<Entry>) {
        let Some(outline) = self.transcript.outline(message) else { return };
        for fix in self.fixes_of(message) {
            if let FixKind::Before(made) = &fix.kind {
                self.add_made(fix, made, entries);
            }
        }
        let changes = self.changes(message, outline);
        let drops = changes.iter().any(|change| change.what == What::Drop);
        // A change must not leave reasoning alone (I6). A message that came so is repaired when it arrives.
        let is_left = !(drops && only_thinking(outline, &changes));
        if is_left && !outline.pieces.is_empty() {
            let item = self.as_user(message, outline, &changes).unwrap_or_else(|| {
                let joins = self.joins(message);
                if changes.is_empty() && joins.is_empty() {
                    return Item::Keep(message);
                }
                let mut ops = self.transcript.dialect.format.edit(outline, &changes);
                for start in joins {
                    without(&mut ops, start);
                }
                Item::Edit(message, ops)
            });
            entries.push(self.entry(item, message));
        }
        self.add_results(message, entries);
    }

    /// Where steps start that go out with the one before.
    fn joins(&self, message: MessageId) -> Vec<&str> {
        let turns = self.fixes_of(message).filter(|fix| fix.kind == FixKind::Turn);
        turns.filter_map(|fix| fix.violation.path.as_deref()).collect()
    }

    /// What is changed on a message: forms, and what mends it.
    pub(in crate::context) fn changes(&self, message: MessageId, outline: &Outline) -> Vec<Change> {
        let blocks = self.transcript.ledger.blocks_of(message);
        let mut changes = Vec::new();
        let of_piece = |fix: &&Fix| fix.kind.piece() != NONE;
        let mut fixes: Vec<&Fix> = self.fixes_of(message).filter(of_piece).collect();
        sort_by(&mut fixes, |fix| (i64::from(fix.kind.piece()), 0));
        let mut fixes = fixes.into_iter().peekable();
        let mut unmarked = self.unmarked(message, outline).into_iter().peekable();
        for ((piece, it), at) in (0u32..).zip(&outline.pieces).zip(blocks) {
            let Some(block) = self.transcript.ledger.block(at) else { continue };
            let gone = block.form == Form::Gone
                || self.is_in_head(message, outline.role, it)
                || self.repairs.displaced.contains_key(&(message, piece))
                || self.decisions.absent_at_end.binary_search(&(message, piece)).is_ok();
            let marks = unmarked.next_if(|(number, _)| *number == piece);
            let mut own = std::iter::from_fn(|| fixes.next_if(|fix| fix.kind.piece() <= piece));
            if gone {
                // Repairs of a piece that does not go out are passed over, so that the next piece finds its own.
                own.by_ref().for_each(drop);
                changes.push(Change { piece, what: What::Drop });
                continue;
            }
            if let Some(text) = self.decisions.placeholders.text.get(&at) {
                let is_uncut = self.decisions.placeholders.uncut_arguments.contains_key(&at);
                let what = if is_uncut {
                    What::Arguments(Value::raw(String::from(&**text)))
                } else {
                    instead(it, text)
                };
                changes.push(Change { piece, what });
            }
            let whats = own.filter_map(|fix| self.mended_by(fix, at, it));
            changes.extend(whats.map(|what| Change { piece, what }));
            if let Some((_, marks)) = marks {
                // A line of ours has taken the place of the blocks in a result.
                let is_ours =
                    it.kind == Kind::Result && self.decisions.placeholders.text.contains_key(&at);
                let marks = if is_ours { marks & 1 } else { marks };
                changes.push(Change { piece, what: What::Unmark(marks) });
            }
        }
        changes
    }

    /// What a fix of a piece, which is this block, changes on it.
    #[inline(never)]
    fn mended_by(&self, fix: &Fix, at: BlockId, it: &Piece) -> Option<What> {
        let ours = self.decisions.placeholders.text.contains_key(&at);
        Some(match &fix.kind {
            FixKind::Rename { id, .. } => What::Id(id.clone()),
            FixKind::Text { text, .. } if !ours || it.kind == Kind::Call => match text {
                Some(text) => What::Text(text.clone()),
                None => What::Hollow,
            },
            FixKind::Unicode { .. } => {
                let mut strings = self.transcript.sanitized.get(&at)?.clone();
                if ours {
                    // Our line replaces the text of the block. Its name still goes out.
                    let is_name = |value: &Value| value.as_str().as_deref() == Some(&*it.name);
                    strings.retain(|op| matches!(op, Op::Replace { value, .. } if is_name(value)));
                }
                What::Strings(strings)
            }
            FixKind::Sign { .. } => What::Sign,
            FixKind::Arguments { .. } if !ours => What::Arguments(Value::object(&[])),
            FixKind::Drop { .. }
            | FixKind::Unmark { .. }
            | FixKind::Text { .. }
            | FixKind::Arguments { .. }
            | FixKind::AsUser
            | FixKind::Turn
            | FixKind::Before(_)
            | FixKind::After(_) => return None,
        })
    }

    /// What goes out for this message, and for those after it if it is ours.
    pub(in crate::context) fn entry(&self, item: Item, about: MessageId) -> Entry {
        let (key, source, carried) = match &item {
            Item::Keep(at) => (self.fingerprint(*at), *at, 0),
            Item::Edit(at, ops) => {
                let carried = fnv(json::write(ops).into_bytes());
                (key_of_edit(ops, carried) ^ self.fingerprint(*at), *at, carried)
            }
            Item::Make(_) | Item::Join(..) | Item::Filler(_) => {
                let (key, carried) = self.keys_of_ours(&item, about);
                (key, MessageId::NONE, carried)
            }
        };
        let ids = self.ids(&item);
        Entry { item, key, ids, source, about, carried }
    }

    /// Keys of a synthetic message: one of its words, one of all that is written for the facade.
    #[inline(never)]
    fn keys_of_ours(&self, item: &Item, about: MessageId) -> (u64, u64) {
        if let Item::Make(made) = item
            && !matches!(made, Made::User(_))
        {
            let written = self.write(item, MessageId::NONE);
            return (self.key_of_made(made), fnv(json::write(&written).into_bytes()));
        }
        // The same words are the same message, in whatever way they came together and whichever of the host's say them.
        let (mut written, mut copied, mut last) = (self.write(item, about), 0, 0);
        if let Written::Make { about, .. } = &mut written {
            *about = None;
        }
        let carried = fnv(json::write(&written).into_bytes());
        if let Written::Make { copies, ops, .. } = &mut written {
            ops.retain(|op| !is_marker(op));
            for copy in copies {
                copied = u64::rotate_left(copied, 1) ^ self.take_place(copy, &mut last);
            }
        }
        (fnv(json::write(&written).into_bytes()) ^ copied, carried)
    }

    /// A hash of the ids of calls in an item's messages.
    fn ids(&self, item: &Item) -> u64 {
        let pieces =
            item.hosts().filter_map(|at| self.transcript.outline(at)).flat_map(|it| &it.pieces);
        let ids = pieces.map(|piece| &*piece.id).filter(|id| !id.is_empty());
        ids.fold(0, |all, id| u64::rotate_left(all, 1) ^ fnv(id.bytes()))
    }

    /// The shapes that go out, for the validator.
    pub(in crate::context) fn outgoing(&self, entries: &[Entry]) -> Vec<Cow<'_, Outline>> {
        let shape = |entry: &Entry| match &entry.item {
            Item::Keep(at) => self.transcript.outline(*at).map(Cow::Borrowed),
            Item::Edit(at, _) => {
                let outline = self.transcript.outline(*at)?;
                let mut sent = changed(outline, &self.changes(*at, outline));
                let joins = self.joins(*at).into_iter();
                joins.for_each(|start| join_steps(&mut sent.pieces, start));
                Some(Cow::Owned(sent))
            }
            Item::Make(made) => Some(Cow::Owned(self.made_outline(made))),
            Item::Join(voice, parts) => Some(Cow::Owned(self.joined_outline(*voice, parts))),
            Item::Filler(_) => {
                let text = Piece::new(Kind::Text, Place::Content);
                Some(Cow::Owned(Outline { role: Role::Assistant, pieces: vec![text] }))
            }
        };
        entries.iter().filter_map(shape).collect()
    }
}

/// Key of an edit without its cache markers: a message that only loses one says the same. `all` is the key of all its operations.
#[inline(never)]
fn key_of_edit(ops: &[Op], all: u64) -> u64 {
    match ops.iter().filter(|op| is_marker(op)).count() {
        markers if markers == ops.len() => 0,
        0 => all,
        _ => {
            let changes_made: Vec<&Op> = ops.iter().filter(|op| !is_marker(op)).collect();
            fnv(json::write(&changes_made).into_bytes())
        }
    }
}

/// Nothing but reasoning would be left, if anything. What repeats a call goes with it.
#[inline(never)]
fn only_thinking(outline: &Outline, changes: &[Change]) -> bool {
    let pieces = outline.pieces.iter().zip(gone(outline, changes));
    let mut left = pieces.filter(|(piece, gone)| !gone && !piece.mirror);
    left.all(|(piece, _)| piece.kind == Kind::Thinking)
}

/// Removes one more element of a list, before those that stand in front of it.
#[inline(never)]
fn without(ops: &mut Vec<Op>, path: &str) {
    let at = |path: &str| path.strip_prefix("/parts/").and_then(|at| at.parse::<u32>().ok());
    let is_before = |op: &Op| match op {
        Op::Remove { path: other } => at(other).is_some_and(|other| Some(other) < at(path)),
        Op::Add { .. } | Op::Replace { .. } => false,
    };
    let place = ops.iter().position(is_before).unwrap_or(ops.len());
    ops.insert(place, Op::Remove { path: path.into() });
}

#[inline(never)]
fn instead(piece: &Piece, line: &str) -> What {
    match piece.kind {
        Kind::Call => What::Arguments(arguments(line)),
        Kind::Image => What::Text(IMAGE.into()),
        // Its image is cut, and it said nothing else.
        Kind::Result if line.trim().is_empty() => What::Text(NO_OUTPUT.into()),
        Kind::Text | Kind::Thinking | Kind::Result | Kind::Other => What::Text(line.into()),
    }
}

/// The outline after the changes.
pub(in crate::context) fn changed(outline: &Outline, changes: &[Change]) -> Outline {
    let pieces = changed_pieces(outline, changes).into_iter().flatten().collect();
    Outline { role: outline.role, pieces }
}

/// Its pieces after the changes; none in place of one that does not go out.
pub(in crate::context) fn changed_pieces(
    outline: &Outline,
    changes: &[Change],
) -> Vec<Option<Piece>> {
    let mut pieces: Vec<Option<Piece>> = outline.pieces.iter().cloned().map(Some).collect();
    for change in changes {
        let Some(slot) = pieces.get_mut(change.piece as usize) else { continue };
        let Some(piece) = slot else { continue };
        match &change.what {
            What::Drop => *slot = None,
            What::Text(_) if piece.kind == Kind::Call => piece.within = true,
            What::Strings(_) => piece.broken_unicode = false,
            What::Hollow => {
                piece.marks &= !(piece.hollow << 1);
                piece.hollow = 0;
            }
            What::Text(text) => {
                piece.hollow = 0;
                piece.blank = text.trim().is_empty();
                piece.broken_unicode = false;
                piece.images = 0;
                piece.widest = 0;
                // What stood in it is gone with its markers.
                piece.marks &= 1;
                if piece.kind == Kind::Image {
                    piece.kind = Kind::Text;
                    piece.marks = 0;
                }
            }
            What::Arguments(_) => {
                piece.bad_arguments = false;
                piece.broken_unicode = false;
            }
            What::Id(id) => piece.id = id.as_str().into(),
            What::Unmark(marks) => piece.marks &= !marks,
            What::Sign => piece.opaque = true,
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_removed_after_those_behind_it() {
        let remove = |at: u32| Op::Remove { path: format!("/parts/{at}") };
        let mut ops = [7, 5, 1].map(remove).to_vec();
        without(&mut ops, "/parts/3");
        assert_eq!(ops, [7, 5, 3, 1].map(remove));
    }

    #[test]
    fn a_result_without_text_gets_a_line_of_ours() {
        let result = Piece::new(Kind::Result, Place::Content);
        assert_eq!(instead(&result, " "), What::Text(NO_OUTPUT.into()));
        assert_eq!(instead(&result, "found"), What::Text("found".into()));
    }

    #[test]
    fn empty_blocks_of_a_result_go_with_their_cache_markers() {
        let mut result = Piece::new(Kind::Result, Place::Content);
        // Markers on the result and its two blocks, of which the first is empty.
        (result.marks, result.hollow) = (0b111, 0b1);
        let outline = Outline { role: Role::User, pieces: vec![result] };
        let after = |what| changed(&outline, &[Change { piece: 0, what }]).pieces.remove(0);
        assert_eq!((after(What::Hollow).marks, after(What::Hollow).hollow), (0b101, 0));
        assert!(!after(What::Text("found".into())).within);
    }

    #[test]
    fn a_call_with_a_text_is_answered_in_its_own_part() {
        let call = Piece::new(Kind::Call, Place::Content);
        let outline = Outline { role: Role::Assistant, pieces: vec![call] };
        let change = Change { piece: 0, what: What::Text("found".into()) };
        assert!(changed(&outline, &[change]).pieces[0].within);
    }
}
