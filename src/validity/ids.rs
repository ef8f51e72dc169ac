//! Call ids as they go out: legal, and each used once in a request.

use super::Provider;
use super::provider::Charset;
use crate::keyed::ByName;

/// Room for the number behind an id that is used again.
const NUMBER: usize = 11;

/// The ids of a request so far. The same calls in the same order always get the same ids.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    used: ByName<'static>,
    /// The last number given out behind each base.
    numbers: ByName<'static>,
}

impl Ids {
    /// The id with which a call goes out: its own if it is legal and new, else one made from it.
    pub(super) fn assign(&mut self, id: &str, provider: Provider) -> Box<str> {
        let mut wire = legal(id, provider);
        if self.used.has(0, &wire) {
            let base = cut(&wire, provider.rules().longest_id.saturating_sub(NUMBER)).to_owned();
            let mut number = self.numbers.get(0, &base).unwrap_or(1);
            while self.used.has(0, &wire) {
                number = number.saturating_add(1);
                wire = format!("{base}_{number}");
            }
            self.numbers.insert(0, base, number);
        }
        self.used.insert(0, wire.clone(), 0);
        wire.into()
    }

    /// Whether a call goes out with this id.
    pub(super) fn has(&self, id: &str) -> bool {
        self.used.has(0, id)
    }
}

/// The id without what the provider refuses.
fn legal(id: &str, provider: Provider) -> String {
    let id = id.trim();
    let legal: String = match provider.rules().ids {
        Charset::Any => id.chars().filter(|c| *c != '\u{fffd}').collect(),
        Charset::Word => id.chars().map(|c| or(c, "_-")).collect(),
        Charset::Path => id.chars().map(|c| or(c, "_-.:")).collect(),
        Charset::Alphanumeric => id.chars().filter(char::is_ascii_alphanumeric).collect(),
    };
    let legal = cut(&legal, provider.rules().longest_id).trim();
    if legal.is_empty() { "call".into() } else { legal.into() }
}

/// The start of a text, of at most `most` code units.
fn cut(text: &str, most: usize) -> &str {
    let mut units: usize = 0;
    let end = text.char_indices().find(|(_, c)| {
        units = units.saturating_add(c.len_utf16());
        units > most
    });
    end.and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

fn or(c: char, marks: &str) -> char {
    if c.is_ascii_alphanumeric() || marks.contains(c) { c } else { '_' }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(provider: Provider, ids: &[&str], expected: &[&str]) {
        let mut all = Ids::default();
        let wire: Vec<_> = ids.iter().map(|id| all.assign(id, provider)).collect();
        assert_eq!(wire.iter().map(|id| &**id).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn legal_and_new_ids_stay() {
        check(Provider::Anthropic, &["toolu_1", "A-b"], &["toolu_1", "A-b"]);
        check(Provider::OpenAiChat, &["functions.ls:0", "é"], &["functions.ls:0", "é"]);
    }

    #[test]
    fn others_are_made_legal_and_do_not_collide() {
        check(
            Provider::Anthropic,
            &["a.b", "a_b", "a:b", "", " "],
            &["a_b", "a_b_2", "a_b_3", "call", "call_2"],
        );
        check(Provider::Anthropic, &["a", "a_2", "a", "a"], &["a", "a_2", "a_3", "a_4"]);
        check(
            Provider::OpenAiChat,
            &["cut \u{fffd}", "cut", "\u{fffd}"],
            &["cut", "cut_2", "call"],
        );
        let spaced = format!("{} y", "x".repeat(63));
        check(Provider::OpenAiChat, &[&spaced], &[&"x".repeat(63)]);
        let long = "x".repeat(70);
        let (first, again) = ("x".repeat(64), format!("{}_2", "x".repeat(53)));
        check(Provider::OpenAiChat, &[&long, &long], &[&first, &again]);
        check(Provider::Anthropic, &[&long, &long], &[&first, &again]);
        check(Provider::OpenAiChat, &[&"😀".repeat(40)], &[&"😀".repeat(32)]);
    }
}
