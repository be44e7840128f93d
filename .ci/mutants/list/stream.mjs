// @ts-check
/** @type {readonly import('../list.mjs').Mutant[]} */
export const stream = [
  {
    id: 'stream-full-block',
    file: 'packages/stream/src/network/sequence-gaps.ts',
    find: 'if (mask === FULL && !this.#isNew && first === this.#highest + 1) {',
    put: 'if (mask === FULL && !this.#isNew) {',
    defect: 'a full block of sequence numbers hides the gap before it',
    rare: true,
  },
  {
    id: 'stream-below-in-a-row',
    file: 'packages/stream/src/network/queues.ts',
    find: 'this.#above++;\n      this.#below = 0;',
    put: 'this.#above++;',
    defect: 'windows below the threshold count towards the end of congestion though one above lies between',
    rare: true,
  },
  {
    id: 'stream-window-drops',
    file: 'packages/stream/src/flow/windows.ts',
    find: 'this.#drops[record] = 0;',
    put: '',
    defect: 'drops of a window before count in the window that takes its place',
  },
  {
    id: 'stream-quantile-rank',
    file: 'packages/stream/src/slice/buckets.ts',
    find: 'if (below >= rank)',
    put: 'if (below > rank)',
    defect: 'a quantile is that of the next value where a bucket ends with it',
    rare: true,
  },
  {
    id: 'stream-gap-split',
    file: 'packages/stream/src/network/sequence-gaps.ts',
    find: 'const after = gap.count - before - 1;',
    put: 'const after = gap.count - before;',
    defect: 'a number that fills a gap leaves it one too long behind itself',
  },
  {
    id: 'stream-sequence-wrap',
    file: 'packages/stream/src/network/sequence-gaps.ts',
    find: '(ahead < range / 2 ? ahead : ahead - range);\n  }\n\n  #takeBlock',
    put: 'ahead;\n  }\n\n  #takeBlock',
    defect: 'numbers behind the highest are far ahead of it',
    rare: true,
  },
  {
    id: 'stream-gap-window',
    file: 'packages/stream/src/network/sequence-gaps.ts',
    find: 'gaps[count]!.slice <= slice) count++;',
    put: 'gaps[count]!.slice < slice) count++;',
    defect: 'a gap is waited for one slice too long',
  },
];
