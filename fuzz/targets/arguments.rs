//! Any text as the arguments of every function that takes JSON: an error that names the place, or an answer that is JSON.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| plimsoll_fuzz::targets::arguments(text));
