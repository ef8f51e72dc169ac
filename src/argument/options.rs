//! Options reader: reads an options object; errors carry the option's path.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::json::{self, Object, RawValue, Reader, string};
use crate::number::decimal;

/// Members of an object of options, unread, and the path of that object.
pub(crate) struct OptionsReader<'a> {
    path: String,
    members: Object<'a>,
}

impl<'a> OptionsReader<'a> {
    pub(crate) fn read(path: &str, json: &'a str) -> json::Read<Self> {
        Reader::new(json).strict()?;
        Ok(Self { path: path.into(), members: Object::read(json)? })
    }

    /// An object that is missing: it has no members.
    pub(crate) fn none(path: &str) -> Self {
        Self { path: path.into(), members: Object::default() }
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

    pub(crate) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.into() } else { format!("{}.{name}", self.path) }
    }

    /// An option that does not exist is an error, never ignored.
    pub(crate) fn refuse_others(&self, known: &[&str], internal: &[&str]) -> Result<()> {
        for (name, value) in self.members.iter() {
            if !known.contains(&&**name) && !internal.contains(&&**name) {
                return Err(Error::unknown_option(&self.path_of(name), known, value));
            }
        }
        Ok(())
    }

    pub(crate) fn refused(&self, name: &str, expected: &str, got: &RawValue) -> Error {
        Error::argument(&self.path_of(name), expected, got)
    }

    pub(crate) fn inner(&self, name: &str) -> Result<Option<Self>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match Self::read(&self.path_of(name), value) {
            Ok(inner) => Ok(Some(inner)),
            Err(_) => Err(self.refused(name, "an object", value)),
        }
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<Cow<'a, str>>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        string(value).map(Some).map_err(|_| self.refused(name, "a name", value))
    }

    /// A name, parsed.
    pub(crate) fn named<T>(&self, name: &str, parse: fn(&str) -> Result<T>) -> Result<Option<T>> {
        self.text(name)?.map(|name| parse(&name)).transpose()
    }

    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>> {
        match self.get(name) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(other) => Err(self.refused(name, "true or false", other)),
        }
    }

    /// A number from 0 to `most`, times 10^`places`, as an integer.
    pub(crate) fn amount(&self, name: &str, places: u32, most: u64) -> Result<Option<u64>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let expected = format!("a number from 0 to {most}");
        let amount = u64::try_from(self.scaled(name, value, places, &expected)?).ok();
        let fits = amount.filter(|&amount| amount <= most.saturating_mul(10u64.pow(places)));
        fits.map(Some).ok_or_else(|| self.refused(name, &expected, value))
    }

    /// A number times 10^`places`, as the nearest integer.
    pub(crate) fn scaled(
        &self,
        name: &str,
        value: &RawValue,
        places: u32,
        expected: &str,
    ) -> Result<i64> {
        if !value.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) {
            return Err(self.refused(name, "a number", value));
        }
        decimal(value, places).ok_or_else(|| self.refused(name, expected, value))
    }
}
