/** The page: counts tokens as you type, and plays a session under a policy. */
import { estimateTokens } from "plimsoll";
import { readSession, replay } from "plimsoll/sessions";
import { fill } from "./inspector.mjs";
import { chart, figures, largest, parts } from "./report.mjs";

const ESTIMATORS = ["generic", "o200k", "cl100k", "claude", "gemini", "llama3", "qwen", "deepseek"];
const WINDOWS = [16_000, 32_000, 64_000, 128_000, 200_000, 1_000_000];
const PRESETS = ["balanced", "economy", "retention", "capacity"];

const at = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en");
let text = "";
/** Of the file that the text is from. */
let name = "";
let session = null;
let played = null;

/** Shows the tokens of the text at once, and the session in it when typing pauses. */
let pause;
function show(next, of = "") {
  text = next;
  name = of;
  const tokens = estimateTokens(text, at("estimator").value);
  at("count").textContent = `${number(tokens)} tokens in ${number(text.length)} characters`;
  at("note").textContent = name;
  clearTimeout(pause);
  pause = setTimeout(read, 200);
}

function read() {
  session = null;
  at("report").hidden = true;
  if (!/^\s*[[{]/.test(text)) return;
  try {
    session = readSession(text);
    const { format, messages, calls, receipt } = session;
    const sizes = `${format}, ${number(messages.length)} messages, ${number(calls.length)} calls`;
    const broken = receipt.broken.length ? `, ${receipt.broken.length} broken lines` : "";
    at("note").textContent = `${name && `${name}: `}${sizes}${broken}`;
    play();
  } catch (error) {
    at("note").textContent = `Not read as a session: ${error.message}`;
  }
}

/** Plays the session call by call, and shows the last call. */
function play() {
  if (!session?.calls.length) return;
  at("report").hidden = false;
  played?.[Symbol.dispose]();
  played = replay(session, {
    window: { contextTokens: Number(at("window").value) },
    preset: at("preset").value,
    estimator: at("estimator").value,
  });
  at("call").max = played.calls.length;
  at("call").value = played.calls.length;
  look();
}

function look() {
  const call = played.calls[at("call").value - 1];
  const { window } = played.report(call.call);
  const what = { edit: ", earlier messages edited", fold: ", older messages folded" };
  const event = what[call.event] ?? "";
  at("place").textContent = `Call ${call.call + 1} of ${played.calls.length}${event}`;
  chart(played.calls, call, Number(at("window").value));
  figures(call, window);
  parts(played.composition(call.call), Number(at("window").value));
  largest(played.messages(call.call), (index) => played.text(index));
}

for (const [id, values, chosen] of [
  ["estimator", ESTIMATORS, "generic"],
  ["window", WINDOWS, 64_000],
  ["preset", PRESETS, "balanced"],
]) {
  const label = (value) => (typeof value === "number" ? number(value) : value);
  at(id).append(...values.map((value) => new Option(label(value), value, false, value === chosen)));
}
at("input").addEventListener("input", () => show(at("input").value));
at("estimator").addEventListener("change", () => show(text, name));
at("window").addEventListener("change", play);
at("preset").addEventListener("change", play);
at("call").addEventListener("input", look);
at("inside").addEventListener("toggle", () => fill(at("inspector"), () => played), { once: true });
at("file").addEventListener("change", ({ target }) => open(target.files[0]));
at("sample").addEventListener("click", async () => {
  const response = await fetch("../sessions/harbour-audit.pi.jsonl");
  open(new File([await response.blob()], "harbour-audit.pi.jsonl"));
});
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  open(event.dataTransfer.files[0]);
});

/** A file is not put into the text field: browsers are slow with megabytes there. */
async function open(file) {
  if (!file) return;
  at("input").value = "";
  show(await file.text(), file.name);
}

show("");
