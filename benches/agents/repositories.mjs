/** Small repositories, made from a seed. Each gives a map of lines by path. */
import { Random } from "./random.mjs";
import { filler, grow, insert, noun, paragraph } from "./words.mjs";

export const two = (number) => String(number).padStart(2, "0");

/**
 * Source files of a service, with lines of the task in them.
 *
 * @param {Record<string, string[]>} lines the task's lines by path, spread over the file
 * @param {[number, number]} chars smallest and largest size of a file
 */
export function sources(seed, lines, [low, high] = [4_000, 9_000]) {
  return made(seed, lines, [low, high], filler, (path) => [`// ${path}`, ""]);
}

/** Pages of a handbook. */
export function pages(seed, lines, [low, high] = [4_000, 9_000]) {
  return made(seed, lines, [low, high], paragraph, (path) => [`# ${path}`, ""]);
}

/** Configuration files of a fleet: settings that nobody asks for, in groups, and the task's. */
export function settings(seed, lines, [low, high] = [3_000, 7_000]) {
  const group = (random) => {
    const name = `${noun(random)}_${noun(random)}_${random.between(10, 99)}`;
    return [
      `# ${name}: asked for by the ${noun(random)} office`,
      `${name}.limit = ${random.between(1_000, 9_999)}`,
      `${name}.grace = ${random.between(1_000, 9_999)}`,
      `${name}.owner = team-${random.between(1, 40)}`,
      "",
    ];
  };
  return made(seed, lines, [low, high], group, (path) => [`; ${path}`, ""]);
}

/** Log files: lines with times and levels. `marked` are put among them at their share of the file. */
export function logs(seed, marked, [low, high] = [22_000, 30_000]) {
  const line = (random) => {
    const at = `${two(random.between(0, 23))}:${two(random.between(0, 59))}:${two(random.between(0, 59))}`;
    return [
      `${at} INFO ${noun(random)} ${noun(random)}-${random.between(100, 999)} took ${random.between(2, 900)} ms, queue ${random.between(0, 80)}, worker w${random.between(1, 16)}`,
    ];
  };
  const files = new Map();
  for (const [path, additions] of Object.entries(marked)) {
    const random = new Random(`${seed}/${path}`);
    const lines = grow([], random.between(low, high), () => line(random));
    for (const text of additions) lines.splice(random.between(1, lines.length - 1), 0, text);
    files.set(path, lines);
  }
  return files;
}

function made(seed, lines, [low, high], piece, head) {
  const files = new Map();
  for (const [path, wanted] of Object.entries(lines)) {
    const random = new Random(`${seed}/${path}`);
    const body = grow(head(path), random.between(low, high), () => piece(random));
    // In the middle as often as at the ends: a cut that keeps head and tail loses some of them.
    const places = wanted.map(() => random.between(2, 98) / 100).sort((a, b) => a - b);
    files.set(path, insert(body, wanted.map((text, at) => [places[at], text]).toReversed()));
  }
  return files;
}
