//! Options of the tiers in which `AIClaw` loads a history (I23).

use crate::argument::OptionsReader;
use crate::error::Result;
use crate::model::{Block, Kind};
use crate::prune::{Marker, Shorten};

/// Turns of each tier, and characters (UTF-16 code units) that the light one keeps of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(unnameable_types, reason = "options are parsed, never written down")]
pub struct Tiers {
    pub(in crate::context) full: u32,
    pub(in crate::context) light: u32,
    result: u32,
    text: u32,
}

impl Tiers {
    #[inline(never)]
    pub(in crate::context) fn read(json: &str) -> Result<Self> {
        let options = OptionsReader::read(json)?;
        options.refuse_others(&["fullTurns", "lightTurns", "resultChars", "textChars"], &[]);
        let amount = |name, default| {
            let amount = options.amount(name, 0, u32::MAX.into());
            amount.map_or(default, |amount| u32::try_from(amount).unwrap_or(u32::MAX))
        };
        let full = amount("fullTurns", 3);
        if full == 0 {
            options.refuse("fullTurns", "at least 1: the one that is worked on");
        }
        options.checked(Ok(Self {
            full,
            light: amount("lightTurns", 5),
            result: amount("resultChars", 300),
            text: amount("textChars", 500),
        }))
    }

    /// What becomes of a block of a light turn.
    pub(in crate::context) fn lightens(self, block: &Block) -> Option<Shorten> {
        let most = match block.kind {
            Kind::Result => self.result,
            Kind::Text => self.text,
            Kind::Thinking | Kind::Call | Kind::Image | Kind::Other => return None,
        };
        (block.chars > most).then_some(Shorten::Head(most, Marker::Truncated))
    }
}
