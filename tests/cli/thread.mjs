// Runs commands one after another in one thread, so that Node and the Wasm start once and not for each command.
import { pathToFileURL } from "node:url";
import { workerData } from "node:worker_threads";

const { main, port, answered } = workerData;
let printed = { out: "", err: "" };
let count = 0;

process.stdout.write = (text) => {
  printed.out += text;
  return true;
};
process.stderr.write = (text) => {
  printed.err += text;
  return true;
};
// Each command listens for errors of both streams until its process ends.
process.stdout.setMaxListeners(0);
process.stderr.setMaxListeners(0);

port.on("message", async (args) => {
  printed = { out: "", err: "" };
  process.argv = [process.execPath, main, ...args];
  process.exitCode = 0;
  // The module runs the command as it is loaded: another address each time loads it again, and not the modules that it imports.
  await import(`${pathToFileURL(main)}?${count++}`);
  port.postMessage({ code: process.exitCode, ...printed });
  Atomics.store(answered, 0, 1);
  Atomics.notify(answered, 0);
});
