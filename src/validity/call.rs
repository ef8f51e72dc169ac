//! A tool call that may have a result.

use std::rc::Rc;

use crate::model::{GroupId, MessageId, Place};

/// A call that has no result yet.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) message: MessageId,
    pub(super) piece: u32,
    pub(super) place: Place,
    /// The id with which it goes out.
    pub(super) wire: Rc<str>,
    pub(super) name: Box<str>,
    /// The id as the host wrote it, without white space around it.
    pub(super) key: Rc<str>,
    /// The first message of its run.
    pub(super) group: GroupId,
    /// The message behind which its result goes.
    pub(super) anchor: MessageId,
    /// Its result is the provider's to give.
    pub(super) within: bool,
    /// The user is asked whether it may run.
    pub(super) asked: bool,
    /// The message that says what the user decided on it: as long as it is the last, the SDK gives the result.
    pub(super) decided: Option<MessageId>,
}

impl Call {
    /// The provider runs its tool, and answers it in the model's own messages.
    pub(super) fn is_provider_run(&self) -> bool {
        self.within && !matches!(self.place, Place::Tool(_))
    }
}
