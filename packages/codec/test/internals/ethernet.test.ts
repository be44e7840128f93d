/** Where the monitored packet's Ethernet header is: in the objects, in the `ethernet` column, and back in frames. */
import { reportRecords, telemetryRecord } from '@int/arbitraries';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LENGTH, runs } from '../../../../.ci/test/length.js';
import { formatMac, parseMac } from '../../src/address.js';
import { TelemetryBatch } from '../../src/batch.js';
import { BatchDecoder } from '../../src/batch-decoder.js';
import { NOT_AVAILABLE } from '../../src/columns.js';
import { encodeFrame } from '../../src/encode/frame.js';
import { decodeFrame } from '../../src/frame-decoder.js';
import { geneve, TUNNEL_PORT } from '../../src/headers/tunnels.js';
import { recordFromJson, recordToJson } from '../../src/json.js';
import type { TelemetryRecord } from '../../src/model.js';
import type { DecodeOptions } from '../../src/options.js';
import { buildReport, wrapEthernet } from '../fast-frames.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_121);

const concat = (...parts: readonly (Uint8Array | readonly number[])[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]));
const u16 = (value: number): number[] => [value >>> 8, value & 255];

/** Addresses that occur nowhere else in a frame, with a mark of what they belong to. */
const macs = (mark: number): Uint8Array =>
  Uint8Array.of(2, 0xde, 0xad, 0xbe, 0xef, mark, 2, 0xca, 0xfe, 0xba, 0xbe, mark);
const OUTER = macs(1);
const INNER = macs(2);
const indexOf = (frame: Uint8Array, piece: Uint8Array): number => Buffer.from(frame).indexOf(piece);

const batch = new TelemetryBatch({ frames: 1, reports: 64, hops: 16_000 });

/** The `ethernet` cells of the rows of a frame, which is put at a non-zero offset in a larger buffer. */
function cells(frame: Uint8Array, options: DecodeOptions): number[] {
  const lead = 7;
  const larger = new Uint8Array(frame.length + 20).fill(0xa5);
  larger.set(frame, 4 + lead);
  const bytes = larger.subarray(4, 4 + lead + frame.length);
  const rows = [true, false].map((fastPath) => {
    batch.clear();
    const decoder = new BatchDecoder({ ...options, fastPath });
    expect(decoder.decode(batch, { bytes, offsets: Uint32Array.of(lead), lengths: Uint32Array.of(frame.length) })).toBe(
      1,
    );
    return Array.from(batch.ethernet.subarray(0, batch.reports), (at, row) => {
      expect(batch.record(row).ethernetOffset).toBe(at === NOT_AVAILABLE ? null : at);
      return at === NOT_AVAILABLE ? -1 : at - lead;
    });
  });
  expect(rows[1]).toEqual(rows[0]);
  return rows[0]!;
}

const addresses = (of: Uint8Array): TelemetryRecord['ethernet'] => ({
  destination: formatMac(of),
  source: formatMac(of, 6),
});

/** IPv4 and UDP around a payload, without INT. */
function ip(payload: readonly number[] | Uint8Array, port = 9000, dscp = 0): Uint8Array {
  return concat(
    [0x45, dscp << 2, ...u16(28 + payload.length), 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2],
    [...u16(40_000), ...u16(port), ...u16(8 + payload.length), 0, 0],
    payload,
  );
}
const INT_MD = [0x14, 5, 1, 187, 0x20, 0, 1, 8, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2];
const GROUP = [0x20, 0, 0, 1, 0, 0, 0, 9];

/** An individual report of RepType 0, padded to words. */
function bare(innerType: number, packet: Uint8Array): Uint8Array {
  const words = Math.ceil(packet.length / 4);
  return concat([innerType, words, 0, 0x20], packet, new Uint8Array(words * 4 - packet.length));
}

const REPORT: DecodeOptions = { linkType: 'report' };
const INT: DecodeOptions = { reportPorts: [32_766] };

