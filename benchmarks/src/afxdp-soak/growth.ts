/** Whether memory grows. */
import { fitLine } from '../decode/statistics.js';

/** A kind of memory over time. */
export interface Growth {
  readonly what: string;
  /** Bytes at the beginning and at the end of what is looked at, by the line that fits best. */
  readonly from: number;
  readonly to: number;
  readonly bytesPerSecond: number;
  /** Bytes that it may grow by. */
  readonly limit: number;
  readonly isMet: boolean;
}

/** Share of the time that counts as warm-up. */
const WARM_UP = 0.2;

/** @param points seconds and bytes, in the order of time */
export function growthOf(what: string, points: readonly (readonly [number, number])[], limit: number): Growth {
  const last = points.at(-1)![0];
  const counted = points.filter(([at]) => at >= points[0]![0] + WARM_UP * (last - points[0]![0]));
  const { a, b } = fitLine(counted);
  const from = a + b * counted[0]![0];
  const to = a + b * last;
  return { what, from, to, bytesPerSecond: b, limit, isMet: to - from <= limit };
}
