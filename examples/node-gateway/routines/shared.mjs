/** Calls in short, and what is read off the answers of the tools. */
export const TESTS = "node --test --test-reporter=tap";
export const call = (name, args) => ({ name, args });
export const read = (path, range = {}) => call("read", { path, ...range });
export const run = (command) => call("run", { command });
export const grep = (pattern, path = "src") => call("grep", { pattern, path });
export const lines = (result) => (result.text === "no match" ? [] : result.text.split("\n"));
export const sources = (listing) =>
  lines(listing)
    .map((line) => line.trim().split(/ +/)[1])
    .filter((file) => /^src\/.*\.js$/.test(file));
export const exportsOf = (source) =>
  [...source.matchAll(/^export (?:async )?(?:function|class|const) (\w+)/gm)].map(
    (match) => match[1],
  );
export const importsOf = (source) =>
  [...source.matchAll(/^import .* from "(\.[^"]+)"/gm)].map((match) => match[1]);
export const pairs = (list) =>
  list.flatMap((_, index) => (index % 2 === 0 ? [list.slice(index, index + 2)] : []));
