/** The hops of a report: what they told, what is usual for them, and who was in their queue. */
import { FIELDS, HopView, NOT_AVAILABLE } from '@int/codec';
import type { DeviceProfile } from '@int/network';
import type { BiographyHop, HopRow } from '../protocol/http.js';
import {
  flowText,
  hopRowsOf,
  isInQueue,
  latencyNsOf,
  nanosecondsPer,
  type QueuePlace,
  queueOf,
  type ReportAt,
  switchOf,
  timeNsOf,
} from './report-at.js';

/** Who shared a queue is looked for in so many nanoseconds on either side. */
const NEIGHBOUR_NS = 1_000_000n;
/** Reports may arrive in another order than their packets left, by so much. */
const ARRIVAL_NS = 1_000_000_000n;
/** Latencies of a queue that make up what is usual: the last ones before the packet. */
const MOST_LATENCIES = 65_536;
/** Flows of neighbours that are listed, those with most reports first. */
const MOST_NEIGHBOURS = 50;

interface Neighbour {
  readonly flow: string;
  readonly flowId: string;
  reports: number;
  occupancyMax: number | null;
}

/** A hop while what is known of it is gathered. */
interface HopAccount {
  readonly hopRow: number;
  readonly queue: QueuePlace | null;
  /** Raw latencies of the packets before, of this queue. */
  readonly latencies: number[];
  readonly neighbours: Map<string, Neighbour>;
  readonly timeNs: bigint | null;
}

/**
 * When a packet left the queue, on the switch's own clock, in nanoseconds; `null` if the hop does not tell, or the unit of
 * timestamps is not known.
 */
function deviceTimeNs(report: ReportAt, hopRow: number, device: DeviceProfile): bigint | null {
  const { egressTimestamp, ingressTimestamp } = new HopView(report.batch, hopRow);
  const time = egressTimestamp ?? ingressTimestamp;
  const per = nanosecondsPer(device.unit('timestamps', switchOf(report, hopRow) ?? undefined));
  if (time === null || per === null) return null;
  return Number.isInteger(per) ? time * BigInt(per) : BigInt(Math.round(Number(time) * per));
}

/** Gathers, in one pass over the retained reports, what surrounds the hops of one report. */
export class HopSurroundings {
  readonly #report: ReportAt;
  readonly #timeNs: bigint;
  readonly #device: DeviceProfile;
  readonly #hops: readonly HopAccount[];
  readonly #flowIdOf: (report: ReportAt) => string;

  /** @param flowIdOf the id of the flow of a report in the table of flows */
  constructor(report: ReportAt, device: DeviceProfile, flowIdOf: (report: ReportAt) => string) {
    this.#report = report;
    this.#timeNs = timeNsOf(report);
    this.#device = device;
    this.#flowIdOf = flowIdOf;
    this.#hops = hopRowsOf(report).map((hopRow) => ({
      hopRow,
      queue: queueOf(report, hopRow),
      latencies: [],
      neighbours: new Map(),
      timeNs: deviceTimeNs(report, hopRow, device),
    }));
  }

  /** Takes another retained report, newer ones before older ones. */
  add(other: ReportAt): void {
    const { batch, row } = other;
    if (batch === this.#report.batch && row === this.#report.row) return;
    const distance = timeNsOf(other) - this.#timeNs;
    const isBefore = distance < 0n;
    const mayBeNear = distance <= ARRIVAL_NS && distance >= -ARRIVAL_NS;
    if (!isBefore && !mayBeNear) return;
    const first = batch.hopStart[row]!;
    const end = first + batch.hopCount[row]!;
    for (let hopRow = first; hopRow < end; hopRow++) {
      const switchId = switchOf(other, hopRow);
      if (switchId === null) continue;
      for (const hop of this.#hops) {
        if (hop.queue === null || hop.queue.switchId !== switchId || !isInQueue(hop.queue, batch, hopRow)) continue;
        const latency = batch.hop.hopLatency[hopRow]!;
        if (isBefore && latency !== NOT_AVAILABLE && hop.latencies.length < MOST_LATENCIES) hop.latencies.push(latency);
        if (mayBeNear && this.#isNear(hop, other, hopRow, distance)) this.#note(hop, other, hopRow);
      }
    }
  }

  /** @param causes positions of the hops that an event is about */
  hops(causes: ReadonlySet<number>): BiographyHop[] {
    return this.#hops.map((hop, position) => {
      const { hopRow, neighbours } = hop;
      const switchId = switchOf(this.#report, hopRow);
      const per = nanosecondsPer(this.#device.unit('hopLatency', switchId ?? undefined)) ?? 1;
      return {
        switchId,
        values: valuesOf(this.#report, hopRow),
        latencyNs: latencyNsOf(this.#report, hopRow, this.#device),
        usual: usualOf(hop.latencies, per),
        isCause: causes.has(position),
        neighbours: [...neighbours.values()]
          .sort((a, b) => b.reports - a.reports || (a.flow < b.flow ? -1 : 1))
          .slice(0, MOST_NEIGHBOURS),
      };
    });
  }

  /** By the switch's clock where both packets tell it, else by the times of the reports. */
  #isNear(hop: HopAccount, other: ReportAt, hopRow: number, distance: bigint): boolean {
    const time = hop.timeNs === null ? null : deviceTimeNs(other, hopRow, this.#device);
    const apart = time === null ? distance : time - hop.timeNs!;
    return apart <= NEIGHBOUR_NS && apart >= -NEIGHBOUR_NS;
  }

  #note(hop: HopAccount, other: ReportAt, hopRow: number): void {
    const flow = flowText(other);
    if (flow === null) return;
    let neighbour = hop.neighbours.get(flow);
    if (neighbour === undefined) {
      neighbour = { flow, flowId: this.#flowIdOf(other), reports: 0, occupancyMax: null };
      hop.neighbours.set(flow, neighbour);
    }
    neighbour.reports++;
    const { queueOccupancy } = new HopView(other.batch, hopRow);
    if (queueOccupancy !== null) neighbour.occupancyMax = Math.max(neighbour.occupancyMax ?? 0, queueOccupancy);
  }
}

/** The values of a hop by the codec's names; 64-bit ones as decimal text. Items that are not there are left out. */
function valuesOf(report: ReportAt, hopRow: number): HopRow {
  const view = new HopView(report.batch, hopRow);
  const values: Record<string, number | string | null> = {};
  for (const field of FIELDS) {
    const value = view.read(field);
    if (value !== null) values[field.name] = typeof value === 'bigint' ? String(value) : value;
  }
  return values;
}

/** Nearest-rank quantiles of raw latencies, times a factor; `null` if there are none. */
function usualOf(latencies: readonly number[], per: number): BiographyHop['usual'] {
  if (latencies.length === 0) return null;
  const sorted = Float64Array.from(latencies).sort();
  const at = (quantile: number): number => sorted[Math.max(0, Math.ceil(quantile * sorted.length) - 1)]! * per;
  return { p50: at(0.5), p99: at(0.99), samples: sorted.length };
}
