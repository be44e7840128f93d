import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Prefix } from '@int/network';
import { prefixesOf, SenderList } from '../admission/sender-list.js';
import { deferred } from '../deferred.js';
import { FrameSlab, type PushFrames, sourceTimeMs } from '../frames.js';
import { formatUdpAddress, parseUdpAddress, type UdpAddress } from './address.js';
import { kernelDrops } from './kernel-drops.js';
import { type Source, SourceError } from './source.js';
import { WallClock } from './wall-clock.js';

/** The largest UDP payload over IPv4 or IPv6 without jumbograms. */
const LARGEST_DATAGRAM = 65_535;
/** Time limit for reading the kernel's remaining datagrams in `stop`, in milliseconds. */
const DRAIN_LIMIT_MS = 500;
const DRAIN_PAUSE_MS = 5;

export interface UdpSourceOptions {
  /** `udp://HOST:PORT`, or the same in parts. */
  readonly address: string | UdpAddress;
  /**
   * Who may send: addresses and prefixes. Datagrams of others are counted in {@link UdpSource.refused} and not looked at.
   * Default: anybody.
   */
  readonly from?: readonly (string | Prefix)[];
  /** Receive buffer to ask the kernel for, in bytes. Default 32 MiB; Linux gives at most `net.core.rmem_max`. */
  readonly receiveBufferBytes?: number;
  /** Datagrams in a slab. Default 1024. */
  readonly slabFrames?: number;
  /** Bytes in a slab; at least 65 535. Default 1 MiB. */
  readonly slabBytes?: number;
  /**
   * Slabs to fill while the pipeline is busy with others. When all are full, datagrams are refused and counted.
   * Default 4.
   */
  readonly slabs?: number;
  /** How long a datagram may wait for its slab to fill, in milliseconds. Default 2. */
  readonly flushMs?: number;
  /** How often the kernel's drop counter is read, in milliseconds. Default 1000. */
  readonly dropPollMs?: number;
  /** Wall clock, milliseconds since the epoch, fractions allowed. */
  readonly now?: () => number;
}

/** The receive buffer that the kernel granted, in bytes. */
export interface ReceiveBuffer {
  readonly requested: number;
  /** As the system reports it: Linux counts its own bookkeeping in, so this is up to twice `net.core.rmem_max`. */
  readonly granted: number;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens on this port: stop it or choose another port',
  EACCES: 'not permitted: ports below 1024 need privileges, choose a higher one',
  EADDRNOTAVAIL: 'this machine has no such address: use one of its own, or 0.0.0.0 or [::] for all',
  ENOTFOUND: 'no such host',
};

function openError(name: string, error: unknown): SourceError {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const reason = REASONS[code] ?? (error instanceof Error ? error.message : String(error));
  return new SourceError('ERR_SOURCE_OPEN', name, reason, error);
}

/**
 * Telemetry reports from a UDP socket, one datagram a frame.
 *
 * Datagrams are copied into a slab, which goes to the pipeline when it is full or `flushMs` after its first datagram.
 * The socket is never paused. {@link overrun} counts datagrams that the pipeline could not take, {@link kernelDropped}
 * those that the kernel could not hold.
 */
export class UdpSource implements Source {
  readonly name: string;
  readonly #end = deferred();
  readonly finished: Promise<void> = this.#end.promise;
  overrun = 0;
  /** Datagrams of senders that are not in `from`. */
  refused = 0;
  /** Who may send; `null`: anybody. */
  readonly from: readonly Prefix[] | null;

  readonly #senders: SenderList | null;
  readonly #requested: UdpAddress;
  readonly #receiveBufferBytes: number;
  readonly #flushMs: number;
  readonly #dropPollMs: number;
  readonly #clock = new WallClock();
  readonly #now: () => number;
  readonly #free: FrameSlab[] = [];
  readonly #pending = new Set<Promise<void>>();
  #filling: FrameSlab | null = null;
  #socket: Socket | null = null;
  #push: PushFrames = () => undefined;
  #flushTimer: NodeJS.Timeout | null = null;
  #dropTimer: NodeJS.Timeout | null = null;
  #readDrops: () => Promise<number | null> = async () => null;
  #kernelDropped: number | null = null;
  #received = 0;
  #address: UdpAddress;
  #receiveBuffer: ReceiveBuffer | null = null;

