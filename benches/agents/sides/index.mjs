/** The sides: how each manages the same history. */
import { prune } from "./ai-sdk.mjs";
import { chef } from "./chef.mjs";
import { summarization, trim } from "./langchain.mjs";
import { none } from "./none.mjs";
import { ours } from "./ours.mjs";
import { versionOf } from "./peer.mjs";
import { openclaw, openclawVersion, pi } from "./pi.mjs";

/** `id`: for options; `package`: what is measured. `slow`: only by name: it counts all messages for each. */
export const SIDES = [
  { id: "balanced", label: "Plimsoll `balanced`", side: ours() },
  { id: "lines", label: 'Plimsoll `balanced`, `keep: "lines"`', side: ours({ keep: "lines" }) },
  { id: "economy", label: "Plimsoll `economy`", side: ours({ preset: "economy" }) },
  {
    id: "balanced-summaries",
    label: "Plimsoll `balanced`, `minimumTokens: 0`",
    side: ours({ summary: { minimumTokens: 0 } }),
  },
  {
    id: "economy-summaries",
    label: "Plimsoll `economy`, `minimumTokens: 0`",
    side: ours({ preset: "economy", summary: { minimumTokens: 0 } }),
  },
  { id: "retention", label: "Plimsoll `retention`", side: ours({ preset: "retention" }) },
  { id: "chef", label: "context-chef", package: "@context-chef/core", side: chef },
  {
    id: "trim",
    label: "LangChain `trimMessages`",
    package: "@langchain/core",
    side: trim,
    slow: true,
  },
  {
    id: "summarization",
    label: "LangChain summarization",
    package: "langchain",
    side: summarization(),
  },
  {
    id: "summarization-whole",
    label: "LangChain summarization of all",
    package: "langchain",
    side: summarization({ untrimmed: true }),
  },
  { id: "prune", label: "AI SDK `pruneMessages`", package: "ai", side: prune },
  { id: "pi", label: "pi compaction", package: "@earendil-works/pi-agent-core", side: pi },
  { id: "openclaw", label: "OpenClaw compaction", package: "openclaw", side: openclaw },
  { id: "none", label: "no management", side: none },
];

/** The version of a side's package; null if it is not installed. */
export const versionOfSide = ({ package: name }) =>
  name === undefined ? undefined : name === "openclaw" ? openclawVersion() : versionOf(name);
