/** Carries a view out on the host's messages: nothing is mutated, what is not touched is shared. */
import type { Op } from "./types.js";

/** Something of the host's that is put into a message of ours. */
export interface Copied {
  path: string;
  index: number;
  from: string;
}

/** A message with operations carried out: a copy as deep as they reach, with the host's prototypes. */
export function edited<M>(message: M, ops: readonly Op[]): M {
  const ours = new Set<object>();
  const root = { message };
  for (const op of ops) {
    const [parent, key] = open(root, ["message", ...keys(op.path)], ours);
    if (op.op === "remove") {
      if (Array.isArray(parent)) parent.splice(Number(key), 1);
      else delete (parent as Record<string, unknown>)[key];
    } else if (op.op === "add" && Array.isArray(parent)) {
      parent.splice(key === "-" ? parent.length : Number(key), 0, op.value);
    } else {
      (parent as Record<string, unknown>)[key] = op.value;
    }
  }
  return root.message;
}

/** A message of ours with what is copied from the host in its place. */
export function filled(
  template: object,
  copies: readonly Copied[],
  history: readonly unknown[],
): object {
  const made = structuredClone(template);
  for (const { path, index, from } of copies) {
    const steps = keys(path);
    const key = steps.pop() as string;
    const parent = steps.reduce(step, made as unknown);
    (parent as Record<string, unknown>)[key] = keys(from).reduce(step, history[index]);
  }
  return made;
}

/** The container of the last key, with all above it replaced by copies of ours. */
function open(root: object, path: string[], ours: Set<object>): [unknown, string] {
  const last = path.pop() as string;
  let at: unknown = root;
  for (const key of path) {
    const parent = at as Record<string, unknown>;
    let child = parent[key];
    if (typeof child === "object" && child !== null && !ours.has(child)) {
      child = copy(child);
      ours.add(child as object);
      parent[key] = child;
    }
    at = child;
  }
  return [at, last];
}

function copy(value: object): object {
  return Array.isArray(value)
    ? value.slice()
    : Object.assign(Object.create(Object.getPrototypeOf(value) as object | null), value);
}

function step(value: unknown, key: string): unknown {
  return (value as Record<string, unknown>)[key];
}

function keys(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}
