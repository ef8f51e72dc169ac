// Written by `cargo test types`. Not to be edited.

/**
 * What went wrong, where, and what is allowed. Written as JSON, it is the `info` of a `PlimsollError`.
 */
export type CoreError = { "code": "INVALID_ARGUMENT", 
/**
 * The argument's name, with its path where it lies deeper.
 */
argument: string, 
/**
 * What is allowed.
 */
expected: string, 
/**
 * What came.
 */
got: string, } | { "code": "UNKNOWN_FORMAT", 
/**
 * What the first messages looked like.
 */
saw: string, } | { "code": "MALFORMED_MESSAGE", 
/**
 * Position in the history.
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
 * What it is.
 */
what: string, 
/**
 * Its size, in bytes.
 */
size: number, 
/**
 * The cap, in bytes.
 */
cap: number, } | { "code": "STALE_PLAN", 
/**
 * What the plan stands on.
 */
planned: string, 
/**
 * What is there.
 */
found: string, } | { "code": "CORRUPT_STATE", 
/**
 * Which one.
 */
what: string, 
/**
 * Why.
 */
reason: string, };

/**
 * An RFC 6902 operation on one of the host's messages, with a JSON Pointer on the live object.
 */
export type Op = { "op": "add", 
/**
 * JSON Pointer.
 */
path: string, 
/**
 * What is put there.
 */
value: unknown, } | { "op": "replace", 
/**
 * JSON Pointer.
 */
path: string, 
/**
 * What is put there.
 */
value: unknown, } | { "op": "remove", 
/**
 * JSON Pointer.
 */
path: string, };

/**
 * A rule that a transcript breaks.
 */
export type Violation = { 
/**
 * The invariant: `I1`..`I34` of the reliability notes.
 */
rule: string, 
/**
 * The message.
 */
index: number, 
/**
 * JSON Pointer in it.
 */
path?: string, 
/**
 * What is wrong, and what would be right.
 */
message: string, };

/**
 * Tokens and characters of a request.
 */
export type Estimate = { 
/**
 * All its tokens.
 */
tokens: number, 
/**
 * UTF-16 code units of its texts, arguments, results, system prompt and tool definitions.
 */
chars: number, 
/**
 * The tokens by kind; they sum to `tokens`.
 */
byKind: ByKind, };

/**
 * Tokens by kind.
 */
export type ByKind = { 
/**
 * Text of user and model.
 */
text: number, 
/**
 * Reasoning.
 */
thinking: number, 
/**
 * Arguments of calls.
 */
toolCall: number, 
/**
 * Results, with their images.
 */
toolResult: number, 
/**
 * Images of their own.
 */
image: number, 
/**
 * Tool definitions.
 */
tools: number, 
/**
 * System text, beside the messages or in them.
 */
system: number, 
/**
 * Frames: 4 a message, 20 and its name a call, 10 a result.
 */
overhead: number, };

/**
 * A request beside the room that there is for it.
 */
export type BudgetCheck = { 
/**
 * Tokens of the system prompt.
 */
systemPromptTokens: number, 
/**
 * Of the tool definitions.
 */
toolDefinitionTokens: number, 
/**
 * Of the messages.
 */
messageTokens: number, 
/**
 * Of all, with what is sent unseen.
 */
totalEstimated: number, 
/**
 * The usable window: less what is held back for the answer, never below 0.
 */
availableTokens: number, 
/**
 * More is estimated than there is room for; never where the window is unknown.
 */
overBudget: boolean, 
/**
 * What is over.
 */
excessTokens: number, };

/**
 * A message that is now edited otherwise than before.
 */
export type Edit = { 
/**
 * The message.
 */
index: number, 
/**
 * All operations on it.
 */
ops: Array<Op>, 
/**
 * Why.
 */
rule: string, 
/**
 * Its tokens before.
 */
tokensBefore: number, 
/**
 * Its tokens now.
 */
tokensAfter: number, 
/**
 * What brings its first cut block back: for `recall`.
 */
ref?: string, };

/**
 * What `explain(index)` tells.
 */
export type Explanation = { 
/**
 * The message.
 */
index: number, 
/**
 * kept, capped, stubbed, thinned, summarized or dropped.
 */
state: "kept" | "capped" | "stubbed" | "thinned" | "summarized" | "dropped", 
/**
 * The rule that made it so; `keep` where none did.
 */
rule: string, 
/**
 * What the rule went by.
 */
evidence: Array<string>, 
/**
 * Its tokens as the host wrote it.
 */
tokensBefore: number, 
/**
 * Its tokens as it is sent.
 */
tokensAfter: number, 
/**
 * Messages with the same number stay or go together; its own index where it stands alone.
 */
group: number, 
/**
 * The turn it stands in.
 */
turn: number, 
/**
 * When it became so.
 */
since: Since | null, 
/**
 * What would bring it back.
 */
restore: string, };

/**
 * A place in the history of requests.
 */
export type Since = { 
/**
 * The epoch that it ended.
 */
epoch: number, 
/**
 * Assistant messages before it.
 */
call: number, };

/**
 * Blocks of one kind.
 */
export type Bucket = { 
/**
 * system, tools, head, user, assistant, thinking, image, `call NAME` or `result NAME`; unseen: what the host said it
 * sends besides; pins: texts that it had pinned; made: lines of ours that mend its history.
 */
bucket: string, 
/**
 * How many blocks there are.
 */
blocks: number, 
/**
 * Their tokens as the host wrote them.
 */
tokens: number, 
/**
 * Their tokens as they are sent.
 */
sent: number, 
/**
 * Blocks that are sent as they are.
 */
kept: number, 
/**
 * Blocks that are sent as head and tail.
 */
capped: number, 
/**
 * Blocks that are sent as a line.
 */
stubbed: number, 
/**
 * Blocks that are not sent.
 */
gone: number, };

/**
 * A message of the history and what is sent of it.
 */
export type ListedMessage = { 
/**
 * Its position.
 */
index: number, 
/**
 * system, user, assistant or tool.
 */
role: string, 
/**
 * The kind of its largest block.
 */
kind: string, 
/**
 * The tool that the largest block calls, or whose result it is.
 */
tool?: string, 
/**
 * Its tokens.
 */
tokens: number, 
/**
 * Its tokens as it is sent.
 */
sentTokens: number, 
/**
 * kept, capped, stubbed, thinned, summarized or dropped.
 */
state: "kept" | "capped" | "stubbed" | "thinned" | "summarized" | "dropped", 
/**
 * The rule that made it so.
 */
rule: string, 
/**
 * The turn it stands in.
 */
turn: number, 
/**
 * Messages with the same number stay or go together; its own index where it stands alone.
 */
group: number, };

/**
 * A window and what fills it: used, reserve and free are all of it.
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
 * What is left; below 0 where the request is over the window, or the window is not known.
 */
free: number, 
/**
 * Tokens above which something must go; none where nothing is decided.
 */
trigger: number | null, 
/**
 * Tokens that are then aimed for.
 */
target: number | null, };
