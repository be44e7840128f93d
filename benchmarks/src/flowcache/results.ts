/** What was measured, and how it is shown. */
import type { CacheGeometry } from '@int/flowcache';
import { printTable } from '@int/harness';
import type { RatePoint, ReadersPoint } from './events.js';
import type { Latency } from './latency.js';
import type { RoundingClass } from './rounding.js';
import type { ShardPoint } from './sharding.js';
import { ACCELERATOR, ACCELERATOR_COPIED, C_PLAIN, type Figures, PLAIN, type SpeedResult } from './speed.js';

export interface Reinserting {
  readonly uniformNs: number;
  /** After so many reports of the Zipf mix. */
  readonly zipfNs: number;
  readonly zipfAfter: number;
}

export interface Results {
  readonly speed: readonly SpeedResult[];
  readonly reinserting: Reinserting | null;
  readonly rates: readonly RatePoint[];
  readonly readers: readonly ReadersPoint[];
  readonly latency: readonly Latency[];
  readonly shards: readonly ShardPoint[];
  readonly rounding: readonly RoundingClass[];
}

const percent = (value: number, digits = 1): string => `${(100 * value).toFixed(digits)} %`;
const fixed = (value: number | null, digits: number): string => (value === null ? '-' : value.toFixed(digits));
const millions = (perSecond: number): string => (perSecond / 1e6).toFixed(2);

interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The FlowCache that takes least, at a mix of flows. */
export function bestOfOurs(ofMix: Record<string, Figures>): { name: string; figures: Figures } {
  const ours = [ACCELERATOR, ACCELERATOR_COPIED, PLAIN].filter((name) => ofMix[name] !== undefined);
  const [name] = ours.sort((a, b) => ofMix[a]!.median - ofMix[b]!.median);
  return { name: name!, figures: ofMix[name!]! };
}

/** How many times as fast the best FlowCache is: both in relation to C, which ran beside each, where there is one. */
export function factorOver(ofMix: Record<string, Figures>, peer: string): number | null {
  const other = ofMix[peer];
  if (other === undefined) return null;
  const { figures } = bestOfOurs(ofMix);
  if (other.ratioToC !== null && figures.ratioToC !== null) return other.ratioToC / figures.ratioToC;
  return other.median / figures.median;
}

function flowsOf({ flows, ipv6, layout }: SpeedResult): string {
  return `${flows / 1e6} M flows${ipv6 ? ', every second IPv6' : ''}${layout === 'exact' ? '' : `, ${layout} layout`}`;
}

function speedTables(result: SpeedResult): Table[] {
  return Object.entries(result.mixes).map(([mix, ofMix]) => ({
    title: `${flowsOf(result)}, ${mix}; ${percent(result.resident)} of the flows resident`,
    head: ['contender', 'ns/report', 'min', 'max', 'Mreports/s', 'x C', 'x C (min)', 'FlowCache faster', 'flow gone'],
    rows: Object.entries(ofMix).map(([name, f]) => {
      const factor = name.startsWith('FlowCache') || name === C_PLAIN ? null : factorOver(ofMix, name);
      return [
        name,
        fixed(f.median, 1),
        fixed(f.min, 1),
        fixed(f.max, 1),
        fixed(1000 / f.median, 2),
        fixed(f.ratioToC, 2),
        fixed(f.ratioOfMinimaToC, 2),
        factor === null ? '-' : `${factor.toFixed(1)}x`,
        percent(f.missed, 2),
      ];
    }),
  }));
}

function memoryTable(speed: readonly SpeedResult[], exact: CacheGeometry, compact: CacheGeometry): Table {
  const ofRow = (geometry: CacheGeometry): number => (geometry.rowStride * 4) / geometry.buckets;
  const fixedSize = [exact, compact].map((geometry) => [
    `FlowCache, ${geometry.layout}, ${geometry.rows} x ${geometry.buckets}`,
    '-',
    fixed(geometry.bucketStride * 4, 0),
    fixed(geometry.bucketStride * 4 + ofRow(geometry), 1),
    fixed(geometry.byteLength / 2 ** 20, 0),
  ]);
  const grown = speed
    .filter(({ layout, ipv6 }) => layout === 'exact' && !ipv6)
    .flatMap(({ flows, memory }) =>
      Object.entries(memory).map(([name, { perFlow, rssMiB }]) => [
        name,
        `${flows / 1e6} M`,
        '-',
        fixed(perFlow, 1),
        fixed(rssMiB, 0),
      ]),
    );
  return {
    title: 'Memory (of processes: in use more than before the flows were inserted)',
    head: ['what', 'flows', 'bytes of a bucket', 'bytes per bucket or flow', 'MiB'],
    rows: [...fixedSize, ...grown],
  };
}

