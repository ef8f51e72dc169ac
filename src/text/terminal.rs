//! Text that a terminal shows and does not obey.

/// Characters that turn the direction of what follows: a line would read otherwise than it is.
const TURNS: [std::ops::RangeInclusive<char>; 4] = [
    '\u{61c}'..='\u{61c}',
    '\u{200e}'..='\u{200f}',
    '\u{202a}'..='\u{202e}',
    '\u{2066}'..='\u{2069}',
];

/// Without escape sequences and control characters, also those of eight bits, and without what turns the direction of
/// writing; line ends and tabs stay. Of a sequence without end only its beginning goes.
///
/// # Example
/// ```
/// use plimsoll::text::plain;
/// assert_eq!(plain("\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}a\u{8}b\r\n"), "red ab\n");
/// ```
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut endless = false;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '\u{1b}' => rest = after_escape(rest, &mut endless),
            '\u{9b}' => rest = after_control(rest),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => rest = after_string(rest, &mut endless),
            '\u{2028}' | '\u{2029}' => out.push('\n'),
            '\n' | '\t' => out.push(c),
            _ if c.is_control() || TURNS.iter().any(|range| range.contains(&c)) => {}
            _ => out.push(c),
        }
    }
    out
}

/// What follows an escape and the sequence that it begins.
fn after_escape<'t>(text: &'t str, endless: &mut bool) -> &'t str {
    let Some(first) = text.chars().next() else { return text };
    let rest = text.get(first.len_utf8()..).unwrap_or_default();
    match first {
        '[' => after_control(rest),
        ']' | 'P' | 'X' | '^' | '_' => after_string(rest, endless),
        ' '..='/' => {
            let end = rest.trim_start_matches(|c| matches!(c, ' '..='/'));
            let last = end.chars().next().filter(|c| matches!(c, '0'..='~'));
            end.get(last.map_or(0, char::len_utf8)..).unwrap_or_default()
        }
        '0'..='~' => rest,
        _ => text,
    }
}

/// What follows the parameters and the last byte of a control sequence.
fn after_control(text: &str) -> &str {
    let end = text.trim_start_matches(|c| matches!(c, ' '..='?'));
    let last = end.chars().next().filter(|c| matches!(c, '@'..='~'));
    end.get(last.map_or(0, char::len_utf8)..).unwrap_or_default()
}

/// What follows a string for the terminal, up to its end; all of it if there is none, and then no later one has an end either.
fn after_string<'t>(text: &'t str, endless: &mut bool) -> &'t str {
    if *endless {
        return text;
    }
    let bytes = text.as_bytes();
    let size = |at: usize| match (bytes.get(at), bytes.get(at.saturating_add(1))) {
        (Some(7), _) => 1,
        (Some(0x1b), Some(b'\\')) | (Some(0xc2), Some(0x9c)) => 2,
        _ => 0,
    };
    let end = (0..bytes.len()).find(|at| size(*at) > 0);
    *endless = end.is_none();
    end.map_or(text, |at| text.get(at.saturating_add(size(at))..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Row F152.
    #[test]
    fn escape_sequences_and_control_characters_are_removed() {
        for (text, shown) in [
            ("\u{1b}[1;31mred\u{1b}[m", "red"),
            ("a\u{1b}[2J\u{1b}[1;1Hb", "ab"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{7}", "link"),
            ("\u{9b}31mx\u{9d}0;t\u{9c}y", "xy"),
            ("\u{1b}P+q544e\u{1b}\\z\u{1b}(Bw\u{1b}7", "zw"),
            ("a\0b\u{8}c\u{7f}d\u{85}e\re", "abcdee"),
            ("file\u{202e}txt.exe\u{2066}\u{200f}", "filetxt.exe"),
            ("one\u{2028}two\tthree\n", "one\ntwo\tthree\n"),
            ("\u{1b}]0;no end: all of it is shown", "0;no end: all of it is shown"),
            ("\u{1b}", ""),
            ("\u{1b}é", "é"),
            ("👩‍👩‍👧 文脈 né", "👩‍👩‍👧 文脈 né"),
        ] {
            assert_eq!(plain(text), shown, "{text:?}");
        }
    }

    /// Looked for anew each time, an end that there is not would take minutes.
    #[test]
    fn escaping_a_long_text_takes_linear_time() {
        for piece in ["\u{1b}]", "\u{1b}]a\u{7}", "\u{9d}\u{1b}"] {
            assert!(plain(&piece.repeat(500_000)).len() <= 500_000);
        }
        assert_eq!(plain(&format!("{}b", "\u{1b}]a".repeat(500_000))).len(), 500_001);
    }

    proptest! {
        #[test]
        fn no_text_leaves_an_escape_sequence(text in "[\\x00-\\x9f\\u{200e}\\u{202a}-\\u{202e}a\\[\\]]{0,40}") {
            let shown = plain(&text);
            prop_assert!(shown.chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control()));
            let again = plain(&shown);
            prop_assert_eq!(again, shown);
        }
    }
}
