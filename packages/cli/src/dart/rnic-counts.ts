/** What a software RNIC did, as JSON and as text. */
import type { OutcomeName, RnicCounters } from '@int/dart';
import { FIRST_REJECT, OUTCOME_NAMES } from '@int/dart/internals';
import { grouped } from '../output/numbers.js';

const ACCEPTED = OUTCOME_NAMES.slice(0, FIRST_REJECT);
const REJECTED = OUTCOME_NAMES.slice(FIRST_REJECT);

function pick(counters: RnicCounters, names: readonly OutcomeName[]): Partial<Record<OutcomeName, number>> {
  return Object.fromEntries(names.map((name) => [name, counters[name]]));
}

/** Fields of a JSON line. `accepted` and the sum of `rejected` are all packets. */
export function rnicCounts(counters: RnicCounters): object {
  const { accepted, lost, gaps, restarts } = counters;
  const operations = pick(counters, ACCEPTED);
  return { accepted, operations, rejected: pick(counters, REJECTED), lost, gaps, restarts };
}

/** Lines of a summary: why packets were rejected, and how many never came. */
export function rnicSummary(counters: RnicCounters): string[] {
  const reasons = REJECTED.filter((name) => counters[name] > 0).map((name) => `${name} ${grouped(counters[name])}`);
  return [
    `rejected: ${reasons.length === 0 ? 'none' : reasons.join(', ')}`,
    `lost on the way: ${grouped(counters.lost)} in ${grouped(counters.gaps)} gaps of sequence numbers`,
  ];
}
