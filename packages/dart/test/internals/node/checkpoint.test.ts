import { cpSync, readdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { until } from '../../../../../.ci/test/until.js';
import { emptyStatistics } from '../../../src/node/epoch-options.js';
import { DartStoreError, EpochStore, type EpochStoreOptions } from '../../../src/node/index.js';
import { Saver } from '../../../src/node/saver.js';
import { Models } from '../../node/models.js';
import { newDirectory, removeDirectories, SEED } from '../../node/support.js';
import { keyOf, randomNumbers, valueFor } from '../../node/values.js';

const SMALL: EpochStoreOptions = { slots: 1000, checkpointMs: 0 };
/** For stores that are opened often: memory of WebAssembly is dear to have, and files are the same. */
const PLAIN = { checkpointMs: 0, engine: 'plain' } as const;

/** The directory as a crash at this moment would leave it. */
function crash(directory: string): string {
  const copy = newDirectory();
  cpSync(directory, copy, { recursive: true });
  return copy;
}

function checkpoints(directory: string): string[] {
  return readdirSync(join(directory, 'live')).map((name) => join(directory, 'live', name));
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DartStoreError);
  return (error as DartStoreError).code;
}

function writeSome(store: EpochStore, models: Models, from: number, to: number, version: number): void {
  const { valueBytes } = store.live.geometry;
  for (let number = from; number < to; number++) {
    const value = valueFor(number, version, valueBytes);
    store.write(keyOf(number), value);
    models.of(store.epoch).write(keyOf(number), value);
  }
}

function keysUpTo(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, number) => keyOf(number));
}

