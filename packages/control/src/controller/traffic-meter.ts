import { FLAG, formatIpv4, formatIpv6, INT_VERSIONS, MODES, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import type { Topology } from '@int/network';
import type { Minute, ObservedFlow } from '../twin/rehearsal.js';
import type { Measurement } from './measurement.js';
import { orderAlong } from './order-along.js';

const MOST_HOPS = 8;
/** The last minute, in parts. */
const PARTS = 6;
const PART_MS = 10_000;
/** Flows of a rehearsal, and how many of them are the largest. */
const MOST_REHEARSED = 400;
const LARGEST = 250;
/** Places that are tried for a flow; the one that was seen least lately gives way. */
const TRIES = 8;
/** Words of a key: two addresses, ports, protocol with a bit for IPv6. */
const KEY = 10;
const ETHERNET_BYTES = 14;
/** Shim and header of INT-MD 2.1 over TCP or UDP; header of IntMon. */
const INT_BYTES = 16;
const INTMON_BYTES = 12;
const INTMON = INT_VERSIONS.indexOf('intmon');
const MODE_MD = MODES.indexOf('md');
const MODE_MX = MODES.indexOf('mx');
const MODE_XD = MODES.indexOf('xd');

export interface TrafficMeterOptions {
  /** Flows of the last minute that are kept; default 16,384. */
  readonly flows?: number;
  /** One packet of so many is reported; default 1. */
  readonly sampling?: number;
  /** Says in which order switches of a flow come that report each for itself (INT-XD, INT-MX); without it nobody knows. */
  readonly topology?: Topology;
}

/**
 * Flows by their reports: what came to the INT sinks, what was dropped, over which switches. Where switches report each for itself
 * (INT-XD, INT-MX), packets are those of the switch that reports most. A stage of a collector. It allocates nothing per report; {@link measure} and {@link minute} make objects.
 */
export class TrafficMeter {
  readonly name = 'traffic';
  /** Flows of the last minute that had to give way to others. */
  evicted = 0;
  readonly #sampling: number;
  readonly #capacity: number;
  readonly #keys: Uint32Array;
  readonly #isUsed: Uint8Array;
  readonly #lastMs: Float64Array;
  readonly #path: Uint32Array;
  readonly #pathLength: Uint8Array;
  /** Packets, bytes and drops since the last measurement. */
  readonly #now: Float64Array;
  /** Packets and bytes by part of the minute. */
  readonly #parts: Float64Array;
  readonly #partOf: Int32Array;
  readonly #key = new Uint32Array(KEY);
  /** Switches that report each for itself, and how many packets since the last measurement. */
  readonly #posts: Uint32Array;
  readonly #postPackets: Uint32Array;
  readonly #order: ((switches: readonly number[], source: string) => readonly number[]) | null;
  #newestMs = Number.NEGATIVE_INFINITY;
  #measuredMs = Number.NaN;
  /** Packets with reports since the last measurement. */
  #packets = 0;
  #lost = 0;

  /** @throws RangeError for an option out of range */
  constructor({ flows = 16_384, sampling = 1, topology }: TrafficMeterOptions = {}) {
    if (!(Number.isInteger(flows) && flows >= 16 && flows <= 1 << 22)) {
      throw new RangeError(`flows must be a whole number from 16 to 2^22, not ${flows}`);
    }
    if (!(sampling >= 1 && sampling <= 1e6)) throw new RangeError(`sampling must be 1 to 1,000,000, not ${sampling}`);
    this.#sampling = sampling;
    // A power of two, so that a hash is a place.
    const capacity = 2 ** Math.ceil(Math.log2(flows));
    this.#capacity = capacity;
    this.#keys = new Uint32Array(capacity * KEY);
    this.#isUsed = new Uint8Array(capacity);
    this.#lastMs = new Float64Array(capacity);
    this.#path = new Uint32Array(capacity * MOST_HOPS);
    this.#pathLength = new Uint8Array(capacity);
    this.#now = new Float64Array(capacity * 3);
    this.#posts = new Uint32Array(capacity * MOST_HOPS);
    this.#postPackets = new Uint32Array(capacity * MOST_HOPS);
    this.#order = topology === undefined ? null : orderAlong(topology);
    this.#parts = new Float64Array(capacity * PARTS * 2);
    this.#partOf = new Int32Array(capacity * PARTS).fill(-1);
  }

  process(batch: TelemetryBatch): void {
    let last = -1;
    for (let row = 0; row < batch.reports; row++) {
      const flags = batch.flags[row]!;
      if (batch.code[row] === 0 && batch.frame[row] !== last) {
        last = batch.frame[row]!;
        this.#packets++;
        this.#newestMs = Math.max(this.#newestMs, timeOf(batch, last));
      }
      if (batch.code[row] !== 0 || (flags & (FLAG.FLOW | FLAG.BESIDES)) !== FLAG.FLOW) continue;
      const isDrop = (flags & FLAG.DROPPED) !== 0;
      const mode = (flags >>> FLAG.MODE_SHIFT) & FLAG.MODE_MASK;
      const isPost = mode === MODE_XD || mode === MODE_MX;
      // Of the reports of one packet that of its sink counts, or that of its drop; each, where all switches report for themselves.
      if (!isDrop && !isPost && (mode !== MODE_MD || (flags & FLAG.INTERMEDIATE) !== 0)) continue;
      const frame = batch.frame[row]!;
      const timeMs = timeOf(batch, frame);
      this.#readKey(batch, row, flags);
      const place = this.#placeOf(timeMs);
      this.#lastMs[place] = timeMs;
      if (isDrop) {
        this.#now[place * 3 + 2]!++;
        continue;
      }
      if (isPost && !this.#isNewPacket(place, batch.nodeId[row]!)) continue;
      const bytes = bytesOf(batch, row, flags, frame);
      this.#now[place * 3]!++;
      this.#now[place * 3 + 1]! += bytes;
      const part = Math.floor(timeMs / PART_MS) % PARTS;
      const number = Math.floor(timeMs / PART_MS) % 0x7fffffff;
      const at = place * PARTS + part;
      if (this.#partOf[at] !== number) {
        this.#partOf[at] = number;
        this.#parts[at * 2] = this.#parts[at * 2 + 1] = 0;
      }
      this.#parts[at * 2]!++;
      this.#parts[at * 2 + 1]! += bytes;
      if (!isPost) this.#readPath(batch, row, place);
    }
  }

  /** Counts packets with reports that did not arrive, since the last call. */
  lost(packets: number): void {
    this.#lost += packets;
  }

  counters(): Readonly<Record<string, number>> {
    return { evicted: this.evicted };
  }

  /** What came since the last call. */
  measure(nowMs: number): Measurement {
    const seconds = Number.isNaN(this.#measuredMs) ? 1 : Math.max(0.001, (nowMs - this.#measuredMs) / 1000);
    this.#measuredMs = nowMs;
    const flows: ObservedFlow[] = [];
    const dropped: ObservedFlow[] = [];
    for (let place = 0; place < this.#capacity; place++) {
      const [packets, bytes, drops] = [this.#now[place * 3]!, this.#now[place * 3 + 1]!, this.#now[place * 3 + 2]!];
      if (packets > 0) {
        this.#placePosts(place);
        flows.push(this.#flow(place, packets * this.#sampling, bytes * this.#sampling));
      }
      if (drops > 0) dropped.push(this.#flow(place, drops, 0));
    }
    this.#now.fill(0);
    this.#postPackets.fill(0);
    const loss = this.#lost === 0 ? 0 : this.#lost / (this.#lost + this.#packets);
    this.#packets = this.#lost = 0;
    return { timeMs: nowMs, seconds, flows, dropped, ageMs: nowMs - this.#newestMs, loss };
  }

  /**
   * The flows of the last minute, for a rehearsal. Of more than 400 the 250 largest are there; of the others, such as
   * those of a flood, one of so many stands for all.
   */
  minute(nowMs: number): Minute {
    const current = Math.floor(nowMs / PART_MS) % 0x7fffffff;
    const flows: ObservedFlow[] = [];
    let oldest = current;
    for (let place = 0; place < this.#capacity; place++) {
      if (this.#isUsed[place] === 0) continue;
      let [packets, bytes] = [0, 0];
      for (let at = place * PARTS; at < (place + 1) * PARTS; at++) {
        const number = this.#partOf[at]!;
        if (number < 0 || current - number >= PARTS) continue;
        oldest = Math.min(oldest, number);
        packets += this.#parts[at * 2]!;
        bytes += this.#parts[at * 2 + 1]!;
      }
      if (packets > 0) flows.push(this.#flow(place, packets * this.#sampling, bytes * this.#sampling));
    }
    // After a start less than a minute was seen.
    const seconds = Math.max(1, ((current - oldest) * PART_MS + (nowMs % PART_MS)) / 1000);
    return { flows: representatives(flows), seconds };
  }

  #flow(place: number, packets: number, bytes: number): ObservedFlow {
    const key = this.#keys.subarray(place * KEY, (place + 1) * KEY);
    const path = [...this.#path.subarray(place * MOST_HOPS, place * MOST_HOPS + this.#pathLength[place]!)];
    return {
      ...{ source: this.#addressOf(place, 0), destination: this.#addressOf(place, 4), protocol: key[9]! & 255 },
      ...{ sourcePort: key[8]! >>> 16, destinationPort: key[8]! & 0xffff, packets, bytes, path },
    };
  }

  #readKey(batch: TelemetryBatch, row: number, flags: number): void {
    const key = this.#key;
    const isIpv6 = (flags & FLAG.IPV6) !== 0;
    key[0] = batch.source0[row]!;
    key[1] = isIpv6 ? batch.source1[row]! : 0;
    key[2] = isIpv6 ? batch.source2[row]! : 0;
    key[3] = isIpv6 ? batch.source3[row]! : 0;
    key[4] = batch.destination0[row]!;
    key[5] = isIpv6 ? batch.destination1[row]! : 0;
    key[6] = isIpv6 ? batch.destination2[row]! : 0;
    key[7] = isIpv6 ? batch.destination3[row]! : 0;
    key[8] = batch.ports[row]!;
    key[9] = batch.protocol[row]! | (isIpv6 ? 256 : 0);
  }

  /** The place of the key, found or made. */
  #placeOf(timeMs: number): number {
    const key = this.#key;
    let hash = 0x811c9dc5;
    for (let k = 0; k < KEY; k++) hash = Math.imul(hash ^ key[k]! ^ (key[k]! >>> 15), 0x01000193);
    hash ^= hash >>> 13;
    let oldest = -1;
    for (let k = 0; k < TRIES; k++) {
      const place = (hash + k) & (this.#capacity - 1);
      if (this.#isUsed[place] === 0) return this.#take(place);
      if (this.#isAt(place)) return place;
      if (oldest < 0 || this.#lastMs[place]! < this.#lastMs[oldest]!) oldest = place;
    }
    if (timeMs - this.#lastMs[oldest]! < PARTS * PART_MS) this.evicted++;
    return this.#take(oldest);
  }

  #isAt(place: number): boolean {
    for (let k = 0; k < KEY; k++) if (this.#keys[place * KEY + k] !== this.#key[k]) return false;
    return true;
  }

  #take(place: number): number {
    this.#keys.set(this.#key, place * KEY);
    this.#isUsed[place] = 1;
    this.#pathLength[place] = 0;
    this.#postPackets.fill(0, place * MOST_HOPS, (place + 1) * MOST_HOPS);
    this.#now.fill(0, place * 3, place * 3 + 3);
    this.#partOf.fill(-1, place * PARTS, (place + 1) * PARTS);
    return place;
  }

  /** Whether a packet that a switch reports for itself has not been reported by another one before. */
  #isNewPacket(place: number, node: number): boolean {
    const start = place * MOST_HOPS;
    let most = 0;
    let at = -1;
    for (let k = start; k < start + MOST_HOPS; k++) {
      const packets = this.#postPackets[k]!;
      if (packets === 0) {
        if (at < 0) at = k;
        continue;
      }
      if (this.#posts[k] === node) at = k;
      most = Math.max(most, packets);
    }
    // More switches than are remembered: they have nothing new.
    if (at < 0) return false;
    this.#posts[at] = node;
    return ++this.#postPackets[at]! > most;
  }

  /** The path of a flow whose switches have reported each for itself. */
  #placePosts(place: number): void {
    const start = place * MOST_HOPS;
    const switches: number[] = [];
    for (let k = start; k < start + MOST_HOPS; k++) {
      if (this.#postPackets[k]! > 0 && this.#posts[k] !== NOT_AVAILABLE) switches.push(this.#posts[k]!);
    }
    if (switches.length === 0) return;
    const path = this.#order?.(switches, this.#addressOf(place, 0)) ?? [];
    this.#path.set(path, start);
    this.#pathLength[place] = path.length;
  }

  #addressOf(place: number, at: number): string {
    const key = this.#keys.subarray(place * KEY, (place + 1) * KEY);
    const isIpv6 = key[9]! >= 256;
    return isIpv6 ? formatIpv6(key[at]!, key[at + 1]!, key[at + 2]!, key[at + 3]!) : formatIpv4(key[at]!);
  }

  /** Switches from the first to the last; an INT sink that is in the stack and reports too is one. */
  #readPath(batch: TelemetryBatch, row: number, place: number): void {
    const start = batch.hopStart[row]!;
    const at = place * MOST_HOPS;
    let length = 0;
    let last = NOT_AVAILABLE;
    for (let hop = 0; hop < batch.hopCount[row]! && length < MOST_HOPS; hop++) {
      const id = batch.hop.nodeId[start + hop]!;
      if (id === NOT_AVAILABLE || id === last) continue;
      this.#path[at + length++] = id;
      last = id;
    }
    const reporter = batch.nodeId[row]!;
    if (reporter !== NOT_AVAILABLE && reporter !== last && length < MOST_HOPS) this.#path[at + length++] = reporter;
    this.#pathLength[place] = length;
  }
}

const timeOf = (batch: TelemetryBatch, frame: number): number =>
  (batch.frameTimeHigh[frame]! * 4294967296 + batch.frameTimeLow[frame]!) / 1e6;

/** The largest flows, and one in so many of the others with the packets and bytes of all. */
function representatives(flows: ObservedFlow[]): readonly ObservedFlow[] {
  if (flows.length <= MOST_REHEARSED) return flows;
  const sorted = flows.sort((a, b) => b.bytes - a.bytes);
  const rest = sorted.slice(LARGEST);
  const oneIn = Math.ceil(rest.length / (MOST_REHEARSED - LARGEST));
  const chosen = rest.filter((_, index) => index % oneIn === 0);
  const scale = rest.length / chosen.length;
  return [
    ...sorted.slice(0, LARGEST),
    ...chosen.map((flow) => ({ ...flow, packets: flow.packets * scale, bytes: flow.bytes * scale })),
  ];
}

/** Headers of a packet without payload, of which a report has no Ethernet header. */
const BARE_BYTES = 54;

/** Bytes of a packet from its Ethernet header on, without INT. */
function bytesOf(batch: TelemetryBatch, row: number, flags: number, frame: number): number {
  const ethernet = batch.ethernet[row]!;
  if (ethernet === NOT_AVAILABLE) return BARE_BYTES;
  const at = ethernet + ETHERNET_BYTES;
  if (at + 6 > batch.frameOffset[frame]! + batch.frameLength[frame]!) return BARE_BYTES;
  const { bytes } = batch;
  const version = bytes[at]! >>> 4;
  const length =
    version === 4
      ? (bytes[at + 2]! << 8) | bytes[at + 3]!
      : version === 6
        ? 40 + ((bytes[at + 4]! << 8) | bytes[at + 5]!)
        : 0;
  const mode = (flags >>> FLAG.MODE_SHIFT) & FLAG.MODE_MASK;
  if (mode === MODE_XD || mode === MODE_MX)
    return Math.max(0, ETHERNET_BYTES + length - (mode === MODE_MX ? INT_BYTES : 0));
  const embedded = batch.hopCount[row]! - ((flags & FLAG.OWN) === 0 ? 0 : 1);
  const isIntmon = ((flags >>> FLAG.INT_VERSION_SHIFT) & FLAG.INT_VERSION_MASK) === INTMON;
  const own = (isIntmon ? INTMON_BYTES : INT_BYTES) + 4 * embedded * bitsOf(batch.instructions[row]! >>> 16);
  return Math.max(0, ETHERNET_BYTES + length - own);
}

function bitsOf(bitmap: number): number {
  let bits = 0;
  for (let rest = bitmap; rest !== 0; rest &= rest - 1) bits++;
  return bits;
}
