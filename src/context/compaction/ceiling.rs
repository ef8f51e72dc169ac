//! Upper bound of a request after a provider has refused one: lowered by each refusal, raised by what the provider accepts.

use crate::context::session::snapshot::bytes::{Reader, Writer};

/// Sizes are raw estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::context) struct Ceiling {
    /// A request may have no more.
    pub tokens: u64,
    /// The request that was refused last.
    refused: u64,
    /// A request was accepted since.
    is_accepted: bool,
    /// What is refused again after it was tried again, or is over a limit that the host knows, is not tried a third time.
    is_final: bool,
}

impl Ceiling {
    /// After a refusal of a request of this size. `limit`: what the provider takes, if the host knows it.
    pub(in crate::context) fn refuse(
        before: Option<Self>,
        refused: u64,
        limit: Option<u64>,
    ) -> Self {
        let tokens = nine_tenths(refused);
        let again = before
            .is_some_and(|it| it.is_accepted && refused >= nine_tenths(it.refused) || it.is_final);
        let known = limit.filter(|&limit| limit <= tokens);
        Self {
            tokens: known.unwrap_or(tokens),
            refused,
            is_accepted: false,
            is_final: again || known.is_some(),
        }
    }

    /// A provider has accepted a request of this size. `trigger`: where something would be cut under this bound. Most requests are far
    /// below it, for each cut makes them smaller: those of its upper half tell that there may be more.
    pub(in crate::context) fn accept(&mut self, size: u64, trigger: u64) {
        self.is_accepted = true;
        // A larger request was accepted, so the size that was refused is no limit.
        if size > self.refused {
            self.is_final = false;
        }
        if !self.is_final && size >= trigger / 2 {
            self.tokens = self.tokens.saturating_add(self.tokens / 10);
        }
        self.tokens = self.tokens.max(size);
    }

    pub(in crate::context) fn write(of: Option<Self>, out: &mut Writer) {
        out.perhaps(of.map(|it| it.tokens));
        if let Some(it) = of {
            out.number(it.refused);
            out.number(it.is_accepted.into());
            out.number(it.is_final.into());
        }
    }

    pub(in crate::context) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let tokens = reader.perhaps()?;
        let refused = if reader.is_old { tokens } else { reader.number() };
        let [is_accepted, is_final] =
            if reader.is_old { [false; 2] } else { [reader.flag(), reader.flag()] };
        Some(Self { tokens, refused, is_accepted, is_final })
    }
}

fn nine_tenths(tokens: u64) -> u64 {
    tokens.saturating_mul(9) / 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_far_below_the_window_is_forgotten_after_some_accepted_requests() {
        let mut ceiling = Ceiling::refuse(None, 45_000, None);
        assert_eq!(ceiling.tokens, 40_500);
        let mut accepted = 0;
        while ceiling.tokens < 90_000 {
            ceiling.accept(nine_tenths(ceiling.tokens), ceiling.tokens);
            accepted += 1;
        }
        assert!(accepted <= 20, "{accepted}");
        // Small requests tell nothing of what the provider would take.
        let mut small = Ceiling::refuse(None, 45_000, None);
        small.accept(20_000, 40_500);
        assert_eq!(small.tokens, 40_500);
        small.accept(80_000, 40_500);
        assert_eq!(small.tokens, 80_000);
    }

    #[test]
    fn a_request_refused_twice_is_not_tried_a_third_time() {
        let most = 100_000;
        let mut ceiling = Ceiling::refuse(None, most + 1, None);
        let mut refusals = 1;
        for _ in 0..200 {
            let size = ceiling.tokens;
            if size > most {
                ceiling = Ceiling::refuse(Some(ceiling), size, None);
                refusals += 1;
            } else {
                ceiling.accept(size, size);
            }
        }
        assert_eq!(refusals, 2);
        assert!(ceiling.tokens <= most && ceiling.tokens >= 90_000, "{}", ceiling.tokens);
    }

    #[test]
    fn a_limit_that_the_host_knows_is_kept() {
        let mut ceiling = Ceiling::refuse(None, 100_000, Some(50_000));
        ceiling.accept(49_000, 50_000);
        assert_eq!(ceiling.tokens, 50_000);
        assert_eq!(Ceiling::refuse(None, 100_000, Some(150_000)).tokens, 90_000);
    }

    #[test]
    fn a_ceiling_is_the_same_after_a_restart() {
        for before in [None, Some(Ceiling::refuse(None, 77, Some(5)))] {
            let mut out = Writer::new();
            Ceiling::write(before, &mut out);
            assert_eq!(Ceiling::read(&mut Reader::new(&out.done()).unwrap()), before);
        }
    }
}
