/** Ways out of the page: a file to save, and the clipboard. */
import type { Signal } from "@preact/signals";
import { failure } from "./state.js";

/** Hands a text to the browser as a file to save. */
export function save(name: string, content: BlobPart, type: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser takes the file over after the click.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Copies a text, and says so in `copied`; if the browser forbids it, the page says that. */
export async function copy(text: string, copied: Signal<string>): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    copied.value = text;
  } catch {
    failure.value = "The browser does not let this page copy: select the text.";
  }
}
