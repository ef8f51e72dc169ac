//! `OneClaw`'s way: memories and a question in one text, within a budget of characters (V1-V11).

use crate::text::{prefix, utf16_len};

/// The words that stand in such a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locale {
    /// Over the memories.
    pub memory_header: String,
    /// Where memories were left out.
    pub truncated: String,
    /// After a text that was cut.
    pub compressed: String,
    /// Before the message.
    pub question: String,
}

impl Locale {
    /// The words of a language: `en`, `vi` (the document's own, D12), `zh`.
    pub fn named(name: &str) -> Option<Self> {
        let [memory_header, truncated, compressed, question] = match name {
            "en" => [
                "Related data from memory:",
                "(... more was left out)",
                "(shortened)",
                "Question/request:",
            ],
            "vi" => [
                "Dữ liệu liên quan từ bộ nhớ:",
                "(… còn nữa nhưng đã cắt bớt)",
                "(đã rút gọn)",
                "Câu hỏi/yêu cầu:",
            ],
            "zh" => ["记忆中的相关资料：", "（……其余已省略）", "（已缩短）", "问题/请求："],
            _ => return None,
        }
        .map(String::from);
        Some(Self { memory_header, truncated, compressed, question })
    }
}

/// Memories and a message in at most `max_chars` UTF-16 code units. The message is always whole: where it alone is longer,
/// so is the text.
///
/// Memories stand in their order; one that does not fit is left out, and later ones that do still come (V10). Where any was
/// left out, a line says so, if there is room for it.
pub fn build_context(
    memories: &[&str],
    message: &str,
    max_chars: usize,
    locale: &Locale,
) -> String {
    let question = format!("{} {message}", locale.question);
    if memories.is_empty() {
        return question;
    }
    let header = format!("{}\n", locale.memory_header);
    let line = |memory: &str| format!("- {memory}\n");
    let notice = format!("{}\n", locale.truncated);
    // Before the question stands a blank line.
    let fixed = utf16_len(&header).saturating_add(1).saturating_add(utf16_len(&question));
    let Some(room) = max_chars.checked_sub(fixed) else { return question };
    let sizes: Vec<usize> = memories.iter().map(|memory| utf16_len(&line(memory))).collect();
    let all = sizes.iter().fold(0usize, |sum, size| sum.saturating_add(*size));
    // If not all fit, the line that says so has to.
    let mut left = if all <= room { room } else { room.saturating_sub(utf16_len(&notice)) };
    let mut body = String::new();
    for (memory, size) in memories.iter().zip(sizes) {
        if size <= left {
            left = left.saturating_sub(size);
            body.push_str(&line(memory));
        }
    }
    if all > room && utf16_len(&notice) <= room {
        body.push_str(&notice);
    }
    if body.is_empty() { question } else { format!("{header}{body}\n{question}") }
}

/// A text in at most `max_chars` UTF-16 code units, with a word after it that says so if it was cut; where there is no room for
/// the word, without.
pub fn compress(text: &str, max_chars: usize, locale: &Locale) -> String {
    if utf16_len(text) <= max_chars {
        return text.to_owned();
    }
    let marker = format!("... {}", locale.compressed);
    match max_chars.checked_sub(utf16_len(&marker)) {
        Some(room) => format!("{}{marker}", prefix(text, room)),
        None => prefix(text, max_chars).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vi() -> Locale {
        Locale::named("vi").unwrap()
    }

    /// V8: a hundred memories into 200: theirs came to 222 bytes. Ours keeps to the budget, in characters (D12).
    /// Row V8.
    #[test]
    fn a_hundred_memories_are_cut_to_fifty_tokens() {
        let memories: Vec<String> = (0..100)
            .map(|at| format!("Memory entry {at} with a lot of content to fill up space"))
            .collect();
        let memories: Vec<&str> = memories.iter().map(String::as_str).collect();
        let text = build_context(&memories, "query", 200, &vi());
        assert_eq!(
            text,
            "Dữ liệu liên quan từ bộ nhớ:\n- Memory entry 0 with a lot of content to fill up space\n\
             - Memory entry 1 with a lot of content to fill up space\n(… còn nữa nhưng đã cắt bớt)\n\nCâu hỏi/yêu cầu: query"
        );
        assert!(utf16_len(&text) <= 200);
    }

    /// V5, V9: header, values, message; without memories only the question.
    /// Row V5.
    #[test]
    fn memories_are_placed_before_the_question() {
        let text = build_context(&["a", "b"], "why?", 1_000, &Locale::named("en").unwrap());
        assert_eq!(text, "Related data from memory:\n- a\n- b\n\nQuestion/request: why?");
        assert_eq!(build_context(&[], "xin chào", 10, &vi()), "Câu hỏi/yêu cầu: xin chào");
        let long = "x".repeat(500);
        assert_eq!(build_context(&["a"], &long, 10, &vi()), format!("Câu hỏi/yêu cầu: {long}"));
    }

    /// V10: one memory that is too long does not end the list.
    /// Row V10.
    #[test]
    fn a_memory_that_fits_follows_one_that_does_not() {
        let long = "x".repeat(500);
        let text = build_context(&[&long, "short"], "q", 120, &vi());
        assert!(text.contains("- short\n(… còn") && !text.contains("xxx"), "{text}");
    }

    #[test]
    fn memories_that_just_fit_have_no_notice_behind_them() {
        let memories = ["the user likes short answers", "the project is in Rust"];
        let all = "Related data from memory:\n- the user likes short answers\n- the project is in Rust\n\nQuestion/request: why?";
        let within = |max| build_context(&memories, "why?", max, &Locale::named("en").unwrap());
        assert_eq!(within(utf16_len(all)), all);
        assert_eq!(
            within(utf16_len(all) - 1),
            "Related data from memory:\n- the user likes short answers\n(... more was left out)\n\nQuestion/request: why?"
        );
    }

    /// V4, V7: theirs came out one over its target, and cut inside characters.
    /// Row V4.
    #[test]
    fn a_text_is_compressed_to_its_target() {
        let cut = compress(&"a".repeat(1_000), 200, &vi());
        assert_eq!(utf16_len(&cut), 200);
        assert!(cut.ends_with("... (đã rút gọn)"));
        assert_eq!(compress("abc", 3, &vi()), "abc");
        assert_eq!(compress("abcdef", 3, &vi()), "abc");
        assert_eq!(
            compress(&"ệ".repeat(100), 20, &vi()),
            format!("{}... (đã rút gọn)", "ệ".repeat(4))
        );
    }

    proptest! {
        #[test]
        fn memories_exceed_the_budget_only_if_the_message_does(
            memories in prop::collection::vec("\\PC{0,60}", 0..12), message in "\\PC{0,40}", max in 0usize..400,
        ) {
            let memories: Vec<&str> = memories.iter().map(String::as_str).collect();
            let text = build_context(&memories, &message, max, &vi());
            let alone = utf16_len(&build_context(&[], &message, max, &vi()));
            prop_assert!(utf16_len(&text) <= max.max(alone));
            prop_assert!(text.ends_with(&message));
            prop_assert!(utf16_len(&compress(&message, max, &vi())) <= max);
        }
    }
}
