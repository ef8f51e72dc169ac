// @ts-check
/**
 * Steps of a piece of work, counted, not timed: each call of a function, each round of a loop and every 32 bytes that are copied or filled,
 * in Wasm; each block that is entered, in JavaScript. The same work always has the same count, whatever else runs on the machine.
 *
 * Import it before the package: it changes each Wasm as it is compiled. The JavaScript is counted by V8's own coverage.
 */
import { Session } from "node:inspector/promises";

/** Name of the counter in a Wasm's exports. */
const COUNTER = "steps";
/** Bytes that a copy or a fill takes a step for, as a power of two. */
const BYTES_A_STEP = 5;

/** @type {Array<Record<string, any>>} */
const running = [];
const { Module, Instance } = WebAssembly;

WebAssembly.Module = /** @type {any} */ (
  new Proxy(Module, {
    construct: (target, [bytes]) => new target(/** @type {any} */ (withCounter(bytesOf(bytes)))),
  })
);
WebAssembly.Instance = /** @type {any} */ (
  new Proxy(Instance, {
    construct: (target, parts) => {
      const instance = new target(.../** @type {[any]} */ (parts));
      running.push(instance.exports);
      return instance;
    },
  })
);

const inspector = new Session();
inspector.connect();
await inspector.post("Profiler.enable");
await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

const inWasm = () => running.reduce((sum, { [COUNTER]: { value } }) => sum + Number(value), 0);

/** Blocks of the package that were entered since the last call. */
async function inScript() {
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  const ours = result.filter(({ url }) => url.includes("/dist/"));
  const ranges = ours.flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges));
  return ranges.reduce((sum, { count }) => sum + count, 0);
}

/** @param {() => unknown} work */
export async function countSteps(work) {
  await inScript();
  const before = inWasm();
  await work();
  return { wasm: inWasm() - before, script: await inScript() };
}

/** @param {ArrayBuffer | ArrayBufferView} source */
function bytesOf(source) {
  return source instanceof ArrayBuffer
    ? new Uint8Array(source)
    : new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
}

/** Sections of a Wasm file, by number, that are changed or read. */
const [TYPES, FUNCTIONS, GLOBALS, EXPORTS, CODE] = [1, 3, 6, 7, 10];
const [I32, I64] = [0x7f, 0x7e];

/**
 * The same Wasm with a global that counts.
 * @param {Uint8Array} bytes
 */
function withCounter(bytes) {
  const reader = new Reader(bytes, 8);
  const sections = [];
  while (reader.at < bytes.length) {
    const id = reader.byte();
    const end = reader.unsigned() + reader.at;
    sections.push({ id, body: bytes.subarray(reader.at, end) });
    reader.at = end;
  }
  /** @param {number} id */
  const body = (id) => sections.find((section) => section.id === id)?.body ?? new Uint8Array();
  const global = importedGlobals(body(2)) + new Reader(body(GLOBALS)).unsigned();
  const parameters = parametersOf(body(TYPES), body(FUNCTIONS));
  const out = [...bytes.subarray(0, 8)];
  for (const { id, body } of sections) {
    const changed =
      id === GLOBALS
        ? withOneMore(body, [I64, 1, 0x42, 0, 0x0b])
        : id === EXPORTS
          ? withOneMore(body, [COUNTER.length, ...Buffer.from(COUNTER), 3, ...unsigned(global)])
          : id === CODE
            ? withCounting(body, global, parameters)
            : body;
    out.push(id, ...unsigned(changed.length));
    for (const byte of changed) out.push(byte);
  }
  return Uint8Array.from(out);
}

/** A vector with an item more. @param {Uint8Array} body @param {number[]} item */
function withOneMore(body, item) {
  const reader = new Reader(body);
  const count = reader.unsigned();
  return [...unsigned(count + 1), ...body.subarray(reader.at), ...item];
}

/** @param {Uint8Array} imports */
function importedGlobals(imports) {
  const reader = new Reader(imports);
  let globals = 0;
  for (let left = imports.length ? reader.unsigned() : 0; left > 0; left--) {
    reader.skip(reader.unsigned());
    reader.skip(reader.unsigned());
    const kind = reader.byte();
    if (kind === 0) reader.unsigned();
    else if (kind === 3) {
      reader.skip(2);
      globals++;
    } else throw new Error(`an import of kind ${kind} is not known here`);
  }
  return globals;
}

