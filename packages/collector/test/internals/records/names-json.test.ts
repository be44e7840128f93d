import type { TelemetryBatch } from '@int/codec';
import { eventRecord, flowRecord, RecordIds, reportRecord } from '@int/collector';
import { EventJson, FlowJson, RecordNames, ReportJson } from '@int/collector/internals';
import { EntryReader } from '@int/flowcache';
import { Topology, type TopologySpec } from '@int/network';
import { withNames } from '@int/network/internals';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { anyBatch } from '../../../../../.ci/test/records/batches.js';
import { detectorOf, entries, eventSeeds, eventsOf } from '../../../../../.ci/test/records/findings.js';
import { SEED } from '../../seed.js';

const ids = new RecordIds('00ff00ff12345678');
const NONE = 0xffffffff;
const NAMES = ['leaf-1', 'with "quotes" and \\', 'über \u{1f600}', 'x'.repeat(200)];

function text(bound: number, write: (view: DataView) => number): string {
  // Exactly the room that was promised.
  const view = new DataView(new ArrayBuffer(bound));
  return Buffer.from(view.buffer, 0, write(view)).toString('utf8');
}

/** A topology that names some of the ids, and some of the ports with and without a name of their own. */
function topologyOf(found: readonly number[], ports: readonly number[]): Topology {
  const known = [...new Set(found)].filter((id, index) => id !== NONE && (id + index) % 3 !== 0);
  const switches = Object.fromEntries(
    known.map((id, index): [string, NonNullable<TopologySpec['switches']>[string]] => [
      String(id),
      {
        ...(index % 4 !== 3 && { name: `${NAMES[index % NAMES.length]} ${id}` }),
        ports: Object.fromEntries(
          ports.map((port, k) => [String(port), k % 2 === 0 ? { name: `"eth${k}"` } : { to: String(known[0]) }]),
        ),
      },
    ]),
  );
  return new Topology({ switches });
}

function ofBatch(batch: TelemetryBatch): Topology {
  const { nodeId, l1IngressInterface, l1EgressInterface } = batch.hop;
  const hops = batch.hops;
  const found = [...nodeId.subarray(0, hops), ...batch.nodeId.subarray(0, batch.reports)];
  const ports = [...l1IngressInterface.subarray(0, hops), ...l1EgressInterface.subarray(0, hops)];
  return topologyOf(found, [...new Set(ports.filter((port) => port !== NONE))].slice(0, 50));
}

describe('records as JSON with names', () => {
  it('are what JSON.stringify makes of the reports with names', () => {
    let named = 0;
    fc.assert(
      fc.property(anyBatch, ({ batch }) => {
        const topology = ofBatch(batch);
        const writer = new ReportJson(new RecordNames(topology));
        for (let row = 0; row < batch.reports; row++) {
          if (batch.code[row] !== 0) continue;
          const written = text(writer.bound(batch, row), (view) => writer.write(view, 0, batch, row, ids, row));
          const record = withNames(reportRecord(batch, row, ids.text(row)), topology);
          expect(written).toBe(JSON.stringify(record));
          if (written.includes('"l1EgressName"') && written.includes('"pathNames"')) named++;
        }
      }),
      { seed: SEED, numRuns: runs(3000) },
    );
    expect(named).toBeGreaterThan(20);
  });

  it('are what JSON.stringify makes of the events with names', () => {
    const detector = detectorOf(['latency', 'with "quotes" and \\', 'über']);
    let named = 0;
    fc.assert(
      fc.property(anyBatch, eventSeeds, ({ batch }, seeds) => {
        const events = eventsOf(batch, detector, seeds);
        const topology = topologyOf(
          [...ofBatch(batch).switches.keys(), ...events.nodeId.subarray(0, events.count)],
          [],
        );
        const writer = new EventJson(new RecordNames(topology));
        for (let row = 0; row < events.count; row++) {
          const written = text(writer.bound(events, row), (view) => writer.write(view, 0, events, row, ids, row));
          expect(written).toBe(JSON.stringify(withNames(eventRecord(events, row, ids.text(row)), topology)));
          if (written.includes('"nodeName"')) named++;
        }
      }),
      { seed: SEED, numRuns: runs(2000) },
    );
    expect(named).toBeGreaterThan(5);
  });

  it('are what JSON.stringify makes of the flows with names', () => {
    let named = 0;
    fc.assert(
      fc.property(entries, ({ words, at, count, geometry }) => {
        const reader = new EntryReader(geometry);
        const records = Array.from({ length: count }, (_, record) =>
          flowRecord(reader.read(words, at + record * geometry.bucketStride), ids.text(record)),
        );
        const found = records.flatMap(({ hops }) =>
          hops.flatMap(({ nodeId }) => (typeof nodeId === 'number' ? nodeId : [])),
        );
        const topology = topologyOf(found, []);
        const writer = new FlowJson(geometry, new RecordNames(topology));
        for (const [index, record] of records.entries()) {
          const entry = at + index * geometry.bucketStride;
          const written = text(writer.bound, (view) => writer.write(view, 0, words, entry, ids, index));
          expect(written).toBe(JSON.stringify(withNames(record, topology)));
          if (written.includes('"nodeName"')) named++;
        }
      }),
      { seed: SEED, numRuns: runs(3000) },
    );
    expect(named).toBeGreaterThan(5);
  });
});
