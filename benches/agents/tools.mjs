/** The agent's tools, over files in memory. Results say which file they show, as the tools of coding agents do. */

const text = (description) => ({ type: "string", description });
const number = (description) => ({ type: "integer", minimum: 1, description });
const tool = (name, description, properties, required) => ({
  type: "function",
  function: {
    name,
    description,
    parameters: { type: "object", properties, required },
  },
});

export const DEFINITIONS = [
  tool("list", "List the files below a folder with their sizes.", { path: text("Folder.") }, [
    "path",
  ]),
  tool(
    "read",
    "Read a text file, whole or a range of lines.",
    {
      path: text("File."),
      offset: number("First line, from 1."),
      limit: number("Number of lines."),
    },
    ["path"],
  ),
  tool(
    "grep",
    "Find a text in the files below a path. Answers path:line: text.",
    { pattern: text("The text to find."), path: text("File or folder.") },
    ["pattern", "path"],
  ),
  tool(
    "edit",
    "Replace a line of a file. The old line must be given as it stands.",
    { path: text("File."), old: text("The line now."), new: text("What takes its place.") },
    ["path", "old", "new"],
  ),
  tool("append", "Append a line to a file.", { path: text("File."), line: text("The line.") }, [
    "path",
    "line",
  ]),
  tool("run", "Run the tests.", { suite: text("Name of the suite.") }, ["suite"]),
];

/** Files, and what was done to them. */
export class Workspace {
  /** @param {Map<string, string[]>} files lines by path; a task's own copy @param {(suite: string, files: Map) => string} [run] */
  constructor(files, run = () => "no tests") {
    this.files = files;
    this.suite = run;
    /** Paths by what was done to them: `read`, `edit`, `append`. */
    this.touched = { read: [], edit: [], append: [] };
  }

  call(name, args) {
    try {
      const action = this[`_${name}`];
      if (!action) throw new Error(`no tool ${name}`);
      return action.call(this, args ?? {});
    } catch (error) {
      return `Error: ${error.message}`;
    }
  }

  _list({ path = "" }) {
    const rows = [...this.files]
      .filter(([name]) => under(name, path))
      .map(([name, lines]) => `${String(lines.join("\n").length).padStart(7)}  ${name}`);
    return rows.join("\n") || "(empty)";
  }

  _read({ path, offset = 1, limit = 4_000 }) {
    const lines = this.#lines(path);
    this.touched.read.push(path);
    const shown = lines.slice(offset - 1, offset - 1 + limit);
    return `== ${path} lines ${offset}-${offset - 1 + shown.length} of ${lines.length}\n${shown.join("\n")}`;
  }

  _grep({ pattern, path }) {
    const hits = [];
    for (const [name, lines] of this.files) {
      if (!under(name, path)) continue;
      for (const [at, line] of lines.entries())
        if (line.includes(pattern)) hits.push(`${name}:${at + 1}: ${line.trim()}`);
    }
    for (const name of new Set(hits.map((hit) => hit.split(":")[0]))) this.touched.read.push(name);
    return hits.join("\n") || `no match for ${pattern} in ${path}`;
  }

  _edit({ path, old, new: line }) {
    const lines = this.#lines(path);
    const at = lines.findIndex((it) => it.trim() === String(old).trim());
    if (at < 0) throw new Error(`the old line is not in ${path}`);
    this.touched.edit.push(path);
    lines[at] = line;
    return `Edited ${path} at line ${at + 1}:\n- ${old.trim()}\n+ ${line.trim()}`;
  }

  _append({ path, line }) {
    this.touched.append.push(path);
    this.files.set(path, [...(this.files.get(path) ?? []), line]);
    return `Appended to ${path}: ${line}`;
  }

  _run({ suite }) {
    return this.suite(suite, this.files);
  }

  #lines(path) {
    const lines = this.files.get(path);
    if (!lines) throw new Error(`no such file: ${path}`);
    return lines;
  }
}

const under = (name, path) =>
  path === "" || path === "." || name === path || name.startsWith(`${path.replace(/\/$/, "")}/`);
