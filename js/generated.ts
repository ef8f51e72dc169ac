// Written by `cargo test types`. Not to be edited.

/**
 * What went wrong, where, and what is allowed. Serialized, it is the `info` of a `PlimsollError`.
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
cap: number, } | { "code": "CORRUPT_STATE", 
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
