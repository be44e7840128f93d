/**
 * A contender of the DART benchmark in a process of its own: `dart-contender.js NAME SHAPE`, where SHAPE is JSON. It
 * takes the commands of `benchmarks/native/twins/dart_bench.c`, one a line, and answers each with a line of JSON; and `memory`:
 * bytes in use, after a garbage collection.
 */
import { createInterface } from 'node:readline';
import { CONTENDERS, type StoreShape } from './dart/stores.js';
import { KEYS } from './dart/workload.js';

const [name, shape] = process.argv.slice(2);
const contender = CONTENDERS[name!]!(JSON.parse(shape!) as StoreShape);

/** See `run` in C: the lesser of elapsed and processor time counts, the time to make keys does not. */
function run(what: 'write' | 'query', mode: number, lead: number, number: number): object {
  const { workload } = contender;
  const rows = contender.rows(mode);
  let answers = { found: 0, checksum: 0 };
  let elapsed = 0;
  let used = 0;
  for (let left = -lead; left < number; ) {
    const count = Math.min((left < 0 ? 0 : number) - left, KEYS);
    if (what === 'write') workload.makeWrites(rows, count);
    else workload.makeQueries(rows, count);
    const cpu = process.cpuUsage();
    const start = process.hrtime.bigint();
    contender[what](mode, count);
    const end = process.hrtime.bigint();
    const { user, system } = process.cpuUsage(cpu);
    if (left >= 0) {
      elapsed += Number(end - start);
      used += (user + system) * 1000;
    }
    if (what === 'query') answers = contender.look(count, answers);
    left += count;
  }
  return { ns: Math.min(elapsed, used) / number, ...answers };
}

function memory(): object {
  globalThis.gc?.();
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  return { rss, heapUsed, arrayBuffers };
}

const COMMANDS: Readonly<Record<string, (...numbers: number[]) => unknown>> = {
  write: (mode, lead, count) => run('write', mode!, lead!, count!),
  raw: (mode, lead, count) => run('write', mode!, lead!, count!),
  query: (mode, lead, count) => run('query', mode!, lead!, count!),
  sum: () => ({ checksum: contender.checksum() }),
  modes: () => contender.modes,
  memory,
};

for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...numbers] = line.split(' ');
  console.log(JSON.stringify(COMMANDS[command!]!(...numbers.map(Number))));
}
