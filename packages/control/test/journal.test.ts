import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Journal, type WrittenChanges } from '@int/control';
import type { Entity } from '@int/p4runtime';
import { entry } from '@int/p4runtime/internals';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_128);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'int-journal-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const route = (destination: string, port: number): Entity =>
  entry(
    'routes',
    { destination: { kind: 'lpm', value: 0x0a01_0000n, length: 16 } },
    'send',
    { port },
    { metadata: new TextEncoder().encode(destination) },
  );

type Step = readonly [
  place: string,
  before: Entity | null,
  after: Entity | null,
  result?: 'done' | 'refused' | 'unknown',
];

const written = (owner: string, ...steps: readonly Step[]): WrittenChanges => ({
  switchId: 1,
  atMs: 1000,
  cause: { owner, reason: 'a test', incident: 'scan/7' },
  results: steps.map(([place, before, after, result = 'done']) => ({
    change: {
      switchId: 1,
      type: before === null ? 'insert' : after === null ? 'delete' : 'modify',
      before,
      after,
      intents: [`intent of ${place}`],
    },
    place,
    result,
    message: result === 'done' ? '' : 'no',
  })),
});

describe('a journal', () => {
  it('keeps who, why, when, before and after over restarts', async () => {
    const path = join(folder, 'journal');
    const first = await Journal.open(path);
    first.record(written('ann', ['a', null, route('a', 1)], ['b', route('b', 1), null, 'refused']));
    await first.close();
    const second = await Journal.open(path);
    expect(second.entries).toEqual(first.entries);
    expect(second.entries[0]).toEqual({
      id: 1,
      request: 1,
      atMs: 1000,
      cause: { owner: 'ann', reason: 'a test', incident: 'scan/7' },
      intents: ['intent of a'],
      switchId: 1,
      place: 'a',
      type: 'insert',
      before: null,
      after: { ...route('a', 1), metadata: new Uint8Array([97]) },
      result: 'done',
      message: '',
    });
    expect(second.record(written('bob', ['a', route('a', 1), null]))).toMatchObject([{ id: 3, request: 3 }]);
    await second.close();
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(4);
  });

  it('counts a line that a kill has cut off, at every byte, and goes on after it', async () => {
    const path = join(folder, 'journal');
    const journal = await Journal.open(path);
    journal.record(written('ann', ['a', null, route('a', 1)], ['b', null, route('b', 2)]));
    await journal.close();
    const bytes = readFileSync(path);
    const start = bytes.indexOf(10) + 1;
    const step = Math.ceil((bytes.length - start) / runs(400));
    for (let length = start + 1; length < bytes.length; length += step) {
      writeFileSync(path, bytes);
      truncateSync(path, length);
      const again = await Journal.open(path);
      expect(again.entries).toHaveLength(1);
      expect(again.file).toMatchObject({ damaged: 1 });
      again.record(written('bob', ['c', null, route('c', 3)]));
      await again.close();
      const last = await Journal.open(path);
      expect(last.entries.map(({ place }) => place)).toEqual(['a', 'c']);
      expect(last.file?.damaged).toBe(1);
      await last.close();
    }
  });

  it('reads no entry from a changed line', async () => {
    const path = join(folder, 'journal');
    const journal = await Journal.open(path);
    journal.record(written('ann', ['a', null, route('a', 1)], ['b', null, route('b', 2)]));
    await journal.close();
    const bytes = readFileSync(path);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const damaged = Uint8Array.from(bytes);
        damaged[at] = damaged[at]! ^ change;
        writeFileSync(path, damaged);
        const again = await Journal.open(path);
        for (const each of again.entries) expect(journal.entries).toContainEqual(each);
        expect(again.entries.length + (again.file?.damaged ?? 0)).toBeGreaterThanOrEqual(2 - Number(bytes[at] === 10));
        expect(again.entries.length).toBeLessThan(2);
        await again.close();
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });

  it('is bounded on disk and in memory', async () => {
    const path = join(folder, 'journal');
    const journal = await Journal.open(path, { maxBytes: 4096, files: 3, entries: 10 });
    for (let at = 0; at < 200; at++) {
      journal.record(written('ann', [`place ${at}`, null, route('a', at)]));
      await journal.flush();
    }
    expect(journal.entries.map(({ id }) => id)).toEqual(Array.from({ length: 10 }, (_, at) => 191 + at));
    expect(journal.file).toMatchObject({ written: 200, pending: 0, dropped: { full: 0, failed: 0 }, damaged: 0 });
    await journal.close();
    expect(readdirSync(folder).sort()).toEqual(['journal', 'journal.1', 'journal.2']);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(4096);
    appendFileSync(path, 'x'.repeat(3 << 20));
    const again = await Journal.open(path, { maxBytes: 4096, files: 3, entries: 10 });
    expect(again.entries.at(-1)?.id).toBe(200);
    expect(again.file?.damaged).toBe(1);
    expect(again.record(written('ann', ['a', null, route('a', 1)]))).toMatchObject([{ id: 201 }]);
    await again.close();
  });

  it('tells what it could not write', async () => {
    const journal = await Journal.open('/dev/full');
    journal.record(written('ann', ['a', null, route('a', 1)]));
    await journal.flush();
    expect(journal.file).toMatchObject({ written: 0, dropped: { failed: 1 }, error: expect.stringMatching(/ENOSPC/) });
    expect(journal.entries).toHaveLength(1);
    await journal.close();
  });
});

describe('undo', () => {
  it('restores what was before, the last change first', () => {
    const journal = new Journal();
    journal.record(written('ann', ['a', null, route('a', 1)], ['b', route('b', 1), route('b', 2)]));
    journal.record(written('ann', ['c', route('c', 1), null], ['d', null, route('d', 1), 'refused']));
    expect(journal.undo(1, 2, 3, 4)).toEqual({
      refusals: [],
      plan: [
        [{ switchId: 1, type: 'insert', before: null, after: route('c', 1), intents: ['intent of c'] }],
        [
          { switchId: 1, type: 'modify', before: route('b', 2), after: route('b', 1), intents: ['intent of b'] },
          { switchId: 1, type: 'delete', before: route('a', 1), after: null, intents: ['intent of a'] },
        ],
      ],
    });
  });

  it('is refused by name where somebody has changed the same since', () => {
    const journal = new Journal({ entries: 5 });
    journal.record(written('ann', ['a', null, route('a', 1)], ['b', null, route('b', 2)]));
    journal.record(written('bob', ['a', route('a', 1), route('a', 2)]));
    expect(journal.undo(1, 2)).toMatchObject({
      plan: [],
      refusals: [{ id: 1, by: 3, message: expect.stringMatching(/intent of a.*entry 3 of bob \(a test\)/) }],
    });
    expect(journal.undo(2)).toMatchObject({ refusals: [], plan: [[{ type: 'delete' }]] });
    // Both together are one step back.
    expect(journal.undo(1, 3).refusals).toEqual([]);
    // The same stands there again.
    journal.record(written('bob', ['a', route('a', 2), route('a', 1)]));
    expect(journal.undo(1).refusals).toEqual([]);
    journal.record(written('bob', ['a', route('a', 1), null, 'unknown']));
    expect(journal.undo(1).refusals).toMatchObject([{ by: 5 }]);
    expect(journal.undo(5).refusals).toMatchObject([{ by: null, message: expect.stringMatching(/did not say/) }]);
    journal.record(written('bob', ['z', null, route('z', 1)]));
    expect(journal.undo(1).refusals).toMatchObject([{ by: null, message: 'entry 1 is not remembered' }]);
  });
});
