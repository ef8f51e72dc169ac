//! The Wasm files of the package: core to Wasm, glue beside it, made small; side by side on as many cores as there are.
//!
//! The bytes of a Wasm are a function of the sources and the toolchain alone, wherever it is built: `tests/machine` holds
//! them to it.

use std::fs::{self, File};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use wasm_bindgen_cli_support::Bindgen;

use crate::inline;
use crate::shell::{cargo, command, output, root, tool};
use crate::stamp::Inputs;

/// Named one by one: `--all-features` writes imports that Node 20 and Bun cannot read.
const WASM_FEATURES: [&str; 5] = [
    "--enable-bulk-memory",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-reference-types",
];

/// A Wasm of the package: all that is exported behind a feature of the crate.
pub struct Wasm {
    /// Name of the file, without `.wasm`.
    pub name: &'static str,
    /// Name of the glue that it imports: a Wasm that is built for size and for speed has one glue.
    pub glue: &'static str,
    feature: &'static str,
    aim: Aim,
    /// Whether it needs an engine with vectors of bytes.
    vectors: bool,
}

/// What a Wasm is optimized for. Level 3 of rustc is no option: its Wasm is half as large again as that of `s`, and no faster
/// once wasm-opt has inlined.
enum Aim {
    /// Bytes that cross a wire.
    Size,
    /// Time: read from a disk, or finished before an engine has optimized anything.
    Speed,
    /// A page carries it, and someone waits for its result.
    Both,
}

impl Aim {
    /// Level of rustc.
    fn level(&self) -> &'static str {
        match self {
            Self::Size | Self::Both => "z",
            Self::Speed => "s",
        }
    }

    /// Passes of wasm-opt. For size not --rereloop, which saves 4 kB and makes the estimator a third slower, and not --converge,
    /// which saves as much as a second -Oz and takes longer. In `Both` functions are not reordered, which gzip rewards, and no more are
    /// inlined than -O3 does: of up to 12 and 18 instructions a replay takes 2 % less time, and the page 8 kB of gzip more. A second -O3
    /// and locals in order save 700 bytes of gzip. A large function that is called in one place stays a function, but for size: an engine compiles what is called, and a first request
    /// calls a quarter of the code less.
    fn passes(&self) -> &'static [&'static str] {
        match self {
            Self::Size => &["-Oz", "-Oz", "--const-hoisting", "--reorder-functions"],
            Self::Speed => &[
                "--one-caller-inline-max-function-size=100",
                "-O3",
                "--reorder-locals",
                "--reorder-functions",
            ],
            Self::Both => {
                &["--one-caller-inline-max-function-size=150", "-O3", "-O3", "--reorder-locals"]
            }
        }
    }
}

/// One more Wasm is one more line here, its gate in `gates.rs`, its name in `js/core/loader.ts`, and a file in `js/inline/`.
/// Those that take longest are first, so that the others are built beside them.
pub const WASMS: [Wasm; 6] = [
    Wasm { name: "sessions", glue: "sessions", feature: "sessions", aim: Aim::Both, vectors: true },
    // For Node and Bun, which read it from a disk: there time counts and size does not.
    Wasm {
        name: "plimsoll-node",
        glue: "plimsoll",
        feature: "manager,plain-weights",
        aim: Aim::Speed,
        vectors: true,
    },
    Wasm { name: "plimsoll", glue: "plimsoll", feature: "manager", aim: Aim::Size, vectors: false },
    Wasm { name: "prompt", glue: "prompt", feature: "prompt", aim: Aim::Speed, vectors: false },
    Wasm { name: "compact", glue: "compact", feature: "compact", aim: Aim::Size, vectors: false },
    Wasm {
        name: "candidates",
        glue: "candidates",
        feature: "candidates",
        aim: Aim::Size,
        vectors: false,
    },
];

/// The files of this program that decide the bytes of a Wasm.
const SOURCES: [&str; 3] = ["wasm.rs", "inline.rs", "stamp.rs"];

