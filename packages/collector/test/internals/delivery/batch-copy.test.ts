import { BatchDecoder, TelemetryBatch } from '@int/codec';
import { Detector, EventBatch } from '@int/detect';
import { readRules } from '@int/detect/yaml';
import { expect, test } from 'vitest';
import { BatchCopy } from '../../../src/delivery/batch-copy.js';
import { slabOf } from '../../delivery/sources.js';
import { hop, report } from '../../reports.js';

const rules = (detect: string) =>
  readRules(`version: 1\nrules:\n  - { name: one, priority: 1, match: any, detect: ${detect} }\n`);

test('events in a copy are those that it was given, with their evidence', () => {
  const detector = new Detector(rules('{ complex: "max(hopLatency) > 500 and any(queueOccupancy) > 3" }'));
  const plain = new Detector(rules('{ threshold: { metric: hopLatency, threshold: 10 } }'));
  const copy = new BatchCopy();
  for (let turn = 1; turn < 4; turn++) {
    const frames = slabOf([1, 2, 3].map((node) => report(node, turn, [hop(node, 400 * node, 4), hop(9, 700, turn)])));
    const batch = new TelemetryBatch({ frames: 16, reports: 16, hops: 256 });
    new BatchDecoder({ linkType: 'report' }).decode(batch, frames);
    copy.copy(batch);
    const expected = [plain, detector].map((each) => {
      const events = new EventBatch();
      // Twice, as of a batch that is looked at in pieces.
      for (const [from, to] of [
        [0, 2],
        [2, 3],
      ] as const) {
        events.clear();
        each.detect(batch, events, from, to);
        copy.add(events);
      }
      events.clear();
      each.detect(batch, events);
      return [...events];
    });
    const copied = copy.events.map((events) => [...events]);
    expect(copied).toEqual(expected);
    expect(copied[1]?.map(({ evidence }) => evidence?.map(({ value, hop: at }) => [value, at]))).toEqual([
      [
        [700, 1],
        [4, 0],
      ],
      [
        [800, 0],
        [4, 0],
      ],
      [
        [1200, 0],
        [4, 0],
      ],
    ]);
  }
});
