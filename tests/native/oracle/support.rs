//! Drives the policy over the simulator's normalised sessions, every mask open.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use plimsoll::hash::mix;
use plimsoll::ledger::{Arrival, Ledger};
use plimsoll::model::{BlockId, Form, GroupId, Kind, Mask, Message, Occurrence, Role};
use plimsoll::prune::{Cache, Moment, Policy, Pruner, Sent, Setting, Writer};
use serde::{Deserialize, Serialize};

use crate::sample::one_in;

pub(crate) const WINDOWS: [u64; 4] = [32_000, 64_000, 128_000, 200_000];
/// Each preset with a summarizer and without one.
pub(crate) const VARIANTS: [Variant; 8] = [
    Variant { preset: "economy", summarizes: true },
    Variant { preset: "balanced", summarizes: true },
    Variant { preset: "retention", summarizes: true },
    Variant { preset: "capacity", summarizes: true },
    Variant { preset: "economy", summarizes: false },
    Variant { preset: "balanced", summarizes: false },
    Variant { preset: "retention", summarizes: false },
    Variant { preset: "capacity", summarizes: false },
];
/// The simulator's own settings, and those written here, which it does not list.
pub(crate) const OWN: &str = "presets.json";
pub(crate) const MORE: &str = "more.json";
const SUMMARY: u32 = 1500;
const FILES: [&str; 8] = [
    "Cargo.lock",
    "presets.json",
    "prep.py",
    "stats.py",
    "src/core.rs",
    "src/main.rs",
    "src/ours.rs",
    "src/peers.rs",
];

/// A preset, and whether the host has a summarizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Variant {
    pub(crate) preset: &'static str,
    pub(crate) summarizes: bool,
}

impl Variant {
    /// The file of settings that holds it, and its name there.
    pub(crate) fn setting(self) -> (&'static str, String) {
        match (self.summarizes, self.preset) {
            (true, "economy" | "balanced" | "retention") => (OWN, format!("({})", self.preset)),
            (true, _) => (MORE, format!("({} with a summarizer)", self.preset)),
            (false, _) => (MORE, format!("({} alone)", self.preset)),
        }
    }
}

/// Scores of identifiers are whole tenths. Added up as floats, equal ones may differ in the last bit, and ties break another way.
const STUB_ORDER: &str = "filter(|x| x.0 > 0.25).collect()";
const STUB_ORDER_IN_TENTHS: &str =
    "filter(|x| x.0 > 0.25).map(|x| ((x.0 * 10.0).round(), x.1)).collect()";

/// The policy's description has one figure for the need of an image. The simulator uses it for timed edits only; where the window is nearly
/// full, it takes the figure of a call's arguments.
const NEED: &str = "let q = &s.b[b]; (self.hazard(b) * (c.p.write";
const NEED_OF_IMAGES: &str = "let q = &s.b[b]; let need = if q.k == K::Img { \
    0.1 / (self.call.saturating_sub(self.last[b])).max(1) as f64 } else { self.hazard(b) }; (need * (c.p.write";

#[derive(Deserialize, Serialize)]
pub(crate) struct Norm {
    pub(crate) name: String,
    pub(crate) msgs: Vec<NormMessage>,
    pub(crate) blocks: Vec<NormBlock>,
    pub(crate) idlen: Vec<u32>,
}

#[derive(Deserialize, Serialize)]
pub(crate) struct NormMessage {
    pub(crate) r: String,
    pub(crate) t: Option<f64>,
}

#[derive(Deserialize, Serialize)]
pub(crate) struct NormBlock {
    pub(crate) m: usize,
    pub(crate) k: String,
    pub(crate) key: u64,
    pub(crate) pair: i64,
    pub(crate) th: u64,
    pub(crate) n: u32,
    pub(crate) ids: Vec<u32>,
    pub(crate) hd: Vec<u32>,
}

impl Norm {
    /// The file that the simulator reads, with what it asks for beside, which changes no request.
    pub(crate) fn to_json(&self) -> String {
        let mut json = serde_json::to_value(self).unwrap();
        (json["split"], json["format"]) = ("open".into(), "".into());
        for block in json["blocks"].as_array_mut().unwrap() {
            for (name, value) in [("err", 0), ("path", -1), ("op", 0), ("c", 0)] {
                block[name] = value.into();
            }
            for name in ["tl", "h7"] {
                block[name] = serde_json::json!([]);
            }
        }
        // It looks for the `split` with a space before it.
        serde_json::to_string_pretty(&json).unwrap()
    }
}

