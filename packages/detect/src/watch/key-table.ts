/** The keys that a watch keeps apart, in a table of fixed size. */
import { FLAG, type MetricName, metricOf } from '@int/codec';
import { REPORT_COLUMN } from '@int/codec/internals';
import type { BatchView } from '../engine/batch-view.js';
import type { WatchKey } from './config.js';

/** Words of a key: of a hop, switch and queue or interface; of a flow, IP version and protocol, ports, addresses. */
const KEY_WORDS = { switch: 1, queue: 2, link: 2, flow: 10, all: 1 } as const satisfies Record<WatchKey, number>;
/** Of the meta word of a flow. */
export const IPV6_KEY = 0x100;

const SECOND_NS = 1e9;
const MIX = 0x9e3779b1;

/** The items of a hop that a key has beside the switch. */
export const KEY_METRICS: Readonly<Record<WatchKey, readonly MetricName[]>> = {
  switch: [],
  queue: ['queueId'],
  link: ['l1EgressInterface'],
  flow: [],
  all: [],
};

/** Whether a row may be given to another key. */
type MayForget = (row: number) => boolean;

/**
 * Rows of keys, numbered from 0 without gaps while the table fills. When it is full, keys that have not been seen for the idle time
 * make room, all together and at most once a second. A key that finds no room is not tracked, and that is counted.
 */
export class KeyTable {
  readonly key: WatchKey;
  readonly capacity: number;
  /** Rows used so far; some of them may be free again. */
  rows = 0;
  /** When each key was seen last: offset of the stream's time. */
  readonly seen: Float64Array;
  /** 1: the row has a key. */
  readonly isUsed: Uint8Array;
  /** Keys that were looked for and found no room. */
  untracked = 0;
  /** Keys that made room. */
  forgotten = 0;
  readonly #words: Int32Array;
  readonly #size: number;
  readonly #second: number;
  readonly #index: Int32Array;
  readonly #shift: number;
  readonly #idleNs: number;
  readonly #mayForget: MayForget;
  readonly #onForget: (row: number) => void;
  #free: number[] = [];
  #sweptAt = Number.NEGATIVE_INFINITY;
  readonly #wanted: Int32Array;

  /**
   * @param capacity keys
   * @param idleNs keys not seen for longer make room; 0: never
   * @param onForget called for the row of a key that makes room
   */
  constructor(
    key: WatchKey,
    capacity: number,
    idleNs: number,
    onForget: (row: number) => void,
    mayForget: MayForget = () => true,
  ) {
    this.key = key;
    this.capacity = key === 'all' ? 1 : capacity;
    this.seen = new Float64Array(this.capacity);
    this.isUsed = new Uint8Array(this.capacity);
    this.#size = KEY_WORDS[key];
    const [second] = KEY_METRICS[key];
    this.#second = second === undefined ? -1 : metricOf(second).columnIndex;
    this.#words = new Int32Array(this.capacity * this.#size);
    this.#wanted = new Int32Array(this.#size);
    const bits = Math.max(3, Math.ceil(Math.log2(this.capacity * 4)));
    this.#index = new Int32Array(2 ** bits).fill(-1);
    this.#shift = 32 - bits;
    this.#idleNs = idleNs;
    this.#onForget = onForget;
    this.#mayForget = mayForget;
  }

  /** Bytes that a table takes. */
  static byteLength(key: WatchKey, capacity: number): number {
    const rows = key === 'all' ? 1 : capacity;
    return rows * (9 + KEY_WORDS[key] * 4) + 2 ** Math.max(3, Math.ceil(Math.log2(rows * 4))) * 4;
  }

  /** A word of the key of a row. */
  word(row: number, word: number): number {
    return this.#words[row * this.#size + word]!;
  }

