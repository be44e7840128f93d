/**
 * The DART store: writes and queries of keys per second and core at 1 GiB, against the same in C, against the rate of
 * random writes of the machine, and against Maps and lru-cache; frames per second to the software RNIC, against C.
 *
 * Every contender keeps its store in a process of its own. In each round all of them do as much, in turn, with keys that
 * none has seen before. Before anything is timed, and again at the end, C and the stores must have the same checksum over
 * all slots and over the answers to the same queries.
 *
 * `--short`: 64 MiB, few rounds. `--rounds N`, `--only speed,objects,rnic`: these parts alone, which
 * replace those in the file of results; `--no-file`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchmarkRun, partsOf, readOptions } from '@int/harness';
import { bars, printObjects, printRnic, printSpeed, type Results } from './dart/results.js';
import {
  type Effort,
  measureObjects,
  measureRnic,
  measureSpeed,
  type ObjectsResult,
  type RnicResult,
  type SpeedResult,
} from './dart/speed.js';
import type { StoreShape } from './dart/stores.js';
import { BATCH } from './dart/workload.js';
import { buildNative } from './decode/native.js';

const values = readOptions({
  rounds: { type: 'string' },
  only: { type: 'string' },
});
const SHORT = values.short;
const EFFORT: Effort = SHORT
  ? {
      rounds: Number(values.rounds ?? 1),
      keys: 32_768,
      lead: 8192,
      filled: 1 << 18,
      objects: 20_000,
      objectRounds: 1,
      objectKeys: 4096,
      frames: 8192,
      turns: 1,
    }
  : {
      rounds: Number(values.rounds ?? 9),
      keys: 1 << 19,
      lead: 65_536,
      filled: 1 << 23,
      objects: 2_000_000,
      objectRounds: 5,
      objectKeys: 131_072,
      frames: 131_072,
      turns: 4,
    };
const shape = (hash: 'xxhash' | 'crc', copies: number): StoreShape => ({
  memory: SHORT ? 1 << 26 : 1 << 30,
  hash,
  copies,
  capacity: EFFORT.objects,
});
const SHAPES: readonly StoreShape[] = SHORT
  ? [shape('xxhash', 2), shape('crc', 4)]
  : [shape('xxhash', 2), shape('xxhash', 4), shape('crc', 2), shape('crc', 4)];

const PARTS = ['speed', 'objects', 'rnic'] as const;
const parts = partsOf(values.only, PARTS);
const wants = (part: (typeof PARTS)[number]): boolean => parts === null || parts.includes(part);

const run = new BenchmarkRun('dart', { short: SHORT });
const compiler = buildNative();
const hasC = compiler !== undefined;
if (!hasC) console.log('no C compiler: the C contenders are left out (apt-get install build-essential)');
const folder = mkdtempSync(join(tmpdir(), 'int-bench-dart-'));
const files = { header: join(folder, 'header'), frames: join(folder, 'frames') };
const speed: SpeedResult[] = [];
let objects: ObjectsResult | null = null;
let rnic: RnicResult | null = null;
try {
  for (const each of wants('speed') ? SHAPES : []) {
    const measured = await measureSpeed(each, EFFORT, files, hasC);
    printSpeed(measured);
    speed.push(measured);
  }
  if (wants('objects')) {
    objects = await measureObjects(SHAPES[0]!, EFFORT);
    printObjects(objects);
  }
  if (wants('rnic')) {
    rnic = await measureRnic(SHAPES[0]!, EFFORT, files, hasC);
    printRnic(rnic);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const results: Results = { speed, objects, rnic };

console.log(SHORT ? '\ntargets, which are those of a full run:' : '\ntargets:');
for (const [text, isMet] of bars(results)) console.log(`  ${isMet ? 'met   ' : 'MISSED'} ${text}`);

if (!values['no-file']) {
  const settings = { ...EFFORT, batch: BATCH };
  const content = { compiler: compiler ?? null, settings, ...results, targets: Object.fromEntries(bars(results)) };
  run.save('dart', content, {
    parts,
    merge: (before, now) => {
      const all: Results = {
        speed: wants('speed') ? now.speed : before.speed,
        objects: wants('objects') ? now.objects : before.objects,
        rnic: wants('rnic') ? now.rnic : before.rnic,
      };
      return { ...before, ...all, targets: Object.fromEntries(bars(all)) };
    },
  });
}
