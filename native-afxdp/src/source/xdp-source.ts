import { readFileSync } from 'node:fs';
import type { DecodeOptions } from '@int/codec';
import { type Push, type Source, SourceError } from '@int/collector';
import type { Prefix } from '@int/network';
import { XdpError } from '../errors.js';
import { XdpLink } from '../link.js';
import { type SocketProgram, type XdpMode, XdpProgram } from '../program.js';
import { queueCount } from '../support.js';
import { Bell } from './bell.js';
import { LocalShard } from './local-shard.js';
import { type ResolvedOptions, resolveOptions, type SourcePrefilter, type XdpSourceOptions } from './options.js';
import { Pump } from './pump.js';
import { FIGURES, type Figures } from './queue-memory.js';
import type { ReceiverSetup } from './receiver.js';
import type { Shard } from './shard.js';
import { workerFile } from './worker-file.js';
import { WorkerShard } from './worker-shard.js';

/** How often the interface, the threads and the clock are looked at. */
const CHECK_MS = 100;
/** How long an idle source waits at most before it looks by itself. */
const WAIT_MS = 500;
/** How long `stop` goes on taking frames that come although nothing sends them here any more. */
const DRAIN_LIMIT_MS = 1000;
/** Ethernet header, two VLAN tags, and the bytes of a frame of 2048 that are not for it. */
const FRAME_OVERHEAD = 22;
const HEADROOM = 256;

/** What a pre-filter drops, by reason. */
type Dropped = ReturnType<SourcePrefilter['counts']>;

/** What the kernel and the source have counted, of all queues together. */
export interface XdpSourceStatistics extends Figures {
  /** Frames that the program took for a queue that nobody reads, and left to the system. With a pre-filter 0. */
  readonly noSocket: number;
}

/**
 * Telemetry reports from the receive queues of a network interface, past the system's network stack (AF_XDP).
 *
 * Frames are decoded where the kernel has put them and handed on decoded. What the pipeline has not taken yet waits in
 * the frames of memory; what finds none free is counted as {@link kernelDropped}. Frames of one queue come in order;
 * between queues there is none, but the card puts all reports of one sender into one queue as a rule.
 *
 * @example
 * const source = new XdpSource({ interface: 'eth0' });
 * const collector = new Collector({ sources: [source], decode: source.decode });
 */
