import { within } from '@int/collector/internals';
import type {
  FlowWindow,
  ImmediateEvent,
  NetworkWindow,
  Processor,
  ProcessorOptions,
  ProcessorTotals,
} from '@int/stream-kafka';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { given, ifGiven } from '../given.js';
import { optionalPackage } from '../input/optional-package.js';
import { addKeepUnknownOption, checkKeepUnknown, type KeepUnknownFlags } from '../input/senders.js';
import { endOf, opening } from '../interruption.js';
import { CliError, EXIT, hasColour, type Io, say } from '../io.js';
import { TerminalSession } from '../live/terminal-session.js';
import { addUnitOptions, type UnitFlags } from '../network/device-options.js';
import { type KnownNetwork, readNetwork } from '../network/known-network.js';
import { knownSwitches } from '../network/known-switches.js';
import { withNames } from '../network/names.js';
import { type TopologyFlags, topologyOption } from '../network/topology-option.js';
import { unitsLine } from '../network/units-line.js';
import { duration } from '../options.js';
import { type Colours, colours } from '../output/colour.js';
import { DataOutput } from '../output/data-output.js';
import { type MetricsAddress, metricsHostOption, metricsOption } from '../output/metrics-endpoint.js';
import { counted } from '../output/numbers.js';
import { PacedOutput } from '../output/paced-output.js';
import { immediateText } from '../process/event-line.js';
import { serveProcessMetrics } from '../process/process-metrics.js';
import { SwitchView } from '../process/switch-view.js';
import { DRAIN_MS } from '../stopping.js';

interface ProcessFlags extends UnitFlags, TopologyFlags, KeepUnknownFlags {
  readonly kafka: readonly string[];
  readonly group?: string;
  readonly prefix?: string;
  readonly format?: 'auto' | 'json' | 'protobuf';
  readonly from?: 'earliest' | 'latest';
  /** In nanoseconds. */
  readonly window?: number;
  /** In nanoseconds. */
  readonly commit?: number;
  /** In nanoseconds. */
  readonly wait?: number;
  readonly metrics?: MetricsAddress;
  readonly metricsAllowHost?: readonly string[];
  readonly json?: true;
}

const REDRAW_MS = 500;
/** Time for committing and leaving the group on a stop. The rest of DRAIN_MS is for the totals. */
const STOP_MS = DRAIN_MS - 2000;
/** Characters of lines kept for a slow reader; the results are in Kafka anyway. */
const UNREAD_LIMIT = 1 << 23;
/** Most events in the live view. */
const RECENT = 10;
const WINDOW_MS = { least: 50, most: 3_600_000 };
const SLICE_MS = 250;
const MIN_SLICE_MS = 10;

function brokers(text: string): readonly string[] {
  const all = text.split(',').map((one) => one.trim());
  if (!all.every((one) => /^(\[[0-9a-fA-F:]+\]|[^:\s]+):\d{1,5}$/.test(one))) {
    throw new InvalidArgumentError('Give HOST:PORT, several with commas.');
  }
  return all;
}

function wholeMs(what: string, least: number, most: number): (text: string) => number {
  const parse = duration(what, most);
  return (text) => {
    const ns = parse(text);
    if (ns % 1e6 !== 0 || ns < least * 1e6) {
      throw new InvalidArgumentError(`Give ${what} of ${least}ms or more, in whole milliseconds.`);
    }
    return ns;
  };
}

/** The longest useful slice of at most 250 ms that divides a window; undefined if there is none. */
function sliceOf(windowMs: number): number | undefined {
  for (let slice = Math.min(SLICE_MS, windowMs); slice >= MIN_SLICE_MS; slice--) {
    if (windowMs % slice === 0) return slice;
  }
  return undefined;
}

