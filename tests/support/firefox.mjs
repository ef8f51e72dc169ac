/** Firefox, on pages served from a folder. It is not steered: the page posts its answer. */
import { spawn } from "node:child_process";
import { FIREFOX, findProgram } from "./matrix.mjs";
import { serve } from "./page.mjs";
import { emptyFolder, write } from "./project.mjs";

/** Nothing but the page: no first-run pages, no updates, no talk with its makers. */
const PREFERENCES = {
  "app.normandy.enabled": false,
  "app.update.disabledForTesting": true,
  "browser.aboutwelcome.enabled": false,
  "browser.newtabpage.enabled": false,
  "browser.region.network.url": "",
  "browser.safebrowsing.downloads.enabled": false,
  "browser.safebrowsing.malware.enabled": false,
  "browser.safebrowsing.phishing.enabled": false,
  "browser.search.update": false,
  "browser.shell.checkDefaultBrowser": false,
  "browser.topsites.contile.enabled": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "dom.push.connection.enabled": false,
  "extensions.getAddons.cache.enabled": false,
  "extensions.systemAddon.update.enabled": false,
  "extensions.update.enabled": false,
  "messaging-system.rsexperimentloader.enabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "network.dns.disablePrefetch": true,
  "network.prefetch-next": false,
  "services.settings.server": "data:,#remote-settings-dummy/v1",
  "startup.homepage_welcome_url": "",
  "toolkit.telemetry.enabled": false,
  "toolkit.telemetry.server": "",
};

/** Opens a page of a folder, waits until it has set `globalThis.answer`, and gives that. */
export async function openPage(folder, page, headers = {}) {
  const profile = emptyFolder();
  const lines = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  write(profile, { "user.js": lines.join("\n") });
  const server = await serve(folder, { headers, report: true });
  const browser = spawn(
    findProgram(FIREFOX),
    ["--headless", "--no-remote", "--profile", profile, `${server.origin}/${page}`],
    // A group of its own: its content processes end with it.
    { detached: true, stdio: "ignore", env: { ...process.env, HOME: profile } },
  );
  const gone = new Promise((done) => browser.on("exit", done));
  try {
    const late = new Promise((_, fail) => {
      const refuse = () =>
        fail(new Error(`the page gave no answer: ${server.complaints.join("; ")}`));
      setTimeout(refuse, 60_000).unref();
    });
    return await Promise.race([server.answer, late]);
  } finally {
    process.kill(-browser.pid, "SIGKILL");
    await gone;
    server.close();
  }
}
