/** A monitor on a model network, with everything that can be asked of how its sessions end. */
import {
  type Graph,
  Monitor,
  type MonitorEvent,
  type MonitorOptions,
  type Paths,
  type RecoveryConfig,
  type SessionReport,
  wattsStrogatz,
} from '@int/gpint';
import { Random } from '@int/random';
import fc from 'fast-check';
import { ModelNetwork, type ModelOptions } from './model-network.js';
import { randomWalks } from './walks.js';

export const SECOND = 1_000_000_000;

/** Something that goes wrong at some time. */
export interface Fault {
  readonly kind: 'link' | 'switch';
  /** Reduced modulo the number of links, or of switches. */
  readonly which: number;
  readonly atNs: number;
}

export interface Scenario {
  readonly nodes: number;
  readonly seed: number;
  readonly longest: number;
  readonly loss: number;
  readonly feedbackLoss: number;
  readonly duplication: number;
  readonly jitterNs: number;
  readonly faults: readonly Fault[];
  readonly config: Partial<RecoveryConfig>;
}

const fault: fc.Arbitrary<Fault> = fc.record({
  kind: fc.constantFrom('link' as const, 'link' as const, 'switch' as const),
  which: fc.nat(),
  // From the start on, or in the middle of recovery.
  atNs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5 * SECOND })),
});

export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  nodes: fc.integer({ min: 4, max: 24 }),
  seed: fc.nat(),
  longest: fc.integer({ min: 1, max: 12 }),
  loss: fc.constantFrom(0, 0.05, 0.2),
  feedbackLoss: fc.constantFrom(0, 0.2),
  duplication: fc.constantFrom(0, 0.3),
  jitterNs: fc.constantFrom(0, 300_000_000, 2 * SECOND),
  faults: fc.array(fault, { maxLength: 5 }),
  config: fc.record({
    timeoutNs: fc.constantFrom(400_000_000, 1_500_000_000),
    maxAttempts: fc.constantFrom(0, 2, 10),
    maxInFlight: fc.constantFrom(1, 3, 12),
    keepDeadlineOnNotice: fc.boolean(),
    adaptive: fc.constantFrom(null, { minNs: 100_000_000, maxNs: 2 * SECOND }),
  }),
});

export interface Run {
  readonly graph: Graph;
  readonly paths: Paths;
  readonly network: ModelNetwork;
  readonly monitor: Monitor;
  readonly events: MonitorEvent[];
  readonly reports: SessionReport[];
}

/** Whether the graph without these links is in one piece. */
export function connectedWithout(graph: Graph, links: ReadonlySet<number>): boolean {
  const seen = new Set([0]);
  for (const node of seen) {
    for (let at = graph.first[node]!; at < graph.first[node + 1]!; at++) {
      if (!links.has(graph.links[at]!)) seen.add(graph.neighbours[at]!);
    }
  }
  return seen.size === graph.nodeCount;
}

/** Builds a scenario; `run.network.run()` then plays it. Links fail as long as the graph stays in one piece. */
export function build(
  scenario: Scenario,
  model: Partial<ModelOptions> = {},
  options: Partial<MonitorOptions> = {},
): Run {
  const graph = wattsStrogatz(
    scenario.nodes,
    2 * Math.min(2, Math.floor((scenario.nodes - 1) / 2)),
    0.2,
    scenario.seed,
  );
  const paths = randomWalks(graph, scenario.longest, scenario.seed);
  const events: MonitorEvent[] = [];
  const network = new ModelNetwork({
    graph,
    seed: scenario.seed,
    extended: false,
    timeoutNs: scenario.config.timeoutNs ?? 1_500_000_000,
    loss: scenario.loss,
    feedbackLoss: scenario.feedbackLoss,
    duplication: scenario.duplication,
    jitterNs: scenario.jitterNs,
    counters: (node) => Array.from({ length: 8 }, (_, i) => node * 100 + i),
    ...model,
  });
  const monitor = new Monitor({
    graph,
    plan: paths,
    transport: network.transport,
    clock: network.clock,
    config: scenario.config,
    seed: scenario.seed,
    onEvent: (event) => events.push(event),
    ...options,
  });
  network.receive = (payload, dscp) => monitor.receive(payload, dscp);
  plantFaults(scenario, graph, network);
  return { graph, paths, network, monitor, events, reports: [] };
}

function plantFaults(scenario: Scenario, graph: Graph, network: ModelNetwork): void {
  const failed = new Set<number>();
  const ends = graph.pairs();
  for (const { kind, which, atNs } of scenario.faults) {
    if (kind === 'switch') {
      network.at(atNs, () => network.failedSwitches.add(which % graph.nodeCount));
      continue;
    }
    const link = which % graph.linkCount;
    if (!connectedWithout(graph, new Set([...failed, link]))) continue;
    failed.add(link);
    const [a, b] = ends[link]!;
    network.at(atNs, () => network.failLink(a, b));
  }
}

/** Every packet that came is in one counter. */
export function accountedFor({ counters }: { counters: SessionReport['counters'] }): boolean {
  const { feedback, lateFeedback, home, lateHome, notice, lateNotice } = counters;
  const { duplicate, stale, unknown, foreign, malformed, received } = counters;
  const used = feedback + lateFeedback + home + lateHome + notice + lateNotice;
  return used + duplicate + stale + unknown + foreign + malformed === received;
}

/** A few switches at which a monitor may be attached. */
export function someEntries(scenario: Scenario): number[] {
  const random = new Random(scenario.seed).derive('entries');
  return [random.integer(scenario.nodes), random.integer(scenario.nodes)];
}
