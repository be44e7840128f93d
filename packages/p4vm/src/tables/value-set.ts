import type { Memory } from '../budget/memory.js';
import type { KeyMatch, ValueSet } from '../ir/program.js';
import { entryBytes } from '../ir/state-bytes.js';
import type { RuntimeValue } from '../machine/runtime.js';
import { refuse } from './control-error.js';
import { canonicalMatch, type KeyShape, shapeOf } from './key-match.js';
import { KeyWords } from './key-words.js';
import { LowestFree } from './lowest-free.js';
import { createMatchIndex, type MatchIndex } from './match-index.js';
import type { ValueSetRuntime } from './table.js';

/** A parser value set: members, each with a match per key. The declared size is not enforced, as in the reference switch. */
export class ParserValueSet implements ValueSetRuntime {
  readonly shapes: readonly KeyShape[];
  readonly #index: MatchIndex;
  readonly #words: KeyWords;
  readonly #members: (readonly KeyMatch[] | undefined)[] = [];

  readonly #free = new LowestFree();

  /** @param memory memory for members; unlimited if absent */
  constructor(
    readonly declaration: ValueSet,
    readonly memory?: Memory,
  ) {
    this.shapes = declaration.keys.map(shapeOf);
    this.#index = createMatchIndex(this.shapes);
    this.#words = new KeyWords(this.shapes.map((shape) => shape.width));
  }

  /** Bits of all keys together. */
  get width(): number {
    return this.shapes.reduce((sum, shape) => sum + shape.width, 0);
  }

  matches(...keys: readonly RuntimeValue[]): boolean {
    return this.#index.find(this.#words.load(keys)) >= 0;
  }

  /**
   * Adds a member. Does nothing if it exists already.
   *
   * @throws ControlError `ERR_CONTROL_WRONG_ARITY`, `ERR_CONTROL_BAD_MATCH`, `ERR_CONTROL_VALUE_TOO_WIDE`,
   *   `ERR_CONTROL_NO_ROOM`
   */
  add(keys: readonly KeyMatch[]): void {
    const matches = this.#canonical(keys);
    if (this.#index.equal(matches, 0) >= 0) return;
    if (this.memory?.take(this.#memberBytes) === false)
      refuse('ERR_CONTROL_NO_ROOM', `there is no memory left for value set ${this.declaration.name}`);
    const slot = this.#free.take();
    this.#members[slot] = matches;
    this.#index.add(matches, 0, slot);
  }

  /**
   * Removes a member. Does nothing if it does not exist.
   *
   * @throws ControlError `ERR_CONTROL_WRONG_ARITY`, `ERR_CONTROL_BAD_MATCH`, `ERR_CONTROL_VALUE_TOO_WIDE`
   */
  remove(keys: readonly KeyMatch[]): void {
    const matches = this.#canonical(keys);
    const slot = this.#index.equal(matches, 0);
    if (slot < 0) return;
    this.#index.remove(matches, 0, slot);
    this.#members[slot] = undefined;
    this.#free.release(slot);
    this.memory?.giveBack(this.#memberBytes);
  }

  /** Whether a member with these matches exists. @throws as {@link add} on bad keys */
  has(keys: readonly KeyMatch[]): boolean {
    return this.#index.equal(this.#canonical(keys), 0) >= 0;
  }

  members(): readonly (readonly KeyMatch[])[] {
    return this.#members.filter((member) => member !== undefined);
  }

  clear(): void {
    this.memory?.giveBack(this.members().length * this.#memberBytes);
    this.#index.clear();
    this.#free.clear();
    this.#members.length = 0;
  }

  get #memberBytes(): number {
    return entryBytes(this.declaration.keys);
  }

  #canonical(keys: readonly KeyMatch[]): readonly KeyMatch[] {
    if (keys.length !== this.shapes.length)
      refuse(
        'ERR_CONTROL_WRONG_ARITY',
        `value set ${this.declaration.name} needs ${this.shapes.length} values, not ${keys.length}`,
      );
    return keys.map((match, i) => canonicalMatch(this.shapes[i]!, match));
  }
}
