import { writeWord } from '../big-endian.js';
import { CollectorTable } from '../cluster/table.js';
import { MAX_COPIES, whole } from '../layout.js';
import { checkKeys, checkValues } from '../store/checks.js';
import { cutChecksum, type KeyHashes } from '../store/hashes.js';
import type { KeyRows } from '../store/rows.js';
import { FrameRows } from './frame-rows.js';
import { MULTI_WRITE_VERSION, multiWriteHeaderLength } from './multi-write.js';
import { CollectorPlan, type RdmaWriterOptions, writeAddress } from './writer-plan.js';

/**
 * Makes the packets that a switch sends into the memory of its collectors: RDMA WRITE-only of checksum and value, one
 * packet per slot; COMPARE&SWAP and FETCH&ADD; and this package's multi-slot writes. Each queue pair has its own
 * sequence numbers.
 *
 * Methods for a single key return packets as new arrays, one per slot and collector; use them for one collector at a
 * time or for tests. Methods for rows fill a {@link FrameRows}, which names the collector of each packet, and allocate
 * nothing.
 *
 * IPv4 packets have the identification 0 and "do not fragment" set. Packets of format `udp` are payloads for a UDP
 * socket. Linux sends them with another identification, so only a receiver that assumes 0 (`SoftRnic` with datagrams)
 * finds the iCRC right.
 */
export class RdmaWriter {
  readonly table: CollectorTable;
  readonly #hashes: KeyHashes;
  readonly #plans: readonly CollectorPlan[];
  readonly #valueBytes: number;
  readonly #checksumBits: number;
  readonly #checksumBytes: number;
  readonly #slotBytes: number;
  readonly #copies: number;
  readonly #counterCopies: number;
  readonly #slotHashes = new Uint32Array(MAX_COPIES);

  /** @throws RangeError, TypeError or AddressError for an invalid option */
  constructor(options: RdmaWriterOptions) {
    const { geometry, hashes, collectors, replicas = 1, counterCopies = 2 } = options;
    whole('firstPsn', options.firstPsn ?? 0, 0, 2 ** 24 - 1);
    whole('counterCopies', counterCopies, 1, MAX_COPIES);
    this.table = new CollectorTable(collectors, replicas);
    this.#hashes = hashes;
    this.#valueBytes = geometry.valueBytes;
    this.#checksumBits = geometry.checksumBits;
    this.#checksumBytes = geometry.checksumBytes;
    this.#slotBytes = geometry.slotBytes;
    this.#copies = geometry.copies;
    this.#counterCopies = counterCopies;
    this.#plans = collectors.map((collector) => new CollectorPlan(collector, options));
  }

  /** Bytes of an RDMA WRITE packet. {@link writeRows} needs this per slot and collector. */
  get packetBytes(): number {
    return this.#plans[0]!.write.length;
  }

  /** Bytes of a multi-slot write packet. */
  get multiPacketBytes(): number {
    return this.#plans[0]!.multi.length;
  }

  /** The sequence number of the next write to a collector. @throws RangeError if the collector does not exist */
  nextPsn(collector: number): number {
    const plan = this.#plans[collector];
    if (plan === undefined) throw new RangeError(`there is no collector ${collector}`);
    return plan.psn;
  }

  /**
   * Makes the packets that write a value into all slots of a key.
   *
   * @throws RangeError for a value of another size or a key that is too long
   */
  write(key: Uint8Array, value: Uint8Array): Uint8Array[] {
    const packets = this.#copies * this.table.replicas;
    return this.#single(packets, this.packetBytes, (frames) => this.writeRows(oneKey(key), value, 0, 1, frames), value);
  }

