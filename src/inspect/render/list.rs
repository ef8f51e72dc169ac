//! `/context list`: the whole session on a screen.

use super::parts::{bar as window_bar, letter};
use super::read::Object;
use super::screen::{Screen, Span, Style, bar, count, percent, short, span};
use super::table::{Row, left, right, table};
use crate::sort::{down, sort_by};

/// Entries that are named before the rest is counted (A103).
const PATHS: usize = 3;
const CUT: usize = 6;
/// Rows of buckets, and of messages: the largest.
const BUCKETS: usize = 12;
const MESSAGES: usize = 10;

pub(super) fn list(screen: &mut Screen, report: &Object<'_>) {
    let id = report.text("sessionId");
    if !id.trim().is_empty() {
        screen.told("Session", vec![span(Style::Plain, id)]);
    }
    window(screen, report);
    prompt(screen, report);
    live(screen, report);
    focus(screen, report);
    buckets(screen, report);
    sections(screen, report);
    messages(screen, report);
}

fn window(screen: &mut Screen, report: &Object<'_>) {
    let (window, status) = (report.object("window"), report.object("status"));
    let total = report.number("contextWindowTokens");
    let used = count(window.number("used"));
    let level = pressure(&status);
    if total <= 0 {
        let spans =
            vec![span(Style::Plain, "not known"), span(Style::Plain, format!("used {used}"))];
        return screen.told("Window", spans);
    }
    let usable = count(status.number("usable"));
    let free = window.number("free");
    let pct = status.number("usedPct");
    let tenths = pct.saturating_mul(10);
    let (unused, held) = (screen.sign("·", "."), screen.sign("╱", "/"));
    let spans = vec![
        span(Style::Plain, count(total)),
        span(filled(tenths), format!("{} {pct}% of {usable} usable", bar(screen, tenths))),
        span(Style::Plain, format!("used {used}")),
        span(Style::Plain, format!("reserve {} ({held})", count(window.number("reserve")))),
        span(
            if free < 0 { Style::Bad } else { Style::Plain },
            format!("free {} ({unused})", count(free)),
        ),
        span(level, format!("pressure {}", status.text("pressure").to_ascii_uppercase())),
        span(Style::Plain, format!("trend {}", status.text("trend"))),
    ];
    screen.told("Window", spans);
    window_bar(screen, report);
    let line = |name| window.maybe(name).map(count);
    if let (Some(trigger), Some(target)) = (line("trigger"), line("target")) {
        let target = format!("target {target}");
        screen.told("Trigger", vec![span(Style::Plain, trigger), span(Style::Plain, target)]);
    }
    let edit = status.object("nextEdit");
    if edit.number("tokens") > 0 {
        let at = format!(
            "at about {} tokens, because {}",
            count(edit.number("tokens")),
            edit.text("reason")
        );
        screen.told("Next edit", vec![span(Style::Plain, at)]);
    }
    let next = report.object("next");
    let (before, after) = (next.number("tokensBefore"), next.number("tokensAfterEstimate"));
    let mut what = next.text("outcome");
    if matches!(&*what, "prune" | "summarize") {
        what = format!("{what}, {} -> {}", count(before), count(after));
    }
    let reason = next.text("reason");
    screen.told("Next", vec![span(Style::Plain, what), span(Style::Faint, reason)]);
}

fn pressure(status: &Object<'_>) -> Style {
    match &*status.words("pressure") {
        "low" => Style::Good,
        "medium" => Style::Warn,
        _ => Style::Bad,
    }
}

fn prompt(screen: &mut Screen, report: &Object<'_>) {
    let (chars, tokens) = (report.number("totalChars"), report.number("estimatedTokens"));
    let mut spans = vec![
        span(Style::Plain, format!("{} chars", count(chars))),
        span(Style::Plain, format!("~{} tokens", short(tokens))),
    ];
    if report.number("contextWindowTokens") > 0 {
        let share = percent(report.tenths("systemPromptSharePct"));
        spans.push(span(Style::Plain, format!("{share} of window")));
    }
    if let Some(budget) = report.given("budget") {
        let (tier, total) = (budget.number("maxPerTierChars"), budget.number("maxTotalChars"));
        spans.push(span(
            Style::Plain,
            format!("budget {} in all, {} a section", count(total), count(tier)),
        ));
    }
    screen.told("Prompt", spans);
    let cut = some_of(&report.texts("truncatedSectionKeys"), CUT);
    if !cut.is_empty() {
        screen.told("Cut", vec![span(Style::Warn, cut)]);
    }
}

