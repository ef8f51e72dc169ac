//! Estimates and identifiers against their references, on real agent sessions.
//!
//! The sessions, the reference in JavaScript and the one in Python are not part of this repository: where they, `node` or
//! `python3` are absent the tests say so and pass.

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fmt::Write;
    use std::fs;
    use std::path::Path;

    use plimsoll::estimate::{Estimator, Profile};
    use plimsoll::text::pairs::CLASS;
    use plimsoll::text::{Cut, head_tail, identifiers, leaves};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use crate::sample::{is_large, one_in};
    use crate::support::{self, session_texts, show};

    /// Every string of every session, and the made-up ones: byte pairs and runs, one profile a column.
    #[test]
    fn estimates_equal_the_reference_on_every_text() {
        let Some(texts) = session_texts() else { return };
        let mut texts = one_in(5, "texts of sessions", texts);
        texts.extend(run_texts());
        let script = "
            import { readFileSync } from 'node:fs';
            const { estimate } = await import(process.argv[1]);
            const texts = JSON.parse(readFileSync(0, 'utf8'));
            const names = process.argv.slice(2);
            console.log(texts.map((t) => names.map((n) => estimate(t, n)).join(' ')).join('\\n'));";
        let Some(reference) = reference() else { return };
        let mut args = vec!["--input-type=module", "-e", script, &reference];
        args.extend(Profile::ALL.map(Profile::name));
        let input = serde_json::to_string(&texts).unwrap();
        let Some(expected) = support::run("node", &args, &input) else { return };

        let mut compared = 0;
        for (text, row) in texts.iter().zip(expected.lines()) {
            for (profile, tokens) in Profile::ALL.into_iter().zip(row.split(' ')) {
                let got = Estimator::Profile(profile).tokens(text);
                let start: String = text.chars().take(80).collect();
                assert_eq!(got.to_string(), tokens, "{} of {start:?}", profile.name());
                compared += 1;
            }
        }
        let bytes: usize = texts.iter().map(String::len).sum();
        show(format_args!("{} texts, {bytes} bytes, {compared} estimates equal", texts.len()));
        assert_eq!(compared, texts.len() * Profile::ALL.len());
    }

    /// The reference, which reads its model beside itself: a copy with the tables of now.
    #[expect(clippy::disallowed_methods, reason = "copies the reference")]
    fn reference() -> Option<String> {
        let Ok(code) = fs::read_to_string(support::shared("spec/estimate/reference.mjs")) else {
            show("skipped: ../shared is absent");
            return None;
        };
        let weights = |profile: Profile| profile.weights().unwrap().plain();
        let tables: serde_json::Map<String, Value> =
            Profile::ALL.into_iter().map(|it| (it.name().into(), weights(it).into())).collect();
        let model = json!({ "byte_class": CLASS.to_vec(), "start_class": 33, "scale": 64, "weights": tables });
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        fs::write(folder.join("model.json"), model.to_string()).unwrap();
        fs::write(folder.join("reference.mjs"), code).unwrap();
        folder.join("reference.mjs").to_str().map(str::to_string)
    }

    /// Texts around the edges of the two rules for runs, at every offset within a block.
    fn run_texts() -> Vec<String> {
        let mut texts = vec![String::new()];
        let shifts =
            ["", "a", "é", "\r", "ab\r", "\0\0", "一", "😀", "─a─", "──", " x     ", "\t\r\n-=+"];
        for unit in [" ", "=", "\0", "\r", "─", "一", "é", "😀", "ab", "──━", "─ ", "  \n"]
        {
            for count in [1, 2, 7, 8, 9, 10, 15, 16, 17, 18, 23, 24, 25, 31, 33, 64, 1000] {
                for shift in shifts {
                    texts.push(format!("{shift}{}{}", unit.repeat(count), "tail 一 of it"));
                    texts.push(format!("{shift}{}", unit.repeat(count)));
                    texts.push(format!("{}{shift}{}", unit.repeat(count), unit.repeat(count)));
                }
            }
        }
        texts
    }

    /// The sets of identifiers, text by text, against those of the Python that the policy was measured with.
    #[test]
    fn identifiers_agree_with_those_the_policy_was_measured_with() {
        let Some(mut texts) = session_texts() else { return };
        texts.retain(|text| text.len() >= 20);
        let texts = one_in(5, "texts with identifiers", texts);
        let script = "
import sys, json
sys.argv[1:], where = [], sys.argv[1]
sys.path.insert(0, where)
import prep
for text in json.load(sys.stdin):
    print(json.dumps([list(prep.idset(text)), list(prep.idset(prep.leaves(text)))]))";
        let policy = support::shared("oracle/policy");
        let input = serde_json::to_string(&texts).unwrap();
        let Some(expected) = support::run("python3", &["-c", script, &policy], &input) else {
            return;
        };

        let (mut both, mut theirs, mut ours) = (0, 0, 0);
        let mut odd = String::new();
        for (text, row) in texts.iter().zip(expected.lines()) {
            let [plain, leaf]: [BTreeSet<String>; 2] = serde_json::from_str(row).unwrap();
            // The Python looks only into objects and arrays, ours into a text that is a string in JSON too.
            let mut out = String::new();
            if text.starts_with(['{', '[']) {
                leaves(text, &mut out);
            } else {
                out.clone_from(text);
            }
            for (text, expected) in [(text, plain), (&out, leaf)] {
                let mut got = BTreeSet::new();
                identifiers(text, &mut |id, at| {
                    assert_eq!(text.get(at..at + id.len()), Some(id));
                    got.insert(id.to_owned());
                });
                both += got.intersection(&expected).count();
                theirs += expected.len();
                ours += got.len();
                for id in got.symmetric_difference(&expected).take(2) {
                    let whose = if got.contains(id) { "only ours" } else { "only theirs" };
                    if odd.len() < 2_000 {
                        writeln!(odd, "  {whose}: {id}").unwrap();
                    }
                }
            }
        }
        show(format_args!(
            "{} texts: {theirs} identifiers; precision {both}/{ours}, recall {both}/{theirs}\n{odd}",
            texts.len()
        ));
        assert!(both * 100 >= ours * 97 && both * 100 >= theirs * 97);
        assert!(both > if is_large() { 100_000 } else { 10_000 });
    }

    proptest! {
        #[test]
        fn a_cut_never_exceeds_its_budget(
            text in "([a-z]{1,9}[ \n]|[一-三]{1,4}|─{1,40}| {1,40}|😀){0,300}",
            budget in 0_u32..400,
            profile in 0_usize..10,
        ) {
            let estimator = Estimator::Profile(Profile::ALL[profile]);
            let cut = head_tail(&text, budget, Cut::TOKENS, |text| estimator.tokens(text));
            prop_assert!(estimator.tokens(&cut) <= budget);
            if estimator.tokens(&text) <= budget {
                prop_assert_eq!(cut.as_ref(), text.as_str());
            }
        }
    }
}
