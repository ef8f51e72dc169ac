//! The Wasm as text inside the JavaScript, in an alphabet made for it.
//!
//! The commonest bytes are one character, the others two. Every byte is always the same text, so that a web server's
//! compression finds what repeats: brotli gives about a fifth less than of base64, whose letters straddle bytes.

/// Characters that need no escape in a string, nor in a page: printable ASCII without `"`, `\` and `<`.
fn alphabet() -> Vec<char> {
    (' '..='~').filter(|char| !['"', '\\', '<'].contains(char)).collect()
}

/// Bytes of one character, in the order of the alphabet; the last two characters open those of two.
///
/// Brotli predicts a character by the classes of the two before it (RFC 7932, section 7.1): digits, vowels, capitals, brackets, and
/// a few that are alone in theirs, such as the space. So the bytes that a Wasm has in like places share a class: fitted to the Wasms
/// of this package, this order takes 1 % less than one by frequency. It is the same for all of them, so that what two Wasms
/// share is compressed once.
#[rustfmt::skip]
const SINGLES: [u8; 90] = [
    0x20, 0x71, 0x46, 0x38, 0x10, 0x45, 0x41, 0x7f, 0xfc, 0x16, 0x23, 0x6b, 0xff, 0x01, 0x78, 0x04, 0x18, 0x0f,
    0x14, 0x08, 0x02, 0x07, 0x1c, 0x24, 0x03, 0x6a, 0x1b, 0x00, 0x7e, 0x11, 0x30, 0x0a, 0xc4, 0xe8, 0x0d, 0x09,
    0xc0, 0xb0, 0x22, 0x06, 0xc3, 0xe0, 0xf8, 0xd0, 0xc8, 0x0c, 0xf0, 0x98, 0x21, 0x88, 0xd8, 0x05, 0xa0, 0xa8,
    0x8c, 0x90, 0xb8, 0x40, 0x84, 0x49, 0x0e, 0x47, 0x37, 0x69, 0x74, 0x5f, 0x36, 0xc2, 0x6d, 0x2d, 0x28, 0x73,
    0x63, 0x70, 0x42, 0x68, 0x80, 0x75, 0x72, 0x65, 0x61, 0x3a, 0x29, 0x2c, 0x6c, 0x6e, 0x6f, 0x64, 0x0b, 0x17,
];

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
    let (alphabet, single) = (alphabet(), SINGLES.len());
    let others = (0..=255).filter(|byte| !SINGLES.contains(byte));
    let ranked: Vec<u8> = SINGLES.into_iter().chain(others).collect();
    let mut codes = vec![String::new(); 256];
    for (rank, byte) in ranked.iter().enumerate() {
        let code = &mut codes[usize::from(*byte)];
        if rank >= single {
            code.push(alphabet[single + (rank - single) / alphabet.len()]);
        }
        code.push(alphabet[if rank < single { rank } else { (rank - single) % alphabet.len() }]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_text_of_its_own() {
        let wasm: Vec<u8> = (0..=255).collect();
        let script = inline("all", &wasm).script;
        let (_, ranks) = script.split_once("[256, \"").unwrap();
        let ranks = &ranks[..512];
        for byte in wasm {
            let written = format!("{byte:02x}");
            let times = (0..256).filter(|at| ranks[2 * at..2 * at + 2] == written).count();
            assert_eq!(times, 1, "{written}");
        }
    }
}
