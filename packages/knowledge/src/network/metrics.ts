import { BaselineTable } from '@int/baseline';
import { FLAG, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import { Cusums } from '../change/cusums.js';
import type { Incidents } from '../incident/incidents.js';
import type { Settings } from '../options.js';
import { KeyTable } from '../table/keys.js';
import { HopPlaces, MOST_HOPS } from './hop-places.js';
import { Neighbours } from './neighbours.js';

/** Metrics of entities: a word of their key, and an index in their names. */
const METRIC = { LATENCY: 0, OCCUPANCY: 1, UTILIZATION: 2 } as const;
export const METRIC_NAMES = ['hopLatency', 'queueOccupancy', 'egressUtilization'] as const;
/** Places of rows that were looked up lately. */
const RECENT = 4096;
const RECENT_SHIFT = 20;
/** The mean of deviations below which a metric is quiet again, and the weight of the past in it. */
const QUIET_DEVIATIONS = 1;
const LAMBDA = 0.7;
const QUIET_MS = 30_000;
const MOST_DEVIATIONS = 8;
/** A metric hurts a path if it is so many deviations off now. */
const HURT_DEVIATIONS = 4;
/** Incidents at neighbours that begin within this time are one. */
const TOGETHER_MS = 10_000;

/** Latency, queue and load of every switch, queue and port, against what is usual: congestion. */
export class NetworkMetrics {
  readonly table: KeyTable;
  readonly neighbours = new Neighbours();
  readonly #incidents: Incidents;
  readonly #threshold: number;
  readonly #levels: BaselineTable;
  readonly #sums: Cusums;
  readonly #average: Float64Array;
  /** Values of this second. */
  readonly #seen: Uint32Array;
  /** The words of each row's key: metric, switch, queue or port. */
  readonly #words: Uint32Array;
  readonly #key = new Uint32Array(4);
  /** The row of a key that was looked up last at each place: a look-up in the table costs several times as much. */
  readonly #recent = new Int32Array(RECENT).fill(-1);
  readonly #places = new HopPlaces();
  /** Switches with a metric far off in the last second. */
  readonly #hurt = new Set<number>();
  /** Open congestion: where, and since when. */
  #open: {
    readonly entity: string;
    readonly switchId: number;
    readonly timeMs: number;
    readonly joined: Set<string>;
  }[] = [];

  constructor(settings: Settings, incidents: Incidents) {
    const rows = settings.capacity.metrics;
    this.#incidents = incidents;
    this.#threshold = settings.threshold;
    this.table = new KeyTable(rows, (row) => this.#forget(row));
    this.#levels = new BaselineTable(rows, { above: 1.5, learnMs: settings.learnMs });
    this.#sums = new Cusums(rows);
    this.#average = new Float64Array(rows);
    this.#seen = new Uint32Array(rows);
    this.#words = new Uint32Array(rows * 4);
  }

  static byteLength(rows: number): number {
    return (
      KeyTable.byteLength(rows) +
      BaselineTable.byteLength(rows) +
      rows * (8 + 16 + 4 + 16) +
      HopPlaces.BYTES +
      4 * RECENT +
      Neighbours.BYTES
    );
  }

  /** Takes the hops of reports without an error. @param timeMs about the time of them all */
  observe(batch: TelemetryBatch, from: number, to: number, timeMs: number): void {
    const { code, flags, hopStart, hopCount } = batch;
    const isTaken = (row: number): boolean => code[row] === 0 && (flags[row]! & FLAG.BESIDES) === 0;
    let row = from;
    while (row < to) {
      if (!isTaken(row)) {
        row++;
        continue;
      }
      // Hops of reports in succession are one behind the other.
      const first = hopStart[row]!;
      let end = first;
      for (; row < to && isTaken(row) && hopStart[row] === end; row++) end += hopCount[row]!;
      this.#passHops(batch, first, end, timeMs);
    }
    this.neighbours.observe(batch, from, to);
  }

  /**
   * Takes a value of a switch, of one of its queues or of one of its ports.
   * @param part the queue, or the port; 0 for the latency
   * @param times how many values it stands for
   */
  add(metric: number, node: number, part: number, value: number, timeMs: number, times = 1): void {
    if (value === NOT_AVAILABLE || part === NOT_AVAILABLE) return;
    const row = this.#rowOf(metric, node, part, timeMs);
    this.#seen[row] = this.#seen[row]! + times;
    this.#levels.add(row, value, times);
  }

  #rowOf(metric: number, node: number, part: number, timeMs: number): number {
    const place = (Math.imul(node, 0x9e3779b1) ^ Math.imul(4 * part + metric + 1, 0x85ebca6b)) >>> RECENT_SHIFT;
    const recent = this.#recent[place]!;
    const words = this.#words;
    const at = recent * 4;
    if (recent >= 0 && words[at] === metric && words[at + 1] === node && words[at + 2] === part) return recent;
    this.#key[0] = metric;
    this.#key[1] = node;
    this.#key[2] = part;
    this.#key[3] = 2;
    const row = this.table.rowOf(this.#key, 0, timeMs);
    words.set(this.#key, row * 4);
    this.#recent[place] = row;
    return row;
  }

  #passHops(batch: TelemetryBatch, first: number, end: number, timeMs: number): void {
    const { nodeId, queueId, l1EgressInterface } = batch.hop;
    const places = this.#places;
    for (let hop = first; hop < end; hop += MOST_HOPS) {
      const count = places.pass(nodeId, queueId, l1EgressInterface, hop, Math.min(end, hop + MOST_HOPS));
      for (let k = 0; k < count; k++) this.#take(batch, places.taken[k]!, places.times[k]!, timeMs);
    }
  }

  #take(batch: TelemetryBatch, hop: number, times: number, timeMs: number): void {
    const { nodeId, hopLatency, queueId, queueOccupancy, egressUtilization, l1EgressInterface } = batch.hop;
    const node = nodeId[hop]!;
    this.add(METRIC.LATENCY, node, 0, hopLatency[hop]!, timeMs, times);
    this.add(METRIC.OCCUPANCY, node, queueId[hop]!, queueOccupancy[hop]!, timeMs, times);
    this.add(METRIC.UTILIZATION, node, l1EgressInterface[hop]!, egressUtilization[hop]!, timeMs, times);
  }

  /** Ends a second. */
  close(timeMs: number): void {
    const { size } = this.table;
    this.#places.close();
    this.#levels.close(timeMs, size);
    this.#hurt.clear();
    for (let row = 0; row < size; row++) {
      const seen = this.#seen[row]!;
      this.table.weight[row] = 0.99 * this.table.weight[row]! + seen;
      if (seen > 0) this.table.lastMs[row] = timeMs;
      this.#seen[row] = 0;
      const z = this.#levels.deviation[row]!;
      if (!Number.isNaN(z)) this.#judge(row, z, timeMs);
    }
    this.#open = this.#open.filter(({ entity }) => this.#incidents.isOpen('congestion', entity));
  }

  /** Whether a switch has a metric that is far above what is usual. */
  isHurt(switchId: number): boolean {
    return this.#hurt.has(switchId);
  }

  #forget(row: number): void {
    // No key is this one any more.
    this.#words[row * 4] = NOT_AVAILABLE;
    this.#levels.clear(row);
    this.#sums.clear(row);
    this.#average[row] = this.#seen[row] = this.table.weight[row] = 0;
  }

  #judge(row: number, z: number, timeMs: number): void {
    this.#sums.add(row, z);
    // Clipped as in the sum: a queue that was very long is quiet as soon as others are.
    const average = LAMBDA * this.#average[row]! + (1 - LAMBDA) * Math.min(MOST_DEVIATIONS, z);
    this.#average[row] = average;
    const switchId = this.#words[row * 4 + 1]!;
    if (z > HURT_DEVIATIONS) this.#hurt.add(switchId);
    const sum = this.#sums.up(row);
    if (sum > this.#threshold && average >= QUIET_DEVIATIONS) this.#congested(row, switchId, z, sum, timeMs);
    else if (sum > this.#threshold) this.#sums.clear(row);
  }

  #congested(row: number, switchId: number, z: number, sum: number, timeMs: number): void {
    const entity = this.#entity(row);
    if (this.#incidents.hold('congestion', entity, timeMs)) return;
    const near = this.#open.find(
      (each) =>
        each.joined.has(entity) ||
        (timeMs - each.timeMs <= TOGETHER_MS &&
          (each.switchId === switchId || this.neighbours.areNeighbours(each.switchId, switchId))),
    );
    if (near !== undefined && this.#incidents.join('congestion', near.entity, entity, timeMs)) {
      near.joined.add(entity);
      return;
    }
    const metric = METRIC_NAMES[this.#words[row * 4]!]!;
    const usual = this.#levels.usual[row]!;
    const value = this.#levels.value[row]!;
    this.#incidents.found(
      {
        kind: 'congestion',
        entity,
        detector: 'cusum-of-baseline',
        formula: 'S = max(0, S + z - 0.5) > h, z = (ln(1 + value) - ln(1 + usual)) / spread, clipped to 8',
        operands: { metric, value, usual: round(usual), z: round(z), S: round(sum), h: this.#threshold },
        baseline: { metric, usual: round(usual) },
        windowMs: 1000,
        confidence: round(1 - Math.exp(-sum / this.#threshold)),
        phase: null,
        otherwise: ['more traffic than usual that the network can carry', 'a change of paths'],
        confirm: 'see which flows share the queue, and whether they came together',
        suggest: { intent: 'avoid', match: { switch: switchId }, ttlMs: 60_000 },
      },
      timeMs - 1000,
      timeMs,
      QUIET_MS,
    );
    this.#open.push({ entity, switchId, timeMs, joined: new Set() });
  }

  #entity(row: number): string {
    const [metric, switchId, part] = [this.#words[row * 4]!, this.#words[row * 4 + 1]!, this.#words[row * 4 + 2]!];
    if (metric === METRIC.LATENCY) return `switch:${switchId}`;
    return metric === METRIC.OCCUPANCY ? `queue:${switchId}/${part}` : `port:${switchId}/${part}`;
  }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