  /**
   * Makes the packet that writes a value into one slot of a key; two packets with two replicas.
   *
   * @param copy 0..N - 1
   * @throws RangeError for a value of another size, a key that is too long, or a copy out of range
   */
  writeCopy(key: Uint8Array, value: Uint8Array, copy: number): Uint8Array[] {
    whole('copy', copy, 0, this.#copies - 1);
    const which = Uint8Array.of(copy);
    const fill = (frames: FrameRows): number => this.writeCopyRows(oneKey(key), value, which, 0, 1, frames);
    return this.#single(this.table.replicas, this.packetBytes, fill, value);
  }

  /**
   * Makes one multi-slot write packet per collector of the key (MULTI-WRITE.md). This is not standard RDMA.
   *
   * @throws RangeError for a value of another size or a key that is too long
   */
  writeMulti(key: Uint8Array, value: Uint8Array): Uint8Array[] {
    const fill = (frames: FrameRows): number => this.writeMultiRows(oneKey(key), value, 0, 1, frames);
    return this.#single(this.table.replicas, this.multiPacketBytes, fill, value);
  }

  /**
   * Makes the packets of an insertion, see `DartStore.insert`: an RDMA WRITE into slot 0, and a COMPARE&SWAP that fills
   * slot 1 if it is empty. Two more with two replicas.
   *
   * @throws TypeError unless slots have 8 bytes and keys two slots, or if there is no queue pair for atomics
   */
  insert(key: Uint8Array, value: Uint8Array): Uint8Array[] {
    const bytes = Math.max(this.packetBytes, this.#plans[0]!.compareSwap.length);
    const fill = (frames: FrameRows): number => this.insertRows(oneKey(key), value, 0, 1, frames);
    return this.#single(2 * this.table.replicas, bytes, fill, value);
  }

  /**
   * Makes the packets that add to the counters of a key: one FETCH&ADD per cell and collector.
   *
   * @param amount modulo 2^64
   * @throws TypeError if a collector has no counters or no queue pair for atomics
   */
  add(key: Uint8Array, amount: number | bigint): Uint8Array[] {
    const added = BigInt.asUintN(64, BigInt(amount));
    const keys = oneKey(key);
    checkKeys(keys, 0, 1);
    const packets = this.#counterCopies * this.table.replicas;
    const frames = new FrameRows(packets, packets * this.#plans[0]!.fetchAdd.length);
    this.#appendAdds(keys, 0, Number(added >> 32n), Number(added & 0xffffffffn), frames);
    return packetsOf(frames);
  }

  /**
   * Appends the packets of many keys: one per slot, in order of the copies, to each collector of the key. Row i's value is
   * `values[i * valueBytes .. (i + 1) * valueBytes)`.
   *
   * @returns the first row without room for all of its packets; `to` if all fitted
   * @throws RangeError, before anything is written, for rows outside the columns
   */
  writeRows(keys: KeyRows, values: Uint8Array, from: number, to: number, frames: FrameRows): number {
    const copies = this.#copies;
    const hashes = this.#slotHashes;
    const packets = copies * this.table.replicas;
    this.#check(keys, values, from, to);
    return this.#appendRows(keys, from, to, frames, packets, this.packetBytes, (plan, checksum, row) => {
      for (let copy = 0; copy < copies; copy++) this.#appendWrite(plan, hashes[copy]!, checksum, values, row, frames);
    });
  }

  /** Like {@link writeRows}, with one packet for row i: into the slot of copy `which[i]`. */
  writeCopyRows(
    keys: KeyRows,
    values: Uint8Array,
    which: Uint8Array,
    from: number,
    to: number,
    frames: FrameRows,
  ): number {
    this.#check(keys, values, from, to);
    for (let row = from; row < to; row++) whole('copy', which[row]!, 0, this.#copies - 1);
    const packets = this.table.replicas;
    const bytes = packets * this.packetBytes;
    for (let row = from; row < to; row++) {
      if (!frames.hasRoom(packets, bytes)) return row;
      const offset = keys.offsets[row]!;
      const length = keys.lengths[row]!;
      const slotHash = this.#hashes.slot(which[row]!, keys.bytes, offset, length);
      const checksum = cutChecksum(this.#hashes.checksum(keys.bytes, offset, length), this.#checksumBits);
      for (let place = this.#first(keys, row); place >= 0; place = this.#next(keys, row, place)) {
        this.#appendWrite(this.#plans[place]!, slotHash, checksum, values, row, frames);
      }
    }
    return to;
  }

  /** Like {@link writeRows}, with one multi-slot write packet per key and collector (MULTI-WRITE.md). */
  writeMultiRows(keys: KeyRows, values: Uint8Array, from: number, to: number, frames: FrameRows): number {
    this.#check(keys, values, from, to);
    const { replicas } = this.table;
    return this.#appendRows(keys, from, to, frames, replicas, this.multiPacketBytes, (plan, checksum, row) => {
      this.#appendMulti(plan, checksum, values, row, frames);
    });
  }

  /**
   * Like {@link writeRows}, with the packets of an insertion for each key and collector: see {@link insert}.
   *
   * @throws TypeError unless slots have 8 bytes and keys two slots, or if there is no queue pair for atomics
   */
  insertRows(keys: KeyRows, values: Uint8Array, from: number, to: number, frames: FrameRows): number {
    if (this.#slotBytes !== 8 || this.#copies < 2) throw new TypeError('insert needs slots of 8 bytes and 2 copies');
    this.#check(keys, values, from, to);
    const packets = 2 * this.table.replicas;
    const meanBytes = (this.packetBytes + this.#plans[0]!.compareSwap.length) / 2;
    const hashes = this.#slotHashes;
    return this.#appendRows(keys, from, to, frames, packets, meanBytes, (plan, checksum, row) => {
      this.#appendWrite(plan, hashes[0]!, checksum, values, row, frames);
      this.#appendCompareSwap(plan, hashes[1]!, checksum, values, row, frames);
    });
  }

  /**
   * Like {@link writeRows}, with the packets that add `amounts[i]` to the counters of row i's key: see {@link add}.
   *
   * @throws TypeError if a collector has no counters or no queue pair for atomics
   */
  addRows(keys: KeyRows, amounts: Uint32Array, from: number, to: number, frames: FrameRows): number {
    checkKeys(keys, from, to);
    if (amounts.length < to) throw new RangeError(`${amounts.length} amounts for rows up to ${to}`);
    const packets = this.#counterCopies * this.table.replicas;
    const bytes = packets * this.#plans[0]!.fetchAdd.length;
    for (let row = from; row < to; row++) {
      if (!frames.hasRoom(packets, bytes)) return row;
      this.#appendAdds(keys, row, 0, amounts[row]!, frames);
    }
    return to;
  }

  /**
   * Appends packets for each row and each collector of its key. `append` finds the hashes of the key's slots in
   * #slotHashes.
   *
   * @param packets of a row, each of `packetBytes` bytes
   */
  #appendRows(
    keys: KeyRows,
    from: number,
    to: number,
    frames: FrameRows,
    packets: number,
    packetBytes: number,
    append: (plan: CollectorPlan, checksum: number, row: number) => void,
  ): number {
    const { bytes, offsets, lengths } = keys;
    for (let row = from; row < to; row++) {
      if (!frames.hasRoom(packets, packets * packetBytes)) return row;
      const hash = this.#hashes.all(bytes, offsets[row]!, lengths[row]!, this.#copies, this.#slotHashes);
      const checksum = cutChecksum(hash, this.#checksumBits);
      for (let place = this.#first(keys, row); place >= 0; place = this.#next(keys, row, place)) {
        append(this.#plans[place]!, checksum, row);
      }
    }
    return to;
  }

  #appendWrite(
    plan: CollectorPlan,
    slotHash: number,
    checksum: number,
    values: Uint8Array,
    row: number,
    frames: FrameRows,
  ): void {
    const { write, collector } = plan;
    const slotBytes = this.#slotBytes;
    const out = frames.bytes;
    const at = frames.append(write.length, collector.id);
    const body = at + write.bodyAt;
    write.begin(out, at, plan.nextPsn());
    writeAddress(out, body, plan.baseHigh, plan.baseLow, (slotHash % collector.slots) * slotBytes);
    writeWord(out, body + 8, collector.remoteKey);
    writeWord(out, body + 12, slotBytes);
    this.#writeSlot(out, body + 16, checksum, values, row);
    write.end(out, at);
  }

  /** Appends a multi-slot write. #slotHashes must hold the hashes of the slots. */
  #appendMulti(plan: CollectorPlan, checksum: number, values: Uint8Array, row: number, frames: FrameRows): void {
    const { multi, collector } = plan;
    const slotBytes = this.#slotBytes;
    const copies = this.#copies;
    const out = frames.bytes;
    const at = frames.append(multi.length, collector.id);
    const body = at + multi.bodyAt;
    multi.begin(out, at, plan.nextPsn());
    out[body] = MULTI_WRITE_VERSION;
    out[body + 1] = copies;
    out[body + 2] = slotBytes >>> 8;
    out[body + 3] = slotBytes;
    writeWord(out, body + 4, collector.remoteKey);
    for (let copy = 0; copy < copies; copy++) {
      const distance = (this.#slotHashes[copy]! % collector.slots) * slotBytes;
      writeAddress(out, body + 8 + 8 * copy, plan.baseHigh, plan.baseLow, distance);
    }
    this.#writeSlot(out, body + multiWriteHeaderLength(copies), checksum, values, row);
    multi.end(out, at);
  }

  #appendCompareSwap(
    plan: CollectorPlan,
    slotHash: number,
    checksum: number,
    values: Uint8Array,
    row: number,
    frames: FrameRows,
  ): void {
    const { compareSwap, collector } = plan;
    const out = frames.bytes;
    const at = frames.append(compareSwap.length, collector.id);
    const body = at + compareSwap.bodyAt;
    compareSwap.begin(out, at, plan.nextAtomicPsn());
    writeAddress(out, body, plan.baseHigh, plan.baseLow, (slotHash % collector.slots) * 8);
    writeWord(out, body + 8, collector.remoteKey);
    this.#writeSlot(out, body + 12, checksum, values, row);
    // The number is big-endian in the packet and little-endian in the collector's memory, so reverse the slot's bytes.
    for (let low = body + 12, high = body + 19; low < high; low++, high--) {
      const byte = out[low]!;
      out[low] = out[high]!;
      out[high] = byte;
    }
    // Compare with an empty slot.
    for (let byte = body + 20; byte < body + 28; byte++) out[byte] = 0;
    compareSwap.end(out, at);
  }

