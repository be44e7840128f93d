import { readResults } from '@int/harness';
import { expect, it } from 'vitest';
import { membersOf, PARTS } from '../../../src/flowcache/parts.js';
import type { Results } from '../../../src/flowcache/results.js';

const RESULTS = readResults<Results>(new URL('../../../results/flowcache.json', import.meta.url).pathname);

it('knows the members of each part, and all that is measured', () => {
  expect(Object.keys(membersOf(RESULTS, ['events']))).toEqual(['rates', 'readers']);
  expect(membersOf(RESULTS, ['shards'])).toEqual({ shards: RESULTS.shards });
  const all = ['speed', 'reinserting', 'rates', 'readers', 'latency', 'shards', 'rounding'] as const;
  expect(membersOf(RESULTS, PARTS)).toEqual(Object.fromEntries(all.map((name) => [name, RESULTS[name]])));
});
