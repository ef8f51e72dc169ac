/** The parts of the report, drawn from what a replay says of one call. Texts of a session are set as text, never as HTML. */
const at = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en");

/** An element with a class, a text and children. */
function element(name, className, text = "", ...children) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  made.append(...children);
  return made;
}

/** Tokens by call: what is sent, the whole history, the window. */
export function chart(calls, call, window) {
  const peak = Math.max(...calls.map(({ used, unmanaged }) => Math.max(used, unmanaged)));
  const top = Math.min(Math.max(peak, window), 1.15 * peak);
  const x = (index) => (600 * (index + 0.5)) / calls.length;
  const y = (tokens) => 118 - (114 * tokens) / top;
  const line = (tokens) =>
    calls.map((call, index) => `${index ? "L" : "M"}${x(call.call)} ${y(tokens(call))}`).join("");
  const draw = (id, path) => at(id).setAttribute("d", path);
  draw(
    "whole",
    line(({ unmanaged }) => unmanaged),
  );
  draw("sent", `${line(({ used }) => used)}V118H${x(0)}Z`);
  draw("limit", window <= top ? `M0 ${y(window)}H600` : "");
  draw("now", `M${x(call.call)} 0V120`);
}

export function figures({ unmanaged, used, fits }, { trigger }) {
  const less =
    unmanaged > used ? `${Math.floor((100 * (unmanaged - used)) / unmanaged)} %` : "none";
  const shown = {
    "Whole history": number(unmanaged),
    [fits ? "Sent" : "Sent, too large"]: number(used),
    "Left out": less,
    "Makes room above": number(trigger),
  };
  const pairs = Object.entries(shown).map(([name, value]) =>
    element("div", "", "", element("dt", "", name), element("dd", "", value)),
  );
  at("figures").replaceChildren(...pairs);
}

const KINDS = {
  system: "system and tools",
  head: "summary",
  user: "user",
  assistant: "assistant",
  thinking: "thinking",
  calls: "tool calls",
  results: "tool results",
  other: "other",
};

function kindOf(bucket) {
  if (bucket.startsWith("result ")) return "results";
  if (bucket.startsWith("call ")) return "calls";
  if (bucket === "tools") return "system";
  return bucket in KINDS ? bucket : "other";
}

/** What the request consists of, as a bar as long as the window. */
export function parts(buckets, window) {
  const sums = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, 0]));
  for (const { bucket, sentTokens } of buckets) sums[kindOf(bucket)] += sentTokens;
  const found = Object.entries(sums).filter(([, tokens]) => tokens > 0);
  const colored = (name, kind, text) => {
    const made = element(name, "", text);
    made.style.setProperty("--kind", `var(--${kind})`);
    return made;
  };
  const piece = ([kind, tokens]) => {
    const made = colored("span", kind);
    made.style.width = `${(100 * tokens) / window}%`;
    made.title = `${KINDS[kind]}: ${number(tokens)}`;
    return made;
  };
  const entry = ([kind, tokens]) =>
    element("li", "", "", colored("i", kind), `${KINDS[kind]} ${number(tokens)}`);
  at("bar").replaceChildren(...found.map(piece));
  at("legend").replaceChildren(...found.map(entry));
}

const nameOf = { toolCall: "call", toolResult: "result" };

/** The largest messages and what became of them; the text of one is read when it is opened. */
export function largest(messages, textOf) {
  const first = messages.toSorted((a, b) => b.tokens - a.tokens || a.index - b.index).slice(0, 12);
  const rows = first.map(({ index, kind, tool, tokens, sentTokens, state }) => {
    const size =
      sentTokens === tokens ? number(tokens) : `${number(tokens)} → ${number(sentTokens)}`;
    const summary = element(
      "summary",
      "",
      "",
      element("span", "place", `#${index}`),
      element("span", "", [nameOf[kind] ?? kind, tool].filter(Boolean).join(" ")),
      element("span", "", size),
      element("span", `state ${state}`, state),
    );
    const details = element("details", "", "", summary);
    const addText = () => details.append(element("pre", "", textOf(index)));
    details.addEventListener("toggle", addText, { once: true });
    return element("li", "", "", details);
  });
  at("messages").replaceChildren(...rows);
}
