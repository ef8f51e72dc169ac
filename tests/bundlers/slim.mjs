/** Programs over `plimsoll/slim` that leave each Wasm file to the bundler as a file of its own. */
import { wasmFiles } from "../support/project.mjs";

const END = `for (const url of urls) await plimsoll.init(url);
globalThis.answer = check(plimsoll);
`;
const START = `import * as plimsoll from "plimsoll/slim";
import { check } from "./check.mjs";
`;

/** @param {string} folder of a project, for the Wasm files that there are */
export function slimPrograms(folder) {
  const names = wasmFiles(folder).map((file) => `plimsoll/${file}`);
  const imports = names.map((name, at) => `import url${at} from "${name}?url";\n`).join("");
  const urls = names.map((name) => `new URL("${name}", import.meta.url)`).join(", ");
  return {
    "vite-slim.js": `${START}${imports}const urls = [${names.map((_, at) => `url${at}`)}];\n${END}`,
    "webpack-slim.js": `${START}const urls = [${urls}];\n${END}`,
  };
}
