// @ts-check
/** Prints a hash of all answers to each session, for the comparison of two builds. */
import { createHash } from "node:crypto";
import { longSession, requests } from "../../support/long.mjs";
import { sized } from "../../support/size.mjs";
import { loadPackage } from "../support/package.mjs";
import { sessionFiles } from "../support/session-files.mjs";

/** Largest file, in bytes, and number of files. */
const LARGEST = 3_000_000;
const FILES = sized({ short: 12, ci: 60, long: Number.POSITIVE_INFINITY });

const { api, why } = await loadPackage();
if (!api) throw new Error(why);

/** Every request of a session and what explains it. @param {any[]} messages @param {number[]} sent */
function* answers(messages, sent) {
  const window = { contextTokens: 48_000, maxOutputTokens: 4_000 };
  let now = 1_700_000_000_000;
  const clock = () => {
    now += 20_000;
    return now;
  };
  const manager = new api.ContextManager({ window, clock });
  for (const end of sent) {
    try {
      yield manager.request(messages.slice(0, end));
    } catch (error) {
      yield { error: /** @type {Error} */ (error).message };
    }
  }
  yield manager.inspect();
  yield [...manager.snapshot()];
  manager[Symbol.dispose]();
}

/** @param {string} name @param {Iterable<unknown>} all */
function print(name, all) {
  const hash = createHash("sha256");
  for (const one of all) hash.update(JSON.stringify(one) ?? "");
  console.log(`digest ${name} ${hash.digest("hex")}`);
}

const long = longSession(600);
print("a made-up session", answers(long, requests(long)));
const files = sessionFiles();
const step = Math.max(1, Math.floor(files.length / FILES));
for (const { name, bytes } of files.filter((_, at) => at % step === 0)) {
  const data = bytes();
  if (data.length > LARGEST) continue;
  let session;
  try {
    session = api.readSession(data);
  } catch {
    continue;
  }
  const { messages } = session;
  const most = 40;
  const sent = Array.from({ length: most }, (_, at) =>
    Math.ceil(((at + 1) * messages.length) / most),
  );
  print(name, answers(messages, sent));
  print(`${name}, replayed`, [api.replay(session, { window: { contextTokens: 48_000 } })]);
}
