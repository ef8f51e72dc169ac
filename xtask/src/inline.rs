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

/// A module that exports what gives the bytes: from the text, the bytes by rank as hexadecimal, and how many there are.
pub fn module(wasm: &[u8]) -> String {
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
    format!(
        "import {{ unpacked }} from \"../inline.js\";\n\
         const size = {};\nconst ranks = \"{ranks}\";\nconst text = \"{text}\";\n\
         export const wasm = () => unpacked(size, ranks, text);\n",
        wasm.len()
    )
}
