//! The fuzz targets: each checks on one input what must always hold. The core's tests call them with the inputs in `fuzz/kept`.

use plimsoll::candidate::{Key, Store};
use plimsoll::context::{
    self, Options, Recording, apply, cap_output, context_budget, explain, history_limit,
    merge_committed, plan_compaction, restore_from, snapshot_bytes, status_json,
};
use plimsoll::estimate::Estimator;
use plimsoll::format::Format;
use plimsoll::json::{parse, write};
use plimsoll::session_files::{Redaction, read_session};
use plimsoll::text::redact;
use plimsoll::{compact, prompt};
use serde_json::{Value, json};

use crate::carry::{self, Session};
use crate::case::{Case, accepts, has_oversize_image, unrepaired};

/// Any text as the arguments of every function that takes JSON: an error that names the place, or an answer that is JSON.
pub fn arguments(text: &str) {
    drop(Options::parse(text));
    drop(history_limit(text));
    drop(apply(text));
    drop(cap_output(text));
    drop(context_budget(text).map(|value| write(&value)));
    let _ = compact::is_context_overflow(text);
    drop(compact::checkpoint_due(text));
    drop(compact::checkpoint_taken(text));
    drop(compact::check_summary(text));
    if let Ok(mut job) = compact::Compaction::new(text) {
        drop(job.push(text));
        drop(job.step());
        job.answer(0, text);
        drop(job.step());
    }
    for call in [
        prompt::calls::focus,
        prompt::calls::budget,
        prompt::calls::truncate,
        prompt::calls::tiers,
        prompt::calls::rules,
        prompt::calls::workspace,
        prompt::calls::trim,
        prompt::calls::remember,
        prompt::calls::compress,
    ] {
        if let Ok(answer) = call(text) {
            assert!(serde_json::from_str::<Value>(&answer).is_ok(), "{answer}");
        }
    }
}

/// Any lines as a signed file of candidates: what is loaded was signed with this key, and no call panics.
pub fn candidates(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(key) = Key::new(&[7; 32]) else { return };
    let Ok(mut store) = Store::from_options("{}") else { return };
    let mut loading = store.load(text, 0);
    while let Some(signed) = loading.bytes() {
        if loading.take(&key.sign(&signed)).is_err() {
            break;
        }
    }
    drop(store.adopt(&mut loading));
    for line in text.lines() {
        drop(store.upsert_json(line));
        drop(store.conclude_json(line));
        drop(store.transition_json(line));
        drop(store.section_json(line));
        drop(store.inject_json(line));
        drop(store.evaluate_json(line));
    }
    let mut saving = store.save();
    while let Some(signed) = saving.bytes() {
        assert!(saving.take(&key.sign(&signed)).is_ok());
    }
    let file = saving.file();
    let Ok(mut other) = Store::from_options("{}") else { return };
    let mut loading = other.load(&file, 0);
    while let Some(signed) = loading.bytes() {
        assert!(loading.take(&key.sign(&signed)).is_ok(), "our own line is refused");
    }
    assert!(other.adopt(&mut loading).is_ok());
    assert_eq!(other.candidates().len(), store.candidates().len());
}

/// Any text: redaction ends, and changes nothing when it is done again.
pub fn redaction(text: &str) {
    let once = redact(text);
    assert_eq!(redact(&once), once);
}

/// Any messages under the rules of any provider: what `repair` returns breaks no rule, and is returned unchanged when it is repaired again.
pub fn repair(bytes: &[u8]) {
    let Some(case) = Case::read(bytes) else { return };
    if !accepts(&case, &case.messages) {
        return;
    }
    let none = json!({});
    let (repaired, _) = carry::repair(case.format, case.provider, &none, &case.messages);
    let again: Vec<String> = repaired.iter().map(Value::to_string).collect();
    assert!(accepts(&case, &again), "a repaired message is not read: {again:#?}");
    let left = unrepaired(&case, &again);
    assert!(left.is_empty(), "{left:#?} in {again:#?}");
    if has_oversize_image(&case, &again) {
        return;
    }
    let (twice, repairs) = carry::repair(case.format, case.provider, &none, &again);
    assert_eq!(repairs, json!([]), "of {again:#?}");
    assert_eq!(twice, repaired);
}

/// A session under a small window, asked after every message: each request breaks no rule of its provider, and asking twice changes nothing.
pub fn requests(bytes: &[u8]) {
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
    for (index, _) in (0u32..).zip(&case.messages) {
        drop(explain(&session.state, index.into()));
    }
    drop(plan_compaction(&mut session.state, true, None, 1_000));
    drop(plimsoll::inspect::report(&session.state, "{}", 1_000));
}

/// Any bytes as a snapshot, and any changed byte of a real one: an error or a session that answers, never a panic.
pub fn restore(bytes: &[u8]) {
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
}

/// Any bytes as a session file: read, redacted, recorded and replayed without a panic, and every line is in the receipt.
pub fn session_files(bytes: &[u8]) {
    let Ok(file) = read_session(bytes, None) else { return };
    let receipt = &file.receipt;
    let broken = receipt.broken.len();
    assert_eq!(receipt.lines as usize, (receipt.read + receipt.unknown) as usize + broken);
    let messages = file.messages.len();
    assert!(file.calls.is_sorted_by_key(|call| call.sent));
    assert!(file.calls.iter().all(|call| call.sent as usize <= messages));
    assert!(file.compactions.iter().all(|record| record.first_kept_index as usize <= messages));
    let json = write(&file);
    assert!(parse(&json).is_ok());
    let Ok(redaction) = Redaction::parse("{}") else { return };
    let (redacted, _) = redaction.session(&json);
    assert!(parse(&redacted).is_ok());

    let Ok(recording) = Recording::parse(&json, Estimator::default()) else { return };
    let Ok(options) = Options::for_replay(r#"{"window":{"contextTokens":2000}}"#) else { return };
    let mut recorded = recording.recorded_view(&options);
    drop(recording.recorded_layers(&mut recorded));
    drop(recording.recorded_at(&recorded, u32::MAX).table());
    let Ok(replay) = recording.replay(&options) else { return };
    for call in [0, u32::MAX] {
        if let Ok(mut at) = recording.at_call(&replay, call) {
            drop((at.sent(), at.table(), recording.plan(&mut at)));
        }
    }
    drop(recording.next(&replay, 0));
    drop(recording.find("a", true, 10));
}
