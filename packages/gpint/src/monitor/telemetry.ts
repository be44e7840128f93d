/** The measurements of one session, in a few arrays. */
import type { ProbeParts } from '@int/codec/internals';
import type { ProbeRoutes } from '../probe/route.js';
import type { SessionTelemetry, SwitchTelemetry } from './types.js';

/** Index of each node's first measurement; one entry more than nodes. */
export function measurementOffsets(count: Uint8Array): Uint32Array {
  const offsets = new Uint32Array(count.length + 1);
  for (let node = 0; node < count.length; node++) offsets[node + 1] = offsets[node]! + count[node]!;
  return offsets;
}

export class TelemetryStore implements SessionTelemetry {
  size = 0;
  readonly #names: readonly string[];
  readonly #offsets: Uint32Array;
  readonly #measurements: Uint32Array;
  readonly #depths: Uint16Array;
  readonly #times: Float64Array;
  /** Sequence number of the send whose data are stored; -1 before. */
  readonly #sequences: Int32Array;

  constructor(names: readonly string[], offsets: Uint32Array) {
    this.#names = names;
    this.#offsets = offsets;
    this.#measurements = new Uint32Array(offsets[names.length]!);
    this.#depths = new Uint16Array(names.length);
    this.#times = new Float64Array(names.length);
    this.#sequences = new Int32Array(names.length).fill(-1);
  }

  /**
   * Merges the measurements of `count` switches of a probe, from DLV header `skip` on. Data of a later send replace
   * those of an earlier one, never the reverse.
   */
  merge(
    payload: Uint8Array,
    parts: ProbeParts,
    skip: number,
    count: number,
    sequence: number,
    nowNs: number,
    routes: ProbeRoutes,
  ): void {
    const dlvBytes = routes.extended ? 6 : 4;
    let header = parts.switchOffset;
    let at = parts.measurementOffset;
    for (let hop = 0; hop < skip + count; hop++, header += dlvBytes) {
      const measured = (payload[header + dlvBytes - 2]! << 8) | payload[header + dlvBytes - 1]!;
      if (hop >= skip) {
        const node = routes.extended ? (payload[header]! << 8) | payload[header + 1]! : payload[header]!;
        if (this.#sequences[node]! <= sequence) {
          if (this.#sequences[node] === -1) this.size++;
          this.#sequences[node] = sequence;
          this.#times[node] = nowNs;
          this.#depths[node] = routes.extended
            ? (payload[header + 2]! << 8) | payload[header + 3]!
            : payload[header + 1]!;
          this.#take(payload, at, measured, node);
        }
      }
      at += 4 * measured;
    }
  }

  /** Counters that a switch does not send are 0. */
  #take(payload: Uint8Array, from: number, measured: number, node: number): void {
    const begin = this.#offsets[node]!;
    const end = this.#offsets[node + 1]!;
    let at = from;
    for (let slot = begin; slot < end; slot++, at += 4) {
      this.#measurements[slot] =
        slot - begin < measured
          ? ((payload[at]! << 24) | (payload[at + 1]! << 16) | (payload[at + 2]! << 8) | payload[at + 3]!) >>> 0
          : 0;
    }
  }

  has(node: number): boolean {
    return (this.#sequences[node] ?? -1) !== -1;
  }

  get(node: number): SwitchTelemetry | undefined {
    if (!this.has(node)) return undefined;
    return {
      node,
      name: this.#names[node]!,
      queueDepth: this.#depths[node]!,
      measurements: this.#measurements.subarray(this.#offsets[node]!, this.#offsets[node + 1]!),
      timeNs: this.#times[node]!,
    };
  }

  *[Symbol.iterator](): Iterator<SwitchTelemetry> {
    for (let node = 0; node < this.#names.length; node++) {
      const item = this.get(node);
      if (item !== undefined) yield item;
    }
  }
}
