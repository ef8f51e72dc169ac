//! Output cap: the tokens of an answer that a request may ask for.

use crate::argument::OptionsReader;
use crate::context::options::ONE;
use crate::error::Result;

/// The least that is asked for, and the tokens that stay free unless the host says how many.
const LEAST: u64 = 100;
const BUFFER: u64 = 100;
/// What an estimate of the input is multiplied by unless the host says by what, in thousandths.
const MARGIN: u64 = 1200;

/// The requested output (JSON: `{ requested, window, inputTokens, margin, buffer }`), cut to what the window has left beside
/// the input (G27); as requested if the window is not known.
///
/// # Errors
/// `InvalidArgument`.
pub fn cap_output(json: &str) -> Result<u32> {
    let options = OptionsReader::read(json)?;
    let tokens = |name: &str| options.required(name, 0, u32::MAX.into(), "a number of tokens");
    let (requested, window, input) = (tokens("requested"), tokens("window"), tokens("inputTokens"));
    let margin = options.amount("margin", 3, 1000).unwrap_or(MARGIN);
    let buffer = options.amount("buffer", 0, u32::MAX.into()).unwrap_or(BUFFER);
    let input = input.saturating_mul(margin) / ONE;
    let room = window.saturating_sub(input).saturating_sub(buffer);
    let most = if window == 0 { requested } else { requested.min(room.max(LEAST)) };
    options.checked(Ok(u32::try_from(most).unwrap_or(u32::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cap(requested: u64, window: u64, input: u64, more: &str) -> u32 {
        let json =
            format!(r#"{{"requested":{requested},"window":{window},"inputTokens":{input}{more}}}"#);
        cap_output(&json).unwrap()
    }

    /// F011: `min(requested, window - floor(1.2 * input) - 100)`, at least 100; a window of 0 is not known.
    /// Row G27.
    #[test]
    fn an_answer_is_cut_to_what_the_window_has_left() {
        for (requested, window, input, most) in [
            (8_192, 128_000, 10_000, 8_192),
            (64_000, 128_000, 90_000, 19_900),
            (8_192, 32_000, 30_000, 100),
            (8_192, 0, 30_000, 8_192),
            (4_096, 1_000, 333, 501),
            (50, 32_000, 30_000, 50),
        ] {
            assert_eq!(cap(requested, window, input, ""), most, "{requested} {window} {input}");
        }
        assert_eq!(cap(8_192, 10_000, 5_000, r#","margin":1,"buffer":0"#), 5_000);
        assert_eq!(cap(8_192, 10_000, 5_001, r#","margin":1.5,"buffer":7"#), 2_492);
        let error = cap_output(r#"{"requested":1,"window":-1,"inputTokens":0}"#).unwrap_err();
        assert_eq!(error.to_string(), "window: expected a number from 0 to 4294967295, got -1");
    }
}
