//! Guarantees of the policy for any transcript and any masks.

mod crowded;
mod digest;
mod early;
mod folds;
mod forecast;
mod hard_fit;
mod limits;
mod presets;

use proptest::prelude::*;
use proptest::strategy::Strategy;

use super::need::{chance, stub_identifiers, stub_room};
use super::*;
use crate::ledger::Arrival;
use crate::model::{BlockId, GroupId, Mask, Message, MessageId, Occurrence, Role};

/// Lines that cost what they may cost.
struct Plain;

impl Writer for Plain {
    fn stub(&mut self, ledger: &Ledger, block: BlockId, _: &[u32], ids_tokens: u32) -> u32 {
        ledger.blocks[block.index()].now.min(20 + ids_tokens)
    }
    fn cap(&mut self, _: &Ledger, _: BlockId, tokens: u32) -> u32 {
        tokens
    }
    fn shorten(&mut self, _: &Ledger, _: BlockId, _: Shorten) -> Option<u32> {
        None
    }
    fn summarize(&mut self, _: &mut Ledger, _: &[BlockId], _: bool) -> bool {
        false
    }
    fn head_tokens(&self, _: &Ledger, _: &[u32], digest_tokens: u32, _: bool) -> u32 {
        10 + digest_tokens
    }
}

/// A session in the making.
#[derive(Clone)]
struct Story {
    ledger: Ledger,
    pruner: Pruner,
    call: u32,
    turn: u32,
}

impl Story {
    fn new() -> Self {
        Self::of("balanced")
    }

    fn of(preset: &str) -> Self {
        let pruner = Pruner::new(Policy::preset(preset).unwrap());
        Self { ledger: Ledger::default(), pruner, call: 0, turn: 0 }
    }

    fn message(&mut self, role: Role, may_cut: bool) -> MessageId {
        self.turn += u32::from(role == Role::User);
        let message = Message {
            fingerprint: 0,
            written: 0,
            role,
            first_block: BlockId::FIRST,
            call: self.call,
            turn: self.turn,
            bytes: 0,
            may_cut,
            at_ms: None,
        };
        self.ledger.begin(message);
        self.call += u32::from(role == Role::Assistant);
        self.ledger.next_message().minus(1)
    }

    fn block(
        &mut self,
        kind: Kind,
        tokens: u32,
        group: GroupId,
        mask: Mask,
        ids: &[u32],
    ) -> BlockId {
        let rank = |id: &u32| Occurrence { id: *id, in_head: false, is_new: false }.rank();
        let ids: Vec<u32> = ids.iter().map(rank).collect();
        let arrival = Arrival {
            kind,
            tokens,
            chars: 4 * tokens,
            overhead: 0,
            bytes: 0,
            failed: false,
            ids: &ids,
            pair: BlockId::NONE,
            tool: "",
            group,
            call_key: None,
            key: u64::from(self.ledger.block_count()),
            mask,
            named: false,
        };
        self.ledger.append(&arrival, self.call)
    }

    fn ask(&mut self, tokens: u32, mask: Mask) -> BlockId {
        self.message(Role::User, true);
        self.block(Kind::Text, tokens, GroupId::NONE, mask, &[])
    }

    fn say(&mut self, tokens: u32) -> BlockId {
        self.alone(Kind::Text, tokens, Mask::FREE)
    }

    /// A block of the model's in a message of its own.
    fn alone(&mut self, kind: Kind, tokens: u32, mask: Mask) -> BlockId {
        self.message(Role::Assistant, true);
        self.block(kind, tokens, GroupId::NONE, mask, &[])
    }

    /// A call and its results, a group: the blocks of the results.
    fn work(&mut self, call: (u32, Mask), results: &[(u32, Mask)], ids: &[u32]) -> Vec<BlockId> {
        let group = GroupId::starting_at(self.message(Role::Assistant, true));
        for _ in results {
            self.block(Kind::Call, call.0, group, call.1, &[]);
        }
        self.message(Role::Tool, false);
        let block = |&(tokens, mask)| self.block(Kind::Result, tokens, group, mask, ids);
        results.iter().map(block).collect()
    }

    fn name(&mut self, text: &str, tokens: u32) -> u32 {
        self.ledger.identifiers.intern(text, |_| tokens)
    }

    fn decide(&mut self, window: u64, first: bool) -> Decision {
        self.decide_at(window, Moment { first, ..Self::REQUEST })
    }

    /// A request that is not the first; the cache is warm, and the host has a summarizer.
    const REQUEST: Moment =
        Moment { call: 0, warm: true, first: false, folds: Folds::Carried, summarizes: true };

