//! Reading a message of the session's format from its JSON.

use crate::context::session::Session;
use crate::error::{Error, Result};
use crate::model::{Draft, MessageId};

/// The draft of a message of the session, from its bytes.
pub(in crate::context) fn read_message<'a>(
    session: &Session,
    index: MessageId,
    bytes: &'a [u8],
) -> Result<Draft<'a>> {
    if index >= session.transcript.ledger.next_message() {
        return Err(Error::argument("index", "a message of the session", index));
    }
    session.transcript.dialect.format.read(bytes, index.get())
}
