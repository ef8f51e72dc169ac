//! Any bytes as a snapshot, and any changed byte of a real one: an error or a session that answers, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll::context::{self, Options, merge_committed, restore_from, snapshot_bytes};
use plimsoll::format::Format;
use plimsoll_fuzz::{Case, Session, accepts};

fuzz_target!(|bytes: &[u8]| {
    let options = r#"{"format":"anthropic","window":{"contextTokens":2000}}"#;
    let Ok(options) = Options::parse(options) else { return };
    let mut session = context::Session::new(options.clone(), Format::Anthropic);
    if restore_from(&mut session, bytes).is_ok() {
        drop(snapshot_bytes(&session));
        drop(session.request(1_000));
    }
    let mut session = context::Session::new(options, Format::Anthropic);
    drop(merge_committed(&mut session, bytes, &[]));

    // The first bytes say what is changed in the snapshot of the session that the others make.
    let Some((changes, rest)) = bytes.split_at_checked(4) else { return };
    let Some(case) = Case::read(rest) else { return };
    if !accepts(&case, &case.messages) {
        return;
    }
    let mut lived = Session::new(case.format, &case.options());
    for message in &case.messages {
        lived.push(message);
    }
    let (sent, _) = lived.request();
    let whole = snapshot_bytes(&lived.state);
    for flips in [&[][..], changes] {
        let mut snapshot = whole.clone();
        for pair in flips.chunks_exact(2) {
            let at = usize::from(pair[0]) * snapshot.len() / 256;
            if let Some(byte) = snapshot.get_mut(at) {
                *byte ^= pair[1];
            }
        }
        let mut woken = Session::new(case.format, &case.options());
        if restore_from(&mut woken.state, &snapshot).is_err() {
            assert_ne!(snapshot, whole, "a snapshot of ours is refused");
            continue;
        }
        for message in &case.messages {
            woken.push(message);
        }
        let (again, _) = woken.request();
        if snapshot == whole {
            assert_eq!(again, sent, "a restored session sends something else");
        }
    }
});
