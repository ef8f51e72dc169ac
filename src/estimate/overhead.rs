//! Tokens of a request beside its text.
//!
//! The four overheads are those of `AceClaw`'s estimator: a message is 4 and its blocks; a tool call its name, its
//! arguments as JSON text and 20; a result its content and 10; a tool definition its name, description, schema as JSON
//! text and 10. Images and opaque reasoning are not counted there; a request is not smaller for that.

/// A message, beside its blocks.
pub const MESSAGE: u32 = 4;
/// A tool call, beside its name and arguments.
pub const CALL: u32 = 20;
/// A tool result, beside its content.
pub const RESULT: u32 = 10;
/// A tool definition, beside its name, description and schema.
pub const DEFINITION: u32 = 10;

/// An image of unknown size: about what providers ask for one that fills their limits.
///
/// ```
/// assert_eq!(plimsoll::estimate::image_tokens(), 1_500);
/// ```
pub const fn image_tokens() -> u32 {
    1_500
}

/// Reasoning of which only a signature or encrypted content of `chars` characters is there: a sixth of them. Base64 takes four
/// characters for three bytes, and a token is some four and a half bytes.
///
/// ```
/// assert_eq!(plimsoll::estimate::opaque_tokens(13), 3);
/// ```
pub const fn opaque_tokens(chars: u32) -> u32 {
    chars.div_ceil(6)
}

/// Results of a provider's own tools that come encrypted, such as the pages of Anthropic's web search: three tokens for eight of
/// `chars` characters. Base64 takes four characters for three bytes, and the model reads the text behind it. Of recorded requests
/// the provider counted a token for 2.9 (weather, full of figures) to 3.8 characters (news); the byte pairs of a tokenizer, which
/// see random letters, count one for 1.4.
///
/// ```
/// assert_eq!(plimsoll::estimate::encrypted_tokens(31_108), 11_666);
/// ```
pub const fn encrypted_tokens(chars: u32) -> u32 {
    // Exact, and no sum overflows.
    (chars / 8).saturating_mul(3).saturating_add((chars % 8).saturating_mul(3).div_ceil(8))
}
