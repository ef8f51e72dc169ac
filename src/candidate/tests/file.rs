//! Files: whole they come back as they were, and whatever was done to one is seen (F140).

#![expect(
    clippy::arithmetic_side_effects,
    clippy::string_slice,
    reason = "places within a file of the test's own"
)]

use super::*;
use crate::candidate::sign::{Key, hex};

fn key() -> Key {
    Key::new(&[7; 32]).unwrap()
}

fn save(store: &mut Store) -> String {
    save_with(store, &key())
}

fn save_with(store: &mut Store, key: &Key) -> String {
    let mut saving = store.save();
    while let Some(bytes) = saving.bytes() {
        saving.take(&key.sign(&bytes)).unwrap();
    }
    saving.file()
}

fn load_with(store: &mut Store, file: &str, least: u64, key: &Key) -> Loaded {
    let mut loading = store.load(file, least);
    while let Some(bytes) = loading.bytes() {
        loading.take(&key.sign(&bytes)).unwrap();
    }
    store.adopt(&mut loading).unwrap()
}

fn load(file: &str) -> (Store, Loaded) {
    let mut store = store();
    let loaded = load_with(&mut store, file, 0, &key());
    (store, loaded)
}

/// Five candidates of all sorts, and what became of them: a head and nine lines.
fn some() -> Store {
    let mut store = store();
    for (at, to) in [State::Shadow, State::Promoted, State::InUse, State::Demoted, State::Rejected]
        .into_iter()
        .enumerate()
    {
        let first = Observation {
            tags: vec![format!("tag \"{at}\"")],
            success: Some(at % 2 == 0),
            ..observed(&format!("{at}学 {at}b\n{at}c\u{1}"), NOW + i64::try_from(at).unwrap())
        };
        let id = store.upsert(first).unwrap().id.clone();
        put(&mut store, &id, to, NOW);
    }
    store.maintained = Some(NOW);
    store
}

fn lines_of(rejected: &[Rejected]) -> Vec<usize> {
    rejected.iter().map(|it| it.line).collect()
}

const UNFIT: &str =
    "its signature does not fit: it was changed, or does not stand where it was signed";

/// Row F140.
#[test]
fn a_saved_file_loads_unchanged() {
    let mut before = some();
    let file = save(&mut before);
    assert_eq!(file.lines().count(), 1 + 5 + 6);
    let (after, loaded) = load(&file);
    assert_eq!(loaded, Loaded { loaded: 5, rejected: Vec::new() });
    assert_eq!((&after.all, &after.transitions), (&before.all, &before.transitions));
    assert_eq!(after.maintained, Some(NOW));
    assert_eq!([store().revision(), after.revision()], [0, 1]);
    let mut more = after;
    let again = Observation { content: before.all[0].content.clone(), ..observed("", NOW) };
    more.upsert(again);
    assert_eq!(more.all.len(), 5, "what is loaded is found");
    // The same once more, but for its revision; without the last line's end too.
    let (mut again, loaded) = load(file.trim_end());
    assert_eq!(loaded.rejected, []);
    assert_eq!(save(&mut again).replace("\"revision\":2", "\"revision\":1").len(), file.len());
    let (empty, loaded) = load(&save(&mut store()));
    assert_eq!((empty.all.len(), loaded), (0, Loaded::default()));
}

/// The clock of the decay is in the file: what passes while nothing runs counts.
/// Row F139.
#[test]
fn time_passes_while_nothing_runs() {
    let mut before = store();
    before.upsert(observed("run the unit tests first", NOW));
    before.evaluate(NOW);
    let (mut after, _) = load(&save(&mut before));
    after.evaluate(NOW + 37 * DAY);
    assert_eq!(after.candidates()[0].score(), 450_000);
}

