/**
 * Probes per session over a Watts-Strogatz graph of 100 switches (reliable GPINT, section V-B3, figure 15: about 30 at
 * 5 % and 42 at 20 % loss from 25 paths).
 */
import { type Graph, gpint, Monitor, type Paths, wattsStrogatz } from '@int/gpint';
import { beforeAll, describe, expect, it } from 'vitest';
import { SEED } from '../seed.js';
import { ModelNetwork } from './model-network.js';
import { SECOND } from './scenario.js';

const SESSIONS = 100;

/** Mean number of probes that a session takes, with the fine-tuned parameters. */
function meanProbes(graph: Graph, paths: Paths, loss: number, feedbackLoss: number, linkDelayNs: number): number {
  const timeoutNs = 0.4 * SECOND;
  const network = new ModelNetwork({ graph, seed: SEED, extended: false, linkDelayNs, loss, feedbackLoss, timeoutNs });
  const monitor = new Monitor({
    graph,
    plan: paths,
    transport: network.transport,
    clock: network.clock,
    config: { timeoutNs, maxAttempts: 2 },
  });
  network.receive = (payload, dscp) => monitor.receive(payload, dscp);
  let probes = 0;
  let complete = 0;
  monitor.every(
    SECOND,
    (report) => {
      probes += report.sentInitial + report.sentRecovery;
      complete += report.complete ? 1 : 0;
    },
    { rounds: SESSIONS },
  );
  network.run();
  expect(complete).toBe(SESSIONS);
  return probes / SESSIONS;
}

describe.each([
  { k: 25, loss: 0.05, most: 33 },
  { k: 25, loss: 0.2, most: 55 },
  { k: 30, loss: 0.05, most: 37 },
  { k: 30, loss: 0.2, most: 57 },
])('a session of $k probes where a share of $loss of the packets is lost between switches', ({ k, loss, most }) => {
  let graph: Graph;
  let paths: Paths;
  beforeAll(() => {
    graph = wattsStrogatz(100, 4, 0.1, SEED);
    ({ paths } = gpint(graph, { paths: k, seed: SEED, budgetMs: 300 }));
  });

  it('takes one probe more for each link on which one is lost, and no other', () => {
    // Every link of a path is walked once, by the probe that gets so far.
    const links = paths.visits.length - k;
    const expected = k + links * loss;
    // Four standard errors.
    const margin = 4 * Math.sqrt((links * loss * (1 - loss)) / SESSIONS);
    expect(Math.abs(meanProbes(graph, paths, loss, 0, 1_000_000) - expected)).toBeLessThan(margin);
    // Feedback that is lost costs nothing, as long as the probe is home before t_f is over.
    expect(Math.abs(meanProbes(graph, paths, loss, loss, 1_000_000) - expected)).toBeLessThan(margin);
  });

  it('takes some more for lost feedback where a probe is on its way for about t_f or longer', () => {
    const slow = 190_000_000;
    const mean = meanProbes(graph, paths, loss, loss, slow);
    // At 5 % the difference drowns in the noise of so few sessions.
    if (loss > 0.1) expect(mean).toBeGreaterThan(meanProbes(graph, paths, loss, 0, slow));
    expect(mean).toBeGreaterThan(k);
    expect(mean).toBeLessThan(most);
  });
});
