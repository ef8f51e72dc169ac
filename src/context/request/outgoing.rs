//! Outgoing part of a session: system prompt, tools, pins and cache markers of its requests, and the last request.

use crate::context::request::last_request::LastRequest;
use crate::context::request::markers::Markers;
use crate::context::request::pins::Pins;
use crate::context::request::request_extras::Parts;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct Outgoing {
    /// System prompt, tools, and what else goes out beside the messages.
    pub extras: Parts,
    /// Messages and texts that go out whatever else is removed.
    pub pins: Pins,
    /// The host's cache markers.
    pub markers: Markers,
    /// The request that was sent last.
    pub last: LastRequest,
}

impl Outgoing {
    /// Goes on after `old`, whose messages are others now. Its markers stay with it: they stand in messages.
    pub(in crate::context) fn continue_from(&mut self, old: &mut Self) {
        self.extras = std::mem::take(&mut old.extras);
        self.pins = std::mem::take(&mut old.pins);
        self.pins.detach();
        self.last = std::mem::take(&mut old.last).of_another();
    }
}
