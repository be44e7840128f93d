import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { type KafkaCluster, startCluster } from '../../../../../.ci/kafka/cluster.mjs';
import { requireKafka } from '../../../../../.ci/kafka/for-tests.js';
import { limit } from '../../../../../.ci/test/requires.js';
import { trySmallDisk } from '../../../../../.ci/test/small-disk.js';
import { PairRefused } from '../../../../../.ci/test/veth-pair.js';
import { bundle } from '../../bundle.js';
import { Cable } from '../../chaos/cable.js';
import { type Step, scheduleOf, textOf } from '../../chaos/schedule.js';
import type { Way } from '../../chaos/way.js';
import { Wire } from '../../chaos/wire.js';
import { PARTITIONS } from '../../processor-options.js';
import { linkTo, newName } from '../log.js';
import { disagreements, windowsIn } from './equations.js';
import { Logins, loginProperties } from './logins.js';
import { ReportLog } from './report-log.js';
import { COLLECTORS, type Programs, Supervisor, USERS } from './supervisor.js';

/** INT_LONG=1: twenty schedules that are drawn, and more besides the two below. INT_SEED: the first of their seeds. */
const IS_LONG = process.env.INT_LONG === '1';
const SEEDS = IS_LONG ? 20 : 0;
const FIRST_SEED = Number(process.env.INT_SEED ?? 1);
const LENGTH_MS = 25_000;
const STEPS = 7;
/** Waits of the longest schedule, of a broker that is away, and of the windows: all of them together. */
const TEST_MS = 300_000;

/** The processors are caught up with a broker that is back when what a sink has kept of the outage is still on its way. */
const FROZEN_AFTER_OUTAGE: readonly Step[] = [
  { atMs: 300, part: 'broker', action: 'freeze', which: 0, forMs: 1500 },
  { atMs: 1600, part: 'collector', action: 'freeze', which: 0, forMs: 2500 },
];
const FROZEN_LENGTH_MS = 4200;
/** The processor that gave windows out is gone when what a sink could not deliver comes; the other sink's is in its spool. */
const TAKEN_OVER: readonly Step[] = [
  { atMs: 200, part: 'collector', action: 'cut', which: 1, forMs: 2000 },
  { atMs: 900, part: 'processor', action: 'kill', which: 0, forMs: 300 },
  { atMs: 1200, part: 'collector', action: 'kill', which: 0, forMs: 300 },
  { atMs: 1500, part: 'clock', action: 'step', which: 0, forMs: 400 },
];
const TAKEN_OVER_LENGTH_MS = 2600;
/** A disk is full while nothing can be sent, and while a sink needs it for all that it is given. */
const DISK_FULL: readonly Step[] = [
  { atMs: 500, part: 'collector', action: 'fill', which: 1, forMs: 4000 },
  { atMs: 1000, part: 'collector', action: 'fill', which: 0, forMs: 6000 },
  { atMs: 1500, part: 'collector', action: 'cut', which: 0, forMs: 7000 },
  { atMs: 2500, part: 'collector', action: 'cut', which: 1, forMs: 3000 },
];
/** A topic is deleted when its last reports were not read, and the second one while processors read. */
const DELETED: readonly Step[] = [
  { atMs: 2000, part: 'processor', action: 'freeze', which: 0, forMs: 4000 },
  { atMs: 2000, part: 'processor', action: 'freeze', which: 1, forMs: 4000 },
  { atMs: 3000, part: 'topic', action: 'remake', which: 1, forMs: 1500 },
  { atMs: 10_000, part: 'topic', action: 'remake', which: 0, forMs: 1500 },
];
/** Logins end, of those that write and of those that read, one of which is killed meanwhile. */
const LOCKED_OUT: readonly Step[] = [
  { atMs: 500, part: 'collector', action: 'lock out', which: 0, forMs: 6000 },
  { atMs: 2000, part: 'processor', action: 'lock out', which: 0, forMs: 7000 },
  { atMs: 3000, part: 'processor', action: 'lock out', which: 1, forMs: 4000 },
  { atMs: 4000, part: 'processor', action: 'kill', which: 1, forMs: 1000 },
];
/** Silent sinks are given up after 6 s, and what they had comes late; the rest is committing. */
const SETTLE_MS = 60_000;
const LOGIN = 'LOGIN';

const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Parts {
  readonly cluster: KafkaCluster;
  readonly ways: readonly { readonly way: Way; readonly broker: string }[];
  readonly programs: Programs;
}

let parts: Promise<Parts> | undefined;

/** Why collectors cannot be in network namespaces here; null: the second one is, in the long form. */
let refusal: PairRefused | null = null;

async function newWay(collector: number): Promise<Way> {
  if (!IS_LONG || collector === 0) return await Wire.open();
  try {
    return new Cable();
  } catch (error) {
    if (!(error instanceof PairRefused)) throw error;
    refusal = error;
    return await Wire.open();
  }
}

function wayName(collector: number): string {
  return `WAY${collector}`;
}

