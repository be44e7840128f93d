import type { Hop } from '@int/codec';
import { type MetricName, metricOf } from '@int/codec';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LENGTH, runs } from '../../../../../.ci/test/length.js';
import { Detector } from '../../../src/engine/detector.js';
import { record, single } from '../../engine/reports.js';
import { SEED } from '../../seed.js';
import { cnfs, observations, SOME_METRICS } from '../expression/arbitraries.js';
import { concerns, evaluateCnf } from '../expression/evaluate.js';

/** Values that the item of a metric can hold, all ones excepted. */
function carriable(hop: Partial<Record<MetricName, number | null | undefined>>): Hop {
  const fitting = Object.entries(hop).map(([metric, value]) => [
    metric,
    typeof value === 'number' ? Math.min(value % 2 ** metricOf(metric).width, 0xfffffffe) : value,
  ]);
  return Object.fromEntries(fitting) as Hop;
}

describe('complex events', () => {
  it('are what the plain evaluation of the expression says, report by report, with the history of the flow', () => {
    let raised = 0;
    fc.assert(
      fc.property(cnfs(), fc.array(observations(SOME_METRICS), { minLength: 1, maxLength: 8 }), (expression, seen) => {
        const detector = new Detector(single({ kind: 'complex', expression }), { flowCells: 1, stateBytes: 4096 });
        const deltas = new Set(expression.flat().flatMap((each) => (each.aggregate === 'delta' ? each.metric! : [])));
        const previousSums = new Map<MetricName, number>();
        let count = 0;
        for (const hops of seen.map((observation) => observation.hops.map(carriable))) {
          const observation = { hops, previousSums: new Map(previousSums), count: count + 1 };
          const isEvent = concerns(expression, observation) && evaluateCnf(expression, observation);
          const events = detector.observe(record(hops));
          expect(events).toHaveLength(isEvent ? 1 : 0);
          raised += events.length;
          if (!concerns(expression, observation)) continue;
          count++;
          for (const metric of deltas) {
            const values = hops.flatMap((hop) => hop[metric] ?? []);
            if (values.length > 0)
              previousSums.set(
                metric,
                Math.min(
                  0xffffffff,
                  values.reduce((a, b) => a + b, 0),
                ),
              );
          }
        }
      }),
      { seed: SEED, numRuns: runs(2000) },
    );
    expect(raised).toBeGreaterThan(500 * LENGTH);
  });
});
