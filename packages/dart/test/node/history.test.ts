import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { DartStoreError, EpochReader, EpochStore, type EpochStoreOptions } from '@int/dart/node';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { until } from '../../../../.ci/test/until.js';
import { bundle } from '../bundle.js';
import { Models } from './models.js';
import { newDirectory, removeDirectories, SEED } from './support.js';
import { keyOf, randomNumbers, valueFor } from './values.js';

/** For stores that are opened often: memory of WebAssembly is dear to have, and files are the same. */
const PLAIN = { checkpointMs: 0, engine: 'plain' } as const;

function keysUpTo(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, number) => keyOf(number));
}

/** A clock that stands until it is told. */
class Clock {
  now = 1000n;
  readonly read = (): bigint => this.now;
}

async function rotate(store: EpochStore): Promise<void> {
  const rotation = store.rotate();
  expect(rotation).not.toBeNull();
  await rotation?.finished;
}

/** Writes keys in one epoch after the other. */
async function epochsOf(options: EpochStoreOptions, epochs: number, clock = new Clock()): Promise<EpochStore> {
  const store = await EpochStore.open(newDirectory(), { ...PLAIN, clock: clock.read, ...options });
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (let number = 0; number < 100; number++)
      store.write(keyOf(number), valueFor(number, epoch, store.live.geometry.valueBytes));
    clock.now += 100n;
    await rotate(store);
  }
  return store;
}

