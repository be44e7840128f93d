import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { limit } from '../../../../.ci/test/requires.js';
import { KafkaSinkError } from '../../src/errors.js';
import { MESSAGE_STATE } from '../../src/parcel.js';
import { Spool, type SpoolSettings } from '../../src/spool/spool.js';
import { type Message, message, messagesOf, numbered, numbersOf, parcelOf } from '../parcels.js';
import { SEED } from '../seed.js';

/** INT_LONG=1: the process ends at every byte; else at those around the ends of chunks, and every fifth. */
const IS_LONG = process.env.INT_LONG === '1';

const folders: string[] = [];
afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'int-spool-'));
  folders.push(folder);
  return folder;
}

interface Seen {
  readonly problems: string[];
  lost: number;
}

function openSpool(
  directory: string,
  more: Partial<SpoolSettings> = {},
): { readonly spool: Spool; readonly seen: Seen } {
  const seen: Seen = { problems: [], lost: 0 };
  const spool = new Spool({
    directory,
    limitBytes: 2 ** 30,
    segmentBytes: 4096,
    sync: 'never',
    onLost: (counts) => {
      for (let kind = 0; kind < counts.length; kind++) seen.lost += counts[kind]!;
    },
    onProblem: ({ code }) => seen.problems.push(code),
    ...more,
  });
  return { spool, seen };
}

function chunkFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.chunks'))
    .sort();
}

async function drain(spool: Spool): Promise<number[]> {
  const numbers: number[] = [];
  for (let parcel = await spool.head(); parcel !== null; parcel = await spool.head()) {
    numbers.push(...numbersOf(parcel));
    await spool.consume();
  }
  return numbers;
}

const step = fc.oneof(
  fc.record({ do: fc.constant('append' as const), messages: fc.array(message, { minLength: 1, maxLength: 12 }) }),
  fc.record({ do: fc.constant('consume' as const) }),
  fc.record({ do: fc.constant('peek' as const) }),
  fc.record({ do: fc.constant('reopen' as const) }),
);

test('a spool gives back what was appended, in order, also after it was opened again', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.constantFrom(300, 2000, 2 ** 20),
      async (steps, segmentBytes) => {
        const folder = await newFolder();
        let { spool, seen } = openSpool(folder, { segmentBytes });
        const model: (readonly Message[])[] = [];
        for (const each of steps) {
          if (each.do === 'append') {
            expect(await spool.append(parcelOf(each.messages))).toBe('stored');
            model.push(each.messages);
          } else if (each.do === 'reopen') {
            await spool.close();
            ({ seen, spool } = openSpool(folder, { segmentBytes }));
            expect(spool.foundCounts).toEqual(spool.counts);
          } else {
            const parcel = await spool.head();
            expect(parcel === null ? undefined : messagesOf(parcel)).toEqual(model[0]);
            if (each.do === 'consume' && parcel !== null) {
              await spool.consume();
              model.shift();
            }
          }
          expect([...spool.counts]).toEqual(
            [0, 1, 2].map((kind) => model.flat().filter((one) => one.kind === kind).length),
          );
          expect(spool.isEmpty).toBe(model.length === 0);
          expect(chunkFiles(folder).length > 0).toBe(model.length > 0);
          expect(seen.problems).toEqual([]);
        }
        await spool.close();
      },
    ),
    { seed: SEED, numRuns: runs(60) },
  );
});

test('whatever byte the process ended at, all chunks before it are found, and the rest is cut off and said', async () => {
  const folder = await newFolder();
  const { spool } = openSpool(folder, { segmentBytes: 2 ** 20 });
  const ends: number[] = [];
  for (let chunk = 0; chunk < 4; chunk++) {
    await spool.append(numbered(10 * chunk, 3));
    ends.push(spool.bytes);
  }
  await spool.close();
  const [name] = chunkFiles(folder);
  const whole = readFileSync(join(folder, name!));
  for (let size = 0; size <= whole.length; size++) {
    if (!IS_LONG && size % 5 !== 0 && !ends.some((end) => Math.abs(end - size) < 3)) continue;
    rmSync(join(folder, 'position'), { force: true });
    writeFileSync(join(folder, name!), whole.subarray(0, size));
    const again = openSpool(folder);
    const chunks = ends.filter((end) => end <= size).length;
    const kept = chunks === 0 ? 0 : ends[chunks - 1]!;
    expect(again.spool.damagedBytes).toBe(size - kept);
    expect(again.seen.problems).toEqual(size === kept ? [] : ['ERR_KAFKA_SPOOL_DAMAGED']);
    // What comes next is found behind what was kept.
    await again.spool.append(numbered(90, 1));
    const expected = Array.from({ length: chunks }, (_, chunk) => [10 * chunk, 10 * chunk + 1, 10 * chunk + 2]).flat();
    expect(await drain(again.spool)).toEqual([...expected, 90]);
    await again.spool.close();
  }
});

