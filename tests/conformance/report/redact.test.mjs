// @ts-check
/** Sessions to be shown to others: planted secrets are gone from every place, and the copy is read and replayed as the original is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";
import { someSessionFiles } from "../support/session-files.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);
const skip = !api && why;

const signs = "a1B2c3D4e5F6g7H8j9K0a1B2c3D4e5F6g7H8j9K0";
const SECRETS = {
  token: `ghp_${signs.slice(0, 36)}`,
  "signed-token": `eyJhbGciOiJIUzI1NiJ9.${signs}.${signs}`,
  "private-key": `-----BEGIN RSA PRIVATE KEY-----\n${signs}\n${signs}\n-----END RSA PRIVATE KEY-----`,
};

/** A session with a secret at each place. @param {string} secret */
function planted(secret) {
  const messages = [
    { role: "user", content: `use ${secret} for it` },
    {
      role: "assistant",
      content: [{ type: "text", text: `with ${secret}` }],
      tool_calls: [
        {
          id: "c1",
          type: "function",
          function: { name: "run", arguments: JSON.stringify({ env: { K: secret } }) },
        },
      ],
    },
    {
      role: "tool",
      tool_call_id: "c1",
      content: `{"out":"line\\n${JSON.stringify(secret).slice(1, -1)}"}`,
    },
  ];
  const session = api.readSession(JSON.stringify(messages));
  const compaction = { type: "compaction", summary: `they have ${secret}`, at: 2 };
  const tools = [{ name: "run", description: `needs ${secret}`, parameters: {} }];
  return { ...session, system: `Be brief. ${secret}`, tools, compactions: [compaction] };
}

for (const [kind, secret] of Object.entries(SECRETS)) {
  test(`redactSession removes a ${kind} from every place`, { skip }, () => {
    const original = planted(secret);
    const { session, hits } = api.redactSession(original);
    const shown = JSON.stringify(session);
    for (const part of secret.split("\n").filter((line) => !line.startsWith("-")))
      assert.ok(!shown.includes(part), shown);
    const places = new Set(hits.map((/** @type {any} */ hit) => hit.place));
    const expected = ["message:0", "message:1", "message:2", "system", "tools", "compaction:0"];
    assert.deepEqual([...places].sort(), [...expected].sort());
    assert.ok(hits.some((/** @type {any} */ hit) => hit.kind === kind));
    assert.deepEqual(api.redactSession(session), { session, hits: [] });
    const kept = api.redactSession(original, { secrets: false });
    assert.deepEqual(kept, { session: original, hits: [] });
  });
}

test("a redacted text says where its secrets were", { skip }, () => {
  const text = `😀 key ${SECRETS.token}, and`;
  const { text: redacted, hits } = api.redact(text);
  assert.equal(redacted, "😀 key [redacted], and");
  assert.deepEqual(hits, [{ kind: "token", at: 7, length: 40 }]);
  const [{ at, length }] = hits;
  assert.equal(text.slice(at, at + length), SECRETS.token);
  assert.throws(() => api.redact(7), { code: "INVALID_ARGUMENT" });
  assert.throws(() => api.redactSession(planted("x"), { texts: "none" }), /one of full, stubs/);
  assert.throws(() => api.redactSession(planted("x"), { text: "full" }), /Unknown option "text"/);
});

if (api) {
  for (const [, { name, bytes }] of someSessionFiles(3).slice(0, 40)) {
    const session = readable(bytes());
    if (!session) continue;
    test(`a copy of ${name} without its texts can be read and replayed`, () => {
      const options = { window: { contextTokens: 64_000 }, calibrate: false };
      const own = api.replay(session, options);
      for (const texts of ["full", "stubs", "numbers"]) {
        const { session: copy } = api.redactSession(session, { texts });
        const run = api.replay(copy, options);
        assert.equal(run.calls.length, own.calls.length);
        const roles = (/** @type {any} */ of) =>
          of.messages().map((/** @type {any} */ it) => it.role);
        if (run.calls.length > 0) assert.deepEqual(roles(run), roles(own));
      }
    });
  }
}

/** The session of a file, if it can be read. @param {Uint8Array} bytes @returns {any} */
function readable(bytes) {
  try {
    return api.readSession(bytes);
  } catch {
    return undefined;
  }
}
