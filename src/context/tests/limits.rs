//! Provider limits beside tokens, over a long session.

use super::*;
use crate::context::session::pinning::bring_back_pins;

#[test]
fn removed_bytes_are_no_longer_counted_and_returning_ones_are() {
    let mut host = Host::new(&window(30_000));
    host.ask("go");
    let large = words(200_000, "x");
    for at in 0..14 {
        host.work(&format!("c{at}"), &json!({ "at": at }), &large);
        host.request();
    }
    host.say("done");
    host.ask("and now?");
    host.session.decisions.pruner.fold_wanted = true;
    host.request();
    let all: u64 =
        host.session.transcript.ledger.messages.iter().map(|it| u64::from(it.bytes)).sum();
    let most = host.session.transcript.dialect.provider.limits().bytes / 2;
    assert!(
        all > most && host.session.transcript.bytes <= most,
        "{all} {}",
        host.session.transcript.bytes
    );
    let gone = host.forms().iter().position(|form| *form == Form::Gone).unwrap();
    let message = host.session.transcript.ledger.blocks[gone].message;
    let bytes = u64::from(host.session.transcript.ledger.messages[message.index()].bytes);
    assert!(returning_messages(&host.session).is_empty());
    host.pin(message.get());
    let group = host.session.transcript.ledger.blocks[gone].group.first_message().get();
    assert_eq!(returning_messages(&host.session), [group, group + 1], "with what it stays with");
    let before = host.session.transcript.bytes;
    assert!(bring_back_pins(&mut host.session));
    assert!(returning_messages(&host.session).is_empty());
    assert!(host.session.transcript.bytes >= before + bytes);
}
