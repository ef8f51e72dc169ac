//! A message: as a format reads it (`Draft`), as it is remembered (`Outline`), and its measure (`Message`).

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use super::{BlockId, Kind, Op};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// System or developer text inside the messages.
    System,
    /// The user, or results that travel as the user's.
    User,
    /// The model.
    Assistant,
    /// A message that is one tool's result.
    Tool,
}

/// Where a part stands on the host's object. A format turns it into a JSON Pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The message's whole content: `/content` as a string, or whatever the role carries.
    Content,
    /// An element of the content array: `/content/N`.
    Item(u32),
    /// An element of a list of calls beside the content: `/tool_calls/N`.
    Call(u32),
    /// The same, where the arguments are free text: a custom tool's call.
    Custom(u32),
    /// An element of a list of parts that stands in place of the content: `/parts/N`.
    Part(u32),
    /// The same, its members written with underscores: `/parts/N`.
    Snake(u32),
    /// The whole message, an item of this type: a call, a result, reasoning.
    Message(&'static str),
    /// Such a part that is a call of a tool that the host runs, and holds its result once there is one: `/parts/N`.
    Tool(u32),
    /// A member of such a part: `/parts/N/output`.
    Inner(u32, &'static str),
    /// The content of a message that stands at a path of its own, as a string: `/kwargs/content`.
    In(&'static str),
    /// An element of a list at a path of its own: `/kwargs/tool_calls/N`.
    At(&'static str, u32),
    /// A member beside the content, by its name: `/reasoning_content`, `/refusal`, `/summary`.
    Field(&'static str),
}

/// A part of a message, with its text: it lives while the message is measured.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// What it is and where it stands.
    pub piece: Piece,
    /// Text, reasoning, result text, or a call's arguments as JSON text; unescaped.
    pub text: Cow<'a, str>,
    /// Images in it (an image block has one; a result may hold several).
    pub images: u32,
    /// Characters of a signature or encrypted content that go with it.
    pub opaque: u32,
    /// Characters of results that only their provider can decrypt, and that its model reads.
    pub encrypted: u32,
    /// Hash of the images and of what is encrypted, so that a fingerprint tells one from another; 0 if there is neither.
    pub media: u64,
    /// Bytes of the images' data and of what is encrypted.
    pub media_bytes: u32,
    /// Replaces its strings that hold half a surrogate pair, on the host's message.
    pub mended: Vec<Op>,
}

/// A message as its format reads it from the host's bytes.
#[derive(Clone, Debug)]
pub struct Draft<'a> {
    /// Who speaks.
    pub role: Role,
    /// The parts, in the order in which the provider sees them.
    pub parts: Vec<Part<'a>>,
    /// When it was written, in milliseconds since the epoch, where its format says so.
    pub at_ms: Option<i64>,
}

/// A part without its text: what validity, views and edits need to know of it. Members of its [`Traits`] read as its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The call's id, as the host wrote it; empty where there is none.
    pub id: Box<str>,
    /// All else. A change of it is this piece's alone.
    pub traits: Rc<Traits>,
}

/// What a piece is, without its id. Most pieces of a session differ in nothing but their ids, so they share their traits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a piece, not a state")]
pub struct Traits {
    /// What it is.
    pub kind: Kind,
    /// Where it stands on the host's object.
    pub place: Place,
    /// The tool's name. Of a request or response of approval (`Kind::Other`): its own id, since the piece's id is the call's. Of a mirror:
    /// the member that holds the arguments. Empty where there is none.
    pub name: Box<str>,
    /// Of a call that a program of the model's made, and of its result where the format says so: the id of the program's call. Empty where
    /// there is none.
    pub caller: Box<str>,
    /// The toolset that a call's tool is of, and its result too; empty where there is none.
    pub toolset: Box<str>,
    /// No text but white space (and no image) in it.
    pub blank: bool,
    /// A result that reports an error.
    pub error: bool,
    /// A string in it holds a lone surrogate: no provider takes it as it is.
    pub broken_unicode: bool,
    /// It carries provider data (signature, encrypted content) that must go byte for byte or with its carrier.
    pub opaque: bool,
    /// A call whose arguments are not a JSON object.
    pub bad_arguments: bool,
    /// A result in the message of its call, put there by a provider's own tool or by an SDK that keeps both in one part:
    /// it is never moved. A call whose result, if it needs one, stands so or is the provider's to give: none is made for it.
    pub within: bool,
    /// It stays where and as it is: the provider put it in place of what came before, or the host replays it.
    pub fixed: bool,
    /// Reasoning: it is there by its id alone. Anything else: its item has an id of its own.
    pub by_id: bool,
    /// Images in it.
    pub images: u32,
    /// Pixels of the longest side of any of them; 0 where that is not known.
    pub widest: u32,
    /// Cache markers: bit 0 its own, bit n that of block n - 1 in a result.
    pub marks: u64,
    /// Where its own stands, if it has names of its own in the format: bit by bit, as the format has them.
    pub marked_at: u16,
    /// Text blocks of a result in which nothing but white space is, if its list can be changed block by block: bit n is block n.
    pub hollow: u64,
    /// A call on which the user has decided: the host's SDK runs or refuses it before the model is asked.
    pub decided: bool,
    /// A call that may stay without a result: it comes at any later time, or never.
    pub pending: bool,
    /// The same call once more, elsewhere in the message: counted once, changed and removed with it.
    pub mirror: bool,
    /// The parts of a `UIMessage` with which its step starts, from and up to: a step goes out as a message of its own.
    pub step: (u32, u32),
    /// The host itself leaves its message out of every request: an aborted turn of pi's. Rules do not see it.
    pub unsent: bool,
}

/// Traits of the newest pieces, for the next to share.
#[derive(Clone, Debug, Default)]
pub struct RecentTraits {
    all: Vec<Rc<Traits>>,
    /// The one whose place is taken next.
    oldest: usize,
}

/// A message without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// Who speaks.
    pub role: Role,
    /// Its parts.
    pub pieces: Vec<Piece>,
}

