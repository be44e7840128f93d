import {
  CaptureSource,
  Collector,
  type CollectorTotals,
  LiveStatistics,
  type Sink,
  SourceError,
  type UdpAddress,
} from '@int/collector';
import type { DetectorOptions, RuleSet } from '@int/detect';
import { type Command, Option } from 'commander';
import { checkJson, checkLines, DRAIN_MS } from '../config/describe.js';
import { needPackages } from '../config/packages.js';
import { type CollectSetup, configSetup } from '../config/setup.js';
import { closeSinks } from '../config/sinks.js';
import { DemoFabric } from '../demo/fabric.js';
import { type InterfaceQueues, interfaceQueues } from '../input/interface-queues.js';
import { readRulesFile } from '../input/rules-file.js';
import { anyAddress, CaptureInput, type TelemetryInput, UdpInput } from '../input/telemetry-input.js';
import { XdpChoice } from '../input/xdp-choice.js';
import { prefilterWords, type RunningPrefilter, type XdpMode } from '../input/xdp-input.js';
import { CliError, EXIT, hasColour, type Io, say } from '../io.js';
import {
  addDecodeOptions,
  addDetectOptions,
  type DecodeFlags,
  type DetectFlags,
  decodeOptions,
  detectOptions,
  duration,
  positiveNumber,
  udpAddress,
} from '../options.js';
import { statsJson, summaryJson, totalJson } from '../output/collect-json.js';
import { colours } from '../output/colour.js';
import { DataOutput } from '../output/data-output.js';
import { detectionTable } from '../output/detection-summary.js';
import { eventJson, placedEvent } from '../output/event-text.js';
import { dropText, type LiveState, liveView, logLine, switchTable, totalText } from '../output/live-view.js';
import { type MetricsAddress, MetricsEndpoint, metricsAddress } from '../output/metrics-endpoint.js';
import { counted, grouped } from '../output/numbers.js';
import { PacedOutput } from '../output/paced-output.js';
import { RateMeter } from '../output/rate-meter.js';
import { Screen } from '../output/screen.js';
import { sinkDrops, sinkLines } from '../output/sink-text.js';
import { LiveDetection } from './live-detection.js';

interface CollectFlags extends DecodeFlags, DetectFlags {
  readonly listen?: UdpAddress;
  readonly afxdp?: InterfaceQueues;
  readonly afxdpMode?: 'auto' | XdpMode;
  readonly prefilter?: true;
  readonly pcap?: string;
  readonly demo?: true;
  readonly speed?: number;
  readonly rules?: string;
  readonly metrics?: MetricsAddress;
  readonly config?: string;
  readonly check?: true;
  /** Nanoseconds. */
  readonly drainTimeout?: number;
  readonly json?: true;
}

/** What can stand beside --config: all else is in the file. */
const WITH_CONFIG: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'config',
  'check',
  'drainTimeout',
  'json',
  'metrics',
]);
/** The longest time that stopping may take. */
const MAX_DRAIN_MS = 3_600_000;

const LOG_MS = 1000;
const REDRAW_MS = 250;
/** Without a terminal nobody can stop the demo: it ends by itself. */
const DEMO_MS = 10_000;
/** Characters of event lines to keep for a reader that is behind: about 30 000 events. */
const UNREAD_LIMIT = 1 << 23;
/** Problems to remember while the live view is on. */
const MAX_UNTOLD = 20;
const DEMO = { topology: 'leaf-spine:4x2', flows: 256, ratePps: 20_000, seed: 1 } as const;

