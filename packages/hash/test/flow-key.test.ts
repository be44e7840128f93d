import { crc32 as zlibCrc32 } from 'node:zlib';
import {
  CRC_16_ARC,
  CRC_32,
  CRC_32Q,
  type CrcParameters,
  crc32,
  createCrc,
  encodeFlowKey,
  FLOW_KEY_BYTES_IPV4,
  FLOW_KEY_BYTES_IPV6,
  type FlowColumns,
  flowCrc32Columns,
  flowCrc32Ipv4,
  flowCrc32Ipv6,
  flowXxh32Columns,
  flowXxh32Ipv4,
  flowXxh32Ipv6,
  writeFlowKeyIpv4,
  writeFlowKeyIpv6,
  xxh32,
} from '@int/hash';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { referenceCrc } from './crc-reference.js';
import { seed } from './seed.js';

const first = {
  source: Uint8Array.of(10, 0, 1, 1),
  destination: Uint8Array.of(10, 0, 2, 2),
  protocol: 17,
  sourcePort: 5000,
  destinationPort: 80,
};
const second = {
  source: Uint8Array.of(192, 168, 0, 1),
  destination: Uint8Array.of(192, 168, 0, 2),
  protocol: 6,
  sourcePort: 443,
  destinationPort: 51234,
};
const third = {
  source: Uint8Array.of(0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
  destination: Uint8Array.of(0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2),
  protocol: 17,
  sourcePort: 40000,
  destinationPort: 5000,
};

const IPV6 = 0x10;

interface Row {
  readonly ipv6: boolean;
  readonly words: [number, number, number, number, number, number, number, number];
  readonly protocol: number;
  readonly ports: number;
  readonly otherFlags: number;
}

const word = fc.integer({ min: 0, max: 0xffffffff });
const anyRow: fc.Arbitrary<Row> = fc.record({
  ipv6: fc.boolean(),
  words: fc.tuple(word, word, word, word, word, word, word, word),
  protocol: fc.nat(255),
  ports: word,
  otherFlags: word,
});

function columnsOf(rows: readonly Row[]): FlowColumns {
  const column = (index: number): Uint32Array => Uint32Array.from(rows, (row) => row.words[index]!);
  return {
    source0: column(0),
    source1: column(1),
    source2: column(2),
    source3: column(3),
    destination0: column(4),
    destination1: column(5),
    destination2: column(6),
    destination3: column(7),
    ports: Uint32Array.from(rows, (row) => row.ports),
    protocol: Uint8Array.from(rows, (row) => row.protocol),
    flags: Uint32Array.from(rows, (row) => (row.ipv6 ? row.otherFlags | IPV6 : row.otherFlags & ~IPV6)),
    ipv6Mask: IPV6,
  };
}

function keyOf(row: Row): Uint8Array {
  const key = new Uint8Array(row.ipv6 ? FLOW_KEY_BYTES_IPV6 : FLOW_KEY_BYTES_IPV4);
  if (row.ipv6) {
    writeFlowKeyIpv6(key, 0, ...row.words, row.protocol, row.ports);
  } else {
    writeFlowKeyIpv4(key, 0, row.words[0], row.words[4], row.protocol, row.ports);
  }
  return key;
}

describe('the flow key', () => {
  it('is 13 bytes for IPv4 and 37 for IPv6, in this order', () => {
    expect([...encodeFlowKey(first)]).toEqual([10, 0, 1, 1, 10, 0, 2, 2, 17, 0x13, 0x88, 0, 80]);
    expect([...encodeFlowKey(third)]).toEqual([...third.source, ...third.destination, 17, 0x9c, 0x40, 0x13, 0x88]);
  });

  it('is the same written from words, and nothing around it is touched', () => {
    fc.assert(
      fc.property(anyRow, fc.nat(6), fc.nat(6), (row, before, after) => {
        const size = row.ipv6 ? FLOW_KEY_BYTES_IPV6 : FLOW_KEY_BYTES_IPV4;
        const addressBytes = (words: number[]): Uint8Array =>
          Uint8Array.from(words.flatMap((value) => [value >>> 24, value >>> 16, value >>> 8, value]));
        const expected = encodeFlowKey({
          source: addressBytes(row.ipv6 ? row.words.slice(0, 4) : [row.words[0]]),
          destination: addressBytes(row.ipv6 ? row.words.slice(4) : [row.words[4]]),
          protocol: row.protocol,
          sourcePort: row.ports >>> 16,
          destinationPort: row.ports & 0xffff,
        });
        const buffer = new Uint8Array(before + size + after).fill(0xee);
        const written = row.ipv6
          ? writeFlowKeyIpv6(buffer, before, ...row.words, row.protocol, row.ports)
          : writeFlowKeyIpv4(buffer, before, row.words[0], row.words[4], row.protocol, row.ports);
        expect(written).toBe(size);
        expect([...buffer.subarray(before, before + size)]).toEqual([...expected]);
        expect([...buffer.subarray(0, before), ...buffer.subarray(before + size)]).toEqual(
          new Array(before + after).fill(0xee),
        );
      }),
      { seed },
    );
  });

  it.each([
    ['addresses of different families', { destination: third.destination }],
    ['an address of 5 bytes', { source: new Uint8Array(5), destination: new Uint8Array(5) }],
    ['a protocol above 255', { protocol: 256 }],
    ['a negative port', { sourcePort: -1 }],
    ['a port above 65535', { destinationPort: 65536 }],
    ['a fractional port', { destinationPort: 1.5 }],
  ])('refuses %s', (_, change) => {
    expect(() => encodeFlowKey({ ...first, ...change })).toThrow(RangeError);
  });

  it('is not written where it does not fit', () => {
    const buffer = new Uint8Array(40);
    expect(() => writeFlowKeyIpv4(buffer, 28, 1, 2, 3, 4)).toThrow(RangeError);
    expect(() => writeFlowKeyIpv4(buffer, -1, 1, 2, 3, 4)).toThrow(RangeError);
    expect(() => writeFlowKeyIpv6(buffer, 4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)).toThrow(RangeError);
    expect(() => writeFlowKeyIpv6(buffer, Number.NaN, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)).toThrow(RangeError);
    expect(buffer.every((byte) => byte === 0)).toBe(true);
  });
});

describe('the CRC-32 of a flow key', () => {
  it('has the values that switches compute', () => {
    expect(crc32(encodeFlowKey(first))).toBe(0xcf7ff369);
    expect(crc32(encodeFlowKey(second))).toBe(0x27b89a0a);
    expect(crc32(encodeFlowKey(third))).toBe(0x925b5908);
    expect(flowCrc32Ipv4(0x0a000101, 0x0a000202, 17, (5000 << 16) | 80)).toBe(0xcf7ff369);
    expect(flowCrc32Ipv4(0xc0a80001, 0xc0a80002, 6, (443 << 16) | 51234)).toBe(0x27b89a0a);
    expect(flowCrc32Ipv6(0x20010db8, 0, 0, 1, 0x20010db8, 0, 0, 2, 17, ((40000 << 16) | 5000) >>> 0)).toBe(0x925b5908);
  });

  it('equals zlib over the bytes, from words', () => {
    fc.assert(
      fc.property(anyRow, (row) => {
        const hash = row.ipv6
          ? flowCrc32Ipv6(...row.words, row.protocol, row.ports)
          : flowCrc32Ipv4(row.words[0], row.words[4], row.protocol, row.ports);
        expect(hash).toBe(zlibCrc32(keyOf(row)));
      }),
      { seed, numRuns: 500 },
    );
  });
});

describe('the xxh32 of a flow key', () => {
  it('equals xxh32 over the bytes, from words, with any seed', () => {
    fc.assert(
      fc.property(anyRow, word, (row, start) => {
        const hash = row.ipv6
          ? flowXxh32Ipv6(...row.words, row.protocol, row.ports, start)
          : flowXxh32Ipv4(row.words[0], row.words[4], row.protocol, row.ports, start);
        expect(hash).toBe(xxh32(keyOf(row), 0, undefined, start));
      }),
      { seed, numRuns: 500 },
    );
  });

  it('has seed 0 if none is given', () => {
    expect(flowXxh32Ipv4(1, 2, 3, 4)).toBe(flowXxh32Ipv4(1, 2, 3, 4, 0));
    expect(flowXxh32Ipv6(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)).toBe(flowXxh32Ipv6(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0));
  });
});

describe('whole columns of flow keys', () => {
  const anyRows = fc.array(anyRow, { maxLength: 40 });
  const mirrored: CrcParameters = { ...CRC_32, reflectOut: false };

  it('hash row by row as single keys do, and rows outside the range keep their values', () => {
    fc.assert(
      fc.property(anyRows, fc.nat(40), fc.nat(40), word, (rows, one, other, start) => {
        const from = Math.min(one, other, rows.length);
        const to = Math.min(Math.max(one, other), rows.length);
        const columns = columnsOf(rows);
        const expected = (hash: (key: Uint8Array) => number): number[] =>
          rows.map((row, index) => (index >= from && index < to ? hash(keyOf(row)) : 0xdeadbeef));
        const out = new Uint32Array(rows.length).fill(0xdeadbeef);
        flowCrc32Columns(columns, from, to, out);
        expect([...out]).toEqual(expected((key) => zlibCrc32(key)));
        for (const parameters of [CRC_32Q, CRC_16_ARC, mirrored]) {
          out.fill(0xdeadbeef);
          createCrc(parameters).flowColumns(columns, from, to, out);
          expect([...out]).toEqual(expected((key) => referenceCrc(parameters, key)));
        }
        out.fill(0xdeadbeef);
        flowXxh32Columns(columns, from, to, out, start);
        expect([...out]).toEqual(expected((key) => xxh32(key, 0, undefined, start)));
      }),
      { seed, numRuns: 60 },
    );
  });

  it('still hash right once V8 has optimised the loops', () => {
    const rows = fc.sample(anyRow, { seed, numRuns: 4096 });
    const columns = columnsOf(rows);
    const crcs = new Uint32Array(rows.length);
    const hashes = new Uint32Array(rows.length);
    for (let round = 0; round < 200; round++) {
      flowCrc32Columns(columns, 0, rows.length, crcs);
      flowXxh32Columns(columns, 0, rows.length, hashes, round);
    }
    expect([...crcs]).toEqual(rows.map((row) => zlibCrc32(keyOf(row))));
    expect([...hashes]).toEqual(rows.map((row) => xxh32(keyOf(row), 0, undefined, 199)));
  });

  it('refuse rows that are not inside the columns or the output', () => {
    const rows = fc.sample(anyRow, { seed, numRuns: 4 });
    const columns = columnsOf(rows);
    const out = new Uint32Array(4);
    for (const [from, to] of [
      [-1, 2],
      [0, 5],
      [3, 2],
      [0.5, 2],
      [0, Number.NaN],
    ] as const) {
      expect(() => flowCrc32Columns(columns, from, to, out)).toThrow(RangeError);
      expect(() => flowXxh32Columns(columns, from, to, out)).toThrow(RangeError);
    }
    expect(() => flowCrc32Columns(columns, 0, 4, new Uint32Array(3))).toThrow(RangeError);
    expect(() => flowXxh32Columns({ ...columns, protocol: new Uint8Array(3) }, 0, 4, out)).toThrow(RangeError);
    expect([...out]).toEqual([0, 0, 0, 0]);
  });
});
