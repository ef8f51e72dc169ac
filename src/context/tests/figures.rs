//! Figures of a session: estimates, status, buckets, reasons.

use super::*;
use crate::context::compaction::commit::record_refusal;
use crate::context::report::breakdown::list_buckets;
use crate::context::report::breakdown::list_messages;
use crate::context::report::estimate::check_budget;
use crate::context::report::estimate::estimate_history;
use crate::context::report::explain::explain;
use crate::context::report::status::status;
use crate::context::report::status::window_report;
use crate::context::session::snapshot::snapshot_bytes;

#[test]
fn a_result_of_ours_counts_once_however_often_the_request_is_built() {
    let mut host = Host::new(&window(1_000_000));
    let call = json!({ "type": "tool_use", "id": "a", "name": "read", "input": {} });
    host.ask("go");
    host.append(json!({ "role": "assistant", "content": [call] }));
    host.ask("never mind");
    let sizes = ["one", "two"].map(|system| {
        host.session.set_parts(&json!({ "system": system }).to_string()).unwrap();
        let answer = host.request();
        (answer.tokens, answer.repairs.len())
    });
    assert_eq!(sizes, [(sizes[0].0, 1); 2]);
}

#[test]
fn an_explanation_has_rule_evidence_and_time() {
    let host = Host::worked(&window(30_000), 25);
    let kept = explain(&host.session, 0.into()).unwrap();
    assert_eq!((kept.state, kept.rule, kept.since), ("kept", "keep", None));
    assert_eq!((kept.group, kept.turn, kept.restore), (0, 1, "nothing to bring back"));
    let stubbed = explain(&host.session, 2.into()).unwrap();
    assert_eq!((stubbed.state, stubbed.rule, stubbed.group), ("stubbed", "timed", 1));
    assert_eq!(stubbed.evidence.len(), 3);
    let back = "a pin, with the next epoch; preset \"capacity\", from the start of the session";
    assert_eq!(stubbed.restore, back);
    let mut other = window(30_000);
    other["preset"] = "capacity".into();
    assert_eq!(explain(&Host::worked(&other, 25).session, 2.into()).unwrap().state, "kept");
    assert!(stubbed.tokens_before > 10 * stubbed.tokens_after && stubbed.tokens_after > 0);
    let refused = |index| explain(&host.session, index).unwrap_err().to_string();
    assert_eq!(refused(51.into()), "index: expected a message of the history (0 to 50), got 51");
    let empty = Host::new(&window(0)).session;
    assert_eq!(
        explain(&empty, 0.into()).unwrap_err().to_string(),
        "index: expected a message of the history, which is empty, got 0"
    );
}

#[test]
fn an_explanation_names_what_a_repair_did() {
    let mut host = Host::new(&window(100_000));
    host.ask("list src");
    host.append(json!({ "role": "assistant", "content": [mended::call("a")] }));
    host.append(json!({ "role": "user", "content": [mended::result("a", "".into())] }));
    host.append(json!({ "role": "assistant", "content": [mended::call("b")] }));
    host.ask("go on");
    host.request();
    let of = |index: u32| explain(&host.session, index.into()).unwrap();
    assert_eq!((of(0).rule, of(0).evidence.len()), ("keep", 0));
    let filled = of(2);
    assert_eq!((filled.state, filled.rule, filled.since), ("kept", "repair", None));
    assert_eq!(filled.evidence, ["the result is empty"]);
    assert_eq!(filled.restore, "a history that the provider accepts");
    // The result that is added follows it.
    let called = of(3);
    assert_eq!((called.rule, called.restore), ("keep", "nothing to bring back"));
    assert_eq!(called.evidence, ["the call \"b\" has no result"]);
    let listed: Vec<_> = list_messages(&host.session).iter().map(|it| it.rule).collect();
    assert_eq!(listed, ["keep", "keep", "repair", "keep", "keep"]);
}

