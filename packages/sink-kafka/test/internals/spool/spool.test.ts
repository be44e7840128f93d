import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { smallDisk } from '../../../../../.ci/test/small-disk.js';
import { MESSAGE_STATE } from '../../../src/parcel.js';
import { CHUNK_HEADER } from '../../../src/spool/chunk.js';
import { Spool, type SpoolBatch, type SpoolSettings } from '../../../src/spool/spool.js';
import { SEED } from '../../seed.js';
import { type Message, message, messagesOf, numbered, numbersOf, parcelOf } from '../parcels.js';

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
    batch: { messages: 8192, bytes: 262_144 },
    keepsSegment: false,
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

const head = (spool: Spool): Promise<SpoolBatch | null> => spool.head(Number.POSITIVE_INFINITY);

/** The first messages, which are removed. */
async function take(spool: Spool): Promise<number[]> {
  const batch = await head(spool);
  if (batch === null) return [];
  await spool.consume(batch.end, batch.counts);
  return numbersOf(batch.parcel);
}

async function drain(spool: Spool): Promise<number[]> {
  const numbers: number[] = [];
  while (!spool.isEmpty) numbers.push(...(await take(spool)));
  return numbers;
}

/** Bytes of a chunk of three, as the tests append them. */
const CHUNK_OF_THREE = CHUNK_HEADER + 3 * 43;
/** Numbers of chunks of three, as the tests append them. */
const threes = (chunks: number): number[] =>
  Array.from({ length: chunks }, (_, chunk) => [10 * chunk, 10 * chunk + 1, 10 * chunk + 2]).flat();

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
        const model: Message[] = [];
        for (const each of steps) {
          if (each.do === 'append') {
            expect(await spool.append(parcelOf(each.messages))).toBe('stored');
            model.push(...each.messages);
          } else if (each.do === 'reopen') {
            await spool.close();
            ({ seen, spool } = openSpool(folder, { segmentBytes }));
            expect(spool.foundCounts).toEqual(spool.counts);
          } else {
            const batch = await head(spool);
            const messages = batch === null ? [] : messagesOf(batch.parcel);
            expect(messages).toEqual(model.slice(0, messages.length));
            expect(messages.length > 0).toBe(model.length > 0);
            if (each.do === 'consume' && batch !== null) {
              await spool.consume(batch.end, batch.counts);
              model.splice(0, messages.length);
            }
          }
          expect([...spool.counts]).toEqual([0, 1, 2].map((kind) => model.filter((one) => one.kind === kind).length));
          expect(spool.isEmpty).toBe(model.length === 0);
          // Small chunks have one time together.
          const reports = model.filter(({ kind }) => kind === 0);
          expect(spool.earliestMs).toBeLessThanOrEqual(Math.min(...reports.map(({ timeMs }) => timeMs)));
          if (model.length === 0) expect(spool.earliestMs).toBe(Number.POSITIVE_INFINITY);
          expect(chunkFiles(folder).length > 0).toBe(model.length > 0);
          expect(seen.problems).toEqual([]);
        }
        await spool.close();
      },
    ),
    { seed: SEED, numRuns: runs(60) },
  );
});

