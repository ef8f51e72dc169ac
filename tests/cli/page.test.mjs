// `plimsoll inspect --html` and `--open`: a page with the session in it, redacted unless told otherwise.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { loadPackage, packagePath } from "../conformance/support/package.mjs";
import { AUDIT, ENV, file, folder, ofSources, plimsoll, spawned, start } from "./command.mjs";

const { api } = await loadPackage();
const dist = dirname(packagePath() ?? "");
const { pageWith } = await ofSources("cli/page.ts");
const PAGE = '<p>page</p><script id="plimsoll-page">1</script>';
const SECRET = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
const hasPage = (() => {
  try {
    return readFileSync(join(dist, "inspector.html"), "utf8").includes('id="plimsoll-page"');
  } catch {
    return false;
  }
})();
const skip = hasPage ? false : "skipped: the package has no inspector.html";

/** The session inside a page, and what stands around it. */
function carried(html) {
  const found =
    /<script type="application\/octet-stream;base64" id="plimsoll-session" data-name="([^"]*)" data-encoding="gzip">([^<]*)<\/script>/.exec(
      html,
    );
  assert.ok(found, "the page carries a session");
  const [element, name, content] = found;
  const text = gunzipSync(Buffer.from(content, "base64")).toString();
  const { plimsollSession, ...session } = JSON.parse(text);
  assert.equal(plimsollSession, 1);
  return { name, text, session, around: html.replace(element, "") };
}

const talk = (text) =>
  [
    { role: "user", content: text },
    { role: "assistant", content: "</script><script>alert(1)</script>" },
  ]
    .map((message) => JSON.stringify(message))
    .join("\n");

test("a page contains the session as data before its script, never as markup", () => {
  const session = api.readSession(talk("<!-- </SCRIPT>"));
  const html = pageWith(PAGE, session, "a b.jsonl");
  const { name, around, session: inside } = carried(html);
  assert.deepEqual([name, around], ["a b.jsonl", PAGE]);
  assert.deepEqual(inside, JSON.parse(JSON.stringify(session)));
  assert.deepEqual(html.match(/<script/g).length, 2);
  assert.ok(html.indexOf("plimsoll-session") < html.indexOf("plimsoll-page"));
  assert.throws(() => pageWith("<p></p>", session, "x"), /no place for a session/);
});

test("--html writes a page without secrets and lists what it redacted", { skip }, () => {
  const from = file('se"ss<ion.jsonl', talk(`token ${SECRET} in /home/ada/x`));
  const out = join(folder, "out.html");
  const ran = plimsoll(["inspect", from, "--html", out]);
  assert.deepEqual([ran.code, ran.out], [0, `${out}\n`]);
  assert.match(ran.err, /redacted message:0: token, 40 characters/);
  assert.match(ran.err, /redacted message:0: user, 3 characters/);
  assert.match(ran.err, /2 passages redacted\. Secrets in other forms stay/);
  const html = readFileSync(out, "utf8");
  const { name, text, session } = carried(html);
  assert.equal(name, "se_ss_ion.jsonl");
  for (const secret of [SECRET, "ada"]) assert.ok(!text.includes(secret), secret);
  const { session: copy } = api.redactSession(api.readSession(readFileSync(from)));
  assert.deepEqual(session, copy);
  const json = JSON.parse(plimsoll(["inspect", from, "--html", out, "--json"]).out);
  assert.deepEqual(
    { ...json, redacted: json.redacted.length },
    { schema: "plimsoll.page/1", file: out, bytes: Buffer.byteLength(html), redacted: 2 },
  );
  assert.equal(plimsoll(["inspect", from, "--html", "-"]).out, `${html}\n`);
});

