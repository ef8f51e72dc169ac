/**
 * The text coders of the environment. The glue makes one of each when it is imported. jest-environment-jsdom hides those
 * of Node, which Node itself still gives; where there are none at all, importing works and the first call says what is missing.
 */
class Missing {
  decode(bytes?: unknown): string {
    return bytes === undefined ? "" : missing();
  }

  encode(): Uint8Array {
    return missing();
  }

  encodeInto(): { read: number; written: number } {
    return missing();
  }
}

function missing(): never {
  throw new Error(
    "plimsoll needs TextEncoder and TextDecoder, which this environment lacks: set them as globals (Node has them in node:util)",
  );
}

type Coders = Pick<typeof globalThis, "TextDecoder" | "TextEncoder">;

function found(): Coders {
  if (typeof globalThis.TextDecoder === "function") return globalThis;
  // Not `process.getBuiltinModule`: edge runtimes warn of it where they read it, though they never come here.
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  const util = process?.getBuiltinModule?.("node:util") as Coders | undefined;
  return util ?? { TextDecoder: Missing as never, TextEncoder: Missing as never };
}

const coders = found();
export const TextDecoder: Coders["TextDecoder"] = coders.TextDecoder;
export const TextEncoder: Coders["TextEncoder"] = coders.TextEncoder;
