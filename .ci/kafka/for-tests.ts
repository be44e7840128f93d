import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';
import { requires, skip } from '../test/requires.js';
import { missingForKafka, startCluster } from './cluster.mjs';

/** The broker that all test files of a run share. */
export interface KafkaForTests {
  /** `host:port` of its brokers. */
  readonly bootstrap: readonly string[];
}

let found: Promise<KafkaForTests> | undefined;

/**
 * A broker of Apache Kafka. The first test that asks starts it; it is there until the test run has ended. Others use it at
 * the same time: take topics and groups with names of your own. Call it in a test: without Java or the jars, that test is
 * skipped as `skip` of .ci/test/requires.ts says.
 */
export function kafkaForTests(): Promise<KafkaForTests> {
  requireKafka();
  found ??= findOrStart();
  return found;
}

/** For tests with a cluster of their own: skips the running test if Kafka cannot be started here. */
export function requireKafka(): void {
  requires('java', 'npm run setup:system');
  const missing = missingForKafka();
  if (missing !== null) skip(`${missing} not found (npm run setup:system)`);
}

/** The test run: the process that made this one, or in which this is a thread. */
function testRun(): number {
  return isMainThread ? process.ppid : process.pid;
}

/** When the process began, as numbers of processes are used again. */
function beginning(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0';
  } catch {
    return '0';
  }
}

async function findOrStart(): Promise<KafkaForTests> {
  const owner = testRun();
  const folder = join(tmpdir(), `int-kafka-${owner}-${beginning(owner)}`);
  const address = join(folder, 'address.json');
  try {
    // Whoever makes the folder starts the broker.
    mkdirSync(folder);
  } catch {
    return await readWhenThere(address);
  }
  try {
    const { bootstrap } = await startCluster({ data: join(folder, 'data'), owner, detached: true, remove: folder });
    writeFileSync(`${address}.new`, JSON.stringify({ bootstrap }));
    renameSync(`${address}.new`, address);
    return { bootstrap };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function readWhenThere(address: string): Promise<KafkaForTests> {
  const until = performance.now() + 150_000;
  while (!existsSync(address)) {
    if (performance.now() > until) throw new Error(`nobody has written ${address}`);
    await sleep(50);
  }
  return JSON.parse(readFileSync(address, 'utf8')) as KafkaForTests;
}
