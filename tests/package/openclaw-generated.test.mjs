/**
 * Generated hosts of OpenClaw's engine: sessions that take turns, are reset, compacted, taken back and forgotten, in processes that end.
 * `PLIMSOLL_OPENCLAW_SEED` is the first seed.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random } from "../conformance/generated/histories.mjs";
import { Host, hostProject, WINDOW } from "../support/openclaw-host.mjs";
import { emptyFolder } from "../support/project.mjs";
import { sized } from "../support/size.mjs";

const folder = hostProject();
const FIRST = Number(process.env.PLIMSOLL_OPENCLAW_SEED ?? 1);
const HOSTS = sized({ short: 6, ci: 20, long: 200 });
const STEPS = 30;
const json = (value) => JSON.stringify(value);

/** A summarizer as the day is: down, with nothing to say, or slow. */
const summarizerOf = (chance) => async () => {
  if (chance(0.1)) throw new Error("Service unavailable");
  if (chance(0.3)) await new Promise((done) => setTimeout(done, 3));
  return { text: chance(0.1) ? "" : "## Decisions\n- The harbour was read.", stopReason: "stop" };
};

/** What is wrong with a request: text of another session, of before a reset, or the same turn twice. */
function foundIn(messages, session) {
  const sent = json(messages);
  const turns = [...sent.matchAll(/"(?:text|content)":"Turn (\d+) of (\w+) /g)];
  const others = [...sent.matchAll(/Turn (\d+) of (\w+) /g)].filter(
    ([, turn, id]) => id !== session.id || Number(turn) <= session.ended,
  );
  const own = turns.filter(([, , id]) => id === session.id).map(([, turn]) => turn);
  const prompts = messages
    .filter(({ role }) => role === "user")
    .map(({ content }) => json(content));
  const twice = prompts.filter((one, at) => prompts.indexOf(one) !== at);
  return [
    ...others.map(([text]) => `text of elsewhere: ${text}`),
    ...(own.length > 0 && twice.length > 0 ? [`twice: ${twice[0].slice(0, 80)}`] : []),
  ];
}

/** Asks for a compaction, whose answer must be true. */
async function compact(host, session, chance) {
  const engine = await host.engine();
  const trigger = chance(0.5) ? "manual" : "overflow";
  const { ok, compacted, reason, result } = await engine.compact({
    ...{ ...host.base(session.id), tokenBudget: WINDOW, force: true },
    runtimeContext: { trigger, llm: host.llm },
  });
  assert.ok(ok);
  if (compacted) assert.ok(result.tokensAfter < result.tokensBefore, json(result));
  else assert.equal(typeof reason, "string");
}

/** The host takes its last turn back, if it is one of this conversation. */
function takeBack(host, session) {
  const rows = host.rows(session.id);
  const at = rows.findLastIndex(({ role }) => role === "user");
  if (at > session.start) rows.length = at;
}

async function playHost(seed) {
  const draw = random(seed);
  const chance = (share) => draw() < share;
  const oneOf = (list) => list[Math.floor(draw() * list.length)];
  const api = oneOf(["openai-completions", "anthropic-messages"]);
  const settings = { mirror: oneOf(["off", "results"]) };
  const summarize = summarizerOf(chance);
  const host = new Host(folder, { settings, api, agentDir: emptyFolder(), summarize });
  await host.start();
  const sessions = ["a", "b", "c"].map((name) => ({
    ...{ id: `${name}${seed}`, turns: 0, ended: 0, start: 0 },
  }));
  const turn = async (session) => {
    session.turns += 1;
    const text = `Turn ${session.turns} of ${session.id} `.padEnd(40 + 400 * draw(), "tide ");
    const options = { calls: Math.floor(4 * draw()), chars: oneOf([200, 3_000, 9_000]) };
    const { messages } = await host.turn(session.id, text, {
      ...{ ...options, isCommitted: chance(0.9) },
    });
    return foundIn(messages, session);
  };
  const found = [];
  for (let step = 0; step < STEPS; step += 1) {
    const session = oneOf(sessions);
    const what = draw();
    if (what < 0.08) await host.start();
    else if (what < 0.16) await compact(host, session, chance);
    else if (what < 0.22) takeBack(host, session);
    else if (what < 0.28) {
      host.reset(session.id);
      session.ended = session.turns;
      session.start = host.rows(session.id).length;
    } else if (what < 0.36) found.push(...(await Promise.all(sessions.map(turn))).flat());
    else found.push(...(await turn(session)));
  }
  const complaints = host.logged.filter((line) => !line.includes("a compaction failed"));
  return [...found, ...host.seen.broken, ...complaints].map((one) => `seed ${seed}: ${one}`);
}

test(`${HOSTS} generated hosts of OpenClaw's engine get valid requests of one conversation each`, async () => {
  const found = [];
  for (let seed = FIRST; seed < FIRST + HOSTS; seed += 1) found.push(...(await playHost(seed)));
  assert.deepEqual(found.slice(0, 5), []);
});
