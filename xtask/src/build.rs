//! The npm package: core to Wasm files, glue, TypeScript to ESM and its CommonJS twin, assembled in `npm/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use wasm_bindgen_cli_support::Bindgen;

use crate::inline;
use crate::shell::{cargo, npm_ci, output, root, tool};
use crate::stamp::{Inputs, files};

/// Named one by one: `--all-features` writes imports that Node 20 and Bun cannot read.
const WASM_FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
];

/// Runtimes that compile no bytes, and what an import of a Wasm ends with there: they hand it over as a module.
const HANDED: [(&str, &str); 2] = [("workerd", ""), ("edge", "?module")];

/// A Wasm of the package: all that is exported behind a feature of the crate.
pub struct Wasm {
    pub name: &'static str,
    feature: &'static str,
    /// The most that it may weigh: what it now takes, and a little.
    pub kilobytes: u64,
    /// `z` is smallest; `s` is worth its bytes where a call is short, and runs before an engine has optimized anything.
    level: &'static str,
}

/// One more Wasm is one more line here, its name in `js/loader.ts`, and a file in `js/inline/`.
pub const WASMS: [Wasm; 6] = [
    Wasm { name: "plimsoll", feature: "context", kilobytes: 606, level: "z" },
    Wasm { name: "sessions", feature: "sessions", kilobytes: 151, level: "z" },
    Wasm { name: "prompt", feature: "prompt", kilobytes: 215, level: "3" },
    Wasm { name: "compact", feature: "compact", kilobytes: 156, level: "z" },
    Wasm { name: "candidates", feature: "candidates", kilobytes: 183, level: "z" },
    Wasm { name: "inspect", feature: "inspect", kilobytes: 116, level: "z" },
];

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

/// Builds what is out of date.
pub fn run() -> Result<()> {
    let begun = Instant::now();
    let (js, npm) = (root().join("js"), root().join("npm"));
    npm_ci("js")?;
    fs::create_dir_all(js.join("glue"))?;
    fs::create_dir_all(root().join("build"))?;
    let mut inputs = Inputs::new()?;
    let mut sizes = Vec::new();
    for wasm in &WASMS {
        let file = wasm.make(&js.join("glue"))?;
        sizes.push(format!("{} {} kB", wasm.name, fs::metadata(&file)?.len() / 1000));
        inputs = inputs.path(&file)?;
    }
    inputs
        .path(&js)?
        .path(&root().join("pkg-template"))?
        .path(&root().join("Cargo.toml"))?
        .make(&npm, || assemble(&js, &npm))?;
    let seconds = begun.elapsed().as_secs_f32();
    println!("npm/ is up to date: {} ({seconds:.1} s)", sizes.join(", "));
    Ok(())
}

impl Wasm {
    /// The Wasm as it is published; its glue and its text stand in `glue`.
    fn make(&self, glue: &Path) -> Result<PathBuf> {
        let core = self.core()?;
        let bound = self.at("_bg.wasm");
        Inputs::new()?.path(&core)?.make(&bound, || self.bind(&core, &bound, glue))?;
        let wasm = self.published();
        Inputs::new()?.path(&bound)?.make(&wasm, || {
            if is_quick() {
                Ok(fs::copy(&bound, &wasm).map(drop)?)
            } else {
                optimize(&bound, &wasm)
            }
        })?;
        let text = glue.join(format!("{}_text.js", self.name));
        Inputs::new()?
            .path(&wasm)?
            .make(&text, || Ok(fs::write(&text, inline::module(&fs::read(&wasm)?))?))?;
        Ok(wasm)
    }

    fn at(&self, ending: &str) -> PathBuf {
        root().join("build/bindgen").join(self.name).join(format!("{}{ending}", self.name))
    }

    fn published(&self) -> PathBuf {
        root().join("build").join(format!("{}.wasm", self.name))
    }

