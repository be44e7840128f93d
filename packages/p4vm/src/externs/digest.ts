import type { RuntimeValue } from '../machine/runtime.js';

export interface DigestField {
  readonly name: string;
  readonly value: RuntimeValue;
}

/** One message from the program to the control plane. */
export interface Digest {
  /** First argument of `digest`. */
  readonly receiver: number;
  /** Name of the learn list: the name of the struct type, or `digest` for an anonymous one. */
  readonly name: string;
  readonly fields: readonly DigestField[];
  /** When it was sent, in microseconds since the switch began. */
  readonly timeUs: number;
}

/** Most fields of all kept digests together. */
const MAX_FIELDS = 1 << 19;

/**
 * Digests that were sent and not yet taken, oldest first. The queue keeps at most `limit` digests with half a million
 * fields together. It discards and counts the oldest ones beyond that.
 */
export class DigestQueue {
  #digests: Digest[] = [];
  #fields = 0;
  #lost = 0;

  constructor(readonly limit = 65_536) {}

  /** Number of digests discarded because nobody took them. */
  get lost(): number {
    return this.#lost;
  }

  get pending(): readonly Digest[] {
    return this.#digests;
  }

  push(digest: Digest): void {
    this.#digests.push(digest);
    this.#fields += digest.fields.length;
    while (this.#digests.length > this.limit || (this.#fields > MAX_FIELDS && this.#digests.length > 1)) {
      this.#fields -= this.#digests.shift()?.fields.length ?? 0;
      this.#lost++;
    }
  }

  /** Takes all digests, or all with one name. */
  take(name?: string): Digest[] {
    const taken = this.#digests.filter((digest) => name === undefined || digest.name === name);
    const rest = this.#digests.filter((digest) => name !== undefined && digest.name !== name);
    this.#digests = rest;
    this.#fields = rest.reduce((sum, { fields }) => sum + fields.length, 0);
    return taken;
  }

  reset(): void {
    this.#digests = [];
    this.#fields = 0;
    this.#lost = 0;
  }
}
