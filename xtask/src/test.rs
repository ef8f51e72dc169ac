//! The suites, in order, each with its time.

use std::fs::{self, File};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::build;
use crate::shell::{cargo, command, has, npm_ci, output, root};
use crate::slowest::{slowest, times};
use crate::stamp::{Inputs, files};
use crate::wasm;

/// How a suite ended, unless it failed.
enum Ended {
    Passed,
    Skipped(String),
}

struct Suite {
    name: &'static str,
    run: fn(&Options) -> Result<Ended>,
}

/// What holds for every suite.
pub struct Options {
    ci: bool,
    long: bool,
    hosts: bool,
}

const SUITES: [Suite; 14] = [
    Suite { name: "rust", run: rust },
    Suite { name: "check", run: check },
    Suite { name: "package", run: |options| node(options, "package") },
    Suite { name: "runtimes", run: |options| node(options, "runtimes") },
    Suite { name: "bundlers", run: |options| node(options, "bundlers") },
    Suite { name: "conformance", run: |options| node(options, "conformance") },
    Suite { name: "stores", run: |options| node(options, "stores") },
    Suite { name: "workspace", run: |options| node(options, "workspace") },
    Suite { name: "cli", run: |options| node(options, "cli") },
    Suite { name: "inspector", run: |options| node(options, "inspector") },
    Suite { name: "machine", run: |options| node(options, "machine") },
    Suite { name: "models", run: models },
    Suite { name: "agents", run: |options| node(options, "agents") },
    Suite { name: "hosts", run: hosts },
];

/// The suites whose tests are the cells of the table in docs/runtimes.md.
const MATRIX: [&str; 3] = ["runtimes", "bundlers", "hosts"];

/// Runs every suite, or those named. False: one has failed.
pub fn run(words: &[&str]) -> Result<bool> {
    let (flags, names): (Vec<&str>, Vec<&str>) =
        words.iter().partition(|word| word.starts_with("--"));
    let known = ["--ci", "--long", "--hosts", "--quick"];
    if let Some(flag) = flags.iter().find(|flag| !known.contains(flag)) {
        bail!("unknown option {flag}: there are {}", known.join(", "));
    }
    if flags.contains(&"--quick") {
        wasm::use_quick();
    }
    if let Some(name) = names.iter().find(|name| SUITES.iter().all(|suite| suite.name != **name)) {
        let known: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
        bail!("unknown suite {name}: there are {}", known.join(", "));
    }
    let options = Options {
        ci: flags.contains(&"--ci"),
        long: flags.contains(&"--long"),
        hosts: flags.contains(&"--hosts"),
    };
    let chosen = |suite: &&Suite| {
        let wanted = match suite.name {
            "hosts" => options.hosts,
            "models" | "agents" => options.long,
            _ => true,
        };
        if names.is_empty() { wanted } else { names.contains(&suite.name) }
    };
    let cells = root().join("build/cells.jsonl");
    let _ = fs::remove_file(&cells);
    let mut ran = Vec::new();
    let mut table = Vec::new();
    let mut counts = [0_u32; 3];
    let mut timed = Vec::new();
    let _ = fs::remove_dir_all(logs());
    let suites: Vec<&Suite> = SUITES.iter().filter(chosen).collect();
    let mut tools = suites.iter().any(|suite| suite.name != "rust").then(install_beside);
    for suite in suites {
        println!("{} ...", suite.name);
        if suite.name != "rust"
            && let Some(tools) = tools.take()
        {
            let _ = tools.join();
        }
        let (begun, cpu_before) = (Instant::now(), cpu_seconds());
        let (count, how) = match (suite.run)(&options) {
            Ok(Ended::Passed) => {
                ran.push(suite.name);
                (0, "passed".into())
            }
            Ok(Ended::Skipped(why)) => (2, format!("skipped: {why}")),
            Err(error) => {
                println!("{error:#}");
                ran.push(suite.name);
                (1, "FAILED".into())
            }
        };
        counts[count] += 1;
        timed.extend(times(suite.name, &read_log(suite.name)));
        let cpu = cpu_seconds().zip(cpu_before).map_or_else(String::new, |(after, before)| {
            format!("{:>7.1} s of CPU", after - before)
        });
        let seconds = begun.elapsed().as_secs_f32();
        let row = format!("{:<12} {seconds:>7.1} s {cpu}  {how}", suite.name);
        println!("{row}");
        table.push(row);
    }
    ran.retain(|name| MATRIX.contains(name));
    if !ran.is_empty() {
        let agreed = runtimes(&cells, &ran, &options)?;
        counts[usize::from(!agreed)] += 1;
        table.push(format!(
            "{:<25}  {}",
            "docs/runtimes.md",
            if agreed { "passed" } else { "FAILED" }
        ));
    }
    println!("\nslowest tests; of Rust, test binaries\n{}", slowest(timed).join("\n"));
    println!(
        "\n{}\n{} passed, {} failed, {} skipped",
        table.join("\n"),
        counts[0],
        counts[1],
        counts[2]
    );
    Ok(counts[1] == 0)
}

