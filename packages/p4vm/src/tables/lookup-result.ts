import type { DataType } from '../ir/program.js';
import type { RuntimeValue } from '../machine/runtime.js';
import { fromWords } from './data-width.js';
import type { BoundAction } from './table.js';

/** What a result needs of its table. */
export interface ResultOwner {
  /** Types of an action's data, by its position. */
  dataTypes(action: number): readonly DataType[];
  handleOf(slot: number): number;
}

/** A result of lookups, which the table fills again and again. */
export class LookupResult implements BoundAction {
  action = -1;
  isHit = false;
  /** Of the entry; -1 for the default action. */
  slot = -1;
  readonly #owner: ResultOwner;

  constructor(
    owner: ResultOwner,
    public words: Int32Array,
  ) {
    this.#owner = owner;
  }

  get handle(): number {
    return this.slot < 0 ? -1 : this.#owner.handleOf(this.slot);
  }

  get data(): readonly RuntimeValue[] {
    return this.action < 0 ? [] : fromWords(this.#owner.dataTypes(this.action), this.words);
  }

  copy(): BoundAction {
    const copy = new LookupResult(this.#owner, this.words.slice());
    copy.action = this.action;
    copy.isHit = this.isHit;
    copy.slot = this.slot;
    return copy;
  }
}
