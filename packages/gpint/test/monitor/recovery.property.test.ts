import type { Graph, SessionReport } from '@int/gpint';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { SEED } from '../seed.js';
import { accountedFor, build, type Run, SECOND, scenarios, someEntries } from './scenario.js';

function collectRounds(run: Run, rounds: number): void {
  run.monitor.every(SECOND, (report) => run.reports.push(report), { rounds });
  run.network.run();
}

/** Switches that were dead at some time, so that nobody can say whether they had to be collected. */
function dead({ network }: Run): ReadonlySet<number> {
  return network.failedSwitches;
}

/** Nodes of which nothing was stored. */
function missing(report: SessionReport, graph: Graph): number[] {
  return Array.from(graph.names.keys()).filter((node) => !report.telemetry.has(node));
}

describe('a monitor with a loss-free link to every switch', () => {
  it('collects every switch that works, and names every other one, whatever else is lost or fails', () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        const run = build(scenario);
        // Feedback that is later than t_f makes a switch look dead; then its data may still be under way at the end.
        fc.pre(scenario.jitterNs < (scenario.config.timeoutNs ?? 0));
        collectRounds(run, 3);
        expect(run.reports).toHaveLength(3);
        for (const report of run.reports) {
          const lost = new Set(report.uncollected.map(({ node }) => node));
          expect(missing(report, run.graph)).toEqual([...lost]);
          expect([...lost].filter((node) => !dead(run).has(node))).toEqual([]);
          for (const { node, reason } of report.uncollected) {
            expect(reason).toBe('no-feedback');
            expect(report.switches).toContainEqual({ node, reason: 'no-feedback' });
          }
          expect(report.collected + report.uncollected.length).toBe(run.graph.nodeCount);
        }
      }),
      { seed: SEED, numRuns: runs(600) },
    );
  });

  it('ends every session within the stated bound, however late and often packets come', () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        const run = build(scenario);
        const { boundNs } = run.monitor;
        collectRounds(run, 2);
        expect(run.reports).toHaveLength(2);
        for (const report of run.reports) expect(report.endedNs - report.startedNs).toBeLessThanOrEqual(boundNs);
      }),
      { seed: SEED, numRuns: runs(600) },
    );
  });

  it('stores what the switches measured', () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        const run = build(scenario, {}, { measurements: (node) => ({ first: node % 4, count: node % 5 }) });
        collectRounds(run, 1);
        for (const { node, name, measurements, queueDepth } of run.reports[0]!.telemetry) {
          expect(name).toBe(run.graph.names[node]);
          expect(queueDepth).toBe(node % 7);
          expect(Array.from(measurements)).toEqual(
            Array.from({ length: node % 5 }, (_, i) => node * 100 + (node % 4) + i),
          );
        }
      }),
      { seed: SEED, numRuns: runs(200) },
    );
  });

  it('counts every packet once, and every probe as complete or failed', () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        const run = build(scenario);
        collectRounds(run, 3);
        for (const report of run.reports) {
          expect(accountedFor(report)).toBe(true);
          expect(report.sentInitial).toBe(run.monitor.probes.length);
          expect(report.counters.sent).toBe(report.sentInitial + report.sentRecovery);
          expect(report.failedProbes).toBe(report.counters.sent - report.counters.home - report.counters.lateHome);
        }
        const { counters } = run.monitor;
        expect(accountedFor({ counters })).toBe(true);
        expect(counters.sent).toBe(run.events.filter(({ kind }) => kind === 'sent').length);
        expect(counters.unknown + counters.foreign + counters.malformed).toBe(0);
      }),
      { seed: SEED, numRuns: runs(400) },
    );
  });

  it('never has more probes in flight than it may', () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        const run = build(scenario);
        collectRounds(run, 1);
        let inFlight = 0;
        for (const event of run.events) {
          if (event.kind === 'sent' && !event.recovery) inFlight++;
          if (event.kind === 'done') inFlight--;
          expect(inFlight).toBeLessThanOrEqual(scenario.config.maxInFlight ?? 12);
        }
        expect(inFlight).toBe(0);
      }),
      { seed: SEED, numRuns: runs(200) },
    );
  });

  it('names the failed links between working switches exactly where nothing else is lost', () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        const faults = scenario.faults.filter(({ kind }) => kind === 'link').map((each) => ({ ...each, atNs: 0 }));
        const run = build({ ...scenario, loss: 0, feedbackLoss: 0, jitterNs: 0, faults });
        collectRounds(run, 1);
        const [report] = run.reports;
        expect(report!.complete).toBe(true);
        const walked = new Set<string>();
        for (const path of run.paths.named(run.graph)) {
          for (const [i, name] of path.entries()) {
            if (i > 0) walked.add([path[i - 1], name].sort().join(' '));
          }
        }
        const failed = run.network.failedLinkNames().filter((link) => walked.has(link));
        const named = report!.links.map(({ from, to }) =>
          [run.graph.names[from], run.graph.names[to]].sort().join(' '),
        );
        expect(named.sort()).toEqual(failed.sort());
        for (const { status } of report!.links) expect(status).toBe('unavailable');
      }),
      { seed: SEED, numRuns: runs(300) },
    );
  });
});

