//! Bill of materials of the package: the crates that are compiled into its Wasm, as CycloneDX.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};

use crate::shell::{cargo, output};

/// Licences that a crate may have; of several with OR one is enough.
const LICENCES: [&str; 5] = ["MIT", "Apache-2.0", "BSD-3-Clause", "Unicode-3.0", "Zlib"];

/// A crate in the Wasm, or one that only its compilation runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Crate {
    name: String,
    version: String,
    licence: String,
}

/// The number of crates, and the bill as JSON: the same bytes for the same lock file.
pub fn bill_of_materials(version: &str) -> Result<(usize, String)> {
    let tree = ["tree", "--locked", "--package", "plimsoll", "--edges", "normal"];
    let target = ["--target", "wasm32-unknown-unknown", "--prefix", "none", "--format", "{p}|{l}"];
    let crates = crates_of(&output(cargo().args(tree).args(target))?);
    let refused: Vec<&Crate> = crates.iter().filter(|it| !is_allowed(&it.licence)).collect();
    ensure!(refused.is_empty(), "licences that nobody has allowed: {refused:?}");
    Ok((crates.len(), bill(version, &crates)))
}

/// The crates that `cargo tree` lists as `name vVERSION (remark)|licence (*)`, without our own.
fn crates_of(tree: &str) -> BTreeSet<Crate> {
    let read = |line: &str| {
        let (package, licence) = line.split_once('|')?;
        let mut words = package.split(' ');
        let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
        let licence = licence.trim_end_matches(" (*)").replace('/', " OR ");
        Some(Crate { name: name.into(), version: version.into(), licence })
    };
    tree.lines().filter_map(read).filter(|it| it.name != "plimsoll").collect()
}

/// Whether an expression of licences is met by those that are allowed.
fn is_allowed(licence: &str) -> bool {
    let is_met = |part: &str| {
        let part = part.trim_matches(['(', ')', ' ']);
        part.split(" OR ").any(|one| LICENCES.contains(&one.trim()))
    };
    licence.split(" AND ").all(is_met)
}

fn bill(version: &str, crates: &BTreeSet<Crate>) -> String {
    let component = |it: &Crate| {
        let Crate { name, version, licence } = it;
        format!(
            r#"    {{ "type": "library", "name": "{name}", "version": "{version}", "purl": "pkg:cargo/{name}@{version}", "licenses": [{{ "expression": "{licence}" }}] }}"#
        )
    };
    let components: Vec<String> = crates.iter().map(component).collect();
    format!(
        r#"{{
  "bomFormat": "CycloneDX",
  "specVersion": "1.6",
  "version": 1,
  "metadata": {{
    "component": {{ "type": "library", "name": "plimsoll", "version": "{version}", "purl": "pkg:npm/plimsoll@{version}" }}
  }},
  "components": [
{}
  ]
}}
"#,
        components.join(",\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_listed_once_without_our_own() {
        let tree = "plimsoll v0.1.0 (/here)|MIT\nb v2.0.0 (proc-macro)|Apache-2.0/MIT (*)\na v1.0.0|MIT\na v1.0.0|MIT (*)\n";
        let crates = crates_of(tree);
        let shown: Vec<String> =
            crates.iter().map(|it| format!("{} {} {}", it.name, it.version, it.licence)).collect();
        assert_eq!(shown, ["a 1.0.0 MIT", "b 2.0.0 Apache-2.0 OR MIT"]);
        let bill = bill("0.1.0", &crates);
        assert!(bill.contains("\"purl\": \"pkg:cargo/a@1.0.0\""), "{bill}");
    }

    #[test]
    fn a_licence_is_allowed_if_one_of_its_choices_is() {
        assert!(is_allowed("MIT OR GPL-3.0") && is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(!is_allowed("GPL-3.0") && !is_allowed("MIT AND GPL-3.0") && !is_allowed(""));
    }
}
