//! What a provider takes beside tokens, over a long session.

use super::*;

#[test]
fn bytes_that_went_are_counted_no_more_and_those_that_come_back_are() {
    let mut told = Told::new(&window(30_000));
    told.ask("go");
    let large = words(200_000, "x");
    for at in 0..14 {
        told.work(&format!("c{at}"), &json!({ "at": at }), &large);
        told.request();
    }
    told.say("done");
    told.ask("and now?");
    told.state.pruner.fold_wanted = true;
    told.request();
    let all: u64 = told.state.ledger.messages.iter().map(|it| u64::from(it.bytes)).sum();
    let most = told.state.provider.limits().bytes / 2;
    assert!(all > most && told.state.all_bytes <= most, "{all} {}", told.state.all_bytes);
    let gone = told.forms().iter().position(|form| *form == Form::Gone).unwrap();
    let message = told.state.ledger.blocks[gone].message;
    let bytes = u64::from(told.state.ledger.messages[message as usize].bytes);
    told.pin(message);
    let before = told.state.all_bytes;
    assert!(told.state.bring_back_pins());
    assert!(told.state.all_bytes >= before + bytes);
}
