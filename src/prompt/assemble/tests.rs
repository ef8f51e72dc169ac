//! Assembly, by the items of `AceClaw`'s plan and as properties.

#![expect(clippy::arithmetic_side_effects, reason = "sizes of small prompts")]

use proptest::prelude::*;

use super::*;
use crate::focus::{LANGUAGES, Signal};

fn section(key: &str, chars: usize, priority: u32, protected: bool) -> Section<'static> {
    Section {
        key: key.to_owned().into(),
        content: "x".repeat(chars).into(),
        priority,
        protected,
        ..Section::default()
    }
}

fn plan<'s>(sections: &'s [Section<'s>], per_tier: usize, total: usize) -> Plan<'s> {
    assemble(sections, &Options { budget: Budget { per_tier, total }, ..Options::default() })
        .unwrap()
}

fn sizes(plan: &Plan<'_>) -> Vec<usize> {
    plan.sections.iter().map(|section| section.final_chars).collect()
}

/// Rows A18, A22.
#[test]
fn blank_sections_are_left_out_with_nothing_between() {
    let mut sections = vec![section("a", 3, 10, false), section("b", 4, 90, false)];
    sections
        .insert(1, Section { key: "blank".into(), content: " \n".into(), ..Section::default() });
    let plan = plan(&sections, 100, 100);
    assert_eq!((plan.prompt.as_str(), plan.total_chars), ("xxxxxxx", 7));
    let keys: Vec<_> = plan.sections.iter().map(|it| (it.key, it.offset)).collect();
    assert_eq!(keys, [("a", Some(0)), ("b", Some(3))]);
    assert!(plan.truncated.is_empty());
}

/// Row A19.
#[test]
fn each_section_has_its_own_cap_except_protected_ones() {
    let sections = [section("a", 5_000, 50, false), section("b", 5_000, 50, true)];
    let plan = plan(&sections, 1_000, 100_000);
    assert_eq!(sizes(&plan), [1_000, 5_000]);
    assert_eq!(plan.truncated, ["a"]);
    assert_eq!(plan.sections[0].inclusion_reason, "cut to the most that a section may have");
}

/// Row A20.
#[test]
fn the_section_of_lowest_priority_is_cut_first_and_of_equals_the_earliest() {
    let of = |total| {
        let sections = [
            section("a", 1_000, 50, false),
            section("b", 1_000, 50, false),
            section("c", 1_000, 90, false),
        ];
        sizes(&plan(&sections, 1_000, total))
    };
    assert_eq!(of(3_000), [1_000, 1_000, 1_000]);
    assert_eq!(of(2_500), [500, 1_000, 1_000]);
    assert_eq!(of(2_200), [200, 1_000, 1_000]);
    assert_eq!(of(2_199), [0, 1_000, 1_000]);
    assert_eq!(of(2_100), [0, 1_000, 1_000]); // A11: 100 characters of it would say nothing
    assert_eq!(of(1_500), [0, 500, 1_000]);
    assert_eq!(of(600), [0, 0, 600]);
    assert_eq!(of(100), [0, 0, 0]);
}

/// A24: two protected sections over the total: cut after all others (D4), whole on request, or an error.
/// Row A24.
#[test]
fn protected_sections_are_cut_last_never_or_refused_as_asked() {
    let sections = [
        section("a", 6_000, 90, true),
        section("b", 6_000, 80, true),
        section("c", 500, 99, false),
    ];
    let budget = Budget { per_tier: 1_000, total: 5_000 };
    let with = |protect| assemble(&sections, &Options { budget, protect, ..Options::default() });
    assert_eq!(sizes(&with(Protect::Last).unwrap()), [5_000, 0, 0]);
    assert_eq!(sizes(&with(Protect::Never).unwrap()), [6_000, 6_000, 0]);
    let error = with(Protect::Error).unwrap_err().to_string();
    assert_eq!(
        error,
        "sections: expected protected sections of at most 5000 chars, got 6000 up to \"a\""
    );
}

/// A11: a section that both passes cut has one marker, with its true length.
/// Row A11.
#[test]
fn a_section_is_cut_once() {
    let sections = [section("a", 9_000, 50, false), section("b", 1_000, 90, false)];
    let plan = plan(&sections, 4_000, 3_000);
    assert_eq!(sizes(&plan), [2_000, 1_000]);
    assert_eq!(plan.prompt.matches("TRUNCATED").count(), 1);
    assert!(plan.prompt.contains("Original: 9000 chars"));
    assert_eq!(
        (plan.sections[0].original_chars, plan.sections[0].whole_from_total_chars),
        (9_000, 5_000)
    );
}

#[test]
fn a_section_that_the_total_cuts_or_leaves_out_names_the_total_that_it_needs() {
    let sections = [section("a", 1_000, 50, false), section("b", 1_000, 90, false)];
    let reason = |total| plan(&sections, 1_000, total).sections[0].inclusion_reason.to_string();
    assert_eq!(reason(1_500), "cut by the total: whole from 2000 chars on");
    assert_eq!(reason(1_100), "left out by the total: whole from 2000 chars on");
}

#[test]
fn a_focus_raises_the_priority_of_what_it_needs_and_gives_the_reason() {
    let focus = Focus::of("continue in src/a.rs", &[], None, &LANGUAGES);
    assert_eq!(focus.signals, [Signal::Continue]);
    let sections = [section("git", 1_000, 40, false), section("skills", 1_000, 45, false)];
    let options = Options {
        budget: Budget { per_tier: 1_000, total: 1_000 },
        focus: Some(&focus),
        ..Options::default()
    };
    let lifted = assemble(&sections, &options).unwrap();
    assert_eq!(sizes(&lifted), [1_000, 0]);
    let git = &lifted.sections[0];
    assert_eq!(
        (git.priority, git.base_priority, git.evidence.as_slice()),
        (46, 40, &["+6 continue current execution".to_owned()][..])
    );
    assert_eq!(sizes(&plan(&sections, 1_000, 1_000)), [0, 1_000]);
}

/// A35: what changes from request to request stands last, and does not move what stands before it.
/// Row A35.
#[test]
fn stable_sections_come_first_when_asked() {
    let stable = |key: &str| Section { stable: true, ..section(key, 100, 50, false) };
    let [short, long] =
        [10, 99].map(|git| [stable("a"), section("git", git, 40, false), stable("b")]);
    let with = |git: usize, order| {
        let sections = if git == 10 { &short } else { &long };
        assemble(sections, &Options { order, ..Options::default() }).unwrap()
    };
    let (first, other) = (with(10, Order::StableFirst), with(99, Order::StableFirst));
    assert_eq!((first.stable_prefix_chars, other.stable_prefix_chars), (200, 200));
    assert_eq!(first.prompt.get(..200), other.prompt.get(..200));
    assert_eq!(first.stable_prefix_key, other.stable_prefix_key);
    assert_ne!(first.stable_prefix_key, with(10, Order::Insertion).stable_prefix_key);
    assert_eq!(with(10, Order::Insertion).stable_prefix_chars, 100);
    let keys: Vec<_> = first.sections.iter().map(|it| it.key).collect();
    assert_eq!(keys, ["a", "b", "git"]);
}

#[test]
fn the_report_of_a_section_has_its_documented_fields() {
    let asked =
        [Section { reason: Some("asked for".into()), ..section("memory:user", 40, 70, false) }];
    let plan = plan(&asked, 100, 100);
    let it = &plan.sections[0];
    assert_eq!(
        (it.source_type, it.scope_type, &*it.inclusion_reason),
        ("memory", "always-on", "asked for")
    );
    assert_eq!(
        (it.final_chars, it.included, it.truncated, it.whole_from_total_chars),
        (40, true, false, 40)
    );
    assert!(it.estimated_tokens > 0);
}

fn any_sections() -> impl Strategy<Value = Vec<Section<'static>>> {
    let one = ("[a-z]{1,8}", "(\\PC|\n|👩‍👩‍👧| ){0,900}", 0u32..100, any::<bool>(), any::<bool>());
    prop::collection::vec(one, 0..8).prop_map(|all| {
        let section = |(at, (key, content, priority, protected, stable)): (
            usize,
            (String, String, u32, bool, bool),
        )| Section {
            key: format!("{key}{at}").into(),
            content: content.into(),
            priority,
            protected,
            stable,
            ..Section::default()
        };
        all.into_iter().enumerate().map(section).collect()
    })
}

