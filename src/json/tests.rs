//! The reader beside `serde_json`: the same texts, the same values, the same places of faults.

use proptest::prelude::*;
use serde_json::Value as Tree;

use super::*;

/// What the reader makes of a text, as a tree of `serde_json`'s.
fn tree(reader: &mut Reader<'_>) -> Read<Tree> {
    Ok(match reader.peek() {
        Some(b'[') => {
            reader.enter();
            let mut items = Vec::new();
            while reader.more(items.is_empty(), b']')? {
                items.push(tree(reader)?);
            }
            Tree::Array(items)
        }
        Some(b'{') => {
            reader.enter();
            let (mut members, mut first) = (serde_json::Map::new(), true);
            while reader.more(first, b'}')? {
                first = false;
                let key = reader.key()?.into_owned();
                members.insert(key, tree(reader)?);
            }
            Tree::Object(members)
        }
        Some(b'"') => Tree::String(reader.string()?.into_owned()),
        _ => {
            let word = reader.word()?;
            serde_json::from_str(word).map_err(|_| reader.error(format!("{word} is refused")))?
        }
    })
}

fn read(text: &str) -> Read<Tree> {
    let mut reader = Reader::new(text);
    let value = tree(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Both take it and see the same, or neither takes it, at the same place.
#[track_caller]
fn compare(text: &str) {
    // Numbers stay the text that they are: to us none is out of range.
    let theirs = serde_json::from_str::<serde_json::Value>(text);
    if theirs.is_err_and(|error| error.to_string().starts_with("number out of range")) {
        return;
    }
    let theirs = serde_json::from_str::<Tree>(text);
    match (read(text), &theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours, *theirs, "{text}"),
        (Err(_), Err(_)) => {}
        (ours, theirs) => panic!("{text:?}: {ours:?}, but {theirs:?}"),
    }
    let strict = Reader::new(text).strict().map(str::len);
    let mut reader = Reader::new(text);
    let strict = strict.and_then(|_| reader.strict()).and_then(|_| reader.end());
    assert_eq!(strict.is_ok(), theirs.is_ok(), "{text:?}: {strict:?}");
    let lenient = serde_json::from_str::<&serde_json::value::RawValue>(text);
    assert_eq!(parse(text).ok(), lenient.as_ref().ok().map(|raw| raw.get()), "{text:?}");
}

/// JSON, and texts that are nearly JSON.
fn texts() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("-0".to_owned()),
        Just("01".to_owned()),
        Just("1.".to_owned()),
        "-?[0-9]{1,18}",
        "-?[0-9]{1,3}\\.[0-9]{1,3}",
        "[0-9]{1,3}[eE][+-]?[0-9]{1,2}",
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        "\"([a-z]|\\\\[bfnrtux\"/]|\\\\ud83d\\\\ude00|\\\\u[0-9a-f]{4}|\\\\ud[89a-f][0-9a-f]{2}){0,12}\"",
        "\"[ -~\n]{0,20}\"",
    ];
    let space = || prop_oneof![4 => Just(""), 1 => Just(" "), 1 => Just("\n\t\r")];
    leaf.prop_recursive(4, 30, 5, move |inner| {
        let item = (space(), inner, space()).prop_map(|(a, value, b)| format!("{a}{value}{b}"));
        let member =
            ("\"[a-c]{0,2}\"", item.clone()).prop_map(|(name, value)| format!("{name}:{value}"));
        prop_oneof![
            prop::collection::vec(item, 0..5).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(member, 0..5).prop_map(|all| format!("{{{}}}", all.join(","))),
        ]
    })
}

