import type { DecodeOptions } from '@int/codec';
import fc from 'fast-check';
import { blockWords, buildReport, type FrameSpec } from './fast-frames.js';

/** Deployments to test with. */
export const OPTIONS: readonly DecodeOptions[] = [
  { linkType: 'report', intPorts: [5000], intDscp: null },
  { linkType: 'report', intPorts: [5000, 6000], intDscp: { value: 0x17, mask: 0x3f } },
  { linkType: 'report', intPorts: [], intDscp: { value: 0x20, mask: 0x20 } },
  { linkType: 'report', intPorts: [4789, 5000, 7000], intDscp: { value: 0, mask: 0 } },
  { linkType: 'report', intPorts: [], intDscp: null },
];

const bitmaps = fc.oneof(
  fc.constantFrom(0x8000, 0xf000, 0xf1c1, 0xffff, 0x0040, 0x0c00, 0x9c00, 0xfe00, 0x0001, 0xe000),
  fc.integer({ min: 0, max: 0xffff }),
);
const word = fc.constantFrom(
  (b: number, i: number) => Math.imul(b * 31 + i + 7, 0x9e3779b1) >>> 0,
  () => 0xffffffff,
  () => 0,
  (b: number, i: number) => (b << 16) + i,
);

/** Reports that are valid, at least for some deployment. */
export const spec: fc.Arbitrary<FrameSpec> = fc
  .record<FrameSpec>({
    bitmap: bitmaps,
    hops: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 252 })),
    reportBits: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: bitmaps }),
    inType: fc.constantFrom(3, 4),
    reportFlags: fc.integer({ min: 0, max: 255 }).map((bits) => bits | 0x20),
    hwId: fc.integer({ min: 0, max: 63 }),
    sequence: fc.integer({ min: 0, max: 0x3fffff }),
    nodeId: fc.integer({ min: 0, max: 0xffffffff }),
    transport: fc.constantFrom('udp', 'udp', 'udp', 'udp', 'tcp', 'new-udp'),
    tcpWords: fc.constantFrom(5, 5, 5, 6, 10, 15, 4),
    innerProtocol: fc.constantFrom(6, 17, 6, 17, 6, 1),
    npt: fc.constantFrom(1, 1, 1, 1, 0),
    intPort: fc.constantFrom(5000, 5000, 5000, 5000, 5000, 6000, 4789),
    tos: fc.constantFrom(0x5c, 0x5c, 0x5f, 0x80, 0),
    sourcePort: fc.integer({ min: 0, max: 65535 }),
    destinationPort: fc.constantFrom(443, 443, 443, 443, 53, 0, 65535, 6081, 4790, 4789, 54321),
    source: fc.integer({ min: 0, max: 0xffffffff }),
    destination: fc.integer({ min: 0, max: 0xffffffff }),
    mdFlags: fc.integer({ min: 0, max: 7 }),
    remaining: fc.integer({ min: 0, max: 255 }),
    tail: fc.integer({ min: 0, max: 20 }),
    cut: fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 400, -1, -20),
    word,
  })
  .map((one) => {
    // The report's length field allows 254 words; longer stacks are for the mutations to claim.
    const block = Math.max(1, blockWords(one.bitmap));
    const reportBits = (one.reportBits ?? 0) & 0x7ffe;
    const room = 185 - blockWords(reportBits);
    return { ...one, reportBits, hops: Math.min(one.hops, Math.floor(room / block)) };
  });

/** Valid frames, frames with a few bytes changed, frames cut short, frames of noise. */
export const frame: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 6, arbitrary: spec.map(buildReport) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(spec, fc.array(fc.tuple(fc.nat(110), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 3 }))
      .map(([one, changes]) => {
        const bytes = buildReport(one);
        for (const [at, bits] of changes) if (at < bytes.length) bytes[at]! ^= bits;
        return bytes;
      }),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(spec, fc.nat(200)).map(([one, length]) => {
      const bytes = buildReport(one).subarray(0, length);
      // Half of them with a report length that agrees.
      if (length >= 12 && length % 4 === 0) bytes[9] = (length - 12) / 4;
      return bytes;
    }),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 150 }) },
);