/// Installs the tools of the later suites while the first one compiles. A suite that still lacks them installs them itself, and says
/// what is wrong.
fn install_beside() -> JoinHandle<()> {
    thread::spawn(|| {
        if has("node") {
            let _ = npm_ci("js").and_then(|()| npm_ci("tests"));
        }
    })
}

/// Processor time of all processes that were started and waited for. Beside other work it is the figure to compare, not the time on
/// the clock. None: this system has no `/proc`.
fn cpu_seconds() -> Option<f32> {
    /// Of Linux's `/proc`, on every architecture.
    const TICKS_A_SECOND: f32 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program may hold spaces: fields are counted after its bracket. User and system time of children are the
    // 16th and the 17th field of the line, and two fields are gone.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f32>().ok();
    Some((ticks(13)? + ticks(14)?) / TICKS_A_SECOND)
}

fn rust(options: &Options) -> Result<Ended> {
    let mut tests = cargo();
    tests.args([
        "test",
        "--workspace",
        "--exclude",
        "xtask",
        "--no-fail-fast",
        "--",
        "--show-output",
    ]);
    logged("rust", with(&mut tests, options))
}

fn check(options: &Options) -> Result<Ended> {
    let mut check = command(std::env::current_exe()?);
    check.arg("check");
    if !options.ci && !options.long {
        check.arg("--short");
    }
    logged("check", with(&mut check, options))
}

/// The models of `models/`, a crate outside of the workspace. Prints the size of each.
fn models(options: &Options) -> Result<Ended> {
    let mut tests = cargo();
    tests.args(["test", "--release", "--locked", "--manifest-path", "models/Cargo.toml"]);
    tests.args(["--", "--show-output"]);
    let ended = logged("models", with(&mut tests, options))?;
    let log = read_log("models");
    let mut sizes: Vec<&str> = log.lines().filter(|line| line.starts_with("model ")).collect();
    sizes.sort_unstable();
    println!("{}", sizes.join("\n"));
    Ok(ended)
}

/// The tests of a folder of `tests/`, against the packed package.
fn node(options: &Options, name: &str) -> Result<Ended> {
    let folder = root().join("tests").join(name);
    if !folder.exists() {
        return Ok(Ended::Skipped(format!("there is no tests/{name}")));
    }
    if !has("node") {
        return Ok(Ended::Skipped("there is no node in PATH".into()));
    }
    npm_ci("tests")?;
    build::run()?;
    let (tarball, installed) = package()?;
    let mut tests = command("node");
    tests.args(["--test", "--test-reporter=spec"]);
    // Node leaves a core free: on two, files would run one after the other. One more than cores where tests wait for processes,
    // pages and timers; conformance computes. The heavy hosts have time limits of their own, and the page on large files is timed.
    if name == "inspector" && options.long {
        tests.arg("--test-concurrency=1");
    } else if name != "hosts" {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let files = cores.saturating_add(usize::from(name != "conformance"));
        tests.arg(format!("--test-concurrency={files}"));
    }
    tests.args(test_files(&folder)?);
    tests.env("PLIMSOLL_TARBALL", tarball);
    tests.env("PLIMSOLL", installed.join("plimsoll/dist/index.node.js"));
    tests.env("PLIMSOLL_BIN", installed.join(".bin/plimsoll"));
    tests.env("PLIMSOLL_XTASK", std::env::current_exe()?);
    tests.env("PLIMSOLL_CELLS", root().join("build/cells.jsonl"));
    logged(name, with(&mut tests, options))
}