/// What the session came to: sizes, compactions, requests.
fn live(screen: &mut Screen, report: &Object<'_>) {
    let (status, monitor) = (report.object("status"), report.object("monitor"));
    let mut spans = vec![span(Style::Plain, count(status.number("peakTokens")))];
    let samples = monitor.numbers("samples");
    if samples.len() > 1 {
        let told = format!("requests so far {}", sparkline(screen, &samples));
        spans.push(span(Style::Plain, told));
    }
    screen.told("Peak", spans);
    let made = monitor.object("compactions");
    let folds = status.number("compactions");
    let total = made.maybe("total").unwrap_or(folds);
    let mut spans = vec![span(Style::Plain, count(total))];
    spans.extend(named(&made.counts("byPhase")));
    if total > 0 {
        let saved = made.number("tokensSaved");
        spans.push(span(
            Style::Plain,
            format!(
                "saved {}, {} on average",
                short(saved),
                short(saved.checked_div(total).unwrap_or(0))
            ),
        ));
    }
    if let Some(last) = made.given("last") {
        let (before, after) = (last.number("tokensBefore"), last.number("tokensAfter"));
        let phase = last.text("phase");
        let saved = before.saturating_sub(after).max(0);
        let told =
            format!("last {phase} {} -> {}, saved {}", short(before), short(after), short(saved));
        spans.push(span(Style::Plain, told));
    }
    screen.told("Compacted", spans);
    let requests = monitor.object("requests");
    if requests.number("total") > 0 {
        let mut spans = vec![span(Style::Plain, count(requests.number("total")))];
        spans.extend(named(&requests.counts("bySource")));
        let (sent, came) = (monitor.number("inputTokens"), monitor.number("outputTokens"));
        spans.push(span(Style::Plain, format!("{} tokens in, {} out", short(sent), short(came))));
        screen.told("Requests", spans);
    }
}

fn named(counts: &[(String, i64)]) -> Vec<Span> {
    counts.iter().map(|(name, number)| span(Style::Plain, format!("{name} {number}"))).collect()
}

/// The sizes of requests against the largest of them.
fn sparkline(screen: &Screen, samples: &[i64]) -> String {
    let levels: Vec<char> = screen.sign("▁▂▃▄▅▆▇█", "_.-=+*%#").chars().collect();
    let most = samples.iter().copied().max().unwrap_or(1).max(1);
    let steps = i64::try_from(levels.len()).unwrap_or(1).saturating_sub(1);
    let level = |size: &i64| {
        let at = size.saturating_mul(steps).checked_div(most).unwrap_or(0);
        usize::try_from(at).ok().and_then(|at| levels.get(at)).copied().unwrap_or(' ')
    };
    samples.iter().map(level).collect()
}

/// Some of many, and how many more there are.
fn some_of(all: &[String], most: usize) -> String {
    let text = all.iter().take(most).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = all.len().saturating_sub(most);
    if more == 0 { text } else { format!("{text} +{more} more") }
}

fn focus(screen: &mut Screen, report: &Object<'_>) {
    if report.given("budget").is_none() && report.objects("sections").is_empty() {
        return;
    }
    let focus = report.object("requestFocus");
    let query = focus.text("querySummary");
    let lists = [
        ("files", some_of(&focus.texts("activeFilePaths"), PATHS)),
        ("symbols", some_of(&focus.texts("activeSymbols"), CUT)),
        ("plan", some_of(&focus.texts("planSignals"), CUT)),
    ];
    let mut spans = Vec::new();
    if !query.trim().is_empty() {
        spans.push(span(Style::Plain, format!("\"{query}\"")));
    }
    let said = lists.into_iter().filter(|(_, list)| !list.is_empty());
    spans.extend(said.map(|(name, list)| span(Style::Plain, format!("{name}: {list}"))));
    if spans.is_empty() {
        spans.push(span(Style::Faint, "No request-local focus signals detected."));
    }
    screen.told("Focus", spans);
}

fn buckets(screen: &mut Screen, report: &Object<'_>) {
    let buckets = report.objects("buckets");
    let row = |bucket: &Object<'_>| -> Row {
        let (name, share) = (bucket.text("bucket"), bucket.tenths("sharePct"));
        vec![
            (Style::Plain, name.clone()),
            (Style::Plain, letter(&name).into()),
            (Style::Plain, short(bucket.number("tokens"))),
            (Style::Plain, percent(share)),
            (Style::Plain, retained(bucket)),
            (Style::Plain, bar(screen, share)),
        ]
    };
    let rows: Vec<Row> = buckets.iter().take(BUCKETS).map(row).collect();
    let all = [
        left("BUCKET", 0),
        left("", 2),
        right("~TOKENS", 0),
        right("SHARE", 1),
        right("RETAINED", 3),
        left("", 4),
    ];
    table(screen, &title("What fills it", buckets.len(), BUCKETS), &all, &rows);
    memory(screen, report);
}

/// How much of a bucket is left; of what is ours there is no whole.
pub(super) fn retained(bucket: &Object<'_>) -> String {
    let tenths = bucket.tenths("retainedPct");
    let ours = tenths == 0 && bucket.number("tokens") > 0;
    if ours { "-".into() } else { percent(tenths) }
}

/// Green below 60 %, red above 85 (A106).
fn filled(tenths: i64) -> Style {
    match tenths {
        ..600 => Style::Good,
        600..=850 => Style::Warn,
        _ => Style::Bad,
    }
}

fn title(name: &str, all: usize, shown: usize) -> String {
    if all > shown { format!("{name}, the largest {shown} of {all}") } else { name.into() }
}

