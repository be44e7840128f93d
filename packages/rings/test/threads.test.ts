import { Worker } from 'node:worker_threads';
import { RING_HEADER, SpscRing } from '@int/rings';
import { afterEach, describe, expect, it } from 'vitest';
import { type Duel, STRIDE } from './duel.js';
import { presetCount } from './preset.js';
import { many, seed } from './seed.js';
import { type Answer, consume, type Plan, produce } from './stress.js';
import type { Task } from './stress-worker.js';
import { answerOf, workerModule } from './thread.js';

const module = workerModule('stress-worker.ts');
const running = new Set<Worker>();
afterEach(async () => {
  await Promise.all([...running].map((worker) => worker.terminate()));
  running.clear();
});

function start(buffer: ArrayBufferLike, task: Task): Promise<unknown> {
  const worker = new Worker(module, { workerData: { buffer, task } });
  running.add(worker);
  return answerOf(worker);
}

/** What fails a test in which nothing moves any more: no record for so long, although both sides have their time. */
const PATIENCE_MS = 30_000;

/** Looks at a ring from outside, every few milliseconds, for as long as two threads work on it. */
async function watched<T>(ring: SpscRing, before: number, work: Promise<T>): Promise<T> {
  const { buffer, byteOffset } = ring;
  let moved = performance.now();
  let last = { pushed: before, popped: before, steps: 0 };
  let timer: NodeJS.Timeout | undefined;
  const watch = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      try {
        // A ring in use is never refused, whatever both sides are just doing.
        const observer = SpscRing.attach(buffer, byteOffset);
        const popped = observer.popped;
        const pushed = observer.pushed;
        if (pushed < last.pushed || popped < last.popped || popped > pushed) {
          throw new Error(`${last.pushed} pushed and ${last.popped} popped, then ${pushed} and ${popped}`);
        }
        if (observer.length > observer.capacity) throw new Error(`${observer.length} records`);
        const steps = pushed + popped + observer.lostTotal;
        if (steps !== last.steps) moved = performance.now();
        if (performance.now() - moved > PATIENCE_MS) {
          const header = new Int32Array(buffer, byteOffset);
          const flags = [header[RING_HEADER.RECORDS_WANTED], header[RING_HEADER.ROOM_WANTED]];
          throw new Error(`nothing moves: ${pushed} pushed, ${popped} popped, waiting for ${flags.join(' and ')}`);
        }
        last = { pushed, popped, steps };
      } catch (error) {
        reject(error as Error);
      }
    }, 3);
  });
  try {
    return await Promise.race([work, watch]);
  } finally {
    clearInterval(timer);
  }
}

type Place = 'worker' | 'main';
interface Scenario extends Partial<Plan> {
  readonly capacity: number;
  readonly recordWords?: number;
  readonly byteOffset?: number;
  readonly records: number;
  readonly batch: number;
  /** Records that seem to have gone through before. */
  readonly before?: number;
  readonly producer?: Place;
  readonly consumer?: Place;
}

async function run(scenario: Scenario): Promise<void> {
  const { capacity, recordWords = 16, byteOffset = 0, before = 0, records, batch } = scenario;
  const { producer = 'worker', consumer = 'worker' } = scenario;
  const plan: Plan = { seed, style: 'both', waits: 'blocking', impatient: false, greedy: false, ...scenario };
  const buffer = new SharedArrayBuffer(byteOffset + SpscRing.byteLength(recordWords, capacity));
  const made = new SpscRing({ recordWords, capacity, buffer, byteOffset });
  presetCount(buffer, byteOffset, before);
  const ring = SpscRing.attach(buffer, byteOffset);
  const side = async (place: Place, name: 'produce' | 'consume'): Promise<Answer> => {
    if (place === 'worker') return (await start(buffer, { side: name, byteOffset, plan })) as Answer;
    return (name === 'produce' ? produce : consume)(ring, { ...plan, waits: 'async' });
  };
  const [sent, got] = await watched(ring, before, Promise.all([side(producer, 'produce'), side(consumer, 'consume')]));
  expect(got.records).toBe(records);
  expect(got.sum).toBe(sent.sum);
  expect([made.pushed, made.popped]).toEqual([before + records, before + records]);
  expect(made.drained).toBe(true);
  expect(made.lostTotal).toBeGreaterThanOrEqual(records / batch);
  // Otherwise nothing was proved about waiting.
  expect(sent.waits + got.waits).toBeGreaterThan(0);
}

