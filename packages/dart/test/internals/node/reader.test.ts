import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { sealPage } from '../../../src/node/checkpoint-format.js';
import { EpochReader, EpochStore, type EpochStoreOptions } from '../../../src/node/index.js';
import { Models } from '../../node/models.js';
import { newDirectory, removeDirectories, SEED } from '../../node/support.js';
import { keyOf, randomNumbers, valueFor } from '../../node/values.js';

const PAGES = 8;
const OPTIONS: EpochStoreOptions = { slots: 64 * PAGES, copies: 2, checkpointMs: 0, engine: 'plain' };
const KEYS = 250;
const keys = Array.from({ length: KEYS }, (_, number) => keyOf(number));

/** A store of one live epoch, in one base. */
async function prepare(): Promise<{ directory: string; file: string; model: Models }> {
  const store = await EpochStore.open(newDirectory(), OPTIONS);
  const model = new Models(OPTIONS);
  for (let number = 0; number < KEYS; number++) {
    store.write(keyOf(number), valueFor(number, 1));
    model.of(0n).write(keyOf(number), valueFor(number, 1));
  }
  await store.close();
  const live = join(store.directory, 'live');
  return { directory: store.directory, file: join(live, readdirSync(live)[0]!), model };
}

/** Names, sizes, times and bytes of everything in a directory. */
function stateOf(directory: string): unknown {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { mtimeMs, ctimeMs, ino, size, mode } = statSync(join(directory, name));
      return { name, mtimeMs, ctimeMs, ino, size, mode };
    });
}

describe('a reader of a store', () => {
  afterEach(removeDirectories);

  it('answers as the store itself would, from checkpoints and from the history', async () => {
    let now = 1000n;
    const store = await EpochStore.open(newDirectory(), { ...OPTIONS, clock: () => now });
    const model = new Models(OPTIONS);
    for (let epoch = 0; epoch < 3; epoch++) {
      for (let number = epoch; number < KEYS; number += 2) {
        store.write(keyOf(number), valueFor(number, epoch));
        model.of(BigInt(epoch)).write(keyOf(number), valueFor(number, epoch));
      }
      now += 100n;
      if (epoch < 2) await store.rotate()?.finished;
    }
    const expected = await store.queryMany(keys, { from: 0n });
    await expect(EpochReader.open(store.directory)).rejects.toMatchObject({ code: 'ERR_DART_LOCKED' });
    await store.close();
    const before = stateOf(store.directory);
    const reader = await EpochReader.open(store.directory);
    expect(await reader.queryMany(keys, { from: 0n })).toEqual(expected);
    expect(reader.epochs().map(({ epoch, from, to, source }) => [epoch, from, to, source])).toEqual([
      [0n, 1000n, 1100n, 'disk'],
      [1n, 1100n, 1200n, 'disk'],
      [2n, 1200n, null, 'live'],
    ]);
    await reader.close();
    expect(stateOf(store.directory)).toEqual(before);
  });

  it('tells that there is no store, or that a folder of it is gone', async () => {
    await expect(EpochReader.open(newDirectory())).rejects.toMatchObject({ code: 'ERR_DART_NO_STORE' });
    for (const name of ['live', 'history']) {
      const { directory } = await prepare();
      rmSync(join(directory, name), { recursive: true });
      await expect(EpochReader.open(directory)).rejects.toMatchObject({ code: 'ERR_DART_DAMAGED' });
      await expect(EpochStore.open(directory)).rejects.toMatchObject({ code: 'ERR_DART_DAMAGED' });
    }
  });

  it('reads a folder that it may not write', async () => {
    const { directory, model } = await prepare();
    const names = ['.', 'live', 'history'].map((name) => join(directory, name));
    for (const name of names) chmodSync(name, 0o555);
    try {
      const reader = await EpochReader.open(directory);
      const answers = await reader.queryMany(keys);
      for (const [number, [answer]] of answers.entries()) {
        expect(answer?.answer).toEqual(model.of(0n).query(keyOf(number)));
      }
    } finally {
      for (const name of names) chmodSync(name, 0o755);
    }
  });
});

