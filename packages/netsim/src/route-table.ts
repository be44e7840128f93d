/** A forwarding table from IPv4 addresses to ports, with hit counters. */
import { mix32 } from '@int/random';
import { checkInteger } from './checks.js';

const NONE = -1;

/**
 * Exact matches of 32-bit addresses. Open addressing with linear probing: no objects, no boxed numbers. Like the rules
 * of a switch, entries are numbered 0, 1, 2, ... in the order in which their addresses were first set.
 */
export class RouteTable {
  /** Number of hits of each entry, modulo 2^32. Elements past `size` are 0. */
  hits: Uint32Array = new Uint32Array(16);
  #count = 0;
  #addresses = new Int32Array(16);
  #ports = new Uint16Array(16);
  /** Cells hold entry numbers. */
  #cells = new Int32Array(64).fill(NONE);

  /** Number of entries. */
  get size(): number {
    return this.#count;
  }

  /**
   * Sets the port of an address. An existing entry keeps its number and its hits.
   *
   * @param address 32-bit word, signed or unsigned
   * @param port 0 to 65535, else a RangeError
   */
  set(address: number, port: number): void {
    checkInteger('port', port, 0, 0xffff);
    const cell = this.#cellOf(address | 0);
    const known = this.#cells[cell]!;
    if (known !== NONE) {
      this.#ports[known] = port;
      return;
    }
    if (this.#count === this.#addresses.length) this.#grow();
    const entry = this.#count++;
    this.#addresses[entry] = address;
    this.#ports[entry] = port;
    this.#cells[this.#cellOf(address | 0)] = entry;
  }

  /** Number of an address's entry; -1 if there is none. */
  entryOf(address: number): number {
    return this.#cells[this.#cellOf(address | 0)]!;
  }

  /** Port of an entry. */
  portOf(entry: number): number {
    return this.#ports[entry]!;
  }

  /** Port for an address, counted as a hit; -1 if there is no entry. */
  lookup(address: number): number {
    const entry = this.#cells[this.#cellOf(address | 0)]!;
    if (entry === NONE) return NONE;
    this.hits[entry] = this.hits[entry]! + 1;
    return this.#ports[entry]!;
  }

  #cellOf(address: number): number {
    const addresses = this.#addresses;
    const cells = this.#cells;
    const mask = cells.length - 1;
    let cell = mix32(address) & mask;
    for (let entry = cells[cell]!; entry !== NONE && addresses[entry] !== address; entry = cells[cell]!) {
      cell = (cell + 1) & mask;
    }
    return cell;
  }

  #grow(): void {
    const length = this.#addresses.length * 2;
    const { hits } = this;
    const addresses = this.#addresses;
    const ports = this.#ports;
    this.#addresses = new Int32Array(length);
    this.#addresses.set(addresses);
    this.#ports = new Uint16Array(length);
    this.#ports.set(ports);
    this.hits = new Uint32Array(length);
    this.hits.set(hits);
    this.#cells = new Int32Array(4 * length).fill(NONE);
    for (let entry = 0; entry < this.#count; entry++) this.#cells[this.#cellOf(this.#addresses[entry]!)] = entry;
  }
}