  #appendAdds(keys: KeyRows, row: number, high: number, low: number, frames: FrameRows): void {
    const out = frames.bytes;
    const offset = keys.offsets[row]!;
    const length = keys.lengths[row]!;
    for (let place = this.#first(keys, row); place >= 0; place = this.#next(keys, row, place)) {
      const plan = this.#plans[place]!;
      const { fetchAdd } = plan;
      const { remoteKey, cells } = plan.counters;
      for (let copy = 0; copy < this.#counterCopies; copy++) {
        const at = frames.append(fetchAdd.length, place);
        const body = at + fetchAdd.bodyAt;
        fetchAdd.begin(out, at, plan.nextAtomicPsn());
        const cell = this.#hashes.slot(copy, keys.bytes, offset, length) % cells;
        writeAddress(out, body, plan.countersHigh, plan.countersLow, cell * 8);
        writeWord(out, body + 8, remoteKey);
        writeWord(out, body + 12, high);
        writeWord(out, body + 16, low);
        for (let byte = body + 20; byte < body + 28; byte++) out[byte] = 0;
        fetchAdd.end(out, at);
      }
    }
  }

  #writeSlot(out: Uint8Array, offset: number, checksum: number, values: Uint8Array, row: number): void {
    let at = offset;
    let from = row * this.#valueBytes;
    for (let shift = (this.#checksumBytes - 1) * 8; shift >= 0; shift -= 8) out[at++] = checksum >>> shift;
    for (const end = from + this.#valueBytes; from < end; ) out[at++] = values[from++]!;
  }

  #first({ bytes, offsets, lengths }: KeyRows, row: number): number {
    return this.#plans.length === 1 ? 0 : this.table.primary(this.#hashes, bytes, offsets[row]!, lengths[row]!);
  }

  /** The next collector of a key: the second after the first, -1 after the last. */
  #next(keys: KeyRows, row: number, place: number): number {
    if (this.table.replicas === 1 || place !== this.#first(keys, row)) return -1;
    return this.table.secondary(this.#hashes, keys.bytes, keys.offsets[row]!, keys.lengths[row]!);
  }

  #single(packets: number, bytes: number, fill: (frames: FrameRows) => number, value: Uint8Array): Uint8Array[] {
    this.#checkValue(value);
    const frames = new FrameRows(packets, packets * bytes);
    fill(frames);
    return packetsOf(frames);
  }

  #check(keys: KeyRows, values: Uint8Array, from: number, to: number): void {
    checkKeys(keys, from, to);
    checkValues(values, to, this.#valueBytes);
  }

  #checkValue(value: Uint8Array): void {
    if (value.length !== this.#valueBytes) {
      throw new RangeError(`the value has ${value.length} bytes, not ${this.#valueBytes}`);
    }
  }
}

function packetsOf(frames: FrameRows): Uint8Array[] {
  return Array.from({ length: frames.count }, (_, row) => frames.packet(row));
}

function oneKey(key: Uint8Array): KeyRows {
  return { bytes: key, offsets: new Uint32Array(1), lengths: Uint32Array.of(key.length) };
}
