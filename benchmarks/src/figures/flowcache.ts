/** Figures of the flow cache. */
import { isMeasured, markdownTable, paragraph } from '@int/harness';
import type { Results } from '../flowcache/results.js';
import type { SpeedResult } from '../flowcache/speed.js';
import { contender, percent, pick, range, results, two } from './reading.js';

interface Cache extends Results {
  readonly bytes: Readonly<Record<'exact' | 'compact', { readonly bucket: number; readonly row: number }>>;
  readonly settings: { readonly buckets: number };
}

const read = () => results<Cache>('flowcache');
const MIXES = { zipf: 'Zipf(1.1)', uniform: 'uniform', mixed: 'half and half' } as const;
const C = 'C -O3 -march=native';
const OURS = 'FlowCache, accelerator in place';

interface Row {
  readonly name: string;
  readonly of: (contender: string) => { readonly median: number; readonly ratioToC: number | null } | undefined;
}

function rowsOf({ speed }: Cache): Row[] {
  return speed.flatMap(({ flows, ipv6, layout, mixes }) =>
    (Object.keys(MIXES) as (keyof typeof MIXES)[]).flatMap((mix): Row[] => {
      const contenders = (
        mixes as Readonly<Record<string, Record<string, { median: number; ratioToC: number | null }>>>
      )[mix];
      if (contenders === undefined) return [];
      const kind = `${flows / 1e6} M${ipv6 ? ' IPv6' : ''}${layout === 'exact' ? '' : `, ${layout}`}`;
      return [
        {
          name: `${kind}, ${MIXES[mix]}`,
          of: (name) => contenders[name] ?? contenders[name.replace('accelerator', 'kernel')],
        },
      ];
    }),
  );
}

const PEERS = [
  'Map, number key',
  'Map, bigint key',
  'Map, string key',
  'lru-cache, bigint key',
  'lru-cache, string key',
] as const;

function speed(): string {
  const ns = (row: Row, name: string): string => row.of(name)?.median.toFixed(0) ?? '';
  return markdownTable(
    [
      'flows, draws',
      'C',
      'C, prefetch',
      'accelerator in place',
      'x C',
      'accelerator, copied in',
      'plain TypeScript',
      ...PEERS,
    ],
    rowsOf(read()).map((row) => [
      row.name,
      ns(row, C),
      ns(row, 'C, batch prefetch'),
      ns(row, OURS),
      two(row.of(OURS)?.ratioToC ?? null),
      ns(row, 'FlowCache, accelerator, batch copied in'),
      ns(row, 'FlowCache, plain TypeScript'),
      ...PEERS.map((name) => ns(row, name)),
    ]),
  );
}

/** What fits, and what it takes. */
function memory(): string {
  const all = read();
  const exact = (flows: number): SpeedResult =>
    pick(all.speed, `speed of ${flows} flows`, (each) => each.flows === flows && each.layout === 'exact' && !each.ipv6);
  const { mixes, resident } = exact(6_000_000);
  const missed = contender(mixes.uniform!, OURS).missed;
  const perFlow = (kind: string): string =>
    range(
      Object.entries(exact(1_000_000).memory).flatMap(([name, use]) => (name.startsWith(kind) ? [use.perFlow] : [])),
      (value) => value.toFixed(0),
    );
  const { exact: whole, compact } = all.bytes;
  return paragraph(
    `Of 6 M flows, ${percent(resident)} are in the cache when all have been inserted; with uniform draws ${percent(missed)} of the`,
    `reports evict another flow. A bucket has ${whole.bucket} bytes, ${compact.bucket} in the compact layout; its share of the row is`,
    `${(whole.row / all.settings.buckets).toFixed(1)} more. At 1 M flows, the Map takes ${perFlow('Map')} bytes a flow and lru-cache`,
    `${perFlow('lru')}; the cache takes its size whatever it holds.`,
  );
}

const millions = (perSecond: number): string => (perSecond / 1e6).toFixed(2);

