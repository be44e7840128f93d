import { describe, expect, it } from 'vitest';
import { FlowCache } from '../../../src/classify/flow-cache.js';
import { type MixPacket, writePackets } from '../../classify/mixes.js';

const BASE4: MixPacket = {
  version: 4,
  source: [0x0a000001],
  destination: [0x0a000002],
  sourcePort: 5000,
  destinationPort: 80,
  protocol: 17,
  sourceMac: 0,
  destinationMac: 0,
};
const BASE6: MixPacket = { ...BASE4, version: 6, source: [0x20010db8, 0, 0, 1], destination: [0x20010db8, 0, 0, 2] };
const PLACES = 1 << 16;
const NO_MACS = new Int32Array(6);

function place(outcome: number): number {
  return outcome >= 0 ? outcome : -1 - outcome;
}

/** A cache only asked where flows have their place, which depends on the flow alone. */
const PLACING = new FlowCache();

/** A flow that differs from the base in one field and has the same place. */
function rival(base: MixPacket, change: (value: number) => Partial<MixPacket>): MixPacket {
  const step = 512;
  for (let from = 1; from < 64 * PLACES; from += step) {
    const packets = Array.from({ length: step }, (_, i) => ({ ...base, ...change(from + i) }));
    const { batch } = writePackets([base, ...packets]);
    const at = place(PLACING.find(batch, 0, NO_MACS));
    const found = packets.findIndex((_, i) => place(PLACING.find(batch, i + 1, NO_MACS)) === at);
    if (found >= 0) return packets[found]!;
  }
  throw new Error('no flow shares the place');
}

function word(words: readonly number[], index: number, value: number): number[] {
  return words.map((old, i) => (i === index ? (old ^ value) >>> 0 : old));
}

describe('the flow cache', () => {
  it('keeps the outcome of a flow until it is cleared', () => {
    const cache = new FlowCache();
    const { batch } = writePackets([BASE4, BASE6, BASE4, BASE6]);
    for (const row of [0, 1]) {
      const miss = cache.find(batch, row, NO_MACS);
      expect(miss).toBeLessThan(0);
      cache.keep(miss, 7 + row);
    }
    expect(cache.outcome(cache.find(batch, 2, NO_MACS))).toBe(7);
    expect(cache.outcome(cache.find(batch, 3, NO_MACS))).toBe(8);
    cache.clear();
    expect(cache.find(batch, 2, NO_MACS)).toBeLessThan(0);
    expect(cache.find(batch, 3, NO_MACS)).toBeLessThan(0);
  });

  const fields: [string, MixPacket, (value: number) => Partial<MixPacket>][] = [
    ['IPv4 source', BASE4, (value) => ({ source: word(BASE4.source, 0, value) })],
    ['IPv4 destination', BASE4, (value) => ({ destination: word(BASE4.destination, 0, value) })],
    ['source port', BASE4, (value) => ({ sourcePort: (5000 + value) & 0xffff, destinationPort: 80 })],
    ['ports', BASE4, (value) => ({ sourcePort: 5000 ^ (value >>> 16), destinationPort: (80 + value) & 0xffff })],
    [
      'ports of IPv6',
      BASE6,
      (value) => ({ sourcePort: 5000 ^ (value >>> 16), destinationPort: (80 + value) & 0xffff }),
    ],
    ...[0, 1, 2, 3].flatMap((i): [string, MixPacket, (value: number) => Partial<MixPacket>][] => [
      [`word ${i} of an IPv6 source`, BASE6, (value) => ({ source: word(BASE6.source, i, value) })],
      [`word ${i} of an IPv6 destination`, BASE6, (value) => ({ destination: word(BASE6.destination, i, value) })],
    ]),
  ];
  it.each(fields)('tells flows of one place from each other by the %s', (_, base, change) => {
    const other = rival(base, change);
    const { batch } = writePackets([base, other]);
    const cache = new FlowCache();
    const first = cache.find(batch, 0, NO_MACS);
    cache.keep(first, 1);
    expect(cache.find(batch, 0, NO_MACS)).toBe(place(first));
    expect(cache.find(batch, 1, NO_MACS)).toBe(first);
  });

  it('tells flows of one place from each other by the protocol', () => {
    const cache = new FlowCache();
    let shared = 0;
    // A protocol is one of 256: another flow is taken until two protocols share its place.
    for (let source = 0; source < 1 << 17 && shared < 3; source++) {
      const base: MixPacket = { ...BASE4, source: [source] };
      const { batch } = writePackets(Array.from({ length: 32 }, (_, protocol) => ({ ...base, protocol })));
      cache.clear();
      const first = cache.find(batch, 0, NO_MACS);
      for (let row = 1; row < 32; row++) {
        if (place(PLACING.find(batch, row, NO_MACS)) !== place(first)) continue;
        expect(cache.find(batch, row, NO_MACS)).toBe(first);
        shared++;
      }
    }
    expect(shared).toBe(3);
  });

  it.each([BASE4, BASE6])('tells one flow under several MAC addresses, or unknown ones, apart: IPv$version', (base) => {
    const { batch } = writePackets([base]);
    const known = Int32Array.of(1, 10, 20, 30, 0, 0);
    for (const word of [1, 2, 3]) {
      const cache = new FlowCache();
      const first = cache.find(batch, 0, known);
      cache.keep(first, 1);
      expect(cache.find(batch, 0, known)).toBe(place(first));
      expect(cache.find(batch, 0, known.with(word, -1))).toBe(first);
    }
    const cache = new FlowCache();
    let shared = 0;
    // One in 65,536 flows has one place with and without its addresses.
    for (let flow = 0; flow < 1 << 20 && shared < 3; flow++) {
      batch.source0[0] = flow;
      cache.clear();
      const first = cache.find(batch, 0, NO_MACS);
      if (place(PLACING.find(batch, 0, known)) !== place(first)) continue;
      expect(cache.find(batch, 0, known)).toBe(first);
      shared++;
    }
    expect(shared).toBeGreaterThan(0);
  });
});
