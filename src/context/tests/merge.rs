//! Two processes drive one session and save in any order: nothing that either has decided is lost.

use super::compaction::{options, prose};
use super::*;
use crate::context::compaction::commit::compaction_failed;
use crate::context::compaction::cool_down::blocked_reason;
use crate::context::request::build_request::violations_sent;
use crate::context::session::pinning::fronts;
use crate::context::session::pinning::list_pins;
use crate::context::session::pinning::pin_text;
use crate::context::session::pinning::unpin;
use crate::context::session::snapshot::merge::merge_committed;
use crate::context::session::snapshot::restore::waiting_cut;
use crate::context::session::snapshot::restore_from;
use crate::context::session::snapshot::restore_session;
use crate::context::session::snapshot::snapshot_bytes;
use crate::error::is_stale;

/// What the store holds; every commit is one revision more.
#[derive(Default)]
struct Stored {
    bytes: Vec<u8>,
    revision: u32,
}

/// A process with the session, and what it goes on from.
struct Gateway {
    host: Host,
    base: Vec<u8>,
    revision: u32,
    /// Its pins: id and text or message.
    pins: Vec<(u32, String)>,
    /// It has folded since it last saved.
    folded: bool,
}

impl Gateway {
    fn new(now_ms: i64) -> Self {
        let mut host = Host::new(&options(&json!({})));
        host.now_ms = now_ms;
        Self { host, base: Vec::new(), revision: 0, pins: Vec::new(), folded: false }
    }

    /// Hands over what the history has more.
    fn catch_up(&mut self, history: &[Value]) {
        for message in history.get(self.host.messages.len()..).unwrap_or_default() {
            let pushed = self.host.session.push(message.to_string().as_bytes());
            assert_eq!(pushed, Ok(Append::Appended));
            self.host.messages.push(message.clone());
        }
    }

    fn request(&mut self, history: &[Value]) -> Answer {
        self.catch_up(history);
        let answer = self.host.request();
        assert!(answer.fits && violations_sent(&self.host.session).is_empty());
        answer
    }

    fn fold(&mut self, history: &[Value], at: usize) {
        self.request(history);
        let plan = self.host.plan(true);
        if plan["plan"]["outcome"] == "summarize"
            && self.host.commit(&plan, Some(&format!("Summary {at}."))).unwrap()["carried"] == true
        {
            self.folded = true;
        }
    }

    /// As the facade does it. How often another's was taken in.
    fn save(&mut self, stored: &mut Stored) -> u32 {
        for tries in 0..8 {
            let bytes = snapshot_bytes(&self.host.session);
            if self.revision == stored.revision {
                *stored = Stored { bytes: bytes.clone(), revision: stored.revision + 1 };
                (self.base, self.revision, self.folded) = (bytes, stored.revision, false);
                return tries;
            }
            let theirs = Host::of(&stored.bytes);
            let is_unchanged = waiting_cut(&theirs.session) == Host::cut_of(&self.base);
            if merge_committed(&mut self.host.session, &stored.bytes, &self.base).unwrap() {
                self.host.messages.clear();
            }
            let now = Host::head_of(&snapshot_bytes(&self.host.session));
            let folded = std::mem::take(&mut self.folded);
            if !is_unchanged {
                assert_eq!(now, waiting_cut(&theirs.session).1);
            } else if folded {
                // A request may have folded more since, by itself.
                assert_eq!(now, Host::head_of(&bytes), "a compaction is lost");
            }
            (self.base, self.revision) = (stored.bytes.clone(), stored.revision);
        }
        panic!("no end of conflicts");
    }
}

impl Host {
    fn of(bytes: &[u8]) -> Self {
        let options = Options::parse(&options(&json!({})).to_string()).unwrap();
        let state = restore_session(options, bytes).unwrap();
        Self { session: state, messages: Vec::new(), now_ms: 0 }
    }

    /// What was cut of a pinned message comes back with the next epoch.
    fn opens_with(&mut self, index: usize) -> bool {
        (self.session.request.last.rebuild, self.session.request.last.settled) = (true, false);
        self.request();
        let blocks = self.session.transcript.ledger.blocks_of(u32::try_from(index).unwrap().into());
        blocks.into_iter().all(|at| self.forms()[at.index()] == Form::Full)
    }

    fn head_of(bytes: &[u8]) -> String {
        Self::cut_of(bytes).1
    }

    /// The first message that a record sends, and the head before it. A fold without a summary may keep the head's words.
    fn cut_of(bytes: &[u8]) -> (MessageId, String) {
        if bytes.is_empty() { Default::default() } else { waiting_cut(&Self::of(bytes).session) }
    }
}

