import { metricOf } from '@int/codec';
import { REPORT_COLUMN } from '@int/codec/internals';
import type { HopMatch, IdRange } from '../rules/model.js';
import type { BatchView } from './batch-view.js';

/** An item of a hop that must be in one of the ranges. */
interface Wanted {
  readonly column: number;
  /** Column of the item's other word, or the same column. */
  readonly pair: number;
  readonly ranges: readonly IdRange[];
}

/** Which hops of a report a rule looks at. A hop that lacks what is asked for does not fit. */
export class HopFit {
  readonly #wanted: readonly Wanted[];

  constructor(wanted: readonly Wanted[]) {
    this.#wanted = wanted;
  }

  /** @param at row of the hop columns */
  fits({ hops, hopStride }: BatchView, at: number): boolean {
    const wanted = this.#wanted;
    for (let k = 0; k < wanted.length; k++) {
      const { column, pair, ranges } = wanted[k]!;
      const word = hops[column * hopStride + at]!;
      if (word === -1 && hops[pair * hopStride + at] === -1) return false;
      const value = word >>> 0;
      let isIn = false;
      for (let r = 0; r < ranges.length && !isIn; r++) isIn = value >= ranges[r]!.from && value <= ranges[r]!.to;
      if (!isIn) return false;
    }
    return true;
  }

  /** Whether a hop of a report fits. */
  hasAny(view: BatchView, row: number): boolean {
    const first = view.report[REPORT_COLUMN.HOP_START * view.reportStride + row]!;
    const end = first + view.hopCount[row]!;
    for (let at = first; at < end; at++) if (this.fits(view, at)) return true;
    return false;
  }
}

/** `null`: nothing is asked for. */
export function hopFitOf(match: HopMatch | null): HopFit | null {
  if (match === null) return null;
  const { switches, queues, egressInterfaces } = match;
  const named = [
    ['nodeId', switches],
    ['queueId', queues],
    ['l1EgressInterface', egressInterfaces],
  ] as const;
  const wanted = named.flatMap(([name, ranges]): Wanted[] => {
    if (ranges === null) return [];
    const { columnIndex, pairIndex } = metricOf(name);
    return [{ column: columnIndex, pair: pairIndex < 0 ? columnIndex : pairIndex, ranges }];
  });
  return wanted.length === 0 ? null : new HopFit(wanted);
}
