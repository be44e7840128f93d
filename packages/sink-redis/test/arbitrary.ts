import { type Flow, formatIpv4, formatIpv6, type MetricName } from '@int/codec';
import type { CacheGeometry, FlowEntry, FlowEvent, MetricStatistics } from '@int/flowcache';
import fc from 'fast-check';

const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const uint8 = fc.integer({ min: 0, max: 255 });
const port = fc.integer({ min: 0, max: 65535 });
/** Values that are not all ones, which would be 'not available'. */
const value = fc.integer({ min: 0, max: 2 ** 32 - 2 });
const nodeId = fc.option(value);
const time = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });

const ipv4 = fc.record({
  source: uint32.map(formatIpv4),
  destination: uint32.map(formatIpv4),
  protocol: uint8,
  sourcePort: port,
  destinationPort: port,
});
const address6 = fc
  .tuple(fc.constantFrom(0, 0x20010db8, 0xffffffff), fc.constantFrom(0, 1), fc.constantFrom(0, 0xffff, 7), uint32)
  .map((words) => formatIpv6(...words));
const ipv6 = fc.record({
  source: address6,
  destination: address6,
  protocol: uint8,
  sourcePort: port,
  destinationPort: port,
});

/** A flow of either version of IP. */
export const flow: fc.Arbitrary<Flow> = fc.oneof(ipv4, ipv6);

/** Events as a cache with these metrics can raise them. */
export function event(metrics: readonly MetricName[]): fc.Arbitrary<FlowEvent> {
  const kinds = fc.constantFrom<FlowEvent['kinds']>(['threshold'], ['change'], ['threshold', 'change']);
  const base = { value: uint32, threshold: uint32, timeNs: time, flow };
  const previousOf = <T extends { kinds: FlowEvent['kinds'] }>(
    made: T,
  ): fc.Arbitrary<T & { previous: number | null }> =>
    // A change has a previous value; for others, all ones stands for none.
    (made.kinds.includes('change') ? uint32 : fc.option(value)).map((previous) => ({ ...made, previous }));
  const hop = fc
    .record({
      kinds,
      scope: fc.constant('hop' as const),
      metric: fc.constantFrom(...metrics),
      hop: uint8,
      nodeId,
      ...base,
    })
    .chain(previousOf);
  const whole = fc
    .record({
      kinds,
      scope: fc.constant('endToEnd' as const),
      metric: fc.constant('hopLatency' as const),
      hop: fc.constant(null),
      nodeId: fc.constant(null),
      ...base,
    })
    .chain(previousOf);
  const path = fc.record({
    kinds: fc.constant(['pathChange'] as const),
    scope: fc.constant('endToEnd' as const),
    metric: fc.constant(null),
    hop: fc.constant(null),
    nodeId: fc.constant(null),
    ...base,
    previous: fc.option(uint8),
    threshold: fc.constant(null),
  });
  return fc.oneof(hop, whole, path);
}

/** What a cache of the exact layout can know of a metric; a count of 0 goes with nothing else. */
const exactStatistics: fc.Arbitrary<MetricStatistics> = fc
  .record({ last: fc.option(value), count: fc.oneof(fc.constant(0), uint32), sum: time })
  .map(({ last, count, sum }) =>
    count === 0 ? { last: null, mean: 0, count: 0, sum: 0n } : { last, mean: Number(sum) / count, count, sum },
  );

/** Entries as a cache of this geometry can hand them on. */
export function entry(geometry: CacheGeometry): fc.Arbitrary<FlowEntry> {
  const { hops, layout, metrics } = geometry;
  const isExact = layout === 'exact';
  const named = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<{ [K in MetricName]?: T }> =>
    fc.tuple(...metrics.map(() => one)).map((all) => Object.fromEntries(metrics.map((name, k) => [name, all[k]!])));
  const compactHop = fc.record({ count: uint32 }).chain(({ count }) =>
    fc.record({
      nodeId,
      metrics: named(
        fc
          .record({ last: fc.option(value), mean: fc.float({ min: 0, max: 2 ** 31, noNaN: true }) })
          .map(({ last, mean }) => ({ last, mean: count === 0 ? 0 : Math.abs(mean), count, sum: null })),
      ),
    }),
  );
  const hop = isExact ? fc.record({ nodeId, metrics: named(exactStatistics) }) : compactHop;
  return fc
    .record({
      flow: isExact ? flow : ipv4,
      reason: fc.constantFrom('evicted' as const, 'aged' as const, 'retired' as const, 'removed' as const),
      packets: uint32,
      firstNs: time,
      lastNs: time,
      pathChanges: uint32,
      hopsBeyond: isExact ? uint32 : fc.constant(null),
      endToEnd: isExact
        ? fc.option(
            fc
              .record({ last: uint32, count: fc.integer({ min: 1, max: 2 ** 32 - 1 }), sum: time })
              .map((made) => ({ ...made, mean: Number(made.sum) / made.count })),
          )
        : fc.constant(null),
      hops: fc.array(hop, { maxLength: hops }),
      beyond: fc.integer({ min: 0, max: 20 }),
      isShorter: fc.boolean(),
    })
    .map(({ beyond, isShorter, ...made }) => {
      const seen = made.hops.length;
      // More hops than are followed can only be if all that are followed were seen.
      const pathLength = isShorter ? Math.min(beyond, seen) : seen === hops ? seen + beyond : seen;
      return { ...made, pathLength, path: made.hops.slice(0, pathLength).map((each) => each.nodeId) };
    });
}
