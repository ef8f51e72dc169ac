//! Mode of a session: whether its requests are decided on, and by which window.

/// Whether requests are decided on: read once from the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The model's window is not known: messages are measured, nothing is shortened or dropped.
    Unmanaged,
    /// Requests are kept within this window.
    Managed(ManagedWindow),
}

/// The model's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManagedWindow {
    /// Tokens of the whole; at least one.
    pub tokens: u64,
    /// The window less what is held back for the answer; at least one.
    pub usable: u64,
}

impl Mode {
    /// Of a window of so many tokens, of which `reserve` are held back; 0 if the window is not known.
    pub const fn of_window(tokens: u64, reserve: u64) -> Self {
        if tokens == 0 {
            return Self::Unmanaged;
        }
        Self::Managed(ManagedWindow { tokens, usable: tokens.saturating_sub(reserve) })
    }

    /// Whether requests are decided on.
    pub const fn is_managed(self) -> bool {
        matches!(self, Self::Managed(_))
    }

    /// The window, if requests are decided on.
    pub const fn window(self) -> Option<ManagedWindow> {
        match self {
            Self::Unmanaged => None,
            Self::Managed(window) => Some(window),
        }
    }

    /// Tokens of the window as reports and snapshots show them: 0 if it is not known.
    pub const fn window_tokens(self) -> u64 {
        match self {
            Self::Unmanaged => 0,
            Self::Managed(window) => window.tokens,
        }
    }

    /// Tokens of the usable window, likewise.
    pub const fn usable_tokens(self) -> u64 {
        match self {
            Self::Unmanaged => 0,
            Self::Managed(window) => window.usable,
        }
    }
}
