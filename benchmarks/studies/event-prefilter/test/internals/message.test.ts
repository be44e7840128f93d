import { BatchDecoder, encodeFrame, type Hop, TelemetryBatch, type TelemetryRecord } from '@int/codec';
import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DECODE_OPTIONS, recordOf, SHAPES, shapeRecord } from '../../src/frames.js';
import { MessageWriter } from '../../src/message.js';
import { SEED } from '../seed.js';

const batch = new TelemetryBatch({ frames: 1, hops: 256 });
const decoder = new BatchDecoder(DECODE_OPTIONS);
const writer = new MessageWriter(batch);

/** Sends a record through codec and writer, and reads the message as its receiver would. */
function messageOf(record: TelemetryRecord): unknown {
  const frame = encodeFrame(record);
  batch.clear();
  decoder.decode(batch, { bytes: frame, offsets: Uint32Array.of(0), lengths: Uint32Array.of(frame.length) });
  expect(batch.reports).toBe(1);
  return JSON.parse(new TextDecoder().decode(writer.bytes.subarray(0, writer.write(0))));
}

/** What the message should say: 64-bit numbers as text, nothing of what is not available. */
function expected({ report, flow, hops }: TelemetryRecord): unknown {
  const plain = (hop: Hop): unknown =>
    Object.fromEntries(
      Object.entries(hop)
        .filter(([, value]) => value !== null)
        .map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
    );
  return { node: report?.nodeId, sequence: report?.sequence, flow, hops: hops.map(plain) };
}

describe('a message', () => {
  it('says what the report said, for all shapes', () => {
    const random = new Random(SEED);
    for (const shape of SHAPES) {
      for (let k = 0; k < 20; k++) {
        const record = shapeRecord(shape, k * 12_345, random);
        expect(messageOf(record)).toEqual(expected(record));
      }
    }
  });

  it('writes 32-bit and 64-bit numbers in full', () => {
    const word = fc.oneof(fc.nat(0xffff_fffe), fc.constantFrom(0, 9999, 10_000, 99_999_999, 100_000_000, 0xffff_fffe));
    const wide = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 64n - 2n }),
      fc.nat(19).map((digits) => 10n ** BigInt(digits)),
      fc.nat(18).map((digits) => 10n ** BigInt(digits + 1) - 1n),
    );
    fc.assert(
      fc.property(word, word, wide, wide, (hopLatency, egressUtilization, ingressTimestamp, egressTimestamp) => {
        const hop = { nodeId: 1, hopLatency, ingressTimestamp, egressTimestamp, egressUtilization };
        const record = recordOf(1, 0xad00, 7, [hop, hop]);
        expect(messageOf(record)).toEqual(expected(record));
      }),
      { seed: SEED, numRuns: 1000 },
    );
  });

  it('leaves out what is not available, up to all of a hop', () => {
    const hops: Hop[] = [
      { nodeId: null, hopLatency: null, ingressTimestamp: null },
      { nodeId: null, hopLatency: 5, ingressTimestamp: null },
      { nodeId: 3, hopLatency: null, ingressTimestamp: 6n },
    ];
    const record = recordOf(1, 0xa800, 4, hops);
    expect(messageOf(record)).toEqual(expected(record));
    expect(expected(record)).toMatchObject({
      hops: [{}, { hopLatency: 5 }, { nodeId: 3, ingressTimestamp: '6' }],
    });
  });

  it('knows IPv6, and a reporting node with values of its own', () => {
    const base = recordOf(9, 0x8000, 1, [{ nodeId: 1 }]);
    const flow = {
      source: '2001:db8::1',
      destination: '2001:db8::2',
      protocol: 17,
      sourcePort: 1,
      destinationPort: 5000,
    };
    expect(messageOf({ ...base, flow })).toEqual(expected({ ...base, flow }));
    const own: TelemetryRecord = { ...base, report: { ...base.report!, nodeId: 2, metadata: { hopLatency: 77 } } };
    expect(messageOf(own)).toMatchObject({ node: 2, hops: [{ nodeId: 1 }, { nodeId: 2, hopLatency: 77 }] });
  });
});