/** Number of parameters of each function. @param {Uint8Array} types @param {Uint8Array} functions */
function parametersOf(types, functions) {
  const reader = new Reader(types);
  const parameters = reader.many(() => {
    if (reader.byte() !== 0x60) throw new Error("a type that is no function's");
    const count = reader.many(() => reader.byte()).length;
    reader.many(() => reader.byte());
    return count;
  });
  const uses = new Reader(functions);
  return uses.many(() => parameters[uses.unsigned()] ?? 0);
}

/**
 * @param {Uint8Array} code
 * @param {number} global
 * @param {number[]} parameters
 */
function withCounting(code, global, parameters) {
  const reader = new Reader(code);
  const [get, set] = [
    [0x23, ...unsigned(global)],
    [0x24, ...unsigned(global)],
  ];
  const step = [...get, 0x42, 1, 0x7c, ...set];
  let index = 0;
  /** @type {number[]} */
  const out = [];
  const bodies = reader.many(() => {
    const end = reader.unsigned() + reader.at;
    const groups = reader.many(() => [reader.unsigned(), reader.byte()]);
    const locals = groups.reduce((sum, [count = 0]) => sum + count, parameters[index++] ?? 0);
    const length = unsigned(locals);
    // A copy's length stands on the stack: it is kept in a local more, counted, and put back.
    const bulk = [0x22, ...length, 0x41, BYTES_A_STEP, 0x76, 0xad, ...get, 0x7c, ...set];
    const body = [...unsigned(groups.length + 1)];
    for (const [count = 0, type = 0] of groups) body.push(...unsigned(count), type);
    body.push(1, I32, ...step);
    while (reader.at < end) {
      const begin = reader.at;
      const opcode = reader.instruction();
      if (opcode === COPY || opcode === FILL) body.push(...bulk, 0x20, ...length);
      for (let at = begin; at < reader.at; at++) body.push(code[at] ?? 0);
      if (opcode === LOOP) body.push(...step);
    }
    return body;
  });
  out.push(...unsigned(bodies.length));
  for (const body of bodies) {
    out.push(...unsigned(body.length));
    for (const byte of body) out.push(byte);
  }
  return out;
}

const LOOP = 0x03;
const [COPY, FILL] = [0xfc0a, 0xfc0b];

/** @param {number} value @returns {number[]} LEB128 */
function unsigned(value) {
  const low = value & 0x7f;
  return value > 0x7f ? [low | 0x80, ...unsigned(value >>> 7)] : [low];
}

/** Instructions with one number after them: branches, calls, locals, globals, tables, constants, functions. */
const ONE = new Set([
  0x02, 0x03, 0x04, 0x0c, 0x0d, 0x10, 0x12, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x3f, 0x40,
  0x41, 0x42, 0xd0, 0xd2,
]);
/** Numbers after an instruction after 0xfc. */
const AFTER_FC = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1];

class Reader {
  /** @param {Uint8Array} bytes @param {number} at */
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte() {
    return this.bytes[this.at++] ?? 0;
  }

  /** @param {number} count */
  skip(count) {
    this.at += count;
  }

  unsigned() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  /** @template T @param {() => T} read @returns {T[]} */
  many(read) {
    return Array.from({ length: this.unsigned() }, read);
  }

  /** Passes over an instruction, and gives its opcode. */
  instruction() {
    const opcode = this.byte();
    if (ONE.has(opcode)) this.unsigned();
    else if (opcode >= 0x28 && opcode <= 0x3e) this.numbers(2);
    else if (opcode === 0x11 || opcode === 0x13) this.numbers(2);
    else if (opcode === 0x0e) this.numbers(this.unsigned() + 1);
    else if (opcode === 0x1c) this.many(() => this.byte());
    else if (opcode === 0x43 || opcode === 0x44) this.skip(opcode === 0x43 ? 4 : 8);
    else if (opcode === 0xfc) {
      const second = this.unsigned();
      this.numbers(AFTER_FC[second] ?? 0);
      return 0xfc00 + second;
    } else if (opcode === 0xfd) {
      const second = this.unsigned();
      // Vectors: memory and a lane, a constant or a shuffle, a lane, or nothing.
      if (second <= 11 || second === 92 || second === 93) this.numbers(2);
      else if (second === 12 || second === 13) this.skip(16);
      else if (second >= 21 && second <= 34) this.skip(1);
      else if (second >= 84 && second <= 91) {
        this.numbers(2);
        this.skip(1);
      }
      return 0xfd00 + second;
    } else if (opcode > 0xd2 || (opcode > 0xc4 && opcode < 0xd0)) {
      throw new Error(`instruction ${opcode} is not known here`);
    }
    return opcode;
  }

  /** @param {number} count */
  numbers(count) {
    for (let left = count; left > 0; left--) this.unsigned();
  }
}
