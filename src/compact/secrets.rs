//! The forms of secrets, as their makers document them.

/// What stands behind a prefix.
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

/// A token: its prefix, and the least that stands behind it.
pub(super) struct Secret {
    pub(super) prefix: &'static str,
    pub(super) least: u8,
    pub(super) kind: Kind,
}

const fn plain(prefix: &'static str, least: u8) -> Secret {
    Secret { prefix, least, kind: Kind::Plain }
}

const fn wide(prefix: &'static str, least: u8) -> Secret {
    Secret { prefix, least, kind: Kind::Wide }
}

const fn dotted(prefix: &'static str, least: u8) -> Secret {
    Secret { prefix, least, kind: Kind::Dotted }
}

const fn exact(prefix: &'static str, least: u8) -> Secret {
    Secret { prefix, least, kind: Kind::Exact }
}

const fn hex(prefix: &'static str, least: u8) -> Secret {
    Secret { prefix, least, kind: Kind::Hex }
}

/// Tokens by their prefixes; of two that begin alike the longer stands first.
pub(super) const TOKENS: [Secret; 88] = [
    wide("sk-ant-", 20),
    wide("sk-proj-", 20),
    wide("sk-svcacct-", 20),
    wide("sk-admin-", 20),
    wide("sk-or-v1-", 32),
    wide("sk-lf-", 20),
    wide("pk-lf-", 20),
    plain("sk-", 20),
    plain("sk_live_", 16),
    plain("sk_test_", 16),
    plain("rk_live_", 16),
    plain("rk_test_", 16),
    plain("whsec_", 16),
    plain("ghp_", 30),
    plain("gho_", 30),
    plain("ghu_", 30),
    plain("ghs_", 30),
    plain("ghr_", 30),
    wide("github_pat_", 22),
    wide("glpat-", 20),
    wide("gldt-", 20),
    wide("glrt-", 20),
    wide("glptt-", 20),
    wide("glcbt-", 20),
    wide("xoxb-", 20),
    wide("xoxp-", 20),
    wide("xoxa-", 20),
    wide("xoxr-", 20),
    wide("xoxs-", 20),
    dotted("xoxe.", 20),
    wide("xapp-", 20),
    dotted("hooks.slack.com/services/", 20),
    exact("AKIA", 16),
    exact("ASIA", 16),
    exact("ABIA", 16),
    exact("ACCA", 16),
    wide("AIza", 35),
    wide("ya29.", 20),
    wide("GOCSPX-", 20),
    dotted("1//0", 30),
    plain("npm_", 30),
    wide("pypi-", 40),
    hex("dop_v1_", 64),
    hex("doo_v1_", 64),
    hex("dor_v1_", 64),
    plain("hf_", 30),
    plain("gsk_", 40),
    plain("xai-", 40),
    plain("pplx-", 40),
    plain("r8_", 30),
    dotted("SG.", 40),
    hex("key-", 32),
    hex("shpat_", 32),
    hex("shpss_", 32),
    hex("shpca_", 32),
    hex("shppa_", 32),
    wide("sq0atp-", 20),
    wide("sq0csp-", 40),
    wide("dckr_pat_", 20),
    wide("hvs.", 20),
    wide("hvb.", 20),
    plain("lin_api_", 30),
    plain("ntn_", 40),
    plain("secret_", 40),
    wide("figd_", 30),
    wide("PMAK-", 40),
    hex("rubygems_", 48),
    hex("dapi", 32),
    wide("NRAK-", 24),
    dotted("sntrys_", 40),
    hex("sntryu_", 64),
    plain("phx_", 30),
    wide("glsa_", 32),
    exact("AGE-SECRET-KEY-1", 58),
    wide("nvapi-", 40),
    wide("tvly-", 20),
    dotted("ATATT3", 60),
    plain("ATBB", 30),
    wide("tskey-", 16),
    hex("sbp_", 40),
    wide("pscale_tkn_", 30),
    wide("pscale_pw_", 30),
    wide("CFPAT-", 40),
    plain("EAACEdEose0cBA", 20),
    wide("sgp_", 40),
    dotted("EwB", 120),
    wide("rnd_", 28),
    plain("fo1_", 40),
];

/// What stands between a word and its value: one sign.
pub(super) const ASSIGNED: [char; 2] = ['=', ':'];

/// Words whose value is a secret, as the end of a name: `DB_PASSWORD`, `aws_secret_access_key`, `x-api-key`.
pub(super) const WORDS: [&str; 26] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "secret_key",
    "secretkey",
    "secret_access_key",
    "secretaccesskey",
    "client_secret",
    "clientsecret",
    "api_key",
    "api-key",
    "apikey",
    "access_key",
    "accesskey",
    "accountkey",
    "private_key",
    "signing_key",
    "encryption_key",
    "access_token",
    "refresh_token",
    "auth_token",
    "token",
    "sharedaccesskey",
    "cookie",
];
