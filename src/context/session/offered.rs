//! A message of a passed history, as it is looked for in the known one.

/// A message of the passed history, as it is compared.
#[derive(Clone, Copy, Debug)]
pub(in crate::context) struct Offered {
    pub(in crate::context) mark: u32,
    /// The host passed the known object, or its key.
    pub(in crate::context) is_known: bool,
    pub(in crate::context) is_system: bool,
    /// It may be in place of what the host forgot.
    pub(in crate::context) is_placeholder: bool,
}
