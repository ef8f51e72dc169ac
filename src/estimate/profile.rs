//! The tokenizer families for which there are tables.

use std::sync::OnceLock;

use super::packed;
use crate::text::pairs::Weights;

/// All tables: ten lengths of two bytes, low byte first, then the codes, in the order of `Profile::ALL`.
const TABLES: &[u8] = include_bytes!("tables.bin");
/// What is linked of them: a Wasm without sessions estimates by the first profile alone.
static LINKED: [u8; LINKED_BYTES] = match TABLES.first_chunk() {
    Some(linked) => *linked,
    None => [0; LINKED_BYTES],
};
const LINKED_BYTES: usize = match TABLES.first_chunk() {
    Some(&first) if !cfg!(feature = "context") => LENGTHS + u16::from_le_bytes(first) as usize,
    _ => TABLES.len(),
};
/// The weights of the first profile as they are, two bytes each, low byte first: in a Wasm that is read from a disk, bytes cost less
/// than the two milliseconds that decoding them takes of a start.
#[cfg(any(test, feature = "plain-weights"))]
const PLAIN: &[u8] = include_bytes!("generic.bin");
const LENGTHS: usize = 2 * Profile::ALL.len();
static DECODED: [OnceLock<Weights>; Profile::ALL.len()] =
    [const { OnceLock::new() }; Profile::ALL.len()];

/// A tokenizer family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Fitted to all the others at once.
    Generic,
    /// Qwen 3.
    Qwen,
    /// Llama 3.
    Llama3,
    /// GPT-3.5 and GPT-4.
    Cl100k,
    /// GPT-4o, GPT-5 and the o series.
    O200k,
    /// Mistral Nemo.
    Mistral,
    /// `DeepSeek` V3.
    Deepseek,
    /// Claude's last published vocabulary. Claude 3 and 4 count about a tenth more.
    Claude,
    /// Gemini.
    Gemini,
    /// Gemma 3.
    Gemma3,
}

impl Profile {
    /// All of them; each after those that its table is like.
    pub const ALL: [Self; 10] = [
        Self::Generic,
        Self::Qwen,
        Self::Llama3,
        Self::Cl100k,
        Self::O200k,
        Self::Mistral,
        Self::Deepseek,
        Self::Claude,
        Self::Gemini,
        Self::Gemma3,
    ];

    /// Its name in options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::Qwen => "qwen",
            Self::Llama3 => "llama3",
            Self::Cl100k => "cl100k",
            Self::O200k => "o200k",
            Self::Mistral => "mistral",
            Self::Deepseek => "deepseek",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
            Self::Gemma3 => "gemma3",
        }
    }

    /// The two tables that its own is coded against: found by trying.
    const fn like(self) -> Option<[Self; 2]> {
        match self {
            Self::Generic => None,
            Self::Qwen => Some([Self::Generic, Self::Generic]),
            Self::Llama3 => Some([Self::Qwen, Self::Generic]),
            Self::Cl100k => Some([Self::Llama3, Self::Qwen]),
            Self::O200k => Some([Self::Generic, Self::Qwen]),
            Self::Mistral | Self::Gemini => Some([Self::O200k, Self::Generic]),
            Self::Deepseek => Some([Self::Mistral, Self::Generic]),
            Self::Claude => Some([Self::Generic, Self::Cl100k]),
            Self::Gemma3 => Some([Self::Gemini, Self::O200k]),
        }
    }

    /// Its weights; decoded at first use, with those they are like.
    pub fn weights(self) -> Option<&'static Weights> {
        let slot = DECODED.get(self as usize)?;
        if let Some(weights) = slot.get() {
            return Some(weights);
        }
        let table = match self.like() {
            #[cfg(feature = "plain-weights")]
            None => plain_weights(),
            #[cfg(not(feature = "plain-weights"))]
            None => packed::decode(self.code(), None),
            Some(like) => self.decoded(like)?,
        };
        Some(slot.get_or_init(|| Weights::new(&table)))
    }

    /// Its table, which is coded against those of two others.
    #[inline(never)]
    fn decoded(self, like: [Self; 2]) -> Option<Vec<i16>> {
        let [first, second] = like.map(|profile| profile.weights().map(Weights::plain));
        Some(packed::decode(self.code(), Some([&first?, &second?])))
    }

    /// Its part of the tables.
    fn code(self) -> &'static [u8] {
        let mut lengths = LINKED.as_chunks::<2>().0.iter().map(|&two| u16::from_le_bytes(two));
        let before = lengths.by_ref().take(self as usize).map(usize::from).sum::<usize>();
        let start = before.saturating_add(LENGTHS);
        let length = lengths.next().map_or(0, usize::from);
        LINKED.get(start..start.saturating_add(length)).unwrap_or_default()
    }
}

