//! Running other programs: quiet while they work, loud when they fail.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// The project's folder.
pub fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().map(Path::to_path_buf).unwrap_or(here)
}

/// A command that runs in the project's folder and reads nothing.
pub fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// The same cargo that runs this, with the project's own toolchain.
pub fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// A program of `js/node_modules`.
pub fn tool(name: &str) -> Command {
    command(root().join("js/node_modules/.bin").join(name))
}

/// Runs to the end and gives what was printed; what a failing program printed becomes the error.
pub fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let out = command.output().with_context(|| format!("cannot start {name}"))?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    if !out.status.success() {
        let errors = String::from_utf8_lossy(&out.stderr);
        bail!("{} failed ({}):\n{text}{errors}", shown(command), out.status);
    }
    Ok(text)
}

/// Runs with its output shown as it comes, for what takes long.
pub fn show(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("{} failed ({status})", shown(command));
    }
    Ok(())
}

/// Installs a folder's npm packages from its lock file, where that has not been done.
pub fn npm_ci(folder: &str) -> Result<()> {
    let path = root().join(folder);
    let lock = std::fs::read(path.join("package-lock.json"))?;
    let installed = path.join("node_modules/.lock-installed");
    if std::fs::read(&installed).is_ok_and(|text| text == lock) {
        return Ok(());
    }
    println!("  npm ci in {folder}/ (tools only; the package itself has no dependencies) ...");
    let begun = Instant::now();
    output(command("npm").arg("ci").current_dir(&path))?;
    println!("  npm ci in {folder}/: {:.1} s", begun.elapsed().as_secs_f32());
    Ok(std::fs::write(installed, lock)?)
}

/// Whether a program can be started.
pub fn has(program: &str) -> bool {
    command(program).arg("--version").output().is_ok_and(|out| out.status.success())
}

fn shown(command: &Command) -> String {
    let mut text = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args().take(6) {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text
}
