import { TelemetryBatch } from '@int/codec';
import { Adaptation, Detector, type DetectorConfig, EventBatch } from '@int/detect';
import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import { fillBatch } from '../reference/fill-batch.js';
import { SEED } from '../seed.js';
import { rule, ruleSet } from './reports.js';

/** One batch every 5 ms of virtual time. */
const STEP_MS = 5;
const SECONDS = 12;
const REPORTS_PER_SECOND = 40_000;
const TARGET = 1000;

/** Events in each second of virtual time, of exponential values whose rate of reports grows tenfold after half the time. */
function run(config: DetectorConfig & { threshold: number }): { seconds: number[]; status: string } {
  const one = rule('busy', config, { adapt: { target: TARGET, minimum: 1, maximum: 1 << 24 } });
  const detector = new Detector(ruleSet([one]));
  const adaptation = new Adaptation(detector);
  const random = new Random(SEED);
  const most = (REPORTS_PER_SECOND * STEP_MS) / 1000;
  const batch = new TelemetryBatch({ frames: most });
  fillBatch(
    batch,
    Array.from({ length: most }, (_, row) => ({
      flow: { source: [10, 0, 0, row], destination: [10, 0, 1, 1], protocol: 17, sourcePort: 1, destinationPort: 2 },
      hops: [{ nodeId: 1, hopLatency: 0 }],
      hasOwnHop: false,
      nodeId: null,
      timeNs: 1n,
    })),
  );
  const events = new EventBatch();
  const seconds = new Array<number>(SECONDS).fill(0);
  for (let step = 0; step < (SECONDS * 1000) / STEP_MS; step++) {
    const second = Math.floor((step * STEP_MS) / 1000);
    const count = second < SECONDS / 2 ? most / 10 : most;
    for (let row = 0; row < count; row++) batch.hop.hopLatency[row] = Math.floor(random.exponential(20_000));
    events.clear();
    expect(detector.detect(batch, events, 0, count)).toBe(count);
    adaptation.after(events, (step + 1) * STEP_MS);
    seconds[second]! += events.count;
  }
  return { seconds, status: adaptation.states()[0]!.status };
}

describe('a detector whose thresholds adapt', () => {
  it.each<DetectorConfig & { threshold: number }>([
    { kind: 'threshold', metric: 'hopLatency', threshold: 100, scope: 'endToEnd' },
    { kind: 'change', metric: 'hopLatency', threshold: 100, scope: 'hop' },
    { kind: 'perFlow', metric: 'hopLatency', threshold: 100 },
  ])('holds its rate within 10 % a second, and again a second after the load has grown tenfold: $kind', (config) => {
    const { seconds, status } = run(config);
    // The second in which it starts, and the one after the step, are for finding the rate.
    const held = seconds.filter((_, second) => second !== 0 && second !== SECONDS / 2);
    for (const events of held) expect(Math.abs(events - TARGET)).toBeLessThanOrEqual(TARGET / 10);
    expect(status).toBe('holding');
  });
});