describe('the history of a store', () => {
  afterEach(removeDirectories);

  it('answers for every epoch as a store of that epoch alone would, wherever the epoch is by then', async () => {
    const forms = fc.record({
      slots: fc.integer({ min: 1, max: 2000 }),
      // Words, a BLOB because of the length, and one because of too many words.
      valueBytes: fc.constantFrom(4, 20, 7, 68),
      checksumBits: fc.constantFrom(8, 12, 24, 32),
      copies: fc.integer({ min: 1, max: 4 }),
      hash: fc.constantFrom('xxhash' as const, 'crc' as const),
      shared: fc.boolean(),
      segmentBytes: fc.constantFrom(16_384, 2 ** 30),
    });
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.record({ kind: fc.constant('write'), key: fc.nat(300), count: fc.nat(100) }) },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constantFrom('copy', 'rdma'), key: fc.nat(300), count: fc.nat(9) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constantFrom('rotate', 'rotate and wait', 'checkpoint', 'reopen') }),
      },
    );
    type Step = { kind: string; key?: number; count?: number };
    await fc.assert(
      fc.asyncProperty(forms, fc.array(step, { minLength: 1, maxLength: 25 }), async (form, steps: Step[]) => {
        const models = new Models(form);
        let store = await EpochStore.open(newDirectory(), { ...form, checkpointMs: 0 });
        let version = 0;
        for (const { kind, key = 0, count = 0 } of steps) {
          version++;
          const model = models.of(store.epoch);
          for (let number = key; number < key + count; number++) {
            const value = new Uint8Array(form.valueBytes).fill(version ^ number);
            if (kind === 'write') {
              store.write(keyOf(number), value);
              model.write(keyOf(number), value);
            } else if (kind === 'copy') {
              const copy = number % form.copies;
              store.writeCopy(keyOf(number), value, copy);
              model.writeCopy(keyOf(number), value, copy);
            } else {
              const offset = number % store.target.byteLength;
              store.target.writeBytes(offset, value, 0, 1);
              model.writeBytes(offset, value, 0, 1);
            }
          }
          if (kind === 'checkpoint') await store.checkpoint();
          if (kind === 'rotate') store.rotate();
          if (kind === 'rotate and wait') await store.rotate()?.finished;
          if (kind === 'reopen') {
            await store.close();
            store = await EpochStore.open(store.directory, { checkpointMs: 0 });
          }
        }
        for (const policy of ['plurality', 'single', { consensus: 2 }] as const) {
          await models.expectSame(store, keysUpTo(400), policy);
        }
        await store.close();
      }),
      { seed: SEED, numRuns: runs(20) },
    );
  });

  it('is asked for a time or for a range; without either, only the live epoch is', async () => {
    const clock = new Clock();
    const store = await epochsOf({ slots: 1000 }, 3, clock);
    store.write(keyOf(1), valueFor(1, 3));
    const ask = async (query: { at?: bigint; from?: bigint; to?: bigint }): Promise<bigint[]> => {
      const answers = await store.query(keyOf(1), query);
      for (const { epoch, answer } of answers) expect(answer.value).toEqual(valueFor(1, Number(epoch)));
      return answers.map(({ epoch }) => epoch);
    };
    expect(store.epochs().map(({ from, to, source }) => [from, to, source])).toEqual([
      [1000n, 1100n, 'disk'],
      [1100n, 1200n, 'disk'],
      [1200n, 1300n, 'disk'],
      [1300n, null, 'live'],
    ]);
    expect(await ask({ at: 999n })).toEqual([]);
    expect(await ask({ at: 1000n })).toEqual([0n]);
    expect(await ask({ at: 1099n })).toEqual([0n]);
    expect(await ask({ at: 1100n })).toEqual([1n]);
    expect(await ask({ at: 5000n })).toEqual([3n]);
    expect(await ask({ from: 1150n, to: 1250n })).toEqual([1n, 2n]);
    expect(await ask({ from: 1100n, to: 1200n })).toEqual([1n]);
    expect(await ask({ to: 1101n })).toEqual([0n, 1n]);
    expect(await ask({ from: 1200n })).toEqual([2n, 3n]);
    expect(await ask({})).toEqual([3n]);
    await store.close();
  });

  it('answers from memory until a finished epoch is on disk, and does not stop writers for it', async () => {
    const store = await EpochStore.open(newDirectory(), { slots: 100_000, checkpointMs: 0 });
    for (let number = 0; number < 50_000; number++) store.write(keyOf(number), valueFor(number, 0));
    const rotation = store.rotate();
    let turns = 0;
    let isDone = false;
    const finished = rotation?.finished.then(() => {
      isDone = true;
    });
    const expected = store.query(keyOf(49_999), { from: 0n }).then((answers) => answers.map(({ source }) => source));
    expect(await expected).toEqual(['flushing', 'live']);
    while (!isDone) {
      // Never the last key, however long it takes.
      store.write(keyOf(turns++ % 25_000), valueFor(0, 1));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await finished;
    expect(turns).toBeGreaterThan(50);
    const [old, live] = await store.query(keyOf(49_999), { from: 0n });
    expect(old).toMatchObject({ source: 'disk', epoch: 0n, answer: { value: valueFor(49_999, 0) } });
    expect(live).toMatchObject({ source: 'live', epoch: 1n, answer: { status: 'absent' } });
    await store.close();
  });

  it('grows by an epoch whenever the load is reached, whichever way slots are written', async () => {
    const store = await EpochStore.open(newDirectory(), {
      slots: 1000,
      copies: 2,
      checkpointMs: 0,
      rotate: { load: 0.5 },
    });
    const writeUntilNext = async (write: (number: number) => void): Promise<number> => {
      const { epoch } = store;
      let writes = 0;
      while (store.epoch === epoch) write(writes++);
      await store.flushed();
      await rotate(store);
      return writes;
    };
    expect(await writeUntilNext((number) => store.write(keyOf(number), valueFor(number, 0)))).toBe(500);
    expect(await writeUntilNext((number) => store.writeCopy(keyOf(number), valueFor(number, 0), 1))).toBe(1000);
    const slot = new Uint8Array(24);
    expect(await writeUntilNext((number) => store.target.writeBytes(number * 24, slot, 0, 24))).toBe(1000);
    await store.close();
  });

  it('has a longer epoch where the one before is not on disk when the load is reached', async () => {
    const store = await EpochStore.open(newDirectory(), { slots: 1000, checkpointMs: 0, rotate: { load: 0.5 } });
    // Never gives the event loop a turn, so that nothing gets on disk.
    for (let number = 0; number < 3000; number++) store.write(keyOf(number), valueFor(number, 0));
    expect(store.epoch).toBe(1n);
    expect(store.statistics).toMatchObject({ rotations: 1, rotationsPostponed: 1 });
    await until('the next epoch', () => store.epoch > 1n);
    expect(store.epochs().map(({ keyWrites }) => keyWrites)).toEqual([500, 2500, 0]);
    await store.close();
  });

  it('grows by an epoch whenever its time is over', async () => {
    const store = await EpochStore.open(newDirectory(), { slots: 100, rotate: { everyMs: 15 } });
    store.write(keyOf(1), valueFor(1, 0));
    await until('two epochs on disk', () => store.statistics.flushes >= 2);
    expect((await store.query(keyOf(1), { to: store.epochs()[0]!.to! }))[0]?.answer.value).toEqual(valueFor(1, 0));
    await store.close();
  });

  it('keeps as many epochs and bytes as it may, but always the newest', async () => {
    const few = await epochsOf({ slots: 1000, keepEpochs: 2 }, 4);
    expect(few.epochs().map(({ epoch }) => epoch)).toEqual([2n, 3n, 4n]);
    expect(readdirSync(join(few.directory, 'history'))).toHaveLength(4);
    await few.close();
    const small = await epochsOf({ slots: 1000, keepBytes: 1 }, 2);
    expect(small.epochs().map(({ epoch }) => epoch)).toEqual([1n, 2n]);
    await small.close();
  });

  it('numbers epochs on where it was closed', async () => {
    const store = await epochsOf({ slots: 1000 }, 2);
    store.write(keyOf(7), valueFor(7, 9));
    await store.close();
    const again = await EpochStore.open(store.directory, { checkpointMs: 0 });
    expect(again.epoch).toBe(2n);
    expect(again.live.query(keyOf(7)).value).toEqual(valueFor(7, 9));
    await rotate(again);
    await again.close();
    const third = await EpochStore.open(store.directory, { checkpointMs: 0 });
    expect(third.epochs().map(({ epoch, source }) => [epoch, source])).toEqual([
      [0n, 'disk'],
      [1n, 'disk'],
      [2n, 'disk'],
      [3n, 'live'],
    ]);
    await third.close();
  });

  it('is plain Parquet, sorted by slot, that says what it is', async () => {
    const store = await epochsOf({ slots: 5000, valueBytes: 8 }, 1);
    const path = store.epochs()[0]?.path;
    const duckdb = await DuckDBInstance.create(':memory:');
    const connection = await duckdb.connect();
    const rows = await connection.runAndReadAll(`SELECT slot, checksum, w0, w1 FROM '${path}'`);
    const slots = rows.getRows().map(([slot]) => slot as number);
    expect(slots).toEqual([...slots].sort((one, other) => one - other));
    const slot = store.live.slotOf(keyOf(3), 0);
    const value = new DataView(valueFor(3, 0, 8).buffer);
    expect(rows.getRows().find(([number]) => number === slot)).toEqual([
      slot,
      store.live.checksumOf(keyOf(3)),
      value.getUint32(0),
      value.getUint32(4),
    ]);
    const pairs = await connection.runAndReadAll(`SELECT key, value FROM parquet_kv_metadata('${path}')`);
    const metadata = Object.fromEntries(pairs.getRows().map((pair) => pair.map(String)));
    expect(metadata).toMatchObject({
      dart_epoch: '0',
      dart_from_ns: '1000',
      dart_to_ns: '1100',
      dart_slots: '5000',
      dart_hash_family: 'xxhash',
      dart_hash_slots: store.live.hashes.parameters.slots.join(' '),
      dart_key_writes: '100',
    });
    connection.closeSync();
    duckdb.closeSync();
    await store.close();
  });

  it('works in directories whose names mean something to SQL or to patterns', async () => {
    const directory = join(newDirectory(), "it's [a] *?{b,c}");
    const store = await EpochStore.open(relative('.', directory), { slots: 100, checkpointMs: 0 });
    store.write(keyOf(1), valueFor(1, 1));
    await rotate(store);
    expect((await store.query(keyOf(1), { from: 0n }))[0]).toMatchObject({
      source: 'disk',
      answer: { status: 'value' },
    });
    await store.close();
  });

  it('is written again if that failed, and answers from memory meanwhile', async () => {
    const errors: Error[] = [];
    const directory = newDirectory();
    const onError = (error: Error): number => errors.push(error);
    const store = await EpochStore.open(directory, { slots: 100, checkpointMs: 0, onError });
    store.write(keyOf(1), valueFor(1, 1));
    rmSync(join(directory, 'history'), { recursive: true });
    const rotation = store.rotate();
    await until('an error', () => errors.length > 0);
    expect(errors[0]).toMatchObject({ name: 'DartStoreError', code: 'ERR_DART_HISTORY' });
    const [old] = await store.query(keyOf(1), { from: 0n });
    expect(old).toMatchObject({ source: 'flushing', answer: { value: valueFor(1, 1) } });
    mkdirSync(join(directory, 'history'));
    await rotation?.finished;
    expect(store.statistics).toMatchObject({ flushes: 1, flushFailures: 1 });
    await store.close();
  });
});