function windowLength(text: string): number {
  const ns = wholeMs('a window', WINDOW_MS.least, WINDOW_MS.most)(text);
  if (sliceOf(ns / 1e6) === undefined) {
    throw new InvalidArgumentError('Give a window that is a multiple of 10 to 250 milliseconds.');
  }
  return ns;
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command
    .requiredOption('--kafka <BROKERS>', 'HOST:PORT of brokers, with commas', brokers)
    .option('--group <NAME>', 'consumer group; all that have the same share the work (int-process)')
    .option('--prefix <TEXT>', 'beginning of the names of topics: TEXTreports is read (int.)')
    .addOption(new Option('--format <FORMAT>', 'how reports are written (auto)').choices(['auto', 'json', 'protobuf']))
    .addOption(new Option('--from <WHERE>', 'where a new group begins (earliest)').choices(['earliest', 'latest']))
    .option('--window <TIME>', 'length of a window of statistics (1s)', windowLength)
    .option('--commit <TIME>', 'time between transactions (1s)', wholeMs('a time', 10, 60_000))
    .option(
      '--wait <TIME>',
      'how long windows wait for a collector that is silent (30s)',
      wholeMs('a time', 1000, 86_400_000),
    )
    .addOption(metricsOption())
    .addOption(metricsHostOption())
    .option('--json', 'one JSON object per line: windows, corrections and events, totals at the end');
  addUnitOptions(addKeepUnknownOption(command).addOption(topologyOption())).action(async (flags: ProcessFlags) => {
    checkKeepUnknown(flags, command);
    if (flags.metricsAllowHost !== undefined && flags.metrics === undefined) {
      command.error('error: --metrics-allow-host goes with --metrics HOST:PORT');
    }
    const network = await readNetwork(flags, io);
    const { Processor } = await optionalPackage('@int/stream-kafka', '`int process`', import('@int/stream-kafka'));
    done(await new ProcessCommand(flags, network, io, (options) => new Processor(options)).run());
  });
}

function optionsOf(flags: ProcessFlags): ProcessorOptions {
  const { kafka, group, prefix, format, from, window, commit, wait } = flags;
  const millisecondsOf = (ns: number): number => ns / 1e6;
  const windowMs = ifGiven(window, millisecondsOf);
  return {
    bootstrap: kafka,
    ...given({ group, prefix, format, from, windowMs }),
    ...given({
      sliceMs: ifGiven(windowMs, sliceOf),
      commitMs: ifGiven(commit, millisecondsOf),
      waitMs: ifGiven(wait, millisecondsOf),
    }),
  };
}

class ProcessCommand {
  readonly #flags: ProcessFlags;
  readonly #io: Io;
  readonly #output: DataOutput;
  readonly #paced: PacedOutput;
  readonly #screen: TerminalSession | null;
  readonly #colour: Colours;
  readonly #network: KnownNetwork;
  readonly #view: SwitchView;
  readonly #processor: Processor;
  #recent: string[] = [];
  #untold: string[] = [];
  #notShown = 0;
  /** The problem reported last. */
  #trouble: string | null = null;

  constructor(flags: ProcessFlags, network: KnownNetwork, io: Io, make: (options: ProcessorOptions) => Processor) {
    this.#flags = flags;
    this.#io = io;
    this.#network = network;
    this.#view = new SwitchView(network);
    this.#output = new DataOutput(io.stdout);
    this.#paced = new PacedOutput(this.#output, UNREAD_LIMIT);
    const hasView = io.stdout.isTTY === true && flags.json !== true;
    this.#screen = hasView
      ? new TerminalSession(
          io.stdout,
          null,
          undefined,
          () => {},
          () => this.#show(),
        )
      : null;
    this.#colour = colours(hasColour(io, io.stdout));
    const known = knownSwitches(network.topology, flags.keepUnknownSwitches);
    this.#processor = make({
      ...optionsOf(flags),
      ...(known !== null && { knownSwitches: known }),
      ...(unitsLine(network.device) !== null && { device: network.device }),
      onWindow: (window) => this.#window(window),
      onCorrection: (correction) => {
        if (this.#flags.json === true) this.#line(this.#json(correction));
      },
      onEvent: (event) => this.#event(event),
      onProblem: (reason) => this.#tell(reason),
      onAssigned: (partitions) => {
        if (this.#screen === null) this.#tell(`working on ${counted(partitions.length, 'partition')}`);
      },
    });
  }

