//! Options of the policy: preset, thresholds, prices, protections, and what only some presets have.

use std::borrow::Cow;

use crate::argument::OptionsReader;
use crate::error::Result;
use crate::json::{self, RawValue};
use crate::prune::{BASIS_POINTS, Policy, Prices, Seed, Strategy, Trigger};

/// No window has more tokens.
pub(in crate::context) const TOKENS: u64 = u32::MAX as u64;
/// A share is counted in 10^-4.
pub(in crate::context) const SHARE_PLACES: u32 = 4;
/// Options that every preset has.
pub(in crate::context) const EVERY: [&str; 19] = [
    "window",
    "format",
    "provider",
    "estimator",
    "signCalls",
    "thinking",
    "model",
    "models",
    "preset",
    "trigger",
    "triggerTokens",
    "target",
    "margin",
    "minimumGainTokens",
    "protectTurns",
    "protectFirst",
    "protectLast",
    "protectTokens",
    "protectTools",
];
/// Options that only ours have, and only those of other systems.
pub(in crate::context) const OURS: [&str; 4] = ["retention", "ingestCap", "keep", "economy"];
pub(in crate::context) const SEEDS: [&str; 3] = ["turn", "stubChars", "strategy"];

/// The policy that the options choose. `facade`: options that stay with it and are not in the JSON. `internal`: what it adds.
pub(in crate::context) fn policy(
    options: &OptionsReader<'_>,
    facade: &[&str],
    internal: &[&str],
) -> Result<Policy> {
    let preset = options.text("preset");
    let mut policy = Policy::preset(preset.as_deref().unwrap_or("balanced"))?;
    if options.get("retention").is_some() {
        policy = retaining(options, preset.is_some()).unwrap_or(policy);
    }
    let (ours, seeds) = Policy::PRESETS.split_at(Policy::OURS);
    let (own, others, presets) = match policy.seed {
        Some(_) => (&SEEDS[..], &OURS[..], ours),
        None => (&OURS[..], &SEEDS[..], seeds),
    };
    let of_others = others.iter().find(|name| options.get(name).is_some());
    if let Some(name) = of_others.filter(|name| !internal.contains(name)) {
        options.refuse(name, &format!("one of the presets {} beside it", presets.join(", ")));
    }
    options.refuse_others(&[&EVERY[..], own, facade].concat(), internal);
    let share = |name, default| options.amount(name, SHARE_PLACES, 1).unwrap_or(default);
    if policy.seed.is_none() {
        policy.trigger = share("trigger", policy.trigger);
        policy.aim = options.amount("target", SHARE_PLACES, 1);
        if policy.aim.is_some_and(|aim| aim >= policy.trigger) {
            options.refuse("target", "less than the trigger");
        }
    }
    match options.get("keep") {
        None | Some(r#""names""#) => {}
        Some(r#""lines""#) => policy.lines = true,
        Some(_) => options.refuse("keep", "one of names, lines"),
    }
    policy.ingest_cap = share("ingestCap", policy.ingest_cap).min(BASIS_POINTS);
    let gain = options.amount("minimumGainTokens", 0, TOKENS);
    policy.minimum_gain = gain.unwrap_or(policy.minimum_gain);
    if let Some(economy) = options.inner("economy") {
        policy.prices = prices(&economy);
    }
    protections(options, &mut policy);
    if let Some(mut seed) = policy.seed.take() {
        other_way(options, &mut policy, &mut seed);
        policy.seed = Some(seed);
    }
    Ok(policy)
}

/// The policy for the option `retention`.
#[inline(never)]
fn retaining(options: &OptionsReader<'_>, has_preset: bool) -> Option<Policy> {
    if has_preset {
        options.refuse("retention", "no `preset` beside it");
    }
    let expected = "a number from -0.6 to 1.3";
    let policy = Policy::retaining(options.scaled("retention", 3, expected)?);
    if policy.is_none() {
        options.refuse("retention", expected);
    }
    policy
}

/// All four prices, or none.
#[inline(never)]
fn prices(economy: &OptionsReader<'_>) -> Prices {
    economy.refuse_others(&["cacheRead", "cacheWrite", "output", "cacheTtlMs"], &[]);
    let needed = |name: &str, places, most| {
        economy.required(name, places, most, "a number: all four prices together")
    };
    Prices {
        read: needed("cacheRead", 3, 1000),
        write: needed("cacheWrite", 3, 1000),
        output: needed("output", 3, 1000),
        ttl_ms: needed("cacheTtlMs", 0, 1_000_000_000_000_000),
    }
}

/// What is never edited and never folded; a preset's own figure holds where none is given.
fn protections(options: &OptionsReader<'_>, policy: &mut Policy) {
    let protect = &mut policy.protect;
    for (name, count) in [
        ("protectFirst", &mut protect.first),
        ("protectLast", &mut protect.last),
        ("protectTurns", &mut protect.turns),
    ] {
        if let Some(amount) = options.amount(name, 0, TOKENS) {
            *count = u32::try_from(amount).unwrap_or(u32::MAX);
        }
    }
    protect.tokens = options.amount("protectTokens", 0, TOKENS).unwrap_or(protect.tokens);
    match options.get("protectTools").map(tool_names) {
        None => {}
        Some(Ok(tools)) => protect.tools = tools,
        Some(Err(_)) => options.refuse("protectTools", "a list of tool names or globs"),
    }
}

#[inline(never)]
fn tool_names(list: &RawValue) -> json::Read<Vec<String>> {
    let names = json::items(list)?.into_iter();
    names.map(|name| json::string(name).map(Cow::into_owned)).collect()
}

/// The options of other systems' ways.
#[inline(never)]
fn other_way(options: &OptionsReader<'_>, policy: &mut Policy, seed: &mut Seed) {
    let (trigger, target) = ("trigger", "target");
    if let Some(share) = options.amount(trigger, SHARE_PLACES, 1) {
        seed.trigger = Trigger::Share(share);
        policy.target = policy.target.min(share.saturating_mul(7) / 10);
    }
    if let Some(share) = options.amount(target, SHARE_PLACES, 1) {
        if let Trigger::Share(most) = seed.trigger
            && share >= most
        {
            options.refuse(target, "less than the trigger");
        }
        policy.target = share;
    }
    if let Some(chars) = options.amount("stubChars", 0, TOKENS) {
        seed.stub_chars = u32::try_from(chars).unwrap_or(u32::MAX).max(1);
    }
    match options.get("turn") {
        None => {}
        Some(r#""user""#) => policy.protect.by_role = false,
        Some(r#""user-role""#) => policy.protect.by_role = true,
        Some(_) => options.refuse("turn", "one of user, user-role"),
    }
    seed.strategy = match options.get("strategy") {
        None => seed.strategy,
        Some(r#""summarize""#) => Strategy::Summarize,
        Some(r#""truncate""#) => Strategy::Truncate,
        Some(r#""discard""#) => Strategy::Discard,
        Some(_) => {
            options.refuse("strategy", "one of summarize, truncate, discard");
            seed.strategy
        }
    };
    // What the host itself protects at the end does not give way to a share of ours.
    if ["protectLast", "protectTurns", "protectTokens"]
        .iter()
        .any(|name| options.get(name).is_some())
    {
        (seed.tail_most, seed.keeps) = (0, 0);
        seed.yields = false;
    }
}
