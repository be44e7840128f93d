/** Simulates one epoch: writes all keys, queries all keys, and compares with theory. */
import { type FamilyName, MAX_COPIES, slotBytesOf, slotsFor } from '../layout.js';
import type { Policy } from '../store/policy.js';
import { AdaptiveCopies, adaptiveOutcomes } from '../theory/adaptive-copies.js';
import { type AgeRange, ALL_AGES, averageOverAges } from '../theory/ages.js';
import { arrivingCopies, distinctSlots, meanOf } from '../theory/distinct-slots.js';
import { insertionSuccess } from '../theory/insertion.js';
import { OutcomeModel, type Outcomes } from '../theory/outcomes.js';
import { overwriteProbabilityWithModuloBias } from '../theory/overwriting.js';
import type { KeyKind } from './keys.js';
import { SimulatedStore, type WriteOptions } from './simulated-store.js';

export interface SimulateOptions extends WriteOptions {
  /** K: keys of the epoch. */
  readonly keys: number;
  /** Memory: M, or bytes of all slots, or bytes of slots per key. Give one of the three. */
  readonly slots?: number;
  readonly memoryBytes?: number;
  readonly bytesPerFlow?: number;
  /** N; 2 if absent. With `adaptive` it is the most copies; then 8 if absent. */
  readonly copies?: number;
  /** Bytes of a value; 20 if absent. Only the memory depends on it. */
  readonly valueBytes?: number;
  /** 32 if absent. */
  readonly checksumBits?: number;
  /** `plurality` if absent. */
  readonly policy?: Policy;
  /** `xxhash` if absent. */
  readonly hash?: FamilyName;
  /** Seed; 0 if absent. The same seed gives the same result. */
  readonly seed?: number;
  /** `random` if absent. Theory assumes random keys. */
  readonly keyKind?: KeyKind;
  /** Number of age ranges of equal size; 10 if absent. */
  readonly ageRanges?: number;
  /** Share of the keys, written first, that `oldest` in the result covers; 0.01 if absent. */
  readonly oldestFraction?: number;
  /** Receives the outcome of each key (see `OUTCOME`); at least K long. */
  readonly outcomes?: Uint8Array;
  /** Called at intervals with the completed share of the work, 0..1. */
  readonly onProgress?: (done: number) => void;
}

/** Shares of keys by outcome. */
export interface SimulatedShares extends Outcomes {
  /** absent + conflict. */
  readonly empty: number;
}

/** Shares of keys of an age range. The key written last has age 0, the first age 1. */
export interface SimulatedAges extends SimulatedShares {
  readonly from: number;
  readonly to: number;
  readonly keys: number;
  /** Success by theory for the same ages. */
  readonly theory: number;
}

export interface SimulationResult extends SimulatedShares {
  readonly keys: number;
  readonly slots: number;
  /** Bytes of the slots of such a store; the simulation itself takes 4 bytes per slot. */
  readonly bytes: number;
  /** Keys / slots. */
  readonly load: number;
  readonly copies: number;
  /** Writes that reached a slot, of all keys. */
  readonly slotWrites: number;
  /** The same shares by theory, over all keys. For `insert`, theory gives only the success. */
  readonly theory: { readonly success: number } & Partial<SimulatedShares>;
  /** The first-written keys. */
  readonly oldest: SimulatedAges;
  /** From the youngest keys to the oldest. */
  readonly ages: readonly SimulatedAges[];
}

/** The outcomes of a range of ages by theory. */
function theoryOf(
  options: SimulateOptions,
  slots: number,
  copies: number,
): (ages: AgeRange) => { success: number } & Partial<Outcomes> {
  const { keys, checksumBits = 32, policy = 'plurality', writing = 'all', reports = 1, loss = 0, packets } = options;
  const load = keys / slots;
  if (writing === 'insert') {
    return (ages) => ({ success: averageOverAges((age) => insertionSuccess(load, age), ages) });
  }
  if (writing === 'adaptive' && options.adaptive !== undefined) {
    const { adaptive } = options;
    return (ages) => adaptiveOutcomes({ load, adaptive, checksumBits, policy, ages });
  }
  const base = { copies, checksumBits, policy };
  let model = new OutcomeModel(base);
  let mean = copies;
  if (writing === 'random' || loss > 0) {
    let written = arrivingCopies(copies, loss);
    if (writing === 'random') written = distinctSlots(copies, reports, loss);
    else if (packets === 'key')
      written = written.map((_, count) => (count === 0 ? loss : count === copies ? 1 - loss : 0));
    model = new OutcomeModel({ ...base, written });
    mean = meanOf(written);
  }
  const overwritten = (since: number): number => overwriteProbabilityWithModuloBias(since, slots, mean);
  const foreign = overwritten(keys);
  return (ages) => {
    const outcome = (name: keyof Outcomes): number =>
      averageOverAges((age) => model.distinct(overwritten(age * keys), foreign)[name], ages);
    return {
      success: outcome('success'),
      absent: outcome('absent'),
      conflict: outcome('conflict'),
      wrong: outcome('wrong'),
    };
  };
}

/** Counts of outcomes of one age range. */
class Tally {
  readonly #counts = new Float64Array(4);
  keys = 0;