test("--unredacted keeps secrets in a file that only its owner can read", { skip }, () => {
  const from = file("whole.jsonl", talk(`token ${SECRET}`));
  const out = join(folder, "whole.html");
  const again = join(folder, "again.html");
  writeFileSync(again, "everybody may read it", { mode: 0o644 });
  const ran = plimsoll(["inspect", from, "--html", out, "--unredacted"]);
  assert.match(ran.err, /nothing was redacted/);
  assert.equal(plimsoll(["inspect", from, "--html", again, "--unredacted"]).code, 0);
  assert.ok(carried(readFileSync(out, "utf8")).text.includes(SECRET));
  if (process.platform === "win32") return;
  for (const path of [out, again]) assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("--open passes a private file to the desktop and prints its path", {
  skip: skip || (process.platform === "linux" ? false : "skipped: needs xdg-open"),
}, () => {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const seen = join(folder, "seen");
  writeFileSync(
    join(bin, "xdg-open"),
    `#!/bin/sh\necho "$1" > ${seen}.part && mv ${seen}.part ${seen}\n`,
  );
  chmodSync(join(bin, "xdg-open"), 0o755);
  const env = { PATH: `${bin}:${process.env.PATH}`, TMPDIR: folder };
  const ran = spawned(["inspect", AUDIT, "--open"], { env });
  assert.equal(ran.code, 0, ran.err);
  const path = ran.out.trim();
  for (let tries = 0; tries < 100; tries += 1) {
    try {
      assert.equal(readFileSync(seen, "utf8").trim(), path);
      break;
    } catch (error) {
      if (tries === 99) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
  }
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
  assert.equal(carried(readFileSync(path, "utf8")).session.format, "pi");
  const bare = join(folder, "bare");
  mkdirSync(bare);
  symlinkSync(process.execPath, join(bare, "node"));
  const without = spawned(["inspect", AUDIT, "--open"], { env: { PATH: bare, TMPDIR: folder } });
  assert.equal(without.code, 0);
  assert.match(without.err, /xdg-open could not be started: open the file in a browser/);
});

test("options that a page cannot use are refused", () => {
  const out = join(folder, "no.html");
  for (const [args, expected] of [
    [["--unredacted"], /--unredacted is an option of --html and --open/],
    [["--html", out, "--open"], /use only one of --html and --open/],
    [["--html", out, "--call", "1"], /--call is not an option of inspect --html/],
    [["--html", out, "--window", "64k"], /--window is not an option of inspect --html/],
    [["--html", ""], /--html: the name of a file to write/],
    [["--html", "-", "--json"], /cannot be used with --json/],
  ]) {
    const ran = plimsoll(["inspect", AUDIT, ...args]);
    assert.deepEqual([ran.code, ran.out], [2, ""], args.join(" "));
    assert.match(ran.err, expected);
  }
});

test("--html exits with 3 if the page cannot be written", { skip }, () => {
  const ran = plimsoll(["inspect", AUDIT, "--html", join(folder, "none", "x.html")]);
  assert.equal(ran.code, 3);
  assert.match(
    ran.err,
    /^plimsoll: .*cannot be written \(ENOENT\)\n$/,
    "and nothing of redactions",
  );
});

test("--html refuses a session without a call, which the page could not open", () => {
  const silent = file("silent.json", JSON.stringify([{ role: "user", content: "Ahoy?" }]));
  const out = join(folder, "silent.html");
  const ran = plimsoll(["inspect", silent, "--html", out]);
  assert.deepEqual([ran.code, ran.out, existsSync(out)], [3, "", false]);
  assert.match(ran.err, /^plimsoll: .*silent\.json: holds no model call: nothing was ever sent\n$/);
});

test("--html refuses to overwrite the session, also through a link", { skip }, () => {
  const content = talk("hello");
  const from = file("own.jsonl", content);
  const [soft, hard] = ["soft.html", "hard.html"].map((name) => join(folder, name));
  symlinkSync(from, soft);
  linkSync(from, hard);
  for (const [input, out] of [
    [from, from],
    [from, soft],
    [from, hard],
    [soft, from],
  ]) {
    const ran = plimsoll(["inspect", input, "--html", out]);
    assert.deepEqual([ran.code, ran.out], [2, ""], out);
    assert.match(ran.err, /^plimsoll: --html: .* is the session file itself; name another file\n$/);
  }
  const [command, ...first] = start;
  const stdio = [openSync(from, "r"), "pipe", "pipe"];
  const args = [...first, "inspect", "-", "--html", from];
  assert.equal(spawnSync(command, args, { env: ENV, stdio }).status, 2);
  assert.equal(readFileSync(from, "utf8"), content);
});

test("output that cannot be written exits with 3 and a message", {
  skip: existsSync("/dev/full") ? false : "skipped: needs /dev/full",
}, () => {
  const [command, ...first] = start;
  const stdio = ["ignore", openSync("/dev/full", "w"), "pipe"];
  const ran = spawnSync(command, [...first, "inspect", AUDIT], { env: ENV, stdio });
  assert.equal(ran.status, 3);
  assert.equal(`${ran.stderr}`, "plimsoll: standard output cannot be written (ENOSPC)\n");
});

test("an error that nobody can be told keeps its exit code", {
  skip: existsSync("/dev/full") ? false : "skipped: needs /dev/full",
}, () => {
  const [command, ...first] = start;
  const stdio = ["ignore", "pipe", openSync("/dev/full", "w")];
  const ran = spawnSync(command, [...first, "check", "absent.jsonl"], { env: ENV, stdio });
  assert.equal(ran.status, 3);
});
