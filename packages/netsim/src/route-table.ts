/** A forwarding table from IPv4 addresses to ports, with hit counters. */
import { checkInteger } from './checks.js';

const NONE = -1;

/**
 * Exact matches of 32-bit addresses. Like the rules of a switch, entries are numbered 0, 1, 2, ... in the order in which
 * their addresses were first set.
 */
export class RouteTable {
  /** Number of hits of each entry, modulo 2^32. Elements past `size` are 0. */
  hits: Uint32Array = new Uint32Array(16);
  readonly #entries = new Map<number, number>();
  readonly #ports: number[] = [];

  /** Number of entries. */
  get size(): number {
    return this.#ports.length;
  }

  /**
   * Sets the port of an address. An existing entry keeps its number and its hits.
   *
   * @param address 32-bit word, signed or unsigned
   * @param port 0 to 65535, else a RangeError
   */
  set(address: number, port: number): void {
    checkInteger('port', port, 0, 0xffff);
    const known = this.entryOf(address);
    if (known !== NONE) {
      this.#ports[known] = port;
      return;
    }
    this.#entries.set(address | 0, this.#ports.push(port) - 1);
    if (this.size <= this.hits.length) return;
    const { hits } = this;
    this.hits = new Uint32Array(2 * hits.length);
    this.hits.set(hits);
  }

  /** Number of an address's entry; -1 if there is none. */
  entryOf(address: number): number {
    return this.#entries.get(address | 0) ?? NONE;
  }

  /** Port of an entry. */
  portOf(entry: number): number {
    return this.#ports[entry]!;
  }

  /** Port for an address, counted as a hit; -1 if there is no entry. */
  lookup(address: number): number {
    const entry = this.#entries.get(address | 0);
    if (entry === undefined) return NONE;
    this.hits[entry] = this.hits[entry]! + 1;
    return this.#ports[entry]!;
  }
}
