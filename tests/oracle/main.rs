//! The policy against an independent simulator: the same views, call by call, and the same bills.
//!
//! The simulator stands beside the project and is built from a copy in `target/oracle`; where it is absent, this is skipped.

#[cfg(test)]
mod support;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::process::Command;

    use serde::Deserialize;

    use super::support::{PRESETS, WINDOWS, oracle, play, sessions};

    #[derive(Deserialize)]
    struct Traced {
        call: usize,
        summaries: u32,
        items: Vec<(u64, u32)>,
    }

    #[derive(Deserialize)]
    struct Billed {
        w: f64,
        s: String,
        p: String,
        r: Bill,
    }

    #[derive(Deserialize)]
    struct Bill {
        bill: f64,
        sumbill: f64,
        edits: f64,
        over: f64,
    }

    #[test]
    fn views_and_bills_equal_the_simulators() {
        let Some(folder) = oracle() else { return };
        let simulator = folder.join("target/release/sim");
        let all = Command::new(&simulator)
            .args(["all", "open", "presets.json", "anthropic"])
            .current_dir(&folder)
            .output()
            .unwrap();
        let billed: Vec<Billed> = String::from_utf8(all.stdout)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let mut ratios = BTreeMap::<(u64, &str), Vec<f64>>::new();
        let (mut compared, mut differing, mut bills) = (0, 0, 0);
        for (path, norm) in sessions(&folder) {
            let alone = folder.join("alone");
            std::fs::remove_dir_all(&alone).ok();
            std::fs::create_dir_all(&alone).unwrap();
            std::fs::copy(&path, alone.join("session.json")).unwrap();
            for window in WINDOWS {
                for preset in PRESETS {
                    let traced = Command::new(&simulator)
                        .args(["trace", "presets.json", preset, &norm.name, &window.to_string()])
                        .env("NORM", &alone)
                        .current_dir(&folder)
                        .output()
                        .unwrap();
                    let ours = play(&norm, window, preset);
                    let traced: Vec<Traced> = String::from_utf8(traced.stdout)
                        .unwrap()
                        .lines()
                        .map(|line| serde_json::from_str(line).unwrap())
                        .collect();
                    assert_eq!(traced.len(), ours.views.len(), "{} {window} {preset}", norm.name);
                    for (theirs, (items, summaries)) in traced.iter().zip(&ours.views) {
                        compared += 1;
                        if theirs.items != *items || theirs.summaries != *summaries {
                            differing += 1;
                            let at = theirs.items.iter().zip(items).position(|(a, b)| a != b);
                            println!(
                                "{} {window} {preset} call {}: {at:?}",
                                norm.name, theirs.call
                            );
                            break;
                        }
                    }
                    let bill = |policy: &dyn Fn(&str) -> bool| {
                        let same = |b: &&Billed| b.s == norm.name && policy(&b.p);
                        billed.iter().filter(|b| (b.w - window as f64).abs() < 0.5).find(same)
                    };
                    let same_preset = format!("({preset})");
                    let theirs = bill(&|policy| policy.contains(&same_preset));
                    let (Some(theirs), Some(pi)) = (theirs, bill(&|policy| policy == "pi")) else {
                        continue; // the simulator bills only sessions that near the window
                    };
                    bills += 1;
                    let (ours_bill, theirs_bill) =
                        (ours.bill as f64 / 1000.0, theirs.r.bill + theirs.r.sumbill);
                    let apart = (ours_bill / theirs_bill - 1.0).abs();
                    assert!(
                        apart < 1e-6,
                        "{} {window} {preset}: {ours_bill} {theirs_bill}",
                        norm.name
                    );
                    assert_eq!(
                        f64::from(ours.edits),
                        theirs.r.edits,
                        "{} {window} {preset}",
                        norm.name
                    );
                    assert_eq!(f64::from(ours.over), theirs.r.over);
                    let ratio = ours_bill / (pi.r.bill + pi.r.sumbill);
                    ratios.entry((window, preset)).or_default().push(ratio);
                }
            }
        }
        println!("{compared} calls compared, {differing} differ; {bills} bills compared");
        for ((window, preset), ratios) in ratios {
            let mean = ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64;
            println!(
                "window {window:>6}, {preset:<9} bill relative to pi {:.3} ({} sessions)",
                mean.exp(),
                ratios.len()
            );
            assert_eq!(format!("{:.3}", mean.exp()), expected(&folder, window, preset));
        }
        assert_eq!(differing, 0);
        assert!(compared > 10_000 && bills > 100);
    }

    /// The bill of a preset in the table that stands beside the simulator.
    fn expected(folder: &std::path::Path, window: u64, preset: &str) -> String {
        let shared = folder.join("../../../shared/oracle/policy/expected.md");
        let table = std::fs::read_to_string(shared).unwrap();
        let heading = format!("**Window {}k,", window / 1000);
        let part = table.split_once(&heading).unwrap().1;
        let row = part.lines().find(|line| line.contains(&format!("({preset})"))).unwrap();
        row.split('|').nth(2).unwrap().trim().to_owned()
    }
}
