//! Any lines as a signed file of candidates: what is loaded was signed with this key, and no call panics.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| plimsoll_fuzz::targets::candidates(bytes));
