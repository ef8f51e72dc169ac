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
            None => packed::decode(self.code(), None),
            Some(like) => {
                let [first, second] = like.map(|profile| profile.weights().map(Weights::plain));
                packed::decode(self.code(), Some([&first?, &second?]))
            }
        };
        Some(slot.get_or_init(|| Weights::new(&table)))
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

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use serde_json::Value;

    use super::*;
    use crate::text::pairs::CLASS;

    /// Renews `tables.bin` from the fitted model where that is at hand, and says when it was not current.
    #[test]
    #[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "reads the fitted model")]
    fn the_tables_equal_those_of_the_fitted_model() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let Ok(model) = fs::read_to_string(root.join("../shared/spec/estimate/model.json")) else {
            println!("skipped: ../shared is absent");
            return;
        };
        let model: Value = serde_json::from_str(&model).unwrap();
        let numbers = |value: &Value| -> Vec<i16> {
            let values = value.as_array().unwrap().iter();
            values.map(|n| i16::try_from(n.as_i64().unwrap()).unwrap()).collect()
        };
        let classes = numbers(&model["byte_class"]);
        assert_eq!(classes, CLASS.map(i16::from));

        let mut tables: Vec<Vec<i16>> = Vec::new();
        let (mut lengths, mut codes) = (Vec::new(), Vec::new());
        for profile in Profile::ALL {
            let table = numbers(&model["weights"][profile.name()]);
            let like = profile.like().map(|like| like.map(|p| tables[p as usize].as_slice()));
            let (code, table) = packed::tests::encode(&table, like);
            lengths.extend(u16::try_from(code.len()).unwrap().to_le_bytes());
            codes.extend(code);
            tables.push(table);
        }
        let file = [lengths, codes].concat();
        println!("tables.bin: {} bytes", file.len());
        if file != TABLES {
            fs::write(root.join("src/estimate/tables.bin"), &file).unwrap();
            panic!("tables.bin was not that of the model; it has been renewed: run again");
        }
        for (profile, table) in Profile::ALL.into_iter().zip(&tables) {
            assert_eq!(profile.weights(), Some(&Weights::new(table)), "{}", profile.name());
        }
    }
}