/// The measure of a message.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// Of its content: roles, text, calls; not call ids, not cache markers.
    pub fingerprint: u64,
    /// Of its JSON, byte for byte: what a host sees of it.
    pub written: u64,
    /// Who speaks.
    pub role: Role,
    /// Index of its first block; its last is before the next message's first.
    pub first_block: BlockId,
    /// Assistant messages before it.
    pub call: u32,
    /// The turn it stands in; 0 before the first real user message.
    pub turn: u32,
    /// Bytes of its JSON.
    pub bytes: u32,
    /// A tail may start here: no call is open before it and it holds no result.
    pub may_cut: bool,
    /// When it was written, in milliseconds since the epoch, where its format says so.
    pub at_ms: Option<i64>,
}

impl Place {
    /// The path of the list that it is an element of, where that is a path of its own.
    pub fn list(self) -> &'static str {
        if let Self::At(list, _) = self { list } else { "" }
    }

    /// The object that the message's members stand in, where it is not the message itself.
    pub fn wrapper(self) -> &'static str {
        let (Self::In(path) | Self::At(path, _) | Self::Field(path)) = self else { return "" };
        path.split_once('/').map_or("", |(wrapper, _)| wrapper)
    }

    /// JSON Pointer of it on the host's message.
    pub fn pointer(self) -> String {
        match self {
            Self::Content => "/content".into(),
            Self::Item(at) => format!("/content/{at}"),
            Self::Call(at) | Self::Custom(at) => format!("/tool_calls/{at}"),
            Self::Part(at) | Self::Snake(at) | Self::Tool(at) => format!("/parts/{at}"),
            Self::Inner(at, name) => format!("/parts/{at}/{name}"),
            Self::At(list, at) => format!("/{list}/{at}"),
            Self::Message(_) => String::new(),
            Self::In(name) | Self::Field(name) => format!("/{name}"),
        }
    }
}

impl Deref for Piece {
    type Target = Traits;

    fn deref(&self) -> &Traits {
        &self.traits
    }
}

impl DerefMut for Piece {
    /// Out of line: formats write a member in a hundred places.
    #[inline(never)]
    fn deref_mut(&mut self) -> &mut Traits {
        Rc::make_mut(&mut self.traits)
    }
}

/// How many are remembered. Most sessions have fewer: kinds of pieces times tools.
const RECENT: usize = 48;

impl RecentTraits {
    /// Takes those of an earlier piece in place of these, if they are the same.
    pub fn share(&mut self, traits: &mut Rc<Traits>) {
        if let Some(known) = self.all.iter().find(|known| *known == traits) {
            *traits = Rc::clone(known);
        } else if let Some(oldest) = self.all.get_mut(self.oldest) {
            *oldest = Rc::clone(traits);
            self.oldest = self.oldest.saturating_add(1) % RECENT;
        } else {
            self.all.push(Rc::clone(traits));
            self.oldest = self.all.len() % RECENT;
        }
    }
}

impl Traits {
    /// Nothing is special about it.
    pub fn new(kind: Kind, place: Place) -> Self {
        Self {
            kind,
            place,
            name: Box::default(),
            caller: Box::default(),
            toolset: Box::default(),
            blank: false,
            error: false,
            broken_unicode: false,
            opaque: false,
            bad_arguments: false,
            within: false,
            fixed: false,
            by_id: false,
            images: 0,
            widest: 0,
            marks: 0,
            marked_at: 0,
            hollow: 0,
            decided: false,
            pending: false,
            mirror: false,
            step: (0, 0),
            unsent: false,
        }
    }

    /// A piece of them.
    pub fn piece(self, id: impl Into<Box<str>>) -> Piece {
        Piece { id: id.into(), traits: Rc::new(self) }
    }
}

impl Piece {
    /// A piece with nothing special about it.
    pub fn new(kind: Kind, place: Place) -> Self {
        Traits::new(kind, place).piece("")
    }