async function started(): Promise<Parts> {
  const ways = await Promise.all(Array.from({ length: COLLECTORS }, (_, index) => newWay(index)));
  for (const way of ways) ends.push(() => way.close());
  const named = <T>(of: (way: Way) => T | null): Record<string, T> =>
    Object.fromEntries(ways.flatMap((way, index) => (of(way) === null ? [] : [[wayName(index), of(way) as T]])));
  const listeners = [LOGIN, ...ways.map((_, index) => wayName(index))];
  const [cluster, collector, processor] = await Promise.all([
    startCluster({
      listeners,
      addresses: named(({ listenAddress }) => listenAddress),
      advertised: named(({ advertisedPort }) => advertisedPort),
      properties: loginProperties(listeners),
    }),
    bundle(new URL('../../chaos/collector.program.ts', import.meta.url)),
    bundle(new URL('../../chaos/processor.program.ts', import.meta.url)),
  ]);
  ends.push(() => cluster.close());
  const { morePorts } = cluster.brokers[0]!;
  for (const program of [collector, processor]) {
    ends.push(() => rmSync(dirname(program), { recursive: true, force: true }));
  }
  return {
    cluster,
    ways: ways.map((way, index) => ({ way, broker: way.leadTo(morePorts[wayName(index)]!) })),
    programs: { collector, processor },
  };
}

/** Whether disks can be made here. */
function canFill(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'int-chaos-'));
  const unmount = trySmallDisk(folder, '64k');
  unmount?.();
  rmSync(folder, { recursive: true });
  return unmount !== null;
}

/** Lets a schedule happen and compares what is in the topics. */
async function run(schedule: readonly Step[], lengthMs: number, name: string): Promise<{ readonly lost: number }> {
  requireKafka();
  parts ??= started();
  const { cluster, ways, programs } = await parts;
  const prefix = `${newName('chaos')}.`;
  const link = linkTo(cluster.bootstrap);
  const [address] = cluster.bootstrap as [string];
  const logins = new Logins(link, address);
  const log = new ReportLog(link, cluster.bootstrap, prefix);
  await Promise.all([logins.grant(...Object.values(USERS).flat()), log.keepStates()]);
  const broker = `127.0.0.1:${cluster.brokers[0]!.morePorts[LOGIN]}`;
  const supervisor = new Supervisor({ cluster, ways, broker, logins, log, prefix, programs, hasDisks: IS_LONG });
  try {
    await supervisor.run(schedule, lengthMs);
    const limit = performance.now() + SETTLE_MS;
    let wrong: string[];
    let lost = 0;
    do {
      await sleep(500);
      const reports = await log.reports();
      lost = reports.lost;
      expect(reports.read.length).toBeGreaterThan(100);
      wrong = disagreements(reports.read, await windowsIn(link, prefix, PARTITIONS));
    } while (wrong.length > 0 && performance.now() < limit);
    expect(wrong, `${name}\n${textOf(schedule)}\n${supervisor.story()}`).toEqual([]);
    return { lost };
  } finally {
    await supervisor.close();
    link.close();
  }
}

describe('collectors, a broker and processors that are killed, frozen and restarted', () => {
  it('have each report in one window or counted as late: a collector is frozen after an outage', async () => {
    await run(FROZEN_AFTER_OUTAGE, FROZEN_LENGTH_MS, 'frozen after an outage');
  });

  it('have each report in one window or counted as late: a collector and a processor are killed, another is cut off', async () => {
    await run(TAKEN_OVER, TAKEN_OVER_LENGTH_MS, 'taken over');
  });

  describe.runIf(IS_LONG)('in the long form', () => {
    it('have each report in one window or counted as late: disks are full', { timeout: TEST_MS }, async () => {
      if (!canFill()) limit('a small file system cannot be mounted here, to be filled');
      await run(DISK_FULL, 10_000, 'disks are full');
    });

    it('have each report that was read in one window or counted as late: topics are deleted', {
      timeout: TEST_MS,
    }, async () => {
      const { lost } = await run(DELETED, 16_000, 'topics are deleted');
      // What came while the processors were frozen.
      expect(lost).toBeGreaterThan(50);
    });

    it('have each report in one window or counted as late: logins end', { timeout: TEST_MS }, async () => {
      await run(LOCKED_OUT, 12_000, 'logins end');
    });

    const seeds = Array.from({ length: SEEDS }, (_, index) => FIRST_SEED + index);
    it.each(seeds)('have each report in one window or counted as late: seed %i', { timeout: TEST_MS }, async (seed) => {
      const schedule = scheduleOf(seed, LENGTH_MS - 2000, STEPS, canFill() ? [] : ['fill']);
      process.stdout.write(`seed ${seed}\n${textOf(schedule)}\n`);
      const began = performance.now();
      const { lost } = await run(schedule, LENGTH_MS, `seed ${seed}`);
      process.stdout.write(
        `seed ${seed}: ${Math.round((performance.now() - began) / 1000)} s, ${lost} reports deleted before they were read\n`,
      );
    });

    it('have a way that is cut without a word', () => {
      if (refusal !== null) limit(refusal.message);
    });
  });
});
