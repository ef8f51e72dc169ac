/** The chat command `/plimsoll`: whether the engine is used, what fills the window, and what went wrong. */
import { renderList } from "../../report/render.js";
import type { Agent } from "./agent.js";
import type { Session } from "./session.js";

/** Columns of the report: chats wrap longer lines. */
const WIDTH = 72;

/** Text of the answer. `agents` are all of this process. */
export function statusText(session: Session | undefined, agents: readonly Agent[]): string {
  const lines: string[] = [];
  if (session?.lastRequest) {
    lines.push(`Plimsoll is active. Last request: ${timeOf(session.lastRequest)}.`);
  } else {
    lines.push(
      "Plimsoll has made no request for this session since OpenClaw was started, or has set it aside for others since.",
    );
  }
  const unused = agents.reduce((sum, agent) => sum + agent.unused, 0);
  if (unused > 0) {
    const times = unused === 1 ? "once" : `${unused} times`;
    lines.push(
      `Since the last request OpenClaw made the engine ${times} without using it: its log says why.`,
    );
  }
  for (const { lastError } of agents) {
    if (lastError) lines.push(`Last error, ${timeOf(lastError.at)}: ${lastError.what}`);
  }
  if (session?.lastRequest) {
    const report = renderList(session.context.inspect(), { width: WIDTH });
    lines.push("", "```", report, "```");
  }
  return lines.join("\n");
}

const timeOf = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;
