//! Identifiers in a text: by windows of 64 bytes where the build has vectors, else byte by byte.

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
use crate::text::scan::by_bytes;

/// Tells `found` every identifier of `text` with its byte offset, from left to right, repetitions too; for a path with
/// a telling base name also that.
///
/// Identifiers have 4 to 200 characters. Only the first 400,000 characters are looked at. Takes time linear in the text,
/// whatever is in it, and no memory.
///
/// # Example
///
/// ```
/// let mut all = Vec::new();
/// plimsoll::text::identifiers("see src/main.rs, issue ABC-123 (#4711)", &mut |id, at| all.push((at, id)));
/// assert_eq!(all, [(4, "src/main.rs"), (8, "main.rs"), (23, "ABC-123"), (32, "#4711")]);
/// ```
pub fn identifiers<'a>(text: &'a str, found: &mut dyn FnMut(&'a str, usize)) {
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    super::windows::identifiers(text, found);
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    by_bytes(text, found);
}