describe('checkpoints of the live epoch', () => {
  afterEach(removeDirectories);

  it('bring back every slot that was written before one, in stores of every form', async () => {
    const forms = fc.record({
      slots: fc.integer({ min: 1, max: 3000 }),
      valueBytes: fc.constantFrom(4, 8, 20, 100),
      checksumBits: fc.constantFrom(8, 13, 16, 32),
      copies: fc.integer({ min: 1, max: 4 }),
      hash: fc.constantFrom('xxhash' as const, 'crc' as const),
      shared: fc.boolean(),
      // Small: several segments, pages of 64 slots.
      segmentBytes: fc.constantFrom(16_384, 2 ** 30),
    });
    const rounds = fc.array(
      fc.record({ from: fc.nat(2000), keys: fc.integer({ min: 1, max: 300 }), crashes: fc.boolean() }),
      { minLength: 1, maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(forms, rounds, async (form, steps) => {
        const models = new Models(form);
        let store = await EpochStore.open(newDirectory(), { ...form, checkpointMs: 0 });
        let version = 0;
        for (const { from, keys, crashes } of steps) {
          writeSome(store, models, from, from + keys, version++);
          const summary = await store.checkpoint();
          expect(summary?.keyWrites).toBe(store.live.keyWrites);
          if (!crashes) continue;
          const copy = crash(store.directory);
          await store.close();
          store = await EpochStore.open(copy, { checkpointMs: 0 });
          expect(store.statistics.damagedCheckpoints).toBe(0);
          expect(store.live.keyWrites).toBe(summary?.keyWrites);
        }
        await models.expectSame(store, keysUpTo(2300));
        const back = Buffer.concat(store.live.pieces);
        await store.close();
        const again = await EpochStore.open(store.directory, { checkpointMs: 0 });
        expect(Buffer.compare(Buffer.concat(again.live.pieces), back)).toBe(0);
        await again.close();
      }),
      { seed: SEED, numRuns: runs(30) },
    );
  });

  it('leave out what was written after the last one, and lose nothing else', async () => {
    const store = await EpochStore.open(newDirectory(), SMALL);
    const models = new Models(SMALL);
    writeSome(store, models, 0, 50, 1);
    await store.checkpoint();
    store.write(keyOf(777), valueFor(777, 1));
    const copy = await EpochStore.open(crash(store.directory), SMALL);
    await models.expectSame(copy, keysUpTo(50));
    expect(copy.live.query(keyOf(777)).status).toBe('absent');
    await copy.close();
    await store.close();
  });

  it('write only the pages that changed, and nothing if none did', async () => {
    const store = await EpochStore.open(newDirectory(), { slots: 64 * 20, copies: 1, checkpointMs: 0 });
    writeSome(store, new Models({ slots: 64 * 20, copies: 1 }), 0, 500, 1);
    const base = await store.checkpoint();
    expect(base).toMatchObject({ kind: 'base', pages: 20 });
    expect(await store.checkpoint()).toBeNull();
    store.write(keyOf(1), valueFor(1, 2));
    expect(await store.checkpoint()).toMatchObject({ kind: 'increment', pages: 1, sequence: 1 });
    await store.close();
  });

  it('cost nothing for slots that nobody has written', async () => {
    const store = await EpochStore.open(newDirectory(), { memoryBytes: 64 << 20, checkpointMs: 0 });
    store.write(keyOf(1), valueFor(1, 1));
    const summary = await store.checkpoint();
    expect(summary?.pages).toBe(2);
    expect(summary?.bytes).toBeLessThan(64 * 1024);
    expect(statSync(checkpoints(store.directory)[0]!).size).toBe(summary?.bytes);
    await store.close();
  });

  it('are put together into a new base when increments outgrow it, and keep few files', async () => {
    const ROUNDS = 60;
    const options = { slots: 64 * 10, checkpointMs: 0 };
    const store = await EpochStore.open(newDirectory(), options);
    const models = new Models(options);
    writeSome(store, models, 0, 400, 1);
    for (let round = 0; round < ROUNDS; round++) {
      writeSome(store, models, round, round + 1, round);
      await store.checkpoint();
    }
    const { bases, checkpoints: written } = store.statistics;
    expect(written).toBe(ROUNDS);
    expect(bases).toBeGreaterThan(2);
    const files = checkpoints(store.directory);
    const bytes = files.reduce((sum, path) => sum + statSync(path).size, 0);
    expect(bytes).toBeLessThan(2.5 * 64 * 10 * 24);
    const copy = await EpochStore.open(crash(store.directory), options);
    await models.expectSame(copy, keysUpTo(400));
    await copy.close();
    await store.close();
  });

  it('are taken by themselves, and tell how old the last one is', async () => {
    const seen: bigint[] = [];
    const store = await EpochStore.open(newDirectory(), {
      slots: 100,
      checkpointMs: 5,
      onCheckpoint: ({ keyWrites }) => seen.push(BigInt(keyWrites)),
    });
    expect(store.statistics.checkpointAgeMs).toBe(Number.POSITIVE_INFINITY);
    store.write(keyOf(1), valueFor(1, 1));
    await until('a checkpoint', () => seen.length > 0);
    expect(seen).toEqual([1n]);
    expect(store.statistics.checkpointAgeMs).toBeLessThan(60_000);
    await store.close();
  });

  it('become rarer where the disk takes longer than the interval: one at a time, with a pause', async () => {
    const saver = new Saver(
      emptyStatistics(),
      () => {},
      () => {},
    );
    let running = 0;
    let most = 0;
    let runs = 0;
    saver.start(2, async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 10));
      running--;
      runs++;
    });
    await until('four checkpoints', () => runs >= 4);
    saver.stop();
    expect(most).toBe(1);
  });

  it('wait for a page that another thread is writing, and let the writer go on meanwhile', async () => {
    const options = { slots: 64 * 10, copies: 1, shared: true, checkpointMs: 0 };
    const store = await EpochStore.open(newDirectory(), options);
    const models = new Models(options);
    writeSome(store, models, 0, 100, 1);
    const [segment] = store.live.segments;
    segment?.begin(0);
    let isDone = false;
    const saved = store.checkpoint().finally(() => {
      isDone = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isDone).toBe(false);
    segment?.end(0);
    expect((await saved)?.pages).toBe(10);
    const copy = await EpochStore.open(crash(store.directory), options);
    await models.expectSame(copy, keysUpTo(100));
    await copy.close();
    await store.close();
  });

  it('fail without harm when the directory is gone, and are made up for when it is back', async () => {
    const directory = newDirectory();
    const store = await EpochStore.open(directory, SMALL);
    const models = new Models(SMALL);
    writeSome(store, models, 0, 10, 1);
    renameSync(join(directory, 'live'), join(directory, 'away'));
    expect(await codeOf(store.checkpoint())).toBe('ERR_DART_CHECKPOINT');
    expect(store.statistics.checkpointFailures).toBe(1);
    renameSync(join(directory, 'away'), join(directory, 'live'));
    await store.checkpoint();
    const copy = await EpochStore.open(crash(directory), SMALL);
    await models.expectSame(copy, keysUpTo(10));
    await copy.close();
    await store.close();
  });
});

