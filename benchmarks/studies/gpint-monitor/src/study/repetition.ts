/** One repetition: a network of its own, warmed up, and some collection rounds. */
import { euler, type Graph, gpint, type Paths, perNode, type SessionReport, wattsStrogatz } from '@int/gpint';
import { type BuiltNetwork, UdpTraffic } from '@int/netsim';
import { Random } from '@int/random';
import { buildScenario } from '../monitor/network.js';
import { loseAllButFeedback } from './lossy-probes.js';
import { type Cell, HIGH_LOAD, METHODS, type Method } from './matrix.js';
import type { RepetitionResult } from './measures.js';
import { placeHosts, SURROUNDINGS, serviceRate, visitsPerPacket } from './surroundings.js';

export interface RepetitionTask {
  readonly cell: Cell;
  /** Number of the repetition, from 0. Repetitions of one number share graph, hosts and background. */
  readonly repetition: number;
  readonly rounds: number;
  readonly seed: string;
}

const SECOND = 1_000_000_000;
/** Until the queues of saturated switches are full; without saturation there is little to wait for. */
const WARM_UP_NS = { saturated: 5 * SECOND, other: SECOND / 2 } as const;
/** Between a round and the next. Rounds are short under low load, too short to tell how busy switches are. */
const PAUSE_NS = { saturated: SECOND / 10, other: (3 * SECOND) / 10 } as const;
/** Without recovery: how long a round may take. */
const UNRECOVERED_ROUND_NS = 8 * SECOND;
/** No round takes as long; it would be an error of the monitor. */
const ENDLESS_NS = 3600 * SECOND;

function planOf(method: Method, graph: Graph, seed: string): Paths {
  if (method.planner === 'euler') return euler(graph).paths;
  if (method.planner === 'per-node') return perNode(graph).paths;
  return gpint(graph, { paths: method.paths(graph.nodeCount), seed }).paths;
}

/**
 * Without recovery: t_f that makes a probe with the mean number of visits wait for as long as all of its switches being
 * saturated takes (0.35 s each), and 0.65 s. Then it is given up, and its place is free.
 */
function unrecoveredTimeoutNs(paths: Paths): number {
  return Math.round((0.35 + (0.65 * paths.count) / paths.visits.length) * SECOND);
}

/** Totals that only grow, to be compared at two times. */
interface Totals {
  readonly timeNs: number;
  readonly sent: number;
  readonly received: number;
  /** In queues and on links. */
  readonly underWay: number;
  readonly busyNs: readonly number[];
}

function totalsOf(built: BuiltNetwork, traffic: UdpTraffic | null): Totals {
  const { network, hosts, switchNodes } = built;
  let underWay = 0;
  for (const node of network.nodes) underWay += node.queued;
  for (const link of network.links) underWay += link.counters('ab').inFlight + link.counters('ba').inFlight;
  return {
    timeNs: network.nowNs,
    sent: traffic?.sent ?? 0,
    received: hosts.reduce((sum, host) => sum + host.received, 0),
    underWay,
    busyNs: switchNodes.map((node) => node.busyNs),
  };
}