/// A step of the work that both see.
fn step(history: &mut Vec<Value>) {
    let at = history.len();
    let text = |text: String| json!([{ "type": "text", "text": text }]);
    let call = json!([{ "type": "tool_use", "id": format!("c{at}"), "name": "read", "input": { "path": format!("src/f{at}.rs") } }]);
    let result = json!([{ "type": "tool_result", "tool_use_id": format!("c{at}"), "content": words(200, &format!("x{at}y")) }]);
    history.push(json!({ "role": "user", "content": format!("step {at}: {}", prose(60)) }));
    history.push(json!({ "role": "assistant", "content": call }));
    history.push(json!({ "role": "user", "content": result }));
    history.push(json!({ "role": "assistant", "content": text(prose(300)) }));
}

proptest! {
    #[test]
    fn a_merge_loses_nothing_whoever_saves_first(
        steps in prop::collection::vec((0usize..2, 0u8..12, 0usize..1000), 20..70)
    ) {
        let mut history = Vec::new();
        for _ in 0..4 {
            step(&mut history);
        }
        let mut stored = Stored::default();
        let mut both = [Gateway::new(0), Gateway::new(500)];
        // What is pinned, by what it holds; and what ever was: the same thing is one pin, which either lets go for both.
        let mut pinned: Vec<String> = Vec::new();
        let mut ever: Vec<String> = Vec::new();
        let mut saves = 0;
        for (at, (who, kind, which)) in steps.into_iter().enumerate() {
            let one = &mut both[who];
            match kind {
                0..=2 => step(&mut history),
                3..=4 => { one.request(&history); }
                5..=6 => one.fold(&history, at),
                7 => {
                    one.request(&history);
                    let index = which % history.len() / 4 * 4;
                    let text = history[index]["content"].as_str().unwrap().to_owned();
                    if pinned.len() < 6 && !ever.contains(&text) {
                        ever.push(text.clone());
                        let id = one.host.pin(u32::try_from(index).unwrap());
                        one.pins.push((id, text.clone()));
                        pinned.push(text);
                        prop_assert!(one.host.opens_with(index));
                    }
                }
                8 => {
                    let text = format!("rule {at}.");
                    one.pins.push((pin_text(&mut one.host.session, &text), text.clone()));
                    pinned.push(text);
                }
                9 if !one.pins.is_empty() => {
                    let (id, text) = one.pins.remove(which % one.pins.len());
                    prop_assert!(unpin(&mut one.host.session, id), "{text} is not pinned any more");
                    pinned.retain(|it| *it != text);
                }
                10 => {
                    let answer = one.request(&history);
                    let usage = json!({ "inputTokens": answer.tokens * 11 / 10 + 300, "outputTokens": 1 });
                    one.host.session.observe(&usage.to_string(), None);
                }
                _ => {
                    one.save(&mut stored);
                    saves += 1;
                    prop_assert!(stored.bytes.len() < 12_000, "{} bytes", stored.bytes.len());
                }
            }
        }
        // Each in turn, and the first once more: both hold all.
        for who in [0, 1, 0] {
            both[who].save(&mut stored);
            saves += 1;
        }
        prop_assert_eq!(stored.revision, saves);
        let mut other = Host::of(&stored.bytes);
        let (rules, places): (Vec<String>, Vec<String>) =
            pinned.into_iter().partition(|text| text.starts_with("rule"));
        let holds = list_pins(&other.session);
        prop_assert_eq!(holds.len(), rules.len() + places.len());
        prop_assert!(rules.iter().all(|rule| holds.contains(rule)), "{:?} of {:?}", holds, rules);
        for message in &history {
            other.append(message.clone());
        }
        let answer = other.request();
        prop_assert!(answer.fits && violations_sent(&other.session).is_empty());
        let one = &mut both[0];
        one.catch_up(&history);
        one.host.now_ms = other.now_ms - 1000;
        one.host.request();
        prop_assert_eq!(one.host.view(), other.view());
        for text in places {
            let index = history.iter().position(|it| it["content"] == text).unwrap();
            prop_assert!(other.opens_with(index), "{text} is pinned and cut");
        }
        let sent = format!("{:?}", other.view());
        for rule in rules.iter().filter(|rule| fronts(&other.session, rule)) {
            prop_assert_eq!(sent.matches(rule.as_str()).count(), 1, "{}", rule);
        }
    }
}

#[test]
fn a_session_that_is_behind_continues_from_the_other_and_adds_nothing() {
    let mut history = Vec::new();
    step(&mut history);
    let mut stored = Stored::default();
    let mut both = [Gateway::new(0), Gateway::new(0)];
    both[0].request(&history);
    both[0].save(&mut stored);
    pin_text(&mut both[0].host.session, "the ship sails at dawn");
    step(&mut history);
    both[0].request(&history);
    both[0].save(&mut stored);
    let before = stored.bytes.clone();
    assert!(merge_committed(&mut both[1].host.session, &before, &[]).unwrap());
    assert_eq!(snapshot_bytes(&both[1].host.session), before);
}

