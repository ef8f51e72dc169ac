//! The search for an echo against a plain one, which looks through the whole transcript for each line.
#![expect(clippy::arithmetic_side_effects, reason = "small numbers of a test")]
#![expect(clippy::string_slice, reason = "cut where a character starts")]

use proptest::prelude::*;

use super::*;

/// The same, line by line.
fn plain_echoes(body: &str, input: &[&str]) -> bool {
    let lines: Vec<&str> = bare_lines(body).collect();
    let total: usize = lines.iter().map(|line| line.len()).sum();
    if input.is_empty() || total < LEAST_ECHO {
        return false;
    }
    let transcript: String =
        input.iter().flat_map(|text| bare_lines(text)).flat_map(|line| [line, "\n"]).collect();
    let mut own = 0;
    let mut at = 0;
    while at < lines.len() {
        let mut end = at;
        while end < lines.len() && transcript.contains(&lines[at..=end].join("\n")) {
            end += 1;
        }
        let passage = lines[at..end.max(at + 1)].join("\n").len();
        if end - at < LEAST_LINES && (end == at || passage < LEAST_PASSAGE) {
            own += passage;
        }
        at = end.max(at + 1);
    }
    own * 5 <= total
}

/// Lines of few words, so that passages come again, and some of them cut.
fn lines() -> impl Strategy<Value = Vec<String>> {
    let word =
        prop_oneof![Just("reads "), Just("the file "), Just("é漢 "), Just("a"), Just("aaaa")];
    let line = prop::collection::vec(word, 1..9).prop_map(|words| words.concat());
    prop::collection::vec(line, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn an_echo_is_found_as_by_a_plain_search(
        input in lines(),
        own in lines(),
        picks in prop::collection::vec((any::<prop::sample::Index>(), 1_usize..14, 0_usize..6, 0_u8..8), 1..12),
    ) {
        let mut body = Vec::new();
        for (pick, count, cut, kind) in picks {
            let from = if kind == 0 { &own } else { &input };
            let start = pick.index(from.len());
            let mut taken: Vec<&str> = from.iter().skip(start).take(count).map(String::as_str).collect();
            if let Some(first) = taken.first_mut() {
                *first = &first[first.floor_char_boundary(cut.min(first.len()))..];
            }
            if let Some(last) = taken.last_mut() {
                *last = &last[..last.floor_char_boundary(last.len().saturating_sub(cut))];
            }
            body.extend(taken.into_iter().map(ToOwned::to_owned));
        }
        let (body, input) = (body.join("\n- "), input.join("\n"));
        let half = input.floor_char_boundary(input.len() / 2);
        let (first, second) = input.split_at(half);
        for input in [&[&*input][..], &[first, second]] {
            prop_assert_eq!(echoes(&body, input), plain_echoes(&body, input));
        }
    }
}
