import { Monitor, type SessionReport, wattsStrogatz } from '@int/gpint';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import {
  accountedFor,
  connectedWithout,
  type Scenario,
  SECOND,
  scenarios,
  someEntries,
} from '../../monitor/scenario.js';
import { type Simulated, simulate } from '../../monitor/simulated.js';
import { randomWalks } from '../../monitor/walks.js';
import { SEED } from '../../seed.js';
import { AdaptiveTimeouts } from '../recovery/adaptive-timeouts.js';

const LINK = { delayNs: 50_000, rateBps: 1e9 };

/** The scenario on switches that work on bytes, with queues and finite links. */
function build(scenario: Scenario, entries?: readonly number[], monitorLoss = 0): Simulated & { dead: Set<number> } {
  const graph = wattsStrogatz(
    scenario.nodes,
    2 * Math.min(2, Math.floor((scenario.nodes - 1) / 2)),
    0.2,
    scenario.seed,
  );
  const timeoutNs = scenario.config.timeoutNs ?? 1_500_000_000;
  const jitter = { jitterNs: scenario.jitterNs, duplication: scenario.duplication };
  const simulated = simulate(
    graph,
    {
      seed: scenario.seed,
      // Loses feedback too.
      link: { ...LINK, loss: scenario.loss },
      switchNode: { rate: 20_000, queuePackets: 1000 },
      gpint: { timeoutNs },
      monitor: { ...(entries === undefined ? {} : { entries }), link: { ...LINK, loss: monitorLoss, bToA: jitter } },
      ties: 'random',
    },
    { plan: randomWalks(graph, scenario.longest, scenario.seed), config: scenario.config, seed: scenario.seed },
  );
  const { network, switchNodes, links } = simulated.built;
  const dead = new Set<number>();
  const failed = new Set<number>();
  for (const { kind, which, atNs } of scenario.faults) {
    if (kind === 'switch') {
      dead.add(which % graph.nodeCount);
      network.at(atNs, () => switchNodes[which % graph.nodeCount]!.fail());
      continue;
    }
    const link = which % graph.linkCount;
    if (!connectedWithout(graph, new Set([...failed, link]))) continue;
    failed.add(link);
    network.at(atNs, () => links[link]!.fail());
  }
  return { ...simulated, dead };
}

function collectRounds({ built, monitor }: Simulated, rounds: number): SessionReport[] {
  const reports: SessionReport[] = [];
  monitor.every(SECOND, (report) => reports.push(report), { rounds });
  built.network.runWhile(() => reports.length < rounds);
  return reports;
}

function expectAccounts(report: SessionReport, { built, monitor }: Simulated, dead: ReadonlySet<number>): void {
  const lost = new Set(report.uncollected.map(({ node }) => node));
  expect(report.endedNs - report.startedNs).toBeLessThanOrEqual(monitor.boundNs);
  expect(report.complete).toBe(lost.size === 0);
  expect(accountedFor(report)).toBe(true);
  for (const node of built.switches.keys()) expect(report.telemetry.has(node)).toBe(!lost.has(node));
  if (built.entries.length < built.switches.length) return;
  for (const node of lost) expect(dead.has(node)).toBe(true);
}

describe('a monitor on simulated switches', () => {
  it('collects every switch that works over links of its own, and ends by its bound', () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        fc.pre(scenario.jitterNs < (scenario.config.timeoutNs ?? 0));
        const run = build(scenario);
        for (const report of collectRounds(run, 2)) expectAccounts(report, run, run.dead);
      }),
      { seed: SEED, numRuns: runs(300) },
    );
  });

  it('ends by its bound and names what it lacks if it is attached to a few switches, over links that lose', () => {
    fc.assert(
      fc.property(scenarios, fc.constantFrom(0, 0.2), (scenario, monitorLoss) => {
        const run = build(scenario, [...new Set(someEntries(scenario))], monitorLoss);
        for (const report of collectRounds(run, 2)) expectAccounts(report, run, run.dead);
      }),
      { seed: SEED, numRuns: runs(240) },
    );
  });

  it('starts again where its predecessor stopped, in the middle of a session', () => {
    fc.assert(
      fc.property(scenarios, fc.integer({ min: 1, max: 3 * SECOND }), (scenario, restartNs) => {
        fc.pre(scenario.jitterNs < (scenario.config.timeoutNs ?? 0));
        const run = build(scenario);
        void run.monitor.collect();
        run.built.network.run(restartNs);
        const { network } = run.built;
        const successor = new Monitor({
          graph: run.monitor.graph,
          plan: randomWalks(run.monitor.graph, scenario.longest, scenario.seed),
          transport: { send: (entry, payload) => run.built.monitor.send(entry, payload) },
          clock: {
            nowNs: () => network.nowNs,
            at: (timeNs, callback) => {
              const timer = network.at(timeNs, callback);
              return () => timer.cancel();
            },
          },
          config: scenario.config,
          seed: 'successor',
        });
        run.built.monitor.onPayload = (payload, dscp) => successor.receive(payload, dscp);
        const [report] = collectRounds({ built: run.built, monitor: successor }, 1);
        expectAccounts(report!, { built: run.built, monitor: successor }, run.dead);
      }),
      { seed: SEED, numRuns: runs(160) },
    );
  });
});

describe('switches with adaptive timeouts', () => {
  it('notice a failed link soon, and call no healthy one failed', () => {
    const graph = wattsStrogatz(20, 4, 0.1, SEED);
    const timeoutNs = 1_500_000_000;
    const timers = Array.from(
      { length: 20 },
      (_, node) => new AdaptiveTimeouts(graph.degree(node) + 1, { minNs: 1_000_000, maxNs: timeoutNs }, timeoutNs),
    );
    const run = simulate(
      graph,
      {
        seed: SEED,
        link: { delayNs: 2_000_000, rateBps: 1e8, jitterNs: 1_000_000 },
        gpint: (node) => ({
          timeoutNs: (port) => timers[node]!.timeoutNs(port),
          onFeedback: (port, rttNs) => timers[node]!.sample(port, rttNs),
        }),
      },
      {
        plan: randomWalks(graph, 6, SEED),
        config: { timeoutNs, resolutionNs: 5_000_000, adaptive: { minNs: 1_000_000, maxNs: timeoutNs } },
      },
    );
    // Feedback that takes longer than ever before looks lost for a moment, until the probe is seen further on.
    for (const report of collectRounds(run, 30)) {
      expect(report.complete).toBe(true);
      expect(report.links.filter(({ status }) => status === 'unavailable')).toEqual([]);
    }
    const path = run.monitor.probes.find(({ switches }) => switches.length > 2)!.switches;
    const [a, b] = [path[1]!, path[2]!];
    run.built.linkBetween(a, b)!.fail();
    const [report] = collectRounds(run, 1);
    expect(report!.complete).toBe(true);
    const failed = report!.links.filter(({ status }) => status === 'unavailable');
    expect(failed).toEqual([{ from: a, to: b, status: 'unavailable', notices: 1 }]);
    // The round trip is 4 to 6 ms; the fixed timeout would have taken 1.5 s.
    expect(report!.elapsedNs).toBeLessThan(100_000_000);
  });
});
