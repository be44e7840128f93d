import {
  CaptureSource,
  Collector,
  type CollectorTotals,
  LiveStatistics,
  SourceError,
  type UdpAddress,
} from '@int/collector';
import type { RuleSet } from '@int/detect';
import { type Command, Option } from 'commander';
import { DemoFabric } from '../demo/fabric.js';
import { type InterfaceQueues, interfaceQueues } from '../input/interface-queues.js';
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
import { grouped } from '../output/numbers.js';
import { PacedOutput } from '../output/paced-output.js';
import { RateMeter } from '../output/rate-meter.js';
import { Screen } from '../output/screen.js';
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
  readonly json?: true;
}

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
    .option('--json', 'one JSON object per line: events, statistics each second, totals at the end');
  addDetectOptions(command);
  addDecodeOptions(command).action(async (flags: CollectFlags) => {
    checkFlags(flags, command);
    const options = detectOptions(flags, command);
    const hasRules = flags.rules !== undefined || flags.demo === true;
    if (!hasRules && Object.keys(options).length > 0) {
      command.error('error: --state, --flow-cells, --switch-cells and --idle go with --rules FILE');
    }
    const xdp = new XdpChoice(flags, io);
    const attach = (rules: RuleSet): Promise<RunningPrefilter | null> => xdp.attach(rules, options);
    const detection = hasRules ? await LiveDetection.open(flags.rules ?? null, options, io, attach) : null;
    done(await new CollectCommand(flags, xdp, detection, io).run());
  });
}

function checkFlags(flags: CollectFlags, command: Command): void {
  const { listen, afxdp, pcap, demo, rules } = flags;
  if (listen === undefined && afxdp === undefined && pcap === undefined && demo === undefined) {
    command.error(
      'error: nothing to collect from: give --listen udp://HOST:PORT, --afxdp IFACE or --pcap FILE, or try --demo',
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
  readonly #xdp: XdpChoice;
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

  constructor(flags: CollectFlags, xdp: XdpChoice, detection: LiveDetection | null, io: Io) {
    this.#flags = flags;
    this.#xdp = xdp;
    this.#io = io;
    this.#detection = detection;
    this.#metrics = flags.metrics === undefined ? null : new MetricsEndpoint(flags.metrics);
    this.#output = new DataOutput(io.stdout);
    // A capture waits for the reader of its events; what comes from a network does not.
    const isPatient = flags.pcap !== undefined;
    this.#paced = new PacedOutput(this.#output, isPatient ? Number.POSITIVE_INFINITY : UNREAD_LIMIT);
    this.#screen = io.stdout.isTTY === true && flags.json !== true ? new Screen(io.stdout) : null;
    if (detection !== null) this.#show(detection);
  }

  /** What the command line asks for, or UDP in the place of AF_XDP. */
  async #chooseInput(): Promise<TelemetryInput> {
    const { pcap, speed, listen } = this.#flags;
    const decode = decodeOptions(this.#flags);
    const xdp = await this.#xdp.input(this.#detection?.prefilter ?? null);
    if (xdp !== null) return xdp;
    if (this.#flags.afxdp !== undefined) return new UdpInput(anyAddress(decode), decode);
    if (pcap === undefined) return new UdpInput([listen ?? { host: '127.0.0.1', port: 0 }], decode);
    const source = new CaptureSource({ path: pcap, input: this.#io.stdin, ...(speed !== undefined && { speed }) });
    return new CaptureInput(source, decode);
  }

  async #open(): Promise<void> {
    this.#input = await this.#chooseInput();
    const { sources, decode, isLive } = this.#input;
    const detection = this.#detection;
    this.#collector = new Collector({
      sources,
      decode,
      stages: [this.#statistics, ...(this.#metrics?.stages ?? []), ...(detection === null ? [] : [detection.stage])],
      sinks: isLive ? [] : [{ name: 'output', write: () => this.#paced.flush() }],
      onProblem: ({ error }) => {
        this.#failed = true;
        this.#tell(error.message);
      },
    });
    try {
      await this.#collector.start();
    } catch (error) {
      if (!this.#xdp.giveUp(error)) {
        if (SourceError.is(error)) throw new CliError(error.message, EXIT.OPEN, error);
        throw error;
      }
      detection?.withoutPrefilter();
      await this.#open();
    }
  }

  /** Events become lines, or are kept for the view. */
  #show(detection: LiveDetection): void {
    const { detector } = detection.stage;
    detection.firstNumber = (frames): number => this.#collector.totals().received - frames + 1;
    detection.tell = (problems, message): void => {
      if (problems.length > 0) this.#failed = true;
      for (const problem of problems) this.#writeWords(problem);
      this.#tell(message);
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
    await this.#open();
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
      totals = await this.#collector.stop();
    } finally {
      clearInterval(ticker);
      await this.#detection?.stop();
      await this.#metrics?.close();
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
      const address = await this.#metrics.open(this.#collector, this.#detection?.stage ?? null);
      if (this.#screen === null) say(this.#io, `metrics on ${address}`);
    } catch (error) {
      await this.#collector.stop();
      throw error;
    }
  }

  #startDemo(): DemoFabric | null {
    if (this.#flags.demo !== true || !(this.#input instanceof UdpInput)) return null;
    return new DemoFabric({ ...this.#input.sources[0]!.address, ...DEMO });
  }

  #tell(message: string): void {
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
      output.line(totalText(totals));
    }
    await output.end();
    if (output.error !== null) throw new CliError(`cannot write: ${output.error.message}`, EXIT.OPEN);
    if (output.closed) return EXIT.OK;
    const { truncated, malformed, unsupported } = totals.dropped;
    return this.#failed || truncated + malformed + unsupported > 0 ? EXIT.INPUT : EXIT.OK;
  }
}
