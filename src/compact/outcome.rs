//! Outcome of a compaction job, and the kinds of failure.

use super::overflow::is_overflow;
use crate::json::Write;

crate::json::json_struct! {
    /// One call, as `CompactionOutcome.attempts` tells of it.
    pub(super) struct Attempt {
        pub(super) kind: &'static str,
        pub(super) summarizer: usize,
        pub(super) result: &'static str,
        pub(super) detail: Option<String> as "detail?",
    }
}

/// What a guard has to know of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    None,
    /// May be gone later: an error, a limit, a deadline.
    Temporary,
    /// Key, quota or payment.
    Auth,
    Network,
    /// What came was no summary.
    Ineffective,
    Aborted,
    /// The input was too large for the summarizer.
    TooLarge,
}

impl Failure {
    const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Temporary | Self::TooLarge => "temporary",
            Self::Auth => "auth",
            Self::Network => "network",
            Self::Ineffective => "ineffective",
            Self::Aborted => "aborted",
        }
    }

    /// Of an error that a summarizer threw, by its status and its words (F108, H37).
    pub(super) fn of(message: &str, status: Option<i64>) -> Self {
        const AUTH: [&str; 14] = [
            "unauthorized",
            "authentication",
            "invalid api key",
            "invalid x-api-key",
            "incorrect api key",
            "invalid_api_key",
            "permission denied",
            "permission_error",
            "forbidden",
            "insufficient_quota",
            "exceeded your current quota",
            "payment required",
            "credit balance",
            "billing",
        ];
        const NETWORK: [&str; 13] = [
            "econnrefused",
            "econnreset",
            "enotfound",
            "eai_again",
            "etimedout",
            "ehostunreach",
            "enetunreach",
            "epipe",
            "fetch failed",
            "failed to fetch",
            "socket hang up",
            "network error",
            "connection error",
        ];
        let lower = message.to_ascii_lowercase();
        let mentions = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
        match status {
            Some(401..=403) => Self::Auth,
            _ if is_overflow(message, status) => Self::TooLarge,
            Some(_) if !mentions(&AUTH) => Self::Temporary,
            _ if mentions(&AUTH) => Self::Auth,
            _ if mentions(&NETWORK) => Self::Network,
            _ => Self::Temporary,
        }
    }
}

impl Write for Failure {
    fn write(&self, out: &mut String) {
        self.name().write(out);
    }
}

/// Why nobody was asked: a checkpoint stood ready.
pub(super) const FROM_CHECKPOINT: &str = "from the last checkpoint";

/// How a compaction ended.
pub(super) struct Done {
    /// What takes the place of what goes; `None`: nothing does, and the history stays.
    pub(super) summary: Option<String>,
    /// No summarizer wrote it.
    pub(super) degraded: bool,
    pub(super) reason: String,
    /// Pinned texts and identifiers that are not in it.
    pub(super) lost: Vec<String>,
    pub(super) failure: Failure,
}

/// The end of a compaction, with all its calls.
pub(super) struct Report<'a> {
    pub(super) done: &'a Done,
    pub(super) attempts: &'a Vec<Attempt>,
    /// Calls that have failed since the last that did not.
    pub(super) strikes: u32,
}

impl Write for Report<'_> {
    fn write(&self, out: &mut String) {
        let Done { summary, degraded, reason, lost, failure } = self.done;
        let ahead = reason == FROM_CHECKPOINT;
        let values: [&dyn Write; 8] =
            [summary, degraded, reason, lost, self.attempts, failure, &ahead, &self.strikes];
        crate::json::fields(
            "summary degraded reason lost attempts failure fromCheckpoint strikes",
            &values,
            out,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row F108.
    #[test]
    fn an_error_of_a_summarizer_has_a_kind() {
        for (message, status, expected) in [
            ("no", Some(401), Failure::Auth),
            ("prompt is too long", Some(403), Failure::Auth),
            ("You exceeded your current quota", Some(429), Failure::Auth),
            ("Incorrect API key provided", None, Failure::Auth),
            ("fetch failed: ECONNREFUSED 127.0.0.1", None, Failure::Network),
            ("slow down", Some(429), Failure::Temporary),
            ("overloaded", Some(529), Failure::Temporary),
            ("fetch failed", Some(502), Failure::Temporary),
            ("prompt is too long", Some(400), Failure::TooLarge),
            ("context length exceeded", None, Failure::TooLarge),
            ("boom", None, Failure::Temporary),
        ] {
            assert_eq!(Failure::of(message, status), expected, "{message} {status:?}");
        }
    }
}
