import { randomInt } from 'node:crypto';
import { NOT_AVAILABLE } from '@int/codec';
import { BINS, binOf } from './bins.js';
import { CELL } from './geometry.js';

/** A sum fills a cache line: what belongs to it is read and written together. */
export const SHIFT = 4;
/** A word of a sum, and of an open cell, beside those of {@link CELL}: which groups of bins of its histogram are in use. */
export const GROUPS = 9;
/** Bins of a group. */
export const GROUP_BITS = 4;
/** The key of a sum takes words that are none of it: a sum has no epoch, quantiles, drops, events and stamp. */
const NODE = CELL.EPOCH;
const QUEUE = CELL.QUANTILES;
const EGRESS = CELL.DROPS;
const NEXT = CELL.EVENTS;
const INGRESS = 8;
/** The {@link EGRESS} towards nothing known: whether there is a hop behind it. */
const UNLINKED = 0;
const LINKED = 1;

/** What the hops of a sum have in common. A port or id that is not known is {@link NOT_AVAILABLE}. */
export interface HopKey {
  nodeId: number;
  queueId: number;
  /** Whether there is a hop behind it; else the rest is of no meaning. */
  isLinked: boolean;
  egress: number;
  nextId: number;
  nextIngress: number;
}

/**
 * Adds up the hops of a bucket that are of one queue and go on to the same port: each counts once here, and at the end of the
 * bucket in its queue, its link and its switch. So a hop touches few cache lines.
 */
export class HopSums {
  readonly words: Uint32Array;
  readonly histograms: Uint32Array;
  readonly #capacity: number;
  /** Sums by the hash of their key, plus one; 0: free. */
  readonly #slots: Int32Array;
  readonly #mask: number;
  readonly #odd0 = oddNumber();
  readonly #odd1 = oddNumber();
  readonly #odd2 = oddNumber();
  readonly #odd3 = oddNumber();
  readonly #odd4 = oddNumber();
  count = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.words = new Uint32Array(capacity << SHIFT);
    this.histograms = new Uint32Array(capacity * BINS);
    const size = 2 ** Math.ceil(Math.log2(capacity * 4));
    this.#slots = new Int32Array(size);
    this.#mask = size - 1;
  }

  get isFull(): boolean {
    return this.count === this.#capacity;
  }

  /**
   * Adds a hop. There must be room, see {@link isFull}.
   * @param next id of the switch behind it; {@link NOT_AVAILABLE} also if there is no hop behind it
   */
  add(
    node: number,
    queue: number,
    isLinked: boolean,
    egress: number,
    next: number,
    ingress: number,
    latency: number,
    occupancy: number,
    utilization: number,
  ): void {
    const words = this.words;
    const slots = this.#slots;
    if (next === NOT_AVAILABLE) {
      egress = isLinked ? LINKED : UNLINKED;
      ingress = 0;
    }
    // Multilinear over secret numbers, then mixed: nobody outside can choose keys that share slots.
    let hash =
      (Math.imul(node, this.#odd0) +
        Math.imul(queue, this.#odd1) +
        Math.imul(egress, this.#odd2) +
        Math.imul(next, this.#odd3) +
        Math.imul(ingress, this.#odd4)) |
      0;
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    let slot = (hash ^ (hash >>> 13)) & this.#mask;
    let at = -1;
    for (let found = slots[slot]!; found > 0; found = slots[slot]!) {
      const start = (found - 1) << SHIFT;
      if (
        words[start + NODE] === node &&
        words[start + QUEUE] === queue &&
        words[start + EGRESS] === egress &&
        words[start + NEXT] === next &&
        words[start + INGRESS] === ingress
      ) {
        at = start;
        break;
      }
      slot = (slot + 1) & this.#mask;
    }
    if (at < 0) {
      at = this.count << SHIFT;
      slots[slot] = ++this.count;
      words.fill(0, at, at + (1 << SHIFT));
      words[at + NODE] = node;
      words[at + QUEUE] = queue;
      words[at + EGRESS] = egress;
      words[at + NEXT] = next;
      words[at + INGRESS] = ingress;
    }
    words[at + CELL.REPORTS]!++;
    if (latency !== NOT_AVAILABLE) {
      const bin = binOf(latency);
      this.histograms[(at >>> SHIFT) * BINS + bin]!++;
      words[at + GROUPS]! |= 1 << (bin >>> GROUP_BITS);
    }
    raise(words, at, latency, occupancy, utilization);
  }

  /** Reads what the hops of a sum have in common. */
  readKey(sum: number, key: HopKey): void {
    const { words } = this;
    const at = sum << SHIFT;
    key.nodeId = words[at + NODE]!;
    key.queueId = words[at + QUEUE]!;
    key.egress = words[at + EGRESS]!;
    key.nextId = words[at + NEXT]!;
    key.nextIngress = words[at + INGRESS]!;
    key.isLinked = key.nextId !== NOT_AVAILABLE || key.egress === LINKED;
  }

  /** Begins anew. */
  clear(): void {
    const { words, histograms } = this;
    for (let sum = 0; sum < this.count; sum++) {
      for (let left = words[(sum << SHIFT) + GROUPS]!; left !== 0; left &= left - 1) {
        const first = sum * BINS + groupOf(left);
        for (let bin = first; bin < first + (1 << GROUP_BITS); bin++) histograms[bin] = 0;
      }
    }
    this.#slots.fill(0);
    this.count = 0;
  }
}

/** The first bin of the lowest group in use. @param groups not 0 */
export function groupOf(groups: number): number {
  return (31 - Math.clz32(groups & -groups)) << GROUP_BITS;
}

const oddNumber = (): number => randomInt(2 ** 32) | 1;

/** Raises the maxima of a cell to the values of a hop. A maximum is stored plus one. */
export function raise(cells: Uint32Array, at: number, latency: number, occupancy: number, utilization: number): void {
  if (latency !== NOT_AVAILABLE && latency >= cells[at + CELL.LATENCY_MAX]!) cells[at + CELL.LATENCY_MAX] = latency + 1;
  if (occupancy !== NOT_AVAILABLE && occupancy >= cells[at + CELL.OCCUPANCY]!)
    cells[at + CELL.OCCUPANCY] = occupancy + 1;
  if (utilization !== NOT_AVAILABLE && utilization >= cells[at + CELL.UTILIZATION]!)
    cells[at + CELL.UTILIZATION] = utilization + 1;
}
