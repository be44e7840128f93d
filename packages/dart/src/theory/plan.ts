/** Planning memory and the number of copies. */
import { geometryOf, MAX_COPIES } from '../layout.js';
import { type AgeRange, ALL_AGES, averageOverAges } from './ages.js';
import { meanOutcomes, OutcomeModel, type OutcomeOptions, type Outcomes } from './outcomes.js';

/** The keys over which success is measured: `mean`, all keys of an epoch; `oldest`, the key written first. */
export type Measure = 'mean' | 'oldest';

function ageRange(measure: Measure): AgeRange {
  if (measure === 'mean') return ALL_AGES;
  if (measure === 'oldest') return { from: 1, to: 1 };
  throw new RangeError(`measure must be mean or oldest, not ${String(measure)}`);
}

export interface LoadOptions extends OutcomeOptions {
  /** Keys of the epoch / slots: K / M. */
  readonly load: number;
  /** All keys if absent. */
  readonly ages?: AgeRange;
}

/**
 * The mean outcomes of an epoch's keys, for distinct values: {@link OutcomeModel.distinct} with p = 1 - exp(-N load u),
 * averaged over the ages u. Not for keys that write only some of their slots.
 */
export function outcomesAtLoad({ load, ages = ALL_AGES, ...options }: LoadOptions): Outcomes {
  const model = new OutcomeModel(options);
  return meanOutcomes((age) => atLoad(model, load * age), ages);
}

/** The outcomes of a key after which keys of this load were written. */
function atLoad(model: OutcomeModel, load: number): Outcomes {
  const writes = model.copies * load;
  const overwritten = -Math.expm1(-writes);
  return model.distinct(overwritten, overwritten, Math.exp(-writes));
}

/** 1 - success, without the rounding error of the subtraction. */
function failure(model: OutcomeModel, load: number, ages: AgeRange): number {
  return averageOverAges((age) => {
    const { absent, conflict, wrong } = atLoad(model, load * age);
    return absent + conflict + wrong;
  }, ages);
}

export interface ChoiceOptions extends Pick<OutcomeOptions, 'checksumBits' | 'policy'> {
  /** Largest N; 8 if absent. */
  readonly mostCopies?: number;
}

/**
 * The number of copies with the highest success at a load, found by comparing all N. At load 0.2 it is 5 by the mean
 * over ages and 3 by the oldest key; at 0.8 it is 2 and 1. More copies give a key more chances, but overwrite more of
 * the others.
 *
 * @param load K / M, with the same M for all N
 */
export function bestCopies(load: number, measure: Measure = 'mean', options: ChoiceOptions = {}): number {
  const { mostCopies = MAX_COPIES, ...rest } = options;
  const ages = ageRange(measure);
  // Without load nothing is overwritten and all N are equal; this is the limit of small loads.
  if (load === 0) return mostCopies;
  let [best, least] = [1, Number.POSITIVE_INFINITY];
  for (let copies = 1; copies <= mostCopies; copies++) {
    const fails = failure(new OutcomeModel({ copies, ...rest }), load, ages);
    // On a tie, fewer copies win: they cost fewer packets.
    if (fails < least) [best, least] = [copies, fails];
  }
  return best;
}

/** The highest load with the wanted success, by bisection to 12 digits. */
function highestLoad(model: OutcomeModel, success: number, ages: AgeRange): number {
  const allowed = 1 - success;
  let [low, high] = [0, 1];
  while (failure(model, high, ages) <= allowed && high < 1e9) [low, high] = [high, high * 2];
  for (let step = 0; step < 60 && high - low > 1e-12 * high; step++) {
    const middle = (low + high) / 2;
    if (failure(model, middle, ages) <= allowed) low = middle;
    else high = middle;
  }
  return low;
}

export interface MemoryOptions extends ChoiceOptions {
  /** Bytes of a value; 20 if absent: five switches of 4 bytes. */
  readonly valueBytes?: number;
  /** N; the best if absent. */
  readonly copies?: number;
  /** `mean` if absent. */
  readonly measure?: Measure;
}

export interface PlanOptions extends MemoryOptions {
  /** Keys of an epoch. */
  readonly flows: number;
  /** Wanted share of successful queries, above 0 and below 1. */
  readonly success: number;
}

/** Memory for a number of flows. Probabilities are those of theory, for distinct values. */
export interface MemoryPlan {
  /** M. */
  readonly slots: number;
  readonly slotBytes: number;
  /** slots * slotBytes. */
  readonly bytes: number;
  readonly bytesPerFlow: number;
  /** N. */
  readonly copies: number;
  readonly load: number;
  /** Number of stores needed, of at most 2^32 - 1 slots each. */
  readonly collectors: number;
  /** Means over all keys. */
  readonly success: number;
  readonly empty: number;
  readonly wrong: number;
  /** Probabilities for the key written first. */
  readonly oldest: { readonly success: number; readonly empty: number; readonly wrong: number };
}

/**
 * The least memory that gives the wanted success for a number of flows. For each N the highest load with that success is
 * found by bisection (success falls as the load rises); the best N allows the highest.
 *
 * @throws RangeError if `flows` is not a whole number above 0, or `success` is not between 0 and 1
 */
export function planMemory(options: PlanOptions): MemoryPlan {
  const { flows, success, valueBytes = 20, measure = 'mean', mostCopies = MAX_COPIES, ...model } = options;
  const { checksumBits = 32 } = model;
  if (!(Number.isInteger(flows) && flows >= 1)) throw new RangeError(`flows must be a whole number: ${flows}`);
  if (!(success > 0 && success < 1)) throw new RangeError(`success must be between 0 and 1, not ${success}`);
  let [copies, highest] = [0, 0];
  for (let count = options.copies ?? 1; count <= (options.copies ?? mostCopies); count++) {
    const most = highestLoad(new OutcomeModel({ ...model, copies: count }), success, ageRange(measure));
    if (most > highest) [copies, highest] = [count, most];
  }
  if (copies === 0) throw new RangeError(`no memory gives a success of ${success}`);
  // Throws for sizes that no store can have.
  const { slotBytes } = geometryOf(1, valueBytes, checksumBits, copies, 1 << 16);
  const slots = Math.ceil(flows / highest);
  const load = flows / slots;
  const at = (ages: AgeRange): { success: number; empty: number; wrong: number } => {
    const found = outcomesAtLoad({ ...model, load, copies, ages });
    return { success: found.success, empty: found.absent + found.conflict, wrong: found.wrong };
  };
  return {
    slots,
    slotBytes,
    bytes: slots * slotBytes,
    bytesPerFlow: (slots * slotBytes) / flows,
    copies,
    load,
    collectors: Math.ceil(slots / (2 ** 32 - 1)),
    ...at(ALL_AGES),
    oldest: at(ageRange('oldest')),
  };
}
