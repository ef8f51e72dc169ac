//! Any text: redaction ends, and changes nothing when it is done again.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| plimsoll_fuzz::targets::redaction(text));
