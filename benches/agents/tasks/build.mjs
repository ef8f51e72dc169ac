/** Tasks that change files: fix a fault, rename, migrate, write records by a schema. */
import { Random } from "../random.mjs";
import { pages, sources, two } from "../repositories.mjs";

const copy = (files) => new Map([...files].map(([path, lines]) => [path, [...lines]]));
const wrongIf = (...pairs) => pairs.filter(([bad]) => bad).map(([, why]) => why);

/** A failing suite, a chain of modules to the constant that is wrong, a page that says what is right. */
export function fix(seed, { hops = 9 } = {}) {
  const random = new Random(seed);
  const order = random.shuffled(Array.from({ length: hops }, (_, at) => at + 1));
  const module = (at) => `src/m${two(order[at])}.mjs`;
  const constant = `GRACE_${random.between(10, 99)}`;
  const [now, right] = [random.between(1_000, 4_999), random.between(5_000, 9_999)];
  const lines = {};
  for (let at = 0; at < hops - 1; at += 1)
    lines[module(at)] = [`// delegates_to = ${module(at + 1)}`];
  lines[module(hops - 1)] = [`// reads_constant = ${constant}`];
  lines["src/limits.mjs"] = [`export const ${constant} = ${now};`];
  const files = new Map([
    ...sources(seed, lines, [6_000, 12_000]),
    ...pages(seed, { "docs/limits.md": [`${constant} = ${right}`] }, [14_000, 20_000]),
  ]);
  files.set("test/tariff.test.mjs", [`expect(fee()).toBe(${right})`]);
  const run = (suite, current) => {
    const isRight = current
      .get("src/limits.mjs")
      .some((it) => it.includes(`${constant} = ${right};`));
    const noise = Array.from(
      { length: 150 },
      (_, at) => `ok ${at + 1} - ${suite} case ${hops * at + 7}, 3 assertions, 0 skipped`,
    );
    return [
      `== suite ${suite}`,
      ...noise,
      isRight ? `PASS ${suite} all` : `FAIL ${suite} fee: thrown in module ${module(0)}`,
    ].join("\n");
  };
  const user = `The suite tariff-${seed} fails. Run it, follow the modules from the one that throws to the constant that is wrong, and fix the constant in src/limits.mjs. The right value is in docs/limits.md. Never edit a file under test/. Run the suite again. Answer with the constant and its new value.`;
  const script = (see) => {
    const suite = `tariff-${seed}`;
    const edit =
      see.result(/^Edited src\/limits\.mjs at/) || see.noted(/src\/limits\.mjs fixed = yes/);
    if (edit) {
      see.note("src/limits.mjs fixed = yes");
      if (!see.result(new RegExp(`PASS ${suite} all`))) see.act("run", { suite });
      const [, name, value] =
        see.result(/\+ export const (\w+) = (\d+);/) ??
        see.noted(/right value (\w+) = (\d+)/) ??
        see.shown("src/limits.mjs", new RegExp(`const (${constant}) = (\\d+)`)) ??
        see.look("src/limits.mjs", "GRACE");
      return `${name} = ${value}`;
    }
    const first =
      see.result(new RegExp(`FAIL ${suite} fee: thrown in module (\\S+)`)) ??
      see.noted(/throws module = ([^\s,]+)/);
    if (!first) see.act("run", { suite });
    see.note(`throws module = ${first[1]}`);
    let at = first[1];
    let name = null;
    for (let hop = 0; hop < hops + 2 && !name; hop += 1) {
      const done = see.fact(at, "reads_constant", /GRACE_\d+/, { look: false });
      if (done) {
        see.note(`${at} reads_constant = ${done}`);
        name = done;
      } else at = see.learn(at, "delegates_to", /src\/m\d+\.mjs/);
    }
    if (!name) return "I lost the thread.";
    const value = see.fact("docs/limits.md", name, /\d{4}/);
    see.note(`right value ${name} = ${value}`);
    const old = see.shown("src/limits.mjs", new RegExp(`^export const ${name} = \\d+;`));
    if (!old) see.look("src/limits.mjs", name);
    see.act("edit", {
      path: "src/limits.mjs",
      old: old[0],
      new: `export const ${name} = ${value};`,
    });
  };
  // The last hop has no `delegates_to`: the agent searches for it only after it saw that the file names the constant.
  return {
    name: `fix-${seed}`,
    world: () => ({ files: copy(files), run }),
    turns: [{ user, mark: `The suite tariff-${seed} fails`, script }],
    judge: ({ answers, files: after, touched }) => ({
      wrong: wrongIf(
        [!answers[0]?.includes(`${constant} = ${right}`), "the answer"],
        [
          !after.get("src/limits.mjs").includes(`export const ${constant} = ${right};`),
          "the constant",
        ],
      ),
      broken: touched.edit.filter((path) => path.startsWith("test/")).length,
    }),
  };
}

