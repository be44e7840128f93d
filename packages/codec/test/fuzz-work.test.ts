/** Decoding takes work linear in the frame's length: counted in reads of the DataView, on input made to be slow. */

import { BatchDecoder, type DecodeOptions, FrameDecoder, TelemetryBatch } from '@int/codec';
import { describe, expect, test } from 'vitest';
import { corpus, mutate, Random } from './fuzz-inputs.js';

const SEED = Number(process.env.INT_SEED ?? 20_250_221);

const READS = ['getUint8', 'getUint16', 'getUint32', 'getInt8', 'getInt16', 'getInt32', 'getBigUint64'] as const;

/** Runs `work` while every read of any DataView is counted. */
function reads(work: () => void): number {
  const prototype = DataView.prototype as unknown as Record<string, (offset: number) => unknown>;
  const kept = READS.map((name) => prototype[name]!);
  let count = 0;
  READS.forEach((name, k) => {
    const read = kept[k]!;
    prototype[name] = function (this: DataView, offset: number): unknown {
      count++;
      return read.call(this, offset);
    };
  });
  try {
    work();
  } finally {
    READS.forEach((name, k) => {
      prototype[name] = kept[k]!;
    });
  }
  return count;
}

const big = new TelemetryBatch({ frames: 1, reports: 20_000, hops: 40_000 });

/** Reads of the batch path and of the object path, and the number of objects the latter makes. */
function workOf(bytes: Uint8Array, options: DecodeOptions): { batch: number; objects: number; made: number } {
  const decoder = new BatchDecoder(options);
  const frames = new FrameDecoder(options);
  let made = 0;
  const batch = reads(() => {
    big.clear();
    decoder.decode(big, { bytes, offsets: Uint32Array.of(0), lengths: Uint32Array.of(bytes.length) });
  });
  const objects = reads(() => {
    for (const { hops, report } of frames.decode(bytes)) made += 1 + hops.length + (report?.tlvs?.length ?? 0);
  });
  return { batch, objects, made };
}

