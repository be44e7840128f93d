/** IntMon's 31-bit values in the columns and in views. Other layouts are in agreement.test.ts. */

import {
  BatchDecoder,
  decodeFrame,
  encodeFrame,
  type Hop,
  type HopView,
  TelemetryBatch,
  type TelemetryRecord,
} from '@int/codec';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LENGTH, runs } from '../../../.ci/test/length.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_122);

/** 31 bits, or `null`: all 31 are ones on the wire. */
const value = fc.oneof(
  fc.integer({ min: 0, max: 0x7ffffffe }),
  fc.constantFrom(0, 1, 0xffff, 0x1ffff, 0xffffff, 0x1000000, 0x7ffffffe, null, null),
);
const time = value.map((one) => (one === null ? null : BigInt(one)));
const NAMES = [
  'nodeId',
  'l1IngressInterface',
  'hopLatency',
  'queueOccupancy',
  'ingressTimestamp',
  'l1EgressInterface',
  'queueCongestion',
  'egressUtilization',
] as const;

const hop = fc.record({
  nodeId: value,
  l1IngressInterface: value,
  hopLatency: value,
  queueOccupancy: value,
  ingressTimestamp: time,
  l1EgressInterface: value,
  queueCongestion: value,
  egressUtilization: value,
});
const packets: fc.Arbitrary<TelemetryRecord> = fc
  .tuple(fc.integer({ min: 0, max: 255 }), fc.array(hop, { maxLength: 5 }))
  .map(([bits, hops]) => ({
    index: 0,
    status: 'ok',
    error: null,
    report: null,
    int: {
      mode: 'md',
      version: 'intmon',
      encapsulation: 'udp',
      hopMl: null,
      remainingHopCount: 0,
      instructionBitmap: bits << 8,
      discard: false,
      hopExceeded: false,
      mtuExceeded: false,
      domainId: 0,
      domainInstructions: 0,
      domainFlags: 0,
    },
    flow: { source: '10.0.0.1', destination: '10.0.0.2', protocol: 17, sourcePort: 1, destinationPort: 80 },
    path: [],
    hops: bits === 0 ? [] : hops.map((all) => carried(all, bits)),
  }));

/** The items that the bitmap selects. */
function carried(all: Hop, bits: number): Hop {
  return Object.fromEntries(NAMES.filter((_, bit) => (bits & (0x80 >>> bit)) !== 0).map((name) => [name, all[name]]));
}

const batch = new TelemetryBatch({ frames: 8 });
const decoder = new BatchDecoder({ profile: 'intmon' });

/** Decodes into the same batch each time, so that a row's earlier cells would show. */
function decode(record: TelemetryRecord): { hops: Hop[]; hop: (index: number) => HopView } {
  const frame = encodeFrame(record);
  const [object] = decodeFrame(frame, { profile: 'intmon' });
  expect(object!.status).toBe('ok');
  batch.clear();
  decoder.decode(batch, { bytes: frame, offsets: Uint32Array.of(0), lengths: Uint32Array.of(frame.length) });
  const view = batch.record(0);
  expect(view.intVersion).toBe('intmon');
  expect(view.hopCount).toBe(object!.hops.length);
  return { hops: object!.hops, hop: (index) => view.hop(index) };
}

/** All that a view shows but the names given. */
function shown(view: HopView): Hop {
  return Object.fromEntries(NAMES.map((name) => [name, view[name]]));
}
const filled = (hop: Hop): Hop => Object.fromEntries(NAMES.map((name) => [name, hop[name] ?? null]));

describe('views of IntMon packets', () => {
  it('show what the objects hold', () => {
    let compared = 0;
    fc.assert(
      fc.property(packets, (record) => {
        const { hops, hop } = decode(record);
        hops.forEach((one, k) => {
          expect(shown(hop(k))).toEqual(filled(one));
          expect([hop(k).queueId, hop(k).congestionQueueId]).toEqual([null, null]);
          compared++;
        });
      }),
      { seed: SEED, numRuns: runs(600) },
    );
    expect(compared).toBeGreaterThan(1000 * LENGTH);
  });
});