const CASES: readonly (readonly [what: string, frame: Uint8Array, options: DecodeOptions, at: readonly number[]])[] = [
  ['a packet with INT', concat(OUTER, [8, 0], ip(INT_MD, 5000)), INT, [0]],
  [
    'a packet with INT behind two VLAN tags',
    concat(OUTER, [0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 8, 0], ip(INT_MD, 5000)),
    INT,
    [0],
  ],
  [
    'a packet with INT in Linux cooked form',
    concat(new Uint8Array(14), [8, 0], ip(INT_MD, 5000)),
    { ...INT, linkType: 'linux-sll' },
    [-1],
  ],
  ['a packet with INT as raw IP', ip(INT_MD, 5000), { ...INT, linkType: 'raw' }, [-1]],
  ['a packet with broken INT', concat(OUTER, [8, 0], ip([0x14, 1, 0, 0, 0, 0, 0, 0], 5000)), INT, []],
  [
    'a report with a packet of the fast shape',
    buildReport({ bitmap: 0xf000, hops: 3, reportBits: 0x6000 }),
    REPORT,
    [28],
  ],
  ['a report with an IPv4 packet of the fast shape', buildReport({ bitmap: 0xf000, hops: 3, inType: 4 }), REPORT, [-1]],
  [
    'a frame with a report of the fast shape',
    wrapEthernet(buildReport({ bitmap: 0xf000, hops: 3 }), 32_766),
    INT,
    [62],
  ],
  ['a report with a tagged packet', concat(GROUP, bare(3, concat(INNER, [0x81, 0, 0, 5, 8, 0], ip([])))), REPORT, [12]],
  [
    'a report with a packet that is no IP',
    concat(GROUP, bare(3, concat(INNER, [8, 6], new Uint8Array(28)))),
    REPORT,
    [12],
  ],
  ['a report with 13 bytes of a packet', concat(GROUP, [3, 4, 0, 0x20], INNER, [8]), REPORT, [-1]],
  [
    'a report that is cut inside the packet',
    concat(GROUP, bare(3, concat(INNER, [8, 0], ip([])))).subarray(0, 30),
    REPORT,
    [12],
  ],
  ['a report without a packet', concat(GROUP, [0, 0, 0, 0]), REPORT, [-1]],
  [
    'an INT-XD report without a packet',
    concat(GROUP, [0x10, 3, 1, 0x20, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2]),
    REPORT,
    [-1],
  ],
  [
    'reports one of which has an Ethernet header',
    concat(GROUP, bare(4, ip([])), bare(3, concat(INNER, [8, 0], ip([]))), [0, 0, 0, 0]),
    REPORT,
    [-1, 8 + 4 + 28 + 4, -1],
  ],
  [
    'a report with an Ethernet packet in its second TLV',
    concat(
      GROUP,
      [0x11, 16, 0, 0x20, ...new Uint8Array(8)],
      [0, 1, 0, 0, 1, 2, 3, 4],
      [0x10, 11, 0, 0],
      INNER,
      [8, 0],
      ip([]),
      [0, 0],
    ),
    REPORT,
    [8 + 12 + 8 + 4],
  ],
  ['a report v1.0', concat([0x14, 0, 0, 1], new Uint8Array(12), INNER, [8, 0], ip([])), REPORT, [16]],
  ['a report v1.0 with an IPv4 packet', concat([0x14, 0x20, 0, 1], new Uint8Array(12), ip([])), REPORT, [-1]],
  ['a report v0.5', concat([0, 0x20, 0, 1], new Uint8Array(8), INNER, [8, 0], ip([])), REPORT, [12]],
];