/** Adds `int collect`. */
export function addCollect(program: Command, io: Io, done: (exitCode: number) => void): void {
  const sources = ['listen', 'afxdp', 'pcap', 'demo'];
  const others = (own: string): string[] => sources.filter((name) => name !== own);
  const command = program.command('collect');
  command
    .description('Collect telemetry: a live view of switches, queues, congested paths and events; totals on exit')
    .addOption(
      new Option('--listen <udp://HOST:PORT>', 'receive telemetry reports; without a port: 32766')
        .argParser(udpAddress)
        .conflicts(others('listen')),
    )
    .addOption(
      new Option(
        '--afxdp <IFACE[:QUEUE]>',
        'receive telemetry reports past the network stack; QUEUE is a number, 0-3 or all (all); UDP where that cannot be',
      )
        .argParser(interfaceQueues)
        .conflicts(others('afxdp')),
    )
    .addOption(
      new Option('--afxdp-mode <MODE>', 'with --afxdp: in the driver, or behind it (auto)').choices([
        'auto',
        'driver',
        'generic',
      ]),
    )
    .option('--prefilter', 'with --afxdp and --rules: find events in the kernel; only reports with events are received')
    .addOption(
      new Option('--pcap <FILE>', 'replay a capture (pcap, pcapng, also gzip); - is standard input').conflicts(
        others('pcap'),
      ),
    )
    .addOption(
      new Option('--speed <X>', 'with --pcap: 1 is the pace of the capture, 2 twice that (as fast as possible)')
        .argParser(positiveNumber('a factor'))
        .conflicts(others('pcap')),
    )
    .addOption(new Option('--demo', 'receive from a generated fabric, over loopback UDP').conflicts(others('demo')))
    .option('--rules <FILE>', 'find events by these rules (YAML or JSON); loaded anew when they change, and at SIGHUP')
    .addOption(
      new Option('--metrics <HOST:PORT>', 'serve metrics for Prometheus at /metrics, and /health').argParser(
        metricsAddress,
      ),
    )
    .option('--config <FILE>', 'sources, rules, flows and sinks from int.yaml: instead of the other options')
    .option('--check', 'with --config: say what would run, or what is wrong with the file, and end')
    .addOption(
      new Option('--drain-timeout <DURATION>', 'time that stopping may take at most (10s)').argParser(
        duration('a time', MAX_DRAIN_MS),
      ),
    )
    .option('--json', 'one JSON object per line: events, statistics each second, totals at the end');
  addDetectOptions(command);
  addDecodeOptions(command).action(async (flags: CollectFlags) => {
    if (flags.config !== undefined) {
      done(await collectByConfig(flags.config, flags, command, io));
      return;
    }
    checkFlags(flags, command);
    const options = detectOptions(flags, command);
    const hasRules = flags.rules !== undefined || flags.demo === true;
    if (!hasRules && Object.keys(options).length > 0) {
      command.error('error: --state, --flow-cells, --switch-cells and --idle go with --rules FILE');
    }
    done(await new CollectCommand(flags, await flagsSetup(flags, hasRules, options, io), io).run());
  });
}

/** What the options of the command line ask for. @throws CliError (rejects) */
async function flagsSetup(
  flags: CollectFlags,
  hasRules: boolean,
  options: DetectorOptions,
  io: Io,
): Promise<CollectSetup> {
  const { pcap, speed, listen, metrics } = flags;
  const xdp = new XdpChoice(flags, io);
  const attach = (rules: RuleSet): Promise<RunningPrefilter | null> => xdp.attach(rules, options);
  const detection = hasRules ? await LiveDetection.open(flags.rules ?? null, options, io, attach) : null;
  return {
    detection,
    metrics: metrics === undefined ? null : new MetricsEndpoint(metrics),
    stages: [],
    sinks: [],
    isPatient: pcap !== undefined,
    // What the command line asks for, or UDP in the place of AF_XDP.
    async input() {
      const decode = decodeOptions(flags);
      const input = await xdp.input(detection?.prefilter ?? null);
      if (input !== null) return input;
      if (flags.afxdp !== undefined) return new UdpInput(anyAddress(decode), decode);
      if (pcap === undefined) return new UdpInput([listen ?? { host: '127.0.0.1', port: 0 }], decode);
      const source = new CaptureSource({ path: pcap, input: io.stdin, ...(speed !== undefined && { speed }) });
      return new CaptureInput(source, decode);
    },
    giveUp: (error) => xdp.giveUp(error),
    drainMs: drainMsOf(flags) ?? DRAIN_MS,
    close: async () => {},
  };
}

const drainMsOf = ({ drainTimeout }: CollectFlags): number | null =>
  drainTimeout === undefined ? null : Math.ceil(drainTimeout / 1e6);

