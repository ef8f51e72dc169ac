/**
 * Workspaces on real files, in whatever runtime this runs: each part has a folder of its own and throws if something does not
 * hold. Prints the parts that held, one a line, and ends by itself.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { assemblePrompt, requestFocus } from "plimsoll";
import { Workspace } from "plimsoll/workspace";

/** Node and Bun are told of a change by the system in the same turn; Deno a moment later. */
const AT_ONCE = typeof Deno === "undefined" && typeof Bun === "undefined";
const NOON = new Date(2026, 10, 21, 12).getTime();
const DAY = 24 * 3600 * 1000;

const base = realpathSync(mkdtempSync(join(tmpdir(), "plimsoll-workspace-")));
let folders = 0;

/** A new folder with these files. */
function folder(files = {}) {
  folders += 1;
  const root = join(base, `w${folders}`);
  mkdirSync(root);
  for (const [path, text] of Object.entries(files)) put(root, path, text);
  return root;
}

function put(root, path, text) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Opened by a part, and disposed when it is done. */
const opened = [];
async function open(root, options = {}) {
  const workspace = await Workspace.open(root, { home: false, clock: () => NOON, ...options });
  opened.push(workspace);
  return workspace;
}
const texts = async (workspace, focus) => JSON.stringify(await workspace.sections(focus));