/// Whether to build for development: compiled incrementally, not optimized for size.
static QUICK: AtomicBool = AtomicBool::new(false);

/// Makes every build of this run one for development. The same bytes come out of the package's functions; its sizes and
/// times are not those of a release.
pub fn use_quick() {
    QUICK.store(true, Ordering::Relaxed);
}

fn is_quick() -> bool {
    QUICK.load(Ordering::Relaxed)
}

/// Builds these Wasm files alone, into `build/`.
pub fn build_named(names: &[&str]) -> Result<()> {
    let find = |name: &&str| {
        let known = || WASMS.map(|wasm| wasm.name).join(", ");
        let found = WASMS.iter().find(|wasm| wasm.name == *name);
        found.ok_or_else(|| anyhow!("unknown Wasm {name}: there are {}", known()))
    };
    build(&names.iter().map(find).collect::<Result<Vec<_>>>()?)
}

/// Builds those of these that are out of date, and prints each with its seconds when it is done. One thread takes one Wasm
/// after the other: `rustc` and `wasm-opt` use a single core for most of their time.
pub fn build(wasms: &[&Wasm]) -> Result<()> {
    fs::create_dir_all(root().join("build"))?;
    let glue = root().join("js/glue");
    fs::create_dir_all(&glue)?;
    let remaps = remaps()?;
    share_dependencies(wasms, &remaps)?;
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || -> Result<()> {
        while let Some(wasm) = wasms.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(times) = wasm.make(&glue, &remaps)? else { continue };
            let bytes = fs::metadata(wasm.published())?.len();
            let number = done.fetch_add(1, Ordering::Relaxed) + 1;
            println!("  {number}/{} {}.wasm: {times}, {bytes} bytes", wasms.len(), wasm.name);
        }
        Ok(())
    };
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..cores.min(wasms.len())).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            match thread.join() {
                Ok(ended) => ended?,
                Err(_) => bail!("a build has panicked"),
            }
        }
        Ok(())
    })
}

/// Has the dependencies compiled once, which takes longer than the core of a small Wasm: the folders of the others begin as copies
/// of one of them.
fn share_dependencies(wasms: &[&Wasm], remaps: &str) -> Result<()> {
    let mut new: Vec<&&Wasm> = wasms.iter().filter(|wasm| !wasm.target().exists()).collect();
    let Some(smallest) = new.pop() else { return Ok(()) };
    let begun = Instant::now();
    smallest.core(remaps)?;
    for wasm in new {
        copy(&smallest.target(), &wasm.target())?;
    }
    println!("  dependencies: compiled in {:.1} s", begun.elapsed().as_secs_f32());
    Ok(())
}

/// Copies a folder with the times of its files: cargo compiles again what is older than what it depends on.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy(&path, &copied)?;
        } else {
            fs::copy(&path, &copied)?;
            File::options()
                .write(true)
                .open(&copied)?
                .set_modified(entry.metadata()?.modified()?)?;
        }
    }
    Ok(())
}

