import { SpscRing } from '@int/rings';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { RING_HEADER_BYTES } from '../../src/layout.js';
import { presetCount } from '../preset.js';
import { seed, wordSequence } from '../seed.js';

const OPERATIONS = runs(100_000);

/** Bytes in front of and behind the ring that must stay as they are. */
const GUARD = 0x5a;
const BEHIND = 64;

type Operation = readonly [kind: OperationKind, records: number, choice: number];
const KINDS = [
  'push',
  'pop',
  'reserve',
  'commit',
  'peek',
  'release',
  'lose',
  'close',
  'renew',
  'attachProducer',
  'attachConsumer',
] as const;
type OperationKind = (typeof KINDS)[number];
const WEIGHTS: Record<OperationKind, number> = {
  push: 12,
  pop: 10,
  reserve: 8,
  commit: 10,
  peek: 8,
  release: 10,
  lose: 3,
  close: 1,
  renew: 8,
  attachProducer: 2,
  attachConsumer: 2,
};

interface Setup {
  readonly capacity: number;
  readonly recordWords: number;
  readonly byteOffset: number;
  readonly shared: boolean;
  /** Records that seem to have gone through before. */
  readonly before: number;
  readonly operations: readonly Operation[];
}

const kind = fc.oneof(...KINDS.map((each) => ({ weight: WEIGHTS[each], arbitrary: fc.constant(each) })));
const setup: fc.Arbitrary<Setup> = fc.record({
  capacity: fc.integer({ min: 1, max: 64 }),
  recordWords: fc.integer({ min: 1, max: 40 }),
  byteOffset: fc.integer({ min: 0, max: 64 }).map((words) => 4 * words),
  shared: fc.boolean(),
  before: fc.oneof(
    fc.constant(0),
    fc
      .tuple(fc.constantFrom(2 ** 31, 2 ** 32, 3 * 2 ** 31, 5 * 2 ** 32, 2 ** 52), fc.integer({ min: 0, max: 300 }))
      .map(([edge, less]) => edge - less),
  ),
  operations: fc.array(fc.tuple(kind, fc.integer({ min: 0, max: 70 }), fc.nat(1000)), {
    minLength: 240,
    maxLength: 360,
    size: 'max',
  }),
});

/** What a ring is supposed to do, said with an array. */
class Model {
  readonly queue: number[][] = [];
  readonly lost: number[] = new Array<number>(8).fill(0);
  pushed = 0;
  popped = 0;
  closed = false;

  constructor(
    readonly capacity: number,
    before: number,
  ) {
    this.pushed = before;
    this.popped = before;
  }

  get room(): number {
    return this.closed ? 0 : this.capacity - this.queue.length;
  }

  push(record: number[]): void {
    this.queue.push(record);
    this.pushed++;
  }

  pop(): number[] {
    this.popped++;
    return this.queue.shift()!;
  }
}

/** A ring and its model, with memory that shows whether something else was written. */
class Bench {
  readonly #setup: Setup;
  readonly #bytes: Uint8Array;
  readonly #next = wordSequence();
  #model: Model;
  #producer: SpscRing;
  #consumer: SpscRing;
  /** Records that may still be committed, and released. */
  #reserved = 0;
  #peeked = 0;

  constructor(setup: Setup) {
    this.#setup = setup;
    const { recordWords, capacity, byteOffset, shared } = setup;
    const bytes = byteOffset + SpscRing.byteLength(recordWords, capacity) + BEHIND;
    this.#bytes = new Uint8Array(shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes)).fill(GUARD);
    [this.#model, this.#producer, this.#consumer] = this.#make();
  }

  #make(): [Model, SpscRing, SpscRing] {
    const { recordWords, capacity, byteOffset, before } = this.#setup;
    const { buffer } = this.#bytes;
    const made = new SpscRing({ recordWords, capacity, buffer, byteOffset });
    expect(made.length).toBe(0);
    presetCount(buffer, byteOffset, before);
    this.#reserved = 0;
    this.#peeked = 0;
    return [new Model(made.capacity, before), SpscRing.attach(buffer, byteOffset), SpscRing.attach(buffer, byteOffset)];
  }