/** Runs, or looks at, int.yaml. */
async function collectByConfig(file: string, flags: CollectFlags, command: Command, io: Io): Promise<number> {
  const other = command.options.find(
    (option) =>
      !WITH_CONFIG.has(option.attributeName()) && command.getOptionValueSource(option.attributeName()) === 'cli',
  );
  if (other !== undefined) command.error(`error: ${other.long ?? other.flags} stands in the file that --config names`);
  // What reads and checks the file is loaded only where there is one.
  const { readConfig } = await import('../config/read-config.js');
  const read = await readConfig(file, io);
  const { config } = read;
  if (flags.metrics !== undefined && config.sinks?.some(({ prometheus }) => prometheus !== undefined) === true) {
    command.error('error: --metrics stands in the file that --config names, as a prometheus sink');
  }
  if (flags.check === true) {
    await needPackages(config);
    if (config.detect !== undefined) await readRulesFile(read.path(config.detect.rules), io);
    const lines = flags.json === true ? [JSON.stringify(checkJson(read))] : checkLines(read);
    for (const line of lines) io.stdout.write(`${line}\n`);
    return EXIT.OK;
  }
  let tell = (message: string): void => say(io, message);
  const metrics = flags.metrics === undefined ? null : new MetricsEndpoint(flags.metrics);
  const setup = await configSetup(read, io, (message) => tell(message), drainMsOf(flags), metrics);
  const collect = new CollectCommand(flags, setup, io);
  tell = (message) => collect.tell(message);
  return collect.run();
}

function checkFlags(flags: CollectFlags, command: Command): void {
  const { listen, afxdp, pcap, demo, rules } = flags;
  if (flags.check === true) command.error('error: --check goes with --config FILE');
  if (listen === undefined && afxdp === undefined && pcap === undefined && demo === undefined) {
    command.error(
      'error: nothing to collect from: give --listen udp://HOST:PORT, --afxdp IFACE, --pcap FILE or --config FILE, or try --demo',
    );
  }
  if (flags.speed !== undefined && pcap === undefined) command.error('error: --speed goes with --pcap FILE');
  if (rules === '-' && pcap === '-') command.error('error: --pcap and --rules cannot both be standard input');
  if (flags.afxdpMode !== undefined && afxdp === undefined)
    command.error('error: --afxdp-mode goes with --afxdp IFACE');
  if (flags.prefilter === true && (afxdp === undefined || rules === undefined)) {
    command.error('error: --prefilter goes with --afxdp IFACE and --rules FILE');
  }
  if (flags.prefilter === true && (flags.profile ?? 'spec') !== 'spec') {
    command.error('error: --prefilter reads reports as the specifications have them: leave out --profile');
  }
}

/** Why a run ends. */
type End = 'interrupted' | 'finished' | 'demo';

class CollectCommand {
  readonly #flags: CollectFlags;
  readonly #setup: CollectSetup;
  readonly #io: Io;
  readonly #output: DataOutput;
  /** What is written while telemetry comes in. */
  readonly #paced: PacedOutput;
  readonly #detection: LiveDetection | null;
  readonly #screen: Screen | null;
  readonly #statistics = new LiveStatistics();
  readonly #metrics: MetricsEndpoint | null;
  #input!: TelemetryInput;
  #collector!: Collector;
  #rate = new RateMeter(0);
  #sourceText = '';
  #started = 0;
  #failed = false;
  /** What there is to say while the live view hides standard error: told afterwards. */
  readonly #untold: string[] = [];

  constructor(flags: CollectFlags, setup: CollectSetup, io: Io) {
    const { detection, metrics, isPatient } = setup;
    this.#flags = flags;
    this.#setup = setup;
    this.#io = io;
    this.#detection = detection;
    this.#metrics = metrics;
    this.#output = new DataOutput(io.stdout);
    // A capture waits for the reader of its events; what comes from a network does not.
    this.#paced = new PacedOutput(this.#output, isPatient ? Number.POSITIVE_INFINITY : UNREAD_LIMIT);
    this.#screen = io.stdout.isTTY === true && flags.json !== true ? new Screen(io.stdout) : null;
    if (detection !== null) this.#show(detection);
  }

