import { checkKeys, checkValues } from '../store/checks.js';
import { DartStore } from '../store/dart-store.js';
import type { DartStoreOptions } from '../store/options.js';
import type { Policy } from '../store/policy.js';
import { type KeyRows, MAX_KEY_BYTES } from '../store/rows.js';
import type { Answer } from '../store/single.js';
import { Share } from './scatter.js';
import type { CollectorTable, DartCollector } from './table.js';

/** Rows that are spread at once. */
const BLOCK = 256;

/** The answer of a cluster. */
export interface ClusterAnswer extends Omit<Answer, 'status'> {
  /** `unavailable`: no collector that has the key is there. Otherwise as a store's. */
  readonly status: Answer['status'] | 'unavailable';
  /** Which collector answered; -1 for none. */
  readonly collector: number;
}

const UNAVAILABLE: ClusterAnswer = {
  status: 'unavailable',
  value: null,
  matching: 0,
  agreeing: 0,
  collector: -1,
};

/**
 * The stores of several collectors, reached by key. Writes go to the collector (or the two) that the table gives, as
 * switches send them; queries go to the first and, where it is gone or has no answer, to the second.
 *
 * A collector that dies takes its slots with it: with one replica, its keys are `unavailable`; with two, the second
 * answers for it, and goes on answering for what was written meanwhile after the first is back with empty slots.
 *
 * @example
 * const cluster = new DartCluster(new CollectorTable(collectors, 2), { copies: 2 });
 * cluster.write(key, value);
 * cluster.fail(0);
 * cluster.query(key);
 */
export class DartCluster {
  readonly table: CollectorTable;
  readonly #options: DartStoreOptions;
  readonly #stores: (DartStore | null)[];
  readonly #model: DartStore;
  readonly #shares: readonly Share[];
  #lost = 0;

  /**
   * Makes a store per collector.
   *
   * @param options of every store; slots, collectors and collector come from the table
   * @throws RangeError as `DartStore` does
   */
  constructor(
    table: CollectorTable,
    options: Omit<DartStoreOptions, 'slots' | 'memoryBytes' | 'collectors' | 'collector'> = {},
  ) {
    this.table = table;
    this.#options = options;
    this.#stores = table.collectors.map((collector) => this.#make(collector));
    this.#model = this.#stores[0]!;
    const { valueBytes } = this.#model.geometry;
    this.#shares = table.collectors.map(() => new Share(BLOCK, valueBytes));
  }

  /** Writes of keys (each replica is one) that went to a collector that was not there. */
  get lostWrites(): number {
    return this.#lost;
  }

  /** The store of a collector; null while it is not there. */
  store(collector: number): DartStore | null {
    this.#check(collector);
    return this.#stores[collector]!;
  }

  /** A collector is gone, and what it held. */
  fail(collector: number): void {
    this.#check(collector);
    this.#stores[collector] = null;
  }

  /**
   * A collector is back.
   *
   * @param store what it holds, such as a checkpoint that was restored; empty slots if absent
   * @throws TypeError for a store of other hashes or another geometry
   */
  restore(collector: number, store: DartStore = this.#make(this.table.collectors[collector]!)): void {
    this.#check(collector);
    const { geometry, hashes } = this.#model;
    const isSame =
      store.geometry.valueBytes === geometry.valueBytes &&
      store.geometry.checksumBits === geometry.checksumBits &&
      store.geometry.copies === geometry.copies &&
      store.geometry.slots === this.table.collectors[collector]!.slots &&
      JSON.stringify(store.hashes.parameters) === JSON.stringify(hashes.parameters);
    if (!isSame) throw new TypeError(`the store for collector ${collector} has another geometry or other hashes`);
    this.#stores[collector] = store;
  }

  /** The collectors of a key, first and second. */
  collectorsOf(key: Uint8Array): number[] {
    const { hashes } = this.#model;
    const second = this.table.secondary(hashes, key);
    const first = this.table.primary(hashes, key);
    return second < 0 ? [first] : [first, second];
  }

  /** See `DartStore.write`. */
  write(key: Uint8Array, value: Uint8Array): void {
    for (const collector of this.collectorsOf(key)) {
      const store = this.#stores[collector];
      if (store === null || store === undefined) this.#lost++;
      else store.write(key, value);
    }
  }

  /**
   * See `DartStore.writeRows`. Allocates nothing.
   *
   * @throws RangeError, before anything is written, for rows that are not there
   */
  writeRows(keys: KeyRows, values: Uint8Array, from = 0, to: number = keys.offsets.length): void {
    checkKeys(keys, from, to);
    checkValues(values, to, this.#model.geometry.valueBytes);
    for (let start = from; start < to; start += BLOCK)
      this.#writeBlock(keys, values, start, Math.min(start + BLOCK, to));
  }

  /**
   * See `DartStore.query`. A collector is asked again in the place of the first if that has no answer.
   *
   * @throws RangeError for a key that is too long
   */
  query(key: Uint8Array, policy: Policy = 'plurality'): ClusterAnswer {
    if (key.length > MAX_KEY_BYTES) throw new RangeError(`a key of ${key.length} bytes; at most ${MAX_KEY_BYTES}`);
    let answer = UNAVAILABLE;
    for (const collector of this.collectorsOf(key)) {
      const store = this.#stores[collector];
      if (store === null || store === undefined) continue;
      const found = { ...store.query(key, policy), collector };
      if (found.status === 'value') return found;
      if (answer === UNAVAILABLE) answer = found;
    }
    return answer;
  }

  #writeBlock(keys: KeyRows, values: Uint8Array, from: number, to: number): void {
    const { table } = this;
    const { hashes } = this.#model;
    const shares = this.#shares;
    for (const share of shares) share.clear();
    for (let row = from; row < to; row++) {
      const offset = keys.offsets[row]!;
      const length = keys.lengths[row]!;
      shares[table.primary(hashes, keys.bytes, offset, length)]!.add(keys, values, row);
      const second = table.secondary(hashes, keys.bytes, offset, length);
      if (second >= 0) shares[second]!.add(keys, values, row);
    }
    for (let collector = 0; collector < shares.length; collector++) {
      const share = shares[collector]!;
      const store = this.#stores[collector];
      if (store === null || store === undefined) this.#lost += share.rows;
      else store.writeRows(share.keys, share.values, 0, share.rows);
    }
  }

  #make({ id, slots }: DartCollector): DartStore {
    return new DartStore({ ...this.#options, slots, collectors: this.table.collectors.length, collector: id });
  }

  #check(collector: number): void {
    if (this.table.collectors[collector] === undefined) throw new RangeError(`there is no collector ${collector}`);
  }
}
