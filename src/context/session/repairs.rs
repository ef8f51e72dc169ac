//! Repairs of the host's history: a provider would reject it as it is.

use litemap::LiteMap;

use crate::context::session::dialect::{Dialect, validity_options_for};
use crate::model::{Fix, MessageId};
use crate::validity::Repairer;

/// See the module.
#[derive(Clone, Debug)]
pub(in crate::context) struct Repairs {
    pub mender: Repairer,
    /// Repairs by message.
    pub fixes: LiteMap<MessageId, Vec<Fix>>,
    /// Results that are sent at another place: message, piece.
    pub displaced: LiteMap<(MessageId, u32), ()>,
}

impl Repairs {
    /// None yet. `signs`: lost signatures are made up for.
    pub(in crate::context) fn new(dialect: Dialect, signs: bool) -> Self {
        Self {
            mender: Repairer::new(dialect.provider)
                .with_options(validity_options_for(dialect.format, signs)),
            fixes: LiteMap::new(),
            displaced: LiteMap::new(),
        }
    }
}
