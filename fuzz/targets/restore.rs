//! Any bytes as a snapshot, and any changed byte of a real one: an error or a session that answers, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| plimsoll_fuzz::targets::restore(bytes));
