import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { mergeParts, PARTS, partsOf, type ResultsFile } from '../../src/flowcache/parts.js';

const RESULTS: ResultsFile = JSON.parse(readFileSync(new URL('../../results/flowcache.json', import.meta.url), 'utf8'));

/** What a run of the shards alone has measured. */
const ALONE: ResultsFile = {
  date: '2030-01-01T00:00:00.000Z',
  node: 'v99',
  v8: '99',
  accelerator: '9',
  machine: { cpu: 'another' },
  settings: { rounds: 1 },
  speed: [],
  reinserting: null,
  rates: [],
  readers: [],
  latency: [],
  shards: [{ shards: 0, reportsPerSecond: 1 }],
  rounding: [],
  targets: { 'a new one': true },
};

it('replaces the parts that were measured alone, and says where and when; all else stays', () => {
  const merged = mergeParts(RESULTS, ALONE, ['shards']);
  const { shards, measuredAlone, targets, ...rest } = merged;
  expect(shards).toEqual(ALONE.shards);
  const { shards: _, measuredAlone: before, targets: known, ...others } = RESULTS;
  expect(rest).toEqual(others);
  expect(targets).toEqual({ ...known, 'a new one': true });
  const { date, node, v8, kernel, machine, settings } = ALONE;
  expect(measuredAlone).toEqual({ ...before, shards: { date, node, v8, kernel, machine, settings } });
  const again = mergeParts(merged, { ...ALONE, latency: [1] }, ['latency']);
  expect(Object.keys(again.measuredAlone ?? {})).toEqual([...Object.keys(before ?? {}), 'shards', 'latency']);
  expect([again.shards, again.latency]).toEqual([ALONE.shards, [1]]);
});

it('knows every part of the file, and no others', () => {
  const all = mergeParts(RESULTS, ALONE, PARTS);
  for (const name of ['speed', 'reinserting', 'rates', 'readers', 'latency', 'shards', 'rounding']) {
    expect(all[name], name).toEqual(ALONE[name]);
  }
  expect(partsOf('shards,latency')).toEqual(['shards', 'latency']);
  expect(() => partsOf('shards,bytes')).toThrow('--only takes speed, events, latency, shards, rounding, not "bytes"');
});