proptest! {
    #[test]
    fn json_is_read_as_serde_json_reads_it(text in texts()) {
        compare(&text);
    }

    #[test]
    fn broken_json_is_refused_as_serde_json_refuses_it(
        text in texts(),
        at in any::<prop::sample::Index>(),
        with in "[\\[\\]{}:,\"\\\\a0. \u{1}]{0,2}",
        cut in 0..2_usize,
    ) {
        let mut places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
        places.push(text.len());
        let from = at.index(places.len());
        let to = from.saturating_add(cut).min(places.len().saturating_sub(1));
        let (before, after) = (text.get(..places[from]), text.get(places[to]..));
        compare(&format!("{}{with}{}", before.unwrap_or_default(), after.unwrap_or_default()));
    }

    #[test]
    fn strings_are_written_as_serde_json_writes_them(text in any::<String>(), odd in "[\u{0}-\u{30}\\\\]{0,20}") {
        for text in [text, odd] {
            let mut ours = String::new();
            quote(&text, &mut ours);
            prop_assert_eq!(&ours, &serde_json::to_string(&text).unwrap());
            prop_assert_eq!(&*string(&ours).unwrap(), &text);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        compare(&text);
    }
}

#[test]
fn errors_equal_those_of_serde_json() {
    for text in [
        "",
        " ",
        "{",
        "[",
        "[1",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "[1 2]",
        "{\"a\":1 \"b\"}",
        "{1:2}",
        "[1]\n x",
        "{\"a\":tru}",
        "{\n\"a\":\n01}",
        "\"a",
        "\"a\u{1}\"",
        "\"\\x\"",
        "\"\\u12",
        "\"\\ud800\"",
        "\"\\ude00\"",
        "[,]",
        "x",
        "-",
        "1e",
    ] {
        let ours = read(text).unwrap_err().to_string();
        let theirs = serde_json::from_str::<Tree>(text).unwrap_err().to_string();
        assert_eq!(ours, theirs, "{text:?}");
    }
}

#[test]
fn deeply_nested_json_is_read_without_a_deep_stack() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        assert_eq!(parse(&deep).map(str::len), Ok(deep.len()));
        let fault = Reader::new(&deep).strict().unwrap_err();
        assert!(fault.to_string().starts_with("recursion limit exceeded at line 1"), "{fault}");
        assert!(parse(&open.repeat(100_000)).is_err());
    }
    compare(&format!("{}1{}", "[".repeat(127), "]".repeat(127)));
    compare(&format!("{}1{}", "[".repeat(64), "]".repeat(64)));
}

const CALL: Shape = Shape {
    what: "a call",
    members: &[
        required("name", Type::Text),
        optional("at", Type::Integer),
        optional("done", Type::Flag),
        optional("content", Type::Content),
        optional("list", Type::Items),
        optional("rest", Type::Raw),
    ],
    closed: true,
};

#[test]
fn members_are_read_as_the_types_that_the_caller_names() {
    let json = r#" { "name" : "a\n" , "at" : -5, "done":false, "content":["x", {}], "list":[ 1.50 ], "rest": {"n":1e3} } "#;
    let mut call = CALL.read_with(json.into(), unread_blocks).unwrap();
    assert_eq!(call.text("name").as_deref(), Some("a\n"));
    assert_eq!((call.integer("at"), call.flag("done")), (Some(-5), Some(false)));
    assert!(
        matches!(call.content("content"), Some(Content::Blocks(blocks)) if blocks.iter().map(|it| it.raw).eq(["\"x\"", "{}"]))
    );
    assert_eq!((call.items("list"), call.raw("rest")), (Some(vec!["1.50"]), Some("{\"n\":1e3}")));
}

const BLOCK: Shape = Shape {
    what: "a block",
    members: &[
        required("type", Type::Text),
        optional("text", Type::Text),
        optional("content", Type::Content),
    ],
    closed: false,
};
const INNER: Shape =
    Shape { what: "an inner block", members: &[required("type", Type::Text)], closed: false };
const BLOCKS: Shape =
    Shape { what: "a message", members: &[required("content", Type::Content)], closed: false };