describe('a store where DuckDB is not installed', () => {
  afterEach(removeDirectories);

  it('works, but for the history: that says what to install', async () => {
    const program = await bundle(new URL('without-duckdb.program.ts', import.meta.url), false);
    const { stdout } = spawnSync(process.execPath, [program, newDirectory()], { encoding: 'utf8', timeout: 50_000 });
    expect(stdout).toBe('value\nERR_DART_NO_DUCKDB the history needs DuckDB: npm install @duckdb/node-api\n');
  });
});

describe('a crash', () => {
  afterEach(removeDirectories);

  it('in a flush leaves the epoch in its checkpoints, and it is flushed again', async () => {
    const directory = newDirectory();
    const store = await EpochStore.open(directory, { slots: 1000, checkpointMs: 0 });
    const models = new Models({ slots: 1000 });
    for (let number = 0; number < 300; number++) {
      store.write(keyOf(number), valueFor(number, 0));
      models.of(0n).write(keyOf(number), valueFor(number, 0));
    }
    const rotation = store.rotate();
    const isFinal = (): boolean => readdirSync(join(directory, 'live')).some((name) => name.endsWith('.ckpt'));
    await until('a checkpoint of the epoch', isFinal, { everyMs: 0 });
    const copy = newDirectory();
    cpSync(join(directory, 'store.json'), join(copy, 'store.json'));
    cpSync(join(directory, 'live'), join(copy, 'live'), { recursive: true });
    mkdirSync(join(copy, 'history'));
    writeFileSync(join(copy, 'history', '00000000000000000000.parquet.tmp'), 'PAR1');
    await rotation?.finished;
    await store.close();
    const again = await EpochStore.open(copy, { checkpointMs: 0 });
    expect(again.statistics).toMatchObject({ unfinishedFiles: 1, epochsRecovered: 1 });
    expect(again.epoch).toBe(1n);
    await models.expectSame(again, keysUpTo(400));
    await again.close();
    expect(readdirSync(join(copy, 'live'))).toEqual([]);
    const third = await EpochStore.open(copy, { checkpointMs: 0 });
    expect(third.epochs().map(({ source }) => source)).toEqual(['disk', 'live']);
    await models.expectSame(third, keysUpTo(400));
    await third.close();
  });

  it('after a flush, but before the checkpoints of the epoch were removed, does no harm', async () => {
    const store = await EpochStore.open(newDirectory(), { slots: 1000, checkpointMs: 0 });
    store.write(keyOf(1), valueFor(1, 1));
    await store.checkpoint();
    const saved = newDirectory();
    cpSync(join(store.directory, 'live'), saved, { recursive: true });
    await rotate(store);
    await store.close();
    cpSync(saved, join(store.directory, 'live'), { recursive: true });
    const again = await EpochStore.open(store.directory, { checkpointMs: 0 });
    expect(again.epochs().map(({ epoch, source }) => [epoch, source])).toEqual([
      [0n, 'disk'],
      [1n, 'live'],
    ]);
    expect(readdirSync(join(store.directory, 'live'))).toEqual([]);
    await again.close();
  });
});