impl Wasm {
    /// Makes the Wasm as it is published, with its glue and its text in `glue`. What took how long; `None`: it was up to date.
    fn make(&self, glue: &Path, remaps: &str) -> Result<Option<String>> {
        let begun = Instant::now();
        let core = self.core(remaps)?;
        let compiled = begun.elapsed();
        let bound = self.at("_bg.wasm");
        Inputs::of(&SOURCES)?.path(&core)?.make(&bound, || self.bind(&core, &bound, glue))?;
        let wasm = self.published();
        let made = Inputs::of(&SOURCES)?.path(&bound)?.make(&wasm, || {
            if is_quick() {
                Ok(fs::copy(&bound, &wasm).map(drop)?)
            } else {
                self.optimize(&bound, &wasm)
            }
        })?;
        if self.owns_glue() {
            let text = glue.join(format!("{}_text.js", self.name));
            Inputs::of(&SOURCES)?.path(&wasm)?.make(&text, || {
                let inline = inline::inline(self.name, &fs::read(&wasm)?);
                fs::create_dir_all(glue.join("text"))?;
                fs::write(glue.join("text").join(format!("{}.js", self.name)), inline.script)?;
                Ok(fs::write(&text, inline.module)?)
            })?;
        }
        let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f32());
        let rest = begun.elapsed().saturating_sub(compiled);
        Ok(made.then(|| {
            format!("compiled in {}, bound and optimized in {}", seconds(compiled), seconds(rest))
        }))
    }

    /// Whether its glue bears its own name, so that no other Wasm writes it.
    pub fn owns_glue(&self) -> bool {
        self.name == self.glue
    }

    /// Vectors of bytes, in flags of rustc.
    fn vectors(&self) -> &'static str {
        if self.vectors { "\u{1f}-C\u{1f}target-feature=+simd128" } else { "" }
    }

    fn at(&self, ending: &str) -> PathBuf {
        root().join("build/bindgen").join(self.name).join(format!("{}{ending}", self.glue))
    }

    pub fn published(&self) -> PathBuf {
        root().join("build").join(format!("{}.wasm", self.name))
    }

    /// Where cargo compiles its core.
    fn target(&self) -> PathBuf {
        let kind = if is_quick() { "target/wasm-quick" } else { "target/wasm" };
        root().join(kind).join(self.name)
    }

    /// The core as cargo makes it, in a folder of its own: features that take turns in one folder would build all anew.
    fn core(&self, remaps: &str) -> Result<PathBuf> {
        let target = self.target();
        let mut cargo = cargo();
        if is_quick() {
            cargo
                .env("CARGO_PROFILE_RELEASE_LTO", "off")
                .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
                .env("CARGO_PROFILE_RELEASE_INCREMENTAL", "true");
        }
        output(
            cargo
                // Not `build`: with the other crate type beside it, all that is public there would be kept, a tenth of the bytes.
                .args(["rustc", "--release", "--lib", "--crate-type", "cdylib"])
                .args(["--package", "plimsoll"])
                .args(["--no-default-features", "--features", self.feature])
                .args(["--target", "wasm32-unknown-unknown", "--target-dir"])
                .arg(&target)
                .env(
                    "CARGO_PROFILE_RELEASE_OPT_LEVEL",
                    if is_quick() { "1" } else { self.aim.level() },
                )
                // Instead of whatever flags this machine's settings name.
                .env("CARGO_ENCODED_RUSTFLAGS", format!("{remaps}{}", self.vectors())),
        )
        .context("is the target there? `rustup toolchain install` brings it")?;
        Ok(target.join("wasm32-unknown-unknown/release/plimsoll.wasm"))
    }

    /// The glue between the core and JavaScript: of the bundler target only the part that loads nothing.
    fn bind(&self, core: &Path, bound: &Path, glue: &Path) -> Result<()> {
        Bindgen::new()
            .input_bytes(self.glue, one_value(core)?)
            .out_name(self.glue)
            .typescript(true)
            .bundler(true)?
            .remove_producers_section(true)
            .generate(bound.parent().context("the Wasm lies in a folder")?)?;
        let code = fs::read_to_string(self.at("_bg.js"))?;
        ensure!(
            code.contains("new TextDecoder("),
            "the glue decodes text in a new way: see js/core/coders.ts"
        );
        let code = format!(
            "import {{ answered }} from \"../core/answered.js\";\n\
             import {{ TextDecoder, TextEncoder }} from \"../core/coders.js\";\n{}",
            answered(&code)
        );
        write_glue(&glue.join(format!("{}_bg.js", self.glue)), &code)?;
        let types = fs::read_to_string(self.at(".d.ts"))?;
        let hook = "export function __wbg_set_wasm(exports: object): void;\n";
        write_glue(&glue.join(format!("{}_bg.d.ts", self.glue)), &format!("{types}{hook}"))?;
        let types = "export declare const wasm: () => Uint8Array<ArrayBuffer>;\n";
        write_glue(&glue.join(format!("{}_text.d.ts", self.glue)), types)
    }

    fn optimize(&self, bound: &Path, wasm: &Path) -> Result<()> {
        let vectors: &[&str] = if self.vectors { &["--enable-simd"] } else { &[] };
        output(
            tool("wasm-opt")
                .args(WASM_FEATURES)
                .args(vectors)
                .args(self.aim.passes())
                .args(["--low-memory-unused", "--strip-debug", "--strip-producers", "-o"])
                .arg(wasm)
                .arg(bound),
        )?;
        Ok(())
    }
}

