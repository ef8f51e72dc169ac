/**
 * The tasks. Each has a name; `world()`, a fresh copy of its files; `turns`, what the user says and the script of an agent that hears it; and
 * `judge`, which holds answers and files against what is right and counts rules of the user that were broken.
 */
import { fix, migrate, records, rename } from "./build.mjs";
import { audit, bisect, chain, compare, forbidden, log } from "./read.mjs";
import { change, invoices, questions, recall } from "./talk.mjs";

export const tasks = () => [
  fix("a1"),
  fix("a2", { hops: 14 }),
  rename("b1"),
  rename("b2", { count: 26, vendored: 6 }),
  migrate("c1"),
  migrate("c2", { count: 18 }),
  records("d1"),
  records("d2", { count: 26, types: 60 }),
  audit("e1"),
  audit("e2", { count: 34 }),
  log("f1"),
  log("f2", { parts: 18 }),
  chain("g1"),
  chain("g2", { hops: 26, late: true }),
  compare("h1"),
  compare("h2", { keys: 400, range: 50 }),
  bisect("i1"),
  bisect("i2", { suites: 9 }),
  forbidden("j1"),
  forbidden("j2", { count: 30 }),
  change("k1"),
  change("k2", { count: 32, after: 20 }),
  invoices("l1"),
  invoices("l2", { count: 36, after: 20 }),
  questions("m1"),
  questions("m2", { units: 14, rounds: 18 }),
  recall("n1"),
  recall("n2", { rounds: 10, each: 19 }),
];