  /** @throws TypeError for an invalid address, RangeError for a number out of range or a bad prefix */
  constructor(options: UdpSourceOptions) {
    this.#requested = typeof options.address === 'string' ? parseUdpAddress(options.address) : options.address;
    this.#address = this.#requested;
    this.name = formatUdpAddress(this.#requested);
    this.from = options.from === undefined ? null : prefixesOf(options.from);
    this.#senders = this.from === null ? null : new SenderList(this.from);
    this.#receiveBufferBytes = options.receiveBufferBytes ?? 32 * 1024 * 1024;
    this.#flushMs = options.flushMs ?? 2;
    this.#dropPollMs = options.dropPollMs ?? 1000;
    this.#now = options.now ?? ((): number => this.#clock.now());
    const slabs = options.slabs ?? 4;
    const capacity = { frames: options.slabFrames ?? 1024, bytes: options.slabBytes ?? 1024 * 1024 };
    if (!Number.isInteger(slabs) || slabs < 1) throw new RangeError(`slabs must be a positive integer, not ${slabs}`);
    if (!(capacity.bytes >= LARGEST_DATAGRAM)) {
      throw new RangeError(`slabBytes must hold the largest datagram, ${LARGEST_DATAGRAM}, not ${capacity.bytes}`);
    }
    for (let index = 0; index < slabs; index++) this.#free.push(new FrameSlab(capacity, 'report'));
    // A caller who awaits it sees the rejection. Nobody has to.
    this.finished.catch(() => {});
  }

  /** The bound address, once the socket is open, with the port that the system chose for port 0. */
  get address(): UdpAddress {
    return this.#address;
  }

  /** `null` until the socket is open. */
  get receiveBuffer(): ReceiveBuffer | null {
    return this.#receiveBuffer;
  }

  /** As last read: every `dropPollMs`, at {@link pollKernelDrops} and at {@link stop}. */
  get kernelDropped(): number | null {
    return this.#kernelDropped;
  }

  /** Steps back of the default clock by more than a second. For smaller steps the clock pauses instead. */
  get clockStepsBack(): number {
    return this.#clock.stepsBack;
  }

  /**
   * The time of the first datagram not pushed yet, else the current time: datagrams get their time when they are read.
   */
  lowTimeMs(): number {
    return this.#filling === null ? this.#now() : sourceTimeMs(this.#filling, 0);
  }

  async start(push: PushFrames): Promise<void> {
    if (this.#socket !== null) throw new Error(`${this.name} is already started`);
    this.#push = push;
    const { host, port } = this.#requested;
    let family = isIP(host);
    try {
      if (family === 0) family = (await lookup(host)).family;
    } catch (error) {
      throw openError(this.name, error);
    }
    const type = family === 6 ? 'udp6' : 'udp4';
    const socket = createSocket({ type });
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        socket.bind({ port, address: host }, () => {
          socket.off('error', reject);
          resolve();
        });
      });
    } catch (error) {
      socket.close();
      throw openError(this.name, error);
    }
    this.#socket = socket;
    this.#address = { host, port: socket.address().port };
    try {
      socket.setRecvBufferSize(this.#receiveBufferBytes);
    } catch {
      // Some systems refuse instead of granting less. Keep the buffer as it is and report it below.
    }
    this.#receiveBuffer = { requested: this.#receiveBufferBytes, granted: socket.getRecvBufferSize() };
    socket.on('message', (message, { address }) => this.#receive(message, address));
    socket.on('error', (error) => {
      this.#end.reject(new SourceError('ERR_SOURCE_DATA', this.name, `the socket failed: ${error.message}`, error));
    });
    this.#readDrops = kernelDrops(type, this.#address.port);
    await this.pollKernelDrops();
    this.#dropTimer = setInterval(() => {
      this.#clock.adjust();
      void this.pollKernelDrops();
    }, this.#dropPollMs);
    this.#dropTimer.unref();
  }

  /** Reads the kernel's counter now. */
  async pollKernelDrops(): Promise<number | null> {
    const drops = await this.#readDrops();
    // A closed socket is no longer listed. Keep the last value.
    if (drops !== null) this.#kernelDropped = drops;
    return this.#kernelDropped;
  }

  async stop(): Promise<void> {
    const socket = this.#socket;
    if (socket === null) {
      this.#end.resolve();
      return;
    }
    this.#socket = null;
    if (this.#dropTimer !== null) clearInterval(this.#dropTimer);
    // Datagrams already in the kernel's buffer would otherwise vanish uncounted.
    let seen = -1;
    const until = performance.now() + DRAIN_LIMIT_MS;
    while (seen !== this.#received && performance.now() < until) {
      seen = this.#received;
      await sleep(DRAIN_PAUSE_MS);
      // A late timer runs before the socket is read. Wait until the socket has been read.
      await nextTurn();
    }
    await this.pollKernelDrops();
    await new Promise<void>((resolve) => socket.close(resolve));
    this.#flush();
    while (this.#pending.size > 0) await Promise.all(this.#pending);
    this.#end.resolve();
  }

  #receive(message: Uint8Array, sender: string): void {
    this.#received++;
    // Before anything else, so that the datagrams of strangers cost as little as can be.
    if (this.#senders !== null && !this.#senders.hasText(sender)) {
      this.refused++;
      return;
    }
    let slab = this.#filling;
    if (slab !== null && !slab.fits(message.length)) {
      this.#flush();
      slab = null;
    }
    if (slab === null) {
      slab = this.#free.pop() ?? null;
      if (slab === null) {
        this.overrun++;
        return;
      }
      this.#filling = slab;
      this.#flushTimer ??= setTimeout(() => this.#flush(), this.#flushMs);
    }
    slab.append(message, this.#now());
  }

  #flush(): void {
    if (this.#flushTimer !== null) {
      clearTimeout(this.#flushTimer);
      this.#flushTimer = null;
    }
    const slab = this.#filling;
    if (slab === null) return;
    this.#filling = null;
    const busy = this.#push(slab);
    if (busy === undefined) {
      this.#release(slab);
      return;
    }
    const done = busy
      .catch(() => {})
      .then(() => {
        this.#pending.delete(done);
        this.#release(slab);
      });
    this.#pending.add(done);
  }

  #release(slab: FrameSlab): void {
    slab.clear();
    this.#free.push(slab);
  }
}
