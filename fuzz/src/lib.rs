//! The fuzz targets as functions. Those that need a history read their input as a case.

#[path = "../../tests/support/carry.rs"]
mod carry;
mod case;
pub mod targets;