/// The number of folds is the same again, but the summary that the plan's would go on from is not there any more.
#[test]
fn a_plan_made_on_a_compaction_that_gave_way_to_the_others_is_refused() {
    let mut history = Vec::new();
    for _ in 0..14 {
        step(&mut history);
    }
    let mut stored = Stored::default();
    let mut both = [Gateway::new(0), Gateway::new(0)];
    both[0].fold(&history, 1);
    both[1].fold(&history, 2);
    both[1].save(&mut stored);
    for _ in 0..2 {
        step(&mut history);
    }
    both[0].request(&history);
    let plan = both[0].host.plan(true);
    assert_eq!(plan["plan"]["outcome"], "summarize");
    both[0].save(&mut stored);
    both[0].catch_up(&history);
    let refused = both[0].host.commit(&plan, Some("Summary 1, and what followed."));
    assert!(is_stale(&refused), "{refused:?}");
    assert!(Host::head_of(&snapshot_bytes(&both[0].host.session)).contains("Summary 2."));
}

#[test]
fn a_compaction_is_saved_after_a_commit_that_only_pinned() {
    let mut history = Vec::new();
    for _ in 0..14 {
        step(&mut history);
    }
    let mut stored = Stored::default();
    let mut one = Gateway::new(0);
    one.request(&history);
    one.save(&mut stored);
    let mut other =
        Gateway { host: Host::of(&stored.bytes), base: stored.bytes.clone(), ..Gateway::new(0) };
    other.revision = stored.revision;
    step(&mut history);
    other.request(&history);
    let pin = other.host.pin(0);
    pin_text(&mut other.host.session, "the ship sails at dawn");
    other.save(&mut stored);
    one.fold(&history, 1);
    assert!(one.folded);
    let folded = one.host.session.decisions.placeholders.head.clone();
    assert_eq!(one.save(&mut stored), 1);
    assert_eq!(Host::head_of(&stored.bytes), folded);
    assert!(!one.host.messages.is_empty(), "its own messages stay known");
    assert!(unpin(&mut one.host.session, pin), "what the other pinned is known by the same id");
    assert_eq!(list_pins(&one.host.session), ["the ship sails at dawn"]);
}

#[test]
fn failures_of_both_sessions_count_and_the_longer_pause_holds() {
    let mut stored = Stored::default();
    let mut both = [Gateway::new(0), Gateway::new(0)];
    both[0].save(&mut stored);
    (both[1].base, both[1].revision) = (stored.bytes.clone(), stored.revision);
    compaction_failed(&mut both[0].host.session, "ineffective", 0);
    compaction_failed(&mut both[1].host.session, "auth", 0);
    compaction_failed(&mut both[1].host.session, "ineffective", 5_000);
    both[0].save(&mut stored);
    both[1].save(&mut stored);
    let blocked = blocked_reason(&Host::of(&stored.bytes).session, 0);
    assert_eq!(serde_json::from_str::<Value>(blocked.json()).unwrap()["reason"], "ineffective");
    let mut third = [Gateway::new(0), Gateway::new(0)];
    let mut stored = Stored::default();
    compaction_failed(&mut third[0].host.session, "auth", 0);
    compaction_failed(&mut third[1].host.session, "network", 0);
    third[1].save(&mut stored);
    third[0].save(&mut stored);
    let blocked = blocked_reason(&Host::of(&stored.bytes).session, 0);
    assert_eq!(serde_json::from_str::<Value>(blocked.json()).unwrap()["untilMs"], 600_000);
}

#[test]
fn a_pin_made_before_the_messages_arrive_stays() {
    let host = Host::worked(&window(30_000), 5);
    let mut woken = host.woken(&window(30_000));
    restore_from(&mut woken.session, &snapshot_bytes(&host.session)).unwrap();
    let id = pin_text(&mut woken.session, "the ship sails at dawn");
    woken.messages.clear();
    for message in host.messages {
        woken.append(message);
    }
    woken.request();
    assert!(unpin(&mut woken.session, id));
}

#[test]
fn a_snapshot_of_another_version_is_refused_with_both_versions() {
    let mut bytes = snapshot_bytes(&Host::worked(&window(30_000), 5).session);
    bytes[4] = 1;
    let options = Options::parse(&window(30_000).to_string()).unwrap();
    let error = restore_session(options, &bytes).unwrap_err();
    assert_eq!(error.to_string(), "snapshot does not verify: it is of version 1; 2 to 3 are read");
}
