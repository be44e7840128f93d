import { frame, malformed } from '@int/arbitraries';
import { encodeFrame, telemetry } from '@int/codec';
import { MarkScout, type PacketMarks, PROFILES } from '@int/codec/internals';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../.ci/test/length.js';

const HOPS = [{ nodeId: 1, hopLatency: 5 }];
const FLOW = { source: '10.0.0.1', destination: '10.0.0.2', sourcePort: 4000, destinationPort: 80 };

function marksIn(bytes: Uint8Array): PacketMarks[] {
  const found: PacketMarks[] = [];
  new MarkScout('spec').look(bytes, 'ethernet', (marks) => found.push({ ...marks }));
  return found;
}

describe('MarkScout', () => {
  test('sees INT behind a port and a DSCP that nobody named, also inside a report', () => {
    const flow = { ...FLOW, protocol: 17 };
    const packet = encodeFrame(telemetry({ flow, hops: HOPS, report: null }), { intPorts: [6000] });
    expect(marksIn(packet)).toMatchObject([{ isInside: false, udpPort: 6000, byPort: true, isReport: false }]);

    const report = encodeFrame(telemetry({ flow, hops: HOPS, report: { nodeId: 1, trackedFlow: true } }), {
      intPorts: [6000],
      reportPort: 9555,
    });
    expect(marksIn(report)).toMatchObject([
      { isInside: false, udpPort: 9555, byPort: false, isReport: true },
      { isInside: true, udpPort: 6000, byPort: true },
    ]);

    const plain = encodeFrame(telemetry({ flow, report: null }));
    expect(marksIn(plain)).toMatchObject([
      { udpPort: 80, byPort: false, byDscp: false, marker: null, isReport: false },
    ]);
  });

  test('takes any bytes, at any offset, and leaves them as they are', () => {
    const frames = frame().map(({ bytes }) => bytes);
    const scouts = PROFILES.map((profile) => new MarkScout(profile));
    fc.assert(
      fc.property(fc.oneof(frames, malformed(frames)), fc.nat(7), (bytes, offset) => {
        const memory = new Uint8Array(offset + bytes.length + 9).fill(0xa5);
        memory.set(bytes, offset);
        const before = memory.slice();
        for (const scout of scouts) {
          for (const link of ['ethernet', 'raw', 'report'] as const) {
            scout.look(memory.subarray(offset, offset + bytes.length), link, () => {});
          }
        }
        expect(memory).toEqual(before);
      }),
      { numRuns: runs(2000) },
    );
  });
});
