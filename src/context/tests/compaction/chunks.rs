//! Chunks of a summary: how many messages a call of the summarizer takes.

use super::*;
use crate::context::compaction::summary_chunks::summary_chunks;
use crate::json::write;
use crate::model::MessageId;

/// Messages of each chunk, and the calls, for eight messages of so many tokens and a summarizer with a window of 12,000.
fn chunks(tokens: u32, split: Option<u32>) -> (Vec<u32>, usize) {
    let mut host = Host::new(&options(&json!({})));
    for _ in 0..4 {
        host.ask("go on");
        host.say("done");
    }
    host.session.options.summary_window = 12_000;
    let ledger = &mut host.session.transcript.ledger;
    for at in 0..8 {
        let block = ledger.blocks.get_mut(at).unwrap();
        (block.now, block.tokens) = (tokens, tokens);
    }
    let go: Vec<MessageId> = MessageId::FIRST.to(8.into()).collect();
    let gone: Vec<_> = ledger.live().to_vec();
    let (chunks, calls) = summary_chunks(&host.session, &go, &gone, split);
    let chunks = chunks.iter().map(|it| serde_json::from_str::<Value>(&write(it)).unwrap());
    let messages = chunks.map(|it| it["to"].as_u64().unwrap() - it["from"].as_u64().unwrap());
    (messages.map(|it| u32::try_from(it).unwrap()).collect(), calls)
}

#[test]
fn chunks_are_smaller_if_messages_take_more_than_a_twelfth_of_the_window() {
    // A third of the window each, and a call that merges both.
    assert_eq!(chunks(1_000, None), (vec![4, 4], 3));
    // A sixth, less a little.
    assert_eq!(chunks(1_001, None), (vec![1; 8], 9));
    assert_eq!(chunks(600, None), (vec![8], 1), "two fifths, if that is enough for all");
}

#[test]
fn a_turn_that_is_split_has_chunks_of_its_own() {
    // The turns begin at the messages 0, 2, 4 and 6.
    assert_eq!(chunks(100, Some(3)), (vec![4, 4], 2));
    assert_eq!(chunks(100, Some(1)), (vec![8], 1));
    assert_eq!(chunks(1_000, Some(4)), (vec![4, 2, 2], 4));
}
