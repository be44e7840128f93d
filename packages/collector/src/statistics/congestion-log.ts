import { FLAG, type Flow, formatIpv4, formatIpv6, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import { REPORT_WORD_COLUMNS } from '@int/codec/internals';
import { integer } from '../delivery/option-checks.js';

/** Words kept for each flow: protocol, ports, version, source (4), destination (4). */
const FLOW_WORDS = 11;
/** Nodes kept per path. Paths that differ only beyond them are still distinct. */
const PATH_NODES = 16;
/** How long a path that came more than once keeps its place. */
const KEPT_MS = 60_000;
const ADDRESSES = /* @__PURE__ */ REPORT_WORD_COLUMNS.indexOf('source0');

/** A congested queue: its path, its position and the last flow. */
export interface CongestedPath {
  /** When it was seen last: milliseconds since the epoch. */
  readonly timeMs: number;
  /** Node ids in path order, the first 16 of a longer path; `null` where a hop did not name itself. */
  readonly path: readonly (number | null)[];
  /** Position of the queue on the path, from 0; may lie beyond the ids that are kept. */
  readonly hop: number;
  readonly nodeId: number | null;
  /** Queue occupancy as last reported, in the device's unit; `null` if the report flags the queue but gives no depth. */
  readonly depth: number | null;
  /** The deepest that was seen. */
  readonly peak: number | null;
  /** Reports of this path and hop since it entered the log. */
  readonly reports: number;
  /** The last flow; `null` if it is not known. */
  readonly flow: Flow | null;
}

/**
 * The most recent congested paths: one entry per path and hop, at most `capacity`. A new entry replaces the least recently seen
 * of those that came once or not within a minute; if there is none, the least recently seen. So forged paths, which come once,
 * replace each other. Fixed memory, nothing allocated until {@link entries} is called.
 */
export class CongestionLog {
  readonly capacity: number;
  readonly #hash: Uint32Array;
  readonly #time: Float64Array;
  readonly #order: Float64Array;
  readonly #hop: Uint8Array;
  readonly #nodes: Uint32Array;
  readonly #depth: Uint32Array;
  readonly #peak: Uint32Array;
  readonly #reports: Float64Array;
  readonly #pathCount: Uint8Array;
  readonly #paths: Uint32Array;
  readonly #flows: Uint32Array;
  #size = 0;
  #clock = 0;

  /** @throws RangeError unless the capacity is an integer from 1 to 255 */
  constructor(capacity: number) {
    this.capacity = integer('congestedPaths', capacity, 1, 255);
    this.#hash = new Uint32Array(capacity);
    this.#time = new Float64Array(capacity);
    this.#order = new Float64Array(capacity);
    this.#hop = new Uint8Array(capacity);
    this.#nodes = new Uint32Array(capacity);
    this.#depth = new Uint32Array(capacity);
    this.#peak = new Uint32Array(capacity);
    this.#reports = new Float64Array(capacity);
    this.#pathCount = new Uint8Array(capacity);
    this.#paths = new Uint32Array(capacity * PATH_NODES);
    this.#flows = new Uint32Array(capacity * FLOW_WORDS);
  }

  /**
   * Takes note of a report.
   * @param row the report in `batch`
   * @param hopRow which of its hop rows is congested, from 0
   * @param depth queue occupancy, or all ones if not known
   */
  add(batch: TelemetryBatch, row: number, hopRow: number, depth: number, timeMs: number): void {
    const start = batch.hopStart[row]!;
    let end = start + batch.hopCount[row]!;
    const nodes = batch.hop.nodeId;
    let hop = hopRow;
    if (end - start > 1 && (batch.flags[row]! & FLAG.OWN) !== 0 && nodes[end - 1] === nodes[end - 2]) {
      // The reporting node is also the last hop of the stack: one node of the path, not two.
      end--;
      hop = Math.min(hop, end - start - 1);
    }
    let hash = hop + 1;
    for (let index = start; index < end; index++) {
      hash = Math.imul(hash ^ nodes[index]!, 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    hash >>>= 0;
    let entry = 0;
    while (entry < this.#size && !(this.#hash[entry] === hash && this.#hop[entry] === hop)) entry++;
    if (entry === this.#size) entry = this.#enter(batch, start, end, hop, hash, timeMs);
    this.#time[entry] = timeMs;
    this.#order[entry] = ++this.#clock;
    this.#depth[entry] = depth;
    const peak = this.#peak[entry]!;
    if (depth !== NOT_AVAILABLE && (peak === NOT_AVAILABLE || depth > peak)) this.#peak[entry] = depth;
    this.#reports[entry]!++;
    this.#keepFlow(batch, row, entry * FLOW_WORDS);
  }

  /** The entries, most recent first. Allocates. */
  entries(): CongestedPath[] {
    const order = Array.from({ length: this.#size }, (_, entry) => entry);
    order.sort((a, b) => this.#order[b]! - this.#order[a]!);
    return order.map((entry) => this.#read(entry));
  }

  #enter(batch: TelemetryBatch, start: number, end: number, hop: number, hash: number, timeMs: number): number {
    let entry = this.#size;
    if (entry < this.capacity) this.#size++;
    else entry = this.#leastMissed(timeMs);
    this.#hash[entry] = hash;
    this.#hop[entry] = hop;
    this.#nodes[entry] = batch.hop.nodeId[start + hop]!;
    this.#peak[entry] = NOT_AVAILABLE;
    this.#reports[entry] = 0;
    const count = Math.min(end - start, PATH_NODES);
    this.#pathCount[entry] = count;
    this.#paths.set(batch.hop.nodeId.subarray(start, start + count), entry * PATH_NODES);
    return entry;
  }

  /** The entry that gives its place away. */
  #leastMissed(timeMs: number): number {
    let entry = 0;
    let oldest = Number.POSITIVE_INFINITY;
    for (let index = 0; index < this.capacity; index++) {
      const isFleeting = this.#reports[index]! <= 1 || Math.abs(timeMs - this.#time[index]!) > KEPT_MS;
      const order = this.#order[index]! + (isFleeting ? 0 : this.#clock);
      if (order < oldest) {
        oldest = order;
        entry = index;
      }
    }
    return entry;
  }

  #keepFlow(batch: TelemetryBatch, row: number, at: number): void {
    const flows = this.#flows;
    const flags = batch.flags[row]!;
    flows[at] = batch.protocol[row]!;
    flows[at + 1] = batch.ports[row]!;
    flows[at + 2] = (flags & FLAG.FLOW) === 0 ? 0 : (flags & FLAG.IPV6) === 0 ? 4 : 6;
    const { reportWords, reportStride } = batch;
    for (let word = 0; word < 8; word++) flows[at + 3 + word] = reportWords[(ADDRESSES + word) * reportStride + row]!;
  }

  #read(entry: number): CongestedPath {
    const known = (value: number): number | null => (value === NOT_AVAILABLE ? null : value);
    const hop = this.#hop[entry]!;
    const start = entry * PATH_NODES;
    const path = Array.from(this.#paths.subarray(start, start + this.#pathCount[entry]!), known);
    return {
      timeMs: this.#time[entry]!,
      path,
      hop,
      nodeId: known(this.#nodes[entry]!),
      depth: known(this.#depth[entry]!),
      peak: known(this.#peak[entry]!),
      reports: this.#reports[entry]!,
      flow: this.#readFlow(entry * FLOW_WORDS),
    };
  }

  #readFlow(at: number): Flow | null {
    const flow = this.#flows.subarray(at, at + FLOW_WORDS);
    const version = flow[2]!;
    if (version === 0) return null;
    const address = (from: number): string =>
      version === 4
        ? formatIpv4(flow[from]!)
        : formatIpv6(flow[from]!, flow[from + 1]!, flow[from + 2]!, flow[from + 3]!);
    return {
      source: address(3),
      destination: address(7),
      protocol: flow[0]!,
      sourcePort: flow[1]! >>> 16,
      destinationPort: flow[1]! & 0xffff,
    };
  }
}
