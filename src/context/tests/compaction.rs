//! Compaction by the host's summarizer, in small: planned, carried out, reported; each fault by its name.

mod checkpoints;
mod chunks;
mod outcomes;
mod refusals;
mod state;

use super::*;
use crate::context::compaction::commit::commit_plan;
use crate::context::compaction::commit::compaction_failed;
use crate::context::compaction::commit::record_refusal;
use crate::context::compaction::cool_down::blocked_reason;
use crate::context::compaction::cool_down::may_ask_summarizer;
use crate::context::compaction::cool_down::warning;
use crate::context::compaction::flat_message::extracted_so_far;
use crate::context::compaction::flat_message::flat_message;
use crate::context::compaction::plan::plan_compaction;
use crate::context::report::status::status;
use crate::context::request::build_request::resend;
use crate::context::request::build_request::violations_sent;
use crate::context::session::agent::call_agent_tool;
use crate::context::session::pinning::pin_text;
use crate::context::session::pinning::unpin;
use crate::context::session::snapshot::restore_from;
use crate::context::session::snapshot::set_options;
use crate::context::session::snapshot::snapshot_bytes;
use crate::error::{Error, is_stale};

const WINDOW: u32 = 20_000;

pub(super) fn options(more: &Value) -> Value {
    let mut options = json!({ "window": { "contextTokens": WINDOW, "maxOutputTokens": 1000 },
        "summarizes": true, "estimator": "chars/4", "summary": { "minimumTokens": 0 }, "ingestCap": 1 });
    for (name, value) in more.as_object().unwrap() {
        options[name] = value.clone();
    }
    options
}

/// So many plain words, none of which is an identifier.
pub(super) fn prose(count: usize) -> String {
    ["alpha", "river", "stone", "cloud", "table"].repeat(count / 5 + 1)[..count].join(" ")
}

/// An agent's talk of so many steps that the model answers in words, so that only a fold makes it smaller.
pub(super) fn talked(options: &Value, steps: usize) -> Host {
    let mut host = Host::new(options);
    for at in 0..steps {
        host.ask(&format!("step {at}: {}", prose(60)));
        host.work(&format!("c{at}"), &json!({ "path": format!("src/f{at}.rs") }), &prose(80));
        host.say(&prose(300));
    }
    host
}

impl Host {
    pub(super) fn plan(&mut self, force: bool) -> Value {
        let plan = plan_compaction(&mut self.session, force, None, self.now_ms).unwrap();
        serde_json::from_str(plan.json()).unwrap()
    }

    pub(super) fn commit(&mut self, plan: &Value, summary: Option<&str>) -> Result<Value, Error> {
        let found = json!({ "modifiedFiles": ["a.rs"], "readFiles": [], "commands": ["make all"], "errors": [] });
        let planned = json!({ "base": plan["plan"]["base"], "gone": plan["plan"]["gone"], "summary": summary,
            "messages": plan["messages"], "extracted": found, "lost": ["E42"] });
        let done = commit_plan(&mut self.session, &planned.to_string(), self.now_ms);
        done.map(|done| serde_json::from_str(done.json()).unwrap())
    }

    /// A compaction by hand with this summary.
    pub(super) fn compact(&mut self, summary: &str) -> Value {
        let plan = self.plan(true);
        assert_eq!(plan["plan"]["outcome"], "summarize", "{plan}");
        let done = self.commit(&plan, Some(summary)).unwrap();
        assert_eq!(done["carried"], true, "{done}");
        done
    }

    fn live_messages(&self) -> Vec<u32> {
        let ledger = &self.session.transcript.ledger;
        let mut live: Vec<u32> =
            ledger.live().iter().map(|&at| ledger.blocks[at.index()].message.get()).collect();
        live.dedup();
        live
    }
}

