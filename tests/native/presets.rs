//! Every real session through every preset at several windows: nothing a provider would refuse, nothing over the window.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll::context::{Options, Recording, Totals};
use plimsoll::estimate::Estimator;
use plimsoll::json::write;
use plimsoll::prune::Policy;
use plimsoll::session_files::read_session;

use crate::sample::one_in;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files(&path, found);
        } else if path.file_name().is_some_and(|name| name != "manifest.json") {
            found.push(path);
        }
    }
}

/// A window may be smaller than what the session's agent sent beside its messages.
const AS_MEASURED: &str = r#""calibrate":false,"unseenTokens":0"#;

fn recordings() -> Vec<(String, Recording)> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/sessions"));
    let mut found = Vec::new();
    files(root, &mut found);
    if found.is_empty() {
        println!("skipped: ../shared is absent");
    }
    found.sort();
    let found = one_in(5, "sessions through every preset", found);
    let read = found.into_iter().filter_map(|path| {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        let session = read_session(&fs::read(&path).unwrap(), None).ok()?;
        let recording = Recording::parse(&write(&session), Estimator::default()).ok()?;
        Some((name, recording))
    });
    read.collect()
}

#[test]
fn every_session_through_every_preset_is_valid_and_fits() {
    let recordings = recordings();
    for preset in Policy::PRESETS {
        let ours = Policy::preset(preset).unwrap().seed.is_none();
        let variants: &[&str] = if ours {
            &["", r#","keep":"lines""#]
        } else {
            &["", r#","strategy":"truncate""#, r#","strategy":"discard""#]
        };
        for more in variants {
            let mut sum = Totals::default();
            let mut calls = 0;
            for (name, recording) in &recordings {
                let all = [32_000, 64_000, 128_000];
                for &window in if more.is_empty() { &all[..] } else { &all[1..2] } {
                    let options = format!(
                        r#"{{"preset":"{preset}","window":{{"contextTokens":{window}}},{AS_MEASURED}{more}}}"#
                    );
                    let options = Options::for_replay(&options).unwrap();
                    let replay = recording.replay(&options).unwrap();
                    let Totals { bill, edits, folds, epochs, over_window, violations, .. } =
                        replay.totals;
                    let at = replay.calls.iter().find(|call| call.violations > 0 || !call.fits);
                    assert!(
                        violations == 0 && over_window == 0,
                        "{name} {preset}{more} {window}: {violations} violations, {over_window} over: {at:?}"
                    );
                    calls += replay.calls.len();
                    sum.bill += bill / 1000;
                    sum.edits += edits;
                    sum.folds += folds;
                    sum.epochs += epochs;
                    sum.over_window += over_window;
                }
            }
            let Totals { bill, edits, folds, epochs, over_window, .. } = sum;
            println!(
                "{preset}{more}: calls {calls}, edits {edits}, folds {folds}, epochs {epochs}, over {over_window}, bill {bill}"
            );
        }
    }
}

#[test]
fn capacity_edits_nothing_while_the_history_is_below_the_trigger() {
    let (mut below, mut above) = (0, 0);
    for (name, recording) in recordings() {
        for window in [32_000, 64_000, 128_000, 200_000] {
            let options = format!(
                r#"{{"preset":"capacity","window":{{"contextTokens":{window}}},{AS_MEASURED}}}"#
            );
            let options = Options::for_replay(&options).unwrap();
            let calls = recording.replay(&options).unwrap().calls;
            let end = calls.iter().position(|call| call.unmanaged > window * 95 / 100);
            let (before, after) = calls.split_at(end.unwrap_or(calls.len()));
            for call in before {
                assert_eq!((call.event, call.edits), (None, 0), "{name} {window}: {call:?}");
            }
            below += before.len();
            above += after.iter().filter(|call| call.edits > 0).count();
        }
    }
    println!(
        "capacity: {below} calls below the trigger without an edit, {above} above it with one"
    );
    assert!(below == 0 || above > 0);
}
