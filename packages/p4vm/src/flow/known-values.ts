/** The knowledge of a value: it is one of `values`, or with `isNot` none of them. */
interface Known {
  readonly isNot: boolean;
  readonly values: readonly bigint[];
}

/** Nothing is known. */
export const ANY = 0;

/** Most values in a set. */
const MOST = 16;

/**
 * Sets of values by number, so that a state holds them in an array of numbers: equal sets have one number. 0 is the set of
 * all values.
 */
export class KnownValues {
  readonly #list: Known[] = [{ isNot: true, values: [] }];
  readonly #numbers = new Map<string, number>([['!', ANY]]);
  readonly #unions = new Map<number, number>();

  #number(isNot: boolean, values: readonly bigint[]): number {
    const sorted = [...new Set(values)].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    if (sorted.length > MOST) return ANY;
    const key = `${isNot ? '!' : ''}${sorted.join()}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#list.push({ isNot, values: sorted }) - 1;
      this.#numbers.set(key, number);
    }
    return number;
  }

  one(value: bigint): number {
    return this.#number(false, [value]);
  }

  /** All values but one. */
  not(value: bigint): number {
    return this.#number(true, [value]);
  }

  /** The value of a set with one element. */
  single(number: number): bigint | undefined {
    const { isNot, values } = this.#list[number]!;
    return !isNot && values.length === 1 ? values[0] : undefined;
  }

  has(number: number, value: bigint): boolean {
    const { isNot, values } = this.#list[number]!;
    return values.includes(value) !== isNot;
  }

  union(left: number, right: number): number {
    if (left === right) return left;
    if (left === ANY || right === ANY) return ANY;
    const pair = left < right ? left * 0x4000000 + right : right * 0x4000000 + left;
    let made = this.#unions.get(pair);
    if (made === undefined) {
      made = this.#union(this.#list[left]!, this.#list[right]!);
      this.#unions.set(pair, made);
    }
    return made;
  }

  #union(left: Known, right: Known): number {
    if (!left.isNot && !right.isNot) return this.#number(false, [...left.values, ...right.values]);
    if (left.isNot && right.isNot) {
      return this.#number(
        true,
        left.values.filter((each) => right.values.includes(each)),
      );
    }
    const [without, some] = left.isNot ? [left, right] : [right, left];
    return this.#number(
      true,
      without.values.filter((each) => !some.values.includes(each)),
    );
  }

  /** The set without one value; undefined if it is empty then. `bits` is the value's width, if it is small. */
  without(number: number, value: bigint, bits?: number): number | undefined {
    const { isNot, values } = this.#list[number]!;
    if (!isNot) {
      const left = values.filter((each) => each !== value);
      return left.length === 0 ? undefined : this.#number(false, left);
    }
    if (bits === 1) {
      const other = 1n - value;
      return this.has(number, other) ? this.one(other) : undefined;
    }
    return values.length === MOST ? number : this.#number(true, [...values, value]);
  }
}
