/**
 * Kept inputs of the fuzz targets: `fuzz/kept/NAME.txt` has those of a target as netstrings (length, colon, bytes, comma), a line
 * each.
 *
 *     node xtask/node/fuzz-kept.mjs unpack         into `fuzz/corpus`
 *     node xtask/node/fuzz-kept.mjs pack NAME FOLDER
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [task, name, from] = process.argv.slice(2);
const kept = "fuzz/kept";

function* inputsOf(file) {
  const bytes = readFileSync(join(kept, file));
  for (let at = 0; at < bytes.length; ) {
    const colon = bytes.indexOf(":", at);
    const end = colon + 1 + Number(bytes.toString("latin1", at, colon));
    yield bytes.subarray(colon + 1, end);
    at = end + 2;
  }
}

if (task === "unpack") {
  for (const file of readdirSync(kept)) {
    const folder = join("fuzz/corpus", file.replace(".txt", ""));
    mkdirSync(folder, { recursive: true });
    for (const input of inputsOf(file))
      writeFileSync(join(folder, createHash("sha1").update(input).digest("hex")), input);
  }
} else {
  const inputs = readdirSync(from).map((file) => readFileSync(join(from, file)));
  inputs.sort((a, b) => a.length - b.length || Buffer.compare(a, b));
  const lines = inputs.flatMap((input) => [`${input.length}:`, input, ",\n"]);
  mkdirSync(kept, { recursive: true });
  writeFileSync(join(kept, `${name}.txt`), Buffer.concat(lines.map((line) => Buffer.from(line))));
}
