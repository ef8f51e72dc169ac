//! Call ids as they go out: legal, and each used once in a request.

use std::borrow::Cow;
use std::rc::Rc;

use super::Provider;
use super::provider::Charset;
use crate::hash::{bytes, fnv, mix};
use crate::hash_index::{ByName, Hashes};

/// Room for the number after an id that is used again.
/// `_` and the ten digits of the largest `u32`.
const NUMBER: usize = 11;

/// The ids of a request so far. The same calls in the same order always get the same ids.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    /// A body of Anthropic's own goes to Bedrock as it is, and `InvokeModel` wants Anthropic's ids; Converse takes more.
    pub(super) as_written: bool,
    /// By their hashes: one that is taken for used and is not goes out with a number, as if it were.
    used: Hashes,
    /// The last number given out after each base.
    numbers: ByName<'static>,
}

impl Ids {
    /// The id with which a call goes out: its own if it is legal and new, else one made from it.
    #[inline(never)]
    pub(super) fn assign(&mut self, id: &str, provider: Provider) -> Rc<str> {
        let mut wire = legal(id, provider, self.as_written);
        if !self.used.insert(hash(&wire)) {
            wire = self.numbered(wire, provider);
            self.used.insert(hash(&wire));
        }
        wire.into()
    }

    /// A new id, made from one that an earlier call has.
    #[inline(never)]
    fn numbered<'w>(&mut self, mut wire: Cow<'w, str>, provider: Provider) -> Cow<'w, str> {
        if provider.rules().ids == Charset::Exact {
            for again in 1.. {
                if !self.has(&wire) {
                    break;
                }
                wire = exact(&wire, again, provider.rules().longest_id).into();
            }
        } else {
            let base = cut(&wire, provider.rules().longest_id.saturating_sub(NUMBER)).to_owned();
            let mut number = self.numbers.get(0, &base).unwrap_or(1);
            while self.has(&wire) {
                number = number.saturating_add(1);
                wire = format!("{base}_{number}").into();
            }
            self.numbers.insert(0, base, number);
        }
        wire
    }

    /// Whether a call goes out with this id.
    pub(super) fn has(&self, id: &str) -> bool {
        self.used.has(hash(id))
    }
}

fn hash(id: &str) -> u64 {
    bytes(0, id.as_bytes())
}

/// The id without what the provider refuses.
fn legal(id: &str, provider: Provider, as_written: bool) -> Cow<'_, str> {
    // Some hosts write the id of a call or of its result with white space around it; both must come to the same id
    // (I5).
    let id = id.trim();
    let most = provider.rules().longest_id;
    let marks = match provider.rules().ids {
        Charset::Word => "_-",
        Charset::Path if as_written => "_-",
        Charset::Any | Charset::Path => "_-.:",
        Charset::Exact => {
            let fits = id.len() == most && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
            return if fits { id.into() } else { exact(id, 0, most).into() };
        }
    };
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || marks.as_bytes().contains(&byte);
    if !id.is_empty() && id.len() <= most && id.bytes().all(is_legal) {
        return id.into();
    }
    made_legal(id, provider, |c| u8::try_from(c).is_ok_and(is_legal)).into()
}

#[inline(never)]
fn made_legal(id: &str, provider: Provider, is_legal: impl Fn(char) -> bool) -> String {
    let most = provider.rules().longest_id;
    let legal: String = if provider.rules().ids == Charset::Any {
        id.chars().filter(|c| *c != '\u{fffd}').collect()
    } else {
        id.chars().map(|c| if is_legal(c) { c } else { '_' }).collect()
    };
    let legal = cut(&legal, most).trim();
    if legal.is_empty() { "call".into() } else { legal.to_owned() }
}

/// An id of exactly so many letters and digits for the `again`-th use of this one. By a hash and not by cutting: ids of one host often
/// begin alike, and call and result must come to the same id wherever they stand.
fn exact(id: &str, again: u64, length: usize) -> String {
    let mut rest = mix(fnv(id.bytes()).wrapping_add(again));
    let digits = (0..length).filter_map(|_| {
        let digit = u32::try_from(rest % 36).ok()?;
        rest /= 36;
        char::from_digit(digit, 36)
    });
    digits.collect()
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
    fn legal_ids_are_unchanged() {
        check(Provider::Anthropic, &["toolu_1", "A-b"], &["toolu_1", "A-b"]);
        check(Provider::OpenAiChat, &["functions.ls:0", "é"], &["functions.ls:0", "é"]);
    }

    #[test]
    fn illegal_ids_are_made_legal_and_do_not_collide() {
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
        check(
            Provider::Bedrock,
            &["functions.ls:0", "a/b", "a_b"],
            &["functions.ls:0", "a_b", "a_b_2"],
        );
    }

    #[test]
    fn a_body_that_goes_as_it_is_has_the_ids_of_its_format() {
        let mut all = Ids { as_written: true, ..Ids::default() };
        assert_eq!(&*all.assign("functions.ls:0", Provider::Bedrock), "functions_ls_0");
    }

    #[test]
    fn mistral_has_nine_letters_and_digits_however_many_ids_there_are() {
        // The same in every version: a session that goes on sends the ids that it has sent.
        check(Provider::Mistral, &["toolu_1"], &["8jg0uedmd"]);
        let mut all = Ids::default();
        let mut seen = std::collections::BTreeSet::new();
        for at in 0..2000 {
            let id = format!("toolu_{}", at % 1000);
            let wire = all.assign(&id, Provider::Mistral);
            assert!(
                wire.len() == 9 && wire.bytes().all(|byte| byte.is_ascii_alphanumeric()),
                "{wire}"
            );
            assert!(seen.insert(wire));
        }
        check(Provider::Mistral, &["dnEN4JsJy", " dnEN4Jsj1 "], &["dnEN4JsJy", "dnEN4Jsj1"]);
        let taken = exact("x", 0, 9);
        check(Provider::Mistral, &["x", &taken], &[&taken, &exact(&taken, 1, 9)]);
    }
}