  add(outcomes: Uint8Array, from: number, to: number): void {
    const counts = this.#counts;
    for (let row = from; row < to; row++) counts[outcomes[row]!] = counts[outcomes[row]!]! + 1;
    this.keys += to - from;
  }

  /** Adds the counts of another range. */
  join(other: Tally): void {
    other.#counts.forEach((count, outcome) => {
      this.#counts[outcome] = this.#counts[outcome]! + count;
    });
    this.keys += other.keys;
  }

  shares(): SimulatedShares {
    const [success = 0, absent = 0, conflict = 0, wrong = 0] = this.#counts;
    const share = (count: number): number => (this.keys === 0 ? 0 : count / this.keys);
    return {
      success: share(success),
      absent: share(absent),
      conflict: share(conflict),
      wrong: share(wrong),
      empty: share(absent + conflict),
    };
  }
}

function resolveSlots({
  slots,
  memoryBytes: memory,
  bytesPerFlow,
  keys,
  valueBytes = 20,
  checksumBits = 32,
}: SimulateOptions): number {
  if (slots !== undefined) return slots;
  const bytes = memory ?? (bytesPerFlow === undefined ? undefined : bytesPerFlow * keys);
  if (bytes === undefined) throw new RangeError('a simulation needs slots, memory or bytesPerFlow');
  return slotsFor(bytes, valueBytes, checksumBits);
}

/**
 * Writes K keys into a store of M slots, queries all of them, and counts outcomes. Values are distinct, so every
 * foreign value is wrong. Takes 4 bytes of memory per slot. Deterministic: the same options give the same result.
 *
 * Theory comes from the functions of this package for the same ages, with the bias of the modulo, without terms of
 * order N^2 / M.
 *
 * @throws RangeError for an option out of its range, or if there is not enough memory
 *
 * @example
 * const { success, theory } = simulate({ keys: 100_000, bytesPerFlow: 300, copies: 4 });
 */
export function simulate(options: SimulateOptions): SimulationResult {
  const { keys, valueBytes = 20, checksumBits = 32, policy = 'plurality', hash, seed, keyKind } = options;
  const { ageRanges = 10, oldestFraction = 0.01, outcomes, onProgress } = options;
  const isAdaptive = options.writing === 'adaptive';
  const copies = options.copies ?? (isAdaptive ? (options.adaptive?.mostCopies ?? MAX_COPIES) : 2);
  const writes =
    isAdaptive && options.adaptive === undefined
      ? { ...options, adaptive: new AdaptiveCopies({ mostCopies: copies }) }
      : options;
  const slots = resolveSlots(options);
  if (!(Number.isInteger(ageRanges) && ageRanges >= 1))
    throw new RangeError(`ageRanges must be 1 or more: ${ageRanges}`);
  if (!(oldestFraction > 0 && oldestFraction <= 1)) {
    throw new RangeError(`oldestFraction must be above 0 up to 1, not ${oldestFraction}`);
  }
  if (outcomes !== undefined && outcomes.length < keys)
    throw new RangeError(`outcomes holds ${outcomes.length} of ${keys}`);
  const store = new SimulatedStore({
    keys,
    slots,
    copies,
    ...(hash === undefined ? {} : { hash }),
    ...(seed === undefined ? {} : { seed }),
    ...(keyKind === undefined ? {} : { keyKind }),
  });
  store.write(writes, onProgress && ((done) => onProgress(done / keys / 2)));
  const ranges = Array.from({ length: ageRanges }, () => new Tally());
  const old = new Tally();
  const oldKeys = Math.ceil(keys * oldestFraction);
  // The first key after range r, counted from the oldest.
  const end = (range: number): number => Math.floor(((range + 1) * keys) / ageRanges);
  let range = 0;
  store.query({ checksumBits, policy }, (block, first, count) => {
    if (first < oldKeys) old.add(block, 0, Math.min(count, oldKeys - first));
    for (let row = 0; row < count; ) {
      while (end(range) <= first + row) range++;
      const to = Math.min(count, end(range) - first);
      ranges[range]!.add(block, row, to);
      row = to;
    }
    outcomes?.set(count === block.length ? block : block.subarray(0, count), first);
    onProgress?.(0.5 + (first + count) / keys / 2);
  });
  const theory = theoryOf(writes, slots, copies);
  const withTheory = (tally: Tally, from: number, to: number): SimulatedAges => ({
    from,
    to,
    keys: tally.keys,
    ...tally.shares(),
    theory: theory({ from, to }).success,
  });
  const since = (key: number): number => (keys - key) / keys;
  const ages = ranges.map((tally, at) => withTheory(tally, since(end(at)), at === 0 ? 1 : since(end(at - 1))));
  const all = theory(ALL_AGES);
  const { absent, conflict } = all;
  return {
    keys,
    slots,
    bytes: slots * slotBytesOf(valueBytes, checksumBits),
    load: keys / slots,
    copies,
    slotWrites: store.slotWrites,
    ...totalOf(ranges),
    theory: { ...all, ...(absent === undefined || conflict === undefined ? {} : { empty: absent + conflict }) },
    oldest: withTheory(old, since(oldKeys), 1),
    ages: ages.reverse(),
  };
}

function totalOf(ranges: readonly Tally[]): SimulatedShares {
  const total = new Tally();
  for (const tally of ranges) total.join(tally);
  return total.shares();
}
