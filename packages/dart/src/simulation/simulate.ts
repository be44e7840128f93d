/** Simulates one epoch: writes all keys, queries all keys, and compares with theory. */
import { type FamilyName, slotBytesOf, slotsFor, whole } from '../layout.js';
import { type AgeRange, ALL_AGES } from '../theory/ages.js';
import { meanOutcomes, OutcomeModel, type OutcomeOptions, type Outcomes } from '../theory/outcomes.js';
import { overwriteProbabilityWithModuloBias } from '../theory/overwriting.js';
import { type BlockWriter, SimulatedStore } from './simulated-store.js';

export interface SimulateOptions extends Pick<OutcomeOptions, 'checksumBits' | 'policy'> {
  /** K: keys of the epoch. */
  readonly keys: number;
  /** Memory: M, or bytes of slots per key. Give one of the two. */
  readonly slots?: number;
  readonly bytesPerFlow?: number;
  /** N; 2 if absent. */
  readonly copies?: number;
  /** Bytes of a value; 20 if absent. Only the memory depends on it. */
  readonly valueBytes?: number;
  /** `xxhash` if absent. */
  readonly hash?: FamilyName;
  /** Seed; 0 if absent. The same seed gives the same result. */
  readonly seed?: number;
  /** Number of age ranges of equal size; 10 if absent. */
  readonly ageRanges?: number;
  /** Called at intervals with the completed share of the work, 0..1. */
  readonly onProgress?: (done: number) => void;
}

/** Shares of keys by outcome. */
export interface SimulatedShares extends Outcomes {
  /** absent + conflict. */
  readonly empty: number;
}

/** Shares of keys of an age range. The key written last has age 0, the first age 1. */
export interface SimulatedAges extends SimulatedShares, AgeRange {
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
  /** Number of slots written, for all keys. */
  readonly slotWrites: number;
  /** The same shares by theory, over all keys. */
  readonly theory: SimulatedShares;
  /** The first-written hundredth of the keys. */
  readonly oldest: SimulatedAges;
  /** From the youngest keys to the oldest. */
  readonly ages: readonly SimulatedAges[];
}

/** Another way of writing keys than all copies of each. */
export interface Writing {
  readonly writeBlock?: BlockWriter;
  /** The outcomes of keys of these ages by theory. */
  theory(ages: AgeRange): Outcomes;
}

/** Share of the keys, written first, that `oldest` in a result covers. */
const OLD = 0.01;

/** Counts of outcomes of one age range. */
class Tally {
  readonly #counts = new Float64Array(4);
  keys = 0;

  add(outcomes: Uint8Array, from: number, to: number): void {
    const counts = this.#counts;
    for (let row = from; row < to; row++) counts[outcomes[row]!] = counts[outcomes[row]!]! + 1;
    this.keys += to - from;
  }

  shares(): SimulatedShares {
    const [success = 0, absent = 0, conflict = 0, wrong = 0] = this.#counts.map((count) => count / (this.keys || 1));
    return withEmpty({ success, absent, conflict, wrong });
  }
}

function withEmpty(outcomes: Outcomes): SimulatedShares {
  return { ...outcomes, empty: outcomes.absent + outcomes.conflict };
}

/** The number of slots of a simulation. @throws RangeError without `slots` and `bytesPerFlow` */
export function slotsOf({ slots, bytesPerFlow, keys, valueBytes = 20, checksumBits = 32 }: SimulateOptions): number {
  if (slots !== undefined) return slots;
  if (bytesPerFlow === undefined) throw new RangeError('a simulation needs slots or bytesPerFlow');
  return slotsFor(bytesPerFlow * keys, valueBytes, checksumBits);
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
  const { keys, copies = 2, checksumBits = 32, policy = 'plurality' } = options;
  const slots = slotsOf(options);
  const model = new OutcomeModel({ copies, checksumBits, policy });
  const overwritten = (age: number): number => overwriteProbabilityWithModuloBias(age * keys, slots, copies);
  return simulateWriting(options, {
    theory: (ages) => meanOutcomes((age) => model.distinct(overwritten(age)), ages),
  });
}

/** {@link simulate} for keys that are written in another way. */
export function simulateWriting(options: SimulateOptions, { writeBlock, theory }: Writing): SimulationResult {
  const { keys, copies = 2, valueBytes = 20, checksumBits = 32, policy = 'plurality', hash, seed } = options;
  const { ageRanges = 10, onProgress } = options;
  const slots = slotsOf(options);
  whole('ageRanges', ageRanges, 1, 2 ** 32);
  const store = new SimulatedStore({ keys, slots, copies, hash, seed });
  const slotWrites = store.write(writeBlock, onProgress && ((done) => onProgress(done / keys / 2)));
  const all = new Tally();
  const old = new Tally();
  const ranges = Array.from({ length: ageRanges }, () => new Tally());
  const oldKeys = Math.ceil(keys * OLD);
  // The first key after range r, counted from the oldest.
  const end = (range: number): number => Math.floor(((range + 1) * keys) / ageRanges);
  let range = 0;
  store.query({ checksumBits, policy }, (block, first, count) => {
    all.add(block, 0, count);
    if (first < oldKeys) old.add(block, 0, Math.min(count, oldKeys - first));
    for (let row = 0; row < count; ) {
      while (end(range) <= first + row) range++;
      const to = Math.min(count, end(range) - first);
      ranges[range]!.add(block, row, to);
      row = to;
    }
    onProgress?.(0.5 + (first + count) / keys / 2);
  });
  const withTheory = (tally: Tally, from: number, to: number): SimulatedAges => {
    return { from, to, keys: tally.keys, ...tally.shares(), theory: theory({ from, to }).success };
  };
  const since = (key: number): number => (keys - key) / keys;
  const ages = ranges.map((tally, at) => withTheory(tally, since(end(at)), at === 0 ? 1 : since(end(at - 1))));
  return {
    keys,
    slots,
    bytes: slots * slotBytesOf(valueBytes, checksumBits),
    load: keys / slots,
    copies,
    slotWrites,
    ...all.shares(),
    theory: withEmpty(theory(ALL_AGES)),
    oldest: withTheory(old, since(oldKeys), 1),
    ages: ages.reverse(),
  };
}
