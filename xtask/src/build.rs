//! The npm package: Wasm files and glue, TypeScript to ESM and its CommonJS twin, assembled in `npm/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::shell::{command, npm_ci, output, root, tool};
use crate::stamp::{Inputs, files};
use crate::wasm::{self, WASMS, Wasm};

/// Runtimes that compile no bytes, and what an import of a Wasm ends with there: they hand it over as a module.
const HANDED: [(&str, &str); 2] = [("workerd", ""), ("edge", "?module")];

/// The Wasm that Node reads where others have one inside their JavaScript.
const FOR_NODE: [(&str, &str); 1] = [("plimsoll", "plimsoll-node")];

/// Builds what is out of date, and prints each step with its seconds when it is done.
pub fn run() -> Result<()> {
    package(&WASMS.iter().collect::<Vec<_>>())
}

/// The same with what Node needs alone: its entries and the CLI work, those for browsers and bundlers do not.
pub fn for_node() -> Result<()> {
    let replaced = |wasm: &Wasm| FOR_NODE.iter().any(|(size, _)| *size == wasm.name);
    package(&WASMS.iter().filter(|wasm| !replaced(wasm)).collect::<Vec<_>>())
}

/// The package with these Wasm files.
fn package(wasms: &[&Wasm]) -> Result<()> {
    let begun = Instant::now();
    let (js, npm) = (root().join("js"), root().join("npm"));
    npm_ci("js")?;
    wasm::build(wasms)?;
    let mut inputs = Inputs::new()?;
    let mut sizes = Vec::new();
    for wasm in wasms {
        let file = wasm.published();
        sizes.push(format!("{} {} kB", wasm.name, fs::metadata(&file)?.len() / 1000));
        inputs = inputs.path(&file)?;
    }
    let assembling = Instant::now();
    let made = inputs
        .path(&js)?
        .path(&root().join("xtask/node"))?
        .path(&root().join("pkg-template"))?
        .path(&root().join("README.md"))?
        .path(&root().join("CHANGELOG.md"))?
        .path(&root().join("Cargo.toml"))?
        .make(&npm, || assemble(&js, &npm, wasms))?;
    if made {
        println!("  package: assembled in {:.1} s", assembling.elapsed().as_secs_f32());
    }
    let seconds = begun.elapsed().as_secs_f32();
    println!("npm/ is up to date: {} ({seconds:.1} s)", sizes.join(", "));
    Ok(())
}

/// Everything in one go, from nothing: glue and Wasm must be of one build.
fn assemble(js: &Path, npm: &Path, wasms: &[&Wasm]) -> Result<()> {
    if npm.exists() {
        fs::remove_dir_all(npm)?;
    }
    let (dist, cjs) = (npm.join("dist"), npm.join("dist/cjs"));
    fs::create_dir_all(&cjs)?;
    template(npm)?;
    for wasm in wasms {
        fs::copy(wasm.published(), dist.join(format!("{}.wasm", wasm.name)))?;
    }
    let texts: Vec<&str> =
        wasms.iter().filter(|wasm| wasm.owns_glue()).map(|wasm| wasm.name).collect();
    let lacks_wasm = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_suffix("_text.js").is_some_and(|name| !texts.contains(&name))
    };
    let is_page = |path: &Path| path.starts_with(js.join("inspector"));
    let sources: Vec<PathBuf> = files(js)?
        .into_iter()
        .filter(|path| is_source(path) && !lacks_wasm(path) && !is_page(path))
        .collect();
    transform(js, &dist, "esm", &sources)?;
    copy_texts(&js.join("glue"), &dist.join("glue"), &texts)?;
    handed_over(&dist)?;
    let twins: Vec<PathBuf> = sources.iter().filter(|path| has_twin(js, path)).cloned().collect();
    transform(js, &cjs, "cjs", &twins)?;
    for name in &texts {
        let module = cjs.join(format!("glue/{name}_text.js"));
        let code = fs::read_to_string(&module)?;
        fs::write(module, code.replace("./text/", "../../glue/text/"))?;
    }
    fs::write(cjs.join("package.json"), "{ \"type\": \"commonjs\" }\n")?;
    cjs_for_node(&cjs)?;
    node_entries(&dist)?;
    fs::write(dist.join("cli.js"), "#!/usr/bin/env node\nimport \"./cli/main.js\";\n")?;
    types(js, &dist, &cjs)?;
    for file in files(&dist.join("cli"))?.iter().filter(|file| !is_script(file)) {
        fs::remove_file(file)?;
    }
    inspector(js, &dist)
}

