import type { DetectorConfig, Match, RuleSet, Sample } from '@int/detect';
import { describe, expect, it } from 'vitest';
import {
  crc32,
  flowKey,
  ReferenceDetector,
  type ReferenceFlow,
  type ReferenceReport,
} from '../../reference/reference.js';
import { ReportSource } from './reports.js';

/** The second implementation by hand-made cases: what the first is held against must itself be right. */

const ANY: Match = {
  protocol: null,
  source: null,
  destination: null,
  sourcePort: null,
  destinationPort: null,
  sourceMac: null,
  destinationMac: null,
};
const FLOW: ReferenceFlow = {
  source: [10, 0, 1, 1],
  destination: [10, 0, 2, 2],
  protocol: 17,
  sourcePort: 5000,
  destinationPort: 80,
};

function rules(detector: DetectorConfig, sample: Sample | null = null): RuleSet {
  return {
    rules: [{ name: 'r', priority: 0, match: ANY, detector, sample, adapt: null }],
    default: 'drop',
    adapt: null,
  };
}

function report(hops: ReferenceReport['hops'], timeNs = 1n, flow: ReferenceFlow | null = FLOW): ReferenceReport {
  return { flow, hops, hasOwnHop: false, nodeId: null, timeNs };
}

/** Reports of one switch, and the value and previous value of their events. */
function run(
  detector: DetectorConfig,
  latencies: readonly number[],
): (readonly [number | null, number | null] | null)[] {
  const reference = new ReferenceDetector(rules(detector));
  return latencies.map((hopLatency) => {
    const [event] = reference.detect(report([{ nodeId: 1, hopLatency }]));
    return event === undefined ? null : [event.value, event.previous];
  });
}

