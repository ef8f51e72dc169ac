//! A session under a small window, asked after every message: each request breaks no rule of its provider, and asking twice changes nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll::context::{explain, plan_compaction, status_json};
use plimsoll::json::write;
use plimsoll_fuzz::{Case, Session, accepts, unrepaired};
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let Some(case) = Case::read(bytes) else { return };
    if !accepts(&case, &case.messages) {
        return;
    }
    let mut session = Session::new(case.format, &case.options());
    for message in &case.messages {
        session.push(message);
        let (sent, _) = session.request();
        let again: Vec<String> = sent.iter().map(Value::to_string).collect();
        let left = unrepaired(&case, &again);
        assert!(left.is_empty(), "{left:#?} in {again:#?}");
        assert_eq!(session.request().0, sent);
    }
    drop(write(&status_json(&session.state, 1_000)));
    for index in 0..case.messages.len() as u32 {
        drop(explain(&session.state, index.into()));
    }
    drop(plan_compaction(&mut session.state, true, None, 1_000));
    drop(plimsoll::inspect::report(&session.state, "{}", 1_000));
});
