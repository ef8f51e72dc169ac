//! The newest turn of the model, and the calls that wait for a result.

use std::rc::Rc;

use super::open_calls::OpenCalls;
use super::piece::fix;
use crate::hash::bytes;
use crate::hash_index::ShortIndex;
use crate::model::{Fix, FixKind, Kind, MessageId, Place, Role, Span, Traits};

/// A request for approval in the newest run.
#[derive(Clone, Debug)]
pub(super) struct Approval {
    /// Its own id.
    pub(super) id: Box<str>,
    /// The call that it asks for, if it is open: message and piece.
    pub(super) call: Option<(MessageId, u32)>,
}

/// Assistant messages that the provider reads as one, and the results after them.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a turn, not a state")]
pub(super) struct Run {
    pub(super) start: MessageId,
    /// The first of the assistant's messages that stand before it with nothing between: none of them changes while it is held.
    pub(super) beside: MessageId,
    pub(super) end: MessageId,
    /// Its last message or result.
    pub(super) until: MessageId,
    /// No other message has followed yet: it may still grow.
    pub(super) growing: bool,
    /// Nothing but results has followed: results may still come.
    pub(super) answering: bool,
    /// Calls without a result.
    pub(super) open: OpenCalls,
    /// Ids of all its calls.
    pub(super) keys: Keys,
    /// What the user is asked.
    pub(super) approvals: Vec<Approval>,
    /// Reasoning at its end, which must not be the end.
    pub(super) trailing: Vec<Reasoning>,
    /// Results that stand in place, in the message directly after it, where the provider wants them together.
    pub(super) placed: Vec<Placed>,
    /// One of them has the name of another tool.
    pub(super) misnamed: bool,
    /// References in it to items that we are not shown: so many results may be of calls that they stand for.
    pub(super) references: u32,
    /// It has something else than reasoning and calls that the provider runs, which may turn out to have no result.
    pub(super) has_solid: bool,
    /// Its first piece.
    pub(super) head: (Kind, Place),
    /// Who spoke before it, and what was held then: it may turn out to be nothing.
    pub(super) before: (Option<Role>, Option<Span<MessageId>>),
}

/// Reasoning with nothing after it yet.
#[derive(Clone, Debug)]
pub(super) struct Reasoning {
    pub(super) message: MessageId,
    pub(super) piece: u32,
    pub(super) place: Place,
    /// It is there by its id alone: what follows it is known by its id too.
    pub(super) by_id: bool,
}

impl Reasoning {
    pub(super) fn dropped(&self, rule: &'static str, message: &str) -> Fix {
        let kind = FixKind::Drop { piece: self.piece };
        fix(self.message, Some(self.place), kind, rule, message.into())
    }
}

/// A result that stands where it should.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) message: MessageId,
    pub(super) piece: u32,
    pub(super) place: Place,
    /// With which id it would move, and the call that has the name.
    pub(super) wire: Rc<str>,
    pub(super) call: Rc<Traits>,
}

/// Ids of calls, each once: as the host wrote it, and as the newest call with it goes out.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    all: Vec<(Rc<str>, Rc<str>)>,
    index: ShortIndex,
}

impl Keys {
    fn at(&self, key: &str) -> Option<usize> {
        let is_at = |at: usize| self.all.get(at).is_some_and(|(known, _)| **known == *key);
        self.index.find(self.all.len(), || bytes(0, key.as_bytes()), &is_at)
    }

    pub(super) fn insert(&mut self, key: Rc<str>, wire: Rc<str>) {
        if let Some((_, known)) = self.at(&key).and_then(|at| self.all.get_mut(at)) {
            *known = wire;
            return;
        }
        self.all.push((key, wire));
        let all = &self.all;
        let hash_of = |at: usize| all.get(at).map_or(0, |(key, _)| bytes(0, key.as_bytes()));
        self.index.add_last(all.len(), &hash_of);
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.at(key).is_some()
    }

    /// How the newest call with the id goes out.
    pub(super) fn wire(&self, key: &str) -> Option<&str> {
        self.all.get(self.at(key)?).map(|(_, wire)| &**wire)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|(key, _)| &**key)
    }

    fn clear(&mut self) {
        self.all.clear();
        self.index = ShortIndex::default();
    }
}

/// Empty lists of a turn that is over: those of the next take their room.
#[derive(Debug, Default)]
pub(super) struct Room {
    pub(super) open: OpenCalls,
    pub(super) keys: Keys,
    pub(super) placed: Vec<Placed>,
}

impl Clone for Room {
    /// A copy makes its own.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Run {
    /// It waits for what the provider's own tool finds: the model goes on with it as it is.
    pub(super) fn is_paused(&self) -> bool {
        self.open.has_provider_run()
    }

    /// A call of the host's has no result yet.
    pub(super) fn waits(&self) -> bool {
        self.open.has_host_run()
    }

    /// What is left of it once its open calls are taken.
    pub(super) fn into_room(self) -> Room {
        let Self { open, mut keys, mut placed, .. } = self;
        keys.clear();
        placed.clear();
        Room { open, keys, placed }
    }

    /// Drops the reasoning at its end.
    pub(super) fn cut_trailing(&self, rule: &'static str) -> impl Iterator<Item = Fix> {
        let message = "reasoning stands at the end of the assistant's turn, with nothing after it";
        self.trailing.iter().map(move |it| it.dropped(rule, message))
    }
}

/// First calls of the current turn's steps that are not signed.
#[derive(Clone, Debug, Default)]
pub(super) struct Unsigned(pub(super) Vec<(MessageId, u32, Place)>);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::validity::tests::transcript;
    use crate::validity::{Provider, Repairer};

    #[test]
    fn a_turn_takes_the_room_of_the_one_before() {
        let mut repairer = Repairer::new(Provider::Anthropic);
        let messages =
            transcript("U:t A:ca,cb,cc,cd,ce U:ra,rb,rc,rd,re A:cf", Provider::Anthropic);
        for (index, outline) in (0u32..).zip(&messages) {
            repairer.push(index.into(), outline);
        }
        let keys = &repairer.run.as_ref().unwrap().keys;
        assert!(keys.iter().eq(["f"]) && keys.all.capacity() >= 5);
    }

    proptest! {
        #[test]
        fn keys_are_found_as_in_a_plain_list(
            calls in prop::collection::vec(("[a-f]{1,2}", "[wv][0-9]"), 0..40),
            other in "[a-f]{1,2}",
        ) {
            let (mut keys, mut plain) = (Keys::default(), Vec::<(&str, &str)>::new());
            for (key, wire) in &calls {
                keys.insert(key.as_str().into(), wire.as_str().into());
                match plain.iter_mut().find(|(known, _)| known == key) {
                    Some((_, known)) => *known = wire,
                    None => plain.push((key, wire)),
                }
                let wire_of = |key: &str| plain.iter().find(|(known, _)| *known == key).map(|it| it.1);
                prop_assert_eq!(keys.wire(key), Some(&**wire));
                prop_assert_eq!(keys.wire(&other), wire_of(&other));
                prop_assert_eq!(keys.has(&other), wire_of(&other).is_some());
                prop_assert!(keys.iter().eq(plain.iter().map(|(key, _)| *key)));
            }
            prop_assert_eq!(keys.is_empty(), calls.is_empty());
            keys.clear();
            prop_assert!(keys.is_empty() && !keys.has(&other));
        }
    }
}
