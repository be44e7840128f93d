import type { Arena } from '@int/codec';
import { FLAG } from '@int/codec';
import { REPORT_COLUMN, signed } from '@int/codec/internals';
import type { BatchView } from './batch-view.js';

const WAYS = 8;
/** Words of an entry: one cache line. */
const ENTRY_WORDS = 16;
/** Words of an entry: 0 to 3 are the key of an IPv4 flow, 0 to 9 that of an IPv6 flow. */
const WORD = { SOURCE: 0, DESTINATION: 1, PORTS: 2, META: 3, TICK: 10 } as const;
const IPV6_META = 0x100;

/** Entries of a table for so many flows, or switches. */
export function entriesFor(capacity: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(WAYS, capacity)));
}

/** How {@link FlowTable.find} found the entry. */
export const FOUND = { KNOWN: 0, NEW: 1, EVICTED: 2, AGED: 3 } as const;

/**
 * Flows by their exact 5-tuple, in sets of 8 entries. In a full set, the least recently seen flow gives way. The
 * entries are the cells of the flow state.
 */
export class FlowTable {
  /** How the last {@link find} went: see {@link FOUND}. */
  outcome: number = FOUND.KNOWN;
  /** Whether ticks are time; only then are entries ever idle for too long. */
  ages = false;
  readonly #tags: Int32Array;
  readonly #entries: Int32Array;
  readonly #setShift: number;
  readonly #sets: number;
  readonly #idleTicks: number;
  #sweepAt = 0;

  /**
   * @param capacity flows; rounded up to a power of two, at least 8
   * @param idleTicks entries not seen for longer are forgotten; 0: never
   */
  constructor(arena: Arena, capacity: number, idleTicks: number) {
    const count = entriesFor(capacity);
    this.#sets = count / WAYS;
    this.#setShift = 32 - Math.log2(this.#sets);
    this.#idleTicks = idleTicks;
    this.#tags = signed(arena.words(count));
    this.#entries = signed(arena.words(count * ENTRY_WORDS));
  }

  static byteLength(capacity: number): number {
    return entriesFor(capacity) * (1 + ENTRY_WORDS) * 4 + 128;
  }

  /**
   * The entry of the flow of a report row. Makes one if need be, and room for it; {@link outcome} says which.
   *
   * @param hash CRC-32 of the flow, as a signed word
   * @param tick now, 32 bits that may wrap
   */
  find(view: BatchView, row: number, hash: number, tick: number): number {
    const tag = hash === 0 ? 1 : hash;
    // With a single set the shift is 32, which JavaScript takes as 0.
    const set = this.#sets === 1 ? 0 : Math.imul(hash, 0x9e3779b1) >>> this.#setShift;
    const first = set * WAYS;
    const tags = this.#tags;
    for (let entry = first; entry < first + WAYS; entry++) {
      if (tags[entry] === tag && this.#isFlow(view, row, entry)) {
        const at = entry * ENTRY_WORDS + WORD.TICK;
        const idle = (tick - this.#entries[at]!) | 0;
        this.#entries[at] = tick;
        if (this.ages && this.#idleTicks !== 0 && idle > this.#idleTicks) {
          this.outcome = FOUND.AGED;
        } else this.outcome = FOUND.KNOWN;
        return entry;
      }
    }
    return this.#insert(view, row, first, tag, tick);
  }

  #isFlow(view: BatchView, row: number, entry: number): boolean {
    const { report, reportStride } = view;
    const entries = this.#entries;
    const at = entry * ENTRY_WORDS;
    let column = REPORT_COLUMN.SOURCE * reportStride + row;
    const destination = REPORT_COLUMN.DESTINATION * reportStride + row;
    const six = (report[REPORT_COLUMN.FLAGS * reportStride + row]! & FLAG.IPV6) !== 0;
    if (
      entries[at + WORD.SOURCE] !== report[column] ||
      entries[at + WORD.DESTINATION] !== report[destination] ||
      entries[at + WORD.PORTS] !== report[REPORT_COLUMN.PORTS * reportStride + row] ||
      entries[at + WORD.META] !== (view.protocol[row]! | (six ? IPV6_META : 0))
    ) {
      return false;
    }
    if (!six) return true;
    column += reportStride;
    return (
      entries[at + 4] === report[column] &&
      entries[at + 5] === report[column + reportStride] &&
      entries[at + 6] === report[column + 2 * reportStride] &&
      entries[at + 7] === report[destination + reportStride] &&
      entries[at + 8] === report[destination + 2 * reportStride] &&
      entries[at + 9] === report[destination + 3 * reportStride]
    );
  }

  #insert(view: BatchView, row: number, first: number, tag: number, tick: number): number {
    const tags = this.#tags;
    const entries = this.#entries;
    let victim = first;
    let oldest = -1;
    for (let entry = first; entry < first + WAYS; entry++) {
      if (tags[entry] === 0) {
        victim = entry;
        oldest = -1;
        break;
      }
      const idle = Math.max(0, (tick - entries[entry * ENTRY_WORDS + WORD.TICK]!) | 0);
      if (idle > oldest) {
        oldest = idle;
        victim = entry;
      }
    }
    const isIdle = this.ages && this.#idleTicks !== 0 && oldest > this.#idleTicks;
    this.outcome = tags[victim] === 0 ? FOUND.NEW : isIdle ? FOUND.AGED : FOUND.EVICTED;
    const { report, reportStride } = view;
    const at = victim * ENTRY_WORDS;
    const source = REPORT_COLUMN.SOURCE * reportStride + row;
    const destination = REPORT_COLUMN.DESTINATION * reportStride + row;
    const six = (report[REPORT_COLUMN.FLAGS * reportStride + row]! & FLAG.IPV6) !== 0;
    tags[victim] = tag;
    entries[at + WORD.SOURCE] = report[source]!;
    entries[at + WORD.DESTINATION] = report[destination]!;
    entries[at + WORD.PORTS] = report[REPORT_COLUMN.PORTS * reportStride + row]!;
    entries[at + WORD.META] = view.protocol[row]! | (six ? IPV6_META : 0);
    for (let word = 1; word < 4; word++) {
      entries[at + 3 + word] = six ? report[source + word * reportStride]! : 0;
      entries[at + 6 + word] = six ? report[destination + word * reportStride]! : 0;
    }
    entries[at + WORD.TICK] = tick;
    return victim;
  }

  /**
   * Frees the entries of up to `maxSets` sets that were idle for too long, going round the table from call to call.
   * @returns how many it freed
   */
  sweep(tick: number, maxSets: number): number {
    if (this.#idleTicks === 0) return 0;
    let freed = 0;
    for (let n = Math.min(maxSets, this.#sets); n > 0; n--) {
      for (let entry = this.#sweepAt * WAYS; entry < (this.#sweepAt + 1) * WAYS; entry++) {
        if (this.#tags[entry] === 0) continue;
        if (((tick - this.#entries[entry * ENTRY_WORDS + WORD.TICK]!) | 0) <= this.#idleTicks) continue;
        this.#tags[entry] = 0;
        freed++;
      }
      this.#sweepAt = this.#sweepAt + 1 === this.#sets ? 0 : this.#sweepAt + 1;
    }
    return freed;
  }
}
