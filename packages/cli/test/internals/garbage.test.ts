import { BatchDecoder, type DecodeOptions, encodeReport, TelemetryBatch, telemetry } from '@int/codec';
import { LiveStatistics } from '@int/collector';
import { describe, expect, test } from 'vitest';
import { FIRST_CONTROLS } from '../../src/live/controls.js';
import { liveView } from '../../src/live/live-view.js';
import { switchTable } from '../../src/live/switch-panel.js';
import { colours } from '../../src/output/colour.js';
import { logLine } from '../../src/output/live-state.js';
import { RAW_METRICS } from '../../src/output/metric-text.js';
import { state } from './live-states.js';

const OPTIONS: DecodeOptions = { linkType: 'report' };
const START_MS = 1_700_000_000_000;
const REAL = [1, 2, 3, 11, 12] as const;
const PHANTOMS = 3000;

/** Numbers of 32 bits, always the same. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state ^ (state >>> 15)) >>> 0;
  };
}

const flow = { source: '10.0.1.1', destination: '10.0.2.2', protocol: 17, sourcePort: 4000, destinationPort: 80 };
const report = (nodeId: number, hopLatency: number, queueOccupancy: number): Uint8Array =>
  encodeReport(telemetry({ flow, report: { nodeId, metadata: { hopLatency, queueId: 0, queueOccupancy } } }));

/** Counts datagrams that come one after the other from a time on. */
function take(statistics: LiveStatistics, datagrams: readonly Uint8Array[], fromMs: number, forMs: number): void {
  const decoder = new BatchDecoder(OPTIONS);
  const batch = new TelemetryBatch({ frames: 1, reports: 8, hops: 256 });
  for (const [at, bytes] of datagrams.entries()) {
    batch.clear();
    const ns = BigInt(Math.round((fromMs + (forMs * at) / datagrams.length) * 1000)) * 1000n;
    decoder.decode(batch, {
      bytes,
      offsets: Uint32Array.of(0),
      lengths: Uint32Array.of(bytes.length),
      timestampsHigh: Uint32Array.of(Number(ns >> 32n)),
      timestampsLow: Uint32Array.of(Number(ns & 0xffff_ffffn)),
    });
    statistics.process(batch);
  }
}

describe('forged switches', () => {
  const next = numbers(7);
  const forged = Array.from({ length: PHANTOMS }, () => report((next() | 0x8000) >>> 0, next(), next() & 0xff_ffff));
  /** Ten reports a second of each real switch; every third finds a queue that is full. */
  const honest = (seconds: number): Uint8Array[] =>
    Array.from({ length: seconds * 10 }, (_, at) =>
      REAL.map((node) => report(node, 1000 + 100 * node, at % 3 === 0 ? 600 : 5)),
    ).flat();

  test.each([
    ['while the real ones report', 0],
    ['before the real ones report', 1],
  ])('that come %s hide none of them in a view of 80x24', (_, phantomsFirst) => {
    const statistics = new LiveStatistics();
    if (phantomsFirst === 1) {
      take(statistics, forged, START_MS, 2000);
      take(statistics, honest(10), START_MS + 2000, 10_000);
    } else {
      take(statistics, honest(4), START_MS, 4000);
      take(statistics, forged, START_MS + 4000, 1000);
      take(statistics, honest(2), START_MS + 5000, 2000);
    }
    const snapshot = statistics.snapshot();
    const size = { columns: 80, rows: 24 };
    const view = liveView(state(snapshot), 'int collect', FIRST_CONTROLS, size, false, colours(false)).lines;
    expect(view.length).toBeLessThanOrEqual(24);
    for (const node of REAL) expect(view.join('\n')).toMatch(new RegExp(`^ {8,9}${node} +\\d`, 'm'));
    // The switches seen often, that is the real ones, come first; and the worst is one of them, not the largest random number.
    expect(logLine(state(snapshot))).toContain('at switch 12 ');
    const chosen = { ...FIRST_CONTROLS, panel: 'queues' } as const;
    const queues = liveView(state(snapshot), 'int collect', chosen, size, false, colours(false)).lines;
    const congested = queues
      .slice(queues.findIndex((line) => line.includes('Congested queues')) + 1)
      .filter((line) => line.includes(' at '));
    const first = congested.slice(0, REAL.length).map((line) => Number(/ at (\d+): /.exec(line)![1]));
    expect(first.sort((a, b) => a - b)).toEqual(REAL);
    expect(switchTable(snapshot, RAW_METRICS).length).toBeLessThan(70);
  });
});
