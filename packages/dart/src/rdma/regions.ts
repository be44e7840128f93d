/** Memory regions of a software RNIC: the access and the range that a remote key grants. */
import { whole } from '../layout.js';
import { ENTRY_WORDS, MOST_REGIONS, REGIONS_AT, STATE_WORD, REGION_WORD as WORD } from './rnic-state.js';
import type { RdmaTarget } from './target.js';

/** A memory region for RDMA. */
export interface RegionOptions {
  /** 32 bits. */
  readonly remoteKey: number;
  /** Virtual address of the target's first byte, 64 bits; a multiple of 8 if atomics are allowed. */
  readonly base: bigint;
  readonly target: RdmaTarget;
  /** Size in bytes, from the start of the target; all of it if absent. */
  readonly size?: number;
  /** Permitted operations. Default: write, no atomics. */
  readonly access?: { readonly write?: boolean; readonly atomic?: boolean };
}

const WORD_VALUES = 2 ** 32;

/** The regions in the state. The place of a region is the index of its first word. */
export class Regions {
  readonly #state: Uint32Array;
  readonly #targets: RdmaTarget[] = [];
  readonly #sizes: number[] = [];

  constructor(state: Uint32Array) {
    this.#state = state;
  }

  /** @throws RangeError for a number out of its range, a key that already exists, or too many regions */
  add({ remoteKey, base, target, size = target.byteLength, access = {} }: RegionOptions): void {
    const { write = true, atomic = false } = access;
    const index = this.#targets.length;
    whole('remoteKey', remoteKey, 0, WORD_VALUES - 1);
    if (this.find(remoteKey) >= 0) throw new RangeError(`remote key ${remoteKey} is there already`);
    if (index === MOST_REGIONS) throw new RangeError(`more than ${MOST_REGIONS} regions`);
    if (!(Number.isSafeInteger(size) && size >= 0 && size <= target.byteLength)) {
      throw new RangeError(`a region of ${size} bytes in ${target.byteLength}`);
    }
    if (base < 0n || base + BigInt(size) > 1n << 64n) {
      throw new RangeError(`${size} bytes at ${base} do not lie in 64 bits of addresses`);
    }
    if (atomic && base % 8n !== 0n) throw new RangeError(`atomics need a base that is a multiple of 8, not ${base}`);
    const place = REGIONS_AT + index * ENTRY_WORDS;
    const state = this.#state;
    state[place + WORD.REMOTE_KEY] = remoteKey;
    state[place + WORD.CAN_WRITE] = write ? 1 : 0;
    state[place + WORD.CAN_ATOMIC] = atomic ? 1 : 0;
    state[place + WORD.BASE_LOW] = Number(base & 0xffffffffn);
    state[place + WORD.BASE_HIGH] = Number(base >> 32n);
    state[place + WORD.SIZE_LOW] = size % WORD_VALUES;
    state[place + WORD.SIZE_HIGH] = Math.floor(size / WORD_VALUES);
    this.#targets.push(target);
    this.#sizes.push(size);
    state[STATE_WORD.REGIONS] = index + 1;
  }

  /** Binds a remote key to another target. @throws RangeError if the key does not exist, or the target is too small */
  rebind(remoteKey: number, target: RdmaTarget): void {
    const place = this.find(remoteKey);
    if (place < 0) throw new RangeError(`there is no remote key ${remoteKey}`);
    const index = this.#indexOf(place);
    if (target.byteLength < this.#sizes[index]!) {
      throw new RangeError(`the region has ${this.#sizes[index]} bytes, the target ${target.byteLength}`);
    }
    this.#targets[index] = target;
  }

  /** The place of a region; -1 if there is none. */
  find(remoteKey: number): number {
    const state = this.#state;
    const end = REGIONS_AT + this.#targets.length * ENTRY_WORDS;
    for (let place = REGIONS_AT; place < end; place += ENTRY_WORDS) {
      if (state[place + WORD.REMOTE_KEY] === remoteKey) return place;
    }
    return -1;
  }

  canWrite(place: number): boolean {
    return this.#state[place + WORD.CAN_WRITE] === 1;
  }

  canAtomic(place: number): boolean {
    return this.#state[place + WORD.CAN_ATOMIC] === 1;
  }

  targetOf(place: number): RdmaTarget {
    return this.#targets[this.#indexOf(place)]!;
  }

  /**
   * The offset in the target of a range of addresses. The address is two words: numbers have 53 bits, addresses 64.
   *
   * @returns -1 unless the whole range is inside
   */
  offsetOf(place: number, high: number, low: number, length: number): number {
    const state = this.#state;
    let lower = low - state[place + WORD.BASE_LOW]!;
    let upper = high - state[place + WORD.BASE_HIGH]!;
    if (lower < 0) {
      lower += WORD_VALUES;
      upper--;
    }
    // An address below the base wraps to a difference near 2^64, beyond any size.
    if (upper < 0 || upper >= 2 ** 21) return -1;
    const offset = upper * WORD_VALUES + lower;
    return offset + length <= this.#sizes[this.#indexOf(place)]! ? offset : -1;
  }

  #indexOf(place: number): number {
    return (place - REGIONS_AT) / ENTRY_WORDS;
  }
}
