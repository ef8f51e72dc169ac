/** Carries a view out on the host's messages: nothing is mutated, what is not touched is shared. */
import type { Op } from "../types.js";

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
    const [parent, key] = open(root, op.path, ours);
    if (op.op === "remove") {
      if (Array.isArray(parent)) parent.splice(Number(key), 1);
      else delete (parent as Record<string, unknown>)[key];
    } else if (op.op === "add" && Array.isArray(parent)) {
      parent.splice(key === "-" ? parent.length : Number(key), 0, op.value);
    } else {
      put(parent as object, key, op.value);
    }
  }
  if (root.message !== message) keepInStep(root.message as object, message as object);
  return root.message;
}

/** An object of a class of the host's, not a plain one. */
export function isOfClass(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype !== null && Object.getPrototypeOf(prototype) !== null;
}

/**
 * The members of an instance that hold others of its members once more, as a class does that keeps what it was
 * constructed from: plain objects with at least one object that stands beside them under the same name.
 */
export function echoes(value: object): string[] {
  if (!isOfClass(value)) return [];
  const own = value as Record<string, unknown>;
  const echoed = (inner: unknown): boolean => {
    if (typeof inner !== "object" || inner === null || isOfClass(inner)) return false;
    if (Array.isArray(inner)) return false;
    return Object.entries(inner).some(
      ([key, it]) =>
        typeof it === "object" && it !== null && Object.hasOwn(own, key) && own[key] === it,
    );
  };
  return Object.keys(own).filter((key) => echoed(own[key]));
}

/** An edited instance has echoes of its own, which follow what was edited. */
function keepInStep(copied: object, from: object): void {
  const [now, before] = [copied as Record<string, unknown>, from as Record<string, unknown>];
  for (const key of echoes(from)) {
    const echo = { ...(before[key] as Record<string, unknown>) };
    for (const [name, it] of Object.entries(echo)) {
      const beside = Object.hasOwn(before, name) && Object.is(before[name], it);
      if (beside && Object.hasOwn(now, name)) echo[name] = now[name];
    }
    now[key] = echo;
  }
}

/** A message of ours with what is copied from the host in its place. */
export function filled(
  template: object,
  copies: readonly Copied[],
  history: readonly unknown[],
): object {
  // A template is JSON; jsdom has no structuredClone.
  const made = JSON.parse(JSON.stringify(template)) as object;
  for (const { path, index, from } of copies) {
    const steps = keys(path);
    const key = steps.pop() as string;
    const parent = steps.reduce(step, made as unknown);
    (parent as Record<string, unknown>)[key] = valueAt(history[index], from);
  }
  return made;
}

/** What stands at a JSON Pointer. */
export function valueAt(value: unknown, pointer: string): unknown {
  return keys(pointer).reduce(step, value);
}

/** The container of the last key, with all above it replaced by copies of ours. */
function open(root: { message: unknown }, path: string, ours: Set<object>): [unknown, string] {
  const steps = ["message", ...keys(path)];
  const last = steps.pop() as string;
  let at: unknown = root;
  for (const key of steps) {
    let child = step(at, key);
    if (typeof child === "object" && child !== null && !ours.has(child)) {
      child = copy(child);
      ours.add(child as object);
      put(at as object, key, child);
    }
    at = child;
  }
  return [at, last];
}

function copy(value: object): object {
  if (Array.isArray(value)) return value.slice();
  const prototype = Object.getPrototypeOf(value) as object | null;
  // Engines copy plain objects fastest this way. A member of the prototype's name stays a member.
  if (prototype === Object.prototype) return { ...value };
  const made = Object.create(prototype) as object;
  // Not the prototype, but a member that JSON.parse has made of that name.
  if (!Object.hasOwn(value, PROTO)) return Object.assign(made, value);
  for (const key of Reflect.ownKeys(value)) {
    const { enumerable } = Object.getOwnPropertyDescriptor(value, key) ?? {};
    if (enumerable) put(made, key, (value as Record<PropertyKey, unknown>)[key]);
  }
  return made;
}

const PROTO = "__proto__";

/** Sets a member, also one whose name would set the prototype. */
function put(object: object, key: PropertyKey, value: unknown): void {
  if (key !== PROTO) (object as Record<PropertyKey, unknown>)[key] = value;
  else
    Object.defineProperty(object, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
}

/** A member of a value; of the prototype's name only its own. */
function step(value: unknown, key: string): unknown {
  if (key === PROTO && !Object.hasOwn(value as object, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}

function keys(pointer: string): string[] {
  const keys = pointer.split("/");
  keys.shift();
  if (!pointer.includes("~")) return keys;
  return keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}
