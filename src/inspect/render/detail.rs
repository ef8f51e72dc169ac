//! `/context detail KEY`: one section, message or bucket, and its text where it was asked for.

use super::list::{COLUMNS, message, priority, retained, state_of};
use super::parts::letter;
use super::read::Object;
use super::screen::{Screen, Style, count, percent, short, span, tame};
use super::table::{Row, table};
use crate::inspect::nearest;
use crate::sort::{down, sort_by};
use crate::text::{plain, prefix, utf16_len};

/// UTF-16 code units of a text that are shown (A105), and its end where there are more.
const MOST: usize = 12_000;
const CUT: &str = "...[truncated]";
/// Evidence that is told (A105), and messages of a bucket.
const EVIDENCE: usize = 6;
const MESSAGES: usize = 10;

pub(super) fn detail(screen: &mut Screen, report: &Object<'_>, key: &str) {
    let sections = report.objects("sections");
    let messages = report.objects("messages");
    let buckets = report.objects("buckets");
    let is_message = |it: &&Object<'_>| key == format!("message:{}", it.number("index"));
    let found = if let Some(section) = sections.iter().find(|it| it.words("key") == key) {
        section_of(screen, key, section);
        true
    } else if let Some(one) = messages.iter().find(is_message) {
        message_of(screen, key, one);
        true
    } else if let Some(bucket) = buckets.iter().find(|it| it.words("bucket") == key) {
        bucket_of(screen, key, bucket, &messages);
        true
    } else {
        key == "system" && report.number("totalChars") > 0
    };
    let detail = report.object("detail");
    if detail.words("key") == key && report.given("detail").is_some() {
        if found {
            let line = screen.sign("─", "-").repeat(screen.look.width);
            let line = screen.paint(Style::Faint, &line);
            screen.line(&line);
        }
        text_of(screen, &detail.words("content"));
    } else if !found {
        missing(screen, key, &sections, &messages, &buckets);
    }
}

fn head(screen: &mut Screen, key: &str) {
    let title = screen.fit(&tame(key), screen.look.width);
    let title = screen.paint(Style::Strong, &title);
    screen.line(&title);
}

fn section_of(screen: &mut Screen, key: &str, section: &Object<'_>) {
    head(screen, key);
    let (original, now) = (section.number("originalChars"), section.number("finalChars"));
    let (style, state) = state_of(section);
    screen.told(
        "State",
        vec![
            span(style, state),
            span(Style::Plain, format!("{} -> {} chars", count(original), count(now))),
            span(Style::Plain, format!("~{} tokens", short(section.number("estimatedTokens")))),
        ],
    );
    screen.told("Priority", vec![span(Style::Plain, priority(section))]);
    for (name, member) in
        [("Source", "sourceType"), ("Scope", "scopeType"), ("Why", "inclusionReason")]
    {
        screen.told(name, vec![span(Style::Plain, section.text(member))]);
    }
    let evidence = section.texts("evidence");
    if !evidence.is_empty() {
        let told = evidence.into_iter().take(EVIDENCE).map(|it| span(Style::Plain, it));
        screen.told("Evidence", told.collect());
    }
    if let Some(total) = section.maybe("wholeFromTotalChars").filter(|_| now < original) {
        let told = format!("from a total of {} chars on", count(total));
        screen.told("Whole", vec![span(Style::Plain, told)]);
    }
}

fn message_of(screen: &mut Screen, key: &str, it: &Object<'_>) {
    head(screen, key);
    let state = it.text("state");
    let (tokens, sent) = (it.number("tokens"), it.number("sentTokens"));
    let sizes = format!("~{} -> {} tokens", count(tokens), count(sent));
    let style = if state == "kept" { Style::Good } else { Style::Warn };
    screen.told("State", vec![span(style, state), span(Style::Plain, sizes)]);
    for (name, text) in [
        ("Rule", it.text("rule")),
        ("Role", it.text("role")),
        ("Kind", it.text("kind")),
        ("Tool", it.text("tool")),
        ("Turn", it.number("turn").to_string()),
        ("Group", it.number("group").to_string()),
    ] {
        if !text.is_empty() {
            screen.told(name, vec![span(Style::Plain, text)]);
        }
    }
}

fn bucket_of(screen: &mut Screen, key: &str, bucket: &Object<'_>, messages: &[Object<'_>]) {
    head(screen, key);
    screen.told(
        "Size",
        vec![
            span(Style::Plain, format!("~{} tokens", count(bucket.number("tokens")))),
            span(Style::Plain, format!("{} of what is used", percent(bucket.tenths("sharePct")))),
            span(Style::Plain, format!("{} retained", retained(bucket))),
        ],
    );
    let (kind, tool) = match key.split_once(' ') {
        Some(("call", tool)) => ("toolCall", tool),
        Some(("result", tool)) => ("toolResult", tool),
        _ => (if letter(key) == "T" { "thinking" } else { "text" }, ""),
    };
    let mine = |it: &&Object<'_>| {
        it.words("kind") == kind
            && (tool.is_empty() || it.words("tool") == tool)
            && (!tool.is_empty() || kind != "text" || it.words("role") == key)
    };
    let mut rows: Vec<(i64, Row)> =
        messages.iter().filter(mine).map(|it| (it.number("sentTokens"), message(it))).collect();
    sort_by(&mut rows, |(sent, _)| (down(sent.unsigned_abs()), 0));
    let rows: Vec<Row> = rows.into_iter().take(MESSAGES).map(|(_, row)| row).collect();
    table(screen, "The largest messages of it", &COLUMNS, &rows);
}

/// A text with its lines, harmless; no more than a screen or some can hold.
fn text_of(screen: &mut Screen, content: &str) {
    let shown = prefix(content, MOST);
    for line in plain(shown).lines() {
        screen.line(line);
    }
    if utf16_len(content) > MOST {
        screen.line(CUT);
    }
}

fn missing(
    screen: &mut Screen,
    key: &str,
    sections: &[Object<'_>],
    messages: &[Object<'_>],
    buckets: &[Object<'_>],
) {
    let mut keys: Vec<String> = sections.iter().map(|it| it.text("key")).collect();
    keys.extend(buckets.iter().map(|it| it.text("bucket")));
    keys.extend(messages.last().map(|it| format!("message:{}", it.number("index"))));
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let near = nearest(&keys, key).join(", ");
    let key = screen.fit(&tame(key), screen.look.width);
    screen.line(&format!("Nothing under \"{key}\"."));
    if !near.is_empty() {
        screen.told("Close", vec![span(Style::Plain, near)]);
    }
}
