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
    find: 'const order = this.#order[index]! + (isFleeting ? 0 : this.#clock);',
    put: 'const order = (isFleeting ? 0 : this.#clock) - this.#order[index]!;',
    defect: 'the newest entry of a full log gives way, not the least recently seen',
  },
  {
    id: 'collector-released-size',
    file: 'packages/collector/src/statistics/busiest-keys.ts',
    find: 'this.size -= freed;',
    put: '',
    defect: 'released rows are not free for other nodes',
  },
  {
    id: 'collector-good-reports',
    file: 'packages/collector/src/delivery/delivery.ts',
    find: 'if (code[row] === 0) count++;',
    put: 'if (code[row]! >= 0) count++;',
    defect: 'reports that could not be decoded count as offered',
  },
  {
    id: 'collector-restart-missing',
    file: 'packages/collector/src/loss/sequence-tracker.ts',
    find: 'counts[at + COUNT.LOST]! += counts[at + COUNT.MISSING]!;',
    put: '',
    defect: 'what was missing when a reporter began anew is never counted as lost',
    rare: true,
  },
  {
    id: 'collector-ipv6-longest-run',
    file: 'packages/collector/src/records/ascii.ts',
    find: 'if (length > bestLength) {',
    put: 'if (length >= bestLength) {',
    defect: 'of two equal runs of zeros in an address the second is shortened',
    rare: true,
  },
];