#[test]
fn blocks_are_read_at_once_and_others_are_left_as_they_stand() {
    let read = |json: &'static str| {
        BLOCKS.read_with(json.into(), |reader| {
            BLOCK.blocks(reader, |reader| INNER.any_blocks(reader, left_unread))
        })
    };
    let blocks = |json| read(json).unwrap().blocks("content").unwrap();
    let mut items = blocks(
        r#"{"content":[ {"type":"a\n", "text":"x"} ,{"text":"no type"},{"type":1},5,{"type":"b","content":[{"type":"c"},{}]},{"type":"d","content":{"e":[]}}],"more":1}"#,
    );
    let kinds: Vec<Option<String>> =
        items.iter().map(|item| item.str("type").map(String::from)).collect();
    let expected = [Some("a\n"), None, None, None, Some("b"), Some("d")];
    assert_eq!(kinds, expected.map(|kind| kind.map(String::from)));
    assert_eq!(items[0].raw, r#"{"type":"a\n", "text":"x"}"#);
    assert_eq!((items[3].raw, items[5].raw), ("5", r#"{"type":"d","content":{"e":[]}}"#));
    let mut last = items.pop().unwrap().members(&BLOCK).unwrap();
    assert_eq!(last.raw("content"), Some(r#"{"e":[]}"#));
    let mut nested = items.pop().unwrap().members(&BLOCK).unwrap().blocks("content").unwrap();
    assert_eq!((nested[0].str("type"), nested[1].str("type")), (Some("c"), None));
    assert!(nested.pop().unwrap().members(&INNER).is_err());
    let fault = items.pop().unwrap().members(&BLOCK).unwrap_err();
    assert!(fault.to_string().starts_with("invalid type: 5"), "{fault}");
    for json in [r#"{"content":[{"type":"a""#, r#"{"content":[{"type":"a"},]}"#, r#"{"content":5}"#]
    {
        assert!(read(json).is_err(), "{json}");
    }
}

#[test]
fn a_repeated_member_has_its_last_value() {
    let read = |json| CALL.read(json).unwrap();
    let mut call = read(r#"{"name":"a","at":1,"name":"b","at":2}"#);
    assert_eq!((call.text("name").as_deref(), call.integer("at")), (Some("b"), Some(2)));
    assert_eq!(read(r#"{"name":"a","at":1,"at":null}"#).integer("at"), None);
}

#[test]
fn a_member_of_the_wrong_type_is_named() {
    for (json, expected) in [
        ("[]", "invalid type: an array, expected a call at line 1 column 0"),
        ("{}", "missing field `name` at line 1 column 2"),
        (r#"{"name":null}"#, "invalid type: null, expected a string at line 1 column 12"),
        (r#"{"name":{}}"#, "invalid type: an object, expected a string at line 1 column 8"),
        (r#"{"at":1.5}"#, "invalid type: 1.5, expected i64 at line 1 column 9"),
        (
            r#"{"at":99999999999999999999}"#,
            "invalid type: 99999999999999999999, expected i64 at line 1 column 26",
        ),
        (r#"{"done":1}"#, "invalid type: 1, expected a boolean at line 1 column 9"),
        (
            r#"{"content":true}"#,
            "invalid type: true, expected a string or an array of blocks at line 1 column 15",
        ),
        (
            r#"{"x":1}"#,
            "unknown field `x`, expected one of `name`, `at`, `done`, `content`, `list`, `rest` at line 1 column 5",
        ),
    ] {
        assert_eq!(
            CALL.read_with(json.into(), unread_blocks).err().unwrap().to_string(),
            expected,
            "{json}"
        );
    }
}

#[test]
fn structs_are_written_as_json() {
    let value = json!({ "a": "x\u{1f}\"", "b": [Value::from(true), Value::NULL], "c": 0u64 });
    assert_eq!(value.json(), "{\"a\":\"x\\u001f\\\"\",\"b\":[true,null],\"c\":0}");
    let mut out = String::new();
    object(&[("far_off", &-3_i64), ("none?", &None::<u32>), ("none", &None::<u32>)], &mut out);
    assert_eq!(out, "{\"farOff\":-3,\"none\":null}");
}

#[test]
fn an_object_of_a_file_keeps_its_bytes_and_survives_lone_surrogates() {
    let (object, levels) =
        Object::read_lossy(r#"{"a":"x\ud800y","\ud800":1,"b": [1, 2],"a":"z\ud83d"}"#);
    assert_eq!(levels, Ok(2));
    assert_eq!(object.get("a"), Some(r#""z\ud83d""#));
    assert_eq!(object.text("a").as_deref(), Some("z\u{fffd}"));
    assert_eq!(object.string("a"), None);
    assert_eq!(object.get("b"), Some("[1, 2]"));
    assert!(object.has("\u{fffd}"));
    assert!(Object::read(r#"{"\ud800":1}"#).is_err());
}

#[test]
fn a_broken_object_keeps_what_came_before() {
    let (object, read) = Object::read_lossy(r#"{"id":"a","text":"\* "}"#);
    assert_eq!(object.text("id").as_deref(), Some("a"));
    let place = read.err().map(|fault| (fault.what().to_owned(), fault.column()));
    assert_eq!(place, Some(("invalid escape".into(), 20)));
    let (_, read) = Object::read_lossy("[1]");
    assert!(read.is_err_and(|fault| fault.what().contains("JSON object")));
}

#[test]
fn text_with_half_characters_is_unescaped_with_replacements() {
    let read = |json| lossy_string(json).map(Cow::into_owned);
    assert_eq!(
        read(r#""a\n\"\\\/\u00e9\ud83d\ude00""#).as_deref(),
        Some("a\n\"\\/\u{e9}\u{1f600}")
    );
    assert_eq!(
        read(r#""\ude00\ud83d-\ud83d\u0041\ud83d\ud83d\ude00""#).as_deref(),
        Some("\u{fffd}\u{fffd}-\u{fffd}A\u{fffd}\u{1f600}")
    );
    assert_eq!(read("12"), None);
}

#[test]
fn numbers_of_an_object_are_unsigned_integers() {
    let object = Object::of(r#"{"a":12,"b":3.9,"c":-1,"d":null,"e":"5"}"#);
    let read: Vec<_> = ["a", "b", "c", "d", "e", "f"].map(|name| object.number(name)).into();
    assert_eq!(read, [Some(12), Some(3), None, None, None, None]);
    assert!(object.has("d") && object.get("d").is_none());
}
