//! The rules as messages arrive: what is wrong with a message, and what mends it.
//!
//! A message costs what it holds; nothing is looked at twice. What depends on how the request ends (a call that has no
//! result yet, an assistant message that is the last) is said by `finish` and may be different at the next request.

use std::ops::Range;

use litemap::LiteMap;

use super::ids::Ids;
use super::piece::{At, Fate, answer, at, fix, in_parts, is_nameless, key, plain, shown};
use super::provider::{Between, Provider};
use super::run::{Call, Reasoning, Run};
use super::signs::Unsigned;
use super::{CONTINUE, Options};
use crate::keyed::ByName;
use crate::model::{Fix, FixKind, Kind, Made, MadePart, NONE, Outline, Piece, Place, Role};

/// Mends a transcript message by message, and knows its groups.
///
/// A message with nothing in it that may be sent does not go out, and what follows is judged as if it had never been. A
/// result is paired with its call by occurrence: the first open call of the newest
/// message that made a call with its id.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a host, not a state")]
pub struct Mender {
    pub(super) provider: Provider,
    pub(super) ids: Ids,
    /// The newest run of assistant messages; one message where the provider does not merge them.
    pub(super) run: Option<Run>,
    /// Calls of earlier runs that have no result: a late one may still come. By id, oldest first.
    pub(super) waiting: LiteMap<Box<str>, Vec<Call>>,
    /// Calls whose id was used again by a later run: no result will be theirs.
    pub(super) lost: Vec<Call>,
    /// The first message that goes out and is not the system's.
    pub(super) first: Option<(u32, Role)>,
    /// Who speaks last, and in which message.
    pub(super) last: Option<Role>,
    pub(super) newest: u32,
    /// The same, the system aside: its messages go elsewhere on some wires.
    speaker: Option<Role>,
    held: Option<Range<u32>>,
    pub(super) unsigned: Unsigned,
    /// A message holds one result: the host puts those of a turn together by itself.
    pub(super) single: bool,
    /// A call that is not signed goes out with a sentinel.
    pub(super) signs: bool,
    /// Each assistant message is a turn of its own, whatever the provider makes of neighbours.
    apart: bool,
    /// Results travel in the user's messages.
    inline: bool,
    /// The system's messages are looked at where they stand.
    as_placed: bool,
    /// The model has made calls since the user spoke.
    called: bool,
}

/// What a message is, seen behind those before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// What mends it, or an earlier message that it shows to be wrong.
    pub fixes: Vec<Fix>,
    /// For each piece the index of the first message of the assistant run that it belongs to, or `NONE`: pieces with
    /// the same number stay or go together.
    pub groups: Vec<u32>,
    /// For each piece that is a result its call: message and piece.
    pub pairs: Vec<Option<(u32, u32)>>,
    /// A tail may start here: no call is open before it, it holds no result and continues no message.
    pub may_cut: bool,
    /// Its reasoning stays or goes with it.
    pub ties_reasoning: bool,
}

impl Mender {
    /// Before the first message.
    pub fn new(provider: Provider) -> Self {
        Self {
            provider,
            ids: Ids::default(),
            run: None,
            waiting: LiteMap::new(),
            lost: Vec::new(),
            first: None,
            last: None,
            newest: 0,
            speaker: None,
            held: None,
            unsigned: Unsigned::default(),
            single: false,
            signs: false,
            apart: false,
            inline: false,
            as_placed: false,
            called: false,
        }
    }

    /// The same, with what is known of the host and the request.
    #[must_use]
    pub fn told(self, options: Options) -> Self {
        let Options { thinking, apart, single, inline, as_placed, .. } = options;
        let signs = thinking && self.provider.signs_calls();
        let mut ids = self.ids;
        ids.as_written = inline;
        Self { ids, single, signs, apart, inline, as_placed, ..self }
    }

    /// The next message, at `index` of the history. Costs what the message holds.
    pub fn push(&mut self, index: u32, outline: &Outline) -> Seen {
        let mut seen = Seen {
            groups: vec![NONE; outline.pieces.len()],
            pairs: vec![None; outline.pieces.len()],
            ..Seen::default()
        };
        if outline.pieces.iter().any(|piece| piece.unsent) {
            return seen;
        }
        if outline.pieces.is_empty() {
            let kind = FixKind::Drop { piece: NONE };
            seen.fixes.push(fix(
                index,
                None,
                kind,
                "I6",
                "nothing is in the message; it must not be sent".into(),
            ));
        } else if outline.role == Role::Assistant {
            self.assistant(index, outline, &mut seen);
        } else {
            self.other(index, outline, &mut seen);
        }
        seen
    }

