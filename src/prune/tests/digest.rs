//! Identifiers listed in the head of a fold.

use crate::ledger::Ledger;
use crate::number::isqrt;
use crate::prune::fold::digest;

/// As many as a long session has, each with uses and blocks of its own.
fn ledger(count: u32) -> Ledger {
    let mut ledger = Ledger::default();
    for number in 0..count {
        let id = ledger.identifiers.intern(&format!("name_{number}"), |_| 1 + number % 5);
        let identifier = ledger.identifiers.get_mut(id).unwrap();
        identifier.uses = u8::try_from(number * 7 % 13).unwrap();
        identifier.last_use = number * 31 % 997;
        identifier.blocks = u8::try_from(number * 3 % 11).unwrap();
        identifier.summarized = number % 17 == 0;
    }
    ledger
}

#[test]
fn a_digest_lists_the_best_of_all_identifiers_however_many_there_are() {
    for (count, room) in [(0, 50), (40, 50), (5000, 0), (5000, 1), (5000, 300), (5000, 50_000)] {
        let ledger = ledger(count);
        let mut all: Vec<(u64, u32)> = (0..count)
            .filter_map(|id| {
                let it = ledger.identifiers.get(id)?;
                let age = u64::from(1000u32.saturating_sub(it.last_use).max(1));
                let uses = isqrt(u64::from(it.uses.min(10)) << 40);
                let recent = (1 << 20) + isqrt((64 << 40) / age);
                let spread = ((15 * u64::from(it.blocks.min(8))) << 20) / 100;
                let shown = it.blocks > 0 && !it.summarized;
                shown.then_some((((uses * recent) >> 20) + spread, id))
            })
            .collect();
        all.sort_unstable();
        let (mut tokens, mut listed) = (0, Vec::new());
        for (_, id) in all.into_iter().rev() {
            let with = tokens + u32::from(ledger.identifiers.get(id).unwrap().tokens);
            if u64::from(with) > room {
                break;
            }
            (tokens, listed) = (with, [listed, vec![id]].concat());
        }
        assert_eq!(digest(&ledger, room, 1000, &[]), (listed, tokens), "{count} in {room}");
    }
}
