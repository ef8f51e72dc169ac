//! The tests that took longest, read off the logs of the suites.
//!
//! Node's reporter prints each test's time. Rust's prints none for a single test: there it is each test binary's.

/// One test, or one binary of Rust tests.
pub struct Timed {
    milliseconds: u64,
    name: String,
}

/// Every time that a suite's log holds.
pub fn times(suite: &str, log: &str) -> Vec<Timed> {
    let mut binary = "";
    let mut found = Vec::new();
    for line in log.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("Running ") {
            binary = rest.split(" (").next().unwrap_or(rest);
        } else if let Some(crate_name) = line.strip_prefix("Doc-tests ") {
            binary = crate_name;
        } else if let Some((title, milliseconds)) = of_node(line).or_else(|| of_rust(binary, line))
        {
            found.push(Timed { milliseconds, name: format!("{suite}: {title}") });
        }
    }
    found
}

/// The ten that took longest, a line each.
pub fn slowest(mut all: Vec<Timed>) -> Vec<String> {
    all.sort_by_key(|test| std::cmp::Reverse(test.milliseconds));
    all.truncate(10);
    let line = |Timed { milliseconds, name }: &Timed| {
        format!("{:>7}.{} s  {name}", milliseconds / 1000, milliseconds % 1000 / 100)
    };
    all.iter().map(line).collect()
}

/// `✔ title (12.3ms)`, with what follows for a test that was left out.
fn of_node(line: &str) -> Option<(&str, u64)> {
    let rest = line.strip_prefix(['✔', '✖'])?.trim_start();
    let (title, time) = rest.rsplit_once(" (")?;
    let milliseconds = time.split_once("ms)")?.0;
    Some((title, milliseconds.split('.').next()?.parse().ok()?))
}

/// `test result: ok. 700 passed; …; finished in 12.34s`
fn of_rust<'a>(binary: &'a str, line: &str) -> Option<(&'a str, u64)> {
    let time = line.strip_prefix("test result: ")?.rsplit_once("finished in ")?.1;
    let (seconds, hundredths) = time.strip_suffix('s')?.split_once('.')?;
    let (seconds, hundredths): (u64, u64) = (seconds.parse().ok()?, hundredths.parse().ok()?);
    Some((binary, seconds * 1000 + hundredths * 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_node_and_rust_are_read_and_the_slowest_is_first() {
        let node = "▶ a group\n  ✔ quick (with a bracket) (12.5ms)\n✔ a group (13.9ms)\n\
                    ✖ slow (2500.25ms)\n﹣ left out (0.1ms) # absent\nℹ duration_ms 9000";
        let rust = "     Running unittests src/lib.rs (target/debug/deps/plimsoll-1)\n\
                    test a ... ok\n\
                    test result: ok. 2 passed; 0 failed; finished in 1.07s\n\
                    \x20    Running tests/estimate.rs (target/debug/deps/estimate-2)\n\
                    test result: FAILED. 0 passed; 1 failed; finished in 61.20s";
        let mut all = times("cli", node);
        all.extend(times("rust", rust));
        assert_eq!(
            slowest(all),
            [
                "     61.2 s  rust: tests/estimate.rs",
                "      2.5 s  cli: slow",
                "      1.0 s  rust: unittests src/lib.rs",
                "      0.0 s  cli: a group",
                "      0.0 s  cli: quick (with a bracket)",
            ]
        );
    }

    #[test]
    fn ten_are_shown() {
        let log: String = (0..30).map(|at| format!("✔ test {at} ({at}000.5ms)\n")).collect();
        let lines = slowest(times("cli", &log));
        assert_eq!(lines.len(), 10);
        assert!(lines[0].ends_with("29.0 s  cli: test 29"), "{lines:?}");
        assert!(lines[9].ends_with("20.0 s  cli: test 20"), "{lines:?}");
    }
}
