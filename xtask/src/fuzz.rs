//! Fuzz targets of `fuzz/`: built once, then each runs for the same time on what the last runs have found. A small part of that is kept
//! in `fuzz/kept`, and the core's tests run it.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};

use crate::shell::{command, has, output, root, show};

/// Longer inputs find nothing that shorter ones do not, and take the time of many.
const LONGEST_INPUT: &str = "-max_len=6000";

/// Seconds for each target, unless the first word is another number.
const SECONDS: &str = "60";

/// Longest input that is kept, in bytes: most of a target's code is reached by shorter ones.
const LONGEST_KEPT: &str = "-max_len=1000";

/// Writes and reads the files of kept inputs.
const KEPT: &str = "xtask/node/fuzz-kept.mjs";

/// `words`: seconds for each target, or `keep`; then targets; without targets all of them.
pub fn run(words: &[&str]) -> Result<bool> {
    let (seconds, names) = match words {
        ["keep", rest @ ..] => (None, rest),
        [first, rest @ ..] if first.parse::<u32>().is_ok() => (Some(*first), rest),
        _ => (Some(SECONDS), words),
    };
    let known = targets()?;
    if let Some(name) = names.iter().find(|name| !known.iter().any(|it| it == *name)) {
        bail!("unknown target {name}: there are {}", known.join(", "));
    }
    ensure!(has("cargo-fuzz"), "cargo-fuzz is absent: `cargo install cargo-fuzz`");
    output(command("node").arg("xtask/node/fuzz-seeds.mjs"))?;
    output(command("node").args([KEPT, "unpack"]))?;
    show(command("rustup").args(["run", "nightly", "cargo"]).args(BUILD))?;
    let mut failed = 0;
    for name in known.iter().filter(|name| names.is_empty() || names.contains(&name.as_str())) {
        match seconds {
            Some(seconds) => failed += u32::from(!fuzz(name, seconds)?),
            None => keep(name)?,
        }
    }
    Ok(failed == 0)
}

/// Without a sanitizer: the core has no unsafe code, and each run is then several times faster.
const BUILD: [&str; 6] = ["fuzz", "build", "--fuzz-dir", "fuzz", "--sanitizer=none", "--release"];

/// The names of the targets, from their files.
fn targets() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join("fuzz/targets"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".rs").map(String::from));
    }
    names.sort();
    Ok(names)
}

/// The program of a target.
fn program(name: &str) -> Result<PathBuf> {
    let host = output(command("rustc").args(["+nightly", "-vV"]))?;
    let host = host.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("`rustc -vV` names no host")?;
    Ok(root().join("fuzz/target").join(host).join("release").join(name))
}

/// Keeps a small set of short inputs that reaches the same code as all that the last runs found.
fn keep(name: &str) -> Result<()> {
    let (corpus, merged) = (format!("fuzz/corpus/{name}"), format!("fuzz/merged/{name}"));
    fs::remove_dir_all(root().join(&merged)).ok();
    fs::create_dir_all(root().join(&merged))?;
    output(
        command(program(name)?)
            .args(["-set_cover_merge=1", "-use_counters=0", LONGEST_KEPT])
            .args([&merged, &corpus])
            .stdout(Stdio::null()),
    )?;
    output(command("node").args([KEPT, "pack", name, &merged]))?;
    println!("{name:<14} {} inputs", fs::read_dir(root().join(&merged))?.count());
    Ok(())
}

/// Prints what a run came to. False: it found an input that fails, and says where it lies.
fn fuzz(name: &str, seconds: &str) -> Result<bool> {
    let program = program(name)?;
    let (corpus, found) = (format!("fuzz/corpus/{name}"), format!("fuzz/artifacts/{name}/"));
    fs::create_dir_all(root().join(&corpus))?;
    fs::create_dir_all(root().join(&found))?;
    let out = command(program)
        .arg(&corpus)
        .arg(format!("-artifact_prefix={found}"))
        .arg(format!("-max_total_time={seconds}"))
        .args([LONGEST_INPUT, "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"])
        .stdout(Stdio::null())
        .output()?;
    let log = String::from_utf8_lossy(&out.stderr);
    let runs = log.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    let kept = fs::read_dir(root().join(&corpus))?.count();
    let runs = runs.unwrap_or("0").trim();
    println!("{name:<14} {runs:>10} runs in {seconds} s, {kept} inputs kept");
    if !out.status.success() {
        let lines: Vec<&str> = log.lines().collect();
        println!("{}", lines[lines.len().saturating_sub(40)..].join("\n"));
    }
    Ok(out.status.success())
}
