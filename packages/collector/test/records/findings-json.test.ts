import { eventRecord, flowRecord, RecordIds } from '@int/collector';
import { EventJson, FlowJson } from '@int/collector/internals';
import { EntryReader } from '@int/flowcache';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyBatch } from '../../../../.ci/test/records/batches.js';
import { detectorOf, entries, eventSeeds, eventsOf } from '../../../../.ci/test/records/findings.js';
import { SEED } from '../seed.js';

const ids = new RecordIds('00ff00ff12345678');

function text(bound: number, write: (view: DataView) => number): string {
  // Exactly the room that was promised, at an odd offset.
  const view = new DataView(new ArrayBuffer(bound + 1), 1);
  return Buffer.from(view.buffer, 1, write(view)).toString('utf8');
}

describe('an event as JSON', () => {
  it('is what JSON.stringify makes of its object', () => {
    const writer = new EventJson();
    const detector = detectorOf(['latency', 'with "quotes" and \\', '\u00fcber \u{1f600}']);
    fc.assert(
      fc.property(anyBatch, eventSeeds, fc.maxSafeInteger(), ({ batch }, seeds, integer) => {
        const events = eventsOf(batch, detector, seeds);
        const number = Math.abs(integer);
        for (let row = 0; row < events.count; row++) {
          const written = text(writer.bound(events, row), (view) => writer.write(view, 0, events, row, ids, number));
          const record = eventRecord(events, row, ids.text(number));
          expect(written).toBe(JSON.stringify(record));
        }
      }),
      { seed: SEED, numRuns: 150 },
    );
  });
});

describe('a flow as JSON', () => {
  it('is what JSON.stringify makes of its object', () => {
    fc.assert(
      fc.property(entries, ({ words, at, count, geometry }) => {
        const writer = new FlowJson(geometry);
        const reader = new EntryReader(geometry);
        for (let record = 0; record < count; record++) {
          const entry = at + record * geometry.bucketStride;
          const written = text(writer.bound, (view) => writer.write(view, 0, words, entry, ids, record));
          expect(written).toBe(JSON.stringify(flowRecord(reader.read(words, entry), ids.text(record))));
        }
      }),
      { seed: SEED, numRuns: 300 },
    );
  });
});