/// Row F140.
#[test]
fn a_line_that_was_changed_is_left_out_and_the_others_stay() {
    let file = save(&mut some());
    for (at, from, to) in [
        (1, "\"state\":\"SHADOW\"", "\"state\":\"PROMOTED\""),
        (2, "\"trusted\":true", "\"trusted\":false"),
        (3, "\"sum\":900000", "\"sum\":999999"),
        (4, "\"cooldown\":", "\"cooldown\":1"),
        (6, "\"code\":\"MANUAL_FORCE\"", "\"code\":\"INJECTED\""),
    ] {
        let mut lines: Vec<String> = file.lines().map(Into::into).collect();
        assert!(lines[at].contains(from), "{}", lines[at]);
        lines[at] = lines[at].replacen(from, to, 1);
        let (after, loaded) = load(&lines.join("\n"));
        assert_eq!(loaded.rejected, [Rejected { line: at + 1, reason: UNFIT.into() }]);
        assert_eq!(after.all.len() + after.transitions.len(), 10);
    }
}

/// Row F140.
#[test]
fn nothing_is_loaded_if_the_head_does_not_verify() {
    let file = save(&mut some());
    let mut store = some();
    let before = store.all.clone();
    for (from, to) in [("\"lines\":11", "\"lines\":10"), ("\"revision\":1", "\"revision\":9")] {
        let loaded = load_with(&mut store, &file.replacen(from, to, 1), 0, &key());
        assert_eq!(
            loaded,
            Loaded { loaded: 0, rejected: vec![Rejected { line: 1, reason: UNFIT.into() }] }
        );
    }
    let loaded = load_with(&mut store, &file, 0, &Key::new(&[8; 32]).unwrap());
    assert_eq!((loaded.loaded, lines_of(&loaded.rejected)), (0, vec![1]));
    for broken in ["", "\n", "{}", "not JSON", &file[1..]] {
        let loaded = load_with(&mut store, broken, 0, &key());
        assert_eq!((loaded.loaded, loaded.rejected[0].line), (0, 1), "{broken}");
    }
    assert_eq!(store.all, before, "what it held it holds");
}

/// Lines that are missing at the end, and such as stand after it.
/// Row F140.
#[test]
fn the_head_states_where_the_file_ends() {
    let file = save(&mut some());
    let lines: Vec<&str> = file.lines().collect();
    for left in 1..lines.len() {
        let (_, loaded) = load(&lines[..left].join("\n"));
        let behind = left - 1;
        let reason = format!("the file ends here: 11 lines were signed, and {behind} stand here");
        assert_eq!(loaded.rejected, [Rejected { line: left + 1, reason }]);
    }
    let (_, loaded) = load(&format!("{file}{}\n\n", lines[11]));
    let reason = "only 11 lines were signed, and 2 follow them".into();
    assert_eq!(loaded.rejected, [Rejected { line: 13, reason }]);
}

/// An old file as a whole is told by its revision alone; parts of it fit in no other.
/// Row F140.
#[test]
fn an_old_file_or_a_part_of_it_is_refused() {
    let mut store = some();
    let old = save(&mut store);
    let id = store.all[1].id.clone();
    put(&mut store, &id, State::Rejected, NOW);
    let new = save(&mut store);
    let mut reader = self::store();
    let loaded = load_with(&mut reader, &old, 2, &key());
    let reason = "it is revision 1, and 2 was there before".into();
    assert_eq!(loaded, Loaded { loaded: 0, rejected: vec![Rejected { line: 1, reason }] });
    assert_eq!(load_with(&mut reader, &new, 2, &key()).rejected, []);
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    for at in 1..old.len() {
        let mut mixed = new.clone();
        mixed[at] = old[at];
        let (after, loaded) = load(&mixed.join("\n"));
        assert_eq!(loaded.rejected[0].line, at + 1);
        assert!(after.all.iter().all(|it| it.id != id || it.state == State::Rejected));
    }
    // After a line that only carries the signature it wants, an old one does not fit either: its head is another.
    let decoy = format!("{{}},\"mac\":\"{}\"}}", &old[1][old[1].len() - 66..old[1].len() - 2]);
    let mixed = [new[0], &decoy, old[2]].join("\n");
    assert_eq!(load(&mixed).1.loaded, 0);
}

