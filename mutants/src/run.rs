//! Runs the tests: all of them once, to learn which reach which site, and then for each mutant those that reach it.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::compile::Place;
use crate::outcomes::{Outcome, Outcomes};

/// Tests of `tests/native` that need no session files.
const NATIVE: [&str; 5] = ["golden", "providers", "presets", "formats", "mended"];

/// Kilobytes that a program may have: a mutant may never stop growing a list.
const MEMORY: u32 = 6_000_000;

/// A test of a program.
pub(crate) struct Test {
    program: PathBuf,
    name: String,
    time: Duration,
    sites: BTreeSet<usize>,
    /// How many mutants it found.
    found: AtomicU32,
}

/// The tests of the programs; those that fail without a mutant are an error.
pub(crate) fn tests(folder: &Path, programs: &[PathBuf]) -> Result<Vec<Test>> {
    let mut names = Vec::new();
    for program in programs {
        let out = Command::new(program).arg("--list").current_dir(folder).output()?;
        let listed = String::from_utf8(out.stdout)?;
        let is_native =
            program.file_name().is_some_and(|name| name.to_string_lossy().starts_with("native-"));
        for name in listed.lines().filter_map(|line| line.strip_suffix(": test")) {
            if !is_native || NATIVE.iter().any(|it| name.contains(it)) {
                names.push((program.clone(), name.to_owned()));
            }
        }
    }
    in_threads(&names, |at, (program, name)| {
        let trace = folder.join(format!("target/trace-{at}"));
        let _ = fs::remove_file(&trace);
        let start = Instant::now();
        let out = command(folder, program, &[name], 600).env("MUTANT_TRACE", &trace).output()?;
        ensure!(out.status.success(), "{name} fails without a mutant");
        let time = start.elapsed();
        let sites = fs::read_to_string(&trace).unwrap_or_default();
        let sites = sites.lines().filter_map(|line| line.parse().ok()).collect();
        let _ = fs::remove_file(&trace);
        Ok(Test {
            program: program.clone(),
            name: name.clone(),
            time,
            sites,
            found: AtomicU32::new(0),
        })
    })
}

/// Writes down what the tests make of each mutant, which is chosen at its site.
pub(crate) fn run(
    folder: &Path,
    tests: &[Test],
    mutants: &[Place],
    known: &Mutex<&mut Outcomes>,
) -> Result<()> {
    in_threads(mutants, |at, place| {
        if at % 100 == 99 {
            println!("{} of {}", at + 1, mutants.len());
        }
        let outcome = outcome(folder, tests, place)?;
        known.lock().expect("outcomes").add(place.mutant, outcome)
    })?;
    Ok(())
}

fn outcome(folder: &Path, tests: &[Test], place: &Place) -> Result<Outcome> {
    let mut reaching: Vec<&Test> =
        tests.iter().filter(|it| it.sites.contains(&place.site)).collect();
    if reaching.is_empty() {
        return Ok(Outcome::Unreached);
    }
    // What found most so far comes first, then the quickest.
    reaching.sort_by_key(|it| (Reverse(it.found.load(Ordering::Relaxed)), it.time));
    let mut rest = reaching.as_slice();
    let mut size = 6;
    while !rest.is_empty() {
        let (batch, later) = rest.split_at(size.min(rest.len()));
        let mut programs: Vec<&Path> = batch.iter().map(|it| it.program.as_path()).collect();
        programs.sort();
        programs.dedup();
        let mut endless = false;
        for program in programs {
            let of = batch.iter().filter(|it| it.program == program).copied();
            match together(folder, program, &of.collect::<Vec<_>>(), place.mutant)? {
                Some(Outcome::Found) => return Ok(Outcome::Found),
                Some(_) => endless = true,
                None => {}
            }
        }
        if endless {
            return Ok(Outcome::Endless);
        }
        (rest, size) = (later, size * 4);
    }
    Ok(Outcome::Missed)
}

/// Runs tests of one program; each by itself if they do not end.
fn together(
    folder: &Path,
    program: &Path,
    tests: &[&Test],
    mutant: usize,
) -> Result<Option<Outcome>> {
    match passes(folder, program, tests, mutant)? {
        Some(true) => return Ok(None),
        Some(false) => return Ok(Some(Outcome::Found)),
        None if tests.len() == 1 => return Ok(Some(Outcome::Endless)),
        None => {}
    }
    for test in tests {
        if passes(folder, program, &[test], mutant)? == Some(false) {
            return Ok(Some(Outcome::Found));
        }
    }
    Ok(Some(Outcome::Endless))
}

/// None: the tests do not end.
fn passes(folder: &Path, program: &Path, tests: &[&Test], mutant: usize) -> Result<Option<bool>> {
    let usual: Duration = tests.iter().map(|it| it.time).sum();
    let names: Vec<&str> = tests.iter().map(|it| it.name.as_str()).collect();
    let output = folder.join(format!("target/output-{mutant}"));
    let mut command = command(folder, program, &names, 3 + 5 * usual.as_secs());
    command.env("MUTANT", mutant.to_string());
    command.stdin(Stdio::null()).stdout(fs::File::create(&output)?).stderr(Stdio::null());
    let passed = wait(command.spawn().context("sh")?, usual * 50 + Duration::from_mins(2))?;
    if passed == Some(false) {
        let lines = fs::read(&output)?;
        let lines = String::from_utf8_lossy(&lines);
        for test in tests {
            if lines.contains(&format!("test {} ... FAILED\n", test.name)) {
                test.found.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    fs::remove_file(output)?;
    Ok(passed)
}

/// Runs these tests of a program, for so many seconds of a processor at most: the machine may be busy with other work.
fn command(folder: &Path, program: &Path, names: &[&str], seconds: u64) -> Command {
    let mut command = Command::new("sh");
    let run = format!("ulimit -v {MEMORY}; ulimit -t {seconds}; exec \"$0\" \"$@\"");
    command.arg("-c").arg(run).arg(program);
    command.args(names).args(["--exact", "--test-threads=1"]).current_dir(folder);
    // That a property fails is enough: nobody reads the smallest example.
    command.env("PROPTEST_MAX_SHRINK_ITERS", "0");
    command
}

/// The signal that ends a program whose seconds are over.
const OUT_OF_TIME: i32 = 24;

/// Whether it succeeds. None: it does not end.
fn wait(mut child: Child, most: Duration) -> Result<Option<bool>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status.signal() != Some(OUT_OF_TIME)).then_some(status.success()));
        }
        if start.elapsed() > most {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        sleep(Duration::from_millis(3));
    }
}

/// Calls `work` for each, in as many threads as there are cores, and answers in order.
fn in_threads<T: Sync, R: Send>(
    all: &[T],
    work: impl Fn(usize, &T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done = std::thread::scope(|scope| {
        let worker = || -> Result<Vec<(usize, R)>> {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(it) = all.get(at) else { return Ok(done) };
                done.push((at, work(at, it)?));
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let mut all = Vec::new();
        for worker in workers {
            all.extend(worker.join().expect("a worker")?);
        }
        Ok::<_, anyhow::Error>(all)
    })?;
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, it)| it).collect())
}
