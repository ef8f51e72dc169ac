//! Where the mutants of a file stand in its syntax, and what is written there in their place.

use std::collections::BTreeMap;
use std::ops::Range;

use anyhow::{Result, anyhow};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::list::{Genre, Mutant};

/// A place of the file at which one of several mutants is chosen while the tests run.
#[derive(Debug)]
pub(crate) struct Site {
    /// Bytes of the file that it replaces.
    pub(crate) range: Range<usize>,
    pub(crate) shape: Shape,
    /// The number of each mutant, and the Rust that it writes.
    pub(crate) mutants: Vec<(usize, String)>,
}

/// How the choice is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// In place of an expression.
    Expression,
    /// In place of an assignment.
    Assignment,
    /// Before the statements of a function.
    Statements,
    /// As the condition of an arm that has none; the range is empty.
    NewCondition,
    /// Before the condition of an arm.
    Condition,
    /// In place of a member that is named as its value is.
    Member,
    /// Around the statements of a function that returns an iterator, which may end at once.
    Iterator,
}

/// What became of the mutants of a file.
pub(crate) struct Found {
    /// The outer of two comes first.
    pub(crate) sites: Vec<Site>,
    /// Mutants that can be no site: in constants, in macros, with another type.
    pub(crate) alone: Vec<usize>,
    /// Mutants that do not compile.
    pub(crate) broken: Vec<usize>,
}

/// The sites of a file.
pub(crate) fn sites(text: &str, mutants: &[(usize, &Mutant)]) -> Result<Found> {
    let file = syn::parse_file(text).map_err(|error| anyhow!("{error}"))?;
    let mut finder = Finder {
        text,
        wanted: BTreeMap::new(),
        found: Vec::new(),
        alone: Vec::new(),
        broken: Vec::new(),
        constant: 0,
    };
    for (number, mutant) in mutants {
        let key = (mutant.genre as u8, mutant.range.start);
        finder.wanted.entry(key).or_default().push((*number, *mutant));
    }
    finder.visit_file(&file);
    let Finder { wanted, found: mut sites, mut alone, broken, .. } = finder;
    alone.extend(wanted.into_values().flatten().map(|(number, _)| number));
    sites.sort_by_key(|site| (site.range.start, std::cmp::Reverse(site.range.end)));
    Ok(Found { sites, alone, broken })
}

type Wanted<'a> = BTreeMap<(u8, usize), Vec<(usize, &'a Mutant)>>;

struct Finder<'a> {
    text: &'a str,
    wanted: Wanted<'a>,
    found: Vec<Site>,
    alone: Vec<usize>,
    broken: Vec<usize>,
    /// More than 0 in an expression that the compiler evaluates.
    constant: u32,
}

impl<'a> Finder<'a> {
    /// The mutants of this genre that start here, unless the compiler evaluates the place.
    fn take(&mut self, genre: Genre, start: usize) -> Vec<(usize, &'a Mutant)> {
        let key = (genre as u8, start);
        if self.constant > 0 { Vec::new() } else { self.wanted.remove(&key).unwrap_or_default() }
    }

    fn add(&mut self, range: Range<usize>, shape: Shape, mutants: Vec<(usize, String)>) {
        if !mutants.is_empty() {
            self.found.push(Site { range, shape, mutants });
        }
    }

