// Written by `cargo test types`. Not to be edited.

/**
 * What is wrong, where, and what is allowed. As JSON it is the `info` of a `PlimsollError`.
 */
export type CoreError = { "code": "INVALID_ARGUMENT", 
/**
 * Name of the argument, with its path if it is nested: `window.contextTokens`.
 */
argument: string, 
/**
 * What is allowed.
 */
expected: string, 
/**
 * What was passed, as text.
 */
got: string, } | { "code": "UNKNOWN_FORMAT", 
/**
 * What the first messages looked like.
 */
saw: string, } | { "code": "MALFORMED_MESSAGE", 
/**
 * Index of the message in the history.
 */
index: number, 
/**
 * JSON Pointer into the message, or `line L column C` of its JSON.
 */
path: string, 
/**
 * What is allowed there.
 */
expected: string, } | { "code": "TOO_LARGE", 
/**
 * What is too large.
 */
what: string, 
/**
 * Its size, in bytes or UTF-16 code units.
 */
size: number, 
/**
 * The largest size that is allowed, in the same unit.
 */
cap: number, } | { "code": "STALE_PLAN", 
/**
 * The history that the plan was made for.
 */
planned: string, 
/**
 * The history now.
 */
found: string, } | { "code": "CORRUPT_STATE", 
/**
 * The snapshot or record.
 */
what: string, 
/**
 * What does not verify.
 */
reason: string, };

/**
 * Operation on one of your messages, as in RFC 6902 (JSON Patch).
 */
export type Op = { "op": "add", 
/**
 * JSON Pointer into the message.
 */
path: string, 
/**
 * The new value.
 */
value: unknown, } | { "op": "replace", 
/**
 * JSON Pointer into the message.
 */
path: string, 
/**
 * The new value.
 */
value: unknown, } | { "op": "remove", 
/**
 * JSON Pointer into the message.
 */
path: string, };

/**
 * Violation of a provider's rule.
 */
export type Violation = { 
/**
 * Id of a rule in `docs/rules.md`.
 */
rule: string, 
/**
 * Index of the message.
 */
index: number, 
/**
 * JSON Pointer into the message.
 */
path?: string, 
/**
 * What is wrong and what the provider expects, in words.
 */
message: string, };

/**
 * Tokens and characters of a request.
 */
export type Estimate = { 
/**
 * All tokens of the request.
 */
tokens: number, 
/**
 * UTF-16 code units of texts, arguments, results, system prompt and tool definitions.
 */
chars: number, 
/**
 * The tokens by kind; they sum to `tokens`.
 */
byKind: ByKind, };

/**
 * Tokens of a request by kind.
 */
export type ByKind = { 
/**
 * Text of the user and the model.
 */
text: number, 
/**
 * Reasoning.
 */
thinking: number, 
/**
 * Arguments of tool calls.
 */
toolCall: number, 
/**
 * Tool results, including their images.
 */
toolResult: number, 
/**
 * Images outside tool results.
 */
image: number, 
/**
 * Tool definitions.
 */
tools: number, 
/**
 * System prompt, separate or among the messages.
 */
system: number, 
/**
 * Fixed costs: 4 for each message, 20 and the tool's name for each call, 10 for each result.
 */
overhead: number, };

/**
 * Comparison of a request with its window. All sizes are estimated tokens.
 */
export type BudgetCheck = { 
/**
 * Tokens of the system prompt.
 */
systemPromptTokens: number, 
/**
 * Tokens of the tool definitions.
 */
toolDefinitionTokens: number, 
/**
 * Tokens of the messages.
 */
messageTokens: number, 
/**
 * Tokens of everything, including `unseenTokens`.
 */
totalEstimated: number, 
/**
 * The usable window: `contextTokens - maxOutputTokens`, at least 0.
 */
availableTokens: number, 
/**
 * True if the request is larger than the usable window. Always false if the window is unknown (0).
 */
overBudget: boolean, 
/**
 * Tokens above the usable window; 0 if the request fits.
 */
excessTokens: number, };

/**
 * Change to one message of your history, new in this request.
 */
export type Edit = { 
/**
 * Index of the message in your history.
 */
index: number, 
/**
 * All operations on the message; empty if it is no longer sent.
 */
ops: Array<Op>, 
/**
 * Name of the rule that changed it.
 */
rule: string, 
/**
 * Tokens of the message before this edit.
 */
tokensBefore: number, 
/**
 * Tokens of the message after it.
 */
tokensAfter: number, 
/**
 * Reference for `recall`, which returns the original text of its first shortened block.
 */
ref?: string, };

/**
 * Explanation of how a message is sent, and why.
 */
