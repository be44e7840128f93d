import { NOT_AVAILABLE } from '@int/codec';
import type { ByteReader } from '../partial/reader.js';
import type { ByteWriter } from '../partial/writer.js';

/** Gaps between packets that a flow's median is taken of: an odd number. */
const MEDIAN_GAPS = 15;
const NEVER = -1;
const MAX_GAP_US = 0xffffffff;

/**
 * Where flows are seen: at their sinks, and upstream of them. A flow that is seen upstream and not at its sink has vanished
 * in between.
 *
 * A flow is missing since the first sighting upstream that no sighting at the sink has followed. It is a black hole when
 * that is as long ago as the limit, and when the sightings upstream since then cover at least half of the limit: a flow that
 * has come to its end is seen nowhere, and one report of its last packets that was lost must not look like a hole.
 */
export class Sightings {
  readonly #leastUs: number;
  readonly #gapFactor: number;
  /** All ones: not known. */
  readonly #sink: Uint32Array;
  readonly #watched: Uint8Array;
  readonly #atSink: Float64Array;
  readonly #missingSince: Float64Array;
  readonly #upstream: Float64Array;
  readonly #seenBy: Uint32Array;
  /** Since when there is a hole that was told of. */
  readonly #hole: Float64Array;
  readonly #gaps: Uint32Array;
  /** Gaps ever noted, modulo {@link MEDIAN_GAPS} once there are as many. */
  readonly #gapCount: Uint8Array;
  readonly #sorted = new Uint32Array(MEDIAN_GAPS);

  /**
   * @param leastUs the shortest limit
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

  /** @param sink all ones if it is not known yet */
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

  /** The flow's sink; all ones if it is not known. */
  sink(row: number): number {
    return this.#sink[row]!;
  }

  /** When the flow was at its sink last; -1: never. */
  lastAtSink(row: number): number {
    return this.#atSink[row]!;
  }

  /** Who has seen the flow last upstream. */
  seenBy(row: number): number {
    return this.#seenBy[row]!;
  }

  /** Since when there is a hole; -1: there is none. */
  hole(row: number): number {
    return this.#hole[row]!;
  }

  /**
   * The flow is at its sink.
   * @param sink the node; all ones if it is not named
   * @returns since when there was a hole that is over now, or -1
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

  /** The flow is at a node that may not be its sink. */
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

  /** Whether a flow has vanished, which is told once. */
  isVanished(row: number, nowUs: number): boolean {
    const missing = this.#missingSince[row]!;
    if (missing === NEVER || this.#hole[row] !== NEVER || this.#sink[row] === NOT_AVAILABLE) return false;
    if (nowUs - missing < this.#leastUs) return false;
    const limit = Math.max(this.#leastUs, this.#gapFactor * this.median(row));
    if (nowUs - missing < limit || this.#upstream[row]! - missing < limit / 2) return false;
    this.#hole[row] = missing;
    return true;
  }

  /** The median of the flow's last gaps at its sink, in microseconds; 0 if there are none. Of an even number, the lower. */
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
    // From there on it goes around.
    this.#gapCount[row] = count + 1 === 2 * MEDIAN_GAPS ? MEDIAN_GAPS : count + 1;
  }

  write(row: number, writer: ByteWriter): void {
    writer.word(this.#sink[row]!);
    writer.signed(this.#atSink[row]!);
    writer.signed(this.#missingSince[row]!);
    writer.signed(this.#upstream[row]!);
    writer.word(this.#seenBy[row]!);
    writer.signed(this.#hole[row]!);
    const count = this.#gapCount[row]!;
    writer.number(count);
    for (let gap = 0; gap < Math.min(count, MEDIAN_GAPS); gap++) writer.number(this.#gaps[row * MEDIAN_GAPS + gap]!);
  }

  /** Into a row that was reset. */
  read(row: number, reader: ByteReader): void {
    this.#sink[row] = reader.word();
    this.#atSink[row] = reader.signed();
    this.#missingSince[row] = reader.signed();
    this.#upstream[row] = reader.signed();
    this.#seenBy[row] = reader.word();
    this.#hole[row] = reader.signed();
    const count = reader.between(0, 2 * MEDIAN_GAPS - 1, 'gaps');
    this.#gapCount[row] = count;
    for (let gap = 0; gap < Math.min(count, MEDIAN_GAPS); gap++) {
      this.#gaps[row * MEDIAN_GAPS + gap] = reader.between(0, MAX_GAP_US, 'gap');
    }
  }
}
