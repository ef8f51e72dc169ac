//! Cache markers on messages and parts of the AI SDK.

use crate::json::{Object, RawValue};
use crate::model::Piece;
use crate::number::count;

/// Where in the options of a part, or of its message, a provider of the SDK looks for a marker: the bits of
/// [`Piece::marked_at`], from `ON_MESSAGE` on those of the message.
const MARKED_AT: [(&str, &str); 6] = [
    ("anthropic", "cacheControl"),
    ("anthropic", "cache_control"),
    ("bedrock", "cachePoint"),
    ("openrouter", "cacheControl"),
    ("openrouter", "cache_control"),
    ("openaiCompatible", "cache_control"),
];
pub(in crate::format) const ON_MESSAGE: usize = 8;

/// Notes where the options of a piece, or of its message, mark it.
pub(in crate::format) fn mark(options: Option<&RawValue>, level: usize, piece: &mut Piece) {
    let providers = options.and_then(|options| Object::read(options).ok());
    for (provider, of) in providers.unwrap_or_default() {
        for (name, value) in Object::read(of).unwrap_or_default() {
            let at = MARKED_AT.iter().position(|known| *known == (&*provider, &*name));
            if let Some(at) = at.filter(|_| value != "null") {
                piece.marks |= 1;
                piece.marked_at |= 1u16.checked_shl(count(at.saturating_add(level))).unwrap_or(0);
            }
        }
    }
}

/// Where the markers of a piece stand, as JSON Pointers.
pub(in crate::format) fn marked(piece: &Piece) -> impl Iterator<Item = String> {
    let has = |bit: usize| piece.marked_at.checked_shr(count(bit)).unwrap_or(0) & 1 == 1;
    [(0, piece.place.pointer()), (ON_MESSAGE, String::new())].into_iter().flat_map(
        move |(level, under)| {
            let names = MARKED_AT.iter().enumerate();
            names.filter(move |(at, _)| has(at.saturating_add(level))).map(
                move |(_, (provider, name))| format!("{under}/providerOptions/{provider}/{name}"),
            )
        },
    )
}
