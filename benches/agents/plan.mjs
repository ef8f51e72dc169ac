/** Runs of the bench: task, trust and window of each, and how many calls it may take. */
import { play } from "./agent.mjs";
import { SIDES } from "./sides/index.mjs";
import { none } from "./sides/none.mjs";
import { TRUST } from "./sight.mjs";
import { tasks } from "./tasks/index.mjs";

export const WINDOWS = [16_000, 32_000, 64_000];
/** A window that nothing fills. */
const ENDLESS = 100_000_000;

/** Calls of a task whose agent sees everything, by name. */
export async function needed(list) {
  const calls = new Map();
  for (const task of list) {
    const done = await play(task, {
      side: none,
      window: ENDLESS,
      trust: TRUST.careful,
      level: "careful",
    });
    if (!done.solved)
      throw new Error(`${task.name} is not solved without a window: ${done.failure}`);
    calls.set(task.name, done.calls);
  }
  return calls;
}

/** A task ends as failed after so many calls. */
export const capOf = (calls) => 3 * calls + 30;

/**
 * Plays every task of a choice under every side, and hands over one row for each run.
 *
 * @param {{ sides?: string[], names?: string[], windows?: number[], levels?: string[], model?: Function, onRow?: (row: object) => void }} choice
 */
export async function playAll({
  sides,
  names,
  windows = WINDOWS,
  levels = Object.keys(TRUST),
  model,
  onRow,
}) {
  const list = tasks().filter(({ name }) => !names || names.some((it) => name.startsWith(it)));
  const calls = await needed(list);
  const rows = [];
  for (const window of windows) {
    for (const { id, side } of SIDES.filter((it) => !sides || sides.includes(it.id))) {
      for (const level of levels) {
        for (const task of list) {
          const cap = capOf(calls.get(task.name));
          const { history, ...figures } = await play(task, {
            side,
            window,
            trust: TRUST[level],
            level,
            cap,
            model,
          });
          const row = {
            task: task.name,
            side: id,
            window,
            level,
            needed: calls.get(task.name),
            ...figures,
          };
          rows.push(row);
          onRow?.(row);
        }
      }
    }
  }
  return rows;
}
