/**
 * Reports for the flow cache benchmark, made while it runs, so that no two passes see the same ones. The C program makes
 * the same (`benchmarks/native/twins/flowcache_work.c`); what both need is in one file.
 *
 * Every report has 5 hops with node id, hop latency, queue occupancy and egress utilization. A flow has a path of its own
 * through five tiers of 1,024 switches, which one report in 64 leaves at one hop. Latency and occupancy are exponentially
 * distributed, and utilization uniformly. A report comes every 152 ns (6.57 million a second).
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { type Arena, type BatchCapacity, FLAG, STATE, TelemetryBatch } from '@int/codec';
import { mix32, Random, Zipf } from '@int/random';

export const HOPS = 5;
/** Hop rows that a batch has room for beyond those used: a batch must hold the longest stack. */
const HOP_SLACK = 256;
export const EXPONENT = 1.1;
/** Exponential values, as a table of its quantiles: 12 random bits choose one. */
const VALUES = 4096;
export const MEAN_VALUE = 2000;
const FILE_WORDS = 16;
const MAGIC = 0x57544e49; // "INTW"
const HEADER_WORDS = 128;
const THRESHOLD_WORDS = 32;
const GOLDEN = 0x9e3779b9;
/** 2026-01-01T00:00:00Z in nanoseconds, and the gap between two reports. */
const EPOCH = 1767225600000000000n;
const GAP = 152;
/** Odd and no multiple of 3 or 5: multiplied by it, ranks become flows in an order that has nothing to do with the rank. */
const SPREAD = 2654437;

/** Who sends the next packet; see `enum work_mix` in C. */
export const MIXES = { each: 0, zipf: 1, uniform: 2, mixed: 3 } as const;
export type Mix = keyof typeof MIXES;

export interface WorkloadOptions {
  /** A number without other prime factors than 2, 3 and 5. */
  readonly flows: number;
  /** Whether flows of odd number are IPv6. */
  readonly ipv6: boolean;
  /** Reports in a batch. */
  readonly size: number;
  /** Draws from the Zipf distribution, after which they come again. */
  readonly draws: number;
  /** Header of the cache and thresholds, for the C program. */
  readonly header: Int32Array;
  readonly thresholds: Int32Array;
}

/** The quantiles of an exponential distribution. */
function exponentialValues(): Uint32Array {
  return Uint32Array.from({ length: VALUES }, (_, k) => Math.floor(-Math.log(1 - (k + 0.5) / VALUES) * MEAN_VALUE));
}

export function writeWorkload(path: string, options: WorkloadOptions): void {
  const { flows, ipv6, size, draws } = options;
  const popularity = new Zipf(flows, EXPONENT);
  const random = new Random(`flow cache ${flows}`);
  const drawn = new Uint32Array(draws);
  for (let k = 0; k < draws; k++) drawn[k] = (popularity.sample(random) * SPREAD) % flows;
  const head = new Uint32Array(FILE_WORDS);
  head.set([MAGIC, flows, ipv6 ? 1 : 0, size, draws, VALUES]);
  const file = openSync(path, 'w');
  try {
    for (const part of [head, options.header, options.thresholds, exponentialValues(), drawn]) {
      let rest = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
      while (rest.length > 0) rest = rest.subarray(writeSync(file, rest));
    }
  } finally {
    closeSync(file);
  }
}

/** A 5-tuple: addresses of one word or four. */
export interface FlowWords {
  readonly source: readonly number[];
  readonly destination: readonly number[];
  readonly ports: number;
  readonly protocol: number;
}

/** Makes reports from a file. */
export class Workload {
  readonly flows: number;
  readonly ipv6: boolean;
  readonly size: number;
  readonly header: Int32Array;
  readonly thresholds: Int32Array;
  readonly #values: Uint32Array;
  readonly #draws: Uint32Array;
  /** Reports made. */
  sequence = 0;

  constructor(path: string) {
    const bytes = readFileSync(path);
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
    const [magic, flows, ipv6, size, draws, values] = words;
    if (magic !== MAGIC) throw new Error(`${path} is no workload`);
    this.flows = flows!;
    this.ipv6 = ipv6 === 1;
    this.size = size!;
    let at = FILE_WORDS;
    const take = (count: number): Uint32Array => {
      at += count;
      return words.slice(at - count, at);
    };
    this.header = new Int32Array(take(HEADER_WORDS).buffer);
    this.thresholds = new Int32Array(take(THRESHOLD_WORDS).buffer);
    this.#values = take(values!);
    this.#draws = take(draws!);
  }

