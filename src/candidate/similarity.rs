//! Similarity of two candidates: by the words of their content, and their tags (A95).

use crate::hash;
use crate::sort::sort_set;

/// One, in the units of a share.
const MILLION: u64 = 1_000_000;

/// A set of words by their hashes: sets are compared by merging, and hold no text. A collision in 32 bits makes two texts a word more
/// alike, which no threshold notices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Words(Vec<u32>);

impl Words {
    /// The words of a text, in lower case: letters, digits and `_` that stand together; where a script writes no spaces,
    /// each pair of neighbours.
    pub(super) fn of(text: &str) -> Self {
        let mut set = Self::default();
        words(text, |char| char.is_alphanumeric() || char == '_', &mut |word| set.add(word));
        sort_set(&mut set.0);
        set
    }

    /// The set of these words.
    pub(super) fn from<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let mut set = Self::default();
        for word in words {
            set.add(&word.to_lowercase());
        }
        sort_set(&mut set.0);
        set
    }

    fn add(&mut self, word: &str) {
        let hash = hash::bytes(0, word.as_bytes()) >> 32;
        self.0.push(u32::try_from(hash).unwrap_or_default());
    }

    /// Their hashes, ascending.
    pub(super) fn hashes(&self) -> &[u32] {
        &self.0
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn shared(&self, other: &Self) -> u64 {
        let mut shared = 0u64;
        let mut others = other.0.iter().peekable();
        for hash in &self.0 {
            while others.next_if(|other| *other < hash).is_some() {}
            shared = shared.saturating_add(u64::from(others.next_if_eq(&hash).is_some()));
        }
        shared
    }

    /// How many both have, and how many either; nothing is not like nothing (F135).
    fn jaccard(&self, other: &Self) -> (u64, u64) {
        let shared = self.shared(other);
        let all = self.len().saturating_add(other.len()).saturating_sub(shared);
        (shared, all.max(1))
    }
}

/// How alike two are, in millionths: 0.7 of it the words, 0.3 the tags. Where neither has tags, words alone tell.
pub(super) fn similarity(words: [&Words; 2], tags: [&Words; 2]) -> u64 {
    let [a, b] = tags;
    let tagged = a.len().saturating_add(b.len()) > 0;
    let (shared_tags, all_tags) = a.jaccard(b);
    let [a, b] = words;
    let (shared, all) = a.jaccard(b);
    // Over one denominator: half is half, and not a millionth less.
    let (shared, all) = if tagged {
        let words = shared.saturating_mul(7).saturating_mul(all_tags);
        let tags = shared_tags.saturating_mul(3).saturating_mul(all);
        (words.saturating_add(tags), all.saturating_mul(all_tags).saturating_mul(10))
    } else {
        (shared, all)
    };
    shared.saturating_mul(MILLION).checked_div(all).unwrap_or(0)
}

/// Tells `found` each word of a text, in lower case.
pub(super) fn words(text: &str, is_word: impl Fn(char) -> bool, found: &mut dyn FnMut(&str)) {
    let text = text.to_lowercase();
    let mut run = Run::default();
    for (at, char) in text.char_indices() {
        let dense = is_dense(char);
        if !is_word(char) || dense != run.dense {
            run.end(&text, at, found);
        }
        if is_word(char) {
            run.go_on(&text, at, char.len_utf8(), dense, found);
        }
    }
    run.end(&text, text.len(), found);
}

/// Signs that stand together, and are of one sort.
#[derive(Default)]
struct Run {
    start: usize,
    /// Where the last sign starts.
    last: usize,
    signs: u32,
    dense: bool,
}

impl Run {
    fn go_on(
        &mut self,
        text: &str,
        at: usize,
        len: usize,
        dense: bool,
        found: &mut dyn FnMut(&str),
    ) {
        if self.signs == 0 {
            self.start = at;
        } else if dense {
            found(text.get(self.last..at.saturating_add(len)).unwrap_or_default());
        }
        self.dense = dense;
        self.last = at;
        self.signs = self.signs.saturating_add(1);
    }

    fn end(&mut self, text: &str, at: usize, found: &mut dyn FnMut(&str)) {
        if self.signs == 1 || (self.signs > 1 && !self.dense) {
            found(text.get(self.start..at).unwrap_or_default());
        }
        *self = Self::default();
    }
}

/// Scripts in which words are not parted by spaces, or carry their particles with them: Thai, Lao, Myanmar, Khmer,
/// kana, Han, Hangul.
const fn is_dense(char: char) -> bool {
    matches!(char,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{30ff}' | '\u{3130}'..='\u{318f}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        words(text, |char| char.is_alphanumeric() || char == '_', &mut |word| {
            all.push(word.into());
        });
        all
    }

    fn alike(a: &str, b: &str) -> u64 {
        let none = Words::default();
        similarity([&Words::of(a), &Words::of(b)], [&none, &none])
    }

    /// Row A95.
    #[test]
    fn a_text_is_split_into_lower_case_words() {
        assert_eq!(words_of("Run `cargo_test`, then: ÉTÉ!"), ["run", "cargo_test", "then", "été"]);
        assert!(words_of("?! --").is_empty());
    }

    /// F135: where no space parts words, pairs of signs do.
    /// Row F135.
    #[test]
    fn text_without_spaces_is_split_into_pairs_of_characters() {
        assert_eq!(words_of("运行测试"), ["运行", "行测", "测试"]);
        assert_eq!(words_of("先 run测试a再"), ["先", "run", "测试", "a", "再"]);
        assert_eq!(words_of("ファイル"), ["ファ", "ァイ", "イル"]);
        assert_eq!(words_of("파일을"), ["파일", "일을"]);
        assert_eq!(words_of("ไทย"), ["ไท", "ทย"]);
    }

    /// Row F135.
    #[test]
    fn texts_without_words_are_not_similar() {
        assert_eq!(alike("?!", "…"), 0);
        assert_eq!(alike("", ""), 0);
        assert_eq!(alike("先运行全部测试", "不要修改配置文件"), 0);
        assert!(alike("提交之前先运行全部测试", "提交之前运行全部测试") > 700_000);
    }

    /// Row A95.
    #[test]
    fn words_weigh_seven_tenths_and_tags_three() {
        let of = |a: &str, b: &str, tags: [&[&str]; 2]| {
            let tags = tags.map(|tags| Words::from(tags.iter().copied()));
            similarity([&Words::of(a), &Words::of(b)], [&tags[0], &tags[1]])
        };
        assert_eq!(of("a b c", "a b d", [&["x"], &["X"]]), 650_000);
        assert_eq!(of("a b c", "a b c", [&["x"], &[]]), 700_000);
        assert_eq!(of("a b c", "a b d", [&[], &[]]), 500_000);
        assert_eq!(of("a", "b", [&["x", "y"], &["x"]]), 150_000);
        assert_eq!(of("a b c d", "a b e f g", [&["x"], &["x"]]), 500_000, "2/7 of 0.7, and 0.3");
    }
}