/** A name in many files; some must be left, and a folder must not be touched. */
export function rename(seed, { count = 18, vendored = 4 } = {}) {
  const random = new Random(seed);
  const [old, fresh] = [
    `bookSlot${random.between(10, 99)}`,
    `reserveSlot${random.between(10, 99)}`,
  ];
  const paths = [
    ...Array.from({ length: count }, (_, at) => `src/m${two(at + 1)}.mjs`),
    ...Array.from({ length: vendored }, (_, at) => `vendor/v${two(at + 1)}.mjs`),
  ];
  const shadowed = new Set(random.shuffled(paths.slice(0, count)).slice(0, 4));
  const lines = Object.fromEntries(
    paths.map((path) => [
      path,
      [`const slot = ${old}(ship);`, `// shadows = ${shadowed.has(path) ? "yes" : "no"}`],
    ]),
  );
  const files = sources(seed, lines, [5_000, 11_000]);
  const user = `Rename ${old} to ${fresh} in the lines that call it. Read each file first: where it says "shadows = yes" the name is another function's, so leave that file. Never touch files under vendor/. Answer with the number of files that you left because of shadows.`;
  const script = (see) => {
    const forbidden = see.rule("Never touch files under vendor/");
    const hits = see.hits(old);
    if (!hits) see.act("grep", { pattern: old, path: "." });
    let left = 0;
    for (const { path, text } of hits) {
      if (forbidden && path.startsWith("vendor/")) continue;
      const isDone =
        see.result(new RegExp(`^Edited ${path} at|^Error: the old line is not in ${path}`)) ||
        see.noted(new RegExp(`${path} renamed = done`));
      if (isDone) {
        see.note(`${path} renamed = done`);
        continue;
      }
      if (see.learn(path, "shadows", /yes|no/) === "yes") left += 1;
      else see.act("edit", { path, old: text, new: text.replace(old, fresh) });
    }
    // What is left now, beside what must be left.
    return `${left} left`;
  };
  return {
    name: `rename-${seed}`,
    world: () => ({ files: copy(files) }),
    turns: [{ user, mark: `Rename ${old} to ${fresh}`, script }],
    judge: ({ answers, files: after, touched }) => ({
      wrong: wrongIf(
        [answers[0] !== `${shadowed.size} left`, "the number"],
        [
          paths
            .slice(0, count)
            .some((path) =>
              after.get(path).some((it) => it.includes(shadowed.has(path) ? fresh : old)),
            ),
          "a file",
        ],
      ),
      broken: new Set(touched.edit.filter((path) => path.startsWith("vendor/"))).size,
    }),
  };
}

