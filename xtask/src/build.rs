//! The npm package: core to Wasm, glue, TypeScript to ESM and its CommonJS twin, assembled in `npm/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use wasm_bindgen_cli_support::Bindgen;

use crate::inline;
use crate::shell::{cargo, npm_ci, output, root, tool};
use crate::snip;
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

/// What only runs as ES modules: the CLI, and the entries of runtimes that know nothing else.
const ESM_ONLY: [&str; 3] = ["cli", "workerd.ts", "edge.ts"];

/// Builds what is out of date.
pub fn run() -> Result<()> {
    let begun = Instant::now();
    let (js, glue, npm) = (root().join("js"), root().join("js/glue"), root().join("npm"));
    npm_ci("js")?;
    fs::create_dir_all(root().join("build"))?;
    let core = core()?;
    Inputs::new()?.path(&core)?.make(&glue, || bind(&core, &glue))?;
    let wasm = root().join("build/plimsoll.wasm");
    let bound = root().join("build/bindgen/plimsoll_bg.wasm");
    Inputs::new()?.path(&bound)?.make(&wasm, || optimize(&bound, &wasm))?;
    let inlined = glue.join("inline.js");
    Inputs::new()?
        .path(&wasm)?
        .make(&inlined, || Ok(fs::write(&inlined, inline::module(&fs::read(&wasm)?))?))?;
    Inputs::new()?
        .path(&js)?
        .path(&wasm)?
        .path(&root().join("pkg-template"))?
        .path(&root().join("Cargo.toml"))?
        .make(&npm, || assemble(&js, &wasm, &npm))?;
    let kilobytes = fs::metadata(&wasm)?.len() / 1000;
    println!("npm/ is up to date: wasm {kilobytes} kB ({:.1} s)", begun.elapsed().as_secs_f32());
    Ok(())
}

/// The core as cargo makes it.
fn core() -> Result<PathBuf> {
    let target = root().join("target");
    output(
        cargo()
            .args(["build", "--release", "--lib", "--package", "plimsoll"])
            .args(["--target", "wasm32-unknown-unknown", "--target-dir"])
            .arg(&target)
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", unplaced()?),
    )
    .context("is the target there? `rustup toolchain install` brings it")?;
    Ok(target.join("wasm32-unknown-unknown/release/plimsoll.wasm"))
}

/// Flags that keep this machine's paths out of the messages of panics.
fn unplaced() -> Result<String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let sources = home.context("neither CARGO_HOME nor HOME is set")?.join("registry/src");
    let mut flags = Vec::new();
    for registry in fs::read_dir(&sources).into_iter().flatten() {
        flags.push(format!("--remap-path-prefix={}=", registry?.path().display()));
    }
    Ok(flags.join(" "))
}

/// The glue between the core and JavaScript: of the bundler target only the part that loads nothing.
fn bind(core: &Path, glue: &Path) -> Result<()> {
    let out = root().join("build/bindgen");
    Bindgen::new()
        .input_path(core)
        .out_name("plimsoll")
        .typescript(true)
        .bundler(true)?
        .remove_producers_section(true)
        .generate(&out)?;
    snip::snip(&out.join("plimsoll_bg.wasm"))?;
    fs::create_dir_all(glue)?;
    let code = fs::read_to_string(out.join("plimsoll_bg.js"))?;
    ensure!(code.contains("new TextDecoder("), "the glue decodes text in a new way: see coders.ts");
    let code = format!("import {{ TextDecoder, TextEncoder }} from \"../coders.js\";\n{code}");
    fs::write(glue.join("plimsoll_bg.js"), code)?;
    let types = fs::read_to_string(out.join("plimsoll.d.ts"))?;
    let hook = "export function __wbg_set_wasm(exports: object): void;\n";
    fs::write(glue.join("plimsoll_bg.d.ts"), format!("{types}{hook}"))?;
    let types = "export declare const size: number;\nexport declare const ranks: string;\n\
                 export declare const text: string;\n";
    Ok(fs::write(glue.join("inline.d.ts"), types)?)
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
fn assemble(js: &Path, wasm: &Path, npm: &Path) -> Result<()> {
    if npm.exists() {
        fs::remove_dir_all(npm)?;
    }
    let (dist, cjs) = (npm.join("dist"), npm.join("dist/cjs"));
    fs::create_dir_all(&cjs)?;
    template(npm)?;
    fs::copy(wasm, dist.join("plimsoll.wasm"))?;

    let sources: Vec<PathBuf> = files(js)?.into_iter().filter(|path| is_source(path)).collect();
    transform(js, &dist, "esm", &sources)?;
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
    name.ends_with("glue/plimsoll_bg.js")
        || name.ends_with("glue/inline.js")
        || (name.ends_with(".ts") && !name.ends_with(".d.ts") && !name.contains(".test."))
}

fn has_twin(base: &Path, path: &Path) -> bool {
    let inner = path.strip_prefix(base).unwrap_or(path).to_string_lossy().replace(".d.ts", ".ts");
    !ESM_ONLY.iter().any(|only| Path::new(&inner).starts_with(only))
}
