//! The language of the user, by script or by the small words that every sentence has (F167).

/// Signs of a text that are looked at.
const MOST_SIGNS: usize = 4_000;
/// A language is told by so many of its words, and more than any other has.
const LEAST_WORDS: usize = 3;

/// Words that only this language, of these, has often.
const WORDS: [(&str, &[&str]); 9] = [
    (
        "English",
        &["the", "and", "is", "of", "to", "it", "that", "with", "this", "please", "you", "what"],
    ),
    (
        "German",
        &[
            "der", "die", "das", "und", "ist", "nicht", "ich", "ein", "eine", "bitte", "mit",
            "für", "auf", "wie",
        ],
    ),
    (
        "French",
        &[
            "le", "les", "des", "et", "est", "une", "pas", "pour", "dans", "vous", "je", "avec",
            "qui", "sur",
        ],
    ),
    (
        "Spanish",
        &[
            "el", "los", "las", "y", "es", "una", "por", "favor", "para", "con", "está", "pero",
            "cómo", "del",
        ],
    ),
    (
        "Portuguese",
        &[
            "o", "os", "não", "uma", "um", "é", "por", "para", "com", "está", "você", "do", "da",
            "em",
        ],
    ),
    (
        "Italian",
        &[
            "il", "lo", "gli", "è", "non", "che", "una", "per", "con", "sono", "della", "di",
            "questo", "come",
        ],
    ),
    (
        "Vietnamese",
        &[
            "và", "là", "của", "có", "không", "cho", "này", "được", "một", "tôi", "bạn", "các",
            "hãy", "trong",
        ],
    ),
    (
        "Dutch",
        &[
            "de", "het", "een", "en", "niet", "van", "ik", "dat", "voor", "met", "zijn", "graag",
            "maar", "deze",
        ],
    ),
    (
        "Turkish",
        &[
            "ve", "bir", "bu", "için", "ile", "değil", "lütfen", "ne", "çok", "daha", "olarak",
            "gibi", "mi", "ben",
        ],
    ),
];

/// Names of the languages whose codes hosts give.
const CODES: [(&str, &str); 16] = [
    ("en", "English"),
    ("zh", "Chinese"),
    ("vi", "Vietnamese"),
    ("es", "Spanish"),
    ("de", "German"),
    ("fr", "French"),
    ("ja", "Japanese"),
    ("ko", "Korean"),
    ("ru", "Russian"),
    ("pt", "Portuguese"),
    ("it", "Italian"),
    ("nl", "Dutch"),
    ("tr", "Turkish"),
    ("ar", "Arabic"),
    ("he", "Hebrew"),
    ("th", "Thai"),
];

/// The name of a language that a host gave as a code; else what it gave.
pub(super) fn named(language: &str) -> &str {
    let code = language.split(['-', '_']).next().unwrap_or(language);
    let known = CODES.iter().find(|(known, _)| known.eq_ignore_ascii_case(code));
    known.map_or(language, |(_, name)| *name)
}

/// The language of these texts, of the user's; `None` where too little is said.
pub(super) fn language_of(text: &str) -> Option<&'static str> {
    let end = text.char_indices().nth(MOST_SIGNS).map_or(text.len(), |(at, _)| at);
    let text = text.get(..end).unwrap_or_default();
    by_script(text).or_else(|| by_words(text))
}

/// By the script of a tenth of its letters; kana before the characters that Chinese has too.
fn by_script(text: &str) -> Option<&'static str> {
    const SCRIPTS: [&str; 9] =
        ["Japanese", "Korean", "Chinese", "Russian", "Arabic", "Hebrew", "Thai", "Greek", "Hindi"];
    let mut counts = [0_usize; SCRIPTS.len()];
    let mut letters = 0_usize;
    for sign in text.chars().filter(|sign| sign.is_alphabetic()) {
        letters = letters.saturating_add(1);
        let script = match sign {
            '\u{3040}'..='\u{30ff}' => 0,
            '\u{ac00}'..='\u{d7a3}' | '\u{1100}'..='\u{11ff}' => 1,
            '\u{3400}'..='\u{9fff}' => 2,
            '\u{400}'..='\u{4ff}' => 3,
            '\u{600}'..='\u{6ff}' => 4,
            '\u{590}'..='\u{5ff}' => 5,
            '\u{e00}'..='\u{e7f}' => 6,
            '\u{370}'..='\u{3ff}' => 7,
            '\u{900}'..='\u{97f}' => 8,
            _ => continue,
        };
        if let Some(count) = counts.get_mut(script) {
            *count = count.saturating_add(1);
        }
    }
    let [kana, _, han, ..] = counts;
    if kana > 0 && kana.saturating_add(han).saturating_mul(10) >= letters {
        return Some("Japanese");
    }
    let found =
        counts.iter().position(|count| *count > 0 && count.saturating_mul(10) >= letters)?;
    SCRIPTS.get(found).copied()
}

/// By the words of that language, where they are more than those of any other.
fn by_words(text: &str) -> Option<&'static str> {
    let lower = text.to_ascii_lowercase();
    let words = || lower.split(|sign: char| !sign.is_alphabetic()).filter(|word| !word.is_empty());
    let mut best: Option<(usize, &'static str)> = None;
    let mut tied = false;
    for (name, own) in WORDS {
        let count = words().filter(|word| own.contains(word)).count();
        let most = best.map_or(0, |(most, _)| most);
        tied = count == most || (tied && count < most);
        if count > most {
            best = Some((count, name));
        }
    }
    best.filter(|(count, _)| *count >= LEAST_WORDS && !tied).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row F167.
    #[test]
    fn the_language_of_the_user_is_recognized() {
        for (text, expected) in [
            ("Please fix the build and tell me what is wrong with it", Some("English")),
            (
                "Bitte behebe den Fehler, der Build ist nicht grün und ich weiß nicht wie",
                Some("German"),
            ),
            (
                "Corrige le bogue dans les tests, je ne sais pas pour quoi et est-ce une erreur",
                Some("French"),
            ),
            (
                "Por favor corrige el error en las pruebas y para los casos del parser",
                Some("Spanish"),
            ),
            ("Não sei o que é, corrija o erro do teste com uma função em Rust", Some("Portuguese")),
            ("Hãy sửa lỗi này cho tôi và viết một bài kiểm tra, không có lỗi", Some("Vietnamese")),
            ("修复构建错误", Some("Chinese")),
            ("ビルドを直してください", Some("Japanese")),
            ("빌드를 고쳐 주세요", Some("Korean")),
            ("Исправь сборку", Some("Russian")),
            ("修复 src/main.rs 的错误 in the parser module", Some("Chinese")),
            ("ls -la src", None),
            ("", None),
        ] {
            assert_eq!(language_of(text), expected, "{text}");
        }
    }

    #[test]
    fn language_codes_are_written_as_names() {
        assert_eq!(named("de"), "German");
        assert_eq!(named("pt-BR"), "Portuguese");
        assert_eq!(named("Klingon"), "Klingon");
    }
}
