import { AddressError, type Flow } from '@int/codec';
import { parseIpv6 } from '@int/codec/internals';
import { FlowCache } from '@int/flowcache';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { checkAccounts } from '../accounting/accounts.js';
import { type Report, ReportBatch, recordOf } from '../cache/reports.js';
import { SEED } from '../seed.js';

const IPV4: Flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 6, sourcePort: 80, destinationPort: 65535 };
const IPV6: Flow = { ...IPV4, source: '2001:db8::1', destination: 'fe80::a:b' };

const reportOf = (flow: Flow | null, hops: Report['hops'] = [], isOk = true): Report => ({
  isOk,
  flow,
  nodeId: null,
  hops,
  timeNs: 0n,
});

function cacheWith(flows: readonly Flow[], accelerator = false): FlowCache {
  const cache = new FlowCache({ rows: 8, buckets: 8, hops: 2, accelerator });
  for (const flow of flows) cache.observe(recordOf(reportOf(flow)));
  return cache;
}

/** Ways to write the groups of an IPv6 address. */
const spelling: fc.Arbitrary<{ canonical: string; spelled: string }> = fc
  .record({
    groups: fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 }),
    isUpper: fc.boolean(),
    isPadded: fc.boolean(),
    isDotted: fc.boolean(),
    gap: fc.nat(7),
  })
  .map(({ groups, isUpper, isPadded, isDotted, gap }) => {
    const text = (group: number): string => group.toString(16).padStart(isPadded ? 4 : 1, '0');
    const [high, low] = groups.slice(6) as [number, number];
    const tail = isDotted ? [`${high >>> 8}.${high & 255}.${low >>> 8}.${low & 255}`] : groups.slice(6).map(text);
    const head = groups.slice(0, 6).map(text);
    // One run of zero groups may be left out, wherever it is.
    let end = gap;
    while (end < 6 && groups[end] === 0) end++;
    const isShort = gap < 6 && end > gap;
    const parts = [...head, ...tail];
    const spelled = isShort ? `${parts.slice(0, gap).join(':')}::${parts.slice(end).join(':')}` : parts.join(':');
    return {
      canonical: groups.map((group) => group.toString(16)).join(':'),
      spelled: isUpper ? spelled.toUpperCase() : spelled,
    };
  });

