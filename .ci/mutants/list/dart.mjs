// @ts-check
/** @type {readonly import('../list.mjs').Mutant[]} */
export const dart = [
  {
    id: 'dart-region-borrow',
    file: 'packages/dart/src/rdma/regions.ts',
    find: 'lower += WORD_VALUES;\n      upper--;',
    put: 'lower += WORD_VALUES;',
    defect: 'an address below the base in its lower word is 2^32 too high',
    rare: true,
  },
  {
    id: 'dart-repeated-slot',
    file: 'packages/dart/src/store/plain-engine.ts',
    find: 'if (isRepeated(blockSlots, first, at)) continue;',
    put: '',
    defect: 'a slot that two hashes choose counts twice',
    rare: true,
  },
  {
    id: 'dart-tie-remembered',
    file: 'packages/dart/src/store/answer.ts',
    find: 'first = candidate;\n        isTied = false;',
    put: 'first = candidate;',
    defect: 'a tie of two values stays when a third one has more',
    rare: true,
  },
  {
    id: 'dart-remainder',
    file: 'packages/dart/src/store/plain-engine.ts',
    find: 'return rest >= count ? rest - count : rest;',
    put: 'return rest > count ? rest - count : rest;',
    defect: 'a hash that is a multiple of the slots leads to the slot behind the last',
    rare: true,
  },
  {
    id: 'dart-psn-window',
    file: 'packages/dart/src/rdma/queue-pairs.ts',
    find: 'if (ahead > this.#windows[(place',
    put: 'if (ahead >= this.#windows[(place',
    defect: 'a packet at the end of the window is stale',
  },
  {
    id: 'dart-second-base',
    file: 'packages/dart/src/node/checkpointer.ts',
    find: 'this.#touched[page] = 1;',
    put: '',
    defect: 'a second base checkpoint lacks pages that have not changed since the first',
    rare: true,
  },
  {
    id: 'dart-own-node-twice',
    file: 'packages/dart/src/reports/report-rows.ts',
    find: 'if (own !== NOT_AVAILABLE && own !== last) {',
    put: 'if (own !== NOT_AVAILABLE) {',
    defect: 'the reporting node is in a path twice if it is the last hop',
  },
];
