//! The screen: how wide it is, whether it has colour, which signs it knows. What is not ours comes onto it harmless.

use crate::number::thousands;
use crate::text::{ceil_grapheme, plain, prefix};

/// How a report is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Columns of a line.
    pub width: usize,
    /// Colours beside the words; never instead of them.
    pub color: bool,
    /// Only signs of ASCII.
    pub ascii: bool,
}

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Strong,
    Faint,
    Good,
    Warn,
    Bad,
}

impl Style {
    /// Of the sixteen colours, which the terminal's owner has chosen.
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "1",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Warn => "33",
            Self::Bad => "1;31",
        }
    }
}

/// A word or two on the screen, that are not parted.
pub(super) struct Span(pub Style, pub String);

/// A span of ours.
pub(super) fn span(style: Style, text: impl Into<String>) -> Span {
    Span(style, text.into())
}

/// Lines as they are written.
pub(super) struct Screen {
    pub look: Look,
    out: String,
}

impl Screen {
    pub(super) fn new(look: Look) -> Self {
        Self { look, out: String::new() }
    }

    /// The text that was written.
    pub(super) fn text(self) -> String {
        self.out
    }

    /// One of two signs.
    pub(super) fn sign(&self, usual: &'static str, ascii: &'static str) -> &'static str {
        if self.look.ascii { ascii } else { usual }
    }

    pub(super) fn paint(&self, style: Style, text: &str) -> String {
        let code = style.code();
        if !self.look.color || code.is_empty() || text.trim().is_empty() {
            return text.into();
        }
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// A line of its own; without blanks at its end.
    pub(super) fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// A name, and what is told under it: as many spans to a line as fit, three blanks between. A span that is too wide alone is cut.
    pub(super) fn told(&mut self, name: &str, spans: Vec<Span>) {
        const NAME: usize = 10;
        const GAP: usize = 3;
        let indent = if self.look.width < 60 { 2 } else { NAME };
        let room = self.look.width.saturating_sub(indent).max(8);
        let mut line = self.paint(Style::Strong, name);
        let pad = indent.saturating_sub(columns(name));
        if indent < NAME {
            self.line(&line);
            line = " ".repeat(indent);
        } else {
            line.push_str(&" ".repeat(pad));
        }
        let mut taken = 0usize;
        for Span(style, text) in spans {
            let text = self.fit(&text, room);
            let wide = columns(&text);
            if taken > 0 && taken.saturating_add(GAP).saturating_add(wide) > room {
                self.line(&line);
                (line, taken) = (" ".repeat(indent), 0);
            }
            if taken > 0 {
                line.push_str(&" ".repeat(GAP));
                taken = taken.saturating_add(GAP);
            }
            line.push_str(&self.paint(style, &text));
            taken = taken.saturating_add(wide);
        }
        self.line(&line);
    }

    /// A text in at most so many columns; a sign tells that it was cut.
    pub(super) fn fit(&self, text: &str, width: usize) -> String {
        if columns(text) <= width {
            return text.into();
        }
        let room = width.saturating_sub(1);
        let (mut taken, mut end) = (0usize, 0);
        for (at, wide) in clusters(text) {
            taken = taken.saturating_add(wide);
            if taken > room {
                break;
            }
            end = at;
        }
        let mut cut = text.get(..end).unwrap_or_default().to_owned();
        if width > 0 {
            cut.push_str(self.sign("…", "~"));
        }
        cut
    }

    /// A text in exactly so many columns, on its left or right side.
    pub(super) fn cell(&self, style: Style, text: &str, width: usize, right: bool) -> String {
        let text = self.fit(text, width);
        let pad = " ".repeat(width.saturating_sub(columns(&text)));
        let text = self.paint(style, &text);
        if right { pad + &text } else { text + &pad }
    }
}

/// A line of a report's own words: nothing that a terminal would obey, no line ends.
pub(super) fn tame(text: &str) -> String {
    const LONGEST: usize = 2000;
    plain(prefix(text, LONGEST)).replace(['\n', '\t'], " ")
}

/// Columns that a text takes.
pub(super) fn columns(text: &str) -> usize {
    clusters(text).map(|(_, wide)| wide).sum()
}

/// What a reader takes for characters: where each ends, and its columns.
fn clusters(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let end = ceil_grapheme(text, at.saturating_add(first));
        let cluster = text.get(at..end).unwrap_or_default();
        at = end;
        // What is to be shown as a picture is wide, also where its sign alone is not.
        let picture = cluster.contains('\u{fe0f}');
        let widest = cluster.chars().map(width).max().unwrap_or(0);
        Some((end, if picture { 2 } else { widest }))
    })
}

/// Columns of a character, by ranges: East Asian wide ones and pictures have two, marks and joiners none.
fn width(c: char) -> usize {
    match c {
        '\0'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{feff}'
        | '\u{300}'..='\u{36f}'
        | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{231a}'..='\u{231b}'
        | '\u{23e9}'..='\u{23ec}'
        | '\u{2614}'..='\u{2615}'
        | '\u{2705}'
        | '\u{274c}'
        | '\u{2728}'
        | '\u{2753}'..='\u{2755}'
        | '\u{2795}'..='\u{2797}'
        | '\u{2b50}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f1e6}'..='\u{1f1ff}'
        | '\u{1f300}'..='\u{1f64f}'
        | '\u{1f680}'..='\u{1f6ff}'
        | '\u{1f900}'..='\u{1f9ff}'
        | '\u{1fa70}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// 1234567 as 1,234,567.
pub(super) fn count(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", thousands(number.unsigned_abs()))
}

/// Tokens in short (A106): 999, 1.0K, 9.9K, 10K.
pub(super) fn short(tokens: i64) -> String {
    let size = tokens.unsigned_abs();
    let sign = if tokens < 0 { "-" } else { "" };
    match size {
        0..1000 => format!("{sign}{size}"),
        1000..10_000 => {
            let tenths = size.saturating_add(50) / 100;
            format!("{sign}{}.{}K", tenths / 10, tenths % 10)
        }
        _ => format!("{sign}{}K", size.saturating_add(500) / 1000),
    }
}

/// Ten cells, as many filled as tens of a percentage (in tenths): what is over 100 % fills all (A106).
pub(super) fn bar(screen: &Screen, tenths: i64) -> String {
    let filled = usize::try_from(tenths.saturating_add(50) / 100).unwrap_or(0).min(10);
    let (full, empty) = (screen.sign("█", "#"), screen.sign("░", "."));
    full.repeat(filled) + &empty.repeat(10usize.saturating_sub(filled))
}

/// A percentage (in tenths) with its one place.
pub(super) fn percent(tenths: i64) -> String {
    let size = tenths.unsigned_abs();
    format!("{}{}.{}%", if tenths < 0 { "-" } else { "" }, size / 10, size % 10)
}
