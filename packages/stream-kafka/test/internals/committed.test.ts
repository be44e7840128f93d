import type { RecordsBatch } from '@platformatic/kafka';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AbortedTransaction, committedRecords, type LogRecord } from '../../src/kafka/committed.js';
import { SEED } from './log.js';

const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;

function batchOf(firstOffset: number, producerId: number, attributes: number, keys: (Buffer | null)[]): RecordsBatch {
  return {
    firstOffset: BigInt(firstOffset),
    length: 0,
    partitionLeaderEpoch: 0,
    magic: 2,
    crc: 0,
    attributes,
    lastOffsetDelta: keys.length - 1,
    firstTimestamp: 0n,
    maxTimestamp: 0n,
    producerId: BigInt(producerId),
    producerEpoch: 0,
    firstSequence: 0,
    records: keys.map((key, offsetDelta) => ({
      length: 0,
      attributes: 0,
      timestampDelta: 0n,
      offsetDelta,
      key,
      value: null,
      headers: [],
    })),
  };
}

/** Version 0, then 0 for an abort and 1 for a commit. */
const marker = (type: number): Buffer => Buffer.from([0, 0, 0, type]);

/** A log of up to four producers that write, commit and abort, and what it should give. */
function logOf(steps: readonly { producer: number; act: 'write' | 'commit' | 'abort' | 'plain'; size: number }[]): {
  batches: RecordsBatch[];
  aborted: AbortedTransaction[];
  committed: number[];
  end: number;
} {
  const batches: RecordsBatch[] = [];
  const aborted: AbortedTransaction[] = [];
  const open = new Map<number, number[]>();
  const committed: number[] = [];
  let offset = 0;
  for (const { producer, act, size } of steps) {
    if (act === 'write' || act === 'plain') {
      const keys = Array.from({ length: size }, () => Buffer.from('k'));
      const offsets = keys.map((_, index) => offset + index);
      // A producer is transactional or not.
      if (act === 'plain') committed.push(...offsets);
      else open.set(producer, [...(open.get(producer) ?? []), ...offsets]);
      batches.push(batchOf(offset, act === 'plain' ? 9 : producer, act === 'plain' ? 0 : TRANSACTIONAL, keys));
      offset += size;
      continue;
    }
    const offsets = open.get(producer) ?? [];
    // Also markers of transactions that wrote nothing here: they are in no list.
    if (act === 'abort' && offsets.length > 0) {
      aborted.push({ producerId: BigInt(producer), firstOffset: BigInt(offsets[0]!) });
    }
    if (act === 'commit') committed.push(...offsets);
    open.delete(producer);
    batches.push(batchOf(offset, producer, TRANSACTIONAL | CONTROL, [marker(act === 'commit' ? 1 : 0)]));
    offset += 1;
  }
  // What is open is behind the last stable offset: the broker does not give it.
  const stable = Math.min(offset, ...[...open.values()].map(([first]) => first ?? offset));
  return {
    batches: batches.filter(({ firstOffset }) => Number(firstOffset) < stable),
    aborted,
    committed: committed.filter((at) => at < stable).sort((a, b) => a - b),
    end: stable,
  };
}

const steps = fc.array(
  fc.record({
    producer: fc.nat(3),
    act: fc.constantFrom('write', 'write', 'commit', 'abort', 'plain'),
    size: fc.integer({ min: 1, max: 4 }),
  }),
  { maxLength: 40 },
);

describe('what is committed', () => {
  it('is every record of a transaction that was committed, or of none, and no other', () => {
    fc.assert(
      fc.property(steps, (acts) => {
        const { batches, aborted, committed, end } = logOf(acts);
        const records: LogRecord[] = [];
        expect(committedRecords(batches, aborted, 0, records)).toBe(end);
        expect(records.map(({ offset }) => offset)).toEqual(committed);
      }),
      { seed: SEED },
    );
  });

  it('is the same when it is read in two goes, with only the transactions that the broker lists for each', () => {
    fc.assert(
      fc.property(steps, fc.nat(40), (acts, cut) => {
        const { batches, aborted, committed } = logOf(acts);
        const records: LogRecord[] = [];
        const parts = [batches.slice(0, cut), batches.slice(cut)];
        let position = 0;
        for (const part of parts) {
          const last = part.at(-1);
          if (last === undefined) continue;
          const to = Number(last.firstOffset) + last.lastOffsetDelta;
          const from = position;
          // Those that begin before the end of the part and are not over before its beginning.
          const listed = aborted.filter(({ producerId, firstOffset }) => {
            const over = batches.find(
              (batch) =>
                batch.producerId === producerId &&
                (batch.attributes & CONTROL) !== 0 &&
                batch.firstOffset > firstOffset,
            );
            return Number(firstOffset) <= to && (over === undefined || Number(over.firstOffset) >= from);
          });
          position = committedRecords(part, listed, position, records);
        }
        expect(records.map(({ offset }) => offset)).toEqual(committed);
      }),
      { seed: SEED },
    );
  });

  it('begins within a batch if that is where reading stopped', () => {
    const keys = ['a', 'b', 'c'].map((key) => Buffer.from(key));
    const records: LogRecord[] = [];
    expect(committedRecords([batchOf(10, 9, 0, keys)], [], 11, records)).toBe(13);
    expect(records.map(({ offset }) => offset)).toEqual([11, 12]);
  });
});
