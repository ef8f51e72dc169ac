/**
 * The text coders of the environment. The glue makes one of each when it is imported; where the environment lacks them
 * (jest-environment-jsdom), importing still works and the first call says what is missing.
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

export const TextDecoder: typeof globalThis.TextDecoder =
  globalThis.TextDecoder ?? (Missing as unknown as typeof globalThis.TextDecoder);
export const TextEncoder: typeof globalThis.TextEncoder =
  globalThis.TextEncoder ?? (Missing as unknown as typeof globalThis.TextEncoder);
