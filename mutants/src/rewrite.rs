//! A file with all its mutants: one of them is chosen by its number while the tests run.

use std::fmt::Write;
use std::ops::Range;

use crate::sites::{Shape, Site};

/// What the rewritten files call. `SITES` is the number of sites, and one more.
pub(crate) const CHOICE: &str = r#"
/// Chooses among the mutants.
#[doc(hidden)]
pub mod mutant {
    use std::io::Write;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    static CHOSEN: LazyLock<u32> = LazyLock::new(|| {
        std::env::var("MUTANT").ok().and_then(|number| number.parse().ok()).unwrap_or(u32::MAX)
    });
    static TRACE: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("MUTANT_TRACE").ok());
    static SEEN: [AtomicBool; SITES] = [const { AtomicBool::new(false) }; SITES];

    /// The number of the mutant that is chosen. With `MUTANT_TRACE` the site is written to that file.
    #[inline]
    pub fn at(site: usize) -> u32 {
        if let Some(path) = &*TRACE
            && !SEEN[site].swap(true, Ordering::Relaxed)
        {
            let mut file =
                std::fs::OpenOptions::new().create(true).append(true).open(path).expect("the trace");
            file.write_all(format!("{site}\n").as_bytes()).expect("the trace");
        }
        *CHOSEN
    }
}
"#;

/// The text with these sites, numbered from `first`. The outer of two sites comes first.
pub(crate) fn rewrite(text: &str, sites: &[Site], first: usize) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    render(&mut out, text, 0..text.len(), sites, first);
    out
}

fn render(out: &mut String, text: &str, range: Range<usize>, sites: &[Site], first: usize) {
    let mut at = range.start;
    let mut rest = 0;
    while let Some(site) = sites.get(rest) {
        out.push_str(&text[at..site.range.start]);
        let after = sites[rest + 1..].iter().position(|it| !is_in(&it.range, &site.range));
        let inner = after.map_or(sites.len(), |after| rest + 1 + after);
        write_site(out, text, site, &sites[rest + 1..inner], first + rest);
        at = site.range.end;
        rest = inner;
    }
    out.push_str(&text[at..range.end]);
}

fn is_in(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    inner.start < outer.end && inner.end <= outer.end
}

/// Comments tell the compiler's errors apart: `[7` to `7]` is a site, `<4` to `4>` what a mutant writes.
fn write_site(out: &mut String, text: &str, site: &Site, inner: &[Site], number: usize) {
    let mut choice = format!("match crate::mutant::at({number}) {{ ");
    for (mutant, written) in &site.mutants {
        write!(choice, "{mutant} => /*<{mutant}*/{written}/*{mutant}>*/, ").expect("a string");
    }
    let member = &text[site.range.clone()];
    let (before, behind) = match site.shape {
        Shape::Expression => (format!("({choice}_ => "), " })".into()),
        Shape::Assignment => (format!("{choice}_ => "), " }".into()),
        Shape::Statements => (format!("{choice}_ => {{}} }}\n"), String::new()),
        Shape::NewCondition => (format!(" if ({choice}_ => true }})"), String::new()),
        Shape::Condition => (format!("({choice}_ => true }}) && ("), ")".into()),
        Shape::Member => (format!("{member}: ({choice}_ => "), " })".into()),
        Shape::Iterator => ("({".into(), format!("}}).take_while(move |_| {choice}_ => true }})")),
    };
    write!(out, "/*[{number}*/{before}").expect("a string");
    render(out, text, site.range.clone(), inner, number + 1);
    write!(out, "{behind}/*{number}]*/").expect("a string");
}

/// What stands at bytes of a rewritten text: the mutant that wrote them, or else the innermost site.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Culprit {
    Mutant(usize),
    Site(usize),
}

