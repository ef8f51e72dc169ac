// @ts-check
/** The session files to carry out: the shared ones, else the project's own recordings. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { size } from "../../support/size.mjs";

const shared = fileURLToPath(new URL("../../../../shared/data/sessions/", import.meta.url));
const recorded = fileURLToPath(new URL("../../../examples/sessions/", import.meta.url));
/** A benchmark's file holds many short runs: each is a session, and one in ten of the longer ones is carried out. */
const runsIn = "tau-openai";

/** @typedef {{ name: string, bytes: () => Uint8Array, size: number, windows?: number[] }} Source */
/** Bytes from which a file is large. */
const LARGE = 1_200_000;

/**
 * The session files with their numbers: by default one in so many of those that are not large, all with `--ci` or where
 * PLIMSOLL_SESSIONS chooses.
 * @param {number} oneIn @returns {Array<[number, Source]>}
 */
export function someSessionFiles(oneIn) {
  const all = [...sessionFiles().entries()];
  if (size !== "short" || process.env.PLIMSOLL_SESSIONS || !existsSync(shared)) return all;
  // Not every second one, say: what tests choose by a session's number, such as its window, is to be chosen evenly.
  const small = all.filter(([, source]) => source.size < LARGE);
  const some = small.filter(([number]) => (number + Math.floor(number / 6)) % oneIn === 0);
  console.log(
    `skipped: ${all.length - some.length} of ${all.length} sessions, which \`cargo xtask test --ci\` carries out`,
  );
  return some;
}

/** @returns {Source[]} */
export function sessionFiles() {
  if (!existsSync(shared)) {
    console.log("skipped: ../shared is absent; the recorded examples are carried out instead");
    return existsSync(recorded) ? filesIn(recorded, "examples") : [];
  }
  const folders = readdirSync(shared, { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  return folders
    .map((folder) => folder.name)
    .sort()
    .flatMap((folder) =>
      folder === runsIn
        ? filesIn(shared + folder, folder).flatMap(runs)
        : filesIn(shared + folder, folder),
    );
}

/** @param {string} folder @param {string} prefix @returns {Source[]} */
function filesIn(folder, prefix) {
  return readdirSync(folder)
    .filter((file) => /\.(jsonl?|traj)$/.test(file))
    .sort()
    .map((file) => ({
      name: `${prefix}/${file.replace(/\.(jsonl?|traj)$/, "")}`,
      bytes: () => readFileSync(`${folder}/${file}`),
      size: statSync(`${folder}/${file}`).size,
    }));
}

/** @param {Source} file @returns {Source[]} */
function runs({ name, bytes }) {
  const all = JSON.parse(new TextDecoder().decode(bytes()));
  return all
    .map((/** @type {any} */ run, /** @type {number} */ at) => ({ run, at }))
    .filter((/** @type {any} */ { run }) => run.traj.length >= 20)
    .map((/** @type {any} */ { run, at }) => ({
      name: `${name}/${at}`,
      bytes: () => new TextEncoder().encode(JSON.stringify([run])),
      size: 0,
      // These runs are small: at the usual windows nothing ever has to go.
      windows: [8_000, 32_000, 64_000, 128_000],
    }));
}