function reinsertingTable({ uniformNs, zipfNs, zipfAfter }: Reinserting): Table {
  return {
    title: 'Map, string key, in the order of use by taking keys out and putting them in again; 1 M flows',
    head: ['mix', 'ns/report'],
    rows: [
      ['uniform', fixed(uniformNs, 0)],
      [`zipf, after ${zipfAfter} reports, and growing`, fixed(zipfNs, 0)],
    ],
  };
}

function ratesTable(rates: readonly RatePoint[]): Table {
  return {
    title: 'Throughput against the rate of events, into a ring of 65,536 that a thread reads (1 M flows, zipf)',
    head: [
      'events/report',
      'Mevents/s',
      'Mreports/s',
      'ns/report',
      'Mreports/s without waiting',
      'lost without waiting',
    ],
    rows: rates.map((point) => [
      fixed(point.perReport, 3),
      millions(point.eventsPerSecond),
      millions(point.reportsPerSecond),
      fixed(1e9 / point.reportsPerSecond, 0),
      millions(point.reportsPerSecondLosing),
      percent(point.lost, 2),
    ]),
  };
}

function readersTable(readers: readonly ReadersPoint[]): Table {
  return {
    title: 'Reader threads needed so that no event is lost, a ring of 65,536 for each',
    head: ['work', 'Mevents/s', 'threads', 'lost with 1', 'lost with 2'],
    rows: readers.map(({ work, eventsPerSecond, readers: needed, lost }) => [
      work,
      millions(eventsPerSecond),
      needed === null ? `> ${lost.length}` : String(needed),
      percent(lost[0] ?? 0),
      lost.length < 2 ? '-' : percent(lost[1]!),
    ]),
  };
}

function latencyTable(latency: readonly Latency[]): Table {
  return {
    title: 'Latency of a call, in ns, the clock included',
    head: ['what', 'p50', 'p99', 'max', 'calls'],
    rows: latency.map(({ what, p50, p99, max, calls }) => [what, ...[p50, p99, max, calls].map(String)]),
  };
}

function shardsTable(shards: readonly ShardPoint[]): Table {
  return {
    title: 'Worker threads, decoding in the main thread included (1 M flows, zipf; by the clock on the wall)',
    head: ['workers', 'Mreports/s', 'min', 'max', 'processors used'],
    rows: shards.map((point) => [
      point.shards === 0 ? 'none' : String(point.shards),
      millions(point.reportsPerSecond),
      millions(point.min),
      millions(point.max),
      fixed(point.processors, 2),
    ]),
  };
}

function roundingTable(rounding: readonly RoundingClass[]): Table {
  return {
    title: 'Relative error of means in the compact layout, by the number of values',
    head: ['values', 'means', 'mean error', 'largest error'],
    rows: rounding.map(({ from, to, means, mean, max }) => [
      `${from} to ${to - 1}`,
      String(means),
      mean.toExponential(1),
      max.toExponential(1),
    ]),
  };
}

/** Reports per second over events per second, as in Figure 3(b). */
function chart(rates: readonly RatePoint[]): string {
  const width = 64;
  const height = 12;
  const top = Math.max(...rates.map(({ reportsPerSecond }) => reportsPerSecond));
  const right = Math.max(...rates.map(({ eventsPerSecond }) => eventsPerSecond));
  const grid = Array.from({ length: height + 1 }, () => new Array<string>(width + 1).fill(' '));
  for (const { reportsPerSecond, eventsPerSecond } of rates) {
    const row = height - Math.round((reportsPerSecond / top) * height);
    grid[row]![Math.round((eventsPerSecond / (right || 1)) * width)] = '*';
  }
  const lines = grid.map((cells, row) => {
    const label = row % 4 === 0 ? millions((top * (height - row)) / height) : '';
    return `  ${label.padStart(6)} |${cells.join('')}`;
  });
  return [
    '\n  Mreports/s',
    ...lines,
    `  ${' '.repeat(6)} +${'-'.repeat(width)}`,
    `  ${' '.repeat(8)}0${`${millions(right)} Mevents/s`.padStart(width)}`,
  ].join('\n');
}

function tables(results: Results, exact: CacheGeometry, compact: CacheGeometry): Table[] {
  const { speed, reinserting, rates, readers, latency, shards, rounding } = results;
  return [
    ...speed.flatMap(speedTables),
    ...(reinserting === null ? [] : [reinsertingTable(reinserting)]),
    memoryTable(speed, exact, compact),
    roundingTable(rounding),
    ratesTable(rates),
    readersTable(readers),
    latencyTable(latency),
    shardsTable(shards),
  ].filter(({ rows }) => rows.length > 0);
}

export function print(results: Results, exact: CacheGeometry, compact: CacheGeometry): void {
  for (const table of tables(results, exact, compact)) printTable(table.title, table.head, table.rows);
  if (results.rates.length > 0) console.log(chart(results.rates));
}
