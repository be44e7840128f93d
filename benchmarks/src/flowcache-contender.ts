/**
 * A contender of the flow cache benchmark in a process of its own: `flowcache-contender.js NAME FILE LAYOUT ROWS BUCKETS`.
 * It takes the commands of `benchmarks/native/twins/flowcache_bench.c`, one a line, and answers each with a line of JSON; and
 *
 *   values FROM STEP N       hashes of what is known of flows FROM, FROM + STEP, ... from the flow's first report on, which
 *                            must have been that of `fill`; null where it is not
 *   memory                   bytes in use, after a garbage collection
 */
import { createInterface } from 'node:readline';
import type { LayoutName } from '@int/flowcache';
import { type Contender, STORES } from './flowcache/stores.js';
import { MIXES, Workload } from './flowcache/workload.js';

const [name, path, layout, rows, buckets] = process.argv.slice(2);
const workload = new Workload(path!);
const store: Contender = STORES[name!]!(workload, {
  layout: layout as LayoutName,
  rows: Number(rows),
  buckets: Number(buckets),
});
/** Reports that were made one flow after the other, by `fill`. */
let filled = 0;

/** See `run` in C: the lesser of elapsed and processor time counts, the time to make reports does not. */
function run(mode: number, mix: number, lead: number, reports: number): object {
  const input = store.inputs[mode]!;
  let before = store.counts();
  let elapsed = 0;
  let used = 0;
  for (let left = -lead; left < reports; ) {
    const count = Math.min((left < 0 ? 0 : reports) - left, workload.size);
    if (left === 0) before = store.counts();
    workload.fill(input, mix, count);
    const cpu = process.cpuUsage();
    const start = process.hrtime.bigint();
    store.update(mode, count);
    const end = process.hrtime.bigint();
    const { user, system } = process.cpuUsage(cpu);
    if (left >= 0) {
      elapsed += Number(end - start);
      used += (user + system) * 1000;
    }
    left += count;
  }
  const after = store.counts();
  return {
    ns: Math.min(elapsed, used) / reports,
    reports,
    hits: after.hits - before.hits,
    inserted: after.inserted - before.inserted,
    handedOn: after.handedOn - before.handedOn,
    events: after.events - before.events,
    live: after.live,
  };
}

/** A number for what is known of a flow. */
function hashOf(values: readonly number[]): number {
  let hash = 0;
  for (const value of values) {
    hash = Math.imul(hash + (value >>> 0), 0x9e3779b1);
    hash = Math.imul(hash ^ Math.floor(value / 0x100000000), 0x85ebca77);
  }
  return hash >>> 0;
}

function values(from: number, step: number, count: number): (number | null)[] {
  const reports = workload.makeReports();
  const { sequence } = workload;
  const hashes = Array.from({ length: count }, (_, k) => {
    // The report with which the flow was inserted.
    workload.sequence = (from + k * step) % filled;
    workload.fill(reports, MIXES.each, 1);
    const known = store.values(reports, 0);
    return known === null ? null : hashOf(known);
  });
  workload.sequence = sequence;
  return hashes;
}

function memory(): object {
  globalThis.gc?.();
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  return { rss, heapUsed, arrayBuffers };
}

const COMMANDS: Readonly<Record<string, (...numbers: number[]) => unknown>> = {
  fill: (count) => {
    filled = count!;
    return run(0, MIXES.each, 0, count!);
  },
  run: (mode, mix, lead, reports) => run(mode!, mix!, lead!, reports!),
  sum: () => ({ checksum: store.checksum() }),
  values: (from, step, count) => values(from!, step!, count!),
  memory,
};

for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...numbers] = line.split(' ');
  console.log(JSON.stringify(COMMANDS[command!]!(...numbers.map(Number))));
}