/// A core whose functions return one value each: most by themselves (`src/wasm/answer.rs`), the others, which make an object or fail, a
/// pointer to several. Where they return several, V8 compiles code for each such signature when it compiles the Wasm, a tenth of a start.
fn one_value(core: &Path) -> Result<Vec<u8>> {
    let mut bytes = fs::read(core)?;
    let feature = b"+\x0amultivalue";
    let at = bytes.windows(feature.len()).rposition(|it| it == feature);
    bytes[at.context("the core names no feature `multivalue`")?] = b'-';
    Ok(bytes)
}

/// Glue that throws an error which comes as an answer (`src/wasm/answer.rs`): after the call, not in a function that the core calls, or
/// what the core holds would stay locked.
fn answered(glue: &str) -> String {
    let mut is_call = false;
    let lines = glue.lines().map(|line| {
        let is_answer = is_call && line.trim() == "return ret;";
        is_call = line.trim_start().starts_with("const ret = wasm.");
        if is_answer { line.replace("ret;", "answered(ret);\n") } else { format!("{line}\n") }
    });
    lines.collect()
}

/// Two builds of one core have the same glue: whichever is bound later finds it there.
fn write_glue(file: &Path, code: &str) -> Result<()> {
    let known = fs::read_to_string(file).unwrap_or_default();
    if known == code {
        return Ok(());
    }
    Ok(fs::write(file, code)?)
}

/// Flags that replace this machine's paths, which messages of panics name, by the same names everywhere.
fn remaps() -> Result<String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let sources = home.context("neither CARGO_HOME nor HOME is set")?.join("registry/src");
    // The folder of a registry is named for its host, and is there once a package of it has been unpacked.
    output(cargo().args(["fetch", "--locked", "--target", "wasm32-unknown-unknown"]))?;
    let sysroot = output(command("rustc").args(["--print", "sysroot"]))?;
    // Where the component `rust-src` is installed, the standard library's files are named by its folder, else by this name.
    let version = output(command("rustc").arg("-vV"))?;
    let commit = version.lines().find_map(|line| line.strip_prefix("commit-hash: "));
    let commit = commit.context("`rustc -vV` names no commit")?;
    let library = format!("{}/lib/rustlib/src/rust", sysroot.trim());
    let mut flags = vec![format!("--remap-path-prefix={library}=/rustc/{commit}")];
    for registry in fs::read_dir(&sources).into_iter().flatten() {
        flags.push(format!("--remap-path-prefix={}=", registry?.path().display()));
    }
    Ok(flags.join("\u{1f}"))
}

#[cfg(test)]
mod tests {
    use super::answered;

    #[test]
    fn glue_throws_errors_after_its_calls_alone() {
        let call = "request(now_ms) {\n    const ret = wasm.manager_request(now_ms);\n    return ret;\n}\n";
        let import =
            "export function __wbg_new(a) {\n    const ret = new Error(a);\n    return ret;\n}\n";
        let number = "count() {\n    const ret = wasm.count();\n    return ret >>> 0;\n}\n";
        let thrown = call.replace("return ret;", "return answered(ret);");
        assert_eq!(answered(&[call, import, number].concat()), [&*thrown, import, number].concat());
    }
}
