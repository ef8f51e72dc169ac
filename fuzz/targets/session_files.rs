//! Any bytes as a session file: read, redacted, recorded and replayed without a panic, and every line is in the receipt.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| plimsoll_fuzz::targets::session_files(bytes));
