import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type Answer, DartStore } from '@int/dart';
import { EpochStore } from '@int/dart/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTime } from '../../../../.ci/test/until.js';
import { bundle } from '../bundle.js';
import { KEYS, keyOfWrite, PLAN } from './kill-plan.js';
import { newDirectory, removeDirectories, SEED } from './support.js';
import { keyOf, randomNumbers, valueFor, versionOf } from './values.js';

/** The long form goes on for an hour at most. */
const TIME_LIMIT_MS = process.env.INT_LONG === '1' ? 3_600_000 : 180_000;

const KILLS = Number(process.env.INT_KILLS ?? (process.env.INT_LONG === '1' ? 50 : 2));

/** What the process was promised. */
class Log {
  /** First write of each epoch. */
  readonly begins = new Map<bigint, number>();
  /** Writes of each epoch that are in a checkpoint. */
  readonly saved = new Map<bigint, number>();
  readonly finished = new Set<bigint>();

  take(line: string): void {
    const [kind, epoch, count] = line.split(' ');
    if (kind === 'R') this.begins.set(BigInt(epoch!), Number(count));
    if (kind === 'C') this.saved.set(BigInt(epoch!), Number(count));
    if (kind === 'F') this.finished.add(BigInt(epoch!));
  }

  /** Writes of an epoch, one behind the last; infinite while it is not known. */
  end(epoch: bigint): number {
    return this.begins.get(epoch + 1n) ?? Number.POSITIVE_INFINITY;
  }
}

/** Starts the writer, and kills it some milliseconds after the n-th line of a kind. */
async function killAfter(program: string, args: string[], kind: string, nth: number, delay: number): Promise<Log> {
  const log = new Log();
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = new Promise<string | null>((resolve) => child.once('exit', (_, signal) => resolve(signal)));
  let seen = 0;
  const lines = createInterface({ input: child.stdout });
  const read = new Promise((resolve) => lines.once('close', resolve));
  lines.on('line', (line) => {
    log.take(line);
    if (!line.startsWith(kind) || ++seen !== nth) return;
    if (delay === 0) child.kill('SIGKILL');
    else setTimeout(() => child.kill('SIGKILL'), delay);
  });
  const patience = { found: () => `${seen} of them`, inVain: () => child.kill('SIGKILL') };
  expect(await inTime(`line ${nth} with ${kind} of the writer`, gone, patience)).toBe('SIGKILL');
  await inTime('the end of its lines', read);
  return log;
}

/** The store of writes `from` to `to - 1`, and nothing else. */
function modelOf(seed: number, from: number, to: number): DartStore {
  const model = new DartStore({ slots: PLAN.slots!, copies: PLAN.copies! });
  for (let write = from; write < to; write++) {
    const number = keyOfWrite(seed, write);
    model.write(keyOf(number), valueFor(number, write));
  }
  return model;
}

const keys = Array.from({ length: KEYS }, (_, number) => keyOf(number));

/** Thousands of answers: only the first difference is shown. */
function expectSame(found: readonly string[], expected: readonly string[]): void {
  const wrong = expected.findIndex((answer, at) => answer !== found[at]);
  expect([wrong, found[wrong]]).toEqual([-1, expected[wrong]]);
}

function textOf({ status, value, matching, agreeing }: Answer): string {
  return `${status} ${matching} ${agreeing} ${value === null ? '' : Buffer.from(value).toString('hex')}`;
}

/** What an epoch of a store answers to all keys. */
async function answersOf(store: EpochStore, epoch: bigint): Promise<string[]> {
  const { from } = store.epochs().find((one) => one.epoch === epoch)!;
  const answers = await store.queryMany(keys, { at: from });
  return answers.map((all) => textOf(all.find((one) => one.epoch === epoch)!.answer));
}

/** Checks each slot of an epoch that was not finished: nothing older than what was saved, and nothing that was not written. */
function checkSlots(store: DartStore, seed: number, from: number, saved: number, to: number): void {
  const { slots, slotBytes } = store.geometry;
  const least = new Int32Array(slots).fill(-1);
  for (let write = from; write < from + saved; write++) {
    const key = keyOf(keyOfWrite(seed, write));
    for (const copy of [0, 1]) least[store.slotOf(key, copy)] = write;
  }
  const bytes = Buffer.concat(store.pieces);
  const wrong: string[] = [];
  for (let slot = 0; slot < slots; slot++) {
    const at = slot * slotBytes;
    const checksum = bytes.readUInt32BE(at);
    if (checksum === 0) {
      if (least[slot] !== -1) wrong.push(`slot ${slot} lost write ${least[slot]}`);
      continue;
    }
    const write = bytes.readUInt32BE(at + 4);
    const number = keyOfWrite(seed, write);
    const key = keyOf(number);
    if (write < Math.max(from, least[slot]!) || write >= to) wrong.push(`slot ${slot} has write ${write}`);
    if (versionOf(number, bytes.subarray(at + 4, at + slotBytes)) !== write) wrong.push(`slot ${slot} is a mix`);
    const isPlaced = [0, 1].some((copy) => store.slotOf(key, copy) === slot) && store.checksumOf(key) === checksum;
    if (!isPlaced) wrong.push(`slot ${slot} has another's value`);
  }
  expect(wrong).toEqual([]);
}

