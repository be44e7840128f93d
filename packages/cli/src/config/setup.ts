/** The parts that `int collect` runs, from the command line or from int.yaml. */
import { isDeepStrictEqual } from 'node:util';
import { type FlowStage, ReportLossStage, type Sink, type SourceExchange, type Stage } from '@int/collector';
import type { DetectorOptions } from '@int/detect';
import { LiveDetection } from '../collect/live-detection.js';
import { DashboardEndpoint } from '../dashboard/endpoint.js';
import { type DashboardSettings, settingsOfConfig } from '../dashboard/settings.js';
import { given, ifGiven } from '../given.js';
import type { TelemetryInput } from '../input/telemetry-input.js';
import { XdpChoice, type XdpChoiceFlags } from '../input/xdp-choice.js';
import type { Io } from '../io.js';
import { type KnownNetwork, rulesContextOf } from '../network/known-network.js';
import { knownSwitches } from '../network/known-switches.js';
import { readTopology } from '../network/topology-option.js';
import { MetricsEndpoint, metricsAddress } from '../output/metrics-endpoint.js';
import { changes } from './changes.js';
import type { DetectConfig } from './config.js';
import { drainOf } from './describe.js';
import { exchangesOf } from './exchanges.js';
import { type ConfigInput, configInput, type InputContext, xdpFlagsOf } from './inputs.js';
import { millisecondsOf } from './quantities.js';
import type { ReadConfig } from './read-config.js';
import { refusals } from './refusals.js';
import type { Tell } from './sink-parts.js';
import { type ConfigSink, cacheEventsOf, closeSinks, configSinks, newSinks, prometheusOf } from './sinks.js';
import { SpoolSink } from './spool-sink.js';
import { CacheEvents, type ConfigStore, dartStage, flowGeometry, flowStage } from './stages.js';
import { isOneForWorkers, pipelinePart } from './workers/split.js';
import { type ConfigWorkers, startWorkers } from './workers/workers.js';

export interface CollectSetup {
  readonly network: KnownNetwork;
  /** The switches that there are; `null`: any id may be one. */
  readonly knownSwitches: Iterable<number> | null;
  readonly detection: LiveDetection | null;
  readonly metrics: MetricsEndpoint | null;
  readonly dashboard: DashboardEndpoint | null;
  /** Folder of the history in Parquet files; `null`: there is none. */
  readonly history: string | null;
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

/** What the parts of a configuration are made with. */
export interface SetupContext {
  readonly io: Io;
  /** Receives messages of sinks about problems. */
  readonly tell: Tell;
  /** Overrides the configuration's time for stopping. */
  readonly drainMs: number | null;
  /** Overrides the configuration's page for Prometheus. */
  readonly prometheus: ((network: KnownNetwork) => MetricsEndpoint) | null;
  /** Overrides the configuration's dashboard. */
  readonly dashboard: DashboardSettings | null;
}

interface Parts {
  readonly network: KnownNetwork;
  readonly detection: LiveDetection | null;
  readonly metrics: MetricsEndpoint | null;
  readonly dashboard: DashboardEndpoint | null;
  /** Present without a page for Prometheus, which has a stage of its own. */
  readonly loss: ReportLossStage | null;
  readonly sinks: readonly ConfigSink[];
  readonly flows: FlowStage | null;
  readonly cacheEvents: CacheEvents;
  readonly dart: ConfigStore | null;
  readonly workers: ConfigWorkers | null;
  readonly xdp: XdpChoice;
  readonly xdpFlags: XdpChoiceFlags;
}

/** The parts of a configuration. */
export class ConfigSetup implements CollectSetup {
  readonly #read: ReadConfig;
  readonly #context: SetupContext;
  readonly #parts: Parts;
  #input: ConfigInput | null = null;

  private constructor(read: ReadConfig, context: SetupContext, parts: Parts) {
    this.#read = read;
    this.#context = context;
    this.#parts = parts;
  }

  /** Makes all parts of a configuration. @throws CliError (rejects), after closing all parts */
  static async make(read: ReadConfig, context: SetupContext): Promise<ConfigSetup> {
    const setup = await ConfigSetup.#make(read, context, null);
    setup.use();
    return setup;
  }

