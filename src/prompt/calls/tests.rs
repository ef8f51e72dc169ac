//! Each entry point with the JSON that `js/prompt/prompt.ts` sends, and the JSON that it gets.

use super::*;

#[test]
fn a_wrong_argument_is_refused_by_name() {
    let error = |result: Result<String>| result.unwrap_err().to_string();
    let assemble = |json: &str| super::super::crossing::assemble(json, &[]).map(|all| all.prompt);
    let wrong =
        error(assemble(r#"{"sections":[{"key":"a","content":"","priority":1},{"key":7}]}"#));
    assert_eq!(wrong, "sections[1].key: expected a string, got 7");
    let wrong = error(assemble(r#"{"sections":[{"key":"a","priority":1}]}"#));
    assert_eq!(
        wrong,
        "sections[0]: expected a section: { key, content, priority }, got no `content`"
    );
    let wrong = error(assemble(r#"{"sections":[{"key":"a","content":"x"}]}"#));
    assert!(wrong.ends_with("candidates), got none for the key \"a\""), "{wrong}");
    let wrong = error(truncate(r#"{"text":"x","maxChars":1,"marker":7}"#));
    assert_eq!(wrong, "marker: expected a string, got 7");
    let wrong = error(assemble(r#"{"sections":[],"protect":"maybe"}"#));
    assert_eq!(wrong, "protect: expected \"last\", \"never\" or \"error\", got \"maybe\"");
    let cut = assemble(
        &r#"{"sections":[{"key":"a","content":"X","priority":1}],"budget":{"maxPerTierChars":300,"maxTotalChars":300},"locale":"zh"}"#
            .replace('X', &"x".repeat(900)),
    );
    assert!(cut.unwrap().contains("x\n\n（……其余已省略）\n\nx"), "the marker is the locale's");
    let wrong = error(compress(r#"{"text":"x","maxChars":1,"locale":"tlh"}"#));
    assert!(wrong.starts_with("locale: expected a locale"), "{wrong}");
    assert!(
        error(tiers(r#"{"files":[{"tier":"soul","content":""},{"tier":"x","content":""}]}"#))
            .contains("files[1].tier: expected one of soul, policy")
    );
    assert!(error(focus(r#"{"query":"x","languages":["xx"]}"#)).contains("some of en, zh"));
    assert!(error(budget(r#"{"contextTokens":-1}"#)).contains("window.contextTokens"));
}

#[test]
fn a_focus_is_the_same_after_a_round_trip_through_json() {
    let out = focus(r#"{"query":"continue with `fooBar` in src/a.rs"}"#).unwrap();
    assert_eq!(
        out,
        r#"{"querySummary":"continue with `fooBar` in src/a.rs","activeFilePaths":["src/a.rs"],"inferredFilePaths":["src/a.rs"],"activeSymbols":["fooBar"],"planSignals":["continue current execution"]}"#
    );
    assert_eq!(write(&Focus::parse(&out).unwrap()), out);
}

#[test]
fn the_budget_follows_from_the_window_where_that_is_known() {
    assert_eq!(
        budget(r#"{"contextTokens":32768,"maxOutputTokens":4096}"#).unwrap(),
        r#"{"maxPerTierChars":7168,"maxTotalChars":28672}"#
    );
    assert_eq!(
        budget(r#"{"contextTokens":0}"#).unwrap(),
        r#"{"maxPerTierChars":20000,"maxTotalChars":150000}"#
    );
}

#[test]
fn memory_files_become_sections_of_their_tiers() {
    let sections = tiers(
        r#"{"files":[{"tier":"user","content":"Be brief.\n","path":"USER.md"},{"tier":"soul","content":"Kind."}]}"#,
    );
    assert_eq!(
        sections.unwrap(),
        concat!(
            r##"[{"key":"memory:soul","content":"# Soul (Core Identity)\n\nKind.\n\n","priority":100,"protected":true,"##,
            r#""source":"memory","scope":"always-on","reason":"the soul tier","evidence":[],"stable":true},"#,
            r##"{"key":"memory:user","content":"# User Instructions\n\nBe brief.\n\n","priority":70,"protected":false,"##,
            r#""source":"memory","scope":"always-on","reason":"the user tier","evidence":["USER.md"],"stable":true}]"#,
        )
    );
}

#[test]
fn rules_about_an_active_file_become_sections() {
    let sections = rules(
        r#"{"files":[{"path":"rules/rust.md","content":"---\npaths: src/*.rs\n---\nNo panics."},{"path":"rules/web.md","content":"---\npaths: '*.ts'\n---\nBe strict."}],"active":["src/a.rs"]}"#,
    );
    assert_eq!(
        sections.unwrap(),
        concat!(
            r##"[{"key":"rules:rust","content":"# Path-Based Rules: rust\n\nApplies to: src/*.rs\n\nNo panics.\n\n","priority":88,"##,
            r#""protected":false,"source":"rules","scope":"task-local","reason":"src/*.rs matches src/a.rs","evidence":["rules/rust.md"],"stable":false}]"#,
        )
    );
}

#[test]
fn a_workspace_becomes_sections_of_its_files_the_focus_and_its_rules() {
    let sections = workspace(
        r#"{"files":[{"name":"AGENTS.md","content":"Be kind.","path":"/w/AGENTS.md"},{"name":"IDENTITY.md","content":"Ann","path":"/w/IDENTITY.md"}],"rules":[{"path":"rust.md","content":"---\npaths: '*.rs'\n---\nNo panics."}],"focus":{"activeFilePaths":["a.rs"]}}"#,
    );
    assert_eq!(
        sections.unwrap(),
        concat!(
            r##"[{"key":"memory:workspace","content":"# Project Instructions\n\nBe kind.\n\n","priority":80,"protected":false,"##,
            r#""source":"memory","scope":"always-on","reason":"the workspace tier","evidence":["/w/AGENTS.md"],"stable":true},"#,
            r##"{"key":"identity","content":"# Identity\n\nAnn\n\n","priority":85,"protected":false,"##,
            r#""source":"workspace","reason":"IDENTITY.md of the workspace","evidence":["/w/IDENTITY.md"],"stable":true},"#,
            r##"{"key":"task-focus","content":"# Task Focus\n\nWhat the current request is about:\n\n- Active files: a.rs\n\n","priority":89,"protected":false,"##,
            r#""source":"focus","scope":"task-local","reason":"the current request","evidence":[],"stable":false},"#,
            r##"{"key":"rules:rust","content":"# Path-Based Rules: rust\n\nApplies to: *.rs\n\nNo panics.\n\n","priority":88,"protected":false,"##,
            r#""source":"rules","scope":"task-local","reason":"*.rs matches a.rs","evidence":["rust.md"],"stable":false}]"#,
        )
    );
    let only_identity = r#"{"files":[{"name":"IDENTITY.md","content":"Ann"}],"subagent":true}"#;
    assert_eq!(workspace(only_identity).unwrap(), "[]");
}

#[test]
fn a_description_that_is_cut_becomes_an_edit_of_its_tool() {
    let tools = format!(
        r#"{{"tools":[{{"name":"a","description":"Lists."}},{{"name":"b","description":"{}"}}],"maxChars":230}}"#,
        "x".repeat(250)
    );
    assert_eq!(
        trim(&tools).unwrap(),
        format!(
            r#"[{{"op":"replace","path":"/1/description","value":"{}\n[TRUNCATED]"}}]"#,
            "x".repeat(212)
        )
    );
}

#[test]
fn memories_and_a_question_become_one_text() {
    assert_eq!(
        remember(r#"{"memories":["a","b"],"text":"why?","maxChars":1000}"#).unwrap(),
        r#""Related data from memory:\n- a\n- b\n\nQuestion/request: why?""#
    );
}
