/** Path change: the sequence of switch ids differs from the flow's previous one. */
import { FLAG } from '@int/codec';
import { REPORT } from '../batch-view.js';
import type { RunningRule } from '../running-rule.js';
import { type LoopContext, writeEvent } from './context.js';

const SEED_A = 0x2545f491;
const SEED_B = 0x9e3779b9 | 0;

/**
 * Mixes an id into a 32-bit hash, as MurmurHash3 does; the two hashes of a path use different multipliers. The id is
 * multiplied before and after it is turned: with one multiplication, ids that differ in a high bit could cancel the
 * difference of those behind them, in both hashes at once.
 */
function mix(hash: number, id: number, before: number, after: number): number {
  let key = Math.imul(id, before);
  key = Math.imul((key << 15) | (key >>> 17), after);
  const mixed = hash ^ key;
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0x561ccd1b) | 0;
}

/**
 * A cell: number of ids plus 1, and two 32-bit hashes of the sequence. Two paths of equal length are taken for one
 * with a probability of 2^-64. The path is the ids that hops give; then the reporting node, unless it is the last of
 * them.
 */
export function pathChange(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const { view, words, events, eventStride } = context;
  const { hops, report, reportStride, hopCount, cells } = view;
  const starts = REPORT.HOP_START * reportStride;
  const nodes = REPORT.NODE * reportStride;
  const flags = REPORT.FLAGS * reportStride;
  const { state } = rule;
  let count = context.count;
  const before = count;
  for (let row = from; row < to; row++) {
    const flow = cells[row]!;
    if (flow < 0) {
      context.withoutFlow++;
      continue;
    }
    const first = report[starts + row]!;
    // The reporting node is looked at by itself, so that it counts once.
    const end = first + hopCount[row]! - ((report[flags + row]! & FLAG.OWN) === 0 ? 0 : 1);
    let a = SEED_A;
    let b = SEED_B;
    let length = 0;
    let last = -1;
    for (let at = first; at < end; at++) {
      const id = hops[at]!;
      if (id === -1) continue;
      a = mix(a, id, 0x239b961b, 0xab0e9789);
      b = mix(b, id, 0x38b34ae5, 0xa1e38b93);
      last = id;
      length++;
    }
    const own = report[nodes + row]!;
    if (own !== -1 && own !== last) {
      a = mix(a, own, 0x239b961b, 0xab0e9789);
      b = mix(b, own, 0x38b34ae5, 0xa1e38b93);
      length++;
    }
    if (length === 0) continue;
    const cell = state + 3 * flow;
    const known = words[cell]!;
    if (known !== 0 && (known !== length + 1 || words[cell + 1] !== a || words[cell + 2] !== b)) {
      writeEvent(events, eventStride, count++, row, rule, 0, -1, 0, 0, 0);
    }
    words[cell] = length + 1;
    words[cell + 1] = a;
    words[cell + 2] = b;
  }
  context.survivors += count - before;
  context.count = count;
}
