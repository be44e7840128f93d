import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HopColumn, METRIC_NAMES, metricOf, TelemetryBatch } from '@int/codec';
import { Random } from '@int/random';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { nativePrograms } from '../../../../../.ci/test/native.js';
import {
  type CacheGeometry,
  COMPACT,
  type CounterName,
  EVENT_WORDS,
  EXACT,
  FlowCache,
  type FlowCacheOptions,
  geometryOf,
  type RecordConsumer,
} from '../../../src/index.js';
import { HEADER } from '../../../src/internals.js';
import { COUNTER, COUNTER_WORDS, THRESHOLDS } from '../../../src/layout.js';
import { type Times, withTimes } from '../../cache/times.js';
import { CAPACITY, randomBatch } from '../../native/random-batches.js';
import { SEED } from '../../seed.js';

/** Bytes at the end of a batch's memory that are only there for alignment. */
const SLACK = 64;
const ENTRY_ROOM = 3;

/** What the owner of a cache counts, and the update loop does not. */
const OWNED: readonly CounterName[] = [
  'evictedEntries',
  'evictedPackets',
  'agedEntries',
  'agedPackets',
  'retiredEntries',
  'retiredPackets',
  'removedEntries',
  'removedPackets',
  'lostEntries',
  'lostPackets',
  'events',
  'lostEvents',
  'restoredPackets',
];

const SETUPS: readonly (FlowCacheOptions & { name: string; flows: number; ipv6: number; longest: number })[] = [
  { name: 'exact, the default bucket', rows: 8, flows: 130, ipv6: 0.3, longest: 8 },
  { name: 'exact, IPv4 only, short paths', rows: 8, flows: 200, ipv6: 0, longest: 5 },
  {
    name: 'exact, four metrics',
    rows: 8,
    flows: 120,
    ipv6: 0.5,
    longest: 6,
    metrics: ['hopLatency', 'queueOccupancy', 'egressUtilization', 'bufferOccupancy'],
  },
  {
    name: 'exact, metrics that are parts of words and pairs',
    rows: 7,
    buckets: 5,
    flows: 60,
    ipv6: 0.5,
    longest: 12,
    hops: 3,
    metrics: METRIC_NAMES.slice(4, 12),
  },
  { name: 'exact, 64 buckets, crc32', rows: 3, buckets: 64, hash: 'crc32', flows: 260, ipv6: 0.5, longest: 9 },
  {
    name: 'exact, one bucket, a seed',
    rows: 5,
    buckets: 1,
    hops: 1,
    seed: 0xdeadbeef,
    flows: 12,
    ipv6: 0.5,
    longest: 3,
  },
  { name: 'compact, the default bucket', rows: 8, layout: 'compact', flows: 130, ipv6: 0.1, longest: 8 },
  {
    name: 'compact, any other',
    rows: 6,
    buckets: 17,
    hops: 7,
    layout: 'compact',
    hash: 'crc32',
    flows: 130,
    ipv6: 0.1,
    longest: 12,
    metrics: ['queueId', 'l2IngressInterface', 'hopLatency'],
  },
];

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'int-native-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The folder of the C programs. */
function programs(): string {
  return nativePrograms('flowcache_dump', 'flowcache_dump_asan');
}

/** Keeps the words of all records. */
class Collected implements RecordConsumer {
  readonly words: number[] = [];
  readonly #stride: number;

  constructor(stride: number) {
    this.#stride = stride;
  }