  #record(): number[] {
    return Array.from({ length: this.#setup.recordWords }, () => this.#next());
  }

  run([kind, records, choice]: Operation): void {
    const model = this.#model;
    const words = this.#setup.recordWords;
    switch (kind) {
      case 'push': {
        const at = choice % 5;
        const all = Array.from({ length: records }, () => this.#record());
        const source = array(at + records * words + (choice % 3), choice);
        all.forEach((record, index) => void source.set(record, at + index * words));
        const taken = Math.min(records, model.room);
        equal(this.#producer.push(source, at, records), taken);
        for (const record of all.slice(0, taken)) model.push(record);
        this.#reserved = 0;
        break;
      }
      case 'pop': {
        const at = choice % 5;
        const into = array(at + records * words + (choice % 3), choice).fill(7);
        const taken = Math.min(records, model.queue.length);
        equal(this.#consumer.pop(into, at, records), taken);
        const expected = new Uint32Array(into.length).fill(7);
        for (let index = 0; index < taken; index++) expected.set(model.pop(), at + index * words);
        equal(same(into, expected), true);
        this.#peeked = 0;
        break;
      }
      case 'reserve': {
        const place = model.pushed % model.capacity;
        const room = Math.min(records, model.room, model.capacity - place);
        equal(this.#producer.room(records), room);
        equal(this.#producer.writeAt, place * words);
        this.#reserved = room;
        break;
      }
      case 'commit': {
        const count = this.#reserved === 0 ? 0 : choice % (this.#reserved + 1);
        const all = Array.from({ length: count }, () => this.#record());
        all.forEach((record, index) => void this.#producer.words.set(record, this.#producer.writeAt + index * words));
        if (choice % 32 === 0) expect(() => this.#producer.commit(this.#reserved + 1 + records)).toThrow(RangeError);
        this.#producer.commit(count);
        for (const record of all) model.push(record);
        this.#reserved -= count;
        break;
      }
      case 'peek': {
        const place = model.popped % model.capacity;
        const there = Math.min(records, model.queue.length, model.capacity - place);
        equal(this.#consumer.readable(records), there);
        equal(this.#consumer.readAt, place * words);
        const shown = this.#consumer.words.subarray(this.#consumer.readAt, this.#consumer.readAt + there * words);
        equal(same(shown, Uint32Array.from(model.queue.slice(0, there).flat())), true);
        this.#peeked = there;
        break;
      }
      case 'release': {
        const count = this.#peeked === 0 ? 0 : choice % (this.#peeked + 1);
        if (choice % 32 === 0) expect(() => this.#consumer.release(this.#peeked + 1 + records)).toThrow(RangeError);
        this.#consumer.release(count);
        for (let index = 0; index < count; index++) model.pop();
        this.#peeked -= count;
        break;
      }
      case 'lose':
        this.#producer.lose(choice % 8, records * 30_000_000);
        model.lost[choice % 8]! += records * 30_000_000;
        break;
      case 'close':
        (choice % 2 === 0 ? this.#producer : this.#consumer).close();
        model.closed = true;
        break;
      case 'renew':
        if (model.closed && model.queue.length === 0) [this.#model, this.#producer, this.#consumer] = this.#make();
        break;
      case 'attachProducer':
        this.#producer = SpscRing.attach(this.#bytes.buffer, this.#setup.byteOffset);
        this.#reserved = 0;
        break;
      case 'attachConsumer':
        this.#consumer = SpscRing.attach(this.#bytes.buffer, this.#setup.byteOffset);
        this.#peeked = 0;
        break;
    }
    this.#compare();
  }

  #compare(): void {
    const model = this.#model;
    for (const ring of [this.#producer, this.#consumer]) {
      if (
        ring.length !== model.queue.length ||
        ring.pushed !== model.pushed ||
        ring.popped !== model.popped ||
        ring.closed !== model.closed ||
        ring.drained !== (model.closed && model.queue.length === 0) ||
        ring.lostTotal !== model.lost.reduce((sum, count) => sum + count, 0) ||
        model.lost.some((count, index) => ring.lost(index) !== count)
      ) {
        expect({ length: ring.length, pushed: ring.pushed, popped: ring.popped, closed: ring.closed }).toEqual({
          length: model.queue.length,
          pushed: model.pushed,
          popped: model.popped,
          closed: model.closed,
        });
        expect(model.lost.map((_, index) => ring.lost(index))).toEqual(model.lost);
        expect.fail('drained or lostTotal is wrong');
      }
    }
    const some = this.#consumer.wait(0);
    const room = this.#producer.waitForRoom(1, 0);
    equal(some, model.queue.length > 0 ? 'ready' : model.closed ? 'closed' : 'timed-out');
    equal(room, model.closed ? 'closed' : model.room > 0 ? 'ready' : 'timed-out');
  }

  /** Pops what is left, and looks at the memory around the ring. */
  finish(): void {
    for (const expected of this.#model.queue) {
      const into = new Uint32Array(expected.length);
      equal(this.#consumer.pop(into, 0, 1), 1);
      equal(same(into, Uint32Array.from(expected)), true);
    }
    equal(this.#consumer.length, 0);
    const end = this.#setup.byteOffset + RING_HEADER_BYTES + 4 * this.#producer.words.length;
    expect(this.#bytes.subarray(0, this.#setup.byteOffset).every((byte) => byte === GUARD)).toBe(true);
    expect(this.#bytes.length - end).toBe(BEHIND);
    expect(this.#bytes.subarray(end).every((byte) => byte === GUARD)).toBe(true);
  }
}

/** Signed or unsigned, at a non-zero offset within its buffer. */
function array(length: number, choice: number): Int32Array | Uint32Array {
  const buffer = new ArrayBuffer(12 + 4 * length);
  return choice % 2 === 0 ? new Int32Array(buffer, 12) : new Uint32Array(buffer, 12);
}

/** As `expect(actual).toBe(expected)`, for a million times. */
function equal(actual: unknown, expected: unknown): void {
  if (actual !== expected) expect(actual).toBe(expected);
}

function same(words: Int32Array | Uint32Array, expected: Uint32Array): boolean {
  return words.length === expected.length && expected.every((word, index) => words[index]! >>> 0 === word);
}

describe('a ring', () => {
  it(`does what a plain queue does, over ${OPERATIONS} random operations`, () => {
    let operations = 0;
    fc.assert(
      fc.property(setup, (each) => {
        const bench = new Bench(each);
        for (const operation of each.operations) bench.run(operation);
        bench.finish();
        operations += each.operations.length;
      }),
      { seed, numRuns: runs(400) },
    );
    expect(operations).toBeGreaterThan(OPERATIONS);
  });
});