/// A session played through: each call's view as the simulator writes it, and the bill in thousandths.
pub(crate) struct Run {
    pub(crate) views: Vec<(Vec<Sent>, u32)>,
    pub(crate) bill: u64,
    pub(crate) edits: u32,
    pub(crate) over: u32,
    pub(crate) folds: u32,
    /// Folds that say that the fixed part is too large.
    pub(crate) reported: u32,
}

/// The simulator, built and fed; `None` (with a printed line) where it cannot be.
pub(crate) fn oracle() -> Option<PathBuf> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(build).clone()
}

fn build() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = root.join("../shared/oracle/policy");
    if !source.is_dir() {
        println!("skipped: ../shared is absent");
        return None;
    }
    let folder = root.join("target/oracle");
    std::fs::create_dir_all(folder.join("src")).unwrap();
    for name in FILES {
        let mut text = std::fs::read_to_string(source.join(name)).unwrap();
        if name == "src/ours.rs" {
            for (theirs, instead) in [(STUB_ORDER, STUB_ORDER_IN_TENTHS), (NEED, NEED_OF_IMAGES)] {
                assert!(text.contains(theirs), "the simulator has no `{theirs}` any more");
                text = text.replace(theirs, instead);
            }
        }
        write_changed(&folder.join(name), &text);
    }
    write_more(&folder);
    // A workspace of its own: it lies below this project's.
    let manifest = std::fs::read_to_string(source.join("Cargo.toml")).unwrap();
    write_changed(&folder.join("Cargo.toml"), &format!("{manifest}\n[workspace]\n"));
    copy_sessions(&root.join("../shared/data/sessions"), &folder.join("sessions"));
    std::fs::remove_dir_all(folder.join("norm")).ok();
    let prepared =
        Command::new("python3").args(["prep.py", "sessions", "norm"]).current_dir(&folder).output();
    let Ok(prepared) = prepared else {
        println!("skipped: python3 is absent");
        return None;
    };
    assert!(prepared.status.success(), "{}", String::from_utf8_lossy(&prepared.stderr));
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "--quiet"])
        .env("RUSTFLAGS", "-Awarnings")
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .current_dir(&folder)
        .status()
        .unwrap();
    assert!(built.success());
    Some(folder)
}

/// Writes a file unless it is the same already: cargo would build it again.
fn write_changed(path: &Path, text: &str) {
    if std::fs::read_to_string(path).ok().as_deref() != Some(text) {
        std::fs::write(path, text).unwrap();
    }
}

/// Copies the sessions that this run plays, with a manifest of them.
fn copy_sessions(from: &Path, to: &Path) {
    std::fs::remove_dir_all(to).ok();
    let manifest = std::fs::read(from.join("manifest.json")).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let files = manifest["files"].as_array().unwrap().clone();
    let files = one_in(5, "sessions under the simulator", files);
    for file in &files {
        let name = file["file"].as_str().unwrap();
        std::fs::create_dir_all(to.join(name).parent().unwrap()).unwrap();
        std::fs::copy(from.join(name), to.join(name)).unwrap();
    }
    manifest["files"] = files.into();
    std::fs::write(to.join("manifest.json"), manifest.to_string()).unwrap();
}

/// Writes the settings that the simulator does not list: `capacity`, and every preset without a summarizer.
fn write_more(folder: &Path) {
    type Own = Vec<(String, serde_json::Map<String, serde_json::Value>)>;
    let own: Own = serde_json::from_slice(&std::fs::read(folder.join(OWN)).unwrap()).unwrap();
    let more: Own = VARIANTS
        .iter()
        .filter(|variant| variant.setting().0 == MORE)
        .map(|variant| {
            let based_on = if variant.preset == "capacity" { "balanced" } else { variant.preset };
            let name = format!("({based_on})");
            let (_, mut setting) = own.iter().find(|it| it.0.contains(&name)).unwrap().clone();
            let mut set = |name: &str, value: serde_json::Value| {
                assert!(setting.insert(name.to_owned(), value).is_some(), "{name}");
            };
            if !variant.summarizes {
                set("llm", 0.into());
            }
            match variant.preset {
                "balanced" => set("foldrent", 0.0.into()),
                "retention" => {
                    set("foldrent", 0.0.into());
                    set("coldfold", 9.0.into());
                }
                "capacity" => {
                    set("alpha", 1e12.into()); // no rent ever pays for an edit
                    set("cold", 0.into());
                    set("foldrent", 0.0.into());
                    set("coldfold", 9.0.into());
                }
                _ => {}
            }
            (variant.setting().1, setting)
        })
        .collect();
    std::fs::write(folder.join(MORE), serde_json::to_string(&more).unwrap()).unwrap();
}

pub(crate) fn sessions(folder: &Path) -> Vec<(PathBuf, Norm)> {
    let entries = std::fs::read_dir(folder.join("norm")).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let norm = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        (path, norm)
    };
    paths.into_iter().map(read).collect()
}

