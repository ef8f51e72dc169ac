//! Options reader: reads an options object; errors carry the option's path.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::json::{self, Object, RawValue, Reader, string};
use crate::number::decimal;

/// Members of an object of options, unread, and the path of that object.
///
/// An option that is refused counts as missing and reading goes on, so that a caller of many options has one place where it may end:
/// [`Self::checked`].
pub(crate) struct OptionsReader<'a> {
    path: String,
    members: Object<'a>,
    /// The first option that was refused, of this object and those in it.
    refused: Rc<OnceCell<Error>>,
}

impl<'a> OptionsReader<'a> {
    /// The options that the host passed.
    ///
    /// # Errors
    /// `InvalidArgument`: they are no object.
    pub(crate) fn read(json: &'a str) -> Result<Self> {
        let members =
            read_members(json).map_err(|it| Error::argument("options", "an object", it.got()));
        Ok(Self { path: String::new(), members: members?, refused: Rc::default() })
    }

    /// What was read, or the first option that was refused.
    ///
    /// # Errors
    /// `InvalidArgument` names the option and what is allowed.
    pub(crate) fn checked<T>(&self, read: Result<T>) -> Result<T> {
        self.refused.get().map_or(read, |error| Err(error.clone()))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|(name, _)| &**name)
    }

    /// Adds the members of another object, which win over members of the same name here.
    #[inline(never)]
    pub(crate) fn overlay(&mut self, other: Self) {
        self.members.overlay(other.members);
    }

    /// The member; of two with one name the last, as in JavaScript.
    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.members.raw(name)
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.into() } else { format!("{}.{name}", self.path) }
    }

    /// An option that does not exist is refused, never ignored.
    pub(crate) fn refuse_others(&self, known: &[&str], internal: &[&str]) {
        for (name, value) in self.members.iter() {
            if !known.contains(&&**name) && !internal.contains(&&**name) {
                self.note(Error::unknown_option(&self.path_of(name), known, value));
            }
        }
    }

    /// Refuses an option.
    #[cold]
    pub(crate) fn refuse(&self, name: &str, expected: &str) {
        let got = self.get(name).unwrap_or("nothing");
        self.note(Error::argument(&self.path_of(name), expected, got));
    }

    #[cold]
    fn note(&self, error: Error) {
        self.refused.get_or_init(|| error);
    }

    /// The object of that name.
    pub(crate) fn inner(&self, name: &str) -> Option<Self> {
        let Ok(members) = read_members(self.get(name)?) else {
            self.refuse(name, "an object");
            return None;
        };
        Some(Self { path: self.path_of(name), members, refused: Rc::clone(&self.refused) })
    }

    /// The same; without members where there is none.
    pub(crate) fn inner_or_empty(&self, name: &str) -> Self {
        self.inner(name).unwrap_or_else(|| Self {
            path: self.path_of(name),
            members: Object::default(),
            refused: Rc::clone(&self.refused),
        })
    }

    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        let text = string(self.get(name)?).ok();
        if text.is_none() {
            self.refuse(name, "a name");
        }
        text
    }

    /// A name, parsed.
    pub(crate) fn named<T>(&self, name: &str, parse: fn(&str) -> Result<T>) -> Option<T> {
        parse(&self.text(name)?).map_err(|error| self.note(error)).ok()
    }

    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            "true" => Some(true),
            "false" => Some(false),
            _ => {
                self.refuse(name, "true or false");
                None
            }
        }
    }

    /// A number from 0 to `most`, times 10^`places`, as an integer.
    pub(crate) fn amount(&self, name: &str, places: u32, most: u64) -> Option<u64> {
        self.amount_from(name, places, 0, most)
    }

    /// The same, from `least` on.
    #[inline(never)]
    pub(crate) fn amount_from(
        &self,
        name: &str,
        places: u32,
        least: u64,
        most: u64,
    ) -> Option<u64> {
        let amount = u64::try_from(number(self.get(name)?, places).unwrap_or(-1)).ok();
        let [least_scaled, most_scaled] =
            [least, most].map(|it| it.saturating_mul(10u64.pow(places)));
        let fits = amount.filter(|amount| (least_scaled..=most_scaled).contains(amount));
        if fits.is_none() {
            self.refuse_number(name, &format!("a number from {least} to {most}"));
        }
        fits
    }

    /// An amount that must be there.
    pub(crate) fn required(&self, name: &str, places: u32, most: u64, expected: &str) -> u64 {
        let amount = self.amount(name, places, most);
        if amount.is_none() {
            self.refuse(name, expected);
        }
        amount.unwrap_or_default()
    }

    /// A number times 10^`places`, as the nearest integer.
    pub(crate) fn scaled(&self, name: &str, places: u32, expected: &str) -> Option<i64> {
        let number = number(self.get(name)?, places);
        if number.is_none() {
            self.refuse_number(name, expected);
        }
        number
    }

    #[cold]
    fn refuse_number(&self, name: &str, expected: &str) {
        let is = self.get(name).is_some_and(is_number);
        self.refuse(name, if is { expected } else { "a number" });
    }
}

fn read_members(json: &str) -> json::Read<Object<'_>> {
    Reader::new(json).strict()?;
    Object::read(json)
}

fn number(value: &RawValue, places: u32) -> Option<i64> {
    is_number(value).then(|| decimal(value, places))?
}

fn is_number(value: &RawValue) -> bool {
    value.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
}
