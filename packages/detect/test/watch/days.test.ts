/** The rule `baseline` over days of telemetry in virtual time. */
import { STATE, TelemetryBatch } from '@int/codec';
import { Detector, EventBatch } from '@int/detect';
import { Random } from '@int/random';
import { expect, test } from 'vitest';
import { LENGTH } from '../../../../.ci/test/length.js';
import { rule, ruleSet } from '../engine/reports.js';
import { type Anomaly, anomaliesOf, DAY_MS, valueAt } from './days.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_128);
/** A day begins here. */
const START_MS = 19_700 * DAY_MS;
/** Reports a second. */
const RATE = 10;
/** In the long form, a calm switch beside the other one. */
const HOPS = LENGTH > 1 ? 2 : 1;
const SECONDS_A_BATCH = 64;
/** Windows of one incident are no further apart than this. */
const GAP_MS = 10_000;

interface Unusual {
  readonly endMs: number;
  readonly nodeId: number | null;
}

/** What the rule finds in two days, of which the first is calm; the anomalies are those of switch 1. */
function unusualOf(seed: number, anomalies: readonly Anomaly[]): Unusual[] {
  const config = { kind: 'baseline', metric: 'hopLatency', above: 2, below: 0.5, key: 'switch' } as const;
  const rules = ruleSet([rule('usual', { ...config, learnMs: 600_000, season: 'day' })]);
  const detector = new Detector(rules, { flowCells: 64, switchCells: 64, stateBytes: 1 << 12, watchKeys: 8 });
  const random = new Random(seed);
  const batch = new TelemetryBatch({ frames: SECONDS_A_BATCH * RATE, hops: HOPS * SECONDS_A_BATCH * RATE });
  const events = new EventBatch();
  const unusual: Unusual[] = [];
  const read = (): void => {
    const found = detector.findings()!;
    for (let row = 0; row < found.count; row++) {
      const { state, nodeId } = found.event(row);
      if (state !== 'close') unusual.push({ endMs: Number(found.timeNs(row) / 1_000_000n), nodeId });
    }
    found.clear();
  };
  let next = 0;
  let rows = 0;
  const flush = (): void => {
    batch.state[STATE.FRAMES] = batch.state[STATE.REPORTS] = rows;
    batch.state[STATE.HOPS] = HOPS * rows;
    batch.isTimed = true;
    detector.detect(batch, events);
    read();
    rows = 0;
  };
  for (let timeMs = 0; timeMs < 2 * DAY_MS; timeMs += 1000) {
    while (next < anomalies.length && anomalies[next]!.toMs <= timeMs) next++;
    const anomaly = anomalies[next];
    const now = anomaly !== undefined && anomaly.fromMs <= timeMs ? anomaly : undefined;
    for (let k = 0; k < RATE; k++) {
      const value = valueAt(random, timeMs, now);
      const nanoseconds = BigInt(START_MS + timeMs) * 1_000_000n;
      batch.code[rows] = 0;
      batch.frame[rows] = rows;
      batch.flags[rows] = 0;
      const hop = HOPS * rows;
      batch.hopStart[rows] = hop;
      batch.hopCount[rows] = Number.isNaN(value) ? HOPS - 1 : HOPS;
      batch.frameTimeHigh[rows] = Number(nanoseconds >> 32n);
      batch.frameTimeLow[rows] = Number(nanoseconds & 0xffffffffn);
      if (HOPS > 1) {
        batch.hop.nodeId[hop] = 2;
        batch.hop.hopLatency[hop] = Math.round(valueAt(random, timeMs, undefined));
      }
      batch.hop.nodeId[hop + HOPS - 1] = 1;
      batch.hop.hopLatency[hop + HOPS - 1] = Math.round(value);
      rows++;
    }
    if (rows === SECONDS_A_BATCH * RATE) flush();
  }
  flush();
  return unusual;
}

// Two days, twice: that long is what is promised.
test('baseline finds anomalies of four kinds after a day, at the right switch, and none on a calm day', () => {
  const anomalies = anomaliesOf(SEED, 40);
  const unusual = unusualOf(SEED, anomalies);
  expect(unusual.every(({ nodeId }) => nodeId === 1)).toBe(true);
  const ends = unusual.map(({ endMs }) => endMs - START_MS);
  const incidents = ends.filter((end, k) => k === 0 || end - ends[k - 1]! > GAP_MS);
  const isIn = (end: number, { fromMs, toMs }: Anomaly): boolean => end > fromMs && end <= toMs + 1000;
  const found = anomalies.filter((anomaly) => ends.some((end) => isIn(end, anomaly)));
  const right = incidents.filter((end) => anomalies.some((anomaly) => isIn(end, anomaly)));
  expect(found.length / anomalies.length).toBeGreaterThanOrEqual(0.95);
  expect(right.length / incidents.length).toBeGreaterThanOrEqual(0.95);
  expect(unusualOf(SEED + 1, [])).toEqual([]);
}, 300_000);