  /** Capacity of a batch. */
  get capacity(): BatchCapacity {
    return { frames: this.size, reports: this.size, hops: this.size * HOPS + HOP_SLACK };
  }

  /** A batch that {@link fill} can fill, in memory of its own or in that of an arena. */
  makeReports(arena?: Arena): TelemetryBatch {
    const batch = new TelemetryBatch(this.capacity, arena);
    for (let row = 0; row < this.size; row++) {
      batch.frame[row] = row;
      batch.hopStart[row] = row * HOPS;
      batch.hopCount[row] = HOPS;
      batch.code[row] = 0;
    }
    batch.isTimed = true;
    // Any hop column may hold something.
    batch.state[STATE.WRITTEN] = -1;
    return batch;
  }

  /** The 5-tuple of a flow, as words. */
  flow(index: number): FlowWords {
    const a = mix32(index);
    const b = mix32(a + GOLDEN);
    const isIpv6 = this.ipv6 && (index & 1) === 1;
    return {
      source: isIpv6 ? [0x20010db8, 0, b, index] : [0x0a000000 + index],
      destination: isIpv6 ? [0x20010db8, 1, 0, a] : [(0xac100000 | (a & 0xfffff)) >>> 0],
      ports: (0x80000000 | (b & 0x7fffffff)) >>> 0,
      protocol: ((a >>> 28) & 1) === 1 ? 17 : 6,
    };
  }

  #nextFlow(mix: number, sequence: number): number {
    if (mix === MIXES.each) return sequence % this.flows;
    if (mix === MIXES.uniform || (mix === MIXES.mixed && (sequence & 1) !== 0)) {
      return mix32(sequence ^ 0x2545f491) % this.flows;
    }
    return this.#draws[sequence % this.#draws.length]!;
  }

  /** Fills a batch with the next `count` reports. `mix` is one of MIXES. */
  fill(batch: TelemetryBatch, mix: number, count: number): void {
    const { flags, nodeId, ports, protocol, source0, source1, source2, source3 } = batch;
    const { destination0, destination1, destination2, destination3 } = batch;
    const { nodeId: ids, hopLatency, queueOccupancy, egressUtilization } = batch.hop;
    const { frameTimeHigh, frameTimeLow } = batch;
    const values = this.#values;
    const start = EPOCH + BigInt(this.sequence) * BigInt(GAP);
    let timeLow = Number(start & 0xffffffffn);
    let timeHigh = Number(start >> 32n);
    for (let row = 0; row < count; row++) {
      const sequence = this.sequence++;
      const flow = this.#nextFlow(mix, sequence);
      const a = mix32(flow);
      const b = mix32(a + GOLDEN);
      const random = mix32(sequence + 0x5bd1e995);
      const detour = (random & 63) === 0 ? 1 + (((random >>> 6) & 1023) % 3) : 0;
      frameTimeLow[row] = timeLow;
      frameTimeHigh[row] = timeHigh;
      timeLow += GAP;
      if (timeLow > 0xffffffff) {
        timeLow -= 0x100000000;
        timeHigh++;
      }
      ports[row] = 0x80000000 | (b & 0x7fffffff);
      protocol[row] = ((a >>> 28) & 1) === 1 ? 17 : 6;
      if (this.ipv6 && (flow & 1) === 1) {
        flags[row] = FLAG.FLOW | FLAG.IPV6;
        source0[row] = 0x20010db8;
        source1[row] = 0;
        source2[row] = b;
        source3[row] = flow;
        destination0[row] = 0x20010db8;
        destination1[row] = 1;
        destination2[row] = 0;
        destination3[row] = a;
      } else {
        flags[row] = FLAG.FLOW;
        source0[row] = 0x0a000000 + flow;
        destination0[row] = 0xac100000 | (a & 0xfffff);
      }
      const first = row * HOPS;
      for (let hop = 0; hop < HOPS; hop++) {
        const bits = mix32(random + Math.imul(hop, GOLDEN));
        const id = 1 + hop * 1024 + ((a >>> (2 * hop)) & 1023);
        ids[first + hop] = hop === detour && hop > 0 ? id + 0x8000 : id;
        hopLatency[first + hop] = 500 + values[bits & (VALUES - 1)]!;
        queueOccupancy[first + hop] = values[(bits >>> 12) & (VALUES - 1)]! >>> 3;
        egressUtilization[first + hop] = bits >>> 19;
      }
      nodeId[row] = ids[first + HOPS - 1]!;
    }
    batch.state[STATE.FRAMES] = count;
    batch.state[STATE.REPORTS] = count;
    batch.state[STATE.HOPS] = count * HOPS;
  }
}
