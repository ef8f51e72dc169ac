//! Any messages under the rules of any provider: what `repair` returns breaks no rule, and is returned unchanged when it is repaired again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_fuzz::{Case, accepts, has_oversize_image, repair, unrepaired};
use serde_json::{Value, json};

fuzz_target!(|bytes: &[u8]| {
    let Some(case) = Case::read(bytes) else { return };
    if !accepts(&case, &case.messages) {
        return;
    }
    let none = json!({});
    let (repaired, _) = repair(case.format, case.provider, &none, &case.messages);
    let again: Vec<String> = repaired.iter().map(Value::to_string).collect();
    if !accepts(&case, &again) {
        panic!("a repaired message is not read: {again:#?}");
    }
    let left = unrepaired(&case, &again);
    assert!(left.is_empty(), "{left:#?} in {again:#?}");
    if has_oversize_image(&case, &again) {
        return;
    }
    let (twice, repairs) = repair(case.format, case.provider, &none, &again);
    assert_eq!(repairs, json!([]), "of {again:#?}");
    assert_eq!(twice, repaired);
});
