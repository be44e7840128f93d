/**
 * Simulations of other ways of writing keys than all copies of each: random copies, lost packets, insertion by
 * COMPARE&SWAP, numbers of copies that follow the load.
 */
import {
  type AdaptiveCopies,
  OutcomeModel,
  overwriteProbabilityWithModuloBias,
  type SimulateOptions,
  type SimulationResult,
} from '@int/dart';
import { averageOverAges, type BlockWriter, meanOutcomes, simulateWriting, slotsOf } from '@int/dart/internals';
import { adaptiveOutcomes, arrivingCopies, distinctSlots, insertionSuccess, meanOf } from './writing-theory.js';

/** Pseudo-random numbers (the "mulberry32" generator): 32 bits, unsigned. */
export class Draws {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let value = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return (value ^ (value >>> 14)) >>> 0;
  }

  /** A number in 0..count - 1, for a small count. */
  below(count: number): number {
    return Math.floor((this.next() / 2 ** 32) * count);
  }
}

/** A writer of random copies, and one that loses packets, draw from here. */
export function drawsOf(seed: number): Draws {
  return new Draws(seed ^ 0x2545f491);
}

/** Each of `reports` reports of a key goes into one of its copies, drawn at random. A share `loss` of them is lost. */
export function randomCopies(copies: number, reports: number, loss: number, seed: number): BlockWriter {
  const draws = drawsOf(seed);
  const lost = Math.round(loss * 2 ** 32);
  return (table, places, first, count) => {
    let written = 0;
    for (let row = 0; row < count; row++) {
      for (let report = 0; report < reports; report++) {
        const copy = draws.below(copies);
        if (lost > 0 && draws.next() < lost) continue;
        table.put(places[row * copies + copy]!, first + row + 1);
        written++;
      }
    }
    return written;
  };
}

/** A packet writes one `copy`, or all copies of a `key`. A share `loss` of the packets is lost. */
function arriving(copies: number, loss: number, packets: 'copy' | 'key', seed: number): BlockWriter {
  const draws = drawsOf(seed);
  const lost = Math.round(loss * 2 ** 32);
  return (table, places, first, count) => {
    let written = 0;
    for (let row = 0; row < count; row++) {
      if (packets === 'key' && lost > 0 && draws.next() < lost) continue;
      for (let copy = 0; copy < copies; copy++) {
        if (packets === 'copy' && lost > 0 && draws.next() < lost) continue;
        table.put(places[row * copies + copy]!, first + row + 1);
        written++;
      }
    }
    return written;
  };
}

/** Each key writes the number of copies that `adaptive` gives for the load so far. */
export function adaptedCopies(adaptive: AdaptiveCopies, slots: number): BlockWriter {
  const copies = adaptive.mostCopies;
  return (table, places, first, count) => {
    let written = 0;
    for (let row = 0; row < count; row++) {
      const many = adaptive.copiesAt((first + row) / slots);
      for (let copy = 0; copy < many; copy++) table.put(places[row * copies + copy]!, first + row + 1);
      written += many;
    }
    return written;
  };
}

/**
 * COMPARE&SWAP insertion: a key is written into its first slot, and into its second only if that is empty (section 7 of
 * the paper). An RDMA COMPARE&SWAP exchanges 8 bytes, so slots must have 8 bytes: a checksum of 32 bits and a value of
 * 4 bytes. Keys have two slots.
 */
export const insertion: BlockWriter = (table, places, first, count) => {
  let written = count;
  for (let row = 0; row < count; row++) {
    table.put(places[row * 2]!, first + row + 1);
    const second = places[row * 2 + 1]!;
    if (table.get(second) !== 0) continue;
    table.put(second, first + row + 1);
    written++;
  }
  return written;
};

/** Options of a simulation whose copies and seed the way of writing needs. */
export type WrittenKeys = SimulateOptions & { readonly copies: number; readonly seed: number };

/** Keys that write only some of their slots: P(D = d), d = 0..N, is `written`. */
function simulatePartly(options: WrittenKeys, writeBlock: BlockWriter, written: readonly number[]): SimulationResult {
  const { keys, copies, checksumBits = 32, policy = 'plurality' } = options;
  const slots = slotsOf(options);
  const model = new OutcomeModel({ copies, checksumBits, policy, written });
  const mean = meanOf(written);
  const overwritten = (since: number): number => overwriteProbabilityWithModuloBias(since, slots, mean);
  const foreign = overwritten(keys);
  return simulateWriting(options, {
    writeBlock,
    theory: (ages) => meanOutcomes((age) => model.distinct(overwritten(age * keys), foreign), ages),
  });
}

export function simulateRandomCopies(options: WrittenKeys, reports: number, loss = 0): SimulationResult {
  const { copies, seed } = options;
  return simulatePartly(options, randomCopies(copies, reports, loss, seed), distinctSlots(copies, reports, loss));
}

export function simulateLoss(options: WrittenKeys, loss: number, packets: 'copy' | 'key' = 'copy'): SimulationResult {
  const { copies, seed } = options;
  const allOrNone = Array.from({ length: copies + 1 }, (_, d) => (d === 0 ? loss : d === copies ? 1 - loss : 0));
  const written = packets === 'copy' ? arrivingCopies(copies, loss) : allOrNone;
  return simulatePartly(options, arriving(copies, loss, packets, seed), written);
}

export function simulateAdaptive(options: SimulateOptions, adaptive: AdaptiveCopies): SimulationResult {
  const { keys, checksumBits = 32, policy = 'plurality' } = options;
  const slots = slotsOf(options);
  return simulateWriting(
    { ...options, copies: adaptive.mostCopies },
    {
      writeBlock: adaptedCopies(adaptive, slots),
      theory: (ages) => adaptiveOutcomes({ load: keys / slots, adaptive, checksumBits, policy, ages }),
    },
  );
}

/** The theory is of perfect checksums. */
export function simulateInsertion(options: SimulateOptions): SimulationResult {
  const load = options.keys / slotsOf(options);
  return simulateWriting(
    { ...options, copies: 2 },
    {
      writeBlock: insertion,
      theory(ages) {
        const success = averageOverAges((age) => insertionSuccess(load, age), ages);
        return { success, absent: 1 - success, conflict: 0, wrong: 0 };
      },
    },
  );
}
