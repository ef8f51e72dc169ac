//! Candidates as a section of the system prompt: those that say most about the request, as many as fit (A96).

use super::entry::{Candidate, MILLION};
use super::similarity::words;
use super::store::Store;
use crate::estimate::Estimator;
use crate::focus::{Focus, contains_word};
use crate::sort::{down, sort_by};

/// The section's key; its boosts go by it.
pub(super) const KEY: &str = "candidates";
/// Its base priority (A31).
pub(super) const PRIORITY: u32 = 54;
const HEADING: &str = "## Learned Strategies (Promoted Candidates)\n";
/// Shorter words say nothing of a query: three letters, or one sign of a script that needs as many bytes for it.
const LEAST_BYTES: usize = 3;
/// What a word of the query is worth, one of a path, and the tool: in tenths.
const QUERY: i64 = 10;
const PATH: i64 = 6;
const TOOL: i64 = 15;

/// How much of it there may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Candidates.
    pub count: usize,
    /// Tokens, with the heading.
    pub tokens: u32,
    /// The share of them that is filled, in millionths: an estimate may be wrong.
    pub headroom: u64,
    /// The host's sorts that go in; none: all.
    pub categories: Vec<String>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { count: 10, tokens: 1_200, headroom: 850_000, categories: Vec::new() }
    }
}

/// The text of a section, and whose it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// Markdown with the line ends that part it from the next section; empty where there is nothing to tell.
    pub content: String,
    /// The ids of the candidates in it, in its order.
    pub ids: Vec<String>,
}

/// The words of a request that candidates are looked through for.
struct Wanted {
    query: String,
    words: Vec<String>,
    paths: Vec<String>,
}

impl Store {
    /// What of the promoted goes into the prompt of a request, at a time. What does not fit is left out, and what stands after
    /// it may still go in (F143). Nothing moves.
    pub fn render(&self, focus: &Focus, limits: &Limits, at: i64) -> Rendered {
        let allowed = |it: &&Candidate| {
            let categories = &limits.categories;
            it.state.is_live() && (categories.is_empty() || categories.contains(&it.category))
        };
        let wanted = Wanted::of(focus);
        let mut ranked: Vec<(&Candidate, i64)> =
            self.all.iter().filter(allowed).map(|it| (it, wanted.relevance(it))).collect();
        // From the last reason to the first: what is equal keeps its order.
        sort_by(&mut ranked, |(it, _)| (down(it.evidence.into()), it.last_seen.saturating_neg()));
        sort_by(&mut ranked, |(it, relevance)| (relevance.saturating_neg(), down(it.score_at(at))));
        ranked.truncate(limits.count);
        let mut room = Room::new(limits);
        let mut rendered = Rendered::default();
        let mut tools: Vec<&str> = Vec::new();
        for (it, _) in &ranked {
            if !tools.contains(&it.tool.as_str()) {
                tools.push(&it.tool);
            }
        }
        for tool in tools {
            // The tool's name goes in with the first that fits.
            let mut title = format!("\n### {}\n", line(tool));
            for (it, _) in ranked.iter().filter(|(it, _)| it.tool == tool) {
                let bullet = format!("{title}{}", bullet(it, at));
                if room.takes(&bullet) {
                    rendered.content.push_str(&bullet);
                    rendered.ids.push(it.id.clone());
                    title.clear();
                }
            }
        }
        if !rendered.ids.is_empty() {
            rendered.content = format!("{HEADING}{}\n", rendered.content);
        }
        rendered
    }
}

/// Tokens that are left.
struct Room(u64);

impl Room {
    fn new(limits: &Limits) -> Self {
        let all = u64::from(limits.tokens).saturating_mul(limits.headroom);
        let all = (all / MILLION).max(1);
        Self(all.saturating_sub(tokens(HEADING)))
    }

    fn takes(&mut self, text: &str) -> bool {
        let tokens = tokens(text);
        let fits = tokens <= self.0;
        if fits {
            self.0 = self.0.saturating_sub(tokens);
        }
        fits
    }
}

fn tokens(text: &str) -> u64 {
    Estimator::default().tokens(text).into()
}

fn bullet(it: &Candidate, at: i64) -> String {
    // In hundredths, rounded.
    let score = it.score_at(at).saturating_add(5_000) / 10_000;
    let (units, part) = (score / 100, score % 100);
    format!("- {} (confidence: {units}.{part:02}, evidence: {})\n", line(&it.content), it.evidence)
}

/// A text on one line: what somebody learned makes no heading of ours, and no bullet.
fn line(text: &str) -> String {
    let parts = text.split(|char: char| char.is_whitespace() || char.is_control());
    let mut line = String::with_capacity(text.len());
    for part in parts.filter(|part| !part.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(part);
    }
    line
}

impl Wanted {
    fn of(focus: &Focus) -> Self {
        let mut paths = Vec::new();
        for file in focus.paths() {
            telling(file, &mut paths);
        }
        let mut words = Vec::new();
        telling(&focus.summary, &mut words);
        Self { query: focus.summary.to_lowercase(), words, paths }
    }

    /// What a candidate has to do with the request, in tenths.
    fn relevance(&self, it: &Candidate) -> i64 {
        let mut own = Vec::new();
        telling(&it.content, &mut own);
        telling(&it.tags.join(" "), &mut own);
        let matches = |wanted: &[String]| {
            let found = wanted.iter().filter(|word| own.contains(word)).count();
            i64::try_from(found).unwrap_or(i64::MAX)
        };
        let tool = contains_word(&self.query, &it.tool);
        QUERY
            .saturating_mul(matches(&self.words))
            .saturating_add(PATH.saturating_mul(matches(&self.paths)))
            .saturating_add(if tool { TOOL } else { 0 })
    }
}

/// The words of a text that tell something, each once.
fn telling(text: &str, all: &mut Vec<String>) {
    words(text, char::is_alphanumeric, &mut |word| {
        if word.len() >= LEAST_BYTES && !all.iter().any(|known| known == word) {
            all.push(word.to_owned());
        }
    });
}
