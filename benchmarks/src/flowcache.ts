/**
 * The flow cache: updates per second at 5 hops x (node id and 3 metrics), against the same in C and against objects in a
 * `Map` and in lru-cache; memory, events, readers, latency, threads.
 *
 * Every contender keeps its flows in a process of its own. In each round all that run at the same time update, in turn,
 * with reports that none has seen before; all flows are inserted first. Before anything is timed, C and the flow caches
 * must have the same checksum over all rows and buckets, and the objects must know the same of flows drawn at random.
 *
 * `--short`: 250,000 flows, few rounds, fewer contenders. `--rounds N`, `--only speed,events,latency,shards,rounding`:
 * these parts alone, which replace those in the file of results; `--no-file`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { geometryOf } from '@int/flowcache';
import { BenchmarkRun, partsOf, readOptions } from '@int/harness';
import { buildNative } from './decode/native.js';
import type { RatePoint, ReadersPoint } from './flowcache/events.js';
import type { Latency } from './flowcache/latency.js';
import { membersOf, PARTS, type Part } from './flowcache/parts.js';
import { Program } from './flowcache/programs.js';
import { bestOfOurs, factorOver, print, type Reinserting, type Results } from './flowcache/results.js';
import type { RoundingClass } from './flowcache/rounding.js';
import { type Setup, writeSetup } from './flowcache/setup.js';
import type { ShardPoint } from './flowcache/sharding.js';
import { type Effort, LRUS, MAPS, type SpeedPlan, type SpeedResult, SpeedTest } from './flowcache/speed.js';
import { EXPONENT } from './flowcache/workload.js';

const values = readOptions({
  rounds: { type: 'string' },
  only: { type: 'string' },
});
const SHORT = values.short;
/** Flows of most parts; in files of results they are a million. */
const FLOWS = SHORT ? 250_000 : 1_000_000;
const ROWS = SHORT ? 1 << 17 : 1 << 19;
const EXACT = geometryOf({ rows: ROWS });
const COMPACT = geometryOf({ rows: ROWS, layout: 'compact' });
const EFFORT: Effort = {
  rounds: Number(values.rounds ?? (SHORT ? 1 : 7)),
  slowRounds: SHORT ? 1 : 5,
  reports: SHORT ? 32_768 : 524_288,
  lead: SHORT ? 16_384 : 131_072,
  slowReports: SHORT ? 16_384 : 131_072,
  slowLead: SHORT ? 8192 : 32_768,
};
/** What is asked of the flow cache. */
const TARGET = { ratioToC: 1, fasterThanLru: 10, fasterThanMap: 5, bytesPerBucket: 384 } as const;
/** Rows of the cache in scenarios; batches that they make beforehand, and use again and again. */
const SCENE_ROWS = SHORT ? 1 << 17 : ROWS;
const BATCHES = SHORT ? 32 : 256;
const BATCH = 2048;

const setup = (flows: number, changes: Partial<Setup> = {}): Setup => ({
  layout: 'exact',
  flows,
  rows: ROWS,
  ipv6: false,
  batch: BATCH,
  draws: SHORT ? 1 << 18 : 1 << 23,
  ...changes,
});

const OBJECTS = ['map-string', 'map-bigint', 'map-number', 'lru-string', 'lru-bigint'];
const MIXES = ['zipf', 'uniform', 'mixed'] as const;
/** Each group's processes run at the same time, beside that of C. */
const PLANS: readonly SpeedPlan[] = SHORT
  ? [
      {
        setup: setup(FLOWS),
        mixes: ['zipf'],
        groups: [['accelerator'], ['plain'], ['map-number'], ['lru-string']],
      },
    ]
  : [
      {
        setup: setup(FLOWS),
        mixes: MIXES,
        slowMixes: ['zipf', 'uniform'],
        groups: [['accelerator', 'plain'], ...OBJECTS.map((name) => [name])],
      },
      {
        setup: setup(6_000_000),
        mixes: MIXES,
        slowMixes: ['zipf', 'uniform'],
        groups: [['accelerator', 'plain'], ...OBJECTS.map((name) => [name])],
      },
      { setup: setup(1_000_000, { ipv6: true }), mixes: ['zipf'], groups: [['accelerator']] },
      { setup: setup(1_000_000, { layout: 'compact' }), mixes: ['zipf', 'uniform'], groups: [['accelerator']] },
    ];

const run = new BenchmarkRun('flowcache', { short: SHORT });
const parts = partsOf(values.only, PARTS);
const wants = (part: Part): boolean => parts === null || parts.includes(part);

/** A Map whose keys are taken out and put in again, before popular flows have made it unusable. */
async function measureReinserting(path: string): Promise<Reinserting> {
  const { setup: ofOneMillion } = PLANS[0]!;
  writeSetup(path, ofOneMillion);
  const program = Program.javaScript('map-reinserting', path, 'exact', ROWS, EXACT.buckets);
  await program.fill(ofOneMillion.flows);
  const { ns: uniformNs } = await program.run(0, 'uniform', 8192, 65_536);
  const zipfAfter = 32_768;
  const { ns: zipfNs } = await program.run(0, 'zipf', zipfAfter, 4096);
  await program.stop();
  return { uniformNs, zipfNs, zipfAfter };
}

