//! Signs of a record: tests of its members, cheap enough for every record of a file.

use super::path::{any, at};
use super::raw::{Object, inside, text};

/// What is looked at.
pub(super) enum Test {
    /// Something stands there.
    Has(&'static str),
    /// Nothing does.
    Lacks(&'static str),
    /// An object.
    Inner(&'static str),
    /// A list.
    List(&'static str),
    /// One of these strings.
    Is(&'static str, &'static [&'static str]),
    /// A string that starts so.
    Starts(&'static str, &'static str),
    /// A string that holds this.
    Holds(&'static str, &'static str),
}
use Test::{Has, Holds, Inner, Is, Lacks, List, Starts};

impl Test {
    fn passes(&self, fields: &Object<'_>) -> bool {
        let starts_with =
            |path, sign: char| at(fields, path).is_some_and(|raw| raw.starts_with(sign));
        match self {
            Has(path) => at(fields, path).is_some(),
            Lacks(path) => at(fields, path).is_none(),
            Inner(path) => starts_with(path, '{'),
            List(path) => starts_with(path, '['),
            // Without names any string will do.
            Is(path, names) => any(fields, path, &|raw| {
                text(raw).is_some_and(|text| names.is_empty() || names.contains(&&*text))
            }),
            Starts(path, start) => {
                at(fields, path).and_then(inside).is_some_and(|text| text.starts_with(start))
            }
            Holds(path, part) => {
                at(fields, path).and_then(inside).is_some_and(|text| text.contains(part))
            }
        }
    }
}

/// All tests pass.
pub(super) fn all(tests: &[Test], fields: &Object<'_>) -> bool {
    tests.iter().all(|test| test.passes(fields))
}
