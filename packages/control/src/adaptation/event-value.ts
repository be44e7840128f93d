import { NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import type { DetectIntent } from '../intents/intent.js';

const MOST = 0xffff_ffff;
/** Values before, by switch or flow; those that share a cell share its value, as in the switch. */
const CELLS = 4096;

/** The value that a rule's detector compares with its threshold: the arithmetic of p4/README.md, from the reports alone. */
export class EventValue {
  readonly #rule: Pick<DetectIntent, 'metric' | 'algorithm' | 'scope'>;
  /** Values that were events last. */
  readonly #before: Uint32Array | null;

  constructor(rule: Pick<DetectIntent, 'metric' | 'algorithm' | 'scope'>) {
    this.#rule = rule;
    this.#before = rule.algorithm === 'threshold' ? null : new Uint32Array(CELLS);
  }

  /**
   * @param isEvent the switch has taken it for one
   * @param threshold of the switch
   * @returns -1: no hop has the metric
   */
  of(batch: TelemetryBatch, row: number, isEvent: boolean, threshold: number): number {
    const { metric, algorithm, scope } = this.#rule;
    const values = batch.hop[metric];
    const first = batch.hopStart[row]!;
    let [largest, sum] = [-1, 0];
    for (let hop = first; hop < first + batch.hopCount[row]!; hop++) {
      let value = values[hop]!;
      if (value === NOT_AVAILABLE) continue;
      sum = Math.min(MOST, sum + value);
      if (algorithm === 'perHop') {
        const node = batch.hop.nodeId[hop]!;
        if (node === NOT_AVAILABLE) continue;
        value = this.#difference(node, value, isEvent, threshold);
      }
      largest = Math.max(largest, value);
    }
    if (largest < 0 || algorithm === 'perHop') return largest;
    if (algorithm === 'perFlow') return this.#difference(flowHash(batch, row), sum, isEvent, threshold);
    return scope === 'hop' ? largest : sum;
  }

  #difference(key: number, value: number, isEvent: boolean, threshold: number): number {
    const before = this.#before!;
    const cell = key & (CELLS - 1);
    const difference = Math.abs(value - before[cell]!);
    if (isEvent && difference > threshold) before[cell] = value;
    return difference;
  }
}

function flowHash(batch: TelemetryBatch, row: number): number {
  let hash = batch.protocol[row]!;
  for (const word of [batch.source0[row]!, batch.destination0[row]!, batch.ports[row]!]) {
    hash = Math.imul(hash ^ word ^ (word >>> 15), 0x0100_0193);
  }
  return hash ^ (hash >>> 13);
}
