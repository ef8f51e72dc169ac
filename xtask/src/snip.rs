//! Takes out of the Wasm what is linked and never runs.
//!
//! The standard library's way of writing floats (14 kB) comes along because serde's errors could name a float by it. They
//! do not: `serde_json` writes floats its own way, also in its errors, and the core writes none. A call that reached the
//! place all the same would trap, as a panic does.

use std::path::Path;

use anyhow::{Result, ensure};
use walrus::ir::Unreachable;
use walrus::{FunctionKind, Module};

/// A part of the mangled names of all that goes.
const UNUSED: &str = "flt2dec";

/// Empties the functions that never run.
pub fn snip(wasm: &Path) -> Result<()> {
    let mut module = Module::from_file(wasm)?;
    let mut snipped = 0;
    for function in module.funcs.iter_mut() {
        if !function.name.as_ref().is_some_and(|name| name.contains(UNUSED)) {
            continue;
        }
        let FunctionKind::Local(function) = &mut function.kind else { continue };
        let entry = function.entry_block();
        let block = function.block_mut(entry);
        block.instrs.clear();
        block.instrs.push((Unreachable {}.into(), Default::default()));
        snipped += 1;
    }
    ensure!(snipped > 0, "nothing in the Wasm is named {UNUSED}: this step is no longer needed");
    module.emit_wasm_file(wasm)
}
