/** Parts of a report: which call, which lists, and which piece of them. */
import { wrong } from "./refused.js";

/** Parameters that choose a part. */
export const PAGING = ["call", "include", "cursor", "limit"] as const;

const LISTS = ["messages", "calls", "sections"] as const;
type List = (typeof LISTS)[number];
/** Lists that are long, and given piece by piece. */
const LONG = ["messages", "calls"] as const;

/** What is asked for. */
export interface Part {
  call: number | undefined;
  include: readonly List[];
  from: number;
  /** `undefined`: all. */
  limit: number | undefined;
}

/** Reads the parameters for a session with these calls, if it can show them. */
export function part(
  params: Readonly<Record<string, unknown>>,
  calls: readonly unknown[] | undefined,
): Part {
  const { call, include = ["messages", "sections"], cursor = null, limit } = params;
  if (call !== undefined && calls === undefined)
    throw wrong("call", "none: this session shows its last request");
  if (call !== undefined && !isWithin(call, 0, (calls?.length ?? 0) - 1))
    throw wrong("call", `0 to ${(calls?.length ?? 0) - 1}`);
  const isList = (name: unknown): name is List => LISTS.some((list) => list === name);
  if (!Array.isArray(include) || !include.every(isList))
    throw wrong("include", `a list of ${LISTS.join(", ")}`);
  if (include.includes("calls") && calls === undefined)
    throw wrong("include", "no calls: this session shows its last request");
  if (limit !== undefined && !isWithin(limit, 1, Number.MAX_SAFE_INTEGER))
    throw wrong("limit", "a whole number from 1");
  if (cursor !== null && limit === undefined)
    throw wrong("limit", "a whole number, beside a cursor");
  const isCursor = typeof cursor === "string" && /^\d{1,15}$/.test(cursor);
  if (cursor !== null && !isCursor) throw wrong("cursor", "a nextCursor of this session");
  return { call, include, from: Number(cursor ?? 0), limit };
}

/** That part of a report. Lists that were not asked for are not in it. */
export function partOf(
  report: object,
  { include, from, limit }: Part,
  calls: readonly unknown[] | undefined,
): object {
  const part: Record<string, unknown> = { ...report, ...(calls ? { calls } : {}) };
  for (const name of LISTS) if (!include.includes(name)) delete part[name];
  if (limit === undefined) return part;
  let nextCursor: string | null = null;
  for (const name of LONG) {
    const list = part[name];
    if (!Array.isArray(list)) continue;
    part[name] = list.slice(from, from + limit);
    if (list.length > from + limit) nextCursor = String(from + limit);
  }
  return { ...part, nextCursor };
}

function isWithin(value: unknown, low: number, high: number): value is number {
  return Number.isInteger(value) && (value as number) >= low && (value as number) <= high;
}
