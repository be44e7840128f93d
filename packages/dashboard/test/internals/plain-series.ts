/** The retained series a second time: as plain objects, by the definitions. */
import type { Hop } from '@int/codec';
import type { SeriesMetric } from '../../src/protocol/entities.js';
import { binOf, binValue } from '../../src/retention/bins.js';
import type { Made } from './made-batch.js';

interface Cell {
  reports: number;
  drops: number;
  events: number;
  /** Of reports that came in time. */
  readonly latencies: number[];
  readonly all: { latency: number[]; occupancy: number[]; utilization: number[] };
}

const empty = (): Cell => ({
  reports: 0,
  drops: 0,
  events: 0,
  latencies: [],
  all: { latency: [], occupancy: [], utilization: [] },
});

const portText = (port: number | undefined): string => (port === undefined ? '*' : String(port));

/** Cells by bucket and entity. */
export class PlainSeries {
  readonly buckets = new Map<number, Map<string, Cell>>();
  readonly #readable: number;
  #open = -1;
  first = -1;

  constructor(readable: number) {
    this.#readable = readable;
  }

  get last(): number {
    return this.#open - 1;
  }

  advance(timeMs: number): void {
    const bucket = Math.floor(timeMs / 100);
    if (this.#open >= 0 && bucket > this.#open) this.#open = bucket;
  }

  add(made: readonly Made[]): void {
    for (const one of made) this.#add(one);
  }

  /** As the metric of an entity in a bucket; NaN: nothing was seen. */
  value(key: string, metric: SeriesMetric, bucket: number): number {
    const cell = this.buckets.get(bucket)?.get(key);
    if (cell === undefined) return Number.NaN;
    const most = (values: readonly number[]): number => (values.length === 0 ? Number.NaN : Math.max(...values));
    switch (metric) {
      case 'reports':
      case 'drops':
      case 'events':
        return cell[metric];
      case 'latencyMax':
        return most(cell.all.latency);
      case 'occupancy':
        return most(cell.all.occupancy);
      case 'utilization':
        return most(cell.all.utilization);
      case 'latencyP50':
      case 'latencyP99': {
        const sorted = [...cell.latencies].sort((a, b) => a - b);
        if (sorted.length === 0) return Number.NaN;
        const rank = Math.max(1, Math.ceil((metric === 'latencyP50' ? 0.5 : 0.99) * sorted.length));
        return binValue(binOf(sorted[rank - 1]!));
      }
    }
  }

  #add({ timeMs, hops, dropped, reporter, dropQueue, events }: Made): void {
    const bucket = Math.floor(timeMs / 100);
    if (this.#open < 0) this.first = bucket;
    else if (bucket <= this.#open - this.#readable) {
      // Time was set back.
      this.buckets.clear();
      this.first = bucket;
      this.#open = bucket;
    } else this.first = Math.min(this.first, bucket);
    if (bucket > this.#open) this.#open = bucket;
    const isLate = bucket < this.#open;
    const cell = (key: string): Cell => {
      let own = this.buckets.get(bucket);
      if (own === undefined) {
        own = new Map();
        this.buckets.set(bucket, own);
      }
      if (!own.has(key)) own.set(key, empty());
      return own.get(key)!;
    };
    cell('all').reports++;
    for (const [at, hop] of hops.entries()) {
      const next = hops[at + 1];
      const keys = [...keysOf(hop), ...(next === undefined ? [] : [linkOf(hop, next)])];
      for (const key of keys) {
        const own = cell(key);
        own.reports++;
        note(own, hop, isLate);
        if (events.includes(at)) own.events++;
      }
      note(cell('all'), hop, isLate);
    }
    if (hops.length === 0) cell(`switch:${reporter}`).reports++;
    cell('all').events += events.length;
    if (!dropped) return;
    cell('all').drops++;
    cell(`switch:${reporter}`).drops++;
    if (dropQueue !== null) cell(`queue:${reporter}/${dropQueue}`).drops++;
  }
}

function note(cell: Cell, { hopLatency, queueOccupancy, egressUtilization }: Hop, isLate: boolean): void {
  if (hopLatency != null) {
    cell.all.latency.push(hopLatency);
    if (!isLate) cell.latencies.push(hopLatency);
  }
  if (queueOccupancy != null) cell.all.occupancy.push(queueOccupancy);
  if (egressUtilization != null) cell.all.utilization.push(egressUtilization);
}

function keysOf({ nodeId, queueId }: Hop): string[] {
  return [`switch:${nodeId}`, ...(queueId == null ? [] : [`queue:${nodeId}/${queueId}`])];
}

function linkOf(from: Hop, to: Hop): string {
  return `link:${from.nodeId}:${portText(from.l1EgressInterface ?? undefined)}-${to.nodeId}:${portText(to.l1IngressInterface ?? undefined)}`;
}
