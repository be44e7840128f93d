import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beginRun, contentOf, digestOf, mergeRows, readResults, writeResults } from '@int/harness';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'int-results-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const around = beginRun('benchmarks/src/decode.ts', ['--rounds', '3']);

interface Rows {
  readonly settings: { readonly rounds: number };
  readonly rows: readonly { readonly name: string; readonly ns: number }[];
}

const rows = (rounds: number, ...ns: readonly (readonly [string, number])[]): Rows => ({
  settings: { rounds },
  rows: ns.map(([name, value]) => ({ name, ns: value })),
});
const merge = (before: Rows, now: Rows): Rows => ({
  ...before,
  rows: mergeRows(({ name }) => name, before.rows, now.rows),
});

describe('a file of results', () => {
  it('says which program made it, of which commit, where and when', () => {
    const file = join(folder, 'head.json');
    const results = writeResults(file, around(), { value: 1 });
    expect(results).toMatchObject({
      program: 'benchmarks/src/decode.ts',
      arguments: ['--rounds', '3'],
      node: process.version,
      machine: { cpus: expect.any(Number), loadBefore: expect.any(Number), loadAfter: expect.any(Number) },
      value: 1,
    });
    expect(results.commit).toMatch(/^[\da-f]{40}$/);
    expect(typeof results.isTreeClean).toBe('boolean');
    expect(new Date(results.date!).toISOString()).toBe(results.date);
    expect(contentOf(results)).toEqual({ value: 1 });
    expect(readResults(file)).toEqual(results);
  });

  it('is refused once a figure, or its head, is edited', () => {
    const file = join(folder, 'edited.json');
    writeResults(file, around(), rows(3, ['a', 12.5]));
    const text = readFileSync(file, 'utf8');
    for (const [from, to] of [
      ['12.5', '12.4'],
      [process.version, 'v1.0.0'],
      ['"a"', '"b"'],
      ['"--rounds"', '"--short"'],
    ] as const) {
      expect(text).toContain(from);
      writeFileSync(file, text.replace(from, to));
      expect(() => readResults(file), from).toThrow('is not as benchmarks/src/decode.ts wrote it');
    }
    // Spaces are no figures.
    writeFileSync(file, JSON.stringify(JSON.parse(text)));
    expect(digestOf(readResults(file))).toBe((JSON.parse(text) as { digest: string }).digest);
  });

  it('rounds what is not whole, and keeps lists of numbers on a line', () => {
    const file = join(folder, 'rounded.json');
    const results = writeResults(file, around(), { list: [1 / 3, 2e-9, 12_345_678], text: '[\n 1 ]' }, { digits: 3 });
    expect(results).toMatchObject({ list: [0.333, 2e-9, 12_345_678], text: '[\n 1 ]' });
    expect(readFileSync(file, 'utf8')).toContain('"list": [0.333, 2e-9, 12345678]');
  });

  it('has no content that is called like its head', () => {
    expect(() => writeResults(join(folder, 'no.json'), around(), { machine: 'mine' })).toThrow('machine');
  });
});

describe('a run of some parts', () => {
  it('replaces them, says how they were measured, and leaves the rest as it is', () => {
    const file = join(folder, 'parts.json');
    const first = writeResults(file, around(), rows(15, ['a', 1], ['b', 2]));
    const later = beginRun('benchmarks/src/decode.ts', ['--only', 'b,c'])();
    const merged = writeResults(file, later, rows(3, ['b', 5], ['c', 6]), { merging: { parts: ['b', 'c'], merge } });
    expect(contentOf(merged)).toEqual(rows(15, ['a', 1], ['b', 5], ['c', 6]));
    expect(merged).toMatchObject({ date: first.date, arguments: first.arguments });
    expect(merged.parts).toMatchObject({
      b: { arguments: ['--only', 'b,c'], date: later.date, settings: { rounds: 3 } },
      c: { settings: { rounds: 3 } },
    });
    expect(readResults(file)).toEqual(merged);
  });

  it('is a file of its own if there is none, and a whole run forgets parts', () => {
    const file = join(folder, 'alone.json');
    const merging = { parts: ['a'], merge };
    expect(contentOf(writeResults(file, around(), rows(3, ['a', 1]), { merging }))).toEqual(rows(3, ['a', 1]));
    expect(writeResults(file, around(), rows(3, ['a', 2]), { merging }).parts).toHaveProperty('a');
    const whole = writeResults<Rows>(file, around(), rows(3, ['z', 9]), { merging: { parts: null, merge } });
    expect(whole).not.toHaveProperty('parts');
    expect(contentOf(whole)).toEqual(rows(3, ['z', 9]));
  });

  it('does not go into a file that somebody has edited', () => {
    const file = join(folder, 'spoilt.json');
    writeResults(file, around(), rows(3, ['a', 1.5]));
    writeFileSync(file, readFileSync(file, 'utf8').replace('1.5', '1.4'));
    const merging = { parts: ['b'], merge };
    expect(() => writeResults(file, around(), rows(3, ['b', 1]), { merging })).toThrow(
      'only a run may change a figure',
    );
  });
});