    fn decide_at(&mut self, window: u64, moment: Moment) -> Decision {
        let setting = Setting { window, usable: window, fixed: 0, mended: 0, cap: u64::MAX };
        let moment = Moment { call: self.call, ..moment };
        self.pruner.decide(&mut self.ledger, &setting, moment, &mut Plain)
    }

    fn context(&self, window: u64) -> u64 {
        self.pruner.context(
            &self.ledger,
            &Setting { window, usable: window, fixed: 0, mended: 0, cap: u64::MAX },
        )
    }

    fn form(&self, block: BlockId) -> Form {
        self.ledger.blocks[block.index()].form
    }

    fn is_live(&self, group: GroupId) -> Vec<bool> {
        let members = self.ledger.blocks.iter().filter(|block| block.group == group);
        members.map(|block| block.form != Form::Gone).collect()
    }
}

#[derive(Clone, Debug)]
enum Act {
    Ask(u32, Mask),
    Say(u32),
    Work((u32, Mask), Vec<(u32, Mask)>),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let mask = || {
        prop_oneof![
            6 => Just(Mask::FREE),
            1 => Just(Mask::FIXED),
            1 => Just(Mask { may_edit: false, may_drop: true, atomic: false }),
            1 => Just(Mask { may_edit: true, may_drop: false, atomic: false }),
        ]
    };
    let tokens = || prop_oneof![1u32..400, 400u32..4000];
    let sized = move || (tokens(), mask());
    let ask = (tokens(), any::<bool>()).prop_map(|(tokens, may_drop)| {
        Act::Ask(tokens, Mask { may_edit: false, may_drop, atomic: false })
    });
    let work = (sized(), prop::collection::vec(sized(), 1..4));
    let act = prop_oneof![
        1 => ask,
        1 => tokens().prop_map(Act::Say),
        4 => work.prop_map(|(call, results)| Act::Work(call, results)),
    ];
    prop::collection::vec(act, 1..40)
}

/// Nothing more could be done: what is left may not go, stands in the last message, or is as small as it gets.
fn is_floor(story: &Story) -> bool {
    let last = story.ledger.message_count() - 1;
    let blocks = &story.ledger.blocks;
    let stays = |block: &Block| {
        let is_fixed =
            |it: &Block| it.form != Form::Gone && (it.message >= last.into() || !it.mask.may_drop);
        is_fixed(block)
            || blocks
                .iter()
                .any(|it| block.group.is_some() && it.group == block.group && is_fixed(it))
    };
    let is_small =
        |block: &Block| !block.mask.may_edit || block.form == Form::Stubbed || block.now <= 50;
    let mut live = story.ledger.live().iter().map(|&at| &blocks[at.index()]);
    live.all(|block| stays(block) && is_small(block))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_transcript_keeps_its_groups_masks_and_window(
        acts in acts(),
        window in 2_000u64..40_000,
        (preset, strategy) in (0..Policy::PRESETS.len(), 0..3usize),
        (first, last, turns) in (0..4u32, 0..8u32, 0..3u32),
    ) {
        let mut story = Story::of(Policy::PRESETS[preset]);
        story.pruner.policy.protect = Protect { first, last, turns, ..Protect::default() };
        if let Some(seed) = &mut story.pruner.policy.seed {
            let all = [super::Strategy::Summarize, super::Strategy::Truncate, super::Strategy::Discard];
            seed.strategy = all[strategy];
        }
        for (at, act) in acts.into_iter().enumerate() {
            match act {
                Act::Ask(tokens, mask) => {
                    story.ask(tokens, mask);
                }
                Act::Say(tokens) => {
                    story.say(tokens);
                }
                Act::Work(call, results) => {
                    story.work(call, &results, &[]);
                }
            }
            let mut twin = story.clone();
            let before: Vec<Form> = story.ledger.blocks.iter().map(|block| block.form).collect();
            let decision = story.decide(window, at == 0);
            prop_assert_eq!(&decision.changes, &twin.decide(window, at == 0).changes);
            for change in &decision.changes {
                let block = &story.ledger.blocks[change.block.index()];
                prop_assert!(!block.is_protected() || change.rule == Rule::HardFit, "{change:?}");
            }
            // A fold lets protected messages go, and a hard fit leaves fewer to keep: then there may be more to do.
            let forced = decision.changes.iter().any(|change| change.rule == Rule::HardFit);
            if story.pruner.policy.seed.is_some() && !decision.folded && !forced {
                prop_assert_eq!(&twin.decide(window, false).changes, &[], "twice is once");
            }
            prop_assert!(story.context(window) <= window || is_floor(&story));
            for (block, before) in story.ledger.blocks.iter().zip(before) {
                prop_assert!(block.form >= before);
                prop_assert!(block.mask.may_edit || matches!(block.form, Form::Full | Form::Gone));
                prop_assert!(block.mask.may_drop || block.form != Form::Gone);
                prop_assert!(block.form != Form::Full || block.now == block.tokens);
                if block.group.is_some() {
                    let live = story.is_live(block.group);
                    prop_assert!(live.iter().all(|&one| one == live[0]), "a group is split");
                }
            }
            let live: u64 = story.ledger.blocks.iter().map(|block| u64::from(block.now)).sum();
            prop_assert_eq!(story.ledger.total(), live);
        }
    }
}

