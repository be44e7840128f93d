import { parseMac } from '@int/codec/internals';
import type { UdpAddress } from '@int/collector';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type OnDown, onDownOption } from '../input/link-words.js';
import { udpAddress } from '../input/udp-address.js';
import { opening } from '../interruption.js';
import { CliError, EXIT, type Io, say } from '../io.js';
import { portNumber, positiveNumber, wholeNumber } from '../options.js';
import { DataOutput } from '../output/data-output.js';
import { counted } from '../output/numbers.js';
import { PacedOutput } from '../output/paced-output.js';
import { Progress } from '../output/progress.js';
import { parseTunnel, type Tunnel } from '../p4/serve/port-spec.js';
import { loopCapture } from '../replay/capture-loop.js';
import { Player } from '../replay/player.js';
import { CapturedSchedule, type Schedule, SteadySchedule } from '../replay/schedule.js';
import { FrameSelection, PayloadSelection, type Selection } from '../replay/selection.js';
import { isWrong } from '../replay/skip-reason.js';
import type { Target } from '../replay/target.js';
import { progressText, type ReplayState, reasonLines, replayJson, totalText } from '../replay/totals.js';
import { UdpTarget } from '../replay/udp-target.js';
import { type InterfaceQueue, XdpTarget } from '../replay/xdp-target.js';

interface ReplayFlags {
  readonly to?: UdpAddress;
  readonly afxdp?: InterfaceQueue;
  readonly tunnel?: Tunnel;
  readonly rate?: number | 'max';
  readonly speed?: number;
  readonly loop: number;
  readonly reportPort?: number[];
  readonly destinationMac?: Uint8Array;
  readonly sourceMac?: Uint8Array;
  readonly onDown?: OnDown;
  readonly json?: true;
}

const STATS_MS = 1000;
const PROGRESS_MS = 200;
/** Characters of lines kept for a slow reader. */
const UNREAD_LIMIT = 1 << 16;
/** Postponement of the schedule that causes no message. */
const TOLERATED_LOSS_MS = 1;

const perSecond = positiveNumber('frames per second, or max,');

function rate(text: string): number | 'max' {
  return text === 'max' ? text : perSecond(text);
}

function interfaceQueue(text: string): InterfaceQueue {
  const match = /^([^\s/:]+)(?::(\d{1,4}))?$/.exec(text);
  if (match === null) throw new InvalidArgumentError('Give IFACE or IFACE:QUEUE.');
  return { interface: match[1]!, queue: Number(match[2] ?? 0) };
}

function tunnel(text: string): Tunnel {
  const ends = parseTunnel(text);
  if (ends === null)
    throw new InvalidArgumentError('Give HOST:PORT-HOST:PORT: the own address, and that of the switch.');
  return ends;
}

/** The longest frame that fits a datagram. */
const LONGEST_IN_TUNNEL = 0xffff - 28;

function macAddress(text: string): Uint8Array {
  try {
    return parseMac(text);
  } catch {
    throw new InvalidArgumentError('Give a MAC address such as 02:00:00:00:00:01.');
  }
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command
    .argument('<FILE>', 'capture (pcap, pcapng, also gzip); - is standard input')
    .addOption(
      new Option('--to <udp://HOST:PORT>', 'send the UDP payloads of its frames to this address')
        .argParser(udpAddress)
        .conflicts('afxdp'),
    )
    .option('--afxdp <IFACE[:QUEUE]>', 'send its Ethernet frames as they are, by this interface', interfaceQueue)
    .addOption(
      new Option(
        '--tunnel <HOST:PORT-HOST:PORT>',
        'send its Ethernet frames as datagrams from the first address to the second: into a port udp: of int p4 serve',
      )
        .argParser(tunnel)
        .conflicts(['to', 'afxdp']),
    )
    .addOption(
      new Option('--rate <PPS>', 'frames per second; max: as fast as it goes (the pace of the capture)')
        .argParser(rate)
        .conflicts('speed'),
    )
    .option('--speed <X>', '1 is the pace of the capture, 2 twice that (1)', positiveNumber('a factor'))
    .option(
      '--loop <N>',
      'send it so many times; 0: until interrupted',
      wholeNumber('a number', 0, Number.MAX_SAFE_INTEGER),
      1,
    )
    .addOption(
      new Option('--report-port <N>', 'with --to: only packets to this UDP port; repeat for more (all)')
        .argParser(portNumber)
        .conflicts(['afxdp', 'tunnel']),
    )
    .addOption(
      new Option('--destination-mac <MAC>', 'with --afxdp or --tunnel: send to this address (as captured)')
        .argParser(macAddress)
        .conflicts('to'),
    )
    .addOption(
      new Option('--source-mac <MAC>', 'with --afxdp or --tunnel: send from this address (as captured)')
        .argParser(macAddress)
        .conflicts('to'),
    )
    .addOption(onDownOption('with --afxdp: ').conflicts(['to', 'tunnel']))
    .option('--json', 'one JSON object per line: statistics each second, totals at the end')
    .action(async (path: string, flags: ReplayFlags) => {
      if (flags.to === undefined && flags.afxdp === undefined && flags.tunnel === undefined) {
        command.error(
          'error: nowhere to send to: give --to udp://HOST:PORT, --afxdp IFACE or --tunnel HOST:PORT-HOST:PORT',
        );
      }
      done(await new ReplayCommand(path, flags, io).run());
    });
}