#[test]
fn a_plan_changes_no_state() {
    for (steps, force) in [(3, true), (20, false), (20, true), (60, false)] {
        let mut host = talked(&options(&json!({})), steps);
        let mut other = talked(&options(&json!({})), steps);
        host.request();
        other.request();
        for turn in 0..2 {
            let before = snapshot_bytes(&host.session);
            host.plan(force);
            assert_eq!(snapshot_bytes(&host.session), before);
            host.ask(&format!("and {turn}"));
            other.ask(&format!("and {turn}"));
            host.plan(force);
            assert_eq!(host.request(), other.request());
        }
    }
}

/// Of a session that has folded and was taken up again, with the same history and with a shorter one.
#[test]
fn the_first_plan_of_a_restored_session_is_made_on_its_folds() {
    for shorter in [0, 4] {
        let options = options(&json!({}));
        let mut host = talked(&options, 20);
        host.request();
        host.compact("They chose u4w2.");
        for at in 20..30 {
            host.ask(&format!("step {at}: {}", prose(60)));
            host.say(&prose(300));
            host.request();
        }
        host.messages.truncate(host.messages.len() - shorter);
        let mut woken = host.woken(&options);
        let before = snapshot_bytes(&woken.session);
        let plan = woken.plan(true);
        assert_eq!(snapshot_bytes(&woken.session), before, "a plan moves nothing");
        assert_eq!(plan["plan"]["outcome"], "summarize", "{plan}");
        assert_eq!(plan["previousSummary"], "They chose u4w2.");
        assert_eq!(woken.commit(&plan, Some("short")).unwrap()["carried"], true);
        assert_eq!(woken.request().event, Some(Event::Fold));
    }
}

#[test]
fn a_summary_replaces_the_folded_messages_and_the_next_request_reports_it() {
    let mut host = talked(&options(&json!({})), 20);
    host.request();
    host.ask("go on");
    host.request();
    let epoch = status(&host.session).epoch;
    let done = host.compact("They looked at src/f3.rs and chose u4w2.");
    let answer = host.request();
    let fold = answer.fold.expect("a fold is reported");
    assert_eq!((answer.epoch, answer.event), (epoch + 1, Some(Event::Fold)));
    assert_eq!(
        (fold.id.as_str(), fold.degraded, fold.lost.as_slice()),
        (done["id"].as_str().unwrap(), false, &["E42".to_owned()][..])
    );
    assert_eq!(fold.extracted.commands, ["make all"]);
    assert!(fold.head.contains("chose u4w2.") && fold.summary.ends_with("u4w2."));
    let outcome = answer.outcome.unwrap();
    assert_eq!(outcome.status, "summarized");
    assert!(outcome.tokens_after < outcome.tokens_before);
    assert!(!fold.identifiers.contains(&"src/f3.rs".to_owned()), "the summary holds it already");
    assert_eq!(json!(fold.identifiers), done["identifiers"]);
    assert!(answer.items.iter().any(|item| crate::json::write(item).contains("chose u4w2.")));
    host.ask("and on");
    let next = host.request();
    assert_eq!((next.fold, next.first_changed), (None, None));
}

