//! A tool call that may have a result.

use std::rc::Rc;

use crate::model::{GroupId, MessageId, Place, Traits};

/// A call that has no result yet.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) message: MessageId,
    pub(super) piece: u32,
    /// Its name, its place, and whether the provider answers it.
    pub(super) traits: Rc<Traits>,
    /// The id with which it goes out.
    pub(super) wire: Rc<str>,
    /// The id as the host wrote it, without white space around it.
    pub(super) key: Rc<str>,
    /// The first message of its run.
    pub(super) group: GroupId,
    /// The message after which its result goes.
    pub(super) anchor: MessageId,
    /// The user is asked whether it may run.
    pub(super) asked: bool,
    /// It is a program, and calls name it as their caller: without it the provider refuses them.
    pub(super) made_calls: bool,
    /// The message that says what the user decided on it: as long as it is the last, the SDK gives the result.
    pub(super) decided: Option<MessageId>,
}

impl Call {
    /// The provider runs its tool, and answers it in the model's own messages.
    pub(super) fn is_provider_run(&self) -> bool {
        self.traits.within && !matches!(self.traits.place, Place::Tool(_))
    }

    /// The provider runs it, and it goes if there is no result.
    pub(super) fn goes_without_result(&self) -> bool {
        self.is_provider_run() && !self.asked && !self.made_calls
    }
}
