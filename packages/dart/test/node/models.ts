/** Epochs as they should be: a store each, written as the real one is, and asked as it is. */

import { type Answer, DartStore, type DartStoreOptions, type Policy } from '@int/dart';
import type { EpochStore } from '@int/dart/node';
import { expect } from 'vitest';

export class Models {
  readonly #options: DartStoreOptions;
  readonly #epochs = new Map<bigint, DartStore>();

  constructor(options: DartStoreOptions) {
    this.#options = { ...options, engine: 'plain', shared: false };
  }

  /** The store of an epoch. */
  of(epoch: bigint): DartStore {
    const found = this.#epochs.get(epoch) ?? new DartStore(this.#options);
    this.#epochs.set(epoch, found);
    return found;
  }

  /** Asks a store for keys in all its epochs, and compares; every epoch of the models has to be there. */
  async expectSame(store: EpochStore, keys: readonly Uint8Array[], policy: Policy = 'plurality'): Promise<void> {
    const answers = await store.queryMany(keys, { from: 0n, policy });
    for (const [epoch, model] of this.#epochs) {
      const expected = keys.map((key) => text(model.query(key, policy)));
      const found = answers.map((all) => text(all.find((one) => one.epoch === epoch)?.answer));
      const wrong = keys.findIndex((_, row) => found[row] !== expected[row]);
      expect([epoch, wrong, found[wrong]]).toEqual([epoch, -1, expected[wrong]]);
    }
  }
}

/** Thousands of answers are compared as text: that is much faster. */
function text(answer: Answer | undefined): string {
  if (answer === undefined) return 'no such epoch';
  const { status, value, matching, agreeing } = answer;
  return `${status} ${matching} ${agreeing} ${value === null ? '' : Buffer.from(value).toString('hex')}`;
}
