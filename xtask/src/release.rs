//! Release: every step that can be tried before a version is published, and the list of those that a maintainer takes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::shell::{cargo, command, has, output, root};
use crate::{build, sbom, test};

/// A step: its name, and what it prints if it holds.
type Step = (&'static str, fn() -> Result<String>);

const STEPS: [Step; 8] = [
    ("version", versions_agree),
    ("package", package),
    ("manifest", manifest_installs_nothing),
    ("licences", bill_of_materials),
    ("crates", crates),
    ("advisories", advisories),
    ("same Wasm from two folders", same_wasm),
    ("tarball in an empty project", tarball_works),
];

const NO_DENY: &str = "skipped: there is no cargo-deny in PATH";

const BY_HAND: &str = "
By hand:
  1. CHANGELOG.md: the date instead of (unreleased); Cargo.toml: the version; commit.
  2. `.ci/run`, then `cargo xtask test --long` and `cargo xtask bench`.
  3. `git tag vVERSION`, and push it.
  4. In the CI of the tag, which has an identity token: `npm publish npm --provenance --access public`.
  5. `npm audit signatures` in a project that installed it.
  6. Attach build/release/plimsoll.cdx.json and the hashes above to the release.";

/// Tries every step, goes on after one that fails, and returns whether all hold. Publishes nothing.
pub fn dry_run() -> Result<bool> {
    let folder = folder();
    fs::create_dir_all(&folder)?;
    let mut holds = true;
    for (name, step) in STEPS {
        match step() {
            Ok(detail) if detail.starts_with("skipped") => println!("- {name}: {detail}"),
            Ok(detail) => println!("✓ {name}: {detail}"),
            Err(error) => {
                holds = false;
                println!("✗ {name}: {error:#}");
            }
        }
    }
    println!("{BY_HAND}");
    Ok(holds)
}

fn folder() -> PathBuf {
    root().join("build/release")
}

fn versions_agree() -> Result<String> {
    let version = build::version()?;
    let changelog = fs::read_to_string(root().join("CHANGELOG.md"))?;
    let heading = heading_of(&changelog).context("CHANGELOG.md has no heading of a version")?;
    let named = heading.split(' ').next().unwrap_or_default();
    ensure!(named == version, "Cargo.toml has {version}, CHANGELOG.md {named}");
    Ok(heading.into())
}

/// The newest version of a changelog, as its heading says it.
fn heading_of(changelog: &str) -> Option<&str> {
    changelog.lines().find_map(|line| line.strip_prefix("## "))
}

fn package() -> Result<String> {
    build::run()?;
    let files = fs::read_dir(root().join("npm/dist"))?;
    let mut wasms: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    wasms.retain(|path| path.extension().is_some_and(|end| end == "wasm"));
    wasms.sort();
    let hashes = output(command("sha256sum").args(&wasms))?;
    let file_name =
        |path: &str| Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let lines = hashes.lines().filter_map(|line| line.split_once("  "));
    let lines: Vec<String> =
        lines.map(|(hash, path)| format!("    sha256 {hash}  {}", file_name(path))).collect();
    Ok(format!("{} Wasm files\n{}", lines.len(), lines.join("\n")))
}

/// No dependency is installed with the package, and none of its scripts runs at an installation.
fn manifest_installs_nothing() -> Result<String> {
    const KEYS: &str = r#"
        const { dependencies, optionalDependencies, bundledDependencies, scripts = {} } = require("./npm/package.json");
        const run = ["preinstall", "install", "postinstall", "prepare"].filter((name) => name in scripts);
        const own = Object.keys({ ...dependencies, ...optionalDependencies, ...bundledDependencies });
        console.log([...run, ...own].join(" "));"#;
    let found = output(command("node").args(["-e", KEYS]))?;
    ensure!(found.trim().is_empty(), "npm/package.json has {}", found.trim());
    Ok("no dependencies and no install scripts".into())
}

fn bill_of_materials() -> Result<String> {
    let (crates, bill) = sbom::bill_of_materials(&build::version()?)?;
    let path = folder().join("plimsoll.cdx.json");
    fs::write(&path, bill)?;
    Ok(format!("{crates} crates, each under an allowed licence; build/release/plimsoll.cdx.json"))
}

/// Crates of the workspace, of the fuzz targets, of the models and of the tool for mutants, by `deny.toml`.
fn crates() -> Result<String> {
    if !has("cargo-deny") {
        return Ok(NO_DENY.into());
    }
    for manifest in ["Cargo.toml", "fuzz/Cargo.toml", "models/Cargo.toml", "mutants/Cargo.toml"] {
        let deny = ["deny", "--manifest-path", manifest, "check", "licenses", "bans", "sources"];
        output(cargo().args(deny))?;
    }
    Ok("licences, bans and sources are ok, also of fuzz/, models/ and mutants/".into())
}

/// Fetches the database of advisories.
fn advisories() -> Result<String> {
    if !has("cargo-deny") {
        return Ok(NO_DENY.into());
    }
    output(cargo().args(["deny", "check", "advisories"]))?;
    Ok("cargo-deny found none".into())
}

fn same_wasm() -> Result<String> {
    // Only with `--ci` does the suite build twice.
    ensure!(test::run(&["--ci", "machine"])?, "the suite `machine` failed");
    Ok("the suite `machine` built them twice".into())
}

/// Installs the packed package into an empty project, and runs it there as a module, as CommonJS and as a command.
fn tarball_works() -> Result<String> {
    let version = build::version()?;
    let folder = folder();
    let (npm, project) = (root().join("npm"), folder.join("project"));
    output(command("npm").arg("pack").arg(npm).arg("--pack-destination").arg(&folder))?;
    if project.exists() {
        fs::remove_dir_all(&project)?;
    }
    fs::create_dir_all(&project)?;
    fs::write(project.join("package.json"), "{ \"private\": true }\n")?;
    let tarball = folder.join(format!("plimsoll-{version}.tgz"));
    let install = ["install", "--offline", "--no-audit", "--no-fund"];
    output(command("npm").args(install).arg(&tarball).current_dir(&project))?;
    let imported = "import(\"plimsoll\").then((it) => console.log(it.estimateTokens(\"a line\")))";
    let required = "console.log(require(\"plimsoll\").estimateTokens(\"a line\"))";
    let run = |code: &str| output(command("node").args(["-e", code]).current_dir(&project));
    let (imported, required) = (run(imported)?, run(required)?);
    ensure!(imported == required, "import answers {imported}, require {required}");
    let bin = project.join("node_modules/.bin/plimsoll");
    let shown = output(command(bin).arg("--version").current_dir(&project))?;
    if shown.trim() != version {
        bail!("plimsoll --version prints {}", shown.trim());
    }
    let bytes = fs::metadata(&tarball)?.len();
    Ok(format!("{bytes} bytes; import, require and the command work"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_heading_of_a_changelog_is_its_version() {
        let changelog = "# Changelog\n\n## 1.2.0 (unreleased)\n\n- New.\n\n## 1.1.0\n";
        assert_eq!(heading_of(changelog), Some("1.2.0 (unreleased)"));
        assert_eq!(heading_of("# Changelog\n"), None);
    }
}
