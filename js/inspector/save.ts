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