describe('two workers', () => {
  it('pass records through a large ring', () =>
    run({ capacity: 65536, records: many(500_000), batch: 256, before: 2 ** 32 - 125_000 }));

  it('pass records through a ring of 1024', () =>
    run({ capacity: 1024, records: many(250_000), batch: 64, byteOffset: 4, before: 2 ** 31 - 60_000 }));

  it('pass records through a ring of one, where each has to wake up the other', () =>
    run({ capacity: 1, records: many(15_000), batch: 3, before: 2 ** 32 - 3_500 }));

  it('pass records through a ring of eight, in small and large pieces, waiting for more than one', () =>
    run({ capacity: 8, recordWords: 5, records: many(37_500), batch: 20, greedy: true }));

  it('pass records through a tiny ring when waits end too early now and then', () =>
    run({ capacity: 4, recordWords: 3, records: many(25_000), batch: 6, impatient: true, greedy: true }));

  it('pass records by copies only, and in place only', async () => {
    await run({ capacity: 256, records: many(50_000), batch: 100, style: 'copy' });
    await run({ capacity: 256, records: many(50_000), batch: 100, style: 'inPlace' });
  });
});

describe('the main thread', () => {
  it('pops records that a worker pushes, without blocking', () =>
    run({ capacity: 1024, records: many(250_000), batch: 64, consumer: 'main', before: 2 ** 32 - 60_000 }));

  it('pops from a tiny ring, without blocking and with waits that end too early', () =>
    run({ capacity: 2, records: many(5_000), batch: 3, consumer: 'main', impatient: true, greedy: true }));

  it('pushes what a worker pops, without blocking', () =>
    run({ capacity: 16, records: many(50_000), batch: 24, producer: 'main', greedy: true }));
});

describe('a thread that goes to sleep while the other one wakes it up', () => {
  it.each<[Duel['about'], rounds: number]>([
    ['records', many(50_000)],
    ['room', many(50_000)],
    ['closing', many(5_000)],
  ])('sees every change, in a duel about %s', async (about, rounds) => {
    const rings = about === 'closing' ? rounds + 1 : 1;
    const buffer = new SharedArrayBuffer(rings * STRIDE);
    const made = Array.from(
      { length: rings },
      (_, index) => new SpscRing({ recordWords: 1, capacity: 1, buffer, byteOffset: index * STRIDE }),
    );
    const duel = { about, rounds, seed };
    const work = Promise.all([start(buffer, { side: 'challenge', duel }), start(buffer, { side: 'accept', duel })]);
    expect(await watched(made[0]!, 0, work)).toEqual([rounds, rounds]);
    expect(made.at(-1)!.popped).toBe(about === 'closing' ? 1 : rounds);
  });
});

describe('a counter that another thread adds to', () => {
  // Passes a multiple of 2^31 with nearly every addition.
  const amount = 2 ** 31 - 12_345;
  const times = many(500_000);

  /** @returns how many changes were seen: on a busy machine the other thread may be done between two looks */
  async function look(): Promise<number> {
    const ring = new SpscRing({ recordWords: 1, capacity: 1 });
    const done = start(ring.buffer, { side: 'lose', amount, times });
    let last = 0;
    let changes = 0;
    while (!ring.closed) {
      for (let k = 0; k < 100_000; k++) {
        const lost = ring.lost(0);
        if (lost % amount !== 0 || lost < last) expect.fail(`${lost} after ${last}`);
        if (lost !== last) changes++;
        last = lost;
      }
      // So that an error in the worker arrives.
      await Promise.race([done, new Promise((resolve) => setImmediate(resolve))]);
    }
    await done;
    expect(ring.lost(0)).toBe(amount * times);
    return changes;
  }

  it('is never read half written', async () => {
    let changes = 0;
    for (let round = 0; round < 50 && changes < 2; round++) changes += await look();
    expect(changes).toBeGreaterThan(1);
  });
});
