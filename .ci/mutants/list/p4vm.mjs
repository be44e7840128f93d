// @ts-check
/** @type {readonly import('../list.mjs').Mutant[]} */
export const p4vm = [
  {
    id: 'p4vm-shift-by-32',
    file: 'packages/p4vm/src/machine/arithmetic.ts',
    find: 'return amount > 31 ? 0 : value >>> amount;',
    put: 'return amount > 32 ? 0 : value >>> amount;',
    defect: 'a logical shift by 32 does nothing',
    rare: true,
  },
  {
    id: 'p4vm-word-carry',
    file: 'packages/p4vm/src/compile/operators.ts',
    find: '> 4294967295 ? 1 : 0)`;',
    put: '>= 4294967295 ? 1 : 0)`;',
    defect: 'a word of all ones carries',
    rare: true,
  },
  {
    id: 'p4vm-odd-checksum',
    file: 'packages/p4vm/src/machine/packing.ts',
    find: 'sum += bytes[end]! << 8;',
    put: 'sum += bytes[end]!;',
    defect: 'the last byte of an odd number is the low one of its word',
  },
  {
    id: 'p4vm-truncate-twice',
    file: 'packages/p4vm/src/switch/packet-path.ts',
    find: 'if (truncate >= 0 && (current.truncate < 0 || truncate < current.truncate)) current',
    put: 'if (truncate >= 0) current',
    defect: 'the last length that a packet is cut to counts, not the least',
  },
  {
    id: 'p4vm-field-over-5-bytes',
    file: 'packages/p4vm/src/compile/bits.ts',
    find: '8 - trail} |',
    put: 'trail} |',
    defect: 'a field that touches five bytes is put together wrongly',
    rare: true,
  },
  {
    id: 'p4vm-range-signed',
    file: 'packages/p4vm/src/tables/ternary-index.ts',
    find: '(a >>> 0) - (b >>> 0)',
    put: 'a - b',
    defect: 'bounds of ranges from 2^31 on are negative',
    rare: true,
  },
  {
    id: 'p4vm-lowest-free-slot',
    file: 'packages/p4vm/src/tables/handle-slots.ts',
    find: 'this.#free.release(slot);',
    put: '',
    defect: 'slots that were released are not used again',
  },
];
