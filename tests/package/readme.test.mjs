/** Every JavaScript example of the README and of docs/ compiles against the types of the packed package. Names that a host brings are declared here. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { examples, imports, NAMES } from "../support/examples.mjs";
import { project, root, run, write } from "../support/project.mjs";

/** Names that the examples use and a host has. */
const HOST = `import type * as plimsoll from "plimsoll";
declare global {
  interface Message { role: "user" | "assistant"; content: string | object[] }
  var context: plimsoll.ContextManager<Message>;
  var options: plimsoll.ContextManagerOptions<Message>;
  var store: plimsoll.Store;
  var system: string;
  var tools: object[];
  var sessionId: string;
  var folder: string;
  var key: Uint8Array;
  var saved: { file: string; revision: number };
  var runTurn: (prompt: string) => Promise<boolean>;
  var model: string;
  var channels: plimsoll.Channels;
  var log: (...said: unknown[]) => void;
  var runTool: (name: string, input: object) => Promise<string>;
  var callModel: (request: plimsoll.Prepared<Message>) => Promise<{ usage: object }>;
  var anthropic: {
    messages: {
      create(body: object, options?: object): Promise<{ content: { type: string; id: string; name: string; input: object }[] }>;
    };
  };
  var url: string;
  var apiKey: string;
  var myStore: (url: string) => plimsoll.Store;
  var require: (name: string) => any;
  var process: { stdout: { columns: number } };
  var sessions: Map<string, plimsoll.ContextManager>;
  var text: string;
  var plan: plimsoll.PromptPlan;
  var usage: { prompt_tokens: number; completion_tokens: number } | undefined;
  var messages: Message[];
  var compactBetweenSteps: () => void;
  var countTokens: (messages: readonly { content: unknown }[]) => number;
  var compressionModel: (messages: object[]) => Promise<string>;
  var summarize: plimsoll.Summarizer;
  var id: string;
  var frame: HTMLIFrameElement;
  var instructions: string;
}
`;

/** Its own types are held against the store's in `package.test.mjs`. */
const OTHERS = `declare module "@anthropic-ai/sdk" {
  export default class Anthropic {
    messages: { create(body: object, options?: object): Promise<{ usage: object; content: object[] }> };
  }
}
declare module "@langchain/core/messages" {
  export function trimMessages(messages: object[], options: object): Promise<object[]>;
}
declare module "@mastra/core/agent" {
  export class Agent { constructor(options: object) }
}
declare module "@context-chef/core" {
  export class ContextChef {
    constructor(options: object);
    setSystemPrompt(messages: object[]): this;
    setHistory(messages: object[]): this;
    compile(options: object): Promise<{ messages: object[] }>;
  }
}
declare module "ai" {
  export function pruneMessages(options: { messages: object[]; reasoning: string; toolCalls: string }): object[];
  export function generateText(asked: object): Promise<{ text: string }>;
  export function stepCountIs(steps: number): object;
  export function wrapLanguageModel(wrapped: object): object;
}
declare module "langchain" {
  export function createAgent(options: object): object;
}
declare module "@openai/agents" {
  export class Agent { constructor(options: object) }
  export function run(agent: Agent, input: string, options: object): Promise<{ finalOutput: string }>;
}
declare module "node:fs" {
  export function createReadStream(path: string): AsyncIterable<Uint8Array>;
}
declare module "node:fs/promises" {
  export function readFile(path: string): Promise<Uint8Array>;
}
declare module "redis" {
  export function createClient(options: { url: string }): { connect(): Promise<any> };
}
`;

const CONFIG = {
  compilerOptions: {
    module: "nodenext",
    target: "es2022",
    lib: ["es2022", "esnext.disposable", "dom"],
    strict: true,
    noImplicitAny: false,
    noEmit: true,
    types: [],
  },
};

/** Not of `HOST`, for a browser's global has this name. */
const HISTORY = "declare const history: Message[]; ";

test("the examples of the README and the docs compile against the package's types", () => {
  assert.ok(examples.length > 9, `${examples.length} examples were found`);
  const folder = project({ "names.mjs": NAMES });
  const exported = JSON.parse(run(process.execPath, ["names.mjs"], folder));
  const files = { "host.d.ts": HOST, "others.d.ts": OTHERS };
  for (const [at, { code }] of examples.entries()) {
    files[`example-${at + 1}.mts`] = `${HISTORY}${imports(code, exported)}${code}export {};\n`;
  }
  const config = { ...CONFIG, files: Object.keys(files) };
  write(folder, { ...files, "tsconfig.json": JSON.stringify(config) });
  run(join(root, "js/node_modules/.bin/tsc"), [], folder);
});