function rates(from: number, factor: number, count: number): string {
  return Array.from({ length: count }, (_, k) => Math.round(from * factor ** k)).join(',');
}

const compiler = buildNative();
if (compiler === undefined)
  console.log('no C compiler: the C contenders are left out (apt-get install build-essential)');
const folder = mkdtempSync(join(tmpdir(), 'int-flowcache-'));
const path = join(folder, 'workload');
const speed: SpeedResult[] = [];
let reinserting: Reinserting | null = null;
let eventRates: RatePoint[] = [];
const readers: ReadersPoint[] = [];
let latency: Latency[] = [];
const shards: ShardPoint[] = [];
let rounding: RoundingClass[] = [];
try {
  if (wants('speed')) {
    for (const plan of PLANS) speed.push(await SpeedTest.run(path, plan, EFFORT, compiler !== undefined));
    if (!SHORT) reinserting = await measureReinserting(path);
  }
  // Fewer flows for all that follows: its files are small.
  writeSetup(path, setup(FLOWS, { draws: 1 << 20 }));
  if (wants('events')) {
    const [turns, rounds] = SHORT ? [2, 1] : [2, 3];
    eventRates = await Program.scenario<RatePoint[]>('rates', path, SCENE_ROWS, BATCHES, turns, rounds);
    const milliseconds = SHORT ? 100 : 1000;
    for (const [work, from] of [
      ['objects', 200_000],
      ['words', 1_600_000],
    ] as const) {
      const steps = rates(from, SHORT ? 4 : 2, SHORT ? 2 : 6);
      readers.push(...(await Program.scenario<ReadersPoint[]>('readers', path, work, steps, 2, milliseconds)));
    }
  }
  if (wants('latency')) {
    const manyFlows = join(folder, 'flows');
    writeSetup(manyFlows, setup(SHORT ? 1_000_000 : 12_000_000, { draws: 1 }));
    latency = await Program.scenario<Latency[]>('latency', path, manyFlows, SCENE_ROWS, SHORT ? 20_000 : 200_000);
  }
  if (wants('shards')) {
    const [turns, rounds] = SHORT ? [2, 1] : [2, 5];
    for (const count of [0, 1, 2]) {
      shards.push(await Program.scenario<ShardPoint>('shards', path, SCENE_ROWS, count, BATCHES, turns, rounds));
    }
  }
  if (wants('rounding')) {
    writeSetup(path, setup(20_000, { draws: SHORT ? 1 << 20 : 1 << 22 }));
    rounding = await Program.scenario<RoundingClass[]>('rounding', path, SHORT ? 1 << 18 : 1 << 22);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const results: Results = { speed, reinserting, rates: eventRates, readers, latency, shards, rounding };
print(results, EXACT, COMPACT);

/** What is asked, and whether it is met. */
function targetsOf(measured: readonly SpeedResult[]): Record<string, boolean> {
  const targets: Record<string, boolean> = {};
  for (const { flows, layout, ipv6, mixes } of measured) {
    if (layout !== 'exact' || ipv6) continue;
    for (const [mix, ofMix] of Object.entries(mixes)) {
      const what = `${flows / 1e6} M flows, ${mix}`;
      const { name, figures } = bestOfOurs(ofMix);
      if (figures.ratioToC !== null) {
        const ratio = figures.ratioToC;
        targets[`${what}: ${name}: ${ratio.toFixed(2)} x C, at most ${TARGET.ratioToC}`] = ratio <= TARGET.ratioToC;
      }
      for (const [peers, least] of [
        [LRUS, TARGET.fasterThanLru],
        [MAPS, TARGET.fasterThanMap],
      ] as const) {
        for (const peer of peers) {
          const factor = factorOver(ofMix, peer);
          if (factor === null) continue;
          targets[`${what}: ${factor.toFixed(1)} x faster than ${peer}, at least ${least}`] = factor >= least;
        }
      }
    }
  }
  const bucket = EXACT.bucketStride * 4;
  targets[`${bucket} bytes per bucket, at most ${TARGET.bytesPerBucket}`] = bucket <= TARGET.bytesPerBucket;
  return targets;
}

console.log('\ntargets:');
for (const [text, isMet] of Object.entries(targetsOf(speed))) console.log(`  ${isMet ? 'met   ' : 'MISSED'} ${text}`);

if (!values['no-file']) {
  const content = {
    compiler: compiler ?? null,
    settings: { ...EFFORT, rows: ROWS, buckets: EXACT.buckets, batch: BATCH, exponent: EXPONENT, batches: BATCHES },
    bytes: {
      exact: { bucket: EXACT.bucketStride * 4, row: EXACT.rowStride * 4, cache: EXACT.byteLength },
      compact: { bucket: COMPACT.bucketStride * 4, row: COMPACT.rowStride * 4, cache: COMPACT.byteLength },
    },
    ...results,
    targets: targetsOf(speed),
  };
  run.save('flowcache', content, {
    parts,
    // Targets are those of the speed.
    merge: (before, now) => ({
      ...before,
      ...membersOf(now, parts ?? PARTS),
      targets: wants('speed') ? now.targets : before.targets,
    }),
  });
}
