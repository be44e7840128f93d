import { FLAG, type Flow, formatIpv4, formatIpv6, type TelemetryBatch } from '@int/codec';
import {
  FLOW_KEY_BYTES_IPV4,
  FLOW_KEY_BYTES_IPV6,
  flowXxh32Ipv4,
  flowXxh32Ipv6,
  writeFlowKeyIpv4,
  writeFlowKeyIpv6,
} from '@int/hash';
import { NO_ROW } from '../slice/pair-table.js';

/** Kinds of keys: a flow's addresses, protocol and ports, or the node that sent a report without a flow. */
const FAMILY = { NODE: 0, IPV4: 4, IPV6: 6 } as const;

/** Words of a key: source 4, destination 4, ports. */
const KEY_WORDS = 9;
const NODE_KEY_BYTES = 4;

/**
 * A hash table from flow keys to rows 0 to `capacity - 1`, of fixed size. Open addressing, at most half full. Released
 * rows are used again.
 */
export class FlowTable {
  readonly capacity: number;
  readonly hash: Uint32Array;
  /** One of {@link FAMILY}. */
  readonly family: Uint8Array;
  readonly used: Uint8Array;
  readonly #keys: Uint32Array;
  readonly #protocol: Uint8Array;
  /** Row + 1; 0 if the slot is free. */
  readonly #slots: Int32Array;
  /** The free rows, as a stack. */
  readonly #free: Int32Array;
  /** Rows in use. */
  size = 0;
  /** Hash of the last key looked up, whether it has a row or not; signed. */
  lastHash = 0;
  /** The key to look up. */
  readonly #wanted = new Uint32Array(KEY_WORDS);