/// Two that were loaded from the same file and saved at once: the same revision, and yet no line of one in the other.
/// Row F140.
#[test]
fn files_of_one_revision_do_not_mix() {
    let base = save(&mut some());
    let [mut a, mut b] = [load(&base).0, load(&base).0];
    let id = b.all[0].id.clone();
    put(&mut b, &id, State::Rejected, NOW);
    b.transitions = a.transitions.clone();
    let (a, b) = (save(&mut a), save(&mut b));
    let (a, b): (Vec<&str>, Vec<&str>) = (a.lines().collect(), b.lines().collect());
    assert_eq!((a.len(), &a[0][..40]), (b.len(), &b[0][..40]));
    let (_, loaded) = load(&[&[b[0]], &a[1..]].concat().join("\n"));
    assert_eq!(loaded.loaded, 0);
    assert_eq!(loaded.rejected.len(), 11);
}

/// Row F140.
#[test]
fn a_file_of_another_scope_is_refused() {
    let file = save(&mut Store { scope: "tenant a".into(), ..some() });
    let of = |scope: &str| {
        let mut store = Store::new(Gates::default(), scope.into());
        load_with(&mut store, &file, 0, &key()).loaded
    };
    assert_eq!((of("tenant a"), of("tenant b"), of("")), (5, 0, 0));
}

#[test]
fn a_signature_has_32_bytes() {
    let mut store = some();
    let mut saving = store.save();
    for len in [0, 31, 33] {
        let error = saving.take(&vec![1; len]).unwrap_err().to_string();
        assert_eq!(error, format!("sign.hmac: expected an HMAC-SHA256: 32 bytes, got {len}"));
    }
    let file = save(&mut some());
    let mut loading = store.load(&file, 0);
    assert!(loading.bytes().is_some() && loading.take(&[1; 31]).is_err());
}

/// What changes while a file is made is in the next one; what changes while one is read keeps it from being taken.
#[test]
fn changes_made_while_saving_are_saved_the_next_time() {
    let mut store = some();
    let mut saving = store.save();
    store.upsert(observed("something else entirely", NOW));
    while let Some(bytes) = saving.bytes() {
        saving.take(&key().sign(&bytes)).unwrap();
    }
    let file = saving.file();
    assert_eq!(load(&file).1.loaded, 5);
    let mut loading = store.load(&file, 0);
    store.upsert(observed("one more of these things", NOW));
    while let Some(bytes) = loading.bytes() {
        loading.take(&key().sign(&bytes)).unwrap();
    }
    let error = store.adopt(&mut loading).unwrap_err().to_string();
    assert_eq!(error, "load: expected a store that nothing changes while it loads, got a change");
    assert_eq!(store.all.len(), 7);
}

/// Signed, but by somebody who writes otherwise.
#[test]
fn a_signed_line_that_is_no_record_is_left_out() {
    let forge = |text: &str| {
        let mut saving = some().save();
        let head = saving.bytes().unwrap();
        saving.take(&key().sign(&head)).unwrap();
        saving.texts[0] = text.into();
        while let Some(bytes) = saving.bytes() {
            saving.take(&key().sign(&bytes)).unwrap();
        }
        load(&saving.file()).1
    };
    for text in [
        "{\"kind\":\"candidate\",\"id\":\"x\"",
        "{\"kind\":\"other\",\"id\":\"x\"",
        "{",
        "\0",
        "[1",
    ] {
        let loaded = forge(text);
        let reason = "it is signed, but no record of version 1".into();
        assert_eq!(loaded, Loaded { loaded: 4, rejected: vec![Rejected { line: 2, reason }] });
    }
}

/// Signed, but of a later version or of another kind.
/// Row F140.
#[test]
fn a_signed_head_of_another_version_or_kind_is_refused() {
    let forge = |from: &str, to: &str| {
        let mut saving = some().save();
        assert!(saving.texts[0].contains(from));
        saving.texts[0] = saving.texts[0].replacen(from, to, 1);
        while let Some(bytes) = saving.bytes() {
            saving.take(&key().sign(&bytes)).unwrap();
        }
        load(&saving.file()).1
    };
    for (from, to) in [("\"version\":1", "\"version\":2"), ("\"head\"", "\"candidate\"")] {
        let reason = "it is signed, but no head of version 1".into();
        assert_eq!(
            forge(from, to),
            Loaded { loaded: 0, rejected: vec![Rejected { line: 1, reason }] }
        );
    }
    assert_eq!(forge("\"version\":1", "\"version\":1").loaded, 5);
}

