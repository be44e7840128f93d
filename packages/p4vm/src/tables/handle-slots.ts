import { refuse } from './control-error.js';
import { LowestFree } from './lowest-free.js';

/** The low 24 bits of a handle are its slot. The bits above count the earlier uses of the slot. */
export const SLOT_MASK = 0x00ffffff;

/**
 * Allocates slots and handles: always the lowest free slot. A handle is the slot with a version above it. The version
 * counts releases modulo 256, so that an outdated handle is detected.
 */
export class HandleSlots {
  readonly #used: boolean[] = [];
  readonly #versions: number[] = [];
  readonly #free = new LowestFree();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  isUsed(slot: number): boolean {
    return this.#used[slot] === true;
  }

  handleOf(slot: number): number {
    return (((this.#versions[slot] ?? 0) << 24) | slot) >>> 0;
  }

  /** Takes the lowest free slot. */
  take(): number {
    const slot = this.#free.take();
    this.#used[slot] = true;
    this.#versions[slot] ??= 0;
    this.#count++;
    return slot;
  }

  release(slot: number): void {
    this.#used[slot] = false;
    this.#versions[slot] = ((this.#versions[slot] ?? 0) + 1) & 0xff;
    this.#free.release(slot);
    this.#count--;
  }

  /**
   * The slot of a handle.
   *
   * @throws ControlError `ERR_CONTROL_BAD_HANDLE` if there is no entry in its slot, `ERR_CONTROL_EXPIRED_HANDLE` if there is another one
   */
  slotOf(handle: number): number {
    if (!Number.isInteger(handle) || handle < 0 || handle > 0xffffffff)
      refuse('ERR_CONTROL_BAD_HANDLE', `${handle} is not a handle`);
    const slot = handle & SLOT_MASK;
    if (this.#used[slot] !== true) refuse('ERR_CONTROL_BAD_HANDLE', `there is no entry with handle ${handle}`);
    if (this.#versions[slot] !== handle >>> 24)
      refuse('ERR_CONTROL_EXPIRED_HANDLE', `the entry with handle ${handle} was deleted`);
    return slot;
  }

  /** Frees all slots and forgets the versions. */
  clear(): void {
    this.#used.length = 0;
    this.#versions.length = 0;
    this.#free.clear();
    this.#count = 0;
  }
}
