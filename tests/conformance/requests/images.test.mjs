// @ts-check
/**
 * Screenshots: 45 images and 34 MB of base64 in one history. Every request of it is one that the provider takes, by our
 * check and by its limits of images and bytes counted here, and the core keeps none of the bytes.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { strictAnthropic } from "../providers/strict.mjs";
import { loadPackage } from "../support/package.mjs";

/** The memories of the Wasm that the package starts. @type {WebAssembly.Memory[]} */
const memories = [];
const { Instance } = WebAssembly;
WebAssembly.Instance = class extends Instance {
  /** @param {WebAssembly.Module} module @param {WebAssembly.Imports} [imports] */
  constructor(module, imports) {
    super(module, imports);
    memories.push(/** @type {WebAssembly.Memory} */ (this.exports.memory));
  }
};
const { api, why } = await loadPackage();
if (!api) console.log(why);

const IMAGES = 45;
const BASE64 = 34_000_000;
/** Bytes of a request; above 20 images none may have a side of more than 2000 pixels. */
const LIMITS = { anthropic: 32_000_000, bedrock: 20_000_000 };
const MANY = 20;
/** What the core may grow by between the fifth image and the last: less than three of them. */
const GROWTH = 2_000_000;

/** A PNG of these sides, as far as anyone looks, in base64. @param {number} width */
function png(width) {
  const bytes = Buffer.alloc(Math.ceil(((BASE64 / IMAGES) * 3) / 4));
  Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").copy(bytes);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(900, 20);
  return bytes.toString("base64");
}

/** A call and its screenshot, in Anthropic's format: so it goes to Bedrock too. @param {string} id @param {string} data */
function screenshot(id, data) {
  const source = { type: "base64", media_type: "image/png", data };
  const content = [
    { type: "text", text: `screen ${id}` },
    { type: "image", source },
  ];
  return [
    { role: "assistant", content: [{ type: "tool_use", id, name: "screenshot", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] },
  ];
}

/** Every string under `data` in a request. @param {readonly any[]} messages */
function images(messages) {
  let count = 0;
  JSON.stringify(messages, (key, value) => {
    if (key === "data" && typeof value === "string") count += 1;
    return value;
  });
  return count;
}

/** Of the providers and widths, one in so many. */
const oneIn = sized({ short: 2, ci: 1, long: 1 });

for (const [number, [provider, most]] of Object.entries(LIMITS).entries()) {
  for (const [at, [what, width]] of /** @type {const} */ ([
    ["as many as the bytes allow", 1_200],
    ["wider than many may be", 2_400],
  ]).entries()) {
    if ((number + at) % oneIn !== 0) continue;
    test(`${IMAGES} images, ${what}, go to ${provider} within its limits`, {
      skip: !api && why,
    }, () => {
      const data = png(width);
      let now = 1_700_000_000_000;
      const context = new api.ContextManager({
        window: { contextTokens: 200_000, maxOutputTokens: 8_192 },
        provider,
        clock: () => {
          now += 20_000;
          return now;
        },
      });
      /** @type {any[]} */
      const messages = [{ role: "user", content: "Look at every screen, please." }];
      const size = () => memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
      let [early, shown] = [0, 0];
      /** @type {any[][]} */
      const requests = [];
      for (let turn = 0; turn < IMAGES; turn += 1) {
        messages.push(...screenshot(`toolu_${turn}`, data));
        const { messages: sent, fits } = context.request(messages);
        assert.ok(fits, `turn ${turn} fits`);
        const bytes = JSON.stringify(sent).length;
        shown = images(sent);
        assert.ok(bytes <= most, `turn ${turn}: ${bytes} bytes`);
        assert.ok(shown >= 1, `turn ${turn} shows its newest image`);
        assert.ok(width <= 2_000 || shown <= MANY, `turn ${turn}: ${shown} wide images`);
        assert.deepEqual(strictAnthropic(sent), [], `turn ${turn}`);
        requests.push(sent);
        if (turn === 4) early = size();
      }
      const grown = size() - early;
      console.log(
        `${provider}, ${width} pixels: ${shown} images at last, core grew ${grown} bytes`,
      );
      assert.ok(early > 0 && grown < GROWTH, `the core grew by ${grown} bytes`);
      context[Symbol.dispose]();
      // Only now: these hand every message over.
      for (const sent of requests) assert.deepEqual(api.validate(sent, provider), []);
    });
  }
}