export type Explanation = { 
/**
 * Index of the message in the history.
 */
index: number, 
/**
 * `kept`: nothing is cut or left out. `capped`: head and tail of a long body. `stubbed`: one line in place of a body. `thinned`:
 * some blocks are left out. `summarized`: replaced by a summary. `dropped`: not sent.
 */
state: "kept" | "capped" | "stubbed" | "thinned" | "summarized" | "dropped", 
/**
 * Name of the rule that changed it; `keep` if none did. `repair` if only a repair did: it filled an empty result, for example.
 */
rule: string, 
/**
 * Facts behind the rule, in words, and what was repaired in the message or beside it.
 */
evidence: Array<string>, 
/**
 * Tokens of the original.
 */
tokensBefore: number, 
/**
 * Tokens as it is sent.
 */
tokensAfter: number, 
/**
 * Messages with the same number are kept or removed together. Its own index if it is alone.
 */
group: number, 
/**
 * Number of its turn.
 */
turn: number, 
/**
 * When something of it was cut or left out; `null` if nothing was.
 */
since: Since | null, 
/**
 * What would bring the original back, in words.
 */
restore: string, };

/**
 * Request in which a message was changed.
 */
export type Since = { 
/**
 * Number of the epoch that the change ended.
 */
epoch: number, 
/**
 * Assistant messages in the history before that request.
 */
call: number, };

/**
 * Blocks of one kind in a request.
 */
export type Bucket = { 
/**
 * `system`, `tools`, `user`, `assistant`, `thinking`, `image`, `call NAME` or `result NAME` of a tool; `head`: the message that
 * replaces folded ones; `unseen`: `unseenTokens`; `pins`: pinned texts; `made`: synthetic messages that repair the history.
 */
bucket: string, 
/**
 * Number of blocks.
 */
blocks: number, 
/**
 * Tokens of the originals; 0 for `head` and `made`.
 */
tokens: number, 
/**
 * Tokens as they are sent.
 */
sentTokens: number, 
/**
 * Number of blocks that are sent unchanged.
 */
kept: number, 
/**
 * Number of blocks of which head and tail are sent.
 */
capped: number, 
/**
 * Number of blocks in whose place one line is sent.
 */
stubbed: number, 
/**
 * Number of blocks that are not sent.
 */
gone: number, };

/**
 * Message of the history, and how much of it is sent.
 */
export type ListedMessage = { 
/**
 * Its index in the history.
 */
index: number, 
/**
 * `system`, `user`, `assistant` or `tool`.
 */
role: string, 
/**
 * Kind of its largest block.
 */
kind: string, 
/**
 * Name of the tool, if the largest block is a tool call or a tool result.
 */
tool?: string, 
/**
 * Bucket of its largest block, as in `Bucket.bucket`.
 */
bucket: string, 
/**
 * Tokens of the original.
 */
tokens: number, 
/**
 * Tokens as it is sent.
 */
sentTokens: number, 
/**
 * How it is sent; see `Explanation.state`.
 */
state: "kept" | "capped" | "stubbed" | "thinned" | "summarized" | "dropped", 
/**
 * Name of the rule that changed it; `keep` if none did, `repair` if only a repair did.
 */
rule: string, 
/**
 * Number of its turn.
 */
turn: number, 
/**
 * Messages with the same number are kept or removed together. Its own index if it is alone.
 */
group: number, };

/**
 * How a window is used, in tokens: `used + reserve + free` is the whole window.
 */
export type WindowReport = { 
/**
 * Tokens of the last request.
 */
used: number, 
/**
 * Tokens held back for the answer.
 */
reserve: number, 
/**
 * Tokens that are left; negative if the request is too large or the window is unknown.
 */
free: number, 
/**
 * Size above which room is made; `null` if the window is unknown or nothing is decided.
 */
trigger: number | null, 
/**
 * Size that is then aimed for; `null` if the window is unknown or nothing is decided.
 */
target: number | null, };

/**
 * Prices in uncached input tokens, if nothing else is said; the time in milliseconds.
 */
export const PRICES: { cacheRead: number, cacheWrite: number, output: number, cacheTtlMs: number, } = { cacheRead: 0.1, cacheWrite: 1.25, output: 5, cacheTtlMs: 300000, };

/**
 * Why a rule changes a message, by its name.
 */
export const RULES: Readonly<Record<string, string>> = {
"ingest-cap": "too large for the window: cut before it was first sent",
"timed": "reading it from the cache again and again came to cost more than taking it out",
"cold": "the cache had gone cold: taking it out cost nothing",
"capacity": "the window was full",
"prune": "it had left what the preset protects, and the window was above the trigger",
"truncate": "pruning was not enough: the preset cuts old bodies",
"discard": "pruning was not enough: the preset drops the oldest",
"fold": "folded: what is still in use, digest and people's text stay",
"hard-fit": "the request would not have fitted otherwise",
"bound-thinking": "reasoning after an edit, which its provider would refuse",
"no-thinking": "reasoning, which this model does not take",
"provider-limit": "its provider takes no more of these",
"repair": "its provider would have refused it as it was",
};
