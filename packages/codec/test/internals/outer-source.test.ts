import type { LinkLayer } from '@int/codec';
import { OuterSource } from '@int/codec/internals';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';

const LINKS = ['ethernet', 'raw', 'linux-sll', 'linux-sll2'] as const;
const VLAN_TYPES = [0x8100, 0x88a8, 0x9100] as const;
const MPLS = 0x8847;

const word = (value: number): number[] => [value >>> 8, value & 0xff];

/** A link header that says what comes next. */
function linkHeader(link: LinkLayer, type: number): number[] {
  const zeros = (count: number): number[] => new Array<number>(count).fill(0);
  if (link === 'raw') return [];
  if (link === 'linux-sll') return [...zeros(14), ...word(type)];
  if (link === 'linux-sll2') return [...word(type), ...zeros(18)];
  return [...zeros(12), ...word(type)];
}

/** Tags and labels, each with what it is announced by, and behind them the type of IP. */
const tagged = (vlans: readonly number[], labels: number, ipType: number): { first: number; bytes: number[] } => {
  const types = [...vlans, ...(labels > 0 ? [MPLS] : [ipType])];
  const bytes = vlans.flatMap((_, at) => [0x20, 7, ...word(types[at + 1]!)]);
  for (let label = 0; label < labels; label++) bytes.push(0, 0x10, label === labels - 1 ? 1 : 0, 64);
  return { first: types[0]!, bytes };
};

describe('OuterSource', () => {
  test('finds the source address behind tags and labels, wherever the frame lies and is cut', () => {
    const outer = new OuterSource();
    let found = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...LINKS),
        fc.array(fc.constantFrom(...VLAN_TYPES), { maxLength: 3 }),
        fc.integer({ min: 0, max: 2 }),
        fc.oneof(fc.uint8Array({ minLength: 4, maxLength: 4 }), fc.uint8Array({ minLength: 16, maxLength: 16 })),
        fc.integer({ min: 0, max: 9 }),
        fc.integer({ min: 0, max: 100 }),
        (link, vlans, labels, address, offset, cut) => {
          const isIpv4 = address.length === 4;
          const tags = link === 'raw' ? { first: 0, bytes: [] } : tagged(vlans, labels, isIpv4 ? 0x0800 : 0x86dd);
          const before = [...linkHeader(link, tags.first), ...tags.bytes];
          const ip = isIpv4
            ? [0x45, ...new Array<number>(11).fill(0), ...address, 1, 2, 3, 4]
            : [0x60, ...new Array<number>(7).fill(0), ...address, ...new Array<number>(16).fill(9)];
          const frame = [...before, ...ip, ...new Array<number>(8).fill(0)];
          const length = Math.max(0, frame.length - cut);
          const bytes = Uint8Array.from([...new Array<number>(offset).fill(0xaa), ...frame]);
          const isFound = outer.find(bytes, offset, offset + length, link);
          expect(isFound).toBe(length >= before.length + ip.length);
          if (!isFound) return;
          found++;
          expect(bytes.subarray(outer.offset, outer.offset + outer.size)).toEqual(address);
        },
      ),
      { numRuns: runs(6400) },
    );
    expect(found).toBeGreaterThan(50);
  });

  test('finds nothing in other bytes, and never reads outside', () => {
    const outer = new OuterSource();
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 80 }),
        fc.constantFrom(...LINKS),
        fc.integer({ min: 0, max: 80 }),
        fc.integer({ min: 0, max: 90 }),
        (bytes, link, start, end) => {
          if (!outer.find(bytes, start, end, link)) return;
          expect(outer.offset).toBeGreaterThanOrEqual(start);
          expect(outer.offset + outer.size).toBeLessThanOrEqual(Math.min(end, bytes.length));
        },
      ),
      { numRuns: runs(6400) },
    );
    const arp = new Uint8Array(42);
    arp.set([0x08, 0x06], 12);
    expect(outer.find(arp, 0, arp.length, 'ethernet')).toBe(false);
    // A payload has no IP header, whatever its bytes look like.
    expect(outer.find(Uint8Array.of(0x45, ...new Array<number>(30).fill(1)), 0, 31, 'report')).toBe(false);
  });
});
