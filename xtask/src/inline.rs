//! The Wasm as text inside the JavaScript, in an alphabet made for it.
//!
//! The commonest bytes are one character, the others two. Every byte is always the same text, so that a web server's
//! compression finds what repeats: brotli gives about a fifth less than of base64, whose letters straddle bytes.

/// Characters that need no escape in a string, nor in a page: printable ASCII without `"`, `\` and `<`.
fn alphabet() -> Vec<char> {
    (' '..='~').filter(|char| !['"', '\\', '<'].contains(char)).collect()
}

/// Bytes of one character; the last two characters open those of two.
const SINGLE: usize = 90;

/// How a script finds the object that holds the texts: a script without exports runs in both module systems.
const HOLDER: &str = "globalThis[Symbol.for(\"plimsoll.wasm\")]";

/// The text of a Wasm, and the module that reads it.
pub struct Inline {
    /// A script that is both an ES module and CommonJS, so that the package holds each text once.
    pub script: String,
    /// Exports `wasm`, which gives the bytes.
    pub module: String,
}

/// The script keeps how many bytes there are, the bytes by rank as hexadecimal, and their text, by the name and hash of the Wasm: two
/// versions of the package may run side by side.
pub fn inline(name: &str, wasm: &[u8]) -> Inline {
    let alphabet = alphabet();
    let mut counts = [0_usize; 256];
    for byte in wasm {
        counts[usize::from(*byte)] += 1;
    }
    let mut ranked: Vec<u8> = (0..=255).collect();
    ranked.sort_by_key(|byte| std::cmp::Reverse(counts[usize::from(*byte)]));
    let mut codes = vec![String::new(); 256];
    for (rank, byte) in ranked.iter().enumerate() {
        let code = &mut codes[usize::from(*byte)];
        if rank >= SINGLE {
            code.push(alphabet[SINGLE + (rank - SINGLE) / alphabet.len()]);
        }
        code.push(alphabet[if rank < SINGLE { rank } else { (rank - SINGLE) % alphabet.len() }]);
    }
    let text: String = wasm.iter().map(|byte| codes[usize::from(*byte)].as_str()).collect();
    let ranks: String = ranked.iter().map(|byte| format!("{byte:02x}")).collect();
    let (size, key) = (wasm.len(), format!("{name}-{:016x}", hash(wasm)));
    Inline {
        script: format!("({HOLDER} ??= {{}})[\"{key}\"] = [{size}, \"{ranks}\", \"{text}\"];\n"),
        module: format!(
            "import {{ unpacked }} from \"../core/unpack.js\";\nimport \"./text/{name}.js\";\n\
             export const wasm = () => unpacked(...{HOLDER}[\"{key}\"]);\n"
        ),
    }
}

/// FNV-1a, the same with every compiler.
fn hash(bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325_u64;
    bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}