  constructor(capacity: number) {
    this.capacity = capacity;
    this.hash = new Uint32Array(capacity);
    this.family = new Uint8Array(capacity + 1);
    this.used = new Uint8Array(capacity);
    this.#keys = new Uint32Array((capacity + 1) * KEY_WORDS);
    this.#protocol = new Uint8Array(capacity + 1);
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(capacity * 2)));
    this.#free = Int32Array.from({ length: capacity }, (_, row) => capacity - 1 - row);
  }

  /**
   * The row of a report's flow, or of its node if the report has no flow. Makes a row if there is none; {@link NO_ROW}
   * if there is no room.
   */
  rowOfReport(batch: TelemetryBatch, report: number): number {
    const flags = batch.flags[report]!;
    const key = this.#wanted;
    const protocol = (flags & FLAG.FLOW) === 0 ? 0 : batch.protocol[report]!;
    let family: number = FAMILY.IPV4;
    let hash: number;
    key[0] = batch.source0[report]!;
    key[4] = batch.destination0[report]!;
    key[8] = batch.ports[report]!;
    if ((flags & FLAG.FLOW) === 0) {
      family = FAMILY.NODE;
      key.fill(0);
      key[0] = batch.nodeId[report]!;
      hash = flowXxh32Ipv4(key[0], 0, 0, 0);
    } else if ((flags & FLAG.IPV6) === 0) {
      key[1] = 0;
      key[2] = 0;
      key[3] = 0;
      key[5] = 0;
      key[6] = 0;
      key[7] = 0;
      hash = flowXxh32Ipv4(key[0], key[4], protocol, key[8]);
    } else {
      family = FAMILY.IPV6;
      key[1] = batch.source1[report]!;
      key[2] = batch.source2[report]!;
      key[3] = batch.source3[report]!;
      key[5] = batch.destination1[report]!;
      key[6] = batch.destination2[report]!;
      key[7] = batch.destination3[report]!;
      hash = flowXxh32Ipv6(key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7], protocol, key[8]);
    }
    this.lastHash = hash | 0;
    return this.#rowOf(hash, family, protocol);
  }

  #rowOf(hash: number, family: number, protocol: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const row = this.#slots[slot]! - 1;
      if (row < 0) break;
      if (this.hash[row] === hash && this.#isAt(row, family, protocol)) return row;
      slot = (slot + 1) & mask;
    }
    if (this.size === this.capacity) {
      this.#write(this.refused, family, protocol);
      return NO_ROW;
    }
    const row = this.#free[this.capacity - 1 - this.size++]!;
    this.#slots[slot] = row + 1;
    this.hash[row] = hash;
    this.#write(row, family, protocol);
    this.used[row] = 1;
    return row;
  }

  /** Place of the last key that found no room, for {@link key} and {@link flow}. */
  get refused(): number {
    return this.capacity;
  }

  #write(row: number, family: number, protocol: number): void {
    this.family[row] = family;
    this.#protocol[row] = protocol;
    this.#keys.set(this.#wanted, row * KEY_WORDS);
  }

  #isAt(row: number, family: number, protocol: number): boolean {
    const keys = this.#keys;
    const key = this.#wanted;
    const at = row * KEY_WORDS;
    if (keys[at] !== key[0] || keys[at + 4] !== key[4] || keys[at + 8] !== key[8]) return false;
    if (this.family[row] !== family || this.#protocol[row] !== protocol) return false;
    if (family !== FAMILY.IPV6) return true;
    for (let word = 1; word < 8; word++) if (keys[at + word] !== key[word]) return false;
    return true;
  }

  /** Releases every used row for which `isOver` returns true. Costs a pass over the table. */
  release(isOver: (row: number) => boolean): void {
    const before = this.size;
    for (let row = 0; row < this.capacity; row++) {
      if (this.used[row] === 0 || !isOver(row)) continue;
      this.used[row] = 0;
      this.#free[this.capacity - this.size--] = row;
    }
    if (this.size === before) return;
    // Entries behind a removed one would no longer be found, so fill the slots anew.
    this.#slots.fill(0);
    const mask = this.#slots.length - 1;
    for (let row = 0; row < this.capacity; row++) {
      if (this.used[row] === 0) continue;
      let slot = this.hash[row]! & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = row + 1;
    }
  }

  /** The key as bytes: the flow key of @int/hash, or the node id of a report without a flow. Allocates. */
  key(row: number): Uint8Array {
    const family = this.family[row]!;
    const [s0, s1, s2, s3, d0, d1, d2, d3, ports] = this.#keys.subarray(row * KEY_WORDS, (row + 1) * KEY_WORDS);
    const protocol = this.#protocol[row]!;
    if (family === FAMILY.IPV6) {
      const key = new Uint8Array(FLOW_KEY_BYTES_IPV6);
      writeFlowKeyIpv6(key, 0, s0!, s1!, s2!, s3!, d0!, d1!, d2!, d3!, protocol, ports!);
      return key;
    }
    const key = new Uint8Array(FLOW_KEY_BYTES_IPV4);
    writeFlowKeyIpv4(key, 0, s0!, d0!, protocol, ports!);
    return family === FAMILY.IPV4 ? key : key.slice(0, NODE_KEY_BYTES);
  }

  /** The row of a key in the form of {@link key}; {@link NO_ROW} if there is no room, `null` if the key is invalid. */
  rowOfKey(bytes: Uint8Array): number | null {
    const key = this.#wanted;
    key.fill(0);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    if (bytes.length === NODE_KEY_BYTES) {
      key[0] = view.getUint32(0);
      return this.#rowOf(flowXxh32Ipv4(key[0], 0, 0, 0), FAMILY.NODE, 0);
    }
    if (bytes.length === FLOW_KEY_BYTES_IPV4) {
      key[0] = view.getUint32(0);
      key[4] = view.getUint32(4);
      key[8] = view.getUint32(9);
      const protocol = bytes[8]!;
      return this.#rowOf(flowXxh32Ipv4(key[0], key[4], protocol, key[8]), FAMILY.IPV4, protocol);
    }
    if (bytes.length !== FLOW_KEY_BYTES_IPV6) return null;
    for (let word = 0; word < 8; word++) key[word] = view.getUint32(word * 4);
    key[8] = view.getUint32(33);
    const protocol = bytes[32]!;
    const [s0, s1, s2, s3, d0, d1, d2, d3, ports] = key;
    const hash = flowXxh32Ipv6(s0!, s1!, s2!, s3!, d0!, d1!, d2!, d3!, protocol, ports!);
    return this.#rowOf(hash, FAMILY.IPV6, protocol);
  }

  /** The flow as an object; `null` for a report without a flow. Allocates. */
  flow(row: number): Flow | null {
    const family = this.family[row]!;
    if (family === FAMILY.NODE) return null;
    const at = row * KEY_WORDS;
    const word = (index: number): number => this.#keys[at + index]!;
    const text = (start: number): string =>
      family === FAMILY.IPV4
        ? formatIpv4(word(start))
        : formatIpv6(word(start), word(start + 1), word(start + 2), word(start + 3));
    return {
      source: text(0),
      destination: text(4),
      protocol: this.#protocol[row]!,
      sourcePort: word(8) >>> 16,
      destinationPort: word(8) & 0xffff,
    };
  }
}

/** Bytes as hexadecimal digits. */
export function hexOf(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}

/** Prefix of the ids of a flow's windows. */
export function windowName(table: FlowTable, row: number): string {
  return `flow-${hexOf(table.key(row))}`;
}
