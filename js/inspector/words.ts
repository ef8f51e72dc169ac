/** Figures and names in the words of the page. */
import type { Setting } from "./protocol.js";

/** `1,234,567`. The formatter of the browser took a tenth of each frame while one scrolls. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `12.3k`, `1.24M`. */
export function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${(value / 1e6).toFixed(2)}M`;
  if (size >= 1e5) return `${Math.round(value / 1e3)}k`;
  if (size >= 1e4) return `${(value / 1e3).toFixed(1)}k`;
  return count(value);
}

export function percent(part: number, total: number): string {
  return total === 0 ? "0 %" : `${((100 * part) / total).toFixed(1)} %`;
}

/** A simulation by its options: `A: economy, 128,000, from 80.0 %`. */
export function settingName(letter: string, { preset, window, trigger }: Setting): string {
  const from = trigger === undefined ? "" : `, from ${percent(trigger, 1)}`;
  return `${letter ? `${letter}: ` : ""}${preset}, ${count(window.contextTokens)}${from}`;
}

/** A change as a percentage of what was before. */
export function change(before: number, after: number): string {
  if (before === 0) return "";
  const value = Math.round((100 * (after - before)) / before);
  return value > 0 ? `+${value} %` : value < 0 ? `−${-value} %` : "same";
}

export function plural(amount: number, one: string, many = `${one}s`): string {
  return `${count(amount)} ${amount === 1 ? one : many}`;
}

export function megabytes(bytes: number): string {
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.ceil(bytes / 1e3)} kB`;
}

/** Terminal escapes and other controls, which a browser would show as boxes or turn the text around. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is searched
const ESCAPES = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is searched
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** A text for display: without terminal escapes, other controls as a visible sign. */
export function plain(text: string): string {
  return text.replace(ESCAPES, "").replace(CONTROLS, "\u00b7");
}

export function oneLine(text: string): string {
  return plain(text).replace(/\s+/g, " ").trim();
}

export const STATES = {
  kept: "whole",
  capped: "cut",
  stubbed: "one line",
  thinned: "thinned",
  summarized: "in summary",
  dropped: "left out",
} as const;
