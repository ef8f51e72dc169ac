#![expect(
    clippy::float_arithmetic,
    clippy::float_cmp,
    clippy::cast_precision_loss,
    reason = "a test compares its figures with a simulator in floats"
)]
//! The policy against an independent simulator: the same views, call by call, and the same bills.
//!
//! The simulator stands beside the project and is built from a copy in `target/oracle`; where it is absent, all but `golden` is skipped.

#[cfg(test)]
mod golden;
#[cfg(test)]
mod made;
#[cfg(test)]
mod support;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::process::Command;
    use std::sync::OnceLock;

    use plimsoll::context::{Options, Recording, Share};
    use plimsoll::session_files::read_session;
    use serde::Deserialize;

    use crate::sample::is_large;

    use super::support::{MORE, OWN, VARIANTS, Variant, WINDOWS, oracle, play, sessions};

    #[derive(Deserialize)]
    struct Traced {
        call: usize,
        summaries: u32,
        items: Vec<(u64, u32)>,
    }

    #[derive(Deserialize)]
    struct Billed {
        /// A whole number, written as a float.
        w: f64,
        s: String,
        p: String,
        r: Bill,
    }

    #[derive(Deserialize)]
    struct Bill {
        #[serde(rename = "bill")]
        requests: f64,
        sumbill: f64,
        edits: f64,
        over: f64,
        rh: f64,
        rn: f64,
        fh: f64,
        fn_: f64,
        ch: f64,
        cn: f64,
    }

    #[test]
    fn requests_and_bills_equal_those_of_the_simulator() {
        let Some(folder) = oracle() else { return };
        let simulator = folder.join("target/release/sim");
        let billed = billed(&folder);
        let mut ratios = BTreeMap::<(u64, Variant), Vec<f64>>::new();
        let (mut compared, mut differing, mut bills, mut runs) = (0, 0, 0, 0);
        // The policy itself folds only to something smaller: what that changes of the bill, where it changes anything.
        let mut refusals = Vec::<f64>::new();
        for (path, norm) in sessions(&folder) {
            let alone = folder.join("alone");
            std::fs::remove_dir_all(&alone).ok();
            std::fs::create_dir_all(&alone).unwrap();
            std::fs::copy(&path, alone.join("session.json")).unwrap();
            for window in WINDOWS {
                let fixed = (window / 10).min(8000);
                for variant in VARIANTS {
                    let (settings, setting) = variant.setting();
                    let traced = Command::new(&simulator)
                        .args(["trace", settings, &setting, &norm.name, &window.to_string()])
                        .env("NORM", &alone)
                        .current_dir(&folder)
                        .output()
                        .unwrap();
                    let ours = play(&norm, window, fixed, variant, true);
                    let smaller = play(&norm, window, fixed, variant, false);
                    if smaller.views != ours.views {
                        refusals.push(smaller.bill as f64 / ours.bill as f64);
                    }
                    runs += 1;
                    let traced: Vec<Traced> = String::from_utf8(traced.stdout)
                        .unwrap()
                        .lines()
                        .map(|line| serde_json::from_str(line).unwrap())
                        .collect();
                    assert_eq!(traced.len(), ours.views.len(), "{} {window} {setting}", norm.name);
                    for (theirs, (items, summaries)) in traced.iter().zip(&ours.views) {
                        compared += 1;
                        if theirs.items != *items || theirs.summaries != *summaries {
                            differing += 1;
                            let at = theirs.items.iter().zip(items).position(|(a, b)| a != b);
                            println!(
                                "{} {window} {setting} call {}: {at:?}, theirs {:?}, ours {:?}",
                                norm.name,
                                theirs.call,
                                at.and_then(|at| theirs.items.get(at)),
                                at.and_then(|at| items.get(at))
                            );
                            break;
                        }
                    }
                    let bill = |policy: &dyn Fn(&str) -> bool| {
                        let same = |b: &&Billed| b.s == norm.name && policy(&b.p);
                        billed.iter().filter(|b| (b.w - window as f64).abs() < 0.5).find(same)
                    };
                    let theirs = bill(&|policy| policy.contains(&setting));
                    let (Some(theirs), Some(pi)) = (theirs, bill(&|policy| policy == "pi")) else {
                        continue; // the simulator bills only sessions that near the window
                    };
                    bills += 1;
                    let (ours_bill, theirs_bill) =
                        (ours.bill as f64 / 1000.0, theirs.r.requests + theirs.r.sumbill);
                    let apart = (ours_bill / theirs_bill - 1.0).abs();
                    assert!(
                        apart < 1e-6,
                        "{} {window} {setting}: {ours_bill} {theirs_bill}",
                        norm.name
                    );
                    assert_eq!(
                        f64::from(ours.edits),
                        theirs.r.edits,
                        "{} {window} {setting}",
                        norm.name
                    );
                    assert_eq!(f64::from(ours.over), theirs.r.over);
                    let ratio = ours_bill / (pi.r.requests + pi.r.sumbill);
                    ratios.entry((window, variant)).or_default().push(ratio);
                }
            }
        }
        println!("{compared} calls compared, {differing} differ; {bills} bills compared");
        let mean = refusals.iter().map(|r| r.ln()).sum::<f64>() / refusals.len().max(1) as f64;
        println!(
            "{} of {runs} runs refuse a fold that is no smaller; their bill is {:.3} of the simulator's",
            refusals.len(),
            mean.exp()
        );
        for ((window, variant), ratios) in ratios {
            let mean = ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64;
            let (settings, setting) = variant.setting();
            println!(
                "window {window:>6}, {setting:<28} bill relative to pi {:.3} ({} sessions)",
                mean.exp(),
                ratios.len()
            );
            if settings == OWN && is_large() {
                assert_eq!(format!("{:.3}", mean.exp()), expected(&folder, window, &setting));
            }
        }
        assert_eq!(differing, 0);
        let (calls, enough) = if is_large() { (10_000, 100) } else { (2_000, 20) };
        assert!(compared > calls && bills > enough);
    }

    /// A large system prompt leaves little to a fold: hot set and digest shrink, so that folds stay rare.
    #[test]
    fn folds_stay_rare_beside_a_large_fixed_part() {
        let Some(folder) = oracle() else { return };
        let sessions = sessions(&folder);
        for window in WINDOWS {
            for percent in [10, 34, 40, 45, 50, 60] {
                for summarizes in [true, false] {
                    let variant = Variant { preset: "balanced", summarizes };
                    let (mut calls, mut folds, mut reported, mut most) = (0, 0, 0, 0.0_f64);
                    for (_, norm) in &sessions {
                        let run = play(norm, window, window * percent / 100, variant, false);
                        if run.views.len() < 20 || run.folds == 0 {
                            continue;
                        }
                        calls += run.views.len();
                        folds += run.folds;
                        reported += run.reported;
                        let own = 100.0 * f64::from(run.folds) / run.views.len() as f64;
                        most = most.max(own);
                    }
                    let rate = 100.0 * f64::from(folds) / calls.max(1) as f64;
                    println!(
                        "window {window:>6}, fixed {percent} %, summarizer {summarizes:<5}: {rate:>4.1} folds per 100 calls, at most {most:>4.1}; {folds} folds in {calls} calls, {reported} reported"
                    );
                    assert!(rate <= 15.0 || reported > 0);
                }
            }
        }
    }

    /// The product on the same sessions, with its own measures, masks and lines, and no summarizer: not equal, but beside.
    #[test]
    fn a_replay_agrees_with_the_simulator() {
        let Some(folder) = oracle() else { return };
        let billed = billed(&folder);
        println!(
            "bill in thousands of base input tokens, recall / far recall / content recall in percent"
        );
        println!(
            "{:<44} {:>7} {:>18} {:>18}  edits+folds",
            "session, window", "", "ours", "simulator"
        );
        let mut replayed = 0;
        for theirs in billed.iter().filter(|billed| billed.p.contains("(balanced)")) {
            let path = folder.join("../../../shared/data/sessions").join(&theirs.s);
            let Ok(session) = read_session(&std::fs::read(path).unwrap(), None) else {
                continue; // a format whose reader is not built yet
            };
            let window = WINDOWS.into_iter().find(|w| (theirs.w - *w as f64).abs() < 0.5).unwrap();
            let unseen = (window / 10).min(8000);
            let reserve = (window / 16).min(8192);
            let options = format!(
                r#"{{"window":{{"contextTokens":{window},"maxOutputTokens":{reserve}}},"calibrate":false,"unseenTokens":{unseen}}}"#
            );
            let options = Options::for_replay(&options).unwrap();
            let json = plimsoll::json::write(&session);
            let recording = Recording::parse(&json, options.estimator).unwrap();
            let ours = recording.replay(&options).unwrap().totals;
            let percent = |found: f64, wanted: f64| 100.0 * found / wanted.max(1e-9);
            let share = |share: Share| percent(share.found as f64, share.wanted as f64);
            let (recall, r) = (&ours.recall, &theirs.r);
            println!(
                "{:<44} {:>6}k {:>7.0} {:>3.0}/{:>3.0}/{:>3.0} {:>7.0} {:>3.0}/{:>3.0}/{:>3.0}  {} {}",
                theirs.s,
                window / 1000,
                ours.bill as f64 / 1e6,
                share(recall.recall),
                share(recall.far_recall),
                share(recall.content_recall),
                (r.requests + r.sumbill) / 1e3,
                percent(r.rh, r.rn),
                percent(r.fh, r.fn_),
                percent(r.ch, r.cn),
                ours.epochs,
                r.edits,
            );
            assert_eq!((ours.violations, ours.over_window), (0, 0), "{} at {window}", theirs.s);
            replayed += 1;
        }
        assert!(replayed > if is_large() { 20 } else { 5 });
    }

    /// Bills of the simulator, which two tests read.
    fn billed(folder: &Path) -> &'static [Billed] {
        static BILLED: OnceLock<Vec<Billed>> = OnceLock::new();
        BILLED.get_or_init(|| bill_all(folder))
    }

    fn bill_all(folder: &Path) -> Vec<Billed> {
        let bill = |more: &[&str]| {
            let all = Command::new(folder.join("target/release/sim"))
                .args(["all", "open"])
                .args(more)
                .current_dir(folder)
                .output()
                .unwrap();
            String::from_utf8(all.stdout).unwrap()
        };
        // The other systems stand in the first.
        let lines = bill(&[OWN, "anthropic"]) + &bill(&[MORE, "anthropic", "ours"]);
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The bill of a preset in the table that stands beside the simulator.
    fn expected(folder: &Path, window: u64, setting: &str) -> String {
        let shared = folder.join("../../../shared/oracle/policy/expected.md");
        let table = std::fs::read_to_string(shared).unwrap();
        let heading = format!("**Window {}k,", window / 1000);
        let part = table.split_once(&heading).unwrap().1;
        let row = part.lines().find(|line| line.contains(setting)).unwrap();
        row.split('|').nth(2).unwrap().trim().to_owned()
    }
}