/// The page of the inspector. Its declarations go, as those of the command line: nothing imports their files.
fn inspector(js: &Path, dist: &Path) -> Result<()> {
    fs::remove_dir_all(dist.join("inspector"))?;
    fs::remove_dir_all(dist.join("cjs/inspector"))?;
    output(
        command("node")
            .arg("xtask/node/inspector.mjs")
            .arg(js)
            .args([dist.join("sessions.wasm"), dist.join("inspector.html")]),
    )?;
    Ok(())
}

/// The package's own files, with the version of the crate.
fn template(npm: &Path) -> Result<()> {
    let manifest = fs::read_to_string(root().join("pkg-template/package.json"))?;
    fs::write(npm.join("package.json"), manifest.replace("0.0.0-stamped", &version()?))?;
    fs::copy(root().join("pkg-template/openclaw.plugin.json"), npm.join("openclaw.plugin.json"))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
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

/// File by file, without bundling: entries share their state through the files they share. Node's are bundled afterwards
/// (`xtask/node/node-entries.mjs`).
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

/// The texts of the Wasms, which both module systems read.
fn copy_texts(glue: &Path, out: &Path, names: &[&str]) -> Result<()> {
    fs::create_dir_all(out.join("text"))?;
    for name in names {
        let file = format!("text/{name}.js");
        fs::copy(glue.join(&file), out.join(&file))?;
    }
    Ok(fs::write(out.join("text/package.json"), "{ \"type\": \"commonjs\" }\n")?)
}

/// Modules that read each Wasm from a disk, beside which it lies, when it is wanted. For Node, where the main one is built for speed.
fn wasm_files(node: &Path, module: impl Fn(&str) -> String) -> Result<()> {
    fs::create_dir_all(node)?;
    for name in WASMS.iter().filter(|wasm| wasm.owns_glue()).map(|wasm| wasm.name) {
        let file = FOR_NODE.iter().find(|(glue, _)| *glue == name).map_or(name, |(_, file)| file);
        fs::write(node.join(format!("{name}_file.js")), module(file))?;
    }
    Ok(())
}

/// `inline/` and the entries once more for `require` in Node, with the Wasms as files.
fn cjs_for_node(cjs: &Path) -> Result<()> {
    let node = cjs.join("node");
    wasm_files(&node, |file| {
        format!(
            "const {{ readFileSync }} = require(\"node:fs\");\nconst {{ join }} = require(\"node:path\");\n\
             exports.wasm = () => readFileSync(join(__dirname, \"../../{file}.wasm\"));\n"
        )
    })?;
    for source in files(&cjs.join("inline"))?.iter().filter(|file| is_script(file)) {
        let code =
            fs::read_to_string(source)?.replace("../glue/", "./").replace("_text.js", "_file.js");
        fs::write(node.join(source.file_name().unwrap_or_default()), code)?;
    }
    let mut entries = files(&cjs.join("entry"))?;
    entries.push(cjs.join("index.js"));
    for entry in entries.iter().filter(|file| is_script(file)) {
        let code = fs::read_to_string(entry)?.replace("/inline/", "/node/");
        fs::write(entry.with_extension("node.js"), code)?;
    }
    for file in files(&cjs.join("hosts/openclaw")).unwrap_or_default() {
        fs::write(&file, fs::read_to_string(&file)?.replace("/inline/", "/node/"))?;
    }
    Ok(())
}

/// Why a Wasm cannot be read.
const NO_FILES: &str = "plimsoll needs process.getBuiltinModule, which this environment hides: \
    import plimsoll/slim, and pass the Wasm files to initSync";

/// The entries once more for Node, the command line and its worker: bundles that share chunks. No `import`: of `node:fs` it would
/// load `fs/promises` too, a quarter of the time that an import of the package takes. A Node without `getBuiltinModule` gets the
/// entries for browsers, and a Bun without it has another way.
fn node_entries(dist: &Path) -> Result<()> {
    wasm_files(&dist.join("node"), |file| {
        // The main one is read by `index.node.js`, the others by chunks.
        let folder = if FOR_NODE.iter().any(|(_, main)| *main == file) { "." } else { ".." };
        format!(
            "export const wasm = () => {{\n  \
             const builtin = process.getBuiltinModule ?? import.meta.require;\n  \
             if (!builtin) throw new Error(\"{NO_FILES}\");\n  \
             return builtin(\"node:fs\").readFileSync(new URL(\"{folder}/{file}.wasm\", import.meta.url));\n}};\n"
        )
    })?;
    output(command("node").arg("xtask/node/node-entries.mjs").arg(dist))?;
    Ok(())
}

fn is_script(file: &Path) -> bool {
    file.extension().is_some_and(|end| end == "js")
}

/// `inline/` and the entries once more for each runtime in which a Wasm is imported, and nothing else differs.
fn handed_over(dist: &Path) -> Result<()> {
    let mut entries = files(&dist.join("entry"))?;
    entries.push(dist.join("index.js"));
    for (runtime, ending) in HANDED {
        fs::create_dir_all(dist.join(runtime))?;
        for source in files(&dist.join("inline"))? {
            let code = fs::read_to_string(&source)?;
            let import = code.lines().find_map(|line| {
                let file = line.strip_prefix("import { wasm } from \"")?;
                Some((line, file.strip_suffix("_text.js\";")?.replace("glue/", "")))
            });
            let (line, file) = import.with_context(|| format!("{}: no Wasm", source.display()))?;
            let module = format!("import module from \"{file}.wasm{ending}\";");
            let code = code.replace(line, &format!("{module}\nconst wasm = () => module;"));
            fs::write(dist.join(runtime).join(source.file_name().unwrap_or_default()), code)?;
        }
        for entry in &entries {
            let code = fs::read_to_string(entry)?.replace("/inline/", &format!("/{runtime}/"));
            fs::write(entry.with_extension(format!("{runtime}.js")), code)?;
        }
    }
    Ok(())
}

/// Declarations, once for each of the two module systems.
fn types(js: &Path, dist: &Path, cjs: &Path) -> Result<()> {
    output(
        tool("tsc").arg("--project").arg(js).args(["--emitDeclarationOnly", "--outDir"]).arg(dist),
    )?;
    for path in files(&dist.join("inline"))? {
        if path.to_string_lossy().ends_with(".d.ts") {
            let declared = fs::read_to_string(&path)?;
            if declared.trim() == "export {};" {
                continue;
            }
            let shared = reexported(&declared).with_context(|| path.display().to_string())?;
            fs::write(&path, shared)?;
        }
    }
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

/// Replaces the declarations of a file of `inline/` by re-exports of what they refer to: editors show the comments of a declaration,
/// but not those of `typeof own.assemblePrompt`.
fn reexported(declared: &str) -> Result<String> {
    let from = declared.lines().find_map(|line| line.strip_prefix("import * as own from "));
    let from = from.context("no `import * as own from ...`")?;
    let mut names = Vec::new();
    for line in declared.lines().filter_map(|line| line.strip_prefix("export ")) {
        let name = line.split([' ', ':']).nth(2).unwrap_or_default();
        let same = [
            format!("declare const {name}: typeof own.{name};"),
            format!("declare class {name} extends own.{name} {{"),
        ];
        ensure!(same.iter().any(|same| same == line), "not the same as in {from} {line}");
        names.push(name);
    }
    Ok(format!("export {{ {} }} from {from}\n", names.join(", ")))
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
