//! An assembled prompt as it crosses: the texts of its sections and the prompt as they stand, numbers as numbers, and JSON only
//! where something has names.
//!
//! As JSON, a plan of 400 sections is 250 kB: to parse it would take half as long again as the whole call.

use std::borrow::Cow;

use super::calls::{budget_of, locale_of, section};
use super::{Options, Order, Protect, Report};
use crate::argument;
use crate::argument::each;
use crate::error::{Error, Result};
use crate::focus::Focus;
use crate::json::{Shape, Type, Write, optional, required};

/// A plan as it crosses, in the parts that cost least: the prompt as it stands, numbers as numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// The plan as JSON, but for the prompt; of its sections the words alone, in one list.
    pub plan: String,
    /// The prompt.
    pub prompt: String,
    /// Of each section its numbers and the places of its words, in the order that `js/prompt/prompt.ts` knows.
    pub figures: Vec<u32>,
}

/// The words of a plan's sections, most of them once: as texts of their own they would be most of the answer, and of the time
/// for it.
#[derive(Default)]
struct Words<'p> {
    list: Vec<&'p dyn Write>,
    known: Vec<(&'p str, u32)>,
}

impl<'p> Words<'p> {
    fn add(&mut self, word: &'p dyn Write) -> u32 {
        self.list.push(word);
        u32::try_from(self.list.len()).unwrap_or(u32::MAX).saturating_sub(1)
    }

    /// Of a word that many sections have: of the last that came.
    fn common(&mut self, text: &'p str, word: &'p dyn Write) -> u32 {
        if let Some(&(_, at)) = self.known.iter().rev().take(16).find(|(it, _)| *it == text) {
            return at;
        }
        let at = self.add(word);
        self.known.push((text, at));
        at
    }
}

impl Report<'_> {
    /// Its numbers, and where its words stand.
    fn figures<'p>(&'p self, words: &mut Words<'p>) -> [u32; 15] {
        let size = |size| u32::try_from(size).unwrap_or(u32::MAX);
        [
            self.priority,
            self.base_priority,
            self.protected.into(),
            size(self.original_chars),
            size(self.final_chars),
            self.estimated_tokens,
            size(self.offset.unwrap_or_default()),
            self.included.into(),
            self.truncated.into(),
            size(self.whole_from_total_chars),
            words.add(&self.key),
            words.common(self.source_type, &self.source_type),
            words.common(self.scope_type, &self.scope_type),
            words.common(&self.inclusion_reason, &self.inclusion_reason),
            if self.evidence.is_empty() { u32::MAX } else { words.add(&self.evidence) },
        ]
    }
}

/// `assemblePrompt`: `{sections, budget, focus, protect, order}` and the texts of the sections, which are most of what
/// crosses: a section without content has its own there.
pub fn assemble(json: &str, texts: &[&str]) -> Result<Assembled> {
    const ARGUMENTS: Shape = Shape {
        what: "arguments",
        members: &[
            required("sections", Type::Items),
            optional("budget", Type::Raw),
            optional("focus", Type::Raw),
            optional("protect", Type::Text),
            optional("order", Type::Text),
            optional("locale", Type::Raw),
        ],
        closed: true,
    };
    let mut members = argument::read(&ARGUMENTS, json, format_args!(""))?;
    let mut sections = each(members.items("sections"), format_args!("sections"), section)?;
    for (section, text) in sections.iter_mut().zip(texts) {
        if section.content.is_empty() {
            section.content = Cow::Borrowed(text);
        }
    }
    let focus = members.raw("focus").map(Focus::parse).transpose()?;
    let locale = members.raw("locale").map(locale_of).transpose()?;
    let marker = locale.map(|locale| format!("\n\n{}\n\n", locale.truncated));
    let options = Options {
        marker: marker.as_deref(),
        budget: members.raw("budget").map(budget_of).transpose()?.unwrap_or_default(),
        focus: focus.as_ref(),
        protect: match members.text("protect").as_deref() {
            None | Some("last") => Protect::Last,
            Some("never") => Protect::Never,
            Some("error") => Protect::Error,
            Some(other) => {
                return Err(Error::argument(
                    "protect",
                    "\"last\", \"never\" or \"error\"",
                    format!("\"{other}\""),
                ));
            }
        },
        order: match members.text("order").as_deref() {
            None | Some("insertion") => Order::Insertion,
            Some("stable-first") => Order::StableFirst,
            Some("aceclaw") => Order::Aceclaw,
            Some(other) => {
                let expected = "\"insertion\", \"stable-first\" or \"aceclaw\"";
                return Err(Error::argument("order", expected, format!("\"{other}\"")));
            }
        },
    };
    let plan = super::assemble(&sections, &options)?;
    let mut words = Words::default();
    let mut figures = Vec::new();
    for report in &plan.sections {
        figures.extend_from_slice(&report.figures(&mut words));
    }
    let mut plan_json = String::new();
    crate::json::object(
        &[
            ("total_chars", &plan.total_chars),
            ("stable_prefix_chars", &plan.stable_prefix_chars),
            ("stable_prefix_key", &plan.stable_prefix_key),
            ("truncated_section_keys", &plan.truncated),
            ("words", &words.list),
        ],
        &mut plan_json,
    );
    Ok(Assembled { plan: plan_json, figures, prompt: plan.prompt })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_crosses_with_its_report() {
        let plan = assemble(
            r##"{"sections":[{"key":"rules:x","content":"# X\n","priority":88}],"focus":{"activeFilePaths":["a.rs"]},"order":"stable-first"}"##,
            &[],
        );
        let Assembled { plan, prompt, figures } = plan.unwrap();
        assert_eq!(
            plan,
            r#"{"totalChars":4,"stablePrefixChars":0,"stablePrefixKey":"cbf29ce484222325","truncatedSectionKeys":[],"words":["rules:x","rules","task-local","fits",["+4 active file a.rs"]]}"#
        );
        assert_eq!(prompt, "# X\n");
        assert_eq!(figures, [92, 88, 0, 4, 4, 3, 0, 1, 0, 4, 0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_section_without_content_has_its_text_beside() {
        let json = r#"{"sections":[{"key":"a","content":"","priority":1},{"key":"b","content":"B","priority":1},{"key":"c","content":"","priority":1}]}"#;
        let prompt = |texts: &[&str]| assemble(json, texts).unwrap().prompt;
        assert_eq!(prompt(&["A\"\n", "", "é"]), "A\"\nBé");
        assert_eq!(prompt(&["A", "no more"]), "AB");
    }

    #[test]
    fn a_text_that_many_sections_share_crosses_once() {
        let section = |at: u32| format!(r#"{{"key":"rules:{at}","content":"x","priority":1}}"#);
        let sections: Vec<String> = (0..3).map(section).collect();
        let json = format!(r#"{{"sections":[{}]}}"#, sections.join(","));
        let Assembled { plan, figures, .. } = assemble(&json, &[]).unwrap();
        let words = r#""words":["rules:0","rules","task-local","fits","rules:1","rules:2"]}"#;
        assert!(plan.ends_with(words), "{plan}");
        let places: Vec<&[u32]> = figures.chunks(15).map(|own| &own[10..]).collect();
        let none = u32::MAX;
        assert_eq!(places, [[0, 1, 2, 3, none], [4, 1, 2, 3, none], [5, 1, 2, 3, none]]);
    }
}
