import { exec } from "node:child_process";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";

const text = (name, description) => ({ [name]: { type: "string", description } });
const number = (name, description) => ({ [name]: { type: "integer", minimum: 1, description } });
const tool = (name, description, properties, required) => ({
  name,
  description,
  parameters: { type: "object", properties, required },
});

const DEFINITIONS = [
  tool(
    "list",
    "List the files below a folder with their sizes in bytes.",
    text("path", "Folder, relative to the workspace."),
    ["path"],
  ),
  tool(
    "read",
    "Read a text file, whole or from a line on.",
    {
      ...text("path", "File, relative to the workspace."),
      ...number("offset", "First line, from 1."),
      ...number("limit", "Number of lines."),
    },
    ["path"],
  ),
  tool(
    "grep",
    "Find a regular expression in the files below a path. Answers path:line: text.",
    {
      ...text("pattern", "JavaScript regular expression."),
      ...text("path", "File or folder, relative to the workspace."),
    },
    ["pattern", "path"],
  ),
  tool(
    "run",
    "Run a shell command in the workspace. Answers its output and, when it is not 0, its exit code.",
    text("command", "The command line for sh."),
    ["command"],
  ),
  tool(
    "write",
    "Write a file, replacing what it held.",
    {
      ...text("path", "File, relative to the workspace."),
      ...text("content", "The whole new content."),
    },
    ["path", "content"],
  ),
  tool(
    "edit",
    "Replace a text that occurs exactly once in a file.",
    {
      ...text("path", "File, relative to the workspace."),
      ...text("old", "The text as it stands, to the character."),
      ...text("new", "What takes its place."),
    },
    ["path", "old", "new"],
  ),
];

/** The tools of the agent, over one folder. A path that leads out of it is refused; a failing tool answers with the reason. */
export class Tools {
  #root;
  #steady;

  /** `steady` rewrites command output so that it does not depend on the machine (recordings). */
  constructor(root, { steady = (output) => output } = {}) {
    this.#root = resolve(root);
    this.#steady = steady;
  }

  definitions = DEFINITIONS;

  async run(name, args) {
    try {
      const action = this.#actions[name];
      if (action === undefined)
        throw new Error(`no tool ${name}; there are ${Object.keys(this.#actions).join(", ")}`);
      return { text: await action(args), isError: false };
    } catch (error) {
      const reason = error.code === "ENOENT" ? `no such file: ${args.path}` : error.message;
      return { text: `Error: ${reason}`, isError: true };
    }
  }

  #actions = {
    list: async ({ path }) => {
      const lines = [];
      for (const file of await this.#files(path))
        lines.push(`${String((await stat(join(this.#root, file))).size).padStart(7)}  ${file}`);
      return lines.join("\n") || "(empty)";
    },

    read: async ({ path, offset = 1, limit = 2000 }) => {
      const lines = (await readFile(this.#inside(path), "utf8")).split("\n");
      const shown = lines.slice(offset - 1, offset - 1 + limit);
      const rest = lines.length - (offset - 1 + shown.length);
      return shown.join("\n") + (rest > 0 ? `\n[${rest} more lines]` : "");
    },

    grep: async ({ pattern, path }) => {
      const expression = new RegExp(pattern);
      const hits = [];
      for (const file of await this.#files(path)) {
        const lines = (await readFile(join(this.#root, file), "utf8")).split("\n");
        for (const [index, line] of lines.entries())
          if (expression.test(line)) hits.push(`${file}:${index + 1}: ${line.trim()}`);
      }
      return hits.join("\n") || "no match";
    },

    run: ({ command }) =>
      new Promise((done, fail) => {
        const env = { PATH: process.env.PATH, HOME: this.#root, LC_ALL: "C", NO_COLOR: "1" };
        exec(
          command,
          { cwd: this.#root, env, timeout: 60_000, maxBuffer: 8_000_000 },
          (error, stdout, stderr) => {
            const output = this.#steady(`${stdout}${stderr}`.trimEnd(), this.#root);
            if (error === null) return done(output || "(no output)");
            fail(new Error(`exit ${error.code ?? error.signal}\n${output}`));
          },
        );
      }),

    write: async ({ path, content }) => {
      const target = this.#inside(path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, content);
      return `Wrote ${path}, ${content.split("\n").length} lines.`;
    },

    edit: async ({ path, old, new: replacement }) => {
      const target = this.#inside(path);
      const before = await readFile(target, "utf8");
      const count = before.split(old).length - 1;
      if (count !== 1)
        throw new Error(
          count === 0
            ? `the old text is not in ${path}`
            : `the old text occurs ${count} times in ${path}; give more of it`,
        );
      await writeFile(
        target,
        before.replace(old, () => replacement),
      );
      const at = before.slice(0, before.indexOf(old)).split("\n").length;
      const mark = (sign, part) => part.split("\n").map((line) => `${sign} ${line}`);
      return [`Edited ${path} at line ${at}:`, ...mark("-", old), ...mark("+", replacement)].join(
        "\n",
      );
    },
  };

  #inside(path) {
    const target = resolve(this.#root, path);
    if (target !== this.#root && !target.startsWith(this.#root + sep))
      throw new Error(`${path} is outside of the workspace`);
    return target;
  }

  /** Files at or below a path, sorted, without what starts with a dot. */
  async #files(path) {
    const start = this.#inside(path);
    if ((await stat(start)).isFile()) return [relative(this.#root, start)];
    const entries = await readdir(start, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(this.#root, join(entry.parentPath ?? entry.path, entry.name)));
    return files.filter((file) => !file.split(sep).some((part) => part.startsWith("."))).sort();
  }
}