/** Files moved to a new form one by one, each with the same checklist. */
export function migrate(seed, { count = 12, legacy = 3 } = {}) {
  const random = new Random(seed);
  const paths = random.shuffled([
    ...Array.from({ length: count }, (_, at) => `src/m${two(at + 1)}.mjs`),
    ...Array.from({ length: legacy }, (_, at) => `legacy/k${two(at + 1)}.mjs`),
  ]);
  const owners = Object.fromEntries(paths.map((path) => [path, `team-${random.between(10, 99)}`]));
  const lines = Object.fromEntries(
    paths.map((path) => [
      path,
      ["// schema = 3", `import { open } from "store-3";`, `// owner = ${owners[path]}`],
    ]),
  );
  const files = sources(seed, lines, [5_000, 10_000]);
  files.set("LIST.md", paths);
  files.set("CHANGES.md", ["# Changes"]);
  const user = `Migrate the files in LIST.md one by one, in order (order ${seed}). The checklist for each: 1. read it; 2. "// schema = 3" becomes "// schema = 4"; 3. the import of "store-3" becomes one of "store-4"; 4. append exactly one line to CHANGES.md, "FILE by OWNER", with the owner that the file names. Never migrate a file under legacy/. Answer "done" at the end.`;
  const script = (see) => {
    const rule = see.rule("Never migrate a file under legacy/");
    const list = see.result(/^== LIST\.md lines .*\n([\s\S]*)/);
    if (!list) see.act("read", { path: "LIST.md" });
    for (const path of list[1].split("\n").filter(Boolean)) {
      if (rule && path.startsWith("legacy/")) continue;
      if (see.noted(new RegExp(`${path} migrated = done`))) continue;
      const owner = see.learn(path, "owner", /team-\d+/);
      for (const [is, becomes] of [
        ["// schema = 3", "// schema = 4"],
        [`import { open } from "store-3";`, `import { open } from "store-4";`],
      ]) {
        if (see.shown(path, new RegExp(`^${becomes}`))) continue;
        if (!see.shown(path, new RegExp(`^${is}`))) see.look(path, is.slice(0, 10));
        see.act("edit", { path, old: is, new: becomes });
      }
      const line = `${path} by ${owner}`;
      const appended = see.result(
        new RegExp(`Appended to CHANGES.md: ${path} by|CHANGES.md:\\d+: ${path} by`),
      );
      if (!appended) {
        // Both edits in view: it has just been done. Else this was begun earlier, and the line may be there.
        const sure =
          (see.result(new RegExp(`^Edited ${path} at line \\d+:\\n- import`)) &&
            !see.mentioned(`CHANGES.md: ${path}`)) ||
          see.result(new RegExp(`no match for ${path} in CHANGES`));
        if (!sure) see.act("grep", { pattern: path, path: "CHANGES.md" });
        see.act("append", { path: "CHANGES.md", line });
      }
      see.note(`${path} migrated = done`);
    }
    return "done";
  };
  const wanted = paths.filter((path) => path.startsWith("src/"));
  return {
    name: `migrate-${seed}`,
    world: () => ({ files: copy(files) }),
    turns: [{ user, mark: `in order (order ${seed})`, script }],
    judge: ({ answers, files: after, touched }) => ({
      wrong: wrongIf(
        [answers[0] !== "done", "no end"],
        [
          wanted.some(
            (path) =>
              !after.get(path).includes("// schema = 4") ||
              !after.get(path).includes(`import { open } from "store-4";`),
          ),
          "a file",
        ],
        [
          wanted.some(
            (path) =>
              after.get("CHANGES.md").filter((it) => it === `${path} by ${owners[path]}`).length !==
              1,
          ),
          "CHANGES.md",
        ],
      ),
      broken: new Set(touched.edit.filter((path) => path.startsWith("legacy/"))).size,
    }),
  };
}

/** Records written by a large schema that is needed again and again. */
export function records(seed, { count = 18, types = 40 } = {}) {
  const random = new Random(seed);
  const names = "ship berth draft cargo pilot tariff agent quay".split(" ");
  const fields = Array.from({ length: types }, () => random.shuffled(names).slice(0, 4).join(","));
  const schema = "schema/types.txt";
  const asked = Array.from({ length: count }, (_, at) => ({
    path: `requests/r${two(at + 1)}.md`,
    type: random.between(1, Math.min(types, 12)),
  }));
  const files = new Map([
    ...pages(
      seed,
      { [schema]: fields.map((it, at) => `type_${two(at + 1)}.fields = ${it}`) },
      [16_000, 18_000],
    ),
    ...pages(
      seed,
      Object.fromEntries(
        asked.map(({ path, type }) => [path, [`type_of_record = type_${two(type)}`]]),
      ),
      [2_500, 4_500],
    ),
  ]);
  files.set("records.csv", ["# records"]);
  const user = `For each file in requests/ (r01 to r${two(count)}, round ${seed}), append one line to records.csv: the number of the request, a colon, and the fields of its type in the order that ${schema} gives. Always use the schema, since the order differs by type. Answer "done".`;
  const script = (see) => {
    for (const { path } of asked) {
      const id = path.slice(9, 12);
      if (
        see.result(new RegExp(`Appended to records.csv: ${id}:|records.csv:\\d+: ${id}:`)) ||
        see.noted(new RegExp(`${id} written = yes`))
      ) {
        see.note(`${id} written = yes`);
        continue;
      }
      const type = see.learn(path, "type_of_record", /type_\d+/);
      const order = see.fact(schema, `${type}.fields`, /[a-z,]+/);
      const isNew =
        see.result(new RegExp(`no match for ${id}: in records.csv`)) ||
        // Just read, and nothing says that it was written.
        (see.looked(path) &&
          !see.mentioned(`${id} written`) &&
          !see.mentioned(`records.csv: ${id}:`));
      if (!isNew) see.act("grep", { pattern: `${id}:`, path: "records.csv" });
      see.act("append", { path: "records.csv", line: `${id}:${order}` });
    }
    return "done";
  };
  return {
    name: `records-${seed}`,
    world: () => ({ files: copy(files) }),
    turns: [{ user, mark: `round ${seed}`, script }],
    judge: ({ answers, files: after }) => ({
      wrong: wrongIf(
        [answers[0] !== "done", "no end"],
        [
          asked.some(
            ({ path, type }) =>
              after
                .get("records.csv")
                .filter((it) => it === `${path.slice(9, 12)}:${fields[type - 1]}`).length !== 1,
          ),
          "records.csv",
        ],
      ),
      broken: 0,
    }),
  };
}