/// The form that is documented, byte by byte.
/// Row F140.
#[test]
fn a_line_is_signed_with_scope_and_place() {
    let mut store = Store::new(Gates::default(), "s".into());
    let mut saving = store.save();
    let bytes = saving.bytes().unwrap();
    let text = r#"{"kind":"head","version":1,"revision":1,"lines":0,"digest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855""#;
    let mut expected = b"\0\0\0\x15plimsoll candidates 1\0\0\0\x01s\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    expected.push(u8::try_from(text.len()).unwrap());
    expected.extend_from_slice(text.as_bytes());
    assert_eq!(bytes, expected);
    let signature = key().sign(&bytes);
    saving.take(&signature).unwrap();
    assert_eq!(saving.file(), format!("{text},\"mac\":\"{}\"}}\n", hex(&signature)));
}

/// Somebody's way with a file.
#[derive(Clone, Debug)]
enum Tampering {
    Flip(usize),
    Remove(usize),
    Move(usize, usize),
    Repeat(usize, usize),
    Swap(usize, usize),
    Cut(usize),
}

fn tampering() -> impl Strategy<Value = Tampering> {
    let at = || any::<prop::sample::Index>().prop_map(|at| at.index(1 << 20));
    prop_oneof![
        4 => at().prop_map(Tampering::Flip),
        1 => at().prop_map(Tampering::Remove),
        1 => (at(), at()).prop_map(|(a, b)| Tampering::Move(a, b)),
        1 => (at(), at()).prop_map(|(a, b)| Tampering::Repeat(a, b)),
        1 => (at(), at()).prop_map(|(a, b)| Tampering::Swap(a, b)),
        1 => at().prop_map(Tampering::Cut),
    ]
}

fn tampered(file: &str, how: &Tampering) -> String {
    let mut lines: Vec<&str> = file.lines().collect();
    let len = lines.len();
    match how {
        Tampering::Flip(at) => {
            let mut bytes = file.as_bytes().to_vec();
            let bit = at % (bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            // What is no text any more, JavaScript has as U+FFFD.
            return String::from_utf8_lossy(&bytes).into_owned();
        }
        Tampering::Remove(at) => drop(lines.remove(at % len)),
        Tampering::Move(from, to) => {
            let line = lines.remove(from % len);
            lines.insert(to % len, line);
        }
        Tampering::Repeat(from, to) => lines.insert(to % (len + 1), lines[from % len]),
        Tampering::Swap(a, b) => lines.swap(a % len, b % len),
        Tampering::Cut(at) => {
            let mut end = at % file.len();
            while !file.is_char_boundary(end) {
                end -= 1;
            }
            return file[..end].to_owned();
        }
    }
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Row F140.
    #[test]
    fn every_change_of_a_file_is_detected(how in tampering()) {
        let mut store = some();
        let file = save(&mut store);
        let other = tampered(&file, &how);
        prop_assume!(other.trim_end_matches('\n') != file.trim_end_matches('\n'));
        let (after, loaded) = load(&other);
        prop_assert!(!loaded.rejected.is_empty(), "{how:?}");
        // And what was taken is what was signed.
        prop_assert_eq!(loaded.loaded, after.all.len());
        for it in &after.all {
            prop_assert!(store.all.contains(it), "{how:?}");
        }
    }

    #[test]
    fn loading_any_bytes_never_panics(text in "\\PC{0,200}", lines in "[\\{\\}\",:mac0-9a-f\n]{0,300}") {
        let file = save(&mut some());
        for damaged in [&text, &lines, &format!("{}\n{lines}", file.lines().next().unwrap())] {
            prop_assert!(!load(damaged).1.rejected.is_empty());
        }
    }
}

/// Every bit of a file, one after the other.
/// Row F140.
#[test]
fn a_file_with_any_bit_flipped_is_refused() {
    let mut store = store();
    let id = ripe(&mut store, "run the tests", NOW);
    put(&mut store, &id, State::Rejected, NOW);
    let file = save(&mut store);
    for bit in 0..file.len() * 8 {
        let other = tampered(&file, &Tampering::Flip(bit));
        assert!(!load(&other).1.rejected.is_empty(), "bit {bit}");
    }
}
