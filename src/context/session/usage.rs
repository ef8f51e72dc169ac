//! Usage that a provider or SDK reports of a request.

use crate::context::compaction::commit::record_usage;
use crate::context::report::monitor_report::monitor_usage;
use crate::context::session::Session;
use crate::context::session::calibration::Counted;

impl Session {
    /// What a provider or SDK reported of a call (JSON): of the last request, or of the one with this epoch and estimate.
    /// Shapes that are not known, and figures that cannot be of that request, are ignored.
    pub fn observe(&mut self, usage: &str, of: Option<(u32, u64)>) {
        let (epoch, estimate) = of.unwrap_or((self.request.last.epoch, self.request.last.tokens));
        if let Some(usage) = crate::session_files::Usage::shown_by(usage) {
            let counted = Counted { epoch, used: usage.input_tokens, estimate };
            if self.counts.calibration.observe(counted, self.options.mode.window_tokens()) {
                monitor_usage(self, counted, usage.output_tokens);
            }
            record_usage(self, counted);
        }
    }
}
