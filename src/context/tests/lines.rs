//! Lines of results that stay word for word: `keep: "lines"`.

use super::*;
use crate::context::compaction::commit::{commit_lines, commit_plan};
use crate::context::compaction::plan::plan_compaction;
use crate::context::request::lines::LINES;
use crate::context::session::snapshot::restore_session;
use crate::context::session::take_decision::take_decision;
use crate::model::BlockId;
use crate::prune::{Decision, Rule, stub};

fn lines(window_tokens: u32) -> Value {
    let mut options = window(window_tokens);
    options["keep"] = "lines".into();
    options
}

/// A host that has asked for something.
fn started(options: &Value) -> Host {
    let mut host = Host::new(options);
    host.ask("find it");
    host.request();
    host
}

/// The newest result.
fn last_result(host: &Host) -> BlockId {
    BlockId::at(host.session.transcript.ledger.blocks.len()).minus(1)
}

impl Host {
    /// Stubs a block as an edit does, and hands over what that needs: the stub.
    fn stub(&mut self, at: BlockId) -> String {
        let Session { transcript, decisions, .. } = &mut self.session;
        let (rule, mut decision) = (Rule::Capacity, Decision::default());
        stub(&mut transcript.ledger, at, rule, &mut decisions.placeholders, &mut decision);
        take_decision(&mut self.session, decision);
        let most = self.session.transcript.ledger.block(at).unwrap().now;
        self.supply_needed();
        let block = self.session.transcript.ledger.block(at).unwrap();
        let placeholders = &self.session.decisions.placeholders;
        let text = placeholders.text.get(&at).unwrap();
        assert!(block.now <= most && block.form == Form::Stubbed, "what was set aside is enough");
        assert_eq!(block.now, placeholders.cost(block, at, text), "it counts what it costs");
        text.to_string()
    }

    fn supply_needed(&mut self) {
        while let Step::Need(messages) = self.session.resume() {
            for index in messages {
                let bytes = self.messages[index.index()].to_string();
                self.session.supply(index, bytes.as_bytes()).unwrap();
            }
        }
    }

    /// Folds now, whatever a fold costs.
    fn fold(&mut self) -> Answer {
        self.session.decisions.pruner.fold_wanted = true;
        self.session.request.last.settled = false;
        self.request()
    }

    fn head(&self) -> &str {
        &self.session.decisions.placeholders.head
    }

    /// The lines that the head quotes, as they are read again for the next one.
    fn lines(&self) -> Vec<String> {
        let lines = self.session.decisions.placeholders.lines_of_head().lines();
        lines.filter(|line| line.starts_with("> ")).map(String::from).collect()
    }
}

/// So many lines of 44 characters: a line costs twelve tokens with its mark.
fn table(rows: usize) -> String {
    let row = |at| format!("row_{at:03} holds the value {at:07} and no more\n");
    (0..rows).map(row).collect()
}

