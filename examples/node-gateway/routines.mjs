/**
 * Routines of the scripted model, each a generator: it yields a turn of the assistant and is resumed with the results of its calls.
 * A routine decides by what the tools answered; nothing is assumed of a file that was not read.
 */
import { audit } from "./routines/audit.mjs";
import { unusedExports } from "./routines/exports.mjs";
import { plan, play, recall } from "./routines/look.mjs";
import { mend } from "./routines/mend.mjs";
import { rename } from "./routines/rename.mjs";
import { modules, tests } from "./routines/write.mjs";

export const ROUTINES = [
  { name: "mend what fails", when: /mend|fix/i, run: mend },
  { name: "rename `a` to `b`", when: /rename `/i, run: rename },
  { name: "unused exports", when: /exports?.*(nowhere|unused)/i, run: unusedExports },
  { name: "write about the modules", when: /modules\.md/i, run: modules },
  { name: "play N days", when: /play|simulat/i, run: play },
  { name: "tests for what has none", when: /tests? for/i, run: tests },
  { name: "what the rules say about X", when: /say about/i, run: recall },
  { name: "plan the list", when: /plan/i, run: plan },
  { name: "look round", when: /look (round|around)|audit/i, run: audit },
];