#[test]
fn rent_is_charged_once_per_call() {
    let mut story = Story::new();
    story.ask(100, Mask::FREE);
    let old = story.work((50, Mask::FREE), &[(2000, Mask::FREE)], &[])[0];
    for _ in 0..8 {
        story.work((50, Mask::FREE), &[(1000, Mask::FREE)], &[]);
    }
    story.decide(100_000, true);
    let rent = |story: &Story| story.ledger.blocks[old.index()].rent;
    assert_eq!(rent(&story), 0, "nothing is owed before the first request");
    story.work((50, Mask::FREE), &[(1000, Mask::FREE)], &[]);
    story.decide(100_000, false);
    let once = rent(&story);
    assert!(once > 0);
    story.decide(100_000, false);
    assert_eq!(rent(&story), once);
    story.say(10);
    story.decide(100_000, false);
    assert!(rent(&story) > once);
}

#[test]
fn a_fold_keeps_complete_hot_groups_and_the_newest_user_texts() {
    let window = 20_000;
    let mut story = Story::new();
    let long = story.ask(3000, Mask::FREE);
    let short = story.ask(100, Mask::FREE);
    let names: Vec<u32> = (0..6).map(|n| story.name(&format!("src/{n}.rs"), 4)).collect();
    let hot = story.work((50, Mask::FREE), &[(200, Mask::FREE), (200, Mask::FREE)], &names);
    story.message(Role::Assistant, true);
    story.block(Kind::Text, 50, GroupId::NONE, Mask::FREE, &names);
    let cold: Vec<BlockId> = (0..4).map(|_| story.say(4500)).collect();
    story.ask(100, Mask::FREE);
    assert!(story.decide(window, false).folded);
    assert_eq!(hot.iter().map(|&at| story.form(at)).collect::<Vec<_>>(), [Form::Full; 2]);
    assert_eq!(story.is_live(story.ledger.blocks[hot[0].index()].group), [true; 4]);
    assert_eq!((story.form(long), story.form(short)), (Form::Gone, Form::Full));
    assert!(cold.iter().all(|&at| story.form(at) == Form::Gone));
    let digest = story.pruner.head.unwrap().digest;
    assert!(digest.iter().eq(names.iter().rev()), "newer first where equal");
}

#[test]
fn an_atomic_block_is_dropped_where_another_is_capped() {
    let form = |atomic: bool| {
        let mut story = Story::new();
        story.ask(100, Mask::FIXED);
        story.message(Role::Assistant, true);
        let mask = Mask { atomic, ..Mask::FREE };
        let block = story.block(Kind::Thinking, 4000, GroupId::NONE, mask, &[]);
        story.block(Kind::Text, 10, GroupId::NONE, Mask::FIXED, &[]);
        story.decide(2000, true);
        assert!(story.context(2000) <= 2000);
        story.form(block)
    };
    assert_eq!((form(true), form(false)), (Form::Gone, Form::Capped));
}

#[test]
fn a_fold_that_would_remove_nothing_adds_no_head() {
    let mut story = Story::new();
    story.ask(5000, Mask::FIXED);
    assert!(!story.decide(2000, true).folded);
    assert_eq!((story.context(2000), story.pruner.head), (5000, None));
}

#[test]
fn a_fold_is_refused_if_its_head_is_not_smaller_than_what_it_removes() {
    for (tokens, folds) in [(80, false), (81, true)] {
        let mut story = Story::new();
        let names: Vec<u32> = (0..10).map(|n| story.name(&format!("src/{n}.rs"), 7)).collect();
        story.message(Role::Assistant, true);
        story.block(Kind::Text, tokens, GroupId::NONE, Mask::FREE, &names);
        story.say(2000); // the tail
        story.pruner.fold_wanted = true;
        let decision = story.decide(10_000, true);
        // The head of `Plain`: 10 tokens and the digest's 70.
        assert_eq!((decision.folded, decision.refused.is_none()), (folds, folds));
        assert_eq!(story.decide(10_000, false).refused, None, "only what was asked for is told of");
        assert_eq!(story.context(10_000), 2000 + u64::from(tokens.min(80)));
    }
}

