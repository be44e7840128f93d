// @ts-check
/** @type {readonly import('../list.mjs').Mutant[]} */
export const flowcache = [
  {
    id: 'flowcache-empty-rank',
    file: 'packages/flowcache/src/cache/ranks.ts',
    find: 'if (behind > rank && behind !== EMPTY_RANK)',
    put: 'if (behind > rank)',
    defect: 'removing a flow changes the rank of empty buckets',
    rare: true,
  },
  {
    id: 'flowcache-idle-time-signed',
    file: 'packages/flowcache/src/cache/flow-cache.ts',
    find: 'const lastLow = words[at + this.#last]! >>> 0;',
    put: 'const lastLow = words[at + this.#last]!;',
    defect: 'the lower half of a time has a sign',
    rare: true,
  },
  {
    id: 'flowcache-sum-carry',
    file: 'packages/flowcache/src/cache/plain-engine.ts',
    find: 'if ((after ^ -0x80000000) < (before ^ -0x80000000))',
    put: 'if (after < before)',
    defect: 'the carry of a 64-bit sum is that of signed words',
    rare: true,
  },
  {
    id: 'flowcache-retired-early',
    file: 'packages/flowcache/src/cache/plain-engine.ts',
    find: 'const FULL = -1;',
    put: 'const FULL = -2;',
    defect: 'an entry is handed on one packet before its counter is full',
    rare: true,
  },
  {
    id: 'flowcache-bin-of-large-value',
    file: 'packages/flowcache/src/distribution/tally.ts',
    find: '(x >>> octave) + first) | 0;',
    put: '(x >> octave) + first) | 0;',
    defect: 'values from 2^31 on fall into a bin below all',
    rare: true,
  },
  {
    id: 'flowcache-lost-events',
    file: 'packages/flowcache/src/cache/flow-cache.ts',
    find: "count(this.words, 'lostEvents', outbox.count - taken);",
    put: "count(this.words, 'lostEvents', outbox.count);",
    defect: 'events that were taken count as lost as well',
  },
  {
    id: 'flowcache-last-of-other-switch',
    file: 'packages/flowcache/src/cache/plain-engine.ts',
    find: 'words[node + lasts + metric] = NONE;',
    put: '',
    defect: 'the last value of a switch is compared with that of the one that took its place',
    rare: true,
  },
];