describe('a process that is killed while it writes', () => {
  let program: string;
  beforeAll(async () => {
    program = await bundle(new URL('kill-writer.program.ts', import.meta.url));
  });
  afterAll(removeDirectories);

  // Processes one after the other, each killed in the middle of its work.
  it(
    `leaves every finished epoch, and the live one up to its last checkpoint (${KILLS} times)`,
    async () => {
      const directory = newDirectory();
      const random = randomNumbers(SEED);
      const counts = {
        finished: 0,
        keysOfFinished: 0,
        live: 0,
        keysOfLive: 0,
        overwritten: 0,
        unsaved: 0,
        unfinished: 0,
      };
      /** What each epoch on disk has to answer, whatever is killed later. */
      const history = new Map<bigint, string[]>();
      for (let kill = 0; kill < KILLS; kill++) {
        const seed = random();
        // During writes and checkpoints, in a flush, and at the end of one.
        const [kind, most] = [['C', 8] as const, ['R', 12] as const, ['F', 4] as const][kill % 3]!;
        const nth = kind === 'F' ? 1 : kind === 'R' ? 2 : 1 + (random() % 15);
        const log = await killAfter(program, [directory, String(seed)], kind, nth, random() % most);
        const store = await EpochStore.open(directory, { ...PLAN, checkpointMs: 0 });
        expect(store.statistics).toMatchObject({ damagedCheckpoints: 0, damagedHistory: 0 });
        counts.unfinished += store.statistics.unfinishedFiles;
        await store.flushed();
        const onDisk = store.epochs().filter(({ source }) => source === 'disk');
        for (const epoch of log.finished) expect(onDisk.map((one) => one.epoch)).toContain(epoch);
        for (const { epoch, keyWrites } of onDisk) {
          const begin = log.begins.get(epoch);
          if (begin === undefined || history.has(epoch)) continue;
          // One that was killed in its flush may lack what was written after its last checkpoint.
          const end = log.finished.has(epoch) ? log.end(epoch) : begin + keyWrites;
          if (log.finished.has(epoch)) expect(keyWrites).toBe(end - begin);
          expect(keyWrites).toBeGreaterThanOrEqual(log.saved.get(epoch) ?? 0);
          const model = modelOf(seed, begin, end);
          const answers = await answersOf(store, epoch);
          if (keyWrites === log.end(epoch) - begin) {
            expectSame(
              answers,
              keys.map((key) => textOf(model.query(key))),
            );
          } else counts.unsaved++;
          history.set(epoch, answers);
          counts.finished++;
          counts.keysOfFinished += answers.filter((answer) => answer.startsWith('value')).length;
        }
        const { live, epoch } = store;
        const begin = log.begins.get(epoch);
        if (begin !== undefined) {
          const saved = log.saved.get(epoch) ?? 0;
          checkSlots(live, seed, begin, saved, log.end(epoch));
          const model = modelOf(seed, begin, begin + saved);
          counts.live++;
          for (const key of keys) {
            const [found, asSaved] = [live.query(key), model.query(key)];
            if (asSaved.status !== 'value') continue;
            if (found.matching > 0) counts.keysOfLive++;
            else counts.overwritten++;
          }
        }
        // What is live becomes history: later kills must not harm it.
        await store.rotate()?.finished;
        history.set(epoch, await answersOf(store, epoch));
        await store.close();
      }
      const store = await EpochStore.open(directory, { ...PLAN, checkpointMs: 0, verifyHistory: true });
      expect(store.statistics.damagedHistory).toBe(0);
      for (const [epoch, answers] of history) expectSame(await answersOf(store, epoch), answers);
      await store.close();
      expect(counts.keysOfFinished + counts.keysOfLive).toBeGreaterThan(0);
      console.log(
        `${KILLS} kills: ${counts.finished} finished epochs with ${counts.keysOfFinished} keys answered, ` +
          `${counts.unsaved} of them flushed after the restart without their last writes; ${counts.live} live epochs: of keys ` +
          `in their last checkpoint ${counts.keysOfLive} answered, ${counts.overwritten} overwritten since; ` +
          `${counts.unfinished} unfinished files removed`,
      );
    },
    TIME_LIMIT_MS,
  );
});
