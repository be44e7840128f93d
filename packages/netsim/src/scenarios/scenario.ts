/** Scenarios: networks with traffic and known faults. */
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
  /** Seed of all random choices. The same options give the same reports at the same nanoseconds. */
  readonly seed: number | string;
  /** Number of watched flows, at least 64. Default: 96. */
  readonly flows?: number;
  /** Duration in nanoseconds, at least 9 s. Default: 10 s. */
  readonly durationNs?: number;
  /** Virtual time at the start, integer nanoseconds below 2^53. Default: 0. */
  readonly startNs?: number;
  /**
   * Largest random extra delay of a report on its way to the monitor, integer nanoseconds. Reports may overtake each
   * other. Default: 3 ms.
   */
  readonly reportJitterNs?: number;
}

/** A telemetry report that reached the monitor. */
export interface ScenarioReport {
  /** Time of arrival in virtual nanoseconds. */
  readonly timeNs: number;
  /** UDP payload: a telemetry report v2.0. */
  readonly bytes: Uint8Array;
}

/** The result of a scenario. */
export interface ScenarioResult {
  /** In the order of arrival at the monitor. */
  readonly reports: readonly ScenarioReport[];
  /** In the order of `fromNs`. */
  readonly labels: readonly Label[];
  /** Links that are not faulty but may look so. */
  readonly drained: readonly DrainedLink[];
  readonly flows: readonly ScenarioFlow[];
  readonly startNs: number;
  readonly endNs: number;
}

/** The constants of the scenarios' network, for example to choose thresholds. */
export const SCENARIO_NETWORK = {
  /** Ports of each switch of the fat tree: 20 switches, 16 hosts, 32 links between switches. */
  ports: 4,
  /** Rate of links between switches, bits per second. It is low, so that a full link costs little to simulate. */
  rateBps: 10_000_000,
  /** Most packets that wait for a link. */
  queuePackets: 64,
  /** Shortest duration of a scenario, nanoseconds. All faults begin and end within it. */
  shortestNs: 9e9,
  /** Probability that a link between switches loses a packet. */
  loss: 0.0005,
  /** Queue occupancy in packets from which reports have the Q bit. */
  congestedPackets: 32,
  /** INT instructions of watched packets: node id, interfaces, hop latency, queue. */
  instructions: 0xf000,
  /** The source of a flow sends a postcard for one packet in this number. */
  postcardOneIn: 4,
} as const;

/** Time after the end of the flows in which the last reports arrive. */
const SETTLE_NS = 500_000_000;

/**
 * A network with flows and faults, to run step by step. Switches are `IntSwitch`es in a fat tree. Every packet of a
 * watched flow collects INT-MD and makes a report at its sink; one in four also makes a postcard at its source.
 *
 * Every scenario also has effects without labels: bursts that fill queues for less than half a second, packets lost by
 * links (1 in 2000), reports that overtake each other, flows that begin and flows that end.
 */
export class Scenario {
  readonly fabric: Fabric;
  readonly flows: readonly ScenarioFlow[];
  readonly startNs: number;
  /** End of the scenario, virtual nanoseconds. */
  readonly endNs: number;
  /** Links that lost their flows so far. */
  readonly drained: DrainedLink[] = [];
  readonly #watch: ReportWatch;
  readonly #marked: { readonly label: Label; readonly isTrue: () => boolean }[] = [];

  /**
   * @param onReport called with each report at the monitor: UDP payload (not to be written) and virtual time
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

  /** Runs the network up to a virtual time. @throws RangeError if it is in the past */
  run(untilNs: number): void {
    this.fabric.network.run(untilNs);
  }

  /** The labels in the order of `fromNs`. They are complete when the scenario has run to `endNs`. */
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

/** Runs a scenario from its beginning to its end. @throws RangeError for an option out of range */
export function runScenario(options: ScenarioOptions): ScenarioResult {
  const reports: ScenarioReport[] = [];
  const scenario = new Scenario(options, (bytes, timeNs) => void reports.push({ timeNs, bytes }));
  const { flows, drained, startNs, endNs } = scenario;
  scenario.run(endNs);
  return { reports, labels: scenario.labels(), drained, flows, startNs, endNs };
}
