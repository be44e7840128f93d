import { FLAG, MODES, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';

/** Most nodes of a report: its rows, and a node that only its header names. */
const MOST_NODES = 257;
/** Up to this many nodes are compared pairwise. */
const FEW_NODES = 12;
/** More than twice the longest path. */
const SEEN_SLOTS = 1024;

const MODE_MD = MODES.indexOf('md');
const MODE_GPINT = MODES.indexOf('gpint');

/**
 * The path in a report, read from the columns of a batch. The object is reused for each report.
 *
 * The reporting node's own values come last. An INT sink may push values into the stack and also report values of its
 * own. It is still one node: its own row is folded into the last hop.
 */
export class Trace {
  /** Node ids, the first `length` of them; all ones for a hop without an id. */
  readonly nodes: Uint32Array = new Uint32Array(MOST_NODES);
  length = 0;
  /** A hash of the nodes, 32 bits. */
  hash = 0;
  /** Number of hop rows with values: one for each of the first `rows` nodes. */
  rows = 0;
  /** The row that supplies missing values of the last hop, or -1. */
  foldedRow = -1;
  /** Whether this is the packet's whole path from source to sink. */
  isPath = false;
  /** Whether the packet has left the network. The last node is then its sink. */
  isAtSink = false;
  /** Whether consecutive nodes are neighbours, except the last two if `isCut`. */
  isStack = false;
  /** Whether hops are missing before the last node. */
  isCut = false;
  /** Whether the packet is a probe, which visits the nodes that its sender chose. */
  isProbe = false;
  readonly #seen = new Uint32Array(SEEN_SLOTS);
  readonly #stamps = new Uint32Array(SEEN_SLOTS);
  #stamp = 0;

  read(batch: TelemetryBatch, report: number): void {
    const flags = batch.flags[report]!;
    const start = batch.hopStart[report]!;
    const hops = batch.hopCount[report]!;
    const ids = batch.hop.nodeId;
    const { nodes } = this;
    const reporter = batch.nodeId[report]!;
    const embedded = (flags & FLAG.OWN) === 0 ? hops : hops - 1;
    const mode = (flags >>> FLAG.MODE_SHIFT) & FLAG.MODE_MASK;
    let hash = 0x811c9dc5;
    for (let index = 0; index < hops; index++) {
      const id = ids[start + index]!;
      nodes[index] = id;
      hash = mix(hash, id);
    }
    let length = hops;
    this.rows = hops;
    this.foldedRow = -1;
    const last = embedded > 0 ? nodes[embedded - 1]! : NOT_AVAILABLE;
    if (hops > embedded && embedded > 0 && last !== NOT_AVAILABLE && nodes[embedded] === last) {
      this.foldedRow = start + embedded;
      this.rows = embedded;
      length = embedded;
      hash = this.#hashOf(length);
    } else if (hops === embedded && reporter !== NOT_AVAILABLE && reporter !== last) {
      nodes[length++] = reporter;
      hash = mix(hash, reporter);
    }
    this.length = length;
    this.hash = (hash ^ (hash >>> 15)) >>> 0;
    this.isProbe = mode === MODE_GPINT;
    this.isStack = embedded > 0 && !this.isProbe;
    this.isCut = (flags & (FLAG.HOP_EXCEEDED | FLAG.MTU_EXCEEDED)) !== 0 && length > embedded;
    this.isAtSink = mode === MODE_MD && length > 0 && (flags & (FLAG.INTERMEDIATE | FLAG.DROPPED)) === 0;
    this.isPath = this.isAtSink && (flags & (FLAG.HOP_EXCEEDED | FLAG.MTU_EXCEEDED)) === 0;
  }

  /** The position of the first node that appeared before, or -1. Hops without an id are ignored. */
  repeated(): number {
    const { nodes, length } = this;
    if (length > FEW_NODES) return this.#repeatedOfMany();
    for (let at = 1; at < length; at++) {
      const id = nodes[at]!;
      if (id === NOT_AVAILABLE) continue;
      for (let before = 0; before < at; before++) if (nodes[before] === id) return at;
    }
    return -1;
  }

  #repeatedOfMany(): number {
    const { nodes, length } = this;
    const seen = this.#seen;
    const stamps = this.#stamps;
    this.#stamp = (this.#stamp + 1) >>> 0;
    if (this.#stamp === 0) {
      stamps.fill(0);
      this.#stamp = 1;
    }
    for (let at = 0; at < length; at++) {
      const id = nodes[at]!;
      if (id === NOT_AVAILABLE) continue;
      let slot = (Math.imul(id ^ (id >>> 16), 0x9e3779b1) >>> 16) & (SEEN_SLOTS - 1);
      while (stamps[slot] === this.#stamp && seen[slot] !== id) slot = (slot + 1) & (SEEN_SLOTS - 1);
      if (stamps[slot] === this.#stamp) return at;
      stamps[slot] = this.#stamp;
      seen[slot] = id;
    }
    return -1;
  }

  /** The path as an event shows it. Allocates. */
  path(): (number | null)[] {
    return nodePath(this.nodes, 0, this.length);
  }

  #hashOf(length: number): number {
    let hash = 0x811c9dc5;
    for (let index = 0; index < length; index++) hash = mix(hash, this.nodes[index]!);
    return hash;
  }
}

/** Node ids as events show them: `null` for a hop without an id. */
export function nodePath(nodes: Uint32Array, start: number, length: number): (number | null)[] {
  const path: (number | null)[] = [];
  for (let at = start; at < start + length; at++) path.push(nodes[at] === NOT_AVAILABLE ? null : nodes[at]!);
  return path;
}

function mix(hash: number, id: number): number {
  const mixed = Math.imul(hash ^ id, 0x01000193);
  return Math.imul(mixed ^ (mixed >>> 13), 0x9e3779b1);
}