  /**
   * Makes what is different in another configuration; all else is taken over. Nothing of this setup changes before
   * {@link use} of the other one.
   * @throws FileProblems (rejects) for changes that need a new start; CliError, after closing the new parts
   */
  async follow(read: ReadConfig): Promise<ConfigSetup> {
    const refused = refusals(this.#read, read, this.#context.prometheus !== null);
    if (refused !== null) throw refused;
    const next = await ConfigSetup.#make(read, this.#context, this);
    try {
      next.#input = await configInput(read, next.#inputs, this.#input);
      return next;
    } catch (error) {
      await next.discard(this);
      throw error;
    }
  }

  static async #make(read: ReadConfig, context: SetupContext, before: ConfigSetup | null): Promise<ConfigSetup> {
    const { io, tell, drainMs, prometheus } = context;
    const { config } = read;
    const known = before === null ? null : before.#parts;
    const { detect, workers: threads } = config;
    const own = threads === undefined ? read : { ...read, config: pipelinePart(config) };
    const isSame = (part: 'detect' | 'flows' | 'dart'): boolean =>
      before !== null && isDeepStrictEqual(config[part], before.#read.config[part]);
    const topology = await readTopology(ifGiven(config.topology, read.path), io);
    const network = sameNetwork(known?.network ?? null, { device: read.device, topology });
    const loss = known?.loss ?? known?.metrics?.loss ?? new ReportLossStage();
    const metrics =
      prometheus === null
        ? metricsOf(read, network, known?.metrics ?? null, loss)
        : (known?.metrics?.of(network) ?? prometheus(network));
    const settings =
      context.dashboard ?? ifGiven(config.dashboard, (given) => settingsOfConfig(given, read.path)) ?? null;
    const dashboard =
      settings === null ? null : (known?.dashboard?.following(settings) ?? new DashboardEndpoint(settings));
    const switches = knownSwitches(topology, config.keepUnknownSwitches);
    const xdpFlags = xdpFlagsOf(read, switches);
    const { decode } = read.device;
    const isSameXdp =
      before !== null &&
      isDeepStrictEqual(decode, before.#read.device.decode) &&
      isDeepStrictEqual(known!.xdpFlags, xdpFlags);
    const xdp = isSameXdp
      ? known!.xdp
      : (known?.xdp.followedBy(xdpFlags, decode) ?? new XdpChoice(xdpFlags, decode, io, tell));
    const options = detect === undefined ? {} : detectorOptions(detect);
    // Closes what is new, if a later part cannot be made.
    const open: (() => unknown)[] = [];
    try {
      let detection = known?.detection ?? null;
      if (!isSame('detect')) {
        detection =
          detect === undefined
            ? null
            : await LiveDetection.open(
                read.path(detect.rules),
                options,
                io,
                (rules) => xdp.attach(rules, options),
                rulesContextOf(network),
              );
        open.push(() => detection?.prefilter?.close());
      }
      // Checked here for workers, too, so that errors have line and column.
      const geometry = flowGeometry(read);
      const isSameWorkers = before !== null && isOneForWorkers(before.#read, read, known!.network, network);
      const sinks = await configSinks(own, geometry, network.topology, tell, known?.sinks);
      open.push(() => closeSinks(newSinks(sinks, known?.sinks ?? [])));
      const keepsFlows = isSame('flows') && (threads === undefined) === (before!.#read.config.workers === undefined);
      const cacheEvents = keepsFlows ? known!.cacheEvents : new CacheEvents();
      const flows = keepsFlows ? known!.flows : flowStage(own, cacheEvents);
      const keepsDart = isSame('dart');
      const dart = keepsDart ? known!.dart : await dartStage(own, tell);
      if (!keepsDart) open.push(() => dart?.store.close());
      const limitMs = drainMs ?? drainOf(config.drain);
      const workers = isSameWorkers
        ? known!.workers
        : threads === undefined
          ? null
          : await startWorkers(read, tell, limitMs / 3);
      const parts = { network, detection, metrics, dashboard, sinks, flows, cacheEvents, dart, workers, xdp, xdpFlags };
      return new ConfigSetup(read, context, { ...parts, loss: metrics === null ? loss : null });
    } catch (error) {
      await Promise.allSettled(open.map(async (close) => close()));
      throw error;
    }
  }

  get network(): KnownNetwork {
    return this.#parts.network;
  }

  get knownSwitches(): Iterable<number> | null {
    return knownSwitches(this.network.topology, this.#read.config.keepUnknownSwitches);
  }

  get detection(): LiveDetection | null {
    return this.#parts.detection;
  }

  get metrics(): MetricsEndpoint | null {
    return this.#parts.metrics;
  }

  get dashboard(): DashboardEndpoint | null {
    return this.#parts.dashboard;
  }

  get history(): string | null {
    const parquet = this.#read.config.sinks?.find((sink) => sink.parquet !== undefined)?.parquet;
    return parquet === undefined ? null : this.#read.path(parquet.directory);
  }

  get stages(): readonly Stage[] {
    const { loss, flows, dart, workers } = this.#parts;
    return [loss, flows, dart?.stage ?? null, workers?.stage ?? null].filter((stage) => stage !== null);
  }

  get sinks(): readonly Sink[] {
    const sinks = this.#parts.sinks.map(({ sink }) => sink);
    const { workers } = this.#parts;
    return workers === null ? sinks : [...sinks, workers.workers];
  }

  get isPatient(): boolean {
    return this.#read.config.sources.every(({ pcap }) => pcap !== undefined);
  }

  get isInputUsed(): boolean {
    return this.#read.config.sources.some(({ pcap }) => pcap?.file === '-');
  }

  get drainMs(): number {
    return this.#context.drainMs ?? drainOf(this.#read.config.drain);
  }

  async input(): Promise<TelemetryInput> {
    this.#input = await configInput(this.#read, this.#inputs);
    return this.#input;
  }

  /** The sources that have been made. */
  get made(): ConfigInput {
    return this.#input!;
  }

  giveUp(error: unknown): boolean {
    return this.#parts.xdp.giveUp(error);
  }

  /** What is different in this setup, in a few words each. */
  changesFrom(before: ConfigSetup): readonly string[] {
    const changed = changes(before.#read.config, this.#read.config);
    const isRenamed = before.network.topology !== this.network.topology;
    return isRenamed && !changed.includes('topology changed') ? [...changed, 'topology changed'] : changed;
  }

  /** Which of its sources take the address of a source of `before`. @throws CliError (rejects) */
  exchanges(before: ConfigSetup): Promise<SourceExchange[]> {
    return exchangesOf(before.#read, before.#input!, this.#input!, before.#inputs);
  }

  /** What new sinks take over from old ones that have to close first; `null`: nothing. */
  handOver(before: ConfigSetup): (() => Promise<void>) | null {
    const sinks = newSinks(this.#parts.sinks, before.#parts.sinks).filter((sink) => sink instanceof SpoolSink);
    return sinks.length === 0 ? null : async () => void (await Promise.all(sinks.map((sink) => sink.takeOver())));
  }

  /** Joins the parts: the events of the flow cache go to the sinks of this setup from now on. */
  use(): void {
    this.#parts.cacheEvents.consumer = cacheEventsOf(this.#parts.sinks);
  }

  /** Closes what `before` has not, when this setup is not to be used. */
  async discard(before: ConfigSetup): Promise<void> {
    const { sinks, dart, workers } = this.#parts;
    if (workers !== before.#parts.workers) await workers?.workers.close(0);
    await closeSinks(newSinks(sinks, before.#parts.sinks));
    if (dart !== before.#parts.dart) await dart?.store.close();
    before.use();
  }

  /** Closes the parts besides sources and sinks that `next` has not taken over. */
  async leave(next: ConfigSetup): Promise<void> {
    const { detection, dart } = this.#parts;
    if (detection !== next.#parts.detection) await detection?.stop();
    if (dart !== next.#parts.dart) await dart?.store.close();
  }

  async close(): Promise<void> {
    await this.#parts.dart?.store.close();
  }

  get #inputs(): InputContext {
    const { io, tell } = this.#context;
    const { xdp, detection } = this.#parts;
    return { xdp, prefilter: detection?.prefilter ?? null, io, tell };
  }
}

/** The network, with the objects of the one so far for what is equal in them. */
function sameNetwork(before: KnownNetwork | null, now: KnownNetwork): KnownNetwork {
  if (before === null) return now;
  const device = isDeepStrictEqual(now.device.spec, before.device.spec) ? before.device : now.device;
  const topology = isDeepStrictEqual(now.topology, before.topology) ? before.topology : now.topology;
  return device === before.device && topology === before.topology ? before : { device, topology };
}

function detectorOptions({ state, flowCells, switchCells, idle }: DetectConfig): DetectorOptions {
  return given({ state, flowCells, switchCells, idleMs: ifGiven(idle, millisecondsOf) });
}

function metricsOf(
  read: ReadConfig,
  { device, topology: names }: KnownNetwork,
  before: MetricsEndpoint | null,
  loss: ReportLossStage,
): MetricsEndpoint | null {
  const prometheus = prometheusOf(read);
  if (prometheus === null) return null;
  const { listen, allowHosts, labels, prefix, ...rows } = prometheus;
  const options = { rows, names, device, ...given({ allowHosts, labels, prefix }) };
  return new MetricsEndpoint(metricsAddress(listen), options, before, loss);
}
