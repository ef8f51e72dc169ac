//! Cache markers of the host: a provider takes a few in a request, so the earliest are removed. That opens no epoch, as
//! no provider compares markers.

use litemap::LiteMap;

use crate::model::{MessageId, Outline};
use crate::validity;

/// Cache markers in the session's messages.
#[derive(Clone, Debug)]
pub(in crate::context) struct Markers {
    /// Messages with markers, in order.
    pub(in crate::context) marked: Vec<MessageId>,
    /// Messages read since the last request. A host moves its markers in place: those of other messages may be gone.
    pub(in crate::context) read: LiteMap<MessageId, ()>,
    /// No marker before this message goes out, and of its own so many of the last.
    pub(in crate::context) cut: (MessageId, u32),
    /// The first message that was sent and has its parts, or its markers, at other places now.
    pub(in crate::context) moved: Option<MessageId>,
}

/// All markers go out.
pub(in crate::context) const ALL: (MessageId, u32) = (MessageId::FIRST, u32::MAX);

impl Default for Markers {
    fn default() -> Self {
        Self { marked: Vec::new(), read: LiteMap::new(), cut: ALL, moved: None }
    }
}

impl Markers {
    /// A message was read.
    pub(in crate::context) fn note(&mut self, index: MessageId, outline: &Outline) {
        let place = self.marked.partition_point(|&at| at < index);
        let known = self.marked.get(place) == Some(&index);
        match (validity::is_marked(outline), known) {
            (true, false) => self.marked.insert(place, index),
            (false, true) => {
                self.marked.remove(place);
            }
            (true, true) => {}
            (false, false) => return,
        }
        self.read.insert(index, ());
    }

    /// The messages from this one on come again.
    pub(in crate::context) fn keep(&mut self, before: MessageId) {
        self.marked.retain(|&at| at < before);
        self.read.retain(|&at, ()| at < before);
        self.moved = self.moved.filter(|&at| at < before);
    }

    pub(in crate::context) fn kept(&self, message: MessageId) -> u32 {
        match message.cmp(&self.cut.0) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => self.cut.1,
            std::cmp::Ordering::Greater => u32::MAX,
        }
    }
}