test('whatever byte the process ended at, all messages before it are found, and the rest is counted', async () => {
  const folder = await newFolder();
  const { spool } = openSpool(folder, { segmentBytes: 2 ** 20 });
  for (let chunk = 0; chunk < 3; chunk++) await spool.append(numbered(10 * chunk, 3));
  await spool.close();
  const [name] = chunkFiles(folder);
  const whole = readFileSync(join(folder, name!));
  const header = CHUNK_HEADER;
  const message = (whole.length / 3 - header) / 3;
  const ends = Array.from({ length: 3 }, (_, chunk) => (whole.length / 3) * chunk).flatMap((from) =>
    [0, header, header + message, header + 2 * message].map((at) => from + at),
  );
  for (let size = 0; size <= whole.length; size++) {
    if (!IS_LONG && size % 5 !== 0 && !ends.some((end) => Math.abs(end - size) < 3)) continue;
    rmSync(join(folder, 'position'), { force: true });
    writeFileSync(join(folder, name!), whole.subarray(0, size));
    const again = openSpool(folder);
    const chunks = Math.floor(size / (whole.length / 3));
    const inside = size - chunks * (whole.length / 3);
    const extra = Math.max(0, Math.floor((inside - header) / message));
    const expected = threes(3).slice(0, 3 * chunks + extra);
    // How many messages a chunk was to have its header says.
    const lost = inside >= header ? 3 - extra : 0;
    expect([again.spool.damagedMessages, again.seen.lost]).toEqual([lost, lost]);
    const cut = inside < header ? inside : inside - header - extra * message;
    expect(again.spool.damagedBytes).toBe(cut);
    expect(again.seen.problems).toEqual(cut === 0 ? [] : ['ERR_KAFKA_SPOOL_DAMAGED']);
    expect(again.spool.foundCounts[0]).toBe(expected.length + lost);
    // What comes next is found behind what was kept.
    await again.spool.append(numbered(90, 1));
    expect(await drain(again.spool)).toEqual([...expected, 90]);
    await again.spool.close();
    // To end while writing is no damage that anybody would look into.
    expect(readdirSync(folder).filter((each) => each.endsWith('.damaged'))).toEqual([]);
  }
});

test('a byte that is not what was written costs its message, and all that is lost is counted', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(100_000),
      fc.integer({ min: 1, max: 255 }),
      fc.boolean(),
      fc.constantFrom(1, 2 ** 20),
      async (where, flip, isOpen, segmentBytes) => {
        const folder = await newFolder();
        const { seen, spool } = openSpool(folder, { segmentBytes });
        for (let chunk = 0; chunk < 6; chunk++) await spool.append(numbered(10 * chunk, 3));
        let isHeader = false;
        const damage = (): void => {
          // The last chunk is not touched: nothing behind it would say how much of it is missing.
          const files = chunkFiles(folder);
          const path = join(folder, files[where % Math.max(1, files.length - 1)]!);
          const bytes = readFileSync(path);
          const at = where % (files.length > 1 ? bytes.length : (bytes.length / 6) * 5);
          bytes[at]! ^= flip;
          writeFileSync(path, bytes);
          isHeader = at % CHUNK_OF_THREE < CHUNK_HEADER;
        };
        // While the folder is in use, or between two processes.
        if (isOpen) damage();
        else {
          await spool.close();
          damage();
        }
        const second = isOpen ? { seen, spool } : openSpool(folder, { segmentBytes });
        const numbers = await drain(second.spool);
        const all = threes(6);
        expect(numbers).toEqual(all.filter((number) => numbers.includes(number)));
        const lost = all.length - numbers.length;
        expect(lost).toBe(isHeader ? 3 : 1);
        expect(second.seen.problems).toEqual(['ERR_KAFKA_SPOOL_DAMAGED']);
        expect(second.spool.damagedBytes).toBeGreaterThan(0);
        expect([second.spool.damagedMessages, second.seen.lost]).toEqual([lost, lost]);
        expect([...second.spool.counts]).toEqual([0, 0, 0]);
        await second.spool.close();
        // It is there to be looked at.
        expect(readdirSync(folder).filter((each) => each.endsWith('.damaged'))).toHaveLength(1);
        expect(chunkFiles(folder)).toEqual([]);
      },
    ),
    { seed: SEED, numRuns: runs(60) },
  );
});