test('a byte that is not what was written costs its chunk, and what was lost is counted', async () => {
  const folder = await newFolder();
  await fc.assert(
    fc.asyncProperty(fc.nat(10_000), fc.integer({ min: 1, max: 255 }), fc.boolean(), async (where, flip, isOpen) => {
      const { seen, spool } = openSpool(folder, { segmentBytes: 1 });
      for (let chunk = 0; chunk < 5; chunk++) await spool.append(numbered(10 * chunk, 3));
      const damage = (): void => {
        const files = chunkFiles(folder);
        const path = join(folder, files[where % files.length]!);
        const bytes = readFileSync(path);
        bytes[where % bytes.length]! ^= flip;
        writeFileSync(path, bytes);
      };
      // While the folder is in use, or between two processes.
      if (isOpen) damage();
      else {
        await spool.close();
        damage();
      }
      const second = isOpen ? { seen, spool } : openSpool(folder);
      const numbers = await drain(second.spool);
      const chunks = [0, 1, 2, 3, 4].filter((chunk) => numbers.includes(10 * chunk));
      expect(numbers).toEqual(chunks.flatMap((chunk) => [10 * chunk, 10 * chunk + 1, 10 * chunk + 2]));
      expect(chunks).toHaveLength(4);
      expect(second.seen.problems).toEqual(['ERR_KAFKA_SPOOL_DAMAGED']);
      expect(second.spool.damagedBytes).toBeGreaterThan(0);
      if (isOpen) expect(second.seen.lost).toBe(3);
      expect([...second.spool.counts]).toEqual([0, 0, 0]);
      await second.spool.close();
    }),
    { seed: SEED, numRuns: runs(60) },
  );
});

test('a byte between two processes costs its chunk alone, and not those behind it in the same file', async () => {
  const folder = await newFolder();
  await fc.assert(
    fc.asyncProperty(fc.nat(100_000), fc.integer({ min: 1, max: 255 }), fc.nat(3), async (where, flip, consumed) => {
      const { spool } = openSpool(folder, { segmentBytes: 2 ** 20 });
      for (let chunk = 0; chunk < 5; chunk++) await spool.append(numbered(10 * chunk, 3));
      const { bytes: size } = spool;
      for (let chunk = 0; chunk < consumed; chunk++) {
        await spool.head();
        await spool.consume();
      }
      await spool.close();
      const path = join(folder, chunkFiles(folder)[0]!);
      const bytes = readFileSync(path);
      bytes[where % size]! ^= flip;
      writeFileSync(path, bytes);
      const second = openSpool(folder);
      const chunks = (await drain(second.spool)).filter((_, at) => at % 3 === 0).map((number) => number / 10);
      const damaged = Math.floor(((where % size) * 5) / size);
      expect(chunks).toEqual([0, 1, 2, 3, 4].filter((chunk) => chunk >= consumed && chunk !== damaged));
      expect(second.seen.problems).toEqual(damaged < consumed ? [] : ['ERR_KAFKA_SPOOL_DAMAGED']);
      expect(second.spool.damagedBytes).toBe(damaged < consumed ? 0 : size / 5);
      await second.spool.close();
    }),
    { seed: SEED, numRuns: 100 },
  );
});

test('messages that are settled are not written', async () => {
  const { spool } = openSpool(await newFolder());
  const parcel = numbered(0, 5);
  parcel.state[1] = MESSAGE_STATE.SETTLED;
  parcel.state[3] = MESSAGE_STATE.SETTLED;
  parcel.state[4] = MESSAGE_STATE.SENT;
  parcel.remaining = 3;
  expect(await spool.append(parcel)).toBe('stored');
  parcel.state.fill(MESSAGE_STATE.SETTLED);
  parcel.remaining = 0;
  expect(await spool.append(parcel)).toBe('nothing');
  expect(await drain(spool)).toEqual([0, 2, 4]);
  await spool.close();
});

