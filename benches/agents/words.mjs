/** Words and lines that fill generated files, so that they read like files and not like noise. */
const NOUNS =
  "berth cargo crane quay manifest pilot tug ballast hatch ledger gauge tariff voyage draft mooring invoice customs slot shift anchor".split(
    " ",
  );
const VERBS = "load check book weigh assign release price notify merge close open audit".split(" ");
const HINTS = [
  "Kept for callers that pass no terminal.",
  "The harbour office counts from one.",
  "Rounded down, as the tariff of the port says.",
  "A berth that is closed has no slot of its own.",
  "Retries are the caller's business.",
];

export const noun = (random) => random.pick(NOUNS);
export const verb = (random) => random.pick(VERBS);
export const title = (word) => word[0].toUpperCase() + word.slice(1);

/** A function of about 450 characters. */
export function filler(random) {
  const [action, thing, other] = [verb(random), noun(random), noun(random)];
  const name = `${action}${title(thing)}${random.between(10, 99)}`;
  return [
    `/** ${title(action)}s the ${thing} of a ${other}. ${random.pick(HINTS)} */`,
    `export function ${name}(${thing}, ${other}, options = {}) {`,
    `  const limit = options.limit ?? ${random.between(2, 900)};`,
    `  const rows = ${thing}.entries.filter((it) => it.${other} !== null && it.weight < limit);`,
    `  if (rows.length === 0) return { ${thing}, state: "empty", at: options.at ?? 0 };`,
    `  return rows.reduce((sum, row) => sum + row.weight * ${random.between(2, 40)}, 0);`,
    "}",
    "",
  ];
}

/** Prose of about 300 characters. */
export function paragraph(random) {
  const sentence = () =>
    `The ${noun(random)} office ${verb(random)}s each ${noun(random)} before the ${noun(random)} of the ${noun(random)} is signed, unless the ${noun(random)} asks for ${random.between(2, 60)} hours more.`;
  return [`${sentence()} ${sentence()}`, ""];
}

/** Grows a file to about a size with what `make` gives. */
export function grow(lines, chars, make) {
  const out = [...lines];
  let size = out.join("\n").length;
  while (size < chars) {
    const more = make();
    out.push(...more);
    size += more.join("\n").length + 1;
  }
  return out;
}

/** Puts lines among others, each at a share of the file, and never before the first line. */
export function insert(lines, additions) {
  const out = [...lines];
  for (const [at, text] of additions) {
    let place = Math.max(1, Math.floor(out.length * at));
    // Between functions and paragraphs, not inside them.
    while (place < out.length && out[place - 1] !== "") place += 1;
    out.splice(place, 0, text, "");
  }
  return out;
}
