import { FLAG, HOP_COLUMNS, METRIC_NAMES, type MetricName, type TelemetryBatch } from '@int/codec';
import { flowXxh32Ipv4, flowXxh32Ipv6 } from '@int/hash';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { hopColumnsOf, MAX_SHARDS, SCATTER_BLOCK, Scatter, shardOf } from '../../../src/node/scatter.js';
import { makeSlots, slotBytes } from '../../../src/node/slot.js';
import { Random, randomReports } from '../../node/reports.js';
import { SEED } from '../../seed.js';

/** What a cache reads of a report. */
interface Seen {
  readonly flags: number;
  readonly protocol: number;
  readonly nodeId: number;
  readonly ports: number;
  readonly addresses: readonly number[];
  readonly hops: readonly (readonly number[])[];
  readonly time: bigint;
}

function read(batch: TelemetryBatch, columns: readonly number[], row: number): Seen {
  const flags = batch.flags[row]!;
  const { source0, source1, source2, source3, destination0, destination1, destination2, destination3 } = batch;
  const ipv4 = [source0, destination0];
  const ipv6 = [source0, source1, source2, source3, destination0, destination1, destination2, destination3];
  return {
    flags,
    protocol: batch.protocol[row]!,
    nodeId: batch.nodeId[row]!,
    ports: batch.ports[row]!,
    addresses: ((flags & FLAG.IPV6) === 0 ? ipv4 : ipv6).map((column) => column[row]!),
    hops: Array.from({ length: batch.hopCount[row]! }, (_, hop) =>
      columns.map((column) => batch.hopWords[column * batch.hopStride + batch.hopStart[row]! + hop]!),
    ),
    time: batch.isTimed ? batch.timeNs(row) : 0n,
  };
}

function hashOf(batch: TelemetryBatch, row: number, seed: number): number {
  const protocol = batch.protocol[row]!;
  const ports = batch.ports[row]!;
  const [a, e] = [batch.source0[row]!, batch.destination0[row]!];
  if ((batch.flags[row]! & FLAG.IPV6) === 0) return flowXxh32Ipv4(a, e, protocol, ports, seed);
  const [b, c, d] = [batch.source1[row]!, batch.source2[row]!, batch.source3[row]!];
  const [f, g, h] = [batch.destination1[row]!, batch.destination2[row]!, batch.destination3[row]!];
  return flowXxh32Ipv6(a, b, c, d, e, f, g, h, protocol, ports, seed);
}

describe('shardOf', () => {
  it('is the hash times the shards, divided by 2^32', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffffff }), fc.integer({ min: 1, max: MAX_SHARDS }), (hash, shards) => {
        expect(shardOf(hash, shards)).toBe(Number((BigInt(hash) * BigInt(shards)) >> 32n));
      }),
      { seed: SEED, numRuns: runs(2000) },
    );
    expect(shardOf(0xffffffff, MAX_SHARDS)).toBe(MAX_SHARDS - 1);
  });
});

describe('Scatter', () => {
  it('puts each report with a flow into the slots of its shard, in order and with all that a cache reads', () => {
    const metrics = fc.uniqueArray(fc.constantFrom<MetricName>(...METRIC_NAMES), { minLength: 1, maxLength: 8 });
    const cases = fc.record({
      random: fc.integer(),
      shards: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 7 })),
      metrics,
      seed: fc.integer({ min: 0, max: 0xffffffff }),
      reports: fc.integer({ min: 1, max: 600 }),
      slotReports: fc.constantFrom(1, 3, 64, 1000),
      odd: fc.constantFrom(0, 0, 0.2),
      hops: fc.constantFrom(1, 6, 60),
      order: fc.constantFrom('packed', 'gaps', 'scattered'),
      hasTimes: fc.boolean(),
      keepsFlowless: fc.boolean(),
    });
    fc.assert(
      fc.property(cases, (given) => {
        const { shards, seed, odd, hops, order, keepsFlowless } = given;
        const scattered = order === 'scattered';
        const traffic = { odd, hops, scattered, shuffledFrames: scattered, packed: order === 'packed' };
        const batch = randomReports(new Random(given.random), given.reports, traffic);
        batch.isTimed = given.hasTimes;
        const columns = hopColumnsOf(given.metrics);
        const scatter = new Scatter(shards, given.metrics, seed, keepsFlowless);
        const found: Seen[][] = Array.from({ length: shards }, () => []);
        const capacity = { reports: given.slotReports, hops: 256 };
        // The second one begins inside of the buffer; what a slot held before must not be seen in it again.
        const slots = makeSlots(capacity, 2, new SharedArrayBuffer(64 + 2 * slotBytes(capacity)), 64);
        const slot = slots[1]!;
        const empty = (shard: number): void => {
          expect(slot.hops).toBeLessThanOrEqual(capacity.hops);
          for (let row = 0; row < slot.reports; row++) {
            expect(slot.code[row]).toBe(0);
            found[shard]!.push(read(slot, columns, row));
          }
          slot.clear();
        };
        for (let from = 0; from < batch.reports; from += SCATTER_BLOCK) {
          scatter.sort(batch, from, Math.min(batch.reports, from + SCATTER_BLOCK));
          for (let shard = 0; shard < shards; shard++) {
            fillSlot(scatter, batch, shard, slot, () => empty(shard));
            empty(shard);
          }
        }
        const expected: Seen[][] = Array.from({ length: shards }, () => []);
        let notOk = 0;
        let noFlow = 0;
        for (let row = 0; row < batch.reports; row++) {
          const hasFlow = (batch.flags[row]! & FLAG.FLOW) !== 0;
          if (batch.code[row] !== 0) notOk++;
          else if (!hasFlow && !keepsFlowless) noFlow++;
          else expected[hasFlow ? shardOf(hashOf(batch, row, seed), shards) : 0]!.push(read(batch, columns, row));
        }
        expect(found).toEqual(expected);
        expect([scatter.notOk, scatter.noFlow]).toEqual([notOk, noFlow]);
      }),
      { seed: SEED, numRuns: runs(60) },
    );
  });

  it('reads node ids and hop latencies whatever the metrics, and both columns of a pair', () => {
    const names = (metrics: MetricName[]): string[] => hopColumnsOf(metrics).map((column) => HOP_COLUMNS[column]!);
    expect(names(['queueOccupancy'])).toEqual(['nodeId', 'hopLatency', 'queueOccupancy']);
    expect(names(['l2IngressInterface', 'hopLatency']).sort()).toEqual(
      ['nodeId', 'hopLatency', 'l2IngressInterface', 'l2EgressInterface'].sort(),
    );
  });

  it('spreads flows evenly, and in each shard over all rows', () => {
    const shards = 4;
    const rows = 64;
    const counts = new Uint32Array(shards * rows);
    const flows = 64 * 1024;
    for (let flow = 0; flow < flows; flow++) {
      const hash = flowXxh32Ipv4(0x0a000000 + flow, 0x0b000001, 17, 443);
      const cell = shardOf(hash, shards) * rows + (hash % rows);
      counts[cell] = counts[cell]! + 1;
    }
    // 256 flows a cell: six standard deviations of a binomial distribution.
    for (const count of counts) expect(Math.abs(count - flows / counts.length)).toBeLessThan(6 * 16);
  });
});

function fillSlot(
  scatter: Scatter,
  source: TelemetryBatch,
  shard: number,
  slot: TelemetryBatch,
  onFull: () => void,
): void {
  const count = scatter.counts[shard]!;
  for (let at = 0; at < count; ) {
    const copied = scatter.copy(source, shard, at, slot);
    if (copied === 0) onFull();
    at += copied;
  }
}