    /// The core as cargo makes it, in a folder of its own: features that take turns in one folder would build all anew.
    fn core(&self) -> Result<PathBuf> {
        let kind = if is_quick() { "target/wasm-quick" } else { "target/wasm" };
        let target = root().join(kind).join(self.name);
        let mut cargo = cargo();
        if is_quick() {
            cargo
                .env("CARGO_PROFILE_RELEASE_LTO", "off")
                .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
                .env("CARGO_PROFILE_RELEASE_INCREMENTAL", "true");
        }
        output(
            cargo
                .args(["build", "--release", "--lib", "--package", "plimsoll"])
                .args(["--no-default-features", "--features", self.feature])
                .args(["--target", "wasm32-unknown-unknown", "--target-dir"])
                .arg(&target)
                .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", if is_quick() { "1" } else { self.level })
                .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", unplaced()?),
        )
        .context("is the target there? `rustup toolchain install` brings it")?;
        Ok(target.join("wasm32-unknown-unknown/release/plimsoll.wasm"))
    }

    /// The glue between the core and JavaScript: of the bundler target only the part that loads nothing.
    fn bind(&self, core: &Path, bound: &Path, glue: &Path) -> Result<()> {
        Bindgen::new()
            .input_path(core)
            .out_name(self.name)
            .typescript(true)
            .bundler(true)?
            .remove_producers_section(true)
            .generate(bound.parent().context("the Wasm lies in a folder")?)?;
        let code = fs::read_to_string(self.at("_bg.js"))?;
        ensure!(
            code.contains("new TextDecoder("),
            "the glue decodes text in a new way: see coders.ts"
        );
        let code = format!("import {{ TextDecoder, TextEncoder }} from \"../coders.js\";\n{code}");
        fs::write(glue.join(format!("{}_bg.js", self.name)), code)?;
        let types = fs::read_to_string(self.at(".d.ts"))?;
        let hook = "export function __wbg_set_wasm(exports: object): void;\n";
        fs::write(glue.join(format!("{}_bg.d.ts", self.name)), format!("{types}{hook}"))?;
        let types = "export declare const wasm: () => Uint8Array<ArrayBuffer>;\n";
        Ok(fs::write(glue.join(format!("{}_text.d.ts", self.name)), types)?)
    }
}

/// Flags that keep this machine's paths out of the messages of panics.
fn unplaced() -> Result<String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let sources = home.context("neither CARGO_HOME nor HOME is set")?.join("registry/src");
    let sysroot = output(std::process::Command::new("rustc").args(["--print", "sysroot"]))?;
    let library = format!("{}/lib/rustlib/src/rust", sysroot.trim());
    let mut flags = vec![format!("--remap-path-prefix={library}=")];
    for registry in fs::read_dir(&sources).into_iter().flatten() {
        flags.push(format!("--remap-path-prefix={}=", registry?.path().display()));
    }
    Ok(flags.join(" "))
}

fn optimize(bound: &Path, wasm: &Path) -> Result<()> {
    output(
        tool("wasm-opt")
            .args(WASM_FEATURES)
            // Not --rereloop: it saves 4 kB and makes the estimator a third slower.
            .args(["-Oz", "--converge", "--low-memory-unused"])
            .args(["--const-hoisting", "--reorder-locals", "--reorder-functions"])
            .args(["--strip-debug", "--strip-producers", "-o"])
            .arg(wasm)
            .arg(bound),
    )?;
    Ok(())
}

