//! The words of the core as types: messages, blocks, groups, masks, views. No logic.

mod block;
mod ids;
mod message;
mod occurrence;
mod view;

pub use block::{Block, Form, Kind, Mask, NONE};
pub use ids::{BlockId, GroupId, Id, MessageId, Span};
pub use message::{
    Draft, Message, Outline, Part, Piece, Place, RecentTraits, Role, Traits, begins_with_result,
    last_speaker, setting,
};
pub use occurrence::Occurrence;
pub use view::{Copied, Fix, FixKind, Item, Joint, Made, MadePart, Op, Violation, Voice};
