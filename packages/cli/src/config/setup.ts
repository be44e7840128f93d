/** What `int collect` runs, whether the command line says so or int.yaml. */
import { ReportLossStage, type Sink, type Stage } from '@int/collector';
import type { DetectorOptions } from '@int/detect';
import { LiveDetection } from '../collect/live-detection.js';
import type { TelemetryInput } from '../input/telemetry-input.js';
import { XdpChoice } from '../input/xdp-choice.js';
import type { Io } from '../io.js';
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
  readonly detection: LiveDetection | null;
  readonly metrics: MetricsEndpoint | null;
  /** Run after detection. */
  readonly stages: readonly Stage[];
  readonly sinks: readonly Sink[];
  /** Only captures: they wait for whoever reads the output. */
  readonly isPatient: boolean;
  /** The sources, not yet open. @throws CliError (rejects) */
  input(): Promise<TelemetryInput>;
  /**
   * Looks at why the sources could not be opened.
   * @returns true if {@link input} gives others now
   */
  giveUp(error: unknown): boolean;
  /** Time that stopping may take. */
  readonly drainMs: number;
  /** Lets go of what is neither a source nor a sink. */
  close(): Promise<void>;
}

function detectorOptions({ state, flowCells, switchCells, idle }: DetectConfig): DetectorOptions {
  return {
    ...(state !== undefined && { state }),
    ...(flowCells !== undefined && { flowCells }),
    ...(switchCells !== undefined && { switchCells }),
    ...(idle !== undefined && { idleMs: millisecondsOf(idle) }),
  };
}

function metricsOf(read: ReadConfig): MetricsEndpoint | null {
  const prometheus = prometheusOf(read);
  if (prometheus === null) return null;
  const { listen, allowHosts, labels, prefix, ...rows } = prometheus;
  return new MetricsEndpoint(metricsAddress(listen), {
    rows,
    ...(allowHosts !== undefined && { allowHosts }),
    ...(labels !== undefined && { labels }),
    ...(prefix !== undefined && { prefix }),
  });
}

/**
 * Makes what a configuration asks for.
 * @param tell how sinks say what goes wrong
 * @param drainMs replaces that of the configuration
 * @param prometheus the same
 * @throws CliError (rejects), with nothing left open
 */
export async function configSetup(
  read: ReadConfig,
  io: Io,
  tell: Tell,
  drainMs: number | null,
  prometheus: MetricsEndpoint | null,
): Promise<CollectSetup> {
  const { config } = read;
  const { detect, workers: threads } = config;
  const own = threads === undefined ? read : { ...read, config: pipelinePart(config) };
  const metrics = prometheus ?? metricsOf(read);
  // The page for Prometheus has one of its own.
  const loss = metrics === null ? new ReportLossStage() : null;
  const limitMs = drainMs ?? drainOf(config.drain);
  const xdp = new XdpChoice(xdpFlagsOf(read), io, tell);
  const options = detect === undefined ? {} : detectorOptions(detect);
  const detection =
    detect === undefined
      ? null
      : await LiveDetection.open(read.path(detect.rules), options, io, (rules) => xdp.attach(rules, options));
  const open: (() => Promise<unknown>)[] = [async () => detection?.prefilter?.close()];
  try {
    // Also of workers: what is wrong with it is told with line and column.
    const geometry = flowGeometry(read);
    const { sinks, cacheEvents } = await configSinks(own, geometry, tell);
    open.push(() => closeSinks(sinks));
    const flows = flowStage(own, cacheEvents);
    const dart = await dartStage(own, tell);
    if (dart !== null) open.push(() => dart.store.close());
    const workers = threads === undefined ? null : await startWorkers(read, tell, limitMs / 3);
    return {
      detection,
      metrics,
      stages: [loss, flows, dart?.stage ?? null, workers?.stage ?? null].filter((stage) => stage !== null),
      sinks: workers === null ? sinks : [...sinks, workers.workers],
      isPatient: config.sources.every(({ pcap }) => pcap !== undefined),
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
