/** Looks over a whole tree: sizes, notes left in the code, long functions, who imports whom. */
import { call, grep, importsOf, lines, pairs, read, run, sources } from "./shared.mjs";

function longFunctions(path, source) {
  const found = [];
  const rows = source.split("\n");
  for (const [index, row] of rows.entries()) {
    const head = /^(\s*)(?:export )?(?:static )?(?:function )?(#?\w+)\(.*\) \{$/.exec(row);
    if (head === null || ["if", "for", "while", "switch", "catch"].includes(head[2])) continue;
    const end = rows.findIndex((other, at) => at > index && other === `${head[1]}}`);
    if (end - index > 24) found.push({ path, name: head[2], from: index + 1, to: end + 1 });
  }
  return found;
}

export function* audit() {
  const [listing, history] = yield {
    thinking: "First the lie of the land: what files there are, and how the project came to be.",
    text: "I will look at the tree and its history first.",
    calls: [call("list", { path: "." }), run("git log --oneline | head -n 20")],
  };
  const files = sources(listing);
  const [sizes, todos, decisions] = yield {
    calls: [
      run(`wc -l ${files.join(" ")}`),
      grep("TODO|FIXME|HACK"),
      call("list", { path: "docs" }),
    ],
  };
  const documents = lines(decisions).map((line) => line.trim().split(/ +/)[1]);
  yield {
    text: `${files.length} source files, ${lines(todos).length} notes to self. Next what the project says about itself.`,
    calls: [read("README.md"), ...documents.map((path) => read(path))],
  };
  const long = [];
  const imports = new Map();
  for (const batch of pairs(files)) {
    const results = yield { calls: batch.map((path) => read(path)) };
    for (const [index, result] of results.entries()) {
      long.push(...longFunctions(batch[index], result.text));
      imports.set(batch[index], importsOf(result.text));
    }
  }
  for (const { path, name, from, to } of long) {
    yield {
      thinking: `${name} in ${path} spans ${to - from + 1} lines. I want to see whether it can be told in parts.`,
      calls: [read(path, { offset: from, limit: to - from + 1 })],
    };
  }
  const used = (path) =>
    [...imports.values()].flat().filter((target) => target.endsWith(path.split("/")[1])).length;
  const ranked = [...imports.keys()].sort((a, b) => used(b) - used(a)).slice(0, 4);
  return {
    text: [
      `The project has ${lines(history).length} commits and ${lines(sizes).at(-1).trim()} of source.`,
      "",
      "Most imported:",
      ...ranked.map((path) => `- ${path}, by ${used(path)} modules`),
      "",
      "Long functions:",
      ...long.map((f) => `- \`${f.name}\` in ${f.path}, lines ${f.from} to ${f.to}`),
      "",
      "Notes left in the code:",
      ...lines(todos).map((line) => `- ${line}`),
    ].join("\n"),
  };
}
