/** The names and members that declaration files export, and which of them have a comment. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const DECLARATION =
  /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type|function|const) (\w+)/gm;
const LISTED = /^(?:import|export) (?:type )?(\*|\{[^}]*\}) from "(\.[^"]*)";$/gm;
/** A member whose type is one literal says all by that: `type: "pressure"`. */
const MEMBER =
  /^(?:readonly |static |get |set |abstract )*(\[Symbol\.\w+\]|"?\w+"?)\??(?=[<(:])(?!: (?:"[^"]*"|\d+);)/;
const UNDOCUMENTED = ["constructor"];

/**
 * Every name that the entries export, with the names that those are declared by, each member as `Name.member`.
 *
 * @param {string[]} entries paths of `.d.ts` files
 * @returns {{ names: string[], uncommented: string[] }}
 */
export function documented(entries) {
  const found = new Map();
  for (const entry of entries) collect(entry, undefined, found);
  const all = [...found.values()].flat();
  return {
    names: all.map(({ name }) => name),
    uncommented: all.filter(({ isCommented }) => !isCommented).map(({ name }) => name),
  };
}

/** Adds what a file exports under these names, or everything that it exports. */
function collect(path, names, found) {
  const text = readFileSync(path, "utf8");
  const bare = masked(text);
  const sources = new Map();
  for (const [line, list, from] of text.matchAll(LISTED)) {
    const source = join(dirname(path), from.replace(/\.js$/, ".d.ts"));
    const all = list === "*" ? names : list.slice(1, -1).split(",").map(nameOf);
    if (line.startsWith("import")) for (const name of all) sources.set(name, source);
    else collect(source, names && all ? all.filter((name) => names.includes(name)) : all, found);
  }
  for (const { 0: line, 1: name, index } of bare.matchAll(DECLARATION)) {
    if (names ? !names.includes(name) : !line.startsWith("export")) continue;
    const key = `${path} ${name}`;
    if (found.has(key)) continue;
    const end = bare.slice(index).search(/\n(?!\s|\})/);
    const body = end < 0 ? bare.slice(index) : bare.slice(index, index + end);
    const own = { name, isCommented: endsInComment(text, index) };
    found.set(key, [own, ...members(name, body, text, index)]);
    for (const used of new Set(body.match(/\w+/g))) {
      if (sources.has(used)) collect(sources.get(used), [used], found);
      else if (used !== name) collect(path, [used], found);
    }
  }
}

const nameOf = (listed) =>
  listed
    .trim()
    .replace(/^type /, "")
    .split(" as ")[0];

/** The members of every object type in a declaration, at any depth. */
function* members(name, body, text, at) {
  const brackets = [];
  for (let place = 0; place < body.length; place += 1) {
    const sign = body[place];
    if ("({[".includes(sign)) brackets.push(sign);
    else if (")}]".includes(sign)) brackets.pop();
    if (!"{;,}".includes(sign) || brackets.at(-1) !== "{") continue;
    const start = place + 1 + /^\s*/.exec(body.slice(place + 1))[0].length;
    const member = MEMBER.exec(body.slice(start, start + 200));
    if (!member || UNDOCUMENTED.includes(member[1])) continue;
    yield { name: `${name}.${member[1]}`, isCommented: endsInComment(text, at + start) };
  }
}

const endsInComment = (text, at) => text.slice(0, at).trimEnd().endsWith("*/");

/** The text with blanks in place of comments and of signs in strings, so that places stay the same. */
function masked(text) {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*|"[^"\n]*"/g, (part) =>
    part.startsWith('"') ? part.replace(/[^\w"./ -]/g, "_") : part.replace(/[^\n]/g, " "),
  );
}
