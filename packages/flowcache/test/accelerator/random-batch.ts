import { FLAG, HOP_COLUMNS, type TelemetryBatch } from '@int/codec';

/** A small generator of pseudo-random numbers: mulberry32. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** 32 random bits. */
  word(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  below(limit: number): number {
    return Math.floor((this.word() / 0x100000000) * limit);
  }

  chance(probability: number): boolean {
    return this.word() < probability * 0x100000000;
  }
}

/** What the reports of a batch look like. */
export interface Traffic {
  /** How many flows there are. */
  readonly flows: number;
  /** How likely a flow is IPv6. */
  readonly ipv6: number;
  /** How likely a row is no report, or one without a flow. */
  readonly odd: number;
  /** How likely a value is missing. */
  readonly missing: number;
  /** How likely a path differs from the one before. */
  readonly detour: number;
  readonly hops: number;
  /** Hop rows in an order that no decoder leaves, some beyond the last one. */
  readonly scattered: boolean;
  /** Frames in an order that no decoder leaves. */
  readonly shuffledFrames: boolean;
}

const EDGES = [0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0x00ffffff, 0xff000000] as const;

function value(random: Random, missing: number): number {
  if (random.chance(missing)) return 0xffffffff;
  if (random.chance(0.1)) return EDGES[random.below(EDGES.length)]!;
  return random.chance(0.1) ? random.word() : random.below(1000);
}

/** The hops of a flow, but for detours. */
function lengthOf(flow: number, traffic: Traffic, random: Random): number {
  if (random.chance(0.02)) return random.below(3) * 127;
  const usual = (Math.imul(flow, 0x9e3779b1) >>> 8) % (traffic.hops + 3);
  return random.chance(traffic.detour) ? random.below(traffic.hops + 3) : usual;
}

/** Fills a batch; cells that mean nothing hold anything. @returns its reports */
export function fillRandom(batch: TelemetryBatch, reports: number, traffic: Traffic, random: Random): number {
  batch.clear();
  const { capacity } = batch;
  const columns = [batch.source0, batch.source1, batch.source2, batch.source3];
  columns.push(batch.destination0, batch.destination1, batch.destination2, batch.destination3);
  let hopRow = random.below(4);
  let frame = random.below(3);
  let row = 0;
  for (; row < reports; row++) {
    const flow = random.chance(0.5) ? random.below(4) : random.below(traffic.flows);
    const bits = new Random(flow);
    const isIpv6 = bits.chance(traffic.ipv6);
    const count = Math.min(255, lengthOf(flow, traffic, random));
    if (hopRow + count > capacity.hops) break;
    const isOdd = random.chance(traffic.odd);
    batch.code[row] = isOdd && random.chance(0.5) ? 1 + random.below(255) : 0;
    const hasFlow = !isOdd || batch.code[row] !== 0;
    batch.flags[row] =
      (random.word() & ~(FLAG.FLOW | FLAG.IPV6)) | (hasFlow ? FLAG.FLOW : 0) | (isIpv6 ? FLAG.IPV6 : 0);
    for (const [word, column] of columns.entries()) {
      // Some flows differ in one word only.
      const isAddress = isIpv6 || word % 4 === 0;
      column[row] = isAddress ? (word === flow % 8 ? bits.word() : 7) : random.word();
    }
    batch.ports[row] = bits.word();
    batch.protocol[row] = bits.chance(0.5) ? 17 : bits.below(256);
    batch.nodeId[row] = random.chance(0.3) ? 0xffffffff : random.below(4);
    frame = traffic.shuffledFrames ? random.below(reports * 2) : frame + random.below(3);
    batch.frame[row] = frame;
    batch.hopStart[row] = batch.code[row] === 0 && count > 0 ? hopRow : random.word();
    batch.hopCount[row] = batch.code[row] === 0 ? count : random.below(256);
    for (let hop = 0; hop < count; hop++) fillHop(batch, hopRow + hop, flow, hop, traffic, random);
    hopRow += count + random.below(2);
  }
  if (traffic.scattered) scatter(batch, row, random);
  return row;
}

function fillHop(
  batch: TelemetryBatch,
  row: number,
  flow: number,
  hop: number,
  traffic: Traffic,
  random: Random,
): void {
  const id = ((flow + hop * 3) % 11) + (random.chance(traffic.detour) ? 11 : 0);
  HOP_COLUMNS.forEach((name, column) => {
    const word = column === 0 ? (random.chance(traffic.missing) ? 0xffffffff : id) : value(random, traffic.missing);
    batch.hop[name][row] = word;
  });
}

/** Exchanges the hop rows of reports, and lets one of them begin where the last report's hops do not fit. */
function scatter(batch: TelemetryBatch, reports: number, random: Random): void {
  const { hopStart, hopCount, code } = batch;
  for (let row = 0; row < reports; row++) {
    const other = random.below(reports);
    if (code[row] !== 0 || code[other] !== 0 || hopCount[row] === 0 || hopCount[other] === 0) continue;
    [hopStart[row], hopStart[other]] = [hopStart[other]!, hopStart[row]!];
    [hopCount[row], hopCount[other]] = [hopCount[other]!, hopCount[row]!];
  }
  const last = random.below(Math.max(1, reports));
  if (random.chance(0.3) && code[last] === 0 && hopCount[last]! > 1) hopStart[last] = batch.capacity.hops - 1;
}
