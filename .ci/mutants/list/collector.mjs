// @ts-check
/** @type {readonly import('../list.mjs').Mutant[]} */
export const collector = [
  {
    id: 'collector-restart-late',
    file: 'packages/collector/src/loss/sequence-tracker.ts',
    find: 'counts[at + COUNT.LATE]!--;',
    put: '',
    defect: 'the first number after a restart counts as late as well',
  },
  {
    id: 'collector-decimal-quotient',
    file: 'packages/collector/src/records/ascii.ts',
    find: 'upper--;',
    put: '',
    defect: 'the quotient of a 64-bit number is one too large where it was rounded up',
    rare: true,
  },
  {
    id: 'collector-ageing-clock-back',
    file: 'packages/collector/src/flows/ageing.ts',
    find: '} else if (nowNs + this.#roundNs < this.#dueNs) {',
    put: '} else if (nowNs < 0n) {',
    defect: 'nothing is looked through until a clock that was set back has caught up',
    rare: true,
  },
  {
    id: 'collector-congestion-eviction',
    file: 'packages/collector/src/statistics/congestion-log.ts',
    find: 'if (this.#order[index]! < this.#order[entry]!) entry = index;',
    put: 'if (this.#order[index]! > this.#order[entry]!) entry = index;',
    defect: 'the newest entry of a full log gives way, not the oldest',
  },
  {
    id: 'collector-leap-over-window',
    file: 'packages/collector/src/loss/sequence-tracker.ts',
    find: 'const passed = Math.max(0, ahead - window);',
    put: 'const passed = Math.max(0, ahead - window - 1);',
    defect: 'a leap by more than the window counts one number as lost twice',
    rare: true,
  },
  {
    id: 'collector-queue-goes-round',
    file: 'packages/collector/src/delivery/flow-queue.ts',
    find: 'Math.min(most, this.count, this.#capacity - this.#head);',
    put: 'Math.min(most, this.count);',
    defect: 'records are read beyond the end of a queue that goes round',
    rare: true,
  },
  {
    id: 'collector-released-size',
    file: 'packages/collector/src/statistics/node-table.ts',
    find: 'this.#size -= freed;',
    put: '',
    defect: 'released rows are not free for other nodes',
  },
  {
    id: 'collector-good-reports',
    file: 'packages/collector/src/delivery/fan-out.ts',
    find: 'if (code[row] === 0) count++;',
    put: 'if (code[row]! >= 0) count++;',
    defect: 'reports that could not be decoded count as offered',
  },
];
