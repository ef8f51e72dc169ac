//! The forms an identifier may have, each as a look at bytes from one place on.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "every position is below the length of the bytes: it comes from a loop or a match within them"
)]

/// `a-z`
pub(super) const LOWER: u8 = 1;
/// `A-Z`
pub(super) const UPPER: u8 = 2;
/// `0-9`
pub(super) const DIGIT: u8 = 4;
/// `_`
pub(super) const UNDER: u8 = 8;
/// `.`
pub(super) const DOT: u8 = 16;
/// `/`
pub(super) const SLASH: u8 = 32;
/// `@ ~ + - $`
pub(super) const SIGN: u8 = 64;
/// A byte of a character outside ASCII; within a run it is a letter's.
pub(super) const WIDE: u8 = 128;
/// What words are made of.
pub(super) const WORD: u8 = LOWER | UPPER | DIGIT | UNDER | WIDE;

static FLAGS: [u8; 256] = {
    let mut flags = [0; 256];
    let mut byte = 0_u8;
    loop {
        flags[byte as usize] = match byte {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDER,
            b'.' => DOT,
            b'/' => SLASH,
            b'@' | b'~' | b'+' | b'-' | b'$' => SIGN,
            0x80.. => WIDE,
            _ => 0,
        };
        if byte == 255 {
            break flags;
        }
        byte += 1;
    }
};

