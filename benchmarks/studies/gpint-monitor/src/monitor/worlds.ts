/** Where the monitor runs: a network in virtual time, or the same one behind UDP sockets in real time. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Graph, Monitor, MonitorEvent, Plan, SessionReport } from '@int/gpint';
import { type BuiltNetwork, PcapTap } from '@int/netsim';
import type { Failures } from './failures.js';
import { buildScenario, type ScenarioOptions } from './network.js';
import type { MonitorProgramOptions } from './options.js';

/** Of every link. */
const DELAY_NS = 1_000_000;
const RATE_BPS = 1e9;
/** How often a drawing is made. */
export const FRAME_MS = 40;

export interface WorldSetup {
  readonly graph: Graph;
  readonly plan: Plan;
  readonly failures: Failures;
  /** Switches that the monitor is attached to; none: all. */
  readonly attached: readonly number[];
  readonly options: MonitorProgramOptions;
  readonly onEvent: (event: MonitorEvent) => void;
  /** Called now and then while a session runs. */
  readonly onFrame: (nowNs: number) => void;
}

export interface World {
  readonly monitor: Monitor;
  /** A session. Ends early if `signal` is aborted. */
  collect(signal: AbortSignal): Promise<SessionReport>;
  /** What passed the monitor's links, as a pcap file. */
  pcap(): Uint8Array;
  close(): Promise<void>;
}

/** The network and its monitor, as the options say. */
export function scenarioOf({ graph, plan, attached, options, onEvent }: WorldSetup): ScenarioOptions {
  const { loss, seed, recover, timeoutNs, attempts } = options;
  const link = { delayNs: DELAY_NS, rateBps: RATE_BPS };
  const entries = attached.length === 0 ? {} : { entries: attached };
  return {
    graph,
    plan,
    seed,
    network: {
      link: { ...link, loss },
      gpint: { recovery: recover, timeoutNs },
      // A monitor that is attached to every switch has links of its own that lose nothing.
      monitor: { ...entries, link: { ...link, loss: attached.length === 0 ? 0 : loss } },
    },
    monitor: {
      ...entries,
      onEvent,
      config: { recover, timeoutNs, maxAttempts: attempts },
    },
  };
}

/** Breaks what is to be broken, and captures the monitor's links. */
export function prepare(built: BuiltNetwork, { links, switches }: Failures): PcapTap {
  for (const link of links) built.links[link]!.fail();
  for (const node of switches) built.switchNodes[node]!.fail();
  // Routes home lead around what is dead, as those of any routing protocol would.
  built.reroute();
  const tap = new PcapTap();
  for (const link of built.monitorLinks) built.network.tap(link, 'both', tap.sink);
  return tap;
}

/** Virtual time: as fast as possible, or `speed` seconds in a second. */
export function virtualWorld(setup: WorldSetup, speed: number): World {
  const scenario = buildScenario(scenarioOf(setup));
  const { network, monitor } = scenario;
  const tap = prepare(scenario.built, setup.failures);
  const collect = async (signal: AbortSignal): Promise<SessionReport> => {
    const reports: SessionReport[] = [];
    void monitor.collect((report) => {
      reports.push(report);
    });
    const isRunning = (): boolean => reports.length === 0;
    let untilNs = network.nowNs;
    while (isRunning()) {
      untilNs += speed === 0 ? Number.POSITIVE_INFINITY : Math.round(speed * FRAME_MS * 1e6);
      const isDone = network.runWhile(isRunning, untilNs);
      setup.onFrame(Math.min(untilNs, Number.MAX_SAFE_INTEGER));
      if (!isDone) {
        if (speed === 0) throw new Error('nothing happens any more, and the session has not ended');
        await sleep(FRAME_MS);
        if (signal.aborted) monitor.stop();
      }
    }
    return reports[0]!;
  };
  return { monitor, collect, pcap: () => tap.bytes(), close: async () => {} };
}
