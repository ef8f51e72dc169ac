//! Item names of `OpenAI`'s Responses: those of the API, and those of the Agents SDK, which writes the same
//! items in names of its own. `openai_responses` reads, edits and makes both by these tables.

/// A kind of call, and what answers it.
pub(super) struct Tool {
    pub(super) call: &'static str,
    pub(super) result: &'static str,
    /// The member with what the call asks for.
    pub(super) asks: &'static str,
    /// The member with what the result says.
    pub(super) output_key: &'static str,
    /// The tool's name, where items have none.
    pub(super) name: &'static str,
    /// What it asks for and what it says are text that may be cut: else they are carried as they are.
    pub(super) cut: (bool, bool),
}

/// The names of one host's items.
pub(super) struct Items {
    pub(super) tools: &'static [Tool],
    /// The member with a call's id.
    pub(super) id: &'static str,
    /// Where an approval's request and its response have theirs.
    pub(super) approval: [&'static str; 2],
    /// The members with a summary of reasoning and with what is shown of it, and the type of the summary's parts.
    pub(super) reasoning: [&'static str; 3],
    /// What else the API says of an item stands in `providerData`.
    pub(super) has_data: bool,
}

/// The API's own.
pub(super) const RESPONSES: Items = Items {
    tools: &[
        tool(("function_call", "function_call_output"), ("arguments", "output"), "", (true, true)),
        tool(
            ("custom_tool_call", "custom_tool_call_output"),
            ("input", "output"),
            "",
            (true, true),
        ),
        tool(
            ("local_shell_call", "local_shell_call_output"),
            ("action", "output"),
            "local_shell",
            (false, true),
        ),
        SHELL,
        PATCH,
        tool(
            ("computer_call", "computer_call_output"),
            ("action", "output"),
            "computer",
            (false, false),
        ),
        SEARCH,
        tool(
            ("mcp_approval_request", "mcp_approval_response"),
            ("arguments", "reason"),
            "",
            (false, false),
        ),
    ],
    id: "call_id",
    approval: ["id", "approval_request_id"],
    reasoning: ["summary", "content", "summary_text"],
    has_data: false,
};

/// Those of the Agents SDK.
pub(super) const AGENTS: Items = Items {
    tools: &[
        tool(("function_call", "function_call_result"), ("arguments", "output"), "", (true, true)),
        SHELL,
        PATCH,
        tool(
            ("computer_call", "computer_call_result"),
            ("action", "output"),
            "computer",
            (false, false),
        ),
        SEARCH,
        tool(
            ("mcp_approval_request", "mcp_approval_response"),
            ("providerData", "providerData"),
            "",
            (false, false),
        ),
    ],
    id: "callId",
    approval: ["providerData/id", "providerData/approval_request_id"],
    reasoning: ["content", "rawContent", "input_text"],
    has_data: true,
};

const SHELL: Tool =
    tool(("shell_call", "shell_call_output"), ("action", "output"), "shell", (false, true));
const PATCH: Tool = tool(
    ("apply_patch_call", "apply_patch_call_output"),
    ("operation", "output"),
    "apply_patch",
    (false, true),
);
const SEARCH: Tool = tool(
    ("tool_search_call", "tool_search_output"),
    ("arguments", "tools"),
    "tool_search",
    (false, false),
);

/// The Agents SDK's item for all that the provider runs itself, and for approvals.
pub(super) const HOSTED: &str = "hosted_tool_call";

/// What the provider put in place of earlier items, or is asked to: it stays where it is.
pub(super) const COMPACTION: [&str; 4] =
    ["compaction", "compaction_summary", "context_compaction", "compaction_trigger"];

/// The host's tools and settings for all that follows: they stay where they are, as the system's messages do.
pub(super) const SETTINGS: [&str; 2] = ["additional_tools", "configuration_update"];

/// What the provider runs itself, and what it says at its end: a program, which may call tools of the host's, and a call of another
/// agent.
pub(super) const HOSTED_PAIRS: [[&str; 2]; 2] =
    [["program", "program_output"], ["multi_agent_call", "multi_agent_call_output"]];

/// A reference to an item that the provider keeps.
pub(super) const REFERENCE: &str = "item_reference";

const fn tool(
    (call, result): (&'static str, &'static str),
    (asks, output_key): (&'static str, &'static str),
    name: &'static str,
    cut: (bool, bool),
) -> Tool {
    Tool { call, result, asks, output_key, name, cut }
}

impl Items {
    /// A type that calls or results have here.
    pub(super) fn has(&self, kind: &str) -> bool {
        self.of(kind).is_some()
    }

    /// The tool of a call or a result of this type.
    pub(super) fn of(&self, kind: &str) -> Option<&'static Tool> {
        self.tools.iter().find(|tool| tool.call == kind || tool.result == kind)
    }
}

/// A type that only the API's items have, or the Agents SDK's too.
pub(super) fn is_item(kind: &str) -> bool {
    let ran = [
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
    ];
    kind == "reasoning"
        || kind == REFERENCE
        || ran.contains(&kind)
        || SETTINGS.contains(&kind)
        || HOSTED_PAIRS.as_flattened().contains(&kind)
        || RESPONSES.has(kind)
}

/// A type that only the Agents SDK's items have.
pub(super) fn is_agents(kind: &str) -> bool {
    kind == HOSTED || (AGENTS.has(kind) && !RESPONSES.has(kind))
}
