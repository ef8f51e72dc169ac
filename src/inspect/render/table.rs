//! Tables that fit: what is least wanted of a row goes first where a line is short.

use super::screen::{Screen, Style, columns};

/// A column of a table.
pub(super) struct Column {
    pub head: &'static str,
    /// Numbers stand on the right.
    pub right: bool,
    /// Where a line is short, the highest go first; 0 stays.
    pub goes: u8,
}

/// A text on the left.
pub(super) const fn left(head: &'static str, goes: u8) -> Column {
    Column { head, right: false, goes }
}

/// A number on the right.
pub(super) const fn right(head: &'static str, goes: u8) -> Column {
    Column { head, right: true, goes }
}

pub(super) type Row = Vec<(Style, String)>;

const INDENT: usize = 2;
const GAP: usize = 2;
/// Columns that the first of a table keeps at least.
const KEY: usize = 10;

/// A title, the names of the columns, and the rows.
pub(super) fn table(screen: &mut Screen, title: &str, all: &[Column], rows: &[Row]) {
    if rows.is_empty() {
        return;
    }
    let wide = |at: usize, head: &str| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|(_, text)| columns(text));
        cells.max().unwrap_or(0).max(columns(head))
    };
    // A column in which no row says anything is none.
    let said = |at: &usize| rows.iter().any(|row| row.get(*at).is_some_and(|it| !it.1.is_empty()));
    let mut shown: Vec<(usize, usize)> = all
        .iter()
        .enumerate()
        .filter(|(at, _)| said(at))
        .map(|(at, it)| (at, wide(at, it.head)))
        .collect();
    let room = screen.look.width.saturating_sub(INDENT);
    let rest = |shown: &[(usize, usize)]| -> usize {
        shown.iter().skip(1).map(|(_, wide)| wide.saturating_add(GAP)).sum()
    };
    while rest(&shown).saturating_add(KEY) > room {
        let goes = |(at, _): &&(usize, usize)| all.get(*at).map_or(0, |it| it.goes);
        let Some(last) = shown.iter().max_by_key(goes).filter(|it| goes(it) > 0).map(|it| it.0)
        else {
            break;
        };
        shown.retain(|(at, _)| *at != last);
    }
    let key = room.saturating_sub(rest(&shown)).max(KEY);
    if let Some((_, wide)) = shown.first_mut() {
        *wide = (*wide).min(key);
    }
    screen.line("");
    let title = screen.fit(title, screen.look.width);
    let title = screen.paint(Style::Strong, &title);
    screen.line(&title);
    let cells = |at: usize| all.get(at).map_or(("", false), |it| (it.head, it.right));
    let mut line = String::new();
    for &(at, wide) in &shown {
        let (head, right) = cells(at);
        line.push_str(&" ".repeat(if line.is_empty() { INDENT } else { GAP }));
        line.push_str(&screen.cell(Style::Faint, head, wide, right));
    }
    screen.line(&line);
    for row in rows {
        let mut line = String::new();
        for &(at, wide) in &shown {
            let Some((style, text)) = row.get(at) else { continue };
            line.push_str(&" ".repeat(if line.is_empty() { INDENT } else { GAP }));
            line.push_str(&screen.cell(*style, text, wide, cells(at).1));
        }
        screen.line(&line);
    }
}