describe('a monitor that is attached to a few switches', () => {
  it('ends every session within the stated bound and names each switch that it did not collect', () => {
    fc.assert(
      fc.property(scenarios, fc.constantFrom(0, 0.2), (scenario, monitorLoss) => {
        const entries = someEntries(scenario);
        const run = build(scenario, { entries, monitorLoss }, { entries });
        const { boundNs } = run.monitor;
        collectRounds(run, 2);
        expect(run.reports).toHaveLength(2);
        for (const report of run.reports) {
          expect(report.endedNs - report.startedNs).toBeLessThanOrEqual(boundNs);
          const lost = new Set(report.uncollected.map(({ node }) => node));
          expect(missing(report, run.graph)).toEqual([...lost]);
          expect(accountedFor(report)).toBe(true);
        }
      }),
      { seed: SEED, numRuns: runs(400) },
    );
  });

  it('collects all switches around failed links, if nothing else is lost', () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        const entries = someEntries(scenario);
        const faults = scenario.faults.filter(({ kind }) => kind === 'link').map((each) => ({ ...each, atNs: 0 }));
        const config = { ...scenario.config, maxAttempts: 10 };
        const run = build(
          { ...scenario, loss: 0, feedbackLoss: 0, jitterNs: 0, faults, config },
          // The way home does not know of the failed links, so only those off it may fail here.
          { entries, homeAvoidsFailures: true },
          { entries },
        );
        collectRounds(run, 1);
        expect(run.reports[0]!.uncollected).toEqual([]);
      }),
      { seed: SEED, numRuns: runs(300) },
    );
  });
});

describe('a monitor without recovery', () => {
  it('sends every probe once and names the switches of the lost ones', () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        const config = { ...scenario.config, recover: false };
        const run = build({ ...scenario, config }, { recover: false });
        const { boundNs } = run.monitor;
        collectRounds(run, 2);
        for (const report of run.reports) {
          expect(report.sentRecovery).toBe(0);
          expect(report.endedNs - report.startedNs).toBeLessThanOrEqual(boundNs);
          expect(report.failedProbes).toBe(report.abandoned);
          for (const { reason } of report.uncollected) expect(reason).toBe('lost');
          expect(report.complete).toBe(report.uncollected.length === 0);
        }
      }),
      { seed: SEED, numRuns: runs(300) },
    );
  });
});

describe('a monitor that is restarted in the middle of a session', () => {
  it('takes nothing of what its predecessor sent for its own, and collects everything', () => {
    fc.assert(
      fc.property(scenarios, fc.integer({ min: 1, max: 3 * SECOND }), (scenario, restartNs) => {
        fc.pre(scenario.jitterNs < (scenario.config.timeoutNs ?? 0));
        const run = build(scenario);
        run.monitor.collect();
        run.network.run(restartNs);
        const successor = build(
          scenario,
          {},
          { seed: 'another', clock: run.network.clock, transport: run.network.transport },
        );
        run.network.receive = (payload, dscp) => successor.monitor.receive(payload, dscp);
        successor.monitor.collect((report) => successor.reports.push(report));
        run.network.run();
        const [report] = successor.reports;
        expect(accountedFor(report!)).toBe(true);
        for (const { node } of report!.uncollected) expect(dead(run).has(node)).toBe(true);
      }),
      { seed: SEED, numRuns: runs(300) },
    );
  });
});
