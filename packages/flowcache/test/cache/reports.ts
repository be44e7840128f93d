import {
  type Flow,
  type Hop,
  METRIC_NAMES,
  type MetricName,
  metricOf,
  TelemetryBatch,
  type TelemetryRecord,
} from '@int/codec';
import { writeRecord } from '@int/codec/internals';
import type { Random } from '@int/random';
import { type Times, withTimes } from './times.js';

/** What a random report is made of, in the terms of the model. */
export interface Report {
  readonly isOk: boolean;
  readonly flow: Flow | null;
  /** The reporting node. */
  readonly nodeId: number | null;
  readonly hops: readonly ReportHop[];
  readonly timeNs: bigint;
}

export interface ReportHop {
  readonly nodeId: number | null;
  readonly values: { readonly [K in MetricName]?: number };
}

/** What random reports are like. */
export interface ReportShape {
  readonly flows: readonly Flow[];
  /** Hops of a path at most. */
  readonly hops: number;
  /** Metrics that hops may carry. */
  readonly metrics: readonly MetricName[];
}

export function randomFlows(random: Random, count: number, ipv6Share: number): Flow[] {
  return Array.from({ length: count }, (_, index) => {
    const isIpv6 = random.uniform() < ipv6Share;
    const address = (): string =>
      isIpv6
        ? `2001:db8:${random.integer(4) + 1}::${(random.integer(0xffff) + 1).toString(16)}`
        : `10.${random.integer(4)}.${random.integer(256)}.${random.integer(256)}`;
    return {
      source: address(),
      destination: address(),
      protocol: random.integer(2) === 0 ? 6 : 17,
      // Distinct, so that no two are the same flow.
      sourcePort: index & 0xffff,
      destinationPort: random.integer(65536),
    };
  });
}

const WIDTHS: ReadonlyMap<MetricName, number> = new Map(METRIC_NAMES.map((name) => [name, metricOf(name).width]));

function randomValue(random: Random, metric: MetricName): number {
  const width = WIDTHS.get(metric)!;
  const isLarge = random.integer(20) === 0;
  if (width < 32) return random.integer(isLarge ? 2 ** width : Math.min(300, 2 ** width));
  // All ones would be 'not available'.
  return isLarge ? 0xfffffffe - random.integer(1000) : random.integer(5000);
}

/** A flow's switches, mostly the same from report to report. */
function randomPath(random: Random, flow: number, most: number): (number | null)[] {
  const usual = flow % (most + 1);
  const length = random.integer(12) === 0 ? random.integer(most + 1) : usual;
  const shift = random.integer(10) === 0 ? random.integer(3) : 0;
  return Array.from({ length }, (_, hop) => (random.integer(25) === 0 ? null : ((flow + hop + shift) % 7) + 1));
}

/** Two halves of one item: a hop carries both or none. */
const PAIR = ['l2IngressInterface', 'l2EgressInterface'] as const;

function randomValues(random: Random, metrics: readonly MetricName[]): ReportHop['values'] {
  const carried = metrics.filter(() => random.integer(30) !== 0);
  const values: { [K in MetricName]?: number } = {};
  for (const metric of carried) values[metric] = randomValue(random, metric);
  if (PAIR.some((metric) => values[metric] !== undefined)) {
    for (const metric of PAIR) values[metric] ??= randomValue(random, metric);
  }
  return values;
}

export function randomReport(random: Random, shape: ReportShape, timeNs: bigint): Report {
  // Squared: some flows come often, many come rarely.
  const flow = Math.floor(random.uniform() ** 2 * shape.flows.length);
  const left = shape.metrics.filter(() => random.integer(12) !== 0);
  const hops = randomPath(random, flow, shape.hops).map((nodeId) => ({ nodeId, values: randomValues(random, left) }));
  return {
    isOk: random.integer(40) !== 0,
    flow: random.integer(40) === 0 ? null : shape.flows[flow]!,
    nodeId: random.integer(10) === 0 ? null : (flow % 3) + 5,
    hops,
    timeNs,
  };
}

/** The report as decoding would give it. */
export function recordOf({ isOk, flow, nodeId, hops }: Report): TelemetryRecord {
  return {
    index: 0,
    status: isOk ? 'ok' : 'malformed',
    error: null,
    report: {
      version: '2.0',
      hwId: 0,
      sequence: 0,
      nodeId,
      type: 'int-md',
      dropped: false,
      queueCongested: false,
      trackedFlow: true,
      intermediate: false,
      ingressTimestamp: null,
      dropReason: null,
      dropQueueId: null,
      metadata: {},
    },
    int: {
      mode: 'md',
      version: '2',
      encapsulation: 'udp',
      hopMl: 4,
      remainingHopCount: 0,
      instructionBitmap: 0,
      discard: false,
      hopExceeded: false,
      mtuExceeded: false,
      domainId: 0,
      domainInstructions: 0,
      domainFlags: 0,
    },
    flow,
    path: hops.map((hop) => hop.nodeId),
    hops: hops.map(({ nodeId: id, values }) => ({ nodeId: id, ...values }) as Hop),
  };
}

/** Reports as a batch, with their times. */
export class ReportBatch {
  readonly batch: TelemetryBatch;
  readonly #times: Times;
  readonly #single = new TelemetryBatch({ frames: 1, hops: 256 });

  /** @param first row of frame 0 in the times */
  constructor(
    frames: number,
    hops: number,
    first = 0,
    batch = new TelemetryBatch({ frames, hops: Math.max(256, frames * hops) }),
  ) {
    this.batch = batch;
    this.#times = {
      timestampsHigh: new Uint32Array(first + frames),
      timestampsLow: new Uint32Array(first + frames),
      first,
    };
  }

  fill(reports: readonly Report[]): void {
    const { batch } = this;
    const times = this.#times;
    batch.clear();
    withTimes(batch, times);
    let hops = 0;
    reports.forEach((report, row) => {
      const single = this.#single;
      writeRecord(single, recordOf(report));
      for (let column = 0; column * batch.reportStride < batch.reportWords.length; column++) {
        batch.reportWords[column * batch.reportStride + row] = single.reportWords[column * single.reportStride]!;
      }
      batch.frame[row] = row;
      batch.hopStart[row] = hops;
      batch.code[row] = single.code[0]!;
      batch.hopCount[row] = single.hopCount[0]!;
      batch.protocol[row] = single.protocol[0]!;
      for (let column = 0; column * batch.hopStride < batch.hopWords.length; column++) {
        for (let hop = 0; hop < single.hopCount[0]!; hop++) {
          const word = single.hopWords[column * single.hopStride + hop]!;
          batch.hopWords[column * batch.hopStride + hops + hop] = word;
        }
      }
      hops += single.hopCount[0]!;
      times.timestampsHigh[times.first + row] = Number(report.timeNs >> 32n);
      times.timestampsLow[times.first + row] = Number(report.timeNs & 0xffffffffn);
    });
    batch.state[0] = reports.length;
    batch.state[1] = reports.length;
    batch.state[2] = hops;
  }
}
