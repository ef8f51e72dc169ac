//! Token tables, fitted to texts of pinned packages: `fit/`, in Python of its own under `build/fit/`.

use std::fs;

use anyhow::{Result, bail, ensure};

use crate::build;
use crate::shell::{cargo, command, has, npm_ci, output, root, show};

/// The test that packs tables; it packs those of a model that the variable names, too.
const PACKING: &str = "the_tables_are_packed_as_the_code_packs_them";
/// Numeric libraries on one thread add up in one order: the same tables on every run.
const THREADS: [&str; 3] = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"];

/// Fits tables and prints their errors beside those in place. `--write`: puts them in place.
pub fn run(words: &[&str]) -> Result<()> {
    if let Some(word) = words.iter().find(|word| **word != "--write") {
        bail!("unknown word {word}: there is --write");
    }
    ensure!(has("python3"), "there is no python3");
    build::run()?;
    npm_ci("benches/estimate")?;
    let folder = root().join("build/fit");
    fs::create_dir_all(&folder)?;
    let dump = ["run", "--quiet", "--profile", "test", "--example", "dump", "tables"];
    fs::write(folder.join("present.json"), output(cargo().args(dump))?)?;
    install()?;
    let mut fit = command(folder.join("venv/bin/python"));
    fit.arg("fit/fit.py").env("TOKENIZERS_PARALLELISM", "false");
    show(fit.envs(THREADS.map(|name| (name, "1"))))?;
    if words.is_empty() {
        return Ok(());
    }
    let mut packing = cargo();
    packing.args(["test", "--quiet", "--lib", PACKING, "--", "--nocapture"]);
    show(packing.env("PLIMSOLL_MODEL", folder.join("model.json")))?;
    println!(
        "src/estimate/tables.bin and generic.bin are written; `cargo xtask test` and `bench estimate --publish` next"
    );
    Ok(())
}

/// The Python packages of `fit/requirements.txt`, where that has not been done.
fn install() -> Result<()> {
    let folder = root().join("build/fit/venv");
    let wanted = fs::read(root().join("fit/requirements.txt"))?;
    if fs::read(folder.join(".installed")).is_ok_and(|text| text == wanted) {
        return Ok(());
    }
    println!("  pip install of fit/requirements.txt into build/fit/venv ...");
    output(command("python3").args(["-m", "venv"]).arg(&folder))?;
    let options = ["-m", "pip", "install", "--quiet", "--requirement", "fit/requirements.txt"];
    output(command(folder.join("bin/python")).args(options))?;
    Ok(fs::write(folder.join(".installed"), wanted)?)
}
