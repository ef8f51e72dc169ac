//! The part of a list that a run carries out: all of it with `cargo xtask test --ci` and `--long`.

/// One in `each` of `all`, and a line that says how many are left out; all of them in a large run.
pub(crate) fn one_in<T>(each: usize, what: &str, all: Vec<T>) -> Vec<T> {
    if is_large() {
        return all;
    }
    let count = all.len();
    // From the middle of each such part: of the recorded sessions, those are the small ones.
    let some: Vec<T> =
        all.into_iter().skip((each / 2).min(count.saturating_sub(1))).step_by(each).collect();
    let left_out = count - some.len();
    if left_out > 0 {
        println!(
            "skipped: {left_out} of {count} {what}, which `cargo xtask test --ci` carries out"
        );
    }
    some
}

/// If everything is carried out.
pub(crate) fn is_large() -> bool {
    ["PLIMSOLL_CI", "PLIMSOLL_LONG"].iter().any(|name| std::env::var_os(name).is_some())
}