test('the limit is not exceeded, and there is room again when segments are consumed', async () => {
  const folder = await newFolder();
  const { spool } = openSpool(folder, { limitBytes: 8000, segmentBytes: 2000 });
  let appended = 0;
  while (appended < 10_000 && (await spool.append(numbered(appended, 10))) === 'stored') appended += 10;
  expect(appended).toBeGreaterThan(100);
  expect(spool.bytes).toBeLessThanOrEqual(8000);
  const sizes = chunkFiles(folder).map((name) => readFileSync(join(folder, name)).length);
  expect(sizes.reduce((a, b) => a + b)).toBe(spool.bytes);
  const numbers: number[] = [];
  for (let rounds = 0; rounds < 100; rounds++) {
    numbers.push(...numbersOf((await spool.head())!));
    await spool.consume();
    if ((await spool.append(numbered(appended, 10))) === 'stored') appended += 10;
    expect(spool.bytes).toBeLessThanOrEqual(8000);
  }
  numbers.push(...(await drain(spool)));
  expect(numbers).toEqual(Array.from({ length: appended }, (_, index) => index));
  await spool.close();
});

test('a folder belongs to one spool at a time', async () => {
  const folder = await newFolder();
  const { spool } = openSpool(folder);
  expect(() => openSpool(folder)).toThrow(expect.objectContaining({ code: 'ERR_KAFKA_SPOOL_IN_USE' }));
  await spool.close();
  // Process 1 is always there; a number that large never.
  writeFileSync(join(folder, 'lock'), '1\n');
  expect(() => openSpool(folder)).toThrow(KafkaSinkError);
  writeFileSync(join(folder, 'lock'), '4194999\n');
  await openSpool(folder).spool.close();
});

test('a position that was not written costs no message; the chunks come again', async () => {
  const folder = await newFolder();
  const { spool } = openSpool(folder, { segmentBytes: 2 ** 20 });
  for (let chunk = 0; chunk < 3; chunk++) await spool.append(numbered(10 * chunk, 1));
  await spool.head();
  await spool.consume();
  await spool.close();
  writeFileSync(join(folder, 'position'), 'x');
  const again = openSpool(folder);
  expect(await drain(again.spool)).toEqual([0, 10, 20]);
  await again.spool.close();
});

test('a disk that is full is said, costs nothing that was there, and is used again when it has room', async () => {
  const folder = await newFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder], { stdio: 'ignore', timeout: 20_000 });
  } catch {
    limit('a small file system cannot be mounted here, to be filled');
  }
  try {
    const { spool } = openSpool(folder, { segmentBytes: 32 * 1024 });
    let appended = 0;
    const fill = async (): Promise<unknown> => {
      try {
        for (; appended < 1000; appended++) await spool.append(numbered(appended, 1, 5000));
        return `${appended} on a small disk`;
      } catch (error) {
        return error;
      }
    };
    expect(await fill()).toMatchObject({ code: 'ERR_KAFKA_DISK', cause: { code: 'ENOSPC' } });
    expect(appended).toBeGreaterThan(30);
    const numbers: number[] = [];
    for (let rounds = 0; rounds < 20; rounds++) {
      numbers.push(...numbersOf((await spool.head())!));
      await spool.consume().catch((error: unknown) => expect(error).toMatchObject({ code: 'ERR_KAFKA_DISK' }));
    }
    expect(await fill()).toMatchObject({ code: 'ERR_KAFKA_DISK' });
    await spool.close();
    const again = openSpool(folder);
    const rest = await drain(again.spool);
    // What was consumed while its position could not be written may come again.
    expect([...new Set([...numbers, ...rest])]).toEqual(Array.from({ length: appended }, (_, index) => index));
    expect(rest).toEqual([...rest].sort((a, b) => a - b));
    await again.spool.close();
  } finally {
    execFileSync('umount', [folder], { timeout: 20_000 });
  }
});

test('a file that became shorter while it was in use costs what is missing', async () => {
  const folder = await newFolder();
  const { seen, spool } = openSpool(folder, { segmentBytes: 2 ** 20 });
  for (let chunk = 0; chunk < 3; chunk++) await spool.append(numbered(10 * chunk, 2));
  truncateSync(join(folder, chunkFiles(folder)[0]!), Math.floor(spool.bytes / 2));
  expect(await drain(spool)).toEqual([0, 1]);
  expect(seen.lost).toBe(4);
  expect([...spool.counts]).toEqual([0, 0, 0]);
  await spool.close();
});
