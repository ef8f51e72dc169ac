/** Whether the command prints in colour. */

/** Colour: the option, else FORCE_COLOR, else NO_COLOR, else a terminal that can. */
export function wantsColor(
  option: string | undefined,
  env: NodeJS.ProcessEnv,
  isTerminal: boolean,
): boolean {
  if (option === "always") return true;
  if (option === "never") return false;
  const force = env.FORCE_COLOR;
  if (force !== undefined) return force !== "0" && force !== "false";
  if (env.NO_COLOR) return false;
  return isTerminal && env.TERM !== "dumb";
}
