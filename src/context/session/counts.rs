//! Token counts that are not our own estimates: those of the host's counter, and those that the provider reports.

use crate::context::session::calibration::Calibration;
use crate::context::transcript::counter::Learned;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct Counts {
    /// The host's counts of the texts that are passed next.
    pub next: Vec<u32>,
    /// How the host's counter compares with the default profile.
    pub learned: Learned,
    /// How the provider's counts compare with ours.
    pub calibration: Calibration,
}
