//! Sessions that wait for their messages: what is asked of them, and what they sent, holds as in one that went on.

use super::*;
use crate::context::compaction::commit::record_refusal;
use crate::context::session::pinning::{pin_text, unpin};
use crate::context::session::snapshot::{resync, set_options};

type Ask<'a> = &'a dyn Fn(&mut Session);

fn parsed(options: &Value) -> Options {
    Options::parse(&options.to_string()).unwrap()
}

impl Host {
    /// Another provider or estimator reads all messages once more.
    fn append_again(&mut self) {
        for message in std::mem::take(&mut self.messages) {
            self.append(message);
        }
    }

    fn copy(&self) -> Self {
        Self { session: self.session.clone(), messages: self.messages.clone(), now_ms: self.now_ms }
    }

    /// In another process: asked before the messages come.
    fn woken_and_asked(&self, options: &Value, ask: Ask<'_>) -> Self {
        let mut woken = Self { messages: Vec::new(), ..self.copy() };
        woken.session = restore_session(parsed(options), &snapshot_bytes(&self.session)).unwrap();
        ask(&mut woken.session);
        for message in &self.messages {
            woken.append(message.clone());
        }
        woken
    }
}

/// What the next request is, in a session that went on; in one that was asked while it waited; and in one that was asked, parked
/// and woken. `later`: options that hold when it wakes.
#[track_caller]
fn hold_everywhere(host: &Host, options: &Value, later: &Value, ask: Ask<'_>) -> Answer {
    let mut live = host.copy();
    ask(&mut live.session);
    let mut parked = live.woken_and_asked(later, &|_| {});
    let mut asked = host.woken_and_asked(options, ask);
    if live.session.restoration.waiting.is_some() {
        live.append_again();
    }
    let answer = live.request();
    for (what, woken) in [("asked while it waited", &mut asked), ("parked after", &mut parked)] {
        let it = woken.request();
        assert_eq!(
            (it.tokens, it.fits, it.epoch, it.first_changed),
            (answer.tokens, answer.fits, answer.epoch, answer.first_changed),
            "{what}"
        );
        assert_eq!(woken.view(), live.view(), "{what}");
    }
    answer
}

fn host() -> (Value, Host) {
    let options = window(60_000);
    let mut host = Host::new(&options);
    host.ask("find it");
    for at in 0..20 {
        host.work(&format!("c{at}"), &json!({ "path": at }), &words(300, &format!("x{at}y")));
    }
    host.request();
    (options, host)
}

#[test]
fn a_refusal_is_of_the_request_before() {
    let (options, host) = host();
    let before = host.copy().request().tokens;
    let refuse: Ask<'_> = &|session| {
        assert_eq!(record_refusal(session, Some(100_000), Some(200_000)), Some(1));
    };
    let after = hold_everywhere(&host, &options, &options, refuse);
    assert!((1000..before).contains(&after.tokens), "{before}, {}", after.tokens);
}

/// Of a request that was not ours nothing is known but what the options allow.
#[test]
fn a_refusal_before_the_first_request_leaves_a_window() {
    let mut host = Host::new(&window(60_000));
    record_refusal(&mut host.session, None, None);
    assert!(host.session.next_usable() > 20_000, "{}", host.session.next_usable());
}

#[test]
fn a_usage_is_of_the_request_before() {
    let (options, host) = host();
    let tokens = host.session.request.last.tokens;
    let usage = json!({ "input_tokens": tokens + 500 }).to_string();
    let after =
        hold_everywhere(&host, &options, &options, &|session| session.observe(&usage, None));
    assert_eq!((after.tokens, after.first_changed), (tokens + 500, None));
}

#[test]
fn a_compaction_that_the_agent_wants_comes() {
    let (options, host) = host();
    let want: Ask<'_> = &|session| {
        call_agent_tool(session, "context_compact", "{}").unwrap();
    };
    let after = hold_everywhere(&host, &options, &options, want);
    assert!(after.outcome.is_some() && after.first_changed.is_some());
}

#[test]
fn a_compaction_that_the_agent_wants_before_the_first_request_comes() {
    let options = window(60_000);
    let mut host = Host::new(&options);
    host.ask("find it");
    for at in 0..20 {
        host.work(&format!("c{at}"), &json!({ "path": at }), &words(300, &format!("x{at}y")));
    }
    let want: Ask<'_> = &|session| {
        call_agent_tool(session, "context_compact", "{}").unwrap();
    };
    let after = hold_everywhere(&host, &options, &options, want);
    assert!(after.outcome.is_some());
}

#[test]
fn other_options_hold() {
    let (options, host) = host();
    for later in [
        window(8_000),
        json!({ "window": { "contextTokens": 60_000 }, "estimator": "chars/4", "triggerTokens": 8000 }),
    ] {
        let choose: Ask<'_> = &|session| assert!(!set_options(session, parsed(&later), false));
        let after = hold_everywhere(&host, &options, &later, choose);
        assert!(after.first_changed.is_some() && after.fits, "{later}");
    }
}

