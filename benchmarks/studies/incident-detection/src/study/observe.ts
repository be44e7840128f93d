/** Labelled traffic, and metrics with labelled shifts, through the knowledge plane. */
import { type KnowledgeOptions, KnowledgePlane } from '@int/knowledge';
import { type AttackKind, type LabelledTrafficOptions, labelledTraffic } from '@int/netsim';
import { Random } from '@int/random';
import { type Raised, type Score, scoreOf } from './score.js';

/** What is slow needs an hour, with fewer connections. */
const LENGTHS: Partial<Record<AttackKind, Partial<LabelledTrafficOptions>>> = {
  'scan-slow': { seconds: 3600, connectionsPerSecond: 2, attackSeconds: 1800 },
  beacon: { seconds: 2400, connectionsPerSecond: 2, attackSeconds: 1500 },
  'three-phases': { seconds: 3600, connectionsPerSecond: 4, attackSeconds: 1200 },
};
const LEARNING = { learnMs: 30_000, learnEdgesMs: 60_000 } as const;

/** Plays a scenario. Attacks begin at another part of a second for each seed: windows of detectors begin at whole ones. */
export function play(
  kind: AttackKind,
  seed: number,
  options: KnowledgeOptions = {},
  traffic: Partial<LabelledTrafficOptions> = {},
): Score {
  const raised: Raised[] = [];
  let timeMs = 0;
  const plane = new KnowledgePlane(
    { ...LEARNING, ...options },
    { incident: ({ kind, entity, state }) => state === 'open' && raised.push({ kind, entity, timeMs }) },
  );
  const { seconds = 300 } = { ...LENGTHS[kind], ...traffic };
  const attackFrom = Math.round(0.4 * seconds) + ((seed * 137) % 1000) / 1000;
  const { truth, packets } = labelledTraffic({ kind, seed, attackFrom, ...LENGTHS[kind], ...traffic });
  for (const packet of packets) {
    timeMs = packet.timeMs;
    plane.packet(packet);
  }
  plane.finish();
  return scoreOf(
    raised,
    truth.map(({ kind, host, fromMs, toMs }) => ({ kind, entity: `host:${host}`, fromMs, toMs })),
  );
}

export interface ShiftOptions {
  readonly metrics: number;
  readonly seconds: number;
  /** How many of the metrics shift, once each. */
  readonly shifts: number;
  /** By so much of their level, for so many seconds. */
  readonly factor: number;
  readonly shiftSeconds: number;
}

/** Plays queues with noise of a tenth, some of which shift; the threshold is that of the cumulative sums. */
export function playShifts(seed: number, threshold: number, options: ShiftOptions): Score {
  const { metrics, seconds, shifts, factor, shiftSeconds } = options;
  const random = new Random(seed).derive('shifts');
  const noise = Float64Array.from({ length: 1 << 16 }, () => {
    const radius = Math.sqrt(-2 * Math.log(1 - random.uniform()));
    return Math.exp(0.1 * radius * Math.cos(2 * Math.PI * random.uniform()));
  });
  const levels = Float64Array.from({ length: metrics }, () => 1000 * Math.exp(2 * random.uniform()));
  // Not while the plane learns, and apart from each other: neighbours that shift at once are one incident.
  const first = seconds / 4;
  const starts = new Map(
    Array.from({ length: shifts }, (_, k) => [
      Math.floor((k * metrics) / shifts),
      Math.floor(first + (k * (seconds - first - 2 * shiftSeconds)) / shifts),
    ]),
  );
  const raised: Raised[] = [];
  let timeMs = 0;
  const plane = new KnowledgePlane(
    { threshold },
    { incident: ({ kind, entity, state }) => state === 'open' && raised.push({ kind, entity, timeMs }) },
  );
  for (let second = 0; second < seconds; second++) {
    timeMs = 1000 * second;
    for (let k = 0; k < metrics; k++) {
      const start = starts.get(k);
      const isShifted = start !== undefined && second >= start && second < start + shiftSeconds;
      const value = Math.round(levels[k]! * (isShifted ? factor : 1) * noise[random.integer(1 << 16)]!);
      plane.metric({ timeMs, metric: 'queueOccupancy', switchId: k >> 3, part: k & 7, value });
    }
  }
  plane.finish();
  const truth = [...starts].map(([k, start]) => ({
    kind: 'congestion',
    entity: `queue:${k >> 3}/${k & 7}`,
    fromMs: 1000 * start,
    toMs: 1000 * (start + shiftSeconds),
  }));
  return scoreOf(raised, truth);
}
