//! Base64 of images and documents: the size of an image, read from its first bytes, since providers refuse large ones beside many
//! others; the pages of a document; the text of a document that is nothing else.

use crate::bytes::base64_digit;
use crate::number::count;

/// Pixels of the longer side; 0 where the header does not say. `base64` is the data, without a prefix.
///
/// Looks at the header only: of a JPEG at the segments before its frame.
pub(super) fn longer_side(base64: &str) -> u32 {
    let data = Data(base64.as_bytes());
    data.sides().map_or(0, |(width, height)| width.max(height))
}

/// How a PDF starts, in base64.
const PDF: &str = "JVBERi0";
/// Base64 of an average page, about 30 kB; and pages that a provider takes at most. A count that is too high only makes room early.
const PAGE: usize = 40_000;
const MOST_PAGES: usize = 100;

/// Pages of a PDF whose base64 stands in `json`, by its size: most have their page objects compressed, where no count is to be
/// read. Anything else is one image.
pub(super) fn pages(json: &str) -> u32 {
    let Some(at) = json.find(PDF) else { return 1 };
    let is_start =
        json.get(..at).is_none_or(|before| before.is_empty() || before.ends_with(['"', ',']));
    let rest = json.get(at..).unwrap_or_default();
    let data = rest.find('"').unwrap_or(rest.len());
    if is_start { count(data.div_ceil(PAGE).min(MOST_PAGES)) } else { 1 }
}

/// The data of a `data:` URL, or of a JSON string that is nothing but base64.
pub(super) fn base64_of(json: &str) -> &str {
    let start = json.find(";base64,").map_or(0, |at| at.saturating_add(8));
    let data = json.get(start..).unwrap_or_default().trim_start_matches('"');
    let end = data.find('"').unwrap_or(data.len());
    data.get(..end).unwrap_or_default()
}

/// What base64 says if it is text, and nothing but base64.
pub(super) fn decoded(base64: &str) -> Option<String> {
    is_base64(base64).then_some(())?;
    let base64 = base64.trim_end_matches('=');
    let data = Data(base64.as_bytes());
    let bytes = (0..base64.len().saturating_mul(3) / 4).map(|at| u8::try_from(data.byte(at)?).ok());
    String::from_utf8(bytes.collect::<Option<_>>()?).ok()
}

/// How the base64 of pictures and documents starts.
const STARTS: [&str; 5] = [PDF, "iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR"];
/// Shorter data may be counted as text: it costs less than an image.
const LEAST_DATA: usize = 1_000;

/// Members of the results of a provider's own tools whose values only the provider can decrypt.
const ENCRYPTED: [&str; 3] = ["encrypted_content", "encryptedContent", "encrypted_stdout"];

/// JSON without the base64 of pictures and documents, how many images these cost, and without what is encrypted, of so many
/// characters. None: it holds neither.
pub(super) fn without_data(json: &str) -> Option<(String, u32, usize)> {
    let is_data = |text: &str| {
        text.len() >= LEAST_DATA
            && (STARTS.iter().any(|start| text.starts_with(start))
                || text.starts_with("data:") && text.contains(";base64,"))
    };
    // No quote is escaped in base64.
    if !json.split('"').any(|text| is_data(text) || ENCRYPTED.contains(&text)) {
        return None;
    }
    let (mut images, mut encrypted) = (0_u32, 0_usize);
    let mut rest = String::new();
    let (mut key, mut colon) = ("", "");
    for text in json.split_inclusive('"') {
        let data = text.trim_end_matches('"');
        if is_data(data) {
            images = images.saturating_add(pages(data));
            rest.push('"');
        } else if ENCRYPTED.contains(&key) && colon.trim() == ":" && is_base64(data) {
            encrypted = encrypted.saturating_add(data.len());
            rest.push('"');
        } else {
            rest.push_str(text);
        }
        (key, colon) = (colon, data);
    }
    Some((rest, images, encrypted))
}

fn is_base64(text: &str) -> bool {
    text.trim_end_matches('=').bytes().all(|character| base64_digit(character).is_some())
}

struct Data<'a>(&'a [u8]);

/// No JPEG has more segments before its frame.
const SEGMENTS: u32 = 64;

