import { checkKeys, checkValues } from '../store/checks.js';
import { DartStore } from '../store/dart-store.js';
import type { DartStoreOptions } from '../store/options.js';
import type { Policy } from '../store/policy.js';
import { type KeyRows, MAX_KEY_BYTES } from '../store/rows.js';
import type { Answer } from '../store/single.js';
import { Share } from './scatter.js';
import type { CollectorTable, DartCollector } from './table.js';

/** Rows distributed per block. */
const BLOCK = 256;

/** The answer of a cluster. */
export interface ClusterAnswer extends Omit<Answer, 'status'> {
  /** `unavailable`: no collector of the key is available. Otherwise the status of a store's answer. */
  readonly status: Answer['status'] | 'unavailable';
  /** The collector that answered; -1 for none. */
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
 * The stores of several collectors, addressed by key. Writes go to the one or two collectors of the table, as those of
 * switches do. Queries go to the first collector and, if it has failed or has no answer, to the second.
 *
 * A collector that fails loses its slots. With one replica, its keys are `unavailable`. With two, the second collector
 * answers. It goes on answering for keys written earlier after the first has returned with empty slots.
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
   * @param options of every store; the table gives slots, collectors and collector
   * @throws RangeError like `DartStore`
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

  /** Writes to failed collectors; each replica of a key counts one. */
  get lostWrites(): number {
    return this.#lost;
  }

  /** The store of a collector; null while it has failed. */
  store(collector: number): DartStore | null {
    this.#check(collector);
    return this.#stores[collector]!;
  }

  /** Marks a collector as failed; its store is dropped. */
  fail(collector: number): void {
    this.#check(collector);
    this.#stores[collector] = null;
  }

  /**
   * Marks a collector as available again.
   *
   * @param store its store, such as one restored from a checkpoint; empty slots if absent
   * @throws TypeError for a store with other hashes or another geometry
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
   * @throws RangeError, before anything is written, for rows outside the columns
   */
  writeRows(keys: KeyRows, values: Uint8Array, from = 0, to: number = keys.offsets.length): void {
    checkKeys(keys, from, to);
    checkValues(values, to, this.#model.geometry.valueBytes);
    for (let start = from; start < to; start += BLOCK)
      this.#writeBlock(keys, values, start, Math.min(start + BLOCK, to));
  }

  /**
   * See `DartStore.query`. If the first collector has no answer, the second is queried.
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
    for (const share of shares) share.rows = 0;
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
