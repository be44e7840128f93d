import { type ByteFields, wordsOf } from '../partial/fields.js';
import { nodePath, type Trace } from './trace.js';

const NEVER = -1;
/** Most nodes of a report. */
const MOST_NODES = 257;

/** The path of each flow, and its loop, if there is one. */
export class Paths {
  readonly #kept: number;
  /** The first nodes of each path, at most `#kept`. */
  readonly #nodes: Uint32Array;
  /** Number of nodes of each path, whether kept or not; 0 if the path is unknown. */
  readonly #length: Uint16Array;
  readonly #hash: Uint32Array;
  readonly #time: Float64Array;
  readonly #loopNode: Uint32Array;
  readonly #loopSince: Float64Array;
  readonly #loopLast: Float64Array;
  readonly #loopNodes: Uint32Array;
  readonly #loopLength: Uint16Array;

  /** @param kept most nodes of a path that are kept; a hash covers all nodes */
  constructor(flows: number, kept: number) {
    this.#kept = kept;
    this.#nodes = new Uint32Array(flows * kept);
    this.#length = new Uint16Array(flows);
    this.#hash = new Uint32Array(flows);
    this.#time = new Float64Array(flows);
    this.#loopNode = new Uint32Array(flows);
    this.#loopSince = new Float64Array(flows);
    this.#loopLast = new Float64Array(flows);
    this.#loopNodes = new Uint32Array(flows * kept);
    this.#loopLength = new Uint16Array(flows);
  }

  reset(row: number): void {
    this.#length[row] = 0;
    this.#hash[row] = 0;
    this.#time[row] = NEVER;
    this.#loopNode[row] = 0;
    this.#loopSince[row] = NEVER;
    this.#loopLast[row] = NEVER;
    this.#loopLength[row] = 0;
  }

  isKnown(row: number): boolean {
    return this.#length[row] !== 0;
  }

  /** Whether the flow's path equals that of the trace. */
  isSame(row: number, { nodes, length, hash }: Trace): boolean {
    if (this.#length[row] !== length || this.#hash[row] !== hash) return false;
    const start = row * this.#kept;
    const kept = Math.min(length, this.#kept);
    for (let at = 0; at < kept; at++) if (this.#nodes[start + at] !== nodes[at]) return false;
    return true;
  }

  /** Whether a path of this time is the latest. */
  isLatest(row: number, timeUs: number): boolean {
    return timeUs >= this.#time[row]!;
  }

  set(row: number, { nodes, length, hash }: Trace, timeUs: number): void {
    this.#time[row] = timeUs;
    this.#length[row] = length;
    this.#hash[row] = hash;
    const start = row * this.#kept;
    for (let at = 0; at < Math.min(length, this.#kept); at++) this.#nodes[start + at] = nodes[at]!;
  }

  touch(row: number, timeUs: number): void {
    this.#time[row] = timeUs;
  }

  /** The kept nodes of the path, as an event shows them. Allocates. */
  path(row: number): (number | null)[] {
    return nodePath(this.#nodes, row * this.#kept, Math.min(this.#length[row]!, this.#kept));
  }

  /**
   * Copies the kept nodes of the path.
   * @returns how many; 0 if no path is known
   */
  copyTo(row: number, nodes: Uint32Array, at: number): number {
    const kept = Math.min(this.#length[row]!, this.#kept);
    const start = row * this.#kept;
    for (let node = 0; node < kept; node++) nodes[at + node] = this.#nodes[start + node]!;
    return kept;
  }

  /**
   * Notes that a packet of the flow was at a node twice.
   * @returns whether this begins a loop
   */
  noteLoop(row: number, nodeId: number, { nodes, length }: Trace, timeUs: number): boolean {
    if (this.#loopSince[row] !== NEVER) {
      if (this.#loopLast[row]! < timeUs) this.#loopLast[row] = timeUs;
      return false;
    }
    this.#loopNode[row] = nodeId;
    this.#loopSince[row] = timeUs;
    this.#loopLast[row] = timeUs;
    this.#loopLength[row] = Math.min(length, this.#kept);
    for (let at = 0; at < this.#loopLength[row]!; at++) this.#loopNodes[row * this.#kept + at] = nodes[at]!;
    return true;
  }

  /** Begin of the flow's loop; -1 without a loop. */
  loopSince(row: number): number {
    return this.#loopSince[row]!;
  }

  loopLast(row: number): number {
    return this.#loopLast[row]!;
  }

  loopNode(row: number): number {
    return this.#loopNode[row]!;
  }

  /** The kept nodes of the path that showed the loop. */
  loopPath(row: number): (number | null)[] {
    return nodePath(this.#loopNodes, row * this.#kept, this.#loopLength[row]!);
  }

  endLoop(row: number): void {
    this.#loopSince[row] = NEVER;
    this.#loopLast[row] = NEVER;
    this.#loopLength[row] = 0;
  }

  /** Writes a row, or reads into one that was reset. */
  pass(row: number, fields: ByteFields): void {
    const start = row * this.#kept;
    const length = fields.between(0, MOST_NODES, 'nodes', this.#length[row]!);
    this.#length[row] = length;
    this.#hash[row] = fields.word(this.#hash[row]!);
    this.#time[row] = fields.signed(this.#time[row]!);
    wordsOf(fields, this.#nodes, start, start + Math.min(length, this.#kept));
    this.#loopSince[row] = fields.signed(this.#loopSince[row]!);
    if (this.#loopSince[row] === NEVER) return;
    this.#loopNode[row] = fields.word(this.#loopNode[row]!);
    this.#loopLast[row] = fields.signed(this.#loopLast[row]!);
    this.#loopLength[row] = fields.between(0, this.#kept, 'nodes', this.#loopLength[row]!);
    wordsOf(fields, this.#loopNodes, start, start + this.#loopLength[row]!);
  }
}
