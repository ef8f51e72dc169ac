//! Any text as the arguments of every function that takes JSON: an error that names the place, or an answer that is JSON.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll::context::{Options, apply, cap_output, context_budget, history_limit};
use plimsoll::json::write;
use plimsoll::{compact, prompt};

fuzz_target!(|text: &str| {
    drop(Options::parse(text));
    drop(history_limit(text));
    drop(apply(text));
    drop(cap_output(text));
    drop(context_budget(text).map(|value| write(&value)));
    let _ = compact::is_context_overflow(text);
    drop(compact::checkpoint_due(text));
    drop(compact::checkpoint_taken(text));
    drop(compact::check_summary(text));
    if let Ok(mut job) = compact::Compaction::new(text) {
        drop(job.push(text));
        drop(job.step());
        job.answer(0, text);
        drop(job.step());
    }
    for call in [
        prompt::calls::focus,
        prompt::calls::budget,
        prompt::calls::truncate,
        prompt::calls::tiers,
        prompt::calls::rules,
        prompt::calls::workspace,
        prompt::calls::trim,
        prompt::calls::remember,
        prompt::calls::compress,
    ] {
        if let Ok(answer) = call(text) {
            assert!(serde_json::from_str::<serde_json::Value>(&answer).is_ok(), "{answer}");
        }
    }
});
