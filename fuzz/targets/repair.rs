//! Any messages under the rules of any provider: what `repair` returns breaks no rule, and is returned unchanged when it is repaired again.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| plimsoll_fuzz::targets::repair(bytes));