describe('the plain implementation', () => {
  it('computes the CRC-32 of flow keys', () => {
    expect(crc32([...'123456789'].map((character) => character.charCodeAt(0)))).toBe(0xcbf43926);
    expect(crc32(flowKey(FLOW))).toBe(0xcf7ff369);
    const six = [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    const flow = {
      source: [...six, 1],
      destination: [...six, 2],
      protocol: 17,
      sourcePort: 40000,
      destinationPort: 5000,
    };
    expect(crc32(flowKey(flow))).toBe(0x925b5908);
    const tcp = {
      source: [192, 168, 0, 1],
      destination: [192, 168, 0, 2],
      protocol: 6,
      sourcePort: 443,
      destinationPort: 51234,
    };
    expect(crc32(flowKey(tcp))).toBe(0x27b89a0a);
  });

  it('compares with the value last reported, not with the last value', () => {
    const expected = [[11, 0], null, null, [22, 11], [11, 22]];
    expect(run({ kind: 'perHop', metric: 'hopLatency', threshold: 10 }, [11, 20, 21, 22, 11])).toEqual(expected);
    expect(run({ kind: 'perFlow', metric: 'hopLatency', threshold: 10 }, [11, 20, 21, 22, 11])).toEqual(expected);
  });

  it('lets a later hop of a loop see what an earlier one has written', () => {
    const reference = new ReferenceDetector(rules({ kind: 'perHop', metric: 'hopLatency', threshold: 10 }));
    const events = reference.detect(
      report([
        { nodeId: 1, hopLatency: 100 },
        { nodeId: 4097, hopLatency: 105 },
        { nodeId: 1, hopLatency: 50 },
        { hopLatency: 9000 },
        { nodeId: 1, hopLatency: 0xffffffff },
      ]),
    );
    expect(events.map(({ hop, nodeId, value, previous }) => [hop, nodeId, value, previous])).toEqual([
      [0, 1, 100, 0],
      [2, 1, 50, 100],
    ]);
  });

  it('keeps the moving average in a scaled accumulator', () => {
    expect(run({ kind: 'movingAverage', metric: 'hopLatency', threshold: 0, weight: 1 }, [8, 8, 8, 8, 8, 8])).toEqual([
      [4, 0],
      [6, 4],
      [7, 6],
      null,
      [8, 7],
      null,
    ]);
    expect(run({ kind: 'movingAverage', metric: 'hopLatency', threshold: 0, weight: 0 }, [8, 0, 3])).toEqual([
      [8, 0],
      [0, 8],
      [3, 0],
    ]);
    expect(run({ kind: 'movingAverage', metric: 'hopLatency', threshold: 1, alpha: 0.5 }, [8, 8, 8])).toEqual([
      [4, 0],
      [6, 4],
      null,
    ]);
  });

  it('raises no change at first sight or behind another switch', () => {
    const reference = new ReferenceDetector(
      rules({ kind: 'change', metric: 'hopLatency', threshold: 10, scope: 'hop' }),
      { positions: 2 },
    );
    const at = (nodeId: number, hopLatency: number): (number | null)[] =>
      reference.detect(report([{ nodeId, hopLatency }])).map(({ previous }) => previous);
    expect([at(1, 100), at(1, 105), at(1, 116), at(2, 500), at(2, 100)]).toEqual([[], [], [105], [], [500]]);
    reference.detect(report([{}, {}, {}, {}]));
    expect(reference.totals.beyondPositions).toBe(2);
  });

  it('takes a condition on a missing metric for unknown', () => {
    const isTrue = (operator: '<' | '>=', hops: ReferenceReport['hops']): boolean => {
      const clause = [{ aggregate: 'sum', metric: 'hopLatency', operator, constant: 5 } as const];
      const other = [{ aggregate: 'any', metric: 'reserved9', operator: '==', constant: 1 } as const];
      const complex = { kind: 'complex', expression: [clause, other] } as const;
      return new ReferenceDetector(rules(complex)).detect(report(hops)).length === 1;
    };
    expect(isTrue('<', [{ hopLatency: 4, reserved9: 1 }])).toBe(true);
    expect(isTrue('>=', [{ hopLatency: 4, reserved9: 1 }, { hopLatency: 1 }])).toBe(true);
    expect(isTrue('<', [{ reserved9: 1 }])).toBe(false);
    expect(isTrue('>=', [{ reserved9: 1 }])).toBe(false);
  });

  it('looks at the first report of a flow and every n-th one, or one per interval', () => {
    const looked = (sample: Sample): boolean[] => {
      const reference = new ReferenceDetector(rules({ kind: 'noop' }, sample));
      return [1, 2, 3, 4, 5, 6, 7].map((time) => reference.detect(report([], BigInt(time))).length === 1);
    };
    expect(looked({ oneIn: 3 })).toEqual([true, false, false, true, false, false, true]);
    expect(looked({ everyNs: 2 })).toEqual([true, false, true, false, true, false, true]);
    expect(new ReferenceDetector(rules({ kind: 'noop' }, { oneIn: 3 })).detect(report([], 1n, null))).toEqual([]);
  });

  it('reports a path that differs from the one before', () => {
    const reference = new ReferenceDetector(rules({ kind: 'pathChange' }));
    const hops = (...ids: (number | null)[]): ReferenceReport['hops'] => ids.map((nodeId) => ({ nodeId }));
    expect(
      [hops(1, 2), hops(1, null, 2), hops(2, 1), hops(null), hops(2)].map(
        (each) => reference.detect(report(each)).length,
      ),
    ).toEqual([0, 0, 1, 0, 1]);
  });
});

describe('random reports', () => {
  it('are the same for the same seed, and hold every case they are meant to hold', () => {
    const reports = new ReportSource(7).take(5000);
    expect(new ReportSource(7).take(5000)).toEqual(reports);
    expect(new ReportSource(8).take(5)).not.toEqual(reports.slice(0, 5));
    const hops = reports.flatMap((each) => each.hops);
    const ids = (each: ReferenceReport): (number | null | undefined)[] => each.hops.map(({ nodeId }) => nodeId);
    expect(reports.some(({ flow }) => flow === null)).toBe(true);
    expect(reports.some(({ flow }) => flow?.source.length === 16)).toBe(true);
    expect(reports.some(({ hops: own }) => own.length === 0)).toBe(true);
    expect(reports.some((each) => new Set(ids(each)).size < each.hops.length)).toBe(true);
    expect(hops.some(({ hopLatency }) => hopLatency === undefined)).toBe(true);
    expect(hops.some(({ hopLatency }) => hopLatency === 0xffffffff)).toBe(true);
    expect(hops.some(({ hopLatency }) => hopLatency === 0xfffffffe)).toBe(true);
    expect(hops.some(({ queueId, queueOccupancy }) => queueId !== 0xff && queueOccupancy === 0xffffff)).toBe(true);
    expect(hops.some(({ nodeId }) => nodeId === 1) && hops.some(({ nodeId }) => nodeId === 4097)).toBe(true);
  });
});
