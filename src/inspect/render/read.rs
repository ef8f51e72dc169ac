//! A report as it is read: JSON of ours, or of whoever made one by hand.

use std::borrow::Cow;

use super::screen::tame;
use crate::json::{self, RawValue};
use crate::number::decimal;

/// An object.
#[derive(Default)]
pub(super) struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Object<'a> {
    /// Nothing is in what is no object.
    pub(super) fn read(json: &'a str) -> Self {
        Self(json::members(json).unwrap_or_default())
    }

    fn raw(&self, name: &str) -> Option<&'a RawValue> {
        let found = self.0.iter().find(|(known, _)| known == name).map(|(_, it)| *it);
        found.filter(|it| *it != "null")
    }

    pub(super) fn object(&self, name: &str) -> Self {
        Self::read(self.raw(name).unwrap_or("{}"))
    }

    /// Whether there is one.
    pub(super) fn given(&self, name: &str) -> Option<Self> {
        self.raw(name).map(Self::read)
    }

    pub(super) fn objects(&self, name: &str) -> Vec<Self> {
        self.items(name).into_iter().map(Self::read).collect()
    }

    /// Members that are numbers, by their names.
    pub(super) fn counts(&self, name: &str) -> Vec<(String, i64)> {
        let counts = self.object(name);
        let one =
            |(name, it): &(Cow<'_, str>, &RawValue)| (tame(name), decimal(it, 0).unwrap_or(0));
        counts.0.iter().map(one).collect()
    }

    fn items(&self, name: &str) -> Vec<&'a RawValue> {
        self.raw(name).and_then(|it| json::items(it).ok()).unwrap_or_default()
    }

    /// A text in one line, harmless.
    pub(super) fn text(&self, name: &str) -> String {
        tame(&self.words(name))
    }

    /// A text as it is.
    pub(super) fn words(&self, name: &str) -> Cow<'a, str> {
        self.raw(name).and_then(|it| json::string(it).ok()).unwrap_or_default()
    }

    /// Texts in one line each, harmless.
    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        let text = |it: &RawValue| json::string(it).ok().map(|it| tame(&it));
        self.items(name).into_iter().filter_map(text).collect()
    }

    /// Whole numbers.
    pub(super) fn numbers(&self, name: &str) -> Vec<i64> {
        self.items(name).into_iter().filter_map(|it| decimal(it, 0)).collect()
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.raw(name) == Some("true")
    }

    /// A whole number.
    pub(super) fn number(&self, name: &str) -> i64 {
        self.maybe(name).unwrap_or(0)
    }

    pub(super) fn maybe(&self, name: &str) -> Option<i64> {
        decimal(self.raw(name)?, 0)
    }

    /// A percentage, in tenths.
    pub(super) fn tenths(&self, name: &str) -> i64 {
        self.raw(name).and_then(|it| decimal(it, 1)).unwrap_or(0)
    }
}
