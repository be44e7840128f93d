/** Units of times, from what a sample shows: the clock of its capture, and timestamps beside latencies. */
import type { UnitsSpec } from '../device/spec.js';
import type { TimedHop } from './reading.js';

export interface UnitFinding {
  readonly units: UnitsSpec;
  readonly doubts: readonly string[];
}

/** Steps between two frames of a switch that are long enough to compare clocks, and short enough not to wrap. In ns. */
const SHORTEST_NS = 1_000_000n;
const LONGEST_NS = 2_000_000_000n;
/** A switch's clock needs so many steps, and its halves must agree. */
const FEWEST_STEPS = 8;
const AGREEMENT = 0.05;
const ROUGH_AGREEMENT = 0.4;
/** Latencies that say something about their unit. */
const FEWEST_LATENCIES = 8;
/** A number of units that rounding does not change much. */
const LONG_ENOUGH = 20;
/** Of the latencies, so many must be as long as the timestamps say. */
const MOST_OF = 0.8;

/** Ticks a nanosecond, with their names. */
const UNITS = [
  ['ns', 1],
  ['us', 1e-3],
  ['ms', 1e-6],
] as const;

/** @param hops in the order of their frames */
export function unitsOf(hops: readonly TimedHop[]): UnitFinding {
  const doubts: string[] = [];
  const rate = clockRate(hops);
  const timestamps = rate === null ? null : unitText(rate);
  const hasTimestamps = hops.some(({ ingress, egress }) => ingress >= 0n || egress >= 0n);
  const hasLatency = hops.some(({ latency }) => latency >= 0);
  const ratio = latencyRatio(hops);
  const latency = ratio === null || rate === null ? null : latencyUnit(ratio, rate, timestamps);
  if (hasTimestamps && timestamps === null) {
    doubts.push('the unit of timestamps is unknown: they do not advance steadily with the times of the frames');
  }
  if (hasLatency && latency === null) doubts.push(`the unit of hopLatency is unknown${relation(ratio)}`);
  return {
    units: { ...(latency !== null && { hopLatency: latency }), ...(timestamps !== null && { timestamps }) },
    doubts,
  };
}

interface LatencyRatio {
  readonly ratio: number;
  /** How far it may be off, as a part of it. */
  readonly agreement: number;
}

/** Of latencies of few units only the order of magnitude is known, so they are in a unit of time or in that of the timestamps. */
function latencyUnit({ ratio, agreement }: LatencyRatio, rate: number, timestamps: string | null): string | null {
  if (agreement === AGREEMENT) return unitText(rate * ratio);
  if (Math.abs(ratio - 1) <= agreement) return timestamps;
  return UNITS.find(([, ticks]) => Math.abs((rate * ratio) / ticks - 1) <= agreement)?.[0] ?? null;
}

/** What latencies say although the clock is unknown. */
function relation(found: LatencyRatio | null): string {
  if (found === null) return '';
  const { ratio, agreement } = found;
  if (Math.abs(ratio - 1) <= agreement) return ': it is that of the timestamps';
  return ratio < 1
    ? `: one unit of it is ${nice(1 / ratio)} units of the timestamps`
    : `: ${nice(ratio)} units of it are one unit of the timestamps`;
}

const nice = (value: number): number => (value >= 10 ? Math.round(value) : Number(value.toPrecision(2)));

/** Ticks of the switches' clocks a nanosecond, by the times of the frames; `null`: the sample does not tell. */
function clockRate(hops: readonly TimedHop[]): number | null {
  const last = new Map<number, TimedHop>();
  const steps: (readonly [ticks: number, ns: number])[] = [];
  for (const hop of hops) {
    if (hop.timeNs === 0n || hop.ingress < 0n) continue;
    const before = last.get(hop.nodeId);
    const ns = before === undefined ? 0n : hop.timeNs - before.timeNs;
    if (before !== undefined && ns >= 0n && ns < SHORTEST_NS) continue;
    last.set(hop.nodeId, hop);
    if (before === undefined || ns < 0n || ns > LONGEST_NS) continue;
    // A timestamp of 32 bits wraps.
    const isLong = hop.ingress > 0xffffffffn && before.ingress > 0xffffffffn;
    const ticks = isLong ? hop.ingress - before.ingress : BigInt.asUintN(32, hop.ingress - before.ingress);
    if (ticks < 0n) continue;
    steps.push([Number(ticks), Number(ns)]);
  }
  if (steps.length < FEWEST_STEPS) return null;
  const half = steps.length >>> 1;
  const [first, second] = [slope(steps.slice(0, half)), slope(steps.slice(half))];
  if (!(first > 0 && second > 0) || Math.abs(first / second - 1) > AGREEMENT) return null;
  return slope(steps);
}

function slope(steps: readonly (readonly [number, number])[]): number {
  const [ticks, ns] = steps.reduce(([a, b], [c, d]) => [a + c, b + d] as const, [0, 0] as const);
  return ticks / ns;
}

/** How many units of latency one tick of the timestamps is; `null`: latencies do not follow the timestamps. */
function latencyRatio(hops: readonly TimedHop[]): LatencyRatio | null {
  const pairs: (readonly [latency: number, between: number])[] = [];
  for (const { latency, ingress, egress } of hops) {
    if (latency < 0 || ingress < 0n || egress < 0n) continue;
    // A timestamp of 32 bits wraps; one that went back says nothing.
    const between = Number(BigInt.asUintN(32, egress - ingress));
    if (between < 2 ** 31 && latency + between > 0) pairs.push([latency, between]);
  }
  if (pairs.length < FEWEST_LATENCIES) return null;
  const exact = medianRatio(pairs);
  const ratio = exact ?? slope(pairs);
  // Both are whole numbers, so each may be one unit off.
  const fits = pairs.filter(
    ([latency, between]) => Math.abs(latency - ratio * between) <= Math.max(AGREEMENT * latency, 1 + ratio),
  );
  if (!(ratio > 0 && Number.isFinite(ratio)) || fits.length < MOST_OF * pairs.length) return null;
  return { ratio, agreement: exact === null ? ROUGH_AGREEMENT : AGREEMENT };
}

/** The ratio in the middle, of pairs that are long enough to have one; `null`: too few are. */
function medianRatio(pairs: readonly (readonly [number, number])[]): number | null {
  const long = pairs.filter(([latency, between]) => Math.min(latency, between) >= LONG_ENOUGH);
  if (long.length < FEWEST_LATENCIES) return null;
  const ratios = long.map(([latency, between]) => latency / between).sort((a, b) => a - b);
  return ratios[ratios.length >>> 1]!;
}

/** A unit for ticks a nanosecond: one of time, or a clock whose frequency is given to two digits. */
function unitText(rate: number): string | null {
  for (const [name, ticks] of UNITS) if (Math.abs(rate / ticks - 1) <= AGREEMENT) return name;
  const mega = rate * 1000;
  if (mega < 1 || mega > 10_000) return null;
  return `clock(${Number(mega.toPrecision(2))}MHz)`;
}
