//! The forms of secrets, as their makers document them.

/// What stands after a prefix.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters and digits.
    Plain,
    /// The same, with `_` and `-`.
    Wide,
    /// The same, with `.` too, and `=`, `+`, `/`, `:`.
    Dotted,
    /// Capitals and digits, exactly so many.
    Exact,
    /// Lower-case hexadecimal digits, exactly so many.
    Hex,
}

impl Kind {
    /// Whether the sign may stand there.
    pub(super) fn has(self, byte: u8) -> bool {
        let word = byte.is_ascii_alphanumeric();
        match self {
            Self::Plain => word,
            Self::Wide => word || byte == b'_' || byte == b'-',
            Self::Dotted => word || b"_-.=+/:".contains(&byte),
            Self::Exact => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
        }
    }
}

/// Tokens of one form: their prefixes, and the least that stands after one. Few strings: each would cost the Wasm a place.
pub(super) struct Family {
    pub(super) kind: Kind,
    pub(super) least: u8,
    /// The first bytes of the prefixes, each as one bit: few prefixes need to be read for a text.
    first: u32,
    /// The same of the second bytes.
    second: u32,
    prefixes: &'static str,
}

impl Family {
    /// Whether a text may start with one of the prefixes.
    pub(super) fn may_start(&self, text: &[u8]) -> bool {
        matches!(text, [one, two, ..] if self.first & bit(*one) != 0 && self.second & bit(*two) != 0)
    }

    pub(super) fn prefixes(&self) -> impl Iterator<Item = &'static [u8]> {
        words(self.prefixes)
    }
}