#[cfg(any(test, feature = "plain-weights"))]
fn plain_weights() -> Vec<i16> {
    PLAIN.as_chunks::<2>().0.iter().map(|&two| i16::from_le_bytes(two)).collect()
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use serde_json::Value;

    use super::*;
    use crate::estimate::Estimator;
    use crate::text::pairs::CLASS;

    #[test]
    fn a_long_run_costs_tokens_in_every_table() {
        for profile in Profile::ALL {
            let tokens =
                |text: &str, times| Estimator::Profile(profile).tokens(&text.repeat(times));
            assert!(tokens("x", 1064) >= tokens("x", 40) + 30, "{profile:?}");
            assert!(tokens(" ", 2000) >= tokens(" ", 40), "{profile:?}");
        }
    }

    /// `PLIMSOLL_MODEL` names a model to pack in place of the tables: `cargo xtask fit --write` does. Before the code of
    /// `packed.rs` is changed, `dump tables` (`examples/dump.rs`) saves the tables as such a model.
    #[test]
    #[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "reads and writes files")]
    fn the_tables_are_packed_as_the_code_packs_them() {
        let plain = |profile: Profile| profile.weights().map(Weights::plain).unwrap();
        let model = env::var_os("PLIMSOLL_MODEL").map(|path| fs::read(path).unwrap());
        let tables = model.as_deref().map_or_else(|| Profile::ALL.map(plain), tables);
        let file = packed_file(&tables);
        let [generic, ..] = &tables;
        println!("tables.bin: {} bytes, in place: {}", file.len(), TABLES.len());
        if model.is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/estimate/tables.bin");
            fs::write(path, file).unwrap();
            let bytes: Vec<u8> = generic.iter().flat_map(|it| it.to_le_bytes()).collect();
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/estimate/generic.bin");
            fs::write(path, bytes).unwrap();
        } else {
            assert!(*generic == plain_weights(), "generic.bin is not the first of the tables");
            assert!(file == TABLES, "tables.bin is not what its own tables are packed to");
        }
    }

    /// The tables of a model, as `fit/` writes it.
    fn tables(model: &[u8]) -> [Vec<i16>; Profile::ALL.len()] {
        let model: Value = serde_json::from_slice(model).unwrap();
        let numbers = |value: &Value| -> Vec<i16> {
            let values = value.as_array().unwrap().iter();
            values.map(|n| i16::try_from(n.as_i64().unwrap()).unwrap()).collect()
        };
        assert_eq!(numbers(&model["byte_class"]), CLASS.map(i16::from));
        Profile::ALL.map(|profile| numbers(&model["weights"][profile.name()]))
    }

    fn packed_file(tables: &[Vec<i16>; Profile::ALL.len()]) -> Vec<u8> {
        let mut done: Vec<Vec<i16>> = Vec::new();
        let (mut lengths, mut codes) = (Vec::new(), Vec::new());
        for (profile, table) in Profile::ALL.into_iter().zip(tables) {
            let like = profile.like().map(|like| like.map(|p| done[p as usize].as_slice()));
            assert_eq!(table.len(), packed::WEIGHTS, "{}", profile.name());
            let (code, table) = packed::tests::encode(table, like);
            lengths.extend(u16::try_from(code.len()).unwrap().to_le_bytes());
            codes.extend(code);
            done.push(table);
        }
        [lengths, codes].concat()
    }
}
