/**
 * The hashes of a store: N for the slots, one for the checksum, one for the collector. All have 32 bits. Queries read
 * their parameters from the store's header.
 *
 * `xxhash`: let high and low be the words of xxh64 of the key. The hash with seed s is low xor f(high + s), where f is
 * the finaliser of MurmurHash3. Two keys that differ in these 64 bits collide independently under each seed.
 *
 * `crc`: CRC-32 of the key, with a polynomial per hash.
 *
 * Two alternatives are unsuitable. xxh32 with a seed per hash has a state of 32 bits and adds the seed once: far more
 * pairs of short keys than expected collide under several seeds. CRCs of one polynomial with different prefixes are
 * dependent: crc(n, key) = crc(key) xor c(n). If M is a power of two, keys that share one slot share all.
 */
import { CRC_32, type Crc, createCrc, xxh64Into, xxh64Words13Into } from '@int/hash';
import { wordAt } from '../big-endian.js';
import { type FamilyName, MAX_COPIES } from '../layout.js';

/** Seeds, or polynomials of CRC-32 (most significant bit first, x^32 left out); 32-bit numbers. */
export interface HashParameters {
  readonly family: FamilyName;
  /** The seed of xxh64; 0 in the family `crc`. */
  readonly key: number;
  /** `MAX_COPIES` parameters; a store of N copies uses the first N. */
  readonly slots: readonly number[];
  readonly checksum: number;
  readonly collector: number;
}

/**
 * Polynomials of degree 32; no two are equal or reciprocal. Those of the slots are Castagnoli (32C), Koopman (32K),
 * 32Q, 32D, AUTOSAR, then three more that are in use for frames. They must be independent maps, which is tested; how
 * many errors they detect matters little here. The checksum uses Ethernet's polynomial, which every target has.
 */
const CRC_SLOTS = [
  0x1edc6f41, 0x741b8cd7, 0x814141ab, 0xa833982b, 0xf4acfb13, 0x32583499, 0x20044009, 0xf1922815,
] as const;
const CRC_CHECKSUM = 0x04c11db7;
const CRC_COLLECTOR = 0x32c00699;

/**
 * The finaliser of MurmurHash3: a permutation of the 32-bit numbers in which every output bit depends on every input
 * bit. Signed.
 */
export function finalise(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** The seed of one hash. */
function derive(seed: number, use: number): number {
  return finalise((seed + Math.imul(use, 0x9e3779b9)) | 0) >>> 0;
}

/**
 * The parameters of a family.
 *
 * @param seed determines the seeds of `xxhash`, 32 bits; `crc` always has the same polynomials
 */
export function hashParameters(family: FamilyName, seed = 0): HashParameters {
  if (family === 'crc') {
    return { family, key: 0, slots: CRC_SLOTS, checksum: CRC_CHECKSUM, collector: CRC_COLLECTOR };
  }
  if (family !== 'xxhash') throw new RangeError(`the family of hashes must be xxhash or crc, not ${String(family)}`);
  return {
    family,
    key: seed >>> 0,
    slots: Array.from({ length: MAX_COPIES }, (_, copy) => derive(seed, copy + 1)),
    checksum: derive(seed, MAX_COPIES + 1),
    collector: derive(seed, MAX_COPIES + 2),
  };
}

/** CRCs by polynomial, so that tables are built only once. */
const CRCS = /* @__PURE__ */ new Map<number, Crc>();

function crcOf(polynomial: number): Crc {
  let crc = CRCS.get(polynomial);
  if (crc === undefined) {
    crc = createCrc({ ...CRC_32, polynomial });
    CRCS.set(polynomial, crc);
  }
  return crc;
}

/** Computes the hashes of keys: 32-bit unsigned results over the bytes of a key. */
export class KeyHashes {
  readonly parameters: HashParameters;
  readonly #crcs: readonly Crc[];
  /** xxh64 of the key last hashed: low word, high word. */
  readonly #words = new Uint32Array(2);

  constructor(parameters: HashParameters) {
    this.parameters = parameters;
    const { family, slots, checksum, collector } = parameters;
    const all = family === 'crc' ? [...slots, checksum, collector] : [];
    this.#crcs = all.map(crcOf);
  }

  /** The hash for slot `copy` of a key. The slot's number is this modulo M. */
  slot(copy: number, bytes: Uint8Array, offset: number, length: number): number {
    return this.#hash(copy, this.parameters.slots[copy]!, bytes, offset, length);
  }

  /** The hash for the checksum, before truncation to its lower bits. */
  checksum(bytes: Uint8Array, offset: number, length: number): number {
    return this.#hash(MAX_COPIES, this.parameters.checksum, bytes, offset, length);
  }

  /** The hash for the collector. The collector's number is this modulo the number of collectors. */
  collector(bytes: Uint8Array, offset: number, length: number): number {
    return this.#hash(MAX_COPIES + 1, this.parameters.collector, bytes, offset, length);
  }

  /**
   * Writes the hashes of the first `copies` slots, not reduced modulo M, into `out`.
   * @returns the hash for the checksum
   */
  all(bytes: Uint8Array, offset: number, length: number, copies: number, out: Uint32Array): number {
    const crcs = this.#crcs;
    if (crcs.length > 0) return this.#allCrcs(bytes, offset, length, copies, out);
    const { slots, checksum } = this.parameters;
    this.#xxhash(bytes, offset, length);
    const low = this.#words[0]!;
    const high = this.#words[1]!;
    for (let copy = 0; copy < copies; copy++) out[copy] = low ^ finalise((high + slots[copy]!) | 0);
    return (low ^ finalise((high + checksum) | 0)) >>> 0;
  }

  #allCrcs(bytes: Uint8Array, at: number, length: number, copies: number, out: Uint32Array): number {
    const crcs = this.#crcs;
    if (length !== 13) {
      for (let copy = 0; copy < copies; copy++) out[copy] = crcs[copy]!.digest(bytes, at, length);
      return crcs[MAX_COPIES]!.digest(bytes, at, length);
    }
    // IPv4 flow keys are the most frequent: read their words only once.
    const word0 = wordAt(bytes, at);
    const word4 = wordAt(bytes, at + 4);
    const byte8 = bytes[at + 8]!;
    const word9 = wordAt(bytes, at + 9);
    for (let copy = 0; copy < copies; copy++) out[copy] = crcs[copy]!.flowIpv4(word0, word4, byte8, word9);
    return crcs[MAX_COPIES]!.flowIpv4(word0, word4, byte8, word9);
  }

  #hash(use: number, parameter: number, bytes: Uint8Array, offset: number, length: number): number {
    const crc = this.#crcs[use];
    if (crc !== undefined) return crc.digest(bytes, offset, length);
    this.#xxhash(bytes, offset, length);
    return (this.#words[0]! ^ finalise((this.#words[1]! + parameter) | 0)) >>> 0;
  }

  #xxhash(bytes: Uint8Array, at: number, length: number): void {
    const words = this.#words;
    const { key } = this.parameters;
    if (length !== 13) xxh64Into(words, bytes, at, length, key);
    else xxh64Words13Into(words, wordAt(bytes, at), wordAt(bytes, at + 4), bytes[at + 8]!, wordAt(bytes, at + 9), key);
  }
}

/** The lower `bits` bits of a checksum hash; 1 for 0. */
export function cutChecksum(hash: number, bits: number): number {
  return (bits === 32 ? hash >>> 0 : hash & (2 ** bits - 1)) || 1;
}
