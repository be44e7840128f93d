/** A store as the paper tells it: an array of slots that hold a checksum and a value. Its hashes are computed by others. */

import type { Policy } from '@int/dart';
import { createVariableLengthHasher } from '@int/hash';

const xxhash = await createVariableLengthHasher();

/** CRC-32 bit by bit, as Ethernet's but for the polynomial. */
export function bitwiseCrc(polynomial: number, bytes: Uint8Array): number {
  let register = 0xffffffff;
  const mirror = (value: number, bits: number): number => {
    let out = 0;
    for (let bit = 0; bit < bits; bit++) out = (out << 1) | ((value >>> bit) & 1);
    return out >>> 0;
  };
  for (const byte of bytes) {
    register ^= mirror(byte, 8) << 24;
    for (let bit = 0; bit < 8; bit++) register = register & 0x80000000 ? (register << 1) ^ polynomial : register << 1;
  }
  return (mirror(register >>> 0, 32) ^ 0xffffffff) >>> 0;
}

/** The finaliser of MurmurHash3, in integers without bounds. */
function finalise(word: bigint): bigint {
  let mixed = ((word ^ (word >> 16n)) * 0x85ebca6bn) & 0xffffffffn;
  mixed = ((mixed ^ (mixed >> 13n)) * 0xc2b2ae35n) & 0xffffffffn;
  return mixed ^ (mixed >> 16n);
}

/** The hash of a use in the family `xxhash`. */
function useOfXxh64(keySeed: number, useSeed: number, key: Uint8Array): number {
  const hash = xxhash.xxh64(key, 0, undefined, BigInt(keySeed));
  return Number((hash & 0xffffffffn) ^ finalise(((hash >> 32n) + BigInt(useSeed)) & 0xffffffffn));
}

export interface ModelOptions {
  readonly slots: number;
  readonly checksumBits: number;
  readonly copies: number;
  readonly family: 'xxhash' | 'crc';
  readonly parameters: { readonly key: number; readonly slots: readonly number[]; readonly checksum: number };
}

export interface ModelAnswer {
  readonly status: 'value' | 'absent' | 'conflict';
  readonly value: string | null;
  readonly matching: number;
  readonly agreeing: number;
}

export class ModelStore {
  readonly slots: ({ checksum: number; value: string } | undefined)[];
  readonly #options: ModelOptions;

  constructor(options: ModelOptions) {
    this.#options = options;
    this.slots = new Array(options.slots);
  }

  #hash(parameter: number, key: Uint8Array): number {
    const { family, parameters } = this.#options;
    return family === 'crc' ? bitwiseCrc(parameter, key) : useOfXxh64(parameters.key, parameter, key);
  }

  slotOf(key: Uint8Array, copy: number): number {
    return this.#hash(this.#options.parameters.slots[copy]!, key) % this.#options.slots;
  }

  checksumOf(key: Uint8Array): number {
    const cut = this.#hash(this.#options.parameters.checksum, key) % 2 ** this.#options.checksumBits;
    return cut === 0 ? 1 : cut;
  }

  write(key: Uint8Array, value: string, copies: readonly number[]): void {
    for (const copy of copies) this.slots[this.slotOf(key, copy)] = { checksum: this.checksumOf(key), value };
  }

  query(key: Uint8Array, policy: Policy): ModelAnswer {
    const numbers = new Set(Array.from({ length: this.#options.copies }, (_, copy) => this.slotOf(key, copy)));
    const checksum = this.checksumOf(key);
    const values = [...numbers].flatMap((at) => {
      const slot = this.slots[at];
      return slot !== undefined && slot.checksum === checksum ? [slot.value] : [];
    });
    const matching = values.length;
    if (matching === 0) return { status: 'absent', value: null, matching, agreeing: 0 };
    const tally = new Map<string, number>();
    for (const value of values) tally.set(value, (tally.get(value) ?? 0) + 1);
    const ranked = [...tally].sort((a, b) => b[1] - a[1]);
    const [value, agreeing] = ranked[0]!;
    const isTied = ranked[1]?.[1] === agreeing;
    const least = typeof policy === 'object' ? policy.consensus : 1;
    const decides = policy === 'single' ? tally.size === 1 : !isTied && agreeing >= least;
    return decides
      ? { status: 'value', value, matching, agreeing }
      : { status: 'conflict', value: null, matching, agreeing: 0 };
  }
}