/// Stands in for our own lines as the simulator counts them, and for its summaries.
#[derive(Default)]
struct Lines {
    summarizes: bool,
    always_folds: bool,
    summaries: u32,
    in_head: Vec<u32>,
    fresh: bool,
}

impl Writer for Lines {
    fn stub(&mut self, ledger: &Ledger, block: BlockId, _: &[u32], ids_tokens: u32) -> u32 {
        ids_tokens + if ledger.block(block).unwrap().kind == Kind::Call { 30 } else { 20 }
    }

    fn cap(&mut self, ledger: &Ledger, block: BlockId, tokens: u32) -> u32 {
        ledger.block(block).unwrap().tokens.min(tokens)
    }

    fn shorten(&mut self, _: &Ledger, _: BlockId, _: plimsoll::prune::Shorten) -> Option<u32> {
        None
    }

    /// The 40 identifiers that the most blocks hold; those of the last head count twice.
    fn summarize(&mut self, ledger: &mut Ledger, gone: &[BlockId], asks: bool) -> bool {
        if !asks {
            return false;
        }
        if !self.summarizes {
            return false;
        }
        let mut counts = std::collections::BTreeMap::<u32, u32>::new();
        for &block in gone {
            for id in ledger.ids(block) {
                *counts.entry(id).or_default() += 1;
            }
        }
        for &id in &self.in_head {
            *counts.entry(id).or_default() += 2;
        }
        let mut ranked: Vec<(u32, u32)> = counts.into_iter().map(|(id, n)| (n, id)).collect();
        ranked.sort_by(|a, b| b.cmp(a));
        ledger.identifiers.change_those(|it| it.summarized, |it| it.summarized = false);
        for &(_, id) in ranked.iter().take(40) {
            ledger.identifiers.get_mut(id).unwrap().summarized = true;
        }
        self.summaries += 1;
        self.fresh = true;
        true
    }

    /// The simulator also makes a fold whose head is no smaller than what it replaces; the policy asks here whether it is.
    fn head_tokens(&self, _: &Ledger, _: &[u32], tokens: u32, summary: bool) -> u32 {
        if self.always_folds { 0 } else { self.cost(tokens, summary) }
    }

    fn head(&mut self, ledger: &Ledger, digest: &[u32], tokens: u32, summary: bool) -> u32 {
        let summarized = ledger.identifiers.iter().filter(|(_, it)| it.summarized);
        self.in_head = summarized.map(|(id, _)| id).chain(digest.iter().copied()).collect();
        let all = self.cost(tokens, summary);
        self.fresh = false;
        all
    }
}

impl Lines {
    /// The simulator counts the head's own 100 tokens only where it asked for no summary.
    fn cost(&self, tokens: u32, summary: bool) -> u32 {
        let own = if self.fresh { 0 } else { 100 };
        own + tokens + if summary { SUMMARY } else { 0 }
    }
}

/// Plays a session through the policy.
///
/// `always_folds`: also if the head is no smaller than what it replaces, as the simulator does.
pub(crate) fn play(
    norm: &Norm,
    window: u64,
    fixed: u64,
    variant: Variant,
    always_folds: bool,
) -> Run {
    let usable = window - (window / 16).min(8192);
    let setting = Setting { window, usable, fixed, mended: 0, cap: u64::MAX };
    let mut policy = Policy::preset(variant.preset).unwrap();
    // Without a cap at arrival a first request may be full of what no fold removes: the simulator adds a head all the same.
    policy.ingest_cap = Policy::preset("balanced").unwrap().ingest_cap;
    let mut cache = Cache::new(policy.prices.clone(), setting.fixed);
    let ttl = i64::try_from(policy.prices.ttl_ms).unwrap();
    let mut pruner = Pruner::new(policy);
    let mut ledger = Ledger::default();
    for (id, &tokens) in norm.idlen.iter().enumerate() {
        ledger.identifiers.intern(&format!("{id}"), |_| tokens);
    }
    let times = times(norm);
    let mut lines = Lines { summarizes: variant.summarizes, always_folds, ..Lines::default() };
    let mut run = Run { views: vec![], bill: 0, edits: 0, over: 0, folds: 0, reported: 0 };
    let (mut call, mut last, mut arrived) = (0u32, None::<i64>, 0);
    let mut previous: Vec<Sent> = vec![];
    for (at, message) in norm.msgs.iter().enumerate().skip(1) {
        if !message.r.starts_with('a') {
            continue;
        }
        for at in arrived..at {
            arrive(&mut ledger, norm, at, call, &pruner, window, &mut lines);
        }
        arrived = at;
        let now = times[at - 1].max(last.unwrap_or(i64::MIN));
        let warm = last.is_some_and(|last| now - last <= ttl && last > 0);
        let folds = plimsoll::prune::Folds::Carried;
        let Variant { summarizes, .. } = variant;
        let moment = Moment { call, warm, first: call == 0, folds, summarizes };
        let (before, earlier) = (view(&ledger, &pruner), lines.summaries);
        let decision = pruner.decide(&mut ledger, &setting, moment, &mut lines);
        run.folds += u32::from(decision.folded);
        run.reported += u32::from(decision.folded && decision.refused.is_some());
        let items = view(&ledger, &pruner);
        let shared = previous.iter().zip(&items).take_while(|(a, b)| a.0 == b.0).count();
        run.edits += u32::from(shared < previous.len());
        let summaries = lines.summaries - earlier;
        for _ in 0..summaries {
            run.bill += cache.charge_summary(&before, u64::from(SUMMARY), now);
        }
        run.bill += cache.charge(&items, now);
        let total = setting.fixed + items.iter().map(|item| u64::from(item.1)).sum::<u64>();
        assert_eq!(total, pruner.context(&ledger, &setting));
        run.over += u32::from(total > usable);
        previous.clone_from(&items);
        run.views.push((items, summaries));
        last = Some(now);
        call += 1;
    }
    run
}

