import type { AcceleratorEngine } from '../accelerator/accelerator-engine.js';
import { makeAcceleratorEngine } from '../accelerator/make-accelerator-engine.js';
import { HEADER, type StoreGeometry, whole } from '../layout.js';
import type { RdmaTarget } from '../rdma/target.js';
import { checkAnswers, checkKeys, checkValues } from './checks.js';
import type { StoreEngine } from './engine.js';
import { cutChecksum, KeyHashes } from './hashes.js';
import { writeHeader } from './header.js';
import { type DartStoreOptions, resolveOptions } from './options.js';
import { PlainEngine } from './plain-engine.js';
import { type Policy, policyNumber } from './policy.js';
import type { AnswerRows, KeyRows } from './rows.js';
import { addToCounter, readCounter, readEpoch, Segment, type SegmentPlace, setEpoch } from './segment.js';
import { type Answer, SingleRow } from './single.js';
import { SlotBytes } from './slot-bytes.js';

/**
 * A store whose writers compute the address from a hash of the key. Each key has N slots among M. A query reads them;
 * those that carry the key's checksum determine the answer (DART, sections 3 and 4). No write is refused: a later write
 * overwrites the slot of an earlier one. The theory functions give the probability that a query still succeeds.
 *
 * One thread writes; with `shared`, others query with a `DartReader`. See layout.ts for the layout in memory.
 *
 * @example
 * const store = new DartStore({ memoryBytes: 1 << 30, copies: 2 });
 * store.write(encodeFlowKey(flow), path);
 * store.query(encodeFlowKey(flow)).value;
 */
export class DartStore implements RdmaTarget {
  readonly geometry: StoreGeometry;
  /** The hashes with the header's parameters. */
  readonly hashes: KeyHashes;
  readonly segments: readonly Segment[];
  readonly isShared: boolean;
  /** Bytes of all slots; RDMA can write all of them. */
  readonly byteLength: number;
  readonly #engine: StoreEngine;
  readonly #accelerator: AcceleratorEngine | null;
  readonly #bytes: SlotBytes;
  readonly #header: Uint32Array;
  readonly #single: SingleRow;
  readonly #which = new Uint8Array(1);

  /**
   * @throws RangeError for an option out of range, buffers that are too small, or if there is not enough memory
   */
  constructor(options: DartStoreOptions) {
    const { geometry, parameters, ...membership } = resolveOptions(options);
    this.geometry = geometry;
    this.hashes = new KeyHashes(parameters);
    const isPlain = options.engine === 'plain' || options.buffers !== undefined || geometry.segments.length > 1;
    const accelerator = isPlain ? null : makeAcceleratorEngine(geometry, parameters, options.shared === true);
    const places = accelerator === null ? placesFor(geometry, options) : [accelerator.place];
    this.segments = places.map(
      (place, at) => new Segment(geometry.segments[at]!, geometry.slotBytes, place, geometry.checksumBytes),
    );
    for (const { header, geometry: segment } of this.segments) {
      writeHeader(header, geometry, segment, parameters, membership);
    }
    this.isShared = this.segments[0]!.isShared;
    this.#accelerator = accelerator;
    this.#engine = this.#accelerator ?? new PlainEngine(geometry, this.hashes, this.segments);
    this.#header = this.segments[0]!.header;
    this.#bytes = new SlotBytes(geometry, this.segments);
    this.byteLength = this.#bytes.byteLength;
    this.#single = new SingleRow(geometry.valueBytes);
  }

  /** Whether writes and queries run in WebAssembly. */
  get usesAccelerator(): boolean {
    return this.#accelerator !== null;
  }

  /** The engine in WebAssembly, which can hold rows in the store's memory; null if the store has none. */
  get accelerator(): AcceleratorEngine | null {
    return this.#accelerator;
  }