    /// Neighbours of the assistant's are one turn: the provider merges them, or we do.
    pub(super) fn runs(&self) -> bool {
        self.provider.merges() && (self.inline || !self.provider.takes_turns())
    }

    /// A call of the newest turn waits for its result.
    pub fn is_open(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.answering && !run.open.is_empty())
    }

    /// The messages whose pieces must all stay as they are: the newest of the model's turns with reasoning (I10).
    pub fn held(&self) -> Option<Range<u32>> {
        self.held.clone()
    }

    fn assistant(&mut self, index: u32, outline: &Outline, seen: &mut Seen) {
        let mut fixes = std::mem::take(&mut seen.fixes);
        let has_within = outline.pieces.iter().any(|it| it.kind == Kind::Result && it.within);
        let mut open = ByName::default();
        let mut kept: Vec<At<'_>> = at(index, outline)
            .filter(|at| {
                let answers = at.piece.kind == Kind::Result && at.piece.within;
                if answers {
                    return self.awaits(*at, &mut open, &mut fixes);
                }
                if has_within && at.piece.kind == Kind::Call {
                    self.awaits(*at, &mut open, &mut fixes);
                }
                if at.piece.is_approval() {
                    return self.asks(*at, outline, &mut fixes);
                }
                if at.piece.kind == Kind::Result {
                    let message =
                        "a result stands in an assistant message, not in one of the user's";
                    fixes.push(at.fix(at.drop(), "I2", message));
                    return false;
                }
                plain(*at, &mut fixes) == Fate::Kept
            })
            .collect();
        seen.fixes = fixes;
        let only_thinking = kept.iter().all(|at| at.piece.kind == Kind::Thinking);
        if only_thinking && !self.runs() {
            for at in kept {
                seen.fix(at, at.drop(), "I6", "reasoning is all that the message holds");
            }
            return;
        }
        self.steps(outline, &mut kept, seen);
        let (Some(&first), Some(end)) = (kept.first(), kept.last()) else { return };
        let speaker = end.piece.speaker(outline.role);
        let waits = self.run.as_ref().is_some_and(|run| !run.open.is_empty());
        if !waits {
            self.take_turn(index, Role::Assistant, false, seen);
        }
        let calls = kept.iter().any(|at| at.piece.kind == Kind::Call);
        self.called |= calls;
        seen.ties_reasoning = self.provider.ties_reasoning(self.called);
        self.sign(&kept);
        self.follow(index, &kept, seen);
        let run = self.run_for(index, first, seen);
        run.end = index;
        run.until = index;
        run.told |= !only_thinking;
        let group = run.start;
        seen.groups.fill(group);
        let mut trailing = std::mem::take(&mut run.trailing);
        let binds = self.provider.binds_reasoning();
        let mut held = self.held.as_ref().map(|held| held.start).filter(|start| *start == group);
        let mut asks = Vec::new();
        for at in kept {
            if at.piece.kind == Kind::Thinking {
                if binds && self.provider.merges() {
                    held = Some(group);
                }
                if self.provider.merges() {
                    let (message, piece, place) = (index, at.number, at.piece.place);
                    trailing.push(Reasoning { message, piece, place, by_id: at.piece.by_id });
                }
                continue;
            }
            // What the provider keeps by its id asks for what follows by its id (I14).
            let unasked = trailing.drain(..).filter(|it| it.by_id && !at.piece.by_id);
            let message = "the item behind the reasoning has lost the id by which it is known";
            seen.fixes.extend(unasked.map(|it| it.dropped("I14", message)));
            let refers = u32::from(at.piece.place == Place::Whole("item_reference"));
            if let Some(run) = &mut self.run {
                run.references = run.references.saturating_add(refers);
            }
            match at.piece.kind {
                Kind::Call => self.call(at, group, seen),
                Kind::Result => self.within(at, seen),
                // One that stands before its call waits for it.
                Kind::Other if at.piece.is_approval() && !self.called(at) => asks.push(at),
                Kind::Other if at.piece.is_approval() => self.ask(at, seen),
                Kind::Text | Kind::Thinking | Kind::Image | Kind::Other => {}
            }
        }
        for at in asks {
            self.ask(at, seen);
        }
        if let Some(run) = &mut self.run {
            run.trailing = trailing;
        }
        self.held = held.map(|start| start..index.saturating_add(1)).or_else(|| self.held.take());
        self.spoke(index, speaker);
    }

    /// Whether another assistant message continues the newest run.
    pub(super) fn continues(&self) -> bool {
        self.runs() && !self.apart && self.run.as_ref().is_some_and(|run| run.growing)
    }

    /// The run that an assistant message continues or opens.
    fn run_for(&mut self, index: u32, first: At<'_>, seen: &mut Seen) -> &mut Run {
        let continues = self.continues();
        if !continues {
            let rule = self.provider.rules().names.trailing;
            let ends = self.run.as_ref().filter(|run| run.growing && !self.runs());
            seen.fixes.extend(ends.into_iter().flat_map(|run| run.cut_trailing(rule)));
            self.close(seen);
        }
        seen.may_cut = !continues;
        let before = (self.last, self.held.clone());
        self.run.get_or_insert_with(|| Run {
            start: index,
            end: index,
            until: index,
            growing: true,
            answering: true,
            open: Vec::new(),
            keys: LiteMap::new(),
            approvals: Vec::new(),
            trailing: Vec::new(),
            placed: Vec::new(),
            misnamed: false,
            references: 0,
            told: false,
            head: (first.piece.kind, first.piece.place),
            before,
        })
    }

    fn call(&mut self, at: At<'_>, group: u32, seen: &mut Seen) {
        let At { index, number, piece } = at;
        let key = key(piece);
        let wire = if is_nameless(piece) {
            Box::default()
        } else {
            self.ids.assign(piece.id.trim(), self.provider)
        };
        if wire != piece.id {
            let message =
                format!("the id \"{}\" is empty, not legal, or used by an earlier call", piece.id);
            let kind = FixKind::Rename { piece: number, id: wire.clone().into() };
            seen.fix(at, kind, "I5", &message);
        }
        let Some(run) = &mut self.run else { return };
        run.keys.insert(key.clone(), wire.clone());
        let name = piece.name.clone();
        run.open.push(Call {
            message: index,
            piece: number,
            place: piece.place,
            wire,
            name,
            key,
            group,
            anchor: index,
            within: piece.within,
            decided: piece.decided.then_some(index),
        });
    }

    /// A message of the user, the system or a tool: results first, then whatever else.
    fn other(&mut self, index: u32, outline: &Outline, seen: &mut Seen) {
        let opens = self.run.as_ref().is_some_and(|run| !run.open.is_empty());
        let holds =
            outline.pieces.iter().any(|piece| piece.kind == Kind::Result || piece.is_approval());
        let (mut kept, mut answers, mut speaks) = (false, false, false);
        let together = self.is_together();
        for at in at(index, outline) {
            let fate = match at.piece.kind {
                Kind::Result => self.result(at, seen),
                Kind::Call => {
                    seen.fix(
                        at,
                        at.drop(),
                        "I1",
                        "a call stands in a message that is not the assistant's",
                    );
                    Fate::Dropped
                }
                Kind::Other if at.piece.is_approval() => self.decide(at, seen),
                Kind::Text | Kind::Thinking | Kind::Image | Kind::Other => {
                    plain(at, &mut seen.fixes)
                }
            };
            if fate == Fate::Dropped {
                continue;
            }
            kept = true;
            answers |= at.piece.kind == Kind::Result;
            speaks |= at.piece.kind != Kind::Result && !at.piece.is_approval();
            if at.piece.kind != Kind::Result
                && !together
                && !at.piece.is_approval()
                && let Some(run) = &mut self.run
            {
                run.answering = false;
            }
        }
        if !kept {
            return;
        }
        self.begin_turn(outline);
        if let Some(run) = &mut self.run {
            run.until = index;
            run.answering &= !together;
        }
        let leads = outline.role == Role::System && self.first.is_none();
        seen.may_cut = !opens && !holds && !leads;
        self.settle(seen);
        let mut role = outline.role;
        // Nobody looks for a result in what the system says.
        let knows_one = self.provider.rules().system_first && !leads || answers;
        if role == Role::System && self.as_placed && knows_one {
            let message = "the system speaks in the middle of the messages; this provider knows one system prompt, \
                before them: it goes out as the user's";
            seen.fixes.push(fix(index, None, FixKind::AsUser, "I31", message.into()));
            role = Role::User;
        }
        if answers {
            let speaker = self.provider.speaker_of_results(self.inline, role);
            self.take_turn(index, speaker, true, seen);
            self.spoke(index, speaker);
            if speaks && speaker == Role::Tool && role == Role::User {
                self.take_turn(index, role, false, seen);
            } else {
                role = speaker;
            }
        } else {
            self.take_turn(index, role, false, seen);
        }
        self.called &= answers || role != Role::User;
        self.spoke(index, role);
    }

    /// Says if the provider does not take a message of this role behind the last one.
    fn take_turn(&self, index: u32, speaker: Role, answers: bool, seen: &mut Seen) {
        let (rule, message) = match self.provider.between(self.last, speaker) {
            Between::Nothing => return,
            Between::Assistant => (
                "I9",
                "the user speaks directly behind a tool; a message of the assistant's must stand between",
            ),
            Between::OneMessage if answers => {
                ("I21", "the results of a turn stand in several messages; they must all be in one")
            }
            Between::OneMessage => {
                ("I9", "two messages of one role follow each other; roles must alternate")
            }
        };
        seen.fixes.push(fix(index, None, FixKind::Turn, rule, message.into()));
    }

    fn result(&mut self, at: At<'_>, seen: &mut Seen) -> Fate {
        let key = &*key(at.piece);
        let names = self.provider.rules().names;
        let answering = self.run.as_ref().is_some_and(|run| run.answering);
        let Some(call) = self.take(at.piece, key) else {
            if answering && let Some(group) = self.refer() {
                set(&mut seen.groups, at.number, group);
                return Fate::Kept;
            }
            let key_shown = shown(key);
            let id = at.piece.id.trim();
            let other = |run: &Run| run.open.iter().any(|call| &*call.wire == id);
            if answering && !id.is_empty() && self.run.as_ref().is_some_and(other) {
                let message = format!("the call \"{id}\" is of another kind than this result");
                seen.fix(at, at.drop(), "I15", &message);
                return Fate::Dropped;
            }
            let called = self.run.as_ref().is_some_and(|run| !run.keys.is_empty());
            let turn = self.is_together() && answering && called;
            if turn
                || self.ids.has(at.piece.id.trim())
                || self.run.as_ref().is_some_and(|run| run.keys.contains_key(key))
            {
                let message = format!(
                    "the call \"{key_shown}\" is answered already, or its id was used again"
                );
                seen.fix(at, at.drop(), names.again, &message);
            } else {
                let message = format!("no call before it has the id \"{key_shown}\"");
                seen.fix(at, at.drop(), names.orphan, &message);
            }
            return Fate::Dropped;
        };
        seen.belongs(at, call.group, Some((call.message, call.piece)));
        if answering && call.anchor == NONE {
            answer(at, &call, seen);
            self.place(at, &call);
            return Fate::Kept;
        }
        self.late(at, call, seen);
        Fate::Dropped
    }

    /// The open call that a result with this id answers; its `anchor` is set if it belongs to an earlier run.
    pub(super) fn take(&mut self, piece: &Piece, key: &str) -> Option<Call> {
        // Where one side has an id and the other none, the name tells.
        let named = |call: &Call| {
            in_parts(piece)
                && call.name == piece.name
                && (piece.id.is_empty() || call.wire.is_empty())
        };
        if let Some(run) = &mut self.run
            && (run.keys.contains_key(key) || run.open.iter().any(named))
        {
            let keyed = |call: &Call| &*call.key == key;
            // Two calls of one id: a result that is named goes to the tool of that name.
            let unnamed = !in_parts(piece) && piece.name.is_empty();
            let both = |call: &Call| keyed(call) && (unnamed || call.name == piece.name);
            // A part that is call and result in one answers itself, whoever has the same id.
            let own = |call: &Call| match (call.place, piece.place) {
                (Place::Tool(call), Place::Inner(result, _)) => call == result,
                _ => false,
            };
            let same = run.open.iter().rposition(own).or_else(|| run.open.iter().position(both));
            let same = same.or_else(|| run.open.iter().position(keyed));
            let at = same.or_else(|| run.open.iter().position(named))?;
            return Some(Call {
                anchor: if run.answering { NONE } else { run.end },
                ..run.open.remove(at)
            });
        }
        let calls = self.waiting.get_mut(key)?;
        let call = (!calls.is_empty()).then(|| calls.remove(0))?;
        if calls.is_empty() {
            self.waiting.remove(key);
        }
        Some(call)
    }

    /// A result that comes behind something else goes up to its call.
    fn late(&mut self, at: At<'_>, call: Call, seen: &mut Seen) {
        let message = format!(
            "the result of \"{}\" does not stand directly behind its call",
            shown(&call.key)
        );
        let late = self.provider.rules().names.late;
        if let Some(run) = self.run.as_ref().filter(|run| run.end == call.anchor) {
            // What stands in place goes along, once.
            seen.fixes.extend(self.gather(run));
        }
        if let Some(run) = self.run.as_mut().filter(|run| run.end == call.anchor) {
            run.placed.clear();
        }
        seen.fix(at, at.drop(), late, &message);
        if at.piece.broken_unicode {
            // What is moved is copied as it is: better no result than one that no provider takes.
            self.waiting.entry(call.key.clone()).or_default().push(call);
            return;
        }
        let (id, name) = (call.wire.into(), call.name.into());
        let made = Made::Moved { id, name, message: at.index, piece: at.number };
        let mut fix = at.fix(FixKind::After(made), late, &message);
        fix.index = call.anchor;
        seen.fixes.push(fix);
    }

    /// Another message follows the run: it is final. Reasoning must not be its end.
    fn settle(&mut self, seen: &mut Seen) {
        let rule = self.provider.rules().names.trailing;
        let Some(run) = self.run.as_mut().filter(|run| run.growing) else { return };
        run.growing = false;
        seen.fixes.extend(run.cut_trailing(rule));
        if !run.told {
            self.held = run.before.1.clone();
            self.last = run.before.0;
            if self.first.is_some_and(|(first, _)| first >= run.start) {
                self.first = None;
            }
            self.run = None;
        }
    }

    /// A new run begins: what is still open waits for a late result.
    fn close(&mut self, seen: &mut Seen) {
        let Some(run) = self.run.take() else { return };
        if Self::must_gather(&run) {
            seen.fixes.extend(self.gather(&run));
        }
        for key in run.keys.keys() {
            self.lost.extend(self.waiting.remove(key).unwrap_or_default());
        }
        for mut call in run.open {
            call.anchor = run.end;
            self.waiting.entry(call.key.clone()).or_default().push(call);
        }
    }

    fn spoke(&mut self, index: u32, role: Role) {
        self.last = Some(role);
        self.newest = index;
        if role != Role::System {
            self.speaker = Some(role);
        }
        if role != Role::System && self.first.is_none() {
            self.first = Some((index, role));
        }
    }

    /// A turn with calls stands directly behind the user or results (I18): between it and what the model said before, a
    /// line of the user's.
    fn follow(&self, index: u32, kept: &[At<'_>], seen: &mut Seen) {
        let calls = kept.iter().find(|at| at.piece.kind == Kind::Call);
        let told = self.run.as_ref().is_some_and(|run| run.keys.is_empty());
        if let Some(call) = calls.filter(|_| self.provider.rules().together && told)
            && self.speaker == Some(Role::Assistant)
        {
            let message = "a turn with calls must come directly after the user or after results";
            let line = Made::User(vec![MadePart::Text(CONTINUE.into())]);
            let place = Some(call.piece.place);
            seen.fixes.push(fix(index, place, FixKind::Before(line), "I18", message.into()));
        }
    }

    /// A result may be that of a call behind a reference, which we are not shown: the group of that reference.
    fn refer(&mut self) -> Option<u32> {
        let run = self.run.as_mut().filter(|run| run.references > 0)?;
        run.references = run.references.saturating_sub(1);
        Some(run.start)
    }
}

fn set<T>(list: &mut [T], at: u32, value: T) {
    if let Some(slot) = usize::try_from(at).ok().and_then(|at| list.get_mut(at)) {
        *slot = value;
    }
}