#[test]
fn an_estimate_sums_to_its_tokens_and_a_request_without_edits_has_as_many() {
    let mut host = Host::new(&window(100_000));
    host.session
        .set_parts(r#"{"system":"be kind","tools":[{"name":"read"}],"unseenTokens":7}"#)
        .unwrap();
    host.ask("find src/a.rs");
    host.work("a", &json!({ "path": "src/a.rs" }), "it is here");
    let Estimate { tokens, by_kind, .. } = estimate_history(&host.session);
    let ByKind { text, thinking, tool_call, tool_result, image, tools, system, overhead } = by_kind;
    assert_eq!(
        tokens,
        text + thinking + tool_call + tool_result + image + tools + system + overhead
    );
    assert_eq!((text, tool_result, thinking, image), (4, 3, 0, 0));
    assert_eq!(overhead, 7 + 3 * 4 + 20 + 1 + 10);
    assert_eq!(host.request().tokens, tokens);
}

/// Of a search of this size the provider counted some 9,430 tokens, titles and addresses among them.
#[test]
fn an_encrypted_result_counts_about_as_the_text_behind_it() {
    let signs = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut seed = 7_u64;
    let mut page = || {
        let random = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(signs[usize::try_from(seed >> 58).unwrap()])
        });
        json!({ "type": "web_search_result", "title": "Weather in the city today", "page_age": "2 days ago",
            "url": "https://weather.example/city/today", "encrypted_content": random.take(3_111).collect::<String>() })
    };
    let pages: Vec<_> = std::iter::repeat_with(&mut page).take(10).collect();
    let mut options = window(100_000);
    options["estimator"] = "claude".into();
    let mut host = Host::new(&options);
    host.ask("how is the weather");
    host.append(json!({ "role": "assistant", "content": [
        { "type": "server_tool_use", "id": "s", "name": "web_search", "input": { "query": "weather" } },
        { "type": "web_search_tool_result", "tool_use_id": "s", "content": pages },
        { "type": "text", "text": "fine" }] }));
    let counted = estimate_history(&host.session).by_kind.tool_result;
    assert!((9_430..9_430 * 3 / 2).contains(&counted), "{counted}");
}

