//! What requests cost under prompt caching: the longest prefix that the cache still holds is read, the rest is written.

use super::Prices;
use crate::hash::mix;
use crate::keyed::ByHash;

/// A prefix shorter than this is not cached.
const SHORTEST_PREFIX: u64 = 1024;
/// What the instruction to a summarizer costs.
const INSTRUCTION: u64 = 300;

/// A part of a request: what it is, as a hash, and its tokens.
pub type Sent = (u64, u32);

/// A provider's prompt cache as these requests have filled it.
#[derive(Clone, Debug)]
pub struct Cache {
    prices: Prices,
    fixed: u64,
    last_use: ByHash,
}

impl Cache {
    /// An empty cache for requests that carry `fixed` tokens beside their messages.
    pub fn new(prices: Prices, fixed: u64) -> Self {
        Self { prices, fixed, last_use: ByHash::default() }
    }

    /// The price of a request at `now_ms`, in thousandths of a base input token; the cache holds it afterwards.
    pub fn charge(&mut self, sent: &[Sent], now_ms: i64) -> u64 {
        let (hit, total, prefixes) = self.look_up(sent, now_ms);
        let write = if total < SHORTEST_PREFIX { 1000 } else { self.prices.write };
        for prefix in prefixes {
            self.last_use.insert(prefix, now_ms);
        }
        let rest = total.saturating_sub(hit);
        hit.saturating_mul(self.prices.read).saturating_add(rest.saturating_mul(write))
    }

    /// The price of asking for a summary of `output` tokens behind a request that the cache may hold.
    pub fn charge_summary(&mut self, sent: &[Sent], output: u64, now_ms: i64) -> u64 {
        let (hit, total, prefixes) = self.look_up(sent, now_ms);
        for prefix in prefixes {
            if self.last_use.get(prefix).is_some() {
                self.last_use.insert(prefix, now_ms);
            }
        }
        let rest = total.saturating_sub(hit).saturating_add(INSTRUCTION).saturating_mul(1000);
        hit.saturating_mul(self.prices.read)
            .saturating_add(rest)
            .saturating_add(output.saturating_mul(self.prices.output))
    }

    /// Tokens that the cache still holds, all tokens, and the hash of each prefix.
    fn look_up(&self, sent: &[Sent], now_ms: i64) -> (u64, u64, Vec<u64>) {
        let lives = |prefix: u64| {
            let age = self.last_use.get(prefix).map(|last| now_ms.saturating_sub(last));
            age.is_some_and(|age| u64::try_from(age).unwrap_or(0) <= self.prices.ttl_ms)
        };
        let mut prefix = mix(7);
        let mut total = self.fixed;
        let mut alive = lives(prefix);
        let mut hit = if alive { total } else { 0 };
        let mut prefixes = vec![prefix];
        for &(hash, tokens) in sent {
            prefix = mix(prefix ^ hash);
            prefixes.push(prefix);
            total = total.saturating_add(u64::from(tokens));
            alive = alive && lives(prefix);
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
    fn an_edit_or_a_pause_writes_again() {
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
}
