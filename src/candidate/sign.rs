//! Signatures: HMAC-SHA256 over bytes that can be read in one way only.

use hmac::digest::{CtOutput, FixedOutput, KeyInit, Update};
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// Bytes of a signature.
pub(super) const SIGNATURE: usize = 32;
/// The least that a key has: as many as a signature.
const LEAST_KEY: usize = 32;

/// The host's key, as what it makes of the hash: the bytes themselves are not kept, and it is wiped when it goes.
#[derive(Clone)]
pub struct Key(Hmac<Sha256>);

impl Key {
    /// A key of 32 bytes or more.
    ///
    /// # Errors
    /// `InvalidArgument` with their number, never with a byte of them.
    pub fn new(bytes: &[u8]) -> Result<Self> {
        let short =
            || Error::argument("sign.key", "32 bytes or more", format_args!("{}", bytes.len()));
        if bytes.len() < LEAST_KEY {
            return Err(short());
        }
        Hmac::new_from_slice(bytes).map(Self).map_err(|_| short())
    }

    /// The signature of bytes.
    pub fn sign(&self, bytes: &[u8]) -> [u8; SIGNATURE] {
        let mut mac = self.0.clone();
        Mac::update(&mut mac, bytes);
        mac.finalize_fixed().into()
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// Whether two signatures are the same, in a time that does not tell where they differ.
pub(super) fn is_same(a: [u8; SIGNATURE], b: [u8; SIGNATURE]) -> bool {
    CtOutput::<Sha256>::new(a.into()) == CtOutput::new(b.into())
}

/// Parts as one text of bytes, each after its length (4 bytes, the highest first): no part can pass for the end of another.
pub(super) fn joined(parts: &[&[u8]]) -> Vec<u8> {
    let mut all = Vec::new();
    for part in parts {
        all.extend(u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
        all.extend_from_slice(part);
    }
    all
}

/// SHA-256 of such parts.
pub(super) fn digest(parts: &[&[u8]]) -> [u8; SIGNATURE] {
    let mut hash = Sha256::new();
    for part in parts {
        Update::update(&mut hash, &u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
        Update::update(&mut hash, part);
    }
    hash.finalize().into()
}

/// Bytes as hexadecimal digits, in lower case.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |four: u8| char::from_digit(four.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The signature that 64 such digits are. Others, or upper case, are none: one signature is written in one way.
pub(super) fn unhex(digits: &str) -> Option<[u8; SIGNATURE]> {
    let mut bytes = [0; SIGNATURE];
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if pairs.len() != SIGNATURE || !rest.is_empty() {
        return None;
    }
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit.wrapping_sub(b'0')),
        b'a'..=b'f' => Some(digit.wrapping_sub(b'a').wrapping_add(10)),
        _ => None,
    };
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = (value(*high)? << 4) | value(*low)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, cases 6 (a key longer than a block) and, with its key filled up to 32 bytes, 2: zeros at its end change no HMAC.
    #[test]
    fn signatures_match_the_test_vectors_of_hmac_sha256() {
        let key = Key::new(&[0xaa; 131]).unwrap();
        let signed = key.sign(b"Test Using Larger Than Block-Size Key - Hash Key First");
        assert_eq!(
            hex(&signed),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
        let mut jefe = [0; 32];
        jefe[..4].copy_from_slice(b"Jefe");
        assert_eq!(
            hex(&Key::new(&jefe).unwrap().sign(b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            hex(&digest(&[b""])),
            // SHA-256 of four zero bytes.
            "df3f619804a92fdb4057192dc43dd748ea778adc52bc498ce80524c014b81119"
        );
    }

    #[test]
    fn a_key_has_32_bytes_and_is_never_shown() {
        let error = Key::new(&[7; 31]).unwrap_err();
        assert_eq!(error.to_string(), "sign.key: expected 32 bytes or more, got 31");
        assert_eq!(format!("{:?}", Key::new(&[7; 32]).unwrap()), "Key");
    }

    #[test]
    fn no_part_passes_for_the_end_of_another() {
        assert_ne!(joined(&[b"ab", b"c"]), joined(&[b"a", b"bc"]));
        assert_ne!(joined(&[b"", b"a"]), joined(&[b"a", b""]));
        assert_eq!(joined(&[b"a"]), [0, 0, 0, 1, b'a']);
    }

    #[test]
    fn a_signature_is_written_in_one_way() {
        let bytes = [0xaf; SIGNATURE];
        assert_eq!(unhex(&hex(&bytes)), Some(bytes));
        assert!(is_same(bytes, bytes));
        for at in 0..SIGNATURE * 8 {
            let mut other = bytes;
            other[at / 8] ^= 1 << (at % 8);
            assert!(!is_same(bytes, other));
        }
        for wrong in [hex(&bytes).to_uppercase(), "a".repeat(63), "a".repeat(65), "é".repeat(32)] {
            assert_eq!(unhex(&wrong), None, "{wrong}");
        }
    }
}
