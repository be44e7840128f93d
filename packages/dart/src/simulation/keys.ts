/**
 * Keys made from numbers: key i is a 13-byte IPv4 flow key (source, destination, protocol, ports). All keys differ. A
 * simulation stores the number of a key instead of checksum and value, and makes the key again when needed.
 */

/** `random`: pseudo-random 5-tuples. `sequential`: one server after another, with increasing source ports. */
export type KeyKind = 'random' | 'sequential';

/** Bytes of a key. */
export const SIMULATED_KEY_BYTES = 13;

/**
 * A bijection of the 32-bit numbers in which every output bit depends on every input bit (finaliser of MurmurHash3).
 */
function mix(value: number): number {
  let mixed = value | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** Writes keys as bytes. */
export class KeyWriter {
  readonly #isSequential: boolean;
  readonly #salt: number;

  /** @param seed determines random keys; has no effect on sequential ones */
  constructor(kind: KeyKind, seed: number) {
    this.#isSequential = kind === 'sequential';
    this.#salt = mix(seed ^ 0x5bd1e995);
  }

  /** Writes key `id`, 0..2^32 - 2, to the start of `out`. */
  write(id: number, out: Uint8Array): void {
    let source = 0x0a000000 + (id >>> 14);
    let destination = 0x0a800001;
    // Clients from 10.0.0.0 on, each with 2^14 connections to port 443 of one server.
    let ports = ((49152 + (id & 0x3fff)) << 16) | 443;
    let protocol = 6;
    if (!this.#isSequential) {
      // The source is a bijection of the number, so keys are distinct.
      source = mix(id ^ this.#salt);
      destination = mix(source + 0x9e3779b9);
      ports = mix(destination ^ 0x7f4a7c15);
      protocol = ((ports ^ source) & 0x100) === 0 ? 17 : 6;
    }
    out[0] = source >>> 24;
    out[1] = source >>> 16;
    out[2] = source >>> 8;
    out[3] = source;
    out[4] = destination >>> 24;
    out[5] = destination >>> 16;
    out[6] = destination >>> 8;
    out[7] = destination;
    out[8] = protocol;
    out[9] = ports >>> 24;
    out[10] = ports >>> 16;
    out[11] = ports >>> 8;
    out[12] = ports;
  }
}

/**
 * The bytes of a simulated key, to write the keys of a simulation into a `DartStore`.
 *
 * @param seed the seed of the simulation
 */
export function simulatedKey(id: number, seed = 0, kind: KeyKind = 'random'): Uint8Array {
  const bytes = new Uint8Array(SIMULATED_KEY_BYTES);
  new KeyWriter(kind, seed).write(id, bytes);
  return bytes;
}

/** A sequence of pseudo-random numbers (the "mulberry32" generator): 32 bits, unsigned. */
export class Draws {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let value = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return (value ^ (value >>> 14)) >>> 0;
  }

  /** A number in 0..count - 1, for a small count. */
  below(count: number): number {
    return Math.floor((this.next() / 2 ** 32) * count);
  }
}
