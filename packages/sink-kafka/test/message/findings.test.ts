import { NOT_AVAILABLE } from '@int/codec';
import { eventRecord, flowRecord, RecordIds } from '@int/collector';
import { EntryReader } from '@int/flowcache';
import { Topology } from '@int/network';
import { MessageSlab, MIN_SLAB_BYTES, makeEncoder } from '@int/sink-kafka';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyBatch } from '../../../../.ci/test/records/batches.js';
import { detectorOf, entries, eventSeeds, eventsOf } from '../../../../.ci/test/records/findings.js';
import { SEED } from '../seed.js';
import { existing } from './carried.js';
import { eventMessage, flowMessage, PROTO, plain, reportMessage } from './proto.js';

const detector = detectorOf(['latency', 'with "quotes" and \\', '\u00fcber \u{1f600}']);
const json = new MessageSlab({ messages: 64, bytes: MIN_SLAB_BYTES });
const protobuf = new MessageSlab({ messages: 64, bytes: MIN_SLAB_BYTES });

describe('events as messages', () => {
  it('say the same in both formats, with the flow of their report as key', () => {
    const encoders = [makeEncoder('json'), makeEncoder('protobuf')] as const;
    fc.assert(
      fc.property(anyBatch, eventSeeds, ({ batch }, seeds) => {
        existing(batch);
        const events = eventsOf(batch, detector, seeds);
        const reports = new MessageSlab({ messages: 64, bytes: MIN_SLAB_BYTES });
        const rows = Array.from({ length: batch.reports }, (_, row) => row).filter((row) => batch.code[row] === 0);
        encoders[1].reports(batch, 0, reports, new RecordIds());
        json.clear();
        protobuf.clear();
        const ids = new RecordIds('80000000deadbeef');
        const others = new RecordIds('80000000deadbeef');
        expect(encoders[0].events(events, 0, json, ids)).toBe(events.count);
        expect(encoders[1].events(events, 0, protobuf, others)).toBe(events.count);
        expect([json.count, protobuf.count, ids.next]).toEqual([events.count, events.count, events.count]);
        for (let row = 0; row < events.count; row++) {
          const record = eventRecord(events, row, ids.text(row));
          expect(Buffer.from(json.value(row)).toString()).toBe(JSON.stringify(record));
          expect(plain(PROTO.Event, protobuf.value(row))).toEqual(eventMessage(record));
          const report = rows.indexOf(events.report[row]!);
          for (const slab of [json, protobuf]) {
            expect(Buffer.from(slab.key(row))).toEqual(Buffer.from(reports.key(report)));
            expect([slab.kind[row], slab.timeMs[row]]).toEqual([1, reports.timeMs[report]]);
          }
        }
      }),
      { seed: SEED, numRuns: 100 },
    );
  });
});

