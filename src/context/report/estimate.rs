//! Estimate of a request by kind of content.

use crate::argument;
use crate::context::request::provider_limits::oversize_request;
use crate::error::{Error, Result};
use crate::json::{self, Shape, Type, optional, required};

use crate::context::session::Session;
use crate::context::transcript::dialect::validity_options_for;
use crate::model::{Kind, MessageId, Role, Violation};
use crate::validity;

json::json_struct! {
    /// Tokens and characters of a request.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[cfg_attr(test, derive(ts_rs::TS), ts(rename_all = "camelCase"))]
    pub struct Estimate {
        /// All tokens of the request.
        pub tokens: u64,
        /// UTF-16 code units of texts, arguments, results, system prompt and tool definitions.
        pub chars: u64,
        /// The tokens by kind; they sum to `tokens`.
        pub by_kind: ByKind,
    }
}

json::json_struct! {
    /// Tokens of a request by kind.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[cfg_attr(test, derive(ts_rs::TS), ts(rename_all = "camelCase"))]
    pub struct ByKind {
        /// Text of the user and the model.
        pub text: u64,
        /// Reasoning.
        pub thinking: u64,
        /// Arguments of tool calls.
        pub tool_call: u64,
        /// Tool results, including their images.
        pub tool_result: u64,
        /// Images outside tool results.
        pub image: u64,
        /// Tool definitions.
        pub tools: u64,
        /// System prompt, separate or among the messages.
        pub system: u64,
        /// Fixed costs: 4 for each message, 20 and the tool's name for each call, 10 for each result.
        pub overhead: u64,
    }
}

json::json_struct! {
    /// Comparison of a request with its window. All sizes are estimated tokens.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[cfg_attr(test, derive(ts_rs::TS), ts(rename_all = "camelCase"))]
    pub struct BudgetCheck {
        /// Tokens of the system prompt.
        pub system_prompt_tokens: u64,
        /// Tokens of the tool definitions.
        pub tool_definition_tokens: u64,
        /// Tokens of the messages.
        pub message_tokens: u64,
        /// Tokens of everything, including `unseenTokens`.
        pub total_estimated: u64,
        /// The usable window: `contextTokens - maxOutputTokens`, at least 0.
        pub available_tokens: u64,
        /// True if the request is larger than the usable window. Always false if the window is unknown (0).
        pub over_budget: bool,
        /// Tokens above the usable window; 0 if the request fits.
        pub excess_tokens: u64,
    }
}

/// A window as it is checked against: the answer may be held back more than there is.
const WINDOW: Shape = Shape {
    what: "a window: { contextTokens, maxOutputTokens }",
    members: &[
        required("contextTokens", Type::Integer),
        optional("maxOutputTokens", Type::Integer),
    ],
    closed: true,
};

/// The estimate beside the room of a window (JSON), by `AceClaw`'s figures (A41).
///
/// # Errors
/// `InvalidArgument` names what is no window.
pub fn check_budget(session: &Session, window: &str) -> Result<BudgetCheck> {
    let refused = |got: &dyn std::fmt::Display| Error::argument("window", WINDOW.what, got);
    let mut window = argument::read(&WINDOW, window, format_args!("window"))?;
    let mut tokens = |name| {
        let tokens = window.integer(name).unwrap_or(0);
        u64::try_from(tokens).map_err(|_| refused(&tokens))
    };
    let (context, output) = (tokens("contextTokens")?, tokens("maxOutputTokens")?);
    let total = estimate_history(session).tokens;
    let available = context.saturating_sub(output);
    let excess = if context == 0 { 0 } else { total.saturating_sub(available) };
    Ok(BudgetCheck {
        system_prompt_tokens: session.request.extras.system,
        tool_definition_tokens: session.request.extras.tools,
        message_tokens: total.saturating_sub(session.request.extras.total()),
        total_estimated: total,
        available_tokens: available,
        over_budget: excess > 0,
        excess_tokens: excess,
    })
}

/// What the whole history and its parts are estimated to hold, before any edit.
pub fn estimate_history(session: &Session) -> Estimate {
    let mut kinds = ByKind {
        tools: session.request.extras.tools,
        system: session.request.extras.system,
        overhead: session.request.extras.unseen,
        ..ByKind::default()
    };
    let mut chars = session.request.extras.chars.0.saturating_add(session.request.extras.chars.1);
    for block in &session.transcript.ledger.blocks {
        let overhead = block.overhead;
        let role = session.transcript.ledger.message(block.message).map(|message| message.role);
        let kind = match block.kind {
            Kind::Text | Kind::Other if role == Some(Role::System) => &mut kinds.system,
            Kind::Text | Kind::Other => &mut kinds.text,
            Kind::Thinking => &mut kinds.thinking,
            Kind::Call => &mut kinds.tool_call,
            Kind::Result => &mut kinds.tool_result,
            Kind::Image => &mut kinds.image,
        };
        *kind = kind.saturating_add(u64::from(block.tokens.saturating_sub(overhead)));
        kinds.overhead = kinds.overhead.saturating_add(u64::from(overhead));
        chars = chars.saturating_add(u64::from(block.chars));
    }
    let all = [
        kinds.text,
        kinds.thinking,
        kinds.tool_call,
        kinds.tool_result,
        kinds.image,
        kinds.tools,
        kinds.system,
        kinds.overhead,
    ];
    Estimate { tokens: all.iter().sum(), chars, by_kind: kinds }
}

/// The messages after the model's last, which no usage of a response counts yet.
pub fn estimate_since_reply(session: &Session) -> u64 {
    let reply = session.transcript.ledger.messages.rposition(|it| it.role == Role::Assistant);
    let later = |message: MessageId| reply.is_none_or(|reply| message.index() > reply);
    let blocks = session.transcript.ledger.blocks.iter().filter(|block| later(block.message));
    blocks.fold(0, |sum, block| sum.saturating_add(u64::from(block.tokens)))
}

/// Rules of the provider that the history itself breaks.
pub fn check_history(session: &Session, thinking: bool) -> Vec<Violation> {
    let options = request_options(session, thinking);
    let outlines = session.transcript.outlines.iter().map(|it| &**it);
    let mut violations = validity::check(outlines, session.transcript.dialect.provider, options);
    violations.extend(oversize_request(session));
    violations
}

/// What is known of the request beside its messages.
pub(in crate::context) fn request_options(session: &Session, thinking: bool) -> validity::Options {
    validity::Options {
        tools: session.request.extras.definitions.map(|definitions| definitions > 0),
        marks: session.request.extras.marks,
        open: session.request.extras.open,
        ..validity_options_for(session.transcript.dialect.format, thinking)
    }
}
