/** Tasks in which the user comes back: a goal that changes, a correction, questions about what was read long ago, a figure that is gone. */
import { Random } from "../random.mjs";
import { settings, sources, two } from "../repositories.mjs";

const copy = (files) => new Map([...files].map(([path, lines]) => [path, [...lines]]));
const numbered = (count, make) => Array.from({ length: count }, (_, at) => make(at + 1));
const wrongIf = (...pairs) => pairs.filter(([bad]) => bad).map(([, why]) => why);

/** The user stops one collection and wants another, by a list from the first message. */
export function change(seed, { count = 22, after = 12 } = {}) {
  const random = new Random(seed);
  const ids = numbered(count, (at) => `m${two(at)}`);
  const frozen = random.shuffled(ids).slice(0, 4).sort();
  const since = ids.map(() => `v${random.between(10, 99)}`);
  const files = sources(
    seed,
    Object.fromEntries(
      ids.map((id, at) => [
        `src/${id}.mjs`,
        [`// owner = team-${random.between(10, 99)}`, `// deprecated_since = ${since[at]}`],
      ]),
    ),
  );
  const collect = (key, like) => (see) => {
    const spared = see.rule(`Modules ${frozen.join(", ")} are frozen`) ? frozen : [];
    const out = ids
      .filter((id) => !spared.includes(id))
      .map((id) => `${id}:${see.learn(`src/${id}.mjs`, key, like)}`);
    return out.join(",");
  };
  const turns = [
    {
      user: `Collection ${seed}: collect the owner of each module m01 to m${two(count)} in src/. Modules ${frozen.join(", ")} are frozen: always leave them out, whatever I ask for. Answer MODULE:OWNER, separated by commas.`,
      mark: `Collection ${seed}: collect`,
      script: collect("owner", /team-\d+/),
      interrupt: after,
    },
    {
      user: `Stop collection ${seed}; I do not need the owners. Collect the deprecated_since of each module instead, in the same form, with the same modules left out.`,
      mark: `Stop collection ${seed}`,
      script: collect("deprecated_since", /v\d+/),
    },
  ];
  const right = ids
    .map((id, at) => `${id}:${since[at]}`)
    .filter((it) => !frozen.includes(it.slice(0, 3)))
    .join(",");
  return {
    name: `change-${seed}`,
    world: () => ({ files: copy(files) }),
    turns,
    judge: ({ answers }) => ({
      wrong: wrongIf([answers[1] !== right, "the list"]),
      broken: frozen.filter((id) => answers[1]?.includes(`${id}:`)).length,
    }),
  };
}

/** A sum over invoices, and a correction that concerns those already read. */
export function invoices(seed, { count = 24, after = 14 } = {}) {
  const random = new Random(seed);
  const ids = numbered(count, (at) => `inv-${two(at)}`);
  const totals = ids.map(() => random.between(1_000, 9_999));
  const suppliers = ids.map(() => random.pick(["Brandt", "Okafor", "Silva", "Lund"]));
  const files = settings(
    seed,
    Object.fromEntries(
      ids.map((id, at) => [
        `invoices/${id}.txt`,
        [`invoice_total = ${totals[at]}`, `supplier = ${suppliers[at]}`],
      ]),
    ),
    [3_500, 8_000],
  );
  const add = (see) => {
    const isVoid = see.rule(`Correction ${seed}`);
    let sum = 0;
    for (const id of ids) {
      const path = `invoices/${id}.txt`;
      const total = see.learn(path, "invoice_total", /\d{4}/);
      if (isVoid && see.learn(path, "supplier", /[A-Z][a-z]+/) === "Brandt") continue;
      sum += Number(total);
    }
    return String(sum);
  };
  const turns = [
    {
      user: `Invoices ${seed}: add up invoice_total of inv-01 to inv-${two(count)} in invoices/. Answer with the sum.`,
      mark: `Invoices ${seed}`,
      script: add,
      interrupt: after,
    },
    {
      user: `Correction ${seed}: invoices of the supplier Brandt are void. Leave them out of the sum, those you have read already too, and go on. Answer with the sum.`,
      mark: `Correction ${seed}`,
      script: add,
    },
  ];
  const right = totals.reduce(
    (sum, total, at) => (suppliers[at] === "Brandt" ? sum : sum + total),
    0,
  );
  return {
    name: `invoices-${seed}`,
    world: () => ({ files: copy(files) }),
    turns,
    judge: ({ answers }) => ({
      wrong: wrongIf([answers[1] !== String(right), "the sum"]),
      broken: 0,
    }),
  };
}