/// A41: six figures; what is held back for the answer may be more than the window.
/// Row A41.
#[test]
fn a_request_is_checked_against_its_window() {
    let mut host = Host::new(&window(0));
    host.session
        .set_parts(r#"{"system":"be kind","tools":[{"name":"read"}],"unseenTokens":7}"#)
        .unwrap();
    host.ask("find src/a.rs");
    let total = estimate_history(&host.session).tokens;
    let check = |window: &str| check_budget(&host.session, window).unwrap();
    let all = check(r#"{"contextTokens":40,"maxOutputTokens":10}"#);
    let parts = all.system_prompt_tokens + all.tool_definition_tokens + all.message_tokens;
    assert_eq!((parts + 7, all.total_estimated), (total, total));
    assert_eq!((all.available_tokens, all.over_budget, all.excess_tokens), (30, true, total - 30));
    let exact = check(&format!(r#"{{"contextTokens":{total}}}"#));
    assert_eq!((exact.available_tokens, exact.over_budget, exact.excess_tokens), (total, false, 0));
    let none = check(r#"{"contextTokens":4096,"maxOutputTokens":8192}"#);
    assert_eq!((none.available_tokens, none.over_budget, none.excess_tokens), (0, true, total));
    assert!(!check(r#"{"contextTokens":0}"#).over_budget, "an unknown window is never full");
    let error = check_budget(&host.session, r#"{"contextTokens":-1}"#).unwrap_err().to_string();
    assert_eq!(error, "window: expected a window: { contextTokens, maxOutputTokens }, got -1");
}

#[test]
fn the_percentage_in_a_status_is_rounded_down() {
    let mut host = Host::new(&window(1000));
    host.ask("x");
    let own = host.request().tokens;
    for (used, pct, pressure) in [(699, 69, "low"), (700, 70, "medium"), (900, 90, "high")] {
        host.session.set_parts(&format!(r#"{{"unseenTokens":{}}}"#, used - own)).unwrap();
        host.request();
        let status = status(&host.session);
        assert_eq!((status.used, status.pct, status.pressure), (used, pct, pressure));
        assert_eq!(status.remaining, 1000 - used);
        assert_eq!((status.peak_tokens, status.tokens_saved), (used, 0));
    }
    assert_eq!(status(&Host::new(&window(0)).session).pct, 0);
}

/// A109: against the request before; within 2 % of the window, and at least 256 tokens, it is as large.
/// Row A109.
#[test]
fn the_trend_is_against_the_request_before() {
    for (tokens, near) in [(0, 256), (30_000, 600)] {
        let mut host = Host::new(&window(tokens));
        let ask = |host: &mut Host, tokens: usize| {
            host.ask(&"x".repeat(4 * tokens - 16));
            host.request();
            status(&host.session).trend
        };
        host.ask("go");
        assert_eq!(status(&host.session).trend, "unknown");
        host.request();
        assert_eq!(status(&host.session).trend, "unknown");
        assert_eq!(ask(&mut host, near), "stable");
        assert_eq!(ask(&mut host, near + 1), "rising");
        let woken = host.woken(&window(tokens));
        host.request();
        assert_eq!(status(&host.session).trend, "rising", "a retry is no sample");
        assert_eq!(snapshot_bytes(&woken.session), snapshot_bytes(&host.session));
    }
    let mut host = Host::worked(&window(30_000), 25);
    host.session.decisions.pruner.fold_wanted = true;
    host.session.request.last.settled = false;
    host.request();
    assert_eq!(status(&host.session).trend, "falling");
}

#[test]
fn buckets_and_the_list_sum_to_the_request() {
    let mut host = Host::worked(&window(30_000), 25);
    host.session.set_parts(r#"{"system":"be kind","tools":[{"name":"read"}]}"#).unwrap();
    let used = host.request().tokens;
    let buckets = list_buckets(&host.session);
    assert_eq!(buckets.iter().map(|bucket| bucket.sent_tokens).sum::<u64>(), used);
    let result = buckets.iter().find(|bucket| bucket.bucket == "result read").unwrap();
    assert_eq!((result.blocks, result.kept + result.stubbed), (25, 25));
    assert!(result.stubbed > 0);
    assert!(buckets.windows(2).all(|pair| pair[0].sent_tokens >= pair[1].sent_tokens));
    let list = list_messages(&host.session);
    let beside = host.session.request.extras.total();
    assert_eq!(list.iter().map(|one| one.sent_tokens).sum::<u64>() + beside, used);
    assert_eq!(
        (list[2].role, list[2].kind, list[2].tool.as_deref()),
        ("user", "toolResult", Some("read"))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Between a usage and the next request too: the report says what the next request is decided by.
    #[test]
    fn the_trigger_is_never_above_the_window_nor_the_target_above_the_trigger(
        steps in prop::collection::vec((0u8..8, 1u32..400), 1..30),
        tokens in 2_000u32..40_000,
        preset in 0usize..8,
    ) {
        let mut options = window(tokens);
        options["preset"] = crate::prune::Policy::PRESETS[preset].into();
        let mut host = Host::new(&options);
        host.ask("go");
        host.request();
        for (at, (kind, size)) in steps.into_iter().enumerate() {
            match kind {
                0 => host.say(&words(size as usize, &format!("a{at}b"))),
                1 => host.work(&format!("c{at}"), &json!({ "n": at }), &words(size as usize, &format!("x{at}y"))),
                2 | 3 => {
                    host.request();
                }
                4 => {
                    record_refusal(&mut host.session, None, None);
                }
                _ => host.session.observe(&json!({ "inputTokens": tokens / 400 * size, "outputTokens": 1 }).to_string(), None),
            }
            let (report, status) = (window_report(&host.session), status(&host.session));
            let (trigger, target) = (report.trigger.unwrap(), report.target.unwrap());
            prop_assert!(trigger <= tokens.into() && target <= trigger, "{target}, {trigger} of {tokens}");
            prop_assert!(status.usable <= tokens.into());
            prop_assert_eq!(status.remaining, status.usable.saturating_sub(status.used));
        }
    }
}

/// The provider counts nearly 2 % more than we do: too little for an epoch, but what is cut is cut to what it takes.
#[test]
fn a_request_that_is_cut_to_fit_fits_as_the_provider_counts() {
    let mut options = window(20_000);
    options["protectTools"] = json!(["*"]);
    let mut host = Host::new(&options);
    host.ask("find it");
    let estimate = host.request().tokens;
    host.session.observe(&json!({ "input_tokens": estimate + 380 }).to_string(), None);
    for at in 0..30 {
        host.work(
            &format!("c{at}"),
            &json!({ "path": at }),
            &words(900 + at * 31, &format!("x{at}y")),
        );
        let answer = host.request();
        assert!(answer.fits && answer.tokens <= 20_000, "{at}: {}", answer.tokens);
    }
}