describe('the Ethernet header of the monitored packet', () => {
  it.each(CASES)('is found, or known to be missing: %s', (_, frame, options, at) => {
    expect(cells(frame, options)).toEqual(at);
    const found = decodeFrame(frame, options);
    if (at.length === 0) expect(found[0]!.ethernet).toEqual(addresses(frame));
    else
      expect(found.map(({ ethernet }) => ethernet)).toEqual(
        at.map((p) => (p < 0 ? undefined : addresses(frame.subarray(p)))),
      );
  });

  it('of a packet that is neither INT nor a report is the one of the frame, whatever was tried on it', () => {
    for (const packet of [
      ip([]),
      ip(GROUP),
      ip([...GROUP, 3, 0, 0, 0], 9000, 0x17),
      concat([0x60], new Uint8Array(60)),
    ]) {
      const frame = concat(OUTER, packet[0] === 0x60 ? [0x86, 0xdd] : [8, 0], packet);
      const [record] = decodeFrame(frame);
      expect(record!.status).not.toBe('ok');
      expect(record!.ethernet).toEqual(addresses(OUTER));
    }
    expect(decodeFrame(OUTER)[0]!.ethernet).toBeUndefined();
  });

  it('in a tunnel is the one in front of the flow, not the one in front of the tunnel', () => {
    const option = { optionClass: 0x0103, type: 1, reserved: 0, data: Uint8Array.from(INT_MD.slice(4)) };
    const header = {
      version: 0,
      control: false,
      critical: false,
      reserved: 0,
      vni: 0,
      reserved2: 0,
      options: [option],
    };
    const teb = geneve.encode({ ...header, protocolType: 0x6558 });
    const plain = geneve.encode({ ...header, protocolType: 0x0800 });
    for (const [tunnel, at] of [
      [concat(teb, INNER, [8, 0], ip([])), 14 + 28 + teb.length],
      [concat(teb, INNER, [8, 6], ip([])), 14 + 28 + teb.length],
      [concat(teb, INNER, [8]), -1],
      [concat(plain, ip([])), -1],
    ] as const) {
      const frame = concat(OUTER, [8, 0], ip(tunnel, TUNNEL_PORT.GENEVE));
      const [record] = decodeFrame(frame, INT);
      expect(record!.status).toBe('ok');
      expect(record!.ethernet).toEqual(at < 0 ? undefined : addresses(INNER));
      expect(cells(frame, INT)).toEqual([at]);
    }
  });

  it('is written where the record names its addresses, and found there again', () => {
    let written = 0;
    let nowhere = 0;
    const named = addresses(INNER)!;
    const options = { sourceMac: formatMac(OUTER, 6), destinationMac: formatMac(OUTER) };
    const known: DecodeOptions = { reportPorts: [32_766] };
    fc.assert(
      fc.property(telemetryRecord({ options: known }), (one) => {
        // A TLV holds its packet as bytes.
        fc.pre(one.report?.tlvs === undefined);
        const frame = encodeFrame({ ...one, ethernet: named }, options);
        const at = indexOf(frame, INNER);
        const [record] = decodeFrame(frame, known);
        if (at < 0) nowhere++;
        else written++;
        expect(record!.ethernet).toEqual(at < 0 ? undefined : named);
        if (record!.report !== null || record!.int !== null) expect(cells(frame, known)).toEqual([at]);
        // One pair of addresses for the monitored packet, the other for what carries it.
        const carried = one.report !== null || ['vxlan-gpe', 'geneve'].includes(encapsulationOf(one));
        if (carried) expect(indexOf(frame, OUTER)).toBe(0);
        else if (encapsulationOf(one) !== 'gre') expect(indexOf(frame, OUTER)).toBe(-1);
      }),
      { seed: SEED, numRuns: runs(1500) },
    );
    expect(written).toBeGreaterThan(800 * LENGTH);
    expect(nowhere).toBeGreaterThan(100 * LENGTH);
  });

  it('is that of each report of a datagram', () => {
    fc.assert(
      fc.property(reportRecords(), (records) => {
        // Any reports but the last may be left out.
        const list = records.slice(0, 50).map((one, index) => ({ ...one, ethernet: addresses(macs(16 + index))! }));
        const frame = encodeFrame(list);
        const found = decodeFrame(frame, { reportPorts: [32_766] });
        const at = cells(frame, { reportPorts: [32_766] });
        found.forEach(({ ethernet, report }, index) => {
          if (report?.tlvs !== undefined) return;
          const where = indexOf(frame, macs(16 + index));
          expect(at[index]).toBe(where);
          expect(ethernet).toEqual(where < 0 ? undefined : addresses(macs(16 + index)));
        });
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('is no part of the JSON form', () => {
    const [record] = decodeFrame(concat(OUTER, [8, 0], ip(INT_MD, 5000)));
    expect(parseMac(record!.ethernet!.source)).toEqual(OUTER.subarray(6));
    const json = recordToJson(record!);
    expect(JSON.stringify(json)).not.toContain('ethernet');
    expect(recordFromJson(json).ethernet).toBeUndefined();
  });
});

function encapsulationOf({ int }: TelemetryRecord): string {
  return int === null || int.mode === 'gpint' ? 'none' : int.encapsulation;
}