/** Units read once, then questions about other lines of the same files, hours later. */
export function questions(seed, { units = 9, rounds = 12 } = {}) {
  const random = new Random(seed);
  const ids = numbered(units, (at) => `unit-${two(at)}`);
  const keys = ["pressure_limit", "flow_limit", "alarm_delay", "purge_hours"];
  const values = Object.fromEntries(
    ids.map((id) => [
      id,
      Object.fromEntries(keys.map((key) => [key, String(random.between(1_000, 9_999))])),
    ]),
  );
  const files = settings(
    seed,
    Object.fromEntries(
      ids.map((id) => [`conf/${id}.conf`, keys.map((key) => `${id}.${key} = ${values[id][key]}`)]),
    ),
    [6_000, 12_000],
  );
  const question = (id, key, at) => ({
    user: `Question ${seed}-${at}: what is ${key} of ${id}, in conf/${id}.conf? Answer with the number.`,
    mark: `Question ${seed}-${at}:`,
    script: (see) => see.fact(`conf/${id}.conf`, `${id}.${key}`, /\d{4}/),
    pause: at % 4 === 0 ? 900 : 30,
    right: values[id][key],
  });
  const asked = [
    ...ids.map((id) => [id, keys[0]]),
    ...numbered(rounds, () => [random.pick(ids), random.pick(keys.slice(1))]),
  ];
  const turns = asked.map(([id, key], at) => question(id, key, at + 1));
  return {
    name: `questions-${seed}`,
    world: () => ({ files: copy(files) }),
    turns,
    judge: ({ answers }) => ({
      wrong: turns.filter(({ right }, at) => answers[at] !== right).map(({ mark }) => mark),
      broken: 0,
    }),
  };
}

/** A figure from one of the first calls, which no file has any more at the end. */
export function recall(seed, { rounds = 5, each = 16 } = {}) {
  const random = new Random(seed);
  const [old, fresh] = [random.between(1_000, 4_999), random.between(5_000, 9_999)];
  const base = "conf/base.conf";
  const units = numbered(rounds, (round) => numbered(each, (at) => `r${round}u${two(at)}`));
  const values = Object.fromEntries(units.flat().map((id) => [id, random.between(1_000, 9_999)]));
  const files = settings(
    seed,
    {
      [base]: [`retry_budget = ${old}`],
      ...Object.fromEntries(
        units.flat().map((id) => [`conf/${id}.conf`, [`load_${id} = ${values[id]}`]]),
      ),
    },
    [3_500, 7_500],
  );
  const set = (see) => {
    const isDone = see.result(/^Edited conf\/base\.conf at/);
    const before =
      see.result(/^Edited conf\/base\.conf at .*\n- retry_budget = (\d+)/)?.[1] ??
      see.fact(base, "retry_budget", /\d{4}/);
    if (!isDone)
      see.act("edit", {
        path: base,
        old: `retry_budget = ${before}`,
        new: `retry_budget = ${fresh}`,
      });
    return `The retry_budget in ${base} was = ${before}, it is ${fresh} now.`;
  };
  const sum = (ids) => (see) =>
    String(
      ids.reduce((total, id) => {
        const path = `conf/${id}.conf`;
        return total + Number(see.learn(path, `load_${id}`, /\d{4}/));
      }, 0),
    );
  const ask = (see) => {
    const seen =
      see.result(/^Edited conf\/base\.conf at .*\n- retry_budget = (\d+)/) ??
      see.noted(/retry_budget in conf\/base\.conf was = (\d+)/) ??
      see.shown(base, new RegExp(`^retry_budget = (?!${fresh})(\\d+)`));
    if (seen) return seen[1];
    // What is in the file is the new value; of the names that are left, one may be the old.
    return see.guess("retry_budget", /[1-4]\d{3}/) ?? "I cannot see it any more.";
  };
  const turns = [
    {
      user: `Budget ${seed}: set retry_budget in ${base} to ${fresh}. Answer with the value it had before.`,
      mark: `Budget ${seed}`,
      script: set,
    },
    ...units.map((ids, at) => ({
      user: `Loads ${seed}-${at + 1}: add up load_UNIT of the files conf/${ids[0]}.conf to conf/${ids.at(-1)}.conf (${each} files). Answer with the sum.`,
      mark: `Loads ${seed}-${at + 1}:`,
      script: sum(ids),
      pause: 60,
    })),
    {
      user: `One more of ${seed}: which value did retry_budget have before you set it? Answer with the number.`,
      mark: `One more of ${seed}`,
      script: ask,
      pause: 600,
    },
  ];
  return {
    name: `recall-${seed}`,
    world: () => ({ files: copy(files) }),
    turns,
    judge: ({ answers }) => ({
      wrong: wrongIf(
        [answers.at(-1) !== String(old) || answers.length !== turns.length, "the figure"],
        ...units.map((ids, at) => [
          answers[at + 1] !== String(ids.reduce((total, id) => total + values[id], 0)),
          `sum ${at + 1}`,
        ]),
      ),
      broken: 0,
    }),
  };
}