    /// A call of a tool that the provider runs itself, or its result: neither is the host's.
    pub fn is_provider_run(&self) -> bool {
        self.within && !matches!(self.place, Place::Tool(_) | Place::Inner(..))
    }

    /// A call that the host answers.
    pub fn is_host_call(&self) -> bool {
        self.kind == Kind::Call && !self.is_provider_run()
    }

    /// A call that the provider answers.
    pub fn is_provider_call(&self) -> bool {
        self.kind == Kind::Call && self.is_provider_run()
    }

    /// A request or a response of approval: it stays or goes with its call.
    pub fn is_approval(&self) -> bool {
        self.kind == Kind::Other && !self.mirror && !self.name.is_empty()
    }
}

/// Who speaks at the end of a message of that role, if these are its pieces, the last one first: a part that holds a call with its
/// result goes out as the call and, after all else of its step, the result.
pub fn last_speaker<'a>(pieces: impl Iterator<Item = &'a Piece>, role: Role) -> Role {
    let mut pieces = pieces.peekable();
    let end = pieces.peek().map(|piece| piece.step);
    let mut step = pieces.take_while(|piece| Some(piece.step) == end);
    let has_result = step.any(|piece| matches!(piece.place, Place::Tool(_) | Place::Inner(..)));
    if has_result { Role::Tool } else { role }
}

/// Whether the first of these that the provider's own tools are about is a result: its call stands in an earlier message.
pub fn begins_with_result<'a>(mut pieces: impl Iterator<Item = &'a Piece>) -> bool {
    pieces.find(|piece| piece.is_provider_run()).is_some_and(|piece| piece.kind == Kind::Result)
}

/// Settings: messages of the host's that are sent unchanged, by the names of their places.
pub mod setting {
    /// It has no content, and may stand anywhere.
    pub const SILENT: &str = "";
    /// A summary by the provider, which ignores all messages before it.
    pub const COMPACTION: &str = "compaction";
    /// A reminder for one turn. The provider shows it to the model until the user's next message.
    pub const TURN: &str = "clear_at";
    /// A change of tools, or text of the system's. It follows the user, and the model or nothing follows it.
    pub const TOOLS: &str = "tool_changes";
}

impl Outline {
    /// The kind of setting that the message is, if it is one.
    pub fn setting(&self) -> Option<&'static str> {
        let piece = self.pieces.first().filter(|_| self.role == Role::System)?;
        match (piece.kind, piece.place) {
            (Kind::Other, Place::Message(name)) => Some(name),
            _ => None,
        }
    }

    /// A setting that may stand within a turn.
    pub fn is_silent(&self) -> bool {
        matches!(self.setting(), Some(setting::SILENT | setting::COMPACTION))
    }

    /// A setting that must stand between the user and the model.
    pub fn is_between(&self) -> bool {
        matches!(self.setting(), Some(setting::TURN | setting::TOOLS))
    }

    /// Who speaks at its end.
    pub fn last_role(&self) -> Role {
        last_speaker(self.pieces.iter().rev(), self.role)
    }
}

impl<'a> Part<'a> {
    /// A part with its text; blank if there is only white space in it.
    pub fn new(kind: Kind, place: Place, text: impl Into<Cow<'a, str>>) -> Self {
        let text = text.into();
        let blank =
            matches!(kind, Kind::Text | Kind::Thinking | Kind::Result) && text.trim().is_empty();
        Self {
            piece: Traits { blank, ..Traits::new(kind, place) }.piece(""),
            text,
            images: 0,
            opaque: 0,
            encrypted: 0,
            media: 0,
            media_bytes: 0,
            mended: Vec::new(),
        }
    }

    /// The same, independent of the bytes it was read from.
    pub fn into_owned(self) -> Part<'static> {
        let Self { piece, text, images, opaque, encrypted, media, media_bytes, mended } = self;
        let text = Cow::Owned(text.into_owned());
        Part { piece, text, images, opaque, encrypted, media, media_bytes, mended }
    }
}

impl Draft<'_> {
    /// What is remembered of the message.
    pub fn outline(&self) -> Outline {
        let pieces = self.parts.iter().map(|part| part.piece.clone());
        Outline { role: self.role, pieces: pieces.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_differ_only_in_their_ids_share_their_traits_until_one_changes() {
        let mut recent = RecentTraits::default();
        let mut piece = |tool: usize, id: &str| {
            let traits = Traits::new(Kind::Call, Place::Item(1));
            let mut piece = Traits { name: format!("tool {tool}").into(), ..traits }.piece(id);
            recent.share(&mut piece.traits);
            piece
        };
        for tool in 0..RECENT.saturating_mul(3) {
            let (one, mut other) = (piece(tool, "a"), piece(tool, "b"));
            assert!(Rc::ptr_eq(&one.traits, &other.traits));
            assert_eq!((&*one.name, &*other.id), (&*format!("tool {tool}"), "b"));
            other.blank = true;
            assert!(!one.blank);
        }
        assert_eq!(recent.all.len(), RECENT);
    }
}