function build({ cell, repetition, seed }: RepetitionTask): {
  readonly scenario: ReturnType<typeof buildScenario>;
  readonly traffic: UdpTraffic | null;
  readonly longest: number;
} {
  const { switches, load, loss, losesFeedback, recover } = cell;
  const method = METHODS[cell.method];
  const root = new Random(seed).derive(`${switches} switches`, repetition);
  const graphSeed = String(root.derive('graph').uint32());
  const graph = wattsStrogatz(switches, SURROUNDINGS.degree, SURROUNDINGS.rewired, graphSeed);
  const paths = planOf(method, graph, graphSeed);
  const attach = placeHosts(switches, root.derive('hosts'));
  const scenario = buildScenario({
    graph,
    plan: paths,
    seed: String(root.derive('network').uint32()),
    network: {
      ties: 'random',
      link: {
        rateBps: SURROUNDINGS.linkRateBps,
        delayNs: SURROUNDINGS.linkDelayNs,
        loss: losesFeedback ? loss : 0,
      },
      switchNode: { queuePackets: SURROUNDINGS.queuePackets },
      gpint: { recovery: recover, timeoutNs: method.feedbackTimeoutNs },
      monitor: { link: { rateBps: SURROUNDINGS.linkRateBps, delayNs: SURROUNDINGS.linkDelayNs } },
      hosts: {
        count: attach.length,
        attach,
        link: { rateBps: SURROUNDINGS.hostRateBps, delayNs: SURROUNDINGS.hostDelayNs },
      },
    },
    monitor: {
      config: {
        recover,
        maxInFlight: SURROUNDINGS.inFlight,
        maxAttempts: method.attempts,
        ...(recover
          ? { timeoutNs: method.feedbackTimeoutNs }
          : { timeoutNs: unrecoveredTimeoutNs(paths), sessionTimeoutNs: UNRECOVERED_ROUND_NS }),
      },
      measurements: { first: 0, count: 1 },
    },
  });
  const { built, network } = scenario;
  const rate = serviceRate(visitsPerPacket(built, attach));
  for (const node of built.switchNodes) node.setRate(rate);
  if (!losesFeedback) loseAllButFeedback(built, loss);
  const traffic =
    load === 0
      ? null
      : new UdpTraffic(network, {
          hosts: built.hosts,
          packetsPerSecond: load,
          spacing: 'poisson',
          bytes: SURROUNDINGS.packetBytes,
        });
  let longest = 0;
  for (let p = 0; p < paths.count; p++) longest = Math.max(longest, paths.path(p).length);
  return { scenario, traffic, longest };
}

const percent = (part: number, whole: number): number => (whole === 0 ? 0 : (100 * part) / whole);

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Runs a repetition: same task, same numbers, but for the computing time. */
export function runRepetition(task: RepetitionTask): RepetitionResult {
  const begun = performance.now();
  const { cell, rounds } = task;
  const { scenario, traffic, longest } = build(task);
  const { built, network, monitor } = scenario;
  traffic?.start();
  const regime = cell.load >= HIGH_LOAD ? 'saturated' : 'other';
  network.run(WARM_UP_NS[regime]);
  const before = totalsOf(built, traffic);
  const reports: SessionReport[] = [];
  for (let round = 0; round < rounds; round++) {
    const limit = network.nowNs + ENDLESS_NS;
    let isDone = false;
    void monitor.collect((report) => {
      reports.push(report);
      isDone = true;
    });
    if (!network.runWhile(() => !isDone, limit)) throw new Error('a session has not ended');
    network.run(network.nowNs + PAUSE_NS[regime]);
  }
  const after = totalsOf(built, traffic);

  const spanNs = after.timeNs - before.timeNs;
  const sent = after.sent - before.sent;
  const lost = sent - (after.received - before.received) - (after.underWay - before.underWay);
  const used = after.busyNs.map((busy, node) => percent(busy - before.busyNs[node]!, spanNs));
  const total = (of: (report: SessionReport) => number): number => reports.reduce((sum, report) => sum + of(report), 0);
  const initial = total(({ sentInitial }) => sentInitial);
  const added = total(({ sentRecovery }) => sentRecovery);
  const isFailed = ({ complete, failedProbes }: SessionReport): boolean =>
    !complete || (!cell.recover && failedProbes > 0);
  return {
    measured: {
      elapsed: mean(reports.map(({ elapsedNs }) => elapsedNs / SECOND)),
      failedSessions: percent(reports.filter(isFailed).length, rounds),
      failedProbes: percent(
        total(({ failedProbes }) => failedProbes),
        initial + added,
      ),
      recoveryRatio: percent(added, initial),
      backgroundLoss: percent(lost, sent),
      probes: (initial + added) / rounds,
      busiest: Math.max(...used),
      utilisation: mean(used),
      longest,
    },
    virtualSeconds: network.nowNs / SECOND,
    seconds: (performance.now() - begun) / 1000,
  };
}
