/** The parts that `int collect` runs, from the command line or from int.yaml. */
import { ReportLossStage, type Sink, type Stage } from '@int/collector';
import type { DetectorOptions } from '@int/detect';
import type { Topology } from '@int/network';
import { LiveDetection } from '../collect/live-detection.js';
import { given, ifGiven } from '../given.js';
import type { TelemetryInput } from '../input/telemetry-input.js';
import { XdpChoice } from '../input/xdp-choice.js';
import type { Io } from '../io.js';
import { type KnownNetwork, rulesContextOf } from '../network/known-network.js';
import { knownSwitches } from '../network/known-switches.js';
import { MetricsEndpoint, metricsAddress } from '../output/metrics-endpoint.js';
import type { DetectConfig } from './config.js';
import { drainOf } from './describe.js';
import { configInput, xdpFlagsOf } from './inputs.js';
import { millisecondsOf } from './quantities.js';
import type { ReadConfig } from './read-config.js';
import type { Tell } from './sink-parts.js';
import { closeSinks, configSinks, prometheusOf } from './sinks.js';
import { dartStage, flowGeometry, flowStage } from './stages.js';
import { pipelinePart } from './workers/split.js';
import { startWorkers } from './workers/workers.js';

export interface CollectSetup {
  readonly network: KnownNetwork;
  /** The switches that there are; `null`: any id may be one. */
  readonly knownSwitches: Iterable<number> | null;
  readonly detection: LiveDetection | null;
  readonly metrics: MetricsEndpoint | null;
  /** Stages that run after detection. */
  readonly stages: readonly Stage[];
  readonly sinks: readonly Sink[];
  /** Whether all sources are captures, which wait for the reader of the output. */
  readonly isPatient: boolean;
  /** Whether standard input is rules, a configuration or a capture, so that no keys come from it. */
  readonly isInputUsed: boolean;
  /** The sources, not yet open. @throws CliError (rejects) */
  input(): Promise<TelemetryInput>;
  /** Handles an error on opening the sources. @returns true if {@link input} now returns other sources */
  giveUp(error: unknown): boolean;
  readonly drainMs: number;
  /** Closes the parts that are neither sources nor sinks. */
  close(): Promise<void>;
}

function detectorOptions({ state, flowCells, switchCells, idle }: DetectConfig): DetectorOptions {
  return given({ state, flowCells, switchCells, idleMs: ifGiven(idle, millisecondsOf) });
}

function metricsOf(read: ReadConfig, names: Topology): MetricsEndpoint | null {
  const prometheus = prometheusOf(read);
  if (prometheus === null) return null;
  const { listen, allowHosts, labels, prefix, ...rows } = prometheus;
  return new MetricsEndpoint(metricsAddress(listen), {
    rows,
    names,
    device: read.device,
    ...given({ allowHosts, labels, prefix }),
  });
}

/**
 * Makes the parts of a configuration.
 * @param tell receives messages of sinks about problems
 * @param drainMs overrides the configuration's time for stopping
 * @param topology that of the configuration
 * @param prometheus overrides the configuration's page for Prometheus
 * @throws CliError (rejects), after closing all parts
 */
export async function configSetup(
  read: ReadConfig,
  io: Io,
  tell: Tell,
  drainMs: number | null,
  topology: Topology,
  prometheus: MetricsEndpoint | null,
): Promise<CollectSetup> {
  const { config } = read;
  const { detect, workers: threads } = config;
  const own = threads === undefined ? read : { ...read, config: pipelinePart(config) };
  const metrics = prometheus ?? metricsOf(read, topology);
  // The page for Prometheus has a stage of its own.
  const loss = metrics === null ? new ReportLossStage() : null;
  const limitMs = drainMs ?? drainOf(config.drain);
  const xdp = new XdpChoice(xdpFlagsOf(read), read.device.decode, io, tell);
  const options = detect === undefined ? {} : detectorOptions(detect);
  const detection =
    detect === undefined
      ? null
      : await LiveDetection.open(
          read.path(detect.rules),
          options,
          io,
          (rules) => xdp.attach(rules, options),
          rulesContextOf({ device: read.device, topology }),
        );
  const open: (() => Promise<unknown>)[] = [async () => detection?.prefilter?.close()];
  try {
    // Checked here for workers, too, so that errors have line and column.
    const geometry = flowGeometry(read);
    const { sinks, cacheEvents } = await configSinks(own, geometry, topology, tell);
    open.push(() => closeSinks(sinks));
    const flows = flowStage(own, cacheEvents);
    const dart = await dartStage(own, tell);
    if (dart !== null) open.push(() => dart.store.close());
    const workers = threads === undefined ? null : await startWorkers(read, tell, limitMs / 3);
    return {
      network: { device: read.device, topology },
      knownSwitches: knownSwitches(topology, config.keepUnknownSwitches),
      detection,
      metrics,
      stages: [loss, flows, dart?.stage ?? null, workers?.stage ?? null].filter((stage) => stage !== null),
      sinks: workers === null ? sinks : [...sinks, workers.workers],
      isPatient: config.sources.every(({ pcap }) => pcap !== undefined),
      isInputUsed: config.sources.some(({ pcap }) => pcap?.file === '-'),
      input: () => configInput(read, xdp, detection?.prefilter ?? null, io, tell),
      giveUp: (error) => xdp.giveUp(error),
      drainMs: limitMs,
      close: async () => dart?.store.close(),
    };
  } catch (error) {
    await Promise.allSettled(open.map((close) => close()));
    throw error;
  }
}
