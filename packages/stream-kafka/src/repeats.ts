/** Most instances of sinks remembered; the one silent for longest is forgotten first. */
const INSTANCES = 1024;

interface Instance {
  readonly high: number;
  readonly low: number;
  /** Largest number seen. */
  largest: number;
  /** Whether `largest` has changed since `changes`. */
  changed: boolean;
}

/** An instance of a sink, and the largest record number seen of it. */
export interface LargestNumber {
  /** Id of the instance: 64 bits, upper and lower word. */
  readonly high: number;
  readonly low: number;
  /** The largest number; null if the instance was forgotten. */
  readonly number: number | null;
}

/**
 * Detects repeated records of a partition.
 *
 * A sink numbers its records and writes them to a partition in this order. If it does not know whether a batch has
 * arrived, it writes it again. A number not above the largest so far is therefore a repeat.
 */
export class Repeats {
  /** Instances by their last record, the latest at the end. */
  readonly #instances: Instance[] = [];
  /** Instances forgotten since `changes`. */
  #gone: Instance[] = [];

  /** Whether the record is new. Remembers its number. */
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

  /** Restores a change of {@link changes}. Call it before any record. */
  restore(high: number, low: number, largest: number): void {
    this.#instances.push({ high, low, largest, changed: false });
  }

  /** The changes since the last call. */
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