export class XdpSource implements Source {
  readonly name: string;
  readonly finished: Promise<void>;
  /** Always 0: frames wait in the kernel, which counts those without room. */
  readonly overrun = 0;
  /** The decode options, for the Collector. */
  readonly decode: Omit<DecodeOptions, 'linkType'>;
  /** Who may send; `null`: anybody. */
  readonly from: readonly Prefix[] | null;
  readonly #options: ResolvedOptions;
  #shards: Shard[] = [];
  #program: XdpProgram | null = null;
  #mode: XdpMode | null = null;
  #pump: Pump | null = null;
  #link: XdpLink | null = null;
  #checkTimer: NodeJS.Timeout | null = null;
  #hasStarted = false;
  /** Queues are being opened anew: some may receive already, and nobody takes it yet. */
  #isOpening = false;
  /** Settles when shards are open again. */
  #renewing: Promise<void> | null = null;
  /** Aborted by {@link stop}. */
  readonly #ending = new AbortController();
  #stopping: Promise<void> | null = null;
  #failure: SourceError | null = null;
  /** As of the last look at the pre-filter, which is closed at the end. */
  #droppedLast: Dropped = { filtered: 0, unknownSource: 0, unknownSwitch: 0 };
  #isOver = false;
  /** Of shards and programs that are closed. */
  readonly #before: { -readonly [name in keyof XdpSourceStatistics]: number } = {
    received: 0,
    rxDropped: 0,
    rxRingFull: 0,
    fillRingEmpty: 0,
    noSocket: 0,
  };
  #finish: () => void = () => {};
  #fail: (error: Error) => void = () => {};

  /** @throws RangeError for a number out of range or a bad prefix, TypeError without an interface */
  constructor(options: XdpSourceOptions) {
    this.#options = resolveOptions(options);
    const { linkType: _, ...decode } = this.#options.decode;
    this.decode = decode;
    this.from = this.#options.from;
    this.name = `afxdp://${this.address}`;
    this.finished = new Promise((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
    });
    // A caller who awaits it sees the rejection. Nobody has to.
    this.finished.catch(() => {});
  }

  /** The queues that are read; empty until the source is open. */
  get queues(): readonly number[] {
    return this.#shards.map((shard) => shard.queue);
  }

  /** The interface and the queues that are read: `eth0:0-3`. */
  get address(): string {
    return `${this.#options.interface}:${queuesText(this.#shards.length > 0 ? this.queues : this.#options.queues)}`;
  }

  /** How the program is attached; `null` until the source is open. */
  get mode(): XdpMode | null {
    return this.#mode;
  }

  /** Whether the card writes into the memory of this process, on all queues. */
  get zeroCopy(): boolean {
    return this.#shards.length > 0 && this.#shards.every((shard) => shard.zeroCopy);
  }

  /** Whether frames are decoded in WebAssembly, on all queues. */
  get usesAccelerator(): boolean {
    return this.#shards.length > 0 && this.#shards.every((shard) => shard.usesAccelerator);
  }

  /**
   * Frames that came for a queue and found no memory free, or were too long for it: `rx_dropped` and `rx_ring_full` of
   * the sockets. `rx_fill_ring_empty_descs` is left out: where the kernel copies, each is one of `rx_dropped` as well,
   * and where the card writes itself, it counts attempts, not frames. What a card loses by itself is in its own counters.
   */
  get kernelDropped(): number {
    const { rxDropped, rxRingFull } = this.statistics();
    return rxDropped + rxRingFull;
  }

  /** Outages of the interface so far, including the current one. */
  get outages(): number {
    return this.#link?.outages ?? 0;
  }

  /** Why no frames arrive: the interface is down or away. `null`: it is up. */
  health(): string | null {
    return this.#link?.problem?.message ?? null;
  }

  /** Reports that the pre-filter looked at and did not let through; 0 without one. */
  get filtered(): number {
    return this.#dropped().filtered;
  }

  /** Datagrams that the pre-filter has dropped because of their senders; 0 without one: the collector does it. */
  get refused(): number {
    return this.#dropped().unknownSource;
  }

  /** Reports that the pre-filter has dropped because they name switches that there are not; 0 without one. */
  get refusedSwitches(): number {
    return this.#dropped().unknownSwitch;
  }

  /**
   * Tells the pre-filter, if there is one, which switches there are.
   * @throws RangeError for more than the kernel can tell apart
   */
  setKnownSwitches(ids: readonly number[] | null): void {
    if (!this.#isOver) this.#options.prefilter?.setKnownSwitches(ids);
  }

  /** What the pre-filter has dropped. */
  #dropped(): Dropped {
    const { prefilter } = this.#options;
    if (!this.#isOver && prefilter !== undefined) this.#droppedLast = prefilter.counts();
    return this.#droppedLast;
  }

  /** The counters now. Those of threads are at most a tenth of a second old. */
  statistics(): XdpSourceStatistics {
    const sum = { ...this.#before };
    this.#addFigures(sum);
    if (this.#program !== null) sum.noSocket += this.#program.counters().noSocket;
    return sum;
  }

  /** @throws SourceError ERR_SOURCE_OPEN (rejects); its cause is an XdpError */
  async start(push: Push): Promise<void> {
    if (this.#hasStarted) throw new Error(`${this.name} is already started`);
    this.#hasStarted = true;
    const { interface: name, onProblem, onRecovered } = this.#options;
    const bell = new Bell();
    try {
      if (this.from !== null) this.#options.prefilter?.setSenders(this.from);
      this.#link = new XdpLink({ interface: name, onProblem, onRecovered });
      this.#link.follow();
      await this.#open(bell);
    } catch (error) {
      await this.#close();
      throw new SourceError('ERR_SOURCE_OPEN', this.name, messageOf(error), error);
    }
    this.#startPump(bell, push);
    // Not unreferenced: a source that is open keeps the process alive, as a socket does.
    this.#checkTimer = setInterval(() => this.#check(() => this.#renew(bell, push)), CHECK_MS);
  }

  /**
   * Up to when all frames of all queues have been pushed, less the time that it takes to hand them over. It moves on while the
   * interface is away.
   */
  lowTimeMs(): number | null {
    return this.#isOpening ? null : (this.#pump?.lowTimeMs() ?? null);
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  #startPump(bell: Bell, push: Push): void {
    const [first] = this.#shards;
    const wait = (): Promise<void> => (first instanceof LocalShard ? first.wait(WAIT_MS) : bell.wait(WAIT_MS));
    const renew = (): void => this.#renew(bell, push);
    this.#pump = new Pump(this.#shards, push, wait, (error) => this.#onFailure(error, renew));
    this.#pump.start();
  }

  async #open(bell: Bell): Promise<void> {
    const options = this.#options;
    const { prefilter } = options;
    const queues = options.queues === 'all' ? allQueues(options) : options.queues;
    if (this.#pump !== null) prefilter?.reattach();
    if (prefilter === undefined) {
      this.#program = XdpProgram.steer({ interface: options.interface, mode: options.mode, ports: options.ports });
    }
    const program: SocketProgram = prefilter?.program ?? this.#program!;
    this.#mode = program.mode;
    const setups = queues.map(
      (queue): ReceiverSetup => ({
        interface: options.interface,
        queue,
        socketMap: program.socketMap,
        mode: program.mode,
        zeroCopy: options.zeroCopy,
        frames: options.frames ?? null,
        frameSize: options.frameSize ?? frameSizeFor(options.interface),
        batchFrames: options.batchFrames,
        batches: options.batches,
        decode: options.decode,
      }),
    );
    if (!(options.threads ?? setups.length > 1)) {
      this.#shards.push(await LocalShard.open(setups[0]!));
      return;
    }
    const file = options.worker ?? workerFile();
    const opened = await Promise.allSettled(
      setups.map((setup) => WorkerShard.open({ ...setup, bell: bell.buffer }, file)),
    );
    for (const each of opened) if (each.status === 'fulfilled') this.#shards.push(each.value);
    for (const each of opened) if (each.status === 'rejected') throw each.reason;
  }

  #check(renew: () => void): void {
    const link = this.#link!;
    this.#pump?.check();
    const isSame = link.look();
    if (this.#renewing !== null) return;
    if (link.problem !== null && this.#options.onDown === 'end') this.#onFailure(link.problem, renew);
    else if (!isSame) renew();
    else {
      for (const shard of this.#shards) {
        try {
          shard.check();
        } catch (error) {
          this.#onFailure(error, renew);
        }
      }
    }
  }

  #onFailure(error: unknown, renew: () => void): void {
    // At the end nobody needs the interface any more.
    if (this.#ending.signal.aborted) return;
    const isLink = this.#link!.failed(error);
    if (isLink && this.#options.onDown === 'wait') renew();
    else this.#end(error);
  }

  /** Ends the source with an error. */
  #end(error: unknown): void {
    const reason = `cannot receive any more: ${messageOf(error)}`;
    this.#failure ??= new SourceError('ERR_SOURCE_DATA', this.name, reason, error);
    // What the queues hold is still good.
    void this.stop();
  }

  /** Takes what the queues hold, and opens them anew when the interface is back. */
  #renew(bell: Bell, push: Push): void {
    if (this.#renewing !== null || this.#ending.signal.aborted) return;
    this.#renewing = this.#reopen(bell, push)
      .catch((error: unknown) => this.#end(error))
      .finally(() => {
        this.#renewing = null;
      });
  }

  async #reopen(bell: Bell, push: Push): Promise<void> {
    await this.#drain();
    await this.#forgetShards();
    const opened = await this.#link!.reopen(async () => {
      this.#isOpening = true;
      try {
        await this.#open(bell);
        return true;
      } catch (error) {
        await this.#forgetShards();
        this.#isOpening = false;
        throw error;
      }
    }, this.#ending.signal);
    if (opened === true) this.#startPump(bell, push);
    this.#isOpening = false;
  }

  async #stop(): Promise<void> {
    this.#ending.abort();
    await this.#renewing;
    if (this.#checkTimer !== null) clearInterval(this.#checkTimer);
    await this.#drain();
    await this.#close();
    if (this.#failure === null) this.#finish();
    else this.#fail(this.#failure);
  }

  /** Takes what the queues still hold, without what comes from now on. */
  async #drain(): Promise<void> {
    if (this.#pump === null || this.#shards.length === 0) return;
    this.#stopSteering();
    // Whatever still comes by then goes to the system.
    const limit = setTimeout(() => this.#cutOff(), DRAIN_LIMIT_MS);
    await this.#pump.drain();
    clearTimeout(limit);
  }

  /** From now on reports go to the system, so that what the sockets hold comes to an end. */
  #stopSteering(): void {
    try {
      this.#program?.setPorts([]);
      this.#options.prefilter?.detach();
    } catch {
      // The interface has gone, and nothing comes anyway.
    }
  }

  async #closeShards(): Promise<void> {
    this.#cutOff();
    for (const shard of this.#shards) shard.drain();
    await Promise.all(this.#shards.map((shard) => shard.close()));
  }

  /** Closes the shards for others to take their place. */
  async #forgetShards(): Promise<void> {
    await this.#closeShards();
    this.#addFigures(this.#before);
    this.#shards = [];
  }

  #addFigures(sum: Figures): void {
    for (const { figures } of this.#shards) for (const name of FIGURES) sum[name] += figures[name];
  }

  async #close(): Promise<void> {
    await this.#closeShards();
    this.#dropped();
    this.#isOver = true;
    this.#options.prefilter?.close();
  }

  /** Takes the program away, when it has been asked for the last time. */
  #cutOff(): void {
    if (this.#program === null) return;
    this.#before.noSocket += this.#program.counters().noSocket;
    this.#program.close();
    this.#program = null;
  }
}

function allQueues({ interface: name, threads }: ResolvedOptions): number[] {
  const queues = Array.from({ length: Math.max(1, queueCount(name)) }, (_, queue) => queue);
  if (threads === false && queues.length > 1) {
    throw new RangeError(`${name} has ${queues.length} receive queues, which need threads: choose one, or allow them`);
  }
  return queues;
}

/** 4096 where frames of the interface do not fit into 2048. */
function frameSizeFor(name: string): 2048 | 4096 {
  try {
    const mtu = Number(readFileSync(`/sys/class/net/${name}/mtu`, 'latin1'));
    return mtu + FRAME_OVERHEAD > 2048 - HEADROOM ? 4096 : 2048;
  } catch {
    // Not mounted for this network namespace.
    return 2048;
  }
}

/** `0-3`, `0,2`, `all`. */
function queuesText(queues: 'all' | readonly number[]): string {
  if (queues === 'all') return 'all';
  const [first = 0] = queues;
  const isRange = queues.length > 1 && queues.every((queue, index) => queue === first + index);
  return isRange ? `${first}-${queues.at(-1)}` : queues.join(',');
}

function messageOf(error: unknown): string {
  return error instanceof Error || XdpError.is(error) ? error.message : String(error);
}
