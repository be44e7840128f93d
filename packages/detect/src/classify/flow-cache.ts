import { FLAG, type TelemetryBatch } from '@int/codec';

const ROWS_BITS = 16;
const ROWS = 1 << ROWS_BITS;
const WORDS = 16;
const MACS_KNOWN = 1 << 9;
const IS_IPV6 = 1 << 8;
const NOT_FOUND = -1;

/**
 * The outcomes of the last lookups of some ten thousand flows, because reports of one flow tend to follow each other. A
 * flow has one place, where it replaces what was there. A change of the rules empties the cache.
 *
 *   0        generation of the rules at which the outcome was found
 *   1        outcome
 *   2        ports
 *   3        protocol | IS_IPV6 | MACS_KNOWN
 *   4..7     source address, IPv4 in word 4
 *   8..11    destination address, IPv4 in word 8
 *   12..14   MAC addresses, if they are known and rules ask for any
 */
export class FlowCache {
  readonly #words: Int32Array = new Int32Array(ROWS * WORDS);
  #generation = 1;

  get byteLength(): number {
    return this.#words.byteLength;
  }

  /** Forgets all flows. */
  clear(): void {
    this.#generation = (this.#generation + 1) | 0;
    if (this.#generation !== 0) return;
    // All numbers have been used once; 0 marks an empty row.
    this.#words.fill(0);
    this.#generation = 1;
  }

  /**
   * Looks for the flow of a report; writes it into its place if it is not there.
   *
   * @param macs its MAC addresses, see {@link readMacs}
   * @returns its place, for {@link outcome}; if it was not there, -1 minus its place, for {@link keep}, which must
   *   follow
   */
  find(batch: TelemetryBatch, report: number, macs: Int32Array): number {
    const words = this.#words;
    const ports = batch.ports[report]! | 0;
    const source0 = batch.source0[report]! | 0;
    const destination0 = batch.destination0[report]! | 0;
    let kind = batch.protocol[report]!;
    if (macs[0] !== 0) kind |= MACS_KNOWN;
    let hash = Math.imul(source0 ^ (source0 >>> 16), 0x9e3779b1) + Math.imul(ports ^ kind, 0xc2b2ae3d);
    hash = (hash + Math.imul(destination0 ^ (destination0 >>> 16), 0x85ebca77)) | 0;
    if ((batch.flags[report]! & FLAG.IPV6) === 0) {
      const at = place(hash);
      if (
        words[at] === this.#generation &&
        words[at + 2] === ports &&
        words[at + 3] === kind &&
        words[at + 4] === source0 &&
        words[at + 8] === destination0 &&
        ((kind & MACS_KNOWN) === 0 || this.#hasMacs(at, macs))
      ) {
        return at;
      }
      this.#write(at, ports, kind, source0, destination0, macs);
      return NOT_FOUND - at;
    }
    kind |= IS_IPV6;
    const source1 = batch.source1[report]! | 0;
    const source2 = batch.source2[report]! | 0;
    const source3 = batch.source3[report]! | 0;
    const destination1 = batch.destination1[report]! | 0;
    const destination2 = batch.destination2[report]! | 0;
    const destination3 = batch.destination3[report]! | 0;
    const upper = Math.imul(source1, 0x27d4eb2f) + Math.imul(destination1, 0x165667b1);
    const lower = Math.imul(source3 ^ source2, 0x27d4eb2f) + Math.imul(destination3 ^ destination2, 0xc2b2ae3d);
    hash = (hash + upper) | 0;
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca77);
    const at = place((hash + lower) | 0);
    if (
      words[at] === this.#generation &&
      words[at + 2] === ports &&
      words[at + 3] === kind &&
      words[at + 4] === source0 &&
      words[at + 5] === source1 &&
      words[at + 6] === source2 &&
      words[at + 7] === source3 &&
      words[at + 8] === destination0 &&
      words[at + 9] === destination1 &&
      words[at + 10] === destination2 &&
      words[at + 11] === destination3 &&
      ((kind & MACS_KNOWN) === 0 || this.#hasMacs(at, macs))
    ) {
      return at;
    }
    this.#write(at, ports, kind, source0, destination0, macs);
    words[at + 5] = source1;
    words[at + 6] = source2;
    words[at + 7] = source3;
    words[at + 9] = destination1;
    words[at + 10] = destination2;
    words[at + 11] = destination3;
    return NOT_FOUND - at;
  }

  outcome(at: number): number {
    return this.#words[at + 1]!;
  }

  /** @param miss what {@link find} returned */
  keep(miss: number, outcome: number): void {
    this.#words[NOT_FOUND - miss + 1] = outcome;
  }

  #hasMacs(at: number, macs: Int32Array): boolean {
    const words = this.#words;
    return words[at + 12] === macs[1] && words[at + 13] === macs[2] && words[at + 14] === macs[3];
  }

  #write(at: number, ports: number, kind: number, source: number, destination: number, macs: Int32Array): void {
    const words = this.#words;
    words[at] = this.#generation;
    words[at + 2] = ports;
    words[at + 3] = kind;
    words[at + 4] = source;
    words[at + 8] = destination;
    words[at + 12] = macs[1]!;
    words[at + 13] = macs[2]!;
    words[at + 14] = macs[3]!;
  }
}

function place(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x165667b1);
  return (mixed >>> (32 - ROWS_BITS)) * WORDS;
}
