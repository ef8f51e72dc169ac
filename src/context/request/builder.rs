//! Builder of requests: everything that a request is made of, borrowed, so that building one changes nothing.

use crate::context::options::Options;
use crate::context::request::markers::Markers;
use crate::context::request::pins::Pins;
use crate::context::session::Session;
use crate::context::session::decisions::Decisions;
use crate::context::session::repairs::Repairs;
use crate::context::transcript::Transcript;

/// See the module. What it makes of a message is in `view`, of the messages around it in `synthetic` and `alternation`.
#[derive(Clone, Copy)]
pub(in crate::context) struct Builder<'a> {
    pub options: &'a Options,
    pub transcript: &'a Transcript,
    pub repairs: &'a Repairs,
    pub decisions: &'a Decisions,
    pub pins: &'a Pins,
    pub markers: &'a Markers,
}

impl<'a> Builder<'a> {
    /// The builder of the session's next request.
    pub(in crate::context) fn new(session: &'a Session) -> Self {
        Self {
            options: &session.options,
            transcript: &session.transcript,
            repairs: &session.repairs,
            decisions: &session.decisions,
            pins: &session.request.pins,
            markers: &session.request.markers,
        }
    }
}