  /** Keys written in this epoch. Each call counts one, whether it writes all copies or a single one. */
  get keyWrites(): number {
    return readCounter(this.#header, HEADER.KEY_WRITES);
  }

  /** Slots written in this epoch, by keys and by RDMA. */
  get slotWrites(): number {
    return readCounter(this.#header, HEADER.SLOT_WRITES);
  }

  /** K / M, where K is the number of slots written in this epoch, divided by N. */
  get load(): number {
    return this.slotWrites / this.geometry.copies / this.geometry.slots;
  }

  /** Number of the epoch whose writes are in the slots; initially 0. */
  get epoch(): bigint {
    return readEpoch(this.#header);
  }

  /** The location of the store, for a `DartReader` in another thread. */
  share(): SegmentPlace[] {
    return this.segments.map(({ buffer, byteOffset }) => ({ buffer, byteOffset }));
  }

  /**
   * Writes a value into slots of a key.
   *
   * @param copies number of slots to write, 1..N, from the first on; all if absent
   * @throws RangeError for a value of another size, a key that is too long, or copies not in 1..N
   */
  write(key: Uint8Array, value: Uint8Array, copies: number = this.geometry.copies): void {
    this.#checkValue(value);
    this.writeRows(this.#single.keys(key), value, 0, 1, copies);
  }

  /**
   * Writes a value into one slot of a key, like a switch that sends one report at a time.
   *
   * @param copy number of the slot, 0..N - 1
   * @throws RangeError for a value of another size, a key that is too long, or a copy out of range
   */
  writeCopy(key: Uint8Array, value: Uint8Array, copy: number): void {
    this.#checkValue(value);
    whole('copy', copy, 0, this.geometry.copies - 1);
    this.#which[0] = copy;
    this.writeCopyRows(this.#single.keys(key), value, this.#which, 0, 1);
  }

  /**
   * Inserts a value: writes slot 0 of the key, and slot 1 only if it is empty. An RDMA COMPARE&SWAP changes 8 bytes, so
   * slots must have 8 bytes: a 32-bit checksum and a 4-byte value (DART, section 7).
   *
   * @returns whether slot 1 was empty and took the value
   * @throws RangeError for a value of another size or a key that is too long
   * @throws TypeError unless slots have 8 bytes and keys two or more of them
   */
  insert(key: Uint8Array, value: Uint8Array): boolean {
    const { slotBytes, copies, checksumBytes } = this.geometry;
    if (slotBytes !== 8 || copies < 2) throw new TypeError('insert needs slots of 8 bytes and 2 copies or more');
    this.writeCopy(key, value, 0);
    const slot = new DataView(new ArrayBuffer(8));
    slot.setUint32(0, this.checksumOf(key) << ((4 - checksumBytes) * 8));
    for (let at = 0; at < value.length; at++) slot.setUint8(checksumBytes + at, value[at]!);
    return this.compareSwap(this.slotOf(key, 1) * 8, 0n, slot.getBigUint64(0, true)) === 0n;
  }

  /**
   * Queries a key.
   *
   * @param policy the rule that determines the answer; `plurality` if absent
   * @throws RangeError for a key that is too long
   */
  query(key: Uint8Array, policy: Policy = 'plurality'): Answer {
    const single = this.#single;
    this.queryRows(single.keys(key), single.answer, policy, 0, 1);
    return single.read();
  }

  /**
   * Writes many keys; row i's value is `values[i * valueBytes .. (i + 1) * valueBytes)`. Allocates nothing.
   *
   * @throws RangeError, before anything is written, for rows outside the columns or copies not in 1..N
   */
  writeRows(
    keys: KeyRows,
    values: Uint8Array,
    from = 0,
    to: number = keys.offsets.length,
    copies: number = this.geometry.copies,
  ): void {
    checkKeys(keys, from, to);
    checkValues(values, to, this.geometry.valueBytes);
    whole('copies', copies, 1, this.geometry.copies);
    this.#engine.write(keys, values, from, to, copies);
    addToCounter(this.#header, HEADER.KEY_WRITES, to - from);
    addToCounter(this.#header, HEADER.SLOT_WRITES, (to - from) * copies);
  }

  /**
   * Writes each of many keys into one of its slots: row i into that of copy `which[i]`. Allocates nothing.
   *
   * @throws RangeError, before anything is written, for rows outside the columns or a copy out of range
   */
  writeCopyRows(
    keys: KeyRows,
    values: Uint8Array,
    which: Uint8Array,
    from = 0,
    to: number = keys.offsets.length,
  ): void {
    checkKeys(keys, from, to);
    checkValues(values, to, this.geometry.valueBytes);
    const { copies } = this.geometry;
    for (let row = from; row < to; row++) {
      if (!(which[row]! < copies)) throw new RangeError(`row ${row}: copy ${which[row]} of ${copies}`);
    }
    this.#engine.writeCopy(keys, values, which, from, to);
    addToCounter(this.#header, HEADER.KEY_WRITES, to - from);
    addToCounter(this.#header, HEADER.SLOT_WRITES, to - from);
  }

  /**
   * Queries many keys. Allocates nothing, except for a policy given as an object.
   *
   * @throws RangeError for rows outside the columns, or answers without room for them
   */
  queryRows(
    keys: KeyRows,
    out: AnswerRows,
    policy: Policy = 'plurality',
    from = 0,
    to: number = keys.offsets.length,
  ): void {
    const number = policyNumber(policy);
    checkKeys(keys, from, to);
    checkAnswers(out, to, this.geometry.valueBytes);
    this.#engine.query(keys, number, out, from, to);
  }

  /** The slot of a copy of a key: 0..M - 1. */
  slotOf(key: Uint8Array, copy: number): number {
    return this.hashes.slot(copy, key, 0, key.length) % this.geometry.slots;
  }

  /** The checksum of a key as stored in slots: never 0. */
  checksumOf(key: Uint8Array): number {
    return cutChecksum(this.hashes.checksum(key, 0, key.length), this.geometry.checksumBits);
  }

  /** The number of the collector that a key belongs to. */
  collectorOf(key: Uint8Array): number {
    return this.hashes.collector(key, 0, key.length) % this.#header[HEADER.COLLECTORS]!;
  }

  /**
   * Empties all slots and begins an epoch.
   *
   * @param epoch number of the new epoch, 64 bits; the next one if absent
   */
  clear(epoch: bigint = this.epoch + 1n): void {
    this.#bytes.clear();
    setEpoch(this.#header, epoch);
  }

  get pieces(): readonly Uint8Array[] {
    return this.segments.map(({ slots }) => slots);
  }

  writeBytes(offset: number, source: Uint8Array, from: number, length: number): void {
    const slots = this.#bytes.write(offset, source, from, length);
    addToCounter(this.#header, HEADER.SLOT_WRITES, slots);
  }

  compareSwap(offset: number, compare: bigint, swap: bigint): bigint {
    const before = this.#bytes.read64(offset);
    if (before === BigInt.asUintN(64, compare)) {
      this.#bytes.write64(offset, swap);
      addToCounter(this.#header, HEADER.SLOT_WRITES, 1);
    }
    return before;
  }

  fetchAdd(offset: number, add: bigint): bigint {
    const before = this.#bytes.read64(offset);
    this.#bytes.write64(offset, before + add);
    return before;
  }

  #checkValue(value: Uint8Array): void {
    const { valueBytes } = this.geometry;
    if (value.length !== valueBytes) throw new RangeError(`the value has ${value.length} bytes, not ${valueBytes}`);
  }
}

function placesFor({ segments }: StoreGeometry, { buffers, shared = false }: DartStoreOptions): SegmentPlace[] {
  if (buffers !== undefined && buffers.length < segments.length) {
    throw new RangeError(`${segments.length} buffers are needed, not ${buffers.length}`);
  }
  return segments.map(({ byteLength }, at) => {
    const given = buffers?.[at];
    if (given !== undefined && given.byteLength < byteLength) {
      throw new RangeError(`buffer ${at} has ${given.byteLength} bytes; ${byteLength} are needed`);
    }
    if (given !== undefined) new Uint8Array(given).fill(0);
    const buffer = given ?? (shared ? new SharedArrayBuffer(byteLength) : new ArrayBuffer(byteLength));
    return { buffer, byteOffset: 0 };
  });
}
