import { SpscRing } from '@int/rings';
import { wordSequence } from './seed.js';

/**
 * Races that a stream of records hardly ever runs into: one thread goes to sleep in the very moment in which the other
 * one does what would wake it up, and does nothing more until the first one has noticed. If a wake-up can be lost, it
 * is lost for good.
 */
export interface Duel {
  /** `records`: the consumer sleeps. `room`: the producer sleeps. `closing`: the last record and the end come together. */
  readonly about: 'records' | 'room' | 'closing';
  readonly rounds: number;
  readonly seed: number;
}

/** Where the rings of a duel about closing lie: one for each round. */
export const STRIDE: number = SpscRing.byteLength(1, 1);

const one = Int32Array.of(1);

/** Passes up to some hundred nanoseconds, so that each round meets in another way. */
function spin(next: () => number): number {
  let state = 1;
  for (let turn = next() & 0xff; turn > 0; turn--) state = Math.imul(state, 0x01000193) ^ turn;
  return state;
}

const nap = new Int32Array(new SharedArrayBuffer(4));

/** Returns when `happened` does. It spins, so that it is quick; on a machine with a single core that would be in vain. */
function until(happened: () => boolean): void {
  for (let look = 1; !happened(); look++) {
    if (look % 65536 === 0) Atomics.wait(nap, 0, 0, 1);
  }
}

/** The side that wakes up the other one. It never sleeps. Returns the rounds. */
export function challenge(buffer: ArrayBufferLike, { about, rounds, seed }: Duel): number {
  const next = wordSequence(seed);
  const ring = SpscRing.attach(buffer);
  for (let round = 0; round < rounds; round++) {
    if (about === 'records') {
      until(() => ring.length === 0);
      spin(next);
      ring.push(one, 0, 1);
    } else if (about === 'room') {
      until(() => ring.length > 0);
      spin(next);
      ring.pop(one, 0, 1);
    } else {
      const last = SpscRing.attach(buffer, (round + 1) * STRIDE);
      until(() => ring.lost(0) > round);
      spin(next);
      last.push(one, 0, 1);
      last.close();
    }
  }
  return rounds;
}

/** The side that sleeps. */
export function accept(buffer: ArrayBufferLike, { about, rounds, seed }: Duel): number {
  const next = wordSequence(seed + 1);
  const ring = SpscRing.attach(buffer);
  for (let round = 0; round < rounds; round++) {
    if (about === 'records') {
      if (ring.wait() !== 'ready' || ring.pop(one, 0, 1) !== 1) throw new Error(`round ${round}: woken up for nothing`);
      spin(next);
    } else if (about === 'room') {
      if (ring.waitForRoom() !== 'ready' || ring.push(one, 0, 1) !== 1) throw new Error(`round ${round}: no room`);
      spin(next);
    } else {
      const last = SpscRing.attach(buffer, (round + 1) * STRIDE);
      // Tells the other side that the round begins.
      ring.lose(0, 1);
      spin(next);
      if (last.wait() !== 'ready' || last.pop(one, 0, 1) !== 1)
        throw new Error(`round ${round}: the last record is lost`);
      if (last.wait() !== 'closed') throw new Error(`round ${round}: not closed`);
    }
  }
  return rounds;
}
