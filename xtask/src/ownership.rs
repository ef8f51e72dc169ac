//! Ownership in the core: the size of `Session`, as figures that a later gate can use.

use std::fs;

use anyhow::Result;

use crate::floors::outside_tests;
use crate::shell::root;
use crate::stamp::files;

/// The central type of a session.
const CENTRAL: &str = "Session";

/// Methods of the central type, and the files that hold them.
pub fn figures() -> Result<String> {
    let (mut methods, mut holders) = (0, 0);
    for file in files(&root().join("src/context"))? {
        let name = file.to_string_lossy();
        if !name.contains("tests") && name.ends_with(".rs") {
            let found = methods_in(&fs::read_to_string(&file)?);
            methods += found;
            holders += usize::from(found > 0);
        }
    }
    Ok(format!("{CENTRAL} has {methods} methods in {holders} files"))
}

/// Methods of the central type in one formatted file, outside its tests.
fn methods_in(text: &str) -> usize {
    let (mut inside, mut count) = (false, 0);
    for (_, line) in outside_tests(text) {
        if let Some(of) = line.strip_prefix("impl ") {
            inside = of.trim_end_matches(" {") == CENTRAL;
        }
        inside &= line != "}";
        let starts = line.strip_prefix("    ").is_some_and(|it| !it.starts_with([' ', '/']));
        count += usize::from(inside && starts && line.contains(" fn "));
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_of_the_central_type_count_and_no_others() {
        let text = "impl Session {\n    pub(super) fn a(&self) {\n        fn inner() {}\n    }\n    fn b() {}\n}\n\
                    impl Other {\n    fn c() {}\n}\nimpl Write for Session {\n    fn d() {}\n}\n\
                    #[cfg(test)]\nmod tests {\n    impl Session {\n        fn e() {}\n    }\n}\n";
        assert_eq!(methods_in(text), 2);
    }
}
