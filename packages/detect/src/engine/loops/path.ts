/** Path change: the sequence of switch ids differs from the flow's previous one. */

import { FLAG } from '@int/codec';
import { REPORT_COLUMN } from '@int/codec/internals';
import type { RunningRule } from '../running-rule.js';
import { closeEvents, type LoopContext } from './context.js';

const SEED_A = 0x2545f491;
const SEED_B = 0x9e3779b9 | 0;

/**
 * Mixes an id into a 32-bit hash, as MurmurHash3 does; the two hashes of a path use different multipliers. The id is
 * multiplied before and after its rotation. With one multiplication, ids that differ in a high bit could cancel the
 * difference of those behind them, in both hashes at once.
 */
function mix(hash: number, id: number, before: number, after: number): number {
  let key = Math.imul(id, before);
  key = Math.imul((key << 15) | (key >>> 17), after);
  const mixed = hash ^ key;
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0x561ccd1b) | 0;
}

/**
 * pathChange: the path differs from the flow's previous one. The path is the ids that hops give, then the reporting
 * node unless it is the last of them. A cell: number of ids plus 1, and two 32-bit hashes of the sequence. Two paths of
 * equal length count as one with a probability of 2^-64.
 */
export function pathChange(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const { view, words, events } = context;
  const { hops, report, reportStride, hopCount, cells } = view;
  const starts = (REPORT_COLUMN.HOP_START * reportStride) | 0;
  const nodes = (REPORT_COLUMN.NODE * reportStride) | 0;
  const flags = (REPORT_COLUMN.FLAGS * reportStride) | 0;
  const OWN = FLAG.OWN | 0;
  const state = rule.state | 0;
  const stop = to | 0;
  let count = context.count | 0;
  let withoutFlow = 0;
  for (let row = from | 0; row < stop; row = (row + 1) | 0) {
    const flow = cells[row]!;
    if (flow < 0) {
      withoutFlow++;
      continue;
    }
    const first = report[(starts + row) | 0]!;
    // The reporting node counts once.
    const end = (first + hopCount[row]! - ((report[(flags + row) | 0]! & OWN) === 0 ? 0 : 1)) | 0;
    let a = SEED_A;
    let b = SEED_B;
    let length = 0;
    let last = -1;
    for (let at = first | 0; at < end; at = (at + 1) | 0) {
      const id = hops[at]!;
      if (id === -1) continue;
      a = mix(a, id, 0x239b961b, 0xab0e9789);
      b = mix(b, id, 0x38b34ae5, 0xa1e38b93);
      last = id;
      length = (length + 1) | 0;
    }
    const own = report[(nodes + row) | 0]!;
    if (own !== -1 && own !== last) {
      a = mix(a, own, 0x239b961b, 0xab0e9789);
      b = mix(b, own, 0x38b34ae5, 0xa1e38b93);
      length = (length + 1) | 0;
    }
    if (length === 0) continue;
    const cell = (state + Math.imul(flow, 3)) | 0;
    const known = words[cell]!;
    const now = (length + 1) | 0;
    if (known !== 0 && (known !== now || words[(cell + 1) | 0] !== a || words[(cell + 2) | 0] !== b)) {
      events[count] = row;
      count = (count + 1) | 0;
    }
    words[cell] = now;
    words[(cell + 1) | 0] = a;
    words[(cell + 2) | 0] = b;
  }
  context.withoutFlow += withoutFlow;
  closeEvents(context, rule, count);
}