describe('a damaged checkpoint, to a reader', () => {
  afterEach(removeDirectories);

  it('with a byte behind its end or a bit flipped is an error that names it, and stays as it is', async () => {
    const { directory, file } = await prepare();
    const whole = readFileSync(file);
    const random = randomNumbers(SEED);
    const damaged = [Buffer.concat([whole, Buffer.alloc(1)]), Buffer.alloc(0), whole.subarray(0, 5000)];
    for (let tries = 0; tries < 3 + runs(25); tries++) {
      const bytes = Buffer.from(whole);
      const place = tries < 3 ? [0, 130, whole.length - 1][tries]! : random() % whole.length;
      bytes[place] = bytes[place]! ^ (1 << (random() % 8));
      damaged.push(bytes);
    }
    for (const bytes of damaged) {
      writeFileSync(file, bytes);
      const before = stateOf(directory);
      const reader = await EpochReader.open(directory);
      await expect(reader.query(keyOf(1))).rejects.toMatchObject({ code: 'ERR_DART_DAMAGED', path: file });
      expect(reader.damage).toMatchObject([{ path: file, kind: 'checkpoint', epoch: 0n, isSetAside: false }]);
      await reader.close();
      expect(stateOf(directory)).toEqual(before);
    }
  });

  it('is read as far as it is sound if that is asked for: all but the page that is damaged', async () => {
    const { directory, file, model } = await prepare();
    const whole = readFileSync(file);
    const page = 16 + 64 * 24;
    for (const place of [0, 50, 128, 132, 136, 140, 144, 128 + 3 * page + 700, whole.length - 5]) {
      const bytes = Buffer.from(whole);
      bytes[place] = bytes[place]! ^ 1;
      writeFileSync(file, bytes);
      const isInPage = place >= 128 && place < whole.length - 32;
      const reader = await EpochReader.open(directory, { salvage: true });
      expect(reader.damageTo({})).toMatchObject([{ path: file, soundSlots: 64 * (isInPage ? PAGES - 1 : PAGES) }]);
      const first = isInPage ? Math.floor((place - 128) / page) * 64 : -64;
      const answers = await reader.queryMany(keys);
      for (const [number, [answer]] of answers.entries()) {
        expect(answer?.incomplete).toBe(true);
        const slots = [0, 1].map((copy) => model.of(0n).slotOf(keyOf(number), copy));
        // Elsewhere, everything is there.
        if (slots.some((slot) => slot >= first && slot < first + 64)) continue;
        expect(answer?.answer).toEqual(model.of(0n).query(keyOf(number)));
      }
      await reader.close();
    }
  });

  it('does not lend a meaning to what strangers have written into slots', async () => {
    const { directory } = await prepare();
    const store = await EpochStore.open(directory, { checkpointMs: 0 });
    // A record that would empty all slots, with the right checksum, in slots that anybody may write by RDMA.
    const trap = Buffer.alloc(16);
    sealPage(trap, 0, 0, 64 * PAGES, 0);
    for (let slot = 0; slot < 64; slot++) store.target.writeBytes(slot * 24, trap, 0, 16);
    await store.close();
    const later = join(directory, 'live', readdirSync(join(directory, 'live')).sort()[1]!);
    const bytes = readFileSync(later);
    // The header of the page that holds them: where the next page begins is not known from it.
    const at = bytes.indexOf(trap) - 16;
    expect(at).toBe(128);
    bytes[at] = bytes[at]! ^ 1;
    bytes[at + 8] = bytes[at + 8]! ^ 1;
    writeFileSync(later, bytes);
    const reader = await EpochReader.open(directory, { salvage: true });
    const answers = await reader.queryMany(keys);
    expect(answers.filter(([answer]) => answer?.answer.status === 'value').length).toBeGreaterThan(KEYS / 2);
    await reader.close();
  });

  it('of another store or epoch gives nothing, whatever its checksums say', async () => {
    const { directory, file } = await prepare();
    const other = await EpochStore.open(newDirectory(), { ...OPTIONS, slots: 64 * (PAGES + 1) });
    other.write(keyOf(1), valueFor(1, 9));
    await other.close();
    const live = join(other.directory, 'live');
    const own = readFileSync(file);
    cpSync(join(live, readdirSync(live)[0]!), file);
    for (const bytes of [readFileSync(file), own]) {
      const path = bytes === own ? file.replace('0000.ckpt', '0003.ckpt') : file;
      writeFileSync(path, bytes);
      if (path !== file) rmSync(file);
      const reader = await EpochReader.open(directory, { salvage: true });
      expect(reader.damageTo({})).toMatchObject([{ path, soundSlots: 0 }]);
      expect(await reader.query(keyOf(1))).toEqual([]);
      await reader.close();
    }
  });

  it('is set aside by the next writer, who says what it took over, and answers are incomplete from then on', async () => {
    const { directory, file } = await prepare();
    appendFileSync(file, 'x');
    const errors: Error[] = [];
    const store = await EpochStore.open(directory, { checkpointMs: 0, onError: (error) => errors.push(error) });
    expect(errors).toMatchObject([{ code: 'ERR_DART_DAMAGED', path: `${file}.damaged` }]);
    expect(store.damageTo({})).toMatchObject([{ path: `${file}.damaged`, soundSlots: 64 * PAGES }]);
    await store.close();
    const reader = await EpochReader.open(directory);
    const [answer] = await reader.query(keyOf(KEYS - 1));
    expect(answer).toMatchObject({ incomplete: true, answer: { value: valueFor(KEYS - 1, 1) } });
    expect(reader.damageTo({})).toMatchObject([{ path: `${file}.damaged`, isSetAside: true }]);
    await reader.close();
    // Where somebody has dealt with it, and taken it away, all is well.
    rmSync(`${file}.damaged`);
    const after = await EpochReader.open(directory);
    expect(await after.query(keyOf(KEYS - 1))).toMatchObject([{ incomplete: false }]);
    await after.close();
  });

  it('does not let an epoch be forgotten of which it was all: its number stays, and what is asked of it is incomplete', async () => {
    const { directory, file } = await prepare();
    writeFileSync(file, Buffer.alloc(3000));
    const store = await EpochStore.open(directory, { checkpointMs: 0 });
    expect(store.epoch).toBe(0n);
    expect(await store.query(keyOf(1))).toMatchObject([{ incomplete: true, answer: { status: 'absent' } }]);
    expect(readFileSync(`${file}.damaged`)).toEqual(Buffer.alloc(3000));
    await store.close();
  });

  it('that is a pipe is waited for by nobody', async () => {
    const { directory, file } = await prepare();
    rmSync(file);
    execFileSync('mkfifo', [file]);
    const reader = await EpochReader.open(directory);
    await expect(reader.query(keyOf(1))).rejects.toMatchObject({ code: 'ERR_DART_DAMAGED', path: file });
    await reader.close();
    // A lock that is none keeps nobody out.
    execFileSync('mkfifo', [join(directory, 'lock')]);
    await (await EpochReader.open(directory)).close();
    rmSync(join(directory, 'store.json'));
    execFileSync('mkfifo', [join(directory, 'store.json')]);
    await expect(EpochReader.open(directory)).rejects.toMatchObject({ code: 'ERR_DART_DAMAGED' });
  });
});
