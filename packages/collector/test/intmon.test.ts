/** IntMon's depths and interfaces have up to 31 bits: whoever reads columns has them whole, and takes nothing for a queue id. */
import { BatchDecoder, encodeFrame, type Hop, TelemetryBatch, telemetry } from '@int/codec';
import { LiveStatistics, reportRecord, SwitchTotals } from '@int/collector';
import { compileRules, Detector, EventBatch, type RuleSpec } from '@int/detect';
import { FlowCache } from '@int/flowcache';
import { describe, expect, test } from 'vitest';
import { setTimes } from './fill-batch.js';
import { switchRows } from './row-objects.js';

const START = 1_700_000_000_000;
const DEEP = 0x7123_4567;
const DEEPER = 0x7e00_0001;
const PORT = 0x1234_ffff;

/** Node id, interfaces, latency, occupancy, congestion and utilization. */
const HOPS: readonly Hop[] = [
  {
    nodeId: 1,
    l1IngressInterface: 3,
    l1EgressInterface: PORT,
    hopLatency: 10,
    queueOccupancy: DEEP,
    queueCongestion: DEEPER,
    egressUtilization: 70,
  },
  {
    nodeId: 2,
    l1IngressInterface: PORT,
    l1EgressInterface: 0xffff,
    hopLatency: 20,
    queueOccupancy: DEEPER,
    queueCongestion: 0,
    egressUtilization: 80,
  },
];

/** The batch that one IntMon packet makes. */
function decoded(): TelemetryBatch {
  const flow = { source: '10.0.0.1', destination: '10.0.0.2', sourcePort: 1, destinationPort: 80 };
  const frame = encodeFrame(telemetry({ flow, hops: HOPS, int: { version: 'intmon', hopMl: null }, report: null }));
  const batch = new TelemetryBatch({ frames: 4 });
  const decoder = new BatchDecoder({ profile: 'intmon' });
  decoder.decode(batch, { bytes: frame, offsets: Uint32Array.of(0), lengths: Uint32Array.of(frame.length) });
  expect([batch.reports, batch.hops, batch.code[0]]).toEqual([1, 2, 0]);
  return batch;
}

describe('IntMon', () => {
  const batch = decoded();
  setTimes(batch, [START]);

  test('in live statistics', () => {
    const statistics = new LiveStatistics();
    statistics.process(batch);
    const { switches, congested } = statistics.snapshot();
    expect(switches.map(({ queueOccupancy }) => queueOccupancy.peak)).toEqual([DEEP, DEEPER]);
    expect(congested).toMatchObject([{ peak: DEEPER }]);
  });

  test('in totals of switches: one queue each, and interfaces with all their bits', () => {
    const totals = new SwitchTotals();
    totals.process(batch);
    const { queues, interfaces, switches } = switchRows(totals);
    expect(queues).toEqual([
      { nodeId: 1, queueId: 0, occupancy: DEEP },
      { nodeId: 2, queueId: 0, occupancy: DEEPER },
    ]);
    expect(interfaces).toEqual([
      { nodeId: 1, egressInterface: PORT, utilization: 70 },
      { nodeId: 2, egressInterface: 0xffff, utilization: 80 },
    ]);
    expect(switches.map(({ queueOccupancy }) => queueOccupancy.sum)).toEqual([DEEP, DEEPER]);
  });

  test('in records', () => {
    expect(reportRecord(batch, 0, 'id').hops).toEqual(HOPS);
  });

  test.each([false, true])('in a flow cache, accelerator %s', (accelerator) => {
    const cache = new FlowCache({ rows: 4, accelerator, metrics: ['queueOccupancy', 'l1EgressInterface', 'queueId'] });
    cache.update(batch);
    const [entry] = [...cache];
    expect(
      entry!.hops.map(({ metrics }) => [
        metrics.queueOccupancy!.last,
        metrics.l1EgressInterface!.last,
        metrics.queueId?.last ?? null,
      ]),
    ).toEqual([
      [DEEP, PORT, null],
      [DEEPER, 0xffff, null],
    ]);
  });

  test('in a detector: nothing is above a threshold but the value itself', () => {
    const found = (threshold: number, metric: 'queueOccupancy' | 'queueId'): [number, number][] => {
      const rules: RuleSpec[] = [
        {
          name: 'deep',
          priority: 1,
          match: 'any',
          detect: { threshold: { scope: 'hop', metric, threshold } },
        },
      ];
      const detector = new Detector(compileRules({ version: 1, default: 'drop', rules }));
      const events = new EventBatch();
      detector.detect(batch, events);
      return Array.from({ length: events.count }, (_, k) => [events.nodeId[k]!, events.value[k]!]);
    };
    expect(found(DEEP, 'queueOccupancy')).toEqual([[2, DEEPER]]);
    expect(found(DEEP - 1, 'queueOccupancy')).toEqual([
      [1, DEEP],
      [2, DEEPER],
    ]);
    expect(found(0, 'queueId')).toEqual([]);
  });
});