function selectionFor(flags: ReplayFlags): Selection {
  const { to, afxdp, destinationMac, sourceMac, reportPort } = flags;
  if (to !== undefined) return new PayloadSelection(reportPort ?? []);
  const longest = afxdp === undefined ? LONGEST_IN_TUNNEL : XdpTarget.longestFrame(afxdp.interface);
  return new FrameSelection(longest, destinationMac, sourceMac);
}

function scheduleFor({ rate, speed }: ReplayFlags): Schedule | null {
  if (rate === undefined) return new CapturedSchedule(speed ?? 1);
  return rate === 'max' ? null : new SteadySchedule(rate);
}

class ReplayCommand {
  readonly #path: string;
  readonly #flags: ReplayFlags;
  readonly #io: Io;
  readonly #output: DataOutput;
  readonly #progress: Progress;
  /** Aborted to end before the capture does: on a signal, or when the output has no reader any more. */
  readonly #stopping = new AbortController();
  readonly #selection: Selection;

  constructor(path: string, flags: ReplayFlags, io: Io) {
    this.#path = path;
    this.#flags = flags;
    this.#io = io;
    this.#output = new DataOutput(io.stdout);
    this.#progress = new Progress(io, flags.json === true);
    this.#selection = selectionFor(flags);
  }

  async run(): Promise<number> {
    const { signal } = this.#stopping;
    const stop = (): void => this.#stopping.abort();
    this.#output.onClosed = stop;
    this.#io.signal.addEventListener('abort', stop, { once: true });
    if (this.#io.signal.aborted) stop();
    const target = await opening(this.#io, 'the way to send by', this.#open(signal));
    try {
      return await this.#play(target, new Player(target, scheduleFor(this.#flags), signal));
    } finally {
      this.#io.signal.removeEventListener('abort', stop);
      await target.close();
    }
  }

  #open(signal: AbortSignal): Promise<UdpTarget | XdpTarget> {
    const { to, afxdp, tunnel, onDown = 'wait' } = this.#flags;
    if (to !== undefined) return UdpTarget.open(to);
    if (tunnel !== undefined) return UdpTarget.open(tunnel.remote, tunnel.local);
    // Remove the progress line before a message.
    const tell = (message: string): void => {
      this.#progress.done();
      say(this.#io, message);
    };
    return XdpTarget.open({ ...afxdp!, onDown, tell, signal });
  }

  async #play(target: UdpTarget | XdpTarget, player: Player): Promise<number> {
    const ticking = this.#startTelling(target, player);
    let wrong = false;
    let failure: CliError | null = null;
    let endedAt: number | undefined;
    try {
      const { loop: loops } = this.#flags;
      const damage = await loopCapture({ path: this.#path, selection: this.#selection, loops }, this.#io, player);
      if (damage !== null) {
        wrong = true;
        say(this.#io, `${this.#path}: ${damage.message}`);
      }
      await target.finish();
      endedAt = performance.now();
      if (target instanceof UdpTarget) await target.hear();
    } catch (error) {
      // If an interface goes away, print the totals too.
      if (!(error instanceof CliError) || player.handedOver === 0) throw error;
      failure = error;
    } finally {
      this.#progress.done();
      await ticking.stop();
    }
    const state = this.#state(target, player, endedAt);
    await this.#tellTotals(target, player, state);
    if (failure !== null) throw failure;
    if (target instanceof UdpTarget && target.isRefused) {
      throw new CliError(`${target.name} refuses: nothing listens there`, EXIT.OPEN);
    }
    return wrong || state.failed.size > 0 || [...state.skipped.keys()].some(isWrong) ? EXIT.INPUT : EXIT.OK;
  }

  #state(target: Target, player: Player, now: number = performance.now()): ReplayState {
    const { startedAt, skipped, loops } = player;
    const elapsedMs = Number.isNaN(startedAt) ? 0 : now - startedAt;
    return { ...target.counts(), skipped, reasons: this.#selection.reasons, elapsedMs, loops };
  }

  /** Prints a line of JSON each second, or progress in a terminal. */
  #startTelling(target: Target, player: Player): { stop(): Promise<void> } {
    const paced = new PacedOutput(this.#output, UNREAD_LIMIT);
    const isJson = this.#flags.json === true;
    const tick = (): void => {
      const state = this.#state(target, player);
      if (!isJson) {
        this.#progress.update(() => progressText(target.name, state));
        return;
      }
      // A slow reader misses seconds.
      if (!paced.isBehind) paced.add(JSON.stringify(replayJson('stats', state)));
      void paced.flush();
    };
    const ticker = setInterval(tick, isJson ? STATS_MS : PROGRESS_MS);
    return {
      stop: async () => {
        clearInterval(ticker);
        await paced.flush();
      },
    };
  }

  async #tellTotals(target: Target, player: Player, state: ReplayState): Promise<void> {
    const output = this.#output;
    if (this.#io.signal.aborted) say(this.#io, `interrupted after ${counted(state.sent, 'frame')}`);
    else if (player.handedOver === 0) say(this.#io, `${this.#path} holds nothing that can be sent to ${target.name}`);
    if (player.lostMs > TOLERATED_LOSS_MS) {
      say(this.#io, `${(player.lostMs / 1000).toFixed(3)} s late: frames could not be read or sent that fast`);
    }
    if (this.#flags.json === true) output.line(JSON.stringify(replayJson('total', state)));
    else for (const line of [...reasonLines(state), totalText(state)]) output.line(line);
    await output.finish();
  }
}