function concat(...parts: readonly (Uint8Array | readonly number[])[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}
function repeated(size: number, piece: readonly number[]): Uint8Array {
  return concat(...Array.from({ length: Math.floor(size / piece.length) }, () => piece));
}
const u16 = (value: number): [number, number] => [(value >>> 8) & 255, value & 255];

const MACS = Array.from({ length: 12 }, () => 2);
/** IPv4 and UDP around a payload. */
function udp(port: number, payload: Uint8Array, dscp = 0): Uint8Array {
  return concat(
    [...MACS, 8, 0, 0x45, dscp << 2, ...u16(28 + payload.length), 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2],
    [...u16(1), ...u16(port), ...u16(8 + payload.length), 0, 0],
    payload,
  );
}
const GROUP = [0x20, 0, 0, 1, 0, 0, 0, 9];
/** A v2.0 report of 255 words or more, with TLVs. */
const TLV_HEADER = [0x11, 255, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0];

const PAYLOAD: DecodeOptions = { linkType: 'report' };
const PORT: DecodeOptions = { reportPorts: [32766] };
/** Input of about `size` bytes that repeats what a decoder loops over. At most 60,000: lengths have 16 bits. */
const HOSTILE: Record<string, readonly [(size: number) => Uint8Array, DecodeOptions]> = {
  'a chain of empty TLVs': [(size) => concat(GROUP, TLV_HEADER, repeated(size, [0x40, 0, 0, 0])), PAYLOAD],
  'a chain of TLVs that all hold cut packets': [
    (size) => concat(GROUP, TLV_HEADER, repeated(size, [0x20, 1, 0, 0, 0x45, 0, 0, 0])),
    PAYLOAD,
  ],
  'many reports of nothing': [(size) => concat(GROUP, repeated(size, [0, 0, 0, 0])), PAYLOAD],
  'many reports of nothing in an unmarked datagram': [
    (size) => udp(9999, concat(GROUP, repeated(size, [0, 0, 0, 0]))),
    {},
  ],
  'many reports with an empty TLV each': [
    (size) => concat(GROUP, repeated(size, [0x11, 3, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0])),
    PAYLOAD,
  ],
  'many reports, the last one unsound, in an unmarked datagram with the DSCP of INT': [
    (size) => udp(9999, concat(GROUP, repeated(size, [0, 0, 0, 0]), [0x33, 0, 0, 0]), 0x17),
    {},
  ],
  'many reports with a reserved type': [(size) => concat(GROUP, repeated(size, [0xf3, 0, 0, 0])), PAYLOAD],
  'many malformed reports': [(size) => concat(GROUP, repeated(size, [0, 1, 0, 0, 0, 0, 0, 0])), PAYLOAD],
  'a malformed report, then many whose lengths miss the end': [
    (size) => concat(GROUP, [0, 1, 0, 0, 0, 0, 0, 0], repeated(size, [0, 0, 0, 0]), [0]),
    PAYLOAD,
  ],
  'VLAN tags to the end': [(size) => concat(MACS, repeated(size, [0x81, 0, 0, 1])), PORT],
  'MPLS labels to the end': [(size) => concat(MACS, [0x88, 0x47], repeated(size, [0, 0, 0, 64])), PORT],
  'IPv6 extension headers to the end': [
    (size) =>
      concat(
        MACS,
        [0x86, 0xdd, 0x60, 0, 0, 0, ...u16(size), 60, 64],
        new Uint8Array(32),
        repeated(size, [60, 0, 0, 0, 0, 0, 0, 0]),
      ),
    PORT,
  ],
  'Geneve options to the end': [
    (size) => udp(6081, concat([63, 0, 0x65, 0x58, 0, 0, 0, 0], repeated(size, [0, 1, 0, 0]))),
    PORT,
  ],
  'destination shims in VXLAN-GPE to the end': [
    (size) =>
      udp(4790, concat([0x0c, 0, 0, 0x82, 0, 0, 0, 0], repeated(size, [0x20, 2, 0, 0x82, 0, 0, 0, 0, 0, 0, 0, 0]))),
    PORT,
  ],
  'an IntMon stack of 255 hops of 16 words': [
    (size) => {
      const hops = Math.min(255, Math.floor(size / 64));
      const header = [0, 16, hops, hops, 0xff, 0xff, 0, 0, ...u16(12 + hops * 64), 0, 80];
      const stack = new Uint8Array(hops * 64);
      if (hops > 0) stack[stack.length - 4] = 0x80;
      return udp(54321, concat(header, stack));
    },
    { profile: 'intmon' },
  ],
  'a probe with as many switches as fit': [
    (size) => {
      const switches = Math.min(255, Math.floor(size / 4));
      return udp(5017, concat([0, 0, 0, 0, ...u16(switches)], repeated(4 * switches, [1, 2, 0, 0]), [0, 0]));
    },
    {},
  ],
  'reports to the end of the frame, in the dialect that ignores their lengths': [
    (size) => udp(32766, concat(GROUP, repeated(size, [0x10, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]))),
    { profile: 'elhnoah-md-report', reportPorts: [32766] },
  ],
};

describe('the work of decoding', () => {
  test.each(Object.keys(HOSTILE))('grows no faster than the frame: %s', (name) => {
    const [make, options] = HOSTILE[name]!;
    const measured = [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000].map((size) => {
      const bytes = make(size);
      return { length: bytes.length, ...workOf(bytes, options) };
    });
    for (const { length, batch, objects, made } of measured) {
      // A report of four bytes is written to twenty columns; each byte is looked at a few times.
      expect(batch).toBeLessThanOrEqual(3 * length + 200);
      expect(objects).toBeLessThanOrEqual(3 * length + 200);
      expect(made).toBeLessThanOrEqual(length);
    }
    for (let k = 1; k < measured.length; k++) {
      const before = measured[k - 1]!;
      const now = measured[k]!;
      const growth = now.length / before.length;
      expect(now.batch).toBeLessThanOrEqual(growth * before.batch * 1.1 + 50);
      expect(now.objects).toBeLessThanOrEqual(growth * before.objects * 1.1 + 50);
    }
  });

  test('is bounded by the length for mutated frames of all kinds', () => {
    const random = new Random(SEED);
    const frames = corpus(SEED, 400);
    const settings: readonly DecodeOptions[] = [
      {},
      PORT,
      PAYLOAD,
      { profile: 'intmon' },
      { profile: 'int-afxdp-kafka' },
    ];
    let worst = 0;
    for (let run = 0; run < 4000; run++) {
      const input = mutate(random, frames);
      const { batch, objects } = workOf(input, random.pick(settings));
      worst = Math.max(worst, batch / (input.length + 40), objects / (input.length + 40));
    }
    expect(worst).toBeGreaterThan(0.1);
    expect(worst).toBeLessThan(3);
  });

  test('is what the count says: a quadratic scan would be seen', () => {
    const view = new DataView(new ArrayBuffer(64));
    const count = reads(() => {
      for (let a = 0; a < 64; a++) for (let b = 0; b < a; b++) view.getUint8(b);
    });
    expect(count).toBe((64 * 63) / 2);
    expect(reads(() => {})).toBe(0);
  });
});