  /** Runs until a signal comes or its output has no reader any more. Returns the exit code. */
  async run(): Promise<number> {
    const ended = endOf(this.#io, this.#output);
    const units = this.#flags.json === true ? unitsLine(this.#network.device) : null;
    if (units !== null) this.#line(units);
    try {
      await opening(this.#io, `Kafka at ${this.#flags.kafka.join(', ')}`, this.#processor.start());
    } catch (error) {
      await within(STOP_MS, this.#processor.stop());
      await this.#output.end();
      if (error instanceof CliError) throw error;
      throw new CliError(error instanceof Error ? error.message : String(error), EXIT.OPEN, error);
    }
    const { metrics, metricsAllowHost } = this.#flags;
    let server: Awaited<ReturnType<typeof serveProcessMetrics>> | null = null;
    try {
      if (metrics !== undefined) server = await serveProcessMetrics(this.#processor, metrics, metricsAllowHost);
    } catch (error) {
      await within(STOP_MS, this.#processor.stop());
      await this.#output.end();
      throw error;
    }
    if (server !== null) say(this.#io, `metrics at port ${server.address.port}`);
    this.#screen?.enter();
    const redraw = setInterval(() => this.#show(), REDRAW_MS);
    try {
      await ended;
    } finally {
      clearInterval(redraw);
      this.#screen?.leave();
      await server?.close();
    }
    const hasStopped = await within(STOP_MS, this.#processor.stop());
    await this.#finish();
    if (hasStopped) return EXIT.OK;
    throw new CliError(
      `the brokers have not answered within ${STOP_MS / 1000} s: what was not committed is processed again`,
      EXIT.OPEN,
    );
  }

  #window(window: FlowWindow | NetworkWindow): void {
    if (this.#flags.json === true) this.#line(this.#json(window));
    else this.#view.take(window);
  }

  #event(event: ImmediateEvent): void {
    if (this.#flags.json === true) this.#line(this.#json(event));
    else if (this.#screen === null) this.#line(immediateText(event, this.#colour, this.#network));
    else this.#recent = [...this.#recent.slice(1 - RECENT), immediateText(event, this.#colour, this.#network)];
  }

  #json(result: object): string {
    return JSON.stringify(withNames(result, this.#network.topology));
  }

  #line(text: string): void {
    if (!this.#paced.add(text)) this.#notShown++;
    else void this.#paced.flush();
  }

  #tell(reason: string): void {
    if (this.#screen === null) say(this.#io, reason);
    else this.#untold = [...this.#untold.slice(1 - RECENT), reason];
  }

  /** Prints one message when windows begin to wait, or to continue without a collector, and one when this is over. */
  #tellTrouble(): void {
    if (this.#screen !== null) return;
    const trouble = this.#processor.health();
    if ((trouble === null) !== (this.#trouble === null)) this.#tell(trouble ?? 'nothing is waited for any more');
    this.#trouble = trouble;
  }

  #show(): void {
    this.#tellTrouble();
    if (this.#screen === null) return;
    const { partitions, hasNetworkSide, lag, behindMs } = this.#processor.totals();
    const trouble = this.#processor.health();
    const network = hasNetworkSide ? ', network side' : '';
    const title = `int process  ${this.#flags.kafka.join(',')}  ${counted(partitions.length, 'partition')}${network}`;
    this.#screen.draw([
      this.#colour.bold(title),
      `${totalText(this.#processor.totals())}, ${counted(lag, 'message')} behind, watermark ${seconds(behindMs)} behind`,
      ...(trouble === null ? [] : [this.#colour.yellow(trouble)]),
      '',
      ...this.#view.lines(),
      '',
      ...this.#recent,
      ...this.#untold.slice(-1).map((reason) => this.#colour.yellow(reason)),
    ]);
  }

  async #finish(): Promise<void> {
    const totals = this.#processor.totals();
    for (const reason of this.#untold) say(this.#io, reason);
    if (this.#notShown > 0) say(this.#io, `${counted(this.#notShown, 'line')} not shown: the reader was behind`);
    await this.#paced.flush();
    if (this.#flags.json === true) {
      await this.#output.line(JSON.stringify({ type: 'total', ...totals }));
    } else {
      for (const line of this.#view.lines()) await this.#output.line(line);
      say(this.#io, totalText(totals));
    }
    await this.#output.end();
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function totalText(totals: ProcessorTotals): string {
  const { reports, windows, events, repeated, bad, lost, late, corrected, incomplete, untracked, unknownSwitch } =
    totals;
  const parts = [counted(reports, 'report'), counted(windows, 'window'), counted(events, 'event')];
  if (incomplete > 0) parts.push(`${counted(incomplete, 'window')} not complete`);
  if (corrected > 0) parts.push(`${counted(corrected, 'report')} in corrected windows`);
  if (late > 0) parts.push(`${late} too late`);
  if (untracked > 0) parts.push(`${untracked} without room`);
  if (repeated > 0) parts.push(`${repeated} repeated`);
  if (bad > 0) parts.push(`${bad} that could not be read`);
  if (unknownSwitch > 0) parts.push(`${unknownSwitch} of unknown switches`);
  if (lost > 0) parts.push(`${lost} deleted before they were read`);
  return parts.join(', ');
}