/// The words of a list. A search for a character takes longer, where words are short.
pub(super) fn words(list: &'static str) -> impl Iterator<Item = &'static [u8]> {
    list.as_bytes().split(|byte| *byte == b' ')
}

const fn family(kind: Kind, least: u8, prefixes: &'static str) -> Family {
    let (mut first, mut second) = (0, 0);
    let mut place = 0_u8;
    let mut rest = prefixes.as_bytes();
    while let [byte, after @ ..] = rest {
        match place {
            0 => first |= bit(*byte),
            1 => second |= bit(*byte),
            _ => {}
        }
        place = if *byte == b' ' { 0 } else { place.saturating_add(1) };
        rest = after;
    }
    Family { kind, least, first, second, prefixes }
}

/// Digits and signs have bits that few prefixes start with.
const fn bit(byte: u8) -> u32 {
    1_u32.rotate_left((byte ^ byte >> 5) as u32)
}

/// The shortest token, with its prefix.
pub(super) const SHORTEST: usize = 20;

/// Whether a prefix below starts so, or a bot's number. A test tries every prefix.
pub(super) fn may_start(byte: u8) -> bool {
    b"ACEGHNPSacdfghklnprstvwxy0123456789".contains(&byte)
}

/// All tokens that are known by their prefix.
pub(super) const FAMILIES: [Family; 28] = [
    family(Kind::Wide, 16, "tskey-"),
    family(
        Kind::Wide,
        20,
        "sk-ant- sk-proj- sk-svcacct- sk-admin- sk-lf- sk-kimi- sk-cp- sk-helicone- sk-litellm- sk-None- pk-lf-",
    ),
    family(
        Kind::Wide,
        20,
        "glpat- gldt- glrt- glptt- glcbt- glagent- gloas- glft- glsoat- glimt- glffct- GR1348941 xoxb- xoxp- xoxa- xoxr- xoxs- xoxc- xoxd- xapp- GOCSPX- sq0atp- dckr_pat_ dckr_oat_ lin_oauth_ hvs. hvb. tvly- sb_secret_ tgp_v1_ pcsk_ lsv2_ xkeysib- HRKU-AA",
    ),
    family(Kind::Wide, 22, "github_pat_"),
    family(Kind::Wide, 24, "NRAK-"),
    family(Kind::Wide, 28, "rnd_"),
    family(Kind::Wide, 30, "figd_ pscale_tkn_ pscale_pw_"),
    family(Kind::Wide, 32, "sk-or-v1- glsa_"),
    family(Kind::Wide, 35, "AIza"),
    family(Kind::Wide, 38, "AQ.Ab"),
    family(Kind::Wide, 40, "wandb_v1_ pypi- sq0csp- PMAK- nvapi- CFPAT- sgp_"),
    family(Kind::Plain, 16, "sk_live_ sk_test_ rk_live_ rk_test_ whsec_"),
    family(Kind::Plain, 20, "sk- EAACEdEose0cBA"),
    family(Kind::Plain, 24, "vck_ vcp_ nfp_"),
    family(Kind::Plain, 30, "ghp_ gho_ ghu_ ghs_ ghr_ npm_ hf_ r8_ lin_api_ phx_ ATBB"),
    family(Kind::Plain, 40, "gsk_ xai- pplx- ntn_ secret_ fo1_ csk- cfut_ cfat_ cfk_"),
    family(
        Kind::Dotted,
        20,
        "xoxe. xoxe- ya29. hooks.slack.com/services/ hooks.slack.com/triggers/",
    ),
    family(Kind::Dotted, 30, "1//0"),
    family(Kind::Dotted, 40, "SG. sntrys_"),
    family(Kind::Dotted, 60, "ATATT3 ATCTT3 api/webhooks/"),
    family(Kind::Dotted, 100, "ABSK"),
    family(Kind::Dotted, 120, "EwB"),
    family(Kind::Exact, 16, "AKIA ASIA ABIA ACCA"),
    family(Kind::Exact, 58, "AGE-SECRET-KEY-1"),
    family(Kind::Hex, 32, "key- shpat_ shpss_ shpca_ shppa_ dapi"),
    family(Kind::Hex, 40, "sbp_"),
    family(Kind::Hex, 48, "rubygems_"),
    family(Kind::Hex, 64, "dop_v1_ doo_v1_ dor_v1_ sntryu_"),
];

/// The longest of the words below.
pub(super) const LONGEST_WORD: usize = 17;

/// Words whose value is a secret, as the end of a name: `DB_PASSWORD`, `aws_secret_access_key`, `x-api-key`. Two spaces start the
/// next group.
pub(super) const WORDS: &str = "password pgpassword passwd passphrase  pwd  secret secret_key secretkey secret_access_key secretaccesskey client_secret clientsecret api_key api-key apikey accountkey private_key signing_key encryption_key access_token access-token refresh_token auth_token auth-token sharedaccesskey  token authtoken access_key accesskey client-key-data  cookie  pass  privatekey private-key  key  auth  authorization";

/// The value may be a sentence.
pub(super) const PASSWORD: u8 = 0;
/// The word also names the folder that a shell is in.
pub(super) const PWD: u8 = 1;
/// From this group on, a word also names parts of a language or a page: only what has letters and digits is a secret.
pub(super) const CODE: u8 = 3;
pub(super) const COOKIE: u8 = 4;
/// The word also names passes of a renderer and tests that pass.
pub(super) const PASS: u8 = 5;
/// The word also names keys that are bytes, and files of keys.
pub(super) const PRIVATE: u8 = 6;
/// The word also names keys of tables, of caches, of a keyboard.
pub(super) const KEY: u8 = 7;
/// The value is base64 of a user and a password, as Docker keeps it. The word also names kinds of logins.
pub(super) const AUTH: u8 = 8;
/// The value follows the word `token`.
pub(super) const HEADER: u8 = 9;
/// No word: a scheme like `Bearer`.
pub(super) const SCHEME: u8 = 10;

/// Names before `KEY` whose value is known to others, or a hash.
pub(super) const OPEN_KEYS: &str = "PUBLIC_ CACHE_ GPG_ HASH_ OBJECT_ IDEMPOTENCY_";