test('whatever bytes a segment has, opening and reading it ends, and what is sound is found', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constant(new Uint8Array(5000))), { maxLength: 4 }),
      fc.boolean(),
      async (pieces, isCut) => {
        const folder = await newFolder();
        const { spool } = openSpool(folder, { segmentBytes: 2 ** 20 });
        for (let chunk = 0; chunk < pieces.length; chunk++) await spool.append(numbered(10 * chunk, 3));
        await spool.close();
        const [name] = chunkFiles(folder);
        if (name === undefined) return;
        const path = join(folder, name);
        const whole = readFileSync(path);
        const size = whole.length / pieces.length;
        const mixed = pieces.flatMap((piece, chunk) => [piece, whole.subarray(chunk * size, (chunk + 1) * size)]);
        writeFileSync(path, Buffer.concat(mixed).subarray(0, isCut ? -1 : undefined));
        const again = openSpool(folder);
        const numbers = await drain(again.spool);
        expect(numbers).toEqual(threes(pieces.length).slice(0, isCut ? -1 : undefined));
        expect(again.spool.damagedMessages).toBe(isCut ? 1 : 0);
        await again.spool.close();
      },
    ),
    { seed: SEED, numRuns: runs(60) },
  );
});

test('only the last damaged segments are set aside', async () => {
  const folder = await newFolder();
  const { seen, spool } = openSpool(folder, { segmentBytes: 1 });
  for (let chunk = 0; chunk < 7; chunk++) await spool.append(numbered(10 * chunk, 3));
  for (const name of chunkFiles(folder)) {
    const bytes = readFileSync(join(folder, name));
    bytes[100]! ^= 1;
    writeFileSync(join(folder, name), bytes);
  }
  const numbers = await drain(spool);
  expect([numbers.length, spool.damagedMessages, seen.lost]).toEqual([14, 7, 7]);
  const aside = readdirSync(folder).filter((name) => name.endsWith('.damaged'));
  expect(aside.map((name) => Number.parseInt(name, 10)).sort((a, b) => a - b)).toEqual([4, 5, 6, 7]);
  await spool.close();
});

test('a segment that is gone costs its messages, which are counted, whether it is missed at once or at the next start', async () => {
  for (const isOpen of [true, false]) {
    const folder = await newFolder();
    const { seen, spool } = openSpool(folder, { segmentBytes: 1 });
    for (let chunk = 0; chunk < 5; chunk++) await spool.append(numbered(10 * chunk, 3));
    if (!isOpen) await spool.close();
    rmSync(join(folder, chunkFiles(folder)[2]!));
    const second = isOpen ? { seen, spool } : openSpool(folder);
    const numbers: number[] = [];
    let failures = 0;
    while (!second.spool.isEmpty) {
      try {
        numbers.push(...(await take(second.spool)));
      } catch (error) {
        expect(error).toMatchObject({ code: 'ERR_KAFKA_DISK' });
        failures += 1;
      }
    }
    expect(numbers).toEqual(threes(5).filter((number) => Math.floor(number / 10) !== 2));
    expect([second.seen.lost, second.spool.damagedMessages]).toEqual([3, 3]);
    expect(failures).toBe(isOpen ? 2 : 0);
    await second.spool.close();
  }
});

test('a segment of another version is said, counted in bytes, and set aside', async () => {
  const folder = await newFolder();
  writeFileSync(join(folder, '000000000007.chunks'), Buffer.alloc(100));
  const { seen, spool } = openSpool(folder);
  expect([spool.isEmpty, spool.damagedBytes, seen.problems]).toEqual([true, 100, ['ERR_KAFKA_SPOOL_DAMAGED']]);
  expect(readdirSync(folder)).toContain('000000000007.chunks.damaged');
  await spool.close();
});

test('messages that are settled are not written', async () => {
  const { spool } = openSpool(await newFolder());
  const parcel = numbered(0, 5);
  parcel.state[1] = MESSAGE_STATE.SETTLED;
  parcel.state[3] = MESSAGE_STATE.SETTLED;
  parcel.state[4] = MESSAGE_STATE.SENT;
  parcel.remaining = 3;
  expect(await spool.append(parcel)).toBe('stored');
  expect(parcel.stored).toEqual({ rows: 5, end: spool.end, counts: Float64Array.of(3, 0, 0) });
  const { bytes } = spool;
  expect(await spool.append(parcel)).toBe('stored');
  expect(spool.bytes).toBe(bytes);
  expect(await drain(spool)).toEqual([0, 2, 4]);
  await spool.close();
});

