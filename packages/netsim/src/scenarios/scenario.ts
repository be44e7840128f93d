/** Scenarios: networks with traffic in which something known goes wrong. */
import { checkInteger } from '../checks.js';
import { Fabric } from './fabric.js';
import {
  changePaths,
  congest,
  failLink,
  loseReports,
  makeBlackHoles,
  makeLoops,
  type Stage,
  sendBursts,
} from './faults.js';
import type { DrainedLink, Label, ScenarioKind } from './label.js';
import { ReportWatch } from './loss-labels.js';
import { type ScenarioFlow, startFlows, WATCHED_PORT } from './traffic.js';

export interface ScenarioOptions {
  readonly kind: ScenarioKind;
  /** What happens when, and to whom. Same options, same reports at the same nanoseconds. */
  readonly seed: number | string;
  /** Watched flows, at least 64. Default: 96. */
  readonly flows?: number;
  /** At least 9 s. Default: 10 s. */
  readonly durationNs?: number;
  /** Virtual time at the start, integer nanoseconds below 2^53. Default: 0. */
  readonly startNs?: number;
  /** Reports overtake each other on their way to the monitor by up to so much, integer nanoseconds. Default: 3 ms. */
  readonly reportJitterNs?: number;
}

/** A telemetry report, as it reached the monitor. */
export interface ScenarioReport {
  /** When, virtual nanoseconds. */
  readonly timeNs: number;
  /** UDP payload: a telemetry report v2.0. */
  readonly bytes: Uint8Array;
}

/** A scenario that has run. */
export interface ScenarioResult {
  /** In the order in which they reached the monitor. */
  readonly reports: readonly ScenarioReport[];
  /** In the order of `fromNs`. */
  readonly labels: readonly Label[];
  /** What is no fault, but may be taken for one. */
  readonly drained: readonly DrainedLink[];
  readonly flows: readonly ScenarioFlow[];
  readonly startNs: number;
  readonly endNs: number;
}

/** What scenarios are made with, for those who set thresholds. */
export const SCENARIO_NETWORK = {
  /** Ports of each switch of the fat tree: 20 switches, 16 hosts, 32 links between switches. */
  ports: 4,
  /** Of links between switches; scaled down, so that a full one costs little to simulate. */
  rateBps: 10_000_000,
  /** Packets that may wait for a link. */
  queuePackets: 64,
  /** The shortest time for a scenario: what goes wrong begins and ends within it. */
  shortestNs: 9e9,
  /** Probability that a link between switches loses a packet. */
  loss: 0.0005,
  /** Occupancy from which reports have the Q bit. */
  congestedPackets: 32,
  /** What watched packets collect: node id, interfaces, hop latency, queue. */
  instructions: 0xf000,
  /** The source of a flow sends a postcard for one packet in so many. */
  postcardOneIn: 4,
} as const;

/** After the end of the flows, so that the last reports arrive. */
const SETTLE_NS = 500_000_000;

/**
 * A network in which flows send and something goes wrong, to be run step by step. Switches are `IntSwitch`es in a fat tree;
 * every packet of a watched flow collects INT-MD and makes a report at its sink, one in four also a postcard at its source.
 *
 * In every scenario there are bursts that fill queues for less than half a second, packets that links lose (1 in 2000),
 * reports that overtake each other, flows that begin and flows that end: none of that is labelled.
 */
export class Scenario {
  readonly fabric: Fabric;
  readonly flows: readonly ScenarioFlow[];
  readonly startNs: number;
  /** When it is over. */
  readonly endNs: number;
  /** Links that flows were moved off, as far as it has run. */
  readonly drained: DrainedLink[] = [];
  readonly #watch: ReportWatch;
  readonly #marked: { readonly label: Label; readonly isTrue: () => boolean }[] = [];

  /**
   * @param onReport gets each report as it reaches the monitor: UDP payload (never to be written) and virtual time
   * @throws RangeError for an option out of range
   */
  constructor(options: ScenarioOptions, onReport: (payload: Uint8Array, timeNs: number) => void) {
    const { kind, seed, flows = 96, durationNs = 10e9, startNs = 0, reportJitterNs = 3_000_000 } = options;
    checkInteger('flows', flows, 64);
    checkInteger('durationNs', durationNs, SCENARIO_NETWORK.shortestNs);
    const { ports, rateBps, queuePackets, loss, congestedPackets, instructions, postcardOneIn } = SCENARIO_NETWORK;
    const watchlist = [
      { match: { protocol: 17, destinationPort: WATCHED_PORT }, int: { instructions }, postcardOneIn },
    ];
    this.fabric = new Fabric({
      ...{ seed, startNs, ports, rateBps, queuePackets, loss, congestedPackets },
      reportJitterNs,
      watchlist,
      onReport,
    });
    this.startNs = startNs;
    this.endNs = startNs + durationNs + SETTLE_NS;
    this.flows = startFlows(this.fabric, flows, durationNs);
    this.#watch = new ReportWatch(this.fabric);
    const stage: Stage = {
      fabric: this.fabric,
      flows: this.flows,
      random: this.fabric.network.random.derive(`faults ${kind}`),
      startNs,
      endNs: startNs + durationNs,
      rateBps,
      drained: (link) => void this.drained.push(link),
      label: (label, isTrue = () => true) => void this.#marked.push({ label, isTrue }),
    };
    sendBursts({ ...stage, random: this.fabric.network.random.derive('bursts') });
    FAULTS[kind](stage);
  }

  /** Lets the network run up to a virtual time. @throws RangeError if it is past */
  run(untilNs: number): void {
    this.fabric.network.run(untilNs);
  }

  /** What is true, in the order of `fromNs`: complete when the scenario has run to `endNs`. */
  labels(): Label[] {
    const marked = this.#marked.flatMap(({ label, isTrue }) => (isTrue() ? [label] : []));
    return [...marked, ...this.#watch.labels()].sort((a, b) => a.fromNs - b.fromNs);
  }
}

const FAULTS: Readonly<Record<ScenarioKind, (stage: Stage) => void>> = {
  calm: () => {},
  'link-failure': failLink,
  'black-hole': makeBlackHoles,
  loop: makeLoops,
  'path-change': changePaths,
  'persistent-congestion': congest,
  'report-loss': loseReports,
};

/**
 * Runs a scenario from its beginning to its end.
 *
 * @throws RangeError for an option out of range
 */
export function runScenario(options: ScenarioOptions): ScenarioResult {
  const reports: ScenarioReport[] = [];
  const scenario = new Scenario(options, (bytes, timeNs) => void reports.push({ timeNs, bytes }));
  const { flows, drained, startNs, endNs } = scenario;
  scenario.run(endNs);
  return { reports, labels: scenario.labels(), drained, flows, startNs, endNs };
}
