/** Seeds for the fuzz targets, from the project's golden histories and recorded sessions: into `fuzz/corpus`. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FORMATS = ["anthropic", "openai-chat", "openai-responses", "gemini", "ai-sdk", "pi"];
const [golden, sessions, corpus] = ["tests/golden", "examples/sessions", "fuzz/corpus"];

function seed(target, name, bytes) {
  const folder = join(corpus, target);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), bytes);
}

/** The bytes of `Case::read` in fuzz/src/case.rs: format, provider (its first), preset, window, then a message a line. */
function caseOf(format, messages, window = 20) {
  const choices = [FORMATS.indexOf(format), 0, 0, window];
  const lines = messages.map((message) => JSON.stringify(message)).join("\n");
  return Buffer.concat([Buffer.from(choices), Buffer.from(lines)]);
}

for (const file of readdirSync(golden).filter((name) => name.endsWith(".json"))) {
  const content = JSON.parse(readFileSync(join(golden, file), "utf8"));
  const format = content.format ?? file.replace(".json", "");
  (content.cases ?? content).forEach((each, number) => {
    if (!each.messages) return;
    const bytes = caseOf(format, each.messages);
    const name = `${format}-${number}`;
    for (const target of ["repair", "requests"]) seed(target, name, bytes);
    seed("restore", name, Buffer.concat([Buffer.alloc(4), bytes]));
    seed("arguments", name, JSON.stringify(each));
    seed("session_files", name, JSON.stringify(each.messages));
    seed("redaction", name, JSON.stringify(each.messages));
  });
}
for (const file of readdirSync(sessions).filter((name) => !name.endsWith(".md"))) {
  const text = readFileSync(join(sessions, file), "utf8");
  const start = file.endsWith(".jsonl") ? text.split("\n").slice(0, 12).join("\n") : text;
  seed("session_files", file, start.slice(0, 40_000));
}
const at = 1_700_000_000_000;
const observation = {
  kind: "PREFERENCE",
  category: "style",
  content: "Prefers tabs",
  score: 80,
  source: "user",
  trusted: true,
  at,
};
seed("candidates", "observation", JSON.stringify(observation));
seed(
  "redaction",
  "key",
  "export API_KEY=sk-ant-REDACTED0123456789 Authorization: Bearer abc.def.ghi",
);