/// What was sent is sent again: nothing of it depends on them.
#[test]
fn another_provider_and_another_estimator_open_no_epoch() {
    let (options, host) = host();
    for (option, value) in [("provider", "bedrock"), ("estimator", "claude")] {
        let mut later = options.clone();
        later[option] = value.into();
        let choose: Ask<'_> = &|session| assert!(set_options(session, parsed(&later), false));
        let after = hold_everywhere(&host, &options, &later, choose);
        assert_eq!((after.epoch, after.first_changed), (0, None), "{later}");
    }
}

#[test]
fn a_text_that_is_no_longer_pinned_opens_an_epoch() {
    let (options, mut host) = host();
    let id = pin_text(&mut host.session, "the port is 8080");
    call_agent_tool(&mut host.session, "context_compact", "{}").unwrap();
    host.request();
    let let_go: Ask<'_> = &|session| assert!(unpin(session, id));
    let after = hold_everywhere(&host, &options, &options, let_go);
    assert_eq!(after.first_changed, Some(0));
}

#[test]
fn its_status_is_that_of_its_last_request() {
    let (options, host) = host();
    let bytes = snapshot_bytes(&host.session);
    let woken = restore_session(parsed(&options), &bytes).unwrap();
    let figures = [&host.session, &woken].map(|it| {
        let status = status(it);
        (status.used, status.remaining, status.pct, status.peak_tokens)
    });
    assert_eq!(figures[0], figures[1]);
}

/// Sizes of another estimator, and what was learned by them, do not outlive it.
#[test]
fn another_estimator_measures_anew() {
    let (_, mut host) = host();
    let usage = json!({ "input_tokens": host.session.request.last.tokens * 2 }).to_string();
    host.session.observe(&usage, None);
    let mut other = window(60_000);
    other["estimator"] = "chars/2.1".into();
    let mut fresh =
        Host { session: Session::new(parsed(&other), Format::Anthropic), ..host.copy() };
    for message in std::mem::take(&mut fresh.messages) {
        fresh.append(message);
    }
    let woken = host.woken_and_asked(&other, &|_| {}).request();
    assert_eq!(woken.tokens, fresh.request().tokens);
}

/// A call that was given up long ago has no result, however the history goes on.
#[test]
fn a_branch_changes_no_message_before_it() {
    let call = |id: &str| json!({ "type": "tool_use", "id": id, "name": "read", "input": {} });
    let result = json!({ "type": "tool_result", "tool_use_id": "a", "content": "one" });
    let mut host = Host::new(&window(60_000));
    host.ask("find it");
    host.append(json!({ "role": "assistant", "content": [call("a"), call("b")] }));
    host.append(json!({ "role": "user", "content": [result] }));
    for at in 0..4 {
        host.ask(&format!("and {at}?"));
        host.say(&format!("that is {at}"));
    }
    host.request();
    let kept = host.messages.len() - 2;
    let mut woken = host.copy();
    woken.session =
        restore_session(parsed(&window(60_000)), &snapshot_bytes(&host.session)).unwrap();
    resync(&mut host.session);
    let messages = std::mem::take(&mut host.messages);
    let changed = [&mut host, &mut woken].map(|it| {
        it.messages.clear();
        for message in messages.iter().take(kept) {
            it.append(message.clone());
        }
        it.ask("something else");
        it.request().first_changed
    });
    assert!(changed[0].is_some_and(|at| at > 6), "{changed:?}");
    assert_eq!(changed[0], changed[1]);
}

/// A checkpoint tells of messages: it goes with them.
#[test]
fn a_branch_has_no_checkpoint_of_what_it_left() {
    let (_, mut host) = host();
    let checkpoint =
        json!({ "checkpoint": { "summary": "so far", "messageCountAtCheckpoint": 20 } });
    host.session.compactions.checkpoints = checkpoint.to_string();
    let messages = std::mem::take(&mut host.messages);
    for (common, is_kept) in [(30, true), (20, true), (19, false)] {
        let mut branch = Host { messages: Vec::new(), ..host.copy() };
        resync(&mut branch.session);
        for message in messages.iter().take(common) {
            branch.append(message.clone());
        }
        branch.say("no");
        branch.ask("something else");
        branch.request();
        assert_eq!(!branch.session.compactions.checkpoints.is_empty(), is_kept, "{common}");
    }
}

/// Another model may take what the last one refused, whatever else is another with it.
#[test]
fn another_provider_forgets_a_refusal() {
    let (_, mut host) = host();
    record_refusal(&mut host.session, Some(100_000), Some(200_000));
    let mut other = window(1_000_000);
    other["provider"] = "bedrock".into();
    assert!(set_options(&mut host.session, parsed(&other), false));
    for message in std::mem::take(&mut host.messages) {
        host.append(message);
    }
    host.request();
    assert!(status(&host.session).usable > 900_000, "{}", status(&host.session).usable);
}