fn test_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_test = |path: &PathBuf| path.to_string_lossy().ends_with(".test.mjs");
    Ok(files(folder)?.into_iter().filter(is_test).collect())
}

/// Hosts too heavy to be installed for every run.
fn hosts(options: &Options) -> Result<Ended> {
    if has("node") {
        npm_ci("tests/hosts")?;
    }
    node(options, "hosts")
}

/// Shows where the package ran, and compares docs/runtimes.md with it; a long run writes the table. False: they disagree.
fn runtimes(cells: &Path, suites: &[&str], options: &Options) -> Result<bool> {
    let mode = if options.long || options.hosts { "write" } else { "check" };
    let mut table = command("node");
    table.args(["tests/support/table.mjs", mode]).arg(cells).args(suites);
    let out = with(&mut table, options).output()?;
    println!("\n{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    Ok(out.status.success())
}

/// The package as it would be published, and the `node_modules` of a project that has installed it.
fn package() -> Result<(PathBuf, PathBuf)> {
    let build = root().join("build");
    let installed = build.join("installed");
    Inputs::new()?.path(&root().join("npm"))?.make(&installed, || {
        if installed.exists() {
            fs::remove_dir_all(&installed)?;
        }
        fs::create_dir_all(&installed)?;
        fs::write(installed.join("package.json"), "{ \"private\": true, \"type\": \"module\" }\n")?;
        output(command("npm").args(["pack", "./npm", "--pack-destination", "build"]))?;
        let install = ["install", "--offline", "--no-save", "--no-audit", "--no-fund"];
        output(command("npm").args(install).arg(tarball(&build)?).current_dir(&installed))?;
        Ok(())
    })?;
    Ok((tarball(&build)?, installed.join("node_modules")))
}

fn tarball(build: &Path) -> Result<PathBuf> {
    Ok(build.join(format!("plimsoll-{}.tgz", build::version()?)))
}

fn with<'a>(command: &'a mut Command, options: &Options) -> &'a mut Command {
    if options.ci {
        command.env("PLIMSOLL_CI", "1");
    }
    if options.long {
        command.env("PLIMSOLL_LONG", "1");
    }
    command.env("NO_COLOR", "1").env("CARGO_TERM_COLOR", "never")
}

fn logs() -> PathBuf {
    root().join("build/logs")
}

fn log_of(name: &str) -> PathBuf {
    logs().join(format!("{name}.log"))
}

/// What a suite printed; empty if it did not start.
fn read_log(name: &str) -> String {
    fs::read(log_of(name))
        .map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Runs with the output in `build/logs`; shows a sign of life now and then, what was measured and left out, and failures.
fn logged(name: &str, command: &mut Command) -> Result<Ended> {
    fs::create_dir_all(logs())?;
    let path = log_of(name);
    let log = File::create(&path)?;
    let begun = Instant::now();
    let mut child = command.stdout(log.try_clone()?).stderr(log).spawn()?;
    let mut next = Duration::from_secs(30);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begun.elapsed() > next {
            println!("{name} ... {} s", begun.elapsed().as_secs());
            next += Duration::from_secs(30);
        }
        thread::sleep(Duration::from_millis(100));
    };
    let text = read_log(name);
    let mut skipped: Vec<&str> = text.lines().filter_map(left_out).collect();
    skipped.sort_unstable();
    skipped.dedup();
    for line in text.lines().filter(|line| line.starts_with("figure: ")).chain(skipped) {
        println!("{line}");
    }
    if status.success() { Ok(Ended::Passed) } else { bail!("{}", failures(&text)) }
}

/// A line by which a test says what it leaves out, and why: its own, or else that of Node's reporter.
fn left_out(line: &str) -> Option<&str> {
    match line.find("skipped: ") {
        Some(at) => line.get(at..),
        None => line.trim_start().starts_with('\u{FE63}').then_some(line.trim()),
    }
}

/// The part of a log that tells of failures: all of it where there is no such part.
fn failures(log: &str) -> &str {
    ["failures:\n", "failing tests:", "FAILED "]
        .iter()
        .filter_map(|mark| log.find(mark))
        .min()
        .and_then(|at| log.get(at..))
        .unwrap_or(log)
}