fn times(norm: &Norm) -> Vec<i64> {
    let known = norm.msgs.iter().any(|message| message.t.is_some());
    let mut last = 0.0f64;
    let mut time = |message: &NormMessage| {
        match message.t {
            Some(t) => last = last.max(t),
            None if !known => last += 10.0,
            None => {}
        }
        #[expect(clippy::cast_possible_truncation, reason = "milliseconds of this century")]
        let ms = (last * 1000.0).round() as i64;
        ms
    };
    norm.msgs.iter().map(&mut time).collect()
}

fn arrive(
    ledger: &mut Ledger,
    norm: &Norm,
    at: usize,
    call: u32,
    pruner: &Pruner,
    window: u64,
    lines: &mut Lines,
) {
    let role = match norm.msgs[at].r.as_str() {
        "a" => Role::Assistant,
        "t" => Role::Tool,
        _ => Role::User,
    };
    let may_cut = role != Role::Tool;
    ledger.begin(Message {
        fingerprint: 0,
        written: 0,
        role,
        first_block: BlockId::FIRST,
        call,
        turn: 0,
        bytes: 0,
        may_cut,
        at_ms: None,
    });
    let first = norm.blocks.partition_point(|block| block.m < at);
    for (index, block) in (0u32..).zip(&norm.blocks).skip(first).take_while(|(_, b)| b.m == at) {
        let kind = match block.k.as_str() {
            "text" => Kind::Text,
            "think" => Kind::Thinking,
            "call" => Kind::Call,
            "result" => Kind::Result,
            _ => Kind::Image,
        };
        let pair = u32::try_from(block.pair).ok();
        let rank =
            |id: u32| Occurrence { id, in_head: block.hd.contains(&id), is_new: false }.rank();
        let all: std::collections::BTreeSet<u32> =
            block.hd.iter().chain(&block.ids).copied().collect();
        let ids: Vec<u32> = all.into_iter().map(rank).collect();
        let result = kind == Kind::Result;
        let arrival = Arrival {
            chars: 0,
            overhead: 0,
            bytes: 0,
            failed: false,
            named: false,
            kind,
            tokens: block.n,
            ids: &ids,
            tool: "",
            pair: pair.filter(|_| result).map_or(BlockId::NONE, BlockId::from),
            group: pair.map_or(GroupId::NONE, |pair| pair.min(index).into()),
            call_key: (result && pair.is_some()).then_some(block.key),
            key: block.th,
            mask: Mask::FREE,
        };
        assert_eq!(ledger.append(&arrival, call).get(), index);
        pruner.ingest(ledger, index.into(), window, lines);
    }
}

/// The view as the simulator's trace writes it: head, then every block that is sent.
fn view(ledger: &Ledger, pruner: &Pruner) -> Vec<Sent> {
    let head =
        |head: &plimsoll::prune::Head| (mix(0xF01D_0000 + u64::from(head.folds)), head.tokens);
    let block = |&at: &BlockId| {
        let block = ledger.block(at).unwrap();
        let form = match block.form {
            Form::Full => 1,
            Form::Capped => 6,
            Form::Stubbed => 4,
            Form::Gone => 0,
        };
        (mix(u64::from(at) * 8 + form), block.now)
    };
    pruner.head.iter().map(head).chain(ledger.live().iter().map(block)).collect()
}
