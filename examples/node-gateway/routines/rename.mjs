/** Renames a word wherever it stands in the code, line by line. */
import { call, lines, read, run, TESTS } from "./shared.mjs";

export function* rename(view, request) {
  const [, from, to] = /rename `(\w+)` to `(\w+)`/i.exec(request) ?? [];
  const [hits] = yield {
    text: `Where \`${from}\` stands now:`,
    calls: [call("grep", { pattern: `\\b${from}\\b`, path: "." })],
  };
  let edits = 0;
  for (const hit of lines(hits).filter(
    (line) => /\.js:\d+:/.test(line) && !/^[^:]+:\d+: (?:\/\/|\*|\/\*)/.test(line),
  )) {
    const [, path, row, content] = /^([^:]+):(\d+): (.*)$/.exec(hit);
    const wanted = content.replace(new RegExp(`\\b${from}\\b`, "g"), to);
    if (!view.shows(content)) yield { calls: [read(path)] };
    const [done] = yield { calls: [call("edit", { path, old: content, new: wanted })] };
    if (done.isError) {
      const [around] = yield {
        thinking:
          "The same text stands there more than once, or has moved. I take the lines around it.",
        calls: [read(path, { offset: Math.max(1, Number(row) - 1), limit: 3 })],
      };
      const exact = around.text.replace(/\n\[\d+ more lines\]$/, "");
      yield {
        calls: [
          call("edit", {
            path,
            old: exact,
            new: exact.replace(new RegExp(`\\b${from}\\b`, "g"), to),
          }),
        ],
      };
    }
    edits += 1;
  }
  const [left, suite] = yield {
    calls: [call("grep", { pattern: `\\b${from}\\b`, path: "src" }), run(TESTS)],
  };
  return {
    text: `\`${from}\` is now \`${to}\`: ${edits} lines changed, ${lines(left).length} mentions left, tests ${suite.isError ? "fail" : "pass"}.`,
  };
}