describe('a flow', () => {
  test('is found however its IPv6 addresses are written', () => {
    fc.assert(
      fc.property(spelling, spelling, fc.boolean(), (source, destination, isRemoved) => {
        expect(parseIpv6(source.spelled)).toEqual(parseIpv6(source.canonical));
        const plain: Flow = { ...IPV6, source: source.canonical, destination: destination.canonical };
        const spelled: Flow = { ...IPV6, source: source.spelled, destination: destination.spelled };
        const cache = new FlowCache({ rows: 3, buckets: 1, hops: 1, accelerator: false });
        cache.observe(recordOf(reportOf(spelled)));
        expect(cache.hashOf(spelled)).toBe(cache.hashOf(plain));
        const found = cache.get(plain);
        expect(found?.packets).toBe(1);
        // It is given in the one spelling of RFC 5952.
        expect(cache.get(found!.flow)).toEqual(found);
        cache.observe(recordOf(reportOf(plain)));
        expect([...cache].map(({ packets }) => packets)).toEqual([2]);
        if (isRemoved)
          expect(cache.remove(spelled)).toEqual({ ...cache.get(plain), ...found, packets: 2, reason: 'removed' });
      }),
      { seed: SEED, numRuns: runs(300) },
    );
  });

  test('of IPv4 is another one than that of the mapped IPv6 addresses', () => {
    const mapped = { ...IPV4, source: '::ffff:10.0.0.1', destination: '::ffff:10.0.0.2' };
    const compatible = { ...IPV4, source: 'a00:1::', destination: 'a00:2::' };
    const cache = cacheWith([IPV4, IPV4, mapped, mapped, mapped, compatible]);
    expect([IPV4, mapped, compatible].map((flow) => cache.get(flow)?.packets)).toEqual([2, 3, 1]);
    expect([...cache].map(({ flow }) => flow.source).sort()).toEqual(['10.0.0.1', '::ffff:10.0.0.1', 'a00:1::']);
  });

  test.each([false, true])('differs in any field from another one, accelerator %s', (accelerator) => {
    const variants: readonly Partial<Flow>[] = [
      {},
      { protocol: 7 },
      { protocol: 0 },
      { protocol: 255 },
      { sourcePort: 81 },
      { sourcePort: 0 },
      { sourcePort: 65535, destinationPort: 80 },
      { destinationPort: 0 },
    ];
    const flows = [
      ...variants.flatMap((variant) => [
        { ...IPV4, ...variant },
        { ...IPV6, ...variant },
      ]),
      { ...IPV4, source: IPV4.destination, destination: IPV4.source },
      { ...IPV6, source: '2001:db8::2' },
      { ...IPV6, source: '2001:db8:0:1::1' },
      { ...IPV6, destination: 'fe80::1:0:a:b' },
      { ...IPV6, destination: 'fe81::a:b' },
    ];
    const cache = new FlowCache({ rows: 4, buckets: 24, hops: 1, accelerator });
    flows.forEach((flow, index) => {
      for (let packet = 0; packet <= index; packet++) cache.observe(recordOf(reportOf(flow)));
    });
    expect(flows.map((flow) => cache.get(flow)?.packets)).toEqual(flows.map((_, index) => index + 1));
    expect(flows.map((flow) => cache.get(flow)?.flow)).toEqual(flows);
    expect(cache.totals().evictedEntries).toBe(0);
  });

  test('that is removed is gone, counted, and may come again', () => {
    for (const accelerator of [false, true]) {
      const cache = cacheWith([IPV4, IPV6, IPV4], accelerator);
      expect(cache.remove({ ...IPV4, protocol: 9 })).toBeUndefined();
      const entry = cache.get(IPV4)!;
      expect(cache.remove(IPV4)).toEqual({ ...entry, reason: 'removed' });
      expect(cache.remove(IPV4)).toBeUndefined();
      expect(cache.get(IPV4)).toBeUndefined();
      expect(cache.totals()).toMatchObject({ live: 1, removedEntries: 1, removedPackets: 2 });
      cache.observe(recordOf(reportOf(IPV4)));
      expect(cache.get(IPV4)?.packets).toBe(1);
      expect(cache.totals()).toMatchObject({ live: 2, inserted: 3, hits: 1 });
      checkAccounts(cache);
    }
  });

  test.each([
    { ...IPV4, source: IPV6.source },
    { ...IPV6, source: IPV4.source },
  ])('from $source to $destination is none', (mixed) => {
    const cache = cacheWith([IPV4]);
    const before = cache.totals();
    expect(() => cache.get(mixed)).toThrow(RangeError);
    expect(() => cache.remove(mixed)).toThrow(RangeError);
    expect(() => cache.hashOf(mixed)).toThrow(RangeError);
    expect(() => cache.observe(recordOf(reportOf(mixed)))).toThrow(RangeError);
    expect(cache.totals()).toEqual(before);
  });

  test.each(['', '10.0.0', '10.0.0.256', '1.2.3.04', 'localhost', '2001:db8', '::1%eth0', ':::'])(
    'from %j is none',
    (source) => {
      const cache = cacheWith([IPV4]);
      const before = cache.totals();
      const wrong = { ...(source.includes(':') ? IPV6 : IPV4), source };
      expect(() => cache.get(wrong)).toThrow(AddressError);
      expect(() => cache.remove(wrong)).toThrow(AddressError);
      expect(() => cache.observe(recordOf(reportOf(wrong)))).toThrow(AddressError);
      expect(cache.totals()).toEqual(before);
    },
  );
});

describe('a report', () => {
  test('without a flow, or that is none, is counted and nothing else', () => {
    const cache = cacheWith([IPV4]);
    const before = [...cache];
    cache.observe(recordOf(reportOf(null)));
    cache.observe(recordOf(reportOf(IPV4, [], false)));
    expect([...cache]).toEqual(before);
    expect(cache.totals()).toMatchObject({ offered: 3, noFlow: 1, notOk: 1, hits: 0 });
  });

  test('may have 255 hops', () => {
    const hopsOf = (count: number): Report['hops'] =>
      Array.from({ length: count }, (_, hop) => ({ nodeId: hop, values: { hopLatency: 1 } }));
    for (const accelerator of [false, true]) {
      const cache = cacheWith([], accelerator);
      cache.observe(recordOf(reportOf(IPV4, hopsOf(255))));
      expect(cache.get(IPV4)).toMatchObject({ packets: 1, pathLength: 255, hopsBeyond: 253, endToEnd: { last: 255 } });
      const before = cache.totals();
      for (const count of [256, 257]) {
        expect(() => cache.observe(recordOf(reportOf(IPV4, hopsOf(count))))).toThrow(RangeError);
      }
      expect(cache.totals()).toEqual(before);
    }
  });
});

describe('update', () => {
  test.each([
    [-1, 2],
    [0, 4],
    [2, 1],
    [0.5, 2],
    [0, 1.5],
    [Number.NaN, 2],
    [0, Number.POSITIVE_INFINITY],
  ])('refuses rows %d to %d of three', (from, to) => {
    const cache = cacheWith([]);
    const reports = new ReportBatch(5, 2);
    reports.fill([IPV4, IPV6, IPV4].map((flow) => reportOf(flow)));
    expect(() => cache.update(reports.batch, from, to)).toThrow(RangeError);
    expect(cache.totals().offered).toBe(0);
    cache.update(reports.batch, 1);
    expect(cache.totals().offered).toBe(2);
    cache.update(reports.batch, 3, 3);
    expect(cache.totals().offered).toBe(2);
  });
});