#[test]
fn a_digest_grows_with_the_root_of_the_window() {
    for (window, most) in [(32_000, 2500), (128_000, 5000), (512_000, 10_000)] {
        let mut story = Story::new();
        let names: Vec<u32> = (0..2000).map(|n| story.name(&format!("src/{n}.rs"), 7)).collect();
        story.work((50, Mask::FREE), &[(300, Mask::FREE)], &names);
        let size = u32::try_from(window).unwrap();
        story.say(size);
        story.ask(100, Mask::FREE);
        assert!(story.decide(window, false).folded);
        let head = story.pruner.head.unwrap();
        let tokens = 7 * u32::try_from(head.digest.len()).unwrap();
        assert!(tokens <= most && tokens + 7 > most, "{tokens} of {most}");
    }
}

#[test]
fn a_deferred_fold_is_reported_and_changes_nothing() {
    let window = 20_000;
    let mut story = Story::new();
    for _ in 0..5 {
        story.say(3000);
    }
    story.ask(10, Mask::FREE);
    let cold = Moment { warm: false, folds: Folds::Deferred, ..Story::REQUEST };
    let decision = story.decide_at(window, cold);
    assert!(decision.fold_due && !decision.folded && decision.changes.is_empty());
    assert_eq!(story.context(window), 15_010);
}

#[test]
fn a_result_over_its_share_of_the_window_is_cut_at_arrival() {
    let mut story = Story::new();
    let [small, large] = story
        .work((10, Mask::FREE), &[(1200, Mask::FREE), (1201, Mask::FREE)], &[])
        .try_into()
        .unwrap();
    let Story { ledger, pruner, .. } = &mut story;
    assert_eq!(pruner.ingest(ledger, small, 10_000, &mut Plain), None);
    let change = pruner.ingest(ledger, large, 10_000, &mut Plain);
    assert_eq!(change, Some(Change { block: large, rule: Rule::IngestCap, before: 1201 }));
    assert_eq!((ledger.blocks[large.index()].now, story.form(large)), (1200, Form::Capped));
}

#[test]
fn need_falls_with_idle_calls_and_rises_with_use() {
    let mut story = Story::new();
    let names = [story.name("src/a.rs", 3), story.name("src/b.rs", 3)];
    let bare = story.work((10, Mask::FREE), &[(1000, Mask::FREE)], &[])[0];
    let known = story.work((10, Mask::FREE), &[(1000, Mask::FREE)], &names)[0];
    let at =
        |story: &Story, block: BlockId, call| chance(&story.ledger.blocks[block.index()], call);
    assert!(at(&story, known, 10) > at(&story, known, 20));
    assert!(at(&story, known, 10) > at(&story, bare, 10));
    let unused = at(&story, known, story.call + 5);
    story.message(Role::Assistant, true);
    story.block(Kind::Text, 5, GroupId::NONE, Mask::FREE, &names[..1]);
    assert!(at(&story, known, story.ledger.blocks[known.index()].last + 5) > unused);
    let mut twin = story.ledger.blocks[known.index()];
    let fresh = chance(&twin, 20);
    twin.duplicate = true;
    assert!(chance(&twin, 20) < fresh);
}

#[test]
fn an_identifier_is_in_one_stub_and_fits_it() {
    let mut story = Story::new();
    let names: Vec<u32> = (0..20).map(|n| story.name(&format!("src/{n}.rs"), 5)).collect();
    let result = story.work((10, Mask::FREE), &[(1000, Mask::FREE)], &names)[0];
    story.message(Role::Assistant, true);
    story.block(Kind::Text, 5, GroupId::NONE, Mask::FREE, &names[7..9]);
    let (ids, tokens) = stub_identifiers(&story.ledger, result, stub_room(1000));
    assert_eq!(ids.get(..2), Some(&names[7..9]), "what was used stands first");
    assert_eq!((ids.len(), tokens), (2, 10), "what only stands there is not worth its tokens");
    story.ledger.identifiers.get_mut(names[7]).unwrap().stubbed = true;
    assert_eq!(stub_identifiers(&story.ledger, result, stub_room(1000)).0, [names[8]]);
    assert!(stub_identifiers(&story.ledger, result, 400).0.is_empty());
}