  push(words: Int32Array, at: number, records: number): number {
    for (let word = 0; word < records * this.#stride; word++) this.words.push(words[at + word]!);
    return records;
  }
}

/** The cache's words, without what C does not write. */
function comparable(words: Int32Array): Int32Array {
  const copy = words.slice();
  copy[HEADER.GENERATION] = 0;
  for (const name of OWNED) copy.fill(0, COUNTER_WORDS + 2 * COUNTER[name], COUNTER_WORDS + 2 * COUNTER[name] + 2);
  return copy;
}

interface Difference {
  readonly word: number;
  readonly actual: number | undefined;
  readonly expected: number | undefined;
}

/** Where two blocks of words differ first. */
function difference(actual: Int32Array, expected: Int32Array): Difference | null {
  for (let word = 0; word < Math.max(actual.length, expected.length); word++) {
    if (actual[word] !== expected[word]) return { word, actual: actual[word], expected: expected[word] };
  }
  return null;
}

interface Step {
  readonly batch: TelemetryBatch;
  readonly from: number;
  readonly to: number;
  readonly times: Times | undefined;
}

function randomStep(random: Random, setup: (typeof SETUPS)[number], geometry: CacheGeometry, isTimed: boolean): Step {
  const columns = geometry.metrics.flatMap((name): HopColumn[] => {
    const { column, pairIndex } = metricOf(name);
    return pairIndex < 0 ? [column] : ['l2IngressInterface', 'l2EgressInterface'];
  });
  const shape = { ...setup, hops: setup.longest, columns: [...new Set<HopColumn>([...columns, 'hopLatency'])] };
  const batch = randomBatch(random, shape);
  const from = random.integer(4) === 0 ? random.integer(batch.reports + 1) : 0;
  const rows = 2 * CAPACITY.frames;
  const times = (): Uint32Array => Uint32Array.from({ length: rows }, () => random.uint32());
  return {
    batch,
    from,
    to: from + random.integer(batch.reports - from + 1),
    times: isTimed
      ? { timestampsHigh: times(), timestampsLow: times(), first: random.integer(CAPACITY.frames) }
      : undefined,
  };
}

/** The file format of `benchmarks/native/twins/flowcache_dump.c`. */
function dumpFile(
  image: Int32Array,
  thresholds: Int32Array,
  geometry: CacheGeometry,
  steps: readonly Step[],
): Uint8Array {
  const bytes = TelemetryBatch.byteLength(CAPACITY) - SLACK;
  const timeRows = steps[0]!.times?.timestampsLow.length ?? 0;
  const eventRoom = geometry.hops * geometry.metrics.length + 2 + 5;
  const header = new Uint32Array(16);
  header.set([0x4b544e49, image.length, steps.length, CAPACITY.frames, CAPACITY.reports, CAPACITY.hops, bytes]);
  header.set([ENTRY_ROOM, eventRoom, timeRows], 7);
  const none = new Uint32Array(0);
  const parts = [
    header,
    image,
    thresholds,
    ...steps.flatMap(({ batch, from, to, times }) => [
      Uint32Array.of(times?.first ?? 0, from, to, 0),
      new Uint8Array(batch.buffer, batch.state.byteOffset, bytes),
      times?.timestampsHigh ?? none,
      times?.timestampsLow ?? none,
    ]),
  ];
  return Buffer.concat(parts.map((part) => new Uint8Array(part.buffer, part.byteOffset, part.byteLength)));
}

/** Entries that are about to be full. */
function exhaust(cache: FlowCache, random: Random): void {
  const { rows, buckets, rowsAt, rowStride, bucketsAt, bucketStride, layout } = cache.geometry;
  const packets = layout === 'exact' ? EXACT.PACKETS : COMPACT.PACKETS;
  for (let row = 0; row < rows; row++) {
    for (let bucket = 0; bucket < buckets; bucket++) {
      if (cache.words[rowsAt + row * rowStride + bucket] === 0 || random.integer(3) > 0) continue;
      cache.words[bucketsAt + (row * buckets + bucket) * bucketStride + packets] = -1 - random.integer(3);
      if (layout === 'exact' && random.integer(2) === 0) {
        cache.words[bucketsAt + (row * buckets + bucket) * bucketStride + EXACT.BEYOND] = -2;
      }
    }
  }
}

describe('the C twin of the update loop', () => {
  // The first one compiles the twin.
  it.each(SETUPS.map((setup) => [setup.name, setup] as const))(
    'does the same to the last bit: %s',
    (_name, setup) => {
      const random = new Random(SEED).derive(setup.name);
      const geometry = geometryOf(setup);
      const happened = new Map<CounterName, number>(
        (['evictedEntries', 'retiredEntries', 'events', 'hits', 'notOk', 'noFlow', 'pathChanges'] as const).map(
          (name) => [name, 0],
        ),
      );
      for (let run = 0; run < Math.max(4, runs(4)); run++) {
        const isTimed = run % 4 !== 3;
        const entries = new Collected(geometry.bucketStride);
        const events = new Collected(EVENT_WORDS);
        const cache = new FlowCache({ ...setup, entries, events, accelerator: run % 2 === 0 });
        const limits = cache.thresholds.words;
        for (let word = 0; word < THRESHOLDS.PATH; word++)
          limits[word] = random.integer(4) === 0 ? -1 : random.integer(2500);
        limits[THRESHOLDS.PATH] = run % 2;
        const step = (): Step => randomStep(random, setup, geometry, isTimed);
        const feed = ({ batch, from, to, times }: Step): void => cache.update(withTimes(batch, times), from, to);
        for (let k = 0; k < 10; k++) feed(step());
        exhaust(cache, random);
        const image = cache.words.slice();
        entries.words.length = 0;
        events.words.length = 0;
        const steps = Array.from({ length: 25 }, step);
        for (const each of steps) feed(each);
        const path = join(folder, 'work.bin');
        writeFileSync(path, dumpFile(image, limits, geometry, steps));
        for (const [program, ...how] of [
          ['flowcache_dump'],
          ['flowcache_dump', 'prefetch'],
          ['flowcache_dump_asan'],
          ['flowcache_dump_asan', 'prefetch'],
        ] as const) {
          const output = execFileSync(join(programs(), program), [path, ...how], {
            maxBuffer: 1 << 28,
            timeout: 100_000,
          });
          const words = new Int32Array(new Uint8Array(output).buffer);
          const [entryCount, eventCount] = words.subarray(geometry.words, geometry.words + 2);
          const rest = words.subarray(geometry.words + 2);
          expect([entryCount, eventCount]).toEqual([
            entries.words.length / geometry.bucketStride,
            events.words.length / EVENT_WORDS,
          ]);
          expect(difference(comparable(words.slice(0, geometry.words)), comparable(cache.words))).toBe(null);
          expect(difference(rest, Int32Array.from([...entries.words, ...events.words]))).toBe(null);
        }
        const totals = cache.totals();
        for (const name of happened.keys()) happened.set(name, happened.get(name)! + totals[name]);
      }
      // What was compared is not nothing.
      for (const [name, times] of happened)
        expect([name, times]).toEqual([name, expect.toSatisfy((n: number) => n > 0)]);
    },
    180_000,
  );
});
