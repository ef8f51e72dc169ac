//! A session under a small window, asked after every message: each request breaks no rule of its provider, and asking twice changes nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| plimsoll_fuzz::targets::requests(bytes));
