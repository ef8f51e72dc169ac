//! Cost of requests under prompt caching: the longest cached prefix is read, the rest is written.

use super::Prices;
use crate::hash::mix;
use crate::hash_index::ByHash;

/// A prefix shorter than this is not cached (Anthropic and `OpenAI`: 1,024 tokens for most models).
const SHORTEST_PREFIX: u64 = 1024;
/// What the instruction to a summarizer costs.
pub const INSTRUCTION: u64 = 300;

/// A part of a request: what it is, as a hash, and its tokens.
pub type Sent = (u64, u32);

/// A provider's prompt cache as these requests have filled it.
#[derive(Clone, Debug)]
pub struct Cache {
    prices: Prices,
    fixed: u64,
    /// When a prefix was sent last that the last request did not begin with.
    last_use: ByHash,
    /// The prefixes of the last request, each with its tokens. All of them were sent when it was, so that nothing is noted for
    /// each: a request that only grows costs what it grows by.
    prefixes: Vec<(u64, u64)>,
    last: Option<i64>,
}

impl Cache {
    /// An empty cache for requests that carry `fixed` tokens beside their messages.
    pub fn new(prices: Prices, fixed: u64) -> Self {
        Self { prices, fixed, last_use: ByHash::default(), prefixes: Vec::new(), last: None }
    }

    /// The price of a request at `now_ms`, in thousandths of a base input token; the cache holds it afterwards.
    pub fn charge(&mut self, sent: &[Sent], now_ms: i64) -> u64 {
        self.charge_grown(0, sent, now_ms)
    }

    /// The same of a request that begins with the first `kept` parts of the last one, or all of them, and goes on with `more`.
    pub fn charge_grown(&mut self, kept: usize, more: &[Sent], now_ms: i64) -> u64 {
        self.let_go(kept);
        let (hit, total, prefixes) = self.look_up(more, now_ms);
        self.prefixes.extend(prefixes);
        self.last = Some(now_ms);
        // What is too short for the cache has no surcharge for writing it.
        let write = if total < SHORTEST_PREFIX { 1000 } else { self.prices.write };
        let rest = total.saturating_sub(hit);
        hit.saturating_mul(self.prices.read).saturating_add(rest.saturating_mul(write))
    }

    /// The price of asking for a summary of `output` tokens after a request that the cache may hold.
    pub fn charge_summary(&mut self, sent: &[Sent], output: u64, now_ms: i64) -> u64 {
        self.let_go(0);
        let (hit, total, prefixes) = self.look_up(sent, now_ms);
        // Reading a prefix prolongs its life in the cache.
        self.last = self.last.map(|_| now_ms);
        for (prefix, _) in prefixes {
            if self.last_use.get(prefix).is_some() {
                self.last_use.insert(prefix, now_ms);
            }
        }
        let rest = total.saturating_sub(hit).saturating_add(INSTRUCTION).saturating_mul(1000);
        hit.saturating_mul(self.prices.read)
            .saturating_add(rest)
            .saturating_add(output.saturating_mul(self.prices.output))
    }

    /// Of the last request only the first parts are at the start of the next.
    fn let_go(&mut self, kept: usize) {
        let Some(last) = self.last else { return };
        for (prefix, _) in self.prefixes.drain(kept.min(self.prefixes.len())..) {
            self.last_use.insert(prefix, last);
        }
    }

    fn is_fresh(&self, last: i64, now_ms: i64) -> bool {
        u64::try_from(now_ms.saturating_sub(last)).unwrap_or(0) <= self.prices.ttl_ms
    }

    /// Tokens that the cache still holds, all tokens, and the prefixes after those that were kept.
    fn look_up(&self, more: &[Sent], now_ms: i64) -> (u64, u64, Vec<(u64, u64)>) {
        let (mut prefix, mut total) =
            self.prefixes.last().copied().unwrap_or_else(|| (mix(7), self.fixed));
        let mut alive = self.last.is_some_and(|last| self.is_fresh(last, now_ms));
        let mut hit = if alive { total } else { 0 };
        let mut prefixes = Vec::with_capacity(more.len());
        for &(hash, tokens) in more {
            prefix = mix(prefix ^ hash);
            total = total.saturating_add(u64::from(tokens));
            prefixes.push((prefix, total));
            let known = self.last_use.get(prefix);
            alive = alive && known.is_some_and(|last| self.is_fresh(last, now_ms));
            if alive {
                hit = total;
            }
        }
        (if hit < SHORTEST_PREFIX { 0 } else { hit }, total, prefixes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> Cache {
        Cache::new(Prices::ANTHROPIC, 2000)
    }

    #[test]
    fn a_grown_request_reads_what_it_was_and_writes_its_end() {
        let mut cache = cache();
        assert_eq!(cache.charge(&[(1, 100)], 0), 2100 * 1250);
        assert_eq!(cache.charge(&[(1, 100), (2, 50)], 300_000), 2100 * 100 + 50 * 1250);
    }

    #[test]
    fn an_edit_or_a_pause_writes_the_cache_again() {
        let mut cache = cache();
        cache.charge(&[(1, 100), (2, 50)], 0);
        assert_eq!(cache.charge(&[(3, 10), (2, 50)], 1), 2000 * 100 + 60 * 1250);
        assert_eq!(cache.charge(&[(3, 10)], 300_002), 2010 * 1250);
    }

    #[test]
    fn a_short_request_is_not_cached() {
        let mut cache = Cache::new(Prices::ANTHROPIC, 10);
        assert_eq!(cache.charge(&[(1, 5)], 0), 15 * 1000);
        assert_eq!(cache.charge(&[(1, 5)], 1), 15 * 1000);
    }

    #[test]
    fn a_summary_reads_the_request_and_pays_its_output() {
        let mut cache = cache();
        cache.charge(&[(1, 100)], 0);
        assert_eq!(cache.charge_summary(&[(1, 100)], 1500, 1), 2100 * 100 + 300_000 + 7_500_000);
    }

    /// The cache as it is defined: of every prefix, when it was sent last.
    #[derive(Default)]
    struct Plain(std::collections::BTreeMap<Vec<Sent>, i64>);

    impl Plain {
        fn charge(&mut self, sent: &[Sent], now_ms: i64) -> u64 {
            let (mut hit, mut total, mut alive) = (0, 2000, true);
            for end in 0..=sent.len() {
                total += end.checked_sub(1).map_or(0, |at| u64::from(sent[at].1));
                let last = self.0.insert(sent[..end].to_vec(), now_ms);
                alive = alive && last.is_some_and(|last| now_ms - last <= 300_000);
                if alive {
                    hit = total;
                }
            }
            hit * 100 + (total - hit) * 1250
        }
    }

    proptest::proptest! {
        #[test]
        fn requests_that_grow_are_cut_or_come_back_cost_the_sum_of_their_prefixes(
            steps in proptest::collection::vec((0..6_usize, proptest::collection::vec(0..3_u32, 0..4), 0..400_000_i64), 1..30),
        ) {
            let (mut cache, mut plain) = (cache(), Plain::default());
            let (mut sent, mut now): (Vec<Sent>, i64) = (Vec::new(), 0);
            for (kept, more, pause) in steps {
                // Above the usual lengths: all of it is kept.
                let kept = if kept > 3 { sent.len() } else { kept.min(sent.len()) };
                let more: Vec<Sent> =
                    more.into_iter().map(|part| (u64::from(part), 100 * part + 7)).collect();
                sent.truncate(kept);
                sent.extend(&more);
                now += pause;
                proptest::prop_assert_eq!(cache.charge_grown(kept, &more, now), plain.charge(&sent, now));
            }
        }
    }
}
