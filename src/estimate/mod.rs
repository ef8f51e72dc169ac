//! Token estimates: by byte pairs for ten tokenizer families, or by the plain ratios of the systems this follows.
//!
//! Integers only: the same text gives the same number everywhere.

mod overhead;
mod packed;
mod profile;

pub use overhead::{
    CALL, DEFINITION, MESSAGE, RESULT, encrypted_tokens, image_tokens, opaque_tokens,
};
pub use profile::Profile;

use crate::error::{Error, Result, listed};
use crate::text::{char_count_of, utf16_len_of};

/// What tokens are estimated by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// Byte pairs, with a tokenizer family's weights.
    Profile(Profile),
    /// `chars/4`: UTF-16 code units by 4, rounded up.
    Chars4,
    /// `chars/2.1`: UTF-16 code units by 2.1, rounded up, as `AceClaw`'s code has it.
    Chars21,
    /// `cjk`: characters by 4, or by 1.5 where they have more than two bytes on average; rounded down, but at least 1.
    Cjk,
    /// The default profile by thousandths: what stands for a host's own counter where that cannot be asked.
    Scaled(u32),
}

impl Default for Estimator {
    fn default() -> Self {
        Self::Profile(Profile::Generic)
    }
}

impl Estimator {
    /// All of them; a new one is the last, for snapshots know them by their places.
    pub const ALL: [Self; 13] = [
        Self::Profile(Profile::Generic),
        Self::Profile(Profile::Qwen),
        Self::Profile(Profile::Llama3),
        Self::Profile(Profile::Cl100k),
        Self::Profile(Profile::O200k),
        Self::Profile(Profile::Mistral),
        Self::Profile(Profile::Deepseek),
        Self::Profile(Profile::Claude),
        Self::Profile(Profile::Gemini),
        Self::Profile(Profile::Gemma3),
        Self::Chars4,
        Self::Chars21,
        Self::Cjk,
    ];

    /// Its place in `ALL`, from 1 on: what a snapshot knows it by. 0 for a counter of the host's, which may be any.
    pub fn number(self) -> u64 {
        Self::ALL.iter().position(|it| *it == self).map_or(0, |at| wide(at).saturating_add(1))
    }

    /// The estimator of that name.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` with all names there are.
    ///
    /// # Example
    ///
    /// ```
    /// use plimsoll::estimate::Estimator;
    /// assert_eq!(Estimator::parse("chars/4")?.tokens("hello world"), 3);
    /// assert_eq!(Estimator::parse("o200k")?.tokens("hello world"), 3);
    /// assert!(Estimator::parse("gpt2").is_err());
    /// # Ok::<(), plimsoll::error::Error>(())
    /// ```
    pub fn parse(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|estimator| estimator.name() == name).ok_or_else(|| {
            let names = listed(&Self::ALL.map(Self::name), "");
            Error::argument("estimator", &format!("one of {names}"), format_args!("\"{name}\""))
        })
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Profile(profile) => profile.name(),
            Self::Chars4 => "chars/4",
            Self::Chars21 => "chars/2.1",
            Self::Cjk => "cjk",
            Self::Scaled(_) => "a function",
        }
    }

    /// Tokens of `text`: 0 for an empty one, else at least 1.
    ///
    /// Takes time linear in the text. The first use of a profile decodes its table (a few milliseconds).
    pub fn tokens(self, text: &str) -> u32 {
        self.tokens_of(text.as_bytes())
    }

    /// The same of the bytes of a text in UTF-8, which spares the check that they are; other bytes give some number.
    pub fn tokens_of(self, bytes: &[u8]) -> u32 {
        if bytes.is_empty() {
            return 0;
        }
        let tokens = match self {
            Self::Scaled(permille) => {
                let tokens = u64::from(Self::default().tokens_of(bytes));
                tokens.saturating_mul(u64::from(permille)).div_ceil(1000)
            }
            // 64 to a token, rounded up; a sum may be below zero.
            Self::Profile(profile) => {
                let sum = profile.weights().map_or(0, |weights| weights.sum(bytes));
                u64::try_from(sum).unwrap_or_default().div_ceil(64)
            }
            Self::Chars4 => wide(utf16_len_of(bytes)).div_ceil(4),
            Self::Chars21 => wide(utf16_len_of(bytes)).saturating_mul(10).div_ceil(21),
            Self::Cjk => {
                let chars = wide(char_count_of(bytes));
                if wide(bytes.len()) > chars.saturating_mul(2) {
                    chars.saturating_mul(2) / 3
                } else {
                    chars / 4
                }
            }
        };
        u32::try_from(tokens).unwrap_or(u32::MAX).max(1)
    }
}

fn wide(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, text: &str, tokens: u32) {
        assert_eq!(Estimator::parse(name).unwrap().tokens(text), tokens, "{name}");
    }

    /// Row A38.
    #[test]
    fn a_ratio_estimates_tokens_from_characters() {
        for (chars, tokens) in [(0, 0), (1, 1), (4, 2), (5, 3), (12, 6), (42_000, 20_000)] {
            check("chars/2.1", &"x".repeat(chars), tokens);
        }
        check("chars/4", &"x".repeat(42_000), 10_500);
    }

    /// Row A37.
    #[test]
    fn characters_are_counted_in_utf16_units() {
        check("chars/4", "\u{1f600}\u{1f600}\u{e9}", 2);
        check("chars/2.1", "\u{1f600}\u{1f600}", 2);
    }

    /// Row A39.
    #[test]
    fn messages_and_calls_have_an_overhead() {
        assert_eq!((MESSAGE, CALL, RESULT, DEFINITION), (4, 20, 10, 10));
    }

    /// Rows B2, V2.
    #[test]
    fn four_characters_are_a_token_rounded_up() {
        for (text, tokens) in [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2)] {
            check("chars/4", text, tokens);
        }
    }

    /// Row I20.
    #[test]
    fn the_cjk_estimator_weighs_characters_by_script() {
        check("cjk", "", 0);
        check("cjk", "hello world", 2);
        check("cjk", "abc", 1);
        check("cjk", "\u{4e0a}\u{4e0b}\u{6587}\u{7a97}\u{53e3}\u{7ba1}", 4);
        check("cjk", &"\u{e9}".repeat(10), 2);
        let vietnamese = "xin chào, tôi là một trợ lý";
        assert_eq!(vietnamese.chars().count(), 27);
        check("cjk", vietnamese, 6);
    }

    /// In bytes that `&str` cannot hold, too, nothing overflows and no index is out of range.
    #[test]
    fn any_bytes_have_an_estimate() {
        let mut seed = 7_u32;
        let bytes: Vec<u8> = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let [_, _, _, byte] = seed.to_le_bytes();
            byte | if seed & 0x10_0000 == 0 { 0xf0 } else { 0 }
        })
        .take(20_000)
        .collect();
        let runs = [[0xff; 99].as_slice(), &[0x80, 0xbf, 0xf4].repeat(40), &bytes].concat();
        for name in ["generic", "claude", "chars/4", "chars/2.1", "cjk"] {
            assert!(Estimator::parse(name).unwrap().tokens_of(&runs) > 0, "{name}");
        }
    }

    #[test]
    fn an_unknown_estimator_is_refused_with_the_known_names() {
        let error = Estimator::parse("gpt-5").unwrap_err();
        assert_eq!(
            error.to_string(),
            "estimator: expected one of generic, qwen, llama3, cl100k, o200k, mistral, deepseek, claude, gemini, \
             gemma3, chars/4, chars/2.1, cjk, got \"gpt-5\""
        );
        assert_eq!(Estimator::default().name(), "generic");
    }
}
