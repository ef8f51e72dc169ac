//! The policy against what the simulator made of made-up sessions: `tests/golden/policy.txt` has hashes of its requests, so that this
//! needs no simulator. Where there is one, its requests of today must be those.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use plimsoll::hash::mix;
use plimsoll::prune::Sent;
use serde::Deserialize;

use super::made::{made, name};
use super::support::{VARIANTS, Variant, oracle, play};

/// For each session and window a line with a hash for each variant. `PLIMSOLL_WRITE=1` writes what the simulator sends.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/policy.txt");
/// At 16,000 tokens few folds are summarized, at 128,000 nearly all.
const WINDOWS: [u64; 3] = [16_000, 48_000, 128_000];
const SESSIONS: u64 = 120;

/// A call as the simulator writes it.
#[derive(Deserialize)]
struct Traced {
    call: usize,
    summaries: u32,
    items: Vec<Sent>,
}

/// What a call sends, and how many summaries were made for it.
type View = (Vec<Sent>, u32);

#[test]
fn made_up_sessions_are_sent_as_the_simulator_sent_them() {
    let theirs = oracle().map(|folder| lines(|seeds, variant| traced(&folder, seeds, variant)));
    if std::env::var_os("PLIMSOLL_WRITE").is_some()
        && let Some(theirs) = &theirs
    {
        fs::write(FILE, theirs.join("\n") + "\n").unwrap();
    }
    let ours = lines(|seeds, variant| seeds.iter().map(|seed| played(*seed, variant)).collect());
    let known = fs::read_to_string(FILE).unwrap();
    for (ours, known) in ours.iter().zip(known.lines()) {
        assert_eq!(ours, known, "variants: {VARIANTS:?}");
    }
    assert_eq!(ours.len(), known.lines().count());
    if let Some(theirs) = theirs {
        assert_eq!(theirs, ours);
    }
}

/// The lines of the file, by the requests of sessions with one window.
fn lines(requests: impl Fn(&[u64], Variant) -> Vec<Vec<View>>) -> Vec<String> {
    let mut all: Vec<String> =
        (0..SESSIONS).map(|seed| format!("{} {}", name(seed), window_of(seed))).collect();
    for window in WINDOWS {
        let seeds: Vec<u64> = (0..SESSIONS).filter(|seed| window_of(*seed) == window).collect();
        for variant in VARIANTS {
            let sent = requests(&seeds, variant);
            assert_eq!(sent.len(), seeds.len());
            for (seed, views) in seeds.iter().zip(sent) {
                let line = &mut all[usize::try_from(*seed).unwrap()];
                write!(line, " {:08x}", hash(&views) >> 32).unwrap();
            }
        }
    }
    all
}

fn window_of(seed: u64) -> u64 {
    WINDOWS[usize::try_from(seed).unwrap() % WINDOWS.len()]
}

fn hash(views: &[View]) -> u64 {
    views.iter().fold(0, |hash, (items, summaries)| {
        let hash = mix(hash ^ u64::from(*summaries));
        items.iter().fold(hash, |hash, (id, tokens)| mix(mix(hash ^ id) ^ u64::from(*tokens)))
    })
}

fn played(seed: u64, variant: Variant) -> Vec<View> {
    let window = window_of(seed);
    play(&made(seed, window), window, (window / 10).min(8_000), variant, true).views
}

/// What the simulator sends of each of these sessions, which have one window.
fn traced(folder: &Path, seeds: &[u64], variant: Variant) -> Vec<Vec<View>> {
    let window = window_of(seeds[0]);
    let norms = folder.join("made");
    fs::remove_dir_all(&norms).ok();
    fs::create_dir_all(&norms).unwrap();
    for &seed in seeds {
        let path = norms.join(format!("{}.json", name(seed)));
        fs::write(path, made(seed, window).to_json()).unwrap();
    }
    let (settings, setting) = variant.setting();
    let out = Command::new(folder.join("target/release/sim"))
        .args(["trace", settings, &setting, "made-", &window.to_string()])
        .env("NORM", norms)
        .current_dir(folder)
        .output()
        .unwrap();
    let mut sessions: Vec<Vec<View>> = Vec::new();
    for line in String::from_utf8(out.stdout).unwrap().lines() {
        let Traced { call, summaries, items } = serde_json::from_str(line).unwrap();
        if call == 0 {
            sessions.push(Vec::new());
        }
        sessions.last_mut().unwrap().push((items, summaries));
    }
    sessions
}
