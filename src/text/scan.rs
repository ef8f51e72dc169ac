//! Identifiers: the words by which a later message shows that it uses an earlier one.
//!
//! URLs, paths, file names, UUIDs, hashes, error codes and issue keys, names in camel case and in snake case, numbers of four digits or
//! more. One walk over runs of letters, digits and `_.@~+-/$`; most runs are plain words and are left at their end.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "every position is below the text's length: it comes from a loop or a match within it"
)]

use super::patterns::{self as patterns, Camel, File, Path, WORD, flags, is_word_before};

/// Characters of a text that are looked at.
const LIMIT: usize = 400_000;
/// A run with none of these holds no identifier (but may be the start of a URL).
const TELLING: u8 =
    patterns::UPPER | patterns::DIGIT | patterns::UNDER | patterns::DOT | patterns::SLASH;

/// The same without vectors of bytes.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
pub(super) fn by_bytes<'a>(text: &'a str, found: &mut dyn FnMut(&'a str, usize)) {
    let text = limited(text);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let plain = plain_words(bytes, at);
        at = if plain > 0 { at + plain } else { step(text, at, found) };
    }
}

/// Looks at the run, the number sign or the character at `at`, which a text has, and returns where it ends.
pub(super) fn step<'a>(text: &'a str, at: usize, found: &mut dyn FnMut(&'a str, usize)) -> usize {
    let bytes = text.as_bytes();
    let byte = bytes[at];
    // What stands between runs is nearly always one space.
    let (end, seen) = if flags(byte) == 0 { (at, 0) } else { token(text, at) };
    if end > at {
        let url = url_start(bytes, at, end);
        return if seen & TELLING == 0 && url.is_none() {
            end
        } else {
            Walk { text, start: at, end, seen, found }.run(url)
        };
    }
    if byte != b'#' {
        return at + width(byte);
    }
    let digits = patterns::digits(bytes, at + 1);
    let ends = !patterns::is_word_at(text, digits);
    if (2..=6).contains(&(digits - at - 1)) && ends {
        report(text, at, digits, found);
        digits
    } else {
        at + 1
    }
}

/// How many of the next eight bytes are words of small letters with the spaces after them: none of them is an identifier.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
fn plain_words(bytes: &[u8], at: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES * 0x80;
    let Some(block) = bytes[at..].first_chunk::<8>() else { return 0 };
    let word = u64::from_le_bytes(*block);
    if word & HIGH != 0 {
        return 0;
    }
    // The high bit of each byte that is a small letter, and of each that is a space.
    let letters = (word + ONES * 0x1f) & !(word + ONES * 0x05);
    let spaces = !((word ^ (ONES * 0x20)) + ONES * 0x7f) & HIGH;
    if (letters | spaces) & HIGH == HIGH { 8 - spaces.leading_zeros() as usize / 8 } else { 0 }
}