  /**
   * The row of a hop's switch, queue or link.
   * @param hop row of the hop columns
   * @returns -1 if the hop does not name it, -2 if there is no room
   */
  ofHop(view: BatchView, hop: number, time: number): number {
    const { hops } = view;
    const id = hops[hop]!;
    if (id === -1) return -1;
    if (this.#second < 0) return this.ofWords(id, 0, time);
    const second = hops[this.#second * view.hopStride + hop]!;
    return second === -1 ? -1 : this.ofWords(id, second, time);
  }

  /** The row of a key of one or two words; -2 if there is no room. */
  ofWords(first: number, second: number, time: number): number {
    const index = this.#index;
    const words = this.#words;
    const mask = index.length - 1;
    const isPair = this.#size === 2;
    for (let at = hashOf(first, second) >>> this.#shift; ; at = (at + 1) & mask) {
      const row = index[at]!;
      if (row < 0) break;
      if (isPair ? words[2 * row] === first && words[2 * row + 1] === second : words[row] === first) {
        this.seen[row] = time;
        return row;
      }
    }
    this.#wanted[0] = first;
    if (isPair) this.#wanted[1] = second;
    return this.#insert(time);
  }

  /** The row of a report's flow; -1 if the report does not name one, -2 if there is no room. */
  ofFlow(view: BatchView, report: number, time: number): number {
    const { report: columns, reportStride: stride } = view;
    const bits = columns[REPORT_COLUMN.FLAGS * stride + report]!;
    if ((bits & FLAG.FLOW) === 0) return -1;
    const isIpv6 = (bits & FLAG.IPV6) !== 0;
    const source = REPORT_COLUMN.SOURCE * stride + report;
    const destination = REPORT_COLUMN.DESTINATION * stride + report;
    const wanted = this.#wanted;
    wanted[0] = view.protocol[report]! | (isIpv6 ? IPV6_KEY : 0);
    wanted[1] = columns[REPORT_COLUMN.PORTS * stride + report]!;
    wanted[2] = columns[source]!;
    wanted[6] = columns[destination]!;
    // Of IPv4, the other words mean nothing.
    for (let word = 1; isIpv6 && word < 4; word++) {
      wanted[2 + word] = columns[source + word * stride]!;
      wanted[6 + word] = columns[destination + word * stride]!;
    }
    const index = this.#index;
    const mask = index.length - 1;
    for (let at = this.#hashOfWanted() >>> this.#shift; ; at = (at + 1) & mask) {
      const row = index[at]!;
      if (row < 0) return this.#insert(time);
      if (this.#isWanted(row)) {
        this.seen[row] = time;
        return row;
      }
    }
  }

  #hashOfWanted(): number {
    const wanted = this.#wanted;
    if (this.#size <= 2) return hashOf(wanted[0]!, this.#size === 2 ? wanted[1]! : 0);
    let hash = hashOf(wanted[2]! ^ wanted[1]!, wanted[6]! ^ wanted[0]!);
    if ((wanted[0]! & IPV6_KEY) === 0) return hash;
    for (let word = 3; word < this.#size; word++) hash = hashOf(wanted[word]!, hash);
    return hash;
  }

  #isWanted(row: number): boolean {
    const words = this.#words;
    const at = row * this.#size;
    const wanted = this.#wanted;
    if (words[at] !== wanted[0] || words[at + 1] !== wanted[1]) return false;
    if (words[at + 2] !== wanted[2] || words[at + 6] !== wanted[6]) return false;
    if ((wanted[0]! & IPV6_KEY) === 0) return true;
    for (let word = 3; word < this.#size; word++) if (words[at + word] !== wanted[word]) return false;
    return true;
  }

  #insert(time: number): number {
    let row = this.rows < this.capacity ? this.rows++ : (this.#free.pop() ?? -1);
    if (row < 0) {
      this.#makeRoom(time);
      row = this.#free.pop() ?? -1;
    }
    if (row < 0) {
      this.untracked++;
      return -2;
    }
    this.#words.set(this.#wanted, row * this.#size);
    this.seen[row] = time;
    this.isUsed[row] = 1;
    this.#enter(row);
    return row;
  }

  #enter(row: number): void {
    const index = this.#index;
    const mask = index.length - 1;
    let at = this.#hashOfWanted() >>> this.#shift;
    while (index[at]! >= 0) at = (at + 1) & mask;
    index[at] = row;
  }

  /** Frees the rows of idle keys, and builds the index anew. */
  #makeRoom(time: number): void {
    if (this.#idleNs === 0 || time - this.#sweptAt < SECOND_NS) return;
    this.#sweptAt = time;
    for (let row = 0; row < this.rows; row++) {
      if (this.isUsed[row] === 0 || time - this.seen[row]! <= this.#idleNs || !this.#mayForget(row)) continue;
      this.isUsed[row] = 0;
      this.forgotten++;
      this.#free.push(row);
      this.#onForget(row);
    }
    if (this.#free.length === 0) return;
    const wanted = this.#wanted.slice();
    this.#index.fill(-1);
    for (let row = 0; row < this.rows; row++) {
      if (this.isUsed[row] === 0) continue;
      this.#wanted.set(this.#words.subarray(row * this.#size, (row + 1) * this.#size));
      this.#enter(row);
    }
    this.#wanted.set(wanted);
  }
}

function hashOf(first: number, second: number): number {
  const mixed = Math.imul(first ^ Math.imul(second ^ (second >>> 15), 0x85ebca6b), MIX);
  return Math.imul(mixed ^ (mixed >>> 15), MIX);
}
