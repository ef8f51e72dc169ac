//! Where a text may be cut: never in a character, nor in what a reader takes for one.
//!
//! A small check by ranges instead of the Unicode tables: combining marks, variation selectors, joiners, skin tones,
//! flags, Hangul syllables, Indic vowel signs and conjuncts. It may keep together what could be parted, never the other way
//! round for the scripts it knows.

/// The last place at or before `at` where `text` may be cut.
pub fn floor_grapheme(text: &str, at: usize) -> usize {
    let mut at = text.floor_char_boundary(at);
    while !may_cut(text, at) {
        at = text.floor_char_boundary(at.saturating_sub(1));
    }
    at
}

/// The first place at or after `at` where `text` may be cut.
pub fn ceil_grapheme(text: &str, at: usize) -> usize {
    let mut at = text.ceil_char_boundary(at.min(text.len()));
    while !may_cut(text, at) {
        at = text.ceil_char_boundary(at.saturating_add(1));
    }
    at
}

fn may_cut(text: &str, at: usize) -> bool {
    let Some((before, after)) = text.split_at_checked(at) else { return true };
    let (Some(left), Some(right)) = (before.chars().next_back(), after.chars().next()) else {
        return true;
    };
    if left.is_control() || left.is_ascii() && right.is_ascii() {
        return !(left == '\r' && right == '\n');
    }
    if is_flag(left) && is_flag(right) {
        // Flags are pairs: only after an even number of letters does a new one start.
        return before.chars().rev().take_while(|&c| is_flag(c)).count() & 1 == 0;
    }
    !(left == '\u{200d}' || extends(right) || is_virama(left) && same_block(left, right))
}

fn is_flag(c: char) -> bool {
    ('\u{1f1e6}'..='\u{1f1ff}').contains(&c)
}

fn is_virama(c: char) -> bool {
    is_indic(c) && u32::from(c) & 0x7f == 0x4d
}

fn is_indic(c: char) -> bool {
    ('\u{900}'..='\u{dff}').contains(&c)
}

fn same_block(a: char, b: char) -> bool {
    u32::from(a) >> 7 == u32::from(b) >> 7
}

/// Whether `c` belongs to the character before it.
fn extends(c: char) -> bool {
    if is_indic(c) {
        // The Indic blocks are laid out alike: signs stand at the same places of each.
        return matches!(u32::from(c) & 0x7f, 0..=3 | 0x3a..=0x3c | 0x3e..=0x4f | 0x51..=0x57 | 0x62 | 0x63);
    }
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6ed}' | '\u{711}' | '\u{730}'..='\u{74a}'
        | '\u{7a6}'..='\u{7b0}' | '\u{816}'..='\u{82d}' | '\u{859}'..='\u{85b}' | '\u{8d3}'..='\u{8ff}'
        | '\u{e31}' | '\u{e33}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' | '\u{eb1}' | '\u{eb3}'..='\u{ebc}'
        | '\u{ec8}'..='\u{ece}' | '\u{f18}' | '\u{f19}' | '\u{f35}'..='\u{f39}' | '\u{f3e}' | '\u{f3f}'
        | '\u{f71}'..='\u{f84}' | '\u{f8d}'..='\u{fbc}' | '\u{102b}'..='\u{103e}' | '\u{1056}'..='\u{1059}'
        | '\u{1160}'..='\u{11ff}' | '\u{135d}'..='\u{135f}' | '\u{17b4}'..='\u{17d3}' | '\u{1920}'..='\u{193b}'
        | '\u{1a17}'..='\u{1a1b}' | '\u{1a55}'..='\u{1a7f}' | '\u{1ab0}'..='\u{1b04}' | '\u{1b34}'..='\u{1b44}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{200c}' | '\u{200d}' | '\u{20d0}'..='\u{20ff}' | '\u{302a}'..='\u{302f}'
        | '\u{3099}' | '\u{309a}' | '\u{a8e0}'..='\u{a8f1}' | '\u{d7b0}'..='\u{d7ff}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{fe20}'..='\u{fe2f}' | '\u{ff9e}' | '\u{ff9f}' | '\u{1f3fb}'..='\u{1f3ff}'
        | '\u{e0020}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(clusters: &[&str]) {
        let text = clusters.concat();
        let mut start = 0_usize;
        for cluster in clusters {
            let end = start.saturating_add(cluster.len());
            for at in (start..end).skip(1) {
                assert_eq!(
                    (floor_grapheme(&text, at), ceil_grapheme(&text, at)),
                    (start, end),
                    "at {at}"
                );
            }
            assert_eq!((floor_grapheme(&text, end), ceil_grapheme(&text, end)), (end, end));
            start = end;
        }
        assert_eq!(floor_grapheme(&text, usize::MAX), text.len());
        assert_eq!(ceil_grapheme(&text, usize::MAX), text.len());
    }

    #[test]
    fn a_cut_splits_no_visible_character() {
        check(&[
            "a",
            "\u{1f469}\u{1f3fd}\u{200d}\u{1f4bb}",
            "b",
            "e\u{301}\u{323}",
            "\r\n",
            "\n",
            "\u{301}",
        ]);
        check(&["\u{1f1e9}\u{1f1ea}", "\u{1f1eb}\u{1f1f7}", "x", "\u{2764}\u{fe0f}"]);
        check(&["한", "\u{1112}\u{1161}\u{11ab}", "क\u{94d}षि", "ก\u{e33}", "日", "本"]);
    }
}
