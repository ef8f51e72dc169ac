//! Any lines as a signed file of candidates: what is loaded was signed with this key, and no call panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll::candidate::{Key, Store};

fuzz_target!(|bytes: &[u8]| {
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
});