test('the time of the earliest report that is held is known, also to the next process', async () => {
  const folder = await newFolder();
  let { spool } = openSpool(folder, { segmentBytes: 2 ** 18, batch: { messages: 1, bytes: 262_144 } });
  const events = parcelOf(messagesOf(numbered(5, 1)).map((one) => ({ ...one, kind: 1 })));
  await spool.append(events);
  expect(spool.earliestMs).toBe(Number.POSITIVE_INFINITY);
  for (const number of [30, 10, 40, 20, 50]) await spool.append(numbered(number, 1, 70_000));
  const seen: number[] = [];
  for (let round = 0; round < 7; round++) {
    seen.push(spool.earliestMs);
    await take(spool);
    if (round !== 2) continue;
    await spool.close();
    ({ spool } = openSpool(folder, { batch: { messages: 1, bytes: 262_144 } }));
  }
  expect(seen).toEqual([10, 10, 10, 20, 20, 50, Number.POSITIVE_INFINITY]);
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
  expect(sizes.length).toBeGreaterThan(2);
  const numbers: number[] = [];
  for (let rounds = 0; rounds < 100; rounds++) {
    numbers.push(...(await take(spool)));
    if ((await spool.append(numbered(appended, 10))) === 'stored') appended += 10;
    expect(spool.bytes).toBeLessThanOrEqual(8000);
  }
  numbers.push(...(await drain(spool)));
  expect(numbers).toEqual(Array.from({ length: appended }, (_, index) => index));
  await spool.close();
});

test('a position that was not written costs no message; the chunks come again', async () => {
  const folder = await newFolder();
  const { spool } = openSpool(folder, { segmentBytes: 2 ** 20, batch: { messages: 2, bytes: 262_144 } });
  for (let chunk = 0; chunk < 3; chunk++) await spool.append(numbered(10 * chunk, 1));
  expect(await take(spool)).toEqual([0, 10]);
  await spool.close();
  expect(readFileSync(join(folder, 'position'), 'utf8')).toMatch(/^1 \d+\n$/);
  writeFileSync(join(folder, 'position'), 'x');
  const again = openSpool(folder);
  expect(again.seen.problems).toEqual(['ERR_KAFKA_SPOOL_DAMAGED']);
  expect(await drain(again.spool)).toEqual([0, 10, 20]);
  await again.spool.close();
});

test('a disk that is full is said, costs nothing that was there, and is used again when it has room', async () => {
  const folder = await newFolder();
  const unmount = smallDisk(folder, '256k');
  try {
    const { spool } = openSpool(folder, { segmentBytes: 32 * 1024, batch: { messages: 1, bytes: 262_144 } });
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
      const batch = (await head(spool))!;
      numbers.push(...numbersOf(batch.parcel));
      await spool
        .consume(batch.end, batch.counts)
        .catch((error: unknown) => expect(error).toMatchObject({ code: 'ERR_KAFKA_DISK' }));
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
    unmount();
  }
});

test('a file that became shorter while it was in use costs what is missing', async () => {
  const folder = await newFolder();
  const { seen, spool } = openSpool(folder, { segmentBytes: 2 ** 20 });
  for (let chunk = 0; chunk < 3; chunk++) await spool.append(numbered(10 * chunk, 2));
  truncateSync(join(folder, chunkFiles(folder)[0]!), Math.floor(spool.bytes / 2));
  expect(await drain(spool)).toEqual([0, 1]);
  expect([seen.lost, spool.damagedMessages]).toEqual([4, 4]);
  expect([...spool.counts]).toEqual([0, 0, 0]);
  await spool.close();
});
