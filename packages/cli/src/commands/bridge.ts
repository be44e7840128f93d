import { Collector, type CollectorTotals, type FlowStage, LiveStatistics } from '@int/collector';
import { type Command, Option } from 'commander';
import { countersJson } from '../bridge/bridge-json.js';
import { BridgeSource } from '../bridge/bridge-source.js';
import { bridgeLogLine, bridgeTitle, bridgeTotalLines } from '../bridge/bridge-text.js';
import type { BridgeSide, BridgeSides, OpenSides, OpenSidesOptions } from '../bridge/frame-port.js';
import { openXdpSides } from '../bridge/xdp-sides.js';
import { opened } from '../collect/capture-run.js';
import { LiveDetection } from '../collect/live-detection.js';
import { LiveOutput } from '../collect/live-output.js';
import { addCacheOptions, type CacheFlags, flowStageOf } from '../flows/cache-options.js';
import { listFlows } from '../flows/flow-list.js';
import { given } from '../given.js';
import { type OnDown, onDownOption } from '../input/link-words.js';
import { addSenderOptions, checkKeepUnknown, fromOf, knownOf, type SenderFlags } from '../input/senders.js';
import { endOf, opening } from '../interruption.js';
import { EXIT, type Io, say } from '../io.js';
import { liveView } from '../live/live-view.js';
import { addNetworkOptions } from '../network/device-options.js';
import { type KnownNetwork, type NetworkFlags, readNetwork, rulesContextOf } from '../network/known-network.js';
import { addStateOptions, type DetectFlags, detectOptions, RULES_HELP } from '../options.js';
import { statsJson, summaryJson } from '../output/collect-json.js';
import { colours } from '../output/colour.js';
import { detectionTable } from '../output/detection-summary.js';
import { flowTotals } from '../output/flow-json.js';
import { flowTotalsLines } from '../output/flow-table.js';
import type { HealthWatch } from '../output/health-watch.js';
import { LastStatistics } from '../output/last-statistics.js';
import type { LiveState } from '../output/live-state.js';
import { type MetricText, measuredText } from '../output/metric-text.js';
import { counted } from '../output/numbers.js';
import { RateMeter } from '../output/rate-meter.js';

interface BridgeFlags extends NetworkFlags, DetectFlags, SenderFlags, Pick<CacheFlags, 'rows' | 'buckets'> {
  readonly rules?: string;
  readonly mode: OpenSidesOptions['mode'];
  readonly onDown?: OnDown;
  readonly oneWay?: true;
  readonly json?: true;
}

/** Longest time for stopping, in milliseconds. */
const STOP_MS = 10_000;
const DETECT_FLAGS = ['state', 'flowCells', 'switchCells'] as const;

/** Defines arguments, options and action of `int bridge`. @param open opens the interfaces; default: AF_XDP sockets */
export function define(
  command: Command,
  io: Io,
  done: (exitCode: number) => void,
  open: OpenSides = openXdpSides,
): void {
  command
    .argument('<IN>', 'interface that packets with INT arrive at')
    .argument('<OUT>', 'interface that they leave by; what arrives there is forwarded to IN as it is')
    .option('--rules <FILE>', 'find events by these rules (YAML or JSON); loaded anew when they change, and at SIGHUP');
  const idle = 'flows that are silent for longer leave the cache (never), and with --state exact the detectors (60s)';
  addCacheOptions(command, 'the flow cache', idle)
    .addOption(
      new Option('--mode <MODE>', 'where the XDP programs run: in the drivers, or in the kernel behind them')
        .choices(['auto', 'driver', 'generic'])
        .default('auto'),
    )
    .addOption(onDownOption())
    .option('--one-way', 'leave what arrives at OUT to this machine')
    .option('--json', 'one JSON object per line: events, statistics each second, flows and totals at the end');
  addStateOptions(addSenderOptions(command));
  addNetworkOptions(command)
    .addHelpText('after', RULES_HELP)
    .action(async (inner: string, outer: string, flags: BridgeFlags) => {
      if (inner === outer) command.error(`error: IN and OUT are both ${inner}: a bridge needs two interfaces`);
      if (flags.rules === undefined && DETECT_FLAGS.some((name) => flags[name] !== undefined)) {
        command.error('error: --state, --flow-cells and --switch-cells go with --rules FILE');
      }
      checkKeepUnknown(flags, command);
      const { idle, ...state } = flags;
      const detect = detectOptions(flags.state === 'exact' && idle !== undefined ? flags : state, command);
      const network = await readNetwork(flags, io);
      const detection =
        flags.rules === undefined
          ? null
          : await LiveDetection.open(flags.rules, detect, io, undefined, rulesContextOf(network));
      done(await new BridgeCommand(inner, outer, flags, network, detection, open, io).run());
    });
}

class BridgeCommand {
  readonly #flags: BridgeFlags;
  readonly #io: Io;
  readonly #live: LiveOutput;
  readonly #network: KnownNetwork;
  readonly #detection: LiveDetection | null;
  readonly #statistics = new LiveStatistics();
  readonly #metricText: MetricText;
  readonly #lastStatistics = new LastStatistics();
  readonly #flowStage: FlowStage;
  readonly #source: BridgeSource;
  readonly #collector: Collector;
  readonly #health: HealthWatch;
  #opened: BridgeSides | null = null;
  #rate = new RateMeter(0);
  #started = 0;