describe('messages with names', () => {
  const switches = Object.fromEntries(
    Array.from({ length: 40 }, (_, id) => [
      id,
      { ...(id % 3 > 0 && { name: `sw-${id}-\u00fc` }), ports: { 1: { name: 'up' }, [id]: { name: `port ${id}` } } },
    ]),
  );
  const topology = new Topology({ switches });
  const encoders = [makeEncoder('json', topology), makeEncoder('protobuf', topology)] as const;
  const nodes = fc.array(fc.nat(50), { minLength: 64, maxLength: 64 });

  it('say the same in both formats', () => {
    fc.assert(
      fc.property(anyBatch, eventSeeds, nodes, ({ batch }, seeds, ids) => {
        existing(batch);
        // Most arbitrary ids are of no switch that there is.
        for (const column of [batch.hop.nodeId, batch.hop.l1IngressInterface, batch.hop.l1EgressInterface]) {
          for (let hop = 0; hop < batch.hops; hop++) if (column[hop] !== NOT_AVAILABLE) column[hop] = ids[hop % 64]!;
        }
        const events = eventsOf(batch, detector, seeds);
        for (let row = 0; row < events.count; row++) events.nodeId[row] = ids[row]!;
        const records: Record<string, unknown>[][] = [[], []];
        for (const [index, slab] of [json, protobuf].entries()) {
          slab.clear();
          const numbers = new RecordIds('80000000deadbeef');
          encoders[index]!.reports(batch, 0, slab, numbers);
          encoders[index]!.events(events, 0, slab, numbers);
          for (let row = 0; row < slab.count; row++) {
            const isEvent = slab.kind[row] === 1;
            if (index === 1) records[1]!.push(plain(isEvent ? PROTO.Event : PROTO.Report, slab.value(row)));
            else {
              const record = JSON.parse(Buffer.from(slab.value(row)).toString()) as never;
              records[0]!.push(isEvent ? eventMessage(record) : reportMessage(record));
            }
          }
        }
        expect(records[1]).toEqual(records[0]);
      }),
      { seed: SEED, numRuns: 100 },
    );
  });

  it('have names of the hops of flows', () => {
    const [{ words, at, count, geometry }] = fc.sample(entries, { numRuns: 1, seed: SEED }) as [
      typeof entries extends fc.Arbitrary<infer T> ? T : never,
    ];
    const [hop] = [at + geometry.hopsAt];
    words[hop] = 4;
    protobuf.clear();
    encoders[1].flows(words, at, count, geometry, 0, protobuf, new RecordIds());
    const { hops = [] } = plain(PROTO.FlowSummary, protobuf.value(0)) as { hops?: Record<string, unknown>[] };
    expect(hops.slice(0, 1).map(({ nodeId, nodeName }) => [nodeId, nodeName])).toEqual([[4, 'sw-4-\u00fc']]);
  });
});

describe('flows as messages', () => {
  it('say the same in both formats', () => {
    const encoders = [makeEncoder('json'), makeEncoder('protobuf')] as const;
    fc.assert(
      fc.property(entries, ({ words, at, count, geometry }) => {
        json.clear();
        protobuf.clear();
        const ids = new RecordIds('80000000deadbeef');
        const others = new RecordIds('80000000deadbeef');
        const reader = new EntryReader(geometry);
        expect(encoders[0].flows(words, at, count, geometry, 0, json, ids)).toBe(count);
        expect(encoders[1].flows(words, at, count, geometry, 0, protobuf, others)).toBe(count);
        for (let row = 0; row < count; row++) {
          const entry = reader.read(words, at + row * geometry.bucketStride);
          const record = flowRecord(entry, ids.text(row));
          expect(Buffer.from(json.value(row)).toString()).toBe(JSON.stringify(record));
          // A metric called nodeId takes the place of the id in JSON, and means are no numbers in words that are none.
          if (geometry.metrics.includes('nodeId') || JSON.stringify(record).includes('"mean":null')) continue;
          expect(plain(PROTO.FlowSummary, protobuf.value(row))).toEqual(flowMessage(record));
          expect([json.kind[row], json.key(row).length]).toEqual([2, record.flow.source.includes(':') ? 37 : 13]);
          expect(Buffer.from(protobuf.key(row))).toEqual(Buffer.from(json.key(row)));
          expect(protobuf.timeMs[row]).toBeCloseTo(Number(record.lastNs) / 1e6, -1);
        }
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('go on with the next slab where the last one was full', () => {
    const [{ words, at, count, geometry }] = fc.sample(
      entries.filter((made) => made.count === 3),
      { numRuns: 1, seed: SEED },
    ) as [typeof entries extends fc.Arbitrary<infer T> ? T : never];
    const encoder = makeEncoder('protobuf');
    const ids = new RecordIds();
    const one = new MessageSlab({ messages: 1, bytes: MIN_SLAB_BYTES });
    let from = 0;
    for (let next = 1; next <= count; next++) {
      one.clear();
      from = encoder.flows(words, at, count, geometry, from, one, ids);
      expect([from, one.count, ids.next]).toEqual([next, 1, next]);
    }
  });
});