describe('a damaged file of the history', () => {
  afterEach(removeDirectories);

  async function prepare(): Promise<{ directory: string; path: string }> {
    const store = await epochsOf({ slots: 1000 }, 2);
    const path = store.epochs()[0]!.path!;
    await store.close();
    return { directory: store.directory, path };
  }

  /** Copies of a file with a bit flipped: in its first byte, its pages, its footer, and anywhere. */
  function flipped(whole: Buffer, seed: number): Buffer[] {
    const random = randomNumbers(seed);
    const { length } = whole;
    const anywhere = Array.from({ length: runs(15) }, () => random() % length);
    return [0, length >> 1, length - 100, ...anywhere].map((place) => {
      const bytes = Buffer.from(whole);
      bytes[place] = bytes[place]! ^ (1 << (random() % 8));
      return bytes;
    });
  }

  /** Neither counts nor goes away. Puts the names back. */
  async function expectSetAside(directory: string, options: EpochStoreOptions = {}): Promise<void> {
    const store = await EpochStore.open(directory, { ...PLAIN, ...options });
    expect(store.statistics.damagedHistory).toBe(1);
    expect(store.damage).toMatchObject([{ epoch: 0n, kind: 'history', isSetAside: true }]);
    expect(store.damageTo({ at: 1050n })).toEqual(store.damage);
    expect(store.damageTo({ from: 1100n })).toEqual([]);
    expect(store.epochs().map(({ epoch }) => epoch)).toEqual([1n, 2n]);
    await store.close();
    for (const name of readdirSync(join(directory, 'history')).filter((each) => each.endsWith('.damaged'))) {
      const path = join(directory, 'history', name);
      renameSync(path, path.replace(/\.damaged$/, ''));
    }
  }

  it('does not count when it was cut, or when its footer is wrong', async () => {
    const { directory, path } = await prepare();
    const whole = readFileSync(path);
    const random = randomNumbers(SEED);
    const lengths = [0, 3, 4, 12, whole.length - 9, whole.length - 8, whole.length - 4, whole.length - 1];
    for (let more = runs(15); more > 0; more--) lengths.push(random() % whole.length);
    for (const length of lengths) {
      writeFileSync(path, whole);
      truncateSync(path, length);
      await expectSetAside(directory);
    }
    const footer = whole.readUInt32LE(whole.length - 8) + 8;
    for (let more = runs(25); more > 0; more--) {
      const bytes = Buffer.from(whole);
      const place = whole.length - 1 - (random() % footer);
      bytes[place] = bytes[place]! ^ (1 << (random() % 8));
      writeFileSync(path, bytes);
      await expectSetAside(directory);
    }
    const sidecar = path.replace('.parquet', '.json');
    writeFileSync(path, whole);
    const text = readFileSync(sidecar, 'utf8');
    for (const wrong of [text.replace('"to": "1100"', '"to": "1101"'), text.slice(0, 50), 'null', '']) {
      writeFileSync(sidecar, wrong);
      await expectSetAside(directory);
    }
    rmSync(sidecar);
    await expectSetAside(directory);
    writeFileSync(sidecar, text);
    const store = await EpochStore.open(directory, PLAIN);
    expect(store.statistics.damagedHistory).toBe(0);
    await store.close();
  });

  it('is found by reading all of it, wherever the damage is', async () => {
    const { directory, path } = await prepare();
    const whole = readFileSync(path);
    for (const bytes of flipped(whole, SEED)) {
      writeFileSync(path, bytes);
      await expectSetAside(directory, { verifyHistory: true });
    }
    const store = await EpochStore.open(directory, PLAIN);
    if (store.statistics.damagedHistory === 0) expect(await store.verifyHistory()).toEqual([path]);
    await store.close();
  });

  it('is found when it is asked, wherever the damage is, and never answers', async () => {
    const { directory, path } = await prepare();
    const whole = readFileSync(path);
    for (const bytes of flipped(whole, SEED + 2)) {
      const copy = newDirectory();
      cpSync(directory, copy, { recursive: true });
      writeFileSync(path.replace(directory, copy), bytes);
      const reader = await EpochReader.open(copy);
      await expect(reader.query(keyOf(1), { at: 1050n })).rejects.toMatchObject({ code: 'ERR_DART_DAMAGED' });
      // Other epochs do not suffer.
      expect(await reader.query(keyOf(1), { at: 1150n })).toMatchObject([{ epoch: 1n, incomplete: false }]);
      await reader.close();
      const store = await EpochStore.open(copy, PLAIN);
      expect(await store.query(keyOf(1), { at: 1050n })).toEqual([]);
      expect(store.damageTo({ at: 1050n })).toMatchObject([{ epoch: 0n, isSetAside: true }]);
      expect(existsSync(store.damage[0]!.path)).toBe(true);
      await store.close();
    }
  });

  it('of another store, or under the name of another epoch, is one', async () => {
    const { directory, path } = await prepare();
    const other = await epochsOf({ slots: 1000, seed: 7 }, 1);
    await other.close();
    const strange = join(other.directory, 'history');
    for (const [from, epoch] of [
      [strange, '0'],
      [join(directory, 'history'), '1'],
    ] as const) {
      const copy = newDirectory();
      cpSync(directory, copy, { recursive: true });
      for (const ending of ['parquet', 'json']) {
        const source = join(from, `${epoch.padStart(20, '0')}.${ending}`);
        cpSync(source, join(copy, 'history', `${'0'.repeat(20)}.${ending}`));
      }
      const reader = await EpochReader.open(copy);
      expect(reader.damage).toMatchObject([{ epoch: 0n, path: path.replace(directory, copy) }]);
      await reader.close();
    }
  });

  it('is told of when it is gone, but not when it never was there', async () => {
    const { directory, path } = await prepare();
    rmSync(path);
    const reader = await EpochReader.open(directory);
    expect(reader.damage).toMatchObject([{ path, epoch: 0n, isSetAside: false }]);
    await expect(reader.query(keyOf(1), { to: 1100n })).rejects.toMatchObject({ code: 'ERR_DART_DAMAGED', path });
    await reader.close();
    // As a crash between two steps leaves it: in the middle of writing it, or of dropping it.
    writeFileSync(`${path}.tmp`, 'PAR1');
    const store = await EpochStore.open(directory, PLAIN);
    expect(store.damage).toEqual([]);
    expect(store.statistics.unfinishedFiles).toBe(1);
    await store.close();
    expect(readdirSync(join(directory, 'history')).some((name) => name.startsWith('0'.repeat(20)))).toBe(false);
  });

  it('does not make superfluous the checkpoints of its epoch', async () => {
    const directory = newDirectory();
    const store = await EpochStore.open(directory, { slots: 1000, ...PLAIN });
    store.write(keyOf(1), valueFor(1, 1));
    await store.checkpoint();
    const saved = newDirectory();
    cpSync(join(directory, 'live'), saved, { recursive: true });
    await rotate(store);
    const { path } = store.epochs()[0]!;
    await store.close();
    cpSync(saved, join(directory, 'live'), { recursive: true });
    const bytes = readFileSync(path!);
    bytes[20] = bytes[20]! ^ 4;
    writeFileSync(path!, bytes);
    const again = await EpochStore.open(directory, PLAIN);
    expect(again.damage).toMatchObject([{ epoch: 0n, kind: 'history' }]);
    const [answer] = await again.query(keyOf(1), { from: 0n });
    expect(answer).toMatchObject({ epoch: 0n, answer: { value: valueFor(1, 1) } });
    await again.close();
  });

  it('that goes away while the store is open is an error, not an absent key', async () => {
    const { directory, path } = await prepare();
    const store = await EpochStore.open(directory, PLAIN);
    rmSync(path);
    expect(existsSync(path)).toBe(false);
    const error = await store.query(keyOf(1), { from: 0n }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DartStoreError);
    expect(error).toMatchObject({ code: 'ERR_DART_HISTORY' });
    await store.close();
  });
});