  constructor(
    inner: string,
    outer: string,
    flags: BridgeFlags,
    network: KnownNetwork,
    detection: LiveDetection | null,
    open: OpenSides,
    io: Io,
  ) {
    this.#flags = flags;
    this.#io = io;
    this.#network = network;
    this.#metricText = measuredText(network);
    this.#detection = detection;
    this.#live = new LiveOutput(io, flags.json === true, network, false, flags.rules === '-');
    this.#flowStage = flowStageOf(flags);
    const { decode } = network.device;
    const { reportPorts, ...strip } = decode;
    const isOneWay = flags.oneWay === true;
    this.#source = new BridgeSource({
      name: `${inner} to ${outer}`,
      open: async () => {
        const tell = (message: string): void => {
          if (flags.onDown !== 'exit') this.#live.tell(message);
        };
        this.#opened = await open({ inner, outer, mode: flags.mode, isOneWay, tell });
        return this.#opened;
      },
      strip,
      isOneWay,
      ...given({ onDown: flags.onDown }),
      // Reports pass like other packets; requested ones are also decoded.
      pushesAll: reportPorts !== undefined,
      ...fromOf(flags, network),
    });
    this.#collector = new Collector({
      sources: [this.#source],
      ...knownOf(flags, network),
      decode: { ...decode, reportPorts: reportPorts ?? [] },
      stages: [this.#statistics, this.#flowStage, ...(detection === null ? [] : [detection.stage])],
      onProblem: ({ error }) => {
        this.#live.hasProblem = true;
        this.#live.tell(error.message);
      },
    });
    this.#health = this.#live.watch(() => this.#collector.degraded());
    if (detection !== null) this.#live.show(detection, () => this.#collector.totals(), network);
  }

  async run(): Promise<number> {
    await opened(opening(this.#io, 'the bridge', this.#collector.start()));
    this.#started = performance.now();
    this.#rate = new RateMeter(this.#started);
    this.#announce();
    this.#detection?.start();
    this.#live.begin(() => this.#tick());
    let read: CollectorTotals;
    try {
      await endOf(this.#io, this.#live.data, this.#collector.finished);
      read = await this.#collector.stop(STOP_MS);
    } finally {
      this.#live.pause();
      await this.#detection?.stop();
      this.#live.leave();
    }
    await this.#live.paced.flush();
    return this.#finish(read);
  }

  #announce(): void {
    if (this.#live.hasView) return;
    const { inner, outer } = this.#opened!;
    const side = ({ interface: name, ports }: BridgeSide): string => {
      const queues = ports.length === 1 ? '' : `, ${counted(ports.length, 'queue')}`;
      return `${name} (${ports[0]?.mode ?? 'away'}${queues})`;
    };
    const way = this.#flags.oneWay === true ? ', one way' : '';
    say(this.#io, `bridging ${side(inner)} to ${side(outer)}${way}`);
  }

  #state(): LiveState {
    const now = performance.now();
    this.#statistics.advance(Date.now());
    const totals = this.#collector.totals();
    this.#rate.update(now, { ...totals, received: this.#source.totals().inbound.received });
    const statistics = this.#statistics.snapshot();
    this.#lastStatistics.see(statistics, totals.reports);
    return {
      source: this.#source.name,
      elapsedMs: now - this.#started,
      totals,
      receivedPerSecond: this.#rate.receivedPerSecond,
      reportsPerSecond: this.#rate.reportsPerSecond,
      statistics,
      detection: this.#detection?.state() ?? null,
      recentEvents: this.#detection?.recentEvents() ?? new Map(),
      degraded: this.#health.look(),
      metrics: this.#metricText,
      topology: this.#network.topology,
    };
  }

  #statsLine(state: LiveState): string {
    return JSON.stringify({ ...statsJson(state), ...countersJson(this.#source.totals(), state.totals) });
  }

  #tick(): void {
    const state = this.#state();
    const title = `int bridge  ${bridgeTitle(state.source, this.#source.totals())}`;
    const isJson = this.#flags.json === true;
    this.#live.draw(
      (...given) => liveView(state, title, ...given),
      () => (isJson ? this.#statsLine(state) : bridgeLogLine(this.#source.totals(), state)),
    );
  }

  async #finish(read: CollectorTotals): Promise<number> {
    const output = this.#live.data;
    const state = this.#state();
    const isJson = this.#flags.json === true;
    if (isJson) {
      output.line(this.#statsLine(state));
      if (state.detection !== null) output.line(JSON.stringify(summaryJson(state.detection)));
    } else {
      for (const line of this.#lastStatistics.table(this.#metricText)) output.line(line);
      if (state.detection !== null) {
        for (const line of detectionTable(state.detection, colours(false))) output.line(line);
      }
    }
    this.#flowStage.sweep();
    const flows = flowTotals(this.#flowStage.totals());
    const listed = await listFlows(
      this.#flowStage.cache,
      { json: isJson, network: this.#network },
      output,
      colours(false),
    );
    const totals = this.#source.totals();
    if (isJson) output.line(JSON.stringify({ type: 'total', ...countersJson(totals, read), flows }));
    else {
      for (const line of flowTotalsLines(flows, listed, colours(false), this.#network)) output.line(line);
      for (const line of bridgeTotalLines(totals, read)) output.line(line);
    }
    await output.finish();
    if (this.#source.failure !== null) return EXIT.OPEN;
    if (output.closed) return EXIT.OK;
    const { truncated, malformed, unsupported } = read.dropped;
    return this.#live.hasProblem || truncated + malformed + unsupported > 0 ? EXIT.INPUT : EXIT.OK;
  }
}