#[cfg(test)]
thread_local! {
    /// Looks at a byte so far: that they grow as the text does is tested.
    pub(super) static LOOKS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[inline]
pub(super) fn flags(byte: u8) -> u8 {
    #[cfg(test)]
    LOOKS.set(LOOKS.get() + 1);
    FLAGS[usize::from(byte)]
}

fn is(byte: Option<&u8>, what: u8) -> bool {
    byte.is_some_and(|&byte| flags(byte) & what != 0)
}

/// Whether the character at `at` is a letter, digit or `_` of any script.
pub(super) fn is_word_at(text: &str, at: usize) -> bool {
    text.get(at..).and_then(|rest| rest.chars().next()).is_some_and(is_word_char)
}

/// Whether the character outside ASCII at `at`, which starts with `lead`, is one.
pub(super) fn is_wide_word(text: &str, at: usize, lead: u8) -> bool {
    // U+5000..U+9FFF and U+B000..U+CFFF are all letters.
    matches!(lead, 0xe5..=0xe9 | 0xeb | 0xec) || is_word_at(text, at)
}

/// Whether the character before `at` is one.
pub(super) fn is_word_before(text: &str, at: usize) -> bool {
    match at.checked_sub(1).and_then(|before| text.as_bytes().get(before)) {
        Some(0x80..) => {
            text.get(..at).and_then(|rest| rest.chars().next_back()).is_some_and(is_word_char)
        }
        byte => is(byte, WORD),
    }
}

fn is_word_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Whether a name of code may start so.
pub(super) fn starts_name(byte: u8) -> bool {
    byte == b'$' || flags(byte) & (LOWER | UPPER | UNDER) != 0
}

/// End of the digits at `at`.
pub(super) fn digits(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// End of the word at `at` and what is in it.
pub(super) fn word(bytes: &[u8], at: usize, limit: usize) -> (usize, u8) {
    let (mut end, mut seen) = (at, 0);
    while end < limit && flags(bytes[end]) & WORD != 0 {
        seen |= flags(bytes[end]);
        end += 1;
    }
    (end, seen)
}

/// End of the URL whose scheme ends at `colon`: 4 to 200 characters follow `://`.
pub(super) fn url(text: &str, colon: usize) -> Option<usize> {
    let rest = text.get(colon + 3..)?;
    let stops = |c: char| {
        matches!(c, '"' | '\'' | '<' | '>' | ')' | ']' | '}' | '`' | '\\' | '\u{1c}'..='\u{1f}')
            || c.is_whitespace()
    };
    let (mut length, mut end) = (0, 0);
    for c in rest.chars().take_while(|&c| !stops(c)).take(200) {
        length += 1;
        end += c.len_utf8();
    }
    (length >= 4).then_some(colon + 3 + end)
}

/// The path in a stretch of path characters: up to the last slash with a name after it.
pub(super) struct Path {
    pub(super) end: usize,
    found: Option<(usize, usize)>,
}

impl Path {
    pub(super) fn find(bytes: &[u8], at: usize) -> Self {
        let (mut end, mut slash, mut found) = (at, None, None);
        while end < bytes.len() && bytes[end] != b'$' {
            match bytes[end] {
                b'/' => slash = Some(end),
                b'~' => slash = None,
                byte if flags(byte) & WORD != 0 => {
                    found = slash.map(|slash| (slash, end + 1)).or(found);
                }
                _ => {}
            }
            end += 1;
        }
        Self { end, found }
    }

    pub(super) fn matched(&self, at: usize) -> Option<usize> {
        self.found.filter(|&(slash, _)| at <= slash).map(|(_, end)| end)
    }
}

/// The file name in a chain of words and single dots: up to the last extension that is known.
pub(super) struct File {
    pub(super) end: usize,
    found: Option<(usize, usize)>,
}

impl File {
    pub(super) fn find(bytes: &[u8], at: usize) -> Self {
        let named = |byte: Option<&u8>| is(byte, WORD) || byte == Some(&b'-');
        let (mut end, mut found) = (at, None);
        loop {
            if end > at && bytes.get(end) == Some(&b'.') && named(bytes.get(end + 1)) {
                let extension = word(bytes, end + 1, bytes.len().min(end + 7)).0;
                if is_extension(&bytes[end + 1..extension]) && !is(bytes.get(extension), WORD) {
                    found = Some((end, extension));
                }
            } else if !named(bytes.get(end)) {
                return Self { end, found };
            }
            end += 1;
        }
    }

    pub(super) fn matched(&self, at: usize) -> Option<usize> {
        self.found.filter(|&(dot, _)| at < dot).map(|(_, end)| end)
    }
}

#[rustfmt::skip]
fn is_extension(name: &[u8]) -> bool {
    matches!(name, b"ts" | b"tsx" | b"js" | b"jsx" | b"mjs" | b"cjs" | b"py" | b"rs" | b"go" | b"java" | b"kt"
        | b"cs" | b"c" | b"h" | b"cpp" | b"hpp" | b"rb" | b"php" | b"swift" | b"md" | b"mdx" | b"json" | b"jsonl"
        | b"toml" | b"yaml" | b"yml" | b"sh" | b"css" | b"scss" | b"html" | b"htm" | b"sql" | b"txt" | b"lock"
        | b"cfg" | b"ini" | b"env" | b"xml" | b"csv" | b"ipynb" | b"vue" | b"svelte" | b"pdf" | b"png" | b"svg"
        | b"log" | b"proto" | b"pen")
}

/// The name in camel case in a stretch of word characters and `$`.
pub(super) struct Camel {
    pub(super) end: usize,
    hump: Option<usize>,
    stop: usize,
}

impl Camel {
    pub(super) fn find(bytes: &[u8], at: usize) -> Self {
        let (mut end, mut hump, mut stop) = (at, None, at);
        while end < bytes.len() && (bytes[end] == b'$' || flags(bytes[end]) & WORD != 0) {
            if bytes[end] != b'$' {
                stop = end + 1;
            }
            if end > at + 1 && is(bytes.get(end), UPPER) && is(bytes.get(end - 1), LOWER | DIGIT) {
                hump = Some(end - 1);
            }
            end += 1;
        }
        Self { end, hump, stop }
    }

    pub(super) fn matched(&self, at: usize) -> Option<usize> {
        self.hump.filter(|&hump| at < hump).map(|_| self.stop)
    }
}

/// End of the UUID, hash, issue key or error code at the word `at..end`.
pub(super) fn word_before_camel(bytes: &[u8], at: usize, end: usize, seen: u8) -> Option<usize> {
    uuid(bytes, at).or_else(|| hash(bytes, at, end, seen)).or_else(|| key(bytes, at, end, seen))
}

/// End of the name in snake case or the number at the word `at..end`.
pub(super) fn word_after_camel(bytes: &[u8], at: usize, end: usize, seen: u8) -> Option<usize> {
    if seen == DIGIT && end - at >= 4 {
        return Some(fraction(bytes, end));
    }
    (seen & UNDER != 0 && seen & WIDE == 0 && is_snake(&bytes[at..end])).then_some(end)
}

fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

fn uuid(bytes: &[u8], at: usize) -> Option<usize> {
    let form = bytes.get(at..at + 36)?;
    let dashes = [8, 13, 18, 23];
    let fits = form
        .iter()
        .enumerate()
        .all(|(index, &byte)| if dashes.contains(&index) { byte == b'-' } else { is_hex(byte) });
    (fits && !is(bytes.get(at + 36), WORD)).then_some(at + 36)
}

fn hash(bytes: &[u8], at: usize, end: usize, seen: u8) -> Option<usize> {
    let fits = seen == LOWER | DIGIT && (7..=64).contains(&(end - at));
    (fits && bytes[at..end].iter().all(|&byte| is_hex(byte))).then_some(end)
}

/// `ABC-123`, `TS2304`, `ENOENT`
pub(super) fn key(bytes: &[u8], at: usize, end: usize, seen: u8) -> Option<usize> {
    if seen & (LOWER | UNDER | WIDE) != 0 || seen & UPPER == 0 {
        return None;
    }
    let letters = bytes[at..end].iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    if letters == end - at && bytes[at] == b'E' && (5..=13).contains(&letters) {
        return Some(end);
    }
    if !(1..=6).contains(&letters) {
        return None;
    }
    let start = at + letters + usize::from(bytes.get(at + letters) == Some(&b'-'));
    let stop = digits(bytes, start);
    ((2..=6).contains(&(stop - start)) && !is(bytes.get(stop), WORD)).then_some(stop)
}

/// A letter, letters and digits, then single underscores each with letters and digits after it.
pub(super) fn is_snake(word: &[u8]) -> bool {
    let lines = word.iter().take_while(|&&byte| byte == b'_').count();
    let name = &word[lines..];
    name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.contains(&b'_')
        && !name.ends_with(b"_")
        && !name.windows(2).any(|pair| pair == b"__")
}

/// End of the number whose whole part ends at `end`.
fn fraction(bytes: &[u8], end: usize) -> usize {
    if bytes.get(end) != Some(&b'.') {
        return end;
    }
    let stop = digits(bytes, end + 1);
    if stop > end + 1 && !is(bytes.get(stop), WORD) { stop } else { end }
}
