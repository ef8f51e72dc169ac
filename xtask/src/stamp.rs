//! Skipping a step whose inputs are the same as last time.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::shell::root;

/// What a step is made from, as one number.
pub struct Inputs(DefaultHasher);

impl Inputs {
    /// Begins with the sources of this program: a changed step is run again.
    pub fn new() -> Result<Self> {
        Self(DefaultHasher::new()).path(&root().join("xtask/src"))
    }

    /// Begins with these files of this program alone: for steps of minutes, which other changes of it do not concern.
    pub fn of(sources: &[&str]) -> Result<Self> {
        let begun = Ok(Self(DefaultHasher::new()));
        let folder = root().join("xtask/src");
        sources.iter().fold(begun, |all: Result<Self>, file| all?.path(&folder.join(file)))
    }

    /// A file, or every file under a folder, with its path.
    pub fn path(mut self, path: &Path) -> Result<Self> {
        for file in files(path)? {
            // A copy of the project elsewhere, with its outputs, has nothing to make.
            file.strip_prefix(root()).unwrap_or(&file).hash(&mut self.0);
            fs::read(&file)?.hash(&mut self.0);
        }
        Ok(self)
    }

    /// Runs `make` unless these inputs gave `output` last time. True: it ran.
    pub fn make(self, output: &Path, make: impl FnOnce() -> Result<()>) -> Result<bool> {
        let name = output.file_name().unwrap_or_default().to_string_lossy();
        let stamp = root().join("build").join(format!("{name}.stamp"));
        let now = self.0.finish().to_string();
        if output.exists() && fs::read_to_string(&stamp).is_ok_and(|before| before == now) {
            return Ok(false);
        }
        let _ = fs::remove_file(&stamp);
        make()?;
        fs::write(stamp, now)?;
        Ok(true)
    }
}

/// Every file under a path, sorted; `node_modules` and hidden files are left out.
pub fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut found = Vec::new();
    if path.is_dir() {
        let mut entries = fs::read_dir(path)?.collect::<std::io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            if name != "node_modules" && !name.to_string_lossy().starts_with('.') {
                found.extend(files(&entry.path())?);
            }
        }
    }
    Ok(found)
}
