/**
 * The hashes of blocks of simulated keys. They equal those of a store with the same family and seed, by the same code.
 */
import type { FamilyName } from '../layout.js';
import { hashParameters, KeyHashes } from '../store/hashes.js';
import { SIMULATED_KEY_BYTES, saltOf, writeKey } from './keys.js';

/** Keys of a block, few enough that their bytes and slots stay in the cache. */
export const BLOCK = 4096;

export class SimulatedHashes {
  readonly #slots: number;
  readonly #copies: number;
  /** Slots of the block's keys: row i's copy n at `i * copies + n`. */
  readonly places: Uint32Array;
  /** Checksum hashes of the block's keys, not truncated. */
  readonly checksums: Uint32Array = new Uint32Array(BLOCK);
  readonly #hashes: KeyHashes;
  readonly #salt: number;
  readonly #bytes = new Uint8Array(SIMULATED_KEY_BYTES);
  readonly #hashed: Uint32Array;

  constructor(slots: number, copies: number, family: FamilyName, seed: number) {
    this.#slots = slots;
    this.#copies = copies;
    this.places = new Uint32Array(BLOCK * copies);
    this.#hashed = new Uint32Array(copies);
    this.#hashes = new KeyHashes(hashParameters(family, seed));
    this.#salt = saltOf(seed);
  }

  /** Loads keys `first` to `first + count - 1`: fills {@link places} and {@link checksums}. */
  load(first: number, count: number): void {
    const { places, checksums } = this;
    const copies = this.#copies;
    const slots = this.#slots >>> 0;
    const bytes = this.#bytes;
    const hashed = this.#hashed;
    const salt = this.#salt;
    let at = 0;
    for (let row = 0; row < count; row++) {
      writeKey(first + row, salt, bytes);
      checksums[row] = this.#hashes.all(bytes, 0, SIMULATED_KEY_BYTES, copies, hashed);
      for (let copy = 0; copy < copies; copy++) places[at++] = hashed[copy]! % slots;
    }
  }

  /** The checksum hash of any key, not truncated. */
  checksumOf(id: number): number {
    writeKey(id, this.#salt, this.#bytes);
    return this.#hashes.checksum(this.#bytes, 0, SIMULATED_KEY_BYTES);
  }
}