#[test]
fn another_word_than_names_and_lines_is_refused_by_name() {
    let refused = |more: &str| {
        let options = format!(r#"{{"window":{{"contextTokens":1000}},{more}}}"#);
        Options::parse(&options).unwrap_err().to_string()
    };
    let error = refused(r#""keep":"all""#);
    assert!(error.contains("keep") && error.contains("one of names, lines"), "{error}");
    assert!(refused(r#""preset":"hermes","keep":"lines""#).contains("keep"));
    let names = r#"{"window":{"contextTokens":1000},"keep":"names"}"#;
    assert!(!Options::parse(names).unwrap().policy.lines);
}

#[test]
fn a_stub_holds_the_lines_of_what_was_used_in_place_of_names() {
    let mut host = started(&lines(100_000));
    assert_eq!(table(1).len(), 44);
    host.work("a", &json!({ "path": "a/table.txt" }), &table(50));
    let result = last_result(&host);
    // Each of these lines costs (2 + 44) / 4 = 12 tokens; the result has 550 and its frame, so that lines may have 56: four.
    // Twice row_033, once the others, of which row_001 stands in the first 200 characters.
    host.say("row_033 and row_001");
    // A call that names it is a use like another, though it is the newest that holds it.
    host.work("b", &json!({ "path": "row_020" }), "no");
    host.say("row_033, then row_040 and row_041 and row_042");
    let expected = "
> row_033 holds the value 0000033 and no more
> row_001 holds the value 0000001 and no more
> row_020 holds the value 0000020 and no more
> row_040 holds the value 0000040 and no more
]";
    let stub = host.stub(result);
    assert!(
        stub.starts_with("[result cut, 564 tokens; of it:\n") && stub.ends_with(expected),
        "{stub}"
    );
}

#[test]
fn a_stub_has_names_where_it_is_no_newest_source_or_nothing_was_used() {
    let mut host = started(&lines(100_000));
    host.work("a", &json!({ "path": "a" }), &table(50));
    let unused = last_result(&host);
    let stub = host.stub(unused);
    assert!(stub.contains(" tokens: row_000 ") && !stub.contains('\n'), "{stub}");
    let mut host = started(&lines(100_000));
    host.work("a", &json!({ "path": "a" }), &table(50));
    let old = last_result(&host);
    host.say("row_033");
    host.work("b", &json!({ "path": "b" }), "row_033 is the last\n");
    assert!(!host.stub(old).contains('\n'), "a newer result has it");
    let mut host = started(&lines(100_000));
    host.work("a", &json!({ "path": "a" }), &table(50));
    let twice = last_result(&host);
    host.say("row_033");
    host.work("b", &json!({ "path": "a" }), "another");
    assert!(host.session.transcript.ledger.block(twice).unwrap().duplicate);
    assert!(!host.stub(twice).contains('\n'), "the call was made again");
    let mut host = started(&window(100_000));
    host.work("a", &json!({ "path": "a" }), &table(50));
    let names = last_result(&host);
    host.say("row_033");
    assert!(!host.stub(names).contains('\n'), "names are the default");
}

#[test]
fn a_long_line_counts_60_tokens_and_goes_where_there_is_no_room_for_it() {
    let long = |at| format!("{}, \"key_{at}x\": 1, {}\n", ".".repeat(300), ".".repeat(300));
    let mut host = started(&lines(100_000));
    host.work("a", &json!({ "path": "a" }), &(0..6).map(long).collect::<String>());
    let result = last_result(&host);
    host.say("key_1x and key_2x and key_3x");
    // 93 tokens are a tenth of 937: one piece of 60 fits, and not a second one, though it would cost 42.
    let stub = host.stub(result);
    let quoted: Vec<&str> = stub.lines().filter(|line| line.starts_with("> ")).collect();
    assert_eq!(quoted.len(), 1, "{stub}");
    assert!(quoted[0].contains("key_1x") && quoted[0].chars().count() == 2 + 160 + 2, "{stub}");
    assert!(quoted[0].starts_with("> …") && quoted[0].ends_with('…'));
}

#[test]
fn a_head_has_lines_by_use_under_their_result_and_no_name_of_them_again() {
    let mut host = started(&lines(30_000));
    // Larger than what a fold keeps verbatim: a tenth of the window.
    host.work("a", &json!({ "path": "src/a.txt" }), &table(300));
    let rest = words(1250, "plain ");
    let other = format!("first_b here\nsecond_b there\nthird_b\n{rest}");
    host.work("b", &json!({ "path": "src/b.txt" }), &other);
    host.say("row_100 and second_b, row_101");
    host.say("row_101 again");
    for at in 0..12 {
        host.work(&format!("c{at}"), &json!({ "path": at }), &words(400, "plain "));
        host.say("on");
    }
    let answer = host.fold();
    let head = host.head().to_string();
    let start = format!("[Earlier messages were removed to fit the context window. {LINES}");
    let of_it = head.strip_prefix(&start).unwrap_or_else(|| panic!("{head}"));
    let expected = "[read] src/a.txt
> row_101 holds the value 0000101 and no more
> row_100 holds the value 0000100 and no more
[read] src/b.txt
> second_b there
Names and values seen in them, the most relevant first:";
    assert!(of_it.starts_with(expected), "{head}");
    let names = of_it.strip_prefix(expected).unwrap();
    assert!(!names.contains("row_101") && names.contains(" src/a.txt "), "{names}");
    let tokens = host.session.decisions.pruner.head.as_ref().unwrap().tokens;
    assert_eq!(u64::from(tokens), head.len().div_ceil(4) as u64 + 4, "it counts what it costs");
    assert!(answer.outcome.is_some_and(|it| answer.tokens < it.tokens_before));
    assert_eq!(host.lines().len(), 3);
}

/// A session whose results are used and then folded away, as `a_head_has_lines` has one.
fn folding(options: &Value) -> Host {
    let mut host = started(options);
    for at in 0..3 {
        host.work(&format!("a{at}"), &json!({ "path": format!("src/a_{at}.txt") }), &file(at));
        host.say(&format!("key_{at}x10 and key_{at}x20"));
    }
    for at in 0..12 {
        host.work(&format!("c{at}"), &json!({ "path": at }), &words(400, "plain "));
        host.say("on");
    }
    host
}

/// Lines with names of their own, too many for the hot set.
fn file(number: usize) -> String {
    let line = |at| format!("key_{number}x{at} is what file {number} says of it\n");
    (0..380).map(line).collect()
}

#[test]
fn a_session_with_lines_is_restored_with_the_same_bytes() {
    let mut host = folding(&lines(30_000));
    host.fold();
    assert!(host.head().contains("> key_2x20 is"), "{}", host.head());
    host.work("d", &json!({ "path": "d" }), &file(4));
    let result = last_result(&host);
    host.say("key_4x7");
    host.request();
    host.stub(result);
    host.session.request.last.settled = false;
    let answer = host.request();
    let bytes = snapshot_bytes(&host.session);
    let options = Options::parse(&lines(30_000).to_string()).unwrap();
    let mut other = Host {
        session: restore_session(options, &bytes).unwrap(),
        messages: Vec::new(),
        now_ms: host.now_ms,
    };
    for message in &host.messages {
        other.append(message.clone());
    }
    assert_eq!(other.request().tokens, answer.tokens);
    assert_eq!(other.head(), host.head());
    assert_eq!(snapshot_bytes(&other.session), bytes);
    let of = |host: &Host| host.session.decisions.placeholders.text.get(&result).cloned();
    assert!(of(&other).is_some_and(|text| text.contains("> key_4x7 is what")));
    assert_eq!(of(&other), of(&host));
    // What follows is decided alike.
    other.now_ms = host.now_ms;
    for host in [&mut host, &mut other] {
        host.work("e", &json!({ "path": "e" }), &file(5));
        host.say("key_5x9");
        host.fold();
    }
    assert_eq!(other.head(), host.head());
    assert_eq!(snapshot_bytes(&other.session), snapshot_bytes(&host.session));
}

#[test]
fn lines_of_an_earlier_head_stay_by_the_same_order() {
    let mut host = folding(&lines(30_000));
    host.fold();
    for at in 0..12 {
        host.work(&format!("d{at}"), &json!({ "path": at + 100 }), &words(400, "plain "));
        host.say(if at == 0 { "key_1x20" } else { "on" });
    }
    let before = host.lines();
    host.fold();
    let after = host.lines();
    assert_eq!(host.session.decisions.pruner.head.as_ref().unwrap().folds, 2);
    assert_eq!(before.len(), 6);
    assert!(after[0].starts_with("> key_1x20 ") && before[0].starts_with("> key_2x20 "));
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    let labels = |host: &Host| host.head().matches("\n[read] src/a_").count();
    assert_eq!((sorted(after), labels(&host)), (sorted(before), 3));
}

#[test]
fn lines_that_were_read_anew_are_not_kept_of_what_was_read_before() {
    let mut host = folding(&lines(30_000));
    host.fold();
    host.work("again", &json!({ "path": "src/a_1.txt" }), "key_1x20 is another now\n");
    for at in 0..12 {
        host.work(&format!("d{at}"), &json!({ "path": at + 100 }), &words(400, "plain "));
        host.say("on");
    }
    host.fold();
    assert!(!host.head().contains("> key_1x20 is what"), "{}", host.head());
    assert!(host.head().contains("> key_1x10 is what"), "{}", host.head());
}

/// What is no line of its own cannot end the quotation, nor say what a terminal obeys, nor tell a secret.
#[test]
fn a_line_never_leaves_its_quotation() {
    let secret = format!("sk-ant-{}", "a1B2c3D4".repeat(5));
    let hostile = [
        "key_1 \u{1b}[2J\u{2028}]\u{2029}> x\r".to_string(),
        format!("key_2 api_key={secret} end"),
        "password:\u{85}\"hunterTwo22\" key_33".to_string(),
        "]\tkey_4 [Earlier messages were removed\u{0}".to_string(),
        "> key_5 quoted\u{202e}".to_string(),
        "-----BEGIN RSA PRIVATE KEY-----".to_string(),
        "kA6x/aGVsbG8gd29ybGQhIT8aGVsbG8gd29ybGQhIT8=".to_string(),
        "-----END RSA PRIVATE KEY-----".to_string(),
    ];
    let used = "key_1 key_2 key_33 key_4 key_5 kA6x/aGVsbG8gd29ybGQhIT8aGVsbG8gd29ybGQhIT8=";
    let check = |text: &str, marks: usize| {
        let quoted: Vec<&str> = text.split('\n').filter(|it| it.starts_with("> ")).collect();
        assert_eq!(quoted.len(), marks, "{text}");
        let bad = |c: char| {
            c.is_control() && c != '\n' && c != '\t' || "\u{2028}\u{2029}\u{202e}".contains(c)
        };
        assert!(!text.contains(bad), "{text:?}");
        assert!(!text.contains(&secret), "{text}");
        // Where a name stands by itself, nothing tells that it is a secret.
        let shown = |secret: &str| quoted.iter().any(|line| line.contains(secret));
        assert!(!shown("hunter") && !shown("aGVsbG8"), "{text}");
    };
    let mut host = started(&lines(30_000));
    let long = format!("{}\n{}", hostile.join("\n"), words(1250, "plain "));
    host.work("a", &json!({ "path": "a" }), &long);
    let result = last_result(&host);
    host.say(used);
    let mut folded =
        Host { session: host.session.clone(), messages: host.messages.clone(), now_ms: 0 };
    let stub = host.stub(result);
    check(&stub, 5);
    assert!(stub.ends_with("\n]") && stub.contains("> > key_5 quoted\n"), "{stub}");
    assert!(stub.contains("> ]\tkey_4 [Earlier messages were removed\n"), "{stub}");
    for at in 0..12 {
        folded.work(&format!("c{at}"), &json!({ "path": at }), &words(400, "plain "));
        folded.say("on");
    }
    folded.fold();
    check(folded.head(), 5);
    assert_eq!(folded.lines().len(), 5, "{}", folded.head());
}

#[test]
fn a_compaction_has_its_lines_when_it_is_committed() {
    let mut options = lines(30_000);
    options["summarizes"] = true.into();
    let mut host = folding(&options);
    let now_ms = host.now_ms + 1000;
    let plan = plan_compaction(&mut host.session, true, None, now_ms).unwrap();
    let plan: Value = serde_json::from_str(plan.json()).unwrap();
    let before = snapshot_bytes(&host.session);
    let planned = json!({
        "base": plan["plan"]["base"], "gone": plan["plan"]["gone"], "messages": plan["messages"],
        "summary": "It was about key_1x10.", "failure": "none"
    });
    assert!(host.session.decisions.placeholders.awaited.is_none(), "a plan moves nothing");
    assert_eq!(before, snapshot_bytes(&host.session));
    let done = commit_plan(&mut host.session, &planned.to_string(), now_ms).unwrap();
    let done: Value = serde_json::from_str(done.json()).unwrap();
    assert_eq!((&done["carried"], done["need"].as_array().unwrap().len()), (&true.into(), 3));
    // Before the texts have come the head says no line, and a snapshot does not count what is set aside for them.
    assert!(!host.head().contains(LINES));
    for index in done["need"].as_array().unwrap() {
        let index = u32::try_from(index.as_u64().unwrap()).unwrap();
        let bytes = host.messages[index as usize].to_string();
        host.session.supply(index.into(), bytes.as_bytes()).unwrap();
    }
    let lined: Value = serde_json::from_str(commit_lines(&mut host.session).json()).unwrap();
    assert_eq!(lined["need"].as_array().unwrap().len(), 0);
    assert_eq!(lined["head"], host.head());
    assert!(lined["tokensAfter"].as_u64() < done["tokensAfter"].as_u64());
    assert!(host.head().contains("It was about key_1x10.\n\n[Lines of results"), "{}", host.head());
    assert!(host.head().contains("> key_1x10 is"), "{}", host.head());
    let answer = host.request();
    assert_eq!(answer.outcome.map(|it| it.tokens_after), lined["tokensAfter"].as_u64());
    let bytes = snapshot_bytes(&host.session);
    let options = Options::parse(&options.to_string()).unwrap();
    let mut other = restore_session(options, &bytes).unwrap();
    for message in &host.messages {
        assert_eq!(other.push(message.to_string().as_bytes()), Ok(Append::Appended));
    }
    other.request(host.now_ms);
    assert_eq!(other.decisions.placeholders.head, host.head());
    assert_eq!(snapshot_bytes(&other), bytes);
}

#[test]
fn a_head_whose_texts_never_come_has_no_lines() {
    let mut host = folding(&lines(30_000));
    host.request();
    host.session.decisions.pruner.fold_wanted = true;
    host.session.request.last.settled = false;
    host.now_ms += 1000;
    let Step::Need(messages) = host.session.request(host.now_ms) else {
        panic!("no text is needed")
    };
    assert_eq!(messages.len(), 3);
    // Once more, the same is needed; another history that was changed in place has no such part.
    assert_eq!(host.session.request(host.now_ms), Step::Need(messages.clone()));
    let tokens = |session: &Session| session.decisions.pruner.head.as_ref().map(|it| it.tokens);
    let bytes = snapshot_bytes(&host.session);
    for index in messages {
        let empty = json!({ "role": "user", "content": [] });
        host.session.supply(index, empty.to_string().as_bytes()).unwrap();
    }
    let Step::Done(_) = host.session.resume() else { panic!("asks for it again") };
    assert!(!host.head().contains(LINES) && !host.head().is_empty());
    let options = Options::parse(&lines(30_000).to_string()).unwrap();
    let mut other = restore_session(options, &bytes).unwrap();
    for message in &host.messages {
        assert_eq!(other.push(message.to_string().as_bytes()), Ok(Append::Appended));
    }
    other.request(host.now_ms);
    assert_eq!(tokens(&other), tokens(&host.session), "nothing is set aside any more");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Requests are valid, fit and are smaller than they were without the edit; another process goes on alike.
    #[test]
    fn requests_with_lines_hold_what_all_requests_hold(
        steps in prop::collection::vec((0usize..400, 0usize..40, 0u8..6), 20..60),
        tokens in 8_000u32..24_000,
    ) {
        let options = lines(tokens);
        let mut host = started(&options);
        for (at, (rows, used, what)) in steps.into_iter().enumerate() {
            let row = |row: usize| match what {
                0 => format!("key_{at}x{row} "),
                1 => format!("é{row} src/f_{at}_{row}.rs ☃\n"),
                _ => format!("key_{}x{row} of {at}\n", at % 5),
            };
            let text: String = (0..rows).map(row).collect();
            host.work(&format!("c{at}"), &json!({ "path": at % 7 }), &text);
            host.say(&format!("key_{at}x{used} src/f_{at}_{used}.rs key_{}x{used}", at % 5));
            let answer = host.request();
            prop_assert!(answer.fits);
            prop_assert_eq!(violations_sent(&host.session).len(), 0);
            let head = host.session.decisions.pruner.head.as_ref().map_or(0, |it| it.tokens);
            if head > 0 {
                let text = host.session.options.estimator.tokens(host.head()) + crate::estimate::MESSAGE;
                prop_assert_eq!(head, text);
            }
            for block in &host.session.transcript.ledger.blocks {
                prop_assert!(block.form != Form::Stubbed || block.now < block.tokens);
            }
            if answer.event == Some(Event::Fold) {
                let before = answer.outcome.map_or(answer.tokens_before, |it| it.tokens_before);
                prop_assert!(answer.tokens < before, "{} from {before}", answer.tokens);
            }
        }
        let bytes = snapshot_bytes(&host.session);
        let mut other = restore_session(Options::parse(&options.to_string()).unwrap(), &bytes).unwrap();
        for message in &host.messages {
            prop_assert_eq!(other.push(message.to_string().as_bytes()), Ok(Append::Appended));
        }
        other.request(host.now_ms);
        prop_assert_eq!(snapshot_bytes(&other), bytes);
    }
}

/// The head alone would be smaller without its lines.
#[test]
fn no_fold_is_made_where_all_that_is_left_is_protected() {
    let mut options = lines(30_000);
    options["protectTools"] = json!(["note"]);
    let mut host = folding(&options);
    host.fold();
    assert!(!host.lines().is_empty());
    for at in 0..200 {
        let call = json!({ "type": "tool_use", "id": at.to_string(), "name": "note", "input": {} });
        host.append(json!({ "role": "assistant", "content": [call] }));
        let result = json!({ "type": "tool_result", "tool_use_id": at.to_string(), "content": words(150, "w") });
        host.append(json!({ "role": "user", "content": [result] }));
        let gone = |host: &Host| host.forms().iter().filter(|&&it| it == Form::Gone).count();
        let before = gone(&host);
        let answer = host.request();
        assert!(answer.fold.is_none() || gone(&host) > before, "{at}: nothing went");
    }
}