    fn source(&self, span: Span) -> &'a str {
        &self.text[span.byte_range()]
    }

    fn within_constant(&mut self, is_constant: bool, visit: impl FnOnce(&mut Self)) {
        self.constant += u32::from(is_constant);
        visit(self);
        self.constant -= u32::from(is_constant);
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let (Some(first), Some(last)) = (block.stmts.first(), block.stmts.last()) else { return };
        let range = first.span().byte_range().start..last.span().byte_range().end;
        let values = self.take(Genre::FnValue, range.start);
        // A function has one type, although `impl Trait` does not name it.
        if self.source(signature.output.span()).contains("impl Iterator") {
            let (empty, others): (Vec<_>, Vec<_>) =
                values.into_iter().partition(|(_, it)| it.replacement.ends_with("::empty()"));
            self.alone.extend(others.into_iter().map(|(number, _)| number));
            let written = empty.into_iter().map(|(number, _)| (number, "false".into()));
            return self.add(range, Shape::Iterator, written.collect());
        }
        let returned =
            |(number, mutant): (usize, &Mutant)| (number, format!("return {}", mutant.replacement));
        self.add(range, Shape::Statements, values.into_iter().map(returned).collect());
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_item_fn(&mut self, it: &'a syn::ItemFn) {
        self.within_constant(it.sig.constness.is_some(), |finder| {
            finder.function(&it.sig, &it.block);
            visit::visit_item_fn(finder, it);
        });
    }

    fn visit_impl_item_fn(&mut self, it: &'a syn::ImplItemFn) {
        self.within_constant(it.sig.constness.is_some(), |finder| {
            finder.function(&it.sig, &it.block);
            visit::visit_impl_item_fn(finder, it);
        });
    }

    fn visit_trait_item_fn(&mut self, it: &'a syn::TraitItemFn) {
        if let Some(block) = &it.default {
            self.function(&it.sig, block);
        }
        visit::visit_trait_item_fn(self, it);
    }

    fn visit_item_const(&mut self, it: &'a syn::ItemConst) {
        self.within_constant(true, |finder| visit::visit_item_const(finder, it));
    }

    fn visit_item_static(&mut self, it: &'a syn::ItemStatic) {
        self.within_constant(true, |finder| visit::visit_item_static(finder, it));
    }

    fn visit_impl_item_const(&mut self, it: &'a syn::ImplItemConst) {
        self.within_constant(true, |finder| visit::visit_impl_item_const(finder, it));
    }

    fn visit_expr_const(&mut self, it: &'a syn::ExprConst) {
        self.within_constant(true, |finder| visit::visit_expr_const(finder, it));
    }

    fn visit_expr_binary(&mut self, it: &'a syn::ExprBinary) {
        let mutants = self.take(Genre::BinaryOperator, it.op.span().byte_range().start);
        if has_let(&it.left) || has_let(&it.right) {
            // No other operator stands beside a `let`.
            self.broken.extend(mutants.into_iter().map(|(number, _)| number));
        } else {
            let (left, right) = (self.source(it.left.span()), self.source(it.right.span()));
            let is_assignment = self.source(it.op.span()).ends_with('=')
                && !matches!(self.source(it.op.span()), "==" | "!=" | "<=" | ">=");
            let written = |(number, mutant): (usize, &Mutant)| {
                (number, format!("({left}) {} ({right})", mutant.replacement))
            };
            let shape = if is_assignment { Shape::Assignment } else { Shape::Expression };
            let written = mutants.into_iter().map(written).collect();
            self.add(it.span().byte_range(), shape, written);
        }
        visit::visit_expr_binary(self, it);
    }

    fn visit_expr_unary(&mut self, it: &'a syn::ExprUnary) {
        let mutants = self.take(Genre::UnaryOperator, it.op.span().byte_range().start);
        let operand = self.source(it.expr.span());
        let written = mutants.into_iter().map(|(number, _)| (number, operand.into())).collect();
        self.add(it.span().byte_range(), Shape::Expression, written);
        visit::visit_expr_unary(self, it);
    }

    fn visit_expr_match(&mut self, it: &'a syn::ExprMatch) {
        let takes_all = |arm: &syn::Arm| match &arm.pat {
            _ if arm.guard.is_some() => false,
            syn::Pat::Wild(_) => true,
            // `None` is one, too.
            syn::Pat::Ident(name) => name.ident.to_string().starts_with(char::is_lowercase),
            _ => false,
        };
        let has_rest = it.arms.iter().any(takes_all);
        for arm in &it.arms {
            let deleted = self.take(Genre::MatchArm, arm.span().byte_range().start);
            let deleted = deleted.into_iter().map(|(number, _)| number);
            if !has_rest {
                // Without the arm some value has none.
                self.broken.extend(deleted);
                continue;
            }
            let deleted = deleted.map(|number| (number, "false".to_owned())).collect();
            match &arm.guard {
                None => {
                    let end = arm.pat.span().byte_range().end;
                    self.add(end..end, Shape::NewCondition, deleted);
                }
                Some((_, guard)) => {
                    self.add(guard.span().byte_range(), Shape::Condition, deleted);
                }
            }
        }
        visit::visit_expr_match(self, it);
    }

    fn visit_arm(&mut self, it: &'a syn::Arm) {
        if let Some((_, guard)) = &it.guard {
            let range = guard.span().byte_range();
            let mutants = self.take(Genre::MatchArmGuard, range.start);
            let written = |(number, it): (usize, &Mutant)| (number, it.replacement.clone());
            self.add(range, Shape::Expression, mutants.into_iter().map(written).collect());
        }
        visit::visit_arm(self, it);
    }

    fn visit_expr_struct(&mut self, it: &'a syn::ExprStruct) {
        let rest = it.rest.as_ref().map(|rest| match self.source(rest.span()) {
            "Default::default()" => format!("<{}>::default()", self.source(it.path.span())),
            other => other.to_owned(),
        });
        for field in &it.fields {
            let Some(rest) = &rest else { continue };
            let mutants = self.take(Genre::StructField, field.span().byte_range().start);
            let member = self.source(field.member.span());
            let written = |(number, _)| (number, format!("({rest}).{member}"));
            let written = mutants.into_iter().map(written).collect();
            let is_short = field.colon_token.is_none();
            let shape = if is_short { Shape::Member } else { Shape::Expression };
            self.add(field.expr.span().byte_range(), shape, written);
        }
        visit::visit_expr_struct(self, it);
    }
}

/// The condition has a `let`, which stands in no parentheses.
fn has_let(condition: &syn::Expr) -> bool {
    match condition {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(it) => has_let(&it.left) || has_let(&it.right),
        _ => false,
    }
}
