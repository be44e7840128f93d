/**
 * Keys made from numbers: key i is a pseudo-random 13-byte IPv4 flow key (source, destination, protocol, ports). All
 * keys differ. A simulation stores the number of a key instead of checksum and value, and makes the key again when needed.
 */

import { finalise } from '../store/hashes.js';

/** Bytes of a key. */
export const SIMULATED_KEY_BYTES = 13;

/** What a seed adds to the numbers of keys. */
export function saltOf(seed: number): number {
  return finalise(seed ^ 0x5bd1e995);
}

/** Writes key `id`, 0..2^32 - 2, to the start of `out`. The source address is a bijection of it, so keys are distinct. */
export function writeKey(id: number, salt: number, out: Uint8Array): void {
  const source = finalise(id ^ salt);
  const destination = finalise(source + 0x9e3779b9);
  const ports = finalise(destination ^ 0x7f4a7c15);
  out[0] = source >>> 24;
  out[1] = source >>> 16;
  out[2] = source >>> 8;
  out[3] = source;
  out[4] = destination >>> 24;
  out[5] = destination >>> 16;
  out[6] = destination >>> 8;
  out[7] = destination;
  out[8] = ((ports ^ source) & 0x100) === 0 ? 17 : 6;
  out[9] = ports >>> 24;
  out[10] = ports >>> 16;
  out[11] = ports >>> 8;
  out[12] = ports;
}

/**
 * The bytes of a simulated key, to write the keys of a simulation into a `DartStore`.
 *
 * @param seed the seed of the simulation
 */
export function simulatedKey(id: number, seed = 0): Uint8Array {
  const bytes = new Uint8Array(SIMULATED_KEY_BYTES);
  writeKey(id, saltOf(seed), bytes);
  return bytes;
}