describe('a damaged checkpoint', () => {
  afterEach(removeDirectories);
  const KEYS = 200;

  async function prepare(): Promise<{ directory: string; first: Models; both: Models; later: string }> {
    const options = { slots: 64 * 6, copies: 2, ...PLAIN };
    const first = new Models(options);
    const both = new Models(options);
    const store = await EpochStore.open(newDirectory(), options);
    writeSome(store, first, 0, KEYS, 1);
    await store.checkpoint();
    for (let number = 0; number < KEYS; number++) both.of(0n).write(keyOf(number), valueFor(number, 1));
    writeSome(store, both, 5, 6, 2);
    expect(await store.checkpoint()).toMatchObject({ kind: 'increment' });
    const directory = crash(store.directory);
    await store.close();
    return { directory, first, both, later: checkpoints(directory).sort()[1]! };
  }

  /** Of the damaged file only sound pages are taken over, and the file is still there, under another name. */
  async function expectRepaired(directory: string, first: Models, both: Models): Promise<void> {
    const before = readFileSync(checkpoints(directory).sort()[1]!);
    const store = await EpochStore.open(directory, PLAIN);
    expect(store.statistics.damagedCheckpoints).toBe(1);
    const [damaged] = store.damage;
    expect(damaged).toMatchObject({ epoch: 0n, kind: 'checkpoint', isSetAside: true });
    expect(readFileSync(damaged!.path)).toEqual(before);
    const { slotBytes, slots } = store.live.geometry;
    const [found, one, other] = [store.live, first.of(0n), both.of(0n)].map(({ pieces }) => Buffer.concat(pieces));
    const strange: number[] = [];
    for (let at = 0; at < slots * slotBytes; at += slotBytes) {
      const end = at + slotBytes;
      if ([one, other].every((bytes) => found!.compare(bytes!, at, end, at, end) !== 0)) strange.push(at / slotBytes);
    }
    expect(strange).toEqual([]);
    await store.close();
    const again = await EpochStore.open(directory, PLAIN);
    expect(again.statistics.damagedCheckpoints).toBe(0);
    expect(again.damage).toMatchObject([{ path: damaged!.path, isSetAside: true }]);
    expect(Buffer.concat(again.live.pieces).equals(found!)).toBe(true);
    await again.close();
  }

  it('is read as far as it is sound when it was cut, wherever that was, and set aside', async () => {
    const { directory, first, both, later } = await prepare();
    const whole = readFileSync(later);
    const random = randomNumbers(SEED);
    const lengths = [0, 1, 8, 127, 128, 129, 143, 144, whole.length - 33, whole.length - 32, whole.length - 1];
    for (let more = runs(15); more > 0; more--) lengths.push(random() % whole.length);
    for (const length of lengths) {
      const copy = crash(directory);
      truncateSync(join(copy, 'live', later.split('/').at(-1)!), length);
      await expectRepaired(copy, first, both);
      removeLast(copy);
    }
    const copy = await EpochStore.open(directory, PLAIN);
    await both.expectSame(copy, keysUpTo(KEYS));
    await copy.close();
  });

  it('is read as far as it is sound when a bit of it is wrong, or when bytes follow it, and set aside', async () => {
    const { directory, first, both, later } = await prepare();
    const whole = readFileSync(later);
    const random = randomNumbers(SEED + 1);
    const places = [0, 9, 13, 20, 35, 41, 60, 100, 127, 129, 133, 137, 141, 144].concat(
      [33, 32, 25, 20, 16, 8, 4, 1].map((back) => whole.length - back),
      Array.from({ length: runs(15) }, () => random() % whole.length),
    );
    for (const place of places) {
      const copy = crash(directory);
      const bytes = Buffer.from(whole);
      bytes[place] = bytes[place]! ^ (1 << (random() % 8));
      writeFileSync(join(copy, 'live', later.split('/').at(-1)!), bytes);
      await expectRepaired(copy, first, both);
      removeLast(copy);
    }
    const copy = crash(directory);
    writeFileSync(join(copy, 'live', later.split('/').at(-1)!), Buffer.concat([whole, Buffer.alloc(1)]));
    await expectRepaired(copy, first, both);
  });

  it('does not keep later ones from being read', async () => {
    const { directory, later } = await prepare();
    const base = checkpoints(directory).sort()[0]!;
    truncateSync(base, statSync(base).size - 1000);
    const store = await EpochStore.open(directory, PLAIN);
    expect(store.statistics).toMatchObject({ damagedCheckpoints: 1, epochsRecovered: 1 });
    expect(store.live.query(keyOf(5)).value).toEqual(valueFor(5, 2));
    store.write(keyOf(6), valueFor(6, 3));
    // Nothing hangs on the file any more that was damaged: all that is sound is in a base.
    expect(store.statistics.bases).toBe(0);
    expect(await store.checkpoint()).toMatchObject({ kind: 'increment' });
    await store.close();
    expect(checkpoints(directory)).not.toContain(later);
    const again = await EpochStore.open(directory, PLAIN);
    expect(again.statistics.damagedCheckpoints).toBe(0);
    expect(again.live.query(keyOf(6)).value).toEqual(valueFor(6, 3));
    await again.close();
  });

  it('that was never finished is removed', async () => {
    const { directory, both } = await prepare();
    writeFileSync(join(directory, 'live', `${'0'.repeat(20)}-0000000002.ckpt.tmp`), 'half');
    const store = await EpochStore.open(directory, PLAIN);
    expect(store.statistics).toMatchObject({ unfinishedFiles: 1, damagedCheckpoints: 0 });
    await both.expectSame(store, keysUpTo(KEYS));
    await store.close();
  });
});

