import { readFileSync } from 'node:fs';
import { eventRecord, flowRecord, reportRecord } from '@int/collector';
import { EntryReader } from '@int/flowcache';
import { Topology } from '@int/network';
import { withNames } from '@int/network/internals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyBatch } from '../../../../.ci/test/records/batches.js';
import { detectorOf, entries, eventSeeds, eventsOf } from '../../../../.ci/test/records/findings.js';
import { SEED } from '../seed.js';
import { existing } from './carried.js';

const schema = JSON.parse(readFileSync(new URL('../../schema/int.schema.json', import.meta.url), 'utf8')) as Record<
  string,
  unknown
>;
const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema);

/** What the schema has against a value. */
function objections(value: unknown): unknown {
  return validate(value) ? null : validate.errors;
}

/** A topology that names switches, and their first ports. */
function naming(ids: readonly (number | null)[]): Topology {
  const ports = Object.fromEntries(Array.from({ length: 20 }, (_, port) => [String(port), { name: `p${port}` }]));
  const named = ids.filter((id) => id !== null && id !== 0xffffffff);
  return new Topology({ switches: Object.fromEntries(named.map((id) => [String(id), { name: `s-${id}`, ports }])) });
}

describe('the published JSON schema', () => {
  it('describes reports and events', () => {
    const detector = detectorOf(['latency', 'queue', 'path']);
    fc.assert(
      fc.property(anyBatch, eventSeeds, ({ batch }, seeds) => {
        existing(batch);
        for (let row = 0; row < batch.reports; row++) {
          if (batch.code[row] !== 0) continue;
          const report = reportRecord(batch, row, '0123456789abcdef-0');
          expect(objections(report)).toBe(null);
          expect(objections(withNames(report, naming(report.path)))).toBe(null);
        }
        const events = eventsOf(batch, detector, seeds);
        for (let row = 0; row < events.count; row++) {
          const record = eventRecord(events, row, '0123456789abcdef-17');
          expect(objections(record)).toBe(null);
        }
      }),
      { seed: SEED, numRuns: 100 },
    );
  });

  it('describes flows', () => {
    fc.assert(
      fc.property(entries, ({ words, at, count, geometry }) => {
        const reader = new EntryReader(geometry);
        for (let record = 0; record < count; record++) {
          const entry = reader.read(words, at + record * geometry.bucketStride);
          const flow = flowRecord({ ...entry, reason: 'aged' }, '0123456789abcdef-0');
          // Arbitrary words can be means that no cache makes, and a metric can be called nodeId.
          if (geometry.layout === 'compact' || geometry.metrics.includes('nodeId')) continue;
          expect(objections(flow)).toBe(null);
          const ids = flow.hops.map(({ nodeId }) => nodeId);
          expect(objections(withNames(flow, naming(ids)))).toBe(null);
        }
      }),
      { seed: SEED, numRuns: 100 },
    );
  });

  it('describes nothing else', () => {
    for (const value of [{}, { type: 'report' }, { type: 'other', id: '0123456789abcdef-0' }, [], null]) {
      expect(objections(value)).not.toBe(null);
    }
  });
});