pub(super) fn limited(text: &str) -> &str {
    if text.len() <= LIMIT {
        return text;
    }
    let end = text.char_indices().nth(LIMIT).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// Bytes of the character that starts with `lead`.
fn width(lead: u8) -> usize {
    match lead {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}

/// End of the run of letters, digits and `_.@~+-/$` at `at`, and what is in it.
fn token(text: &str, at: usize) -> (usize, u8) {
    let bytes = text.as_bytes();
    let (mut end, mut seen) = (at, 0);
    while let Some(&byte) = bytes.get(end) {
        let flags = flags(byte);
        if flags == 0 || flags == patterns::WIDE && !patterns::is_wide_word(text, end, byte) {
            break;
        }
        seen |= flags;
        end += if flags == patterns::WIDE { width(byte) } else { 1 };
    }
    (end, seen)
}

/// Where a URL starts whose `http` is the end of the run.
fn url_start(bytes: &[u8], at: usize, end: usize) -> Option<usize> {
    if bytes.get(end) != Some(&b':') || !bytes[end..].starts_with(b"://") {
        return None;
    }
    let token = &bytes[at..end];
    let scheme = [5, 4].into_iter().zip([&b"https"[..], b"http"]);
    scheme.into_iter().find(|(_, name)| token.ends_with(name)).map(|(length, _)| end - length)
}

/// Tells of the identifier `start..end`, if it is of a length to be one.
fn report<'a>(text: &'a str, start: usize, end: usize, found: &mut dyn FnMut(&'a str, usize)) {
    let Some(word) = text.get(start..end) else { return };
    let length =
        if word.len() <= 200 && word.is_ascii() { word.len() } else { word.chars().count() };
    if !(4..=200).contains(&length) {
        return;
    }
    found(word, start);
    let slash = word.bytes().rposition(|byte| byte == b'/');
    if let Some(slash) = slash.filter(|_| !word.starts_with("http")) {
        let base = &word.as_bytes()[slash + 1..];
        let telling = base.contains(&b'.') || base.contains(&b'_');
        if let Some(name) =
            word.get(slash + 1..).filter(|name| telling && name.chars().nth(3).is_some())
        {
            found(name, start + slash + 1);
        }
    }
}

/// The walk over one run that may hold identifiers.
struct Walk<'a, 'f> {
    text: &'a str,
    start: usize,
    end: usize,
    seen: u8,
    found: &'f mut dyn FnMut(&'a str, usize),
}

impl Walk<'_, '_> {
    /// Walks to the end of the run, or of the URL that starts in it at `url`.
    fn run(mut self, mut url: Option<usize>) -> usize {
        let bytes = self.text.as_bytes();
        let (mut path, mut file, mut camel) = (None, None, None);
        let mut at = self.start;
        let mut after_word = is_word_before(self.text, at);
        while at < self.end {
            if url == Some(at) {
                if let Some(end) = patterns::url(self.text, self.end) {
                    report(self.text, at, end, self.found);
                    return end;
                }
                url = None;
            }
            let is_word = flags(bytes[at]) & WORD != 0;
            let matched = if after_word == is_word && (is_word || self.seen & patterns::SLASH == 0)
            {
                None
            } else {
                self.matched(at, after_word, &mut path, &mut file, &mut camel)
            };
            let next = match matched {
                Some(end) => {
                    report(self.text, at, end, self.found);
                    end
                }
                None if is_word => {
                    let end = patterns::word(bytes, at, self.end).0;
                    url.filter(|&url| url > at).map_or(end, |url| end.min(url))
                }
                None => at + 1,
            };
            at = next;
            after_word = flags(bytes[at - 1]) & WORD != 0;
        }
        at
    }

    /// End of the identifier that starts at `at`: the first pattern that matches counts.
    fn matched(
        &mut self,
        at: usize,
        after_word: bool,
        path: &mut Option<Path>,
        file: &mut Option<File>,
        camel: &mut Option<Camel>,
    ) -> Option<usize> {
        let bytes = &self.text.as_bytes()[..self.end];
        let byte = bytes[at];
        let is_word = flags(byte) & WORD != 0;
        let slash_before = at > 0 && self.text.as_bytes()[at - 1] == b'/';
        if self.seen & patterns::SLASH != 0 && byte != b'$' && !after_word && !slash_before {
            let path = memo(path, at, |at| Path::find(bytes, at), |path| path.end);
            if let Some(end) = path.matched(at) {
                return Some(end);
            }
        }
        // All that follows starts at a word boundary.
        if is_word == after_word {
            return None;
        }
        if self.seen & patterns::DOT != 0 && (is_word || byte == b'-') {
            let file = memo(file, at, |at| File::find(bytes, at), |file| file.end);
            if let Some(end) = file.matched(at) {
                return Some(end);
            }
        }
        let (end, seen) = patterns::word(bytes, at, self.end);
        if is_word && let Some(end) = patterns::word_before_camel(bytes, at, end, seen) {
            return Some(end);
        }
        if self.seen & patterns::UPPER != 0 && patterns::starts_name(byte) {
            let camel = memo(camel, at, |at| Camel::find(bytes, at), |camel| camel.end);
            if let Some(end) = camel.matched(at) {
                return Some(end);
            }
        }
        if is_word { patterns::word_after_camel(bytes, at, end, seen) } else { None }
    }
}

/// What was found out about the stretch that `at` lies in; it is looked at once, however many starts it has.
fn memo<T>(
    slot: &mut Option<T>,
    at: usize,
    find: impl FnOnce(usize) -> T,
    end: impl Fn(&T) -> usize,
) -> &T {
    let known = slot.take().filter(|known| at < end(known));
    slot.insert(known.unwrap_or_else(|| find(at)))
}

#[cfg(test)]
mod tests {
    use super::patterns;
    use crate::text::identifiers;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut all = Vec::new();
        identifiers(text, &mut |id, at| {
            assert_eq!(text.get(at..).map(|rest| rest.starts_with(id)), Some(true));
            all.push(id);
        });
        assert_eq!(all, expected, "{text}");
    }

    #[test]
    fn each_kind_of_identifier_is_found() {
        check(
            "see (https://a.example/x?y=1), xhttp://b.c/d",
            &["https://a.example/x?y=1", "http://b.c/d"],
        );
        check("./src/a_b.rs:12 and ~/x/ or a/b~c", &["./src/a_b.rs", "a_b.rs"]);
        check("open main.test.tsx, main.foo.", &["main.test.tsx"]);
        check(
            "id 123e4567-e89b-12d3-a456-426614174000.",
            &["123e4567-e89b-12d3-a456-426614174000"],
        );
        check("commit d66383e deadbeef", &["d66383e"]);
        check("TS2304 ENOENT ABC-123 ERR", &["TS2304", "ENOENT", "ABC-123"]);
        check(
            "fooBar $fooBar foo$barBaz fooBar$ TheEnd The",
            &["fooBar", "fooBar", "foo$barBaz", "fooBar", "TheEnd"],
        );
        check("a_b foo_bar __init__ MAX_LEN foo__bar x_", &["foo_bar", "MAX_LEN"]);
        check("1234 123 1234.56 12345x #123 #12 #1234567", &["1234", "1234.56", "#123", "1234567"]);
    }

    #[test]
    fn letters_of_any_script_are_letters() {
        check(
            "\u{5728}src/foo.rs\u{ff0c}\u{7136}\u{540e} \u{e9}_foo_bar \u{2014}foo_bar\u{2014}",
            &["\u{5728}src/foo.rs", "foo.rs", "foo_bar"],
        );
    }

    #[test]
    fn plain_words_before_an_identifier_change_nothing() {
        for (start, text) in
            [(0, "src/a_b.rs"), (2, "a fooBar"), (1, "(4711)"), (2, "a src/main.rs")]
        {
            for pad in 0..20 {
                let before = " of all the words there are ".get(pad..).unwrap_or_default();
                let mut all = Vec::new();
                identifiers(&format!("{before} {text} and more of them"), &mut |_, at| {
                    all.push(at);
                });
                assert_eq!(all.first(), Some(&(before.len() + 1 + start)), "{before}{text}");
            }
        }
    }

    #[test]
    fn identifiers_longer_than_the_limit_are_ignored() {
        let long = format!("{}/{}", "a".repeat(199), "b".repeat(20));
        check(&long, &[]);
        check(&long.replace('b', ""), &[]);
        check(&format!("{}/b", "\u{e9}".repeat(198)), &[&format!("{}/b", "\u{e9}".repeat(198))]);
        let far = format!("{}foo_bar foo_bar", "\u{e9} ".repeat(199_996));
        check(&far, &["foo_bar"]);
    }

    /// Eight times the text takes eight times as many looks at a byte; were a stretch looked at again from every start
    /// in it, it would be 64 times.
    #[test]
    fn hostile_text_takes_linear_work() {
        for unit in [
            "a/", "_", "a_", "[", "a.", "-.", "$a", "1.", "~/", "a-", "-a/", "9$aB", "-a.",
            "http://'", "#1",
        ] {
            let looks = |bytes: usize| {
                let before = patterns::LOOKS.get();
                identifiers(&unit.repeat(bytes / unit.len()), &mut |found, _| panic!("{found}"));
                patterns::LOOKS.get() - before
            };
            let (short, long) = (looks(16_000), looks(128_000));
            assert!(long < short * 10, "{unit}: {short} and {long}");
            assert!(long < 128_000 * 20, "{unit}: {long}");
        }
    }
}
