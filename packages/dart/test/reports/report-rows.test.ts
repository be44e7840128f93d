/** Rows made of columns, beside the same made of objects. */

import { frame, malformed } from '@int/arbitraries';
import { BatchDecoder, FrameDecoder, type Hop, TelemetryBatch, type TelemetryRecord } from '@int/codec';
import { flowKey, pathOfValue, pathValue, ReportRows } from '@int/dart';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LENGTH, runs } from '../../../../.ci/test/length.js';
import { SEED } from '../seed.js';

const OPTIONS = { reportPorts: [32766] };
const BATCH = new TelemetryBatch({ frames: 16, reports: 1024, hops: 8192 });
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const frames = fc.array(frame({ options: OPTIONS }), { minLength: 1, maxLength: 5 });

function decode(bytes: Uint8Array): TelemetryBatch {
  BATCH.clear();
  new BatchDecoder(OPTIONS).decode(BATCH, { bytes, offsets: Uint32Array.of(0), lengths: Uint32Array.of(bytes.length) });
  return BATCH;
}

function records(bytes: Uint8Array): TelemetryRecord[] {
  return new FrameDecoder(OPTIONS).decode(bytes).filter(({ report, int }) => report !== null || int !== null);
}

function rowsOf(rows: ReportRows): [key: string, value: string][] {
  const { bytes, offsets, lengths } = rows.keys;
  const size = rows.values.length / rows.capacity;
  return Array.from({ length: rows.rows }, (_, row) => [
    hex(bytes.subarray(offsets[row]!, offsets[row]! + lengths[row]!)),
    hex(rows.values.subarray(row * size, (row + 1) * size)),
  ]);
}

/** The hops of a record, its own last, and the switches of a GPINT probe; an id of all ones is none in columns. */
function hopsOf({ hops, report, int }: TelemetryRecord): Hop[] {
  const own = report !== null && Object.keys(report.metadata).length > 0;
  const switches = int?.mode === 'gpint' ? int.switches : [];
  return [
    ...switches.map(({ switchId, queueDepth }) => ({ nodeId: switchId, queueOccupancy: queueDepth })),
    ...hops,
    ...(own ? [{ ...report.metadata, nodeId: report.nodeId }] : []),
  ].map((hop) => (hop.nodeId === 0xffffffff ? { ...hop, nodeId: null } : hop));
}

/** The nodes of a path as columns tell them: hops that do not carry their node id count, nameless. */
function pathOfRecord(record: TelemetryRecord): (number | null)[] {
  const path = hopsOf(record).map(({ nodeId }) => nodeId ?? null);
  const own = record.report?.nodeId ?? 0xffffffff;
  if (own !== 0xffffffff && path.at(-1) !== own) path.push(own);
  return path;
}

describe('rows of reports', () => {
  it('hold the flow and the path that the record has', () => {
    let made = 0;
    fc.assert(
      fc.property(frames, fc.constantFrom(4, 12, 20, 64), (all, valueBytes) => {
        for (const { bytes } of all) {
          const rows = new ReportRows(1024, { valueBytes });
          const batch = decode(bytes);
          expect(rows.fill(batch)).toBe(batch.reports);
          const usable = records(bytes).filter(
            (record) =>
              record.status === 'ok' && record.flow !== null && pathOfRecord(record).some((node) => node !== null),
          );
          made += usable.length;
          expect(rowsOf(rows)).toEqual(
            usable.map((record) => [hex(flowKey(record.flow!)), hex(pathValue(pathOfRecord(record), valueBytes))]),
          );
          const { notOk, noFlow, noNode } = rows.counters;
          expect(notOk + noFlow + noNode + rows.rows).toBe(batch.reports);
        }
      }),
      { seed: SEED, numRuns: runs(150) },
    );
    expect(made).toBeGreaterThan(400 * LENGTH);
  });

  it('of hops hold the flow, the node and its metrics', () => {
    let made = 0;
    fc.assert(
      fc.property(frames, (all) => {
        for (const { bytes } of all) {
          const rows = new ReportRows(1024, { valueBytes: 12, values: ['hopLatency', 'queueOccupancy'] });
          rows.fill(decode(bytes));
          const expected: [string, string][] = [];
          for (const record of records(bytes)) {
            const { status, flow } = record;
            if (status !== 'ok' || flow === null) continue;
            for (const { nodeId, hopLatency, queueOccupancy } of hopsOf(record)) {
              if (nodeId === undefined || nodeId === null) continue;
              const words = [hopLatency ?? null, queueOccupancy ?? null, 0];
              expected.push([hex(flowKey(flow, nodeId)), hex(pathValue(words, 12))]);
            }
          }
          made += expected.length;
          expect(rowsOf(rows)).toEqual(expected);
        }
      }),
      { seed: SEED, numRuns: runs(300) },
    );
    expect(made).toBeGreaterThan(100);
  });

  it('are made of broken frames without harm, and every report is accounted for', () => {
    fc.assert(
      fc.property(malformed(frame({ options: OPTIONS })), (bytes) => {
        const rows = new ReportRows(256, { valueBytes: 20 });
        const batch = decode(bytes);
        rows.fill(batch);
        const { notOk, noFlow, noNode } = rows.counters;
        expect(notOk + noFlow + noNode + rows.rows).toBe(batch.reports);
      }),
      { seed: SEED, numRuns: runs(300) },
    );
  });

  it('stop where there is no room and go on from there', () => {
    fc.assert(
      fc.property(frames, fc.integer({ min: 1, max: 3 }), (all, capacity) => {
        const whole = new ReportRows(1024, { valueBytes: 20 });
        const small = new ReportRows(capacity, { valueBytes: 20 });
        for (const { bytes } of all) {
          const batch = decode(bytes);
          whole.fill(batch);
          const pieces: [string, string][] = [];
          for (let next = 0; next < batch.reports; ) {
            const from = next;
            next = small.fill(batch, from);
            expect(next).toBeGreaterThan(from);
            pieces.push(...rowsOf(small));
          }
          expect(pieces).toEqual(rowsOf(whole));
        }
        expect(small.counters).toEqual(whole.counters);
      }),
      { seed: SEED, numRuns: runs(50) },
    );
  });

  it('refuse sizes that make no rows', () => {
    expect(() => new ReportRows(0, { valueBytes: 20 })).toThrow(RangeError);
    expect(() => new ReportRows(8, { valueBytes: 18 })).toThrow(RangeError);
    expect(() => new ReportRows(8, { valueBytes: 20, values: ['hopLatency'] })).toThrow(RangeError);
    expect(() => new ReportRows(256, { valueBytes: 4, values: ['hopLatency', 'queueId'] })).toThrow(RangeError);
    expect(() => new ReportRows(256, { valueBytes: 4, values: [] })).toThrow(RangeError);
  });
});

describe('a path as a value', () => {
  it('comes back as it was, but for zeros at its end and what does not fit', () => {
    const node = fc.oneof(fc.integer({ min: 1, max: 0xfffffffe }), fc.constant(null));
    fc.assert(
      fc.property(fc.array(node, { maxLength: 5 }), (path) => {
        expect(pathOfValue(pathValue(path, 20))).toEqual(path);
        expect(pathOfValue(pathValue([...path, 7, 8], path.length * 4))).toEqual(path);
      }),
      { seed: SEED },
    );
  });
});