  async #open(): Promise<void> {
    this.#input = await this.#setup.input();
    const { sources, decode, isLive } = this.#input;
    const detection = this.#detection;
    this.#collector = new Collector({
      sources,
      decode,
      stages: [
        this.#statistics,
        ...(this.#metrics?.stages ?? []),
        ...(detection === null ? [] : [detection.stage]),
        ...this.#setup.stages,
      ],
      sinks: isLive ? this.#setup.sinks : [...this.#setup.sinks, this.#outputSink()],
      onProblem: ({ error }) => {
        this.#failed = true;
        this.tell(error.message);
      },
    });
    try {
      await this.#collector.start();
    } catch (error) {
      if (!this.#setup.giveUp(error)) {
        if (SourceError.is(error)) throw new CliError(error.message, EXIT.OPEN, error);
        throw error;
      }
      detection?.withoutPrefilter();
      await this.#open();
    }
  }

  /** Has a capture wait for the reader of the output; no records go there. */
  #outputSink(): Sink {
    return { name: 'standard output', write: () => this.#paced.flush(), totals: () => ({}) };
  }

  /** Events become lines, or are kept for the view. */
  #show(detection: LiveDetection): void {
    const { detector } = detection.stage;
    detection.firstNumber = (frames): number => this.#collector.totals().received - frames + 1;
    detection.tell = (problems, message): void => {
      if (problems.length > 0) this.#failed = true;
      for (const problem of problems) this.#writeWords(problem);
      this.tell(message);
    };
    if (this.#screen !== null) detection.onEvents = (...found): void => detection.remember(...found);
    if (this.#flags.json !== true) return;
    const paced = this.#paced;
    detection.onEvents = (events, batch, frames, first): void => {
      const number = detection.firstNumber(batch.frames);
      for (let row = 0; row < events.count; row++) {
        // A line that nobody takes is not worth making.
        if (paced.isFull) detection.notShown++;
        else paced.add(eventJson(placedEvent(detector, events, row, batch, frames, first, number)));
      }
      void paced.flush();
    };
  }

  async run(): Promise<number> {
    try {
      await this.#open();
    } catch (error) {
      await closeSinks(this.#setup.sinks);
      await this.#setup.close();
      throw error;
    }
    this.#started = performance.now();
    this.#rate = new RateMeter(this.#started);
    this.#announce();
    await this.#serveMetrics();
    this.#detection?.start();
    const fabric = this.#startDemo();
    const ticker = setInterval(() => this.#tick(), this.#screen === null ? LOG_MS : REDRAW_MS);
    this.#screen?.enter();
    if (this.#screen !== null) this.#tick();
    let totals: CollectorTotals;
    let sent: number | null = null;
    try {
      await this.#end(fabric);
      if (fabric !== null) {
        const last = await fabric.stop();
        sent = last.sent;
        if (last.error !== null) throw new CliError(`the demo's fabric failed: ${last.error}`, EXIT.OPEN);
      }
      totals = await this.#collector.stop(this.#setup.drainMs);
    } finally {
      clearInterval(ticker);
      await this.#detection?.stop();
      await this.#metrics?.close();
      await this.#setup.close();
      this.#screen?.leave();
      for (const line of this.#untold) this.#io.stderr.write(`${line}\n`);
    }
    await this.#paced.flush();
    return this.#finish(totals, sent);
  }

  /** Resolves when the run is to end. */
  #end(fabric: DemoFabric | null): Promise<End> {
    const { signal } = this.#io;
    return new Promise((resolve) => {
      if (signal.aborted) resolve('interrupted');
      signal.addEventListener('abort', () => resolve('interrupted'), { once: true });
      this.#output.onClosed = (): void => resolve('finished');
      void this.#collector.finished.then(() => resolve('finished'));
      if (fabric === null) return;
      void fabric.ended.then(() => resolve('demo'));
      if (this.#io.stdout.isTTY !== true) setTimeout(() => resolve('demo'), DEMO_MS).unref();
    });
  }

  #announce(): void {
    const { text, words } = this.#input;
    this.#sourceText = this.#flags.demo === true ? `demo ${DEMO.topology} on ${text}` : text;
    if (this.#screen !== null) return;
    for (const line of words) say(this.#io, line);
    const prefilter = this.#detection?.prefilter ?? null;
    if (prefilter !== null) for (const line of prefilterWords(prefilter)) say(this.#io, line);
  }

  async #serveMetrics(): Promise<void> {
    if (this.#metrics === null) return;
    try {
      const { detection, stages } = this.#setup;
      const address = await this.#metrics.open(this.#collector, detection?.stage ?? null, stages);
      if (this.#screen === null) say(this.#io, `metrics on ${address}`);
    } catch (error) {
      await this.#collector.stop(this.#setup.drainMs);
      await this.#setup.close();
      throw error;
    }
  }

  #startDemo(): DemoFabric | null {
    if (this.#flags.demo !== true || !(this.#input instanceof UdpInput)) return null;
    return new DemoFabric({ ...this.#input.sources[0]!.address, ...DEMO });
  }

  /** Says something to people: at once, or when the live view is gone. */
  tell(message: string): void {
    this.#writeWords(`int: ${message}`);
  }

  #writeWords(line: string): void {
    if (this.#screen === null) this.#io.stderr.write(`${line}\n`);
    else if (this.#untold.length < MAX_UNTOLD) this.#untold.push(line);
  }

  #state(): LiveState {
    const now = performance.now();
    // A capture has its own time.
    if (this.#input.isLive) this.#statistics.advance(Date.now());
    const totals = this.#collector.totals();
    this.#rate.update(now, totals);
    return {
      source: this.#sourceText,
      elapsedMs: now - this.#started,
      totals,
      filtered: this.#input.filtered,
      receivedPerSecond: this.#rate.receivedPerSecond,
      reportsPerSecond: this.#rate.reportsPerSecond,
      statistics: this.#statistics.snapshot(),
      detection: this.#detection?.state() ?? null,
    };
  }

  #tick(): void {
    const state = this.#state();
    if (this.#screen !== null) {
      const { columns, rows } = this.#screen;
      this.#screen.draw(liveView(state, columns, rows, colours(hasColour(this.#io))));
      return;
    }
    // A reader that does not keep up misses seconds; nothing piles up here.
    if (this.#paced.isBehind) return;
    this.#paced.add(this.#flags.json === true ? JSON.stringify(statsJson(state)) : logLine(state));
    void this.#paced.flush();
  }

  async #finish(totals: CollectorTotals, sent: number | null): Promise<number> {
    const output = this.#output;
    const state = this.#state();
    if (this.#flags.json === true) {
      output.line(JSON.stringify(statsJson(state)));
      if (state.detection !== null) output.line(JSON.stringify(summaryJson(state.detection)));
      output.line(JSON.stringify(totalJson(totals, this.#input.filtered)));
    } else {
      for (const line of switchTable(state.statistics)) output.line(line);
      if (state.detection !== null) {
        const { totals: found, adaptation } = state.detection;
        for (const line of detectionTable(found, adaptation, colours(false))) output.line(line);
      }
      if (sent !== null) output.line(`sent by the demo's fabric: ${grouped(sent)}`);
      output.line(`reports: ${grouped(totals.reports)}`);
      output.line(`dropped: ${dropText(totals)}`);
      const kernel =
        totals.kernelDropped === null ? 'unknown, this system does not tell' : grouped(totals.kernelDropped);
      output.line(`dropped by the kernel: ${kernel}`);
      const { filtered } = this.#input;
      if (filtered !== null) output.line(`filtered in the kernel, without events: ${grouped(filtered)}`);
      if (totals.clockStepsBack !== undefined) {
        output.line(`the clock was set back: ${counted(totals.clockStepsBack, 'time')}`);
      }
      const loss = totals.stages['report loss'];
      if (loss !== undefined) output.line(`report packets that did not arrive: ${grouped(loss.lost! + loss.missing!)}`);
      for (const line of sinkLines(totals.sinks)) output.line(line);
      output.line(totalText(totals));
    }
    await output.end();
    if (output.error !== null) throw new CliError(`cannot write: ${output.error.message}`, EXIT.OPEN);
    if (output.closed) return EXIT.OK;
    const { truncated, malformed, unsupported } = totals.dropped;
    const lost = truncated + malformed + unsupported + sinkDrops(totals.sinks);
    return this.#failed || lost > 0 ? EXIT.INPUT : EXIT.OK;
  }
}
