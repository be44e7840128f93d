/** Instances of sinks to remember; the one not heard for longest is forgotten first. */
const INSTANCES = 1024;

interface Instance {
  readonly high: number;
  readonly low: number;
  /** Largest number seen. */
  largest: number;
  /** `largest` has changed since `changes`. */
  changed: boolean;
}

/** An instance of a sink, and the largest number seen of it. */
export interface LargestNumber {
  /** 64 bits, upper and lower. */
  readonly high: number;
  readonly low: number;
  /** null: forgotten. */
  readonly number: number | null;
}

/**
 * Knows the records of a partition that it has seen before.
 *
 * A sink numbers its records and writes them to a partition in the order of their numbers. When it does not know whether
 * a batch has arrived it writes it once more, so a number that is not larger than the largest so far is a
 * repeat.
 */
export class Repeats {
  /** The latest heard at the end. */
  readonly #instances: Instance[] = [];
  /** Forgotten since `changes`. */
  #gone: Instance[] = [];

  /** Whether it is new; then it is remembered. */
  isNew(high: number, low: number, number: number): boolean {
    const last = this.#instances.at(-1);
    if (last !== undefined && last.high === high && last.low === low) return isLarger(last, number);
    const at = this.#instances.findIndex((one) => one.high === high && one.low === low);
    if (at < 0) {
      this.#add({ high, low, largest: number, changed: true });
      return true;
    }
    const [found] = this.#instances.splice(at, 1);
    this.#instances.push(found!);
    return isLarger(found!, number);
  }

  /** Puts back what {@link changes} gave, into one that has seen nothing. */
  restore(high: number, low: number, largest: number): void {
    this.#instances.push({ high, low, largest, changed: false });
  }

  /** What has changed since the last call. */
  changes(): LargestNumber[] {
    const changes: LargestNumber[] = [];
    for (const one of this.#instances) {
      if (one.changed) changes.push({ high: one.high, low: one.low, number: one.largest });
      one.changed = false;
    }
    for (const { high, low } of this.#gone) changes.push({ high, low, number: null });
    this.#gone = [];
    return changes;
  }

  #add(instance: Instance): void {
    this.#gone = this.#gone.filter(({ high, low }) => high !== instance.high || low !== instance.low);
    this.#instances.push(instance);
    while (this.#instances.length > INSTANCES) this.#gone.push(this.#instances.shift()!);
  }
}

function isLarger(instance: Instance, number: number): boolean {
  if (number <= instance.largest) return false;
  instance.largest = number;
  instance.changed = true;
  return true;
}
