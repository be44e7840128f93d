import { readFileSync } from 'node:fs';
import { reportPayload } from '@int/arbitraries';
import { BatchDecoder, TelemetryBatch } from '@int/codec';
import { type EventRecord, type FlowRecord, RECORD_KINDS, reportRecord } from '@int/collector';
import { indexTemplate } from '@int/sink-opensearch';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SEED } from './seed.js';

it.each(RECORD_KINDS)('publishes the template of %s as the sink puts it in place', (kind) => {
  const published = readFileSync(new URL(`../templates/${kind}.json`, import.meta.url), 'utf8');
  expect(JSON.parse(published)).toEqual(indexTemplate(kind));
});

it('makes templates for the names and sizes asked for', () => {
  const template = indexTemplate('flows', { prefix: 'lab.', rotate: 'none' }, { shards: 3, replicas: 0 });
  expect(template.index_patterns).toEqual(['lab.flows']);
  expect(template.template.settings).toMatchObject({ 'index.number_of_shards': 3, 'index.number_of_replicas': 0 });
});

/** Paths to all values of a record that are neither null nor empty. */
function paths(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => paths(each, path));
  if (typeof value !== 'object' || value === null) return value === null ? [] : [path];
  return Object.entries(value).flatMap(([name, each]) => paths(each, path === '' ? name : `${path}.${name}`));
}

/** Paths of all fields of a mapping, by type. */
function fields(mapping: unknown, path = ''): [string, string][] {
  const { properties = {} } = mapping as { properties?: Record<string, { type?: string }> };
  return Object.entries(properties).flatMap(([name, field]) =>
    field.type === undefined ? fields(field, `${path}${name}.`) : [[path + name, field.type] as [string, string]],
  );
}

it('maps every field that a report can have', () => {
  const known = new Map(fields(indexTemplate('reports').template.mappings));
  const seen = new Set<string>();
  fc.assert(
    fc.property(reportPayload(), ({ bytes }) => {
      const batch = new TelemetryBatch({ frames: 1 });
      const [offsets, lengths] = [Uint32Array.of(0), Uint32Array.of(bytes.length)];
      new BatchDecoder({ linkType: 'report' }).decode(batch, { bytes, offsets, lengths });
      for (let row = 0; row < batch.reports; row++) {
        if (batch.code[row] === 0) for (const path of paths(reportRecord(batch, row, 'x'), '')) seen.add(path);
      }
    }),
    { seed: SEED, numRuns: 300 },
  );
  expect([...seen].filter((path) => !known.has(path))).toEqual([]);
  expect(seen.size).toBeGreaterThan(40);
});

it('maps every field that events and flows have', () => {
  const flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 6, sourcePort: 1, destinationPort: 2 };
  const statistics = { last: 1, mean: 1.5, count: 2 };
  const event: EventRecord = {
    ...{ type: 'event', id: 'x', timeNs: '1', rule: 'r', detector: 'change', metric: 'hopLatency', scope: 'hop' },
    ...{ nodeId: 1, hop: 2, value: 3, previous: 4, threshold: 5, flow, path: [1] },
    ...{ state: 'once', firstSight: false },
    evidence: [{ aggregate: 'max', metric: 'hopLatency', value: 3, nodeId: 1, hop: 2 }],
  };
  const left: FlowRecord = {
    ...{ type: 'flow', id: 'x', reason: 'aged', flow, packets: 1, firstNs: '1', lastNs: '2', pathChanges: 3 },
    ...{ pathLength: 1, hopsBeyond: 0, endToEnd: statistics },
    hops: [{ nodeId: 1, hopLatency: statistics, queueOccupancy: statistics }],
  };
  for (const [kind, record] of [
    ['events', event],
    ['flows', left],
  ] as const) {
    const known = new Map(fields(indexTemplate(kind).template.mappings));
    expect(
      paths(record, '').filter((path) => !known.has(path)),
      kind,
    ).toEqual([]);
  }
});
