import { type Graph, Monitor, Paths, type SessionReport, wattsStrogatz } from '@int/gpint';
import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventsOf, type P4Network, p4Network } from './gpint-network.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_121);
const RUNS = process.env.INT_LONG === '1' ? 300 : 8;
const SECOND = 1_000_000_000;
const TIMEOUT = 100_000_000;
/** Of a pass: a clone goes round 50 times in its t_f. */
const PASS = 2_000_000;

interface Scenario {
  readonly nodes: number;
  readonly seed: number;
  readonly loss: number;
  readonly monitorLoss: number;
  readonly isInBand: boolean;
  readonly maxAttempts: number;
  readonly faults: readonly { readonly isSwitch: boolean; readonly which: number; readonly atNs: number }[];
}

const scenarios: fc.Arbitrary<Scenario> = fc.record({
  nodes: fc.integer({ min: 4, max: 9 }),
  seed: fc.nat(),
  loss: fc.constantFrom(0, 0.05, 0.2),
  monitorLoss: fc.constantFrom(0, 0, 0.2),
  isInBand: fc.boolean(),
  maxAttempts: fc.constantFrom(2, 4),
  faults: fc.array(
    fc.record({ isSwitch: fc.constantFrom(false, false, true), which: fc.nat(), atNs: fc.nat({ max: SECOND }) }),
    { maxLength: 2 },
  ),
});

/** Walks that visit every node between them. */
function walksOf(graph: Graph, longest: number, seed: number): Paths {
  const random = new Random(seed);
  const open = new Set(random.shuffle(Array.from({ length: graph.nodeCount }, (_, node) => node)));
  const paths: number[][] = [];
  for (const start of open) {
    const path = [start];
    open.delete(start);
    for (let node = start; path.length < longest; ) {
      const neighbours = Array.from(graph.neighbours.subarray(graph.first[node] ?? 0, graph.first[node + 1] ?? 0));
      const fresh = neighbours.filter((each) => open.has(each));
      const next = fresh[random.integer(Math.max(1, fresh.length))];
      if (next === undefined) break;
      open.delete(next);
      path.push(next);
      node = next;
    }
    paths.push(path);
  }
  return Paths.from(paths);
}

interface Run {
  readonly net: P4Network;
  readonly monitor: Monitor;
  /** Switches that fail. */
  readonly dead: Set<number>;
}

function build(scenario: Scenario): Run {
  const { seed, loss, monitorLoss } = scenario;
  const graph = wattsStrogatz(scenario.nodes, 2, 0.2, seed);
  const entries = scenario.isInBand ? [0, scenario.nodes >> 1] : undefined;
  const link = { delayNs: 50_000, rateBps: 1e9 };
  const net = p4Network(
    {
      seed,
      switches: graph.nodeCount,
      links: graph.pairs(),
      link: { ...link, loss },
      gpint: { timeoutNs: TIMEOUT },
      monitor: { ...(entries !== undefined && { entries }), link: { ...link, loss: monitorLoss } },
    },
    PASS,
  );
  const { network } = net;
  const monitor = new Monitor({
    graph,
    plan: walksOf(graph, 5, seed),
    seed,
    config: { timeoutNs: TIMEOUT + 20 * PASS, maxAttempts: scenario.maxAttempts },
    transport: { send: (entry, payload) => net.monitor.send(entry, payload) },
    clock: {
      nowNs: () => network.nowNs,
      at: (timeNs, callback) => {
        const timer = network.at(Math.max(timeNs, network.nowNs), callback);
        return () => timer.cancel();
      },
    },
    ...(entries !== undefined && { entries }),
  });
  net.monitor.onPayload = (payload, dscp) => monitor.receive(payload, dscp);
  const dead = new Set<number>();
  for (const { isSwitch, which, atNs } of scenario.faults) {
    if (isSwitch) {
      dead.add(which % graph.nodeCount);
      network.at(atNs, () => net.switchNodes[which % graph.nodeCount]?.fail());
    } else {
      network.at(atNs, () => net.links[which % graph.linkCount]?.fail());
    }
  }
  return { net, monitor, dead };
}

function collect({ net, monitor }: Run, rounds: number): SessionReport[] {
  const reports: SessionReport[] = [];
  monitor.every(SECOND, (report) => reports.push(report), { rounds });
  net.network.runWhile(() => reports.length < rounds);
  return reports;
}

describe('a monitor on switches with gpint.p4', () => {
  // Networks of P4 switches, interpreted.
  it('ends each session by its bound, collects what can be collected, and names the rest', () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        const run = build(scenario);
        const reports = collect(run, 2);
        for (const report of reports) {
          const lost = new Set(report.uncollected.map(({ node }) => node));
          expect(report.endedNs - report.startedNs).toBeLessThanOrEqual(run.monitor.boundNs);
          expect(report.complete).toBe(lost.size === 0);
          for (const node of run.net.switches.keys()) expect(report.telemetry.has(node)).toBe(!lost.has(node));
          // Over links of its own that lose nothing, the monitor misses only switches that do not work.
          if (!scenario.isInBand && scenario.monitorLoss === 0) {
            for (const node of lost) expect(run.dead.has(node)).toBe(true);
          }
        }
      }),
      { seed: SEED, numRuns: RUNS },
    );
  }, 180_000);

  it('needs notices where a link is down, and none where nothing is lost', () => {
    for (const isBroken of [false, true]) {
      const run = build({
        nodes: 8,
        seed: 5,
        loss: 0,
        monitorLoss: 0,
        isInBand: false,
        maxAttempts: 2,
        faults: [],
      });
      if (isBroken) for (const link of run.net.links) link.fail();
      const [report] = collect(run, 1);
      expect(report?.complete).toBe(true);
      const notices = run.net.switches.reduce((sum, each) => sum + eventsOf(each).notices, 0);
      if (isBroken) expect(notices).toBeGreaterThan(0);
      else expect(notices).toBe(0);
    }
  });
});