/// Row F6.
#[test]
fn a_summary_that_is_no_smaller_is_refused_and_everything_stays() {
    let mut host = talked(&options(&json!({})), 20);
    host.request();
    let before = host.request();
    let plan = host.plan(true);
    let done = host.commit(&plan, Some(&prose(40_000))).unwrap();
    assert_eq!(done["carried"], false);
    assert_eq!(
        blocked_reason(&host.session, host.now_ms).json(),
        format!("{{\"reason\":\"cooldown\",\"untilMs\":{}}}", host.now_ms + 60_000)
    );
    assert_eq!(host.request(), before);
    host.commit(&plan, Some(&prose(40_000))).unwrap();
    assert_eq!(blocked_reason(&host.session, i64::MAX).json(), r#"{"reason":"ineffective"}"#);
    let change = warning(&mut host.session, 0).map(|it| crate::json::write(&it));
    assert_eq!(change.as_deref(), Some(r#"{"reason":"ineffective"}"#));
    assert_eq!(warning(&mut host.session, 0), None);
    assert!(host.commit(&plan, Some("short")).unwrap()["carried"] == true, "by hand it passes");
}

/// Row F8.
#[test]
fn an_extract_in_place_of_a_summary_is_one_strike_and_a_cool_down() {
    let mut host = talked(&options(&json!({})), 20);
    host.request();
    let plan = host.plan(true);
    let planned = json!({ "base": plan["plan"]["base"], "gone": plan["plan"]["gone"],
        "summary": "an extract", "degraded": true, "failure": "ineffective" });
    commit_plan(&mut host.session, &planned.to_string(), host.now_ms).unwrap();
    assert!(
        blocked_reason(&host.session, host.now_ms).json().starts_with(r#"{"reason":"cooldown""#)
    );
    assert!(host.request().fold.unwrap().degraded);
}

/// Row F9.
#[test]
fn with_nothing_to_fold_there_is_no_plan_and_a_summary_is_never_dropped() {
    let mut small = talked(&options(&json!({})), 1);
    let plan = small.plan(true);
    assert_eq!((&plan["plan"]["outcome"], &plan["summaryWanted"]), (&json!("none"), &json!(false)));
    assert_eq!(plan["plan"]["reason"], "nothing that may go is old enough");
    let mut host = talked(&options(&json!({})), 20);
    host.compact("First they met Zebra_One.");
    host.request();
    for _ in 0..3 {
        for at in 0..10 {
            host.ask(&format!("more {at}"));
            host.say(&prose(400));
        }
        let plan = host.plan(true);
        assert_eq!(plan["previousSummary"], "First they met Zebra_One.");
        assert_eq!(host.commit(&plan, None).unwrap()["carried"], true);
        let head = host.request().fold.unwrap().head;
        assert_eq!(head.matches("Zebra_One.").count(), 1, "{head}");
    }
}

/// Rows F12, F13.
#[test]
fn a_floor_over_the_window_is_reported_with_its_figures_before_any_call() {
    let tools: Vec<Value> =
        (0..80).map(|at| json!({ "name": format!("t{at}"), "description": prose(300) })).collect();
    for (system, tools) in [(prose(30_000), json!([])), ("s".into(), json!(tools))] {
        let mut host = talked(&options(&json!({})), 20);
        let parts = json!({ "system": system, "tools": tools }).to_string();
        host.session.set_parts(&parts).unwrap();
        let plan = host.plan(true);
        assert_eq!(
            (&plan["plan"]["outcome"], &plan["summaryWanted"]),
            (&json!("overflow"), &json!(false))
        );
        let floor = &plan["plan"]["floor"];
        assert_eq!(
            (&floor["reserveTokens"], &floor["windowTokens"]),
            (&json!(1000), &json!(WINDOW))
        );
        let fixed = floor["systemTokens"].as_u64().unwrap() + floor["toolTokens"].as_u64().unwrap();
        assert!(fixed > 19_000, "{floor}");
        assert!(!host.request().fits);
    }
}

/// Row F40.
#[test]
fn a_history_above_the_trigger_with_nothing_removable_is_an_overflow_without_a_plan() {
    let mut host = Host::new(&options(&json!({})));
    host.ask("hi");
    host.session.set_parts(&json!({ "system": prose(12_250) }).to_string()).unwrap();
    let (tokens, line) = host.session.sizes();
    assert!(line < tokens && tokens < 19_000, "{tokens}");
    for force in [false, true] {
        assert_eq!(host.plan(force)["plan"]["outcome"], "overflow");
    }
}

/// Row F16.
#[test]
fn messages_that_arrive_while_a_summarizer_works_stay() {
    for late in 0..6 {
        let mut host = talked(&options(&json!({})), 20);
        host.request();
        let plan = host.plan(true);
        let count = host.messages.len();
        for at in 0..late {
            host.work(&format!("l{at}"), &json!({ "path": at }), "late");
        }
        let kept: Vec<u32> = plan["plan"]["kept"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|it| it[0].as_u64().unwrap()..it[1].as_u64().unwrap())
            .map(|it| u32::try_from(it).unwrap())
            .collect();
        assert_eq!(host.commit(&plan, Some("so far")).unwrap()["carried"], true);
        let first = u32::try_from(plan["plan"]["firstKept"].as_u64().unwrap()).unwrap();
        let wanted: Vec<u32> =
            kept.into_iter().chain(first..u32::try_from(count + 2 * late).unwrap()).collect();
        assert_eq!(host.live_messages(), wanted);
    }
}

/// What came meanwhile is none of what the last one left: it may be summarized at once, where the request would not fit.
/// Rows F16, F112.
#[test]
fn messages_that_arrive_while_a_summarizer_works_do_not_count_against_its_gain() {
    for late in [0, 40] {
        let mut host = talked(&options(&json!({})), 30);
        let plan = host.plan(false);
        for at in 0..late {
            host.ask(&format!("late {at}"));
            host.say(&prose(400));
        }
        host.commit(&plan, Some("so far")).unwrap();
        let (tokens, _) = host.session.sizes();
        assert_eq!(tokens > host.session.decisions.usable, late > 0);
        assert_eq!(may_ask_summarizer(&mut host.session, host.now_ms), late > 0);
    }
}

/// Rows F14, F16.
#[test]
fn a_plan_is_valid_only_for_the_history_it_was_made_for() {
    let mut host = talked(&options(&json!({})), 20);
    let plan = host.plan(true);
    let mut other = Host::new(&options(&json!({})));
    other.ask("something else");
    for message in &host.messages[1..] {
        other.append(message.clone());
    }
    let before = snapshot_bytes(&other.session);
    assert!(is_stale(&other.commit(&plan, Some("s"))));
    assert_eq!(snapshot_bytes(&other.session), before);
    host.commit(&plan, Some("s")).unwrap();
    assert!(is_stale(&host.commit(&plan, Some("t"))), "carried out once");
    let mut short = talked(&options(&json!({})), 2);
    assert!(is_stale(&short.commit(&plan, Some("s"))));
}

/// Row F15.
#[test]
fn a_compaction_that_no_request_has_reported_survives_a_restart() {
    for asked in [false, true] {
        let mut host = talked(&options(&json!({})), 20);
        if asked {
            host.request();
        }
        host.compact("So far: zebra.");
        let bytes = snapshot_bytes(&host.session);
        let head = host.session.decisions.placeholders.head.len();
        assert!(bytes.len() < head + 8192, "{} bytes besides {head}", bytes.len());
        let mut woken = Host::new(&options(&json!({})));
        restore_from(&mut woken.session, &bytes).unwrap();
        for message in host.messages.clone() {
            woken.append(message);
        }
        woken.now_ms = host.now_ms;
        let (old, new) = (host.request(), woken.request());
        assert_eq!(new.fold, old.fold);
        assert_eq!((new.items, new.tokens), (resend(&host.session, None).items, old.tokens));
        assert_eq!(woken.session.decisions.placeholders.summary, "So far: zebra.");
        assert_eq!(woken.session.compactions.guard, host.session.compactions.guard);
    }
}

/// Row F22.
#[test]
fn a_cut_never_separates_an_open_call_from_its_result() {
    for size in 0..40 {
        let mut host = talked(&options(&json!({})), 20);
        host.work("z", &json!({}), &prose(40 * size));
        let call = |id: &str| json!({ "type": "tool_use", "id": id, "name": "run", "input": {} });
        host.append(json!({ "role": "assistant", "content": [call("x"), call("y")] }));
        let plan = host.plan(true);
        assert_eq!(plan["plan"]["outcome"], "summarize");
        let cut = u32::try_from(plan["plan"]["firstKept"].as_u64().unwrap()).unwrap();
        assert!(cut < 83 && host.session.transcript.ledger.may_cut(cut.into()), "{cut}");
    }
}

/// Row F29.
#[test]
fn a_plan_for_a_smaller_window_reaches_it() {
    let mut host = talked(&options(&json!({ "window": { "contextTokens": 200_000 } })), 60);
    assert_eq!(host.plan(false)["plan"]["outcome"], "none");
    for window in [20_000, 2_000] {
        let smaller = options(&json!({ "window": { "contextTokens": window } }));
        set_options(&mut host.session, Options::parse(&smaller.to_string()).unwrap(), false);
        let plan = host.plan(false);
        assert_eq!(
            (&plan["plan"]["outcome"], &plan["degrades"]),
            (&json!("summarize"), &json!(true)),
            "{plan}"
        );
        for chunk in plan["plan"]["chunks"].as_array().unwrap() {
            assert!(chunk["tokens"].as_u64().unwrap() < window, "{chunk}");
        }
        assert_eq!(host.commit(&plan, Some("s")).unwrap()["carried"], true);
        assert!(host.request().fits);
    }
}

/// Rows F33, F34.
#[test]
fn pins_and_the_last_request_stay_verbatim_through_fifty_compactions() {
    let mut host = talked(&options(&json!({})), 12);
    host.pin(3);
    let text = pin_text(&mut host.session, "Never touch prod.");
    for round in 0..50 {
        for at in 0..4 {
            host.ask(&format!("round {round}.{at} {}", prose(60)));
            host.say(&prose(300));
        }
        host.ask(&format!("last of {round}"));
        let plan = host.plan(true);
        if round == 25 {
            let went = plan["go"][0].as_u64().unwrap();
            host.pin(u32::try_from(went).unwrap());
            host.commit(&plan, Some("s")).unwrap();
            assert!(
                host.live_messages().contains(&u32::try_from(went).unwrap()),
                "pinned meanwhile"
            );
        } else {
            host.commit(&plan, Some("s")).unwrap();
        }
        let last = u32::try_from(host.messages.len()).unwrap() - 1;
        host.request();
        let all_tokens = resend(&host.session, None);
        let sent =
            all_tokens.items.iter().map(|it| crate::json::write(it)).collect::<Vec<_>>().join("\n");
        assert_eq!(sent.matches("Never touch prod.").count(), 1);
        for message in [3, last] {
            assert_eq!(host.live_messages().iter().filter(|&&it| it == message).count(), 1);
            let blocks = host.session.transcript.ledger.blocks_of(message.into());
            assert!(
                blocks
                    .into_iter()
                    .all(|at| host.session.transcript.ledger.blocks[at.index()].form == Form::Full)
            );
        }
        host.say("done");
    }
    assert!(unpin(&mut host.session, text));
}

#[test]
fn a_fold_that_can_wait_is_reported_due_and_another_calls_the_summarizer_first() {
    let mut host = talked(&options(&json!({})), 1);
    let mut waited = false;
    for at in 0..200 {
        host.ask(&format!("go {at}"));
        let before = snapshot_bytes(&host.session);
        host.now_ms += 1000;
        let Some(step) = host.session.prepare(host.now_ms) else {
            assert_eq!(snapshot_bytes(&host.session), before, "nothing has moved");
            assert!(waited);
            let plan = host.plan(false);
            assert_eq!((&plan["degrades"], &plan["summaryWanted"]), (&json!(true), &json!(true)));
            compaction_failed(&mut host.session, "temporary", host.now_ms);
            let Some(Step::Done(answer)) = host.session.prepare(host.now_ms) else {
                panic!("asks again")
            };
            let fold = answer.fold.expect("by digest and hot set");
            assert!(fold.degraded && fold.summary.is_empty() && answer.fits);
            return;
        };
        let Step::Done(answer) = step else { panic!("needs texts") };
        assert_eq!(answer.fold, None);
        if answer.fold_due {
            waited = true;
            assert_eq!(host.plan(false)["plan"]["outcome"], "summarize");
        }
        host.say(&prose(400));
    }
    panic!("never full");
}

#[test]
fn a_compaction_by_the_agent_waits_for_a_summarizer_if_there_is_one() {
    for summarizes in [false, true] {
        let mut host = talked(&options(&json!({ "summarizes": summarizes })), 20);
        host.request();
        call_agent_tool(&mut host.session, "context_compact", "{}").unwrap();
        host.ask("next");
        let Some(Step::Done(answer)) = host.session.prepare(9000) else { panic!("waits") };
        assert_eq!((answer.fold.is_some(), answer.fold_due), (!summarizes, summarizes));
        if summarizes {
            let plan = host.plan(false);
            assert_eq!(plan["plan"]["outcome"], "summarize");
            host.commit(&plan, Some("s")).unwrap();
            let Some(Step::Done(answer)) = host.session.prepare(9001) else { panic!("waits") };
            assert_eq!((answer.fold.is_some(), answer.fold_due), (true, false));
        }
    }
}

#[test]
fn a_refused_request_is_made_smaller_twice() {
    let mut host = talked(&options(&json!({})), 24);
    let sizes = [host.request().tokens, 0, 0];
    for at in 1..=2 {
        assert_eq!(record_refusal(&mut host.session, None, None), Some(at));
        let answer = host.request();
        assert!(
            answer.fits && answer.tokens < sizes[0] * 9 / 10,
            "{} of {}",
            answer.tokens,
            sizes[0]
        );
    }
    assert_eq!(record_refusal(&mut host.session, None, None), None);
    host.say("it went through");
    assert_eq!(record_refusal(&mut host.session, None, None), Some(1));
    host.session.observe(r#"{"inputTokens":9000,"outputTokens":1}"#, None);
    assert_eq!(record_refusal(&mut host.session, None, None), Some(1));
}

#[test]
fn a_partly_summarized_message_is_flattened_up_to_the_cut() {
    let mut host = talked(&options(&json!({})), 10);
    let call =
        json!({ "type": "tool_use", "id": "m", "name": "read", "input": { "path": "src/f_m.rs" } });
    host.append(json!({ "role": "assistant", "content": [call] }));
    let result = json!({ "type": "tool_result", "tool_use_id": "m", "content": prose(80) });
    let words = json!({ "type": "text", "text": "and these words stay" });
    host.append(json!({ "role": "user", "content": [result, words] }));
    for at in 0..6 {
        host.say(&prose(300));
        host.ask(&format!("more {at}"));
    }
    let plan = host.plan(true);
    let flat = |host: &mut Host, at: usize| -> Value {
        let bytes = host.messages[at].to_string();
        let index = u32::try_from(at).unwrap();
        serde_json::from_str(
            flat_message(&mut host.session, index.into(), bytes.as_bytes()).unwrap().json(),
        )
        .unwrap()
    };
    let go: Vec<usize> = plan["go"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| usize::try_from(it.as_u64().unwrap()).unwrap())
        .collect();
    let all: Vec<Value> = go.iter().map(|&at| flat(&mut host, at)).collect();
    let tokens: u64 = all.iter().map(|it| it["tokens"].as_u64().unwrap()).sum();
    assert_eq!(json!(tokens), plan["droppedTokens"]);
    let call = all.iter().find(|it| it["parts"][0]["kind"] == "call").unwrap();
    assert_eq!((&call["role"], &call["parts"][0]["name"]), (&json!("assistant"), &json!("read")));
    let result = all.iter().find(|it| it["parts"][0]["kind"] == "result").unwrap();
    assert_eq!(result["parts"][0]["name"], "read");
    if let Some(mixed) = all.iter().find(|it| it["index"] == json!(41)) {
        let parts = mixed["parts"].as_array().unwrap();
        let is_right = |it: &Value| it["kept"] == json!(it["kind"] == "text");
        assert!(parts.iter().all(is_right), "the words stay: {mixed}");
    }
    let found = extracted_so_far(&host.session);
    assert!(
        found.read_files.iter().all(|it| it.starts_with("src/f")) && !found.read_files.is_empty()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Row F40.
    #[test]
    fn a_plan_lists_what_must_go_or_that_nothing_can(
        steps in 1..30usize, window in 2_000..24_000u32, system in 0..6_000usize, force in any::<bool>(),
    ) {
        let mut host = talked(&options(&json!({ "window": { "contextTokens": window } })), steps);
        host.session.set_parts(&json!({ "system": prose(system) }).to_string()).unwrap();
        host.ask("go on");
        let (tokens, line) = host.session.sizes();
        let plan = host.plan(force);
        let outcome = plan["plan"]["outcome"].as_str().unwrap();
        prop_assert!(tokens <= line || outcome != "none", "{plan}");
        prop_assert_eq!(outcome == "summarize", !plan["go"].as_array().unwrap().is_empty());
        let floor = (outcome == "overflow").then(|| plan["plan"]["floor"].clone());
        prop_assert_eq!(floor.is_some_and(|it| it["windowTokens"] == json!(window)), outcome == "overflow");
        let answer = host.request();
        prop_assert!(answer.fits || outcome == "overflow");
    }

    /// Row F16.
    #[test]
    fn nothing_is_lost_or_doubled_whenever_a_commit_comes(
        rounds in proptest::collection::vec((1..12usize, 0..5usize, any::<bool>(), any::<bool>()), 1..8),
    ) {
        let mut host = talked(&options(&json!({})), 4);
        for (more, late, asks, wakes) in rounds {
            for at in 0..more {
                host.ask(&format!("ask {at}"));
                host.work("w", &json!({ "path": at }), &prose(200));
                host.say(&prose(200));
            }
            if asks {
                host.request();
            }
            let plan = host.plan(true);
            for at in 0..late {
                host.ask(&format!("late {at}"));
                host.say("yes");
            }
            let before = host.live_messages();
            host.commit(&plan, Some("sum")).unwrap();
            if wakes {
                let bytes = snapshot_bytes(&host.session);
                restore_from(&mut host.session, &bytes).unwrap();
                for message in host.messages.clone() {
                    host.session.push(message.to_string().as_bytes()).unwrap();
                }
            }
            host.request();
            let gone: Vec<u64> = plan["go"].as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).collect();
            let live = host.live_messages();
            for message in before {
                prop_assert!(live.contains(&message) || gone.contains(&message.into()), "{message} is lost");
            }
            prop_assert!(violations_sent(&host.session).is_empty());
            host.say("on");
        }
    }
}

/// One refusal far below the window is not the last word: what the provider accepts is.
#[test]
fn a_refusal_is_forgotten_as_the_provider_accepts_larger_requests() {
    let mut host = Host::new(&options(&json!({})));
    for at in 0..10 {
        host.ask(&format!("step {at}: {}", prose(300)));
        host.say(&prose(300));
    }
    host.ask("go on");
    let all_tokens = host.request().estimate;
    record_refusal(&mut host.session, None, None);
    let before = status(&host.session).usable;
    assert!(before < all_tokens && before < 19_000 / 2, "{before} of {all_tokens}");
    for at in 0..20 {
        let answer = host.request();
        assert!(answer.fits);
        let usage = json!({ "inputTokens": answer.estimate, "outputTokens": 1 });
        host.session.observe(&usage.to_string(), None);
        host.say(&prose(1_200));
        host.ask(&format!("and {at}: {}", prose(300)));
    }
    assert!(status(&host.session).usable >= 19_000 * 9 / 10, "{}", status(&host.session).usable);
    let woken = host.woken(&options(&json!({})));
    assert_eq!(status(&woken.session).usable, status(&host.session).usable);
}
