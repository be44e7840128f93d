/** Detectors that look at time, beside the moving average: what a report costs, with the windows that end meanwhile. */
import type { TelemetryBatch } from '@int/codec';
import { Detector, type DetectorConfig, EventBatch } from '@int/detect';
import { time } from './contenders.js';
import type { RuleContender } from './rules.js';

/** What all others are compared with: the same reports, metric and language. */
export const MOVING_AVERAGE = 'movingAverage';

/** Reports a second of the stream's time. */
export const STREAM_RATE = 1_000_000;
const NS_PER_REPORT = 1e9 / STREAM_RATE;
const START_NS = 1_800_000_000_000_000_000n;
/** So many seconds of the stream are learned from: then a baseline judges windows. */
const LEARN_MS = 2000;

type Baseline = Extract<DetectorConfig, { readonly kind: 'baseline' }>;

const METRIC = 'hopLatency';
const baseline = (key: Baseline['key'], season: Baseline['season'] = 'none'): Baseline => ({
  kind: 'baseline',
  metric: METRIC,
  above: 1000,
  below: null,
  key,
  learnMs: LEARN_MS,
  season,
});

const CONFIGS: readonly (readonly [name: string, config: DetectorConfig])[] = [
  [MOVING_AVERAGE, { kind: 'movingAverage', metric: METRIC, threshold: 0xffffffff, weight: 3 }],
  ['baseline by switch', baseline('switch')],
  ['baseline by switch, season: day', baseline('switch', 'day')],
  ['baseline by queue', baseline('queue')],
  ['baseline by flow', baseline('flow')],
  ['rate by switch', { kind: 'rate', above: 1e12, of: 'reports', key: 'switch' }],
  ['absent by flow', { kind: 'absent', key: 'flow', forMs: 3_600_000 }],
  ['burst by queue', { kind: 'burst', metric: METRIC, above: 0xffffffff, withinNs: 1e6, key: 'queue' }],
];

/** Gives the frames times, a report each microsecond. */
function timed(batches: readonly TelemetryBatch[]): void {
  let at = 0;
  for (const batch of batches) {
    batch.isTimed = true;
    batch.frameTimeHigh = new Uint32Array(batch.frames);
    batch.frameTimeLow = new Uint32Array(batch.frames);
    for (let frame = 0; frame < batch.frames; frame++) {
      const timeNs = START_NS + BigInt(at++ * NS_PER_REPORT);
      batch.frameTimeHigh[frame] = Number(timeNs >> 32n);
      batch.frameTimeLow[frame] = Number(timeNs & 0xffffffffn);
    }
  }
}

/**
 * Makes the contenders. All detectors are those in TypeScript.
 * @param batches whose times are set
 * @param turns over them in a pass; time goes on by what is between them
 */
export function watchContenders(batches: readonly TelemetryBatch[], turns: number): readonly RuleContender[] {
  timed(batches);
  const reports = batches.reduce((sum, batch) => sum + batch.reports, 0);
  const turnNs = BigInt(reports * NS_PER_REPORT);
  return CONFIGS.map(([name, config]) => {
    const detector = Detector.of(config);
    const events = new EventBatch(batches[0]!.capacity.hops);
    let now = START_NS;
    const turn = (): void => {
      for (const batch of batches) {
        for (let from = 0; from < batch.reports; ) {
          events.clear();
          from = detector.detect(batch, events, from);
        }
      }
      now += turnNs;
      detector.advance(now);
      detector.findings()?.clear();
    };
    for (let learned = 0; learned * reports < 2 * STREAM_RATE * (LEARN_MS / 1000); learned++) turn();
    const pass = (): number =>
      time(() => {
        for (let k = 0; k < turns; k++) turn();
      }) /
      (turns * reports);
    return { name, pass };
  });
}