impl Data<'_> {
    fn sides(&self) -> Option<(u32, u32)> {
        match self.number(0, 2)? {
            // PNG: the first chunk is IHDR.
            0x8950 => Some((self.number(16, 4)?, self.number(20, 4)?)),
            // GIF: little-endian.
            0x4749 => Some((self.little(6, 2)?, self.little(8, 2)?)),
            0xFFD8 => self.frame(),
            // RIFF....WEBP
            0x5249 => match self.number(12, 4)? {
                0x5650_3858 => Some((
                    self.little(24, 3)?.saturating_add(1),
                    self.little(27, 3)?.saturating_add(1),
                )),
                0x5650_3820 => Some((self.little(26, 2)? & 0x3FFF, self.little(28, 2)? & 0x3FFF)),
                _ => {
                    let bits = self.little(21, 4)?;
                    Some((
                        (bits & 0x3FFF).saturating_add(1),
                        ((bits >> 14) & 0x3FFF).saturating_add(1),
                    ))
                }
            },
            _ => None,
        }
    }

    /// The frame of a JPEG: after segments that say how long they are.
    fn frame(&self) -> Option<(u32, u32)> {
        let mut at: usize = 2;
        for _ in 0..SEGMENTS {
            let marker = self.number(at, 2)?;
            let is_frame =
                matches!(marker, 0xFFC0..=0xFFCF) && !matches!(marker, 0xFFC4 | 0xFFC8 | 0xFFCC);
            if is_frame {
                let width = self.number(at.saturating_add(7), 2)?;
                return Some((width, self.number(at.saturating_add(5), 2)?));
            }
            let length = self.number(at.saturating_add(2), 2)?;
            at = at.saturating_add(2).saturating_add(usize::try_from(length).ok()?);
        }
        None
    }

    fn number(&self, at: usize, bytes: usize) -> Option<u32> {
        (at..at.saturating_add(bytes)).try_fold(0, |sum: u32, at| Some(sum << 8 | self.byte(at)?))
    }

    fn little(&self, at: usize, bytes: usize) -> Option<u32> {
        (at..at.saturating_add(bytes))
            .rev()
            .try_fold(0, |sum: u32, at| Some(sum << 8 | self.byte(at)?))
    }

    /// One byte: three of them stand in four characters.
    fn byte(&self, at: usize) -> Option<u32> {
        let first = (at / 3).saturating_mul(4).saturating_add(at % 3);
        let high = base64_digit(*self.0.get(first)?)?;
        let low = base64_digit(*self.0.get(first.saturating_add(1))?)?;
        Some(match at % 3 {
            0 => high << 2 | low >> 4,
            1 => (high & 15) << 4 | low >> 2,
            _ => (high & 3) << 6 | low,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::arithmetic_side_effects, reason = "three bytes at a time")]
    fn encode(bytes: &[u8]) -> String {
        const SET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for three in bytes.chunks(3) {
            let word = three.iter().fold(0u32, |sum, byte| sum << 8 | u32::from(*byte))
                << (8 * (3 - three.len()));
            for at in 0..=three.len() {
                text.push(char::from(SET[(word >> (18 - 6 * at) & 63) as usize]));
            }
        }
        text
    }

    #[test]
    fn the_header_gives_the_longer_side() {
        let png =
            [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &[0, 0, 7, 208, 0, 0, 7, 209]].concat();
        assert_eq!(longer_side(&encode(&png)), 2001);
        assert_eq!(longer_side(&encode(b"GIF89a\xd0\x07\x01\x00")), 2000);
        let jpeg =
            b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc4\x00\x03x\xff\xc2\x00\x0b\x08\x1f\x40\x00\x10";
        assert_eq!(longer_side(&encode(jpeg)), 8000);
        let extended = b"RIFF....WEBPVP8X\x0a\0\0\0\0\0\0\0\x0f\x27\0\xff\x00\0";
        assert_eq!(longer_side(&encode(extended)), 10_000);
        assert_eq!(
            longer_side(&encode(b"RIFF....WEBPVP8 ....\0\0\0\x9d\x01\x2a\x40\x06\xe8\x03")),
            1600
        );
        assert_eq!(longer_side(&encode(b"RIFF....WEBPVP8L....\x2f\xff\xc0\x07\0")), 256);
    }

    #[test]
    fn broken_and_truncated_images_have_no_size() {
        for text in ["", "iVBORw0KGgo", "////", "é", "0M8R4KGxGuEAAAAA", "/9j/////////////////"] {
            assert_eq!(longer_side(text), 0, "{text}");
        }
    }

    #[test]
    fn pdf_pages_are_estimated_from_its_size() {
        let of = |bytes: usize| [PDF, &"A".repeat(bytes / 3 * 4 - PDF.len())].concat();
        for (bytes, expected) in [(300, 1), (30_000, 1), (99_999, 4), (9_000_000, 100)] {
            let data = of(bytes);
            let url = format!(
                "{{\"file_data\":\"data:application/pdf;base64,{data}\",\"filename\":\"a.pdf\"}}"
            );
            let source = format!("{{\"media_type\":\"application/pdf\",\"data\":\"{data}\"}}");
            for json in [&data, &url, &source] {
                assert_eq!(pages(json), expected, "{bytes}");
            }
        }
        let image = format!("\"iVBORw0KGgo{}\"", of(99_999));
        assert_eq!((pages(&image), pages(""), pages("\"a\"")), (1, 1, 1));
    }

    #[test]
    fn data_is_a_string_or_a_data_url() {
        assert_eq!(base64_of("\"abc\""), "abc");
        assert_eq!(base64_of(r#"{"url":"data:image/png;base64,abc","detail":"low"}"#), "abc");
    }
}