function removeLast(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

describe('a directory', () => {
  afterEach(removeDirectories);

  it('is opened only for the geometry and the hashes that it was made for', async () => {
    const directory = newDirectory();
    const made = { slots: 1000, valueBytes: 8, checksumBits: 16, copies: 3, seed: 7, checkpointMs: 0 };
    await (await EpochStore.open(directory, made)).close();
    const others: EpochStoreOptions[] = [
      { slots: 1001 },
      { valueBytes: 9 },
      { checksumBits: 15 },
      { copies: 2 },
      { hash: 'crc' },
      { seed: 8 },
      { collectors: 2 },
    ];
    for (const other of others)
      expect(await codeOf(EpochStore.open(directory, { ...made, ...other }))).toBe('ERR_DART_MISMATCH');
    expect(await codeOf(EpochStore.open(directory, { memoryBytes: 9999 }))).toBe('ERR_DART_MISMATCH');
    const store = await EpochStore.open(directory, { memoryBytes: 10_000, checkpointMs: 0 });
    expect(store.live.geometry).toMatchObject({ slots: 1000, valueBytes: 8, checksumBits: 16, copies: 3 });
    await store.close();
  });

  it('is refused if it is of another version, or its description is damaged', async () => {
    const directory = newDirectory();
    await (await EpochStore.open(directory, SMALL)).close();
    const path = join(directory, 'store.json');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('"version": 1', '"version": 99'));
    expect(await codeOf(EpochStore.open(directory))).toBe('ERR_DART_VERSION');
    const flipped = text.replace(/"copies": \d+/, '"copies": 3');
    for (const broken of [flipped, text.slice(0, 40), '{}', 'null', '[]', '{"format":"dart-store"}']) {
      writeFileSync(path, broken);
      expect(await codeOf(EpochStore.open(directory))).toBe('ERR_DART_DAMAGED');
    }
  });

  it('is open once at a time', async () => {
    const directory = newDirectory();
    const store = await EpochStore.open(directory, SMALL);
    expect(await codeOf(EpochStore.open(directory, SMALL))).toBe('ERR_DART_LOCKED');
    await store.close();
    await store.close();
    // A process that still runs, and one that does not.
    const start = readFileSync(`/proc/${process.ppid}/stat`, 'latin1').split(') ')[1]!.split(' ')[19];
    writeFileSync(join(directory, 'lock'), `${process.ppid} ${start}`);
    expect(await codeOf(EpochStore.open(directory, SMALL))).toBe('ERR_DART_LOCKED');
    writeFileSync(join(directory, 'lock'), `${process.ppid} 1`);
    await (await EpochStore.open(directory, SMALL)).close();
  });

  it('needs a size when it is made, and options in range', async () => {
    await expect(EpochStore.open(newDirectory())).rejects.toThrow(RangeError);
    for (const wrong of [
      { checkpointMs: -1 },
      { rotate: { everyMs: 0 } },
      { rotate: { load: 0 } },
      { keepEpochs: 0 },
    ]) {
      await expect(EpochStore.open(newDirectory(), { slots: 10, ...wrong })).rejects.toThrow(RangeError);
    }
  });

  it('takes no writes and answers no questions after it was closed', async () => {
    const store = await EpochStore.open(newDirectory(), SMALL);
    await store.close();
    expect(() => store.write(keyOf(1), valueFor(1, 1))).toThrow(DartStoreError);
    expect(() => store.rotate()).toThrow(DartStoreError);
    expect(() => store.checkpoint()).toThrow(DartStoreError);
    expect(await codeOf(store.query(keyOf(1)))).toBe('ERR_DART_CLOSED');
  });
});