function events(): string {
  return markdownTable(
    ['events per report', 'M events/s', 'M reports/s', 'events lost'],
    read().rates.map((point) => [
      point.perReport.toFixed(3),
      millions(point.eventsPerSecond),
      millions(point.reportsPerSecond),
      percent(point.lost, 2),
    ]),
  );
}

function readers(): string {
  const WORK: Readonly<Record<string, string>> = { objects: 'an object of each event', words: 'sums from the words' };
  return markdownTable(
    ['work of a reader', 'M events/s', 'readers', 'lost with one', 'lost with two'],
    read().readers.map(({ work, eventsPerSecond, readers: needed, lost }) => [
      WORK[work] ?? work,
      millions(eventsPerSecond),
      needed ?? `more than ${lost.length}`,
      percent(lost[0] ?? 0),
      lost.length < 2 ? '' : percent(lost[1]!),
    ]),
  );
}

function latency(): string {
  return markdownTable(
    ['call', 'p50', 'p99', 'max', 'calls'],
    read().latency.map(({ what, p50, p99, max, calls }) => [what, p50, p99, max, calls]),
  );
}

/** Worker threads. Figures that no program has written are not quoted. */
function shards(): string {
  const all = read();
  if (!isMeasured(all, 'shards')) {
    return paragraph(
      'The file has figures of worker threads that were typed into it, before it had a digest. They are not shown here until',
      '`npm run bench:flowcache -w @int/benchmarks -- --only shards` has measured them again.',
    );
  }
  return markdownTable(
    ['worker threads', 'M reports/s', 'least', 'most'],
    all.shards.map((point) => [
      point.shards === 0 ? 'none' : point.shards,
      millions(point.reportsPerSecond),
      millions(point.min),
      millions(point.max),
    ]),
  );
}

/** What a worker thread gains; nothing while that is not measured. */
export function gainOfAShard(): string {
  const all = read();
  if (!isMeasured(all, 'shards')) return '';
  const [none, first] = [0, 1].map(
    (count) => pick(all.shards, `${count} shards`, (each) => each.shards === count).reportsPerSecond,
  );
  return `With decoding in the main thread, a worker thread for the cache takes ${(first! / none!).toFixed(1)} times as many reports on two processors (${(first! / 1e6).toFixed(1)} against ${(none! / 1e6).toFixed(1)} million a second).`;
}

function rounding(): string {
  return markdownTable(
    ['values in a mean', 'mean relative error', 'largest'],
    read().rounding.map(({ from, to, mean, max }) => [
      `${from} to ${to - 1}`,
      mean.toExponential(1),
      max.toExponential(1),
    ]),
  );
}

/** Of those with objects, the fastest Map and the slowest lru-cache. */
function some(): string {
  const rows = rowsOf(read()).filter(({ name }) => /^[16] M, (Zipf|uniform)/.test(name));
  const ns = (row: Row, name: string): string => contender({ [name]: row.of(name)! }, name).median.toFixed(0);
  return markdownTable(
    [
      'flows, draws',
      'C, -O3 -march=native',
      '`FlowCache`, accelerator',
      'ratio to C',
      'plain TypeScript',
      'Map, best key',
      'lru-cache, string key',
    ],
    rows.map((row) => [
      row.name,
      ns(row, C),
      ns(row, OURS),
      two(row.of(OURS)!.ratioToC),
      ns(row, 'FlowCache, plain TypeScript'),
      Math.min(...PEERS.filter((name) => name.startsWith('Map')).map((name) => row.of(name)!.median)).toFixed(0),
      ns(row, 'lru-cache, string key'),
    ]),
  );
}

export const flowcache = {
  'flowcache-speed': speed,
  'flowcache-memory': memory,
  'flowcache-events': events,
  'flowcache-readers': readers,
  'flowcache-latency': latency,
  'flowcache-shards': shards,
  'flowcache-rounding': rounding,
  'flowcache-some': some,
};
