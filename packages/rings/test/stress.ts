import type { SpscRing, WaitResult } from '@int/rings';
import { wordSequence } from './seed.js';

/** What a producer and a consumer do with a ring; both need the same `records`. */
export interface Plan {
  readonly records: number;
  /** Records per turn: 1 to this, at random. */
  readonly batch: number;
  readonly seed: number;
  /** `copy` is push and pop, `inPlace` is room and readable, `both` is one or the other at random. */
  readonly style: 'copy' | 'inPlace' | 'both';
  readonly waits: 'blocking' | 'async';
  /** Whether waits end after 0 to 1 ms now and then, to leave flags behind. */
  readonly impatient: boolean;
  /** Whether to wait for several records, or for room for several, now and then. */
  readonly greedy: boolean;
}

/** What a side saw. */
export interface Answer {
  readonly records: number;
  /** Of the checksums of all records. */
  readonly sum: number;
  readonly waits: number;
}

/** Writes record number `sequence`; returns its checksum. */
function fill(words: Int32Array, at: number, size: number, sequence: number): number {
  let sum = sequence | 0;
  words[at] = sequence;
  for (let word = 1; word < size - 1; word++) {
    const value = Math.imul(sequence + word, 0x9e3779b1);
    words[at + word] = value;
    sum = (Math.imul(sum, 31) + value) | 0;
  }
  if (size > 1) words[at + size - 1] = sum;
  return sum;
}

/** Throws unless it is record number `sequence`, undamaged; returns its checksum. */
function check(words: Int32Array, at: number, size: number, sequence: number): number {
  let sum = words[at]!;
  if (sum !== (sequence | 0)) throw new Error(`record ${sequence} has number ${sum}`);
  for (let word = 1; word < size - 1; word++) sum = (Math.imul(sum, 31) + words[at + word]!) | 0;
  if (size > 1 && words[at + size - 1] !== sum) throw new Error(`record ${sequence} is damaged`);
  return sum;
}

/** Pushes all records, then closes. */
export async function produce(ring: SpscRing, plan: Plan): Promise<Answer> {
  const size = ring.recordWords;
  const next = wordSequence(plan.seed);
  const words = new Int32Array(plan.batch * size);
  let sequence = 0;
  let sum = 0;
  let waits = 0;
  while (sequence < plan.records) {
    const batch = Math.min(1 + (next() % plan.batch), plan.records - sequence);
    const copy = plan.style === 'copy' || (plan.style === 'both' && next() % 2 === 0);
    if (copy) {
      for (let record = 0; record < batch; record++)
        sum = (sum + fill(words, record * size, size, sequence + record)) | 0;
    }
    let done = 0;
    while (done < batch) {
      let count: number;
      if (copy) {
        count = ring.push(words, done * size, batch - done);
      } else {
        count = ring.room(batch - done);
        const at = ring.writeAt;
        for (let record = 0; record < count; record++) {
          sum = (sum + fill(ring.words, at + record * size, size, sequence + done + record)) | 0;
        }
        ring.commit(count);
      }
      done += count;
      if (done === batch) break;
      waits++;
      const most = Math.min(batch - done, ring.capacity);
      const wanted = plan.greedy ? 1 + (next() % most) : 1;
      const timeout = plan.impatient && next() % 8 === 0 ? (next() % 8) / 8 : Number.POSITIVE_INFINITY;
      const result: WaitResult =
        plan.waits === 'async' ? await ring.waitForRoomAsync(wanted, timeout) : ring.waitForRoom(wanted, timeout);
      if (result === 'closed') throw new Error('closed by the consumer');
      if (result === 'timed-out' && timeout === Number.POSITIVE_INFINITY) throw new Error('timed out too early');
    }
    sequence += batch;
    ring.lose(sequence % 8, 1);
  }
  ring.close();
  return { records: sequence, sum, waits };
}

/** Pops and checks all records until the ring is drained. */
export async function consume(ring: SpscRing, plan: Plan): Promise<Answer> {
  const size = ring.recordWords;
  const next = wordSequence(plan.seed + 1);
  const words = new Int32Array(plan.batch * size);
  let sequence = 0;
  let sum = 0;
  let waits = 0;
  for (;;) {
    const batch = 1 + (next() % plan.batch);
    let count: number;
    if (plan.style === 'copy' || (plan.style === 'both' && next() % 2 === 0)) {
      count = ring.pop(words, 0, batch);
      for (let record = 0; record < count; record++)
        sum = (sum + check(words, record * size, size, sequence + record)) | 0;
    } else {
      count = ring.readable(batch);
      const at = ring.readAt;
      for (let record = 0; record < count; record++) {
        sum = (sum + check(ring.words, at + record * size, size, sequence + record)) | 0;
      }
      ring.release(count);
    }
    sequence += count;
    if (count > 0) continue;
    waits++;
    // The producer may be waiting for all of the room: then no more records will come, whatever this side waits for.
    const wanted = plan.greedy && plan.impatient ? 1 + (next() % ring.capacity) : 1;
    const timeout = wanted > 1 || (plan.impatient && next() % 8 === 0) ? (next() % 8) / 8 : Number.POSITIVE_INFINITY;
    const result = plan.waits === 'async' ? await ring.waitAsync(timeout, wanted) : ring.wait(timeout, wanted);
    if (result === 'closed') return { records: sequence, sum, waits };
    if (result === 'timed-out' && timeout === Number.POSITIVE_INFINITY) throw new Error('timed out too early');
  }
}
