//! Any bytes as a session file: read, redacted, recorded and replayed without a panic, and every line is in the receipt.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll::json::{parse, write};
use plimsoll::session_files::read_session;

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = read_session(bytes, None) else { return };
    let receipt = &file.receipt;
    assert_eq!(receipt.lines, receipt.read + receipt.unknown + receipt.broken.len() as u32);
    let messages = file.messages.len() as u32;
    assert!(file.calls.is_sorted_by_key(|call| call.sent));
    assert!(file.calls.iter().all(|call| call.sent <= messages));
    assert!(file.compactions.iter().all(|record| record.first_kept_index <= messages));
    assert!(parse(&write(&file)).is_ok());
});