/// What wrote the text at this byte. An error in the text as it was has none.
pub(crate) fn culprit(text: &str, at: usize) -> Option<Culprit> {
    let before = &text[..at];
    let mut open: Vec<(&str, &str)> = Vec::new();
    for (start, _) in before.match_indices("/*") {
        let Some((comment, _)) = before[start + 2..].split_once("*/") else { continue };
        for mark in ["[", "<"] {
            if let Some(number) = comment.strip_prefix(mark).filter(|it| is_number(it)) {
                open.push((mark, number));
            }
        }
        if comment.ends_with([']', '>']) && is_number(&comment[..comment.len() - 1]) {
            open.pop();
        }
    }
    let mutant = open.iter().rev().find(|(mark, _)| *mark == "<");
    let (mark, number) = mutant.or(open.last())?;
    let number = number.parse().ok()?;
    Some(if *mark == "<" { Culprit::Mutant(number) } else { Culprit::Site(number) })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::{Genre, Mutant};
    use crate::sites::sites;

    /// The text with these mutants: genre, the text that is replaced, what replaces it.
    fn rewritten(text: &str, mutants: &[(Genre, &str, &str)]) -> String {
        let mutants: Vec<Mutant> = mutants
            .iter()
            .map(|(genre, old, new)| {
                let start = text.find(old).unwrap();
                let (range, replacement) = (start..start + old.len(), (*new).to_owned());
                Mutant {
                    name: String::new(),
                    file: String::new(),
                    genre: *genre,
                    range,
                    replacement,
                }
            })
            .collect();
        let numbered: Vec<(usize, &Mutant)> = mutants.iter().enumerate().collect();
        let found = sites(text, &numbered).unwrap();
        assert_eq!((found.alone, found.broken), (vec![], vec![]));
        rewrite(text, &found.sites, 0)
    }

    /// Without the comments.
    fn plain(text: &str) -> String {
        let parts: Vec<&str> = text.split("/*").collect();
        let after = parts[1..].iter().map(|part| part.split_once("*/").unwrap().1);
        parts[..1].iter().copied().chain(after).collect()
    }

    #[test]
    fn an_inner_operator_is_chosen_where_the_outer_one_is_not() {
        let mutants = [(Genre::BinaryOperator, "+", "-"), (Genre::BinaryOperator, "*", "/")];
        assert_eq!(
            plain(&rewritten("fn f() { a + b * c }", &mutants)),
            "fn f() { (match crate::mutant::at(0) { 0 => (a) - (b * c), _ => \
             a + (match crate::mutant::at(1) { 1 => (b) / (c), _ => b * c }) }) }"
        );
    }

    #[test]
    fn a_function_returns_another_value() {
        let mutants = [(Genre::FnValue, "g(); 1", "0"), (Genre::FnValue, "g(); 1", "7")];
        assert_eq!(
            plain(&rewritten("fn f() -> u8 { g(); 1 }", &mutants)),
            "fn f() -> u8 { match crate::mutant::at(0) { 0 => return 0, 1 => return 7, _ => {} }\n\
             g(); 1 }"
        );
        let empty = (Genre::FnValue, "g()", "::std::iter::empty()");
        assert_eq!(
            plain(&rewritten("fn f() -> impl Iterator<Item = u8> { g() }", &[empty])),
            "fn f() -> impl Iterator<Item = u8> { ({g()}).take_while(move |_| \
             match crate::mutant::at(0) { 0 => false, _ => true }) }"
        );
    }

    #[test]
    fn an_arm_is_left_out_by_its_condition() {
        let text = "fn f() { match x { 1 => a, 2 if b => c, _ => d } }";
        let mutants = [
            (Genre::MatchArm, "1 => a,", ""),
            (Genre::MatchArm, "2 if b => c,", ""),
            (Genre::MatchArmGuard, "b =", "true"),
        ];
        assert_eq!(
            plain(&rewritten(text, &mutants)),
            "fn f() { match x { 1 if (match crate::mutant::at(0) { 0 => false, _ => true }) => a, \
             2 if (match crate::mutant::at(1) { 1 => false, _ => true }) && \
             ((match crate::mutant::at(2) { 2 => true, _ => b })) => c, _ => d } }"
        );
    }

    #[test]
    fn a_member_is_that_of_the_rest() {
        let mutants = [(Genre::StructField, "a: 1", ""), (Genre::StructField, "b", "")];
        assert_eq!(
            plain(&rewritten("fn f() { S { a: 1, b, ..Default::default() } }", &mutants)),
            "fn f() { S { a: (match crate::mutant::at(0) { 0 => (<S>::default()).a, _ => 1 }), \
             b: (match crate::mutant::at(1) { 1 => (<S>::default()).b, _ => b }), \
             ..Default::default() } }"
        );
    }

    #[test]
    fn an_error_is_that_of_the_mutant_or_of_the_innermost_site() {
        let text = rewritten(
            "fn f() { a + b * c }",
            &[(Genre::BinaryOperator, "+", "-"), (Genre::BinaryOperator, "*", "/")],
        );
        let at = |part: &str| culprit(&text, text.find(part).unwrap());
        assert_eq!(at("(a) -"), Some(Culprit::Mutant(0)));
        assert_eq!(at("a + "), Some(Culprit::Site(0)));
        assert_eq!(at("(c)"), Some(Culprit::Mutant(1)));
        assert_eq!(at("b * c })"), Some(Culprit::Site(1)));
        assert_eq!(at("fn"), None);
    }

    #[test]
    fn constants_macros_and_conditions_with_let_have_no_sites() {
        let text = "const A: u8 = 1 + 2; fn f() { g!(3 - 4); if let x = y && z {} }";
        let mutant = |operator: &str| {
            let start = text.find(operator).unwrap();
            let range = start..start + operator.len();
            let (name, file, replacement) = Default::default();
            Mutant { name, file, genre: Genre::BinaryOperator, range, replacement }
        };
        let mutants = ["+", "-", "&&"].map(mutant);
        let numbered: Vec<(usize, &Mutant)> = mutants.iter().enumerate().collect();
        let found = sites(text, &numbered).unwrap();
        assert_eq!((found.sites.len(), found.alone, found.broken), (0, vec![0, 1], vec![2]));
    }
}