proptest! {
    #[test]
    fn every_prompt_is_within_its_budget_and_in_order(
        sections in any_sections(), per_tier in 1usize..1_000, total in 1usize..3_000, more in 0usize..500, stable_first in any::<bool>(),
    ) {
        let order = if stable_first { Order::StableFirst } else { Order::Insertion };
        let with = |total| assemble(&sections, &Options { budget: Budget { per_tier, total }, order, ..Options::default() }).unwrap();
        let plan = with(total);
        // Never over budget; the prompt is what is included, in order.
        prop_assert!(plan.total_chars <= total);
        prop_assert_eq!(utf16_len(&plan.prompt), plan.total_chars);
        let mut at = 0;
        for it in &plan.sections {
            prop_assert_eq!(it.offset, it.included.then_some(at));
            at += it.final_chars;
        }
        prop_assert_eq!(at, plan.total_chars);
        prop_assert!(plan.stable_prefix_chars <= plan.total_chars);
        // Never inverted: what was cut by the total has nothing whole below it.
        for high in plan.sections.iter().filter(|it| it.whole_from_total_chars > total) {
            for low in plan.sections.iter().filter(|it| it.protected == high.protected && it.priority < high.priority) {
                prop_assert!(!low.included, "{} over {}", low.key, high.key);
            }
        }
        // More budget never yields less of a section, but for what a whole character takes.
        let bigger = with(total + more);
        for (less, more) in plan.sections.iter().zip(&bigger.sections) {
            prop_assert!(more.final_chars + 16 >= less.final_chars, "{} then {}", less.final_chars, more.final_chars);
            prop_assert!(more.included || !less.included);
        }
        // Whole from where it says.
        for it in &plan.sections {
            let uncut = with(it.whole_from_total_chars);
            let again = uncut.sections.iter().find(|again| again.key == it.key).unwrap();
            prop_assert_eq!(again.final_chars.max(again.original_chars.min(per_tier) - 16.min(again.original_chars.min(per_tier))), again.final_chars);
        }
        prop_assert_eq!(with(total), plan);
    }
}