/** The workspace shows `wanted` now (where changes are told at once), or soon. */
async function checkShows(workspace, wanted, { soon = !AT_ONCE, not = false, focus } = {}) {
  const until = performance.now() + (soon ? 5_000 : 0);
  for (;;) {
    const content = await texts(workspace, focus);
    if (content.includes(wanted) !== not) return;
    assert.ok(performance.now() < until, `${not ? "still " : "not yet "}${wanted} in ${content}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

const PARTS = {
  async "what was read is kept"() {
    const root = folder({ "AGENTS.md": "one" });
    const workspace = await open(root, { watch: false, poll: 3_600 });
    await checkShows(workspace, "one", { soon: false });
    put(root, "AGENTS.md", "two");
    await checkShows(workspace, "one", { soon: false });
    workspace.invalidate();
    await checkShows(workspace, "two", { soon: false });
    assert.deepEqual(workspace.state, {
      watching: false,
      polling: true,
      watchFailure: undefined,
      churn: 1,
    });
  },

  async "a change, a new file and a removed one are seen by the watcher alone"() {
    const root = folder({ "AGENTS.md": "one" });
    const workspace = await open(root, { poll: 0 });
    assert.equal(workspace.state.watching, true);
    await checkShows(workspace, "one");
    put(root, "AGENTS.md", "two");
    await checkShows(workspace, "two");
    put(root, "HEARTBEAT.md", "beat");
    await checkShows(workspace, "beat");
    put(root, "saved", "three");
    renameSync(join(root, "saved"), join(root, "AGENTS.md"));
    await checkShows(workspace, "three");
    unlinkSync(join(root, "HEARTBEAT.md"));
    await checkShows(workspace, "beat", { not: true });
    assert.equal(workspace.state.churn, 4);
  },

  async "folders that come later are watched, and once more when they come again"() {
    const root = folder();
    const focus = requestFocus("fix src/a.ts");
    const workspace = await open(root, { poll: 0 });
    for (const round of ["first", "second"]) {
      put(root, "memory/2026-11-21.md", `today ${round}`);
      await checkShows(workspace, `today ${round}`);
      put(root, "memory/2026-11-21.md", `changed ${round}`);
      await checkShows(workspace, `changed ${round}`);
      put(root, ".aceclaw/rules/ts.md", `---\npaths: "*.ts"\n---\nrule ${round}`);
      await checkShows(workspace, `rule ${round}`, { focus });
      put(root, ".aceclaw/rules/ts.md", `---\npaths: "*.ts"\n---\nother ${round}`);
      await checkShows(workspace, `other ${round}`, { focus });
      rmSync(join(root, "memory"), { recursive: true });
      rmSync(join(root, ".aceclaw"), { recursive: true });
      await checkShows(workspace, round, { not: true, focus });
    }
  },

  async "a folder that is replaced at once is watched, with the folders in it"() {
    const root = folder({ "memory/2026-11-21.md": "today", ".aceclaw/rules/ts.md": "rule" });
    const focus = requestFocus("fix src/a.ts");
    const workspace = await open(root, { poll: 0 });
    for (const round of ["first", "second", "third"]) {
      rmSync(join(root, "memory"), { recursive: true });
      renameSync(join(root, ".aceclaw"), join(root, `old ${round}`));
      put(root, "memory/2026-11-21.md", `today ${round}`);
      put(root, ".aceclaw/rules/ts.md", `---\npaths: "*.ts"\n---\nrule ${round}`);
      await checkShows(workspace, `today ${round}`);
      await checkShows(workspace, `rule ${round}`, { focus });
      put(root, "memory/2026-11-21.md", `changed ${round}`);
      await checkShows(workspace, `changed ${round}`);
      put(root, ".aceclaw/rules/ts.md", `---\npaths: "*.ts"\n---\nother ${round}`);
      await checkShows(workspace, `other ${round}`, { focus });
    }
  },

  async "the folder itself may come, go and be another"() {
    const root = join(folder(), "later");
    const workspace = await open(root, { poll: 0 });
    assert.deepEqual(await workspace.sections(), []);
    put(root, "SOUL.md", "first soul");
    await checkShows(workspace, "first soul");
    renameSync(root, `${root}.old`);
    await checkShows(workspace, "first soul", { not: true });
    put(root, "SOUL.md", "second soul");
    await checkShows(workspace, "second soul");
    put(root, "SOUL.md", "third soul");
    await checkShows(workspace, "third soul");
  },

  async "the user's own folder counts, also when it comes later"() {
    const root = folder({ "AGENTS.md": "here" });
    const home = join(folder(), ".aceclaw");
    const workspace = await open(root, { poll: 0, home });
    assert.equal(workspace.state.watchFailure, undefined);
    put(home, "managed-policy.md", "no secrets");
    await checkShows(workspace, "no secrets");
    put(home, "managed-policy.md", "few secrets");
    await checkShows(workspace, "few secrets");
  },

  async "polling finds what no watcher tells"() {
    const root = folder({ "memory/2026-11-20.md": "yesterday" });
    const workspace = await open(root, { watch: false, poll: 0.05 });
    await checkShows(workspace, "yesterday");
    put(root, "memory/2026-11-20.md", "rewritten");
    await checkShows(workspace, "rewritten", { soon: true });
    put(root, "TOOLS.md", "hammer");
    await checkShows(workspace, "hammer", { soon: true });
  },

  async "without watcher and polling nothing is kept"() {
    const root = folder({ "AGENTS.md": "one" });
    const workspace = await open(root, { watch: false, poll: 0 });
    for (const text of ["two", "three"]) {
      put(root, "AGENTS.md", text);
      await checkShows(workspace, text, { soon: false });
    }
  },

  async "what cannot be watched is read at every call, until it can"() {
    const root = join(folder(), "not", "there");
    const workspace = await open(root, { poll: 3_600 });
    const { watching, polling, watchFailure } = workspace.state;
    assert.deepEqual([watching, polling], [false, true]);
    assert.match(String(watchFailure), /ENOENT|no such file|not found/i);
    put(root, "AGENTS.md", "at last");
    await checkShows(workspace, "at last", { soon: false });
    assert.equal(workspace.state.watching, true);
    put(root, "AGENTS.md", "again");
    await checkShows(workspace, "again");
  },

  async "notes are those of today and yesterday, also past midnight"() {
    const root = folder({
      "memory/2026-11-19.md": "two days",
      "memory/2026-11-20.md": "one day",
      "memory/2026-11-21.md": "this day",
      "memory/2026-11-22.md": "next day",
    });
    let now = NOON;
    const workspace = await open(root, { poll: 0, clock: () => now });
    const days = async () =>
      (await texts(workspace)).match(/(two days|one day|this day|next day)/g);
    assert.deepEqual(await days(), ["this day", "one day"]);
    now = new Date(2026, 10, 21, 23, 59, 59).getTime();
    assert.deepEqual(await days(), ["this day", "one day"]);
    now += 1_000;
    assert.deepEqual(await days(), ["next day", "this day"]);
    now += 2 * DAY;
    assert.equal(await days(), null);
  },

  async "yesterday is the day before also where a day has 25 hours"() {
    // In New York, where the test has it run: 24 hours before the last of these hours it was the same day.
    const late = new Date(2025, 10, 2, 23, 30).getTime();
    assert.equal(new Date(late - DAY).getDate(), 2);
    const root = folder({
      "memory/2025-11-01.md": "the first",
      "memory/2025-11-02.md": "the second",
    });
    const workspace = await open(root, { poll: 0, clock: () => late });
    const content = await texts(workspace);
    assert.ok(content.includes("the first") && content.includes("the second"), content);
  },

  async "a file that is too large or unreadable is skipped, with the reason"() {
    const root = folder({ "AGENTS.md/inner": "", "USER.md": "me", "MEMORY.md": "m".repeat(5e6) });
    const workspace = await open(root, { poll: 0 });
    await checkShows(workspace, "me");
    const skipped = await workspace.skipped();
    assert.deepEqual(
      skipped.map(({ path }) => path.slice(root.length + 1)),
      ["AGENTS.md", "MEMORY.md"],
    );
    assert.equal(skipped[0].reason, "no regular file");
    assert.equal(skipped[1].reason, "5000000 bytes: at most 4194304 are read");
  },

  async "what is no folder, and an unknown option, is refused by name"() {
    const root = folder({ "AGENTS.md": "x" });
    const refused = [
      [join(root, "AGENTS.md"), {}, "folder"],
      ["", {}, "folder"],
      [root, { pol: 5 }, "pol"],
      [root, { watch: "no" }, "watch"],
      [root, { clock: 5 }, "clock"],
      [root, { home: "" }, "home"],
    ];
    for (const [path, options, argument] of refused) {
      await assert.rejects(
        () => Workspace.open(path, { home: false, ...options }),
        (error) => error.info?.code === "INVALID_ARGUMENT" && error.info.argument === argument,
        argument,
      );
    }
    const workspace = await open(root);
    await assert.rejects(() => workspace.sections(undefined, { subagents: true }), /subagents/);
  },

  async "the byte order mark of a file is no part of a section"() {
    const root = folder({ "AGENTS.md": "\ufeff# Ours\n", "TOOLS.md": "\ufeff" });
    const workspace = await open(root);
    const sections = await workspace.sections();
    assert.deepEqual(
      sections.map(({ content }) => content),
      ["# Project Instructions\n\n# Ours\n\n"],
    );
  },

  async "a file that is no text is skipped, with the reason"() {
    const root = folder({ "AGENTS.md": "kept", "MEMORY.md": "a\0b" });
    const workspace = await open(root);
    await checkShows(workspace, "kept");
    const [skipped, ...more] = await workspace.skipped();
    assert.equal(skipped.path, join(root, "MEMORY.md"));
    assert.equal(skipped.reason, "no UTF-8 text: it contains a zero byte");
    assert.deepEqual(more, []);
  },

  async "a link that leads out of the workspace is skipped, with the reason; one that stays inside is followed"() {
    const outside = folder({
      "secret.md": "the password",
      "rules/r.md": "---\npaths: '*.ts'\n---\nr",
    });
    const root = folder({ "CLAUDE.md": "how to work here", "docs/soul.md": "kind" });
    const links = {
      "AGENTS.md": "CLAUDE.md",
      "SOUL.md": join(root, "docs/soul.md"),
      "USER.md": join(outside, "secret.md"),
      "MEMORY.md": "/proc/self/environ",
      "TOOLS.md": "/dev/zero",
      "BOOTSTRAP.md": "nowhere",
      memory: outside,
      ".aceclaw/rules": join(outside, "rules"),
    };
    mkdirSync(join(root, ".aceclaw"));
    renameSync(join(outside, "secret.md"), join(outside, "2026-11-21.md"));
    put(outside, "secret.md", "the password");
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name));
    process.env.PLIMSOLL_SECRET = "sk-of-the-environment";
    const workspace = await open(root, { poll: 0 });
    const content = await texts(workspace, requestFocus("fix src/a.ts"));
    assert.ok(content.includes("how to work here") && content.includes("kind"), content);
    assert.doesNotMatch(content, /password|sk-of-the-environment|rules:r/);
    const skipped = await workspace.skipped();
    assert.deepEqual(skipped.map(({ path }) => path.slice(root.length + 1)).sort(), [
      ".aceclaw/rules",
      "MEMORY.md",
      "TOOLS.md",
      "USER.md",
      "memory/2026-11-21.md",
    ]);
    for (const { reason } of skipped) assert.match(reason, /^leads out of the workspace, to \//);
  },

  async "a root that is a link is a workspace as its target is"() {
    const root = folder({ "AGENTS.md": "one" });
    const link = join(folder(), "link");
    symlinkSync(root, link);
    const workspace = await open(link, { poll: 0 });
    await checkShows(workspace, "one");
    assert.deepEqual(await workspace.skipped(), []);
  },

  async "what is no regular file is skipped and never waited for: a pipe, a device, a folder"() {
    const root = folder({ "SOUL.md": "soul", "USER.md/inner": "" });
    const pipe = join(root, "AGENTS.md");
    const pipes = madePipe(pipe) ? [pipe] : [];
    // The user's own folder may link to other places: a device is none to read all the same.
    const home = folder({ "dotfiles/ACECLAW.md": "from elsewhere" });
    const own = join(home, ".aceclaw");
    mkdirSync(own);
    symlinkSync("/dev/zero", join(own, "SOUL.md"));
    symlinkSync(join(home, "dotfiles/ACECLAW.md"), join(own, "ACECLAW.md"));
    const workspace = await open(root, { poll: 0, home: own });
    const content = await texts(workspace);
    assert.ok(content.includes("soul") && content.includes("from elsewhere"), content);
    const skipped = await workspace.skipped();
    assert.deepEqual(
      skipped.map(({ path }) => path),
      [...pipes, join(root, "USER.md"), join(own, "SOUL.md")],
    );
    for (const { reason } of skipped) assert.equal(reason, "no regular file");
  },

  async "sections stand as they are known: tiers, own files, focus, rules; a subagent sees less"() {
    const root = folder({
      "AGENTS.md": "agents",
      "SOUL.md": "soul",
      "TOOLS.md": "tools",
      "IDENTITY.md": "identity",
      "USER.md": "user",
      "HEARTBEAT.md": "heartbeat",
      "BOOTSTRAP.md": "bootstrap",
      "MEMORY.md": "memory",
      "ACECLAW.md": "aceclaw",
      "ACECLAW.local.md": "local",
      "memory/2026-11-21.md": "today",
      ".aceclaw/rules/b.md": "---\npaths: ['src/**']\n---\nrule b",
      ".aceclaw/rules/a.md": "---\r\npaths:\r\n  - '*.ts'\r\n---\r\nrule a",
      ".aceclaw/rules/none.md": "no front matter",
    });
    const workspace = await open(root, { poll: 0 });
    const keys = async (...args) => (await workspace.sections(...args)).map(({ key }) => key);
    const always = [
      ...["soul", "workspace", "user", "local", "markdown", "journal"].map((t) => `memory:${t}`),
      ...["identity", "tool-guidance", "bootstrap", "heartbeat"],
    ];
    assert.deepEqual(await keys(), always);
    const focus = requestFocus("fix src/a.ts", { projectRoot: root });
    assert.deepEqual(await keys(focus), [...always, "task-focus", "rules:a", "rules:b"]);
    const subagent = { subagent: true };
    assert.deepEqual(await keys(undefined, subagent), ["memory:workspace", "tool-guidance"]);
    const plan = assemblePrompt(await workspace.sections(focus), { focus, order: "stable-first" });
    const again = assemblePrompt(await workspace.sections(), { order: "stable-first" });
    assert.equal(plan.stablePrefixKey, again.stablePrefixKey);
    assert.ok(plan.prompt.startsWith(again.prompt.slice(0, plan.stablePrefixChars)));
  },

  async "after any changes it shows what a fresh look shows"() {
    const root = folder();
    const workspace = await open(root, { poll: 0 });
    const fresh = await open(root, { watch: false, poll: 0 });
    const paths = ["AGENTS.md", "HEARTBEAT.md", "memory/2026-11-21.md", ".aceclaw/SOUL.md"];
    let seed = 7;
    const random = (below) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    for (let step = 0; step < 60; step += 1) {
      // Bun tells nothing of a second change within a millisecond; the polling, which is off here, finds it.
      if (!AT_ONCE) await new Promise((done) => setTimeout(done, 5));
      for (let change = random(3); change >= 0; change -= 1) {
        const path = paths[random(paths.length)];
        if (random(4) > 0) put(root, path, `text ${step} ${change}`);
        else
          rmSync(join(root, random(2) ? path : path.split("/")[0]), {
            recursive: true,
            force: true,
          });
      }
      const wanted = await texts(fresh);
      const until = performance.now() + (AT_ONCE ? 0 : 5_000);
      while ((await texts(workspace)) !== wanted) {
        assert.ok(
          performance.now() < until,
          `step ${step}: ${await texts(workspace)} is not ${wanted}`,
        );
        await new Promise((done) => setTimeout(done, 20));
      }
    }
  },

  async "a clock that fails while the files are polled fails the next call, and no more"() {
    const root = folder({ "AGENTS.md": "one" });
    let now = () => NOON;
    let calls = 0;
    const clock = () => {
      calls += 1;
      return now();
    };
    const workspace = await open(root, { watch: false, poll: 0.02, clock });
    await checkShows(workspace, "one");
    for (const [broken, error, text] of [
      [
        () => {
          throw new Error("no clock");
        },
        /no clock/,
        "two",
      ],
      [() => Number.NaN, /clock: expected a function that gives milliseconds.*, got NaN/, "three"],
    ]) {
      now = broken;
      const before = calls;
      const until = performance.now() + 5_000;
      while (calls === before && performance.now() < until)
        await new Promise((done) => setTimeout(done, 5));
      assert.ok(calls > before, "polled");
      await assert.rejects(workspace.sections(), error);
      await assert.rejects(workspace.skipped(), error);
      now = () => NOON;
      put(root, "AGENTS.md", text);
      await checkShows(workspace, text, { soon: true });
    }
  },

  async "a disposed one holds nothing open and keeps nothing"() {
    const root = folder({ "AGENTS.md": "one" });
    const active = () => process.getActiveResourcesInfo?.() ?? [];
    const handles = () => active().filter((name) => /FSEvent|StatWatcher|Timeout/.test(name));
    const clock = () => Number.NaN;
    await assert.rejects(open(root, { poll: 1, clock }), /clock/);
    await new Promise((done) => setImmediate(done));
    assert.deepEqual(handles(), []);
    const workspace = await open(root, { poll: 1 });
    await workspace[Symbol.asyncDispose]();
    await new Promise((done) => setImmediate(done));
    assert.deepEqual(handles(), []);
    put(root, "AGENTS.md", "two");
    await checkShows(workspace, "two", { soon: false });
  },

  async "wrong options are named"() {
    const root = folder();
    for (const [options, argument] of [
      [{ poll: -1 }, "poll"],
      [{ poll: Number.NaN }, "poll"],
      [{ home: 7 }, "home"],
      [{ clock: () => Number.NaN }, "clock"],
      [{ clock: () => 1e17 }, "clock"],
      [{ clock: async () => NOON }, "clock"],
    ]) {
      await assert.rejects(
        Workspace.open(root, options),
        (error) => error.code === "INVALID_ARGUMENT" && error.info.argument === argument,
      );
    }
    await assert.rejects(Workspace.open(7), (error) => error.info.argument === "folder");
  },
};

/** Whether a pipe was made here: `workspace.test.mjs` says so where there is no program for it. */
function madePipe(path) {
  try {
    execFileSync("mkfifo", [path]);
    return true;
  } catch (error) {
    if (error.code === "ENOENT") return false;
    throw error;
  }
}

try {
  for (const [name, part] of Object.entries(PARTS)) {
    await part();
    for (const workspace of opened.splice(0)) await workspace[Symbol.asyncDispose]();
    console.log(name);
  }
} finally {
  rmSync(base, { recursive: true, force: true });
}
// Not closed: it must not keep the program from its end.
await Workspace.open(tmpdir(), { home: false });
