/** A port over UDP: each datagram is a frame. */
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { type FrameTaker, type Port, PortCounts } from './port.js';
import { PortError } from './port-error.js';

export interface UdpPortAddress {
  readonly host: string;
  readonly port: number;
}

/** Finds the part of a frame that leaves. */
export interface FramePayload {
  /** Where it begins, after {@link find} has returned true. */
  readonly offset: number;
  readonly length: number;
  /** @param start offset of the frame @param end offset after its last byte */
  find(bytes: Uint8Array, start: number, end: number): boolean;
}

export interface UdpPortOptions {
  /** Such as `reports:192.0.2.1:32766`. Default: `udp:` and both addresses. */
  readonly name?: string;
  /** Bound to this address. */
  readonly local: UdpPortAddress;
  /** Frames go there, and only datagrams from there are frames. */
  readonly remote: UdpPortAddress;
  /**
   * Only this part of each frame leaves; frames without it are dropped, and counted as `txNoPayload`. Nothing comes in then. Default: whole
   * frames leave.
   */
  readonly payload?: FramePayload;
  /** Frames that may wait to be polled. Default 4096. */
  readonly queueFrames?: number;
  /**
   * Makes a reader of the kernel's counter of dropped datagrams for a bound socket. Without it these drops are unknown.
   */
  readonly kernelDrops?: (family: 'udp4' | 'udp6', port: number) => () => Promise<number | null>;
}

/** The payload of an IPv4 datagram. */
const LONGEST = 0xffff - 28;
const RECEIVE_BUFFER = 1 << 22;
/** Datagrams whose sending the system has not confirmed. */
const MOST_PENDING = 512;
const DROP_POLL_MS = 1000;
const DRAIN_MS = 200;

/** A tunnel: frames to and from another process, as the payload of UDP datagrams. Needs no rights. */
export class UdpPort implements Port {
  readonly name: string;
  readonly isUp = true;
  readonly #socket: Socket;
  readonly #counts = new PortCounts();
  readonly #frames: (Buffer | undefined)[];
  #head = 0;
  #waiting = 0;
  #pending = 0;
  #wake: (() => void) | null = null;
  readonly #payload: FramePayload | null;
  readonly #readDrops: () => Promise<number | null>;
  readonly #timer: NodeJS.Timeout;
  #kernelDrops = 0;
  #isClosed = false;

  private constructor(name: string, socket: Socket, options: UdpPortOptions) {
    this.name = name;
    this.#socket = socket;
    this.#payload = options.payload ?? null;
    this.#frames = new Array<Buffer | undefined>(options.queueFrames ?? 4096).fill(undefined);
    const { address, port } = socket.address();
    this.#readDrops = options.kernelDrops?.(isIPv6(address) ? 'udp6' : 'udp4', port) ?? (async () => null);
    socket.on('message', (frame) => this.#arrive(frame));
    // An unreachable other side is told by the next call: what was sent before has been lost.
    socket.on('error', () => {
      this.#counts.dropped.failed++;
      if (this.#counts.sent > 0) this.#counts.sent--;
    });
    this.#timer = setInterval(() => void this.#pollDrops(), DROP_POLL_MS);
    this.#timer.unref();
  }

  /** @throws PortError ERR_PORT_SOCKET (rejects) */
  static async open(options: UdpPortOptions): Promise<UdpPort> {
    const { local, remote } = options;
    const name = options.name ?? `udp:${text(local)}-${text(remote)}`;
    const socket = createSocket({ type: isIPv6(local.host) ? 'udp6' : 'udp4', recvBufferSize: RECEIVE_BUFFER });
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        socket.bind(local.port, local.host, () => {
          // A connected socket takes datagrams of the other side only.
          socket.connect(remote.port, remote.host, (error?: Error) => (error == null ? resolve() : reject(error)));
        });
      });
    } catch (error) {
      socket.close();
      throw new PortError('ERR_PORT_SOCKET', `cannot open ${name}: ${(error as Error).message}`, error);
    }
    socket.removeAllListeners('error');
    return new UdpPort(name, socket, options);
  }

  /** The address that it is bound to. */
  get local(): UdpPortAddress {
    const { address, port } = this.#socket.address();
    return { host: address, port };
  }

  counts(): PortCounts {
    const all = new PortCounts();
    Object.assign(all, this.#counts, { dropped: all.dropped });
    Object.assign(all.dropped, this.#counts.dropped);
    all.dropped.rxFull += this.#kernelDrops;
    return all;
  }

  poll(most: number, take: FrameTaker): number {
    const frames = this.#frames;
    const counts = this.#counts;
    const count = Math.min(most, this.#waiting);
    for (let i = 0; i < count; i++) {
      const frame = frames[this.#head]!;
      frames[this.#head] = undefined;
      this.#head = this.#head + 1 === frames.length ? 0 : this.#head + 1;
      this.#waiting--;
      counts.received++;
      counts.receivedBytes += frame.length;
      take(frame, 0, frame.length);
    }
    return count;
  }

  room(): number {
    return MOST_PENDING - this.#pending;
  }

  send(bytes: Uint8Array, offset: number, length: number): void {
    const counts = this.#counts;
    const payload = this.#payload;
    let from = offset;
    let to = offset + length;
    if (payload !== null) {
      if (!payload.find(bytes, from, to)) {
        counts.dropped.txNoPayload++;
        return;
      }
      from = payload.offset;
      to = from + payload.length;
    }
    if (to - from > LONGEST) {
      counts.dropped.txTooLong++;
      return;
    }
    if (this.#pending >= MOST_PENDING || this.#isClosed) {
      counts.dropped.txFull++;
      return;
    }
    this.#pending++;
    counts.sent++;
    counts.sentBytes += length;
    this.#socket.send(bytes.slice(from, to), (error) => {
      this.#pending--;
      if (error !== null) {
        counts.sent--;
        counts.sentBytes -= length;
        counts.dropped.failed++;
      }
      this.#ready();
    });
  }

  flush(): void {}

  onReady(wake: () => void): void {
    if (this.#waiting > 0) wake();
    else this.#wake = wake;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const end = performance.now() + DRAIN_MS;
    while (this.#pending > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 1));
    await this.#pollDrops();
    clearInterval(this.#timer);
    this.#counts.dropped.rxFull += this.#waiting;
    this.#waiting = 0;
    await new Promise<void>((resolve) => this.#socket.close(resolve));
  }

  #arrive(frame: Buffer): void {
    const frames = this.#frames;
    if (frame.length === 0 || this.#payload !== null) this.#counts.dropped.rxDamaged++;
    else if (this.#waiting === frames.length) this.#counts.dropped.rxFull++;
    else {
      const at = this.#head + this.#waiting++;
      frames[at >= frames.length ? at - frames.length : at] = frame;
      this.#ready();
    }
  }

  #ready(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  async #pollDrops(): Promise<void> {
    this.#kernelDrops = (await this.#readDrops()) ?? this.#kernelDrops;
  }
}

function text({ host, port }: UdpPortAddress): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
