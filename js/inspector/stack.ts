/** The stacked areas of the chart, as paths. */
import { type Category, categoryOf, ORDER } from "./categories.js";
import type { ChartLayers } from "./protocol.js";

export const WIDTH = 1000;
export const HEIGHT = 200;

/** The calls that columns stand for: of several calls in one column the largest. */
export function columnsOf(used: Float64Array, from: number, to: number, most: number): number[] {
  const amount = to - from + 1;
  const columns = Math.min(amount, most);
  return Array.from({ length: columns }, (_, column) => {
    const start = from + Math.floor((column * amount) / columns);
    const end = from + Math.max(Math.floor(((column + 1) * amount) / columns), 1 + start - from);
    let largest = start;
    for (let at = start; at < end; at += 1)
      if ((used[at] ?? 0) > (used[largest] ?? 0)) largest = at;
    return largest;
  });
}

/** Where a column stands; one alone is as wide as the chart. */
function x(column: number, columns: number): number {
  return columns < 2 ? 0 : (column * WIDTH) / (columns - 1);
}

/** Tokens of all layers of a call; of a file that holds more than was counted, more than was used. */
export function heightOf({ names, tokens }: ChartLayers, call: number): number {
  let sum = 0;
  for (let at = call * names.length; at < (call + 1) * names.length; at += 1)
    sum += Math.max(0, (tokens[at] ?? 0) | 0);
  return sum;
}

export interface Area {
  category: Category;
  path: string;
}

/** An area for each category, one on the other. */
export function areas(layers: ChartLayers, columns: readonly number[], most: number): Area[] {
  const categories = layers.names.map(categoryOf);
  const base = new Float64Array(columns.length);
  return ORDER.flatMap((category) => {
    if (!categories.includes(category)) return [];
    const tops: string[] = [];
    const bottoms: string[] = [];
    for (const [column, call] of columns.entries()) {
      let tokens = 0;
      for (const [at, one] of categories.entries())
        if (one === category) tokens += (layers.tokens[call * categories.length + at] ?? 0) | 0;
      const below = base[column] ?? 0;
      const above = Math.max(below, below + tokens);
      base[column] = above;
      const place = x(column, columns.length).toFixed(1);
      bottoms.push(`${place} ${y(below, most)}`);
      tops.push(`${place} ${y(above, most)}`);
      if (columns.length === 1) {
        bottoms.push(`${WIDTH} ${y(below, most)}`);
        tops.push(`${WIDTH} ${y(above, most)}`);
      }
    }
    return [{ category, path: `M${tops.join("L")}L${bottoms.reverse().join("L")}Z` }];
  });
}

export function y(tokens: number, most: number): string {
  return (HEIGHT - (HEIGHT * Math.min(tokens, most)) / most).toFixed(1);
}

export function line(used: ArrayLike<number>, columns: readonly number[], most: number): string {
  const points = columns.flatMap((call, column) => {
    const value = used[call];
    return value === undefined ? [] : [`${x(column, columns.length).toFixed(1)} ${y(value, most)}`];
  });
  return points.length === 0 ? "" : `M${points.join("L")}`;
}

/** Round values for the grid: three or four of them. */
export function ticks(most: number): number[] {
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
  const size = step ?? power * 10;
  return Array.from({ length: Math.floor(most / size) }, (_, at) => (at + 1) * size);
}