/// How much of what was remembered is there (A103): weighed by tokens.
fn memory(screen: &mut Screen, report: &Object<'_>) {
    let sections = report.objects("sections");
    let of = |sources: &[&str]| -> Option<(i64, usize, usize, i64)> {
        let all = sections.iter().filter(|it| sources.contains(&&*it.words("sourceType")));
        let (mut tokens, mut there, mut number, mut kept, mut weight) =
            (0i64, 0usize, 0usize, 0i64, 0i64);
        for section in all {
            let original = section.number("originalChars").max(0);
            number = number.saturating_add(1);
            there = there.saturating_add(usize::from(section.flag("included")));
            tokens = tokens.saturating_add(section.number("estimatedTokens"));
            kept = kept.saturating_add(section.number("finalChars"));
            weight = weight.saturating_add(original);
        }
        (number > 0).then(|| {
            (tokens, there, number, kept.saturating_mul(1000).checked_div(weight).unwrap_or(0))
        })
    };
    let mut spans = Vec::new();
    for (name, sources) in
        [("reused", &["memory", "learned-signals"][..]), ("learned", &["learned-signals"])]
    {
        if let Some((tokens, there, number, kept)) = of(sources) {
            let told = format!(
                "{name} ~{} tokens, {there} of {number} sections, {} kept",
                short(tokens),
                percent(kept)
            );
            spans.push(span(Style::Plain, told));
        }
    }
    if !spans.is_empty() {
        screen.told("Memory", spans);
    }
}

fn sections(screen: &mut Screen, report: &Object<'_>) {
    let row = |section: &Object<'_>| -> Row {
        let (style, state) = state_of(section);
        let (original, now) = (section.number("originalChars"), section.number("finalChars"));
        let scope = format!("{} / {}", section.text("scopeType"), section.text("sourceType"));
        vec![
            (Style::Plain, section.text("key")),
            (Style::Plain, count(original)),
            (Style::Plain, count(now)),
            (Style::Plain, short(section.number("estimatedTokens"))),
            (Style::Plain, priority(section)),
            (style, state),
            (Style::Faint, scope),
            (Style::Faint, section.text("inclusionReason")),
        ]
    };
    let rows: Vec<Row> = report.objects("sections").iter().map(row).collect();
    let all = [
        left("KEY", 0),
        right("CHARS", 3),
        right("SENT", 2),
        right("~TOKENS", 0),
        right("PRIORITY", 4),
        left("STATE", 0),
        left("SCOPE / SOURCE", 5),
        left("WHY", 6),
    ];
    table(screen, "Sections of the prompt", &all, &rows);
}

/// A priority, and what the request lifted it by.
pub(super) fn priority(section: &Object<'_>) -> String {
    let priority = section.number("priority");
    let base = section.maybe("basePriority").unwrap_or(priority);
    let lift = priority.saturating_sub(base);
    if lift == 0 { priority.to_string() } else { format!("{base}{lift:+}") }
}

/// What became of a section, in words.
pub(super) fn state_of(section: &Object<'_>) -> (Style, String) {
    let (original, now) = (section.number("originalChars"), section.number("finalChars"));
    let protects = if section.flag("protected") { " protected" } else { "" };
    if !section.flag("included") {
        return (Style::Bad, format!("DROPPED{protects}"));
    }
    if section.flag("truncated") {
        let cut = original.saturating_sub(now).max(0).saturating_mul(100);
        let cut = cut.checked_div(original).unwrap_or(0);
        return (Style::Warn, format!("cut {cut}%{protects}"));
    }
    (Style::Good, if protects.is_empty() { "whole".into() } else { "protected".into() })
}

fn messages(screen: &mut Screen, report: &Object<'_>) {
    let mut all = report.objects("messages");
    let size = |it: &Object<'_>| down(it.number("tokens").unsigned_abs());
    sort_by(&mut all, |it| (size(it), it.number("index")));
    table(
        screen,
        &title("Messages", all.len(), MESSAGES),
        &COLUMNS,
        &all.iter().take(MESSAGES).map(message).collect::<Vec<_>>(),
    );
}

/// The columns of messages.
pub(super) const COLUMNS: [super::table::Column; 8] = [
    left("KEY", 0),
    right("TURN", 4),
    left("ROLE", 3),
    left("TOOL", 5),
    right("~TOKENS", 2),
    right("SENT", 0),
    left("STATE", 0),
    left("RULE", 6),
];

/// A message as a row.
pub(super) fn message(it: &Object<'_>) -> Row {
    let state = it.text("state");
    let style = match &*state {
        "kept" => Style::Good,
        "dropped" | "summarized" => Style::Bad,
        _ => Style::Warn,
    };
    vec![
        (Style::Plain, format!("message:{}", it.number("index"))),
        (Style::Plain, count(it.number("turn"))),
        (Style::Plain, it.text("role")),
        (Style::Plain, it.text("tool")),
        (Style::Plain, short(it.number("tokens"))),
        (Style::Plain, short(it.number("sentTokens"))),
        (style, state),
        (Style::Faint, it.text("rule")),
    ]
}
