import { NOT_AVAILABLE } from '@int/codec';
import type { ByteFields } from '../partial/fields.js';

/** Number of packet gaps for the median of a flow. It is odd. */
const MEDIAN_GAPS = 15;
const NEVER = -1;
const MAX_GAP_US = 0xffffffff;

/**
 * Where flows are seen: at their INT sinks, and upstream of them. A flow that is seen upstream and not at its sink has
 * vanished in between.
 *
 * A flow is missing from the first sighting upstream that no sighting at the sink has followed. It is a black hole if
 * it has been missing for the limit, and if the sightings upstream since then cover at least half of the limit. A flow
 * that has ended is seen nowhere. If one report of its last packets is lost, this must not count as a black hole.
 */
export class Sightings {
  readonly #leastUs: number;
  readonly #gapFactor: number;
  /** Node ids of the sinks; all ones if unknown. */
  readonly #sink: Uint32Array;
  readonly #watched: Uint8Array;
  readonly #atSink: Float64Array;
  readonly #missingSince: Float64Array;
  readonly #upstream: Float64Array;
  readonly #seenBy: Uint32Array;
  /** Begin of the black hole that was reported; -1 without one. */
  readonly #hole: Float64Array;
  readonly #gaps: Uint32Array;
  /** Number of gaps noted. It wraps from twice {@link MEDIAN_GAPS} to {@link MEDIAN_GAPS}. */
  readonly #gapCount: Uint8Array;
  readonly #sorted = new Uint32Array(MEDIAN_GAPS);

  /**
   * @param leastUs the shortest limit, in microseconds
   * @param gapFactor the limit in median packet gaps
   */
  constructor(flows: number, leastUs: number, gapFactor: number) {
    this.#leastUs = leastUs;
    this.#gapFactor = gapFactor;
    this.#sink = new Uint32Array(flows);
    this.#watched = new Uint8Array(flows);
    this.#atSink = new Float64Array(flows);
    this.#missingSince = new Float64Array(flows);
    this.#upstream = new Float64Array(flows);
    this.#seenBy = new Uint32Array(flows);
    this.#hole = new Float64Array(flows);
    this.#gaps = new Uint32Array(flows * MEDIAN_GAPS);
    this.#gapCount = new Uint8Array(flows);
  }

  /** @param sink node id; all ones if unknown */
  reset(row: number, isWatched: boolean, sink: number): void {
    this.#sink[row] = sink;
    this.#watched[row] = isWatched ? 1 : 0;
    this.#atSink[row] = NEVER;
    this.#missingSince[row] = NEVER;
    this.#upstream[row] = NEVER;
    this.#seenBy[row] = 0;
    this.#hole[row] = NEVER;
    this.#gapCount[row] = 0;
  }

  /** Node id of the flow's sink; all ones if unknown. */
  sink(row: number): number {
    return this.#sink[row]!;
  }

  /** Last time of the flow at its sink; -1 if never. */
  lastAtSink(row: number): number {
    return this.#atSink[row]!;
  }

  /** The node upstream that saw the flow last. */
  seenBy(row: number): number {
    return this.#seenBy[row]!;
  }

  /** Begin of the flow's black hole; -1 without one. */
  hole(row: number): number {
    return this.#hole[row]!;
  }

  /**
   * Notes a sighting at the flow's sink.
   * @param sink node id; all ones if unknown
   * @returns the begin of the black hole that this ends; -1 without one
   */
  noteSink(row: number, sink: number, timeUs: number): number {
    if (sink !== NOT_AVAILABLE) this.#sink[row] = sink;
    if (this.#watched[row] === 0) return NEVER;
    const before = this.#atSink[row]!;
    if (timeUs >= before) {
      if (before !== NEVER) this.#noteGap(row, timeUs - before);
      this.#atSink[row] = timeUs;
    }
    const missing = this.#missingSince[row]!;
    if (missing !== NEVER && timeUs >= missing) {
      const upstream = this.#upstream[row]!;
      this.#missingSince[row] = upstream > timeUs ? upstream : NEVER;
    }
    const hole = this.#hole[row]!;
    if (hole === NEVER || timeUs < hole) return NEVER;
    this.#hole[row] = NEVER;
    return hole;
  }

  /** Notes a sighting at a node that may not be the sink. */
  noteUpstream(row: number, nodeId: number, timeUs: number): void {
    if (this.#watched[row] === 0 || timeUs <= this.#atSink[row]!) return;
    const missing = this.#missingSince[row]!;
    if (missing === NEVER) {
      this.#missingSince[row] = timeUs;
      this.#upstream[row] = timeUs;
      this.#seenBy[row] = nodeId;
      return;
    }
    if (timeUs < missing) this.#missingSince[row] = timeUs;
    if (timeUs < this.#upstream[row]!) return;
    this.#upstream[row] = timeUs;
    this.#seenBy[row] = nodeId;
  }

  /** Whether the flow has vanished. It is true once for each black hole. */
  isVanished(row: number, nowUs: number): boolean {
    const missing = this.#missingSince[row]!;
    if (missing === NEVER || this.#hole[row] !== NEVER || this.#sink[row] === NOT_AVAILABLE) return false;
    if (nowUs - missing < this.#leastUs) return false;
    const limit = Math.max(this.#leastUs, this.#gapFactor * this.median(row));
    if (nowUs - missing < limit || this.#upstream[row]! - missing < limit / 2) return false;
    this.#hole[row] = missing;
    return true;
  }

  /**
   * The median of the flow's last gaps at its sink, in microseconds; of an even number the lower one; 0 without gaps.
   */
  median(row: number): number {
    const count = Math.min(this.#gapCount[row]!, MEDIAN_GAPS);
    if (count === 0) return 0;
    const sorted = this.#sorted.subarray(0, count);
    sorted.set(this.#gaps.subarray(row * MEDIAN_GAPS, row * MEDIAN_GAPS + count));
    sorted.sort();
    return sorted[(count - 1) >>> 1]!;
  }

  #noteGap(row: number, gapUs: number): void {
    const count = this.#gapCount[row]!;
    this.#gaps[row * MEDIAN_GAPS + (count % MEDIAN_GAPS)] = Math.min(gapUs, MAX_GAP_US);
    // A count of at least `MEDIAN_GAPS` says that all gaps are filled.
    this.#gapCount[row] = count + 1 === 2 * MEDIAN_GAPS ? MEDIAN_GAPS : count + 1;
  }

  /** Writes a row, or reads into one that was reset. */
  pass(row: number, fields: ByteFields): void {
    this.#sink[row] = fields.word(this.#sink[row]!);
    this.#atSink[row] = fields.signed(this.#atSink[row]!);
    this.#missingSince[row] = fields.signed(this.#missingSince[row]!);
    this.#upstream[row] = fields.signed(this.#upstream[row]!);
    this.#seenBy[row] = fields.word(this.#seenBy[row]!);
    this.#hole[row] = fields.signed(this.#hole[row]!);
    const count = fields.between(0, 2 * MEDIAN_GAPS - 1, 'gaps', this.#gapCount[row]!);
    this.#gapCount[row] = count;
    const start = row * MEDIAN_GAPS;
    for (let gap = start; gap < start + Math.min(count, MEDIAN_GAPS); gap++) {
      this.#gaps[gap] = fields.between(0, MAX_GAP_US, 'gap', this.#gaps[gap]!);
    }
  }
}