/// Everything in one go, from nothing: glue and Wasm must be of one build.
fn assemble(js: &Path, npm: &Path) -> Result<()> {
    if npm.exists() {
        fs::remove_dir_all(npm)?;
    }
    let (dist, cjs) = (npm.join("dist"), npm.join("dist/cjs"));
    fs::create_dir_all(&cjs)?;
    template(npm)?;
    for wasm in &WASMS {
        fs::copy(wasm.published(), dist.join(format!("{}.wasm", wasm.name)))?;
    }

    let sources: Vec<PathBuf> = files(js)?.into_iter().filter(|path| is_source(path)).collect();
    transform(js, &dist, "esm", &sources)?;
    handed_over(&dist)?;
    let twins: Vec<PathBuf> = sources.iter().filter(|path| has_twin(js, path)).cloned().collect();
    transform(js, &cjs, "cjs", &twins)?;
    fs::write(cjs.join("package.json"), "{ \"type\": \"commonjs\" }\n")?;
    fs::write(dist.join("cli.js"), "#!/usr/bin/env node\nimport \"./cli/main.js\";\n")?;
    types(js, &dist, &cjs)
}

/// The package's own files, with the version of the crate.
fn template(npm: &Path) -> Result<()> {
    for file in ["package.json", "README.md"] {
        let text = fs::read_to_string(root().join("pkg-template").join(file))?;
        fs::write(npm.join(file), text.replace("0.0.0-stamped", &version()?))?;
    }
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(root().join(file), npm.join(file))?;
    }
    Ok(())
}

/// The version of the crate, which is the package's.
pub fn version() -> Result<String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml"))?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = \""));
    Ok(line.context("Cargo.toml has no version")?.trim_end_matches('"').to_string())
}

/// File by file, without bundling: entries share their state through the files they share.
fn transform(js: &Path, out: &Path, format: &str, sources: &[PathBuf]) -> Result<()> {
    output(
        tool("esbuild")
            .args(sources)
            .arg(format!("--outbase={}", js.display()))
            .arg(format!("--outdir={}", out.display()))
            .arg(format!("--format={format}"))
            .args(["--platform=node", "--target=es2022", "--log-level=warning"]),
    )?;
    Ok(())
}

/// `index.js` and `inline/` once more for each runtime in which a Wasm is imported, and nothing else differs.
fn handed_over(dist: &Path) -> Result<()> {
    let mut sources = files(&dist.join("inline"))?;
    sources.push(dist.join("index.js"));
    for (runtime, ending) in HANDED {
        fs::create_dir_all(dist.join(runtime))?;
        for source in &sources {
            let code = fs::read_to_string(source)?;
            let import = code.lines().find_map(|line| {
                let file = line.strip_prefix("import { wasm } from \"")?;
                Some((line, file.strip_suffix("_text.js\";")?.replace("glue/", "")))
            });
            let (line, file) = import.with_context(|| format!("{}: no Wasm", source.display()))?;
            let module = format!("import module from \"{file}.wasm{ending}\";");
            let code = code
                .replace(line, &format!("{module}\nconst wasm = () => module;"))
                .replace("./inline/", &format!("./{runtime}/"));
            let name = source.strip_prefix(dist)?.to_string_lossy();
            fs::write(dist.join(name.replace("inline", runtime).replace("index", runtime)), code)?;
        }
    }
    Ok(())
}

/// Declarations, once for each of the two module systems.
fn types(js: &Path, dist: &Path, cjs: &Path) -> Result<()> {
    output(
        tool("tsc").arg("--project").arg(js).args(["--emitDeclarationOnly", "--outDir"]).arg(dist),
    )?;
    for path in files(dist)? {
        let inner = path.strip_prefix(dist)?;
        let declares = inner.to_string_lossy().ends_with(".d.ts");
        if declares && !inner.starts_with("cjs") && has_twin(dist, &path) {
            let twin = cjs.join(inner);
            fs::create_dir_all(twin.parent().unwrap_or(cjs))?;
            fs::copy(&path, twin)?;
        }
    }
    Ok(())
}

fn is_source(path: &Path) -> bool {
    let name = path.to_string_lossy();
    name.ends_with("_bg.js")
        || name.ends_with("_text.js")
        || (name.ends_with(".ts") && !name.ends_with(".d.ts") && !name.contains(".test."))
}

/// All but the CLI, which only runs as ES modules.
fn has_twin(base: &Path, path: &Path) -> bool {
    !path.starts_with(base.join("cli"))
}
