//! A history that is cut before anything is decided.

use super::presets::{host_of, text};
use super::*;
use crate::context::session::history_limit::last_turns;
use crate::context::session::history_limit::share_turns;
use crate::model::MessageId;

/// Ranges of messages as numbers.
fn numbers(ranges: &[(MessageId, MessageId)]) -> Vec<(u32, u32)> {
    ranges.iter().map(|(from, to)| (from.get(), to.get())).collect()
}

/// Row G21.
#[test]
fn the_last_turns_start_at_a_user_request() {
    let last = |roles: &str, turns| numbers(&last_turns(&host_of(roles).session, turns));
    assert_eq!(last("uauaua", 2), [(2, 6)]);
    assert_eq!(last("uauaua", 0), [(0, 6)]);
    assert_eq!(last("uauaua", 9), [(0, 6)]);
    assert_eq!(last("suaua", 1), [(0, 1), (3, 5)], "the system stays");
    assert_eq!(last("uaucttau", 2), [(2, 8)]);
    assert_eq!(last("uacuttau", 2), [(2, 8)], "a call that waits stays");
    assert_eq!(last("", 2), []);
}

/// Row G20.
#[test]
fn the_oldest_half_is_removed_until_the_history_fits_its_share() {
    let share = |host: &Host, tokens: u64| {
        let options = json!({ "maxContextTokens": tokens });
        share_turns(&host.session, &options.to_string()).unwrap()
    };
    // Eight messages of 100 characters: 25 + 4 tokens each.
    let mut host = Host::new(&window(0));
    for at in 0..4 {
        host.ask(&text(at, 100));
        host.say(&text(at, 100));
    }
    let all = share(&host, 464);
    assert_eq!(
        (numbers(&all.kept), all.dropped_chunks, all.kept_tokens, all.budget_tokens),
        (vec![(0, 8)], 0, 232, 232)
    );
    let half = share(&host, 463);
    assert_eq!(
        (numbers(&half.kept), half.dropped_chunks, half.dropped_messages),
        (vec![(4, 8)], 1, 4)
    );
    assert_eq!((half.dropped_tokens, half.kept_tokens), (116, 116));
    let least = share(&host, 0);
    assert_eq!(
        (numbers(&least.kept), least.dropped_chunks, least.budget_tokens),
        (vec![(7, 8)], 3, 1)
    );
    let group = share(&host_of("ucttctt"), 0);
    assert_eq!(numbers(&group.kept), [(4, 7)], "a group goes or stays");
    let system = share(&host_of("sucttctt"), 0);
    assert_eq!((numbers(&system.kept), system.dropped_messages), (vec![(0, 1), (5, 8)], 4));
}
